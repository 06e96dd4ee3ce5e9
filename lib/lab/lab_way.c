/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transmit side of one direction of a link: put frames on the line and schedule the next arrival. lab_link.c has
 * the receive side. The lab is single-threaded.
 */
#include "lab/lab_priv.h"

void lab_way_kick(struct lab_way *w)
{
	uint64_t next = line_next(w->line);

	if (next != TIME_NEVER)
		timeline_set_by(w->link->end[!w->from].timeline, &w->arrival, MAX_OF(next, w->link->lab->now));
}

void lab_way_send(struct lab_way *w, const void *bytes, uint32_t captured, uint32_t length)
{
	struct lab *lab = w->link->lab;
	int rc;

	line_send(w->line, lab->now, bytes, captured, length, &rc);
	if (rc < 0)
		lab_violate(lab, "memory", "the line %s has no memory left for frames in flight: increase lab.memory",
			w->name);
	lab_way_kick(w);
}

bool lab_way_up(const struct lab_way *w)
{
	return w->reported;
}
