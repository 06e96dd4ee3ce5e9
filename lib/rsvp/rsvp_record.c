/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of sessions and of their paths, and the tables in which they are found. Control lcore. */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

bool rsvp_session_equal(const struct rsvp_session *a, const struct rsvp_session *b)
{
	return ip_addr_equal(&a->dst, &b->dst) && a->protocol == b->protocol && a->port == b->port;
}

bool rsvp_sender_equal(const struct rsvp_sender *a, const struct rsvp_sender *b)
{
	return ip_addr_equal(&a->src, &b->src) && a->labelled == b->labelled && a->port == b->port;
}

static uint32_t hash(const struct rsvp_node *n, const struct ip_addr *a, uint32_t more)
{
	uint64_t h = n->salt ^ more * 0x9e3779b97f4a7c15ull ^ a->family;

	for (unsigned int i = 0; i < sizeof(a->b); i++)
		h = (h ^ a->b[i]) * 0x100000001b3ull;
	return rsvp_bucket((uint32_t)(h ^ h >> 32), n->buckets);
}

/* Without CBFC_PATH the session and its sender are the instance (docs/credit.md 2.2). */
void rsvp_instance_key(const struct rsvp_message *m, struct ip_addr *origin, uint32_t *nonce, bool *native)
{
	*native = !m->count[RSVP_O_CBFC_PATH];
	*origin = *native ? m->sender.src : ip_addr_from6(&m->path.addrs[0]);
	*nonce = *native ? m->sender.port : m->path.nonce;
}

struct rsvp_instance *rsvp_instance_of(const struct rsvp_node *n, const struct rsvp_message *m)
{
	struct ip_addr origin;
	uint32_t nonce;
	bool native;

	rsvp_instance_key(m, &origin, &nonce, &native);
	for (struct rsvp_instance *s = n->by_key[hash(n, &origin, nonce)]; s; s = s->next_key)
		if (s->nonce == nonce && s->native == native && s->zone == m->zone &&
			ip_addr_equal(s->origin, &origin) && rsvp_session_equal(s->session, &m->session))
			return s;
	return NULL;
}

struct rsvp_instance *rsvp_instance_new(struct rsvp_node *n, const struct rsvp_session *session,
	const struct ip_addr *origin, uint32_t nonce)
{
	struct rsvp_instance *s = calloc(1, sizeof(*s)), **at = &n->by_key[hash(n, origin, nonce)];

	if (!s)
		return NULL;
	s->origin = &rsvp_nobody;
	s->session = rsvp_share_session(n, session);
	if (!s->session || !rsvp_addr_set(n, &s->origin, origin)) {
		if (s->session)
			rsvp_unshare_session(n, s->session);
		free(s);
		return NULL;
	}
	s->nonce = nonce;
	s->next_key = *at;
	*at = s;
	n->stats.instances++;
	return s;
}

struct rsvp_path *rsvp_path_new(struct rsvp_node *n, struct rsvp_instance *s, uint16_t id,
	const struct rsvp_sender *sender, const struct rsvp_way *way)
{
	uint32_t *at = &n->by_sender[hash(n, &sender->src, sender->port)];
	struct rsvp_path *p, **last = &s->paths;

	if (n->stats.paths == n->config.paths_max)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->way = rsvp_share_way(n, way);
	if (!p->way) {
		free(p);
		return NULL;
	}
	p->carrier = way->carrier;
	p->instance = s;
	p->phop = p->nhop = &rsvp_nobody;
	p->slot = n->free_slot[n->config.paths_max - n->stats.paths - 1];
	n->by_slot[p->slot] = p;
	p->id = id;
	p->sender = *sender;
	p->refresh_ms = n->config.refresh_ms;
	p->heard_down.down = true;
	p->next_sender = *at;
	*at = rsvp_link_of(p);
	while (*last)
		last = &(*last)->next;
	*last = p;
	n->stats.paths++;
	return p;
}

static void leave_hop(struct rsvp_node *n, struct rsvp_path *p)
{
	uint32_t *at = &n->by_hop[hash(n, p->phop, p->phop_lih)];

	while (*at && *at != rsvp_link_of(p))
		at = &rsvp_linked(n, *at)->next_hop;
	if (*at)
		*at = p->next_hop;
}

bool rsvp_path_set_hop(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_hop *hop)
{
	uint32_t *at;

	if (p->phop->family)
		leave_hop(n, p);
	p->phop_lih = hop->lih;
	if (!rsvp_addr_set(n, &p->phop, &hop->addr)) {
		n->stats.no_memory++;
		return false;
	}
	at = &n->by_hop[hash(n, p->phop, p->phop_lih)];
	p->next_hop = *at;
	*at = rsvp_link_of(p);
	return true;
}

/* Handles follow one another, so the first bits of the product are spread evenly. */
static uint32_t bucket_of_lih(const struct rsvp_node *n, uint32_t lih)
{
	return rsvp_bucket((lih >> 8) * 0x9e3779b1u, n->buckets);
}

