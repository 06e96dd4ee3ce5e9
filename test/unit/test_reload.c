/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reloads under a node that packets are in: neighbours that become static and dynamic, ids of what was removed,
 * and the trace of packets that wait.
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "neigh/nd.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"

#define BASE \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"
#define STATIC(mac) "neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"" mac "\"}]\n"
#define ROUTE "routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n"
#define OLD "02:00:00:00:b0:01"
#define NEW "02:00:00:00:b0:02"

enum { IN, OUT };

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
}

static void receive(struct testbed *t, uint32_t sequence)
{
	uint8_t frame[256];

	fake_port_receive(t->port[IN], 0, frame,
		testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:500:300::", 1, sequence, 100), 0);
	testbed_settle(t, 50);
}

/* The lcores are this thread: while it waits for them they cannot answer. */
static int trace(struct testbed *t, uint32_t count, const char *filter)
{
	char err[256];
	int rc;

	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_leave(t->node->lcore[i]);
	rc = node_trace_start(t->node, &(struct node_trace){.count = count, .filter = filter}, err, sizeof(err));
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_enter(t->node->lcore[i]);
	return rc;
}

/* Data frames that were sent, and solicitations; *mac: last byte of the station the last data frame went to. */
static uint32_t sent(struct testbed *t, uint8_t *mac, uint32_t *solicitations)
{
	struct sent_frame *f;
	uint32_t n = 0;

	*solicitations = 0;
	while ((f = fake_port_take(t->port[OUT]))) {
		if (f->bytes[20] == IP_PROTO_IPV6) {
			*mac = f->bytes[5];
			n++;
		} else {
			++*solicitations;
		}
		free(f);
	}
	return n;
}

static void answer(struct testbed *t, uint8_t last)
{
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = {{2, 0, 0, 0, 0xb0, last}}};

	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 50);
}

/* The configured MAC serves until there is an answer: nothing waits, nothing is lost, and then the answer counts. */
static void static_becomes_dynamic(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	uint32_t asked;
	uint8_t mac = 0;

	(void)state;
	testbed_settle(t, 1000);
	receive(t, 0);
	assert_int_equal(sent(t, &mac, &asked), 1);
	assert_int_equal(mac, 1);
	assert_int_equal(asked, 0);
	answer(t, 9); /* what ND says about a static neighbour does not count */
	receive(t, 1);
	assert_int_equal(sent(t, &mac, &asked), 1);
	assert_int_equal(mac, 1);
	apply(t, BASE ROUTE);
	receive(t, 2);
	testbed_settle(t, 1000);
	assert_int_equal(sent(t, &mac, &asked), 1);
	assert_int_equal(mac, 1);
	check(asked >= 1, "nobody was asked");
	answer(t, 2);
	receive(t, 3);
	assert_int_equal(sent(t, &mac, &asked), 1);
	assert_int_equal(mac, 2);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_hold), 0);
	/* and without an answer, the old MAC is not kept for ever */
	apply(t, BASE STATIC(OLD) ROUTE);
	receive(t, 4);
	assert_int_equal(sent(t, &mac, &asked), 1);
	assert_int_equal(mac, 1);
	testbed_free(t);
	t = testbed_new(BASE STATIC(OLD) ROUTE);
	testbed_settle(t, 1000);
	apply(t, BASE ROUTE);
	receive(t, 5);
	testbed_pass(t, 10 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	assert_int_equal(sent(t, &mac, &asked), 1);
	receive(t, 6);
	assert_int_equal(sent(t, &mac, &asked), 0);
	testbed_pass(t, 10 * NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_failed), 1);
	testbed_free(t);
}

