/* SPDX-License-Identifier: BSD-3-Clause */
/* A CPU that is too slow: the size of batches, and the receive backlog through whole nodes. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/config.h"
#include "config/headroom.h"
#include "service/pfc/service_pfc.h"
#include "test/support/testbed.h"

/* Passes whose duration is `fixed` plus `each` for a packet; returns the batch that they come to. */
static unsigned int comes_to(uint64_t fixed, uint64_t each, uint64_t limit)
{
	struct batch b;

	batch_init(&b, true);
	for (unsigned int i = 0; i < 100; i++)
		batch_passed(&b, fixed + each * batch_size(&b), limit);
	return batch_size(&b);
}

static void batches(void **state)
{
	struct batch b;

	(void)state;
	batch_init(&b, true);
	assert_int_equal(batch_size(&b), 4);
	batch_init(&b, false);
	assert_int_equal(batch_size(&b), LIMIT_BURST);
	/* as many packets as the time is enough for, with up to half of it in reserve */
	assert_int_equal(comes_to(50, 100, 10000), 64);
	assert_int_equal(comes_to(50, 200, 10000), 32);
	assert_int_equal(comes_to(50, 1000, 10000), 8);
	assert_int_equal(comes_to(50, 3000, 10000), 2);
	assert_int_equal(comes_to(50, 30000, 10000), 1);
	/* a pass that is long by itself does not become shorter with fewer packets */
	assert_int_equal(comes_to(50000, 100, 10000), 64);
	/* without lossless classes no pass is too long */
	assert_int_equal(comes_to(50, 30000, 0), 64);
}

/* The cost of packets changes under way: the size follows, both ways. */
static void batches_follow(void **state)
{
	struct batch b;

	(void)state;
	batch_init(&b, true);
	for (unsigned int i = 0; i < 20; i++)
		batch_passed(&b, 50ull * batch_size(&b), 10000);
	assert_int_equal(batch_size(&b), 64);
	for (unsigned int i = 0; i < 20; i++)
		batch_passed(&b, 2000ull * batch_size(&b), 10000);
	assert_int_equal(batch_size(&b), 4);
	for (unsigned int i = 0; i < 20; i++)
		batch_passed(&b, 50ull * batch_size(&b), 10000);
	assert_int_equal(batch_size(&b), 64);
}

#define NODE(lcores) \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [0], worker: [" lcores "]}\n" \
	"memory: {buffers: 32K}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     descriptors: {tx: 64}, pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b}}\n" \
	"  - {name: out, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\"], worker: 1,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:01\"], buffer: b}}\n" \
	"buffer-profiles:\n" \
	"  - {name: b, xoff: 64K, xon: 32K, headroom: 512K, forced: true, min-frame: 100}\n" \
	"neighbors:\n" \
	"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:501::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

enum { IN, OUT };

static const struct eth_addr peer = {{0x02, 0, 0, 0, 0xb0, 1}};

static void data(struct testbed *t, uint8_t class, uint32_t sequence, uint32_t size)
{
	uint8_t frame[4096];
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:501:300::", class, sequence, size);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), 1);
	fake_port_receive(t->port[IN], 0, frame, n, 0);
}

static struct testbed *bed(const char *text, bool slow)
{
	struct testbed *t = testbed_new(text);

	testbed_settle(t, 1000);
	for (uint16_t i = 0; slow && i < t->node->n_lcores; i++)
		t->node->lcore[i]->batch.step = 0;
	return t;
}

/* Passes that take 100 us each, so that a batch is one packet. */
static void slow_pass(struct testbed *t)
{
	t->now += 100 * 1000;
	testbed_round(t);
}

