/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments an IPv4 packet (RFC 791 section 3.2). Pure. */
#include "icmp/fragment.h"

#include <string.h>

#include "base/compiler.h"
#include "wire/checksum.h"
#include "wire/ipv4.h"

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_COPIED 0x80 /* in every fragment, not in the first one only */

bool fragment_possible(const void *packet, size_t mtu)
{
	const struct ipv4_hdr *ip = packet;

	return !(be16_get(ip->fragment) & IPV4_DF) && mtu >= ipv4_header_bytes(ip) + 8;
}

/*
 * Copy the options that every fragment has, padded to whole words. Returns their size in bytes. A malformed option ends
 * the list.
 */
static size_t copied_options(const uint8_t *from, size_t size, uint8_t *to)
{
	size_t n = 0;

	for (size_t i = 0; i < size && from[i] != OPTION_END;) {
		size_t length = from[i] == OPTION_NOP ? 1 : i + 1 < size ? from[i + 1] : 0;

		if (length == 0 || (length == 1 && from[i] != OPTION_NOP) || i + length > size)
			break;
		if (from[i] & OPTION_COPIED) {
			memcpy(to + n, from + i, length);
			n += length;
		}
		i += length;
	}
	while (n % 4)
		to[n++] = OPTION_END;
	return n;
}

size_t fragment_next(const void *packet, size_t size, size_t mtu, size_t *done, void *out)
{
	const struct ipv4_hdr *ip = packet;
	struct ipv4_hdr *f = out;
	size_t header = ipv4_header_bytes(ip), payload = size - header, left = payload - *done;
	size_t options = header - sizeof(*ip), room;
	uint16_t field = be16_get(ip->fragment);

	if (!left)
		return 0;
	memcpy(f, ip, header);
	if (*done)
		options = copied_options((const uint8_t *)(ip + 1), options, (uint8_t *)(f + 1));
	f->version_ihl = (uint8_t)(0x40 | (sizeof(*f) + options) / 4);
	room = (mtu - sizeof(*f) - options) & ~(size_t)7;
	room = MIN_OF(room, left);
	memcpy((uint8_t *)(f + 1) + options, (const uint8_t *)packet + header + *done, room);
	f->fragment = be16((uint16_t)((field & ~IPV4_OFFSET_MASK) | ((field & IPV4_OFFSET_MASK) + *done / 8) |
				      (room < left ? IPV4_MF : 0)));
	f->total_length = be16((uint16_t)(sizeof(*f) + options + room));
	f->checksum = checksum_ipv4(f);
	*done += room;
	return sizeof(*f) + options + room;
}
