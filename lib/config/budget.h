/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffer arithmetic: who may hold how many packet buffers at once. The sum must fit memory.buffers, so that
 * the pool never runs dry whatever arrives; checked when a configuration is, printed by --check.
 *
 * A frame of more than memory.buffer-size bytes holds several buffers. What is bounded in packets is promised as many
 * for each as the longest frame takes (cfg_frame_buffers); what is bounded in buffers already, is not.
 */
#ifndef CONFIG_BUDGET_H
#define CONFIG_BUDGET_H

#include "config/model.h"

#define BUDGET_LINES 17

struct cfg_budget {
	struct {
		const char *what;
		uint64_t buffers;
	} line[BUDGET_LINES];
	unsigned int n;
	unsigned int frame, sent; /* cfg_frame_buffers, cfg_sent_buffers */
	uint64_t total;
};

void cfg_budget(const struct config *c, struct cfg_budget *out);

/* Bytes of the longest frame of any port, with two VLAN tags and without FCS. */
uint64_t cfg_longest_frame(const struct config *c);

/* Buffers that it takes as it is received. */
unsigned int cfg_frame_buffers(const struct config *c);

/* The same as it is sent: one more where outer headers may not fit the room in front of a frame. */
unsigned int cfg_sent_buffers(const struct config *c);

/* Number of lcores that play at least one role. */
unsigned int cfg_lcore_count(const struct config *c);

/* Rings between roles that carry packets: rx to the other lcores' workers, rx to control, control to workers. */
unsigned int cfg_packet_rings(const struct config *c);

#endif
