/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that fail and return, and lossless packets meanwhile, through whole nodes. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "service/pfc/service_pfc.h"
#include "test/support/testbed.h"

/* All for 5f00:0:501:: goes from `in` to `out`; the longest pause of out is 3,355 us, its control loop is `LOOP_US`. */
#define CONFIG \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: in, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"], " \
		"descriptors: {tx: 64},\n" \
		"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: b}}\n" \
		"  - {name: out, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\"], " \
		"descriptors: {tx: 64},\n" \
		"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:01\"], buffer: b, length: 100000, outage: " \
		"20}}\n" \
		"buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 400K, forced: true, min-frame: 100}]\n" \
		"neighbors: [{port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}]\n" \
		"routes: [{prefix: \"5f00:0:501::/48\", port: out, nexthop: \"2001:db8:b::3\"}]\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

enum { IN, OUT };
#define LOOP_US 2000 /* at least: 200 km there and back, the reactions, and 66 frames */
#define US NSEC_PER_USEC

static const struct eth_addr peer[] = {{{0x02, 0, 0, 0, 0xa0, 0}}, {{0x02, 0, 0, 0, 0xb0, 1}}};

static struct testbed *bed(void)
{
	struct testbed *t = testbed_new(CONFIG);

	testbed_settle(t, 1000);
	assert_true(t->node->snapshot->port[OUT].loop_ns > 1000 * US &&
		    t->node->snapshot->port[OUT].loop_ns < LOOP_US * US);
	return t;
}

static void data(struct testbed *t, uint8_t class, uint32_t sequence, uint32_t size)
{
	uint8_t frame[2048];
	uint32_t n = testbed_frame(frame, &t->port[IN]->port.mac, "5f00:0:100:501:300::", 1, sequence, size);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), 1);
	fake_port_receive(t->port[IN], 0, frame, n, 0);
	testbed_settle(t, 100);
}

static void pfc(struct testbed *t, unsigned int port, uint16_t time)
{
	struct pfc_request r = {.enable = 0x08, .time = {[3] = time}};
	struct pfc_frame frame;

	pfc_write(&frame, &peer[port], &r);
	fake_port_receive(t->port[port], 0, &frame, sizeof(frame), 0);
	testbed_settle(t, 100);
}

static void set_link(struct testbed *t, unsigned int port, bool up)
{
	port_set_link(&t->port[port]->port, up);
	testbed_settle(t, 100);
}

static void wait_us(struct testbed *t, uint64_t us)
{
	testbed_pass(t, us * US, 10 * US);
}

/* Data frames that a port has sent since, in order from *next on; requests of PFC frames go to `said`, if there are any. */
static unsigned int sent(struct testbed *t, unsigned int port, uint32_t *next, struct pfc_request *said)
{
	struct sent_frame *f;
	unsigned int n = 0;

	while ((f = fake_port_take(t->port[port]))) {
		struct pfc_request r;
		uint32_t sequence;
		uint16_t flow;

		if (pfc_read(f->bytes, f->size, 0, &r) == PFC_LEGAL) {
			if (said && !said->enable)
				*said = r; /* the first */
		} else if (f->bytes[20] == IP_PROTO_IPV6) {
			testbed_frame_read(f, &flow, &sequence);
			if (next)
				assert_int_equal(sequence, (*next)++);
			n++;
		}
		free(f);
	}
	return n;
}

/* Lossless packets wait and their sender is paused; lossy ones are dropped by name. All go on in order afterwards. */
static void packets_wait(void **state)
{
	struct testbed *t = bed();
	struct pfc_request said = {0};
	uint32_t next = 0;

	(void)state;
	set_link(t, OUT, false);
	for (uint32_t i = 0; i < 30; i++)
		data(t, 3, i, 1000);
	for (uint32_t i = 0; i < 5; i++)
		data(t, 0, i, 1000);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 5);
	wait_us(t, 19000);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 30);
	sent(t, IN, NULL, &said);
	assert_int_equal(said.enable, 0x08);
	assert_int_equal(said.time[3], PFC_QUANTA_MAX);
	/* up again: not before the neighbour has said that it may */
	set_link(t, OUT, true);
	wait_us(t, LOOP_US);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	data(t, 0, 0, 1000); /* a lossy class does not wait */
	assert_int_equal(sent(t, OUT, NULL, NULL), 1);
	pfc(t, OUT, 0);
	assert_int_equal(sent(t, OUT, &next, NULL), 30);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 5);
	testbed_free(t);
}

