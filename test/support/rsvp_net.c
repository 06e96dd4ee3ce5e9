/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks of RSVP nodes for tests: links of virtual time that lose, double and delay. */
#include "test/support/rsvp_net.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "test/support/rsvp_capture.h"
#include "test/support/unit.h"

static bool is_before(const struct net_message *a, const struct net_message *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct net *t, struct net_message *m)
{
	unsigned int i = t->flying_n++;

	for (; i && is_before(m, t->flying[(i - 1) / 2]); i = (i - 1) / 2)
		t->flying[i] = t->flying[(i - 1) / 2];
	t->flying[i] = m;
}

static struct net_message *pop(struct net *t)
{
	struct net_message *first = t->flying[0], *m = t->flying[--t->flying_n];
	unsigned int i = 0;

	for (unsigned int k; (k = 2 * i + 1) < t->flying_n; i = k) {
		k += k + 1 < t->flying_n && is_before(t->flying[k + 1], t->flying[k]);
		if (!is_before(t->flying[k], m))
			break;
		t->flying[i] = t->flying[k];
	}
	t->flying[i] = m;
	return first;
}

static void put(struct net *t, unsigned int to, const struct ip_addr *from, uint64_t arrival, const uint8_t *data,
	size_t bytes, uint64_t late)
{
	struct net_message *m = malloc(sizeof(*m));

	check(m && t->flying_n < NET_FLYING && bytes <= sizeof(m->data), "%u messages of %zu bytes in flight",
		t->flying_n, bytes);
	*m = (struct net_message){.at = t->now + t->delay_ns + late +
					(t->spread_ns ? unit_random(&t->random) % t->spread_ns : 0),
		.order = t->sent,
		.to = to,
		.from = *from,
		.arrival = arrival,
		.bytes = (uint16_t)bytes};
	memcpy(m->data, data, bytes);
	push(t, m);
}

void net_lose_all(struct net *t)
{
	while (t->flying_n)
		free(t->flying[--t->flying_n]);
}

static int node_of(const struct net *t, const struct ip_addr *a)
{
	for (unsigned int i = 0; i < t->nodes; i++)
		if (ip_addr_equal(&t->node[i].addr, a))
			return (int)i;
	return -1;
}

static void send_it(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct net_node *from = arg;
	struct net *t = from->net;
	uint64_t arrival = way->along ? way->carrier + 1 : 0;
	int to = way->along ? (int)t->path[arrival >> 8][arrival & 0xff] : node_of(t, &way->to);
	uint8_t data[700];
	size_t bytes = rsvp_write(&rsvp_ext, m, data, sizeof(data));
	int number = (int)t->sent++;
	uint64_t late = number == t->late_at ? t->late_ns : 0;

	check(bytes, "%s cannot be written", rsvp_kind_name(m->kind));
	check(to >= 0, "%s to nobody", rsvp_kind_name(m->kind));
	rsvp_capture_message(&from->addr, &t->node[to].addr, data, bytes);
	t->kinds[m->kind]++;
	if (number == t->lose || unit_random(&t->random) % 1000 < t->loss || t->cut[from - t->node][to])
		return;
	put(t, (unsigned int)to, &from->addr, arrival, data, bytes, late);
	if (number == t->twice_at || unit_random(&t->random) % 1000 < t->twice)
		put(t, (unsigned int)to, &from->addr, arrival, data, bytes, t->late_ns);
}

/* The path and the place in it are the arrival; rates and delays are those of the place. */
static int route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way)
{
	struct net_node *node = arg;
	unsigned int path = (unsigned int)(arrival >> 8), at = (unsigned int)(arrival & 0xff);

	(void)m;
	if (node->refuses)
		return -1;
	if (at + 1 == node->net->length[path])
		return RSVP_FAR;
	way->carrier = arrival;
	way->port = (uint8_t)path;
	way->rate_bps = 100000000000;
	way->delay_us = 100;
	return RSVP_TRANSIT;
}

