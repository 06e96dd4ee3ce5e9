/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Servers that speak RSVP natively, at a gateway whose neighbours are the test (docs/credit.md 2.3): one that sends, whose
 * session is joined to an outer one; one that receives; two at the same gateway; and whom the gateway does not hear.
 */
#include "test/support/unit.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test/support/conf.h"
#include "test/support/rsvp_packets.h"
#include "test/support/shown.h"
#include "wire/udp.h"

/* Servers of the tenant red on d0 and d1; the tenant blue on d2 has the address of one of them. fd00::2 is behind p1. */
#define PORTS \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"vrfs:\n" \
		"  - {name: red, routes: [{prefix: \"2001:db8:3::/48\", policy: far}, " \
		"{prefix: \"2001:db8:4::/48\", policy: other}]}\n" \
		"  - {name: blue, routes: [{prefix: \"2001:db8:3::/48\", policy: far}]}\n" \
		"ports:\n" \
		"  - {name: p1, device: net_null1, side: wan, speed: 40G, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: d0, device: net_null2, side: dc, vrf: red, speed: 10G, addresses: " \
		"[\"2001:db8:c::2/64\"]}\n" \
		"  - {name: d1, device: net_null3, side: dc, vrf: red, addresses: [\"2001:db8:e::2/64\"]}\n" \
		"  - {name: d2, device: net_null4, side: dc, vrf: blue, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"neighbors:\n" \
		"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
		"  - {port: d0, address: \"2001:db8:c::9\", mac: \"02:00:00:00:c0:09\"}\n" \
		"  - {port: d1, address: \"2001:db8:e::9\", mac: \"02:00:00:00:e0:09\"}\n" \
		"  - {port: d2, address: \"2001:db8:c::9\", mac: \"02:00:00:00:c0:99\"}\n" \
		"routes:\n" \
		"  - {prefix: \"fd00::2/128\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:200::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"policies:\n" \
		"  - {name: far, source: \"fd00:1::9\", paths: [{name: only, segments: [\"5f00:0:200::\"]}]}\n" \
		"  - {name: other, source: \"fd00:1::a\", paths: [{name: only, segments: [\"5f00:0:200::\"]}]}\n"
#define SERVERS(keys) \
	"  neighbors:\n" \
	"    - {address: \"fd00::2\"}\n" \
	"    - {address: \"2001:db8:c::9\", port: d0, buffer: 4" keys "}\n" \
	"    - {address: \"2001:db8:e::9\", port: d1" keys "}\n"
#define CREDIT(more) \
	PORTS "credit:\n  mode: ext\n  data: free\n  integrity: off\n  pool: 64\n  buffer: 16\n" SERVERS("") more
#define OUTER "  sessions: [{name: a, policy: far, to: \"fd00::2\", class: 3}]\n"
#define TO_SERVER "  sessions: [{name: b, port: d0, to: \"2001:db8:c::9\", class: 3}]\n"

enum { P1, D0, D1, D2 };

static const struct sending from_d0 = {D0, "2001:db8:c::9", "", 0xc0, 64, ALERTING};

/* A 28 of the server on d0 for data to `to`. */
static void make_init(const char *to)
{
	static struct ipv6_addr itself;

	itself = address("2001:db8:c::9").v6;
	rsvp_clear(&m, RSVP_INIT);
	m.send_ttl = 64;
	m.session = (struct rsvp_session){.dst = address(to), .protocol = 17, .port = 4791};
	m.hop = (struct rsvp_hop){.addr = address("2001:db8:c::9"), .lih = 7};
	m.refresh_ms = 30000;
	m.sender = (struct rsvp_sender){.src = address("2001:db8:c::9"), .port = 50000};
	m.path = (struct rsvp_cbfc_path){.nonce = 5, .path = 1, .hops = 1, .hops_max = 16, .addrs = &itself};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.traffic_class = 3, .unit = 11, .sequence = 1};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = 1;
	m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = m.count[RSVP_O_CBFC_HOP] = 1;
}

