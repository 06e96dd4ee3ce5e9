/* SPDX-License-Identifier: BSD-3-Clause */
/* State messages between PFC relays (docs/protocol.md 5.6): what a node sends, what it takes, and two nodes back to back. */
#include "test/support/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/pfc/carrier_cp.h"
#include "service/pfc/pfc_cp.h"
#include "test/support/testbed.h"
#include "wire/checksum.h"
#include "wire/srh.h"
#include "wire/udp.h"

/* p0 is inside the domain, the gateway behind p1; the far PE is fd00::b for a, fd00::a for b. */
#define NODE(own, list) \
	"node: {name: " own ", loopback: \"fd00::" own "\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 17K}\n" \
	"buffer-profiles: [{name: small, xoff: 4096, headroom: 4096, forced: true}]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:03\"], buffer: small}}\n" \
	"neighbors: [{port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}]\n" \
	"routes:\n" \
	"  - {prefix: \"fd00::/16\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"  - {prefix: \"5f00:1::/32\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e101::/48\", behavior: uDT6}\n" \
	"pfc-relays:\n" \
	"  - {name: gw, port: p1, carrier: state, udp-port: 4794, segments: [" list "], flow-label: 7}\n"
#define A NODE("a", "\"5f00:1:2:1::\", \"fd00::b\"")
#define B NODE("b", "\"fd00::a\"")

#define MS NSEC_PER_MSEC
#define LONG 335540ull /* ns of 65535 quanta at 100 Gb/s */

enum { WAN, DC };

static const struct eth_addr gateway = {{0x02, 0, 0, 0, 0xb0, 3}};

static void gateway_says(struct testbed *t, uint8_t enable, uint16_t time)
{
	struct pfc_request r = {.enable = enable};
	struct pfc_frame frame;

	for (unsigned int i = 0; i < 8; i++)
		r.time[i] = time;
	pfc_write(&frame, &gateway, &r);
	fake_port_receive(t->port[DC], 0, &frame, sizeof(frame), 0);
	testbed_settle(t, 10);
}

struct message {
	struct ipv6_hdr ip;
	struct udp_hdr udp;
	struct pfc_state_msg msg;
};

static void seal(struct message *m)
{
	uint32_t n = be16_get(m->udp.length);

	m->udp.checksum = be16(0);
	m->udp.checksum = checksum_finish(
		checksum_add(checksum_pseudo6(&m->ip.src, &m->ip.dst, n, IP_PROTO_UDP), &m->udp, n));
}

/* A message that is right in every way. */
static struct message message_of(const char *source, uint8_t stopped, uint32_t epoch, uint32_t sequence)
{
	struct pfc_state s = {.speaks_for = 0x18,
		.stopped = stopped,
		.epoch = epoch,
		.sequence = sequence,
		.lease_ns = 50 * MS};
	struct message m = {.udp = {be16(9999), be16(4794), be16(28), be16(0)}};
	struct ip_addr a;

	m.ip.vtc_flow = ipv6_vtc_flow(0xe0, 7);
	m.ip.payload_length = be16(28);
	m.ip.next_header = IP_PROTO_UDP;
	m.ip.hop_limit = 60;
	assert_int_equal(ip_addr_parse(source, &a), 0);
	m.ip.src = a.v6;
	assert_int_equal(ip_addr_parse("fd00::b", &a), 0);
	m.ip.dst = a.v6;
	pfc_state_write(&m.msg, &s);
	seal(&m);
	return m;
}

static void arrives(struct testbed *t, unsigned int port, const void *packet, size_t size)
{
	uint8_t frame[512];
	struct eth_hdr *eth = (struct eth_hdr *)frame;

	*eth = (struct eth_hdr){.dst = t->port[port]->port.mac,
		.src = {{2, 0, 0, 0, 0xa0, 3}},
		.type = be16(ETH_TYPE_IPV6)};
	memcpy(eth + 1, packet, size);
	fake_port_receive(t->port[port], 0, frame, (uint32_t)(sizeof(*eth) + size), 0);
	testbed_settle(t, 10);
}

static void comes(struct testbed *t, const struct message *m)
{
	arrives(t, WAN, m, sizeof(*m));
}

/* The next state message a node has sent over the WAN; false: none. */
static bool sent(struct testbed *t, struct pfc_state *out)
{
	struct sent_frame *f = fake_port_take(t->port[WAN]);

	if (!f)
		return false;
	assert_int_equal(pfc_state_read(f->bytes + f->size - 20, 20, out), 0);
	free(f);
	return true;
}

/* Priorities that the last frame to the gateway pauses; -1: no frame was sent. */
static int told(struct testbed *t)
{
	struct sent_frame *f;
	struct pfc_request r;
	int stops = -1;

	while ((f = fake_port_take(t->port[DC]))) {
		if (pfc_read(f->bytes, f->size, 0, &r) == PFC_LEGAL)
			stops = pfc_stops(&r);
		free(f);
	}
	return stops;
}

/* On the wire: source, CS7, fixed flow label, by way of the list to an address of the far PE; UDP as RFC 8200 wants it. */
static void on_the_wire(void **state)
{
	struct testbed *t = testbed_new(A);
	const struct ipv6_hdr *ip;
	const struct srh *srh;
	const struct udp_hdr *udp;
	struct sent_frame *f;
	struct ip_addr a;

	(void)state;
	gateway_says(t, 0x18, 65535);
	f = fake_port_take(t->port[WAN]);
	assert_non_null(f);
	assert_int_equal(f->size, 14 + 40 + 24 + 8 + 20);
	ip = (const struct ipv6_hdr *)(f->bytes + 14);
	srh = (const struct srh *)(ip + 1);
	udp = (const struct udp_hdr *)(f->bytes + 14 + 40 + 24);
	assert_int_equal(ipv6_tc(ip), 0xe0);
	assert_int_equal(ipv6_flow_label(ip), 7);
	assert_int_equal(be16_get(ip->payload_length), 24 + 28);
	assert_int_equal(ip_addr_parse("5f00:1:2:1::", &a), 0);
	assert_memory_equal(&ip->dst, &a.v6, 16);
	assert_int_equal(srh->next_header, IP_PROTO_UDP);
	assert_int_equal(srh->segments_left, 1);
	assert_int_equal(ip_addr_parse("fd00::b", &a), 0);
	assert_memory_equal(&srh->segment[0], &a.v6, 16);
	assert_int_equal(be16_get(udp->dst_port), 4794);
	assert_int_equal(be16_get(udp->length), 28);
	assert_int_equal(be16_get(checksum_finish(
				 checksum_add(checksum_pseudo6(&ip->src, &a.v6, 28, IP_PROTO_UDP), udp, 28))),
		0);
	free(f);
	testbed_free(t);
}

/* Every change at once and twice more, a millisecond apart; then a third of the lease; the gateway's pause ends by itself. */
static void sender(void **state)
{
	struct testbed *t = testbed_new(A);
	struct pfc_state s, last = {0};
	uint64_t began, at = 0;
	unsigned int n = 0;

	(void)state;
	gateway_says(t, 0x08, 65535);
	began = t->now;
	while (t->now < began + 40 * MS) {
		if (sent(t, &s)) {
			assert_int_equal(s.stopped, 0x08);
			assert_int_equal(s.speaks_for, 0x18);
			assert_int_equal(s.lease_ns, 50 * MS);
			assert_int_equal(s.slice, 0);
			if (n) {
				uint64_t gap = t->now - at, want = n < 3 ? MS : 50 * MS / 3;

				assert_int_equal(s.epoch, last.epoch);
				assert_int_equal(s.sequence, last.sequence + 1);
				check(gap > want - 10000 && gap < want + 10000, "message %u after %llu ns", n,
					(unsigned long long)gap);
			}
			at = t->now;
			last = s;
			n++;
		}
		gateway_says(t, 0x08, 65535); /* its refreshes say nothing new */
		testbed_pass(t, 5000, 1000);
	}
	assert_int_equal(n, 3 + 2);
	/* no refresh, no XON: the pause expires, and that is reported */
	testbed_pass(t, LONG - 20000, 1000);
	assert_false(sent(t, &s));
	testbed_pass(t, 5 * MS + 40000, 1000); /* 5 ms more, in which the gateway may have started again */
	assert_true(sent(t, &s));
	assert_int_equal(s.stopped, 0);
	testbed_pass(t, 100 * MS, 100000);
	for (n = 0; sent(t, &s); n++)
		assert_int_equal(s.stopped, 0);
	assert_int_equal(n, 2); /* nothing is stopped, so nothing is renewed */
	gateway_says(t, 0x18, 65535);
	assert_true(sent(t, &s));
	assert_int_equal(s.stopped, 0x18);
	gateway_says(t, 0x10, 0);
	assert_true(sent(t, &s));
	assert_int_equal(s.stopped, 0x08);
	testbed_free(t);
}

/* The gateway is kept paused by fresh frames until XON or the end of the lease. */
static void receiver(void **state)
{
	struct testbed *t = testbed_new(B);
	struct message m = message_of("fd00::a", 0x08, 77, 1);
	uint64_t began, last;
	unsigned int n = 0;
	int stops = 8;

	(void)state;
	comes(t, &m);
	began = last = t->now;
	assert_int_equal(told(t), 0x08);
	while (stops && t->now < began + 120 * MS) {
		int now = (testbed_round(t), told(t));

		if (now < 0)
			continue;
		stops = now;
		check(t->now - last < LONG, "a gap of %llu ns", (unsigned long long)(t->now - last));
		last = t->now;
		n++;
	}
	/* 50 ms each */
	check(t->now > began + 100 * MS - 10000 && t->now < began + 100 * MS + 10000,
		"lease and outage ended after %llu ns", (unsigned long long)(t->now - began));
	assert_true(n > 290);
	assert_int_equal(service_pfc(t->node)->control->relay[DC].expired, 1);
	/* XON is whatever is not XOFF */
	m = message_of("fd00::a", 0x18, 77, 2);
	comes(t, &m);
	assert_int_equal(told(t), 0x18);
	m = message_of("fd00::a", 0x10, 77, 3);
	comes(t, &m);
	assert_int_equal(told(t), 0); /* a frame about priority 3 alone */
	assert_int_equal(service_pfc(t->node)->control->relay[DC].stopped, 0x10);
	/* two far PEs hold apart (D42) */
	m = message_of("fd00::c", 0x10, 5, 1);
	comes(t, &m);
	m = message_of("fd00::a", 0, 77, 4);
	comes(t, &m);
	assert_int_equal(told(t), -1);
	m = message_of("fd00::c", 0, 5, 2);
	comes(t, &m);
	assert_int_equal(told(t), 0);
	assert_int_equal(testbed_reason(t, WAN, CONSUME_pfc), 6);
	testbed_free(t);
}

/* Old ones, copies and ones of an epoch that is over do nothing; a new epoch does. */
static void order(void **state)
{
	static const struct {
		uint32_t epoch, sequence;
		bool taken;
	} rows[] = {{7, 10, true}, {7, 10, false}, {7, 9, false}, {7, 11, true}, {7, 0x80000000u, true}, {7, 11, false},
		{8, 1, true}, {7, 0x80000001u, false}, {8, 2, true}, {9, 0xffffffffu, true}, {9, 0, true},
		{9, 0xffffffffu, false}};
	struct testbed *t = testbed_new(B);
	uint64_t stale = 0, taken = 0;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct message m = message_of("fd00::a", 0x08, rows[i].epoch, rows[i].sequence);

		comes(t, &m);
		taken += rows[i].taken;
		stale += !rows[i].taken;
		check(testbed_reason(t, WAN, DROP_pfc_state_stale) == stale &&
				testbed_reason(t, WAN, CONSUME_pfc) == taken,
			"row %u", i);
	}
	assert_int_equal(service_pfc(t->node)->control->carrier[DC].stale, stale);
	testbed_free(t);
}

