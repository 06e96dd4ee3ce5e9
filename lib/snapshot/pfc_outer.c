/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the outer headers of PFC tunnels: in the management thread for configured tunnels, on the control lcore for
 * learnt ones.
 */
#include "snapshot/pfc_outer.h"

#include "config/program.h"
#include "config/usid.h"
#include "pfc/pfc_trailer.h"

#define TUNNEL_TC 0xe0 /* CS7; Not-ECT, because a frame cannot pass on a mark (docs/protocol.md 5.3) */
#define TUNNEL_HOP_LIMIT 64

const struct hmac_key *snap_hmac_key(const struct snapshot *s, uint32_t id)
{
	for (uint32_t i = 0; i < s->n_keys; i++)
		if (s->key[i].id == id)
			return &s->key[i];
	return NULL;
}

void snap_write_hmac(const struct hmac_key *key, const struct ipv6_addr *source, struct srh *srh)
{
	struct srh_hmac *tlv = (struct srh_hmac *)&srh->segment[srh->last_entry + 1];

	*tlv = (struct srh_hmac){.type = SRH_TLV_HMAC, .length = SRH_HMAC_LENGTH, .key_id = be32(key->id)};
	if (srh->segments_left > srh->last_entry)
		tlv->flags = be16(SRH_HMAC_D);
	if (key->as_linux)
		srh->flags |= SRH_FLAG_HMAC;
	hmac_of_srh(key, source, srh, tlv, tlv->hmac);
}

bool pfc_slice_argument(const struct pfc_remotes *remotes, struct ipv6_addr *address, uint32_t slice_id)
{
	const struct pfc_remote *r = pfc_remote_find(remotes, address, NULL);
	unsigned int at = r ? r->prefix.len / 8 : 0;

	if (!r || r->prefix.len % 8 || r->prefix.len + CFG_SLICE_ARGUMENT_BITS > 128 ||
		pfc_behavior_is_next_csid(r->behavior) || slice_id > UINT16_MAX)
		return false;
	address->b[at] = (uint8_t)(slice_id >> 8);
	address->b[at + 1] = (uint8_t)slice_id;
	return true;
}

void snap_write_slice(uint8_t *at, uint8_t next_header, uint8_t option, uint32_t slice_id)
{
	be32_t id = be32(slice_id);
	/* PadN of 2 bytes; the option; PadN of 4 */
	const uint8_t header[CFG_SLICE_OPTION_BYTES] = {next_header, 1, 1, 0, option, 6, 0, 0, 0, 0, 0, 0, 1, 2};

	memcpy(at, header, sizeof(header));
	memcpy(at + SNAP_SLICE_ID_AT, &id, sizeof(id));
}

void pfc_outer_write(struct snap_pfc_outer *out, const struct ipv6_addr *source, const struct ipv6_addr *address,
	unsigned int n, uint32_t flow_label, const struct hmac_key *key, uint8_t option, uint32_t slice_id)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out->header;
	/* reduced: the first address is only in the DA; the TLV needs an SRH, and the SRH needs a segment */
	unsigned int listed = n > 1 ? n - 1 : key != NULL;
	struct srh *srh;

	*out = (struct snap_pfc_outer){.bytes = sizeof(*ip)};
	ip->vtc_flow = ipv6_vtc_flow(TUNNEL_TC, flow_label);
	ip->hop_limit = TUNNEL_HOP_LIMIT;
	ip->src = *source;
	ip->dst = address[0];
	ip->next_header = listed ? IP_PROTO_ROUTING : IP_PROTO_ETHERNET;
	if (option) {
		snap_write_slice(out->header + out->bytes, ip->next_header, option, slice_id);
		out->bytes += CFG_SLICE_OPTION_BYTES;
		ip->next_header = IP_PROTO_HOPOPTS;
	}
	srh = (struct srh *)(out->header + out->bytes);
	if (listed) {
		srh->next_header = IP_PROTO_ETHERNET;
		srh->length = (uint8_t)(2 * listed + (key ? sizeof(struct srh_hmac) / 8 : 0));
		srh->routing_type = SRH_ROUTING_TYPE;
		srh->segments_left = (uint8_t)(n - 1);
		srh->last_entry = (uint8_t)(listed - 1);
		for (unsigned int i = 0; i < listed; i++)
			srh->segment[i] = address[n - 1 - i];
		if (key)
			snap_write_hmac(key, source, srh);
		out->bytes = (uint16_t)(out->bytes + srh_bytes(srh));
	}
	ip->payload_length = be16((uint16_t)(out->bytes - sizeof(*ip) + ETH_MIN_LEN));
}

void pfc_outer_carry(struct snap_pfc_outer *out, uint8_t upper, uint16_t bytes)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out->header;

	if (ip->next_header == IP_PROTO_ROUTING)
		((struct srh *)(ip + 1))->next_header = upper;
	else
		ip->next_header = upper;
	ip->payload_length = be16((uint16_t)(out->bytes - sizeof(*ip) + bytes));
}

unsigned int pfc_outer_addresses(const struct snap_pfc_outer *outer, struct ipv6_addr *address)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)outer->header;
	const struct ipv6_ext *ext = (const struct ipv6_ext *)(ip + 1);
	uint8_t type = ip->next_header;
	const struct srh *srh;
	unsigned int n = 0;

	address[n++] = ip->dst;
	if (type == IP_PROTO_HOPOPTS) {
		type = ext->next_header;
		ext = (const struct ipv6_ext *)((const uint8_t *)ext + 8u * (ext->length + 1u));
	}
	srh = (const struct srh *)ext;
	if (type == IP_PROTO_ROUTING)
		for (unsigned int i = srh->segments_left; i > 0; i--)
			address[n++] = srh->segment[i - 1];
	return n;
}

/* The destination at the end: the last uSID of a container alone, because the ones before it are shifted out. */
static struct ipv6_addr end_of(const struct pfc_remotes *remotes, const struct ip_prefix *block, unsigned int n_blocks,
	const struct ipv6_addr *last)
{
	const struct ip_addr address = ip_addr_from6(last);
	const struct ip_prefix *b = usid_block_of(block, n_blocks, &address);
	const struct pfc_remote *r = pfc_remote_find(remotes, last, NULL);
	struct ipv6_addr end = *last;

	if (b && !(r && r->prefix.len > b->len + USID_BITS))
		usid_shift(&end, b->len, MAX_OF(usid_count(last, b->len), 1) - 1);
	return end;
}

void pfc_outer_seal(struct snap_pfc_outer *out, const struct pfc_remotes *remotes, const struct ip_prefix *block,
	unsigned int n_blocks, uint32_t key_id, uint32_t slice_id)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out->header;
	struct ipv6_addr address[PFC_OUTER_ADDRESSES];
	unsigned int n = pfc_outer_addresses(out, address);

	out->message_key = key_id;
	out->slice = slice_id;
	out->end = end_of(remotes, block, n_blocks, &address[n - 1]);
	ip->payload_length = be16((uint16_t)(be16_get(ip->payload_length) + sizeof(struct pfc_trailer)));
}
