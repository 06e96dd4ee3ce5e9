/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <errno.h>

#include "test/support/packet.h"
#include "wire/addr.h"
#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/icmp.h"
#include "wire/srh.h"
#include "wire/udp.h"

static struct ip_addr addr(const char *text)
{
	struct ip_addr a;

	check(ip_addr_parse(text, &a) == 0, "%s", text);
	return a;
}

static struct ip_prefix prefix(const char *text)
{
	struct ip_prefix p;

	check(ip_prefix_parse(text, &p) == 0, "%s", text);
	return p;
}

static struct eth_addr mac(const char *text)
{
	struct eth_addr a;

	check(eth_addr_parse(text, &a) == 0, "%s", text);
	return a;
}

/* --- integers and cursor --- */

static void big_endian(void **state)
{
	be16_t a = be16(0x1234);
	be32_t b = be32(0x12345678);
	be64_t c = be64(0x123456789abcdef0);

	check_bytes("be16", &a, 2, "1234");
	check_bytes("be32", &b, 4, "12345678");
	check_bytes("be64", &c, 8, "123456789abcdef0");
	assert_int_equal(be16_get(a), 0x1234);
	assert_int_equal(be32_get(b), 0x12345678);
	assert_int_equal(be64_get(c), 0x123456789abcdef0);
	assert_int_equal(be16_get(be16(0xff00)), 0xff00);
	assert_int_equal(be32_get(be32(0xff000000)), 0xff000000);
	assert_int_equal(be64_get(be64(UINT64_MAX - 1)), UINT64_MAX - 1);
	assert_int_equal(_Alignof(be64_t), 1);
}

static void cursor_bounds(void **state)
{
	static const uint8_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct wire_cursor c = wire_cursor(data, sizeof(data));

	assert_int_equal(wire_left(&c), 8);
	assert_ptr_equal(wire_peek(&c, 8), data);
	assert_null(wire_peek(&c, 9));
	assert_ptr_equal(wire_pull(&c, 3), data);
	assert_int_equal(wire_left(&c), 5);
	/* what does not fit moves nothing, however large it claims to be */
	assert_null(wire_pull(&c, 6));
	assert_null(wire_pull(&c, SIZE_MAX));
	assert_int_equal(wire_left(&c), 5);
	assert_ptr_equal(wire_pull(&c, 0), data + 3);
	assert_ptr_equal(wire_pull(&c, 5), data + 3);
	assert_int_equal(wire_left(&c), 0);
	assert_null(wire_pull(&c, 1));
	assert_ptr_equal(wire_peek(&c, 0), data + 8);
}

/* --- text of addresses --- */

static void addr_text(void **state)
{
	static const struct {
		const char *text, *canonical; /* NULL: refused */
	} rows[] = {
		{"10.1.2.3", "10.1.2.3"},
		{"0.0.0.0", "0.0.0.0"},
		{"255.255.255.255", "255.255.255.255"},
		{"::", "::"},
		{"::1", "::1"},
		{"2001:DB8::1", "2001:db8::1"},
		{"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
		{"5f00:0:100:e005::", "5f00:0:100:e005::"},
		{"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.1"},
		{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"", NULL},
		{"10.1.2", NULL},
		{"10.1.2.3.4", NULL},
		{"10.1.2.256", NULL},
		{"10.1.2.", NULL},
		{"010.1.2.3", NULL}, /* octal to some readers */
		{"0x0a.1.2.3", NULL},
		{"10.1.2.3 ", NULL},
		{" 10.1.2.3", NULL},
		{"10.1.2.3/32", NULL},
		{":", NULL},
		{":::", NULL},
		{"1::2::3", NULL},
		{"1:2:3:4:5:6:7", NULL},
		{"1:2:3:4:5:6:7:8:9", NULL},
		{"12345::", NULL},
		{"g::", NULL},
		{"fe80::1%eth0", NULL},
		{"[::1]", NULL},
		{"2001:db8::1\n", NULL},
		{"host", NULL},
	};
	char buf[IP_ADDR_TEXT];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr a = {.family = 99};
		int rc = ip_addr_parse(rows[i].text, &a);

		check(rc == (rows[i].canonical ? 0 : -EINVAL), "'%s'", rows[i].text);
		/* a refused text leaves the value alone */
		if (rc < 0)
			check(a.family == 99, "'%s'", rows[i].text);
		else
			check_text(rows[i].text, ip_addr_format(&a, buf), rows[i].canonical);
	}
	assert_string_equal(ip_addr_format(&(struct ip_addr){0}, buf), "-");
}

