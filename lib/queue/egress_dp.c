/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Submits packets to an egress, serves its queues and offers bursts to the device.
 * Worker lcores; the owner of the egress.
 */
#include "queue/turn.h"

#include "queue/line.h"
#include "queue/link.h"
#include "queue/park.h"
#include "queue/rebind.h"
#include "queue/watch.h"
#include "rewrite/rewrite.h"
#include "wire/icmp.h"

void egress_init(struct egress *e, struct port *port)
{
	e->port = port;
	e->index = port->index;
	e->wake_ns = TIME_NEVER;
	e->watch_ns = TIME_NEVER;
	e->link = (struct egress_link){.seen = EGRESS_LINK_NOT_READY,
		.ready = EGRESS_LINK_NOT_READY,
		.give_up_ns = TIME_NEVER,
		.go_on_ns = TIME_NEVER,
		.next_ns = TIME_NEVER};
	e->random = 0x9e3779b9u * (port->index + 1u);
}

void egress_know_link(struct egress *e)
{
	e->link.seen = port_link(e->port);
	e->link.ready = port_is_up(e->port) ? e->link.seen : EGRESS_LINK_NOT_READY;
	e->link.given_up = !port_is_up(e->port);
}

void egress_configure(struct egress *e, const struct egress_context *c)
{
	const struct snap_interface *port = &c->s->port[e->index];
	uint32_t before = e->n_slices;

	e->n_slices = c->s->n_slices;
	e->retry_ns = EGRESS_RETRY_NS;
	if (port->speed_bps)
		e->retry_ns = MAX_OF(e->retry_ns,
			EGRESS_RETRY_FRAMES * (ETH_MIN_LEN + EGRESS_LINE_BYTES) * 8 * NSEC_PER_SEC / port->speed_bps);
	watch_configure(e, c, before);
	e->queue_limit = e->rebind.waits ? UINT32_MAX : port->queue_limit;
	e->buffer_limit = port->buffer_limit;
	e->ecn_classes = port->ecn_classes;
	e->shared = e->n_slices > 1 ? UINT32_MAX : 0;
	e->gates &= (uint8_t)~EGRESS_GATE_RATE;
	e->gates = (uint8_t)(c->credit ? e->gates | EGRESS_GATE_CREDIT : e->gates);
	memset(e->promised, 0, sizeof(e->promised));
	for (uint32_t i = 0; i < e->n_slices; i++) {
		e->slice[i].quantum = c->s->slice[i].weight * EGRESS_WEIGHT_BYTES;
		gate_set_rate(&e->slice[i], c->s->slice[i].max_rate_bps);
		sched_promise(e, (uint8_t)i, c->s->slice[i].min_rate_bps);
		if (e->slice[i].byte_time)
			e->gates |= EGRESS_GATE_RATE;
	}
	e->late_ns = EGRESS_LATE_NS;
	if (port->speed_bps)
		e->late_ns += EGRESS_LATE_BATCHES * EGRESS_TX_BATCH * (port->mtu + EGRESS_LINE_BYTES) * 8 *
			      NSEC_PER_SEC / port->speed_bps;
	e->promises = e->promised[0] | e->promised[1];
	e->line_time = port->speed_bps ? (8 * NSEC_PER_SEC << EGRESS_TIME_SHIFT) / port->speed_bps : 0;
	link_configure(e, c);
	e->wake_ns = c->now; /* rates may have changed */
}

void egress_clear_watermarks(struct egress *e, bool persistent)
{
	for (uint32_t i = 0; i < e->n_slices; i++)
		for (unsigned int k = 0; k < PKT_CLASSES; k++) {
			struct egress_queue *q = &e->slice[i].queue[k];

			__atomic_store_n(&q->user_bytes, q->bytes, __ATOMIC_RELAXED);
			if (persistent)
				__atomic_store_n(&q->most_bytes, q->bytes, __ATOMIC_RELAXED);
		}
}

