/* SPDX-License-Identifier: BSD-3-Clause */
/* ping and traceroute of a whole node whose neighbour is the test: what is sent, matched, refused and told. */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "command/command.h"
#include "icmp/icmp.h"
#include "service/icmp/probe.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/checksum.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/srh.h"

#define YAML \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: wan0, device: net_null0, side: wan, addresses: [\"fd00:a::1/64\"], mtu: 1600}\n" \
		"  - {name: dc0, device: net_null1, side: dc, vrf: blue, addresses: [10.1.0.1/24, " \
		"\"2001:db8:1::1/64\"]}\n" \
		"neighbors:\n" \
		"  - {port: wan0, address: \"fd00:a::2\", mac: \"02:00:00:00:a0:00\"}\n" \
		"  - {port: dc0, address: 10.1.0.9, mac: \"02:00:00:00:b0:00\"}\n" \
		"routes: [{prefix: \"5f00::/16\", port: wan0, nexthop: \"fd00:a::2\"}," \
		" {prefix: \"fd00:0::/32\", port: wan0, nexthop: \"fd00:a::2\"}]\n" \
		"vrfs: [{name: blue, routes: [{prefix: 10.3.0.0/24, policy: east}]}, {name: empty}]\n" \
		"remote-sids: [{sid: \"5f00:0:600:e601::/64\", owner: far, behavior: uDT46}]\n" \
		"policies:\n" \
		"  - {name: east, paths: [{name: north, segments: [\"5f00:0:200::\", \"5f00:0:300:e301::\"]}," \
		" {name: south, segments: [\"5f00:0:500::\", \"5f00:0:300:e301::\"]}]}\n"

static struct testbed *bed;
static struct command_later later;
static struct command_host host;
static char *told;

static int set_up(void **state)
{
	(void)state;
	bed = testbed_new(YAML);
	host = (struct command_host){.node = bed->node, .later = &later, .version = "0"};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(told);
	told = NULL;
	command_stop(bed->node, &later);
	testbed_settle(bed, 20);
	testbed_free(bed);
	return 0;
}

/* Run a line, or go on if it is NULL; the output is in `told`. */
static int run(const char *line)
{
	size_t size;
	FILE *f;
	int rc;

	free(told);
	told = NULL;
	f = open_memstream(&told, &size);
	assert_non_null(f);
	rc = line ? command_run(&host, line, f) : command_go_on(&host, f);
	fclose(f);
	return rc;
}

/* Wait for the end, and return the result. */
static json_t *result(int expected)
{
	json_t *v;
	int rc = -EINPROGRESS;

	for (unsigned int i = 0; i < 20000 && rc == -EINPROGRESS; i++) {
		testbed_pass(bed, 10 * NSEC_PER_MSEC, NSEC_PER_MSEC);
		rc = run(NULL);
	}
	check(rc == expected, "%d: %s", rc, told);
	v = json_loads(told, 0, NULL);
	check(v, "%s", told);
	if (json_object_get(v, "result")) {
		json_t *inner = json_incref(json_object_get(v, "result"));

		json_decref(v);
		v = inner;
	}
	return v;
}

static long long number(json_t *v, const char *key)
{
	json_t *n = json_object_get(v, key);

	check(json_is_integer(n), "%s in %s", key, told);
	return json_integer_value(n);
}

static const char *row_text(json_t *v, const char *rows, unsigned int i, const char *key)
{
	const char *text = json_string_value(json_object_get(json_array_get(json_object_get(v, rows), i), key));

	return text ? text : "(null)";
}

/* The IP packet in the next frame sent by a port; NULL: none. */
static uint8_t *taken(unsigned int port, uint32_t *size)
{
	static uint8_t packet[10240];
	struct sent_frame *f = fake_port_take(bed->port[port]);

	if (!f)
		return NULL;
	assert_true(f->size - 14 <= sizeof(packet));
	memcpy(packet, f->bytes + 14, f->size - 14);
	*size = packet[0] >> 4 == 6 ? 40u + be16_get(((struct ipv6_hdr *)packet)->payload_length)
				    : be16_get(((struct ipv4_hdr *)packet)->total_length);
	free(f);
	return packet;
}

