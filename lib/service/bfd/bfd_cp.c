/* SPDX-License-Identifier: BSD-3-Clause */
/* BFD sessions follow the snapshot, and their changes go to the log and to next hops. Control lcore. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "node/control_send.h"
#include "node/service.h"
#include "service/bfd/service_bfd.h"
#include "service/nexthop/nexthop.h"

static struct node_bfd *bfd_of(const struct control_role *c)
{
	return node_bfd(c->node);
}

static void report(struct control_role *c, const struct bfd_peer *peer, enum liveness_cause cause, bool up)
{
	if (peer->kind == BFD_SBFD)
		nexthop_report_path(c, peer->user, cause, up);
	else
		nexthop_report(c, peer->user, cause, up);
}

/* Nothing is known against the next hop. */
static void clear(struct control_role *c, const struct bfd_peer *peer)
{
	report(c, peer, LIVENESS_BFD, true);
	report(c, peer, LIVENESS_ADMIN, true);
}

/*
 * A session that leaves Up takes its next hop down. One that has never been Up says nothing: the neighbour may not speak
 * BFD yet. AdminDown is no failure (RFC 5882 sections 3.2 and 4.2): here it releases the next hop; there it may mean that
 * the neighbour is about to stop, so that others are preferred until the session is Up again.
 */
static void tell_next_hop(struct control_role *c, const struct bfd_peer *peer, const struct bfd_change *x, bool been_up)
{
	if (x->to == BFD_UP || x->to == BFD_ADMIN_DOWN) {
		clear(c, peer);
	} else if (x->remote_state == BFD_ADMIN_DOWN) {
		report(c, peer, LIVENESS_ADMIN, !been_up);
		report(c, peer, LIVENESS_BFD, true);
	} else if (x->from == BFD_UP) {
		report(c, peer, LIVENESS_BFD, false);
	}
}

/* Post a change for the log. */
static void post(struct control_role *c, const struct bfd_session *s, const struct bfd_change *change)
{
	struct bfd_events *e = &bfd_of(c)->events;
	uint32_t tail = __atomic_load_n(&e->tail, __ATOMIC_ACQUIRE);

	if (e->head - tail == BFD_EVENTS) {
		stat_add(&e->missed, 1);
		return;
	}
	e->event[e->head % BFD_EVENTS] = (struct bfd_event){.change = *change,
		.peer = *bfd_peer_of(s),
		.id = bfd_peer_of(s)->user};
	__atomic_store_n(&e->head, e->head + 1, __ATOMIC_RELEASE);
}

static void changed(void *arg, const struct bfd_session *s, const struct bfd_change *change)
{
	struct control_role *c = arg;

	tell_next_hop(c, bfd_peer_of(s), change, bfd_stats_of(s)->ups);
	if (change->from != change->to)
		post(c, s, change);
}

/* End a session. It says nothing about its next hop any more. */
static void end_session(struct control_role *c, struct bfd_session **place)
{
	struct bfd_session *s = *place;

	__atomic_store_n(place, NULL, __ATOMIC_RELEASE);
	clear(c, bfd_peer_of(s));
	bfd_remove(bfd_of(c)->table, c->now, s);
}

/* The first snapshot with BFD: a node without it pays for no table. */
static bool make_table(struct control_role *c)
{
	static const struct bfd_ops ops = {.send = bfd_send, .changed = changed};
	struct node_bfd *b = bfd_of(c);
	struct bfd_table *table;
	uint64_t seed;

	if (b->table)
		return true;
	b->sessions = calloc(1, sizeof(*b->sessions));
	/* the same in every run of the lab, another at every node and start */
	seed = (c->node->born_ns + c->now + ipv6_lo(&c->s->loopback)) * 0x9e3779b97f4a7c15ull | 1;
	table = b->sessions ? bfd_table_new(&ops, c, seed) : NULL;
	if (!table) {
		free(b->sessions);
		b->sessions = NULL;
		return false;
	}
	__atomic_store_n(&b->table, table, __ATOMIC_RELEASE);
	return true;
}

static struct bfd_session **place_of(const struct node_bfd *b, const struct snap_bfd *s)
{
	return s->peer.kind == BFD_SBFD ? &b->sessions->of_path[s->id] : &b->sessions->of_neigh[s->id];
}

static bool same_peer(const struct bfd_peer *a, const struct bfd_peer *b)
{
	return a->interface == b->interface && ip_addr_equal(&a->local, &b->local) &&
	       ip_addr_equal(&a->remote, &b->remote);
}

/* End the sessions of a kind that the snapshot does not have. */
static void sweep(struct control_role *c, struct bfd_session **places, const uint64_t *wanted, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (places[i] && wanted[i] != c->s->generation)
			end_session(c, &places[i]);
	}
}