/* A MAC that the neighbour advertised meanwhile counts as soon as the entry is no longer static. */
static void an_advertised_mac_counts_after_static(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	static const struct eth_addr station = {{2, 0, 0, 0, 0xb0, 2}};
	uint8_t frame[sizeof(struct eth_hdr) + ND_MESSAGE_MAX], mac = 0;
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ip_addr own, from;
	uint32_t asked;
	size_t n;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::2", &own), 0);
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &from), 0);
	testbed_settle(t, 1000);
	*eth = (struct eth_hdr){.dst = t->port[OUT]->port.mac, .src = station, .type = be16(ETH_TYPE_IPV6)};
	n = nd_write_solicit(frame + sizeof(*eth), &from.v6, &own.v6, &own.v6, &station);
	fake_port_receive(t->port[OUT], 0, frame, (uint32_t)(sizeof(*eth) + n), 0);
	testbed_settle(t, 100);
	receive(t, 0);
	sent(t, &mac, &asked);
	assert_int_equal(mac, 1);
	apply(t, BASE ROUTE);
	receive(t, 1);
	testbed_settle(t, 1000);
	receive(t, 2);
	assert_int_equal(sent(t, &mac, &asked), 2);
	assert_int_equal(mac, 2);
	testbed_free(t);
}

/* Packets that waited for an answer go to the configured MAC, in order and ahead of later ones. */
static void dynamic_becomes_static(void **state)
{
	struct testbed *t = testbed_new(BASE ROUTE);
	struct sent_frame *f;
	uint32_t asked, due = 0;
	uint8_t mac;

	(void)state;
	testbed_settle(t, 1000);
	for (uint32_t i = 0; i < 10; i++)
		receive(t, i);
	assert_int_equal(sent(t, &mac, &asked), 0);
	assert_int_equal(t->node->worker[0].neighs.held, 10);
	apply(t, BASE STATIC(NEW) ROUTE);
	for (uint32_t i = 10; i < 20; i++)
		receive(t, i);
	assert_int_equal(t->node->worker[0].neighs.held, 0);
	while ((f = fake_port_take(t->port[OUT]))) {
		uint16_t flow;
		uint32_t sequence;

		if (f->bytes[20] == IP_PROTO_IPV6) {
			testbed_frame_read(f, &flow, &sequence);
			assert_int_equal(sequence, due++);
			assert_int_equal(f->bytes[5], 2);
		}
		free(f);
	}
	assert_int_equal(due, 20);
	testbed_free(t);
}

/* A learnt destination becomes a next hop while its packets are on their way out through a stuck device. */
static void a_release_survives_adoption(void **state)
{
	struct testbed *t = testbed_new(BASE);
	struct neigh_message m = {.what = NEIGH_SET, .interface = OUT, .mac = {{2, 0, 0, 0, 0xb0, 7}}};
	uint8_t frame[256];
	uint32_t asked, n;
	uint8_t mac = 0;

	(void)state;
	assert_int_equal(ip_addr_parse("2001:db8:b::3", &m.addr), 0);
	for (uint32_t i = 0; i < 8; i++)
		fake_port_receive(t->port[IN], 0, frame,
			testbed_frame(frame, &t->port[IN]->port.mac, "2001:db8:b::3", 1, i, 100), 0);
	testbed_settle(t, 100);
	assert_int_equal(t->node->worker[0].neighs.held, 8);
	t->port[OUT]->tx_allowed = 0;
	/* the answer comes while the device takes nothing: first fill its burst */
	answer(t, 7);
	apply(t, BASE ROUTE);
	testbed_settle(t, 100);
	for (uint32_t i = 0; i < 100; i++)
		receive(t, i);
	apply(t, BASE);
	testbed_settle(t, 100);
	apply(t, BASE ROUTE);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	n = sent(t, &mac, &asked);
	check(n == 108, "%u of 108 arrived", n);
	assert_int_equal(mac, 7);
	testbed_free(t);
}

