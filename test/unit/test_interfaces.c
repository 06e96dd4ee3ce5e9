/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN interfaces that come, go and change under a node that packets and neighbours are in. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"
#include "test/support/testbed.h"

#define BASE \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"neighbor-discovery: {retransmit: 100, probes: 2}\n" \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: out, device: net_null1, side: wan}\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"
#define VLAN(n) "interfaces: [{name: v, port: out, vlan: " n ", addresses: [\"2001:db8:b::2/64\"]}]\n"
#define STATIC "neighbors: [{port: v, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n"
#define ROUTE "routes: [{prefix: \"5f00:0:500::/48\", port: v, nexthop: \"2001:db8:b::3\"}]\n"

enum { IN, OUT };

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 200);
}

static void receive(struct testbed *t, const char *da, uint32_t n)
{
	uint8_t frame[256];

	for (uint32_t i = 0; i < n; i++)
		fake_port_receive(t->port[IN], 0, frame, testbed_frame(frame, &t->port[IN]->port.mac, da, 1, i, 100),
			0);
	testbed_settle(t, 100);
}

#define TO_SID "5f00:0:100:500:300::"
#define ON_LINK "2001:db8:b::3"

/* Data frames sent since, all with that VLAN; solicitations are recognised by their ICMPv6 header. */
static uint32_t sent(struct testbed *t, uint16_t vlan, uint32_t *asked)
{
	struct sent_frame *f;
	uint32_t n = 0;

	*asked = 0;
	while ((f = fake_port_take(t->port[OUT]))) {
		check(f->bytes[12] == 0x81 && f->bytes[13] == 0, "type %02x%02x", f->bytes[12], f->bytes[13]);
		check(((f->bytes[14] & 0xf) << 8 | f->bytes[15]) == vlan, "VLAN %u instead of %u",
			(f->bytes[14] & 0xf) << 8 | f->bytes[15], vlan);
		if (f->bytes[24] == IP_PROTO_ICMP6)
			++*asked;
		else
			n++;
		free(f);
	}
	return n;
}

/* Let the publisher give ids away as far as it may. */
static void reclaim(struct testbed *t)
{
	for (unsigned int i = 0; i < 20; i++) {
		testbed_settle(t, 10);
		testbed_round(t);
		node_reclaim(t->node);
	}
}

static void vlan_changes(void **state)
{
	struct testbed *t = testbed_new(BASE VLAN("5") STATIC ROUTE);
	uint32_t asked;

	receive(t, TO_SID, 3);
	receive(t, ON_LINK, 2);
	assert_int_equal(sent(t, 5, &asked), 5);
	apply(t, BASE VLAN("6") STATIC ROUTE);
	receive(t, TO_SID, 3);
	receive(t, ON_LINK, 2);
	assert_int_equal(sent(t, 6, &asked), 5);
	testbed_free(t);
}