static void addr_values(void **state)
{
	struct ip_addr four = addr("10.1.2.3"), six = addr("2001:db8::8:7"), made;
	struct ip_addr none = {0};
	struct ipv6_addr v6 = ipv6_from(0x20010db800000000, 0x0000000000080007);
	char buf[IP_ADDR_TEXT];

	assert_int_equal(four.family, 4);
	assert_int_equal(ip_addr_bits(&four), 32);
	assert_int_equal(ip_addr_v4(&four), 0x0a010203);
	/* the bytes behind an IPv4 address are 0: some compare all sixteen */
	check_bytes("IPv4", four.b, 16, "0a010203 00000000 00000000 00000000");
	made = ip_addr_from4(0x0a010203);
	assert_memory_equal(&made, &four, sizeof(made));

	assert_int_equal(six.family, 6);
	assert_int_equal(ip_addr_bits(&six), 128);
	made = ip_addr_from6(&v6);
	assert_memory_equal(&made, &six, sizeof(made));
	assert_true(ipv6_hi(&six.v6) == 0x20010db800000000);
	assert_true(ipv6_lo(&six.v6) == 0x0000000000080007);
	assert_string_equal(ipv6_addr_format(&v6, buf), "2001:db8::8:7");

	assert_true(ip_addr_equal(&four, &four));
	assert_false(ip_addr_equal(&four, &six));
	made = addr("10.1.2.4");
	assert_false(ip_addr_equal(&four, &made));
	made = addr("a01:203::"); /* the same four bytes in the other family */
	assert_false(ip_addr_equal(&four, &made));
	assert_true(ip_addr_equal(&none, &none));
	assert_false(ip_addr_equal(&none, &four));
}

static void prefix_text(void **state)
{
	static const struct {
		const char *text, *canonical;
	} rows[] = {
		{"10.1.0.0/16", "10.1.0.0/16"},
		{"10.1.0.1/24", "10.1.0.1/24"}, /* an interface address keeps its bits */
		{"10.1.0.1", "10.1.0.1/32"},
		{"0.0.0.0/0", "0.0.0.0/0"},
		{"::/0", "::/0"},
		{"::1", "::1/128"},
		{"2001:db8::/33", "2001:db8::/33"},
		{"2001:db8::/128", "2001:db8::/128"},
		{"10.1.0.0/33", NULL},
		{"::/129", NULL},
		{"10.1.0.0/", NULL},
		{"10.1.0.0/-1", NULL},
		{"10.1.0.0/+8", NULL},
		{"10.1.0.0/ 8", NULL},
		{"10.1.0.0/8 ", NULL},
		{"10.1.0.0/8/8", NULL},
		{"10.1.0.0/0x8", NULL},
		{"10.1.0.0/255.0.0.0", NULL},
		{"10.1.0.0/4294967304", NULL},
		{"10.1.0.0/99999999999999999999999", NULL},
		{"/8", NULL},
		{"", NULL},
		{"10.1/16", NULL},
		{"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa/64", NULL},
	};
	char buf[IP_PREFIX_TEXT];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_prefix p = {.len = 99};
		int rc = ip_prefix_parse(rows[i].text, &p);

		check(rc == (rows[i].canonical ? 0 : -EINVAL), "'%s'", rows[i].text);
		if (rc < 0)
			check(p.len == 99, "'%s'", rows[i].text);
		else
			check_text(rows[i].text, ip_prefix_format(&p, buf), rows[i].canonical);
	}
}

