/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making, publishing to, watching and freeing a node: the management thread's side. Functions that return int
 * give 0 or -errno and, where they take err, a message that names the cure.
 */
#ifndef NODE_NODE_CTL_H
#define NODE_NODE_CTL_H

#include "node/node.h"

struct node_options {
	const struct control_service *const *services; /* NULL behind the last: node_services of service/services.h */
	bool shared_cpu;			       /* lcores may preempt each other: pool and rings that stand it */
	int socket;				       /* NUMA node of memory, or -1 */
	uint64_t wall_offset_ns;		       /* to add to lcore time for the time of day: captures */
	uint32_t buffer_bytes; /* instead of memory.buffer-size; 0: as that says. The lab may carry headers only */
	/* Creates the pool of packet buffers; NULL: pkt_pool_create. The node frees it with rte_mempool_free. */
	struct rte_mempool *(*new_pool)(const char *name, unsigned int buffers, uint32_t bytes);
};

/*
 * A node with its pool, roles and rings, but without ports and forwarding state. Takes over `config`, a
 * checked one, also when it fails.
 */
struct node *node_new(struct config *config, const struct node_options *options, char *err, size_t size);

/* Put an opened port at its place. All ports of the configuration must be there before node_commit. */
void node_attach_port(struct node *n, uint16_t index, struct port *port);

/* Deal out queues and egresses to roles, build the first snapshot and publish it. */
int node_commit(struct node *n, char *err, size_t size);

/*
 * Put a checked configuration into force: build its snapshot and publish it, whole or not at all. Its ports must
 * be those of the running one, in the same order. Takes over `config` when it succeeds; else it is the caller's.
 */
int node_apply(struct node *n, struct config *config, char *err, size_t size);

/* May a snapshot be published now? Not while packets are queued that stem from 64 snapshots ago. */
bool node_may_publish(const struct node *n);

/* Publish a snapshot built for `config` (taken over; the running one stays if it is the same). Never waits. */
void node_publish(struct node *n, struct snapshot *s, struct config *config);

/* Free what grace periods have ended for. Returns how many snapshots still wait. Never waits. */
unsigned int node_reclaim(struct node *n);

/* Around an lcore's life: it takes part in grace periods between these two. On the lcore. */
void node_lcore_enter(struct node_lcore *l);
void node_lcore_leave(struct node_lcore *l);

/* Stop or resume receiving. Packets inside go on. */
void node_set_receiving(struct node *n, bool on);

/* Packets inside: rings, parks, queues, waiting for neighbours. Exact only while nothing is polled. */
uint64_t node_held(const struct node *n);

/* Of these, behind the egress of a port. */
uint64_t node_port_queued(const struct node *n, uint16_t port);

/* Drop everything inside as DROP_stopped, and close the ports. No lcore may run any more. */
void node_drain(struct node *n);

/* Sum of all lcores' counters; and the same since node_clear_stats, for the caller to free (NULL: no memory). */
void node_stats(const struct node *n, struct lcore_stats *out);
struct lcore_stats *node_stats_shown(const struct node *n);
void node_clear_stats(struct node *n);

/* Counters of a SID, of all rx roles; and since node_clear_stats. */
struct sid_counter node_sid(const struct node *n, uint32_t sid);
struct sid_counter node_sid_shown(const struct node *n, uint32_t sid);

/* To be called every few milliseconds, with the time: collects trace events, measures rates. */
void node_tick(struct node *n, uint64_t now);

/*
 * Trace the next `count` packets that the filter takes; forgets what was traced before. -EINVAL with
 * libpcap's message, -EBUSY while lcores still look at an old filter.
 */
int node_trace_start(struct node *n, uint32_t count, const char *filter, char *err, size_t size);
void node_trace_clear(struct node *n);

/* Events collected so far, by packet (from 1) and step; calls fn for each. */
void node_trace_each(struct node *n, void (*fn)(void *arg, const struct trace_event *e), void *arg);

/* Where all packets are: rx + originated = sent + dropped + consumed + held. */
struct node_balance {
	uint64_t rx, originated, sent, dropped, consumed, held;
	int64_t missing; /* left minus right side; 0 but for what moved while counting */
};
void node_balance(const struct node *n, struct node_balance *out);

void node_free(struct node *n); /* closes ports that are still open; NULL is fine */

#endif
