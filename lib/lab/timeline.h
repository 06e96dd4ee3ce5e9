/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events of one object of the network: a node or a host with its ports, queue pairs and the frames that arrive.
 * Objects affect each other by frames only, and a frame takes at least the delay of a link. So the lab runs a timeline
 * for as long as nothing can reach it, before it goes on to the next one (conservative synchronisation, Chandy and
 * Misra, 1979): what an object touches stays in the cache. lab.c has the loop.
 *
 * The lab is single-threaded. Time is in ns.
 */
#ifndef LAB_TIMELINE_H
#define LAB_TIMELINE_H

#include "lab/event.h"
#include "lab/lab_warm.h"

struct lab_node;
struct lab_host;

struct timeline {
	struct event_queue queue;
	struct event_queue *turns; /* of all timelines */
	struct lab_node *node;	   /* whose timeline it is, or NULL */
	struct lab_host *host;	   /* likewise */
	struct lab_warm warm;
	struct event turn; /* there, no later than the first event of `queue`; not set while it runs */
	bool runs;
};

/* An empty timeline, which is the `arg` of its turn. `name` is shown to people. */
void timeline_init(struct timeline *t, struct event_queue *turns, const char *name);

void timeline_fini(struct timeline *t);

/* Like event_set, event_set_by and event_clear. */
int timeline_set(struct timeline *t, struct event *e, uint64_t at);
int timeline_set_by(struct timeline *t, struct event *e, uint64_t at);
void timeline_clear(struct timeline *t, struct event *e);

/* Begin to run it; the next event before `end`, or NULL; stop, and get in line again. */
void timeline_begin(struct timeline *t);
struct event *timeline_next(struct timeline *t, uint64_t end);
void timeline_end(struct timeline *t);

#endif