/* An id of a removed neighbour is not given away while a packet that names it waits; then it is. */
static void ids_wait_for_packets(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	uint32_t asked, before;
	uint8_t mac = 0;

	(void)state;
	testbed_settle(t, 1000);
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < EGRESS_TX_ROOM + 100; i++)
		receive(t, i);
	assert_true(t->node->egress[OUT].backlog > 0);
	/* the route and its neighbour go; another neighbour comes that would like its id */
	apply(t, BASE);
	testbed_settle(t, 100);
	node_reclaim(t->node);
	before = node_reclaim(t->node);
	check(before >= 1, "the removed objects were given away under waiting packets");
	apply(t, BASE "neighbors: [{port: out, address: \"2001:db8:b::9\", mac: \"" NEW "\"}]\n"
		      "routes: [{prefix: \"5f00:0:900::/48\", port: out, nexthop: \"2001:db8:b::9\"}]\n");
	testbed_settle(t, 100);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	assert_int_equal(sent(t, &mac, &asked), EGRESS_TX_ROOM + 100);
	check(mac == 1, "packets went to the station that has come since");
	for (unsigned int i = 0; i < 10; i++) {
		testbed_settle(t, 10);
		testbed_round(t);
		node_reclaim(t->node);
	}
	assert_int_equal(node_reclaim(t->node), 0);
	testbed_free(t);
}

/* A configuration with the route of all tests and one of its own, by a next hop of its own if `hops`. */
static void apply_routes(struct testbed *t, unsigned int i, bool hops)
{
	char yaml[2048];

	snprintf(yaml, sizeof(yaml),
		BASE STATIC(OLD) "routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"},\n"
				 "  {prefix: \"2001:db8:%x::/48\", port: out, nexthop: \"2001:db8:b::%x\"}]\n",
		0x100 + i, hops ? 0x100 + i : 3);
	apply(t, yaml);
}

/* One paused queue does not stop updates: neither of routes alone, nor of next hops, however many there are. */
static void updates_pass_by_a_paused_queue(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	uint32_t asked, most = 0, taken = 0, id;
	char key[80];
	uint64_t epoch;
	uint8_t mac = 0;

	(void)state;
	testbed_settle(t, 1000);
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < EGRESS_TX_ROOM + 100; i++)
		receive(t, i);
	epoch = t->node->snapshot->epoch;
	for (unsigned int i = 0; i < 200; i++) {
		apply_routes(t, i, false);
		testbed_settle(t, 5);
	}
	assert_int_equal(t->node->snapshot->epoch, epoch);
	assert_true(node_reclaim(t->node) <= 1);
	/* each drops the next hop of the one before, and its packet waits as well */
	for (unsigned int i = 0; i < 200; i++) {
		apply_routes(t, i, true);
		if (i < 50) /* there is no room for more */
			receive(t, EGRESS_TX_ROOM + 100 + i);
		most = MAX_OF(most, t->node->snapshot->n_neighs);
	}
	check(most >= 200, "ids were given away under waiting packets: %u at most", most);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 3000);
	assert_int_equal(sent(t, &mac, &asked), EGRESS_TX_ROOM + 150);
	assert_int_equal(mac, 1);
	for (unsigned int i = 0; i < 10; i++) {
		testbed_settle(t, 10);
		testbed_round(t);
		node_reclaim(t->node);
	}
	/* all ids that were dropped are free, those of the last epoch after the next change */
	apply_routes(t, 500, true);
	apply_routes(t, 501, true);
	for (unsigned int i = 0; i < 10; i++) {
		testbed_settle(t, 10);
		testbed_round(t);
		node_reclaim(t->node);
	}
	for (unsigned int i = 0; i <= 500; i++) {
		snprintf(key, sizeof(key), "%u 2001:db8:b::%x", OUT, 0x100 + i);
		taken += ids_find(t->node->registry.neighs, key, &id) == 0;
	}
	check(taken == 0, "%u ids are still taken", taken);
	testbed_free(t);
}

struct seen {
	unsigned int n, kinds[TRACE_ENDED + 1], last_id;
	uint32_t before[64];
};