bool egress_pause(struct egress *e, struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause)
{
	c->touched |= 1u << e->index;
	gate_watch(e, c);
	watch_request(e, c, party, slice, pause);
	if (!pfc_holds_apply(&e->holds, party, slice, pause, c->now))
		return false;
	gate_pause(e, c, slice, pause->enable);
	if (party->sid == PFC_SID_LINK)
		link_heard(e, c, pause->enable);
	if (e->gates & EGRESS_GATE_PAUSE && e->tx.n)
		sched_take_back(e, c);
	return true;
}

static void egress_neigh_stale(struct egress_context *c, struct neigh_entry *n)
{
	struct neigh_message question = {.addr = n->addr,
		.interface = n->interface,
		.what = n->confirm ? NEIGH_ASK : NEIGH_USED};

	if (!c->ask(c->ask_arg, &question))
		return;
	neigh_entry_set_state(n, NEIGH_ENTRY_RESOLVED);
	n->confirm = false;
}

/* Id of the packet's neighbour; UINT32_MAX when the table is full. */
static inline uint32_t egress_neigh_of(struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);
	struct ip_addr addr;

	if (likely(x->neigh < PKT_NEIGH_LINK))
		return x->neigh;
	addr = rewrite_destination(m, c->s);
	return neigh_table_lookup(c->neighs, c->s, (uint16_t)x->neigh, &addr);
}

/* The burst of a packet: control traffic or data. */
static inline struct egress_burst *egress_burst_of(struct egress *e, const struct pkt *x)
{
	return x->tclass == PKT_CLASS_CONTROL ? &e->control_tx : &e->tx;
}

static inline uint32_t egress_put_tx(struct egress *e, struct egress_context *c, struct rte_mbuf *m, int reason)
{
	struct egress_burst *b;

	if (unlikely(reason)) {
		queue_end(c, m, (enum reason)reason);
		return 0;
	}
	b = egress_burst_of(e, pkt_of(m));
	b->pkts[b->n] = m;
	stat_level(b->n, b->n + 1);
	return m->pkt_len;
}

/* Rewrite a packet with what only some interfaces do: tags, and another DSCP. Returns 0 or a drop reason. */
static int egress_rewrite(struct egress_context *c, struct rte_mbuf *m, const struct neigh_entry *n,
	const struct snap_interface *in)
{
	int reason = in->n_tags ? rewrite_packet_tagged(m, c->s, &n->mac, in, c->stats)
				: rewrite_packet(m, c->s, &n->mac, c->stats);

	if (!reason && in->dscp_out)
		rewrite_map_dscp(m, in, c->stats);
	return reason;
}

/* Send to a neighbour on an interface, with the current tags of the interface. */
static uint32_t egress_put_apart(struct egress *e, struct egress_context *c, struct rte_mbuf *m,
	const struct neigh_entry *n, const struct snap_interface *in)
{
	struct interface_stats *stats = &c->stats->interface[n->interface / SNAP_INTERFACE_ROW];
	uint32_t bytes = egress_put_tx(e, c, m, egress_rewrite(c, m, n, in));

	if (bytes && in->n_tags) {
		stat_add(&stats->tx_packets, 1);
		stat_add(&stats->tx_bytes, bytes);
	}
	return bytes;
}

/* Send to a neighbour that is unresolved, stale, on a VLAN interface, or on a port with dscp-out. */
static __attribute__((noinline)) uint32_t emit_apart(struct egress *e, struct egress_context *c, struct rte_mbuf *m,
	uint32_t id)
{
	struct neigh_entry *n = &c->neighs->neigh[id];
	const struct snap_interface *in = snap_interface(c->s, n->interface);

	if (!in) {
		queue_end(c, m, DROP_no_route);
		return 0;
	}
	if (n->state != NEIGH_ENTRY_RESOLVED && n->state != NEIGH_ENTRY_STALE) {
		egress_neigh_wait(e, c, id, m);
		return 0;
	}
	if (n->state == NEIGH_ENTRY_STALE)
		egress_neigh_stale(c, n);
	return egress_put_apart(e, c, m, n, in);
}

