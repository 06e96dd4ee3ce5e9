/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Floods to the control lcore: one port sends packets of one kind as fast as its rx lcore receives them, and the control
 * lcore is slow. Nothing that another port or another kind has to say may be lost (lib/pkt/punt.h).
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "neigh/nd.h"
#include "pfc/pfc_frame.h"
#include "pfc/pfc_state.h"
#include "service/pfc/pfc_cp.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/eth.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

/* wan0: the far PE; red0: a tenant that floods; blue0: another one; gw0: the gateway that the far PE may pause. */
#define YAML \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 40K, ring: %u}\n" \
	"buffer-profiles: [{name: small, xoff: 4096, headroom: 4096, forced: true}]\n" \
	"ports:\n" \
	"  - {name: wan0, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: red0, device: net_null1, side: dc, vrf: red, speed: 10G, addresses: [10.1.0.1/24, " \
	"\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:03\"], buffer: small}}\n" \
	"  - {name: blue0, device: net_null2, side: dc, vrf: blue, speed: 10G, addresses: [\"2001:db8:c::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:c0:03\"], buffer: small}}\n" \
	"  - {name: gw0, device: net_null3, side: dc, speed: 10G, addresses: [\"2001:db8:d::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:d0:03\"], buffer: small}}\n" \
	"neighbors:\n" \
	"  - {port: wan0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}\n" \
	"  - {port: red0, address: 10.1.0.9, mac: \"02:00:00:00:b0:03\"}\n" \
	"routes: [{prefix: \"fd00::/16\", port: wan0, nexthop: \"2001:db8:a::3\"}]\n" \
	"vrfs:\n" \
	"  - {name: red, routes: [{prefix: 10.9.0.0/16, port: red0, nexthop: 10.1.0.9}]}\n" \
	"  - {name: blue}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: gw0, nexthop: \"2001:db8:d::3\", " \
	"allowed-sources: " \
	"[\"fd00::b/128\"]}\n" \
	"pfc-relays: [{name: gw, port: gw0, carrier: state, udp-port: 4794, segments: [\"fd00::b\"],\n" \
	"  allowed-sources: [\"fd00::b/128\"]}]\n"

enum { WAN, RED, BLUE, GW };

struct frame {
	uint8_t bytes[2048];
	uint32_t size;
};

static struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static uint8_t *begin(struct frame *f, const struct testbed *t, unsigned int port, uint8_t station, uint16_t type)
{
	struct eth_hdr *eth = (struct eth_hdr *)f->bytes;

	memset(f, 0, sizeof(*f));
	*eth = (struct eth_hdr){.dst = t->port[port]->port.mac, .src = {{2, 0, 0, 0, station, 3}}, .type = be16(type)};
	f->size = sizeof(*eth);
	return f->bytes + sizeof(*eth);
}

static struct ipv6_hdr *ip6(struct frame *f, uint8_t *at, const char *src, const char *dst, uint8_t next,
	uint32_t payload)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;

	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0xe0, 0),
		.payload_length = be16((uint16_t)payload),
		.next_header = next,
		.hop_limit = next == IP_PROTO_ICMP6 ? 255 : 64,
		.src = address(src).v6,
		.dst = address(dst).v6};
	f->size += (uint32_t)sizeof(*ip) + payload;
	return ip;
}

static void solicit(struct frame *f, const struct testbed *t, unsigned int port, uint8_t station, const char *from,
	const char *own)
{
	uint8_t *at = begin(f, t, port, station, ETH_TYPE_IPV6);
	struct eth_addr mac = {{2, 0, 0, 0, station, 3}};
	struct ip_addr a = address(from), b = address(own);

	f->size += (uint32_t)nd_write_solicit(at, &a.v6, &b.v6, &b.v6, &mac);
}