/* Packets that wait for a neighbour of a removed interface are dropped, and counted, when no answer has come. */
static void removed_while_packets_wait(void **state)
{
	struct testbed *t = testbed_new(BASE VLAN("5"));
	uint32_t asked;

	receive(t, ON_LINK, 5);
	assert_int_equal(sent(t, 5, &asked), 0);
	assert_int_equal(asked, 1);
	assert_int_equal(t->node->worker[0].neighs.held, 5);
	apply(t, BASE);
	testbed_pass(t, NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	assert_int_equal(t->node->worker[0].neighs.held, 0);
	assert_int_equal(testbed_reason(t, IN, DROP_neighbor_failed), 5);
	assert_int_equal(sent(t, 5, &asked), 0);
	assert_int_equal(asked, 0);
	testbed_free(t);
}

/* Queued packets have no egress any more; packets rewritten before leave with their tag. */
static void removed_while_packets_are_queued(void **state)
{
	struct testbed *t = testbed_new(BASE VLAN("5") STATIC ROUTE);
	uint32_t asked, n;

	t->port[OUT]->tx_allowed = 0;
	for (unsigned int i = 0; i < 10; i++)
		receive(t, TO_SID, 50);
	n = t->node->egress[OUT].backlog;
	check(n > 100, "%u", n);
	apply(t, BASE VLAN("7") "neighbors: [{port: v, address: \"2001:db8:b::4\", mac: \"02:00:00:00:b0:04\"}]\n");
	t->port[OUT]->tx_allowed = UINT64_MAX;
	testbed_settle(t, 1000);
	assert_int_equal(sent(t, 5, &asked), 500 - n - testbed_reason(t, IN, DROP_queue_full));
	assert_int_equal(testbed_reason(t, IN, DROP_no_route), n);
	testbed_free(t);
}

/* A number that is reused: its neighbours are other stations, even with the same addresses. */
static void numbers_are_used_again(void **state)
{
	struct testbed *t = testbed_new(BASE VLAN("5"));
	struct neigh_message m = {.what = NEIGH_SET, .mac = {{2, 0, 0, 0, 0xb0, 9}}};
	uint16_t number = t->node->snapshot->interface[2]->interface;
	uint32_t asked;

	receive(t, ON_LINK, 1);
	assert_int_equal(sent(t, 5, &asked), 0);
	m.interface = number;
	assert_int_equal(ip_addr_parse(ON_LINK, &m.addr), 0);
	egress_neigh_update(&t->node->egress[OUT], &t->node->worker[0].ctx, &m);
	testbed_settle(t, 50);
	receive(t, ON_LINK, 1);
	assert_int_equal(sent(t, 5, &asked), 2);
	apply(t, BASE);
	testbed_pass(t, NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	reclaim(t);
	apply(t, BASE VLAN("6"));
	assert_int_equal(t->node->snapshot->interface[2]->interface, number);
	receive(t, ON_LINK, 3);
	assert_int_equal(sent(t, 6, &asked), 0);
	check(asked >= 1, "nobody was asked for");
	assert_int_equal(t->node->worker[0].neighs.held, 3);
	testbed_free(t);
	/* the same with a configured one */
	t = testbed_new(BASE VLAN("5") STATIC);
	receive(t, ON_LINK, 1);
	assert_int_equal(sent(t, 5, &asked), 1);
	apply(t, BASE);
	reclaim(t);
	apply(t, BASE VLAN("6"));
	assert_int_equal(t->node->snapshot->interface[2]->interface, number);
	receive(t, ON_LINK, 3);
	assert_int_equal(sent(t, 6, &asked), 0);
	check(asked >= 1, "nobody was asked for");
	testbed_free(t);
}

/* A static neighbour that was removed from the configuration is solicited, although no route names it. */
static void static_neighbor_removed(void **state)
{
	struct testbed *t = testbed_new(BASE VLAN("5") STATIC);
	uint32_t asked;

	receive(t, ON_LINK, 1);
	assert_int_equal(sent(t, 5, &asked), 1);
	assert_int_equal(asked, 0);
	apply(t, BASE VLAN("5"));
	receive(t, ON_LINK, 1);
	testbed_settle(t, 100);
	assert_int_equal(sent(t, 5, &asked), 1);
	check(asked >= 1, "nobody was asked for");
	testbed_pass(t, NSEC_PER_SEC, 10 * NSEC_PER_MSEC);
	receive(t, ON_LINK, 1);
	assert_int_equal(sent(t, 5, &asked), 0);
	testbed_free(t);
}

static void too_many(void **state)
{
	struct testbed *t = testbed_new(BASE);
	char *yaml = NULL;
	size_t size;
	FILE *f = open_memstream(&yaml, &size);

	fputs(BASE "interfaces:\n", f);
	for (int i = 0; i < CFG_MAX_INTERFACES; i++)
		fprintf(f, "  - {name: v%d, port: %s, vlan: %d, inner-vlan: 9}\n", i, i % 2 ? "in" : "out", i + 1);
	fclose(f);
	apply(t, yaml);
	assert_int_equal(t->node->snapshot->n_interfaces, INTERFACE_SLOTS);
	for (int i = 0; i < CFG_MAX_INTERFACES; i++)
		assert_non_null(t->node->snapshot->interface[i + 2]);
	apply(t, BASE);
	reclaim(t);
	apply(t, yaml);
	free(yaml);
	testbed_free(t);
}

/* Packets received and sent on a VLAN, and the same at the port. */
static void counted(void **state)
{
	static const char yaml[] = BASE
		"interfaces:\n  - {name: v, port: out, vlan: 5, inner-vlan: 6, addresses: [\"2001:db8:b::2/64\"]}\n"
		"  - {name: w, port: in, vlan: 9}\n" STATIC ROUTE;
	struct testbed *t = testbed_new(yaml);
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));
	uint8_t frame[256];
	struct sent_frame *f;
	uint32_t n = testbed_frame(frame + 4, &t->port[IN]->port.mac, TO_SID, 1, 0, 100);

	assert_non_null(sum);
	memmove(frame, frame + 4, 12);
	memcpy(frame + 12, "\x81\0\0\x09", 4);
	for (int i = 0; i < 3; i++)
		fake_port_receive(t->port[IN], 0, frame, n + 4, 0);
	frame[15] = 10; /* of no node */
	fake_port_receive(t->port[IN], 0, frame, n + 4, 0);
	testbed_settle(t, 50);
	node_stats(t->node, sum);
	for (uint32_t row = 2; row < 4; row++) {
		bool in = snap_interface_of(t->node->snapshot->interface[row]->interface) == IN;
		const struct interface_stats *s = &sum->interface[row];

		assert_int_equal(s->rx_packets, in ? 3 : 0);
		assert_int_equal(s->rx_bytes, in ? 3 * (n + 4) : 0);
		assert_int_equal(s->tx_packets, in ? 0 : 3);
		assert_int_equal(s->tx_bytes, in ? 0 : 3 * (n + 8));
	}
	assert_int_equal(sum->port[IN].rx_packets, 4);
	assert_int_equal(sum->port[IN].reason[DROP_vlan], 1);
	assert_int_equal(sum->port[OUT].tx_bytes, 3 * (n + 8));
	for (int i = 0; i < 3; i++) {
		f = fake_port_take(t->port[OUT]);
		assert_non_null(f);
		assert_memory_equal(f->bytes + 12, "\x88\xa8\0\x05\x81\0\0\x06\x86\xdd", 10);
		free(f);
	}
	free(sum);
	testbed_free(t);
}

