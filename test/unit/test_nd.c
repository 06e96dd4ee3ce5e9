/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbor Discovery and ARP messages: refused, read, written. */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "neigh/nd.h"
#include "test/support/packet.h"
#include "wire/arp.h"
#include "wire/icmp.h"

/* offsets in an IPv6 packet that holds a neighbour message */
#define AT_NEXT_HEADER 6
#define AT_HOP_LIMIT 7
#define AT_SRC 8
#define AT_DST 24
#define AT_ICMP 40
#define AT_CODE 41
#define AT_FLAGS 44
#define AT_TARGET 48
#define AT_OPTION 64

/* fe80::1, 02:00:00:00:d0:00 asks for fe80::5; made by another implementation */
#define SOLICIT \
	"6c000000 0020 3a ff fe800000000000000000000000000001 ff0200000000000000000001ff000005" \
	"87 00 aa91 00000000 fe800000000000000000000000000005 01 01 02000000d000"
/* the same as a probe: to fe80::5 itself */
#define PROBE \
	"6c000000 0020 3a ff fe800000000000000000000000000001 fe800000000000000000000000000005" \
	"87 00 aa15 00000000 fe800000000000000000000000000005 01 01 02000000d000"
/* the answer, with router, solicited and override set */
#define ADVERT \
	"6c000000 0020 3a ff fe800000000000000000000000000005 fe800000000000000000000000000001" \
	"88 00 9315 e0000000 fe800000000000000000000000000005 02 01 020000000500"
/* the same to all nodes, not solicited */
#define ADVERT_ALL \
	"6c000000 0020 3a ff fe800000000000000000000000000005 ff020000000000000000000000000001" \
	"88 00 d293 a0000000 fe800000000000000000000000000005 02 01 020000000500"

#define ARP_QUESTION "0001 0800 06 04 0001 02000000d000 0a010001 000000000000 0a0100fe"
#define ARP_ANSWER "0001 0800 06 04 0002 020000000a01 0a0100fe 02000000d000 0a010001"

/* The parser gets a copy of exactly this size, so that a read past its end is found. */
static int parse_exact(int (*parse)(const void *, size_t, struct nd_message *), const void *packet, size_t size,
	struct nd_message *out)
{
	uint8_t *copy = malloc(size ? size : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, packet, size);
	rc = parse(copy, size, out);
	free(copy);
	return rc;
}

static const char *summary(const struct nd_message *m)
{
	static const char *const kinds[] = {"solicit", "advert", "other"};
	static char text[256];
	char sender[IP_ADDR_TEXT], target[IP_ADDR_TEXT], mac[ETH_ADDR_TEXT];

	snprintf(text, sizeof(text), "%s from %s about %s mac %s%s%s", kinds[m->kind],
		ip_addr_format(&m->sender, sender), ip_addr_format(&m->target, target),
		m->has_mac ? eth_addr_format(&m->mac, mac) : "-", m->solicited ? " solicited" : "",
		m->override ? " override" : "");
	return text;
}

/* A packet with some bytes changed and lengths and checksum put right again. */
struct change {
	const char *what;
	const char *packet;
	struct {
		unsigned int at;
		const char *bytes;
	} set[3];
	const char *says; /* NULL: refused */
};

static void check_changes(const struct change *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint8_t packet[256];
		size_t size = unit_bytes(rows[i].packet, packet, sizeof(packet));
		struct nd_message m;
		int rc;

		for (unsigned int k = 0; k < ARRAY_LEN(rows[i].set) && rows[i].set[k].bytes; k++) {
			size_t end = rows[i].set[k].at;

			end += unit_bytes(rows[i].set[k].bytes, packet + end, sizeof(packet) - end);
			size = MAX_OF(size, end);
		}
		packet_seal6(packet, AT_ICMP, size);
		rc = parse_exact(nd_parse, packet, size, &m);
		check(rc == (rows[i].says ? 0 : -EINVAL), "%s: %d", rows[i].what, rc);
		if (rows[i].says)
			check_text(rows[i].what, summary(&m), rows[i].says);
	}
}

