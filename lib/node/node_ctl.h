/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the management thread: make, publish to, observe and free a node. Functions that return int return 0 or
 * -errno. If they have the arguments err and size, they write an error message that names the remedy.
 */
#ifndef NODE_NODE_CTL_H
#define NODE_NODE_CTL_H

#include "node/node.h"

struct node_options {
	const struct control_service *const *services; /* NULL after the last: node_services of service/services.h */
	/*
	 * Begin as a node that has run for long: its links are known, and nobody who pauses it must be waited for. For
	 * the lab and for tests; a node that starts cannot know.
	 */
	bool steady;
	/*
	 * The caller of the lcores says what has come in (node_tell_frame, node_tell_link), and all of them are called in one
	 * thread. A pass then looks only at that and at what is due, so that it costs no more the more ports there are.
	 */
	bool told;
	bool shared_cpu;		 /* lcores may preempt each other: pool and rings allow for it */
	int socket;			 /* NUMA node of memory, or -1 */
	const struct cfg_places *places; /* NUMA nodes of ports and lcores; NULL: near to each other */
	uint64_t (*clock)(void); /* of the lcores, ns: for the times in traces, which are those of passes without it */
	uint64_t seed;	   /* of numbers that nobody must guess; 0: drawn from the kernel. For the lab and for tests */
	uint64_t counters; /* where those that never restart begin, so that they wrap soon. For the lab and for tests */
	uint64_t wall_offset_ns; /* ns to add to lcore time for the time of day, for captures */
	uint32_t buffer_bytes;	 /* replaces memory.buffer-size; 0: use that key. The lab may carry headers only */
	/* Create the pool of packet buffers; NULL: pkt_pool_create. The node frees the pool with rte_mempool_free. */
	struct rte_mempool *(*new_pool)(const char *name, unsigned int buffers, uint32_t bytes);
};

/*
 * Make a node with its pool, roles and mailboxes, but without ports and forwarding state. `config` is checked; the
 * function takes it over also when it fails. Returns NULL on failure, with a message in err.
 */
struct node *node_new(struct config *config, const struct node_options *options, char *err, size_t size);

/* Attach an opened port as number `index`. All ports of the configuration are attached before node_commit. */
void node_attach_port(struct node *n, uint16_t index, struct port *port);

/* Make the pools of packet buffers. 0, or -ENOMEM with a message. For node_new. */
int node_make_pools(struct node *n, const struct node_options *options, char *err, size_t size);

/* Packet buffers of all pools; those that are free, caches of lcores included; those in use. */
uint64_t node_buffers(const struct node *n);
uint64_t node_buffers_free(const struct node *n);
uint64_t node_buffers_used(const struct node *n);

/* Assign queues and egresses to roles, build the first snapshot and publish it. */
int node_commit(struct node *n, char *err, size_t size);

/*
 * Apply a checked configuration: build its snapshot and publish it, or change nothing. The ports must be those of the
 * running configuration, in the same order. Takes over `config` on success; on failure the caller keeps it.
 */
int node_apply(struct node *n, struct config *config, char *err, size_t size);

struct node_reload {
	/* Called for everything in force that the configuration takes away, so that lossless packets could be lost. */
	void (*held)(void *arg, const char *text);
	void *arg;
	bool dry;   /* change nothing */
	bool force; /* publish even if `held` was called */
};

/*
 * The same, but not while services hold something that the configuration takes away: -EBUSY, after calls of `held`.
 * They look immediately before the snapshot is published. The caller keeps `config` on failure, and with `dry`.
 */
int node_reload(struct node *n, struct config *config, const struct node_reload *how, char *err, size_t size);

/*
 * Read the speeds of ports whose links have come up since the last call, and publish the running configuration again if
 * one has changed: pause times, headroom and control loops follow from it. Call after the ports were started, and
 * whenever links were looked at. Returns 1 if it was published, 0 if there was no need, or -errno: the next call tries again.
 */
int node_read_speeds(struct node *n, char *err, size_t size);

/*
 * Restart ports whose devices do not work any more: a peer that was restarted, a deleted interface, a reset VF. Call it
 * every few milliseconds; now: ns. Never waits for lcores.
 */
void node_restart_ports(struct node *n, uint64_t now);