/* Data frames that left since, in order from *next on; PFC frames in *pfc. */
static uint32_t sent(struct testbed *t, unsigned int port, uint32_t *next, uint32_t *pfc)
{
	struct sent_frame *f;
	uint32_t n = 0;

	while ((f = fake_port_take(t->port[port]))) {
		uint32_t sequence;
		uint16_t flow;

		if (be16_get(((const struct eth_hdr *)f->bytes)->type) == ETH_TYPE_MAC_CONTROL) {
			++*pfc;
		} else {
			testbed_frame_read(f, &flow, &sequence);
			assert_int_equal(sequence, (*next)++);
			n++;
		}
		free(f);
	}
	return n;
}

/* The device is emptied at once, what waits is charged and stops the sender; all leaves in order, and then he may go on. */
static void what_waits_stops_the_sender(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), true);
	const struct pfc_buffer *b = &service_pfc(t->node)->port[IN].buffer[3];
	uint32_t next = 0, none = 0, pfc = 0;

	(void)state;
	sent(t, IN, &none, &pfc);
	pfc = 0;
	for (uint32_t i = 0; i < 300; i++)
		data(t, 3, i, 500);
	slow_pass(t);
	slow_pass(t);
	assert_int_equal(t->port[IN]->rx[0].n, 0);
	assert_true(t->node->rx[0].queue[0].backlog.lossless.n > 290);
	assert_true(b->level.bytes > 290 * 500 && b->level.buffers > 290);
	assert_true(b->stopped);
	sent(t, IN, &none, &pfc);
	assert_int_equal(pfc, 1);
	testbed_check_balance(t);
	testbed_settle(t, 2000);
	assert_int_equal(sent(t, OUT, &next, &none), 300);
	assert_int_equal(b->level.bytes, 0);
	assert_false(b->stopped);
	pfc = 0;
	sent(t, IN, &none, &pfc);
	assert_true(pfc >= 1);
	testbed_free(t);
}

/* A pause by the neighbour does not wait behind data. */
static void pauses_do_not_wait(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), true);
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};
	uint32_t next = 0, pfc = 0;
	struct pfc_frame frame;

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		data(t, 3, i, 500);
	pfc_write(&frame, &peer, &r);
	slow_pass(t);
	fake_port_receive(t->port[IN], 0, &frame, sizeof(frame), 0);
	slow_pass(t);
	/* the station is not a peer of `in`, and that is known at once */
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_bad_peer), 1);
	assert_true(t->node->rx[0].queue[0].backlog.lossless.n > 290);
	testbed_settle(t, 2000);
	assert_int_equal(sent(t, OUT, &next, &pfc), 300);
	testbed_free(t);
}

/* Nor does it wait behind frames of lossy classes, and these do not starve behind lossless ones: each batch has one. */
static void nobody_waits_for_all(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), true);
	const struct backlog *b = &t->node->rx[0].queue[0].backlog;
	struct pfc_request r = {.enable = 8, .time = {[3] = 65535}};
	struct pfc_frame frame;
	uint32_t before;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		data(t, 3, i, 500);
	for (uint32_t i = 0; i < LIMIT_BACKLOG_LOSSY / 2; i++)
		data(t, 0, i, 500);
	pfc_write(&frame, &peer, &r);
	slow_pass(t);
	assert_true(b->lossy.n > LIMIT_BACKLOG_LOSSY / 4 && b->lossless.n > 100);
	fake_port_receive(t->port[IN], 0, &frame, sizeof(frame), 0);
	slow_pass(t);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_bad_peer), 1);
	for (unsigned int i = 0; i < 8; i++) {
		before = b->lossy.n;
		for (uint16_t k = 0; k < t->node->n_lcores; k++)
			t->node->lcore[k]->batch.step = 2;
		slow_pass(t);
		check(b->lossy.n < before && b->lossless.n > 0, "pass %u: %u after %u", i, b->lossy.n, before);
	}
	testbed_settle(t, 20000);
	testbed_free(t);
}

/*
 * Frames of lossy classes have little room, and leave what is for lossless ones; they are dropped by name. A device that
 * cannot say how many frames wait keeps its lossy ones.
 */
