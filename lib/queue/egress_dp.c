/* SPDX-License-Identifier: BSD-3-Clause */
/* Worker lcores; the owner of the egress. */
#include "queue/egress.h"

#include "rewrite/rewrite.h"
#include "wire/icmp.h"

void egress_init(struct egress *e, struct port *port, uint32_t limit)
{
	*e = (struct egress){.port = port, .index = port->index, .limit = limit, .releasing = EGRESS_NONE};
}

static void trace(struct egress_context *c, struct rte_mbuf *m, enum trace_kind kind, uint16_t port, uint32_t value)
{
	if (unlikely(c->stats->tap && pkt_tap_tracing(c->stats->tap)))
		pkt_tap_trace(c->stats->tap, m, kind, port, value);
}

/* A packet that waits keeps the ids of its snapshot's generation in use. */
static void hold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_add(&c->held[pkt_of(m)->generation % EGRESS_GENERATIONS], 1);
}

static struct rte_mbuf *unhold(struct egress_context *c, struct rte_mbuf *m)
{
	stat_sub(&c->held[pkt_of(m)->generation % EGRESS_GENERATIONS], 1);
	return m;
}

static void nbr_wait(struct egress *e, struct egress_context *c, uint32_t id, struct rte_mbuf *m)
{
	struct nbr *n = &c->nbrs->nbr[id];
	struct nbr_message question = {.addr = n->addr, .port = e->index, .what = NBR_ASK};

	/* while others are being released nothing new comes here, so UNKNOWN and ASKED are all there is */
	if (n->state == NBR_UNKNOWN && c->ask(c->ask_arg, &question))
		n->state = NBR_ASKED;
	if (n->waiting.n >= c->nbrs->hold || c->nbrs->held >= c->nbrs->hold_total) {
		pkt_end(m, DROP_neighbor_hold, c->stats);
		return;
	}
	trace(c, m, TRACE_WAITS, e->index, n->waiting.n);
	hold(c, m);
	fifo_push(&n->waiting, m);
	c->nbrs->held++;
}

static void nbr_stale(struct egress *e, struct egress_context *c, struct nbr *n)
{
	struct nbr_message question = {.addr = n->addr, .port = e->index, .what = n->confirm ? NBR_ASK : NBR_USED};

	if (!c->ask(c->ask_arg, &question))
		return;
	n->state = NBR_RESOLVED;
	n->confirm = false;
}

/* Id of the packet's neighbour; UINT32_MAX when the table is full. */
static inline uint32_t nbr_of(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct ip_addr addr;

	if (likely(x->nbr != PKT_NBR_LINK))
		return x->nbr;
	addr = rewrite_destination(m, c->s);
	return nbr_lookup(c->nbrs, c->s, e->index, &addr);
}

/* ff02::/16 and the IPv4 broadcast need no resolution: the node's own ND and ARP requests. */
static bool group_mac(struct egress_context *c, struct egress *e, struct rte_mbuf *m, struct eth_hdr *mac)
{
	const struct pkt *x = pkt_of(m);
	const struct ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, const struct ipv6_hdr *, x->strip);

	if (x->nbr != PKT_NBR_LINK || x->ops || x->family != 6 || !ipv6_is_multicast(&ip->dst))
		return false;
	mac->dst = nd_multicast_mac(&ip->dst);
	mac->src = c->s->port[e->index].mac;
	return true;
}

static void put_tx(struct egress *e, struct egress_context *c, struct rte_mbuf *m, const struct eth_hdr *mac)
{
	int reason = rewrite_packet(m, c->s, mac, c->stats);

	if (unlikely(reason))
		pkt_end(m, (enum reason)reason, c->stats);
	else
		e->tx[e->n_tx++] = m;
}

/* A packet's turn has come, and tx[] has room. */
static inline void emit(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct eth_hdr mac;
	struct nbr *n;
	uint32_t id;

	if (unlikely(pkt_of(m)->family == PKT_FRAME && !(pkt_of(m)->ops & PKT_OP_ENCAP))) {
		rewrite_frame(m);
		e->tx[e->n_tx++] = m;
		return;
	}
	if (unlikely(group_mac(c, e, m, &mac))) {
		put_tx(e, c, m, &mac);
		return;
	}
	id = nbr_of(e, c, m);
	if (unlikely(id == UINT32_MAX)) {
		pkt_end(m, DROP_neighbor_hold, c->stats);
		return;
	}
	n = &c->nbrs->nbr[id];
	if (unlikely(n->state != NBR_RESOLVED)) {
		if (n->state != NBR_STALE) {
			nbr_wait(e, c, id, m);
			return;
		}
		nbr_stale(e, c, n);
	}
	put_tx(e, c, m, &n->mac);
}