/* RFC 4861 sections 7.1.1 (solicitations) and 7.1.2 (advertisements), rule by rule. */
static void nd_rules(void **state)
{
	static const struct change rows[] = {
		{"7.1.1: as it should be", SOLICIT, {{0}}, "solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00"},
		{"7.1.2: as it should be", ADVERT, {{0}},
			"advert from fe80::5 about fe80::5 mac 02:00:00:00:05:00 solicited override"},
		{"probe", PROBE, {{0}}, "solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00"},

		{"7.1.1: hop limit 254", SOLICIT, {{AT_HOP_LIMIT, "fe"}}, NULL},
		{"7.1.1: hop limit 0", SOLICIT, {{AT_HOP_LIMIT, "00"}}, NULL},
		{"7.1.2: hop limit 254", ADVERT, {{AT_HOP_LIMIT, "fe"}}, NULL},
		{"not ICMPv6 but UDP", SOLICIT, {{AT_NEXT_HEADER, "11"}}, NULL},
		{"7.1.1: code 1", SOLICIT, {{AT_CODE, "01"}}, NULL},
		{"7.1.2: code 1", ADVERT, {{AT_CODE, "01"}}, NULL},
		{"7.1.1: target multicast", SOLICIT, {{AT_TARGET, "ff020000000000000000000000000001"}}, NULL},
		{"7.1.2: target multicast", ADVERT, {{AT_TARGET, "ff020000000000000000000000000001"}}, NULL},
		{"target unspecified", SOLICIT, {{AT_TARGET, "00000000000000000000000000000000"}}, NULL},
		{"7.1.1: option of length 0", SOLICIT, {{AT_OPTION, "01 00"}}, NULL},
		{"7.1.2: option of length 0", ADVERT, {{AT_OPTION, "02 00"}}, NULL},
		{"7.1.1: unknown option of length 0 at the end", SOLICIT, {{AT_OPTION + 8, "0e 00 000000000000"}},
			NULL},
		{"option longer than what is left", SOLICIT, {{AT_OPTION, "01 02"}}, NULL},
		{"option of the greatest length", SOLICIT, {{AT_OPTION, "01 ff"}}, NULL},
		{"half an option header at the end", SOLICIT, {{AT_OPTION + 8, "0e"}}, NULL},
		{"7.1.2: solicited, to a group", ADVERT_ALL, {{AT_FLAGS, "e0"}}, NULL},
		{"7.1.2: not solicited, to a group", ADVERT_ALL, {{0}},
			"advert from fe80::5 about fe80::5 mac 02:00:00:00:05:00 override"},

		/* duplicate address detection: unspecified source */
		{"7.1.1: unspecified source with a link-layer address", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"}}, NULL},
		{"7.1.1: the same with an odd length of the option", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"},
				{AT_OPTION, "01 02 0200 0000 d000 0000 0000 0000 0000"}},
			NULL},
		{"7.1.1: unspecified source, to the target itself", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"}, {AT_OPTION, "0e"},
				{AT_DST, "fe800000000000000000000000000005"}},
			NULL},
		{"7.1.1: unspecified source, to all nodes", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"}, {AT_OPTION, "0e"},
				{AT_DST, "ff020000000000000000000000000001"}},
			NULL},
		{"7.1.1: unspecified source, to a group that only looks like it", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"}, {AT_OPTION, "0e"},
				{AT_DST, "ff0200000000000000000001fe000005"}},
			NULL},
		{"7.1.1: unspecified source, to the solicited-node group", SOLICIT,
			{{AT_SRC, "00000000000000000000000000000000"}, {AT_OPTION, "0e"}},
			"solicit from - about fe80::5 mac -"},

		/* what must be ignored is ignored (RFC 4861 section 4.3: reserved fields and unknown options) */
		{"reserved bits set", SOLICIT, {{AT_FLAGS, "ffffffff"}},
			"solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00"},
		{"unknown option in front", SOLICIT, {{AT_OPTION, "0e 01 112233445566 01 01 02000000d000"}},
			"solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00"},
		{"unknown option behind", SOLICIT, {{AT_OPTION + 8, "ff 02 0000 000000000000 000000000000"}},
			"solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00"},
		{"target's option in a solicitation", SOLICIT, {{AT_OPTION, "02"}},
			"solicit from fe80::1 about fe80::5 mac -"},
		{"source's option in an advertisement", ADVERT, {{AT_OPTION, "01"}},
			"advert from fe80::5 about fe80::5 mac - solicited override"},
		{"neither solicited nor override", ADVERT, {{AT_FLAGS, "80"}},
			"advert from fe80::5 about fe80::5 mac 02:00:00:00:05:00"},
		{"solicited alone", ADVERT, {{AT_FLAGS, "40"}},
			"advert from fe80::5 about fe80::5 mac 02:00:00:00:05:00 solicited"},
		{"override alone", ADVERT, {{AT_FLAGS, "20"}},
			"advert from fe80::5 about fe80::5 mac 02:00:00:00:05:00 override"},

		/* a MAC that no station can have */
		{"multicast MAC", SOLICIT, {{AT_OPTION, "01 01 3333ff000005"}}, NULL},
		{"broadcast MAC", ADVERT, {{AT_OPTION, "02 01 ffffffffffff"}}, NULL},
		{"zero MAC", ADVERT, {{AT_OPTION, "02 01 000000000000"}}, NULL},
		{"link-layer address of another length", SOLICIT,
			{{AT_OPTION, "01 02 0200 0000 d000 0000 0000 0000 0000"}}, NULL},

		/* other ICMPv6 messages are not for this function, and not invalid */
		{"router solicitation", SOLICIT, {{AT_ICMP, "85"}}, "other from - about - mac -"},
		{"router advertisement", SOLICIT, {{AT_ICMP, "86"}}, "other from - about - mac -"},
		{"redirect", SOLICIT, {{AT_ICMP, "89"}}, "other from - about - mac -"},
		{"router advertisement with a code", SOLICIT, {{AT_ICMP, "8601"}}, NULL},
	};

	check_changes(rows, ARRAY_LEN(rows));
}

