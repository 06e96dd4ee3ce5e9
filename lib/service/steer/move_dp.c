/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the flows that leave a path, as the control lcore has ordered, and the packet with which they do (feedback.h). Off a
 * path that has failed a flow goes with its next packet. Else it goes only if that packet overtakes none (docs/protocol.md 6.4):
 * the flow has been silent for longer than the delays of the paths differ (steering.gap), and its last packet has left the
 * queues of the egress. Rx lcores.
 */
#include "node/service.h"
#include "service/steer/service_steer.h"

/* A third of the time of an order passes until the turn of all flows has come. */
static bool has_turn(const struct feedback_order *o, uint64_t hash, uint64_t since_moved, uint64_t interval,
	uint64_t now)
{
	uint64_t window = (o->until - o->at) / 3, since = now - o->at;

	if (since >= window)
		return true;
	return path_control_turn((uint32_t)(hash >> 32), o->round, since_moved, FEEDBACK_RECENT * interval) * window <
	       UINT32_MAX * since;
}

/* Nothing of the flow is between this role and the device of a way out. */
static bool has_left_port(const struct rx_role *rx, uint16_t port, uint8_t class, uint64_t seen)
{
	const struct node_steer *st = node_steer(rx->node);
	const struct mailbox *box = &rx->to_worker[rx->node->owner[port]];

	if (box->ring && !mailbox_is_empty(box))
		return false;
	return seen + FEEDBACK_SLACK_NS <= __atomic_load_n(&st->left_before[port][class], __ATOMIC_RELAXED);
}

static uint16_t port_of(const struct snapshot *s, target_t t)
{
	return target_kind(t) == TARGET_NEIGH ? s->neigh[target_index(t)].port : snap_interface_of(target_index(t));
}

static bool has_left(const struct rx_role *rx, uint32_t path, uint8_t class, uint64_t seen)
{
	const struct snapshot *s = rx->classifier.s;
	target_t via = s->path[path].via;
	const struct snap_group *g;

	if (rx->parked || !via)
		return false;
	if (target_kind(via) != TARGET_GROUP)
		return has_left_port(rx, port_of(s, via), class, seen);
	g = &s->group[target_index(via)];
	for (unsigned int i = 0; i < g->n; i++)
		if (!has_left_port(rx, port_of(s, g->member[i]), class, seen))
			return false;
	return true;
}

/* ns since a time in ticks, which wraps. */
static uint64_t since(uint64_t now, uint32_t ticks)
{
	return (uint64_t)(flow_ticks(now) - ticks) << FLOW_TICK_SHIFT;
}

static bool may_leave(struct rx_role *rx, struct flow_table *t, const struct flow *f, const struct feedback_order *o,
	uint64_t hash)
{
	const struct flow_move *m = &t->move[f - t->flow];
	uint64_t now = rx->classifier.now, interval = (o->until - o->at) / FEEDBACK_PATH_HOLD;
	uint64_t moved = m->moves ? since(now, m->moved) : TIME_NEVER, silent = since(now, f->seen);

	if (o->reason == PATH_REASON_DEAD)
		return true;
	if (moved < FEEDBACK_FLOW_HOLD * interval || !has_turn(o, hash, moved, interval, now))
		return false;
	/* a tick of rounding */
	if (silent <= __atomic_load_n(&node_steer(rx->node)->gap_ns, __ATOMIC_RELAXED) + (1u << FLOW_TICK_SHIFT) ||
		!has_left(rx, f->path, m->class, now - silent + (1u << FLOW_TICK_SHIFT))) {
		stat_add(&t->count.not_safe, 1);
		return false;
	}
	return true;
}

uint8_t feedback_bucket(struct rx_role *rx, struct flow_table *t, const struct flow *f, const struct flow_class *on,
	uint64_t hash, struct feedback_order **by, unsigned int *which)
{
	struct feedback_rx *mine = node_steer(rx->node)->rx[rx->index].feedback;
	uint32_t number = __atomic_load_n(&on->leaving, __ATOMIC_ACQUIRE);
	struct feedback_order *o;

	if (!number)
		return FLOW_BY_HASH;
	o = &mine->order[number - 1];
	if (rx->classifier.now >= o->until || o->path != f->path || t->move[f - t->flow].pinned)
		return FLOW_BY_HASH;
	for (unsigned int i = 0; i < o->n; i++) {
		/* in turns, so that none gets all of a burst */
		unsigned int k = (i + (unsigned int)hash) % o->n;

		if (!o->to[k].flows)
			continue;
		if (!may_leave(rx, t, f, o, hash))
			return FLOW_BY_HASH;
		*by = o;
		*which = k;
		return o->to[k].bucket;
	}
	return FLOW_BY_HASH;
}

static void note(struct feedback_rx *mine, const struct flow *f, const struct feedback_order *o, unsigned int which,
	uint64_t now)
{
	uint32_t at = mine->written;

	if (at - __atomic_load_n(&mine->read, __ATOMIC_ACQUIRE) == FEEDBACK_EVENTS) {
		stat_add(&mine->missed, 1);
		return;
	}
	mine->event[at % FEEDBACK_EVENTS] = (struct feedback_event){.at = now,
		.key = f->key,
		.from = o->path,
		.to = o->to[which].path,
		.from_score = o->score,
		.to_score = o->to[which].score,
		.class = o->class,
		.reason = o->reason};
	__atomic_store_n(&mine->written, at + 1, __ATOMIC_RELEASE);
}

void feedback_moved(struct rx_role *rx, struct flow_table *t, struct flow *f, struct feedback_order *by,
	unsigned int which)
{
	struct flow_move *m = &t->move[f - t->flow];

	by->to[which].flows--;
	stat_level(m->at, by->to[which].path);
	stat_level(m->moved, flow_ticks(rx->classifier.now));
	stat_level(m->moves, m->moves + (m->moves < UINT16_MAX));
	f->bucket = by->to[which].bucket;
	stat_add(&flow_class(t, by->path, m->class)->left, 1);
	stat_add(&flow_class(t, by->to[which].path, m->class)->came, 1);
	stat_add(by->reason == PATH_REASON_DEAD ? &t->count.rescued : &t->count.moved, 1);
	note(node_steer(rx->node)->rx[rx->index].feedback, f, by, which, rx->classifier.now);
}
