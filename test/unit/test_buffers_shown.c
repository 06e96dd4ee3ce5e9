/* SPDX-License-Identifier: BSD-3-Clause */
/* show queues, show buffers, clear watermarks and their metrics, of a node that has something waiting. */
#include "test/support/unit.h"

#include "service/pfc/service_pfc.h"
#include "test/support/shown.h"

#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold, max-rate: 1M}]\n" \
	"buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 40K, forced: true, min-frame: 100}]\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b}}\n" \
	"  - {name: out, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"], queue-limit: 40}\n" \
	"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n" \
	"routes: [{prefix: \"5f00:0:500::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e101::/48\", behavior: uA, port: out, nexthop: \"2001:db8:b::3\", slice: gold}\n"

enum { IN, OUT };

static void receive(struct testbed *t, const char *da, unsigned int class, unsigned int n)
{
	uint8_t frame[2048];
	uint32_t size = testbed_frame(frame, &t->port[IN]->port.mac, da, (uint16_t) class, 0, 1000);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), class);
	while (n--)
		fake_port_receive(t->port[IN], 0, frame, size, 0);
	testbed_settle(t, 20);
}

#define PLAIN "5f00:0:100:500:300::"
#define GOLD "5f00:0:e101:300::"

static void pause(struct testbed *t, uint64_t ns)
{
	struct pfc_pause pause = {.enable = 0x0c, .ns = {[2] = ns, [3] = ns}};
	struct pfc_party party = {.sid = 1};

	assert_true(egress_pause(&t->node->egress[OUT], &t->node->worker[0].ctx, &party, 0, &pause));
}

/* Waiting packets, with place and reason. */
static void what_waits_and_why(void **state)
{
	struct testbed *t = testbed_new(NODE);

	(void)state;
	testbed_settle(t, 1000);
	pause(t, NSEC_PER_SEC);
	receive(t, PLAIN, 2, 50);
	receive(t, PLAIN, 3, 30);
	receive(t, GOLD, 5, 42); /* 33 of them are 32 KB that a slice may be ahead */
	/* one table, whatever of its values a queue has */
	check_shown(t, "show queues out",
		"queues:\n"
		"  port  slice   class    packets  limit  gate      bytes  most_bytes  ever_bytes  entered  dropped  "
		"marked  promised  pauses  paused_us\n"
		"  out   -       control        0    256  none          -           -           -        -        -    "
		"   -         -       -          -\n"
		"  out   (none)  2             40     40  closed    40000       40000       40000       40       10    "
		"   0         0       1          0\n"
		"  out   (none)  3             30     40  closed    30000       30000       30000       30        0    "
		"   0         0       1          0\n"
		"  out   gold    5 ");
	check_shown(t, "show queues out", "  max-rate  ");
	check_shown(t, "show queues out -j",
		"\"class\": \"3\",\n      \"packets\": 30,\n      \"limit\": 40,\n      \"gate\": \"closed\"");
	check_shown(t, "show buffers in",
		"  in        2  lossy     40000       40  -                 -          -               -               "
		"  -           -"
		"             -              -           -              -      -          -\n"
		"  in        3  lossless  30000       30  stopped       20480       8192           40960               "
		"615       30000"
		"            30           9520       30000           9520      1          0\n");
	check_shown(t, "show buffers -j", "\"sender\": \"stopped\"");
	check_metrics(t, "sluice_queue_bytes{node=\"t\",port=\"out\",slice=\"\",class=\"3\"} 30000\n");
	check_metrics(t, "sluice_buffer_bytes{node=\"t\",port=\"in\",class=\"3\"} 30000\n");
	check_metrics(t, "sluice_buffer_most_headroom_bytes{node=\"t\",port=\"in\",class=\"3\"} 9520\n");
	check_metrics(t,
		"# TYPE sluice_pfc_paused_seconds counter\n# UNIT sluice_pfc_paused_seconds seconds\n"
		"sluice_pfc_paused_seconds_total{node=\"t\",direction=\"said\",name=\"in\",priority=\"3\"} 0.0");
	check_metrics(t, "sluice_pfc_pauses_total{node=\"t\",direction=\"said\",name=\"in\",priority=\"3\"} 1\n");
	pause(t, 0);
	testbed_settle(t, 100);
	check_shown(t, "show queues out",
		"  out   (none)  3              0     40  open          0       30000       30000       30 ");
	check_shown(t, "show buffers", "  in        3  lossless      0        0  free ");
	testbed_free(t);
}

