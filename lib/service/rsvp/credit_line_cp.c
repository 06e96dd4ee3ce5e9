/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines and their workers (queue/line.h): which worker has a line, where its data goes, and what becomes of packets whose
 * session has no credit for too long. One order is under way for a line at a time. Control lcore.
 */
#include "node/service.h"
#include "service/rsvp/service_credit.h"
#include "snapshot/liveness.h"

#define REPEAT_NS (2 * NSEC_PER_MSEC) /* an order that is not acknowledged */

static const struct rsvp_carrier *carrier_of(const struct rsvp_path *p)
{
	return (const struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
}

/* --- orders --- */

static void give(struct control_role *c, struct credit_use *u, uint8_t port)
{
	mailbox_push(&credit_of(c->node)->worker_orders[c->node->owner[port]], &u->order, sizeof(u->order));
	u->ordered_ns = c->now;
}

static void order(struct control_role *c, uint32_t line, enum line_op op, enum line_mode mode)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];

	u->order = (struct line_order){.line = line,
		.number = ++k->orders ? k->orders : ++k->orders,
		.op = (uint8_t)op,
		.mode = (uint8_t)mode,
		.port = u->binding.port,
		.class = u->binding.class,
		.alive = u->binding.alive,
		.path = u->binding.path,
		.neigh = u->binding.neigh,
		.label = u->binding.label};
	u->mode = (uint8_t)mode;
	u->ordered = true;
	give(c, u, u->binding.port);
}

void credit_line_kick(struct control_role *c, uint32_t line)
{
	struct credit_use *u = &credit_of(c->node)->use[line];
	struct line_order kick = {.line = line, .op = LINE_KICK};

	if (u->bound)
		mailbox_push(&credit_of(c->node)->worker_orders[c->node->owner[u->binding.port]], &kick, sizeof(kick));
}

/* --- what leads to a line --- */

static void list(struct credit_control *k, struct credit_use *u, uint32_t line)
{
	for (uint32_t i = 0; i < u->n_paths; i++)
		__atomic_store_n(&k->data->line_of_path[(size_t)u->path[i] * PKT_CLASSES + u->path_class],
			(uint16_t)line, __ATOMIC_RELEASE);
	if (u->zone)
		credit_native_to(k, line);
	u->listed = u->n_paths || u->zone;
}

static void unlist(struct credit_control *k, struct credit_use *u, uint32_t line)
{
	for (uint32_t i = 0; i < u->n_paths; i++) {
		uint16_t *at = &k->data->line_of_path[(size_t)u->path[i] * PKT_CLASSES + u->path_class];

		if (*at == line)
			__atomic_store_n(at, LINE_NONE, __ATOMIC_RELEASE);
	}
	credit_native_to_ends(k, line);
	u->listed = false;
}

void credit_line_leads(struct control_role *c, uint32_t line, const struct snap_policy *policy, uint8_t class)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	bool listed = u->listed;

	if (!line)
		return;
	unlist(k, u, line);
	u->zone = 0;
	u->n_paths = MIN_OF(policy->n_paths, CREDIT_PATHS);
	memcpy(u->path, policy->path, u->n_paths * sizeof(u->path[0]));
	u->path_class = class;
	if (listed)
		list(k, u, line);
}

void credit_line_leads_to(struct control_role *c, uint32_t line, const struct snap_rsvp_session *s)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	bool listed = u->listed;

	if (!line)
		return;
	unlist(k, u, line);
	u->n_paths = 0;
	u->zone = s->zone;
	u->to = s->to;
	u->path_class = s->traffic_class;
	if (listed)
		list(k, u, line);
}

/* --- where the data of a path goes --- */

/* A next hop that is alive, of several the one of the label. */
static target_t member_of(const struct snapshot *s, target_t via, uint32_t label)
{
	const struct snap_group *g;

	if (target_kind(via) != TARGET_GROUP)
		return via;
	g = &s->group[target_index(via)];
	for (unsigned int i = 0; i < g->n; i++) {
		target_t t = g->member[(label + i) % g->n];

		if (liveness_of_way(s, t) != LIVENESS_IS_DEAD)
			return t;
	}
	return g->member[label % g->n];
}