#define LATE(segment, mac) \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: dc, vrf: red, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"vrfs: [{name: red, routes: [{prefix: \"2001:db8:77::/48\", policy: p}]}]\n" \
		"policies: [{name: p, paths: [{name: a, segments: [\"5f00:0:500:" segment "::\"]}]}]\n" ROUTE \
		STATIC(mac)

/*
 * Late binding: packets behind a gate leave with the path and the neighbour that are current at that time, in order
 * and in front of what came later.
 */
static void what_waits_takes_the_newest(void **state)
{
	struct testbed *t = testbed_new(LATE("e101", OLD));
	struct pfc_pause pause = {.enable = 0xff};
	struct pfc_party party = {.sid = 1};
	struct sent_frame *f;
	uint32_t n = 0;

	(void)state;
	testbed_settle(t, 1000);
	for (unsigned int i = 0; i < 8; i++)
		pause.ns[i] = 1000 * NSEC_PER_SEC;
	assert_true(egress_pause(&t->node->egress[OUT], &t->node->worker[0].ctx, &party, PFC_ALL_SLICES, &pause));
	for (uint32_t i = 0; i < 20; i++) {
		uint8_t frame[256];

		if (i == 10)
			apply(t, LATE("e102", NEW));
		fake_port_receive(t->port[IN], 0, frame,
			testbed_frame(frame, &t->port[IN]->port.mac, "2001:db8:77::1", 1, i, 100), 0);
		((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->hop_limit = 64;
		testbed_settle(t, 5);
	}
	assert_int_equal(t->node->egress[OUT].backlog, 20);
	memset(pause.ns, 0, sizeof(pause.ns));
	assert_true(egress_pause(&t->node->egress[OUT], &t->node->worker[0].ctx, &party, PFC_ALL_SLICES, &pause));
	testbed_settle(t, 5);
	while ((f = fake_port_take(t->port[OUT]))) {
		const struct ipv6_hdr *outer = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));
		be32_t sequence;

		memcpy(&sequence, f->bytes + sizeof(struct eth_hdr) + 3 * sizeof(*outer) + 8, sizeof(sequence));
		if (outer->next_header == IP_PROTO_IPV6) {
			check(f->bytes[5] == 2, "packet %u went to %02x", n, f->bytes[5]);
			check(outer->dst.b[6] == 0xe1 && outer->dst.b[7] == 0x02, "packet %u: segment %02x%02x", n,
				outer->dst.b[6], outer->dst.b[7]);
			assert_int_equal(be32_get(sequence), n++);
		}
		free(f);
	}
	assert_int_equal(n, 20);
	testbed_free(t);
}

static void take(void *arg, const struct trace_event *e, void *told)
{
	struct seen *s = arg;

	if (e->kind == TRACE_QUEUED || e->kind == TRACE_WAITS)
		s->before[s->kinds[e->kind] % 64] = e->value;
	s->kinds[e->kind]++;
	s->last_id = e->id;
	s->n++;
}

/* Queued and waiting have the number of packets before them; packets of an earlier trace do not mix in. */
static void traces_of_waiting_packets(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	struct seen s = {0};
	uint8_t mac;
	uint32_t asked;

	(void)state;
	testbed_settle(t, 1000);
	t->port[OUT]->tx_allowed = 0;
	for (uint32_t i = 0; i < EGRESS_TX_ROOM + 5; i++)
		receive(t, i);
	assert_int_equal(trace(t, 3, NULL), 0);
	for (uint32_t i = 0; i < 5; i++)
		receive(t, 1000 + i);
	node_trace_each(t->node, take, &s);
	assert_int_equal(s.kinds[TRACE_RECEIVED], 3);
	assert_int_equal(s.kinds[TRACE_RESOLVED], 3);
	assert_int_equal(s.kinds[TRACE_QUEUED], 3);
	check(s.before[0] + 1 == s.before[1] && s.before[1] + 1 == s.before[2], "%u %u %u", s.before[0], s.before[1],
		s.before[2]);
	/* a new trace while those three are still queued: what becomes of them is not its business */
	assert_int_equal(trace(t, 2, "udp"), 0);
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	s = (struct seen){0};
	node_trace_each(t->node, take, &s);
	assert_int_equal(s.n, 0);
	assert_int_equal(trace(t, 2, NULL), 0);
	for (uint32_t i = 0; i < 5; i++)
		receive(t, 2000 + i);
	s = (struct seen){0};
	node_trace_each(t->node, take, &s);
	assert_int_equal(s.kinds[TRACE_SENT], 2);
	assert_int_equal(s.last_id, 2);
	assert_int_equal(trace(t, 2, "no such filter"), -22);
	node_trace_clear(t->node);
	s = (struct seen){0};
	node_trace_each(t->node, take, &s);
	assert_int_equal(s.n, 0);
	sent(t, &mac, &asked);
	testbed_free(t);
}

