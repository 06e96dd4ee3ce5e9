/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and packets of credit that are wrong, old or a stranger's, at a whole node (docs/credit.md 2.5, 2.6, 2.11): each is
 * counted, and nothing changes.
 */
#include "test/support/credit_peer.h"

#define STRANGER "fd00::66"

/* An update of the next hop; 0: as the session has it. */
static void say(struct testbed *t, uint32_t lih, uint32_t epoch, uint64_t fccl, uint32_t sequence)
{
	struct rsvp_credit *c = make_update(fccl, sequence);

	c->lih = lih;
	c->epoch = epoch;
	to_node(t);
}

/* A session that has used up its 16 units, with four packets that wait. */
static struct testbed *blocked(void)
{
	struct testbed *t = committed("");

	data(t, LABEL, 16);
	data(t, LABEL, 4);
	assert_int_equal(16, data_passed(t));
	assert_int_equal(4, node_held(t->node));
	return t;
}

/* Credit for a handle that no path has. */
static void unknown_handle(void **state)
{
	struct testbed *t = blocked();

	(void)state;
	say(t, init.hop.lih + 7, 5, 40, 100);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(4, node_held(t->node));
	say(t, init.hop.lih, 5, 20, 100);
	assert_int_equal(4, data_passed(t));
	testbed_check_balance(t);
	testbed_free(t);
}

/* Totals that fall, in an update that is new by its sequence, take nothing back. */
static void falling_counters(void **state)
{
	struct testbed *t = blocked();

	(void)state;
	say(t, init.hop.lih, 5, 18, 100);
	assert_int_equal(2, data_passed(t));
	say(t, init.hop.lih, 5, 3, 101);
	assert_int_equal(0, data_passed(t));
	say(t, init.hop.lih, 5, 19, 102);
	assert_int_equal(1, data_passed(t));
	assert_int_equal(1, node_held(t->node));
	testbed_check_balance(t);
	testbed_free(t);
}

/* An update that came before counts once, and one that a newer one has overtaken never. */
static void repeated_updates(void **state)
{
	struct testbed *t = blocked();

	(void)state;
	say(t, init.hop.lih, 5, 17, 100);
	assert_int_equal(1, data_passed(t));
	for (unsigned int i = 0; i < 5; i++)
		say(t, init.hop.lih, 5, 17, 100);
	say(t, init.hop.lih, 5, 40, 99);
	say(t, init.hop.lih, 5, 40, 100);
	assert_int_equal(0, data_passed(t));
	assert_int_equal(3, node_held(t->node));
	testbed_check_balance(t);
	testbed_free(t);
}

/* A neighbour that promises without limit is obeyed up to twice what it announced. */
static void promises_have_a_bound(void **state)
{
	struct testbed *t = committed("");

	(void)state;
	say(t, init.hop.lih, 5, 1000000, 100);
	for (unsigned int i = 0; i < 5; i++)
		data(t, LABEL, 10);
	assert_int_equal(32, data_passed(t));
	assert_int_equal(18, node_held(t->node));
	testbed_free(t);
}

/* Class and unit of another session, or of none. */
static void wrong_class(void **state)
{
	struct testbed *t = blocked();

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rsvp_credit *c = make_update(40, 100 + i);

		c->traffic_class = i ? 3 : 4;
		c->unit = i ? 12 : 11;
		to_node(t);
	}
	assert_int_equal(0, data_passed(t));
	testbed_free(t);
}

/* A marker of the previous hop: so many units are in front of that fence. */
static void state_it(struct testbed *t, uint32_t epoch, uint64_t number, uint64_t fctbs, uint32_t sequence)
{
	mark(t, epoch, sequence, &(struct rsvp_cbfc_hop){.fctbs = fctbs, .fence = number});
}

/* Six units have arrived and left: what is told of them. */
static struct testbed *after_six(struct rsvp_credit *c)
{
	struct testbed *t = committed("");

	data(t, LABEL, 6);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	assert_int_equal(6, data_passed(t));
	assert_true(told_up(t, c));
	assert_int_equal(6, c->abr);
	assert_int_equal(22, c->fccl);
	return t;
}

/* The previous hop hears that nothing is lost. */
static void check_nothing_lost(struct testbed *t, uint64_t abr)
{
	struct rsvp_credit c = {0};

	assert_true(told_up(t, &c));
	assert_int_equal(abr, c.abr);
	assert_int_equal(abr + 16, c.fccl);
}

/* A fence of another source is data: it goes on, and is counted as such. */
static void fence_of_a_stranger(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);

	(void)state;
	fence(t, 0, STRANGER, 0xf1, c.epoch, 0x101);
	assert_int_equal(0, testbed_reason(t, 0, CONSUME_credit));
	state_it(t, c.epoch, 0xf1, 9, 9);
	check_nothing_lost(t, 7);
	testbed_free(t);
}