/* Handles run through 24 bits, so that one is not used again for a long time (D43). */
void rsvp_path_set_lih(struct rsvp_node *n, struct rsvp_path *p)
{
	uint32_t *at;

	do {
		p->lih = n->handle << 8 | (rsvp_way_of(p)->port + 1u);
		n->handle = (n->handle + 1) & 0xffffff;
	} while (rsvp_path_by_lih(n, p->lih));
	at = &n->by_lih[bucket_of_lih(n, p->lih)];
	p->next_lih = *at;
	*at = rsvp_link_of(p);
}

struct rsvp_path *rsvp_path_of_hop(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *addr, uint32_t lih)
{
	for (struct rsvp_path *p = rsvp_linked(n, n->by_hop[hash(n, addr, lih)]); p; p = rsvp_linked(n, p->next_hop))
		if (p->phop_lih == lih && p->instance->zone == zone && ip_addr_equal(p->phop, addr))
			return p;
	return NULL;
}

struct rsvp_path *rsvp_path_by_hop(const struct rsvp_node *n, const struct rsvp_message *m)
{
	return rsvp_path_of_hop(n, m->zone, &m->hop.addr, m->hop.lih);
}

struct rsvp_path *rsvp_path_by_lih(const struct rsvp_node *n, uint32_t lih)
{
	for (struct rsvp_path *p = rsvp_linked(n, n->by_lih[bucket_of_lih(n, lih)]); p; p = rsvp_linked(n, p->next_lih))
		if (p->lih == lih)
			return p;
	return NULL;
}

/* A PathErr comes from the next hop, all other messages with a sender from the previous one. */
static uint16_t zone_for(const struct rsvp_path *p, const struct rsvp_message *m)
{
	return m->kind == RSVP_PATH_ERR ? rsvp_way_of(p)->zone : p->instance->zone;
}

struct rsvp_path *rsvp_path_by_sender(const struct rsvp_node *n, const struct rsvp_message *m)
{
	if (!m->count[RSVP_O_TEMPLATE])
		return NULL;
	for (struct rsvp_path *p = rsvp_linked(n, n->by_sender[hash(n, &m->sender.src, m->sender.port)]); p;
		p = rsvp_linked(n, p->next_sender))
		if (rsvp_sender_equal(&p->sender, &m->sender) && zone_for(p, m) == m->zone &&
			rsvp_session_equal(p->instance->session, &m->session))
			return p;
	return NULL;
}

size_t rsvp_passed_bytes(const struct rsvp_message *m)
{
	size_t bytes = 0;

	for (unsigned int i = 0; i < m->count[RSVP_O_POLICY]; i++)
		bytes += m->passed[i].bytes;
	return bytes;
}

uint8_t *rsvp_passed_copy(uint8_t *at, const struct rsvp_message *m)
{
	for (unsigned int i = 0; i < m->count[RSVP_O_POLICY]; at += m->passed[i++].bytes)
		memcpy(at, m->passed[i].at, m->passed[i].bytes);
	return at;
}

void rsvp_path_free(struct rsvp_node *n, struct rsvp_path *p)
{
	struct rsvp_path **at;
	uint32_t *link;

	if (n->ops->gone)
		n->ops->gone(n->arg, p);
	rsvp_heard_forget(n, &p->heard_up);
	rsvp_heard_forget(n, &p->heard_down);
	if (p->phop->family)
		leave_hop(n, p);
	rsvp_addr_clear(n, &p->phop);
	for (link = &n->by_lih[bucket_of_lih(n, p->lih)]; *link && *link != rsvp_link_of(p);)
		link = &rsvp_linked(n, *link)->next_lih;
	if (*link)
		*link = p->next_lih;
	for (link = &n->by_sender[hash(n, &p->sender.src, p->sender.port)]; *link != rsvp_link_of(p);)
		link = &rsvp_linked(n, *link)->next_sender;
	*link = p->next_sender;
	for (at = &p->instance->paths; *at != p;)
		at = &(*at)->next;
	*at = p->next;
	if (p->instance->current == p)
		p->instance->current = NULL;
	n->by_slot[p->slot] = NULL;
	n->free_slot[n->config.paths_max - n->stats.paths] = p->slot;
	n->stats.paths--;
	rsvp_context_leave(n, p);
	rsvp_unshare(n, p->passed);
	rsvp_unshare(n, p->way);
	rsvp_unshare(n, p->passed_up);
	rsvp_unshare(n, p->error);
	free(p->former);
	free(p);
}

void rsvp_instance_join(struct rsvp_instance *s, struct rsvp_carry *under)
{
	struct rsvp_instance **at;

	if (s->under) {
		for (at = &s->under->above; *at != s;)
			at = &(*at)->next_above;
		*at = s->next_above;
	}
	s->under = under;
	if (under) {
		s->next_above = under->above;
		under->above = s;
	}
}

