/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx role: it receives packets, classifies them and hands them to the owner of their egress. Packets that do not
 * fit into the mailbox of a worker are parked. While the park has no room for a burst, the role receives nothing, so
 * that no packet is lost inside the node. Rx lcores.
 */
#include "node/service.h"
#include "srv6/endpoint.h"

/* Hand packets to a worker on another lcore. */
static void rx_send(struct rx_role *rx, uint16_t worker, struct rte_mbuf **pkts, unsigned int n)
{
	struct rx_park *park = &rx->park[worker];
	unsigned int done = 0;

	if (likely(!park->n))
		done = mailbox_push_packets(&rx->to_worker[worker], pkts, n);
	if (unlikely(done < n)) {
		/* The park has room: rx_may_receive has checked it. */
		memcpy(&park->pkts[park->n], &pkts[done], (n - done) * sizeof(pkts[0]));
		stat_level(park->n, park->n + n - done);
		stat_add(&rx->lcore->stats.ring_refused, n - done);
	}
}

static void rx_unpark(struct rx_role *rx)
{
	for (uint16_t w = 0; w < rx->node->n_workers; w++) {
		struct rx_park *park = &rx->park[w];
		unsigned int done;

		if (likely(!park->n))
			continue;
		done = mailbox_push_packets(&rx->to_worker[w], park->pkts, park->n);
		stat_level(park->n, park->n - done);
		memmove(park->pkts, park->pkts + done, park->n * sizeof(park->pkts[0]));
	}
}

/* Return whether every park has room for a whole burst, and receiving is not stopped. */
static bool rx_may_receive(struct rx_role *rx)
{
	for (uint16_t w = 0; w < rx->node->n_workers; w++) {
		if (unlikely(rx->park[w].n > NODE_PARK - NODE_BURST)) {
			__atomic_store_n(&rx->crowded, true, __ATOMIC_RELAXED);
			return false;
		}
	}
	if (unlikely(rx->crowded))
		__atomic_store_n(&rx->crowded, false, __ATOMIC_RELAXED);
	return !__atomic_load_n(&rx->stopped, __ATOMIC_RELAXED);
}

static void rx_punt_to_control(struct rx_role *rx, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	/* Errors and fragments may fill half of the mailbox, so that a flood of bad packets cannot block ND. */
	bool crowded = (x->punt == PUNT_ERROR || x->punt == PUNT_FRAGMENT) &&
		       mailbox_room(&rx->to_control) < rte_ring_get_capacity(rx->to_control.ring) / 2;

	if (crowded || mailbox_push_packets(&rx->to_control, &m, 1) != 1) {
		enum reason reason = x->punt == PUNT_ERROR ? (enum reason)x->reason : DROP_punt_full;

		if (x->punt == PUNT_ERROR)
			stat_add(&rx->lcore->stats.icmp_suppressed, 1);
		pkt_end(m, reason, &rx->lcore->stats);
	}
}

static void rx_punt(struct rx_role *rx, struct rte_mbuf *m)
{
	const struct node *n = rx->node;

	for (uint16_t i = 0; unlikely(n->rx_takes >> pkt_of(m)->punt & 1) && i < n->n_rx_hooks; i++)
		if (n->rx_hooks[i]->takes >> pkt_of(m)->punt & 1 && n->rx_hooks[i]->take(rx, m))
			return;
	rx_punt_to_control(rx, m);
}

static void rx_forward(struct rx_role *rx, uint8_t egress, struct rte_mbuf **pkts, unsigned int n)
{
	uint16_t owner = rx->node->owner[egress];
	struct worker_role *w = &rx->node->worker[owner];

	if (w->lcore == rx->lcore)
		worker_submit(w, egress, pkts, n);
	else
		rx_send(rx, owner, pkts, n);
}

/* Consecutive packets for the same egress are handed over together. */
static void rx_dispatch(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int i = 0, run; i < n; i += run) {
		struct pkt *x = pkt_of(pkts[i]);

		run = 1;
		if (likely(x->verdict == PKT_FORWARD)) {
			while (i + run < n && pkt_of(pkts[i + run])->verdict == PKT_FORWARD &&
				pkt_of(pkts[i + run])->egress == x->egress)
				run++;
			rx_forward(rx, x->egress, &pkts[i], run);
		} else if (x->verdict == PKT_PUNT) {
			rx_punt(rx, pkts[i]);
		} else {
			pkt_end(pkts[i], (enum reason)x->reason, &rx->lcore->stats);
		}
	}
}

/*
 * Copy the packets of a local SID whose SRH has the O-flag (RFC 9259). The frames are still as received. In a packet
 * that causes an ICMP error, the error occupies the field of the SID; such a packet is captured among the drops.
 */
static void rx_copy_oam(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct pkt *x = pkt_of(pkts[i]);
		const struct eth_hdr *eth = rte_pktmbuf_mtod(pkts[i], const struct eth_hdr *);
		struct srv6_packet p = {.frame = (const uint8_t *)eth,
			.readable = pkts[i]->data_len,
			.end = pkts[i]->pkt_len,
			.at = sizeof(*eth)};

		if (x->sid == PKT_SID_NONE || (x->verdict == PKT_PUNT && x->punt == PUNT_ERROR) ||
			be16_get(eth->type) != ETH_TYPE_IPV6)
			continue;
		if (srv6_walk(&p) && p.srh && ((const struct srh *)(p.frame + p.srh))->flags & SRH_FLAG_O)
			pkt_tap_oam(&rx->lcore->tap, pkts[i], port);
	}
}

static uint16_t rx_examine(struct rx_role *rx, struct rte_mbuf **pkts, uint16_t n, uint16_t port)
{
	const struct node *node = rx->node;

	for (uint16_t i = 0; i < node->n_rx_hooks; i++)
		if (node->rx_hooks[i]->examine)
			n = (uint16_t)node->rx_hooks[i]->examine(rx, pkts, n, port);
	return n;
}

unsigned int rx_poll(struct rx_role *rx, uint64_t now, uint64_t *next)
{
	struct rte_mbuf *pkts[NODE_BURST];
	unsigned int work = 0;

	*next = TIME_NEVER;
	rx->classifier.now = now;
	rx->classifier.s = node_snapshot(rx->node);
	rx_unpark(rx);
	for (uint16_t i = 0; i < rx->n_queues; i++) {
		struct rx_queue *q = &rx->queue[i];
		uint16_t n;

		if (unlikely(!rx_may_receive(rx))) {
			*next = now; /* Poll again at once: a worker must make room first. */
			break;
		}
		n = q->port->ops->rx(q->port, q->queue, pkts, NODE_BURST);
		if (!n)
			continue;
		if (unlikely(pkt_tap_wants(&rx->lcore->tap.rx_ports, q->port->index)))
			pkt_tap_copy(&rx->lcore->tap, pkts, n, q->port->index, TAP_RX, 0);
		pkt_poison_burst(pkts, n);
		classify_burst(&rx->classifier, q->port->index, pkts, n);
		if (unlikely(pkt_tap_wants_oam(&rx->lcore->tap)))
			rx_copy_oam(rx, pkts, n, q->port->index);
		if (unlikely(pkt_tap_tracing(&rx->lcore->tap)))
			pkt_tap_trace_received(&rx->lcore->tap, pkts, n, q->port->index);
		work += n;
		if (unlikely(rx->classifier.s->port[q->port->index].examined ||
			     __atomic_load_n(&rx->node->storming[q->port->index], __ATOMIC_RELAXED)))
			n = rx_examine(rx, pkts, n, q->port->index);
		rx_dispatch(rx, pkts, n);
	}
	return work;
}
