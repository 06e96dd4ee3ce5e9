/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks BFD: profiles and their keys, next hops with sessions, S-BFD of paths. Pure. */
#include <stdlib.h>

#include "base/limits.h"
#include "config/bfd_peers.h"
#include "config/check_priv.h"
#include "config/keys.h"

static void check_auth(const struct config *c, struct cfg_diags *d, const struct cfg_bfd_profile *p)
{
	struct cfg_mark at = check_at(c, &p->auth_key, cfg_where(c, &p->auth));
	const struct cfg_key_secret *key = cfg_secret(c, (uint32_t)p->auth_key);

	if (!p->auth && p->auth_key)
		cfg_diag_add(d, at, "auth-key: the profile does not authenticate; set auth: meticulous-sha1");
	else if (p->auth && !p->auth_key)
		cfg_diag_add(d, at, "auth: it needs a key; set auth-key to an id of hmac.keys");
	else if (p->auth && !c->hmac.keys)
		cfg_diag_add(d, at, "auth-key: there is no key file; set hmac.keys");
	else if (p->auth && c->secrets && !key)
		cfg_diag_add(d, at, "auth-key: there is no key %llu in %s", (unsigned long long)p->auth_key,
			c->hmac.keys);
	else if (p->auth && key && key->bytes > LIMIT_BFD_KEY)
		cfg_diag_add(d, at,
			"auth-key: key %llu has %u bytes, and a key of BFD at most %u (RFC 5880 section 4.4); use one "
			"of "
			"16 to %u bytes",
			(unsigned long long)p->auth_key, key->bytes, LIMIT_BFD_KEY, LIMIT_BFD_KEY);
}

static void check_profile(const struct config *c, struct cfg_diags *d, const struct cfg_bfd_profile *p)
{
	check_auth(c, d, p);
	/* an idle lcore may leave a packet of the neighbour in the device for that long */
	if (c->idle.policy == IDLE_SLEEP && 2 * c->idle.max_sleep_us > p->receive_us)
		cfg_diag_add(d, check_at(c, &p->receive_us, p->at),
			"receive: with idle.policy: sleep an lcore sleeps up to %llu us, too long for an interval of "
			"%llu "
			"us; lower idle.max-sleep to at most %llu, or raise receive",
			(unsigned long long)c->idle.max_sleep_us, (unsigned long long)p->receive_us,
			(unsigned long long)p->receive_us / 2);
}

/* --- next hops --- */

struct peers {
	const struct config *config;
	struct cfg_diags *diags;
	struct cfg_bfd_peer *peer;
	uint32_t n, room;
	bool failed;
};

static void collect(void *arg, const struct cfg_bfd_peer *p)
{
	struct peers *all = arg;
	struct cfg_bfd_peer *more;

	if (all->n == all->room) {
		more = realloc(all->peer, (2 * all->room + 64) * sizeof(*more));
		if (!more) {
			all->failed = true;
			return;
		}
		all->peer = more;
		all->room = 2 * all->room + 64;
	}
	all->peer[all->n++] = *p;
}

static int compare(const struct cfg_bfd_peer *a, const struct cfg_bfd_peer *b)
{
	int d = strcmp(a->link, b->link);

	return d ? d : memcmp(a->address, b->address, sizeof(*a->address));
}

static int by_next_hop(const void *a, const void *b)
{
	const struct cfg_bfd_peer *x = a, *y = b;
	int d = compare(x, y);

	return d ? d : x->named < y->named ? -1 : x->named > y->named;
}

/* An echo packet is forwarded by the neighbour to the address that it comes from. */
static void check_echo(const struct peers *all, const struct cfg_bfd_peer *p)
{
	char text[IP_ADDR_TEXT];

	if (p->profile->echo_us != CFG_NONE && p->address->family == 6 && ipv6_is_link_local(&p->address->v6))
		cfg_diag_add(all->diags, cfg_where(all->config, p->named),
			"bfd: profile '%s' has echo, and no router returns echo packets of a link-local session; use a "
			"global address instead of %s, or a profile without echo",
			p->profile->name, ip_addr_format(p->address, text));
}

/* Each next hop has one session, so it must have one profile. */
static void check_next_hops(struct peers *all)
{
	char text[IP_ADDR_TEXT];
	uint32_t sessions = 0;

	qsort(all->peer, all->n, sizeof(*all->peer), by_next_hop);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct cfg_bfd_peer *p = &all->peer[i], *before = p - 1;

		if (!i || compare(before, p) != 0) {
			sessions++;
			check_echo(all, p);
		} else if (before->profile != p->profile) {
			cfg_diag_add(all->diags, cfg_where(all->config, p->named),
				"bfd: next hop %s on %s has profile '%s' here and '%s' in line %u; a next hop has one "
				"session",
				ip_addr_format(p->address, text), p->link, p->profile->name, before->profile->name,
				cfg_where(all->config, before->named).line);
		}
	}
	if (sessions > LIMIT_BFD_SESSIONS)
		cfg_diag_add(all->diags, all->config->at, "bfd: %u next hops have sessions, and a node has at most %u",
			sessions, LIMIT_BFD_SESSIONS);
}

/* --- paths --- */

static void check_path(const struct config *c, struct cfg_diags *d, const struct cfg_policy *policy,
	const struct cfg_path *path)
{
	const struct cfg_bfd_profile *p = cfg_bfd_profile(c, path->bfd);
	struct cfg_mark at = check_at(c, &path->bfd, path->at);

	if (!path->bfd) {
		if (path->reflector.family)
			cfg_diag_add(d, cfg_where(c, &path->reflector),
				"reflector: the path has no bfd; set bfd to a profile");
		if (path->reflector_discriminator)
			cfg_diag_add(d, cfg_where(c, &path->reflector_discriminator),
				"reflector-discriminator: the path has no bfd; set bfd to a profile");
		return;
	}
	if (!path->reflector.family || !path->reflector_discriminator)
		cfg_diag_add(d, at,
			"bfd: a path needs reflector, an address of the far node in the table that its last SID looks "
			"up, "
			"and reflector-discriminator, that node's sbfd-reflector.discriminator");
	if (cfg_encap_is_l2(policy->encap))
		cfg_diag_add(d, at, "bfd: the paths of '%s' carry Ethernet frames, and S-BFD packets are IPv6",
			policy->name);
	if (p && (p->auth || p->echo_us != CFG_NONE || p->passive))
		cfg_diag_add(d, at, "bfd: profile '%s' has auth, echo or passive, which S-BFD of a path does not have",
			p->name);
}

void check_bfd(const struct config *c, struct cfg_diags *d)
{
	struct peers all = {.config = c, .diags = d};

	for (uint32_t i = 0; i < c->bfd_profiles.n; i++)
		check_profile(c, d, &c->bfd_profiles.items[i]);
	for (uint32_t i = 0; i < c->policies.n; i++)
		for (uint32_t k = 0; k < c->policies.items[i].paths.n; k++)
			check_path(c, d, &c->policies.items[i], &c->policies.items[i].paths.items[k]);
	if (c->bfd_profiles.n)
		cfg_bfd_each(c, collect, &all);
	if (all.failed)
		cfg_diag_add(d, c->at, "out of memory");
	else if (all.n)
		check_next_hops(&all);
	free(all.peer);
}