static void nd_checksum(void **state)
{
	uint8_t packet[72];
	struct nd_message m;
	size_t size = unit_bytes(SOLICIT, packet, sizeof(packet));

	assert_int_equal(nd_parse(packet, size, &m), 0);
	/* any single bit that the checksum covers */
	for (unsigned int i = AT_SRC * 8; i < size * 8; i++) {
		packet[i / 8] ^= (uint8_t)(1 << i % 8);
		check(nd_parse(packet, size, &m) == -EINVAL, "byte %u bit %u", i / 8, i % 8);
		packet[i / 8] ^= (uint8_t)(1 << i % 8);
	}
	assert_int_equal(nd_parse(packet, size, &m), 0);
}

/* Cut short anywhere, with the length field left as it was and with it telling the truth. */
static void nd_truncated(void **state)
{
	static const char *const packets[] = {SOLICIT, ADVERT};

	for (unsigned int i = 0; i < ARRAY_LEN(packets); i++) {
		for (size_t cut = 0; cut < 72; cut++) {
			uint8_t packet[72];
			struct nd_message m;
			int rc;

			unit_bytes(packets[i], packet, sizeof(packet));
			check(parse_exact(nd_parse, packet, cut, &m) == -EINVAL, "packet %u, %zu bytes", i, cut);
			if (cut < AT_ICMP)
				continue;
			packet_seal6(packet, AT_ICMP, cut);
			rc = parse_exact(nd_parse, packet, cut, &m);
			/* without any option it is still a message */
			check(rc == (cut == AT_OPTION ? 0 : -EINVAL), "packet %u, %zu bytes, sealed", i, cut);
			if (rc == 0)
				assert_false(m.has_mac);
		}
	}
}

/* Ethernet pads short frames; bytes after the IPv6 length are not part of the message. */
static void nd_padded(void **state)
{
	uint8_t packet[100];
	struct nd_message m;

	memset(packet, 0xee, sizeof(packet));
	unit_bytes(SOLICIT, packet, sizeof(packet));
	assert_int_equal(nd_parse(packet, sizeof(packet), &m), 0);
	assert_string_equal(summary(&m), "solicit from fe80::1 about fe80::5 mac 02:00:00:00:d0:00");
}

