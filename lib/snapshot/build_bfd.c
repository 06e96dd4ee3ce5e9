/* SPDX-License-Identifier: BSD-3-Clause */
/* BFD sessions: of next hops, and S-BFD of paths. Management thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/bfd_peers.h"
#include "config/keys.h"
#include "snapshot/build_priv.h"

/* Twice what sessions need, so that bursts and a change of intervals pass. */
#define RATE_SPARE 2
#define RATE_LEAST 100 /* packets per second: slow sessions, and sessions that start */

static const uint8_t auth_types[] = {
	[BFD_NO_AUTH] = BFD_AUTH_NONE,
	[BFD_SHA1] = BFD_AUTH_SHA1,
	[BFD_METICULOUS_SHA1] = BFD_AUTH_METICULOUS_SHA1,
};

struct collector {
	struct builder *b;
	uint8_t *known; /* by neighbour id: has its session already */
	struct snap_bfd *bfd;
	uint32_t n, room;
	int rc;
};

static struct bfd_config config_of(const struct builder *b, const struct cfg_bfd_profile *p)
{
	const struct cfg_key_secret *key = cfg_secret(b->config, (uint32_t)p->auth_key);
	struct bfd_config c = {.tx_us = (uint32_t)p->transmit_us,
		.rx_us = (uint32_t)p->receive_us,
		.echo_us = p->echo_us == CFG_NONE ? 0 : (uint32_t)p->echo_us,
		.echo_rx_us = p->echo_receive_us == CFG_NONE ? 0 : (uint32_t)p->echo_receive_us,
		.multiplier = (uint8_t)p->multiplier,
		.passive = p->passive,
		.shutdown = p->shutdown,
		.auth_type = auth_types[p->auth]};

	if (p->auth && key) {
		c.key.id = (uint8_t)p->auth_key;
		memcpy(c.key.key, key->key, MIN_OF(key->bytes, sizeof(c.key.key)));
	}
	return c;
}

static struct snap_bfd *add(struct collector *l, const struct cfg_bfd_profile *p)
{
	struct snap_bfd *s = &l->bfd[l->n];

	if (l->n == l->room) {
		l->rc = build_fail(l->b, -ENOSPC, "more than %d BFD sessions", BFD_SESSIONS_MAX);
		return NULL;
	}
	*s = (struct snap_bfd){.config = config_of(l->b, p), .profile = p->name};
	s->peer.user = l->n++;
	return s;
}

/* The own address on the subnet of the next hop; a link-local one is the first. */
static struct ip_addr own_address(const struct snap_interface *in, const struct ip_addr *remote)
{
	for (unsigned int i = 0; i < in->n_own; i++)
		if (ip_prefix_contains(&in->own[i], remote))
			return in->own[i].addr;
	return in->own[0].addr;
}

static void add_next_hop(void *arg, const struct cfg_bfd_peer *p)
{
	const struct cfg_bfd_profile *profile = p->profile;
	struct collector *l = arg;
	struct snap_bfd *s;
	uint16_t interface;
	uint32_t id;

	if (l->rc < 0)
		return;
	l->rc = build_neigh(l->b, p->link, p->address, &id);
	if (l->rc < 0 || l->known[id])
		return;
	s = add(l, profile);
	if (!s)
		return;
	l->known[id] = true;
	interface = l->b->neigh[id].interface;
	s->id = id;
	s->peer.kind = BFD_SINGLE_HOP;
	s->peer.interface = interface;
	s->peer.remote = *p->address;
	s->peer.local = own_address(snap_interface(l->b->s, interface), p->address);
	l->b->s->bfd_rate[snap_interface_of(interface)] +=
		RATE_SPARE *
		(RATE_LEAST + 1000000 / s->config.rx_us + (s->config.echo_us ? 1000000 / s->config.echo_us : 0));
}

static void add_path(struct collector *l, const struct cfg_path *path, uint32_t id)
{
	const struct cfg_bfd_profile *profile = cfg_bfd_profile(l->b->config, path->bfd);
	struct snap_bfd *s = profile ? add(l, profile) : NULL;

	if (!s)
		return;
	s->id = id;
	s->config.reflector = (uint32_t)path->reflector_discriminator;
	s->peer.kind = BFD_SBFD;
	s->peer.remote = path->reflector;
	s->peer.local = ip_addr_from6(&l->b->s->loopback);
	for (uint32_t i = 0; i < l->b->s->n_ports; i++)
		l->b->s->bfd_rate[i] += RATE_SPARE * (RATE_LEAST + 1000000 / s->config.tx_us);
}

static int collect(struct builder *b, struct collector *l)
{
	const struct config *c = b->config;

	cfg_bfd_each(c, add_next_hop, l);
	for (uint32_t i = 0; i < c->policies.n && l->rc == 0; i++)
		for (uint32_t k = 0; k < c->policies.items[i].paths.n && l->rc == 0; k++)
			add_path(l, &c->policies.items[i].paths.items[k], b->policy[i].path[k]);
	return l->rc;
}

int build_bfd(struct builder *b)
{
	const struct cfg_sbfd_reflector *reflector = &b->config->sbfd_reflector;
	struct collector l = {.b = b, .room = BFD_SESSIONS_MAX};
	struct snapshot *s = b->s;
	struct snap_bfd *all;
	int rc;

	s->sbfd_reflector = (uint32_t)reflector->discriminator;
	s->sbfd_rate = reflector->rate;
	s->takes_bfd = s->sbfd_reflector != 0;
	/* a reflector is asked on any port */
	for (uint32_t i = 0; i < s->n_ports && s->sbfd_reflector; i++)
		s->bfd_rate[i] += reflector->rate;
	if (!b->config->bfd_profiles.n)
		return 0;
	l.bfd = calloc(l.room, sizeof(*l.bfd));
	l.known = calloc(SNAP_NEIGH_MAX, 1);
	rc = l.bfd && l.known ? collect(b, &l) : build_fail(b, -ENOMEM, "out of memory");
	if (rc == 0 && l.n) {
		s->bfd = all = arena_alloc(s->arena, l.n * sizeof(*all));
		s->n_bfd = l.n;
		s->takes_bfd = true;
		if (all)
			memcpy(all, l.bfd, l.n * sizeof(*all));
		else
			rc = build_fail(b, -ENOMEM, "out of memory");
	}
	free(l.bfd);
	free(l.known);
	return rc;
}