/* Every invalid message has a drop reason and pauses nothing. */
static void hostile(void **state)
{
	enum { VERSION = 48, FLAGS = 49, LEASE = 60, SLICE = 67, LENGTH = 45 };
	static const struct {
		const char *what, *source;
		unsigned int at; /* byte that is changed; 0: none */
		uint8_t by;
		bool sealed; /* after the change */
		unsigned int port;
		size_t size;
		int reason;
	} rows[] = {
		{"outside the infrastructure", "2001:db8:9::1", 0, 0, true, WAN, 68, DROP_pfc_bad_peer},
		{"from a DC", "fd00::a", 0, 0, true, DC, 68, DROP_pfc_bad_peer},
		{"checksum", "fd00::a", 51, 0x18, false, WAN, 68, DROP_pfc_state_invalid},
		{"version", "fd00::a", VERSION, 2, true, WAN, 68, DROP_pfc_state_invalid},
		{"flag", "fd00::a", FLAGS, 1, true, WAN, 68, DROP_pfc_state_invalid},
		{"long lease", "fd00::a", LEASE, 1, true, WAN, 68, DROP_pfc_state_invalid},
		{"slice", "fd00::a", SLICE, 1, true, WAN, 68, DROP_pfc_state_invalid},
		{"short UDP length", "fd00::a", LENGTH, 27, true, WAN, 68, DROP_pfc_state_invalid},
		{"no UDP length", "fd00::a", LENGTH, 7, false, WAN, 68, DROP_pfc_state_invalid},
		{"long UDP length", "fd00::a", LENGTH, 29, false, WAN, 68, DROP_pfc_state_invalid},
		{"another UDP port", "fd00::a", 43, 1, true, WAN, 68, DROP_not_served},
	};
	struct testbed *t = testbed_new(B);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct message m = message_of(rows[i].source, 0x08, 1, i + 1);
		uint64_t before = testbed_reason(t, rows[i].port, (enum reason)rows[i].reason);

		if (rows[i].at)
			((uint8_t *)&m)[rows[i].at] = rows[i].by;
		if (rows[i].sealed)
			seal(&m);
		arrives(t, rows[i].port, &m, rows[i].size);
		check(testbed_reason(t, rows[i].port, (enum reason)rows[i].reason) == before + 1, "%s", rows[i].what);
		check(told(t) < 0 && !service_pfc(t->node)->control->relay[DC].relayed, "%s: paused", rows[i].what);
	}
	testbed_free(t);
}

