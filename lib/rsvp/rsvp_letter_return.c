/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit that is returned in letter mode: increments for what has gone on, until they are acknowledged (D59). Control lcore. */
#include "rsvp/rsvp_letter_priv.h"

/* An increment goes until it is acknowledged: one that is lost is credit lost for good. */
static void owe(struct letter_node *n, uint64_t now, struct letter_grant *g, uint32_t value)
{
	struct letter_owed *o = g->owed;

	while (o->tries)
		o++; /* there is one: may_owe */
	*o = (struct letter_owed){.id = ++n->id_last, .value = value, .due = now + letter_backed_off(n, 0), .tries = 1};
	n->sent[o->id % LETTER_SENT].id = o->id;
	n->sent[o->id % LETTER_SENT].slot = g->session->slot;
	letter_send_increment(n, g, o->id, value);
	n->stats.returned += n->config.unit == CREDIT_LETTER_UNIT_MB ? (uint64_t)value * CREDIT_LETTER_MB : value;
}

static bool may_owe(const struct letter_grant *g)
{
	for (unsigned int i = 0; i < LETTER_OWED_MAX; i++)
		if (!g->owed[i].tries)
			return true;
	return false;
}

bool letter_owes(const struct letter_grant *g)
{
	for (unsigned int i = 0; i < LETTER_OWED_MAX; i++)
		if (g->owed[i].tries)
			return true;
	return false;
}

/* Increments that are due now, first ones and copies; and when to look again. */
void letter_pay(struct letter_node *n, uint64_t now, struct letter_grant *g)
{
	uint64_t rate = n->config.rate ? n->config.rate : NSEC_PER_SEC, next = TIME_NEVER;
	uint64_t size = n->config.unit == CREDIT_LETTER_UNIT_MB ? CREDIT_LETTER_MB : 1;
	uint32_t value;

	for (struct letter_owed *o = g->owed; o < g->owed + LETTER_OWED_MAX; o++) {
		if (o->tries && o->due <= now) {
			letter_send_increment(n, g, o->id, o->value);
			o->due = now + letter_backed_off(n, o->tries);
			o->tries = (uint8_t)MIN_OF(o->tries + 1, 100);
		}
		if (o->tries)
			next = MIN_OF(next, o->due);
	}
	while (may_owe(g) && credit_letter_due(&g->grantor, g->freed, n->config.unit, rate, now, &value)) {
		owe(n, now, g, value);
		next = MIN_OF(next, now + letter_backed_off(n, 0));
	}
	if (may_owe(g) && g->freed - g->grantor.returned >= size) /* the bucket is empty */
		next = MIN_OF(next, now + NSEC_PER_SEC / rate);
	letter_timer_set(n, &g->timers, LETTER_T_OWED, next);
}

void letter_take_acks(struct letter_node *n, uint64_t now, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_ACK]; i++) {
		uint32_t id = m->ack[i].id;
		struct letter_session *s = n->sent[id % LETTER_SENT].id == id && m->ack[i].epoch == n->id_epoch
						   ? letter_at(n, n->sent[id % LETTER_SENT].slot)
						   : NULL;

		for (struct letter_grant *g = s ? s->grants : NULL; g; g = g->next)
			for (unsigned int k = 0; k < LETTER_OWED_MAX; k++)
				if (g->owed[k].tries && g->owed[k].id == id && !m->ack[i].nack) {
					g->owed[k].tries = 0;
					letter_pay(n, now, g);
				}
	}
}

void letter_freed(struct letter_node *n, uint64_t now, struct letter_grant *g, uint64_t received, uint64_t freed)
{
	if (g->received != received)
		g->arrived_ns = now;
	g->received = received;
	g->freed = freed;
	letter_pay(n, now, g);
}
