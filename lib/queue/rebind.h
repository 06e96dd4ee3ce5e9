/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets are bound to a living way when their turn comes. The classifier binds a packet to its home: the path, next
 * hop and egress that the snapshot chose for its flow. The owner of the home egress compares that with what is alive
 * (snapshot/liveness.h), and binds the packet again if something better lives:
 *
 *   choice     home, if alive; else a primary path, else a backup, by highest random weight of the flow: flows of ways
 *              that live never move. Ways in hold-down come last. ECMP groups likewise
 *   when       on arrival; while the egress lives, at the packet's turn; when its link fails, its queues are searched, a
 *              limited number of packets in a pass, and arriving packets wait behind them
 *   order      all packets of a flow pass through its home, also those that leave elsewhere. A packet that is queued at
 *              another egress is a guest there. Before later packets take another way (the home has returned, or the
 *              other egress has failed), the home holds its own packets until its guests have left, or have come home:
 *              those go to the front. Guests of other homes go on meanwhile (park.h), so no two egresses wait for each
 *              other, and nobody waits longer than REBIND_WAIT_NS
 *   room       a packet leaves its queue only when the other egress has room for it, or the mailbox to its owner has. So
 *              nothing of a queue is dropped, and no worker ever waits
 *
 * Worker lcores; the owner of the egress.
 */
#ifndef QUEUE_REBIND_H
#define QUEUE_REBIND_H

#include "queue/park.h"
#include "queue/way.h"

/* ns after a failure in which an arriving packet counts as its first one; later ones tell of an idle port */
#define REBIND_GAP_NS NSEC_PER_MSEC
#define REBIND_LOOK_NS 10000		     /* ns until a wait is looked at again, if nothing arrives */
#define REBIND_BATCH 256		     /* packets of queues that are looked at in a pass */
#define REBIND_WAIT_NS (100 * NSEC_PER_MSEC) /* longest time for which later packets wait for earlier ones elsewhere */

enum rebind_result {
	REBIND_STAYS, /* send it by this egress, perhaps by another next hop or path than before */
	REBIND_MOVED, /* another egress has it, or it was dropped */
	REBIND_FULL,  /* it belongs elsewhere, where there is no room: keep it */
	REBIND_DEAD,  /* nothing is alive */
};

/* A packet of `home` is queued elsewhere no longer. gone_ns: time by which it is on the line; 0: it was not sent. */
static inline void rebind_leaves(struct egress_context *c, uint16_t home, uint64_t gone_ns)
{
	struct egress_left *left = &c->peers->left[c->self * MAX_PORTS + home];

	if (gone_ns > left->gone_ns)
		__atomic_store_n(&left->gone_ns, gone_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&left->n, left->n + 1, __ATOMIC_RELEASE);
}

/* A guest was dropped, or waits for its neighbour (gone_ns 0), or the device has it. */
static inline void rebind_guest_left(struct egress *e, struct egress_context *c, uint16_t home, uint64_t gone_ns)
{
	e->rebind.guests--;
	rebind_leaves(c, home, gone_ns);
}

/* Does a packet that is handed to a port come home there? */
static inline bool rebind_comes_home(struct rte_mbuf *m, uint16_t port)
{
	return pkt_of(m)->ops & PKT_OP_GUEST && m->vlan_tci == port;
}

/* Bind a packet that is in no queue, and hand it over if it leaves elsewhere. queued: it comes from a queue. */
enum rebind_result rebind_packet(struct egress *e, struct egress_context *c, struct rte_mbuf *m, bool queued);

/* The link or the table of what is alive has changed. */
void rebind_look(struct egress *e, struct egress_context *c);

static inline bool rebind_is_new(const struct egress *e, const struct egress_context *c)
{
	return c->peers && liveness_epoch(c->s) != e->rebind.epoch;
}

/*
 * The same for a link of a port that has taken packets over: its owner moves them at once, before the control lcore has said
 * so, and what arrives must not overtake them.
 */
bool rebind_has_changed(const struct egress *e, const struct egress_context *c);

/* Do what is due: end a wait, search queues, put waiting packets back. Call in every pass with EGRESS_GATE_REBIND. */
void rebind_run(struct egress *e, struct egress_context *c);

/*
 * Guests of an egress count as guests until the device has them. Homes of the frames of a burst, UINT16_MAX for those
 * that are no guests; the device has accepted the first `taken` of them.
 */
void rebind_mark_guests(const struct egress_burst *b, uint16_t *homes);
void rebind_guests_sent(struct egress *e, struct egress_context *c, const uint16_t *homes, uint16_t taken);

/* Must an arriving packet wait in its queue, so that it does not overtake earlier ones? */
static inline bool rebind_must_queue(const struct egress *e, const struct pkt *x)
{
	if (park_homes(e) || e->rebind.scan)
		return true;
	if (e->link.ready == EGRESS_LINK_NOT_READY)
		return false;
	return x->tclass == PKT_CLASS_CONTROL ? e->control.n : e->slice[x->slice].busy >> x->tclass & 1;
}

/* Time in ns at which rebind_run is due if nothing arrives. */
uint64_t rebind_next(const struct egress *e, const struct egress_context *c);

/* Search the queues for packets that another egress can send, from their beginning. */
static inline void rebind_search(struct egress *e)
{
	e->rebind.scan = true;
	e->rebind.before = NULL;
	e->rebind.slice = e->rebind.class = 0;
	e->rebind.held = 0;
}

/* A packet is about to be queued that a search has passed, or that nothing but a search lets leave. */
static inline void rebind_search_later(struct egress *e, struct rte_mbuf *m)
{
	struct egress_rebind *r = &e->rebind;
	const struct pkt *x = pkt_of(m);

	if (r->scan)
		r->again |= x->slice < r->slice || (x->slice == r->slice && x->tclass < r->class);
	else if (e->link.ready == EGRESS_LINK_NOT_READY && x->ops & PKT_OP_GUEST)
		rebind_search(e);
}

/*
 * Begin the time for which packets without a living way wait, pfc.outage, again if a way has died that took packets over.
 */
void rebind_begin_outage(struct egress *e, struct egress_context *c);

/*
 * Is what is queued dropped, because no way of it has lived for pfc.outage? Not while a search or a wait has still to find out
 * which packets have a way: they wait for room, or for those before them.
 */
static inline bool rebind_gave_up(const struct egress *e)
{
	return e->link.given_up && !e->rebind.scan && !e->rebind.waits;
}

/* May a packet of a dead way wait for one that lives? Ends after pfc.outage. */
bool rebind_may_wait(struct egress *e, struct egress_context *c);

#endif