/* The 29 of a next hop for a path whose 28 the node has sent. */
static void make_reserve(const struct rsvp_message *init, const char *from, uint8_t flags)
{
	rsvp_clear(&m, RSVP_RESERVE);
	m.session = init->session;
	m.hop = (struct rsvp_hop){.addr = address(from), .lih = init->hop.lih};
	m.refresh_ms = 30000;
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags,
		.traffic_class = 3,
		.unit = 11,
		.epoch = 5,
		.fccl = 16,
		.buffer = 16,
		.sequence = flags};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_STYLE] = m.flows = 1;
	m.style = RSVP_STYLE_FF;
	m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = init->sender};
}

static const struct rsvp_node_stats *sessions(const struct testbed *t)
{
	return rsvp_node_stats_of(rsvp_shown(t->node)->machines);
}

/* The next hop of the outer session whose 28 is in `got` commits. */
static void commit_outer(struct testbed *t)
{
	static struct rsvp_message init;

	assert_int_equal(RSVP_INIT, got.kind);
	init = got;
	make_reserve(&init, "fd00::2", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){P1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
}

/* What the server on d0 is sent. */
static void expect_server(struct testbed *t, enum rsvp_kind kind)
{
	assert_true(next_sent(t, D0, UNICAST));
	assert_int_equal(kind, got.kind);
	assert_true(is(&outer()->src, "2001:db8:c::2") && is(&outer()->dst, "2001:db8:c::9"));
	assert_int_equal(255, outer()->hop_limit);
}

/* A server that sends is granted credit as soon as the outer session has a path, and as long as it has one. */
static void sends(void **state)
{
	struct testbed *t = start(CREDIT(OUTER));

	(void)state;
	assert_true(next_sent(t, P1, IN_TUNNEL));
	struct rsvp_message *outer_init = malloc(sizeof(*outer_init));
	*outer_init = got;
	make_init("2001:db8:3::33");
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_OFFER, got.credit[0].flags);
	assert_int_equal(4, got.credit[0].buffer);
	assert_int_equal(7, got.hop.lih);
	assert_true(is(&got.hop.addr.v6, "2001:db8:c::2"));
	assert_false(next_sent(t, P1, IN_TUNNEL)); /* it goes no further */
	testbed_pass(t, 300 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, D0, UNICAST)); /* after T_sel, the outer session has no path yet */
	got = *outer_init;
	free(outer_init);
	commit_outer(t);
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	assert_int_equal(4, sessions(t)->committed);
	check_shown(t, "show rsvp paths", "2001:db8:c::9");
	/* without the outer session it must not send */
	while (next_sent(t, P1, IN_TUNNEL))
		;
	check_shown(t, "session stop a", "stop");
	testbed_settle(t, 100);
	expect_server(t, RSVP_PATH_ERR);
	assert_int_equal(RSVP_ERROR_ADMISSION, got.error.code);
	assert_int_equal(RSVP_REFUSE_OPERATOR, got.error.value);
	make_init("2001:db8:3::33"); /* a refresh: nothing has changed */
	give(t, &from_d0);
	expect_server(t, RSVP_PATH_ERR);
	assert_int_equal(RSVP_REFUSE_OPERATOR, got.error.value);
	check_shown(t, "session start a", "start");
	testbed_settle(t, 100);
	while (next_sent(t, P1, IN_TUNNEL) && got.kind != RSVP_INIT)
		;
	commit_outer(t);
	assert_false(next_sent(t, D0, UNICAST));
	make_init("2001:db8:3::33");
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	/* End */
	make_init("2001:db8:3::33");
	m.kind = RSVP_END;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 0;
	m.cbfc_hop[0].flags = RSVP_HOP_FINAL;
	give(t, &from_d0);
	expect_server(t, RSVP_END_ACK);
	assert_int_equal(0, sessions(t)->committed);
	testbed_free(t);
}

