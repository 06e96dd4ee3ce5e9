/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit of packets that have passed their gate: sent, or ended in another way (line.h). Worker lcores. */
#include "queue/line.h"

void line_tell(struct egress_context *c, struct credit_line *l)
{
	if (likely(__atomic_load_n(&l->told, __ATOMIC_RELAXED)))
		return;
	if (c->credit_told(c->ask_arg, LINE_TELLS_LINE | number_of(c, l)))
		__atomic_store_n(&l->told, true, __ATOMIC_RELAXED);
}

static void released(struct egress_context *c, uint32_t grant, uint32_t units)
{
	struct credit_origin *o = &c->credit->origin[grant];

	if (credit_release_count(line_release_of(c, grant), units))
		c->credit_told(c->ask_arg, LINE_TELLS_FREED | grant);
	else if (unlikely(!__atomic_load_n(&o->told, __ATOMIC_RELAXED)) &&
		 c->credit_told(c->ask_arg, LINE_TELLS_GRANT | grant))
		__atomic_store_n(&o->told, true, __ATOMIC_RELAXED);
}

void lines_ended(struct egress_context *c, struct rte_mbuf *m)
{
	struct pkt_credit *k = pkt_credit_of(m);
	struct pkt *x = pkt_of(m);

	if (x->priority & PKT_GRANTED)
		released(c, k->grant, k->units);
	if (x->verdict != PKT_GATED || !k->passed)
		return;
	if (k->fence)
		__atomic_sub_fetch(&line_of(c, k->line)->fences, 1, __ATOMIC_RELAXED);
	else
		credit_gate_refused(&line_of(c, k->line)->gate, k->units);
}

void lines_mark(const struct egress_burst *b, struct pkt_credit *marks)
{
	for (uint16_t i = 0; i < b->n; i++) {
		const struct pkt *x = pkt_of(b->pkts[i]);

		marks[i] = pkt_has_credit(x) ? *pkt_credit_of(b->pkts[i]) : (struct pkt_credit){0};
		if (!(x->priority & PKT_GRANTED))
			marks[i].grant = LINE_NONE;
		if (x->verdict != PKT_GATED)
			marks[i].line = LINE_NONE;
	}
}

/* The device has the fence: what is counted as sent is exactly what is in front of it. */
static void fence_sent(struct egress_context *c, const struct pkt_credit *k)
{
	struct credit_line *l = line_of(c, k->line);
	uint64_t number = __atomic_load_n(&l->gate.fence, __ATOMIC_ACQUIRE);

	__atomic_sub_fetch(&l->fences, 1, __ATOMIC_RELAXED);
	if ((uint16_t)number == k->units)
		credit_gate_fence_taken(&l->gate, number);
	c->credit_told(c->ask_arg, LINE_TELLS_LINE | k->line);
}

void lines_sent(struct egress_context *c, const struct pkt_credit *marks, uint16_t taken)
{
	for (uint16_t i = 0, run; i < taken; i = (uint16_t)(i + run)) {
		const struct pkt_credit *k = &marks[i];
		uint32_t units = k->units;

		for (run = 1; i + run < taken && k[run].line == k->line && k[run].grant == k->grant && !k->fence &&
			      !k[run].fence;
			run++)
			units += k[run].units;
		if (k->line && k->fence)
			fence_sent(c, k);
		else if (k->line)
			credit_gate_taken(&line_of(c, k->line)->gate, units, c->now);
		if (k->grant)
			released(c, k->grant, units);
	}
}

uint32_t lines_between(const struct egress_context *c)
{
	return c->credit ? __atomic_load_n(&c->credit->homeless, __ATOMIC_RELAXED) : 0;
}