/* For every input, no byte is read past the end, and no impossible value is accepted. */
static void nd_garbage(void **state)
{
	static const char *const packets[] = {SOLICIT, ADVERT, ADVERT_ALL, PROBE};
	uint64_t random = 17;
	unsigned int accepted = 0;

	for (unsigned int round = 0; round < 50000; round++) {
		uint8_t packet[128] = {0};
		size_t size = unit_bytes(packets[round % 4], packet, sizeof(packet));
		struct nd_message m;

		for (unsigned int k = unit_random(&random) % 4; k; k--)
			packet[AT_ICMP + unit_random(&random) % (size - AT_ICMP + 8)] = (uint8_t)unit_random(&random);
		size += unit_random(&random) % 3 * 8;
		packet_seal6(packet, AT_ICMP, size);
		if (parse_exact(nd_parse, packet, size, &m) < 0 || m.kind == ND_OTHER)
			continue;
		accepted++;
		assert_int_equal(m.target.family, 6);
		assert_false(ipv6_is_multicast(&m.target.v6));
		if (m.has_mac)
			assert_false(eth_is_multicast(&m.mac) || eth_is_zero(&m.mac));
	}
	assert_true(accepted > 1000);
}

static void nd_golden(void **state)
{
	struct ip_addr own, peer, group, all;
	struct eth_addr own_mac, peer_mac;
	uint8_t out[ND_MESSAGE_MAX];
	size_t n;

	ip_addr_parse("fe80::1", &own);
	ip_addr_parse("fe80::5", &peer);
	ip_addr_parse("ff02::1", &all);
	eth_addr_parse("02:00:00:00:d0:00", &own_mac);
	eth_addr_parse("02:00:00:00:05:00", &peer_mac);
	group = ip_addr_from6(&(struct ipv6_addr){{0}});
	group.v6 = nd_solicited_node(&peer.v6);

	memset(out, 0xee, sizeof(out));
	n = nd_write_solicit(out, &own.v6, &group.v6, &peer.v6, &own_mac);
	check_bytes("solicitation to the group", out, n, SOLICIT);
	memset(out, 0xee, sizeof(out));
	n = nd_write_solicit(out, &own.v6, &peer.v6, &peer.v6, &own_mac);
	check_bytes("solicitation to the station", out, n, PROBE);
	memset(out, 0xee, sizeof(out));
	n = nd_write_advert(out, &peer.v6, &own.v6, &peer.v6, &peer_mac, true);
	check_bytes("solicited advertisement", out, n, ADVERT);
	memset(out, 0xee, sizeof(out));
	n = nd_write_advert(out, &peer.v6, &all.v6, &peer.v6, &peer_mac, false);
	check_bytes("advertisement to all nodes", out, n, ADVERT_ALL);
}

static struct ip_addr random_unicast(uint64_t *random)
{
	struct ip_addr a = {.family = 6};

	for (unsigned int i = 0; i < 16; i++)
		a.b[i] = (uint8_t)unit_random(random);
	a.b[0] = 0x20;
	return a;
}

/* The parsers accept the writers' messages and read the same values. */
static void nd_written_is_read(void **state)
{
	uint64_t random = 23;

	for (unsigned int i = 0; i < 2000; i++) {
		struct ip_addr src = random_unicast(&random), dst = random_unicast(&random);
		struct ip_addr target = random_unicast(&random);
		struct eth_addr mac = {{0x02, (uint8_t)i, (uint8_t)(i >> 8), 3, 4, 5}};
		uint8_t out[ND_MESSAGE_MAX];
		struct nd_message m;
		bool solicited = i & 1;
		size_t n;

		n = nd_write_solicit(out, &src.v6, &dst.v6, &target.v6, &mac);
		assert_int_equal(parse_exact(nd_parse, out, n, &m), 0);
		assert_int_equal(m.kind, ND_SOLICIT);
		assert_true(ip_addr_equal(&m.sender, &src) && ip_addr_equal(&m.target, &target));
		assert_true(m.has_mac && eth_equal(&m.mac, &mac));

		n = nd_write_advert(out, &src.v6, &dst.v6, &target.v6, &mac, solicited);
		assert_int_equal(parse_exact(nd_parse, out, n, &m), 0);
		assert_int_equal(m.kind, ND_ADVERT);
		assert_true(ip_addr_equal(&m.target, &target) && eth_equal(&m.mac, &mac));
		assert_true(m.override && m.solicited == solicited);
	}
}

/* --- ARP --- */