/* A server that receives grants to the gateway: with its address as the end of a session that the gateway begins. */
static void receives(void **state)
{
	struct testbed *t = start(CREDIT(TO_SERVER));
	static struct rsvp_message init;

	(void)state;
	assert_true(next_sent(t, D0, NATIVE));
	assert_int_equal(RSVP_INIT, got.kind);
	init = got;
	assert_true(is(&outer()->src, "2001:db8:c::2") && is(&outer()->dst, "2001:db8:c::9"));
	assert_true(is(&got.hop.addr.v6, "2001:db8:c::2") && is(&got.path.addrs[0], "2001:db8:c::2"));
	assert_int_equal(255, outer()->hop_limit);
	assert_int_equal(10000000000, got.offer[0].rate);
	/* another tenant's server answers in its place */
	make_reserve(&init, "2001:db8:e::9", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){D1, "2001:db8:e::9", "2001:db8:e::2", 0xc0, 255, FOR_ONE_HOP});
	assert_int_equal(1, sessions(t)->bad_hop);
	check_shown(t, "show rsvp sessions", "waiting");
	make_reserve(&init, "2001:db8:c::9", RSVP_CREDIT_OFFER);
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP});
	check_shown(t, "show rsvp sessions b", "offered");
	make_reserve(&init, "2001:db8:c::9", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP});
	check_shown(t, "show rsvp sessions b", "committed");
	apply(t, CREDIT("  accept: [{sources: \"fd00:9::/64\"}]\n" TO_SERVER));
	check_shown(t, "show rsvp sessions b", "committed");
	apply(t, CREDIT("")); /* the session leaves the configuration */
	assert_true(next_sent(t, D0, NATIVE));
	assert_int_equal(RSVP_END, got.kind);
	testbed_free(t);
}

/* Two servers of one gateway: the 28 goes on from one link to the other. */
static void at_one_gateway(void **state)
{
	struct testbed *t = start(CREDIT(""));
	static struct rsvp_message init;

	(void)state;
	make_init("2001:db8:e::9");
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	assert_true(next_sent(t, D1, NATIVE));
	assert_int_equal(RSVP_INIT, got.kind);
	init = got;
	assert_true(is(&outer()->src, "2001:db8:c::9") && is(&outer()->dst, "2001:db8:e::9"));
	assert_true(is(&got.hop.addr.v6, "2001:db8:e::2"));
	assert_int_equal(63, outer()->hop_limit);
	assert_int_equal(2, got.path.hops);
	make_reserve(&init, "2001:db8:e::9", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){D1, "2001:db8:e::9", "2001:db8:e::2", 0xc0, 255, FOR_ONE_HOP});
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	testbed_free(t);
}

/* Two tenants have equal addresses, and all else is equal, too: the one does not touch what the other has. */
static void equal_addresses(void **state)
{
	struct testbed *t = start(CREDIT(OUTER));
	struct sending from_d2 = from_d0;

	(void)state;
	from_d2.port = D2;
	apply(t, PORTS "credit:\n  mode: ext\n  data: free\n  integrity: off\n  pool: 64\n  buffer: 16\n  neighbors:\n"
		       "    - {address: \"fd00::2\"}\n    - {address: \"2001:db8:c::9\", port: d0}\n"
		       "    - {address: \"2001:db8:c::9\", port: d2, buffer: 5}\n" OUTER);
	make_init("2001:db8:3::33");
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(16, got.credit[0].buffer);
	make_init("2001:db8:3::33");
	give(t, &from_d2);
	assert_false(next_sent(t, D0, UNICAST));
	assert_true(next_sent(t, D2, UNICAST));
	assert_int_equal(RSVP_RESERVE, got.kind);
	assert_int_equal(5, got.credit[0].buffer);
	assert_int_equal(3, sessions(t)->paths); /* and the outer one */
	assert_int_equal(0, sessions(t)->duplicate);
	make_init("2001:db8:3::33");
	m.kind = RSVP_END;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 0;
	m.cbfc_hop[0].flags = RSVP_HOP_FINAL;
	give(t, &from_d2);
	assert_true(next_sent(t, D2, UNICAST));
	assert_int_equal(RSVP_END_ACK, got.kind);
	assert_false(next_sent(t, D0, UNICAST));
	assert_int_equal(16, sessions(t)->promised);
	check_metrics(t, "sluice_rsvp_neighbor_rx_total{node=\"t\",neighbor=\"2001:db8:c::9\",port=\"d2\"} 2\n");
	testbed_free(t);
}

