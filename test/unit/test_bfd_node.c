/* SPDX-License-Identifier: BSD-3-Clause */
/* BFD in a whole node whose neighbour is the test: next hops, reloads, floods, and what is shown. IPv4. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "service/bfd/service_bfd.h"
#include "service/nexthop/nexthop.h"
#include "test/support/conf.h"
#include "test/support/packet.h"
#include "test/support/shown.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

#define NODE \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports: [{name: p0, device: net_null0, side: wan, addresses: [10.0.0.2/24, \"fd00:a::2/64\"]}]\n" \
		"routes: [{prefix: 192.0.2.0/24, port: p0, nexthop: 10.0.0.1}]\n"
#define PROFILES "bfd-profiles: [{name: fast}]\n"
#define NEIGHBOR "neighbors: [{port: p0, address: 10.0.0.1, mac: \"02:00:00:00:a0:00\""
#define WITH PROFILES NEIGHBOR ", bfd: fast}]\n"
#define WITHOUT PROFILES NEIGHBOR "}]\n"

#define MESSAGE_AT (sizeof(struct eth_hdr) + sizeof(struct ipv4_hdr) + sizeof(struct udp_hdr))

/* The newest control packet that the node has sent; false: none since the last call. */
static bool newest(struct testbed *t, struct bfd_packet *p)
{
	struct sent_frame *f;
	bool found = false;

	while ((f = fake_port_take(t->port[0]))) {
		const struct udp_hdr *udp = (const struct udp_hdr *)(f->bytes + MESSAGE_AT) - 1;

		if (f->size >= MESSAGE_AT + sizeof(struct bfd_hdr) && be16_get(udp->dst_port) == BFD_PORT_CONTROL) {
			const struct ipv4_hdr *ip = (const struct ipv4_hdr *)(f->bytes + sizeof(struct eth_hdr));

			assert_int_equal(255, ip->ttl);
			assert_int_equal(0xc0, ip->tos);
			assert_in_range(be16_get(udp->src_port), 49152, 65535);
			assert_int_equal(BFD_ACCEPTED, bfd_packet_read(f->bytes + MESSAGE_AT, f->size - MESSAGE_AT, p));
			found = true;
		}
		free(f);
	}
	return found;
}

/* A packet of the neighbour. Its UDP checksum is left out, as IPv4 allows. */
static void give(struct testbed *t, const struct bfd_packet *p, uint8_t ttl, uint8_t host)
{
	uint8_t frame[MESSAGE_AT + BFD_MESSAGE_MAX] = {0x02, 0, 0, 0, 0xd0, 0, 0x02, 0, 0, 0, 0xa0, 0, 0x08, 0x00};
	struct ipv4_hdr *ip = (struct ipv4_hdr *)(frame + sizeof(struct eth_hdr));
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);
	size_t n = bfd_packet_write(udp + 1, p);

	*ip = (struct ipv4_hdr){.version_ihl = 0x45,
		.total_length = be16((uint16_t)(sizeof(*ip) + sizeof(*udp) + n)),
		.ttl = ttl,
		.protocol = IP_PROTO_UDP,
		.src = be32(0x0a000000u + host),
		.dst = be32(0x0a000002)};
	packet_seal4_header(ip);
	*udp = (struct udp_hdr){.src_port = be16(50000),
		.dst_port = be16(BFD_PORT_CONTROL),
		.length = be16((uint16_t)(sizeof(*udp) + n))};
	fake_port_receive(t->port[0], 0, frame, (uint32_t)(MESSAGE_AT + n), 0);
}

static struct bfd_packet from_neighbor(uint8_t state, uint32_t your_discr)
{
	return (struct bfd_packet){.state = state,
		.multiplier = 3,
		.my_discr = 0x77,
		.your_discr = your_discr,
		.desired_tx_us = 10000,
		.required_rx_us = 10000};
}

static unsigned int causes(const struct testbed *t)
{
	return t->node->snapshot->live->nexthop[t->node->snapshot->bfd[0].id] & ~(unsigned int)LIVENESS_HELD;
}

static const struct bfd_session_stats *shown(const struct testbed *t)
{
	return bfd_session_shown(t->node, &t->node->snapshot->bfd[0]);
}

/* Up, as its neighbour says Init. */
static uint32_t bring_up(struct testbed *t)
{
	struct bfd_packet p;
	uint32_t discr;

	testbed_pass(t, 3 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(newest(t, &p));
	assert_int_equal(BFD_DOWN, p.state);
	discr = p.my_discr;
	p = from_neighbor(BFD_INIT, discr);
	give(t, &p, 255, 1);
	testbed_settle(t, 50);
	assert_int_equal(BFD_UP, shown(t)->state);
	return discr;
}

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 300);
}

