/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds packets to ways that are alive (rebind.h). Worker lcores; the owner of the egress. */
#include "queue/rebind.h"

#include "queue/link.h"
#include "queue/park.h"
#include "wire/icmp.h"

void rebind_mark_guests(const struct egress_burst *b, uint16_t *homes)
{
	for (uint16_t i = 0; i < b->n; i++)
		homes[i] = pkt_of(b->pkts[i])->ops & PKT_OP_GUEST ? b->pkts[i]->vlan_tci : UINT16_MAX;
}

/* Time by which the device has sent what it has accepted. Of one whose speed is not known, nothing can be said. */
static uint64_t device_gone_ns(const struct egress *e, const struct egress_context *c)
{
	uint64_t ring_ns = c->now + c->s->port[e->index].ring_ns;

	if (!e->line_time)
		return c->now;
	/* one that obeys PFC itself may have stood still */
	return EGRESS_DEVICE_NS +
	       (e->port->abilities.pfc == PORT_PFC_HARDWARE ? ring_ns : MIN_OF(e->drained_ns, ring_ns));
}

void rebind_guests_sent(struct egress *e, struct egress_context *c, const uint16_t *homes, uint16_t taken)
{
	uint64_t gone_ns = device_gone_ns(e, c);

	for (uint16_t i = 0; i < taken; i++)
		if (homes[i] != UINT16_MAX)
			rebind_guest_left(e, c, homes[i], gone_ns);
}

bool egress_can_take(struct egress *e, const struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt *x = pkt_of(m);

	if (rebind_comes_home(m, e->index) || x->tclass == PKT_CLASS_CONTROL || !port_is_up(e->port) ||
		queue_is_lossless(c, x, m))
		return true;
	return sched_has_room(e, &e->slice[x->slice], &e->slice[x->slice].queue[x->tclass], 1, m->nb_segs);
}

/* May a packet of a queue be handed over? */
static bool has_room(struct egress_context *c, struct rte_mbuf *m, uint8_t port)
{
	uint16_t worker = c->peers->owner[port];

	if (worker == c->self)
		return egress_can_take(&c->peers->egress[port], c, m);
	return c->give_room(c->ask_arg, worker, rebind_comes_home(m, port));
}

/* Another egress has taken packets over: its link is looked at from now on. */
static void note_taker(struct egress *e, const struct egress_context *c, uint8_t port)
{
	if (e->rebind.gave_to >> port & 1)
		return;
	e->rebind.gave_to |= 1u << port;
	e->rebind.links += port_link(c->peers->egress[port].port);
}

/* Hand a packet that is bound to another egress over to it. */
static enum rebind_result give(struct egress *e, struct egress_context *c, struct rte_mbuf *m, uint8_t port,
	bool queued)
{
	struct egress *to = &c->peers->egress[port];
	uint16_t worker = c->peers->owner[port];
	struct pkt *x = pkt_of(m);
	bool guest = x->ops & PKT_OP_GUEST;

	if ((queued || worker != c->self) && !has_room(c, m, port))
		return REBIND_FULL;
	x->egress = port;
	if (!guest) {
		x->ops |= PKT_OP_GUEST;
		m->vlan_tci = e->index;
		e->rebind.away++;
	}
	c->given++;
	note_taker(e, c, port);
	stat_add(&e->rebound, 1);
	if (worker == c->self)
		c->take(to, c, m);
	else
		c->give(c->ask_arg, worker, m);
	return REBIND_MOVED;
}

/* The first packet after a failure takes another way. waited: it was queued then. */
static void note_gap(struct egress *e, const struct egress_context *c, bool waited)
{
	uint64_t ns = c->now - e->rebind.failed_ns;

	e->rebind.failed_ns = 0;
	if (!waited && ns > REBIND_GAP_NS)
		return;
	stat_level(e->gap_ns, MAX_OF(ns, 1));
	stat_max(&e->gap_most_ns, MAX_OF(ns, 1));
}

static enum rebind_result rebind(struct egress *e, struct egress_context *c, struct rte_mbuf *m, bool queued,
	const struct way *w)
{
	struct pkt *x = pkt_of(m);
	struct pkt was = *x;
	enum rebind_result result = REBIND_STAYS;
	uint8_t port = way_port(c->s, w->to);

	x->neigh = target_kind(w->to) == TARGET_NEIGH ? target_index(w->to) : PKT_NEIGH_LINK + target_index(w->to);
	if (x->ops & PKT_OP_ENCAP)
		x->path = w->path;
	if (port != e->index)
		result = give(e, c, m, port, queued);
	if (result == REBIND_FULL) {
		x->neigh = was.neigh;
		x->path = was.path;
	} else if (unlikely(e->rebind.failed_ns)) {
		note_gap(e, c, queued || e->rebind.scan);
	}
	return result;
}

