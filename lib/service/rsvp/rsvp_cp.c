/* SPDX-License-Identifier: BSD-3-Clause */
/* The service: its state, the snapshot, links and neighbours that fail, timers, and what users see. Control lcore. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "node/control_send.h"
#include "node/service.h"
#include "service/rsvp/service_credit.h"
#include "snapshot/liveness.h"

#define SENDERS_PER_NEIGHBOR 4 /* keys of a neighbour whose numbers are remembered */

static const struct rsvp_carrier *carrier_of(const struct rsvp_path *p)
{
	return (const struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
}

static void post_path(struct control_role *c, const struct rsvp_path *p, enum rsvp_event_kind kind)
{
	const struct rsvp_carrier *x = carrier_of(p);
	struct rsvp_event e = {.kind = (uint8_t)kind};

	if (!x || !x->own)
		return;
	memcpy(e.session, x->session, sizeof(e.session));
	memcpy(e.path, x->path, sizeof(e.path));
	rsvp_path_show(p, &e.view);
	rsvp_post(c, &e);
}

/* Only sessions that begin here are logged: of the others, their headends tell. */
static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	post_path(arg, p, on ? RSVP_EVENT_UP : RSVP_EVENT_DOWN);
	rsvp_of(arg)->carries = true;
}

/* Sessions of letter mode that end here follow those that carry on their data: once in a pass, however many of them have changed. */
static void follow_carries(struct control_role *c)
{
	struct rsvp_control *r = rsvp_of(c);

	if (likely(!r->carries))
		return;
	r->carries = false;
	letter_carried(r->letter, c->now);
}

static void shown(void *arg, const struct rsvp_path *p)
{
	struct control_role *c = arg;
	struct rsvp_row *row = &rsvp_of(c)->row[rsvp_path_slot(p)];
	const struct rsvp_carrier *x = carrier_of(p);
	struct rsvp_path_view before = row->view;
	bool fresh = !row->used;

	rsvp_row_begin(row);
	row->used = true;
	rsvp_path_show(p, &row->view);
	memcpy(row->session, x ? x->session : "", x ? sizeof(row->session) : 1);
	memcpy(row->path, x ? x->path : "", x ? sizeof(row->path) : 1);
	if (fresh || before.grantor != row->view.grantor || before.user != row->view.user)
		row->since_ns = c->now;
	rsvp_row_end(row);
	if (credit_of(c->node))
		credit_shown(c, p, &row->view);
	if (row->view.user == RSVP_U_OUT && before.user != RSVP_U_OUT)
		post_path(c, p, RSVP_EVENT_REFUSED);
}

static void gone(void *arg, const struct rsvp_path *p)
{
	struct rsvp_row *row = &rsvp_of(arg)->row[rsvp_path_slot(p)];

	if (credit_of(((struct control_role *)arg)->node))
		credit_gone(arg, p);
	rsvp_row_begin(row);
	row->used = false;
	memset(&row->view, 0, sizeof(row->view));
	rsvp_row_end(row);
	free((void *)(uintptr_t)rsvp_path_carrier(p));
}

#define OPS \
	.send = rsvp_send, .route = rsvp_route, .own = rsvp_own_towards, .under = rsvp_under, \
	.delay_us = rsvp_link_delay_us, .reduces = rsvp_neighbor_reduces, .changed = changed, .shown = shown, \
	.silent = rsvp_neighbor_silent, .gone = gone
static const struct rsvp_node_ops ops = {OPS}, gated_ops = {OPS, .data = &credit_data_ops};

/* A node without credit pays for no table. */
static bool make(struct control_role *c)
{
	const struct snap_credit *s = &c->s->credit;
	uint32_t rows = s->config.paths_max + s->letter.sessions_max;
	struct rsvp_control *r = calloc(1, sizeof(*r) + rows * sizeof(r->row[0]));
	uint64_t seed[2];

	if (!r)
		return false;
	r->random = c->node->seed;
	seed[0] = rsvp_secret(r);
	seed[1] = rsvp_secret(r);
	r->paths = s->config.paths_max;
	r->rows = rows;
	r->ready_ns = c->now + s->config.idle_ms * NSEC_PER_MSEC;
	r->labels = (uint32_t)rsvp_secret(r);
	r->auth = rsvp_auth_new(SENDERS_PER_NEIGHBOR * LIMIT_CREDIT_NEIGHBORS, s->window, (const uint8_t *)seed,
		rsvp_unix_s(c));
	r->machines = rsvp_node_new(&s->config, credit_of(c->node) ? &gated_ops : &ops, c, rsvp_secret(r));
	r->letter = letter_new(&s->letter, &rsvp_letter_ops, c, rsvp_secret(r));
	if (!r->auth || !r->machines || !r->letter) {
		rsvp_auth_free(r->auth);
		letter_free(r->letter);
		rsvp_node_free(r->machines);
		free(r);
		return false;
	}
	__atomic_store_n(&node_rsvp(c->node)->control, r, __ATOMIC_RELEASE);
	return true;
}