static bool bind_headend(const struct control_role *c, const struct rsvp_carrier *x, struct credit_binding *b)
{
	const struct snap_path *path = x->path_id < c->s->n_paths ? &c->s->path[x->path_id] : NULL;
	target_t via;

	if (!path || !path->via)
		return false;
	via = member_of(c->s, path->via, b->label);
	b->path = x->path_id;
	if (target_kind(via) == TARGET_NEIGH) {
		b->neigh = target_index(via);
		b->port = (uint8_t)c->s->neigh[b->neigh].port;
	} else {
		b->neigh = PKT_NEIGH_LINK + target_index(via);
		b->port = snap_interface_of(target_index(via));
	}
	return true;
}

static bool binding_of(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v,
	struct credit_binding *b)
{
	struct rsvp_carrier *x = (struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p);
	const struct credit_neighbor *n = credit_neighbor_of(credit_of(c->node), v->zone_down, &v->nhop);
	struct rsvp_way way = {.port = v->port};

	*b = (struct credit_binding){.label = v->sender.port, .class = v->traffic_class};
	if (!x || !n)
		return false;
	b->alive = (uint16_t)(n - credit_of(c->node)->neighbor);
	if (v->zone_down) {
		b->neigh = PKT_NEIGH_LINK + v->zone_down - 1u;
		b->port = snap_interface_of(v->zone_down - 1u);
		return true;
	}
	if (v->role == RSVP_HEADEND)
		return bind_headend(c, x, b);
	if (!rsvp_egress_of(c, x, &v->sender, &v->session.dst, &way))
		return false;
	b->neigh = x->next;
	b->port = way.port;
	return true;
}

/* --- steps --- */

static void shut(struct credit_line *l, struct credit_use *u)
{
	__atomic_store_n(&l->gate.open, false, __ATOMIC_RELEASE);
	__atomic_store_n(&l->gate.fence, 0, __ATOMIC_RELAXED);
	u->u.state = CREDIT_RESYNC;
	u->u.fence_open = 0;
	u->u.short_ns = 0;
}

/* The credit that its path has now, from where it was left. */
static void adopt(struct control_role *c, struct credit_line *l, struct credit_use *u, const struct rsvp_path_view *v)
{
	uint64_t fccl = MIN_OF(v->fccl, v->sent + 2ull * v->credit_units);

	u->u = (struct credit_user){.state = CREDIT_OPEN,
		.epoch = v->credit_epoch,
		.fccl = v->fccl,
		.abr = v->abr,
		.buf = v->credit_units,
		.buf_now = v->credit_units,
		.base = l->gate.sent - v->sent,
		.heard_ns = c->now,
		.moved_ns = c->now};
	u->keeps = u->gave && v->credit_units >= u->gave;
	u->gave = 0;
	u->stated = v->abr;
	u->unanswered = false;
	u->leaked = 0;
	__atomic_store_n(&l->gate.fence, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&l->gate.limit, u->u.base + fccl, __ATOMIC_RELAXED);
	__atomic_store_n(&l->gate.open, true, __ATOMIC_RELEASE);
}

static void hold(struct control_role *c, struct credit_line *l, struct credit_use *u, uint32_t line)
{
	shut(l, u);
	u->left = u->slot;
	u->left_epoch = u->u.epoch;
	u->slot = CREDIT_NO_SLOT;
	u->off_ns = c->now;
	if (u->bound)
		order(c, line, LINE_SET, LINE_HELD);
}

static void bind(struct control_role *c, struct credit_line *l, struct credit_use *u, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);
	const struct rsvp_path *p = rsvp_path_at(rsvp_of(c)->machines, u->wanted);
	struct credit_binding b;
	struct rsvp_path_view v;

	if (!p)
		return;
	if (u->bound && u->mode != LINE_HELD) {
		hold(c, l, u, line);
		return;
	}
	rsvp_path_show(p, &v);
	if (!binding_of(c, p, &v, &b))
		return;
	if (u->bound && c->node->owner[u->binding.port] != c->node->owner[b.port]) {
		order(c, line, LINE_LEAVE, LINE_HELD);
		u->bound = false;
		return;
	}
	u->binding = b;
	adopt(c, l, u, &v);
	l->class = b.class;
	order(c, line, LINE_BEGIN, LINE_GATED);
	__atomic_store_n(&l->to, b.port, __ATOMIC_RELEASE);
	u->bound = true;
	u->slot = u->wanted;
	if (v.role == RSVP_HEADEND)
		list(k, u, line);
}

