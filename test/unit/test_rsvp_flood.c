/* SPDX-License-Identifier: BSD-3-Clause */
/* A flood of RSVP messages at a whole node: its sessions and the data that passes. A class that is lossless by other means there. */
#include "test/support/rsvp_peer.h"

/* Frames in tunnels, that is data here, that left by a port; other frames are forgotten. */
static unsigned int tunnelled_out(struct testbed *t, unsigned int port)
{
	struct sent_frame *f;
	unsigned int n = 0;

	while ((f = fake_port_take(t->port[port]))) {
		n += f->bytes[sizeof(struct eth_hdr) + 6] == IP_PROTO_IPV6;
		free(f);
	}
	return n;
}

static struct rsvp_message refresh, strange, noisy;

/*
 * A thousand messages at once, then a millisecond; half of them of a stranger, half of a neighbour above its rate. The good
 * neighbour refreshes its session every 50 ms, and one packet of data comes in each ms. Returns the data that went on.
 */
static unsigned int flooded(struct testbed *t, unsigned int ms, unsigned int messages, bool refreshes)
{
	static const struct sending data = {0, "fd00:7::5", "5f00:0:100:200::", 0, 60, TUNNELLED};
	unsigned int out = 0;

	for (unsigned int i = 0; i < ms; i++) {
		for (unsigned int k = 0; k < messages; k++) {
			m = k & 1 ? noisy : strange;
			arrive(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
		}
		m = refresh;
		arrive(t, &data);
		if (refreshes && i % 50 == 0)
			arrive(t, &in_tunnel);
		testbed_pass(t, NSEC_PER_MSEC, NSEC_PER_MSEC);
		out += tunnelled_out(t, 1);
		tunnelled_out(t, 0);
	}
	return out;
}

/* A million messages a second, for twice as long as a session lives that nothing refreshes. */
static void flood(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	uint64_t refused;

	(void)state;
	make_init("fd00::d");
	m.refresh_ms = 50;
	refresh = m;
	make_offer(&refresh, RSVP_CREDIT_OFFER);
	noisy = strange = m;
	strange.hop.addr = address("fd00::66");
	assert_int_equal(250, flooded(t, 250, 0, true)); /* T_sel */
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 4\n");
	assert_int_equal(500, flooded(t, 500, 1000, true)); /* no data is lost */
	check_metrics(t, "sluice_rsvp_committed_units{node=\"t\"} 4\n");
	assert_int_equal(1, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->paths);
	assert_int_equal(0, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->lost);
	refused = testbed_reason(t, 1, DROP_rsvp_refused) + testbed_reason(t, 1, DROP_rsvp_limited) +
		  testbed_reason(t, 1, CONSUME_rsvp) + testbed_reason(t, 1, DROP_punt_limited);
	print_message("500,000 messages: %llu refused, %llu above the rate of the neighbour, %llu above that of the "
		      "port\n",
		(unsigned long long)testbed_reason(t, 1, DROP_rsvp_refused),
		(unsigned long long)testbed_reason(t, 1, DROP_rsvp_limited),
		(unsigned long long)testbed_reason(t, 1, DROP_punt_limited));
	assert_int_equal(500000, refused);
	/* the session does need its refreshes */
	flooded(t, 400, 0, false);
	assert_int_equal(1, rsvp_node_stats_of(rsvp_shown(t->node)->machines)->lost);
	testbed_free(t);
}

#define PAUSED \
	NODE_WITH(", pfc: {priorities: [3], peers: [\"02:00:00:00:b0:03\"], buffer: x}") \
	"buffer-profiles: [{name: x, xoff: 8192, headroom: 8192, forced: true}]\n" \
	"pfc-tunnels: [{name: a, port: p1, priorities: [3], segments: [\"5f00:0:200:300::\"]}]\n"

/* A class that a PFC tunnel pauses where its data comes in (E37): p1, in this case. */
static void paused(void **state)
{
	struct testbed *t = start(PAUSED CREDIT(""));

	(void)state;
	for (uint8_t i = 0; i < 3; i++) {
		make_init("fd00::2");
		m.cbfc_hop[0].traffic_class = i == 1 ? 4 : 3;
		m.hop.lih += (uint32_t)i << 8;
		m.path.nonce += i;
		m.sender.port += i;
		give(t, &(struct sending){i < 2, "fd00:1::5", "5f00:0:100:200::", 0xc0, 60, TUNNELLED});
		assert_true(next_sent(t, 0, UNICAST));
		assert_int_equal(i ? RSVP_RESERVE : RSVP_PATH_ERR, got.kind);
		assert_true(i || (got.error.code == RSVP_ERROR_ADMISSION && got.error.value == RSVP_REFUSE_CLASS));
		assert_int_equal(i > 0, next_sent(t, 1, IN_TUNNEL)); /* it does not go on */
	}
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(flood), cmocka_unit_test(paused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
