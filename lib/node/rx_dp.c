/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rx role: it receives packets, classifies them and hands them to the owner of their egress. Packets that do not
 * fit into the mailbox of a worker are parked. A queue whose packets are parked is not polled until they are gone, while
 * others go on, and while the parks have no room for a burst, the role classifies nothing: no packet is lost inside the
 * node. Frames of ports with lossless classes or data with credit wait in a backlog then (backlog.h), frames of other ports
 * in the device. What is parked of a lossless class is charged as what is in the backlog (rx_role.waiting). Rx lcores.
 */
#include "node/service.h"
#include "srv6/endpoint.h"

#define ROOM_NS 500	/* until a worker that had no room is looked at again */
#define PARKED_BURST 16 /* frames of a queue while packets are parked, so that many queues can go on */
#define PARKED_SHARES 8 /* a burst takes one share of what is left of the parks */

static bool rx_is_lossless(const struct rx_role *rx, const struct rte_mbuf *m, const struct pkt *x)
{
	return x->verdict == PKT_FORWARD && x->tclass != PKT_CLASS_CONTROL &&
	       rx->classifier.s->port[m->port].lossless >> x->priority & 1;
}

/*
 * Park packets for a worker. The burst of a queue has room: rx_has_room has checked it. Control frames of a queue that is held
 * are classified all the same, so they get only a part of the parks, and the rest of them is dropped.
 */
static __attribute__((noinline, cold)) void rx_park(struct rx_role *rx, uint16_t worker, struct rte_mbuf **pkts,
	unsigned int n)
{
	struct rx_park *park = &rx->park[worker];

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		const struct pkt *x = pkt_of(m);
		bool lossless = rx_is_lossless(rx, m, x);

		if (rx->parked >= (lossless ? NODE_PARK : rx->park_limit)) {
			pkt_end(m, DROP_rx_overload, &rx->lcore->stats);
			continue;
		}
		if (lossless)
			account_charge(&rx->waiting[m->port][x->priority], m->pkt_len, m->nb_segs);
		park->charged += lossless;
		park->is_charged[park->n] = lossless;
		park->pkts[park->n] = m;
		stat_level(park->n, park->n + 1);
		rx->parked++;
		rx->parked_at |= 1u << worker;
		stat_add(&rx->lcore->stats.ring_refused, 1);
	}
}

/* What is in mailboxes is not charged to the buffer of its class. So a port with lossless classes may fill them only so far. */
static bool rx_may_push(const struct rx_role *rx, uint16_t worker, bool lossless)
{
	return !lossless || mailbox_used(&rx->to_worker[worker]) <= rx->lossless_mail;
}

/* Hand packets, a burst of one port at most, to a worker on another lcore. */
static void rx_send(struct rx_role *rx, uint16_t worker, struct rte_mbuf **pkts, unsigned int n)
{
	bool lossless = rx->classifier.s->port[pkts[0]->port].lossless;
	unsigned int done = 0;

	if (likely(!rx->park[worker].n && rx_may_push(rx, worker, lossless)))
		done = mailbox_push_packets(&rx->to_worker[worker], pkts, n);
	if (unlikely(done < n))
		rx_park(rx, worker, pkts + done, n - done);
}

/* Move packets from a park to the mailbox: of lossless classes as few as rx_send. */
static void rx_unpark_for(struct rx_role *rx, uint16_t worker, struct rx_park *park)
{
	struct mailbox *box = &rx->to_worker[worker];
	unsigned int n = park->charged ? MIN_OF(park->n, NODE_BURST) : park->n;

	if (!rx_may_push(rx, worker, park->charged))
		return;
	n = MIN_OF(n, mailbox_room(box));
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = park->pkts[i];

		if (!park->is_charged[i])
			continue;
		account_release(&rx->waiting[m->port][pkt_of(m)->priority], m->pkt_len, m->nb_segs);
		park->charged--;
	}
	mailbox_push_packets(box, park->pkts, n);
	stat_level(park->n, park->n - n);
	rx->parked -= n;
	memmove(park->pkts, park->pkts + n, park->n * sizeof(park->pkts[0]));
	memmove(park->is_charged, park->is_charged + n, park->n * sizeof(park->is_charged[0]));
}

static void rx_unpark(struct rx_role *rx)
{
	for (uint16_t w = 0; unlikely(rx->parked) && w < rx->node->n_workers; w++)
		if (rx->park[w].n)
			rx_unpark_for(rx, w, &rx->park[w]);
}