static void state(struct frame *f, const struct testbed *t, unsigned int port, const char *from, uint32_t sequence)
{
	struct ipv6_hdr *ip = ip6(f, begin(f, t, port, 0xa0, ETH_TYPE_IPV6), from, "fd00::d", IP_PROTO_UDP, 28);
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);
	struct pfc_state s = {.speaks_for = 8,
		.stopped = sequence & 1 ? 8 : 0,
		.epoch = 7,
		.sequence = sequence,
		.lease_ns = 50 * NSEC_PER_MSEC};

	*udp = (struct udp_hdr){be16(4794), be16(4794), be16(28), be16(0)};
	pfc_state_write((struct pfc_state_msg *)(udp + 1), &s);
	udp->checksum = checksum_finish(checksum_add(checksum_pseudo6(&ip->src, &ip->dst, 28, IP_PROTO_UDP), udp, 28));
}

static void ip4(struct frame *f, uint8_t *at, const char *dst, uint8_t ttl, uint32_t bytes)
{
	struct ip_addr to = address(dst), from = address("10.1.0.7");

	*(struct ipv4_hdr *)at = (struct ipv4_hdr){.version_ihl = 0x45,
		.total_length = be16((uint16_t)bytes),
		.ttl = ttl,
		.protocol = IP_PROTO_UDP,
		.src = be32(ip_addr_v4(&from)),
		.dst = be32(ip_addr_v4(&to))};
	packet_seal4_header(at);
	f->size += bytes;
}

/* What strangers can send: by kind. */
enum flood {
	FLOOD_UDP,
	FLOOD_ARP,
	FLOOD_ND,
	FLOOD_ERROR,
	FLOOD_FRAGMENT,
	FLOOD_LINK_PFC,
	FLOOD_STATE,
	FLOOD_PFC,
	FLOOD_FORGED,
	FLOODS
};

static const char *const flood_name[] = {"UDP to the node", "ARP", "ND", "expired TTL", "fragments",
	"PFC of a neighbour", "state messages of a stranger", "PFC of a stranger to a SID", "ND with forged sources"};

static unsigned int flood_frame(struct frame *f, const struct testbed *t, enum flood flood)
{
	struct pfc_request request = {.enable = 8, .time[3] = 1};
	struct eth_addr peer = {{2, 0, 0, 0, 0xb0, 3}};
	uint8_t *at = begin(f, t, RED, 0xb0, ETH_TYPE_IPV4);

	switch (flood) {
	case FLOOD_UDP:
		ip4(f, at, "10.1.0.1", 64, 60);
		return RED;
	case FLOOD_ARP:
		at = begin(f, t, RED, 0xb0, ETH_TYPE_ARP);
		arp_write(at, ARP_OP_REQUEST, &peer, 0x0a010007, NULL, 0x0a010001);
		f->size = 60;
		return RED;
	case FLOOD_FORGED:
	case FLOOD_ND:
		solicit(f, t, RED, 0xb0, "2001:db8:b::77", "2001:db8:b::2");
		return RED;
	case FLOOD_ERROR:
		ip4(f, at, "10.9.0.1", 1, 60);
		return RED;
	case FLOOD_FRAGMENT:
		ip4(f, at, "10.9.0.1", 64, 1600);
		return RED;
	case FLOOD_LINK_PFC:
		pfc_write((struct pfc_frame *)f->bytes, &peer, &request);
		f->size = sizeof(struct pfc_frame);
		return RED;
	case FLOOD_STATE:
		state(f, t, WAN, "fd00::bad", 1);
		return WAN;
	default:
		f->size = TESTBED_PFC_FRAME;
		testbed_pfc_frame(f->bytes, &t->port[WAN]->port.mac, "fd00::bad", "5f00:1:1:e1::", &request);
		return WAN;
	}
}

static void receive(struct testbed *t, unsigned int port, const struct frame *f)
{
	fake_port_receive(t->port[port], 0, f->bytes, f->size, 0);
}