static void mac_text(void **state)
{
	static const struct {
		const char *text, *canonical;
	} rows[] = {
		{"02:00:00:00:d0:0f", "02:00:00:00:d0:0f"},
		{"AB:CD:EF:ab:cd:ef", "ab:cd:ef:ab:cd:ef"},
		{"ff:ff:ff:ff:ff:ff", "ff:ff:ff:ff:ff:ff"},
		{"", NULL},
		{"02:00:00:00:d0", NULL},
		{"02:00:00:00:d0:0", NULL},
		{"02:00:00:00:d0:0f:", NULL},
		{"02:00:00:00:d0:0f:00", NULL},
		{"02-00-00-00-d0-0f", NULL},
		{"0200.0000.d00f", NULL},
		{"2:0:0:0:d0:f", NULL},
		{"02:00:00:00:d0:0g", NULL},
		{"02:00:00:00:d0:+1", NULL},
		{"02:00:00:00:d0:-1", NULL},
		{"02:00:00:00:d0: 1", NULL},
		{" 2:00:00:00:d0:01", NULL},
		{"0x:00:00:00:d0:01", NULL},
		{"02:00:00:00:d0:0f ", NULL},
		{"1:2:3:4:5:      6", NULL},
	};
	char buf[ETH_ADDR_TEXT];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct eth_addr a = {{0x77}};
		int rc = eth_addr_parse(rows[i].text, &a);

		check(rc == (rows[i].canonical ? 0 : -EINVAL), "'%s'", rows[i].text);
		if (rc < 0)
			check(a.b[0] == 0x77, "'%s'", rows[i].text);
		else
			check_text(rows[i].text, eth_addr_format(&a, buf), rows[i].canonical);
	}
}

/* --- prefixes --- */

static void prefix_contains_table(void **state)
{
	static const struct {
		const char *prefix, *addr;
		bool inside;
	} rows[] = {
		{"0.0.0.0/0", "255.255.255.255", true},
		{"0.0.0.0/0", "::", false},
		{"::/0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", true},
		{"::/0", "0.0.0.0", false},
		{"10.0.0.0/8", "10.255.255.255", true},
		{"10.0.0.0/8", "11.0.0.0", false},
		{"10.1.0.1/24", "10.1.0.255", true}, /* the subnet of an interface address */
		{"10.1.0.1/24", "10.1.1.0", false},
		{"10.8.0.0/13", "10.15.255.255", true},
		{"10.8.0.0/13", "10.16.0.0", false},
		{"10.1.0.6/31", "10.1.0.7", true},
		{"10.1.0.6/31", "10.1.0.5", false},
		{"10.1.0.6/32", "10.1.0.6", true},
		{"10.1.0.6/32", "10.1.0.7", false},
		{"5f00::/16", "5f00:0:100::", true},
		{"5f00::/32", "5f00:1::", false},
		{"2001:db8::/33", "2001:db8:7fff::", true},
		{"2001:db8::/33", "2001:db8:8000::", false},
		{"fe80::/10", "febf:ffff::1", true},
		{"fe80::/10", "fec0::1", false},
		{"2001:db8::1/127", "2001:db8::", true},
		{"2001:db8::1/127", "2001:db8::2", false},
		{"2001:db8::1/128", "2001:db8::1", true},
		{"2001:db8::1/128", "2001:db8::", false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_prefix p = prefix(rows[i].prefix);
		struct ip_addr a = addr(rows[i].addr);

		check(ip_prefix_contains(&p, &a) == rows[i].inside, "%s %s", rows[i].prefix, rows[i].addr);
	}
}

static unsigned int bit(const struct ip_addr *a, unsigned int i)
{
	return a->b[i / 8] >> (7 - i % 8) & 1;
}

/* Every length of both families, one bit at a time against the definition. */
static void prefix_every_length(void **state)
{
	uint64_t random = 3;

	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int len = 0; len <= 128; len++) {
			struct ip_prefix p = {.len = (uint8_t)len}, network, longer;
			unsigned int bits;

			for (unsigned int i = 0; i < 16; i++)
				p.addr.b[i] = (uint8_t)unit_random(&random);
			p.addr.family = round % 2 ? 6 : 4;
			bits = ip_addr_bits(&p.addr);
			if (len > bits)
				break;
			if (bits == 32)
				memset(p.addr.b + 4, 0, 12);
			network = ip_prefix_network(&p);
			check(network.len == len && network.addr.family == p.addr.family, "/%u", len);
			for (unsigned int i = 0; i < bits; i++) {
				struct ip_addr other = p.addr;

				check(bit(&network.addr, i) == (i < len ? bit(&p.addr, i) : 0), "/%u bit %u", len, i);
				other.b[i / 8] ^= (uint8_t)(0x80 >> i % 8);
				check(ip_prefix_contains(&p, &other) == (i >= len), "/%u bit %u", len, i);
				check(ip_prefix_contains(&network, &other) == (i >= len), "/%u bit %u", len, i);
			}
			check(ip_prefix_covers(&network, &p), "/%u", len);
			check(ip_prefix_covers(&p, &network), "/%u", len);
			longer = p;
			longer.len++;
			check(ip_prefix_covers(&network, &longer), "/%u", len);
			check(!ip_prefix_covers(&longer, &network), "/%u", len);
		}
	}
}