/* Data that is rewritten in place and goes to a neighbour that answers. False: it is another packet. */
static inline bool egress_emit_in_place(struct egress *e, const struct neigh_entry *neighs, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);

	if (!rewrite_is_in_place(m) || unlikely(x->neigh >= PKT_NEIGH_LINK || x->tclass == PKT_CLASS_CONTROL) ||
		unlikely(!neighs[x->neigh].ready))
		return false;
	rewrite_in_place(m, &neighs[x->neigh].mac);
	e->tx.pkts[e->tx.n] = m;
	stat_level(e->tx.n, e->tx.n + 1);
	return true;
}

/* Any packet. Returns as egress_emit. */
static inline uint32_t egress_emit_any(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct egress_burst *b;
	struct neigh_entry *n;
	uint32_t id;

	if (unlikely(pkt_of(m)->family == PKT_FRAME && !(pkt_of(m)->ops & PKT_OP_ENCAP))) {
		rewrite_frame(m);
		b = egress_burst_of(e, pkt_of(m));
		b->pkts[b->n] = m;
		stat_level(b->n, b->n + 1);
		return m->pkt_len;
	}
	id = egress_neigh_of(c, m);
	if (unlikely(id == UINT32_MAX)) {
		queue_end(c, m, DROP_neighbor_hold);
		return 0;
	}
	n = &c->neighs->neigh[id];
	if (unlikely(!n->ready))
		return emit_apart(e, c, m, id);
	return egress_put_tx(e, c, m, rewrite_packet(m, c->s, &n->mac, c->stats));
}

/* Rewrite a packet and append it to its burst, which has room. Returns the bytes to be sent; 0: held or dropped. */
static inline uint32_t egress_emit(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	return egress_emit_in_place(e, c->neighs->neigh, m) ? m->pkt_len : egress_emit_any(e, c, m);
}

/* Consecutive frames of a burst with the same ingress port. */
struct run {
	uint16_t from, n; /* ingress port; number of frames */
};

/* The runs of a burst, and its bytes. Returns the number of runs. */
static inline unsigned int egress_find_runs(const struct egress_burst *b, struct run *runs, uint64_t *bytes)
{
	unsigned int n = b->n, begin = 0, found = 0;
	uint16_t from = b->pkts[0]->port;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct rte_mbuf *m = b->pkts[i];

		sum += m->pkt_len;
		if (unlikely(m->port != from)) {
			runs[found++] = (struct run){.from = from, .n = (uint16_t)(i - begin)};
			from = m->port;
			begin = i;
		}
	}
	runs[found] = (struct run){.from = from, .n = (uint16_t)(n - begin)};
	*bytes = sum;
	return found + 1;
}

static uint64_t egress_bytes_of(struct rte_mbuf *const *pkts, uint16_t n)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < n; i++)
		bytes += pkts[i]->pkt_len;
	return bytes;
}

/* The device has accepted so many bytes of the line. full: and no more; so the clock is set again, for clocks drift apart. */
static inline void device_has(struct egress *e, const struct egress_context *c, uint64_t line_bytes, bool full)
{
	uint64_t time = e->drained_part + line_bytes * e->line_time;

	e->drained_ns = MAX_OF(e->drained_ns, c->now) + (time >> EGRESS_TIME_SHIFT);
	e->drained_part = time & ((1ull << EGRESS_TIME_SHIFT) - 1);
	if (unlikely(full))
		e->drained_ns = c->now + c->s->port[e->index].ring_ns;
}

/*
 * Offer a burst to the device; frames that it does not accept remain. Bytes are counted before the call, because
 * accepted frames belong to the device afterwards.
 */