#define KEYS_FILE "test_pfc_carrier.keys"

/* A node whose relay has keys: [7, 8], or others. */
static struct testbed *keyed_node(const char *yaml, const char *ids)
{
	static const char end[] = "flow-label: 7}\n";
	size_t n = strlen(yaml) - strlen(end);
	char text[8192];
	FILE *f;

	assert_string_equal(yaml + n, end);
	snprintf(text, sizeof(text), "%.*sflow-label: 7, message-keys: [%s]}\nhmac: {keys: " KEYS_FILE "}\n", (int)n,
		yaml, ids);
	unlink(KEYS_FILE);
	f = fopen(KEYS_FILE, "w");
	assert_non_null(f);
	fchmod(fileno(f), 0600);
	fprintf(f, "7 000102030405060708090a0b0c0d0e0f\n8 101112131415161718191a1b1c1d1e1f\n9 2021222324252627"
		   "28292a2b2c2d2e2f\n");
	fclose(f);
	return testbed_new(text);
}

struct keyed_packet {
	struct ipv6_hdr ip;
	struct udp_hdr udp;
	struct pfc_state_keyed_msg msg;
};

/* The message that a node has sent, as it arrives at the far PE: without its SRH. */
static struct keyed_packet on_arrival(struct testbed *t)
{
	struct sent_frame *f = fake_port_take(t->port[WAN]);
	struct keyed_packet p;
	uint32_t upper;