static void lossy_frames_are_few(void **state)
{
	(void)state;
	for (unsigned int counts = 0; counts < 2; counts++) {
		struct testbed *t = bed(NODE("0, 1"), true);

		t->port[IN]->counts = counts;
		for (uint32_t i = 0; i < 200; i++)
			data(t, 3, i, 500);
		for (uint32_t i = 0; i < 2 * LIMIT_BACKLOG_LOSSY; i++)
			data(t, 0, i, 500);
		for (unsigned int i = 0; i < 4; i++)
			slow_pass(t);
		assert_true(t->node->rx[0].queue[0].backlog.lossy.n <= LIMIT_BACKLOG_LOSSY);
		if (counts)
			assert_true(testbed_reason(t, IN, DROP_rx_overload) > LIMIT_BACKLOG_LOSSY / 2);
		/* none is starved: each pass takes one */
		assert_true(t->port[OUT]->n_sent > 0);
		testbed_settle(t, 20000);
		assert_true(counts || testbed_reason(t, IN, DROP_rx_overload) == 0);
		assert_int_equal(testbed_reason(t, IN, DROP_headroom_exceeded), 0);
		testbed_free(t);
	}
}

/* A sender that does not stop exceeds its headroom, by that name; the pool does not run empty. */
static void a_deaf_sender(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), true);
	uint32_t n = 0;

	(void)state;
	t->overruns = true;
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int k = 0; k < 100; k++)
			data(t, 3, n++, 500);
		slow_pass(t);
	}
	assert_true(testbed_reason(t, IN, DROP_headroom_exceeded) > 500);
	assert_int_equal(t->port[IN]->rx[0].n, 0);
	testbed_settle(t, 5000);
	testbed_free(t);
}

/* A worker on another lcore that does nothing: what its mailbox does not take waits in the backlog. */
static void a_stalled_worker(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), false);
	struct worker_role *w = &t->node->worker[t->node->owner[OUT]];
	uint32_t next = 0, pfc = 0;

	(void)state;
	assert_true(w->lcore != t->node->rx[0].lcore);
	w->stalled = true;
	for (uint32_t i = 0; i < 1000; i++)
		data(t, 3, i, 500);
	testbed_pass(t, 100000, 1000);
	assert_int_equal(t->port[IN]->rx[0].n, 0);
	assert_true(mailbox_used(&t->node->rx[0].to_worker[w->index]) <= LIMIT_LOSSLESS_MAIL + LIMIT_BURST);
	assert_true(service_pfc(t->node)->port[IN].buffer[3].stopped);
	w->stalled = false;
	testbed_settle(t, 2000);
	assert_int_equal(sent(t, OUT, &next, &pfc), 1000);
	assert_false(service_pfc(t->node)->port[IN].buffer[3].stopped);
	testbed_free(t);
}

#define BOTH_WAYS \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [0], worker: [1, 2]}\n" \
	"memory: {buffers: 32K}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"], worker: 2,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b}}\n" \
	"  - {name: out, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\"], worker: 1,\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:01\"], buffer: b}}\n" \
	"buffer-profiles:\n" \
	"  - {name: b, xoff: 64K, xon: 32K, headroom: 512K, forced: true, min-frame: 100}\n" \
	"neighbors:\n" \
	"  - {port: in, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:00\"}\n" \
	"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:501::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:502::/48\", port: in, nexthop: \"2001:db8:a::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

/* A packet of the way back: from `out` to `in`. */
static void data_back(struct testbed *t, uint8_t class, uint32_t sequence, uint32_t size)
{
	uint8_t frame[4096];
	uint32_t n = testbed_frame(frame, &t->port[OUT]->port.mac, "5f00:0:100:502:300::", class, sequence, size);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), 1);
	fake_port_receive(t->port[OUT], 0, frame, n, 0);
}

