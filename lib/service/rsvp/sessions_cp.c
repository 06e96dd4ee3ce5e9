/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions that begin at this node: opened, left alone or closed one by one when the configuration changes, and by order
 * of users (docs/credit.md 2.3, D41). Control lcore.
 */
#include <stdlib.h>

#include "base/compiler.h"
#include "node/control_send.h"
#include "service/rsvp/service_credit.h"

#define ROCE_PORT 4791
#define RETRY_NS NSEC_PER_SEC /* after a session for which there was no room */
/*
 * Path inits of sessions that begin, per second, and how many may go at once. Nodes on the way pass only so many messages
 * in a burst, and a Path init that they drop or take for data is repeated late.
 */
#define INIT_RATE 5000
#define INIT_BURST 32
#define INIT_NS (NSEC_PER_SEC / INIT_RATE)
#define LABEL_BITS 20
#define LABEL_STEP 0x5bd1f /* odd: the labels run through all 20 bits in an order that shows nothing */

/* FNV-1a */
static uint32_t bucket_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return h % RSVP_OWN_BUCKETS;
}

struct rsvp_own *rsvp_own_of(const struct rsvp_control *r, const char *name)
{
	struct rsvp_own *o = r->own[bucket_of(name)];

	while (o && strcmp(o->name, name) != 0)
		o = o->next;
	return o;
}

/* A source, and a label that it has not had for 2^20 paths, never 0. */
static struct rsvp_sender sender_for(struct rsvp_control *r, struct ip_addr source)
{
	uint32_t label;

	do {
		label = r->labels++ * LABEL_STEP & ((1u << LABEL_BITS) - 1);
	} while (!label);
	return (struct rsvp_sender){.src = source, .labelled = true, .port = label};
}

static struct rsvp_carrier *carrier_for(const struct snap_rsvp_session *s, const struct snap_path *path, uint32_t id,
	uint16_t line)
{
	struct rsvp_carrier *x = calloc(1, sizeof(*x) + path->bytes);

	if (!x)
		return NULL;
	snprintf(x->session, sizeof(x->session), "%s", s->name);
	snprintf(x->path, sizeof(x->path), "%s", path->name);
	x->line = line;
	x->path_id = id;
	x->own = true;
	x->next_header_at = path->next_header_at;
	x->bytes = path->bytes;
	memcpy(x->header, path->header, path->bytes);
	return x;
}

/* The egress of a way, for a label among several, and the next hop there. */
static uint8_t leaves_by(const struct snapshot *s, target_t via, uint32_t label, uint32_t *neigh)
{
	if (target_kind(via) == TARGET_GROUP)
		via = s->group[target_index(via)].member[label % s->group[target_index(via)].n];
	*neigh = target_kind(via) == TARGET_NEIGH ? target_index(via) : PKT_NEIGH_LINK;
	return target_kind(via) == TARGET_NEIGH ? (uint8_t)s->neigh[target_index(via)].port
						: snap_interface_of(target_index(via));
}

static bool add_candidate(struct control_role *c, const struct snap_rsvp_session *s, struct rsvp_open *o,
	unsigned int place, uint16_t line)
{
	uint32_t id = c->s->policy[s->policy].path[place];
	const struct snap_path *path = &c->s->path[id];
	struct rsvp_candidate *x = &o->candidate[o->candidates];
	struct rsvp_carrier *carrier;
	uint64_t speed;

	if (!path->via)
		return true; /* no way out: no candidate */
	carrier = carrier_for(s, path, id, line);
	if (!carrier)
		return false;
	x->id = (uint16_t)(place + 1);
	x->sender = sender_for(rsvp_of(c), ip_addr_from6(&((const struct ipv6_hdr *)path->header)->src));
	x->way = (struct rsvp_way){.port = leaves_by(c->s, path->via, x->sender.port, &carrier->next),
		.carrier = (uint64_t)(uintptr_t)carrier,
		.delay_us = UINT32_MAX};
	speed = c->s->port[x->way.port].speed_bps;
	x->way.rate_bps = speed ? speed : UINT64_MAX;
	o->candidates++;
	return true;
}

