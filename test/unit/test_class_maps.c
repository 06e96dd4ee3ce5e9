/* SPDX-License-Identifier: BSD-3-Clause */
/* The class of a packet: by its ingress port, into and out of tunnels, back to its ingress port; and CE marks there. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "queue/gate.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/ipv4.h"

/* `plain` has no class map, `mapped` has; vlan 7 of both; all leave by `out` except what is for 2001:db8:9::/48. */
#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {buffers: 32K}\n" \
	"class-maps:\n" \
	"  - {name: m, dscp: [{from: 0, to: 2, class: 5}, {from: 26, class: 4}, {from: 63, class: 1}],\n" \
	"     pcp: [{from: 1, to: 2, class: 6}, {from: 7, class: 0}]}\n" \
	"  - {name: into, classes: [{from: 0, class: 7}, {from: 3, class: 2}, {from: 5, to: 6, class: 1}]}\n" \
	"  - {name: out-of, classes: [{from: 4, class: 1}, {from: 7, class: 6}]}\n" \
	"buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 60K, forced: true, min-frame: 100}]\n" \
	"ports:\n" \
	"  - {name: plain, device: net_null0, side: wan, addresses: [192.0.2.2/24, \"2001:db8:a::2/64\"]}\n" \
	"  - {name: mapped, device: net_null1, side: dc, vrf: red, class-map: m, speed: 10G, bounce-class: 6,\n" \
	"     pfc: {priorities: [2, 3], peers: [\"02:00:00:00:b0:01\"], buffer: b},\n" \
	"     addresses: [10.1.0.1/24, \"2001:db8:b::2/64\"]}\n" \
	"  - {name: out, device: net_null2, side: wan, addresses: [192.0.3.2/24, \"2001:db8:c::2/64\"],\n" \
	"     ecn: {classes: [2], min: 10K, max: 30K}}\n" \
	"interfaces: [{name: plain.7, port: plain, vlan: 7, addresses: [192.0.7.2/24, \"2001:db8:7::2/64\"]},\n" \
	"  {name: plain.8, port: plain, vlan: 8, tag: 802.1ad, addresses: [\"2001:db8:8::2/64\"]}]\n" \
	"neighbors:\n" \
	"  - {port: mapped, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"  - {port: out, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:01\"}\n" \
	"  - {port: out, address: 192.0.3.3, mac: \"02:00:00:00:c0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: 198.51.100.0/24, port: out, nexthop: 192.0.3.3}\n" \
	"vrfs:\n" \
	"  - {name: red, routes: [{prefix: 10.2.0.0/16, policy: p}, {prefix: \"2001:db8:2::/48\", policy: p},\n" \
	"      {prefix: \"2001:db8:9::/48\", port: mapped, nexthop: \"2001:db8:b::3\"}]}\n" \
	"policies: [{name: p, class-map: into, paths: [{name: a, segments: [\"5f00:0:500:e102::\"]}]}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e101::/48\", behavior: uDT46, vrf: red, class-map: out-of}\n" \
	"  - {sid: \"5f00:0:e103::/48\", behavior: uDT46, vrf: red}\n"

enum { PLAIN, MAPPED, OUT, PORTS };

/* All queues are closed, so that what arrives is found in one. */
static struct testbed *bed(void)
{
	struct testbed *t = testbed_new(NODE);
	struct pfc_pause pause = {.enable = 0xff};
	struct pfc_party party = {.sid = 1};

	testbed_settle(t, 1000);
	for (unsigned int i = 0; i < 8; i++)
		pause.ns[i] = 1000 * NSEC_PER_SEC;
	for (unsigned int p = 0; p < PORTS; p++)
		assert_true(egress_pause(&t->node->egress[p], &t->node->worker[0].ctx, &party, PFC_ALL_SLICES, &pause));
	return t;
}

struct packet {
	uint8_t bytes[2048];
	uint32_t n;
};

static struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void ethernet(struct packet *p, const struct testbed *t, unsigned int port, uint16_t type)
{
	*p = (struct packet){.n = sizeof(struct eth_hdr)};
	*(struct eth_hdr *)p->bytes = (struct eth_hdr){.dst = t->port[port]->port.mac,
		.src = {{2, 0, 0, 0, 0xee, 1}},
		.type = be16(type)};
}

static void ip6(struct packet *p, const char *src, const char *dst, uint8_t tc, uint8_t next, uint32_t payload)
{
	*(struct ipv6_hdr *)(p->bytes + p->n) = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(tc, 0),
		.payload_length = be16((uint16_t)payload),
		.next_header = next,
		.hop_limit = 64,
		.src = address(src).v6,
		.dst = address(dst).v6};
	p->n += sizeof(struct ipv6_hdr);
}