static unsigned int egress_offer_burst(struct egress *e, struct egress_context *c, struct egress_burst *b)
{
	struct run runs[EGRESS_TX_ROOM];
	uint16_t homes[EGRESS_TX_ROOM];
	struct pkt_credit credit[EGRESS_TX_ROOM];
	uint64_t bytes, sent_bytes;
	unsigned int n_runs = egress_find_runs(b, runs, &bytes);
	uint16_t n = b->n, taken;

	if (unlikely(c->stats->tap && pkt_tap_wants(&c->stats->tap->tx_ports, e->index) && b->n_copied < n)) {
		pkt_tap_copy(c->stats->tap, b->pkts + b->n_copied, n - b->n_copied, e->index, TAP_TX, 0);
		b->n_copied = n;
	}
	if (unlikely(c->stats->tap && pkt_tap_tracing(c->stats->tap))) {
		for (uint16_t i = b->n_traced; i < n; i++)
			pkt_tap_trace(c->stats->tap, b->pkts[i], TRACE_SENT, e->index, 0);
		b->n_traced = n;
	}
	if (unlikely(e->rebind.guests))
		rebind_mark_guests(b, homes);
	if (unlikely(e->gates & EGRESS_GATE_CREDIT))
		lines_mark(b, credit);
	taken = port_ops_of(e->port)->tx(e->port, b->pkts, n);
	sent_bytes = bytes - egress_bytes_of(b->pkts + taken, (uint16_t)(n - taken));
	device_has(e, c, sent_bytes + taken * EGRESS_LINE_BYTES, taken < n);
	if (unlikely(e->rebind.guests))
		rebind_guests_sent(e, c, homes, taken);
	if (unlikely(e->gates & EGRESS_GATE_CREDIT))
		lines_sent(c, credit, taken);
	b->n_copied = (uint16_t)(b->n_copied > taken ? b->n_copied - taken : 0);
	b->n_traced = (uint16_t)(b->n_traced > taken ? b->n_traced - taken : 0);
	for (unsigned int i = 0, left = taken; i < n_runs && left; i++) {
		unsigned int sent = MIN_OF(runs[i].n, left);

		stat_add(&c->stats->port[runs[i].from].sent, sent);
		left -= sent;
	}
	stat_add(&c->stats->port[e->index].tx_packets, taken);
	stat_add(&c->stats->port[e->index].tx_bytes, sent_bytes);
	stat_level(b->n, n - taken);
	if (unlikely(b->n)) {
		memmove(b->pkts, b->pkts + taken, b->n * sizeof(b->pkts[0]));
		e->drained_ns = c->now +
				c->s->port[e->index].ring_ns; /* the ring is full: clocks may have drifted apart */
	}
	return taken;
}

/* Offer control traffic first, and data only when the device has accepted all control traffic. */
static unsigned int egress_offer(struct egress *e, struct egress_context *c)
{
	unsigned int sent = 0;

	if (unlikely(e->control_tx.n))
		sent = egress_offer_burst(e, c, &e->control_tx);
	if (likely(e->tx.n && !e->control_tx.n))
		sent += egress_offer_burst(e, c, &e->tx);
	gate_device(e, !e->tx.n && !e->control_tx.n);
	return sent;
}

static inline bool egress_has_room(const struct egress *e, unsigned int n)
{
	return e->tx.n + n <= EGRESS_TX_ROOM && e->control_tx.n + n <= EGRESS_TX_ROOM;
}

/*
 * May a packet pass although others are queued? Yes if its queue is empty, its gate is open and its slice has no
 * max-rate. The other packets are held by other gates, or are sent in the same pass, because the device has accepted
 * all frames offered.
 */
static inline bool egress_passes(const struct egress *e, const struct rte_mbuf *m, const struct pkt *x)
{
	const struct egress_slice *s = &e->slice[x->slice];

	if (unlikely(x->tclass == PKT_CLASS_CONTROL))
		return !e->control.n;
	return !((s->busy | s->barred) >> x->tclass & 1) && !s->byte_time && m->port != e->index;
}

/* Submit packets while others are queued or a gate is closed. */
static __attribute__((noinline)) void submit_among_others(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int i = 0, run; i < n; i += run) {
		for (run = 0; i + run < n && egress_passes(e, pkts[i + run], pkt_of(pkts[i + run])); run++)
			egress_emit(e, c, pkts[i + run]);
		if (run)
			continue;
		for (run = 1; i + run < n && !egress_passes(e, pkts[i + run], pkt_of(pkts[i + run]));)
			run++;
		sched_enqueue(e, c, &pkts[i], run);
	}
}

