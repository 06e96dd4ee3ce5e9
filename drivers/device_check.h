/* SPDX-License-Identifier: BSD-3-Clause */
/* Can the devices of a configuration be opened at all? Asked before the EAL starts, so that the answer is clear. */
#ifndef DRIVERS_DEVICE_CHECK_H
#define DRIVERS_DEVICE_CHECK_H

#include <stddef.h>

#include "config/model.h"

/* 0, or -errno with a message that names port, finding and cure. Looks at files only. */
int device_check(const struct config *c, const struct cfg_port *port, char *err, size_t size);

#endif
