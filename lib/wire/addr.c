/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and prefixes: parse, format, compare, cover (RFC 5952 for IPv6 text). Pure. */
#include "wire/addr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int ip_addr_parse(const char *text, struct ip_addr *out)
{
	struct ip_addr a = {0};

	if (inet_pton(AF_INET6, text, a.b) == 1)
		a.family = 6;
	else if (inet_pton(AF_INET, text, a.b) == 1)
		a.family = 4;
	else
		return -EINVAL;
	*out = a;
	return 0;
}

int ip_prefix_parse(const char *text, struct ip_prefix *out)
{
	char addr[IP_ADDR_TEXT];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : strlen(text);
	struct ip_prefix p;
	unsigned long len;
	char *end;

	if (n >= sizeof(addr))
		return -EINVAL;
	memcpy(addr, text, n);
	addr[n] = '\0';
	if (ip_addr_parse(addr, &p.addr) < 0)
		return -EINVAL;
	if (slash) {
		if (slash[1] < '0' || slash[1] > '9')
			return -EINVAL;
		len = strtoul(slash + 1, &end, 10);
		if (*end || len > ip_addr_bits(&p.addr))
			return -EINVAL;
		p.len = (uint8_t)len;
	} else {
		p.len = (uint8_t)ip_addr_bits(&p.addr);
	}
	*out = p;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int eth_addr_parse(const char *text, struct eth_addr *out)
{
	struct eth_addr a;

	/* parsed by hand: scanf would accept blanks, signs and 0x as digits */
	for (unsigned int i = 0; i < sizeof(a.b); i++, text += 3) {
		int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

		if (low < 0 || text[2] != (i == 5 ? '\0' : ':'))
			return -EINVAL;
		a.b[i] = (uint8_t)(high << 4 | low);
	}
	*out = a;
	return 0;
}

const char *ip_addr_format(const struct ip_addr *a, char *buf)
{
	if (!a->family || !inet_ntop(a->family == 4 ? AF_INET : AF_INET6, a->b, buf, IP_ADDR_TEXT))
		memcpy(buf, "-", 2);
	return buf;
}

const char *ip_prefix_format(const struct ip_prefix *p, char *buf)
{
	char addr[IP_ADDR_TEXT];

	snprintf(buf, IP_PREFIX_TEXT, "%s/%u", ip_addr_format(&p->addr, addr), p->len);
	return buf;
}

const char *ipv6_addr_format(const struct ipv6_addr *a, char *buf)
{
	struct ip_addr any = ip_addr_from6(a);

	return ip_addr_format(&any, buf);
}

const char *eth_addr_format(const struct eth_addr *a, char *buf)
{
	snprintf(buf, ETH_ADDR_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", a->b[0], a->b[1], a->b[2], a->b[3], a->b[4],
		a->b[5]);
	return buf;
}

bool ip_addr_equal(const struct ip_addr *a, const struct ip_addr *b)
{
	return a->family == b->family && memcmp(a->b, b->b, ip_addr_bits(a) / 8) == 0;
}

bool ip_prefix_equal(const struct ip_prefix *a, const struct ip_prefix *b)
{
	return a->len == b->len && ip_addr_equal(&a->addr, &b->addr);
}

bool ip_prefix_contains(const struct ip_prefix *p, const struct ip_addr *a)
{
	unsigned int whole = p->len / 8, rest = p->len % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	if (p->addr.family != a->family || memcmp(p->addr.b, a->b, whole) != 0)
		return false;
	return !rest || ((p->addr.b[whole] ^ a->b[whole]) & mask) == 0;
}

bool ip_prefix_covers(const struct ip_prefix *outer, const struct ip_prefix *inner)
{
	return outer->len <= inner->len && ip_prefix_contains(outer, &inner->addr);
}

struct ip_prefix ip_prefix_network(const struct ip_prefix *p)
{
	struct ip_prefix out = *p;
	unsigned int at = p->len / 8;

	if (at < sizeof(out.addr.b)) {
		out.addr.b[at] &= (uint8_t)(0xff00 >> (p->len % 8));
		memset(out.addr.b + at + 1, 0, sizeof(out.addr.b) - at - 1);
	}
	return out;
}

int ip_prefix_compare(const struct ip_prefix *a, const struct ip_prefix *b)
{
	int d = a->addr.family - b->addr.family;

	if (!d)
		d = memcmp(a->addr.b, b->addr.b, ip_addr_bits(&a->addr) / 8);
	return d ? d : a->len - b->len;
}

struct ipv6_addr ipv6_link_local_of(const struct eth_addr *mac)
{
	return (struct ipv6_addr){{0xfe, 0x80, 0, 0, 0, 0, 0, 0, mac->b[0] ^ 0x02, mac->b[1], mac->b[2], 0xff, 0xfe,
		mac->b[3], mac->b[4], mac->b[5]}};
}