static void ip4(struct packet *p, const char *src, const char *dst, uint8_t tos, uint32_t payload)
{
	struct ip_addr from = address(src), to = address(dst);

	*(struct ipv4_hdr *)(p->bytes + p->n) = (struct ipv4_hdr){.version_ihl = 0x45,
		.tos = tos,
		.total_length = be16((uint16_t)(20 + payload)),
		.ttl = 64,
		.protocol = 253,
		.src = be32(ip_addr_v4(&from)),
		.dst = be32(ip_addr_v4(&to))};
	packet_seal4_header(p->bytes + p->n);
	p->n += 20;
}

static void tag(struct packet *p, uint16_t type, unsigned int pcp, unsigned int vlan)
{
	memmove(p->bytes + 16, p->bytes + 12, p->n - 12);
	p->bytes[12] = (uint8_t)(type >> 8);
	p->bytes[13] = (uint8_t)type;
	p->bytes[14] = (uint8_t)(pcp << 5 | vlan >> 8);
	p->bytes[15] = (uint8_t)vlan;
	p->n += 4;
}

static uint64_t charged(const struct testbed *t, unsigned int port, unsigned int priority)
{
	struct account_level level = {0};

	account_add(&t->node->worker[0].accounts->total[port][priority], &level);
	return level.buffers;
}

/* It is received on `in` and must wait in queue `class` of `out`, and in the buffer of `priority`. */
static void expect(struct testbed *t, unsigned int in, const struct packet *p, unsigned int out, unsigned int class,
	unsigned int priority, const char *what, unsigned int row)
{
	const struct egress_queue *q = &t->node->egress[out].slice[0].queue[class];
	uint64_t queued = q->packets.n, held = charged(t, in, priority);

	fake_port_receive(t->port[in], 0, p->bytes, p->n, 0);
	testbed_settle(t, 5);
	check(q->packets.n == queued + 1, "%s %u: not in queue %u", what, row, class);
	check(charged(t, in, priority) == held + 1, "%s %u: not in the buffer of %u", what, row, priority);
}

static unsigned int mapped_class(unsigned int dscp)
{
	return dscp <= 2 ? 5 : dscp == 26 ? 4 : dscp == 63 ? 1 : dscp / 8;
}

/* The class after a policy with map `into`. */
static unsigned int into(unsigned int class)
{
	static const uint8_t to[] = {7, 1, 2, 2, 4, 1, 1, 7};

	return to[class];
}

/* Every DSCP, of IPv6 and of IPv4, on a port without a map and on one with; ECN does not matter. */
static void every_dscp(void **state)
{
	struct testbed *t = bed();
	struct packet p;

	(void)state;
	for (unsigned int dscp = 0; dscp < 64; dscp++) {
		uint8_t tos = (uint8_t)(dscp << 2 | (dscp & 3));

		ethernet(&p, t, PLAIN, ETH_TYPE_IPV6);
		ip6(&p, "2001:db8:a::9", "5f00:0:500::", tos, 59, 0);
		expect(t, PLAIN, &p, OUT, dscp / 8, dscp / 8, "IPv6, DSCP", dscp);
		ethernet(&p, t, PLAIN, ETH_TYPE_IPV4);
		ip4(&p, "192.0.2.9", "198.51.100.1", tos, 0);
		expect(t, PLAIN, &p, OUT, dscp / 8, dscp / 8, "IPv4, DSCP", dscp);
		ethernet(&p, t, MAPPED, ETH_TYPE_IPV6);
		ip6(&p, "2001:db8:b::9", "2001:db8:2::1", tos, 59, 0);
		expect(t, MAPPED, &p, OUT, into(mapped_class(dscp)), mapped_class(dscp), "mapped, IPv6, DSCP", dscp);
		ethernet(&p, t, MAPPED, ETH_TYPE_IPV4);
		ip4(&p, "10.1.0.9", "10.2.0.1", tos, 0);
		expect(t, MAPPED, &p, OUT, into(mapped_class(dscp)), mapped_class(dscp), "mapped, IPv4, DSCP", dscp);
	}
	testbed_free(t);
}