/* What is nobody's permitted native session is data, or refused for a reason that is counted. */
static void strangers(void **state)
{
	struct testbed *t = start(CREDIT(OUTER));
	struct ipv6_addr gateway;
	uint64_t sent;
	struct sending s = from_d0;

	(void)state;
	sent = stats(t)->tx;
	make_init("2001:db8:3::33");
	s.from = "2001:db8:c::7"; /* another station of the link */
	give(t, &s);
	s = from_d0;
	s.port = D2; /* another tenant with that address */
	give(t, &s);
	s = from_d0;
	s.tc = 0; /* not of the control class */
	give(t, &s);
	give(t, &(struct sending){D0, "2001:db8:c::7", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP});
	give(t, &(struct sending){D2, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP});
	assert_int_equal(0, stats(t)->rx);
	/* the server speaks for somebody else */
	make_init("2001:db8:3::33");
	m.hop.addr = address("fd00::2");
	give(t, &from_d0);
	assert_int_equal(1, stats(t)->stranger);
	make_init("2001:db8:3::33");
	m.sender.src = address("2001:db8:c::7");
	give(t, &from_d0);
	make_init("2001:db8:3::33");
	gateway = address("fd00::2").v6;
	m.path.addrs = &gateway;
	give(t, &from_d0);
	make_init("2001:db8:3::33");
	m.kind = RSVP_END;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 0;
	m.sender.src = address("2001:db8:c::7");
	give(t, &from_d0);
	assert_int_equal(3, stats(t)->source);
	assert_int_equal(4, testbed_reason(t, D0, DROP_rsvp_refused));
	/* for one hop: from too far away */
	make_reserve(&m, "2001:db8:c::9", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 254, FOR_ONE_HOP});
	assert_int_equal(1, stats(t)->hop_limit);
	assert_int_equal(sent, stats(t)->tx);
	testbed_free(t);
}

/* Nothing is granted where data would go on without credit: by no session, by one of another class, by no way at all. */
static void refused(void **state)
{
	static const char *const to[] = {"2001:db8:4::33", "2001:db8:3::33", "2001:db8:99::1", "2001:db8:c::8",
		"2001:db8:c::9"};
	struct testbed *t = start(CREDIT(OUTER));

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(to); i++) {
		make_init(to[i]);
		m.cbfc_hop[0].traffic_class = i == 1 ? 4 : 3;
		give(t, &from_d0);
		check(next_sent(t, D0, UNICAST) && got.kind == RSVP_PATH_ERR, "%s", to[i]);
		check(got.error.code == RSVP_ERROR_ADMISSION && got.error.value == RSVP_REFUSE_ROUTE, "%s", to[i]);
	}
	assert_int_equal(1, sessions(t)->paths); /* the outer one */
	testbed_free(t);
}

/* --- INTEGRITY --- */

#define KEYS "test_rsvp_servers.keys"
#define SIGNED \
	PORTS "hmac: {keys: " KEYS "}\n" \
	      "credit:\n  mode: ext\n  data: free\n  pool: 64\n  buffer: 16\n  keys: [{id: 6}]\n" SERVERS( \
		      ", keys: [{id: 5}]") OUTER

static void write_keys(void)
{
	FILE *f;

	unlink(KEYS);
	f = fopen(KEYS, "w");
	assert_non_null(f);
	fprintf(f, "5 000102030405060708090a0b0c0d0e0f\n6 100102030405060708090a0b0c0d0e0f\n");
	assert_int_equal(0, fchmod(fileno(f), 0600));
	assert_int_equal(0, fclose(f));
}