void rsvp_instance_free(struct rsvp_node *n, struct rsvp_instance *s)
{
	struct rsvp_instance **at = &n->by_key[hash(n, s->origin, s->nonce)];

	while (*at != s)
		at = &(*at)->next_key;
	*at = s->next_key;
	rsvp_instance_join(s, NULL);
	while (s->carry.above)
		rsvp_instance_join(s->carry.above, NULL);
	timers_cancel(&n->wheel, &s->timer);
	rsvp_addr_clear(n, &s->origin);
	rsvp_unshare_session(n, s->session);
	free(s->offer);
	free(s);
	n->stats.instances--;
}

static bool is_used(const struct rsvp_instance *s, const struct rsvp_reservation *r)
{
	for (const struct rsvp_path *p = s->paths; p; p = p->next)
		if (p->reservation == r)
			return true;
	return r->units;
}

bool rsvp_instance_sweep(struct rsvp_node *n, struct rsvp_instance *s)
{
	for (struct rsvp_path *p = s->paths, *next; p; p = next) {
		next = p->next;
		if (p->grantor == RSVP_G_NONE && (p->user == RSVP_U_NONE || p->user == RSVP_U_OUT) &&
			!(p->candidate && s->wanted))
			rsvp_path_free(n, p);
	}
	for (struct rsvp_reservation *r = s->reservations, *next; r; r = next) {
		next = r->next;
		if (!is_used(s, r))
			rsvp_reservation_free(n, r);
	}
	if (s->paths || s->reservations || s->wanted)
		return false;
	rsvp_instance_free(n, s);
	return true;
}

const char *rsvp_grantor_state_name(unsigned int state)
{
	static const char *const names[] = {
#define X(id, name) name,
		RSVP_GRANTOR_STATES(X)
#undef X
	};

	return state < ARRAY_LEN(names) ? names[state] : "?";
}

const char *rsvp_user_state_name(unsigned int state)
{
	static const char *const names[] = {
#define X(id, name) name,
		RSVP_USER_STATES(X)
#undef X
	};

	return state < ARRAY_LEN(names) ? names[state] : "?";
}

/* --- memory --- */

/* glibc: a word before each block, in steps of two words. */
static size_t allocated(size_t bytes)
{
	return MAX_OF((bytes + sizeof(size_t) + 15) / 16 * 16, (size_t)32);
}

size_t rsvp_bytes_of_session(void)
{
	return allocated(sizeof(struct rsvp_instance));
}

/* What rsvp_node_new allocates for each path: links in four tables, a session in one more, two ids, contents, and its slot. */
static const size_t in_tables = 4 * sizeof(uint32_t) + sizeof(struct rsvp_instance *) + 2 * sizeof(uint32_t) +
				sizeof(struct rsvp_shared *) / 4 + sizeof(struct rsvp_path *) + sizeof(uint32_t);

size_t rsvp_bytes_of_path(void)
{
	return allocated(sizeof(struct rsvp_path)) + allocated(sizeof(struct rsvp_reservation)) + in_tables;
}

size_t rsvp_bytes_of_updates(void)
{
	return sizeof(struct rsvp_context);
}

/* The devices and objects, the way, SESSION, three neighbours and an error. */
size_t rsvp_bytes_of_shared(unsigned int hops)
{
	return allocated(sizeof(struct rsvp_shared) + hops * sizeof(struct ipv6_addr)) +
	       allocated(sizeof(struct rsvp_shared) + sizeof(struct rsvp_way)) +
	       allocated(sizeof(struct rsvp_shared) + sizeof(struct rsvp_session)) +
	       3 * allocated(sizeof(struct rsvp_shared) + sizeof(struct ip_addr)) +
	       allocated(sizeof(struct rsvp_shared) + sizeof(struct rsvp_error));
}

size_t rsvp_bytes_on_demand(void)
{
	return allocated(RSVP_OFFERS_MAX * sizeof(struct rsvp_cbfc_offer)) + allocated(sizeof(struct rsvp_former));
}

#define TABLES 10 /* of rsvp_node_new: each takes up to a page more than its entries */

size_t rsvp_bytes_of_node(void)
{
	return allocated(sizeof(struct rsvp_node)) + TABLES * 4096;
}

bool rsvp_passed_here(const struct rsvp_node *n, const struct rsvp_message *m)
{
	const struct rsvp_path *p = rsvp_path_by_sender(n, m);
	struct ip_addr link = p ? rsvp_own_along(n, p) : n->config.addr;

	for (unsigned int i = 0; m->count[RSVP_O_CBFC_PATH] && i < m->path.hops; i++)
		if (ipv6_equal(&m->path.addrs[i], &n->config.addr.v6) || ipv6_equal(&m->path.addrs[i], &link.v6))
			return true;
	return false;
}

unsigned int rsvp_hops_most(const struct rsvp_node *n, const struct rsvp_message *m)
{
	unsigned int most = MIN_OF(n->config.hops_max, RSVP_HOPS_MAX);

	return m->path.hops_max ? MIN_OF(most, m->path.hops_max) : most;
}