/* Tagged frames go by the PCP of the outer tag, whatever DSCP says: priority tags, VLANs, provider tags. */
static void every_pcp(void **state)
{
	static const uint8_t mapped[] = {0, 6, 6, 3, 4, 5, 6, 0};
	struct testbed *t = bed();
	struct packet p;

	(void)state;
	for (unsigned int pcp = 0; pcp < 8; pcp++) {
		for (unsigned int dscp = 0; dscp < 64; dscp += 21) {
			for (unsigned int vlan = 0; vlan <= 8; vlan += vlan ? 1 : 7) {
				ethernet(&p, t, PLAIN, ETH_TYPE_IPV6);
				ip6(&p, "2001:db8:a::9", "5f00:0:500::", (uint8_t)(dscp << 2), 59, 0);
				tag(&p, vlan == 8 ? ETH_TYPE_QINQ : ETH_TYPE_VLAN, pcp, vlan);
				expect(t, PLAIN, &p, OUT, pcp, pcp, "IPv6, PCP", pcp);
			}
			ethernet(&p, t, PLAIN, ETH_TYPE_IPV4);
			ip4(&p, "192.0.7.9", "198.51.100.1", (uint8_t)(dscp << 2), 0);
			tag(&p, ETH_TYPE_VLAN, pcp, 7);
			expect(t, PLAIN, &p, OUT, pcp, pcp, "IPv4, PCP", pcp);
			ethernet(&p, t, MAPPED, ETH_TYPE_IPV6);
			ip6(&p, "2001:db8:b::9", "2001:db8:2::1", (uint8_t)(dscp << 2), 59, 0);
			tag(&p, ETH_TYPE_VLAN, pcp, 0);
			expect(t, MAPPED, &p, OUT, into(mapped[pcp]), mapped[pcp], "mapped, PCP", pcp);
		}
	}
	testbed_free(t);
}

/* Out of a tunnel: by the class that the outer header gave, with the map of the SID or without. The inner DSCP says nothing. */
static void out_of_tunnels(void **state)
{
	/* outer CS6 or CS7 is control traffic of the domain; the inner packet is a tenant's, of class 7 */
	static const uint8_t to[2][8] = {{0, 1, 2, 3, 4, 5, 7, 7}, {0, 1, 2, 3, 1, 5, 6, 6}};
	struct testbed *t = bed();
	struct packet p;

	(void)state;
	for (unsigned int class = 0; class < 8; ++class) {
		for (unsigned int map = 0; map < 2; map++) {
			for (unsigned int inner = 0; inner < 64; inner += 9) {
				ethernet(&p, t, PLAIN, ETH_TYPE_IPV6);
				ip6(&p, "fd00::1", map ? "5f00:0:e101::" : "5f00:0:e103::", (uint8_t)(class << 5),
					IP_PROTO_IPV6, 40);
				ip6(&p, "2001:db8:2::9", "2001:db8:9::1", (uint8_t)(inner << 2), 59, 0);
				expect(t, PLAIN, &p, MAPPED, to[map][class], class, map ? "map, class" : "class",
					class);
			}
		}
	}
	testbed_free(t);
}

