/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What many paths have in common is kept once: the devices before this one with the objects that are passed on, and ways. It is
 * found by its contents. Control lcore.
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
	return &n->by_contents[hash & n->mask_contents];
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
