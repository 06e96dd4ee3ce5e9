/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trailers of PFC frames in tunnels, and which of the frames are new (docs/protocol.md 5.8). Pure; control lcore.
 */
#include "pfc/pfc_trailer.h"

#include <errno.h>
#include <string.h>

int pfc_seal_read(const void *frame, size_t size, struct pfc_seal *out)
{
	const struct pfc_trailer *t = &((const struct pfc_sealed *)frame)->trailer;

	if (size != sizeof(struct pfc_sealed) || t->version != PFC_TRAILER_VERSION)
		return -EINVAL;
	*out = (struct pfc_seal){.slice = be32_get(t->slice),
		.key_id = be32_get(t->key_id),
		.sent_ns = (uint64_t)be32_get(t->sent_hi) << 32 | be32_get(t->sent_lo)};
	return 0;
}

void pfc_seal_write(struct pfc_trailer *out, const struct pfc_seal *seal)
{
	*out = (struct pfc_trailer){.version = PFC_TRAILER_VERSION,
		.slice = be32(seal->slice),
		.key_id = be32(seal->key_id),
		.sent_hi = be32((uint32_t)(seal->sent_ns >> 32)),
		.sent_lo = be32((uint32_t)seal->sent_ns)};
}

static unsigned int set_of(const struct ipv6_addr *source, const struct ipv6_addr *destination)
{
	uint64_t h = ipv6_hi(source) ^ ipv6_lo(source) * 0x9e3779b97f4a7c15ull;

	h = (h ^ ipv6_hi(destination)) * 0x9e3779b97f4a7c15ull;
	h = (h ^ ipv6_lo(destination)) * 0x9e3779b97f4a7c15ull;
	return (unsigned int)(h >> 32) % PFC_SEEN_SETS;
}

void pfc_seen_start(struct pfc_seen_table *t, uint64_t sent_ns)
{
	t->floor_ns = sent_ns;
}

static bool is_pair(const struct pfc_seen *s, const struct ipv6_addr *source, const struct ipv6_addr *destination)
{
	return s->newest_ns && ipv6_equal(&s->source, source) && ipv6_equal(&s->destination, destination);
}

/* The priorities of `enable` about which nothing newer was heard; they are remembered. */
static uint8_t take(struct pfc_seen *s, uint64_t sent_ns, uint8_t enable)
{
	uint8_t fresh = 0;

	FOR_EACH_BIT(i, enable) {
		if (sent_ns <= s->sent_ns[i])
			continue;
		s->sent_ns[i] = sent_ns;
		fresh = (uint8_t)(fresh | 1u << i);
	}
	s->newest_ns = MAX_OF(s->newest_ns, sent_ns);
	return fresh;
}

uint8_t pfc_seen_take(struct pfc_seen_table *t, const struct ipv6_addr *source, const struct ipv6_addr *destination,
	uint64_t sent_ns, uint8_t enable)
{
	unsigned int set = set_of(source, destination);
	struct pfc_seen *way = t->set[set].way, *oldest = way;
	uint64_t floor;

	for (unsigned int i = 0; i < PFC_SEEN_WAYS; i++) {
		if (is_pair(&way[i], source, destination))
			return take(&way[i], sent_ns, enable);
		if (way[i].newest_ns < oldest->newest_ns)
			oldest = &way[i];
	}
	floor = MAX_OF(t->floor_ns, oldest->newest_ns);
	if (sent_ns <= floor)
		return 0;
	*oldest = (struct pfc_seen){.source = *source, .destination = *destination};
	/* about the priorities of which this pair has told nothing yet, nothing before the floor is new either */
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		oldest->sent_ns[i] = floor;
	return take(oldest, sent_ns, enable);
}
