/* SPDX-License-Identifier: BSD-3-Clause */
/* Mailboxes: order, counters, what happens when one is full; and the list of all mailboxes of a node. */
#include "test/support/unit.h"

#include "service/pfc/service_pfc.h"
#include "test/support/shown.h"

struct note {
	uint32_t number;
	uint32_t text[4];
};

/* A node with two lcores of each kind; rx 2 and worker 2 share one. */
#define NODE \
	"node: {name: t, loopback: \"fd00::d\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1, 2], worker: [2, 3]}\n" \
	"memory: {fib: compact, buffers: 32K}\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: dc, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"sids: [{sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p1}]\n" \
	"pfc-relays: [{name: gw, port: p1, sid: \"5f00:1:1:d2::/64\", jitter: 0, hold-min: 5000}]\n"

static void open_notes(struct mailbox_list *list, struct mailbox *b, struct testbed *t, uint32_t slots)
{
	struct mailbox_options o = {.carries = "notes",
		.from = {t->node->control->lcore, MAILBOX_CONTROL},
		.to = {t->node->worker[0].lcore, MAILBOX_WORKER},
		.bytes = sizeof(struct note),
		.slots = slots,
		.socket = -1};

	assert_int_equal(mailbox_open(list, b, &o), 0);
}

/* Messages are popped in the order in which they were pushed, unchanged, and both sides count them. */
static void in_order(void **state)
{
	struct testbed *t = testbed_new(NODE);
	struct mailbox_list list = {NULL, NULL};
	struct mailbox b = {0};
	struct note in, out[3];
	uint32_t next = 0;

	(void)state;
	open_notes(&list, &b, t, 8);
	assert_ptr_equal(list.first, &b);
	assert_false(mailbox_has_packets(&b));
	assert_int_equal(mailbox_pop(&b, out, sizeof(out[0]), 3), 0);
	for (uint32_t i = 0; i < 20; i++) {
		in = (struct note){i, {~i, i * 3, i << 8, 7}};
		assert_true(mailbox_push(&b, &in, sizeof(in)));
		if (i % 3 != 2)
			continue;
		assert_int_equal(mailbox_pop(&b, out, sizeof(out[0]), 3), 3);
		for (uint32_t k = 0; k < 3; k++, next++) {
			in = (struct note){next, {~next, next * 3, next << 8, 7}};
			assert_memory_equal(&out[k], &in, sizeof(in));
		}
	}
	assert_int_equal(b.pushed, 20);
	assert_int_equal(b.popped, 18);
	assert_int_equal(b.refused, 0);
	assert_int_equal(mailbox_used(&b), 2);
	mailbox_close_all(&list);
	testbed_free(t);
}

/* A full mailbox takes nothing, counts what it refused, and keeps what it has. */
static void full(void **state)
{
	struct testbed *t = testbed_new(NODE);
	struct mailbox_list list = {NULL, NULL};
	struct mailbox b = {0};
	struct note n = {0}, out[8];

	(void)state;
	open_notes(&list, &b, t, 8);
	for (uint32_t i = 0; i < 10; i++) {
		n.number = i;
		assert_int_equal(mailbox_room(&b), 7 - MIN_OF(i, 7));
		assert_int_equal(mailbox_push(&b, &n, sizeof(n)), i < 7);
	}
	assert_int_equal(b.pushed, 7);
	assert_int_equal(b.refused, 3);
	assert_int_equal(mailbox_pop(&b, out, sizeof(out[0]), 8), 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(out[i].number, i);
	assert_int_equal(b.popped, 7);
	assert_true(mailbox_push(&b, &n, sizeof(n)));
	assert_int_equal(mailbox_pop(&b, out, sizeof(out[0]), 8), 1);
	assert_int_equal(out[0].number, 9);
	mailbox_close_all(&list);
	assert_null(list.first);
	assert_null(b.ring);
	testbed_free(t);
}

static unsigned int rows(json_t *rings, const char *ring, const char *carries)
{
	unsigned int n = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rings, i, row) {
		const char *from, *to, *what;
		char name[48];
		int a, b;

		assert_int_equal(json_unpack(row, "{s{ss si ss si} ss}", "ring", "from", &from, "from_lcore", &a, "to",
					 &to, "to_lcore", &b, "carries", &what),
			0);
		snprintf(name, sizeof(name), "%s %d -> %s %d", from, a, to, b);
		n += strcmp(name, ring) == 0 && strcmp(what, carries) == 0;
	}
	return n;
}

/* `show rings` and the metrics have every mailbox between two roles, once. */
static void all_are_shown(void **state)
{
	static const struct {
		const char *ring, *carries;
	} expected[] = {
		{"rx 1 -> control 0", "pfc-packets"},
		{"rx 1 -> control 0", "bfd-packets"},
		{"rx 1 -> control 0", "nd-packets"},
		{"rx 1 -> control 0", "rsvp-packets"},
		{"rx 1 -> control 0", "packets"},
		{"rx 1 -> control 0", "sightings"},
		{"rx 1 -> control 0", "sessions-on-demand"},
		{"rx 1 -> control 0", "pairs-of-hosts"},
		{"rx 1 -> worker 2", "packets"},
		{"rx 1 -> worker 2", "pfc-heard"},
		{"rx 1 -> worker 3", "packets"},
		{"rx 1 -> worker 3", "pfc-heard"},
		{"rx 2 -> control 0", "pfc-packets"},
		{"rx 2 -> control 0", "bfd-packets"},
		{"rx 2 -> control 0", "nd-packets"},
		{"rx 2 -> control 0", "rsvp-packets"},
		{"rx 2 -> control 0", "packets"},
		{"rx 2 -> control 0", "sightings"},
		{"rx 2 -> control 0", "sessions-on-demand"},
		{"rx 2 -> control 0", "pairs-of-hosts"},
		/* rx 2 and worker 2 are on one lcore */
		{"rx 2 -> worker 3", "packets"},
		{"rx 2 -> worker 3", "pfc-heard"},
		{"control 0 -> worker 2", "packets"},
		{"control 0 -> worker 2", "neighbors"},
		{"control 0 -> worker 2", "pauses"},
		{"worker 2 -> control 0", "packets"},
		{"worker 2 -> control 0", "questions"},
		{"worker 2 -> worker 3", "packets"},
		{"worker 2 -> worker 3", "packets-home"},
		{"worker 3 -> worker 2", "packets"},
		{"worker 3 -> worker 2", "packets-home"},
		{"control 0 -> worker 3", "packets"},
		{"control 0 -> worker 3", "neighbors"},
		{"control 0 -> worker 3", "pauses"},
		{"worker 3 -> control 0", "packets"},
		{"worker 3 -> control 0", "questions"},
	};
	struct testbed *t = testbed_new(NODE);
	json_t *rings;

	(void)state;
	testbed_settle(t, 1000);
	rings = shown_json(t, "show rings -j");
	for (unsigned int i = 0; i < ARRAY_LEN(expected); i++)
		check(rows(rings, expected[i].ring, expected[i].carries) == 1, "%s, %s: %u rows", expected[i].ring,
			expected[i].carries, rows(rings, expected[i].ring, expected[i].carries));
	assert_int_equal(json_array_size(rings), ARRAY_LEN(expected));
	json_decref(rings);
	check_metrics(t, "sluice_ring_refused_total{node=\"t\",from=\"rx 1\",to=\"control\",carries=\"sightings\"} 0");
	check_metrics(t, "sluice_ring_used{node=\"t\",from=\"worker 3\",to=\"control\",carries=\"packets\"} 0");
	testbed_free(t);
}

/* A worker that has stopped reading: messages that it cannot receive are counted for its mailbox only. */
static void a_full_one_is_counted_under_its_name(void **state)
{
	struct testbed *t = testbed_new(NODE);
	struct pfc_request stop = {.enable = 8, .time = {[3] = 65535}};
	struct worker_role *w = &t->node->worker[t->node->owner[1]];
	struct mailbox *pauses = &service_pfc_worker(w)->pauses;
	struct pfc_message nothing = {.kind = PFC_TELL_NEIGHBOUR, .port = 1};
	uint8_t frame[TESTBED_PFC_FRAME];
	struct lcore_stats sum;
	struct sent_frame *f;
	char line[160];

	(void)state;
	testbed_settle(t, 1000);
	testbed_pfc_frame(frame, &t->port[0]->port.mac, "fd00::3", "5f00:1:1:d2::", &stop);
	fake_port_receive(t->port[0], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 100);
	assert_int_equal(testbed_reason(t, 0, CONSUME_pfc), 1);
	w->stalled = true;
	while (mailbox_room(pauses))
		assert_true(mailbox_push(pauses, &nothing, sizeof(nothing)));
	/* the relay refreshes the gateway's pause every 168 us */
	testbed_pass(t, 2 * NSEC_PER_MSEC, 10000);
	assert_true(pauses->refused >= 10);
	node_stats(t->node, &sum);
	assert_int_equal(sum.pfc_refused, 0);
	snprintf(line, sizeof(line),
		"sluice_ring_refused_total{node=\"t\",from=\"control\",to=\"worker %u\",carries=\"pauses\"} %llu",
		w->lcore->id, (unsigned long long)pauses->refused);
	check_metrics(t, line);
	w->stalled = false;
	testbed_pass(t, 6 * NSEC_PER_MSEC, 10000);
	while ((f = fake_port_take(t->port[1])))
		free(f);
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),
		cmocka_unit_test(full),
		cmocka_unit_test(all_are_shown),
		cmocka_unit_test(a_full_one_is_counted_under_its_name),
	};

	return cmocka_run_group_tests_name("mailbox", tests, NULL, NULL);
}
