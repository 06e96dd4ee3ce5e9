/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of credit: what is counted, neighbours, and what is looked at in each tick. Control lcore. */
#include "service/rsvp/service_credit.h"

struct credit_totals credit_totals_of(const struct credit_data *d, uint32_t grant)
{
	struct credit_totals t = {0};

	for (uint32_t i = 0; i < (uint32_t)d->n_workers + d->n_rx; i++)
		t.freed += __atomic_load_n(&d->release[(size_t)i * d->numbers + grant].freed, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < d->n_rx; i++)
		t.rcvd += __atomic_load_n(&d->intake[(size_t)i * d->numbers + grant].rcvd, __ATOMIC_RELAXED);
	return t;
}

struct credit_neighbor *credit_neighbor_of(struct credit_control *k, uint16_t zone, const struct ip_addr *addr)
{
	struct credit_neighbor *unused = NULL;

	if (!addr->family)
		return NULL;
	for (uint32_t i = 0; i < k->neighbors; i++) {
		struct credit_neighbor *n = &k->neighbor[i];

		if (n->used && n->zone == zone && ip_addr_equal(&n->addr, addr))
			return n;
		if (!n->used || (!n->granted && !n->due && !n->alive.until_ns))
			unused = n;
	}
	if (k->neighbors < LINE_ALIVES)
		unused = &k->neighbor[k->neighbors++];
	if (!unused)
		return NULL;
	*unused = (struct credit_neighbor){.used = true, .zone = zone, .addr = *addr};
	return unused;
}

void credit_activate_grant(struct credit_control *k, uint32_t number)
{
	if (k->grant[number].active || !k->grant[number].used)
		return;
	k->grant[number].active = true;
	k->grant[number].quiet = 0;
	k->active_grant[k->active_grants++] = number;
}

void credit_activate_line(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);

	if (k->use[line].active || !k->use[line].used)
		return;
	k->use[line].active = true;
	k->use[line].quiet = 0;
	k->active_line[k->active_lines++] = line;
}