/* The only path of a session that ends at a server: the link that the server is on. */
static bool add_server(struct control_role *c, const struct snap_rsvp_session *s, struct rsvp_open *o, uint16_t line)
{
	const struct snap_rsvp_neighbor *n = rsvp_permitted(&c->s->credit, s->zone, &s->to);
	const struct snap_interface *in = rsvp_link_of(c->s, s->zone);
	struct rsvp_candidate *x = &o->candidate[0];
	struct rsvp_carrier *carrier = n && in ? calloc(1, sizeof(*carrier)) : NULL;

	if (!carrier)
		return false;
	snprintf(carrier->session, sizeof(carrier->session), "%s", s->name);
	snprintf(carrier->path, sizeof(carrier->path), "%s", in->name);
	carrier->own = true;
	carrier->line = line;
	carrier->next = PKT_NEIGH_LINK;
	x->id = 1;
	x->sender = sender_for(rsvp_of(c), n->own);
	x->way = (struct rsvp_way){.port = snap_interface_of(s->zone - 1u),
		.zone = s->zone,
		.here = n->own,
		.carrier = (uint64_t)(uintptr_t)carrier,
		.rate_bps = in->speed_bps ? in->speed_bps : UINT64_MAX,
		.delay_us = UINT32_MAX};
	o->candidates = 1;
	return true;
}

static void remember(const struct control_role *c, struct rsvp_own *o, const struct snap_rsvp_session *s)
{
	const struct snap_policy *policy = &c->s->policy[s->policy];

	o->to = s->to;
	o->tspec = s->tspec;
	o->traffic_class = s->traffic_class;
	o->zone = s->zone;
	o->paths = s->zone ? 1 : (uint8_t)policy->n_paths;
	for (unsigned int i = 0; !s->zone && i < policy->n_paths; i++)
		o->fingerprint[i] = c->s->path[policy->path[i]].via ? c->s->path[policy->path[i]].fingerprint : 0;
}

static bool is_same(const struct control_role *c, const struct rsvp_own *o, const struct snap_rsvp_session *s)
{
	struct rsvp_own now = {0};

	remember(c, &now, s);
	return ip_addr_equal(&now.to, &o->to) && now.zone == o->zone && now.traffic_class == o->traffic_class &&
	       now.paths == o->paths && !memcmp(&now.tspec, &o->tspec, sizeof(now.tspec)) &&
	       !memcmp(now.fingerprint, o->fingerprint, sizeof(now.fingerprint));
}

bool rsvp_is_letter(const struct snapshot *s, const struct snap_rsvp_session *x)
{
	const struct snap_rsvp_neighbor *n = x->zone ? rsvp_permitted(&s->credit, x->zone, &x->to) : NULL;

	return n && n->letter;
}

static void open_session(struct control_role *c, struct rsvp_own *o, const struct snap_rsvp_session *s)
{
	struct rsvp_open open = {.session = {.dst = s->to, .protocol = IP_PROTO_UDP, .port = ROCE_PORT},
		.tspec = s->tspec,
		.traffic_class = s->traffic_class};
	uint64_t *begin = &rsvp_of(c)->begin_ns;
	bool good = true;

	remember(c, o, s);
	if (rsvp_is_letter(c->s, s)) {
		o->letter = letter_begin(c, s);
		rsvp_of(c)->unopened |= !o->letter;
		return;
	}
	if (!o->line)
		o->line = (uint16_t)credit_line_new(c, true);
	if (o->line && s->zone)
		credit_line_leads_to(c, o->line, s);
	else if (o->line)
		credit_line_leads(c, o->line, &c->s->policy[s->policy], s->traffic_class);
	*begin = MAX_OF(*begin + INIT_BURST * INIT_NS, c->now) - INIT_BURST * INIT_NS + o->paths * INIT_NS;
	for (unsigned int i = 0; i < o->paths && good; i++)
		good = s->zone ? add_server(c, s, &open, o->line) : add_candidate(c, s, &open, i, o->line);
	if (good && open.candidates)
		o->instance = rsvp_open(rsvp_of(c)->machines, c->now, &open);
	if (o->instance)
		return;
	rsvp_of(c)->unopened = true;
	for (unsigned int i = 0; i < open.candidates; i++)
		free((void *)(uintptr_t)open.candidate[i].way.carrier);
}

