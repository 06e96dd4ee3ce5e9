/* SPDX-License-Identifier: BSD-3-Clause */
/* Links, next hops and paths that fail and return: what is published, hold-down, and ids that change hands. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "neigh/nd.h"
#include "service/nexthop/nexthop.h"
#include "test/support/conf.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"

#define NODE \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"failover: {hold: 10, hold-max: 50, window: 1000}\n" \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n" \
		"policies: [{name: p, paths: [{name: one, segments: [\"5f00:0:500::\"]}]}]\n"
#define WAY(last) \
	"routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::" last "\"}]\n" \
	"neighbors: [{port: out, address: \"2001:db8:b::" last "\", mac: \"02:00:00:00:b0:01\"}]\n"

enum { IN, OUT };

static unsigned int neigh_causes(const struct testbed *t, uint32_t id)
{
	return liveness_of_nexthop(t->node->snapshot, target(TARGET_NEIGH, id));
}

static void link_is(struct testbed *t, bool up)
{
	port_set_link(&t->port[OUT]->port, up);
	testbed_settle(t, 20);
}

/* ms from the return of the link until it is in use without reserve. */
static unsigned int held_ms(struct testbed *t)
{
	unsigned int ms = 0;

	link_is(t, true);
	for (; neigh_causes(t, 0) && ms < 1000; ms++) {
		assert_int_equal(neigh_causes(t, 0), LIVENESS_HELD);
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	}
	return ms;
}

static void near(unsigned int ms, unsigned int want)
{
	check(ms >= want && ms <= want + 1, "held for %u ms, not %u", ms, want);
}

/* A link that fails takes its next hops with it, in one word, and is held for longer each time it flaps. */
static void hold_down_doubles(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));
	struct nexthop_life l;

	(void)state;
	testbed_settle(t, 100);
	assert_int_equal(neigh_causes(t, 0), 0);
	for (unsigned int i = 0; i < 5; i++) {
		static const unsigned int want[] = {10, 20, 40, 50, 50};

		link_is(t, false);
		assert_int_equal(neigh_causes(t, 0), LIVENESS_LINK);
		near(held_ms(t), want[i]);
	}
	nexthop_life_copy(t->node, OUT, &l);
	assert_int_equal(l.downs, 5);
	/* it has worked for longer than the window: it begins anew */
	testbed_pass(t, 1100 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	link_is(t, false);
	near(held_ms(t), 10);
	/* it fails while it is held: down at once, and for longer */
	link_is(t, false);
	link_is(t, true);
	link_is(t, false);
	assert_int_equal(neigh_causes(t, 0), LIVENESS_LINK);
	near(held_ms(t), 40);
	testbed_free(t);
}

/* A flap between two passes is a failure, too. */
static void flap_is_seen(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));

	(void)state;
	testbed_settle(t, 100);
	port_set_link(&t->port[OUT]->port, false);
	port_set_link(&t->port[OUT]->port, true);
	testbed_settle(t, 20);
	assert_int_equal(neigh_causes(t, 0), LIVENESS_HELD);
	testbed_free(t);
}

/*
 * A neighbour must answer first, at the start and when its link returns: until then others are preferred, without an
 * event. A static one needs not.
 */
static void neighbor_answers_first(void **state)
{
	static const struct eth_addr mac = {{2, 0, 0, 0, 0xb0, 1}};
	struct testbed *t = testbed_new(
		NODE "routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n");
	struct eth_hdr eth = {.dst = t->port[OUT]->port.mac, .src = mac, .type = be16(ETH_TYPE_IPV6)};
	const struct snapshot *s = t->node->snapshot;
	uint8_t frame[sizeof(eth) + ND_MESSAGE_MAX];
	struct nexthop_life l;
	size_t n;

	(void)state;
	n = nd_write_advert(frame + sizeof(eth), &s->neigh[0].addr.v6, &s->port[OUT].own[0].addr.v6,
		&s->neigh[0].addr.v6, &mac, true);
	memcpy(frame, &eth, sizeof(eth));
	testbed_settle(t, 100);
	assert_int_equal(neigh_causes(t, 0), LIVENESS_UNRESOLVED);
	for (unsigned int i = 0; i < 2; i++) {
		fake_port_receive(t->port[OUT], 0, frame, (uint32_t)(sizeof(eth) + n), 0);
		testbed_settle(t, 20);
		assert_int_equal(neigh_causes(t, 0), i ? LIVENESS_HELD : 0);
		testbed_pass(t, 25 * NSEC_PER_MSEC, NSEC_PER_MSEC);
		assert_int_equal(neigh_causes(t, 0), 0);
		link_is(t, false);
		assert_int_equal(neigh_causes(t, 0), LIVENESS_LINK);
		link_is(t, true);
		assert_int_equal(neigh_causes(t, 0), LIVENESS_HELD | LIVENESS_UNRESOLVED);
		if (i)
			testbed_pass(t, 25 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
	assert_int_equal(neigh_causes(t, 0), LIVENESS_UNRESOLVED);
	assert_int_equal(liveness_grade(LIVENESS_UNRESOLVED), LIVENESS_IS_HELD);
	nexthop_life_copy(t->node, NEXTHOP_FIRST_NEIGH, &l);
	assert_int_equal(l.downs, 0);
	testbed_free(t);
}

/* Every cause counts, the last one that goes lets it return, and nothing happens twice. */
static void causes_add_up(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));
	struct control_role *c;
	uint32_t epoch;

	(void)state;
	testbed_settle(t, 100);
	c = t->node->control;
	nexthop_report(c, 0, LIVENESS_BFD, false);
	epoch = liveness_epoch(c->s);
	nexthop_report(c, 0, LIVENESS_BFD, false);
	assert_int_equal(liveness_epoch(c->s), epoch);
	assert_int_equal(c->s->live->dead_nexthops[OUT], 1);
	nexthop_report(c, 0, LIVENESS_NEIGHBOR, false);
	nexthop_report(c, 0, LIVENESS_BFD, true);
	assert_int_equal(neigh_causes(t, 0), LIVENESS_NEIGHBOR);
	nexthop_report_address(c, OUT, &c->s->neigh[0].addr, LIVENESS_NEIGHBOR, true);
	assert_int_equal(neigh_causes(t, 0), LIVENESS_HELD);
	testbed_pass(t, 12 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(neigh_causes(t, 0), 0);
	assert_int_equal(c->s->live->dead_nexthops[OUT], 0);
	nexthop_report_path(c, c->s->policy[0].path[0], LIVENESS_BFD, false);
	assert_int_equal(c->s->live->dead_paths, 1);
	assert_int_equal(liveness_of_path(c->s, c->s->policy[0].path[0]), LIVENESS_BFD);
	nexthop_report_path(c, c->s->policy[0].path[0], LIVENESS_BFD, true);
	testbed_pass(t, 12 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(c->s->live->dead_paths, 0);
	/* unknown ids are no next hops */
	nexthop_report(c, 17, LIVENESS_BFD, false);
	nexthop_report(c, SNAP_NEIGH_MAX, LIVENESS_BFD, false);
	assert_int_equal(c->s->live->dead_nexthops[OUT], 0);
	testbed_free(t);
}

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 200);
}