static uint64_t ticks;

static uint64_t tick(void)
{
	return ++ticks;
}

static void *tell_generation(const struct node *n, const struct snapshot *s, const struct trace_event *received,
	const struct trace_event *e)
{
	(void)n;
	assert_int_equal(received->kind, TRACE_RECEIVED);
	assert_true(received->id == e->id && received->captured > 0);
	return (void *)(uintptr_t)s->generation;
}

static void forget_generation(void *told)
{
	(void)told;
}

struct truth {
	uintptr_t generation[8];
	uint64_t time[8];
	unsigned int n, resolved;
};

static void take_truth(void *arg, const struct trace_event *e, void *told)
{
	struct truth *t = arg;

	if (e->kind == TRACE_RESOLVED)
		t->generation[t->resolved++] = (uintptr_t)told;
	else
		assert_null(told);
	t->time[t->n++] = e->time_ns;
}

/* A packet is described by the snapshot that resolved it, also when a reload has freed that; times are those of the steps. */
static void trace_of_a_past_snapshot(void **state)
{
	struct testbed *t = testbed_new(BASE STATIC(OLD) ROUTE);
	struct node_trace ask = {.count = 2, .tell = tell_generation, .forget = forget_generation};
	uint64_t first = t->node->snapshot->generation;
	struct truth truth = {.n = 0};
	char err[256];

	(void)state;
	testbed_settle(t, 1000);
	for (uint16_t i = 0; i < t->node->n_lcores; i++) {
		node_lcore_leave(t->node->lcore[i]);
		t->node->lcore[i]->tap.clock = tick;
	}
	assert_int_equal(node_trace_start(t->node, &ask, err, sizeof(err)), 0);
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_enter(t->node->lcore[i]);
	receive(t, 1);
	apply(t, BASE STATIC(NEW) ROUTE);
	testbed_settle(t, 50);
	assert_int_equal(node_reclaim(t->node), 0); /* the first snapshot is gone */
	receive(t, 2);
	node_trace_each(t->node, take_truth, &truth);
	assert_int_equal(truth.resolved, 2);
	assert_true(truth.generation[0] == first && truth.generation[1] == t->node->snapshot->generation);
	assert_int_not_equal(first, t->node->snapshot->generation);
	for (unsigned int i = 1; i < truth.n; i++)
		check(truth.time[i] > truth.time[i - 1], "step %u: %llu", i, (unsigned long long)truth.time[i]);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(static_becomes_dynamic),
		cmocka_unit_test(an_advertised_mac_counts_after_static),
		cmocka_unit_test(dynamic_becomes_static),
		cmocka_unit_test(a_release_survives_adoption),
		cmocka_unit_test(ids_wait_for_packets),
		cmocka_unit_test(updates_pass_by_a_paused_queue),
		cmocka_unit_test(what_waits_takes_the_newest),
		cmocka_unit_test(traces_of_waiting_packets),
		cmocka_unit_test(trace_of_a_past_snapshot),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("reload", tests, NULL, NULL);
}