/* Lossless traffic that leaves where it came in waits in the bounce class, whichever lossless class a map would have given it. */
static void no_bounce_into_a_lossless_class(void **state)
{
	struct testbed *t = bed();
	struct packet p;

	(void)state;
	for (unsigned int class = 0; class < 8; ++class) {
		unsigned int arrived = mapped_class(class * 8), lossless = arrived == 2 || arrived == 3;

		ethernet(&p, t, MAPPED, ETH_TYPE_IPV6);
		ip6(&p, "2001:db8:b::9", "2001:db8:9::1", (uint8_t)(class << 5), 59, 0);
		expect(t, MAPPED, &p, MAPPED, lossless ? 6 : arrived, arrived, "class", class);
		check(pkt_of(t->node->egress[MAPPED].slice[0].queue[lossless ? 6 : arrived].packets.tail)->lossless ==
				lossless,
			"class %u", class);
	}
	assert_int_equal(t->node->lcore[0]->stats.class_bounced, 2);
	testbed_free(t);
}

static unsigned int ecn_of(const uint8_t *ip)
{
	return *ip >> 4 == 6 ? ip[1] >> 4 & 3 : ip[1] & 3;
}

/*
 * Marks of this node's own queues travel by RFC 6040: where an outer header is pushed both headers have them, where one
 * is taken off the mark of either shows; never on what is not ECN-capable. IPv4 checksums stay right.
 */
static void marks_in_tunnels(void **state)
{
	struct testbed *t = bed();
	struct egress *e = &t->node->egress[OUT];
	uint32_t marked = 0, plain = 0;
	struct sent_frame *f;
	struct packet p;

	(void)state;
	for (unsigned int i = 0; i < 240; i++) { /* 30 KB are reached after 150 */
		unsigned int ecn = i % 4;

		ethernet(&p, t, MAPPED, i / 4 % 2 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
		if (i / 4 % 2)
			ip4(&p, "10.1.0.9", "10.2.0.1", (uint8_t)(24 << 2 | ecn), 166);
		else
			ip6(&p, "2001:db8:b::9", "2001:db8:2::1", (uint8_t)(24 << 2 | ecn), 59, 146);
		p.bytes[p.n] = (uint8_t)ecn; /* what it was */
		p.n += i / 4 % 2 ? 166 : 146;
		fake_port_receive(t->port[MAPPED], 0, p.bytes, p.n, 0);
		testbed_settle(t, 5);
	}
	assert_int_equal(e->slice[0].queue[2].packets.n, 240);
	e->holds.n = 0;
	gate_pause(e, &t->node->worker[0].ctx, PFC_ALL_SLICES, UINT8_MAX);
	testbed_settle(t, 50);
	for (unsigned int i = 0; (f = fake_port_take(t->port[OUT])); i++) {
		const uint8_t *outer = f->bytes + sizeof(struct eth_hdr), *inner = outer + sizeof(struct ipv6_hdr);
		unsigned int was = inner[*inner >> 4 == 6 ? 40 : 20], is = ecn_of(inner);

		assert_int_equal(f->size, 14 + 40 + 186);
		check(ecn_of(outer) == is, "packet %u: outer %u, inner %u", i, ecn_of(outer), is);
		check(is == was || (is == 3 && (was == 1 || was == 2)), "packet %u: %u became %u", i, was, is);
		check(*inner >> 4 == 6 || packet_sum(inner, 20) == 0, "packet %u: checksum", i);
		check(i >= 50 || is == was, "packet %u: below the lower threshold", i);
		check(i < 160 || !was || is == 3, "packet %u: above the upper threshold", i);
		marked += is != was;
		plain += was == 0;
		free(f);
	}
	assert_int_equal(plain, 60);
	assert_int_equal(marked, e->slice[0].queue[2].marked);
	check(marked > 50 && marked < 90, "%u marked", marked);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_dscp),
		cmocka_unit_test(every_pcp),
		cmocka_unit_test(out_of_tunnels),
		cmocka_unit_test(no_bounce_into_a_lossless_class),
		cmocka_unit_test(marks_in_tunnels),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("class_maps", tests, NULL, NULL);
}
