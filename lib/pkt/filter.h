/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap filter expressions, such as "udp port 4791": libpcap compiles them; sluice runs them on frames. */
#ifndef PKT_FILTER_H
#define PKT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pkt_filter;

/*
 * Returns NULL with libpcap's message in err when the expression is invalid. An empty or NULL expression matches all.
 */
struct pkt_filter *pkt_filter_new(const char *expression, char *err, size_t size);
void pkt_filter_free(struct pkt_filter *f); /* NULL is fine */

/* Does the filter match the frame? NULL matches all. Any thread. */
bool pkt_filter_match(const struct pkt_filter *f, const uint8_t *frame, uint32_t captured, uint32_t length);

/* The number of packets that a trace may still choose. lcores subtract from it. */
struct trace_filter {
	struct pkt_filter *filter;
	int64_t left;	 /* atomic: lcores subtract */
	uint32_t chosen; /* atomic: last number assigned; 1 to 65535, shared by successive traces */
};

#endif