/* Somebody with the key `id`, whose secret begins with `first`. */
static struct rsvp_auth *with_key(uint64_t id, uint8_t first)
{
	static const uint8_t seed[16] = {3};
	uint8_t secret[16];
	struct rsvp_key k = {.id = id, .until_s = UINT64_MAX};
	struct rsvp_auth *a = rsvp_auth_new(16, 32, seed, 1000);

	assert_non_null(a);
	for (unsigned int i = 0; i < sizeof(secret); i++)
		secret[i] = (uint8_t)(i ? i : first);
	hmac_secret_prepare(&k.secret, HMAC_SHA256, secret, sizeof(secret));
	rsvp_auth_set_keys(a, &k, 1, 0);
	return a;
}

/* A server has keys of its own: those of the domain are of no use to it, and what it is sent is signed by its own. */
static void signed_by_its_key(void **state)
{
	struct testbed *t;

	(void)state;
	write_keys();
	t = start(SIGNED);
	neighbor = with_key(6, 0x10);
	make_init("2001:db8:3::33");
	assert_true(rsvp_auth_prepare(neighbor, 1000, &m));
	m.integrity.handshake = false;
	give(t, &from_d0);
	assert_int_equal(1, stats(t)->integrity_key);
	rsvp_auth_free(neighbor);
	neighbor = with_key(5, 0);
	make_init("2001:db8:3::33");
	assert_true(rsvp_auth_prepare(neighbor, 1000, &m));
	m.integrity.handshake = false;
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	assert_int_equal(5, got.integrity.key_id);
	assert_true(next_sent(t, P1, IN_TUNNEL));
	assert_int_equal(6, got.integrity.key_id);
	testbed_free(t);
	rsvp_auth_free(neighbor);
	neighbor = NULL;
	unlink(KEYS);
}

/* A unit of 64 KiB: 2 MB are 32 units. */
#define LETTER(more) \
	PORTS "credit:\n  mode: ext\n  data: free\n  integrity: off\n  unit: 16\n  pool: 128\n  buffer: 32\n  " \
	      "letter: {grant: 2}\n" \
	      "  neighbors:\n    - {address: \"fd00::2\"}\n" \
	      "    - {address: \"2001:db8:c::9\", port: d0, mode: letter}\n" more

static void make_letter(enum rsvp_kind kind)
{
	make_init("2001:db8:3::33");
	m.kind = (uint8_t)kind;
	m.count[RSVP_O_CBFC_PATH] = m.count[RSVP_O_CBFC_HOP] = 0;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = kind == RSVP_INIT;
}

/* A server that speaks by the letter of the draft: its session is joined to the outer one; and one that the gateway begins. */
static void letter(void **state)
{
	struct testbed *t = start(LETTER(OUTER));
	static struct rsvp_message init;

	(void)state;
	assert_true(next_sent(t, P1, IN_TUNNEL));
	init = got;
	speech = &rsvp_letter;
	make_letter(RSVP_INIT);
	give(t, &from_d0);
	testbed_pass(t, 700 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, D0, UNICAST)); /* the outer session has no path yet */
	speech = &rsvp_ext;
	make_reserve(&init, "fd00::2", RSVP_CREDIT_COMMIT);
	m.credit[0].unit = 16;
	give(t, &(struct sending){P1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	testbed_pass(t, 700 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	speech = &rsvp_letter;
	for (unsigned int i = 0; i < 2; i++) { /* an offer, and that it is selected */
		expect_server(t, RSVP_RESERVE);
		assert_int_equal(2, got.credit[0].amount);
		assert_int_equal(7, got.hop.lih);
	}
	assert_int_equal(32, sessions(t)->committed);
	check_shown(t, "show rsvp paths", "2001:db8:c::9");
	make_letter(RSVP_END);
	give(t, &from_d0);
	expect_server(t, RSVP_END_ACK);
	testbed_pass(t, 3 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	assert_int_equal(0, sessions(t)->committed);
	assert_int_equal(0, letter_stats_of(rsvp_shown(t->node)->letter)->sessions);

	apply(t, LETTER("  accept: [{sources: \"fd00:9::/64\"}]\n" TO_SERVER));
	testbed_settle(t, 100);
	assert_true(next_sent(t, D0, NATIVE));
	assert_int_equal(RSVP_INIT, got.kind);
	init = got;
	rsvp_clear(&m, RSVP_RESERVE);
	make_reserve(&init, "2001:db8:c::9", 0);
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_LETTER, .amount = 5};
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 64, FOR_ONE_HOP});
	check_shown(t, "show rsvp sessions b", "offered");
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 64, FOR_ONE_HOP});
	check_shown(t, "show rsvp sessions b", "committed");
	speech = &rsvp_ext;
	testbed_free(t);
}

