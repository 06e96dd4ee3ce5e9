/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the process, and launching and stopping lcores. */
#ifndef SLUICE_LCORES_H
#define SLUICE_LCORES_H

#include <stdint.h>

#include "config/config.h"

struct node;

/* Time of this process in ns, from the TSC. Never 0. Any thread. */
uint64_t clock_now(void);
void clock_init(void);

/* clock_now() plus this is ns since 1970. */
uint64_t clock_wall_offset(void);

/* Launch all lcores of a node (0 or -errno); stop them and wait until they have stopped. */
int lcores_launch(struct node *n, const struct config *c);
void lcores_stop(void);

#endif