/* A fence of an epoch that has ended, or of another path, is consumed, and no statement finds it. */
static void fence_of_another_epoch(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);

	(void)state;
	fence(t, 0, "fd00::1", 0xf1, c.epoch - 1, 0x101);
	state_it(t, c.epoch, 0xf1, 9, 9);
	check_nothing_lost(t, 6);
	fence(t, 0, "fd00::1", 0xf2, c.epoch, 0x102);
	state_it(t, c.epoch, 0xf2, 9, 10);
	check_nothing_lost(t, 6);
	assert_int_equal(2, testbed_reason(t, 0, CONSUME_credit));
	testbed_free(t);
}

/* A fence that comes again later marks the place at which it was seen first. */
static void fence_that_repeats(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);

	(void)state;
	fence(t, 0, "fd00::1", 0xf1, c.epoch, 0x101);
	data(t, LABEL, 2);
	fence(t, 0, "fd00::1", 0xf1, c.epoch, 0x101);
	testbed_pass(t, 5 * NSEC_PER_MSEC, 100 * NSEC_PER_USEC);
	state_it(t, c.epoch, 0xf1, 6, 9);
	check_nothing_lost(t, 8);
	testbed_free(t);
}

/* Statements of fences that never came, of another epoch, and of more than was granted. */
static void statements_without_fence(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		state_it(t, c.epoch, 0x1000 + i, 10, 20 + i);
	check_nothing_lost(t, 6);
	fence(t, 0, "fd00::1", 0xf1, c.epoch, 0x101);
	state_it(t, c.epoch - 1, 0xf1, 9, 40);
	check_nothing_lost(t, 6);
	state_it(t, c.epoch, 0xf1, 1000, 41);
	check_nothing_lost(t, 6);
	testbed_pass(t, 20 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(1, value_of(t, "show credit 0x12345 -j", "stale"));
	assert_int_equal(1, value_of(t, "show credit 0x12345 -j", "bad"));
	testbed_free(t);
}

/* A statement heals once: said again, also as if it were newer than one after it, it changes nothing. */
static void statement_that_repeats(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);

	(void)state;
	fence(t, 0, "fd00::1", 0xf1, c.epoch, 0x101);
	state_it(t, c.epoch, 0xf1, 8, 9);
	check_nothing_lost(t, 8); /* two were lost: they count as received */
	state_it(t, c.epoch, 0xf1, 8, 9);
	check_nothing_lost(t, 8);
	fence(t, 0, "fd00::1", 0xf2, c.epoch, 0x101);
	state_it(t, c.epoch, 0xf2, 20, 8); /* older than the last one that healed */
	check_nothing_lost(t, 8);
	testbed_free(t);
}

/* Data with the label of a session, and a fence of it, from a data centre: the session never sees them. */
static void stolen_label(void **state)
{
	struct rsvp_credit c = {0};
	struct testbed *t = after_six(&c);
	uint8_t frame[14 + 40 + DATA] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *out = (struct ipv6_hdr *)(eth + 1);

	(void)state;
	eth->dst = t->port[2]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xc0, 3}};
	eth->type = be16(ETH_TYPE_IPV6);
	*out = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5, LABEL),
		.payload_length = be16(DATA),
		.next_header = IP_PROTO_IPV6,
		.hop_limit = 60,
		.src = address("fd00:1::5").v6,
		.dst = address("5f00:0:100:200::").v6};
	for (unsigned int i = 0; i < 5; i++)
		fake_port_receive(t->port[2], 0, frame, sizeof(frame), 0);
	fence(t, 2, "fd00::1", 0xf1, c.epoch, 0x101);
	testbed_settle(t, 50);
	assert_int_equal(0, testbed_reason(t, 2, CONSUME_credit));
	state_it(t, c.epoch, 0xf1, 9, 9);
	check_nothing_lost(t, 6);
	data(t, LABEL, 10);
	assert_int_equal(10, data_passed(t)); /* none of its credit is used */
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(unknown_handle), cmocka_unit_test(falling_counters),
		cmocka_unit_test(repeated_updates), cmocka_unit_test(promises_have_a_bound),
		cmocka_unit_test(wrong_class), cmocka_unit_test(fence_of_a_stranger),
		cmocka_unit_test(fence_of_another_epoch), cmocka_unit_test(fence_that_repeats),
		cmocka_unit_test(statements_without_fence), cmocka_unit_test(statement_that_repeats),
		cmocka_unit_test(stolen_label)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
