/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders probes and takes their results (probe.h). Management thread. */
#include <errno.h>

#include "service/icmp/icmp_cp.h"

static struct control_icmp *icmp_of(const struct node *n)
{
	return n->state[SERVICE_ICMP];
}

static uint8_t state_of(const struct probe *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);
}

int probe_begin(struct node *n, const struct probe_order *order)
{
	struct control_icmp *icmp = icmp_of(n);
	unsigned int i = 0;
	struct probe *p;

	/* one that was given up is free once the control lcore has let go of it */
	while (i < PROBES_MAX && state_of(&icmp->probe[i]) != PROBE_FREE &&
		!(icmp->probe[i].stop && state_of(&icmp->probe[i]) == PROBE_ENDED))
		i++;
	if (i == PROBES_MAX)
		return -EBUSY;
	p = &icmp->probe[i];
	p->order = *order;
	p->id = (uint16_t)(++icmp->serial * PROBES_MAX + i);
	/* another one in each probe, so that late answers, and those made up from afar, are not taken for its own */
	p->nonce = (n->born_ns ^ p->nonce ^ stat_read(&n->control->now)) * 0x9e3779b97f4a7c15ull + p->id;
	p->n = 0;
	p->due_ns = 0;
	p->stop = false;
	__atomic_store_n(&p->state, PROBE_RUNS, __ATOMIC_RELEASE);
	return (int)i;
}

const struct probe *probe_ended(const struct node *n, unsigned int number)
{
	const struct probe *p = &icmp_of(n)->probe[number];

	return state_of(p) == PROBE_ENDED ? p : NULL;
}

void probe_end(struct node *n, unsigned int number)
{
	struct probe *p = &icmp_of(n)->probe[number];

	__atomic_store_n(&p->stop, true, __ATOMIC_RELAXED);
	if (state_of(p) == PROBE_ENDED)
		__atomic_store_n(&p->state, PROBE_FREE, __ATOMIC_RELEASE);
}