/* What was known of a next hop that was removed does not stick to the one that gets its id. */
static void id_changes_hands(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));

	(void)state;
	testbed_settle(t, 100);
	nexthop_report(t->node->control, 0, LIVENESS_BFD, false);
	for (unsigned int i = 0; i < 4; i++) {
		apply(t, i & 1 ? NODE WAY("3") : NODE WAY("4"));
		for (uint32_t id = 0; id < t->node->snapshot->n_neighs; id++)
			if (t->node->snapshot->neigh[id].used)
				assert_int_equal(neigh_causes(t, id), 0);
	}
	assert_int_equal(t->node->snapshot->live->dead_nexthops[OUT], 0);
	testbed_free(t);
}

/* The metrics of paths, next hops and links follow; they count all, and name at most so many. */
static void metrics_follow(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));

	(void)state;
	testbed_settle(t, 100);
	check_metrics(t, "policy=\"p\",path=\"one\"} 1\n");
	check_metrics(t, "sluice_path_carries{node=\"t\",policy=\"p\",path=\"one\"} 1\n");
	link_is(t, false);
	check_metrics(t, "sluice_path_up{node=\"t\",policy=\"p\",path=\"one\"} 0\n");
	check_metrics(t, "sluice_path_carries{node=\"t\",policy=\"p\",path=\"one\"} 0\n");
	check_metrics(t, "sluice_nexthop_up{node=\"t\",port=\"out\",interface=\"out\",address=\"2001:db8:b::3\"} 0\n");
	check_metrics(t, "sluice_nexthop_up{node=\"t\",port=\"in\",interface=\"in\",address=\"(link)\"} 1\n");
	check_metrics(t, "sluice_paths{node=\"t\",state=\"down\"} 1\n");
	link_is(t, true);
	check_metrics(t, "sluice_path_up{node=\"t\",policy=\"p\",path=\"one\"} 1\n");
	check_metrics(t, "sluice_paths{node=\"t\",state=\"held\"} 1\n");
	check_metrics(t, "sluice_nexthops{node=\"t\",state=\"held\"} 1\n");
	testbed_pass(t, 12 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	check_metrics(t, "sluice_paths{node=\"t\",state=\"up\"} 1\n");
	check_metrics(t,
		"sluice_nexthop_downs_total{node=\"t\",port=\"out\",interface=\"out\",address=\"(link)\"} 1\n");
	check_metrics(t,
		"sluice_nexthop_down_seconds_total{node=\"t\",port=\"out\",interface=\"out\",address=\"(link)\"} 0.01");
	testbed_free(t);
}

/* A node with nothing to do says when there will be something, so that its lcores can sleep. */
static void idle_is_idle(void **state)
{
	struct testbed *t = testbed_new(NODE WAY("3"));
	uint64_t next;

	(void)state;
	testbed_settle(t, 1000);
	node_lcore_poll(t->node->lcore[0], t->now, &next);
	check(next > t->now + NSEC_PER_MSEC, "there is work at once");
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_down_doubles),
		cmocka_unit_test(flap_is_seen),
		cmocka_unit_test(neighbor_answers_first),
		cmocka_unit_test(causes_add_up),
		cmocka_unit_test(id_changes_hands),
		cmocka_unit_test(metrics_follow),
		cmocka_unit_test(idle_is_idle),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("nexthop", tests, NULL, NULL);
}