static void prefix_order(void **state)
{
	/* in the order that ip_prefix_compare promises: what covers comes before what is covered */
	static const char *const sorted[] = {"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/9", "10.1.0.0/16", "10.1.0.0/32",
		"10.128.0.0/9", "192.0.2.0/24", "::/0", "::/1", "::1/128", "2001:db8::/32", "2001:db8::/48",
		"2001:db8:0:1::/64", "8000::/1", "ff00::/8"};
	static const struct {
		const char *outer, *inner;
		bool covers;
	} rows[] = {
		{"0.0.0.0/0", "10.0.0.0/8", true},
		{"0.0.0.0/0", "0.0.0.0/0", true},
		{"10.0.0.0/8", "0.0.0.0/0", false},
		{"10.0.0.0/9", "10.0.0.0/8", false},
		{"10.0.0.0/8", "10.128.0.0/9", true},
		{"10.0.0.0/9", "10.128.0.0/9", false},
		{"::/0", "10.0.0.0/8", false},
		{"0.0.0.0/0", "2001:db8::/32", false},
		{"2001:db8::/32", "2001:db8::1/128", true},
		{"2001:db8::1/128", "2001:db8::1/128", true},
		{"2001:db8::1/128", "2001:db8::/127", false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(sorted); i++) {
		for (unsigned int k = 0; k < ARRAY_LEN(sorted); k++) {
			struct ip_prefix a = prefix(sorted[i]), b = prefix(sorted[k]);
			int d = ip_prefix_compare(&a, &b);

			check(i < k ? d < 0 : i > k ? d > 0 : d == 0, "%s %s", sorted[i], sorted[k]);
			check(ip_prefix_equal(&a, &b) == (i == k), "%s %s", sorted[i], sorted[k]);
		}
	}
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_prefix outer = prefix(rows[i].outer), inner = prefix(rows[i].inner);

		check(ip_prefix_covers(&outer, &inner) == rows[i].covers, "%s %s", rows[i].outer, rows[i].inner);
	}
}

/* --- kinds of addresses --- */

enum {
	MULTICAST = 1,
	UNSPECIFIED = 2,
	LOOPBACK = 4,
	LINK_LOCAL = 8,
};