/* Packets received on an interface have its slice, or its VRF's, not the port's. */
static void slices(void **state)
{
	static const char yaml[] = BASE
		"slices: [{name: gold}, {name: silver}]\nvrfs: [{name: red, slice: silver, routes: []}]\n"
		"interfaces:\n  - {name: v, port: out, vlan: 5, addresses: [\"2001:db8:b::2/64\"]}\n"
		"  - {name: w, port: in, vlan: 9, slice: gold}\n  - {name: x, port: in, vlan: 10, vrf: red}\n" STATIC
			ROUTE;
	struct testbed *t = testbed_new(yaml);
	const struct snapshot *s = t->node->snapshot;
	uint8_t frame[256];
	uint32_t n = testbed_frame(frame + 4, &t->port[IN]->port.mac, TO_SID, 1, 0, 100), queued = 0;

	for (uint32_t row = 2; row < s->n_interfaces; row++)
		assert_string_equal(s->slice[s->interface[row]->slice].name, *s->interface[row]->name == 'w' ? "gold"
									     : *s->interface[row]->name == 'x'
										     ? "silver"
										     : "");
	memmove(frame, frame + 4, 12);
	memcpy(frame + 12, "\x81\0\0\x09", 4);
	t->port[OUT]->tx_allowed = 0;
	for (int i = 0; i < EGRESS_TX_ROOM + 50; i++) {
		fake_port_receive(t->port[IN], 0, frame, n + 4, 0);
		testbed_settle(t, 10);
	}
	for (unsigned int class = 0; class < 8; ++class)
		for (uint32_t i = 0; i < s->n_slices; i++)
			if (s->slice[i].name && strcmp(s->slice[i].name, "gold") == 0)
				queued += t->node->egress[OUT].slice[i].queue[class].packets.n;
	check(queued && queued == t->node->egress[OUT].backlog, "%u of %u", queued, t->node->egress[OUT].backlog);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(vlan_changes),
		cmocka_unit_test(removed_while_packets_wait),
		cmocka_unit_test(removed_while_packets_are_queued),
		cmocka_unit_test(numbers_are_used_again),
		cmocka_unit_test(static_neighbor_removed),
		cmocka_unit_test(too_many),
		cmocka_unit_test(counted),
		cmocka_unit_test(slices),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("interfaces", tests, NULL, NULL);
}
