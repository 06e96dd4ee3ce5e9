/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control role: it hands the packets that rx roles and workers punt to the services, and runs the timers of
 * services. It never waits and never accesses a file. Control lcore.
 */
#include "node/control_send.h"
#include "node/service.h"

#define BURSTS_FIRST 8 /* of a ring whose packets come before all others, in a pass */

static void take(struct control_role *c, struct rte_mbuf *m)
{
	uint8_t punt = pkt_of(m)->punt;

	for (const struct control_service *const *s = c->node->services; *s; s++)
		if ((*s)->takes >> punt & 1 && (*s)->take(c, m))
			return;
	pkt_end(m, DROP_not_served, &c->lcore->stats);
}

static unsigned int take_ring(struct control_role *c, struct mailbox *r, uint32_t takes)
{
	struct rte_mbuf *pkts[CONTROL_BURST];
	unsigned int n;

	if (mailbox_is_empty(r) || !control_has_room(c, takes))
		return 0;
	n = mailbox_pop_packets(r, pkts, CONTROL_BURST);
	/* A newer snapshot may have classified these packets. */
	c->s = c->classifier.s = node_snapshot(c->node);
	for (unsigned int k = 0; k < n; k++)
		take(c, pkts[k]);
	return n;
}

/* One bit per enum pkt_punt: packets in a ring. */
static uint32_t takes_of(enum punt_ring ring)
{
	uint32_t takes = 0;

	for (unsigned int punt = 0; punt <= PUNT_LAST; punt++)
		if (punt_ring_of(punt_kind_of((uint8_t)punt)) == ring)
			takes |= SERVICE_TAKES(punt);
	return takes;
}

/* The rings that come first are emptied, so that packets behind them cost them nothing but the time of one burst. */
static unsigned int take_rings(struct control_role *c, enum punt_ring ring)
{
	unsigned int bursts = ring <= PUNT_RING_SESSION ? BURSTS_FIRST : 1, work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++)
		for (unsigned int k = 0, n = CONTROL_BURST; k < bursts && n == CONTROL_BURST; k++, work += n)
			n = take_ring(c, &c->node->rx[i].to_control[ring], takes_of(ring));
	return work;
}

static unsigned int take_punts(struct control_role *c)
{
	unsigned int work = 0;

	for (unsigned int ring = 0; ring < PUNT_RINGS; ring++)
		work += take_rings(c, (enum punt_ring)ring);
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		work += take_ring(c, &c->node->worker[i].to_control, SERVICE_TAKES(PUNT_ERROR));
	return work;
}

unsigned int control_poll(struct control_role *c, uint64_t now, uint64_t *next)
{
	unsigned int work;

	__atomic_store_n(&c->now, now, __ATOMIC_RELAXED);
	c->s = c->classifier.s = node_snapshot(c->node);
	*next = TIME_NEVER;
	for (const struct control_service *const *s = c->node->services; *s; s++)
		if ((*s)->snapshot)
			(*s)->snapshot(c);
	work = take_punts(c);
	for (const struct control_service *const *s = c->node->services; *s; s++)
		if ((*s)->poll)
			work += (*s)->poll(c, next);
	return work;
}