static void drop_sent(struct testbed *t, unsigned int port, unsigned int *adverts)
{
	for (struct sent_frame *f; (f = fake_port_take(t->port[port])); free(f)) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));

		*adverts += f->size > 60 && ip->next_header == IP_PROTO_ICMP6 &&
			    ((const struct icmp_hdr *)(ip + 1))->type == ICMP6_NEIGHBOR_ADVERT;
	}
}

struct heard {
	unsigned int states, tunnelled, solicits, link; /* sent by those who must be heard */
	unsigned int adverts, discarded;		/* answers to blue0's solicitations; to others */
};

/* One packet of each kind that must be heard. */
static void speak(struct testbed *t, struct heard *h)
{
	struct pfc_request request = {.enable = 8, .time[3] = h->states & 1 ? 0 : 100};
	const struct eth_addr peer = {{2, 0, 0, 0, 0xc0, 3}};
	struct frame f;

	state(&f, t, WAN, "fd00::b", ++h->states);
	receive(t, WAN, &f);
	testbed_pfc_frame(f.bytes, &t->port[WAN]->port.mac, "fd00::b", "5f00:1:1:e1::", &request);
	f.size = TESTBED_PFC_FRAME;
	h->tunnelled++;
	receive(t, WAN, &f);
	solicit(&f, t, BLUE, 0xc0, "2001:db8:c::3", "2001:db8:c::2");
	h->solicits++;
	receive(t, BLUE, &f);
	pfc_write((struct pfc_frame *)f.bytes, &peer, &request);
	f.size = sizeof(struct pfc_frame);
	h->link++;
	receive(t, BLUE, &f);
}

static void poll_lcore(struct testbed *t, unsigned int lcore)
{
	uint64_t next;

	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		if (t->node->lcore[i]->id == lcore)
			node_lcore_poll(t->node->lcore[i], t->now, &next);
}

static void forge(struct frame *f, unsigned int source)
{
	((struct eth_hdr *)f->bytes)->src = (struct eth_addr){{2, 7, 7, 7, (uint8_t)(source >> 8), (uint8_t)source}};
}

/*
 * A flood for 50 ms at 10 million packets/s: the rx lcore takes a burst every 6.4 us, and the control lcore makes a pass
 * once in `slow` bursts.
 */
static void under_flood(enum flood flood, unsigned int ring, unsigned int slow)
{
	struct heard h = {0};
	struct testbed *t;
	struct frame f;
	char yaml[4096];
	unsigned int port, forged = 0;

	snprintf(yaml, sizeof(yaml), YAML, ring);
	t = testbed_new(yaml);
	testbed_settle(t, 1000);
	port = flood_frame(&f, t, flood);
	for (unsigned int i = 0; i < 7800; i++) {
		for (unsigned int k = 0; k < NODE_BURST - 3; k++) {
			if (flood == FLOOD_FORGED)
				forge(&f, ++forged);
			receive(t, port, &f);
		}
		if (i % 80 == 40) /* the flood comes first, and what must be heard behind it */
			speak(t, &h);
		t->now += 6400;
		poll_lcore(t, 1);
		poll_lcore(t, 2);
		if (i % slow == 0)
			poll_lcore(t, 0);
		drop_sent(t, BLUE, &h.adverts);
		for (unsigned int p = 0; p <= GW; p++)
			if (p != BLUE)
				drop_sent(t, p, &h.discarded);
	}
	testbed_settle(t, 1000);
	drop_sent(t, BLUE, &h.adverts);
	check(control_pfc(t->node->control)->carrier[GW].taken == h.states, "%s, ring %u: %llu of %u state messages",
		flood_name[flood], ring, (unsigned long long)control_pfc(t->node->control)->carrier[GW].taken,
		h.states);
	check(testbed_reason(t, WAN, CONSUME_pfc) == h.states + h.tunnelled, "%s, ring %u: %llu of %u PFC",
		flood_name[flood], ring, (unsigned long long)testbed_reason(t, WAN, CONSUME_pfc),
		h.states + h.tunnelled);
	check(testbed_reason(t, BLUE, CONSUME_pfc) == h.link, "%s: %llu of %u PFC of the link", flood_name[flood],
		(unsigned long long)testbed_reason(t, BLUE, CONSUME_pfc), h.link);
	check(h.adverts == h.solicits, "%s, ring %u: %u of %u solicitations answered", flood_name[flood], ring,
		h.adverts, h.solicits);
	testbed_free(t);
}