/* Down by silence takes the next hop down; after AdminDown it is used if nothing else is alive (RFC 5882 section 3.2). */
static void next_hop_follows(void **state)
{
	struct testbed *t = testbed_new(NODE WITH);
	struct bfd_packet p;
	uint32_t discr;

	(void)state;
	discr = bring_up(t);
	assert_int_equal(0, causes(t));
	testbed_pass(t, 29 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(0, causes(t));
	testbed_pass(t, 2 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(LIVENESS_BFD, causes(t));
	assert_true(newest(t, &p));
	assert_int_equal(BFD_DIAG_EXPIRED, p.diag);
	check_shown(t, "show bfd sessions", "control detection time expired");
	check_metrics(t, "sluice_bfd_session_downs_total{node=\"t\",peer=\"10.0.0.1\",interface=\"p0\"");
	p = from_neighbor(BFD_ADMIN_DOWN, discr);
	give(t, &p, 255, 1);
	testbed_settle(t, 50);
	assert_int_equal(LIVENESS_ADMIN, causes(t));
	assert_int_equal(LIVENESS_IS_HELD, liveness_grade(causes(t)));
	assert_int_equal(2, testbed_reason(t, 0, CONSUME_bfd));
	bfd_tick(t->node);
	testbed_free(t);
}

/* A neighbour that says AdminDown from the start is one that does not speak BFD. */
static void admin_down_from_the_start(void **state)
{
	struct testbed *t = testbed_new(NODE WITH);
	struct bfd_packet p;

	(void)state;
	testbed_pass(t, 3 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_true(newest(t, &p));
	p = from_neighbor(BFD_ADMIN_DOWN, p.my_discr);
	give(t, &p, 255, 1);
	testbed_settle(t, 50);
	assert_int_equal(BFD_ADMIN_DOWN, shown(t)->remote_state);
	assert_int_equal(0, causes(t));
	testbed_free(t);
}

/*
 * A node that is about to stop says AdminDown at once, and goes on forwarding for a detection time; it changes nothing of
 * its own next hops.
 */
static void stop_is_announced(void **state)
{
	struct testbed *t = testbed_new(NODE WITH);
	struct bfd_packet p;
	uint64_t ns;

	(void)state;
	bring_up(t);
	testbed_pass(t, 20 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	while (newest(t, &p))
		assert_int_equal(BFD_UP, p.state);
	ns = node_announce_stop(t->node);
	check(ns >= 30 * NSEC_PER_MSEC && ns <= NSEC_PER_SEC, "%llu ns", (unsigned long long)ns);
	testbed_settle(t, 50);
	assert_true(newest(t, &p));
	assert_int_equal(BFD_ADMIN_DOWN, p.state);
	assert_int_equal(BFD_DIAG_ADMIN, p.diag);
	assert_int_equal(0, causes(t));
	testbed_pass(t, 40 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(0, causes(t));
	testbed_free(t);
}

/* A session that the configuration drops says AdminDown, and its next hop is released. */
static void reload_ends_it(void **state)
{
	struct testbed *t = testbed_new(NODE WITH);
	struct bfd_packet p;

	(void)state;
	bring_up(t);
	testbed_pass(t, 40 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(LIVENESS_BFD, causes(t));
	p = from_neighbor(BFD_DOWN, 0);
	give(t, &p, 255, 1);
	testbed_settle(t, 50);
	newest(t, &p);
	apply(t, NODE WITHOUT);
	assert_true(newest(t, &p));
	assert_int_equal(BFD_ADMIN_DOWN, p.state);
	assert_int_equal(0, t->node->snapshot->n_bfd);
	for (uint32_t i = 0; i < t->node->snapshot->n_neighs; i++)
		assert_int_equal(0, t->node->snapshot->live->nexthop[i] & LIVENESS_BFD);
	/* and back */
	apply(t, NODE WITH);
	assert_non_null(shown(t));
	bring_up(t);
	testbed_free(t);
}

/* Strangers from afar, many at a time: the session does not notice. */
static void flood(void **state)
{
	struct testbed *t = testbed_new(NODE WITH);
	struct bfd_packet up, far;
	uint32_t discr;

	(void)state;
	discr = bring_up(t);
	up = from_neighbor(BFD_UP, discr);
	up.final = true;
	far = from_neighbor(BFD_DOWN, discr);
	for (unsigned int ms = 0; ms < 200; ms++) {
		for (unsigned int i = 0; i < 50; i++)
			give(t, &far, 64, 1);
		if (ms % 9 == 0)
			give(t, &up, 255, 1);
		testbed_pass(t, NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	}
	assert_int_equal(BFD_UP, shown(t)->state);
	assert_int_equal(0, shown(t)->downs);
	assert_in_range(bfd_shown(t->node)->hop_limit, 200, 400);
	assert_in_range(testbed_reason(t, 0, DROP_bfd_limited), 9500, 9800);
	/* another station of the link */
	give(t, &far, 255, 9);
	testbed_settle(t, 50);
	assert_int_equal(BFD_UP, shown(t)->state);
	assert_int_equal(1, bfd_shown(t->node)->sender);
	check_shown(t, "show bfd counters", "refused_sender:                1");
	testbed_free(t);
}

/* Without BFD its packets are like any other to a port that is not served. */
static void not_configured(void **state)
{
	struct testbed *t = testbed_new(NODE WITHOUT);
	struct bfd_packet p = from_neighbor(BFD_DOWN, 0);

	(void)state;
	give(t, &p, 255, 1);
	testbed_settle(t, 50);
	assert_int_equal(1, testbed_reason(t, 0, DROP_not_served));
	assert_null(bfd_shown(t->node));
	check_shown(t, "show bfd counters", "sessions:                      0");
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_hop_follows),
		cmocka_unit_test(admin_down_from_the_start),
		cmocka_unit_test(stop_is_announced),
		cmocka_unit_test(reload_ends_it),
		cmocka_unit_test(flood),
		cmocka_unit_test(not_configured),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("bfd_node", tests, NULL, NULL);
}