static void close_session(struct control_role *c, struct rsvp_own *o)
{
	if (o->instance)
		rsvp_close(rsvp_of(c)->machines, c->now, o->instance);
	if (o->letter)
		letter_close(rsvp_of(c)->letter, c->now, o->letter);
	o->instance = NULL;
	o->letter = NULL;
	rsvp_carry_set(rsvp_of(c)->machines, c->now, &o->carry, false);
	rsvp_of(c)->carries = true;
}

static struct rsvp_own *add_own(struct rsvp_control *r, const char *name)
{
	struct rsvp_own *o = calloc(1, sizeof(*o)), **at = &r->own[bucket_of(name)];

	if (!o)
		return NULL;
	snprintf(o->name, sizeof(o->name), "%s", name);
	o->next = *at;
	*at = o;
	r->owns++;
	return o;
}

/* Does a session on demand wait for its data? */
static bool is_awaited(const struct control_role *c, const struct rsvp_own *o, const struct snap_rsvp_session *s)
{
	return s->demand && (!o->seen_ns || c->now - o->seen_ns >= s->on_demand_ns);
}

static void follow(struct control_role *c, uint32_t place)
{
	const struct snap_rsvp_session *s = &c->s->credit.session[place];
	struct rsvp_own *o = rsvp_own_of(rsvp_of(c), s->name);

	if (!o)
		o = add_own(rsvp_of(c), s->name);
	if (!o)
		return;
	o->generation = c->s->generation;
	o->place = place;
	if ((o->instance || o->letter) && (!is_same(c, o, s) || rsvp_is_letter(c->s, s) != (o->letter != NULL))) {
		close_session(c, o);
		rsvp_carry_end(rsvp_of(c)->machines, c->now, &o->carry);
	}
	if (!o->instance && !o->letter && !o->stopped && !is_awaited(c, o, s))
		open_session(c, o, s);
}

/* Close what the snapshot does not have. What it has is left alone until it was looked at. */
void rsvp_sessions_begin(struct control_role *c)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct snap_credit *s = &c->s->credit;

	r->at = 0;
	for (uint32_t i = 0; s->on && i < s->n_sessions; i++) {
		struct rsvp_own *o = rsvp_own_of(r, s->session[i].name);

		if (o)
			o->generation = c->s->generation;
	}
	for (unsigned int i = 0; i < RSVP_OWN_BUCKETS && r->owns; i++)
		for (struct rsvp_own **at = &r->own[i], *o; (o = *at);) {
			if (o->generation == c->s->generation) {
				at = &o->next;
				continue;
			}
			close_session(c, o);
			rsvp_carry_end(r->machines, c->now, &o->carry);
			credit_line_close(c, o->line);
			*at = o->next;
			free(o);
			r->owns--;
		}
}

/* Sessions that closed keep their paths until their Ends are over, so there may be room later. */
static bool may_begin_again(struct rsvp_control *r, uint64_t now, uint64_t *due)
{
	if (!r->unopened)
		return false;
	if (now < r->again_ns) {
		*due = MIN_OF(*due, r->again_ns);
		return false;
	}
	r->at = 0;
	r->unopened = false;
	return true;
}

