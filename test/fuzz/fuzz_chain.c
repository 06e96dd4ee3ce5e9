/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of extension headers of one IPv6 packet, which is the whole input. */
#include "srv6/endpoint.h"
#include "test/fuzz/fuzz.h"
#include "wire/ipv6.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static bool is_walked(uint8_t type)
{
	return type == IP_PROTO_HOPOPTS || type == IP_PROTO_DSTOPTS || type == IP_PROTO_ROUTING;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct srv6_packet p = {.readable = (uint32_t)size, .end = (uint32_t)size};
	uint8_t *frame;

	if (size < sizeof(struct ipv6_hdr) || size > 16384)
		return 0;
	frame = fuzz_exact(data, size);
	p.frame = frame;
	if (srv6_walk(&p)) {
		must(p.upper >= 40 && p.upper <= size, "upper layer at %u of %zu", p.upper, size);
		must((p.upper & 7) == 0, "upper layer at %u", p.upper);
		must(!is_walked(p.upper_type), "upper layer of type %u", p.upper_type);
		must(!p.srh || (p.srh >= 40 && p.srh + p.srh_bytes <= p.upper), "SRH at %u, %u bytes", p.srh,
			p.srh_bytes);
		must(!p.srh || (frame[p.srh + 2] == 4 && frame[p.srh + 3] == p.segments_left), "SRH at %u", p.srh);
		must(!p.foreign_routing_left || frame[p.foreign_routing + 3] == p.foreign_routing_left,
			"routing header at %u", p.foreign_routing);
	}
	free(frame);
	return 0;
}