/* Return whether a burst may be handed to any worker: the parks have room. */
static bool rx_has_room(const struct rx_role *rx)
{
	return likely(rx->parked <= NODE_PARK - NODE_BURST);
}

/*
 * The size of a burst. While packets are parked it is small, and the smaller the less room the parks have, so that many queues
 * can be held, each for itself, before all are.
 */
static uint16_t rx_size(const struct rx_role *rx)
{
	uint16_t size = batch_size(&rx->lcore->batch);
	unsigned int room;

	if (likely(!rx->parked))
		return size;
	room = NODE_PARK - NODE_BURST - MIN_OF(rx->parked, NODE_PARK - NODE_BURST);
	return (uint16_t)MIN_OF(size, MAX_OF(1, MIN_OF(PARKED_BURST, room / PARKED_SHARES)));
}

/* Return whether packets that this queue brought are parked, or others for the same worker. */
static bool rx_is_behind(const struct rx_role *rx, struct rx_queue *q)
{
	for (uint32_t at = q->parked_at; at; at &= at - 1)
		if (rx->park[__builtin_ctz(at)].n)
			return true;
	q->parked_at = 0;
	return false;
}

void rx_punt_limited(struct rx_role *rx, struct rte_mbuf *m, enum reason reason)
{
	stat_add(&rx->punt[m->port][punt_kind_of(pkt_of(m)->punt)].limited, 1);
	pkt_end(m, reason, &rx->lcore->stats);
}

/* The reason for which a packet ends that the control lcore does not get. */
static enum reason rx_unpunted(struct rx_role *rx, const struct pkt *x, enum reason reason)
{
	if (x->punt != PUNT_ERROR)
		return reason;
	stat_add(&rx->lcore->stats.icmp_suppressed, 1);
	return (enum reason)x->reason;
}

bool rx_punt_spared(struct rx_role *rx, struct rte_mbuf *m, uint64_t rate)
{
	enum punt_kind kind = punt_kind_of(pkt_of(m)->punt);
	const struct mailbox *ring = &rx->to_control[punt_ring_of(kind)];
	bool crowded = mailbox_room(ring) <= rte_ring_get_capacity(ring->ring) / 4;

	if (!punt_share_take(&rx->punt_shares, rx->classifier.s, rx->classifier.now, m, kind, rate, crowded))
		return false;
	stat_add(&rx->punt[m->port][kind].spared, 1);
	return true;
}

/* Take a packet from what its port, or its VLAN or station, may hand on of the kind. */
static bool rx_may_punt(struct rx_role *rx, struct rte_mbuf *m, enum punt_kind kind, const struct mailbox *ring)
{
	const struct punt_limit *l = &rx->classifier.s->punt[kind];

	if (!l->rate || bucket_take(&rx->punt_bucket[m->port][kind], rx->classifier.now, l->rate, l->burst))
		return true;
	if (!l->strict && mailbox_room(ring) > rte_ring_get_capacity(ring->ring) / 2)
		return true;
	return rx_punt_spared(rx, m, l->rate);
}

