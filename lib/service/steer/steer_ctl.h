/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the service that the management thread calls (node/service.h). */
#ifndef SERVICE_STEER_STEER_CTL_H
#define SERVICE_STEER_STEER_CTL_H

#include "service/steer/service_steer.h"

int steer_init(struct control_role *c, int socket);
void steer_fini(struct control_role *c);
void steer_tick(struct node *n);
void steer_published(struct node *n);

#endif
