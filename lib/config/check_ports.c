/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks lcores, ports, neighbours and routes. Pure. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/check_priv.h"
#include "wire/ipv4.h"

/* Parse one "LCORE@CPU" at *at and advance *at past it. 0, or -EINVAL. */
static int parse_cpu(const char **at, uint64_t *lcore, unsigned int *cpu)
{
	unsigned int l, n;
	int used;

	if (sscanf(*at, "%u@%u%n", &l, &n, &used) != 2)
		return -EINVAL;
	*lcore = l;
	*cpu = n;
	*at += used;
	if (**at == ',')
		(*at)++;
	else if (**at)
		return -EINVAL;
	return 0;
}

unsigned int cfg_cpu_of(const struct config *c, uint64_t lcore)
{
	const char *at = c->lcores.cpus;
	uint64_t l;
	unsigned int cpu;

	while (at && *at && parse_cpu(&at, &l, &cpu) == 0)
		if (l == lcore)
			return cpu;
	return (unsigned int)lcore;
}

bool cfg_is_rx(const struct config *c, uint64_t lcore)
{
	for (uint32_t i = 0; i < c->lcores.rx.n; i++)
		if (c->lcores.rx.items[i] == lcore)
			return true;
	return false;
}

bool cfg_is_worker(const struct config *c, uint64_t lcore)
{
	for (uint32_t i = 0; i < c->lcores.worker.n; i++)
		if (c->lcores.worker.items[i] == lcore)
			return true;
	return false;
}

static void check_lcore_list(const struct config *c, struct cfg_diags *d, const char *name, const uint64_t *items,
	uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (items[i] > 126)
			cfg_diag_add(d, cfg_where(c, &items[i]), "%s: expected lcores from 0 to 126, found %llu", name,
				(unsigned long long)items[i]);
		for (uint32_t k = 0; k < i; k++)
			if (items[k] == items[i])
				cfg_diag_add(d, cfg_where(c, &items[i]), "%s: lcore %llu is listed twice", name,
					(unsigned long long)items[i]);
	}
}

static void check_cpus(const struct config *c, struct cfg_diags *d)
{
	const char *at = c->lcores.cpus, *start;
	bool seen[128] = {false};
	uint64_t l;
	unsigned int cpu;

	while (at && *at) {
		start = at;
		if (parse_cpu(&at, &l, &cpu) < 0) {
			cfg_diag_add(d, cfg_where(c, &c->lcores.cpus),
				"cpus: expected LCORE@CPU,LCORE@CPU,..., found '%s'", start);
			return;
		}
		if (l != c->lcores.control && !cfg_is_rx(c, l) && !cfg_is_worker(c, l))
			cfg_diag_add(d, cfg_where(c, &c->lcores.cpus),
				"cpus: lcore %llu is not listed under control, rx or worker", (unsigned long long)l);
		else if (l < 128 && seen[l])
			cfg_diag_add(d, cfg_where(c, &c->lcores.cpus), "cpus: lcore %llu is listed twice",
				(unsigned long long)l);
		if (l < 128)
			seen[l] = true;
	}
}

void check_lcores(const struct config *c, struct cfg_diags *d)
{
	check_lcore_list(c, d, "rx", c->lcores.rx.items, c->lcores.rx.n);
	check_lcore_list(c, d, "worker", c->lcores.worker.items, c->lcores.worker.n);
	check_cpus(c, d);
}

bool cfg_device_is_pci(const char *device)
{
	unsigned int a, b, dev, fn;
	int used = 0;

	return sscanf(device, "%4x:%2x:%2x.%1x%n", &a, &b, &dev, &fn, &used) == 4 &&
	       (device[used] == '\0' || device[used] == ',');
}

static bool on_link(const struct cfg_link *link, const struct ip_addr *nexthop)
{
	if (nexthop->family == 6 && ipv6_is_link_local(&nexthop->v6))
		return true;
	for (uint32_t i = 0; i < link->n_addresses; i++)
		if (ip_prefix_contains(&link->addresses[i], nexthop))
			return true;
	return false;
}

