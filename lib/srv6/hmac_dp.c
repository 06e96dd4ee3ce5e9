/* SPDX-License-Identifier: BSD-3-Clause */
/* The HMAC TLV of a received SRH (RFC 8754 section 2.1.2; D25). rx lcores. */
#include "srv6/hmac.h"

#include "config/usid.h"
#include "wire/icmp.h"

static bool srv6_hmac_refuse(struct srv6_error *e, uint32_t pointer)
{
	*e = (struct srv6_error){.reason = DROP_hmac,
		.type = ICMP6_PARAM_PROBLEM,
		.code = ICMP6_PARAM_HEADER_FIELD,
		.pointer = pointer};
	return false;
}

/* Offset of the HMAC TLV in the SRH, of any length; 0: none. */
static uint32_t srv6_hmac_find_tlv(const struct srh *srh)
{
	const uint8_t *b = (const uint8_t *)srh;
	uint32_t at = (uint32_t)sizeof(*srh) + 16u * (srh->last_entry + 1u), end = srh_bytes(srh);

	while (at < end) {
		if (b[at] == SRH_TLV_PAD1) {
			at++;
			continue;
		}
		if (at + 2 > end || at + 2u + b[at + 1] > end)
			return 0;
		if (b[at] == SRH_TLV_HMAC)
			return at;
		at += 2u + b[at + 1];
	}
	return 0;
}

/*
 * Is the destination the active segment? After the first uSID of a container, the destination is the active segment
 * with some uSIDs shifted out (D25).
 */
static bool srv6_hmac_is_active(const struct srv6_packet *p, const struct srh *srh, const struct snap_sid *sid)
{
	struct ipv6_addr want = srh->segment[p->segments_left];

	for (unsigned int k = 0; k < (sid && sid->in_container ? usid_per_container(sid->block_bits) : 1); k++) {
		if (ipv6_hi(&want) == p->da_hi && ipv6_lo(&want) == p->da_lo)
			return true;
		if (sid)
			usid_shift(&want, sid->block_bits, 1);
	}
	return false;
}

static const struct hmac_key *srv6_hmac_find_key(const struct srv6_hmac *h, uint32_t id)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->key[i].id == id)
			return &h->key[i];
	return NULL;
}

bool srv6_verify_hmac(const struct srv6_hmac *h, const struct snap_sid *sid, const struct srv6_packet *p,
	struct srv6_error *e)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(p->frame + p->at);
	const struct srh *srh = (const struct srh *)(p->frame + p->srh);
	const struct srh_hmac *tlv;
	const struct hmac_key *key;
	uint8_t hmac[HMAC_BYTES];
	uint32_t at, pointer;
	bool reduced;

	/* a packet without an SRH has no HMAC: omitting the SRH must not bypass the check */
	if (!p->srh)
		return srv6_hmac_refuse(e, (uint32_t) __builtin_offsetof(struct ipv6_hdr, next_header));
	pointer = (uint32_t)(p->srh - p->at);
	if ((int)srh->last_entry > srh_max_last_entry(srh) || p->segments_left > srh->last_entry + 1u) {
		*e = (struct srv6_error){.reason = DROP_srh_bounds,
			.type = ICMP6_PARAM_PROBLEM,
			.code = ICMP6_PARAM_HEADER_FIELD,
			.pointer = pointer + (uint32_t) __builtin_offsetof(struct srh, segments_left)};
		return false;
	}
	at = srv6_hmac_find_tlv(srh);
	if (!at)
		return srv6_hmac_refuse(e, pointer);
	tlv = (const struct srh_hmac *)((const uint8_t *)srh + at);
	if (tlv->length != SRH_HMAC_LENGTH)
		return srv6_hmac_refuse(e, pointer + at);
	key = srv6_hmac_find_key(h, be32_get(tlv->key_id));
	if (!key)
		return srv6_hmac_refuse(e, pointer + at);
	/* a reduced list omits the first segment, so there is nothing to compare; Linux does not set the D flag */
	reduced = p->segments_left > srh->last_entry && (key->as_linux || be16_get(tlv->flags) & SRH_HMAC_D);
	if (!reduced && (p->segments_left > srh->last_entry || !srv6_hmac_is_active(p, srh, sid)))
		return srv6_hmac_refuse(e, pointer + at);
	hmac_of_srh(key, &ip->src, srh, tlv, hmac);
	return hmac_equal(hmac, tlv->hmac, sizeof(hmac)) || srv6_hmac_refuse(e, pointer + at);
}