static void rx_punt_to_control(struct rx_role *rx, struct rte_mbuf *m)
{
	enum punt_kind kind = punt_kind_of(pkt_of(m)->punt);
	struct mailbox *ring = &rx->to_control[punt_ring_of(kind)];
	struct punt_stats *stats = &rx->punt[m->port][kind];

	if (!rx_may_punt(rx, m, kind, ring)) {
		rx_punt_limited(rx, m, rx_unpunted(rx, pkt_of(m), DROP_punt_limited));
	} else if (mailbox_push_packets(ring, &m, 1) == 1) {
		stat_add(&stats->taken, 1);
	} else {
		stat_add(&stats->full, 1);
		pkt_end(m, rx_unpunted(rx, pkt_of(m), DROP_punt_full), &rx->lcore->stats);
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

/* End a packet that goes to no egress, or hand it to whom it is for. */
static __attribute__((noinline)) void rx_take_out(struct rx_role *rx, struct rte_mbuf *m)
{
	if (pkt_of(m)->verdict == PKT_PUNT)
		rx_punt(rx, m);
	else
		pkt_end(m, (enum reason)pkt_of(m)->reason, &rx->lcore->stats);
}

/* Egress and verdict of a packet, which are side by side. */
static inline uint16_t rx_way_of(const struct pkt *x)
{
	uint16_t way;

	_Static_assert(offsetof(struct pkt, verdict) == offsetof(struct pkt, egress) + 1, "one read for both");
	memcpy(&way, (const uint8_t *)x + offsetof(struct pkt, egress), sizeof(way));
	return way;
}

/*
 * Packets for the same egress are handed over together, also if others that go to none are between them. The burst is used
 * up, and its array with it.
 */
static void rx_dispatch(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n)
{
	uint16_t last = UINT16_MAX;   /* no verdict */
	struct rte_mbuf **end = pkts; /* of the packets that are to be handed over */

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		const struct pkt *x = pkt_of(m);

		if (unlikely(rx_way_of(x) != last)) {
			if (x->verdict != PKT_FORWARD && x->verdict != PKT_GATED) {
				rx_take_out(rx, m);
				continue;
			}
			if (end > pkts)
				rx_forward(rx, pkt_of(pkts[0])->egress, pkts, (unsigned int)(end - pkts));
			last = rx_way_of(x);
			end = pkts;
		}
		*end++ = m;
	}
	if (end > pkts)
		rx_forward(rx, pkt_of(pkts[0])->egress, pkts, (unsigned int)(end - pkts));
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

/* Classify frames of a queue and hand them on. Returns their bytes. */
static uint64_t rx_process(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t port = q->port->index;
	uint64_t bytes, dealt = 0;

	if (unlikely(q->lanes) && spread_is_on(q)) {
		n = spread_deal(rx, q, pkts, n, &dealt);
		if (!n)
			return dealt;
	}
	if (unlikely(pkt_tap_wants(&rx->lcore->tap.rx_ports, port)))
		pkt_tap_copy(&rx->lcore->tap, pkts, n, port, TAP_RX, 0);
	pkt_poison_burst(pkts, n);
	bytes = classify_burst(&rx->classifier, port, pkts, n);
	if (unlikely(pkt_tap_wants_oam(&rx->lcore->tap)))
		rx_copy_oam(rx, pkts, n, port);
	if (unlikely(pkt_tap_tracing(&rx->lcore->tap)))
		pkt_tap_trace_received(&rx->lcore->tap, pkts, n, port, (uint32_t)rx->classifier.s->generation);
	if (unlikely(rx->classifier.s->port[port].examined ||
		     __atomic_load_n(&rx->node->storming[port], __ATOMIC_RELAXED)))
		n = rx_examine(rx, pkts, n, port);
	rx_dispatch(rx, pkts, n);
	if (unlikely(rx->parked)) {
		q->parked_at |= rx->parked_at;
		rx->parked_at = 0;
	}
	return bytes + dealt;
}

/* Is the receive ring of the port emptied when the CPU is too slow? */
static bool rx_keeps(const struct snap_interface *in)
{
	return in->lossless || in->credited;
}

/*
 * The way of frames while the CPU is too slow: out of the device at once, and then from the backlog as fast as this
 * lcore and the workers can. *next: as of rx_poll.
 */
static unsigned int rx_poll_backlog(struct rx_role *rx, struct rx_queue *q, bool room, uint64_t *next)
{
	struct rte_mbuf *pkts[NODE_BURST];
	bool on = !__atomic_load_n(&rx->stopped, __ATOMIC_RELAXED);
	unsigned int first = 0, taken = 0, work = 0;

	rx->lcore->batch.pressed = true;
	rx->park_limit = room ? NODE_PARK : NODE_PARK / 2;
	if (on && rx_keeps(&rx->classifier.s->port[q->port->index]))
		work = backlog_fill(rx, q, pkts, &first) > 0; /* it costs little beside classification */
	if (first)
		rx_process(rx, q, pkts, (uint16_t)first);
	rx->park_limit = NODE_PARK;
	if (room && rx_has_room(rx))
		taken = backlog_take(rx, q, pkts, rx_size(rx));
	if (taken)
		rx_process(rx, q, pkts, (uint16_t)taken);
	*next = MIN_OF(*next, rx->classifier.now + (room ? 0 : ROOM_NS));
	return MAX_OF(work, first + taken);
}

static unsigned int rx_poll_queue(struct rx_role *rx, struct rx_queue *q, uint64_t *next)
{
	const struct snap_interface *in = &rx->classifier.s->port[q->port->index];
	bool room = rx_has_room(rx) && (likely(!q->lanes) || spread_has_room(rx, q));
	struct port_stats *stats = &rx->lcore->stats.port[q->port->index];
	uint16_t size = rx_size(rx), n;
	struct rte_mbuf *pkts[NODE_BURST];
	unsigned int more = 0;

	if (unlikely(rx->parked))
		room = room && !rx_is_behind(rx, q);
	if (unlikely(!room || backlog_waits(&q->backlog)))
		return rx_poll_backlog(rx, q, room, next);
	if (unlikely(__atomic_load_n(&rx->stopped, __ATOMIC_RELAXED)))
		return 0;
	n = port_ops_of(q->port)->rx(q->port, q->queue, pkts, size);
	if (likely(n < size))
		q->backlog.short_ns = rx->classifier.now;
	if (!n)
		return 0;
	stat_add(&stats->rx_packets, n);
	stat_add(&stats->rx_bytes, rx_process(rx, q, pkts, n));
	if (unlikely(n == size)) {
		rx->lcore->batch.pressed = true;
		*next = rx->classifier.now;
		if (rx_keeps(in) && backlog_wanted(rx, q))
			more = rx_poll_backlog(rx, q, false, next);
	}
	return n + more;
}

/* Poll a queue of which nobody had heard in the pass before, as though it had been polled then: it was short. */
static unsigned int rx_poll_heard(struct rx_role *rx, unsigned int i, uint64_t before, uint64_t *next)
{
	struct rx_queue *q = &rx->queue[i];
	unsigned int work;

	if (!(rx->told.polled[i / 64] >> i % 64 & 1))
		q->backlog.short_ns = MAX_OF(q->backlog.short_ns, before);
	work = rx_poll_queue(rx, q, next);
	if (port_ops_of(q->port)->rx_waits(q->port, q->queue) == 0 && !backlog_waits(&q->backlog))
		rx->told.arrived[i / 64] &= ~(1ull << i % 64);
	return work;
}

/* Poll the queues in which frames have arrived (rx_told), and all while packets are parked. */
static unsigned int rx_poll_told(struct rx_role *rx, uint64_t before, uint64_t *next)
{
	bool all = rx->parked;
	unsigned int work = 0;

	for (unsigned int word = 0; word * 64 < rx->n_queues; word++) {
		unsigned int left = rx->n_queues - word * 64;
		uint64_t every = left < 64 ? (1ull << left) - 1 : UINT64_MAX;
		uint64_t polled = all ? every : rx->told.arrived[word];

		for (uint64_t bits = polled; bits; bits &= bits - 1)
			work += rx_poll_heard(rx, word * 64 + (unsigned int)__builtin_ctzll(bits), before, next);
		rx->told.polled[word] = polled;
	}
	return work;
}

/* Classify frames that other rx lcores have handed on, a burst of each. */
static unsigned int rx_poll_spread(struct rx_role *rx, uint64_t *next)
{
	struct rte_mbuf *pkts[NODE_BURST];
	unsigned int work = 0;

	if (spread_release(rx))
		*next = MIN_OF(*next, rx->classifier.now + ROOM_NS);
	for (uint16_t i = 0; i < rx->node->n_rx; i++) {
		struct mailbox *box = &rx->node->rx[i].to_rx[rx->index].box;
		struct rx_queue *q = &rx->from_rx[i];
		uint16_t size = rx_size(rx);
		unsigned int n, run;

		if (!box->ring || mailbox_is_empty(box))
			continue;
		if (!rx_has_room(rx) || rx_is_behind(rx, q)) {
			*next = MIN_OF(*next, rx->classifier.now + ROOM_NS);
			continue;
		}
		n = mailbox_pop_packets(box, pkts, size);
		for (unsigned int at = 0; at < n; at += run) {
			for (run = 1; at + run < n && pkts[at + run]->port == pkts[at]->port;)
				run++;
			q->port = rx->node->port[pkts[at]->port];
			rx_process(rx, q, pkts + at, (uint16_t)run);
		}
		if (n == size)
			*next = rx->classifier.now;
		work += n;
	}
	return work;
}

static unsigned int rx_poll_queues(struct rx_role *rx, uint64_t *next)
{
	unsigned int work = 0;

	for (uint16_t i = 0; i < rx->n_queues; i++)
		work += rx_poll_queue(rx, &rx->queue[i], next);
	return work;
}

unsigned int rx_poll(struct rx_role *rx, uint64_t now, uint64_t *next)
{
	uint64_t before = rx->classifier.now;
	unsigned int work = 0;

	*next = TIME_NEVER;
	rx->classifier.now = now;
	rx->classifier.s = node_snapshot(rx->node)->near[rx->place];
	rx_unpark(rx);
	if (unlikely(rx->to_rx))
		work = rx_poll_spread(rx, next);
	work += unlikely(rx->told.on) ? rx_poll_told(rx, before, next) : rx_poll_queues(rx, next);
	if (unlikely(rx->parked))
		*next = MIN_OF(*next, now + ROOM_NS);
	return work;
}