static void a_flood_costs_others_nothing(void **unused)
{
	static const unsigned int rings[] = {64, 1024}, slow[] = {1, 3, 9};

	(void)unused;
	for (unsigned int flood = 0; flood < FLOODS; flood++)
		for (unsigned int i = 0; i < ARRAY_LEN(rings); i++)
			under_flood((enum flood)flood, rings[i], slow[(flood + i) % ARRAY_LEN(slow)]);
}

/* The control lcore stands still while all that strangers can send fills what it may: there is room for what must be heard. */
static void rings_are_apart(void **unused)
{
	static const unsigned int rings[] = {64, 1024};

	(void)unused;
	for (unsigned int i = 0; i < ARRAY_LEN(rings); i++) {
		struct heard h = {0};
		struct testbed *t;
		struct frame f;
		char yaml[4096];

		snprintf(yaml, sizeof(yaml), YAML, rings[i]);
		t = testbed_new(yaml);
		testbed_settle(t, 1000);
		for (unsigned int k = 0; k < 40 * FLOODS; k++) {
			unsigned int port = flood_frame(&f, t, (enum flood)(k % FLOODS));

			for (unsigned int n = 0; n < NODE_BURST; n++) {
				if (k % FLOODS == FLOOD_FORGED)
					forge(&f, k * NODE_BURST + n);
				receive(t, port, &f);
			}
			poll_lcore(t, 1);
			poll_lcore(t, 2);
		}
		speak(t, &h);
		poll_lcore(t, 1);
		testbed_settle(t, 1000);
		drop_sent(t, BLUE, &h.adverts);
		check(control_pfc(t->node->control)->carrier[GW].taken == h.states, "ring %u: no state message",
			rings[i]);
		check(testbed_reason(t, WAN, CONSUME_pfc) == h.states + h.tunnelled, "ring %u: no PFC", rings[i]);
		check(testbed_reason(t, BLUE, CONSUME_pfc) == h.link, "ring %u: no PFC of the link", rings[i]);
		check(h.adverts == h.solicits, "ring %u: no advertisement", rings[i]);
		testbed_free(t);
	}
}

/* What is limited is counted by port and kind, and the sum of the port's packets is right. */
static void floods_are_counted(void **unused)
{
	struct testbed *t;
	struct punt_stats s;
	struct frame f;
	char yaml[4096];

	(void)unused;
	snprintf(yaml, sizeof(yaml), YAML, 1024);
	t = testbed_new(yaml);
	flood_frame(&f, t, FLOOD_ARP);
	for (unsigned int i = 0; i < 5000; i++) {
		receive(t, RED, &f);
		if (i % 50 == 49)
			testbed_settle(t, 10);
	}
	s = node_punt(t->node, RED, PUNT_KIND_ND);
	assert_int_equal(s.taken + s.limited + s.full, 5000);
	assert_int_equal(testbed_reason(t, RED, DROP_punt_limited), s.limited);
	assert_int_equal(testbed_reason(t, RED, CONSUME_arp), s.taken);
	assert_true(s.limited > 4000);
	assert_int_equal(node_punt(t->node, BLUE, PUNT_KIND_ND).taken, 0);
	node_clear_stats(t->node);
	assert_int_equal(node_punt_shown(t->node, RED, PUNT_KIND_ND).limited, 0);
	/* after a pause the port is heard again */
	testbed_pass(t, NSEC_PER_SEC, NSEC_PER_MSEC);
	receive(t, RED, &f);
	testbed_settle(t, 10);
	assert_int_equal(node_punt_shown(t->node, RED, PUNT_KIND_ND).taken, 1);
	testbed_free(t);
}

