/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known about drivers before one is opened: tables, so that knowledge is data. */
#ifndef DRIVERS_ABILITIES_H
#define DRIVERS_ABILITIES_H

#include <stdbool.h>
#include <stdio.h>

#include "config/model.h"
#include "port/port.h"

/* Does the driver pass frames of any length, whatever MTU it says it has? */
bool abilities_any_length(const char *driver);

/* Lines about what the port's driver cannot do, each behind `indent`. Nothing for an unknown driver. */
void abilities_print(const struct cfg_port *port, const char *indent, FILE *out);

/* What is known about MAC control frames (PFC) of the NICs a kernel driver is for; empty text: nothing. */
void abilities_of_kernel_driver(const char *kernel_driver, char *buf, size_t size);

/* One sentence about who does PFC on an opened port, for the log. */
const char *abilities_pfc(const struct port_abilities *a);

#endif