static void addr_kinds(void **state)
{
	static const struct {
		const char *addr;
		unsigned int kind;
	} rows6[] = {
		{"::", UNSPECIFIED},
		{"::1", LOOPBACK},
		{"::2", 0},
		{"1::1", 0},
		{"ff02::1", MULTICAST},
		{"feff::1", 0},
		{"fe80::1", LINK_LOCAL},
		{"febf::1", LINK_LOCAL},
		{"fec0::1", 0},
		{"fe7f::1", 0},
		{"2001:db8::1", 0},
	};
	static const struct {
		const char *addr;
		bool bad_source, multicast, stays_on_link;
	} rows4[] = {
		{"0.0.0.0", true, false, true},
		{"0.0.0.1", false, false, true},
		{"255.255.255.255", true, false, false},
		{"127.0.0.1", true, false, true},
		{"127.255.255.255", true, false, true},
		{"126.255.255.255", false, false, false},
		{"128.0.0.0", false, false, false},
		{"169.253.255.255", false, false, false},
		{"169.254.0.0", false, false, true},
		{"169.254.255.255", false, false, true},
		{"169.255.0.0", false, false, false},
		{"223.255.255.255", false, false, false},
		{"224.0.0.1", true, true, false},
		{"239.255.255.255", true, true, false},
		{"10.1.0.1", false, false, false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows6); i++) {
		struct ip_addr a = addr(rows6[i].addr);
		unsigned int kind = (ipv6_is_multicast(&a.v6) ? MULTICAST : 0) |
				    (ipv6_is_unspecified(&a.v6) ? UNSPECIFIED : 0) |
				    (ipv6_is_loopback(&a.v6) ? LOOPBACK : 0) |
				    (ipv6_is_link_local(&a.v6) ? LINK_LOCAL : 0);

		check(kind == rows6[i].kind, "%s", rows6[i].addr);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(rows4); i++) {
		struct ip_addr a = addr(rows4[i].addr);

		check(!!ipv4_bad_source(ip_addr_v4(&a)) == rows4[i].bad_source, "%s", rows4[i].addr);
		check(!!ipv4_is_multicast(ip_addr_v4(&a)) == rows4[i].multicast, "%s", rows4[i].addr);
		check(!!ipv4_stays_on_link(ip_addr_v4(&a)) == rows4[i].stays_on_link, "%s", rows4[i].addr);
	}
}

/* RFC 4291 appendix A and section 2.7.1, RFC 2464 section 7. */
static void made_of_others(void **state)
{
	static const struct {
		const char *mac, *link_local;
	} eui64[] = {
		{"34:56:78:9a:bc:de", "fe80::3656:78ff:fe9a:bcde"}, /* the appendix's own example */
		{"02:00:00:00:05:00", "fe80::ff:fe00:500"},
		{"00:00:00:00:00:00", "fe80::200:ff:fe00:0"},
		{"fd:ff:ff:ff:ff:ff", "fe80::ffff:ffff:feff:ffff"},
	};
	static const struct {
		const char *addr, *group, *mac;
	} groups[] = {
		{"4037::01:800:200e:8c6c", "ff02::1:ff0e:8c6c", "33:33:ff:0e:8c:6c"}, /* section 2.7.1's own */
		{"fe80::5", "ff02::1:ff00:5", "33:33:ff:00:00:05"},
		{"2001:db8::ffff:ffff", "ff02::1:ffff:ffff", "33:33:ff:ff:ff:ff"},
		{"2001:db8::ff00:0", "ff02::1:ff00:0", "33:33:ff:00:00:00"},
	};
	char buf[IP_ADDR_TEXT], text[ETH_ADDR_TEXT];
	struct ip_addr all_nodes = addr("ff02::1");
	struct eth_addr m;

	for (unsigned int i = 0; i < ARRAY_LEN(eui64); i++) {
		struct eth_addr from = mac(eui64[i].mac);
		struct ipv6_addr a = ipv6_link_local_of(&from);

		check_text(eui64[i].mac, ipv6_addr_format(&a, buf), eui64[i].link_local);
	}
	for (unsigned int i = 0; i < ARRAY_LEN(groups); i++) {
		struct ip_addr a = addr(groups[i].addr);
		struct ipv6_addr group = nd_solicited_node(&a.v6);

		check_text(groups[i].addr, ipv6_addr_format(&group, buf), groups[i].group);
		m = nd_multicast_mac(&group);
		check_text(groups[i].addr, eth_addr_format(&m, text), groups[i].mac);
	}
	m = nd_multicast_mac(&all_nodes.v6);
	assert_string_equal(eth_addr_format(&m, text), "33:33:00:00:00:01");
}