/*
 * A port shared by stations in VLANs, of which one floods ND or ARP. The others are in its VLAN (`near`) or in other ones
 * (`far`). All is drawn.
 */
enum { LINKS = 6, STATIONS = 4, SHARED_NS = 1000000000 };

struct shared {
	unsigned int links, stations, evil,
		every;	  /* VLANs, stations of each, the VLAN of the flood, ms between questions */
	bool arp, forged; /* the flood: ARP, not ND; each packet has another source */
	unsigned int asked[LINKS][STATIONS], answered[LINKS][STATIONS];
	unsigned int flood, near_asked, near_lost, far_asked, far_lost;
};

/* Put the tag of a VLAN into a frame; 0: none. */
static void tag(struct frame *f, unsigned int link)
{
	struct vlan_tag *t = (struct vlan_tag *)(f->bytes + sizeof(struct eth_hdr));
	struct eth_hdr *eth = (struct eth_hdr *)f->bytes;

	if (!link)
		return;
	memmove(t + 1, t, f->size - sizeof(*eth));
	t->tci = be16((uint16_t)(100 + link));
	t->type = eth->type;
	eth->type = be16(ETH_TYPE_VLAN);
	f->size += (uint32_t)sizeof(*t);
}

static void shared_frame(struct frame *f, const struct testbed *t, bool is_arp, unsigned int link, uint8_t station,
	uint32_t forged)
{
	struct eth_addr mac = {{2, 1, (uint8_t)(forged >> 16), (uint8_t)(forged >> 8), (uint8_t)forged, station}};
	struct ip_addr a, b;
	char from[64], own[64];
	uint8_t *at;

	if (is_arp) {
		at = begin(f, t, RED, 0, ETH_TYPE_ARP);
		arp_write(at, ARP_OP_REQUEST, &mac, 0x0a010010 + link * 256 + station, NULL, 0x0a010001 + link * 256);
		f->size = 60;
	} else {
		snprintf(from, sizeof(from), "2001:db8:b%u::1:%x", link, station);
		snprintf(own, sizeof(own), "2001:db8:b%u::2", link);
		a = address(from), b = address(own);
		at = begin(f, t, RED, 0, ETH_TYPE_IPV6);
		f->size += (uint32_t)nd_write_solicit(at, &a.v6, &b.v6, &b.v6, &mac);
	}
	((struct eth_hdr *)f->bytes)->src = mac;
	tag(f, link);
}

/* Count the answers to stations, and forget all else. */
static void shared_sent(struct testbed *t, struct shared *h)
{
	for (struct sent_frame *f; (f = fake_port_take(t->port[RED])); free(f)) {
		const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
		const struct vlan_tag *in = (const struct vlan_tag *)(eth + 1);
		unsigned int link = be16_get(eth->type) == ETH_TYPE_VLAN ? (be16_get(in->tci) & 0xfff) - 100u : 0;
		unsigned int station = eth->dst.b[5];
		const uint8_t *l3 = (const uint8_t *)(link ? in + 1 : in);
		bool answer = be16_get(link ? in->type : eth->type) == ETH_TYPE_ARP ? l3[7] == ARP_OP_REPLY
										    : l3[40] == ICMP6_NEIGHBOR_ADVERT;

		if (eth->dst.b[1] == 1 && answer && link < h->links && station < h->stations)
			h->answered[link][station]++;
	}
}