static void give(unsigned int port, const void *packet, size_t size)
{
	uint8_t frame[2048] = {0x02, 0, 0, 0, 0xd0, (uint8_t)port, 0x02, 0, 0, 0, port ? 0xb0 : 0xa0, 0, 0x86, 0xdd};

	if (*(const uint8_t *)packet >> 4 == 4)
		memcpy(frame + 12, "\x08", 2);
	memcpy(frame + 14, packet, size);
	fake_port_receive(bed->port[port], 0, frame, (uint32_t)(14 + size), 0);
	testbed_settle(bed, 20);
}

static void error_from(unsigned int port, const char *router, const void *packet, size_t size, uint8_t type,
	uint8_t code)
{
	struct icmp_error error = {type, code, 0};
	uint8_t out[ICMP_ERROR_MAX];
	struct ip_addr a;
	size_t n;

	assert_int_equal(ip_addr_parse(router, &a), 0);
	n = icmp_write_error(out, packet, size, &a, &error);
	assert_true(n);
	give(port, out, n);
}

/* A tenant on the link, in a VRF: replies, one of them lost; the times are those between sending and hearing. */
static void pings_a_host(void **state)
{
	uint32_t size;
	uint8_t *p;
	json_t *v;

	(void)state;
	assert_int_equal(run("ping 10.1.0.9 count 3 vrf blue interval 100 -j"), -EINPROGRESS);
	assert_string_equal(told, "");
	testbed_settle(bed, 20);
	p = taken(1, &size);
	assert_non_null(p);
	assert_int_equal(size, 20 + 8 + 56);
	assert_int_equal(p[8], 64);
	assert_int_equal(be32_get(((struct ipv4_hdr *)p)->src), 0x0a010001);
	assert_null(taken(1, &size)); /* the next one is sent later */
	testbed_pass(bed, 2 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(icmp_make_echo_reply(p, 20, 84));
	give(1, p, 84);
	give(1, p, 84); /* a second reply does not count */
	testbed_pass(bed, 100 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_non_null(taken(1, &size)); /* lost */
	testbed_pass(bed, 100 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	p = taken(1, &size);
	assert_non_null(p);
	assert_int_equal(run(NULL), -EINPROGRESS);
	assert_true(icmp_make_echo_reply(p, 20, 84));
	give(1, p, 84);
	v = result(0);
	assert_int_equal(number(v, "sent"), 3);
	assert_int_equal(number(v, "replies"), 2);
	assert_string_equal(row_text(v, "answers", 0, "answer"), "reply");
	assert_string_equal(row_text(v, "answers", 0, "from"), "10.1.0.9");
	assert_string_equal(row_text(v, "answers", 1, "answer"), "lost");
	assert_string_equal(row_text(v, "answers", 2, "answer"), "reply");
	assert_in_range(number(v, "rtt_most_us"), 2000, 3000);
	assert_string_equal(json_string_value(json_object_get(v, "from")), "10.1.0.1");
	assert_string_equal(json_string_value(json_object_get(v, "vrf")), "blue");
	assert_true(json_is_null(json_object_get(v, "policy")));
	json_decref(v);
	assert_null(taken(1, &size));
}

static void seal(uint8_t *reply)
{
	struct icmp_hdr *icmp = (struct icmp_hdr *)(reply + 20);

	icmp->checksum = be16(0);
	icmp->checksum = checksum_finish(checksum_add(0, icmp, 64));
}

/* Replies that are not to this probe: other data, another table, from before. */
static void forged_replies_do_not_count(void **state)
{
	uint8_t reply[84], *p;
	uint32_t size;
	json_t *v;

	(void)state;
	assert_int_equal(run("ping 10.1.0.9 count 1 vrf blue timeout 50 -j"), -EINPROGRESS);
	testbed_settle(bed, 20);
	p = taken(1, &size);
	assert_non_null(p);
	memcpy(reply, p, sizeof(reply));
	assert_true(icmp_make_echo_reply(reply, 20, 84));
	reply[28] ^= 1; /* the nonce */
	seal(reply);
	give(1, reply, 84);
	v = result(-ETIMEDOUT);
	assert_int_equal(number(v, "replies"), 0);
	assert_string_equal(row_text(v, "answers", 0, "answer"), "lost");
	json_decref(v);
	/* too late, and nobody waits */
	reply[28] ^= 1;
	seal(reply);
	give(1, reply, 84);
	assert_int_equal(run("ping 10.1.0.9 count 1 vrf blue timeout 50 -j"), -EINPROGRESS);
	give(1, reply, 84);
	v = result(-ETIMEDOUT);
	json_decref(v);
	assert_non_null(taken(1, &size));
}

/* To the end of a path: ICMP follows the outer headers, and its checksum is that of the last SID. */
static void pings_the_end_of_a_path(void **state)
{
	struct ip_addr last;
	struct ipv6_hdr *ip;
	uint32_t size;
	json_t *v;

	(void)state;
	assert_int_equal(run("ping policy east path south count 1 -j"), -EINPROGRESS);
	testbed_settle(bed, 20);
	ip = (struct ipv6_hdr *)taken(0, &size);
	assert_non_null(ip);
	assert_int_equal(ip->next_header, IP_PROTO_ICMP6);
	assert_true(ipv6_equal(&ip->src, &bed->node->snapshot->loopback));
	assert_int_equal(ipv6_hi(&ip->dst), 0x5f00000005000300ull);
	/* its uSIDs are used up on the way */
	assert_int_equal(ip_addr_parse("5f00:0:e301::", &last), 0);
	ip->dst = last.v6;
	assert_true(icmp_make_echo_reply(ip, 40, size));
	give(0, ip, size);
	v = result(0);
	assert_string_equal(json_string_value(json_object_get(v, "path")), "south");
	assert_string_equal(row_text(v, "answers", 0, "from"), "5f00:0:e301::");
	json_decref(v);
	/* two ids that are known to be one SID are not used up */
	assert_int_equal(run("ping sid 5f00:0:200:600:e601:: count 1 -j"), -EINPROGRESS);
	testbed_settle(bed, 20);
	ip = (struct ipv6_hdr *)taken(0, &size);
	assert_non_null(ip);
	assert_int_equal(ip_addr_parse("5f00:0:600:e601::", &last), 0);
	ip->dst = last.v6;
	assert_true(icmp_is_intact(ip, 40, size));
}

/* Through a tunnel to a host of a VRF. */
static void pings_through_a_path(void **state)
{
	struct ipv6_hdr *ip;
	uint32_t size;
	uint8_t *inner;
	json_t *v;

	(void)state;
	assert_int_equal(run("ping policy east vrf blue to 10.3.0.9 count 1 size 100 -j"), -EINPROGRESS);
	testbed_settle(bed, 20);
	ip = (struct ipv6_hdr *)taken(0, &size);
	assert_non_null(ip);
	assert_int_equal(ip->next_header, IP_PROTO_IPV4);
	assert_int_equal(size, 40 + 20 + 8 + 100);
	inner = (uint8_t *)(ip + 1);
	assert_int_equal(be32_get(((struct ipv4_hdr *)inner)->src), 0x0a010001);
	assert_int_equal(be32_get(((struct ipv4_hdr *)inner)->dst), 0x0a030009);
	/* from anywhere in the table */
	assert_true(icmp_make_echo_reply(inner, 20, 128));
	give(1, inner, 128);
	v = result(0);
	assert_string_equal(json_string_value(json_object_get(v, "path")), "north");
	json_decref(v);
	/* in the table by itself it takes the same way, as tenants do */
	assert_int_equal(run("ping 10.3.0.9 vrf blue count 1 timeout 10"), -EINPROGRESS);
	testbed_settle(bed, 20);
	ip = (struct ipv6_hdr *)taken(0, &size);
	assert_non_null(ip);
	assert_int_equal(ip->next_header, IP_PROTO_IPV4);
	while (run(NULL) == -EINPROGRESS)
		testbed_pass(bed, NSEC_PER_MSEC, NSEC_PER_MSEC);
	check(strstr(told, "ping: no reply to any of 1 requests\n"), "%s", told);
}

/* Hop by hop on a path, by the outer hop limit: a silent node, then the end. */
static void traces_a_path(void **state)
{
	static const char *const routers[] = {"fd00:a::2", NULL, "fd00:0:3::1"};
	json_t *v, *hops;

	(void)state;
	assert_int_equal(run("traceroute policy east to 10.3.0.9 vrf blue timeout 100 -j"), -EINPROGRESS);
	for (unsigned int hop = 1; hop <= 4; hop++) {
		testbed_settle(bed, 20);
		for (unsigned int i = 0; i < PROBE_PER_HOP; i++) {
			uint32_t size;
			uint8_t *p = taken(0, &size);

			check(p, "hop %u, request %u", hop, i);
			assert_int_equal(((struct ipv6_hdr *)p)->hop_limit, hop);
			assert_int_equal(p[40 + 8], 64);
			if (hop == 4) {
				assert_true(icmp_make_echo_reply(p + 40, 20, size - 40));
				give(1, p + 40, size - 40);
			} else if (routers[hop - 1] && !(hop == 3 && i == 1)) {
				error_from(0, routers[hop - 1], p, size, ICMP6_TIME_EXCEEDED, 0);
			}
		}
		testbed_pass(bed, hop == 2 || hop == 3 ? 110 * NSEC_PER_MSEC : NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
	v = result(0);
	hops = json_object_get(v, "hops");
	assert_int_equal(json_array_size(hops), 4);
	assert_true(json_is_true(json_object_get(v, "reached")));
	assert_string_equal(row_text(v, "hops", 0, "answer"), "time-exceeded");
	assert_string_equal(row_text(v, "hops", 1, "answer"), "lost");
	assert_string_equal(row_text(v, "hops", 3, "answer"), "reply");
	assert_string_equal(json_string_value(json_array_get(json_object_get(json_array_get(hops, 0), "from"), 0)),
		"fd00:a::2");
	assert_int_equal(json_array_size(json_object_get(json_array_get(hops, 0), "from")), 1);
	assert_int_equal(json_array_size(json_object_get(json_array_get(hops, 1), "from")), 0);
	assert_true(json_is_null(json_array_get(json_object_get(json_array_get(hops, 2), "rtt_us"), 1)));
	assert_true(json_is_integer(json_array_get(json_object_get(json_array_get(hops, 2), "rtt_us"), 2)));
	json_decref(v);
}

/* It ends where somebody says that there is no way, and after so many hops. */
static void traces_end(void **state)
{
	uint32_t size;
	uint8_t *p;
	json_t *v;

	(void)state;
	assert_int_equal(run("traceroute sid 5f00:0:200::,5f00:0:300:: -j"), -EINPROGRESS);
	testbed_settle(bed, 20);
	for (unsigned int i = 0; i < PROBE_PER_HOP; i++) {
		p = taken(0, &size);
		assert_non_null(p);
		assert_int_equal(((struct srh *)(p + 40))->segments_left, 1);
		error_from(0, "fd00:a::2", p, size, ICMP6_UNREACHABLE, 0);
	}
	v = result(-ETIMEDOUT);
	assert_int_equal(json_array_size(json_object_get(v, "hops")), 1);
	assert_string_equal(row_text(v, "hops", 0, "answer"), "unreachable");
	assert_int_equal(json_array_size(json_object_get(v, "sids")), 2);
	json_decref(v);
	assert_int_equal(run("traceroute 5f00:0:300:: hops 2 timeout 20 -j"), -EINPROGRESS);
	v = result(-ETIMEDOUT);
	assert_int_equal(json_array_size(json_object_get(v, "hops")), 2);
	assert_true(json_is_false(json_object_get(v, "reached")));
	json_decref(v);
}

/* No way out, or too long for it: told at once, not after a time-out. */
static void what_cannot_be_sent(void **state)
{
	static const char *const lines[] = {"ping 10.9.0.1 vrf blue -j count 1 timeout 10000",
		"ping policy east size 1600 count 1 timeout 10000 -j",
		"ping 5f00:0:300:: size 1600 count 1 timeout 10000 -j",
		"traceroute 10.9.0.1 vrf blue timeout 10000 -j"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		uint64_t before = bed->now;

		assert_int_equal(run(lines[i]), -EINPROGRESS);
		json_decref(result(-EHOSTUNREACH));
		check(bed->now - before < NSEC_PER_SEC, "%s waits", lines[i]);
		check(strstr(told, "not-sent"), "%s", told);
	}
}

static void refused_lines(void **state)
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{"ping", "ping: missing ADDRESS"},
		{"ping x", "ping: expected an IPv4 or IPv6 address, found 'x'"},
		{"ping fe80::1", "ping: fe80::1: expected an address that is routed"},
		{"ping 10.1.0.1 vrf blue", "ping: 10.1.0.1 is an address of this node"},
		{"ping 10.1.0.9", "ping: the node has no IPv4 address in underlay, to which answers could come"},
		{"ping 10.1.0.9 vrf empty", "ping: the node has no IPv4 address in empty"},
		{"ping 10.1.0.9 vrf red", "ping: there is no VRF 'red'; see: show routes"},
		{"ping 10.1.0.9 count", "ping: count needs N; usage: ping ADDRESS [vrf VRF] [count N] [interval MS] "
					"[timeout MS] [size BYTES]"},
		{"ping 10.1.0.9 count 0", "ping: count: expected a whole number from 1 to 100, found '0'"},
		{"ping 10.1.0.9 count 1 count 2", "ping: unexpected argument 'count'"},
		{"ping 10.1.0.9 path x", "ping: unexpected argument 'path'"},
		{"ping sid 5f00::,", "ping sid: expected SIDs with commas between them, found ''"},
		{"ping sid 1::,2::,3::,4::,5::,6::,7::,8::,9::", "ping sid: a list has at most 8 SIDs"},
		{"ping policy west", "ping policy: there is no policy 'west'; see: show policies"},
		{"ping policy east path east", "ping policy: policy east has no path 'east'; see: show paths"},
		{"ping policy east vrf blue", "ping policy: vrf needs an address: to ADDRESS"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int rc = run(rows[i].line);

		check(rc < 0 && rc != -EINPROGRESS && strstr(told, rows[i].text) == told, "%s: %d: %s", rows[i].line,
			rc, told);
	}
	host.later = NULL;
	assert_int_equal(run("ping 10.1.0.9 vrf blue"), -EOPNOTSUPP);
	host.later = &later;
}

/* They are bounded, and one that is given up makes room. */
static void at_most_so_many(void **state)
{
	struct command_later all[PROBES_MAX];
	uint32_t size;

	(void)state;
	for (unsigned int i = 0; i < PROBES_MAX; i++) {
		assert_int_equal(run("ping 10.1.0.9 vrf blue count 2 interval 10000"), -EINPROGRESS);
		all[i] = later;
		later = (struct command_later){0};
	}
	assert_int_equal(run("ping 10.1.0.9 vrf blue"), -EBUSY);
	testbed_settle(bed, 20);
	command_stop(bed->node, &all[3]);
	assert_null(all[3].command);
	assert_int_equal(run("ping 10.1.0.9 vrf blue"), -EBUSY); /* the control lcore still has it */
	testbed_settle(bed, 20);
	assert_int_equal(run("ping 10.1.0.9 vrf blue"), -EINPROGRESS);
	for (unsigned int i = 0; i < PROBES_MAX; i++)
		command_stop(bed->node, &all[i]);
	testbed_settle(bed, 20);
	while (taken(1, &size))
		continue;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(pings_a_host), TEST(forged_replies_do_not_count),
		TEST(pings_the_end_of_a_path), TEST(pings_through_a_path), TEST(traces_a_path), TEST(traces_end),
		TEST(what_cannot_be_sent), TEST(refused_lines), TEST(at_most_so_many)};

	testbed_eal();
	return cmocka_run_group_tests_name("ping", tests, NULL, NULL);
}
