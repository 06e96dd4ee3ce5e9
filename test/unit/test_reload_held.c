/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reloads that take flow control away while it is in force: each is named and refused, in a dry run too, until the pause
 * has ended; and reloads that leave it alone are not. One node with every kind of pause at a time.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "pfc/pfc_frame.h"
#include "service/pfc/service_pfc.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

/* Data enters by p0 (tunnel) and p3 (link) and leaves by p2; the gateway of the relay is at p1. */
#define FORCED "forced: true}"
#define BASE \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 64K}\n" \
	"slices: [{name: gold, id: 7}, {name: idle, id: 8}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, " FORCED "]\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small}}\n" \
	"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:00\"], buffer: small}}\n" \
	"  - {name: p2, device: net_null2, side: wan, speed: 100G, addresses: [\"2001:db8:c::2/64\"],\n" \
	"     pfc: {priorities: [3, 5], peers: [\"02:00:00:00:c0:03\"], buffer: small}}\n" \
	"  - {name: p3, device: net_null3, side: wan, speed: 100G, addresses: [\"2001:db8:d::2/64\"],\n" \
	"     pfc: {priorities: [3, 6], peers: [\"02:00:00:00:d0:00\"], buffer: small}}\n" \
	"neighbors: [{port: p2, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}]\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p2, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"5f00:1::/32\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e100::/48\", behavior: uA, port: p2, nexthop: \"2001:db8:c::3\", slice: gold}\n" \
	"  - {sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p1}\n" \
	"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, jitter: 500, port: p2, nexthop: \"2001:db8:c::3\", " \
	"slice: gold}\n" \
	"pfc-relays:\n" \
	"  - {name: gw, port: p1, sid: \"5f00:1:1:d2::/64\", segments: [\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]}\n" \
	"pfc-tunnels:\n" \
	"  - {name: gold, port: p0, slice: gold, priorities: [3], segments: [\"5f00:1:2:1::\", \"5f00:1:4:e2::\"]}\n"
#define SID_E2 \
	"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, jitter: 500, port: p2, nexthop: \"2001:db8:c::3\", " \
	"slice: gold}\n"
#define RELAY \
	"pfc-relays:\n" \
	"  - {name: gw, port: p1, sid: \"5f00:1:1:d2::/64\", segments: [\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]}\n"
#define TUNNEL \
	"pfc-tunnels:\n" \
	"  - {name: gold, port: p0, slice: gold, priorities: [3], segments: [\"5f00:1:2:1::\", \"5f00:1:4:e2::\"]}\n"

struct variant {
	const char *from, *to; /* a part of BASE, and what replaces it */
	const char *names[3];  /* parts of the texts that name what is taken away; NULL after the last */
};

