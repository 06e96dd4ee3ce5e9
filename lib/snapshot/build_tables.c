/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes of every table: connected subnets, own addresses, SIDs and configured routes; ECMP groups. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "config/config.h"
#include "snapshot/build_priv.h"

/* Precedence of the sources of the same prefix: the lowest value wins. */
enum source { FROM_SID, FROM_OWN, FROM_CONNECTED, FROM_ROUTE };

struct item {
	struct ip_prefix prefix;
	enum source source;
	target_t target;
};

struct items {
	struct item *item;
	size_t n, room;
};

static int add(struct items *l, const struct ip_prefix *p, enum source source, target_t t)
{
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct item *item = realloc(l->item, room * sizeof(*item));

		if (!item)
			return -ENOMEM;
		l->item = item;
		l->room = room;
	}
	l->item[l->n++] = (struct item){.prefix = *p, .source = source, .target = t};
	return 0;
}

static int add_own(struct items *l, const struct ip_prefix *own, target_t connected, target_t local)
{
	struct ip_prefix p = ip_prefix_network(own), host = *own;
	int rc = 0;

	host.len = (uint8_t)ip_addr_bits(&own->addr);
	if (p.len < host.len)
		rc = add(l, &p, FROM_CONNECTED, connected);
	if (rc == 0 && own->addr.family == 4 && p.len < 31) {
		struct ip_prefix broadcast = {.addr = ip_addr_from4(ip_addr_v4(&p.addr) | (0xffffffffu >> p.len)),
			.len = 32};

		rc = add(l, &broadcast, FROM_OWN, target(TARGET_BROADCAST, 0));
	}
	return rc ? rc : add(l, &host, FROM_OWN, local);
}

static int add_addresses(struct items *l, const struct snap_interface *p, uint16_t vrf)
{
	int rc = 0;

	/* own[0] is link-local, which is in no table */
	for (unsigned int k = 1; p->vrf == vrf && k < p->n_own && rc == 0; k++)
		rc = add_own(l, &p->own[k], target(TARGET_LINK, p->interface), target(TARGET_LOCAL, p->interface));
	return rc;
}

static int add_ports(struct builder *b, struct items *l, uint16_t vrf)
{
	int rc = 0;

	for (uint32_t i = 0; i < b->s->n_ports && rc == 0; i++)
		rc = add_addresses(l, &b->s->port[i], vrf);
	for (uint32_t i = 0; i < b->s->n_interfaces && rc == 0; i++)
		if (b->s->interface[i])
			rc = add_addresses(l, b->s->interface[i], vrf);
	return rc;
}

static int add_underlay(struct builder *b, struct items *l)
{
	struct ip_prefix loopback = {.addr = b->config->node.loopback, .len = 128};
	int rc = add(l, &loopback, FROM_OWN, target(TARGET_LOCAL, PORT_LOCAL));

	for (uint32_t i = 0; i < b->s->n_sids && rc == 0; i++)
		if (b->s->sid[i].used)
			rc = add(l, &b->s->sid[i].prefix, FROM_SID, target(TARGET_SID, i));
	return rc;
}

static int add_route(struct builder *b, struct items *l, const struct cfg_route *r)
{
	uint32_t id;
	int rc;

	if (r->policy)
		return add(l, &r->prefix, FROM_ROUTE,
			target(TARGET_POLICY, (uint32_t)cfg_find_policy(b->config, r->policy)));
	if (!r->nexthop.family)
		return add(l, &r->prefix, FROM_ROUTE, target(TARGET_LINK, build_interface_of(b, r->port)));
	rc = build_neigh(b, r->port, &r->nexthop, &id);
	return rc ? rc : add(l, &r->prefix, FROM_ROUTE, target(TARGET_NEIGH, id));
}

static int by_prefix(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int d = ip_prefix_compare(&x->prefix, &y->prefix);

	if (!d)
		d = (int)x->source - (int)y->source;
	if (!d)
		d = x->target < y->target ? -1 : x->target > y->target;
	return d;
}