/* What is alive has a smaller MTU: tell the sender (RFC 8201), unless that is the node itself. */
static enum rebind_result too_long(struct egress_context *c, struct rte_mbuf *m, uint16_t mtu)
{
	struct pkt *x = pkt_of(m);

	if (x->ops & PKT_OP_GUEST)
		rebind_leaves(c, m->vlan_tci, 0);
	c->given++;
	x->ops &= (uint8_t)~PKT_OP_GUEST;
	if (m->port != PORT_LOCAL && x->family != PKT_FRAME) {
		if (unlikely(pkt_has_credit(x)))
			lines_ended(c, m);
		x->priority = 0;
		x->verdict = PKT_PUNT;
		x->punt = PUNT_ERROR;
		x->reason = DROP_too_big;
		x->icmp_type = ICMP6_TOO_BIG;
		x->icmp_code = 0;
		x->icmp_arg = x->family == 6 ? MAX_OF(mtu, IPV6_MIN_MTU) : mtu;
		if (c->punt(c->ask_arg, m))
			return REBIND_MOVED;
		stat_add(&c->stats->icmp_suppressed, 1);
	}
	queue_end(c, m, DROP_too_big);
	return REBIND_MOVED;
}

/*
 * Before packets leave a way that works, though nobody relies on it (hold-down), for a better one: those before them may be in
 * the device, which would send them later. Once for each change of what is alive.
 */
static bool must_drain(struct egress *e, const struct egress_context *c)
{
	struct egress_rebind *r = &e->rebind;

	if (r->drains || r->drained_epoch == r->epoch)
		return r->drains;
	r->drained_epoch = r->epoch;
	r->drained_ns = 0;
	r->drains_until = c->now + REBIND_WAIT_NS;
	r->drains = e->tx.n || device_gone_ns(e, c) > c->now;
	return r->drains;
}

static void go_on_draining(struct egress *e, struct egress_context *c)
{
	struct egress_rebind *r = &e->rebind;

	if (!r->drained_ns && !e->tx.n)
		r->drained_ns = device_gone_ns(e, c);
	if ((r->drained_ns && c->now >= r->drained_ns) || c->now >= r->drains_until)
		park_retry(e, c);
}

enum rebind_result rebind_packet(struct egress *e, struct egress_context *c, struct rte_mbuf *m, bool queued)
{
	struct pkt *x = pkt_of(m);
	enum liveness_grade now;
	struct way w;
	uint16_t shorter;

	if (!c->peers || way_is_bound(x))
		return REBIND_STAYS;
	now = way_grade(c, x);
	if (now == LIVENESS_IS_ALIVE)
		return REBIND_STAYS;
	w = way_find(c, m, now, &shorter);
	if (w.to && rebind_has_changed(e, c))
		return REBIND_FULL; /* since the last look */
	if (w.to && now == LIVENESS_IS_HELD && way_port(c->s, w.to) != e->index && must_drain(e, c))
		return REBIND_FULL;
	if (w.to)
		return rebind(e, c, m, queued, &w);
	if (shorter)
		return too_long(c, m, shorter);
	return now == LIVENESS_IS_DEAD ? REBIND_DEAD : REBIND_STAYS;
}

/* Packets of this home that are queued elsewhere. *gone_ns: time by which the others are on the line. */
static uint64_t elsewhere(const struct egress *e, const struct egress_context *c, uint64_t *gone_ns)
{
	uint64_t n = e->rebind.away;

	*gone_ns = 0;
	for (uint16_t w = 0; w < c->peers->n_workers; w++) {
		const struct egress_left *left = &c->peers->left[w * MAX_PORTS + e->index];

		n -= __atomic_load_n(&left->n, __ATOMIC_ACQUIRE);
		*gone_ns = MAX_OF(*gone_ns, __atomic_load_n(&left->gone_ns, __ATOMIC_RELAXED));
	}
	return n;
}

static void rebind_gate(struct egress *e, const struct egress_context *c)
{
	const struct liveness *live = c->s->live;
	uint64_t gone_ns;
	bool on = e->link.ready == EGRESS_LINK_NOT_READY || e->rebind.waits || e->rebind.scan || e->rebind.guests ||
		  e->rebind.full || e->rebind.drains || __atomic_load_n(&live->link[e->index], __ATOMIC_RELAXED) ||
		  __atomic_load_n(&live->dead_nexthops[e->index], __ATOMIC_RELAXED) ||
		  __atomic_load_n(&live->dead_paths, __ATOMIC_RELAXED) || elsewhere(e, c, &gone_ns);

	e->gates = (uint8_t)(on ? e->gates | EGRESS_GATE_REBIND : e->gates & ~EGRESS_GATE_REBIND);
}

