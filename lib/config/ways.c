/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the way out of this node for segment lists. Pure. */
#include "config/ways.h"

#include "config/config.h"

/* A subnet of an underlay link that contains the address is a way without a next hop. */
static int way_by_subnet(const struct config *c, const struct ip_addr *to, struct cfg_way *out)
{
	struct cfg_link link;
	int best = -1;

	for (uint32_t i = 0; i < c->ports.n + c->interfaces.n; i++) {
		if (!cfg_link_at(c, i, &link) || link.vrf)
			continue;
		for (uint32_t k = 0; k < link.n_addresses; k++) {
			const struct ip_prefix *p = &link.addresses[k];

			if ((int)p->len <= best || !ip_prefix_contains(p, to) || ip_addr_equal(&p->addr, to))
				continue;
			best = (int)p->len;
			*out = (struct cfg_way){.port = link.name};
		}
	}
	return best;
}

bool cfg_way_out(const struct config *c, const struct cfg_program *program, struct cfg_way *out)
{
	struct ip_addr to = ip_addr_from6(&program->container[0]);
	int best;

	*out = (struct cfg_way){0};
	if (program->via) {
		out->port = program->via->port;
		out->nexthop = program->via->nexthop;
		out->more = program->via->adjacencies.n;
		return out->port != NULL;
	}
	best = way_by_subnet(c, &to, out);
	for (uint32_t i = 0; i < c->routes.n; i++) {
		const struct cfg_route *r = &c->routes.items[i];

		if (!r->port || (int)r->prefix.len < best || !ip_prefix_contains(&r->prefix, &to))
			continue;
		if ((int)r->prefix.len == best) {
			out->more += out->nexthop.family != 0;
			continue;
		}
		best = (int)r->prefix.len;
		*out = (struct cfg_way){.port = r->port, .nexthop = r->nexthop};
	}
	return best >= 0;
}