/* SONiC's two kinds: clearing sets the user's watermarks to the present levels, the persistent ones stay. */
static void watermarks(void **state)
{
	struct testbed *t = testbed_new(NODE);
	const struct pfc_buffer *b = &service_pfc(t->node)->port[IN].buffer[3];
	const struct egress_queue *q = &t->node->egress[OUT].slice[0].queue[3];

	(void)state;
	testbed_settle(t, 1000);
	pause(t, NSEC_PER_SEC);
	receive(t, PLAIN, 3, 35);
	t->port[OUT]->tx_allowed = 20;
	pause(t, 0);
	testbed_settle(t, 3);
	pause(t, NSEC_PER_SEC);
	assert_int_equal(q->bytes, 15000);
	check_shown(t, "show buffers", "       35000            35          14520       35000          14520 ");
	check_shown(t, "clear watermarks", "");
	testbed_round(t);
	assert_int_equal(b->user.bytes, 15000);
	assert_int_equal(b->user.buffers, 15);
	assert_int_equal(b->user_headroom.bytes, 0);
	assert_int_equal(b->most.bytes, 35000);
	assert_int_equal(b->most_headroom.bytes, 14520);
	assert_int_equal(q->user_bytes, 15000);
	assert_int_equal(q->most_bytes, 35000);
	check_shown(t, "clear watermarks", "");
	testbed_round(t);
	assert_int_equal(b->user.bytes, 15000); /* though nothing has changed since */
	receive(t, PLAIN, 3, 2);
	check_shown(t, "show queues out", "  17000       17000       35000 ");
	check_shown(t, "show buffers", "       17000            17              0       35000          14520 ");
	check_metrics(t, "sluice_queue_most_bytes{node=\"t\",port=\"out\",slice=\"\",class=\"3\"} 35000\n");
	check_shown(t, "clear watermarks persistent", "");
	testbed_round(t);
	check_shown(t, "show queues out", "  17000       17000       17000 ");
	receive(t, PLAIN, 3, 1);
	check_shown(t, "show queues out", "  18000       18000       18000 ");
	check_shown(t, "show buffers", "       18000            18              0       18000              0 ");
	testbed_free(t);
}

/* A frame of several buffers is charged all of them, to its port and class and to its slice. */
static void chained_frames(void **state)
{
	struct testbed *t = testbed_new(NODE);
	struct account_level level = {0}, of_slice = {0};
	uint8_t frame[2048];
	uint32_t size = testbed_frame(frame, &t->port[IN]->port.mac, GOLD, 3, 0, 1400);

	(void)state;
	testbed_settle(t, 1000);
	receive(t, GOLD, 3, 50);
	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow(3 << 5, 3);
	account_add(&t->node->worker[0].accounts->total[IN][3], &level);
	for (unsigned int i = 0; i < 4; i++)
		fake_port_receive(t->port[IN], 0, frame, size, 300);
	testbed_settle(t, 3);
	level.bytes = -level.bytes;
	level.buffers = -level.buffers;
	account_add(&t->node->worker[0].accounts->total[IN][3], &level);
	account_add(&t->node->worker[0].accounts->slice[IN][1][3], &of_slice);
	check(level.buffers == 8 && level.bytes == 4ull * size, "%u buffers, %u bytes", (unsigned int)level.buffers,
		(unsigned int)level.bytes);
	assert_int_equal(of_slice.buffers, t->node->egress[OUT].slice[1].queue[3].packets.n + 4);
	assert_int_equal(of_slice.bytes, t->node->egress[OUT].slice[1].queue[3].bytes);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_waits_and_why),
		cmocka_unit_test(watermarks),
		cmocka_unit_test(chained_frames),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("buffers_shown", tests, NULL, NULL);
}