/* Has a next hop of the port failed, or a path, since what is known of failures? */
static bool may_concern(const struct egress *e, const struct egress_context *c)
{
	const struct liveness *live = c->s->live;

	return c->now - __atomic_load_n(&live->failed_ns, __ATOMIC_RELAXED) < REBIND_GAP_NS &&
	       (__atomic_load_n(&live->dead_nexthops[e->index], __ATOMIC_RELAXED) ||
		       __atomic_load_n(&live->dead_paths, __ATOMIC_RELAXED));
}

/* What is dead of the ways by this port, and of those by the ports that have taken packets over. */
static uint32_t count_deaths(const struct egress *e, const struct egress_context *c)
{
	const struct liveness *live = c->s->live;
	uint32_t n = __atomic_load_n(&live->dead_paths, __ATOMIC_RELAXED);

	for (uint32_t ports = e->rebind.gave_to | 1u << e->index; ports; ports &= ports - 1) {
		unsigned int port = (unsigned int)__builtin_ctz(ports);

		n += __atomic_load_n(&live->dead_nexthops[port], __ATOMIC_RELAXED);
		if (port != e->index)
			n += !port_is_up(c->peers->egress[port].port) ||
			     liveness_grade(__atomic_load_n(&live->link[port], __ATOMIC_RELAXED)) == LIVENESS_IS_DEAD;
	}
	return n;
}

/*
 * Packets may have lost the way that they had left: the time for which they wait without one begins now, and not with the
 * failure of their home long ago.
 */
void rebind_begin_outage(struct egress *e, struct egress_context *c)
{
	uint32_t deaths = count_deaths(e, c), before = e->rebind.deaths;

	e->rebind.deaths = deaths;
	if (deaths <= before)
		return;
	e->rebind.dead_since = 0;
	e->rebind.gave_up = false;
	if (e->link.ready == EGRESS_LINK_NOT_READY && e->rebind.gave_to)
		link_begin_outage(e, c);
}

/* Sum of port.link of the ports that have taken packets over: it changes with each of them. */
static uint32_t sum_links(const struct egress *e, const struct egress_context *c)
{
	uint32_t sum = 0;

	for (uint32_t ports = e->rebind.gave_to; ports; ports &= ports - 1)
		sum += port_link(c->peers->egress[__builtin_ctz(ports)].port);
	return sum;
}

bool rebind_has_changed(const struct egress *e, const struct egress_context *c)
{
	return rebind_is_new(e, c) || (e->rebind.gave_to && sum_links(e, c) != e->rebind.links);
}

/* While a port waits, the packets that wait elsewhere count for its queues: only its buffers are a limit. */
static void set_waits(struct egress *e, const struct egress_context *c, bool on)
{
	e->rebind.waits = on;
	e->queue_limit = on ? UINT32_MAX : c->s->port[e->index].queue_limit;
}

void rebind_look(struct egress *e, struct egress_context *c)
{
	struct egress_rebind *r = &e->rebind;
	bool new_epoch = rebind_is_new(e, c);
	uint64_t gone_ns;

	if (!c->peers)
		return;
	if (new_epoch && may_concern(e, c))
		r->failed_ns = __atomic_load_n(&c->s->live->failed_ns, __ATOMIC_RELAXED);
	r->epoch = liveness_epoch(c->s);
	r->links = sum_links(e, c);
	rebind_begin_outage(e, c);
	park_retry(e, c);
	if (!r->waits && r->away && (elsewhere(e, c, &gone_ns) || c->now < gone_ns)) {
		r->quiet_ns = 0;
		set_waits(e, c, true);
		r->waits_until = c->now + REBIND_WAIT_NS;
	}
	r->scan = false;
	if (e->link.ready == EGRESS_LINK_NOT_READY && e->backlog)
		rebind_search(e);
	r->retry |= new_epoch && r->dead_since;
	rebind_gate(e, c);
	if (!__atomic_load_n(&c->s->live->dead_nexthops[e->index], __ATOMIC_RELAXED) &&
		!__atomic_load_n(&c->s->live->dead_paths, __ATOMIC_RELAXED)) {
		r->dead_since = r->gave_up = 0;
		if (e->link.ready != EGRESS_LINK_NOT_READY)
			r->gave_to = r->links = 0;
	}
}

static void end_wait(struct egress *e, struct egress_context *c)
{
	set_waits(e, c, false);
	e->rebind.quiet_ns = 0;
	park_return(e, c);
	if (e->link.ready == EGRESS_LINK_NOT_READY && e->backlog)
		rebind_search(e);
}