/* Packets that wait for a living way at their neighbours: their turn comes again. */
static void egress_retry_waiting(struct egress *e, struct egress_context *c)
{
	e->rebind.retry = false;
	for (uint32_t id = 0; id < c->s->n_neighs; id++)
		if (c->s->neigh[id].used && c->s->neigh[id].port == e->index && c->neighs->neigh[id].waiting.n &&
			(c->neighs->neigh[id].state == NEIGH_ENTRY_RESOLVED ||
				c->neighs->neigh[id].state == NEIGH_ENTRY_STALE))
			egress_neigh_resolved(e, c, id);
}

void egress_look_at_link(struct egress *e, struct egress_context *c)
{
	if (!link_look(e, c))
		return;
	if (e->link.ready == EGRESS_LINK_NOT_READY)
		e->rebind.failed_ns = c->now;
	if (e->tx.n)
		sched_take_back(e, c);
	rebind_look(e, c);
}

static void egress_submit_here(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n);

/* A packet whose ways are all dead, by what BFD says: a lossless one waits for one that lives, for pfc.outage. */
static void egress_dead(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	if (x->neigh < SNAP_NEIGH_MAX && queue_is_lossless(c, x, m) && rebind_may_wait(e, c))
		egress_neigh_wait(e, c, x->neigh, m);
	else
		queue_end(c, m, DROP_path_down);
}

/* Is a packet without a living way stopped by BFD? Whether a neighbour answers is found out by asking it. */
static bool egress_is_stopped(const struct egress_context *c, const struct pkt *x)
{
	unsigned int causes = x->neigh < SNAP_NEIGH_MAX ? c->s->live->nexthop[x->neigh] : 0;

	if (x->ops & PKT_OP_ENCAP)
		causes |= liveness_of_path(c->s, x->path);
	return causes & LIVENESS_BFD;
}

/* A packet that finds no living way, at an egress whose link is down. */
static void egress_without_link(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	bool lossless = queue_is_lossless(c, pkt_of(m), m);

	/* the port that took packets over may have failed just now, and nobody has said so yet */
	if (unlikely(e->link.given_up && lossless))
		rebind_begin_outage(e, c);
	if (!e->link.given_up && lossless)
		sched_enqueue(e, c, &m, 1);
	else
		queue_end(c, m, DROP_port_down);
}

/* Submit packets while some way by this egress is not alive. */
static __attribute__((noinline)) void egress_submit_rebound(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n)
{
	if (rebind_has_changed(e, c))
		rebind_look(e, c);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		bool down = e->link.ready == EGRESS_LINK_NOT_READY;

		if (unlikely(line_decides(m)) && !line_lets_pass(e, c, m)) {
			line_join(e, c, m);
			continue;
		}
		if (rebind_must_queue(e, pkt_of(m))) {
			rebind_search_later(e, m);
			sched_enqueue(e, c, &m, 1);
			continue;
		}
		switch (rebind_packet(e, c, m, false)) {
		case REBIND_STAYS:
			if (down)
				egress_without_link(e, c, m);
			else
				egress_submit_here(e, c, &m, 1);
			break;
		case REBIND_MOVED:
			break;
		case REBIND_FULL:
			sched_enqueue(e, c, &m, 1);
			if (down && !e->rebind.scan)
				rebind_search(e);
			break;
		case REBIND_DEAD:
			if (down)
				egress_without_link(e, c, m);
			else if (egress_is_stopped(c, pkt_of(m)))
				egress_dead(e, c, m);
			else
				egress_submit_here(e, c, &m, 1);
			break;
		}
	}
}

/* Submit packets to an egress whose link has changed or is down. True: it is up, and they are still to be submitted. */
static __attribute__((noinline)) bool egress_submit_to_link(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n)
{
	egress_look_at_link(e, c);
	if (e->link.ready != EGRESS_LINK_NOT_READY)
		return true;
	egress_submit_rebound(e, c, pkts, n);
	return false;
}