static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	struct net_node *node = arg;

	(void)p;
	(void)on;
	node->changes++;
}

static bool reduces(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	struct net_node *node = arg;

	(void)zone;
	(void)neighbor;
	return !node->net->whole;
}

static const struct rsvp_node_ops ops = {.send = send_it, .route = route, .changed = changed, .reduces = reduces};

static void make(struct net *t, unsigned int node)
{
	struct net_node *x = &t->node[node];

	x->rsvp = rsvp_node_new(&x->config, &ops, x, (uint64_t)unit_random(&t->random) << 20 | node);
	assert_non_null(x->rsvp);
}

unsigned int net_add(struct net *t)
{
	unsigned int i = t->nodes++;
	struct net_node *x = &t->node[i];

	check(i < NET_NODES, "%u nodes", i);
	*x = (struct net_node){.net = t, .config = rsvp_config_default};
	x->addr = (struct ip_addr){.family = 6, .b = {0xfd, [15] = (uint8_t)(i + 1)}};
	x->config.addr = x->addr;
	x->config.paths_max = 64;
	x->config.pool = 1 << 20;
	make(t, i);
	return i;
}

void net_init(struct net *t, uint64_t random)
{
	memset(t, 0, offsetof(struct net, flying));
	t->random = random * 2 + 1;
	t->delay_ns = 5 * NET_MS;
	t->lose = t->twice_at = t->late_at = -1;
	t->now = NET_S;
	net_add(t);
	net_add(t);
}

void net_free(struct net *t)
{
	for (unsigned int i = 0; i < t->nodes; i++)
		rsvp_node_free(t->node[i].rsvp);
	net_lose_all(t);
}

void net_path(struct net *t, unsigned int n, const unsigned int *through)
{
	unsigned int *path = t->path[t->paths];

	path[0] = 0;
	for (unsigned int i = 0; i < n; i++)
		path[i + 1] = through[i];
	path[n + 1] = 1;
	t->length[t->paths++] = n + 2;
}

void net_restart(struct net *t, unsigned int node)
{
	rsvp_node_free(t->node[node].rsvp);
	make(t, node);
}

void net_config(struct net *t, unsigned int node)
{
	rsvp_node_set(t->node[node].rsvp, &t->node[node].config);
}

struct rsvp_instance *net_open(struct net *t, unsigned int number)
{
	struct rsvp_open o = {.session = {.dst = t->node[1].addr, .protocol = 17, .port = 4791},
		.tspec = {.rate = 1e9f, .depth = 32e6f, .peak = 1e9f, .least = 64, .most = 4200},
		.traffic_class = 3,
		.candidates = t->paths};

	for (unsigned int i = 0; i < t->paths; i++)
		o.candidate[i] = (struct rsvp_candidate){.id = (uint16_t)(i + 1),
			.sender = {.src = {.family = 6, .b = {0xfd, 1}},
				.labelled = true,
				.port = number * NET_PATHS + i + 1},
			.way = {.port = (uint8_t)i,
				.carrier = (uint64_t)i << 8,
				.rate_bps = 400000000000,
				.delay_us = 10}};
	return rsvp_open(t->node[0].rsvp, t->now, &o);
}

void net_close(struct net *t, struct rsvp_instance *s)
{
	rsvp_close(t->node[0].rsvp, t->now, s);
}

static void deliver(struct net *t)
{
	struct net_message *m = pop(t);
	enum rsvp_refusal refusal;

	t->received = *m;
	free(m);
	m = &t->received;
	refusal = rsvp_read(&rsvp_ext, m->data, m->bytes, &t->message);
	check(!refusal, "read again: %s", rsvp_refusal_name(refusal));
	t->message.routed = t->routed;
	rsvp_receive(t->node[m->to].rsvp, t->now, &t->message, &m->from, m->arrival);
}