static uint8_t limit_for(const struct rsvp_control *r, const struct snap_match *sources)
{
	uint8_t unused = RSVP_NO_LIMIT;

	for (uint8_t i = RSVP_LIMITS - 1; i > 0; i--) {
		if (!r->permission[i].used && !rsvp_limit_promised(r->machines, i))
			unused = i;
		else if (!memcmp(&r->permission[i].sources, sources, sizeof(*sources)))
			return i;
	}
	return unused;
}

/* What sessions have been granted counts on in the limit of their sources, also over a time without the permission. */
static void take_permissions(struct rsvp_control *r, const struct snap_credit *s)
{
	bool there[RSVP_LIMITS] = {false};

	for (uint32_t i = 0; i < s->n_accepts; i++) {
		uint8_t limit = limit_for(r, &s->accept[i].sources);

		r->limit_of[i] = limit;
		if (limit == RSVP_NO_LIMIT)
			continue;
		there[limit] = true;
		r->permission[limit] = (struct rsvp_permission){.used = true, .sources = s->accept[i].sources};
		rsvp_limit_set(r->machines, limit, s->accept[i].total);
	}
	for (unsigned int i = 1; i < RSVP_LIMITS; i++)
		r->permission[i].used = there[i];
}

static void take_snapshot(struct control_role *c)
{
	const struct snap_credit *s = &c->s->credit;
	struct rsvp_control *r = rsvp_of(c);

	if (!r && (!s->on || !make(c)))
		return;
	r = rsvp_of(c);
	if (r->generation == c->s->generation)
		return;
	r->generation = c->s->generation;
	if (s->on) {
		rsvp_node_set(r->machines, &s->config);
		letter_set(r->letter, &s->letter);
		rsvp_auth_set_keys(r->auth, s->key, s->n_keys, s->clock_s);
		rsvp_take_neighbors(c);
		take_permissions(r, s);
	}
	r->epoch = 0;
	rsvp_sessions_begin(c);
}

/* A way to the address of a neighbour, over any link. */
static bool is_reachable(const struct snapshot *s, const struct ip_addr *addr)
{
	target_t t = addr->family == 4 ? fib_lookup4(s->vrf[VRF_UNDERLAY].v4, ip_addr_v4(addr))
				       : fib_lookup6(s->vrf[VRF_UNDERLAY].v6, &addr->v6);

	return (target_kind(t) == TARGET_NEIGH || target_kind(t) == TARGET_LINK || target_kind(t) == TARGET_GROUP) &&
	       liveness_of_way(s, t) != LIVENESS_IS_DEAD;
}

static bool is_down(const struct snapshot *s, uint8_t port)
{
	return __atomic_load_n(&s->live->link[port], __ATOMIC_RELAXED);
}

static void watch_neighbor(struct control_role *c, struct rsvp_neighbor *n)
{
	bool reachable = n->zone ? !is_down(c->s, snap_interface_of(n->zone - 1u)) : is_reachable(c->s, &n->addr);

	if (reachable == (bool)n->reachable)
		return;
	stat_level(n->reachable, reachable);
	rsvp_post(c,
		&(struct rsvp_event){.kind = reachable ? RSVP_EVENT_BACK : RSVP_EVENT_SILENT, .neighbor = n->addr});
	if (n->letter)
		letter_neighbor(rsvp_of(c)->letter, c->now, n->zone, &n->addr, reachable);
	else
		rsvp_neighbor(rsvp_of(c)->machines, c->now, n->zone, &n->addr, reachable);
}

/* The way by which a path leaves this node: the policy's, or a port. */
static bool is_dead(const struct control_role *c, const struct rsvp_carrier *x, const struct rsvp_path_view *v)
{
	if (!x->own || !x->bytes)
		return is_down(c->s, v->port);
	return x->path_id >= c->s->n_paths ||
	       (liveness_grade(liveness_of_path(c->s, x->path_id)) == LIVENESS_IS_DEAD ||
		       liveness_of_way(c->s, c->s->path[x->path_id].via) == LIVENESS_IS_DEAD);
}