/* A 28 of a gateway of the domain for a session that ends here. */
static void make_outer(void)
{
	static struct ipv6_addr gateway;

	gateway = address("fd00::2").v6;
	make_init("fd00::d");
	m.hop = (struct rsvp_hop){.addr = address("fd00::2"), .lih = 0x101};
	m.sender = (struct rsvp_sender){.src = address("fd00:9::5"), .labelled = true, .port = LABEL};
	m.path.addrs = &gateway;
}

/* The 29 of a server by the letter for a session that the gateway has begun: the first one is an offer. */
static void give_letter_grant(struct testbed *t, const struct rsvp_message *init)
{
	speech = &rsvp_letter;
	make_reserve(init, "2001:db8:c::9", 0);
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_LETTER, .amount = 5};
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 64, FOR_ONE_HOP});
	speech = &rsvp_ext;
}

/* What the neighbour of the domain is sent. */
static void expect_far(struct testbed *t, enum rsvp_kind kind)
{
	assert_true(next_sent(t, P1, UNICAST));
	assert_int_equal(kind, got.kind);
}

/*
 * Both ends by the letter. A session across the domain has credit while the server that receives its data has granted some; a server
 * that sends, while the session across the domain has a path. The gateway stops and starts either, and removes it.
 */
static void joined_by_the_letter(void **state)
{
	struct testbed *t = start(LETTER("  accept: [{sources: \"fd00:9::/64\", join: b}]\n" TO_SERVER));
	static const struct sending from_p1 = {P1, "fd00::2", "", 0xc0, 255, ALERTING};
	static struct rsvp_message init, outer_init;

	(void)state;
	speech = &rsvp_letter;
	assert_true(next_sent(t, D0, NATIVE));
	init = got;
	speech = &rsvp_ext;
	make_outer();
	m.cbfc_hop[0].unit = 16;
	outer_init = m;
	give(t, &from_p1);
	expect_far(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_OFFER, got.credit[0].flags);
	testbed_pass(t, 400 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, P1, UNICAST)); /* the server has granted nothing */
	give_letter_grant(t, &init);
	expect_far(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	assert_int_equal(32, sessions(t)->committed);
	check_shown(t, "session stop b", "stop");
	testbed_settle(t, 100);
	expect_far(t, RSVP_PATH_ERR);
	assert_int_equal(RSVP_REFUSE_OPERATOR, got.error.value);
	check_shown(t, "session start b", "start");
	testbed_settle(t, 100);
	speech = &rsvp_letter;
	while (next_sent(t, D0, NATIVE))
		init = got;
	assert_int_equal(RSVP_INIT, init.kind);
	speech = &rsvp_ext;
	assert_false(next_sent(t, P1, UNICAST));
	give_letter_grant(t, &init);
	expect_far(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);

	/* the session to the server is removed, and comes back under another name: joined by the next 28 */
	apply(t, LETTER("  accept: [{sources: \"fd00:9::/64\"}]\n"));
	testbed_settle(t, 100);
	expect_far(t, RSVP_PATH_ERR);
	apply(t, LETTER("  accept: [{sources: \"fd00:9::/64\", join: c}]\n"
			"  sessions: [{name: c, port: d0, to: \"2001:db8:c::9\", class: 3}]\n"));
	testbed_settle(t, 100);
	speech = &rsvp_letter;
	while (next_sent(t, D0, NATIVE))
		init = got;
	speech = &rsvp_ext;
	give_letter_grant(t, &init);
	assert_false(next_sent(t, P1, UNICAST));
	m = outer_init;
	m.cbfc_hop[0].sequence++;
	give(t, &from_p1);
	expect_far(t, RSVP_RESERVE);
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	testbed_free(t);

	t = start(LETTER(OUTER));
	assert_true(next_sent(t, P1, IN_TUNNEL));
	outer_init = got;
	make_reserve(&outer_init, "fd00::2", RSVP_CREDIT_COMMIT);
	m.credit[0].unit = 16;
	give(t, &(struct sending){P1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
	speech = &rsvp_letter;
	make_letter(RSVP_INIT);
	give(t, &from_d0);
	expect_server(t, RSVP_RESERVE);
	expect_server(t, RSVP_RESERVE);
	check_shown(t, "session stop a", "stop");
	testbed_settle(t, 100);
	expect_server(t, RSVP_PATH_ERR);
	assert_int_equal(RSVP_REFUSE_ROUTE, got.error.value);
	assert_false(next_sent(t, D0, UNICAST));
	check_shown(t, "show rsvp paths", "1/0x8002");
	speech = &rsvp_ext;
	testbed_free(t);
}

/* The same for a session across the domain by the letter, which comes from the next hop on p1. */
static void joined_across_by_the_letter(void **state)
{
	static const struct sending from_p1 = {P1, "fd00:9::5", "", 0xc0, 64, ALERTING};
	struct testbed *t = start(LETTER("    - {address: \"2001:db8:b::3\", mode: letter}\n"
					 "  accept: [{sources: \"fd00:9::/64\", join: b}]\n" TO_SERVER));
	static struct rsvp_message init;

	(void)state;
	speech = &rsvp_letter;
	assert_true(next_sent(t, D0, NATIVE));
	init = got;
	make_letter(RSVP_INIT);
	m.session.dst = address("fd00::d");
	m.hop.addr = address("2001:db8:b::3");
	m.sender.src = address("fd00:9::5");
	give(t, &from_p1);
	testbed_pass(t, 700 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, P1, UNICAST)); /* the server has granted nothing */
	give_letter_grant(t, &init);
	speech = &rsvp_letter;
	expect_far(t, RSVP_RESERVE);
	expect_far(t, RSVP_RESERVE);
	check_shown(t, "session stop b", "stop");
	testbed_settle(t, 100);
	expect_far(t, RSVP_PATH_ERR);
	assert_false(next_sent(t, P1, UNICAST));
	speech = &rsvp_ext;
	testbed_free(t);
}

/* A session across the domain is joined to that of the server that receives its data: it has credit while that one has. */
static void joined(void **state)
{
	struct testbed *t = start(CREDIT(TO_SERVER "  accept: [{sources: \"fd00:9::/64\", join: b}]\n"));
	static const struct sending from_p1 = {P1, "fd00::2", "", 0xc0, 255, ALERTING};
	static struct rsvp_message init;

	(void)state;
	assert_true(next_sent(t, D0, NATIVE));
	init = got;
	make_outer();
	give(t, &from_p1);
	assert_true(next_sent(t, P1, UNICAST));
	assert_int_equal(RSVP_CREDIT_OFFER, got.credit[0].flags);
	testbed_pass(t, 400 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_false(next_sent(t, P1, UNICAST)); /* the server has granted nothing */
	make_reserve(&init, "2001:db8:c::9", RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){D0, "2001:db8:c::9", "2001:db8:c::2", 0xc0, 255, FOR_ONE_HOP});
	assert_true(next_sent(t, P1, UNICAST));
	assert_int_equal(RSVP_CREDIT_COMMIT, got.credit[0].flags);
	check_shown(t, "session stop b", "stop");
	testbed_settle(t, 100);
	assert_true(next_sent(t, P1, UNICAST));
	assert_int_equal(RSVP_PATH_ERR, got.kind);
	assert_int_equal(RSVP_REFUSE_OPERATOR, got.error.value);
	testbed_free(t);
}

#define ON_DEMAND \
	"  sessions: [{name: a, policy: far, to: \"fd00::2\", class: 3, on-demand: 5, match: {sources: " \
	"\"2001:db8:c::/64\", " \
	"destinations: \"2001:db8:3::/64\"}}]\n"

/* A UDP packet of a tenant on d0. */
static void data(struct testbed *t, const char *from, const char *to, uint8_t tc, uint16_t port)
{
	uint8_t frame[128] = {0x02, 0, 0, 0, 0xd0, D0, 0x02, 0, 0, 0, 0xc0, 9, 0x86, 0xdd};
	struct ipv6_hdr ip = {.vtc_flow = ipv6_vtc_flow(tc, 0),
		.payload_length = be16(sizeof(frame) - sizeof(struct eth_hdr) - sizeof(ip)),
		.next_header = IP_PROTO_UDP,
		.hop_limit = 64,
		.src = address(from).v6,
		.dst = address(to).v6};
	struct udp_hdr udp = {.src_port = be16(0xc001), .dst_port = be16(port)};

	memcpy(frame + sizeof(struct eth_hdr), &ip, sizeof(ip));
	memcpy(frame + sizeof(struct eth_hdr) + sizeof(ip), &udp, sizeof(udp));
	fake_port_receive(t->port[D0], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

static void expect_state(struct testbed *t, const char *state)
{
	check_shown(t, "show rsvp sessions a", state);
}

/* A session that begins with the first RoCEv2 packet of its class between its addresses, and ends when there are none. */
static void on_demand(void **state)
{
	struct testbed *t = start(CREDIT(ON_DEMAND));

	(void)state;
	testbed_pass(t, 2 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	expect_state(t, "on demand");
	data(t, "2001:db8:c::9", "2001:db8:3::33", 0x40, 4791);	  /* another class */
	data(t, "2001:db8:c::9", "2001:db8:3::33", 0x60, 4790);	  /* no RoCEv2 */
	data(t, "2001:db8:c::9", "2001:db8:3:1::33", 0x60, 4791); /* to others */
	data(t, "2001:db8:77::9", "2001:db8:3::33", 0x60, 4791);  /* from others */
	data(t, "2001:db8:c::9", "2001:db8:4::33", 0x60, 4791);	  /* another policy */
	expect_state(t, "on demand");
	data(t, "2001:db8:c::9", "2001:db8:3::33", 0x60, 4791);
	expect_state(t, "waiting");
	for (unsigned int i = 0; i < 8; i++) { /* as long as there is data */
		testbed_pass(t, 2 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
		data(t, "2001:db8:c::9", "2001:db8:3::33", 0x60, 4791);
		expect_state(t, "waiting");
	}
	testbed_pass(t, 7 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	expect_state(t, "ending");
	apply(t, CREDIT(ON_DEMAND "  accept: [{sources: \"fd00:9::/64\"}]\n")); /* the generation is another one */
	data(t, "2001:db8:c::9", "2001:db8:3::33", 0x60, 4791);
	expect_state(t, "waiting");
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(sends), cmocka_unit_test(receives),
		cmocka_unit_test(letter), cmocka_unit_test(joined_by_the_letter),
		cmocka_unit_test(joined_across_by_the_letter), cmocka_unit_test(joined), cmocka_unit_test(on_demand),
		cmocka_unit_test(at_one_gateway), cmocka_unit_test(equal_addresses), cmocka_unit_test(strangers),
		cmocka_unit_test(refused), cmocka_unit_test(signed_by_its_key)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
