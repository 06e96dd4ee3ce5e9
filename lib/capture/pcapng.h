/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcapng files (draft-ietf-opsawg-pcapng): section header, one interface per port, enhanced packets with direction and
 * comment. sluice writes them itself because DPDK 22.11's library is experimental and does not support comments.
 */
#ifndef CAPTURE_PCAPNG_H
#define CAPTURE_PCAPNG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum pcapng_direction { PCAPNG_UNKNOWN, PCAPNG_INBOUND, PCAPNG_OUTBOUND };

/* All return 0, or -errno when writing to the file fails. */
int pcapng_begin(FILE *f, const char *application);
int pcapng_interface(FILE *f, const char *name, const char *description);

/* interface: index in the order of writing, from 0. time: ns since 1970. comment: NULL for none. */
int pcapng_packet(FILE *f, uint32_t interface, uint64_t time_ns, const void *data, uint32_t captured, uint32_t length,
	enum pcapng_direction direction, const char *comment);

#endif