/* Merge all entries of a prefix into one route. */
static int merge(struct builder *b, const struct item *first, size_t n, struct fib_route *out)
{
	target_t member[SNAP_GROUP_MAX];
	size_t members = 1;

	while (members < n && first[members].source == first->source)
		members++;
	out->prefix = first->prefix;
	out->target = first->target;
	if (first->source != FROM_ROUTE || members == 1)
		return 0;
	members = MIN_OF(members, SNAP_GROUP_MAX);
	for (size_t i = 0; i < members; i++)
		member[i] = first[i].target;
	return build_group(b, member, members, &out->target);
}

static int build_family(struct builder *b, int family, const struct items *l, struct fib *old, struct fib **out)
{
	struct fib_route *routes = calloc(l->n + 1, sizeof(*routes));
	size_t n = 0;
	int rc = 0;

	if (!routes)
		return build_fail(b, -ENOMEM, "out of memory");
	for (size_t i = 0, same; i < l->n && rc == 0; i += same) {
		for (same = 1; i + same < l->n && ip_prefix_equal(&l->item[i].prefix, &l->item[i + same].prefix);)
			same++;
		if (l->item[i].prefix.addr.family == family)
			rc = merge(b, &l->item[i], same, &routes[n++]);
	}
	if (rc == 0 && n && old && fib_holds(old, family, routes, n)) {
		*out = fib_ref(old);
	} else if (rc == 0 && n) {
		*out = fib_build(family, routes, n);
		rc = *out ? 0 : -ENOMEM;
	}
	free(routes);
	return rc == -ENOMEM ? build_fail(b, rc, "out of memory for a table of %zu IPv%d routes", n, family) : rc;
}

static int build_table(struct builder *b, uint16_t vrf, const struct cfg_route *routes, uint32_t n)
{
	const struct snap_vrf *old = b->old && vrf < b->old->n_vrfs ? &b->old->vrf[vrf] : NULL;
	struct snap_vrf *v = &b->vrf[vrf];
	struct items l = {0};
	int rc = add_ports(b, &l, vrf);

	if (rc == 0 && vrf == VRF_UNDERLAY)
		rc = add_underlay(b, &l);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		rc = add_route(b, &l, &routes[i]);
		if (i % PROGRESS_ITEMS == 0)
			progress();
	}
	if (rc == -ENOMEM)
		build_fail(b, rc, "out of memory");
	if (rc == 0) {
		if (l.n)
			qsort(l.item, l.n, sizeof(*l.item), by_prefix);
		rc = build_family(b, 4, &l, old ? old->v4 : NULL, &v->v4);
	}
	if (rc == 0)
		rc = build_family(b, 6, &l, old ? old->v6 : NULL, &v->v6);
	free(l.item);
	return rc;
}

int build_tables(struct builder *b)
{
	int rc = build_table(b, VRF_UNDERLAY, b->config->routes.items, b->config->routes.n);

	for (uint32_t i = 0; i < b->config->vrfs.n && rc == 0; i++) {
		const struct cfg_vrf *v = &b->config->vrfs.items[i];
		uint32_t id;

		ids_find(b->ids->vrfs, v->name, &id);
		rc = build_table(b, (uint16_t)id, v->routes.items, v->routes.n);
	}
	return rc;
}

static size_t table_bytes(int family, const struct cfg_route *r, uint32_t n)
{
	struct fib_route *routes = calloc(n + 1, sizeof(*routes));
	struct fib *f = NULL;
	size_t count = 0, bytes;

	for (uint32_t i = 0; routes && i < n; i++)
		if (r[i].prefix.addr.family == family)
			routes[count++] = (struct fib_route){.prefix = r[i].prefix, .target = i + 1};
	if (count)
		f = fib_build(family, routes, count);
	bytes = fib_bytes(f);
	fib_free(f);
	free(routes);
	return bytes;
}

size_t snapshot_table_bytes(const struct config *config)
{
	size_t bytes = table_bytes(4, config->routes.items, config->routes.n) +
		       table_bytes(6, config->routes.items, config->routes.n);

	for (uint32_t i = 0; i < config->vrfs.n; i++) {
		const struct cfg_vrf *v = &config->vrfs.items[i];

		bytes += table_bytes(4, v->routes.items, v->routes.n) + table_bytes(6, v->routes.items, v->routes.n);
	}
	return bytes;
}
