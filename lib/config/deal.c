/* SPDX-License-Identifier: BSD-3-Clause */
/* Deals out receive queues to rx lcores, and ports to workers (deal.h). Pure. */
#include "config/deal.h"

#include <string.h>

#include "base/compiler.h"
#include "config/model.h"

void cfg_places_init(struct cfg_places *p)
{
	for (unsigned int i = 0; i < ARRAY_LEN(p->port); i++)
		p->port[i] = DEAL_ANYWHERE;
	for (unsigned int i = 0; i < ARRAY_LEN(p->lcore); i++)
		p->lcore[i] = DEAL_ANYWHERE;
}

/* Of n lcores the one with the least load, near the port if there is one; the first of several. */
static uint8_t least(const struct cfg_places *where, uint32_t port, const uint64_t *lcores, uint32_t n,
	const uint16_t *load)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < n; i++) {
		bool far = cfg_is_far(where, port, lcores[i]), best_far = cfg_is_far(where, port, lcores[best]);

		if (far != best_far ? best_far : load[i] < load[best])
			best = i;
	}
	return (uint8_t)best;
}

static uint8_t owner_of(const struct config *c, const struct cfg_places *where, uint32_t port, const struct cfg_deal *d)
{
	uint64_t wanted = c->ports.items[port].worker;

	for (uint32_t i = 0; wanted != CFG_NONE && i < c->lcores.worker.n; i++)
		if (c->lcores.worker.items[i] == wanted)
			return (uint8_t)i;
	return least(where, port, c->lcores.worker.items, c->lcores.worker.n, d->ports);
}

void cfg_deal(const struct config *c, const struct cfg_places *where, struct cfg_deal *out)
{
	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; i < c->ports.n; i++) {
		out->owner[i] = owner_of(c, where, i, out);
		out->ports[out->owner[i]]++;
		for (uint64_t q = 0; q < c->ports.items[i].rx_queues && q < DEAL_QUEUES_MAX; q++) {
			out->rx[i][q] = least(where, i, c->lcores.rx.items, c->lcores.rx.n, out->queues);
			out->queues[out->rx[i][q]]++;
		}
	}
}

int cfg_node_of_port(const struct config *c, const struct cfg_places *where, const struct cfg_deal *d, uint32_t port)
{
	return where->port[port] >= 0 ? where->port[port] : where->lcore[c->lcores.rx.items[d->rx[port][0]]];
}
