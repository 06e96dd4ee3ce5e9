/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoint behaviours on rx lcores. Nothing here writes to the frame. */
#include "srv6/endpoint.h"

#include "base/compiler.h"
#include "wire/cursor.h"
#include "wire/icmp.h"

#define EXT_HEADERS_MAX 8

/* One hop-by-hop, destination options or routing header. */
static const struct ipv6_ext *pull_ext(struct wire_cursor *c)
{
	const struct ipv6_ext *ext = wire_peek(c, sizeof(*ext));

	if (!ext || !wire_pull(c, 8u * (ext->length + 1u)))
		return NULL;
	return ext;
}

static void note_routing(struct srv6_packet *p, const struct ipv6_ext *ext, uint16_t at)
{
	const struct srh *srh = (const struct srh *)ext; /* at least 8 bytes were pulled */

	/* the first one with segments left is acted upon; those behind it are for the nodes it leads to */
	if (p->segments_left || p->foreign_routing_left)
		return;
	if (srh->routing_type == SRH_ROUTING_TYPE && !p->srh) {
		p->srh = at;
		p->srh_bytes = (uint16_t)srh_bytes(srh);
		p->segments_left = srh->segments_left;
	} else if (srh->segments_left) {
		p->foreign_routing_left = srh->segments_left;
		p->foreign_routing = at;
	}
}

bool srv6_walk(struct srv6_packet *p)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(p->frame + p->at);
	struct wire_cursor c = wire_cursor(p->frame, p->readable);
	uint8_t type = ip->next_header;

	if (p->walked)
		return true;
	c.at += p->at + sizeof(*ip);
	for (unsigned int i = 0; i < EXT_HEADERS_MAX; i++) {
		const struct ipv6_ext *ext;
		uint16_t at = (uint16_t)(c.at - p->frame);

		if (type != IP_PROTO_HOPOPTS && type != IP_PROTO_DSTOPTS && type != IP_PROTO_ROUTING) {
			p->upper_type = type;
			p->upper = at;
			p->walked = true;
			return true;
		}
		ext = pull_ext(&c);
		if (!ext)
			return false;
		if (type == IP_PROTO_ROUTING)
			note_routing(p, ext, at);
		type = ext->next_header;
	}
	return false;
}

static enum srv6_next drop(struct srv6_error *e, enum reason reason, uint8_t type, uint8_t code,
	uint32_t pointer)
{
	*e = (struct srv6_error){.reason = reason, .type = type, .code = code, .pointer = pointer};
	return SRV6_DROP;
}

static enum srv6_next time_exceeded(struct srv6_error *e)
{
	return drop(e, DROP_hop_limit, ICMP6_TIME_EXCEEDED, 0, 0);
}

/* The argument behind the SID, all of it (D26): in the low bits of hi and in lo. */
static inline bool argument_is_zero(const struct snap_sid *sid, const struct srv6_packet *p)
{
	/* arg_shift is 48 or 64 */
	uint64_t hi_part = sid->arg_shift < 64 ? p->da_hi << sid->arg_shift : 0;

	return (hi_part | p->da_lo) == 0;
}

/* RFC 9800 section 4.1.1 N04-N05: shift the argument up to the block, zeroes behind. */
static inline void shift(const struct snap_sid *sid, struct srv6_packet *p)
{
	const uint64_t block = 0xffffffff00000000ull;

	if (sid->shift_bits == 16) {
		p->da_hi = (p->da_hi & block) | (p->da_hi & 0xffff) << 16 | p->da_lo >> 48;
		p->da_lo <<= 16;
	} else {
		p->da_hi = (p->da_hi & block) | p->da_lo >> 32;
		p->da_lo <<= 32;
	}
}

static enum srv6_next onward(const struct snap_sid *sid)
{
	return sid->adjacency ? SRV6_ADJACENCY : SRV6_LOOKUP;
}

/* RFC 8986 section 4.1 S08-S15 and section 4.16.1: next segment from the SRH. */
static enum srv6_next next_segment(const struct snap_sid *sid, struct srv6_packet *p,
	struct srv6_change *change, struct srv6_error *e)
{
	const struct srh *srh = (const struct srh *)(p->frame + p->srh);
	uint32_t pointer = p->srh - p->at + (uint32_t) __builtin_offsetof(struct srh, segments_left);
	int max_last = srh_max_last_entry(srh);

	if (sid->decap4 || sid->decap6)
		return drop(e, DROP_srh_segments_left, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, pointer);
	if (p->hop_limit <= 1)
		return time_exceeded(e);
	if ((int)srh->last_entry > max_last || p->segments_left > srh->last_entry + 1u)
		return drop(e, DROP_srh_bounds, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD, pointer);
	p->hop_limit--;
	p->segments_left--;
	/* SL - 1 <= LE <= max_LE, and the whole SRH was readable */
	p->da_hi = ipv6_hi(&srh->segment[p->segments_left]);
	p->da_lo = ipv6_lo(&srh->segment[p->segments_left]);
	change->segments_left = true;
	change->srh_at = p->srh;
	if (sid->psp && p->segments_left == 0) {
		change->pop_srh = true;
		p->srh = 0;
	}
	return onward(sid);
}

static bool may_decap(const struct snap_sid *sid, uint8_t type)
{
	if (type == IP_PROTO_IPV6)
		return sid->usd || sid->decap6;
	return type == IP_PROTO_IPV4 && (sid->usd || sid->decap4);
}

static enum srv6_next upper_layer(const struct snap_sid *sid, const struct srv6_packet *p,
	struct srv6_error *e)
{
	if (may_decap(sid, p->upper_type))
		return sid->adjacency ? SRV6_DECAP_ADJACENCY : SRV6_DECAP;
	if (p->upper_type == IP_PROTO_ICMP6)
		return SRV6_DELIVER;
	if (p->upper_type == IP_PROTO_FRAGMENT)
		return drop(e, DROP_fragment, 0, 0, 0);
	/* RFC 8986 section 4.1.1: the pointer names the offending header */
	return drop(e, DROP_upper_layer, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_SR_UPPER_LAYER,
		(uint32_t)(p->upper - p->at));
}

enum srv6_next srv6_endpoint(const struct snap_sid *sid, struct srv6_packet *p, struct srv6_change *change,
	struct srv6_error *e)
{
	/* the shift runs whether there is an SRH or not, and looks at none (RFC 9800 section 4.1.1) */
	if (sid->shift_bits && likely(!argument_is_zero(sid, p))) {
		if (unlikely(p->hop_limit <= 1))
			return time_exceeded(e);
		p->hop_limit--;
		shift(sid, p);
		return onward(sid);
	}
	if (!srv6_walk(p))
		return drop(e, DROP_ext_chain, 0, 0, 0);
	if (p->foreign_routing_left)
		return drop(e, DROP_routing_type, ICMP6_PARAM_PROBLEM, ICMP6_PARAM_HEADER_FIELD,
			p->foreign_routing - p->at + 2u);
	if (p->srh && p->segments_left)
		return next_segment(sid, p, change, e);
	return upper_layer(sid, p, e);
}
