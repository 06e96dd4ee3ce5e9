/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what drivers can do, known before a device is opened. */
#ifndef DRIVERS_ABILITIES_H
#define DRIVERS_ABILITIES_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"
#include "port/port.h"

/* Does the driver pass frames of any length, independent of the MTU that it reports? */
bool abilities_any_length(const char *driver);

/* Print the limits of the port's driver, one per line, each after `indent`. Nothing for an unknown driver. */
void abilities_print(const struct cfg_port *port, const char *indent, FILE *out);

/* How the NICs of a kernel driver handle MAC control frames (PFC) under DPDK; empty text: unknown. */
void abilities_of_kernel_driver(const char *kernel_driver, char *buf, size_t size);

/* What a start will find out about a NIC of a known kernel driver: spread, pfc, pfc_swallows and driver. */
struct port_abilities abilities_expected(const char *kernel_driver, const struct cfg_port *port);

/*
 * Why lossless classes of the port, or those behind its PFC relays, can lose packets on a device with these abilities;
 * NULL: they cannot. Says nothing of pfc.blind.
 */
const char *abilities_problem(const struct cfg_port *port, const struct port_abilities *a,
	const struct cfg_relayed *relayed);

/*
 * May a started port be used? 0, or -ENOTSUP with a message that has the problem and the remedy; pfc.blind: accept always
 * gives 0.
 */
int abilities_lossless(const struct cfg_port *port, const struct port_abilities *a, const struct cfg_relayed *relayed,
	char *err, size_t size);

/* One sentence for the log: does software or the device handle PFC on an opened port? */
const char *abilities_pfc(const struct port_abilities *a);

#endif
