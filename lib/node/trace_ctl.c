/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet traces: arm the lcores, collect their events and sort them. Management thread. */
#include "node/trace_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "node/node_ctl.h"
#include "node/retired.h"

#define EVENT_RING 8192	  /* events of one lcore that are not collected yet: room for the largest trace */
#define EVENTS_KEPT 16384 /* limit of events in one trace */
#define GRACE_TRIES 100	  /* ms to wait until no lcore uses the old filter */

struct kept_event {
	struct trace_event e; /* first */
	void *told;
};

struct node_traces {
	unsigned int n;
	struct node_trace asked;
	/* The numbers of the packets in this trace. Packets of an earlier trace may still be queued. */
	uint32_t first, last;
	struct kept_event event[EVENTS_KEPT];
};

static void set_tracing(struct node *n, bool on)
{
	for (uint16_t i = 0; i < n->n_lcores; i++)
		__atomic_store_n(&n->lcore[i]->tap.tracing, (uint64_t)on, __ATOMIC_RELEASE);
}

/* Stop tracing and wait until no lcore uses the filter. Returns 0 or -EBUSY. */
static int let_go(struct node *n)
{
	uint64_t token;

	set_tracing(n, false);
	token = rte_rcu_qsbr_start(n->qsbr);
	for (int i = 0; i < GRACE_TRIES; i++) {
		if (rte_rcu_qsbr_check(n->qsbr, token, false) == 1)
			return 0;
		usleep(1000);
	}
	return -EBUSY;
}

static int prepare(struct node *n)
{
	char name[28];

	if (!n->traces)
		n->traces = calloc(1, sizeof(*n->traces));
	for (uint16_t i = 0; n->traces && i < n->n_lcores; i++) {
		struct pkt_tap *t = &n->lcore[i]->tap;

		pkt_tap_find_stamps(t);
		if (t->events)
			continue;
		snprintf(name, sizeof(name), "%x.te.%u", (unsigned int)((uintptr_t)n >> 6), i);
		t->events = rte_ring_create_elem(name, sizeof(struct trace_event), EVENT_RING, -1,
			RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (!t->events)
			return -ENOMEM;
	}
	return n->traces ? 0 : -ENOMEM;
}

/* The snapshot of a generation (low bits) that is not freed yet; NULL: none. */
static const struct snapshot *snapshot_of(const struct node *n, uint32_t generation)
{
	if (n->snapshot && (uint32_t)n->snapshot->generation == generation)
		return n->snapshot;
	for (const struct node_retired *r = n->retired; r; r = r->next)
		if (r->snapshot && (uint32_t)r->snapshot->generation == generation)
			return r->snapshot;
	return NULL;
}

/* last: the event before, of the same lcore. */
static void keep(struct node *n, const struct trace_event *e, const struct trace_event *last)
{
	struct node_traces *t = n->traces;
	struct kept_event *k = &t->event[t->n];

	if (e->id < t->first || e->id > t->last || t->n == EVENTS_KEPT)
		return;
	*k = (struct kept_event){.e = *e};
	t->n++;
	if (!t->asked.tell)
		return;
	/* what the lcore has posted just before it resolved the packet is the packet as received */
	if (e->kind == TRACE_PLACED ||
		(e->kind == TRACE_RESOLVED && last->id == e->id && last->kind == TRACE_RECEIVED)) {
		const struct snapshot *s = snapshot_of(n, e->value);

		k->told = s ? t->asked.tell(n, s, last, e) : NULL;
	}
}

void node_trace_collect(struct node *n)
{
	struct trace_event e[2];

	if (!n->traces)
		return;

	for (uint16_t i = 0; i < n->n_lcores; i++) {
		struct rte_ring *r = n->lcore[i]->tap.events;

		e[1] = (struct trace_event){.id = 0};
		for (unsigned int k = 0; r && k < EVENT_RING; k++) {
			if (rte_ring_sc_dequeue_elem(r, &e[k % 2], sizeof(e[0])) != 0)
				break;
			keep(n, &e[k % 2], &e[(k + 1) % 2]);
		}
	}
}

static void forget(struct node_traces *t)
{
	for (unsigned int i = 0; i < t->n; i++)
		if (t->event[i].told)
			t->asked.forget(t->event[i].told);
	t->n = 0;
}

int node_trace_start(struct node *n, const struct node_trace *trace, char *err, size_t size)
{
	struct pkt_filter *f = NULL;

	if (trace->filter) {
		f = pkt_filter_new(trace->filter, err, size);
		if (!f)
			return -EINVAL;
	}
	if (prepare(n) < 0 || let_go(n) < 0) {
		pkt_filter_free(f);
		snprintf(err, size, n->traces ? "lcores are busy with the last trace" : "out of memory");
		return -EBUSY;
	}
	node_trace_collect(n);
	forget(n->traces);
	pkt_filter_free(n->trace.filter);
	if (n->trace.chosen + trace->count > UINT16_MAX)
		n->trace.chosen = 0;
	n->traces->asked = *trace;
	n->traces->first = n->trace.chosen + 1;
	n->traces->last = n->trace.chosen + trace->count;
	n->trace = (struct trace_filter){.filter = f, .left = trace->count, .chosen = n->trace.chosen};
	set_tracing(n, true);
	return 0;
}

void node_trace_clear(struct node *n)
{
	set_tracing(n, false);
	if (n->traces)
		forget(n->traces);
	free(n->traces);
	n->traces = NULL;
}

static int by_packet(const void *a, const void *b)
{
	const struct trace_event *x = &((const struct kept_event *)a)->e, *y = &((const struct kept_event *)b)->e;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	/*
	 * Kinds are in the order in which a packet passes them. Times are of passes, which overlap on several lcores.
	 */
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

void node_trace_each(struct node *n, void (*fn)(void *arg, const struct trace_event *e, void *told), void *arg)
{
	if (!n->traces)
		return;
	node_trace_collect(n);
	qsort(n->traces->event, n->traces->n, sizeof(n->traces->event[0]), by_packet);
	for (unsigned int i = 0; i < n->traces->n; i++) {
		struct trace_event e = n->traces->event[i].e;

		e.id = (uint16_t)(e.id - n->traces->first + 1);
		fn(arg, &e, n->traces->event[i].told);
	}
}

void node_trace_fini(struct node *n)
{
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		rte_ring_free(n->lcore[i]->tap.events);
		n->lcore[i]->tap.events = NULL;
	}
	pkt_filter_free(n->trace.filter);
	if (n->traces)
		forget(n->traces);
	free(n->traces);
}
