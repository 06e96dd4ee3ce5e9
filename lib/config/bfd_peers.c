/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the next hops that have BFD sessions. Management thread. */
#include "config/bfd_peers.h"

struct visit {
	const struct config *config;
	void (*fn)(void *arg, const struct cfg_bfd_peer *p);
	void *arg;
};

const struct cfg_bfd_profile *cfg_bfd_profile(const struct config *c, const char *name)
{
	int i = cfg_find_named(c, "bfd-profiles", name, NULL);

	return i < 0 ? NULL : &c->bfd_profiles.items[i];
}

/* The key of the link: an interface does not inherit that of its port, which has other neighbours. */
static char *const *of_link(const struct config *c, const char *name)
{
	struct cfg_link link;

	if (!cfg_find_link(c, name, &link))
		return NULL;
	return link.interface ? &link.interface->bfd : &c->ports.items[link.port].bfd;
}

static void next_hop(const struct visit *v, const char *link, const struct ip_addr *address, char *const *bfd)
{
	char *const *named = of_link(v->config, link);
	struct cfg_bfd_peer peer = {.link = link, .address = address};

	if (!named || !address->family)
		return;
	peer.named = (const char *const *)(*bfd ? bfd : named);
	peer.profile = cfg_bfd_profile(v->config, *peer.named);
	if (peer.profile)
		v->fn(v->arg, &peer);
}

void cfg_bfd_each(const struct config *c, void (*fn)(void *arg, const struct cfg_bfd_peer *p), void *arg)
{
	const struct visit v = {.config = c, .fn = fn, .arg = arg};

	for (uint32_t i = 0; i < c->neighbors.n; i++)
		next_hop(&v, c->neighbors.items[i].port, &c->neighbors.items[i].address, &c->neighbors.items[i].bfd);
	for (uint32_t i = 0; i < c->routes.n; i++)
		next_hop(&v, c->routes.items[i].port, &c->routes.items[i].nexthop, &c->routes.items[i].bfd);
	for (uint32_t k = 0; k < c->vrfs.n; k++)
		for (uint32_t i = 0; i < c->vrfs.items[k].routes.n; i++) {
			const struct cfg_route *r = &c->vrfs.items[k].routes.items[i];

			next_hop(&v, r->port, &r->nexthop, &r->bfd);
		}
	for (uint32_t i = 0; i < c->sids.n; i++) {
		const struct cfg_sid *s = &c->sids.items[i];

		next_hop(&v, s->port, &s->nexthop, &s->bfd);
		for (uint32_t k = 0; k < s->adjacencies.n; k++)
			next_hop(&v, s->adjacencies.items[k].port, &s->adjacencies.items[k].nexthop,
				&s->adjacencies.items[k].bfd);
	}
}
