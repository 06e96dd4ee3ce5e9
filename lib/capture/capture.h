/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Captures to pcapng files. Works without hugepages and without a second process. Management thread only.
 */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdint.h>

#include "pkt/tap.h"
#include "stats/stats.h"

struct capture_set;

#define CAPTURE_TAPS_MAX 128

/* What a set needs to know about its node. Taps must outlive it. */
struct capture_source {
	struct pkt_tap *taps[CAPTURE_TAPS_MAX]; /* of all lcores */
	unsigned int n_taps;
	char port_name[MAX_PORTS][32];
	unsigned int n_ports;
	const char *(*reason_name)(unsigned int reason);
	uint64_t wall_offset_ns; /* to add to lcore time for the time of day */
	int socket;
};

struct capture_set *capture_new(const struct capture_source *source); /* NULL when out of memory */
void capture_free(struct capture_set *s); /* ends all captures; no lcore may run any more; NULL is fine */

/* What to capture. */
struct capture_filter {
	uint64_t rx_ports, tx_ports; /* bit per port */
	int drops;
	int oam;		/* packets with the O-flag at a local SID, as they came in */
	uint64_t count;		/* end after so many packets; 0: none */
	const char *expression; /* pcap filter; NULL: all. Not kept */
};

/* Start writing to a file. Its number (from 1), or -errno with a message. */
int capture_start(struct capture_set *s, const struct capture_filter *filter, const char *file, char *err, size_t size);

/* Write the last dropped packets of each reason. Number of packets, or -errno with a message. */
int capture_write_samples(struct capture_set *s, const char *file, char *err, size_t size);

/* End one. -ENOENT; else 0. */
int capture_stop(struct capture_set *s, int number);

/* Write what lcores have copied. Returns packets written. A capture whose file fails ends with a log line. */
unsigned int capture_poll(struct capture_set *s);

/* Are there any? Then capture_poll must be called every few ms. */
bool capture_active(const struct capture_set *s);

struct capture_info {
	int number;
	const char *file;
	uint64_t packets, bytes, lost; /* lost: by all captures of the node */
};
void capture_each(const struct capture_set *s, void (*fn)(void *arg, const struct capture_info *i), void *arg);

#endif