static void arp_rules(void **state)
{
	static const struct {
		const char *what, *packet;
		unsigned int at;
		const char *bytes, *says;
	} rows[] = {
		{"question", ARP_QUESTION, 0, "", "solicit from 10.1.0.1 about 10.1.0.254 mac 02:00:00:00:d0:00"},
		{"answer", ARP_ANSWER, 0, "",
			"advert from 10.1.0.254 about 10.1.0.254 mac 02:00:00:00:0a:01 solicited override"},
		{"RFC 5227: probe, no sender address", ARP_QUESTION, 14, "00000000",
			"solicit from - about 10.1.0.254 mac 02:00:00:00:d0:00"},
		{"target hardware address of a question is not looked at", ARP_QUESTION, 18, "ffffffffffff",
			"solicit from 10.1.0.1 about 10.1.0.254 mac 02:00:00:00:d0:00"},
		{"RFC 5227: an announcement proves nothing", ARP_ANSWER, 24, "0a0100fe",
			"advert from 10.1.0.254 about 10.1.0.254 mac 02:00:00:00:0a:01 override"},
		{"an announcement to nobody", ARP_ANSWER, 24, "00000000",
			"advert from 10.1.0.254 about 10.1.0.254 mac 02:00:00:00:0a:01 override"},
		{"hardware type 6", ARP_QUESTION, 0, "0006", NULL},
		{"protocol IPv6", ARP_QUESTION, 2, "86dd", NULL},
		{"hardware address of 8 bytes", ARP_QUESTION, 4, "08", NULL},
		{"protocol address of 16 bytes", ARP_QUESTION, 5, "10", NULL},
		{"operation 0", ARP_QUESTION, 6, "0000", NULL},
		{"operation 3 (RARP)", ARP_QUESTION, 6, "0003", NULL},
		{"operation 256", ARP_QUESTION, 6, "0100", NULL},
		{"multicast sender", ARP_QUESTION, 8, "0100", NULL},
		{"broadcast sender", ARP_ANSWER, 8, "ffffffffffff", NULL},
		{"zero sender", ARP_ANSWER, 8, "000000000000", NULL},
		{"answer about no address (found by fuzzing)", ARP_ANSWER, 14, "00000000", NULL},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t packet[28];
		size_t size = unit_bytes(rows[i].packet, packet, sizeof(packet));
		struct nd_message m;
		int rc;

		unit_bytes(rows[i].bytes, packet + rows[i].at, size - rows[i].at);
		rc = parse_exact(arp_parse, packet, size, &m);
		check(rc == (rows[i].says ? 0 : -EINVAL), "%s: %d", rows[i].what, rc);
		if (rows[i].says)
			check_text(rows[i].what, summary(&m), rows[i].says);
	}
}

static void arp_sizes(void **state)
{
	uint8_t packet[46] = {0}; /* as padded by Ethernet */
	struct nd_message m;

	unit_bytes(ARP_ANSWER, packet, sizeof(packet));
	for (size_t size = 0; size <= sizeof(packet); size++)
		check(parse_exact(arp_parse, packet, size, &m) == (size < 28 ? -EINVAL : 0), "%zu bytes", size);
}

static void arp_golden(void **state)
{
	struct eth_addr own = {{0x02, 0, 0, 0, 0xd0, 0}}, peer = {{0x02, 0, 0, 0, 0x0a, 0x01}};
	uint8_t out[ND_MESSAGE_MAX];
	struct nd_message m;
	size_t n;

	memset(out, 0xee, sizeof(out));
	n = arp_write(out, ARP_OP_REQUEST, &own, 0x0a010001, NULL, 0x0a0100fe);
	check_bytes("question", out, n, ARP_QUESTION);
	assert_int_equal(parse_exact(arp_parse, out, n, &m), 0);
	assert_int_equal(m.kind, ND_SOLICIT);
	memset(out, 0xee, sizeof(out));
	n = arp_write(out, ARP_OP_REPLY, &peer, 0x0a0100fe, &own, 0x0a010001);
	check_bytes("answer", out, n, ARP_ANSWER);
	assert_int_equal(parse_exact(arp_parse, out, n, &m), 0);
	assert_int_equal(m.kind, ND_ADVERT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nd_rules),
		cmocka_unit_test(nd_checksum),
		cmocka_unit_test(nd_truncated),
		cmocka_unit_test(nd_padded),
		cmocka_unit_test(nd_garbage),
		cmocka_unit_test(nd_golden),
		cmocka_unit_test(nd_written_is_read),
		cmocka_unit_test(arp_rules),
		cmocka_unit_test(arp_sizes),
		cmocka_unit_test(arp_golden),
	};

	return cmocka_run_group_tests_name("nd", tests, NULL, NULL);
}