bool check_in_blocks(const struct config *c, const struct ip_addr *a)
{
	static const struct ip_prefix rfc9602 = {.addr = {.family = 6, .b = {0x5f}}, .len = 16};

	if (ip_prefix_contains(&rfc9602, a))
		return true;
	for (uint32_t i = 0; i < c->node.usid.more_blocks.n; i++)
		if (ip_prefix_contains(&c->node.usid.more_blocks.items[i], a))
			return true;
	for (uint32_t i = 0; i < c->node.sid_blocks.n; i++)
		if (ip_prefix_contains(&c->node.sid_blocks.items[i], a))
			return true;
	return c->node.usid.at.line && ip_prefix_contains(&c->node.usid.block, a);
}

static bool same_table(const struct cfg_link *a, const struct cfg_link *b)
{
	if (!a->vrf || !b->vrf)
		return !a->vrf && !b->vrf;
	return strcmp(a->vrf, b->vrf) == 0;
}

static const char *kind_of(const struct cfg_link *link)
{
	return link->interface ? "interface" : "port";
}

/* Every port has the link-local subnet, so link-local addresses are exempt from the overlap check. */
static bool is_link_local(const struct ip_prefix *p)
{
	return p->addr.family == 6 && ipv6_is_link_local(&p->addr.v6);
}

static void check_address(const struct config *c, struct cfg_diags *d, uint32_t link, const struct cfg_link *l,
	uint32_t i)
{
	const struct ip_prefix *a = &l->addresses[i];
	char buf[IP_PREFIX_TEXT];
	struct cfg_link o;

	if (check_in_blocks(c, &a->addr))
		cfg_diag_add(d, cfg_where(c, a),
			"addresses: %s is in the SID space; interface addresses must be outside",
			ip_prefix_format(a, buf));
	if (a->addr.family == 6 ? ipv6_is_multicast(&a->addr.v6) || ipv6_is_unspecified(&a->addr.v6)
				: ipv4_bad_source(ip_addr_v4(&a->addr)))
		cfg_diag_add(d, cfg_where(c, a), "addresses: %s is not a unicast address", ip_prefix_format(a, buf));
	if (is_link_local(a)) {
		for (uint32_t k = 0; k < i; k++)
			if (ip_addr_equal(&a->addr, &l->addresses[k].addr))
				cfg_diag_add(d, cfg_where(c, a), "addresses: %s is listed twice",
					ip_prefix_format(a, buf));
		return;
	}
	for (uint32_t q = 0; q <= link; q++) {
		if (!cfg_link_at(c, q, &o) || !same_table(l, &o))
			continue;
		for (uint32_t k = 0; k < (q == link ? i : o.n_addresses); k++) {
			const struct ip_prefix *b = &o.addresses[k];

			if (ip_addr_equal(&a->addr, &b->addr))
				cfg_diag_add(d, cfg_where(c, a), "addresses: %s is also an address of %s %s",
					ip_prefix_format(a, buf), kind_of(&o), o.name);
			else if (q != link && (ip_prefix_contains(a, &b->addr) || ip_prefix_contains(b, &a->addr)))
				cfg_diag_add(d, cfg_where(c, a),
					"addresses: the subnet of %s overlaps a subnet of %s %s in the same table",
					ip_prefix_format(a, buf), kind_of(&o), o.name);
		}
	}
}

static void check_port(const struct config *c, struct cfg_diags *d, uint32_t i)
{
	const struct cfg_port *p = &c->ports.items[i];

	if (!cfg_device_is_pci(p->device) && strncmp(p->device, "net_", 4) != 0)
		cfg_diag_add(d, cfg_where(c, &p->device),
			"device: expected a PCI address (0000:17:00.0) or a virtual device (net_pcap0,...), found '%s'",
			p->device);
	if (p->worker != CFG_NONE && !cfg_is_worker(c, p->worker))
		cfg_diag_add(d, cfg_where(c, &p->worker), "worker: lcore %llu is not listed under lcores.worker",
			(unsigned long long)p->worker);
	if (cfg_given(c, &p->mac) && (eth_is_multicast(&p->mac) || eth_is_zero(&p->mac)))
		cfg_diag_add(d, cfg_where(c, &p->mac), "mac: expected a unicast address");
}

