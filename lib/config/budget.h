/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffer arithmetic: how many packet buffers each part of the node may hold at once. The sum must fit the pool,
 * so that it never runs empty, whatever arrives. A configuration check verifies the sum, and --check prints it.
 *
 * A frame of more than memory.buffer-size bytes occupies several buffers. A limit in packets is therefore multiplied by
 * the number of buffers of the longest frame (cfg_frame_buffers). A limit in buffers is not.
 */
#ifndef CONFIG_BUDGET_H
#define CONFIG_BUDGET_H

#include "config/headroom.h"
#include "config/model.h"

#define BUDGET_LINES 20

struct cfg_budget {
	struct {
		const char *what;
		uint64_t buffers;
	} line[BUDGET_LINES];
	unsigned int n;
	unsigned int frame, sent; /* cfg_frame_buffers, cfg_sent_buffers */
	uint64_t total;
	uint64_t pool; /* buffers of a pool: memory.buffers, or as many as total and apart_wanted need */
	uint64_t apart_wanted,
		apart; /* buffers that keep slices apart: wanted beside the least, and what is left for it */
};

/* Buffers that the credit of this node stands for. */
uint64_t cfg_credit_buffers(const struct config *c);

void cfg_budget(const struct config *c, struct cfg_budget *out);

/* cfg_budget.pool */
uint64_t cfg_pool(const struct config *c);

/* Before a reload is checked: the pool is that of the running node, of which memory.buffers is the same. */
void cfg_keep_pool(struct config *c, const struct config *running);

/*
 * cfg_port_lossless, with choice_buffers reduced to what the pool leaves: all lossless classes of ports with
 * tunnels get the same part of what they want. Bytes stay, because frames that fill their buffers need fewer of them.
 */
void cfg_fit_lossless(const struct config *c, const struct cfg_port *port, uint64_t bps, struct cfg_lossless *out);

/* Bytes of the longest frame of any port, two VLAN tags included, without FCS. */
uint64_t cfg_longest_frame(const struct config *c);

/* Buffers that the longest frame occupies as received. */
unsigned int cfg_frame_buffers(const struct config *c);

/*
 * Buffers that the longest frame occupies as sent: one more if outer headers may not fit the headroom of its first
 * buffer.
 */
unsigned int cfg_sent_buffers(const struct config *c);

/* Number of lcores that have at least one role. */
unsigned int cfg_lcore_count(const struct config *c);

/* Lossless packets that may be between rx lcores and the queues of workers on other lcores when XOFF is sent. */
unsigned int cfg_packets_in_rings(const struct config *c);

/* Can the port be spread in software over several rx lcores? And most rings between rx lcores for all such ports. */
bool cfg_may_spread(const struct config *c, const struct cfg_port *p);
unsigned int cfg_spread_rings(const struct config *c);

/* Do the inner headers say where, and not the flow label? Credit sessions and their fences have a label in common. */
bool cfg_spread_is_symmetric(const struct config *c, const struct cfg_port *p);

/* Slots of a ring from an rx lcore to a worker, a power of two. */
uint32_t cfg_worker_ring(const struct config *c);

/* Rings between roles that carry packets: rx to the workers of other lcores, rx to control, control to workers. */
unsigned int cfg_packet_rings(const struct config *c);

#endif
