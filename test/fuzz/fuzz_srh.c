/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint behaviours on one IPv6 packet, which comes back to the same SID as long as it goes on. First byte: which SID of
 * the node, second: hop limit of the packet; the rest is the packet, whose version and destination are set to fit, argument
 * and all bytes after it unchanged.
 */
#include "test/support/unit.h"

#include "srv6/endpoint.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/node.h"
#include "wire/ipv6.h"

#define ROUNDS 4 /* SIDs of the node that a packet visits, one after the other */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_node();
	return 0;
}

static const struct snap_sid *choose(const struct snapshot *s, uint8_t which)
{
	uint32_t used = 0, n;

	for (uint32_t i = 0; i < s->n_sids; i++)
		used += s->sid[i].used;
	n = which % used;
	for (uint32_t i = 0; i < s->n_sids; i++)
		if (s->sid[i].used && n-- == 0)
			return &s->sid[i];
	abort();
}

static void check_change(const struct srv6_packet *p, const struct srv6_change *change, enum srv6_next next)
{
	if (change->segments_left || change->pop_srh) {
		must(next == SRV6_LOOKUP || next == SRV6_ADJACENCY, "an SRH changed on the way to %d", next);
		must(change->srh_at >= 40 && change->srh_at + 8u <= p->readable, "SRH at %u", change->srh_at);
	}
	if (next == SRV6_DECAP || next == SRV6_DECAP_ADJACENCY || next == SRV6_DECAP_FRAME)
		must(p->upper >= 40 && p->upper <= p->end, "upper layer at %u of %u", p->upper, p->readable);
}

/* The next segment leads to the same SID again, as one of the node's own does. */
static void lead_back(const struct snap_sid *sid, struct srv6_packet *p)
{
	struct ipv6_addr to = ipv6_from(p->da_hi, p->da_lo);

	memcpy(&to, &sid->prefix.addr.b, sid->prefix.len / 8);
	p->da_hi = ipv6_hi(&to);
	p->da_lo = ipv6_lo(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct snap_sid *sid = choose(fuzz_node()->node->snapshot, size ? data[0] : 0);
	uint8_t hop_limit = size > 1 ? data[1] : 64, *frame;
	struct srv6_change change = {0};
	struct srv6_error e = {0};
	struct srv6_packet p;
	struct ipv6_hdr *ip;
	enum srv6_next next;

	if (size < 2 + sizeof(*ip))
		return 0;
	frame = fuzz_exact(data + 2, size - 2);
	fuzz_block(frame, size - 2);
	ip = (struct ipv6_hdr *)frame;
	ip->vtc_flow.b[0] = (uint8_t)(0x60 | (ip->vtc_flow.b[0] & 15));
	memcpy(&ip->dst, &sid->prefix.addr.b, sid->prefix.len / 8);
	p = (struct srv6_packet){.frame = frame,
		.readable = (uint32_t)(size - 2),
		.end = (uint32_t)(size - 2),
		.da_hi = ipv6_hi(&ip->dst),
		.da_lo = ipv6_lo(&ip->dst),
		.hop_limit = hop_limit};
	for (unsigned int round = 0; round < ROUNDS; round++) {
		hop_limit = p.hop_limit;
		next = srv6_endpoint(sid, &p, &change, &e);
		must(p.hop_limit == hop_limit || p.hop_limit == hop_limit - 1, "hop limit %u became %u", hop_limit,
			p.hop_limit);
		must(next != SRV6_DROP || e.reason < DROP_COUNT, "dropped for %u", e.reason);
		if (round == 0 || next == SRV6_LOOKUP || next == SRV6_ADJACENCY)
			check_change(&p, &change,
				next); /* what changed before a decapsulation goes with the outer headers */
		if (next != SRV6_LOOKUP)
			break;
		lead_back(sid, &p);
	}
	free(frame);
	return 0;
}