static void mac_kinds(void **state)
{
	static const struct {
		const char *mac;
		bool multicast, zero;
	} rows[] = {
		{"00:00:00:00:00:00", false, true},
		{"00:00:00:00:00:01", false, false},
		{"01:00:00:00:00:00", true, false},
		{"ff:ff:ff:ff:ff:ff", true, false},
		{"33:33:00:00:00:01", true, false},
		{"02:00:00:00:00:00", false, false},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct eth_addr a = mac(rows[i].mac);

		check(eth_is_multicast(&a) == rows[i].multicast, "%s", rows[i].mac);
		check(eth_is_zero(&a) == rows[i].zero, "%s", rows[i].mac);
		for (unsigned int k = 0; k < ARRAY_LEN(rows); k++) {
			struct eth_addr b = mac(rows[k].mac);

			check(eth_equal(&a, &b) == (i == k), "%s %s", rows[i].mac, rows[k].mac);
		}
	}
}

static void header_fields(void **state)
{
	struct ipv6_hdr ip = {.vtc_flow = ipv6_vtc_flow(0xc5, 0xabcde)};
	struct ipv4_hdr ip4 = {.version_ihl = 0x4f};
	static const struct {
		uint8_t length;
		unsigned int bytes;
		int max_last_entry;
	} srh[] = {{0, 8, -1}, {1, 16, -1}, {2, 24, 0}, {3, 32, 0}, {4, 40, 1}, {32, 264, 15}, {255, 2048, 126}};

	check_bytes("vtc_flow", &ip.vtc_flow, 4, "6c5abcde");
	assert_int_equal(ipv6_tc(&ip), 0xc5);
	assert_int_equal(ipv6_flow_label(&ip), 0xabcde);
	ip.vtc_flow = ipv6_vtc_flow(0xff, 0xffffffff);
	check_bytes("label of more than 20 bits", &ip.vtc_flow, 4, "6fffffff");
	assert_int_equal(ipv4_header_bytes(&ip4), 60);
	/* RFC 8754 section 4.3.1.1 */
	for (unsigned int i = 0; i < ARRAY_LEN(srh); i++) {
		struct srh h = {.length = srh[i].length};

		check(srh_bytes(&h) == srh[i].bytes, "length %u", h.length);
		check(srh_max_last_entry(&h) == srh[i].max_last_entry, "length %u", h.length);
	}
	/* RFC 4443 section 2.1 */
	assert_true(icmp6_is_error(ICMP6_PARAM_PROBLEM));
	assert_true(icmp6_is_error(127));
	assert_false(icmp6_is_error(ICMP6_ECHO_REQUEST));
}

/* --- checksums --- */

static uint16_t sum_of(const char *hex)
{
	uint8_t bytes[512];
	size_t n = unit_bytes(hex, bytes, sizeof(bytes));

	return be16_get(checksum_finish(checksum_add(0, bytes, n)));
}

