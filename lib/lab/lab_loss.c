/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of losses. The lab is single-threaded. */
#include "lab/lab_loss.h"

#include <stdlib.h>

#include "lab/host_priv.h"

void lab_losses_fini(struct lab *lab)
{
	free(lab->losses.item);
}

bool lab_is_lossless(const struct lab *lab, unsigned int priority)
{
	return lab->lossless >> priority & 1;
}

bool lab_loss_breaks(const struct lab *lab, const struct lab_loss *l)
{
	return lab_is_lossless(lab, l->priority) && (l->blame == BLAME_NODE || l->blame == BLAME_PAUSER);
}

static bool same(const struct lab_loss *a, const struct lab_loss *b)
{
	return a->place == b->place && a->reason == b->reason && a->priority == b->priority && a->reply == b->reply &&
	       a->blame == b->blame;
}

/* The row of the table like `key`, or a new one; NULL when out of memory. */
static struct lab_loss *row(struct lab_losses *t, const struct lab_loss *key)
{
	struct lab_loss *more;

	if (t->n && same(&t->item[t->latest], key))
		return &t->item[t->latest];
	for (t->latest = 0; t->latest < t->n; t->latest++)
		if (same(&t->item[t->latest], key))
			return &t->item[t->latest];
	if (t->n == t->room) {
		more = realloc(t->item, (t->room * 2 + 64) * sizeof(*more));
		if (!more)
			return NULL;
		t->item = more;
		t->room = t->room * 2 + 64;
	}
	t->item[t->n] = *key;
	return &t->item[t->n++];
}

static void enter(struct lab *lab, const char *place, const char *reason, enum lab_blame blame, struct lab_qp *q,
	bool reply, uint8_t priority)
{
	struct lab_loss key = {.place = place,
		.reason = reason,
		.priority = priority,
		.reply = reply,
		.blame = (uint8_t)blame,
		.first_ns = lab->now};
	struct lab_loss *l = row(&lab->losses, &key);

	q->lost += !reply;
	if (!l) {
		lab_violate(lab, "memory", "out of memory for the table of losses");
		return;
	}
	l->packets++;
	l->first_ns = MIN_OF(l->first_ns, lab->now);
	l->last_ns = MAX_OF(l->last_ns, lab->now);
}

void lab_lost(struct lab *lab, const char *place, const char *reason, enum lab_blame blame, const void *bytes,
	uint32_t captured)
{
	uint8_t priority = 0;
	bool reply = false;
	struct lab_qp *q = lab_flow_of(lab, bytes, captured, &reply, &priority);

	if (q)
		enter(lab, place, reason, blame, q, reply, priority);
	else
		lab->losses.unknown++;
}

void lab_lost_data(struct lab *lab, const char *place, const char *reason, enum lab_blame blame, struct lab_qp *q)
{
	enter(lab, place, reason, blame, q, false, (uint8_t)q->flow->priority);
}
