/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What many paths have in common is kept once: the devices before this one with the objects that are passed on, ways, sessions,
 * addresses and errors. It is found by its contents. Control lcore.
 */
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

static uint32_t hash(const struct rsvp_node *n, const void *data, size_t bytes)
{
	const uint8_t *at = data;
	uint64_t h = n->salt ^ bytes, word;

	for (; bytes >= sizeof(word); at += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, at, bytes);
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(h ^ h >> 32);
}

static struct rsvp_shared **bucket_of(const struct rsvp_node *n, uint32_t hash)
{
	return &n->by_contents[rsvp_bucket(hash, rsvp_content_buckets(n->buckets))];
}

const struct rsvp_shared *rsvp_share(struct rsvp_node *n, const void *data, size_t bytes)
{
	uint32_t h = hash(n, data, bytes);
	struct rsvp_shared **at = bucket_of(n, h), *s = *at;

	while (s && !(s->hash == h && s->bytes == bytes && !memcmp(s->data, data, bytes)))
		s = s->next;
	if (!s) {
		s = malloc(sizeof(*s) + bytes);
		if (!s)
			return NULL;
		*s = (struct rsvp_shared){.next = *at, .hash = h, .bytes = (uint16_t)bytes};
		memcpy(s->data, data, bytes);
		*at = s;
	}
	s->users++;
	return s;
}

void rsvp_unshare(struct rsvp_node *n, const struct rsvp_shared *shared)
{
	struct rsvp_shared **at, *s;

	if (!shared)
		return;
	for (at = bucket_of(n, shared->hash); *at != shared;)
		at = &(*at)->next;
	s = *at;
	if (--s->users)
		return;
	*at = s->next;
	free(s);
}

/* The fields one by one: what is between them is not compared. */
const struct rsvp_shared *rsvp_share_way(struct rsvp_node *n, const struct rsvp_way *way)
{
	struct rsvp_way w;

	memset(&w, 0, sizeof(w));
	w.to = way->to;
	w.along = way->along;
	w.here = way->here;
	w.port = way->port;
	w.zone = way->zone;
	w.joined = way->joined;
	w.rate_bps = way->rate_bps;
	w.delay_us = way->delay_us;
	w.buffer = way->buffer;
	w.limit = way->limit;
	return rsvp_share(n, &w, sizeof(w));
}

static const struct rsvp_shared *shared_with(const void *data)
{
	return (const struct rsvp_shared *)(const void *)((const char *)data - offsetof(struct rsvp_shared, data));
}

const struct ip_addr rsvp_nobody;

void rsvp_addr_clear(struct rsvp_node *n, const struct ip_addr **at)
{
	if (*at != &rsvp_nobody)
		rsvp_unshare(n, shared_with(*at));
	*at = &rsvp_nobody;
}

bool rsvp_addr_set(struct rsvp_node *n, const struct ip_addr **at, const struct ip_addr *addr)
{
	const struct rsvp_shared *shared;

	if (ip_addr_equal(*at, addr))
		return true;
	shared = rsvp_share(n, addr, sizeof(*addr));
	if (!shared)
		return false;
	rsvp_addr_clear(n, at);
	*at = (const struct ip_addr *)(const void *)shared->data;
	return true;
}

const struct ip_addr *rsvp_addr_again(const struct ip_addr *addr)
{
	struct rsvp_shared *shared = (struct rsvp_shared *)(uintptr_t)shared_with(addr);

	if (addr != &rsvp_nobody)
		shared->users++;
	return addr;
}

const struct rsvp_session *rsvp_share_session(struct rsvp_node *n, const struct rsvp_session *session)
{
	const struct rsvp_shared *shared;
	struct rsvp_session s;

	memset(&s, 0, sizeof(s));
	s.dst = session->dst;
	s.protocol = session->protocol;
	s.flags = session->flags;
	s.port = session->port;
	shared = rsvp_share(n, &s, sizeof(s));
	return shared ? (const struct rsvp_session *)(const void *)shared->data : NULL;
}

void rsvp_unshare_session(struct rsvp_node *n, const struct rsvp_session *session)
{
	rsvp_unshare(n, shared_with(session));
}

const struct rsvp_error rsvp_no_way = {.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_ROUTE};

/* Without memory nothing is told: users see no reason then, and neighbours a refusal without one. */
void rsvp_error_set(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_error *error)
{
	const struct rsvp_shared *before = p->error;
	struct rsvp_error e;

	p->error = NULL;
	if (error) {
		memset(&e, 0, sizeof(e));
		e.node = error->node;
		e.flags = error->flags;
		e.code = error->code;
		e.value = error->value;
		p->error = rsvp_share(n, &e, sizeof(e));
	}
	rsvp_unshare(n, before);
}

const struct rsvp_error *rsvp_error_of(const struct rsvp_path *p)
{
	static const struct rsvp_error none;

	return p->error ? (const struct rsvp_error *)(const void *)p->error->data : &none;
}

struct rsvp_former *rsvp_former_of(struct rsvp_node *n, struct rsvp_path *p)
{
	if (!p->former)
		p->former = calloc(1, sizeof(*p->former));
	n->stats.no_memory += !p->former;
	return p->former;
}