	assert_non_null(f);
	upper = f->size - (uint32_t)(sizeof(p) - sizeof(p.ip));
	memcpy(&p.ip, f->bytes + 14, sizeof(p.ip));
	memcpy(&p.udp, f->bytes + upper, sizeof(p) - sizeof(p.ip));
	if (p.ip.next_header == IP_PROTO_ROUTING)
		p.ip.dst = ((const struct srh *)(f->bytes + 14 + sizeof(p.ip)))->segment[0];
	p.ip.next_header = IP_PROTO_UDP;
	p.ip.payload_length = p.udp.length;
	free(f);
	return p;
}

static void seal_keyed(struct keyed_packet *p)
{
	uint32_t n = be16_get(p->udp.length);

	p->udp.checksum = be16(0);
	p->udp.checksum = checksum_finish(
		checksum_add(checksum_pseudo6(&p->ip.src, &p->ip.dst, n, IP_PROTO_UDP), &p->udp, n));
}

/* Returns the reason of DROP_... or CONSUME_pfc for which it ended. */
static enum reason ends(struct testbed *t, const struct keyed_packet *p)
{
	static const enum reason all[] = {CONSUME_pfc, DROP_pfc_state_forged, DROP_pfc_state_stale,
		DROP_pfc_state_invalid, DROP_pfc_bad_peer};
	uint64_t before[ARRAY_LEN(all)];

	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		before[i] = testbed_reason(t, WAN, all[i]);
	arrives(t, WAN, p, sizeof(*p));
	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		if (testbed_reason(t, WAN, all[i]) != before[i])
			return all[i];
	return DROP_not_served;
}

