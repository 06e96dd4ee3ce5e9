/* SPDX-License-Identifier: BSD-3-Clause */
/* Captures to pcapng files. They need no hugepages and no second process. Management thread only. */
#ifndef CAPTURE_CAPTURE_H
#define CAPTURE_CAPTURE_H

#include <stdint.h>

#include "pkt/tap.h"
#include "stats/stats.h"

struct capture_set;

#define CAPTURE_TAPS_MAX 128

/* The part of the node that a set of captures needs. Taps must outlive the set. */
struct capture_source {
	struct pkt_tap *taps[CAPTURE_TAPS_MAX]; /* of all lcores */
	unsigned int n_taps;
	char port_name[MAX_PORTS][32];
	unsigned int n_ports;
	const char *(*reason_name)(unsigned int reason);
	uint64_t wall_offset_ns; /* difference of time of day and lcore time */
	int socket;
};

struct capture_set *capture_new(const struct capture_source *source); /* NULL when out of memory */
void capture_free(struct capture_set *s); /* ends all captures; no lcore may still run; NULL is allowed */

/* The selection of a capture. */
struct capture_filter {
	uint64_t rx_ports, tx_ports; /* bit per port */
	int drops;
	int oam;		/* packets with the O-flag at a local SID, as received */
	uint64_t count;		/* end after this number of packets; 0: no limit */
	const char *expression; /* pcap filter; NULL: all. Not kept */
};

/* Start a capture to a file. Returns its number (from 1), or -errno with a message. */
int capture_start(struct capture_set *s, const struct capture_filter *filter, const char *file, char *err, size_t size);

/* Write the last dropped packets of each reason. Returns the number of packets, or -errno with a message. */
int capture_write_samples(struct capture_set *s, const char *file, char *err, size_t size);

/* End one capture. Returns 0 or -ENOENT. */
int capture_stop(struct capture_set *s, int number);

/*
 * Write the packets that lcores have copied. Returns the number of packets written. A capture whose file fails is
 * ended, with a log line.
 */
unsigned int capture_poll(struct capture_set *s);

/* Is any capture active? Then capture_poll must be called every few ms. */
bool capture_active(const struct capture_set *s);

struct capture_info {
	int number;
	const char *file;
	uint64_t packets, bytes, lost; /* lost: by all captures of the node */
};
void capture_each(const struct capture_set *s, void (*fn)(void *arg, const struct capture_info *i), void *arg);

#endif