/* The line of what each variant takes away, and only that. */
static const struct variant variants[] = {
	{"behavior: uN}", "behavior: uN}", {NULL}},
	/* relays */
	{RELAY, "",
		{"pfc-relays gw goes: it pauses the gateway at p1 in priority 3",
			"pfc-relays gw goes: through it the gateway at p1 pauses priority 3"}},
	{"port: p1, sid: \"5f00:1:1:d2::/64\", segments", "port: p1, segments",
		{"pfc-relays gw changes: it pauses the gateway at p1 in priority 3"}},
	{", segments: [\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]", "",
		{"pfc-relays gw changes: through it the gateway at p1 pauses priority 3"}},
	{"[\"5f00:1:2:1::\", \"5f00:1:3:d2::\"]", "[\"5f00:1:3:d2::\"]", {NULL}}, /* another way to the same PE */
	{"port: p1, sid: \"5f00:1:1:d2::/64\", segments", "port: p1, mode: scaled, sid: \"5f00:1:1:d2::/64\", segments",
		{"pfc-relays gw changes: it pauses the gateway at p1 in priority 3"}},
	/* priorities of ports */
	{"priorities: [3, 4]", "priorities: [4]",
		{"pfc-relays gw changes: it pauses the gateway at p1 in priority 3",
			"pfc-relays gw changes: through it the gateway at p1 pauses priority 3"}},
	{"priorities: [3, 4]", "priorities: [3]", {NULL}},
	{"priorities: [3, 5]", "priorities: [5]", {"ports p2: the neighbour pauses priority 3"}},
	{"priorities: [3, 5]", "priorities: [3]", {NULL}},
	{"peers: [\"02:00:00:00:c0:03\"]", "peers: [\"02:00:00:00:c0:04\"]",
		{"ports p2: the neighbour pauses priority 3, and pfc.peers changes"}},
	{"priorities: [3, 6]", "priorities: [6]", {"ports p3: the neighbour is paused in priority 3"}},
	{"priorities: [3, 6]", "priorities: [3, 4, 5]", {NULL}},
	/* buffers */
	{"xoff: 4096, xon: 2048, headroom: 64K", "xoff: 2048, xon: 1024, headroom: 16K",
		{"ports p0: priority 3 holds", "ports p3: priority 3 holds"}},
	{"xoff: 4096, xon: 2048, headroom: 64K", "xoff: 4096, xon: 2048, headroom: 70K", {NULL}},
	/* End.X.PFC */
	{SID_E2, "", {"sids 5f00:1:1:e2::/64 goes: pauses hold priority 3 of p2"}},
	{SID_E2,
		"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, jitter: 500, port: p2, nexthop: "
		"\"2001:db8:c::3\", slice: idle}\n",
		{"sids 5f00:1:1:e2::/64 changes: pauses hold priority 3 of p2"}},
	{SID_E2,
		"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, jitter: 500, port: p2, nexthop: "
		"\"2001:db8:c::3\", slice: gold, "
		"allowed-sources: [\"fd00::4/128\"]}\n",
		{"sids 5f00:1:1:e2::/64 changes: pauses hold priority 3 of p2"}},
	{"jitter: 500", "jitter: 700", {NULL}},
	{"infrastructure: [\"fd00::/16\"]", "infrastructure: [\"fd00::/17\"]",
		{"pfc-relays gw changes: it pauses", "sids 5f00:1:1:e2::/64 changes: pauses hold priority 3 of p2"}},
	/* slices */
	{"id: 7", "id: 9", {"slices gold gets another id: pauses hold its priority 3 on p2"}},
	{", {name: idle, id: 8}", "", {"slices idle goes: pauses hold its priority 3 on p2"}},
	{"{name: idle, id: 8}", "{name: idle, id: 8, weight: 3}", {NULL}},
	/* tunnels */
	{TUNNEL, "",
		{"pfc-tunnels gold: it pauses priority 3 of its far end", "ports p0: priority 3 holds 4800 bytes"}},
	{"{name: gold, port: p0", "{name: golden, port: p0", {"pfc-tunnels gold: it pauses priority 3 of its far end"}},
	{"5f00:1:4:e2::", "5f00:1:4:e3::", {"pfc-tunnels gold: it pauses priority 3 of its far end"}},
	{"slice: gold, priorities: [3], segments", "slice: idle, priorities: [3], segments",
		{"pfc-tunnels gold: it pauses priority 3 of its far end"}},
	{"[\"5f00:1:2:1::\", \"5f00:1:4:e2::\"]", "[\"5f00:1:5:1::\", \"5f00:1:4:e2::\"]", {NULL}},
	{"pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"]",
		"pfc: {priorities: [3, 6], peers: [\"02:00:00:00:a0:00\"]", {NULL}},
};

#define TEXTS 16
struct said {
	unsigned int n;
	char text[TEXTS][256];
};

static void held(void *arg, const char *text)
{
	struct said *said = arg;

	check(said->n < TEXTS, "too much: %s", text);
	snprintf(said->text[said->n++], sizeof(said->text[0]), "%s", text);
}

static char *replaced(const struct variant *v)
{
	const char *at = strstr(BASE, v->from);
	char *text;

	check(at, "%s", v->from);
	check(asprintf(&text, "%.*s%s%s", (int)(at - BASE), BASE, v->to, at + strlen(v->from)) > 0, "memory");
	return text;
}

static void passes(struct testbed *t)
{
	for (unsigned int i = 0; i < 3; i++)
		testbed_round(t);
}

static void out_of_tunnel(struct testbed *t, const char *sid, const struct pfc_request *r)
{
	uint8_t frame[TESTBED_PFC_FRAME];

	testbed_pfc_frame(frame, &t->port[0]->port.mac, "fd00::3", sid, r);
	fake_port_receive(t->port[0], 0, frame, sizeof(frame), 0);
	passes(t);
}

static void from_link(struct testbed *t, unsigned int port, uint8_t mac4, uint8_t mac5, const struct pfc_request *r)
{
	const struct eth_addr peer = {{2, 0, 0, 0, mac4, mac5}};
	struct pfc_frame frame;

	pfc_write(&frame, &peer, r);
	fake_port_receive(t->port[port], 0, &frame, sizeof(frame), 0);
	passes(t);
}

static void data(struct testbed *t, unsigned int port)
{
	uint8_t frame[256];
	uint32_t n = testbed_frame(frame, &t->port[port]->port.mac, "5f00:0:e100:400::", 7, 0, 120);
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));

	ip->vtc_flow = ipv6_vtc_flow(3 << 5, 0);
	fake_port_receive(t->port[port], 0, frame, n, 0);
	passes(t);
}

static void all_pauses(struct testbed *t, uint16_t quanta)
{
	const struct pfc_request r = {.enable = 8, .time = {[3] = quanta}};

	out_of_tunnel(t, "5f00:1:1:d2::", &r);
	out_of_tunnel(t, "5f00:1:1:e2::", &r);
	from_link(t, 1, 0xb0, 0, &r);
	from_link(t, 2, 0xc0, 3, &r);
}