/* Take a packet out of its queue: the one after `before`, or the first. */
static void take_out(struct egress *e, struct egress_context *c, struct rte_mbuf *before, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	struct sched_turn t = {.s = &e->slice[x->slice],
		.q = &e->slice[x->slice].queue[x->tclass],
		.slice = x->slice,
		.class = x->tclass};

	t.fifo = &t.q->packets;
	fifo_remove(t.fifo, before, m);
	queue_tally_begin(&t.released, c, x, m);
	queue_tally_add(&t.released, m);
	sched_end(e, c, &t);
}

/* Bind one packet of a queue again. False: it belongs elsewhere, where there is no room now. */
static bool search_one(struct egress *e, struct egress_context *c, struct rte_mbuf *m)
{
	struct egress_rebind *r = &e->rebind;
	struct pkt *x = pkt_of(m);
	bool guest = x->ops & PKT_OP_GUEST;
	uint16_t shorter;
	struct way w;

	if (park_is_due(e, m) || r->held >> park_home_of(e, m) & 1) {
		r->before = m;
		return true;
	}
	if (way_is_bound(x) || way_grade(c, x) != LIVENESS_IS_DEAD) {
		r->before = m;
		return true;
	}
	w = way_find(c, m, LIVENESS_IS_DEAD, &shorter);
	if (!w.to && !shorter) {
		r->before = m;
		return true;
	}
	if (w.to && way_port(c->s, w.to) == e->index) {
		r->before = m;
		return true;
	}
	if (rebind_has_changed(e, c) || (w.to && !has_room(c, m, way_port(c->s, w.to))))
		return false;
	take_out(e, c, r->before, m);
	if (guest)
		r->guests--;
	if (!w.to)
		too_long(c, m, shorter);
	else
		rebind(e, c, m, false, &w);
	return true;
}

static void search(struct egress *e, struct egress_context *c)
{
	struct egress_rebind *r = &e->rebind;
	unsigned int left = REBIND_BATCH;

	for (; r->slice < SNAP_SLICE_MAX; r->slice++, r->class = 0) {
		for (; r->class < PKT_CLASSES; r->class ++, r->before = NULL, r->held = 0) {
			const struct fifo *f = &e->slice[r->slice].queue[r->class].packets;
			struct rte_mbuf *m;

			while (f->n && (m = r->before ? pkt_of(r->before)->next : f->head)) {
				if (!left--)
					return;
				if (search_one(e, c, m))
					continue;
				/* its flow keeps its order; other queues and homes need not wait */
				r->again = true;
				if (!r->guests)
					break;
				r->held |= 1u << park_home_of(e, m);
				r->before = m;
			}
		}
	}
	if (r->again) {
		r->again = false;
		rebind_search(e);
	} else {
		r->scan = false;
		if (e->link.given_up)
			e->wake_ns = c->now; /* what has no way is dropped now */
	}
}

/*
 * When the last guest has left its queue, mailboxes may have some that came home, which are emptied before the next call,
 * and devices still send what they have accepted.
 */
static void go_on_waiting(struct egress *e, struct egress_context *c)
{
	struct egress_rebind *r = &e->rebind;
	uint64_t gone_ns;

	if (elsewhere(e, c, &gone_ns))
		r->quiet_ns = 0;
	else if (!r->quiet_ns)
		r->quiet_ns = c->now;
	else if (c->now >= gone_ns && c->now != r->quiet_ns)
		r->waits_until = c->now;
	if (c->now >= r->waits_until)
		end_wait(e, c);
}

void rebind_run(struct egress *e, struct egress_context *c)
{
	if (!c->peers)
		return;
	if (rebind_has_changed(e, c))
		rebind_look(e, c);
	park_begin_pass(e, c);
	if (e->rebind.drains)
		go_on_draining(e, c);
	if (e->rebind.waits)
		go_on_waiting(e, c);
	if (e->rebind.scan)
		search(e, c);
	if (e->rebind.dead_since && !e->rebind.gave_up && !rebind_may_wait(e, c)) {
		e->rebind.gave_up = true;
		e->rebind.retry = true;
	}
	rebind_gate(e, c);
}

bool rebind_may_wait(struct egress *e, struct egress_context *c)
{
	if (!e->rebind.dead_since)
		e->rebind.dead_since = c->now;
	return c->now - e->rebind.dead_since < c->s->port[e->index].outage_ns;
}

uint64_t rebind_next(const struct egress *e, const struct egress_context *c)
{
	if (e->rebind.scan)
		return c->now + e->retry_ns;
	if (park_homes(e))
		return c->now + REBIND_LOOK_NS;
	if (e->rebind.dead_since && !e->rebind.gave_up)
		return e->rebind.dead_since + c->s->port[e->index].outage_ns;
	return TIME_NEVER;
}