/* No longer than the configured time; after that they are dropped at once, and the sender is no longer paused. */
static void for_a_bounded_time(void **state)
{
	struct testbed *t = bed();
	uint32_t next = 32;

	(void)state;
	set_link(t, OUT, false);
	for (uint32_t i = 0; i < 30; i++)
		data(t, 3, i, 1000);
	wait_us(t, 21000);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 30);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.stopped, 0);
	data(t, 3, 30, 1000);
	data(t, 3, 31, 1000);
	assert_int_equal(testbed_reason(t, IN, DROP_port_down), 32);
	assert_int_equal(t->node->egress[OUT].backlog, 0);
	/* and as before when it is back: without a word, after a control loop and the longest pause */
	set_link(t, OUT, true);
	data(t, 3, 32, 1000);
	wait_us(t, 1000 + 3355);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	wait_us(t, LOOP_US - 1000 + 10);
	assert_int_equal(sent(t, OUT, &next, NULL), 1);
	testbed_free(t);
}

/* A pause lasts for as long as the link is down and longer: its rest begins one control loop after. */
static void holds_stand_still(void **state)
{
	struct testbed *t = bed();
	uint64_t loop = t->node->snapshot->port[OUT].loop_ns / US;
	uint32_t next = 0;

	(void)state;
	pfc(t, OUT, PFC_QUANTA_MAX); /* 3,355 us */
	wait_us(t, 1000);
	set_link(t, OUT, false);
	for (uint32_t i = 0; i < 3; i++)
		data(t, 3, i, 1000);
	wait_us(t, 15000);
	set_link(t, OUT, true);
	/* a neighbour that says nothing: its hold still counts */
	wait_us(t, loop + 2300);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	assert_true(t->node->egress[OUT].slice[0].closed[EGRESS_PAUSE] & 0x08);
	wait_us(t, 200);
	assert_false(t->node->egress[OUT].slice[0].closed[EGRESS_PAUSE] & 0x08);
	wait_us(t, 1100);
	assert_int_equal(sent(t, OUT, &next, NULL), 3);
	/* no watchdog takes that for a storm */
	assert_int_equal(t->node->egress[OUT].watchdog[0][3].alarms, 0);
	testbed_free(t);
}

/* A link that has failed and returned between two passes counts as one that was down. */
static void a_flap_between_two_passes(void **state)
{
	struct testbed *t = bed();
	uint32_t next = 0;

	(void)state;
	port_set_link(&t->port[OUT]->port, false);
	set_link(t, OUT, true);
	data(t, 3, 0, 1000);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	pfc(t, OUT, 0);
	assert_int_equal(sent(t, OUT, &next, NULL), 1);
	testbed_free(t);
}

/* The first frame to a neighbour has the state of every priority, whatever was sent before. */
static void the_state_comes_first(void **state)
{
	struct testbed *t = bed();
	struct pfc_request said = {0};
	uint64_t frames;

	(void)state;
	set_link(t, OUT, false);
	for (uint32_t i = 0; i < 30; i++)
		data(t, 3, i, 1000);
	sent(t, IN, NULL, &said);
	assert_int_equal(said.time[3], PFC_QUANTA_MAX);
	/* while the link is down, nothing is booked as said */
	set_link(t, IN, false);
	frames = service_pfc(t->node)->port[IN].speaker.frames;
	wait_us(t, 10000);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.frames, frames);
	said = (struct pfc_request){0};
	set_link(t, IN, true);
	sent(t, IN, NULL, &said);
	assert_int_equal(said.enable, 0x08);
	assert_int_equal(said.time[3], PFC_QUANTA_MAX);
	/* and XON, when it is that */
	wait_us(t, 12000);
	assert_int_equal(service_pfc(t->node)->port[IN].speaker.stopped, 0);
	sent(t, IN, NULL, NULL);
	said = (struct pfc_request){0};
	set_link(t, IN, false);
	set_link(t, IN, true);
	sent(t, IN, NULL, &said);
	assert_int_equal(said.enable, 0x08);
	assert_int_equal(said.time[3], 0);
	testbed_free(t);
}

/* A node that starts knows no pauses: it sends no lossless packets until it could have received one. */
static void a_start(void **state)
{
	struct testbed *t = testbed_started(CONFIG);
	uint32_t next = 0;

	(void)state;
	data(t, 3, 0, 1000);
	wait_us(t, 1000 + 3355);
	assert_int_equal(sent(t, OUT, &next, NULL), 0);
	wait_us(t, LOOP_US - 1000 + 10);
	assert_int_equal(sent(t, OUT, &next, NULL), 1);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_wait),
		cmocka_unit_test(for_a_bounded_time),
		cmocka_unit_test(holds_stand_still),
		cmocka_unit_test(a_flap_between_two_passes),
		cmocka_unit_test(the_state_comes_first),
		cmocka_unit_test(a_start),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("link", tests, NULL, NULL);
}
