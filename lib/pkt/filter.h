/* SPDX-License-Identifier: BSD-3-Clause */
/* pcap filter expressions ("udp port 4791"), compiled by libpcap, run on frames. */
#ifndef PKT_FILTER_H
#define PKT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pkt_filter;

/* NULL with libpcap's message in err when the expression is wrong. An empty or NULL expression takes all. */
struct pkt_filter *pkt_filter_new(const char *expression, char *err, size_t size);
void pkt_filter_free(struct pkt_filter *f); /* NULL is fine */

/* Does the filter take the frame? NULL takes all. Any thread. */
bool pkt_filter_match(const struct pkt_filter *f, const uint8_t *frame, uint32_t captured, uint32_t length);

/* Packets still to be chosen by a trace; lcores take from it. */
struct trace_filter {
	struct pkt_filter *filter;
	int64_t left;	 /* atomic: lcores subtract */
	uint32_t chosen; /* atomic: last number given out; 1 to 65535, by several traces in turn */
};

#endif
