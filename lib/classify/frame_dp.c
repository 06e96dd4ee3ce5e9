/* SPDX-License-Identifier: BSD-3-Clause */
/* Ethernet frames over SRv6: from an attachment circuit into a tunnel, and from a tunnel to a port. rx lcores. */
#include "classify/classify_priv.h"

#include "classify/vlan.h"
#include "wire/eth.h"

/* Forward the Ethernet frame of `bytes` at `at` unchanged to a port, after the last checks. */
static void classify_leave_frame(struct walk *w, uint32_t at, uint32_t bytes, uint8_t port)
{
	const uint8_t *frame = w->frame + at;
	uint32_t header = sizeof(struct eth_hdr), readable = MIN_OF(bytes, w->readable > at ? w->readable - at : 0);

	if (readable < header) {
		classify_drop(w, bytes < header ? DROP_truncated : DROP_headers_split);
		return;
	}
	/* PAUSE and PFC are valid between neighbours on one link only */
	if (be16_get(((const struct eth_hdr *)frame)->type) == ETH_TYPE_MAC_CONTROL) {
		classify_drop(w, DROP_mac_control);
		return;
	}
	header = eth_header_bytes(frame, readable);
	w->x->family = PKT_FRAME;
	w->x->strip = (uint16_t)at;
	w->x->l3_bytes = (uint16_t)bytes;
	w->x->neigh = PKT_NEIGH_LINK + port;
	w->x->egress = port;
	if (bytes - header > w->s->port[port].mtu)
		classify_drop(w, DROP_too_big);
	else
		w->x->verdict = PKT_FORWARD;
}

bool classify_told_slice(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, uint8_t *slice)
{
	unsigned __int128 da = (unsigned __int128)p->da_hi << 64 | p->da_lo;
	uint32_t id = 0;

	if (sid->slice_by == SLICE_BY_ARGUMENT)
		id = (uint16_t)(da >> sid->slice_shift);
	else if (sid->slice_by == SLICE_BY_OPTION)
		id = srv6_slice_option(p, w->s->slice_option);
	for (uint32_t i = 0; id && i < w->s->n_slices; i++) {
		if (w->s->slice[i].wire_id == id && w->s->slice[i].name) {
			*slice = (uint8_t)i;
			return true;
		}
	}
	return id == 0;
}

void classify_punt_pfc(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p)
{
	struct srv6_hmac h = {.key = w->s->key, .n = w->s->n_keys};
	struct srv6_error e;

	if (unlikely(sid->pfc->hmac) && !srv6_verify_hmac(&h, sid, p, &e)) {
		classify_drop(w, e.reason); /* no ICMP error to the sender of a forged frame */
		return;
	}
	w->x->slice = sid->pfc->slice;
	if (unlikely(sid->slice_by) && !classify_told_slice(w, sid, p, &w->x->slice)) {
		classify_drop(w, DROP_pfc_bad_slice);
		return;
	}
	w->x->ops = 0;
	w->x->hops = 0;
	w->x->srh = p->at;
	w->x->da = ipv6_from(p->da_hi, p->da_lo);
	w->x->strip = p->upper;
	w->x->l3_bytes = (uint16_t)(p->end - p->upper);
	classify_punt(w, PUNT_PFC_TUNNEL);
}

static bool classify_is_mac_control(const struct srv6_packet *p)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)(p->frame + p->upper);

	return p->upper + sizeof(*eth) <= p->readable && be16_get(eth->type) == ETH_TYPE_MAC_CONTROL;
}

/* End.DX2 (RFC 8986 section 4.9). The outer ECN has no field in the frame to go to: the headend sent Not-ECT. */
void classify_decap_frame(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p)
{
	w->x->ops = 0;
	w->x->hops = 0;
	/* PFC relay (draft-he section 3.2): the frame is not bridged; this port sends PFC of its own */
	if (unlikely(sid->pfc) && classify_is_mac_control(p)) {
		classify_punt_pfc(w, sid, p);
		return;
	}
	w->x->tclass = sid->tclass_of[w->x->tclass];
	classify_leave_frame(w, p->upper, p->end - p->upper, sid->port);
}

/* The IP header in a frame, after up to two tags; family 0: none. */
struct inside {
	uint32_t at;
	uint8_t family;
};

static struct inside classify_ip_inside(const uint8_t *frame, uint32_t size)
{
	struct inside in = {.at = eth_header_bytes(frame, size)};
	uint16_t type = (uint16_t)(frame[in.at - 2] << 8 | frame[in.at - 1]);

	if (type == ETH_TYPE_IPV6 && in.at + sizeof(struct ipv6_hdr) <= size)
		in.family = 6;
	else if (type == ETH_TYPE_IPV4 && in.at + sizeof(struct ipv4_hdr) <= size)
		in.family = 4;
	return in;
}

/* The flow of a frame: its IP flow, or its pair of MAC addresses if it carries no IP, to keep the order of frames. */
static uint32_t classify_frame_hash(const uint8_t *frame, uint32_t size, const struct inside *in)
{
	uint64_t stations[2] = {0};

	if (in->family == 6)
		return hash_flow6(frame, size, in->at);
	if (in->family == 4)
		return hash_flow4(frame, size, in->at);
	memcpy(stations, frame, 2 * sizeof(struct eth_addr));
	return hash_finish(rte_hash_crc_8byte(stations[1], rte_hash_crc_8byte(stations[0], 0x5c1ce)));
}

bool classify_circuit(struct walk *w)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)w->frame;
	uint16_t type = be16_get(eth->type), vlan = 0;
	const struct snap_circuit *circuit;
	struct inside in;

	if (type == ETH_TYPE_VLAN || type == ETH_TYPE_QINQ) {
		if (w->readable < sizeof(*eth) + sizeof(struct vlan_tag)) {
			classify_drop(w, DROP_truncated);
			return true;
		}
		/* VLAN 0 is a priority tag, not a VLAN (IEEE 802.1Q 9.6) */
		vlan = be16_get(((const struct vlan_tag *)(eth + 1))->tci) & VLAN_ID_MASK;
	}
	circuit = w->in->circuit[vlan];
	if (!circuit)
		return false;
	if (eth_is_multicast(&eth->src)) {
		classify_drop(w, DROP_mac_source);
		return true;
	}
	w->x->family = PKT_FRAME;
	w->x->strip = 0;
	if (w->frame_bytes > UINT16_MAX) {
		classify_drop(w, DROP_too_big);
		return true;
	}
	w->x->l3_bytes = (uint16_t)w->frame_bytes;
	in = classify_ip_inside(w->frame, w->readable);
	w->x->hash = classify_frame_hash(w->frame, w->readable, &in) | 1; /* 0 means "not computed yet" */
	classify_encap(w, &w->s->policy[circuit->policy]);
	return true;
}