static void checksum_examples(void **state)
{
	/* RFC 1071 section 3: the sum of these words is ddf2 */
	assert_int_equal(sum_of("0001 f203 f4f5 f6f7"), 0xffff - 0xddf2);
	assert_int_equal(sum_of(""), 0xffff);
	assert_int_equal(sum_of("0000"), 0xffff);
	assert_int_equal(sum_of("ffff"), 0x0000);
	assert_int_equal(sum_of("ffff 0001"), 0xfffe); /* the carry comes around */
	/* an odd last byte counts as if a zero followed */
	assert_int_equal(sum_of("0001 f2"), sum_of("0001 f200"));
	assert_int_equal(sum_of("ab"), 0xffff - 0xab00);
	/* 4500+0073+4000+4011+c0a8+0001+c0a8+00c7 = 2479c, folded 479e */
	assert_int_equal(sum_of("4500 0073 0000 4000 4011 0000 c0a8 0001 c0a8 00c7"), 0xb861);
	/* the same with the checksum in place is 0: how a receiver verifies */
	assert_int_equal(sum_of("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7"), 0);
	/* RFC 1624 section 4: cd7a + 5555 sums to 22d0, with 3285 in its place to ffff */
	assert_int_equal(sum_of("cd7a 5555"), 0xdd2f);
	assert_int_equal(sum_of("cd7a 3285"), 0x0000);
}

static void checksum_chunks(void **state)
{
	static uint8_t bytes[70000];
	uint64_t random = 5;
	uint32_t sum;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)unit_random(&random);
	for (size_t size = 0; size < 300; size++)
		check(be16_get(checksum_finish(checksum_add(0, bytes, size))) == packet_sum(bytes, size), "%zu bytes",
			size);
	/* in chunks, of which only the last may be odd */
	for (size_t cut = 0; cut <= 100; cut += 2) {
		sum = checksum_add(checksum_add(0, bytes, cut), bytes + cut, 101 - cut);
		check(be16_get(checksum_finish(sum)) == packet_sum(bytes, 101), "cut at %zu", cut);
	}
	sum = checksum_add(0, bytes, sizeof(bytes));
	assert_int_equal(be16_get(checksum_finish(sum)), packet_sum(bytes, sizeof(bytes)));
	memset(bytes, 0xff, sizeof(bytes));
	sum = checksum_add(0xffffffff, bytes, sizeof(bytes));
	assert_int_equal(be16_get(checksum_finish(sum)), 0);
	assert_int_equal(be16_get(checksum_finish(0xffffffff)), 0);
	assert_int_equal(be16_get(checksum_finish(0x0001fffe)), 0);
}

/* RFC 8200 section 8.1: pseudo-header of addresses, 32-bit length, next header. */
static void checksum_pseudo(void **state)
{
	uint8_t udp[128], icmp[128];
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)udp;
	struct ip_addr a = addr("2001:db8::1"), b = addr("2001:db8::2");
	uint32_t sum;

	unit_bytes("6000 0000 000b 1140 20010db8000000000000000000000001 20010db8000000000000000000000002"
		   "12b7 12b7 000b ba92 616263",
		udp, sizeof(udp));
	sum = checksum_pseudo6(&ip->src, &ip->dst, 11, IP_PROTO_UDP);
	assert_int_equal(be16_get(checksum_finish(checksum_add(sum, udp + 40, 11))), 0);
	unit_bytes("6000 0000 000c 3a40 20010db8000000000000000000000001 20010db8000000000000000000000002"
		   "8000 3338 1234 0007 70696e67",
		icmp, sizeof(icmp));
	ip = (const struct ipv6_hdr *)icmp;
	sum = checksum_pseudo6(&ip->src, &ip->dst, 12, IP_PROTO_ICMP6);
	assert_int_equal(be16_get(checksum_finish(checksum_add(sum, icmp + 40, 12))), 0);
	/* 2*(2001+0db8) + 1 + 2 = 5b75; a length beyond 16 bits counts with both halves: +0001+0002+003a */
	sum = checksum_pseudo6(&a.v6, &b.v6, 0x10002, IP_PROTO_ICMP6);
	assert_int_equal(be16_get(checksum_finish(sum)), 0xffff - 0x5bb2);
}