/*
 * Two lossless ports of one rx lcore, and the worker of one of them does nothing: its direction is held, charged and paused;
 * the other one goes on and its sender is never paused. Nothing is lost, and all leave in order.
 */
static void one_direction_is_held(void **state)
{
	struct testbed *t = bed(BOTH_WAYS, false);
	struct worker_role *w = &t->node->worker[t->node->owner[OUT]];
	const struct service_pfc_port *pfc = service_pfc(t->node)->port;
	const struct mailbox *box = &t->node->rx[0].to_worker[w->index];
	uint32_t next = 0, back = 0, frames = 0, none = 0, parked = 0;

	(void)state;
	assert_true(w->index != t->node->owner[IN]);
	sent(t, OUT, &none, &frames);
	w->stalled = true;
	for (uint32_t i = 0; i < 500; i++) {
		data(t, 3, 2 * i, 500);
		data(t, 3, 2 * i + 1, 500);
		data_back(t, 3, i, 500);
		testbed_round(t);
		t->now += 1000;
		/* what is not in the mailbox counts as buffer of its class: in the park as in the backlog */
		assert_true(mailbox_used(box) <= LIMIT_LOSSLESS_MAIL + LIMIT_BURST);
		parked = MAX_OF(parked, t->node->rx[0].park[w->index].n);
		check(!pfc[OUT].buffer[3].stopped, "the way back is paused, packet %u", i);
	}
	testbed_pass(t, 100000, 1000);
	assert_true(parked > 0);
	assert_int_equal(pfc[IN].buffer[3].level.bytes, (1000 - mailbox_used(box)) * 500);
	assert_true(pfc[IN].buffer[3].stopped);
	assert_int_equal(t->port[IN]->rx[0].n, 0);
	assert_int_equal(sent(t, IN, &back, &frames), 500);
	w->stalled = false;
	for (unsigned int i = 0; i < 1000; i++) {
		testbed_round(t);
		t->now += 1000;
		assert_true(mailbox_used(box) <= LIMIT_LOSSLESS_MAIL + LIMIT_BURST);
	}
	testbed_settle(t, 2000);
	assert_int_equal(sent(t, OUT, &next, &none), 1000);
	assert_int_equal(pfc[IN].buffer[3].level.bytes, 0);
	assert_false(pfc[IN].buffer[3].stopped);
	testbed_free(t);
}

/* Control traffic of a queue that is held is not: what does not fit is dropped, and takes the place of nobody else. */
static void control_of_a_queue_that_is_held(void **state)
{
	struct testbed *t = bed(BOTH_WAYS, false);
	struct worker_role *w = &t->node->worker[t->node->owner[OUT]];
	uint32_t next = 0, back = 0, frames = 0;
	struct sent_frame *f;

	(void)state;
	w->stalled = true;
	for (uint32_t i = 0; i < 300; i++)
		data(t, 3, i, 500);
	testbed_pass(t, 100000, 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		data(t, 6, i, 100);
		if (i % 10 == 0)
			testbed_round(t);
	}
	testbed_round(t);
	check(t->node->rx[0].parked <= NODE_PARK / 2 + NODE_BURST, "%u are parked", t->node->rx[0].parked);
	assert_true(testbed_reason(t, IN, DROP_rx_overload) > 500);
	for (uint32_t i = 0; i < 500; i++)
		data_back(t, 3, i, 500);
	testbed_pass(t, 1000000, 1000);
	assert_int_equal(sent(t, IN, &back, &frames), 500);
	w->stalled = false;
	testbed_settle(t, 3000);
	while ((f = fake_port_take(t->port[OUT]))) {
		next += f->size == 500;
		free(f);
	}
	assert_int_equal(next, 300);
	testbed_free(t);
}