static inline __attribute__((always_inline)) void submit_now(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n, uint8_t gates)
{
	if (likely(e->backlog == 0 && gates == 0)) {
		if (unlikely(!egress_has_room(e, n)))
			egress_offer(e, c);
		if (likely(egress_has_room(e, n))) {
			for (unsigned int i = 0; i < n; i++)
				egress_emit(e, c, pkts[i]);
			return;
		}
	}
	if (!(e->gates & (EGRESS_GATE_DEVICE | EGRESS_GATE_STORM)) && egress_has_room(e, n))
		submit_among_others(e, c, pkts, n);
	else
		sched_enqueue(e, c, pkts, n);
}

/* Submit packets whose way is decided. REBIND is no gate. */
static void egress_submit_here(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	submit_now(e, c, pkts, n, (uint8_t)(e->gates & ~EGRESS_GATE_CREDIT));
}

static void submit_bound(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	if (n && unlikely(e->gates & EGRESS_GATE_REBIND))
		egress_submit_rebound(e, c, pkts, n);
	else if (n)
		egress_submit_here(e, c, pkts, n);
}

/* Submit packets of which some may have to wait for credit. */
static __attribute__((noinline)) void egress_submit_gated(struct egress *e, struct egress_context *c,
	struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int from = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (likely(!line_decides(pkts[i]) || line_lets_pass(e, c, pkts[i])))
			continue;
		submit_bound(e, c, pkts + from, i - from);
		line_join(e, c, pkts[i]);
		from = i + 1;
	}
	submit_bound(e, c, pkts + from, n - from);
}

void egress_submit(struct egress *e, struct egress_context *c, struct rte_mbuf **pkts, unsigned int n)
{
	c->touched |= 1u << e->index;
	if (unlikely(port_link(e->port) != e->link.ready) && !egress_submit_to_link(e, c, pkts, n))
		return;
	if (likely(!(e->gates & (EGRESS_GATE_REBIND | EGRESS_GATE_CREDIT))))
		submit_now(e, c, pkts, n, e->gates);
	else if (e->gates & EGRESS_GATE_CREDIT)
		egress_submit_gated(e, c, pkts, n);
	else
		egress_submit_rebound(e, c, pkts, n);
}

/* A turn while packets may have to leave elsewhere. False: the oldest one does, and there is no room. */
static __attribute__((noinline)) bool egress_serve_rebound(struct egress *e, struct egress_context *c)
{
	struct sched_turn turn;

	if (park_homes(e) && !(park_fronts(e) && egress_may_send(e)))
		return false;
	sched_begin(e, c, &turn);
	do {
		struct rte_mbuf *m = sched_dequeue(c, &turn);
		bool guest = pkt_of(m)->ops & PKT_OP_GUEST;
		uint16_t home = m->vlan_tci;
		enum rebind_result result = rebind_packet(e, c, m, true);
		uint32_t bytes = 0;

		if (guest && result == REBIND_MOVED)
			e->rebind.guests--;
		switch (result) {
		case REBIND_MOVED:
			break;
		case REBIND_FULL:
			sched_end(e, c, &turn);
			if (e->rebind.guests)
				park_full(e, c, guest ? home : e->index);
			sched_give_back(e, c, m);
			return park_homes(e);
		case REBIND_DEAD:
		case REBIND_STAYS:
			if (result == REBIND_DEAD && egress_is_stopped(c, pkt_of(m)))
				egress_dead(e, c, m);
			else
				bytes = egress_emit(e, c, m);
			if (guest && !bytes)
				rebind_guest_left(e, c, home, 0);
			break;
		}
		sched_account(&turn, bytes);
	} while (sched_goes_on(&turn) && e->tx.n < EGRESS_TX_BATCH && !park_is_due(e, turn.fifo->head));
	sched_end(e, c, &turn);
	return true;
}