static void check_neighbor(const struct config *c, struct cfg_diags *d, const struct cfg_neighbor *n)
{
	char buf[IP_ADDR_TEXT];
	struct cfg_link link;

	if (eth_is_multicast(&n->mac) || eth_is_zero(&n->mac))
		cfg_diag_add(d, cfg_where(c, &n->mac), "mac: expected a unicast address");
	if (cfg_find_link(c, n->port, &link) && !on_link(&link, &n->address))
		cfg_diag_add(d, cfg_where(c, &n->address), "address: %s is not on a subnet of %s %s",
			ip_addr_format(&n->address, buf), kind_of(&link), link.name);
}

static int by_neighbor(const void *a, const void *b)
{
	const struct cfg_neighbor *x = *(const struct cfg_neighbor *const *)a;
	const struct cfg_neighbor *y = *(const struct cfg_neighbor *const *)b;
	int diff = strcmp(x->port, y->port);

	if (!diff)
		diff = memcmp(&x->address, &y->address, sizeof(x->address));
	return diff ? diff : x < y ? -1 : x > y;
}

static void check_neighbors(const struct config *c, struct cfg_diags *d)
{
	const struct cfg_neighbor **sorted = calloc(c->neighbors.n + 1, sizeof(struct cfg_neighbor *));

	for (uint32_t i = 0; i < c->neighbors.n; i++) {
		check_neighbor(c, d, &c->neighbors.items[i]);
		if (sorted)
			sorted[i] = &c->neighbors.items[i];
	}
	if (!sorted)
		return;
	qsort(sorted, c->neighbors.n, sizeof(*sorted), by_neighbor);
	for (uint32_t i = 1; i < c->neighbors.n; i++)
		if (strcmp(sorted[i]->port, sorted[i - 1]->port) == 0 &&
			ip_addr_equal(&sorted[i]->address, &sorted[i - 1]->address))
			cfg_diag_add(d, sorted[i]->at, "this neighbour of port %s is already listed in line %u",
				sorted[i]->port, sorted[i - 1]->at.line);
	free(sorted);
}

int cfg_parse_listen(const char *text, struct ip_addr *addr, uint16_t *port)
{
	const char *colon = strrchr(text, ':');
	char host[IP_ADDR_TEXT + 2], *start = host;
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t number;

	if (!colon || n >= sizeof(host) || text_parse_number(colon + 1, 1000, &number) < 0 || number < 1 ||
		number > 65535)
		return -EINVAL;
	memcpy(host, text, n);
	host[n] = '\0';
	if (host[0] == '[' && n && host[n - 1] == ']') {
		host[n - 1] = '\0';
		start++;
	}
	*port = (uint16_t)number;
	return ip_addr_parse(start, addr);
}

static void check_metrics(const struct config *c, struct cfg_diags *d)
{
	struct ip_addr addr;
	uint16_t port;

	if (c->metrics.listen && cfg_parse_listen(c->metrics.listen, &addr, &port) < 0)
		cfg_diag_add(d, cfg_where(c, &c->metrics.listen),
			"listen: expected ADDRESS:PORT like 127.0.0.1:9111 or [::1]:9111, found '%s'",
			c->metrics.listen);
}

void check_ports(const struct config *c, struct cfg_diags *d)
{
	const struct ip_addr *loopback = &c->node.loopback;
	struct cfg_link link;

	if (check_in_blocks(c, loopback) || ipv6_is_multicast(&loopback->v6) || ipv6_is_unspecified(&loopback->v6) ||
		ipv6_is_link_local(&loopback->v6))
		cfg_diag_add(d, cfg_where(c, loopback),
			"loopback: expected a routable unicast address outside the SID space");
	for (uint32_t i = 0; i < c->ports.n; i++)
		check_port(c, d, i);
	for (uint32_t i = 0; i < c->ports.n + c->interfaces.n; i++) {
		if (!cfg_link_at(c, i, &link))
			continue;
		for (uint32_t k = 0; k < link.n_addresses; k++)
			check_address(c, d, i, &link, k);
	}
	check_neighbors(c, d);
	check_metrics(c, d);
}

