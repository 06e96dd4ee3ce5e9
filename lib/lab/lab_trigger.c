/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events at a time relative to a pause: each waits until a port has stopped its senders, or was stopped, for the n-th
 * time. Every other file of the lab may call this one. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>

#include "lab/lab_priv.h"

struct lab_trigger {
	const struct topo_when *when;
	struct topo_end place;
	struct event *event;
	uint64_t left; /* times until it happens; 0: it has happened */
	struct lab_trigger *next;
};

int lab_trigger_or_set(struct lab *lab, const struct topo_when *when, uint64_t at, struct event *event)
{
	struct lab_trigger *t;
	char err[256];

	if (!when->port)
		return event_set(&lab->queue, event, at);
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->when = when;
	t->event = event;
	t->left = when->count;
	topo_find_end(lab->topo, when->port, &t->place, err, sizeof(err));
	t->next = lab->trigger;
	lab->trigger = t;
	return 0;
}

void lab_trigger(struct lab *lab, enum topo_after what, const struct topo_end *place, unsigned int priority)
{
	for (struct lab_trigger *t = lab->trigger; t; t = t->next)
		if (t->left && t->when->after == what && t->when->priority == priority &&
			t->place.node == place->node && t->place.host == place->host && t->place.port == place->port &&
			--t->left == 0)
			event_set(&lab->queue, t->event, lab->now + t->when->delay_ns);
}

json_t *lab_untriggered(const struct lab *lab)
{
	static const char *const words[] = {"xoff", "xon", "paused", "resumed"};
	json_t *out = json_array();

	for (const struct lab_trigger *t = lab->trigger; t; t = t->next)
		if (t->left)
			json_array_insert_new(out, 0,
				json_pack("{ss ss ss sI}", "event", t->event->kind, "after", words[t->when->after],
					"port", t->when->port, "left", (json_int_t)t->left));
	return out;
}

void lab_triggers_fini(struct lab *lab)
{
	struct lab_trigger *t;

	while ((t = lab->trigger)) {
		lab->trigger = t->next;
		free(t);
	}
}