/* With keys, messages that are forged, changed or of an earlier start pause nothing (D64). */
static void keyed(void **state)
{
	struct testbed *a = keyed_node(A, "7, 8"), *b = keyed_node(B, "8, 7"), *old;
	struct keyed_packet earlier, first, second, p;
	struct message plain = message_of("fd00::a", 0x08, 1, 1);
	struct ip_addr other;

	(void)state;
	/* of an earlier start, and never heard */
	old = keyed_node(A, "7, 8");
	gateway_says(old, 0x18, 65535);
	earlier = on_arrival(old);
	testbed_free(old);
	a->now += 10 * MS;
	gateway_says(a, 0x08, 65535);
	first = on_arrival(a);
	assert_int_equal(be32_get(first.msg.key_id), 7);
	comes(b, &plain);
	assert_int_equal(testbed_reason(b, WAN, DROP_pfc_state_forged), 1);
	/* each bit counts: of the message, its digest and the addresses */
	for (unsigned int i = 0; i < 8 * sizeof(p.msg); i++) {
		p = first;
		((uint8_t *)&p.msg)[i / 8] ^= (uint8_t)(1u << i % 8);
		seal_keyed(&p);
		check(ends(b, &p) != CONSUME_pfc, "bit %u of the message", i);
	}
	p = first;
	assert_int_equal(ip_addr_parse("fd00::c", &other), 0);
	p.ip.src = other.v6;
	seal_keyed(&p);
	assert_int_equal(ends(b, &p), DROP_pfc_state_forged);
	assert_int_equal(told(b), -1);
	assert_int_equal(service_pfc(b->node)->control->carrier[DC].taken, 0);
	/* the true one is heard after all of them, once */
	assert_int_equal(ends(b, &first), CONSUME_pfc);
	assert_int_equal(told(b), 0x08);
	assert_int_equal(ends(b, &first), DROP_pfc_state_stale);
	assert_int_equal(ends(b, &earlier), DROP_pfc_state_stale);
	/* the far PE starts again, with the key that is new there: what was sent before is old from then on */
	testbed_pass(a, 2 * MS, 100000);
	second = on_arrival(a);
	old = a;
	a = keyed_node(A, "8");
	a->now = old->now + 10 * MS;
	gateway_says(a, 0x10, 65535);
	p = on_arrival(a);
	assert_int_equal(be32_get(p.msg.key_id), 8);
	assert_int_equal(ends(b, &p), CONSUME_pfc);
	assert_int_equal(ends(b, &second), DROP_pfc_state_stale);
	assert_int_equal(ends(b, &first), DROP_pfc_state_stale);
	/* a key that this relay does not have */
	testbed_free(old);
	old = keyed_node(A, "9");
	old->now = a->now + 10 * MS;
	gateway_says(old, 0x10, 65535);
	p = on_arrival(old);
	assert_int_equal(ends(b, &p), DROP_pfc_state_forged);
	testbed_free(old);
	testbed_free(a);
	testbed_free(b);
	unlink(KEYS_FILE);
}

/* Inside a tunnel that ends here a tenant may say what he likes; a flood is bounded; a full table forgets only the silent. */
static void bounded(void **state)
{
	struct testbed *t = testbed_new(B);
	struct message m = message_of("fd00::a", 0x08, 1, 1);
	struct {
		struct ipv6_hdr outer;
		struct message inner;
	} tunnelled = {.inner = m};
	struct ip_addr a;

	(void)state;
	tunnelled.outer = m.ip;
	tunnelled.outer.next_header = IP_PROTO_IPV6;
	tunnelled.outer.payload_length = be16(sizeof(m));
	assert_int_equal(ip_addr_parse("5f00:0:e101::", &a), 0);
	tunnelled.outer.dst = a.v6;
	arrives(t, WAN, &tunnelled, sizeof(tunnelled));
	assert_int_equal(testbed_reason(t, WAN, DROP_pfc_bad_peer), 1);
	assert_int_equal(told(t), -1);
	for (unsigned int i = 0; i < CARRIER_PEERS + 3; i++) {
		char source[32];

		snprintf(source, sizeof(source), "fd00::%x", 0x100 + i);
		m = message_of(source, 0x08, 1, 1);
		comes(t, &m);
	}
	assert_int_equal(testbed_reason(t, WAN, DROP_pfc_limited), 3);
	testbed_pass(t, 101 * MS, 100000);
	m = message_of("fd00::200", 0x08, 1, 1);
	comes(t, &m);
	assert_int_equal(testbed_reason(t, WAN, DROP_pfc_limited), 3);
	for (uint32_t i = 0; i < 1000; i++) {
		m = message_of("fd00::200", 0x08, 1, 2 + i);
		comes(t, &m);
	}
	assert_true(testbed_reason(t, WAN, DROP_pfc_limited) > 300);
	told(t);
	testbed_free(t);
}

