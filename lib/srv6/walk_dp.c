/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of extension headers in front of the upper layer (RFC 8200 section 4). rx lcores; nothing is written. */
#include "srv6/endpoint.h"
#include "wire/cursor.h"
#include "wire/icmp.h"

#define EXT_HEADERS_MAX 8

#define OPTION_PAD1 0
#define OPTION_PADN 1

static bool fail(struct srv6_packet *p, enum reason reason)
{
	p->failure = reason;
	return false;
}

/* `bytes` from `at` on are not there: are they in the packet's next buffer, or nowhere? */
static bool cut_off(struct srv6_packet *p, uint32_t at, uint32_t bytes)
{
	return fail(p, at + bytes <= p->end ? DROP_headers_split : DROP_ext_chain);
}

static void note_routing(struct srv6_packet *p, const struct ipv6_ext *ext, uint16_t at)
{
	const struct srh *srh = (const struct srh *)ext; /* at least 8 bytes were pulled */

	/* the first one with segments left is acted upon; those behind it are for the nodes it leads to */
	if (p->segments_left || p->foreign_routing_left || at == p->spent)
		return;
	/* one SRH a visit: of another one behind it there is no way to say what is to be changed */
	if (srh->routing_type == SRH_ROUTING_TYPE && !p->spent && (!p->srh || srh->segments_left)) {
		p->srh = at;
		p->srh_bytes = (uint16_t)srh_bytes(srh);
		p->segments_left = srh->segments_left;
	} else if (srh->segments_left) {
		p->foreign_routing_left = srh->segments_left;
		p->foreign_routing = at;
	}
}

/*
 * Options of a hop-by-hop or destination options header that this node is the destination of. The first unknown one
 * whose type does not say "skip me" is noted (RFC 8200 section 4.2). False when an option runs past its header.
 */
static bool note_options(struct srv6_packet *p, const struct ipv6_ext *ext, uint16_t at)
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
			return cut_off(p, at, sizeof(*ext));
		if (!wire_pull(&c, 8u * (ext->length + 1u)))
			return cut_off(p, at, 8u * (ext->length + 1u));
		if (type == IP_PROTO_ROUTING)
			note_routing(p, ext, at);
		/* options behind a routing header with segments left are for the last destination only */
		else if (!p->segments_left && !p->foreign_routing_left && !note_options(p, ext, at))
			return fail(p, DROP_ext_chain);
		type = ext->next_header;
	}
	return fail(p, DROP_ext_chain);
}

bool srv6_option_error(const struct srv6_packet *p, struct srv6_error *e)
{
	/* 01: discard; 10: and report; 11: and report, unless to a multicast address, which is never walked here */
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

	/* a chain that could be walked has a header that is readable, and options that stay inside it */
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