/* The pools, which hold at every instant. */
static const char *overbooked(const struct net *t)
{
	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct rsvp_node_stats *s = rsvp_node_stats_of(t->node[i].rsvp);

		if (s->committed > t->node[i].config.pool)
			return "more is committed than the pool has";
		if (s->promised > t->node[i].config.pool * t->node[i].config.oversubscription)
			return "more is promised than may be";
		if (s->committed > s->promised)
			return "more is committed than promised";
	}
	return NULL;
}

bool net_step(struct net *t, uint64_t until)
{
	bool message = t->flying_n && t->flying[0]->at < until;
	uint64_t at = message ? t->flying[0]->at : until, next;
	int timer = -1;

	for (unsigned int i = 0; i < t->nodes; i++) {
		rsvp_poll(t->node[i].rsvp, t->now, 0, &next);
		if (next < at) {
			at = next;
			timer = (int)i;
		}
	}
	t->now = MAX_OF(t->now, at);
	if (timer >= 0)
		rsvp_poll(t->node[timer].rsvp, t->now, MAX_OF(t->budget, 1u), &next);
	else if (message)
		deliver(t);
	else
		return false;
	check(!overbooked(t), "%s", overbooked(t));
	return true;
}

void net_run(struct net *t, uint64_t ns)
{
	uint64_t until = t->now + ns;

	while (net_step(t, until))
		;
	t->now = until;
}

void net_neighbor(struct net *t, unsigned int a, unsigned int b, bool up)
{
	t->cut[a][b] = t->cut[b][a] = !up;
	rsvp_neighbor(t->node[a].rsvp, t->now, 0, &t->node[b].addr, up);
	rsvp_neighbor(t->node[b].rsvp, t->now, 0, &t->node[a].addr, up);
}

static unsigned int count(const struct net *t, unsigned int node, bool grantor, unsigned int state)
{
	struct rsvp_path_view v;
	unsigned int n = 0;

	for (struct rsvp_path *p = NULL; (p = rsvp_path_next(t->node[node].rsvp, p));) {
		rsvp_path_show(p, &v);
		n += (grantor ? v.grantor : v.user) == state;
	}
	return n;
}

unsigned int net_grantors(const struct net *t, unsigned int node, enum rsvp_grantor_state state)
{
	return count(t, node, true, state);
}

unsigned int net_users(const struct net *t, unsigned int node, enum rsvp_user_state state)
{
	return count(t, node, false, state);
}

bool net_is_empty(const struct net *t)
{
	for (unsigned int i = 0; i < t->nodes; i++) {
		const struct rsvp_node_stats *s = rsvp_node_stats_of(t->node[i].rsvp);

		if (s->instances || s->paths || s->committed || s->promised)
			return false;
	}
	return true;
}

/* Does the next hop give this path what its user believes to have? */
static bool is_granted(const struct net *t, const struct rsvp_path_view *user, const struct ip_addr *phop)
{
	int nhop = node_of(t, &user->nhop);
	struct rsvp_path_view v;

	for (struct rsvp_path *p = NULL; (p = rsvp_path_next(t->node[nhop].rsvp, p));) {
		rsvp_path_show(p, &v);
		if (v.phop_lih == user->lih && ip_addr_equal(&v.phop, phop))
			return v.grantor == RSVP_G_COMMITTED || v.grantor == RSVP_G_LEASE ||
			       v.grantor == RSVP_G_CLOSING;
	}
	return false;
}

const char *net_wrong(const struct net *t)
{
	struct rsvp_path_view v;

	if (overbooked(t))
		return overbooked(t);
	for (unsigned int i = 0; i < t->nodes; i++) {
		for (struct rsvp_path *p = NULL; (p = rsvp_path_next(t->node[i].rsvp, p));) {
			rsvp_path_show(p, &v);
			if (v.user == RSVP_U_COMMITTED && !is_granted(t, &v, &t->node[i].addr))
				return "a user sends without credit";
			if (v.user == RSVP_U_COMMITTED && v.role == RSVP_TRANSIT && v.grantor != RSVP_G_COMMITTED &&
				v.grantor != RSVP_G_LEASE)
				return "a transit device sends what it does not receive";
		}
	}
	return NULL;
}