/* Offer tx[] to the device; what it does not take stays. Counts before, for the frames are gone afterwards. */
static unsigned int offer(struct egress *e, struct egress_context *c)
{
	uint32_t bytes[EGRESS_TX_ROOM];
	uint16_t from[EGRESS_TX_ROOM];
	uint16_t n = e->n_tx, taken;
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n; i++) {
		bytes[i] = e->tx[i]->pkt_len;
		from[i] = e->tx[i]->port;
	}
	if (unlikely(c->stats->tap && pkt_tap_wants(&c->stats->tap->tx_ports, e->index) && e->n_copied < n)) {
		pkt_tap_copy(c->stats->tap, e->tx + e->n_copied, n - e->n_copied, e->index, TAP_TX, 0);
		e->n_copied = n;
	}
	if (unlikely(c->stats->tap && pkt_tap_tracing(c->stats->tap))) {
		for (uint16_t i = e->n_traced; i < n; i++)
			pkt_tap_trace(c->stats->tap, e->tx[i], TRACE_SENT, e->index, 0);
		e->n_traced = n;
	}
	taken = e->port->ops->tx(e->port, e->tx, n);
	e->n_copied = (uint16_t)(e->n_copied > taken ? e->n_copied - taken : 0);
	e->n_traced = (uint16_t)(e->n_traced > taken ? e->n_traced - taken : 0);
	for (uint16_t i = 0, run; i < taken; i = (uint16_t)(i + run)) {
		for (run = 0; i + run < taken && from[i + run] == from[i]; run++)
			sum += bytes[i + run];
		stat_add(&c->stats->port[from[i]].sent, run);
	}
	stat_add(&c->stats->port[e->index].tx_packets, taken);
	stat_add(&c->stats->port[e->index].tx_bytes, sum);
	e->n_tx = (uint16_t)(n - taken);
	if (unlikely(e->n_tx))
		memmove(e->tx, e->tx + taken, e->n_tx * sizeof(e->tx[0]));
	return taken;
}

static void enqueue(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	uint8_t class = pkt_of(m)->tclass;
	struct fifo *q = &e->queue[class];

	if (q->n >= e->limit) {
		pkt_end(m, DROP_queue_full, c->stats);
		return;
	}
	trace(c, m, TRACE_QUEUED, e->index, q->n);
	hold(c, m);
	fifo_push(q, m);
	e->active = (uint16_t)(e->active | 1u << class);
	e->backlog++;
	stat_add(&e->queued_packets, 1);
	stat_max(&e->queued_most, e->backlog);
}

void egress_submit(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	if (unlikely(!port_is_up(e->port))) {
		for (unsigned int i = 0; i < n; i++)
			pkt_end(pkts[i], DROP_port_down, c->stats);
		return;
	}
	if (likely(e->backlog == 0 && e->releasing == EGRESS_NONE)) {
		if (e->n_tx + n > EGRESS_TX_ROOM)
			offer(e, c);
		if (likely(e->n_tx + n <= EGRESS_TX_ROOM)) {
			for (unsigned int i = 0; i < n; i++)
				emit(e, c, pkts[i]);
			return;
		}
	}
	for (unsigned int i = 0; i < n; i++)
		enqueue(e, c, pkts[i]);
}

/* Deficit round robin (Shreedhar and Varghese) over the traffic classes, by bytes: whose turn is it? */
static uint8_t next_class(struct egress *e)
{
	uint8_t class = e->turn;

	while (!(e->active & 1u << class) || e->deficit[class] <= 0) {
		class = (class + 1) & 7;
		if (e->active & 1u << class)
			e->deficit[class] += EGRESS_QUANTUM;
	}
	e->turn = class;
	return class;
}

/* Control first, then the classes in turn. */
static struct rte_mbuf *dequeue(struct egress *e, struct egress_context *c)
{
	uint8_t class = PKT_CLASS_CONTROL;
	struct rte_mbuf *m;