static int news_of(void *arg, const struct rsvp_path *p)
{
	struct rsvp_carrier *x = (struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
	struct rsvp_path_view v;

	if (!x)
		return 0;
	rsvp_path_show(p, &v);
	if (is_dead(arg, x, &v) == x->dead)
		return 0;
	x->dead = !x->dead;
	return x->dead ? -1 : 1;
}

/* Something has failed or returned: which sessions does it concern? */
static void watch(struct control_role *c)
{
	struct rsvp_control *r = rsvp_of(c);
	uint32_t epoch = liveness_epoch(c->s) + 1;

	if (likely(r->epoch == epoch))
		return;
	r->epoch = epoch;
	r->repair_ns = c->now + c->s->credit.repair_ms * NSEC_PER_MSEC;
	r->repaired = 0;
	for (uint32_t i = 0; i < r->neighbors; i++)
		watch_neighbor(c, &r->neighbor[i]);
	rsvp_links(r->machines, c->now, news_of);
}

/* Local repair: W after the last change of a route or of what is alive, some paths in each pass. */
static void repair(struct control_role *c, uint64_t *due)
{
	struct rsvp_control *r = rsvp_of(c);

	if (!r->repair_ns)
		return;
	if (c->now >= r->repair_ns)
		r->repaired = rsvp_routes(r->machines, c->now, r->repaired, CONTROL_BURST, rsvp_has_moved);
	if (r->repaired == r->paths)
		r->repair_ns = 0;
	else
		*due = MIN_OF(*due, MAX_OF(r->repair_ns, c->now));
}

static bool take(struct control_role *c, struct rte_mbuf *m)
{
	pkt_end(m, rsvp_of(c) ? rsvp_take(c, m) : DROP_not_served, &c->lcore->stats);
	return true;
}

static unsigned int poll_rsvp(struct control_role *c, uint64_t *next)
{
	struct rsvp_control *r = rsvp_of(c);
	uint64_t due = TIME_NEVER, polled = TIME_NEVER, letter = TIME_NEVER;
	unsigned int work, demanded;

	if (!r)
		return 0;
	if (unlikely(c->now < r->ready_ns)) {
		rsvp_bundles_flush(c);
		*next = MIN_OF(*next, r->ready_ns);
		return 0;
	}
	watch(c);
	rsvp_sessions_obey(c);
	demanded = rsvp_sessions_demanded(c, &due);
	work = demanded + rsvp_poll(r->machines, c->now, CONTROL_BURST, &polled);
	follow_carries(c);
	work += letter_poll(r->letter, c->now, CONTROL_BURST, &letter);
	due = MIN_OF(due, MIN_OF(polled, letter));
	repair(c, &due);
	if (credit_of(c->node) && c->s->credit.on)
		work += credit_poll(c, &due);
	if (unlikely(__atomic_load_n(&node_rsvp(c->node)->stopping, __ATOMIC_RELAXED)))
		work += rsvp_sessions_stop(c);
	else
		rsvp_sessions_follow(c, &due);
	rsvp_bundles_flush(c);
	stat_level(r->stats.senders, rsvp_auth_senders(r->auth));
	stat_level(r->stats.window_used, rsvp_auth_window_used(r->auth));
	*next = MIN_OF(*next, due);
	return work;
}

static bool has_input(const struct control_role *c)
{
	const struct rsvp_orders *o = &node_rsvp(c->node)->orders;

	return __atomic_load_n(&o->head, __ATOMIC_RELAXED) != o->tail;
}

static int open_of_rx(struct control_role *c, uint16_t i, int socket)
{
	struct mailbox_options sightings = {.carries = "sessions on demand",
		.from = rx_end(&c->node->rx[i]),
		.to = control_end(c),
		.bytes = sizeof(struct rsvp_sighting),
		.slots = RSVP_SIGHTINGS,
		.socket = socket};
	struct rsvp_rx *rx = node_rsvp(c->node)->rx[i] = calloc(1, sizeof(*rx));

	return rx ? mailbox_open(&c->node->mailboxes, &rx->sightings, &sightings) : -ENOMEM;
}

static int init(struct control_role *c, int socket)
{
	int rc = 0;

	c->node->state[SERVICE_RSVP] = new_aligned(sizeof(struct node_rsvp));
	if (!node_rsvp(c->node))
		return -ENOMEM;
	for (uint16_t i = 0; i < c->node->n_rx && rc == 0; i++)
		rc = open_of_rx(c, i, socket);
	return rc ? rc : credit_make(c, socket);
}

static void fini(struct control_role *c)
{
	struct rsvp_control *r = node_rsvp(c->node) ? rsvp_of(c) : NULL;

	if (r && credit_of(c->node))
		credit_of(c->node)->over = true;
	if (r) {
		rsvp_node_free(r->machines);
		letter_free(r->letter);
		rsvp_auth_free(r->auth);
		rsvp_free_neighbors(r);
		for (unsigned int i = 0; i < RSVP_OWN_BUCKETS; i++)
			while (r->own[i]) {
				struct rsvp_own *o = r->own[i];

				r->own[i] = o->next;
				free(o);
			}
		free(r);
	}
	if (node_rsvp(c->node)) {
		credit_free(c);
		free(node_rsvp(c->node)->journal);
		free(node_rsvp(c->node)->base);
		for (unsigned int i = 0; i < NODE_MAX_ROLES; i++)
			free(node_rsvp(c->node)->rx[i]);
	}
	free(node_rsvp(c->node));
}

const struct control_service rsvp_service = {
	.name = "rsvp",
	.init = init,
	.fini = fini,
	.tick = rsvp_tick,
	.stopping = rsvp_stopping,
	.clear = rsvp_clear_shown,
	.snapshot = take_snapshot,
	.takes = SERVICE_TAKES(PUNT_RSVP),
	.take = take,
	.poll = poll_rsvp,
	.has_input = has_input,
	.rx = &rsvp_rx_hooks,
	.worker = &credit_worker_hooks,
};