static void begin_snapshot(struct control_role *c)
{
	struct node_bfd *b = bfd_of(c);
	struct bfd_sessions *all = b->sessions;

	bfd_set_reflector(b->table, c->s->sbfd_reflector);
	for (uint32_t i = 0; i < c->s->n_bfd; i++) {
		const struct snap_bfd *s = &c->s->bfd[i];

		if (s->peer.kind == BFD_SBFD)
			all->wanted_path[s->id] = c->s->generation;
		else
			all->wanted_neigh[s->id] = c->s->generation;
	}
	sweep(c, all->of_neigh, all->wanted_neigh, SNAP_NEIGH_MAX);
	sweep(c, all->of_path, all->wanted_path, SNAP_PATH_MAX);
}

static void follow(struct control_role *c, const struct snap_bfd *want)
{
	struct node_bfd *b = bfd_of(c);
	struct bfd_session **place = place_of(b, want), *s = *place;
	struct bfd_peer peer = want->peer;

	peer.user = want->id;
	if (s && !same_peer(bfd_peer_of(s), &peer)) {
		end_session(c, place);
		s = NULL;
	}
	if (s)
		bfd_set(b->table, c->now, s, &want->config);
	else
		__atomic_store_n(place, bfd_add(b->table, c->now, &peer, &want->config), __ATOMIC_RELEASE);
}

/* A new snapshot: removed sessions end at once, the others are compared some in each pass. */
static void take_snapshot(struct control_role *c)
{
	struct node_bfd *b = bfd_of(c);

	if (likely(b->generation == c->s->generation && b->at == c->s->n_bfd) || bfd_is_stopping(b))
		return;
	if (b->generation != c->s->generation) {
		if ((c->s->takes_bfd || b->table) && make_table(c))
			begin_snapshot(c);
		b->generation = c->s->generation;
		b->at = b->table ? 0 : c->s->n_bfd;
	}
	for (unsigned int i = 0; i < CONTROL_BURST && b->at < c->s->n_bfd; i++)
		follow(c, &c->s->bfd[b->at++]);
}

static bool take(struct control_role *c, struct rte_mbuf *m)
{
	pkt_end(m, bfd_take(c, m), &c->lcore->stats);
	return true;
}

/* The node is about to stop: say AdminDown (RFC 5880 section 6.8.16). What is known of next hops remains. */
static unsigned int stop_sessions(struct control_role *c)
{
	struct node_bfd *b = bfd_of(c);
	unsigned int n = 0;

	bfd_withdraw_reflector(b->table);
	for (; b->ended < SNAP_NEIGH_MAX + SNAP_PATH_MAX && n < CONTROL_BURST; b->ended++) {
		struct bfd_session **place = b->ended < SNAP_NEIGH_MAX
						     ? &b->sessions->of_neigh[b->ended]
						     : &b->sessions->of_path[b->ended - SNAP_NEIGH_MAX];
		struct bfd_session *s = *place;

		if (!s)
			continue;
		__atomic_store_n(place, NULL, __ATOMIC_RELEASE);
		bfd_remove(b->table, c->now, s);
		n++;
	}
	return n;
}

static unsigned int poll_bfd(struct control_role *c, uint64_t *next)
{
	struct node_bfd *b = bfd_of(c);
	uint64_t due = TIME_NEVER;
	unsigned int work = 0;

	if (b->table)
		work = bfd_poll(b->table, c->now, CONTROL_BURST, &due);
	if (unlikely(bfd_is_stopping(b)) && b->table)
		work += stop_sessions(c);
	if (b->at < c->s->n_bfd || (bfd_is_stopping(b) && b->ended < SNAP_NEIGH_MAX + SNAP_PATH_MAX))
		due = c->now;
	*next = MIN_OF(*next, due);
	return work;
}

static int init(struct control_role *c, int socket)
{
	(void)socket;
	c->node->state[SERVICE_BFD] = new_aligned(sizeof(struct node_bfd));
	return bfd_of(c) ? 0 : -ENOMEM;
}

static void fini(struct control_role *c)
{
	if (!bfd_of(c))
		return;
	bfd_table_free(bfd_of(c)->table);
	free(bfd_of(c)->sessions);
	free(bfd_of(c));
}

const struct control_service bfd_service = {
	.name = "bfd",
	.init = init,
	.fini = fini,
	.tick = bfd_tick,
	.stopping = bfd_stopping,
	.snapshot = take_snapshot,
	.takes = SERVICE_TAKES(PUNT_BFD),
	.take = take,
	.poll = poll_bfd,
	.rx = &bfd_rx_hooks,
};