void rsvp_sessions_follow(struct control_role *c, uint64_t *due)
{
	struct rsvp_control *r = rsvp_of(c);
	const struct snap_credit *s = &c->s->credit;

	if (!s->on || (r->at >= s->n_sessions && !may_begin_again(r, c->now, due)))
		return;
	for (unsigned int i = 0; i < CONTROL_BURST && r->at < s->n_sessions && c->now >= r->begin_ns; i++)
		follow(c, r->at++);
	if (r->at == s->n_sessions)
		r->again_ns = c->now + RETRY_NS;
	if (r->at < s->n_sessions || r->unopened)
		*due = MIN_OF(*due, r->at < s->n_sessions ? MAX_OF(c->now, r->begin_ns) : r->again_ns);
}

static void see(struct control_role *c, const struct rsvp_sighting *x)
{
	const struct snap_credit *s = &c->s->credit;
	uint32_t place;
	struct rsvp_own *o;

	if (x->generation != c->s->generation || x->demand >= s->n_demands)
		return; /* it is shown again with the new snapshot */
	place = s->demand[x->demand].session;
	o = rsvp_own_of(rsvp_of(c), s->session[place].name);
	if (!o || o->generation != x->generation)
		return; /* not looked at yet */
	o->seen_ns = MAX_OF(c->now, 1u);
	if (!o->instance && !o->stopped && c->now >= rsvp_of(c)->begin_ns)
		follow(c, place);
}

/* End what nobody has used for a while. */
static void end_unused(struct control_role *c)
{
	const struct snap_credit *s = &c->s->credit;

	for (uint32_t i = 0; i < s->n_demands; i++) {
		const struct snap_rsvp_session *x = &s->session[s->demand[i].session];
		struct rsvp_own *o = rsvp_own_of(rsvp_of(c), x->name);

		if (o && o->instance && is_awaited(c, o, x))
			close_session(c, o);
	}
}

unsigned int rsvp_sessions_demanded(struct control_role *c, uint64_t *due)
{
	struct rsvp_control *r = rsvp_of(c);
	struct rsvp_sighting x[CONTROL_BURST];
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++) {
		unsigned int n = mailbox_pop(&node_rsvp(c->node)->rx[i]->sightings, x, sizeof(x[0]), CONTROL_BURST);

		for (unsigned int k = 0; k < n; k++)
			see(c, &x[k]);
		work += n;
	}
	if (!c->s->credit.on || !c->s->credit.n_demands)
		return work;
	if (c->now >= r->demand_ns) {
		r->demand_ns = c->now + RSVP_SHOWN_NS;
		end_unused(c);
	}
	*due = MIN_OF(*due, r->demand_ns);
	return work;
}

void rsvp_sessions_obey(struct control_role *c)
{
	struct rsvp_orders *all = &node_rsvp(c->node)->orders;
	uint32_t head = __atomic_load_n(&all->head, __ATOMIC_ACQUIRE);

	for (; all->tail != head; __atomic_store_n(&all->tail, all->tail + 1, __ATOMIC_RELEASE)) {
		const struct rsvp_order *order = &all->order[all->tail % RSVP_ORDERS];
		struct rsvp_own *o = rsvp_own_of(rsvp_of(c), order->name);

		if (!o || !c->s->credit.on || o->generation != c->s->generation)
			continue;
		o->stopped = order->stop;
		o->carry.why = o->stopped ? RSVP_REFUSE_OPERATOR : 0;
		if (o->instance)
			rsvp_carry_of(o->instance)->why = o->carry.why;
		if (o->stopped)
			close_session(c, o);
		else if (!o->instance && !o->letter)
			open_session(c, o, &c->s->credit.session[o->place]);
	}
}

unsigned int rsvp_sessions_stop(struct control_role *c)
{
	struct rsvp_control *r = rsvp_of(c);
	unsigned int n = 0;

	for (; r->ended < RSVP_OWN_BUCKETS && n < CONTROL_BURST; r->ended++)
		for (struct rsvp_own *o = r->own[r->ended]; o; o = o->next, n++)
			close_session(c, o);
	return n;
}
