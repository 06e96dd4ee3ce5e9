/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocates the ids of PFC tunnels and finds tunnels by hash (pfc_tunnel_priv.h). Control lcore. */
#include "pfc/pfc_tunnel_priv.h"

_Static_assert(PFC_TUNNELS_MAX < UINT16_MAX && PFC_TUNNEL_BUCKETS < UINT16_MAX, "links count from 1");

uint64_t pfc_tunnel_hash(uint64_t h, const void *data, size_t n)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	return h;
}

static void unlink_from(struct pfc_tunnels *t, uint32_t i, enum pfc_tunnel_chain chain)
{
	struct pfc_tunnel_link *l = &t->tunnel[i].link[chain];

	if (!l->bucket)
		return;
	*(l->prev ? &t->tunnel[l->prev - 1].link[chain].next : &t->chain[chain][l->bucket - 1]) = l->next;
	if (l->next)
		t->tunnel[l->next - 1].link[chain].prev = l->prev;
	*l = (struct pfc_tunnel_link){0};
}

uint32_t pfc_tunnel_place(struct pfc_tunnels *t)
{
	for (uint32_t w = 0; w < ARRAY_LEN(t->in_use); w++) {
		uint32_t i;

		if (!~t->in_use[w])
			continue;
		i = w * 64 + (uint32_t)__builtin_ctzll(~t->in_use[w]);
		t->in_use[w] |= 1ull << i % 64;
		t->bound = MAX_OF(t->bound, i + 1);
		return i;
	}
	return PFC_TUNNEL_NONE;
}

void pfc_tunnel_free(struct pfc_tunnels *t, uint32_t i)
{
	for (unsigned int chain = 0; chain < PFC_TUNNEL_CHAINS; chain++)
		unlink_from(t, i, chain);
	t->tunnel[i].origin = PFC_TUNNEL_FREE;
	t->in_use[i / 64] &= ~(1ull << i % 64);
	while (t->bound && t->tunnel[t->bound - 1].origin == PFC_TUNNEL_FREE)
		t->bound--;
}

static uint16_t bucket_of(uint64_t hash)
{
	return (hash ^ hash >> 32) % PFC_TUNNEL_BUCKETS;
}

void pfc_tunnel_link(struct pfc_tunnels *t, uint32_t i, enum pfc_tunnel_chain chain, uint64_t hash)
{
	struct pfc_tunnel_link *l = &t->tunnel[i].link[chain];
	uint16_t bucket = bucket_of(hash), *first = &t->chain[chain][bucket];

	unlink_from(t, i, chain);
	*l = (struct pfc_tunnel_link){.next = *first, .bucket = (uint16_t)(bucket + 1)};
	if (*first)
		t->tunnel[*first - 1].link[chain].prev = (uint16_t)(i + 1);
	*first = (uint16_t)(i + 1);
}

uint32_t pfc_tunnel_first(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint64_t hash)
{
	/* 0 becomes PFC_TUNNEL_NONE */
	return t->chain[chain][bucket_of(hash)] - 1u;
}

uint32_t pfc_tunnel_next(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint32_t i)
{
	return t->tunnel[i].link[chain].next - 1u;
}
