/* SPDX-License-Identifier: BSD-3-Clause */
/* The Internet checksum (RFC 1071) and checksums over pseudo-headers (RFC 8200 section 8.1). Pure. */
#include "wire/checksum.h"

uint32_t checksum_add(uint32_t sum, const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t wide = sum;

	for (; size >= 2; size -= 2, p += 2)
		wide += (uint32_t)p[0] << 8 | p[1];
	if (size)
		wide += (uint32_t)p[0] << 8;
	while (wide >> 16)
		wide = (wide & 0xffff) + (wide >> 16);
	return (uint32_t)wide;
}

be16_t checksum_finish(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return be16((uint16_t)~sum);
}

uint32_t checksum_pseudo6(const struct ipv6_addr *src, const struct ipv6_addr *dst, uint32_t length,
	uint8_t next_header)
{
	struct {
		be32_t length;
		uint8_t zero[3];
		uint8_t next_header;
	} tail = {.length = be32(length), .next_header = next_header};
	uint32_t sum = checksum_add(0, src, sizeof(*src));

	sum = checksum_add(sum, dst, sizeof(*dst));
	return checksum_add(sum, &tail, sizeof(tail));
}

be16_t checksum_ipv4(const struct ipv4_hdr *h)
{
	uint32_t sum = checksum_add(0, h, ipv4_header_bytes(h));

	/* subtract the stored checksum field */
	return checksum_finish(sum + (uint16_t)~be16_get(h->checksum));
}
