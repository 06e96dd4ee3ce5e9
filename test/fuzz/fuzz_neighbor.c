/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbor Discovery and ARP messages. First byte: bit 0 ARP; bit 1: the checksum of Neighbor Discovery is set
 * right first.
 */
#include <errno.h>

#include "neigh/nd.h"
#include "test/fuzz/fuzz.h"
#include "test/support/packet.h"
#include "wire/addr.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

/* Only messages that RFC 4861 section 7.1 and RFC 826 allow are accepted. */
static void check_message(const struct nd_message *m, uint8_t family)
{
	static const struct eth_addr none;

	if (m->kind == ND_OTHER)
		return;
	must(m->target.family == family, "target of family %u", m->target.family);
	must(m->sender.family == family || m->sender.family == 0, "sender of family %u", m->sender.family);
	if (family == 6)
		must(!ipv6_is_multicast(&m->target.v6) && !ipv6_is_unspecified(&m->target.v6),
			"target is no unicast address");
	must(m->has_mac || memcmp(&m->mac, &none, sizeof(none)) == 0, "a MAC that is not there");
}

static void seal(uint8_t *ip, size_t size)
{
	size_t payload = (size_t)ip[4] << 8 | ip[5];
	uint16_t sum;

	if (payload < 8 || payload > size - 40)
		return;
	ip[42] = ip[43] = 0;
	sum = packet_sum6(ip, 58, ip + 40, payload);
	ip[42] = (uint8_t)(sum >> 8);
	ip[43] = (uint8_t)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t flags = size ? data[0] : 0, *message;
	struct nd_message m;
	int rc;

	if (!size)
		return 0;
	size--;
	message = fuzz_exact(data + 1, size);
	if (flags & 2 && !(flags & 1) && size >= 48)
		seal(message, size);
	rc = flags & 1 ? arp_parse(message, size, &m) : nd_parse(message, size, &m);
	must(rc == 0 || rc == -EINVAL, "returned %d", rc);
	if (rc == 0)
		check_message(&m, flags & 1 ? 4 : 6);
	free(message);
	return 0;
}
