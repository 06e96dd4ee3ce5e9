/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trailers of PFC frames in tunnels: the digest that makes a frame genuine, and the time of sending that makes it new
 * (docs/protocol.md 5.8, D65). Control lcore.
 */
#include "service/pfc/pfc_cp.h"

#include "snapshot/pfc_outer.h"

/*
 * What was sent before the node started is not new, even if it was never heard. The clock of a sender may be behind by so
 * much.
 */
#define CLOCKS_DIFFER_NS NSEC_PER_SEC

static uint64_t time_of_day(const struct control_role *c)
{
	return c->node->born_ns + c->now;
}

void control_seal_start(struct control_role *c)
{
	uint64_t now = time_of_day(c);

	pfc_seen_start(&control_pfc(c)->seen, now - MIN_OF(now, CLOCKS_DIFFER_NS));
}

static void digest_of(const struct hmac_key *k, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct pfc_sealed *sealed, uint8_t out[HMAC_BYTES])
{
	const struct hmac_chunk chunks[] = {{src, sizeof(*src)}, {dst, sizeof(*dst)},
		{sealed, offsetof(struct pfc_sealed, trailer.digest)}};

	_Static_assert(PFC_TRAILER_DIGEST_BYTES == HMAC_BYTES, "the whole digest is in the trailer");
	hmac_of_chunks(&k->secret, chunks, RTE_DIM(chunks), out);
}

bool control_seal(struct control_role *c, const struct snap_pfc_outer *outer, struct pfc_sealed *sealed)
{
	const struct hmac_key *key = snap_hmac_key(c->s, outer->message_key);
	uint64_t *last = &control_pfc(c)->sealed_ns;
	struct pfc_seal seal = {.slice = outer->slice, .key_id = outer->message_key};

	if (!key)
		return false;
	*last = seal.sent_ns = MAX_OF(*last + 1, time_of_day(c));
	pfc_seal_write(&sealed->trailer, &seal);
	digest_of(key, &((const struct ipv6_hdr *)outer->header)->src, &outer->end, sealed, sealed->trailer.digest);
	return true;
}

static const struct hmac_key *key_of(const struct snap_message_keys *keys, uint32_t id)
{
	for (unsigned int i = 0; i < keys->n; i++)
		if (keys->key[i]->id == id)
			return keys->key[i];
	return NULL;
}

/* A packet that carries its slice pauses that one only: its argument or option is the one that was sent. */
static bool is_of_slice(const struct control_role *c, const struct snap_sid *sid, uint8_t slice, uint32_t id)
{
	if (!sid->slice_by || !id)
		return slice == sid->pfc->slice;
	return slice < c->s->n_slices && c->s->slice[slice].wire_id == id;
}

bool control_seal_is_genuine(const struct control_role *c, const struct rte_mbuf *m, const struct snap_sid *sid,
	const struct ipv6_addr *source, struct pfc_seal *seal)
{
	const struct snap_message_keys *keys = sid->pfc->relay ? &sid->pfc->relay->keys : &sid->pfc->keys;
	const struct pkt *x = pkt_of((struct rte_mbuf *)(uintptr_t)m);
	uint8_t digest[HMAC_BYTES];
	const struct hmac_key *key;
	struct pfc_sealed sealed;

	*seal = (struct pfc_seal){0};
	if (!keys->n)
		return true;
	if (x->l3_bytes != sizeof(sealed) || pkt_copy_out(m, x->strip, &sealed, sizeof(sealed)) != sizeof(sealed) ||
		pfc_seal_read(&sealed, sizeof(sealed), seal) < 0)
		return false;
	key = key_of(keys, seal->key_id);
	if (!key || !is_of_slice(c, sid, x->slice, seal->slice))
		return false;
	digest_of(key, source, &x->da, &sealed, digest);
	return hmac_equal(digest, sealed.trailer.digest, sizeof(digest));
}
