/* SPDX-License-Identifier: BSD-3-Clause */
/* SRv6 endpoint behaviours (RFC 8986 section 4, RFC 9800 section 4). rx lcores. The frame is only read. */
#include "srv6/endpoint.h"

#include "base/compiler.h"
#include "wire/icmp.h"

static enum srv6_next srv6_drop(struct srv6_error *e, enum reason reason, uint8_t type, uint8_t code, uint32_t pointer)
{
	*e = (struct srv6_error){.reason = reason, .type = type, .code = code, .pointer = pointer};
	return SRV6_DROP;
}

static enum srv6_next srv6_time_exceeded(struct srv6_error *e)
{
	return srv6_drop(e, DROP_hop_limit, ICMP6_TIME_EXCEEDED, 0, 0);
}

static enum srv6_next srv6_onward(const struct snap_sid *sid)
{
	return sid->adjacency ? SRV6_ADJACENCY : SRV6_LOOKUP;
}

/* May the new destination not be forwarded to (RFC 8200 section 4.4; RFC 4291 sections 2.5.2, 2.5.3, 2.5.6)? */
static bool srv6_bad_segment(const struct srv6_packet *p, struct srv6_error *e)
{
	enum reason reason = p->da_hi >> 56 == 0xff ? DROP_multicast : DROP_link_local;

	if (reason == DROP_link_local && p->da_hi >> 54 != 0x3fa && (p->da_hi || p->da_lo > 1))
		return false;
	srv6_drop(e, reason, 0, 0, 0);
	return true;
}

/*
 * An SRH was used up here, and this is the next one of the same packet. Returns false when that one is the third: struct
 * srv6_change describes changes to two.
 */
static bool srv6_second_srh(const struct srv6_packet *p, struct srv6_change *change)
{
	if (change->srh_at == p->srh)
		return true;
	if (change->spent_bytes)
		return false;
	change->spent_bytes = (uint16_t)srh_bytes((const struct srh *)(p->frame + p->spent));
	change->pop_spent = change->pop_srh;
	change->pop_srh = false;
	return true;
}

static enum srv6_next srv6_bad_routing(const struct srv6_packet *p, uint16_t at, struct srv6_error *e)
{
	return srv6_drop(e, DROP_routing_type, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, at - p->at + 2u);
}

/* RFC 8986 section 4.1 S08-S15 and section 4.16.1: next segment from the SRH. */
static enum srv6_next srv6_next_segment(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e)
{
	const struct srh *srh = (const struct srh *)(p->frame + p->srh);
	uint32_t pointer = p->srh - p->at + (uint32_t) __builtin_offsetof(struct srh, segments_left);
	int max_last = srh_max_last_entry(srh);

	if (sid->last)
		return srv6_drop(e, DROP_srh_segments_left, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, pointer);
	if (p->hop_limit <= 1)
		return srv6_time_exceeded(e);
	if ((int)srh->last_entry > max_last || p->segments_left > srh->last_entry + 1u)
		return srv6_drop(e, DROP_srh_bounds, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, pointer);
	p->hop_limit--;
	p->segments_left--;
	/* SL - 1 <= LE <= max_LE, and the whole SRH was readable */
	p->da_hi = ipv6_hi(&srh->segment[p->segments_left]);
	p->da_lo = ipv6_lo(&srh->segment[p->segments_left]);
	if (srv6_bad_segment(p, e))
		return SRV6_DROP;
	if (unlikely(p->spent) && !srv6_second_srh(p, change))
		return srv6_bad_routing(p, p->srh, e);
	change->segments_left = true;
	change->srh_at = p->srh;
	/* the headers after the SRH belong to the next SID, which may be local as well: walk again */
	if (p->segments_left == 0) {
		p->spent = p->srh;
		p->walked = false;
	}
	if (sid->psp && p->segments_left == 0) {
		change->pop_srh = true;
		p->srh = 0;
	}
	return srv6_onward(sid);
}

/* How the SID decapsulates this upper layer; SRV6_DROP: the SID does not (RFC 8986 sections 4.4 to 4.9, 4.16.3). */
static enum srv6_next srv6_decap_of(const struct snap_sid *sid, uint8_t type)
{
	if (type == IP_PROTO_ETHERNET)
		return sid->decap2 ? SRV6_DECAP_FRAME : sid->pfc ? SRV6_PFC : SRV6_DROP;
	if (!(type == IP_PROTO_IPV6 && (sid->usd || sid->decap6)) &&
		!(type == IP_PROTO_IPV4 && (sid->usd || sid->decap4)))
		return SRV6_DROP;
	return sid->adjacency ? SRV6_DECAP_ADJACENCY : SRV6_DECAP;
}

static enum srv6_next srv6_upper_layer(const struct snap_sid *sid, const struct srv6_packet *p, struct srv6_error *e)
{
	enum srv6_next next = srv6_decap_of(sid, p->upper_type);

	if (next != SRV6_DROP)
		return next;
	if ((p->upper_type == IP_PROTO_ICMP6 && sid->allow_ping) || (p->upper_type == IP_PROTO_UDP && sid->allow_udp))
		return SRV6_DELIVER;
	if (p->upper_type == IP_PROTO_FRAGMENT)
		return srv6_drop(e, DROP_fragment, 0, 0, 0);
	/* RFC 8986 section 4.1.1: the pointer names the offending header */
	return srv6_drop(e, DROP_upper_layer, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_SR_UPPER_LAYER,
		(uint32_t)(p->upper - p->at));
}

/* The last uSID of a container, or an uncompressed SID: continue with the SRH or the upper layer. */
static enum srv6_next srv6_no_argument(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e)
{
	if (!srv6_walk(p))
		return srv6_drop(e, p->failure, 0, 0, 0);
	if (srv6_bad_option(p, e))
		return SRV6_DROP;
	if (p->foreign_routing_left)
		return srv6_bad_routing(p, p->foreign_routing, e);
	if (p->srh && p->segments_left)
		return srv6_next_segment(sid, p, change, e);
	/*
	 * USP (RFC 8986 section 4.16.2) would remove the SRH here. There is nothing to do: decapsulation and delivery
	 * remove all headers, and an ICMP error quotes the packet as received.
	 */
	return srv6_upper_layer(sid, p, e);
}

/* srv6_shift32, for a block of any length. */
static void srv6_shift(const struct snap_sid *sid, struct srv6_packet *p)
{
	unsigned __int128 da = (unsigned __int128)p->da_hi << 64 | p->da_lo;
	unsigned __int128 ids = ~(unsigned __int128)0 >> sid->block_bits;

	da = (da & ~ids) | (da << sid->shift_bits & ids);
	p->da_hi = (uint64_t)(da >> 64);
	p->da_lo = (uint64_t)da;
}

enum srv6_next srv6_endpoint(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e)
{
	/* the shift depends on the destination alone, with or without an SRH (RFC 9800 section 4.1.1) */
	if (srv6_has_argument(sid, p->da_hi, p->da_lo)) {
		if (unlikely(p->hop_limit <= 1))
			return srv6_time_exceeded(e);
		p->hop_limit--;
		srv6_shift(sid, p);
		return srv6_onward(sid);
	}
	return srv6_no_argument(sid, p, change, e);
}
