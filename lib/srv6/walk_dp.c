/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the chain of IPv6 extension headers (RFC 8200 section 4). rx lcores. The frame is only read. */
#include "srv6/endpoint.h"
#include "wire/cursor.h"
#include "wire/icmp.h"

#define EXT_HEADERS_MAX 8

#define OPTION_PAD1 0
#define OPTION_PADN 1

static bool srv6_walk_fail(struct srv6_packet *p, enum reason reason)
{
	p->failure = reason;
	return false;
}

/* The first buffer lacks `bytes` at `at`: the rest is in the next buffer, or the packet is truncated. */
static bool srv6_walk_cut_off(struct srv6_packet *p, uint32_t at, uint32_t bytes)
{
	return srv6_walk_fail(p, at + bytes <= p->end ? DROP_headers_split : DROP_ext_chain);
}

static void srv6_walk_routing(struct srv6_packet *p, const struct ipv6_ext *ext, uint16_t at)
{
	const struct srh *srh = (const struct srh *)ext; /* at least 8 bytes were pulled */

	/* only the first routing header with segments left applies to this node; later ones apply to later nodes */
	if (p->segments_left || p->foreign_routing_left || at <= p->spent)
		return;
	if (srh->routing_type == SRH_ROUTING_TYPE && (srh->segments_left || (!p->srh && !p->spent))) {
		p->srh = at;
		p->srh_bytes = (uint16_t)srh_bytes(srh);
		p->segments_left = srh->segments_left;
	} else if (srh->segments_left) {
		p->foreign_routing_left = srh->segments_left;
		p->foreign_routing = at;
	}
}

/*
 * Options of a hop-by-hop or destination options header that applies to this node. Stores the first unknown option
 * whose type does not allow skipping it (RFC 8200 section 4.2). Returns false when an option exceeds its header.
 */
static bool srv6_walk_options(struct srv6_packet *p, const struct ipv6_ext *ext, uint16_t at)
{
	const uint8_t *o = (const uint8_t *)ext;
	unsigned int end = 8u * (ext->length + 1u), i = sizeof(*ext);

	while (i < end) {
		if (o[i] == OPTION_PAD1) {
			i++;
			continue;
		}
		if (i + 2 > end || i + 2 + o[i + 1] > end)
			return false;
		if (o[i] >> 6 && !p->option) {
			p->option = (uint16_t)(at + i);
			p->option_type = o[i];
		}
		i += 2u + o[i + 1];
	}
	return true;
}

bool srv6_walk_chain(struct srv6_packet *p)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(p->frame + p->at);
	struct wire_cursor c = wire_cursor(p->frame, p->readable);
	uint8_t type = ip->next_header;

	c.at += p->at + sizeof(*ip);
	for (unsigned int i = 0; i <= EXT_HEADERS_MAX; i++) {
		uint16_t at = (uint16_t)(c.at - p->frame);
		const struct ipv6_ext *ext;

		if (type != IP_PROTO_HOPOPTS && type != IP_PROTO_DSTOPTS && type != IP_PROTO_ROUTING) {
			p->upper_type = type;
			p->upper = at;
			p->walked = true;
			return true;
		}
		ext = wire_peek(&c, sizeof(*ext));
		if (!ext)
			return srv6_walk_cut_off(p, at, sizeof(*ext));
		if (!wire_pull(&c, 8u * (ext->length + 1u)))
			return srv6_walk_cut_off(p, at, 8u * (ext->length + 1u));
		if (type == IP_PROTO_ROUTING)
			srv6_walk_routing(p, ext, at);
		/* options after a routing header with segments left apply to the last destination only */
		else if (!p->segments_left && !p->foreign_routing_left && !srv6_walk_options(p, ext, at))
			return srv6_walk_fail(p, DROP_ext_chain);
		type = ext->next_header;
	}
	return srv6_walk_fail(p, DROP_ext_chain);
}

bool srv6_option_error(const struct srv6_packet *p, struct srv6_error *e)
{
	/* 01: discard; 10: discard and report; 11: the same except for multicast, which never gets here */
	*e = (struct srv6_error){.reason = DROP_option};
	if (p->option_type >> 6 != 1) {
		e->type = ICMP6_PARAM_PROBLEM;
		e->code = ICMP6_PARAM_OPTION;
		e->pointer = (uint32_t)(p->option - p->at);
	}
	return true;
}

uint32_t srv6_slice_option(struct srv6_packet *p, uint8_t type)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(p->frame + p->at);
	const uint8_t *o = (const uint8_t *)(ip + 1);
	unsigned int end, i = sizeof(struct ipv6_ext);
	be32_t id;

	/* after a successful walk the header is readable and no option exceeds it */
	if (ip->next_header != IP_PROTO_HOPOPTS || !srv6_walk(p))
		return 0;
	end = 8u * (((const struct ipv6_ext *)o)->length + 1u);
	while (i + 2 <= end) {
		if (o[i] == OPTION_PAD1) {
			i++;
			continue;
		}
		if (o[i] == type && o[i + 1] >= 6 && i + 8 <= end) {
			memcpy(&id, o + i + 4, sizeof(id));
			return be32_get(id);
		}
		i += 2u + o[i + 1];
	}
	return 0;
}