/* Serve the queue whose turn it is until its turn ends or the batch is full. */
static void egress_serve_data(struct egress *e, struct egress_context *c)
{
	struct sched_turn turn;

	sched_begin(e, c, &turn);
	do {
		struct rte_mbuf *m = sched_dequeue(c, &turn);

		sched_account(&turn, egress_emit(e, c, m));
	} while (sched_goes_on(&turn) && e->tx.n < EGRESS_TX_BATCH);
	sched_end(e, c, &turn);
}

/* Send a control packet if there is one, else data. False: no packet may be sent, or the batch is full. */
static bool egress_serve(struct egress *e, struct egress_context *c)
{
	if (e->control.n && e->control_tx.n < EGRESS_TX_BATCH) {
		egress_emit(e, c, sched_dequeue_control(e, c));
		return true;
	}
	if (!egress_may_send(e) || e->tx.n >= EGRESS_TX_BATCH)
		return false;
	if (unlikely(e->gates & EGRESS_GATE_REBIND))
		return egress_serve_rebound(e, c);
	egress_serve_data(e, c);
	return true;
}

/* Open the gates that are due, and drop packets of queues in a storm. */
static void egress_wake(struct egress *e, struct egress_context *c)
{
	link_wake(e, c);
	gate_wake(e, c);
	if (unlikely(e->gates & EGRESS_GATE_STORM || rebind_gave_up(e)))
		sched_flush(e, c);
}

unsigned int egress_run(struct egress *e, struct egress_context *c)
{
	unsigned int sent = 0, before;

	if (unlikely(port_link(e->port) != e->link.seen))
		egress_look_at_link(e, c);
	if (unlikely(e->gates & EGRESS_GATE_REBIND || rebind_is_new(e, c)))
		rebind_run(e, c);
	if (unlikely(e->rebind.retry))
		egress_retry_waiting(e, c);
	if (unlikely(c->now >= e->wake_ns))
		egress_wake(e, c);
	do {
		before = sent;
		if (unlikely(e->lines_may[0] | e->lines_may[1]))
			lines_release(e, c);
		while (e->backlog && egress_serve(e, c))
			;
		if (e->tx.n | e->control_tx.n)
			sent += egress_offer(e, c);
	} while ((e->backlog | e->waiting) && !(e->gates & EGRESS_GATE_DEVICE) &&
		 (e->control.n || egress_may_send(e) || e->lines_may[0] | e->lines_may[1]) && sent != before &&
		 sent < c->run_limit);
	return sent;
}

uint64_t egress_next(const struct egress *e, const struct egress_context *c)
{
	if (egress_has_ready(e))
		return c->now + e->retry_ns;
	return unlikely(e->gates & EGRESS_GATE_REBIND) ? MIN_OF(e->wake_ns, rebind_next(e, c)) : e->wake_ns;
}

static void egress_drain_burst(struct egress_context *c, struct egress_burst *b, enum reason reason)
{
	for (uint16_t i = 0; i < b->n; i++)
		queue_end(c, b->pkts[i], reason);
	stat_level(b->n, 0);
}

void egress_drain(struct egress *e, struct egress_context *c, enum reason reason)
{
	struct sched_turn turn;

	if (c->credit)
		lines_drain(e, c, reason);
	while (e->control.n)
		queue_end(c, sched_dequeue_control(e, c), reason);
	/* open all gates */
	e->rebind.scan = false;
	e->rebind.full = 0;
	e->rebind.drains = false;
	e->holds.n = 0;
	memset(e->watchdog, 0, e->n_slices * sizeof(e->watchdog[0]));
	link_forget(e, c); /* ends a wait, and updates the gates closed by pauses */
	park_return(e, c);
	for (uint32_t i = 0; i < e->n_slices; i++)
		e->slice[i].byte_time = 0;
	egress_wake(e, c);
	while (egress_may_send(e)) {
		sched_begin(e, c, &turn);
		do {
			queue_end(c, sched_dequeue(c, &turn), reason);
		} while (turn.fifo->n);
		sched_end(e, c, &turn);
	}
	egress_drain_burst(c, &e->control_tx, reason);
	egress_drain_burst(c, &e->tx, reason);
}