static void discard(struct testbed *t)
{
	struct sent_frame *f;

	for (unsigned int i = 0; i < 4; i++)
		while ((f = fake_port_take(t->port[i])))
			free(f);
}

static int reload(struct testbed *t, const struct variant *v, bool dry, struct said *said)
{
	struct node_reload how = {.held = held, .arg = said, .dry = dry};
	char *yaml = replaced(v), err[256] = "";
	struct config *c = conf_load(CONF_CHECK, yaml);
	int rc;

	*said = (struct said){0};
	rc = node_reload(t->node, c, &how, err, sizeof(err));
	check(rc == 0 || rc == -EBUSY, "%s: %s", v->to, err);
	if (rc < 0 || dry)
		cfg_free(c);
	free(yaml);
	return rc;
}

static void check_said(const struct variant *v, const struct said *said)
{
	unsigned int n = 0;

	while (n < ARRAY_LEN(v->names) && v->names[n]) {
		bool found = false;

		for (unsigned int i = 0; i < said->n; i++)
			found |= strstr(said->text[i], v->names[n]) != NULL;
		check(found, "%s -> %s: nobody says '%s'", v->from, v->to, v->names[n]);
		n++;
	}
	check(said->n == n, "%s -> %s: %u texts, the first: %s", v->from, v->to, said->n, said->text[0]);
}

static void every_variant(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(variants); i++) {
		struct testbed *t = testbed_new(BASE);
		uint64_t before;
		struct said said;

		all_pauses(t, 65535);
		for (unsigned int k = 0; k < 80; k++)
			data(t, k % 2 ? 0 : 3);
		testbed_pass(t, 20000, 1000);
		before = t->node->snapshot->generation;
		assert_int_equal(reload(t, &variants[i], true, &said), 0);
		check_said(&variants[i], &said);
		assert_int_equal(t->node->snapshot->generation, before);
		check(reload(t, &variants[i], false, &said) == (variants[i].names[0] ? -EBUSY : 0), "%s -> %s",
			variants[i].from, variants[i].to);
		check_said(&variants[i], &said);
		/* when the pauses have ended, the same reload passes in silence */
		all_pauses(t, 0);
		testbed_pass(t, 2 * NSEC_PER_MSEC, 10000);
		assert_int_equal(reload(t, &variants[i], false, &said), 0);
		assert_int_equal(said.n, 0);
		assert_true(t->node->snapshot->generation > before);
		testbed_pass(t, 100 * NSEC_PER_MSEC, 100000);
		discard(t);
		testbed_free(t);
	}
}

/* Ids and generations after reloads that were tried and refused are those of a node that never tried. */
static void nothing_stays_behind(void **state)
{
	static const struct variant tried = {"sids:\n", "sids:\n  - {sid: \"5f00:0:777::/48\", behavior: uN}\n",
		{NULL}};
	static const struct variant applied = {"behavior: uN}", "behavior: uN, flavors: [psp]}", {NULL}};
	struct testbed *t = testbed_new(BASE);
	uint64_t generation = t->node->snapshot->generation;
	uint32_t sids = t->node->snapshot->n_sids;
	struct said said;

	(void)state;
	for (unsigned int i = 0; i < 200; i++)
		assert_int_equal(reload(t, &tried, true, &said), 0);
	assert_int_equal(reload(t, &applied, false, &said), 0);
	assert_int_equal(t->node->snapshot->generation, generation + 1);
	assert_int_equal(t->node->snapshot->n_sids, sids);
	testbed_pass(t, NSEC_PER_MSEC, 10000);
	testbed_free(t);
}

/* The upstream end of a tunnel has a history: frames executed at End.X.PFC, and how long its port was paused by them. */
static void executed_pauses_have_a_history(void **state)
{
	struct testbed *t = testbed_new(BASE);
	const struct service_pfc_port *port = &service_pfc(t->node)->port[2];
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};
	struct pfc_history h;

	(void)state;
	out_of_tunnel(t, "5f00:1:1:e2::", &r);
	h = pfc_history_at(&port->sid[3], t->now);
	assert_true(pfc_history_is_paused(&h, t->now));
	testbed_pass(t, 100000, 1000);
	r.time[3] = 0;
	out_of_tunnel(t, "5f00:1:1:e2::", &r);
	h = pfc_history_at(&port->sid[3], t->now);
	assert_int_equal(h.transitions, 1);
	assert_in_range(h.total_ns, 100000, 200000);
	assert_false(pfc_history_is_paused(&h, t->now));
	assert_int_equal(port->sid_xoff[3], 1);
	assert_int_equal(port->sid_xon[3], 1);
	/* the neighbour has sent nothing */
	assert_int_equal(port->heard[3].transitions, 0);
	testbed_pass(t, NSEC_PER_MSEC, 10000);
	discard(t);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(executed_pauses_have_a_history),
		cmocka_unit_test(every_variant),
		cmocka_unit_test(nothing_stays_behind),
	};

	return cmocka_run_group_tests_name("reload_held", tests, NULL, NULL);
}
