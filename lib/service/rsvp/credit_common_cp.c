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

uint32_t credit_mtu_units(const struct control_role *c)
{
	uint32_t mtu = 0;

	for (uint32_t i = 0; i < c->s->n_ports; i++)
		mtu = MAX_OF(mtu, c->s->port[i].mtu);
	return credit_units(mtu, c->s->credit.overhead, c->s->credit.config.unit);
}

uint64_t credit_beyond(const struct credit_data *d, uint32_t grant)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < d->n_rx; i++)
		sum += __atomic_load_n(&d->intake[(size_t)i * d->numbers + grant].beyond, __ATOMIC_RELAXED);
	return sum;
}

void credit_limit(struct credit_control *k, uint32_t grant)
{
	const struct credit_grantor *g = &k->grant[grant].g;

	__atomic_store_n(&k->data->origin[grant].limit, g->base + g->fccl - (uint64_t)g->lost, __ATOMIC_RELAXED);
}

void credit_set_batch(struct control_role *c, uint32_t number, uint32_t buffer)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_load load = {.updates = CREDIT_UPDATES_PER_S};
	uint64_t window = (uint64_t)buffer << c->s->credit.config.unit, batch;

	for (uint32_t i = 0; i < c->s->n_ports; i++)
		load.rate_all = MAX_OF(load.rate_all, c->s->port[i].speed_bps / 8);
	load.mtu = credit_mtu_units(c) << c->s->credit.config.unit;
	batch = MAX_OF(credit_batch(&load, window) >> c->s->credit.config.unit, 1);
	for (uint32_t i = 0; i < (uint32_t)k->data->n_workers + k->data->n_rx; i++)
		__atomic_store_n(&k->data->release[(size_t)i * k->data->numbers + number].batch, (uint32_t)batch,
			__ATOMIC_RELAXED);
	k->grant[number].batch = (uint32_t)batch;
}