/* allowed-sources: those and no others. */
static void allowed(void **state)
{
	struct testbed *t = testbed_new(NODE("b", "\"fd00::a\"") "     # nothing\n"
								 "  - {name: gw2, port: p1, carrier: state, udp-port: "
								 "4795, allowed-sources: [\"fd00::a/128\"]}\n");
	struct message m = message_of("fd00::c", 0x08, 1, 1);

	(void)state;
	m.udp.dst_port = be16(4795);
	seal(&m);
	comes(t, &m);
	assert_int_equal(testbed_reason(t, WAN, DROP_pfc_bad_peer), 1);
	m = message_of("fd00::a", 0x08, 1, 1);
	m.udp.dst_port = be16(4795);
	seal(&m);
	comes(t, &m);
	assert_int_equal(testbed_reason(t, WAN, CONSUME_pfc), 1);
	assert_int_equal(told(t), 0x08);
	testbed_free(t);
}

/*
 * A's gateway pauses and resumes; what A says reaches B with losses, copies and out of order. B's gateway is paused whenever
 * A's has been for a while, and resumed soon after.
 */
static void over_a_bad_way(void **state)
{
	struct testbed *a = testbed_new(A), *b = testbed_new(B);
	struct sent_frame *late = NULL, *f;
	uint32_t random = 9, lost = 0, n = 0;
	unsigned int wrong = 0, changes = 0;
	uint64_t changed = 0;
	int stops = 0, want = 0;

	(void)state;
	b->now = a->now;
	for (unsigned int step = 0; step < 40000; step++) { /* 10 us each */
		int now;

		if (step % 4000 == 0) {
			want = want ? 0 : 0x08;
			changed = a->now;
			changes++;
		}
		if (step % 4000 == 0 || (want && step % 15 == 0))
			gateway_says(a, 0x08, want ? 65535 : 0);
		while ((f = fake_port_take(a->port[WAN]))) {
			random = random * 1664525 + 1013904223;
			n++;
			if (random >> 24 < 64) { /* a quarter */
				lost++;
				free(f);
				continue;
			}
			/* the destination's last hop: its own segment is the next one */
			for (unsigned int copy = 0; copy < 1u + (random >> 16 & 1); copy++) {
				struct message m;

				memcpy(&m.ip, f->bytes + 14, sizeof(m.ip));
				memcpy(&m.ip.dst, f->bytes + 14 + 40 + 8, 16);
				m.ip.next_header = IP_PROTO_UDP;
				m.ip.payload_length = be16(28);
				memcpy(&m.udp, f->bytes + 14 + 40 + 24, 28);
				if (late && copy)
					comes(b, &m); /* overtakes */
				comes(b, &m);
			}
			free(late);
			late = f;
		}
		testbed_pass(a, a->now < b->now ? b->now - a->now + 10000 : 10000, 10000);
		testbed_pass(b, b->now < a->now ? a->now - b->now : 1, 10000);
		now = told(b);
		stops = now < 0 ? stops : now;
		/* all three messages of a change lost, one time in 64: then the next refresh, or the end of the lease */
		if (stops != want && a->now > changed + 3 * MS)
			wrong++;
	}
	free(late);
	assert_true(changes == 10 && lost > 5 && n > 30);
	check(wrong < 10, "wrong for %u0 us", wrong);
	told(b);
	while ((f = fake_port_take(a->port[DC])))
		free(f);
	testbed_free(b);
	testbed_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_the_wire),
		cmocka_unit_test(sender),
		cmocka_unit_test(receiver),
		cmocka_unit_test(order),
		cmocka_unit_test(hostile),
		cmocka_unit_test(keyed),
		cmocka_unit_test(bounded),
		cmocka_unit_test(allowed),
		cmocka_unit_test(over_a_bad_way),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("pfc_carrier", tests, NULL, NULL);
}