void check_nexthop(const struct config *c, struct cfg_diags *d, const char *port_name, const struct ip_addr *nexthop)
{
	char buf[IP_ADDR_TEXT];
	struct cfg_link link;

	if (!nexthop->family || !cfg_find_link(c, port_name, &link))
		return;
	if (!on_link(&link, nexthop))
		cfg_diag_add(d, cfg_where(c, nexthop), "nexthop: %s is not on a subnet of %s %s",
			ip_addr_format(nexthop, buf), kind_of(&link), link.name);
	for (uint32_t i = 0; i < link.n_addresses; i++)
		if (ip_addr_equal(&link.addresses[i].addr, nexthop))
			cfg_diag_add(d, cfg_where(c, nexthop), "nexthop: %s is the %s's own address",
				ip_addr_format(nexthop, buf), kind_of(&link));
}

static void check_route(const struct config *c, struct cfg_diags *d, const struct cfg_route *r)
{
	int policy = cfg_find_policy(c, r->policy);

	if (!r->port && !r->policy)
		cfg_diag_add(d, r->at, "a route needs a port or a policy");
	if (r->policy && policy >= 0 && cfg_encap_is_l2(c->policies.items[policy].encap))
		cfg_diag_add(d, cfg_where(c, &r->policy),
			"policy: '%s' carries Ethernet frames; a route needs H.Encaps or "
			"H.Encaps.Red",
			r->policy);
	if (r->port && r->policy)
		cfg_diag_add(d, cfg_where(c, &r->policy), "policy: a route has a port or a policy, not both");
	if (r->nexthop.family && !r->port)
		cfg_diag_add(d, cfg_where(c, &r->nexthop), "nexthop: a next hop needs a port");
	if (r->nexthop.family == 4 && r->prefix.addr.family == 6)
		cfg_diag_add(d, cfg_where(c, &r->nexthop), "nexthop: an IPv6 prefix needs an IPv6 next hop");
	check_nexthop(c, d, r->port, &r->nexthop);
}

static int by_route(const void *a, const void *b)
{
	const struct cfg_route *x = *(const struct cfg_route *const *)a;
	const struct cfg_route *y = *(const struct cfg_route *const *)b;
	int diff = ip_prefix_compare(&x->prefix, &y->prefix);

	return diff ? diff : x < y ? -1 : x > y;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void check_table(const struct config *c, struct cfg_diags *d, const struct cfg_route *routes, uint32_t n)
{
	const struct cfg_route **sorted = calloc(n + 1, sizeof(*sorted)), *r, *q;
	uint32_t first = 0;

	for (uint32_t i = 0; i < n; i++) {
		check_route(c, d, &routes[i]);
		if (sorted)
			sorted[i] = &routes[i];
	}
	if (!sorted)
		return;
	qsort(sorted, n, sizeof(*sorted), by_route);
	for (uint32_t i = 1; i < n; i++) {
		r = sorted[i];
		if (!ip_prefix_equal(&r->prefix, &sorted[first]->prefix)) {
			first = i;
			continue;
		}
		/* next hops of one prefix form an ECMP group: at most 64, all different, no policy */
		if (i - first >= 64)
			cfg_diag_add(d, r->at, "this prefix has more than 64 next hops");
		for (uint32_t k = first; k < i && i - first < 64; k++) {
			q = sorted[k];
			if (r->policy || q->policy) {
				cfg_diag_add(d, r->at,
					"this prefix is already listed in line %u; a policy distributes flows over its "
					"own paths only",
					q->at.line);
				break;
			}
			if (same_text(r->port, q->port) && ip_addr_equal(&r->nexthop, &q->nexthop))
				cfg_diag_add(d, r->at, "this route is already listed in line %u", q->at.line);
		}
	}
	free(sorted);
}

void check_routes(const struct config *c, struct cfg_diags *d)
{
	check_table(c, d, c->routes.items, c->routes.n);
	for (uint32_t i = 0; i < c->vrfs.n; i++)
		check_table(c, d, c->vrfs.items[i].routes.items, c->vrfs.items[i].routes.n);
}