	if (!(e->active & 1u << PKT_CLASS_CONTROL)) {
		class = next_class(e);
		e->deficit[class] -= (int32_t)e->queue[class].head->pkt_len;
	}
	m = unhold(c, fifo_pop(&e->queue[class]));
	if (!e->queue[class].n) {
		e->active = (uint16_t)(e->active & ~(1u << class));
		if (class != PKT_CLASS_CONTROL)
			e->deficit[class] = 0;
	}
	e->backlog--;
	return m;
}

/* Packets that waited for a neighbour go on, in order, ahead of everything that came after them. */
static unsigned int release(struct egress *e, struct egress_context *c)
{
	unsigned int sent = 0;

	while (e->releasing != EGRESS_NONE) {
		struct nbr *n = &c->nbrs->nbr[e->releasing];

		while (n->waiting.n) {
			if (e->n_tx == EGRESS_TX_ROOM)
				sent += offer(e, c);
			if (e->n_tx == EGRESS_TX_ROOM)
				return sent;
			c->nbrs->held--;
			put_tx(e, c, unhold(c, fifo_pop(&n->waiting)), &n->mac);
		}
		n->state = NBR_RESOLVED;
		e->releasing = n->next_releasing;
	}
	return sent;
}

unsigned int egress_run(struct egress *e, struct egress_context *c)
{
	unsigned int sent = 0;

	if (unlikely(e->releasing != EGRESS_NONE)) {
		sent += release(e, c);
		if (e->releasing != EGRESS_NONE)
			return sent;
	}
	while (e->backlog && e->n_tx < EGRESS_TX_ROOM) {
		emit(e, c, dequeue(e, c));
		if (e->n_tx == EGRESS_TX_ROOM)
			sent += offer(e, c);
	}
	if (e->n_tx)
		sent += offer(e, c);
	return sent;
}

static void fail_waiting(struct egress_context *c, struct nbr *n)
{
	while (n->waiting.n) {
		c->nbrs->held--;
		pkt_end(unhold(c, fifo_pop(&n->waiting)), DROP_neighbor_failed, c->stats);
	}
}

void egress_nbr_resolved(struct egress *e, struct egress_context *c, uint32_t id)
{
	struct nbr *n = &c->nbrs->nbr[id];

	n->state = NBR_RESOLVED;
	if (!n->waiting.n)
		return;
	n->state = NBR_RELEASING;
	n->next_releasing = e->releasing;
	e->releasing = id;
}

void egress_nbr_moved(struct egress *e, struct egress_context *c, uint32_t from, uint32_t to)
{
	uint32_t *at = &e->releasing;

	while (*at != EGRESS_NONE && *at != from)
		at = &c->nbrs->nbr[*at].next_releasing;
	if (*at == from)
		*at = to;
}

void egress_nbr_update(struct egress *e, struct egress_context *c, const struct nbr_message *message)
{
	uint32_t id = nbr_find(c->nbrs, message->port, &message->addr);
	struct nbr *n;

	if (id == UINT32_MAX || c->nbrs->nbr[id].is_static)
		return;
	n = &c->nbrs->nbr[id];
	switch ((enum nbr_update)message->what) {
	case NBR_SET:
		n->mac.dst = message->mac;
		n->confirm = false;
		if (n->state != NBR_RELEASING)
			egress_nbr_resolved(e, c, id);
		break;
	case NBR_AGED:
		if (n->state == NBR_RESOLVED)
			n->state = NBR_STALE;
		break;
	case NBR_FAIL:
		if (n->state == NBR_RELEASING)
			break;
		n->state = NBR_UNKNOWN;
		fail_waiting(c, n);
		break;
	case NBR_FORGET:
		if (n->state == NBR_RELEASING)
			break;
		fail_waiting(c, n);
		n->state = NBR_UNKNOWN;
		if (id >= SNAP_NBR_MAX)
			nbr_release(c->nbrs, id);
		break;
	}
}

void egress_drain(struct egress *e, struct egress_context *c, enum reason reason)
{
	for (unsigned int class = 0; class < EGRESS_CLASSES; class++)
		while (e->queue[class].n)
			pkt_end(unhold(c, fifo_pop(&e->queue[class])), reason, c->stats);
	for (uint16_t i = 0; i < e->n_tx; i++)
		pkt_end(e->tx[i], reason, c->stats);
	e->backlog = 0;
	e->active = 0;
	e->n_tx = 0;
}
