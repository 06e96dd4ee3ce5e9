/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbours of the configuration: who they are, and what is known of each. Control lcore. */
#include "service/rsvp/service_rsvp.h"

#define SENDERS_OF_SERVER 4 /* (key, sender) pairs: keys that overlap */

struct rsvp_neighbor *rsvp_neighbor_of(struct rsvp_control *r, uint16_t zone, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < r->neighbors; i++)
		if (r->neighbor[i].zone == zone && ip_addr_equal(&r->neighbor[i].addr, addr))
			return &r->neighbor[i];
	return NULL;
}

const struct snap_rsvp_neighbor *rsvp_permitted(const struct snap_credit *s, uint16_t zone, const struct ip_addr *addr)
{
	for (uint32_t i = 0; i < s->n_neighbors; i++)
		if (s->neighbor[i].zone == zone && ip_addr_equal(&s->neighbor[i].addr, addr))
			return &s->neighbor[i];
	return NULL;
}

struct ip_addr rsvp_own_towards(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	const struct control_role *c = arg;
	const struct snap_rsvp_neighbor *n = rsvp_permitted(&c->s->credit, zone, neighbor);

	return n ? n->own : ip_addr_from6(&c->s->loopback);
}

bool rsvp_neighbor_reduces(void *arg, uint16_t zone, const struct ip_addr *addr)
{
	const struct rsvp_neighbor *n = rsvp_neighbor_of(rsvp_of(arg), zone, addr);

	return n && n->reduces;
}

/* A server, or a neighbour of letter mode, shares no key with anybody else. */
struct rsvp_auth *rsvp_auth_of(const struct rsvp_control *r, const struct rsvp_neighbor *n)
{
	return n->zone || n->letter ? n->auth : r->auth;
}

/* A neighbour that was there keeps its counters, and the sequence numbers of its messages. */
static struct rsvp_neighbor take(struct rsvp_control *r, struct rsvp_neighbor *before, uint32_t n,
	const struct snap_rsvp_neighbor *s)
{
	for (uint32_t i = 0; i < n; i++)
		if (before[i].zone == s->zone && ip_addr_equal(&before[i].addr, &s->addr)) {
			struct rsvp_neighbor there = before[i];

			before[i].auth = NULL;
			there.letter = s->letter;
			return there;
		}
	return (struct rsvp_neighbor){.addr = s->addr,
		.zone = s->zone,
		.letter = s->letter,
		.number = r->neighbors_made++,
		.answers = 1,
		.reachable = 1};
}

static void take_keys(struct control_role *c, struct rsvp_neighbor *n, const struct snap_rsvp_neighbor *s)
{
	struct rsvp_control *r = rsvp_of(c);
	uint64_t seed[2] = {rsvp_secret(r), rsvp_secret(r)};

	if ((n->zone || n->letter) && !n->auth)
		n->auth = rsvp_auth_new(SENDERS_OF_SERVER, c->s->credit.window, (const uint8_t *)seed, rsvp_unix_s(c));
	if (n->auth)
		rsvp_auth_set_keys(n->auth, s->key, s->n_keys, c->s->credit.clock_s);
}

void rsvp_take_neighbors(struct control_role *c)
{
	const struct snap_credit *s = &c->s->credit;
	struct rsvp_neighbor before[LIMIT_CREDIT_NEIGHBORS];
	struct rsvp_control *r = rsvp_of(c);
	uint32_t n = r->neighbors;

	memcpy(before, r->neighbor, sizeof(before));
	for (uint32_t i = 0; i < s->n_neighbors; i++) {
		r->neighbor[i] = take(r, before, n, &s->neighbor[i]);
		take_keys(c, &r->neighbor[i], &s->neighbor[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		rsvp_auth_free(before[i].auth);
	__atomic_store_n(&r->neighbors, s->n_neighbors, __ATOMIC_RELEASE);
}

void rsvp_free_neighbors(struct rsvp_control *r)
{
	for (uint32_t i = 0; i < r->neighbors; i++)
		rsvp_auth_free(r->neighbor[i].auth);
}
