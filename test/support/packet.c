/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/packet.h"

#include <string.h>

static void put16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static uint64_t words(const uint8_t *bytes, size_t size)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += i % 2 ? bytes[i] : (uint64_t)bytes[i] << 8;
	return sum;
}

static uint16_t fold(uint64_t sum)
{
	return (uint16_t) ~(sum % 0xffff ? sum % 0xffff : sum ? 0xffff : 0);
}

uint16_t packet_sum(const void *bytes, size_t size)
{
	return fold(words(bytes, size));
}

uint16_t packet_sum6(const void *ip6, uint8_t next_header, const void *upper, size_t size)
{
	return fold(words((const uint8_t *)ip6 + 8, 32) + (size >> 16) + (size & 0xffff) + next_header +
		    words(upper, size));
}

void packet_seal6(void *ip6, size_t offset, size_t size)
{
	uint8_t *p = ip6;

	put16(p + 4, (unsigned int)(size - 40));
	if (size < offset + 4)
		return;
	put16(p + offset + 2, 0);
	put16(p + offset + 2, packet_sum6(p, 58, p + offset, size - offset));
}

void packet_seal4_header(void *ip4)
{
	uint8_t *p = ip4;

	put16(p + 10, 0);
	put16(p + 10, packet_sum(p, (p[0] & 0x0fu) * 4));
}

void packet_seal4(void *ip4, size_t size)
{
	uint8_t *p = ip4;
	size_t header = (p[0] & 0x0fu) * 4;

	put16(p + 2, (unsigned int)size);
	packet_seal4_header(p);
	if (size < header + 4)
		return;
	put16(p + header + 2, 0);
	put16(p + header + 2, packet_sum(p + header, size - header));
}
