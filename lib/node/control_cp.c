/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control role: it hands the packets that rx roles and workers punt to the services, and runs the timers of
 * services. It never waits and never accesses a file. Control lcore.
 */
#include "node/control_send.h"
#include "node/service.h"

static void take(struct control_role *c, struct rte_mbuf *m)
{
	uint8_t punt = pkt_of(m)->punt;

	for (const struct control_service *const *s = c->node->services; *s; s++)
		if ((*s)->takes >> punt & 1 && (*s)->take(c, m))
			return;
	pkt_end(m, DROP_not_served, &c->lcore->stats);
}

static unsigned int take_ring(struct control_role *c, struct mailbox *r)
{
	struct rte_mbuf *pkts[CONTROL_BURST];
	unsigned int n;

	if (mailbox_is_empty(r) || !control_has_room(c))
		return 0;
	n = mailbox_pop_packets(r, pkts, CONTROL_BURST);
	/* A newer snapshot may have classified these packets. */
	c->s = c->classifier.s = node_snapshot(c->node);
	for (unsigned int k = 0; k < n; k++)
		take(c, pkts[k]);
	return n;
}

static unsigned int take_punts(struct control_role *c)
{
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++)
		work += take_ring(c, &c->node->rx[i].to_control);
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		work += take_ring(c, &c->node->worker[i].to_control);
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