/*
 * Publish a snapshot that was built for `config`, and take both over. `config` may be the running one. Never waits. The
 * protocol is described in publish_ctl.c.
 */
void node_publish(struct node *n, struct snapshot *s, struct config *config);

/*
 * Free the snapshots whose grace period has ended, and release ids that no packet carries. Returns the number of old
 * snapshots whose memory or ids are not free yet. Never waits.
 */
unsigned int node_reclaim(struct node *n);

/* Start and end the part of an lcore in grace periods. Caller: the lcore, before its first and after its last pass. */
void node_lcore_enter(struct node_lcore *l);
void node_lcore_leave(struct node_lcore *l);

/* Tell neighbours that the node is about to stop. Returns for how long it should go on forwarding, ns. */
uint64_t node_announce_stop(struct node *n);

/* Stop or resume receiving. Packets in the node are still forwarded. */
void node_set_receiving(struct node *n, bool on);

/*
 * Return the number of packets in mailboxes, parks, queues, and held for neighbours. Exact only while no lcore is
 * polled.
 */
uint64_t node_held(const struct node *n);

/* Return the number of packets that the egress of a port holds. Exact only while no lcore is polled. */
uint64_t node_port_queued(const struct node *n, uint16_t port);

/* Drop all packets in the node as DROP_stopped. Ports stay open until node_free. No lcore runs. */
void node_drain(struct node *n);

/*
 * node_stats: the sum of the counters of all lcores. node_stats_shown: the sum since node_clear_stats, which the caller
 * frees; NULL: out of memory.
 */
void node_stats(const struct node *n, struct lcore_stats *out);
struct lcore_stats *node_stats_shown(const struct node *n);
void node_clear_stats(struct node *n);

/* node_punt: packets of a port for the control lcore, summed over rx roles. node_punt_shown: since node_clear_stats. */
struct punt_stats node_punt(const struct node *n, uint32_t port, enum punt_kind kind);
struct punt_stats node_punt_shown(const struct node *n, uint32_t port, enum punt_kind kind);

/* node_sid: the counters of a SID, summed over rx roles. node_sid_shown: the same since node_clear_stats. */
struct sid_counter node_sid(const struct node *n, uint32_t sid);
struct sid_counter node_sid_shown(const struct node *n, uint32_t sid);

/* The packets of a path, summed over lcores. node_path_shown: since node_clear_stats. */
struct path_traffic node_path(const struct node *n, uint32_t path);
struct path_traffic node_path_shown(const struct node *n, uint32_t path);

/* SIDs and paths of `s` that `old` does not have begin at 0, whoever had their ids before. Call it before `s` is published. */
void node_counters_begin(struct node *n, const struct snapshot *old, const struct snapshot *s);

/* Collect trace events, measure rates and run the ticks of services. Call it every few milliseconds; now: ns. */
void node_tick(struct node *n, uint64_t now);

/*
 * node_trace_start: trace the next `count` packets that match the filter (NULL: all), and discard the last trace. Returns
 * -EINVAL with libpcap's message, or -EBUSY while lcores still use an old filter or memory is short.
 */
struct node_trace {
	uint32_t count;
	const char *filter;
	/*
	 * What a TRACE_RESOLVED event means, as the reader of the trace shows it, told by the snapshot that resolved the packet:
	 * that may be gone when the trace is read. received: the event of the frame; its bytes are those that were captured.
	 * Both may be NULL; `forget` frees what `tell` returned.
	 */
	void *(*tell)(const struct node *n, const struct snapshot *s, const struct trace_event *received,
		const struct trace_event *e);
	void (*forget)(void *told);
};
int node_trace_start(struct node *n, const struct node_trace *trace, char *err, size_t size);
void node_trace_clear(struct node *n);

/* Call fn for each collected event, ordered by packet (from 1) and step. told: of node_trace.tell, or NULL. */
void node_trace_each(struct node *n, void (*fn)(void *arg, const struct trace_event *e, void *told), void *arg);

/* The balance of packets: rx + originated = sent + dropped + consumed + held. */
struct node_balance {
	uint64_t rx, originated, sent, dropped, consumed, held;
	int64_t missing; /* left minus right side; 0, except for packets that moved during the count */
};
void node_balance(const struct node *n, struct node_balance *out);

void node_free(struct node *n); /* closes ports that are still open; n may be NULL */

#endif