static void free_line(struct credit_control *k, uint32_t line)
{
	credit_use_hide(k, line);
	k->use[line].used = k->use[line].closing = false;
	k->free_line[k->free_lines++] = line;
}

/* The session has no credit, and its line has a worker. */
static void wait_on(struct control_role *c, struct credit_line *l, struct credit_use *u, uint32_t line)
{
	enum line_mode end = u->headend ? LINE_FREE : LINE_ENDS;

	if (u->mode == LINE_HELD) {
		if (u->closing || c->now - u->off_ns >= c->s->credit.wait_ns)
			order(c, line, LINE_SET, end);
		return;
	}
	if (stat_read(&l->waits))
		return;
	unlist(credit_of(c->node), u, line);
	if (u->closing && c->now - u->off_ns >= c->s->credit.wait_ns) {
		order(c, line, LINE_LEAVE, LINE_HELD);
		u->bound = false;
	}
}

/* No worker has the line. */
static void rest(struct control_role *c, struct credit_line *l, struct credit_use *u, uint32_t line)
{
	if (stat_read(&l->waits)) { /* it left one worker for another, and lost its credit then */
		order(c, line, LINE_BEGIN, LINE_HELD);
		u->bound = true;
	} else if (u->closing) {
		unlist(credit_of(c->node), u, line);
		free_line(credit_of(c->node), line);
	}
}

static bool is_obeyed(struct control_role *c, const struct credit_line *l, struct credit_use *u)
{
	const struct rsvp_path *p;

	if (!u->ordered)
		return true;
	if (__atomic_load_n(&l->ack, __ATOMIC_ACQUIRE) != u->order.number) {
		if (c->now - u->ordered_ns >= REPEAT_NS)
			give(c, u, u->order.port);
		return false;
	}
	u->ordered = false;
	p = u->left != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, u->left) : NULL;
	if (p) /* nothing more is sent in the epoch that was left */
		rsvp_user_store(p, u->left_epoch, l->gate.sent - u->u.base);
	u->left = CREDIT_NO_SLOT;
	return true;
}

void credit_line_step(struct control_role *c, uint32_t line)
{
	struct credit_use *u = &credit_of(c->node)->use[line];
	struct credit_line *l = &credit_of(c->node)->data->line[line];

	if (!u->used)
		return;
	if (u->slot != CREDIT_NO_SLOT && u->wanted != u->slot)
		shut(l, u); /* at once, whatever is under way */
	if (!is_obeyed(c, l, u))
		return;
	if (u->slot != CREDIT_NO_SLOT && u->wanted != u->slot)
		hold(c, l, u, line);
	else if (u->wanted != CREDIT_NO_SLOT && u->wanted != u->slot)
		bind(c, l, u, line);
	else if (u->slot == CREDIT_NO_SLOT && u->bound)
		wait_on(c, l, u, line);
	else if (u->slot == CREDIT_NO_SLOT)
		rest(c, l, u, line);
}

/* Routes or what is alive have changed: data that goes another way now is bound again. */
void credit_rebind_all(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);

	for (uint32_t line = 1; line < k->numbers; line++) {
		struct credit_use *u = &k->use[line];
		struct credit_binding b;
		struct rsvp_path_view v;
		const struct rsvp_path *p;

		if (!u->used || u->slot == CREDIT_NO_SLOT || u->ordered)
			continue;
		p = rsvp_path_at(rsvp_of(c)->machines, u->slot);
		if (!p || carrier_of(p) == NULL)
			continue;
		rsvp_path_show(p, &v);
		if (!binding_of(c, p, &v, &b) || !memcmp(&b, &u->binding, sizeof(b)))
			continue;
		hold(c, &k->data->line[line], u, line);
		credit_activate_line(c, line);
	}
}
