/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes, frees and reads tables of flows (flow_table.h). Management thread. */
#include "steer/flow_table.h"

#include "base/aligned.h"

/* Buckets so that flows fill 8 of 9 places: with two buckets to choose from, all of them find one. */
static uint64_t buckets_for(uint64_t flows)
{
	return MAX_OF((flows * 9 / 8 + FLOW_WAYS - 1) / FLOW_WAYS, 4);
}

static uint64_t place_bytes(unsigned int with)
{
	return sizeof(uint32_t) + sizeof(struct flow) + (with & FLOW_WITH_ROCE ? sizeof(struct flow_roce) : 0) +
	       (with & FLOW_WITH_MOVES ? sizeof(struct flow_move) : 0);
}

static uint64_t path_bytes(unsigned int with)
{
	return FLOW_PATHS *
	       (2 * sizeof(uint32_t) + (with & FLOW_WITH_MOVES ? FLOW_CLASSES * sizeof(struct flow_class) : 0));
}

uint64_t flow_table_memory(uint64_t flows, unsigned int with)
{
	return buckets_for(flows) * FLOW_WAYS * place_bytes(with) + path_bytes(with) + sizeof(struct flow_table);
}

struct flow_table *flow_table_new(uint64_t flows, unsigned int with, const struct steer_secret *secret,
	uint64_t idle_ns)
{
	uint64_t buckets = buckets_for(flows), places = buckets * FLOW_WAYS;
	struct flow_table *t = new_aligned(sizeof(*t));
	char *at;

	if (!t)
		return NULL;
	at = new_sparse(places * place_bytes(with) + path_bytes(with), &t->memory);
	if (!at) {
		free(t);
		return NULL;
	}
	t->n_buckets = (uint32_t)buckets;
	t->idle = flow_ticks(idle_ns);
	t->secret = *secret;
	t->flow = (struct flow *)(void *)at;
	at += places * sizeof(struct flow);
	t->tag = (uint32_t(*)[FLOW_WAYS])(void *)at;
	at += places * sizeof(uint32_t);
	t->on_path = (uint32_t *)(void *)at;
	t->in_share = t->on_path + FLOW_PATHS;
	at += 2 * FLOW_PATHS * sizeof(uint32_t);
	if (with & FLOW_WITH_ROCE) {
		t->roce = (struct flow_roce *)(void *)at;
		at += places * sizeof(struct flow_roce);
	}
	if (with & FLOW_WITH_MOVES) {
		t->move = (struct flow_move *)(void *)at;
		at += places * sizeof(struct flow_move);
		t->by_class = (struct flow_class *)(void *)at;
	}
	return t;
}

void flow_table_free(struct flow_table *t)
{
	if (t)
		free(t->memory);
	free(t);
}

bool flow_table_read(const struct flow_table *t, uint32_t i, struct flow_seen *out)
{
	const uint32_t *tag = &t->tag[i / FLOW_WAYS][i % FLOW_WAYS];
	uint32_t was = __atomic_load_n(tag, __ATOMIC_ACQUIRE);
	uint64_t w[sizeof(out->flow) / sizeof(uint64_t)];

	if (!was)
		return false;
	for (unsigned int k = 0; k < sizeof(w) / sizeof(w[0]); k++)
		w[k] = __atomic_load_n((const uint64_t *)&t->flow[i] + k, __ATOMIC_RELAXED);
	*out = (struct flow_seen){0};
	memcpy(&out->flow, w, sizeof(w));
	if (t->roce) {
		out->roce.next = __atomic_load_n(&t->roce[i].next, __ATOMIC_RELAXED);
		out->roce.qp = __atomic_load_n(&t->roce[i].qp, __ATOMIC_RELAXED);
		out->roce.gaps = __atomic_load_n(&t->roce[i].gaps, __ATOMIC_RELAXED);
		out->roce.duplicates = __atomic_load_n(&t->roce[i].duplicates, __ATOMIC_RELAXED);
	}
	if (t->move) {
		out->move.at = __atomic_load_n(&t->move[i].at, __ATOMIC_RELAXED);
		out->move.moved = __atomic_load_n(&t->move[i].moved, __ATOMIC_RELAXED);
		out->move.moves = __atomic_load_n(&t->move[i].moves, __ATOMIC_RELAXED);
		out->move.class = __atomic_load_n(&t->move[i].class, __ATOMIC_RELAXED);
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(tag, __ATOMIC_RELAXED) == was;
}