static void shared_begin(struct shared *h, struct testbed **t, unsigned int seed)
{
	char yaml[8192], *end = yaml + sizeof(yaml), *at = yaml;

	srand(seed);
	*h = (struct shared){.links = 2 + (unsigned int)rand() % (LINKS - 1),
		.stations = 1 + (unsigned int)rand() % STATIONS,
		.every = 60 + (unsigned int)rand() % 100,
		.arp = rand() % 2,
		.forged = rand() % 2};
	h->evil = (unsigned int)rand() % h->links;
	at += snprintf(at, (size_t)(end - at),
		TESTBED_NODE
		"lcores: {control: 0, rx: [1], worker: [2]}\nmemory: {buffers: 40K, ring: %u}\nports:\n"
		"  - {name: wan0, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"]}\n"
		"  - {name: red0, device: net_null1, side: dc, speed: 10G, addresses: [10.1.0.1/24, "
		"\"2001:db8:b0::2/64\"]}\n"
		"interfaces:\n",
		64u << rand() % 6);
	for (unsigned int i = 1; i < h->links; i++)
		at += snprintf(at, (size_t)(end - at),
			"  - {name: red%u, port: red0, vlan: %u, addresses: [10.1.%u.1/24, \"2001:db8:b%u::2/64\"]}\n",
			i, 100 + i, i, i);
	*t = testbed_new(yaml);
	testbed_settle(*t, 1000);
}

/* Each station but the one that floods asks now and then, at a time of its own. */
static void shared_ask(struct testbed *t, struct shared *h, unsigned int ms)
{
	struct frame f;

	for (unsigned int link = 0; link < h->links; link++)
		for (unsigned int s = 0; s < h->stations; s++) {
			if ((ms + 17 * link + 7 * s) % h->every)
				continue;
			shared_frame(&f, t, rand() % 2, link, (uint8_t)s, 0);
			receive(t, RED, &f);
			h->asked[link][s]++;
		}
}

/* Two packets in 5 us from one station, or with forged sources, for a second. */
static void shared_flood(struct testbed *t, struct shared *h)
{
	uint64_t began = t->now;
	unsigned int ms = 0;
	struct frame f;

	while (t->now - began < SHARED_NS) {
		for (unsigned int k = 0; k < NODE_BURST - LINKS * STATIONS; k++) {
			shared_frame(&f, t, h->arp, h->evil, 0xee, h->forged ? 1 + (uint32_t)rand() % 0xffff : 0);
			receive(t, RED, &f);
			h->flood++;
		}
		if ((t->now - began) / NSEC_PER_MSEC > ms)
			shared_ask(t, h, ms++);
		t->now += 100000;
		poll_lcore(t, 1);
		poll_lcore(t, 0);
		poll_lcore(t, 2);
		shared_sent(t, h);
	}
	testbed_settle(t, 1000);
	shared_sent(t, h);
}

static void a_station_costs_its_neighbours_nothing(void **unused)
{
	unsigned int flood = 0, near = 0, near_lost = 0, forged = 0, forged_lost = 0, far = 0;

	(void)unused;
	for (unsigned int seed = 1; seed <= 24; seed++) {
		struct shared h;
		struct testbed *t;

		shared_begin(&h, &t, seed);
		shared_flood(t, &h);
		flood += h.flood;
		for (unsigned int link = 0; link < h.links; link++) {
			for (unsigned int s = 0; s < h.stations; s++) {
				unsigned int lost = h.asked[link][s] - h.answered[link][s];

				assert_true(h.asked[link][s] > 5);
				if (link == h.evil) {
					*(h.forged ? &forged : &near) += h.asked[link][s];
					*(h.forged ? &forged_lost : &near_lost) += lost;
					continue;
				}
				far += h.asked[link][s];
				check(lost == 0, "seed %u, VLAN %u, station %u: %u of %u questions lost", seed, link, s,
					lost, h.asked[link][s]);
			}
		}
		assert_true(node_punt(t->node, RED, PUNT_KIND_ND).spared > 0);
		testbed_check_balance(t);
		testbed_free(t);
	}
	print_message("flood of %u packets: lost of other VLANs 0 of %u, of the same VLAN %u of %u, with forged "
		      "sources %u of %u\n",
		flood, far, near_lost, near, forged_lost, forged);
	assert_true(near_lost * 50 < near);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_costs_others_nothing),
		cmocka_unit_test(rings_are_apart),
		cmocka_unit_test(floods_are_counted),
		cmocka_unit_test(a_station_costs_its_neighbours_nothing),
	};

	testbed_eal();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