/* The header's own stored sum must not matter, whatever it is; options count. */
static void checksum_header(void **state)
{
	uint8_t bytes[24];
	struct ipv4_hdr *ip = (struct ipv4_hdr *)bytes;

	unit_bytes("4500 0073 0000 4000 4011 0000 c0a8 0001 c0a8 00c7", bytes, sizeof(bytes));
	for (unsigned int stored = 0; stored <= 0xffff; stored++) {
		ip->checksum = be16((uint16_t)stored);
		check(be16_get(checksum_ipv4(ip)) == 0xb861, "stored 0x%04x", stored);
	}
	/* Router Alert in front of the payload: 9404 0000 more, and a header length of 6 words */
	unit_bytes("4600 0073 0000 4000 4011 ffff c0a8 0001 c0a8 00c7 9404 0000", bytes, sizeof(bytes));
	assert_int_equal(be16_get(checksum_ipv4(ip)), 0x235d);
}

/*
 * RFC 1624: the mended sum equals the recomputed one for every sum a header can have. The identification
 * takes the sum through all its values but 0xffff, which no sender computes; a receiver takes it for 0.
 */
static void ttl_every_checksum(void **state)
{
	static const uint8_t ttls[] = {1, 2, 64, 128, 255};
	static bool seen[65536];
	uint8_t bytes[20];
	struct ipv4_hdr *ip = (struct ipv4_hdr *)bytes;
	unsigned int n = 0;

	for (unsigned int t = 0; t < ARRAY_LEN(ttls); t++) {
		unit_bytes("4500 0073 0000 4000 4011 0000 c0a8 0001 c0a8 00c7", bytes, sizeof(bytes));
		memset(seen, 0, sizeof(seen));
		n = 0;
		for (unsigned int id = 0; id <= 0xffff; id++) {
			uint16_t before;

			ip->id = be16((uint16_t)id);
			ip->ttl = ttls[t];
			packet_seal4_header(ip);
			before = be16_get(ip->checksum);
			n += !seen[before];
			seen[before] = true;
			ipv4_decrement_ttl(ip);
			check(ip->ttl == ttls[t] - 1, "id 0x%04x", id);
			check(packet_sum(bytes, 20) == 0, "ttl %u, sum 0x%04x became 0x%04x", ttls[t], before,
				be16_get(ip->checksum));
			check(be16_get(ip->checksum) == be16_get(checksum_ipv4(ip)), "ttl %u, sum 0x%04x", ttls[t],
				before);
			if (before)
				continue;
			ip->ttl = ttls[t];
			ip->checksum = be16(0xffff);
			ipv4_decrement_ttl(ip);
			check(packet_sum(bytes, 20) == 0, "ttl %u, sum 0xffff", ttls[t]);
		}
		assert_int_equal(n, 65535);
		assert_false(seen[0xffff]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(big_endian),
		cmocka_unit_test(cursor_bounds),
		cmocka_unit_test(addr_text),
		cmocka_unit_test(addr_values),
		cmocka_unit_test(prefix_text),
		cmocka_unit_test(mac_text),
		cmocka_unit_test(prefix_contains_table),
		cmocka_unit_test(prefix_every_length),
		cmocka_unit_test(prefix_order),
		cmocka_unit_test(addr_kinds),
		cmocka_unit_test(made_of_others),
		cmocka_unit_test(mac_kinds),
		cmocka_unit_test(header_fields),
		cmocka_unit_test(checksum_examples),
		cmocka_unit_test(checksum_chunks),
		cmocka_unit_test(checksum_pseudo),
		cmocka_unit_test(checksum_header),
		cmocka_unit_test(ttl_every_checksum),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
