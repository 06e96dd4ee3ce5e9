/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the pauses of nodes for the report: after every pass of an lcore it compares the ports whose egress the
 * lcore owns with what it saw last. A port without a pause costs three loads. Reads the nodes only; the lab is
 * single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_priv.h"
#include "service/pfc/pfc_ctl.h"

#define GATES (EGRESS_GATE_PAUSE | EGRESS_GATE_STORM)

struct lab_seen {
	uint8_t stopped, gates;
	uint8_t closed[SNAP_SLICE_MAX]; /* bit per class, by slice */
	uint64_t barred[sizeof(((struct egress *)NULL)->barred) / sizeof(uint64_t)];
};

static void set(struct lab_node *n, enum track_kind kind, unsigned int port, unsigned int slice, unsigned int class,
	bool on)
{
	struct track_id id = {kind, (uint8_t)port, (uint8_t)slice, (uint8_t) class};

	track_set(&n->tracks, &id, n->lab->now, on ? TIME_NEVER : n->lab->now);
}

/* A port says XOFF or XON, or its gate closes or opens, in a slice. */
static void trigger(struct lab_node *n, enum track_kind kind, unsigned int port, unsigned int class, bool on)
{
	struct topo_end place = {.node = (int)n->index, .host = -1, .port = (uint16_t)port};

	if (kind == TRACK_XOFF)
		lab_trigger(n->lab, on ? AFTER_XOFF : AFTER_XON, &place, class);
	else if (kind == TRACK_GATE)
		lab_trigger(n->lab, on ? AFTER_PAUSED : AFTER_RESUMED, &place, class);
}

static void set_classes(struct lab_node *n, enum track_kind kind, unsigned int port, unsigned int slice, uint8_t was,
	uint8_t is)
{
	for (unsigned int changed = was ^ is; changed; changed &= changed - 1) {
		unsigned int class = (unsigned int)__builtin_ctz(changed);

		set(n, kind, port, slice, class, is >> class & 1);
		trigger(n, kind, port, class, is >> class & 1);
	}
}

/* Only slices that any cause bars, or barred, can have a gate that has changed. */
static void watch_gates(struct lab_node *n, unsigned int port, const struct egress *e, struct lab_seen *seen)
{
	for (unsigned int w = 0; w < ARRAY_LEN(seen->barred); w++) {
		for (uint64_t slices = seen->barred[w] | e->barred[w]; slices; slices &= slices - 1) {
			unsigned int slice = w * 64 + (unsigned int)__builtin_ctzll(slices);
			uint8_t is = e->slice[slice].closed[EGRESS_PAUSE];

			set_classes(n, TRACK_GATE, port, slice, seen->closed[slice], is);
			seen->closed[slice] = is;
		}
		seen->barred[w] = e->barred[w];
	}
	if ((seen->gates ^ e->gates) & EGRESS_GATE_STORM)
		set(n, TRACK_STORM, port, TRACK_NO_INDEX, TRACK_NO_INDEX, e->gates & EGRESS_GATE_STORM);
	seen->gates = e->gates & GATES;
}

void lab_watch_pass(struct lab_node *n, uint32_t queues)
{
	if (!n->pauses)
		return;
	for (; queues; queues &= queues - 1) {
		unsigned int port = (unsigned int)__builtin_ctz(queues);
		const struct egress *e = &n->node->egress[port];
		uint8_t stopped = service_pfc(n->node)->port[port].stopped;
		struct lab_seen *seen = &n->seen[port];

		if (unlikely(stopped != seen->stopped)) {
			set_classes(n, TRACK_XOFF, port, TRACK_NO_INDEX, seen->stopped, stopped);
			seen->stopped = stopped;
		}
		if (unlikely((e->gates & GATES) || seen->gates))
			watch_gates(n, port, e, seen);
	}
}

int lab_watch_init(struct lab_node *n)
{
	n->seen = calloc(n->n_ports + 1, sizeof(*n->seen));
	return n->seen ? 0 : -ENOMEM;
}

void lab_watch_stopped(struct lab_node *n, uint64_t for_ns)
{
	tracks_end(&n->tracks, n->lab->now);
	memset(n->seen, 0, n->n_ports * sizeof(*n->seen));
	track_set(&n->tracks, &(struct track_id){TRACK_NODE, TRACK_NO_INDEX, TRACK_NO_INDEX, TRACK_NO_INDEX},
		n->lab->now, n->lab->now + for_ns);
}

void lab_watch_fini(struct lab_node *n)
{
	tracks_fini(&n->tracks);
	free(n->seen);
}