/* Frames that wait when the node stops are counted as such. */
static void stopped_while_it_waits(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), true);

	(void)state;
	for (uint32_t i = 0; i < 300; i++)
		data(t, 3, i, 500);
	slow_pass(t);
	slow_pass(t);
	node_drain(t->node);
	assert_true(testbed_reason(t, IN, DROP_stopped) > 250);
	testbed_check_balance(t);
	testbed_free(t);
}

/* The management thread, more than a second later. */
static void tick(struct testbed *t)
{
	testbed_pass(t, 1100 * NSEC_PER_MSEC, 100 * NSEC_PER_MSEC);
	node_tick(t->node, t->now);
}

/* A loss in the device of a port with lossless classes counts as a broken promise, once. */
static void what_the_device_loses(void **state)
{
	struct testbed *t = bed(NODE("0, 1"), false);
	struct service_pfc_port *own = &service_pfc(t->node)->port[IN];

	(void)state;
	tick(t);
	assert_int_equal(own->missed, 0);
	t->port[IN]->missed = 5;
	tick(t);
	tick(t);
	assert_int_equal(own->missed, 5);
	t->port[IN]->missed = 7;
	tick(t);
	assert_int_equal(own->missed, 7);
	assert_int_equal(service_pfc(t->node)->port[OUT].missed, 0);
	testbed_free(t);
}

#define LOSSLESS "priorities: [3], buffer: b"

/* auto: enough for the response time, whatever the frames; and for a pass of the shortest ones. */
static void receive_rings(void **state)
{
	static const struct {
		uint64_t bps;
		const char *pfc;
		uint64_t min_frame, least, rx;
	} rows[] = {{10000000000, LOSSLESS, 60, 298, 512}, {100000000000, LOSSLESS, 60, 2977, 4096},
		{100000000000, LOSSLESS, 1024, 239, 512}, {400000000000, LOSSLESS, 1024, 955, 2048},
		{400000000000, LOSSLESS, 60, 11905, 16384}, {1600000000000, LOSSLESS, 60, 47620, 16384},
		{400000000000, "buffer: b", 60, 0, 512}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct cfg_diags diags = {0};
		struct config *c;
		char text[1024];

		snprintf(text, sizeof(text),
			TESTBED_NODE "lcores: {control: 0, rx: [0], worker: [0]}\n"
				     "ports: [{name: p, device: net_null0, side: wan, speed: %llu, pfc: {%s}}]\n"
				     "buffer-profiles: [{name: b, min-frame: %llu, response: 20}]\n",
			(unsigned long long)rows[i].bps, rows[i].pfc, (unsigned long long)rows[i].min_frame);
		c = cfg_load_text("t", text, strlen(text), &diags);
		if (!c)
			cfg_diags_print(&diags, stderr);
		assert_non_null(c);
		check(cfg_rx_descriptors_least(c, &c->ports.items[0]) == rows[i].least, "row %u: %llu", i,
			(unsigned long long)cfg_rx_descriptors_least(c, &c->ports.items[0]));
		check(cfg_rx_descriptors(c, &c->ports.items[0]) == rows[i].rx, "row %u: %llu", i,
			(unsigned long long)cfg_rx_descriptors(c, &c->ports.items[0]));
		cfg_free(c);
		cfg_diags_free(&diags);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches),
		cmocka_unit_test(batches_follow),
		cmocka_unit_test(receive_rings),
		cmocka_unit_test(what_waits_stops_the_sender),
		cmocka_unit_test(pauses_do_not_wait),
		cmocka_unit_test(nobody_waits_for_all),
		cmocka_unit_test(lossy_frames_are_few),
		cmocka_unit_test(a_deaf_sender),
		cmocka_unit_test(a_stalled_worker),
		cmocka_unit_test(one_direction_is_held),
		cmocka_unit_test(control_of_a_queue_that_is_held),
		cmocka_unit_test(stopped_while_it_waits),
		cmocka_unit_test(what_the_device_loses),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("receive backlog", tests, NULL, NULL);
}
