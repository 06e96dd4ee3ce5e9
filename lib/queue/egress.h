/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The egress of a port: queues by class, the scheduler over them, and the burst that is offered to the device.
 *
 * One worker owns an egress and alone touches it. A packet that finds nothing queued passes straight through
 * to the device's burst; otherwise it waits in the queue of its class. It is rewritten when its turn has come,
 * never before.
 */
#ifndef QUEUE_EGRESS_H
#define QUEUE_EGRESS_H

#include "neigh/nbr.h"
#include "pkt/fifo.h"
#include "port/port.h"
#include "snapshot/snapshot.h"

#define EGRESS_CLASSES	9   /* eight traffic classes and control */
#define EGRESS_TX_ROOM	128 /* rewritten frames that the device has not taken yet */
#define EGRESS_GENERATIONS 64 /* snapshots that queued packets may stem from at a time */
#define EGRESS_NONE	UINT32_MAX
#define EGRESS_QUANTUM	9216 /* bytes per class and round */

struct egress {
	struct port *port;
	uint16_t index;	 /* port */
	uint16_t n_tx;	 /* frames in tx[] */
	uint16_t n_copied; /* of these, already captured */
	uint16_t n_traced; /* of these, already traced */
	uint16_t active; /* bit per class with packets */
	uint8_t turn;	 /* class whose turn it is among 0 to 7 */
	uint32_t backlog; /* packets in all queues */
	uint32_t limit;	  /* packets of one class */
	int32_t deficit[8]; /* bytes the class may still send this round */
	uint32_t releasing;  /* first neighbour whose waiting packets go out next, or EGRESS_NONE */
	struct fifo queue[EGRESS_CLASSES];
	uint64_t queued_packets, queued_most; /* ever queued; highest backlog. Relaxed readers */
	struct rte_mbuf *tx[EGRESS_TX_ROOM];
} CACHE_ALIGNED;

/* What the owner works with in this pass. */
struct egress_context {
	const struct snapshot *s;
	struct lcore_stats *stats;
	struct nbr_table *nbrs;
	/* Tell the control lcore; false when its mailbox is full. */
	bool (*ask)(void *arg, struct nbr_message *message);
	void *ask_arg;
	/* Waiting packets by the generation of their snapshot; written by the owner, relaxed readers. */
	uint64_t held[EGRESS_GENERATIONS];
};

/* An empty egress of a port. Before its owner starts. */
void egress_init(struct egress *e, struct port *port, uint32_t limit);

/* Packets for this egress, in order; they are sent, queued, held for a neighbour or dropped. */
void egress_submit(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/* Serve the queues while the device has room, then offer it what is ready. Returns frames it took. */
unsigned int egress_run(struct egress *e, struct egress_context *c);

/* Packets in queues and in the device's burst. */
static inline uint32_t egress_held(const struct egress *e)
{
	return e->backlog + e->n_tx;
}

/* A neighbour has its MAC: what waits for it goes out ahead of everything that comes after it. */
void egress_nbr_resolved(struct egress *e, struct egress_context *c, uint32_t id);

/* A neighbour whose packets are being released has got another id. */
void egress_nbr_moved(struct egress *e, struct egress_context *c, uint32_t from, uint32_t to);

/* A neighbour was resolved (its packets go out now), aged, failed or is no longer needed. */
void egress_nbr_update(struct egress *e, struct egress_context *c, const struct nbr_message *message);

/* Drop everything held, for a reason. */
void egress_drain(struct egress *e, struct egress_context *c, enum reason reason);

#endif
