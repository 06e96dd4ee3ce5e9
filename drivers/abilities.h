/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what drivers can do, known before a device is opened. */
#ifndef DRIVERS_ABILITIES_H
#define DRIVERS_ABILITIES_H

#include <stdbool.h>
#include <stdio.h>

#include "config/model.h"
#include "port/port.h"

/* Does the driver pass frames of any length, independent of the MTU that it reports? */
bool abilities_any_length(const char *driver);

/* Print the limits of the port's driver, one per line, each after `indent`. Nothing for an unknown driver. */
void abilities_print(const struct cfg_port *port, const char *indent, FILE *out);

/* How the NICs of a kernel driver handle MAC control frames (PFC) under DPDK; empty text: unknown. */
void abilities_of_kernel_driver(const char *kernel_driver, char *buf, size_t size);

/* Whether lossless classes can lose packets on NICs of this kernel driver, because DPDK has no PFC for them in some direction. */
bool abilities_blind_kernel_driver(const char *kernel_driver);

/*
 * Can the lossless classes of a started port keep their promise? relayed: a PFC relay reads the port's PFC. 0, or -ENOTSUP
 * with a message that names the remedy; pfc.blind: accept always gives 0.
 */
int abilities_lossless(const struct cfg_port *port, const struct port_abilities *a, bool relayed, char *err,
	size_t size);

/* One sentence for the log: does software or the device handle PFC on an opened port? */
const char *abilities_pfc(const struct port_abilities *a);

#endif
