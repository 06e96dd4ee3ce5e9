/* SPDX-License-Identifier: BSD-3-Clause */
/* What users see of RSVP: recorded messages, counters and their clearing, alarms, traces, samples of sessions. */
#include "test/support/rsvp_peer.h"

/* Row i, counted from 0, of the recorded messages; the objects of it in text. */
static void check_message(struct testbed *t, size_t rows, size_t i, const char *result, const char *what,
	const char *part)
{
	json_t *all = shown_json(t, "show rsvp messages -j"), *row = json_array_get(all, i);
	char *text = json_dumps(row, JSON_COMPACT);

	assert_int_equal(rows, json_array_size(all));
	assert_string_equal(result, json_string_value(json_object_get(row, "result")));
	assert_string_equal(what, json_string_value(json_object_get(row, "message")));
	check(strstr(text, part), "no '%s' in: %s", part, text);
	free(text);
	json_decref(all);
}

/* Messages are recorded from `debug rsvp on` to `debug rsvp off`, decoded, with what became of them; the last 1,000. */
static void messages(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));

	(void)state;
	make_init("fd00::2");
	give(t, &in_tunnel);
	assert_null(node_rsvp(t->node)->journal);
	check_shown(t, "show rsvp messages", "none");
	check_shown(t, "debug rsvp on", "on");
	give(t, &in_tunnel); /* a copy: an offer is sent again */
	check_message(t, 2, 0, "accepted", "Path init", "\"peer\":\"fd00:1::5\",\"port\":\"p0\",\"along\":true");
	check_message(t, 2, 0, "accepted", "Path init",
		"\"object\":\"CBFC_OFFER\",\"path\":1,\"buffer\":null,\"rate_bps\":100000000000");
	check_message(t, 2, 0, "accepted", "Path init", "\"kind\":\"label\",\"number\":\"0x12345\"");
	check_message(t, 2, 1, "sent", "Reserve",
		"\"object\":\"CREDIT\",\"flags\":[\"offer\"],\"class\":3,\"unit\":11");
	check_message(t, 2, 1, "sent", "Reserve", "\"object\":\"RSVP_HOP\",\"address\":\"fd00::d\",\"lih\":\"0x101\"");
	m.hop.addr = address("fd00::66");
	give(t, &in_tunnel);
	check_message(t, 3, 2, "refused", "Path init", "\"why\":\"stranger\"");
	make_init("fd00::2");
	m.hop.lih = 0x303; /* the same path, of another previous hop */
	m.hop.addr = address("fd00::2");
	give(t, &in_tunnel);
	check_message(t, 4, 3, "without effect", "Path init", "\"why\":\"duplicate\"");
	check_shown(t, "show rsvp messages 1", "object SESSION, to fd00::2, protocol 17, port 4791");
	check_shown(t, "debug rsvp off", "off");
	give(t, &in_tunnel);
	check_message(t, 4, 3, "without effect", "Path init", "");
	check_shown(t, "debug rsvp on", "on");
	m.hop.addr = address("fd00::66");
	for (unsigned int i = 0; i < RSVP_RECORDS + 10; i++)
		give(t, &in_tunnel);
	check_message(t, RSVP_RECORDS, RSVP_RECORDS - 1, "refused", "Path init", "\"number\":1014");
	check_shown(t, "clear rsvp", "");
	check_shown(t, "show rsvp messages", "none");
	testbed_free(t);
}

/* Counters begin at 0 again, for users and not for metrics. */
static void cleared(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));
	json_t *j;

	(void)state;
	make_init("fd00::2");
	give(t, &in_tunnel);
	m.hop.addr = address("fd00::66");
	give(t, &in_tunnel);
	check_shown(t, "clear rsvp", "");
	give(t, &in_tunnel);
	j = shown_json(t, "show rsvp counters -j");
	assert_int_equal(1, json_integer_value(json_object_get(j, "messages_rx")));
	assert_int_equal(1, json_integer_value(json_object_get(j, "refused_stranger")));
	assert_int_equal(0, json_integer_value(json_object_get(j, "rx")));
	assert_int_equal(1, json_integer_value(json_object_get(j, "paths"))); /* a level, not a count */
	json_decref(j);
	j = shown_json(t, "show rsvp neighbors -j");
	assert_int_equal(0, json_integer_value(json_object_get(json_array_get(j, 0), "rx")));
	json_decref(j);
	check_metrics(t, "sluice_rsvp_rx_total{node=\"t\"} 3\n");
	check_metrics(t, "sluice_rsvp_neighbor_rx_total{node=\"t\",neighbor=\"fd00::1\"} 1\n");
	testbed_free(t);
}

/* A neighbour that acknowledges nothing is told of once, and once more when it is heard again; refusals, at once. */
static void alarms(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));

	(void)state;
	make_init("fd00::d");
	give(t, &in_tunnel);
	testbed_pass(t, 8 * NSEC_PER_SEC, 5 * NSEC_PER_MSEC); /* every copy of S */
	check_told(t, "neighbor fd00::1: it has stopped answering");
	check_metrics(t, "sluice_rsvp_neighbor_answers{node=\"t\",neighbor=\"fd00::1\"} 0\n");
	check_metrics(t, "sluice_rsvp_neighbor_unanswered_total{node=\"t\",neighbor=\"fd00::1\"} 1\n");
	testbed_pass(t, 1100 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	m.sender.src = address("fd00:2::5"); /* not permitted */
	m.sender.port++;
	m.hop.lih++;
	m.path.nonce++;
	give(t, &in_tunnel);
	check_told(t, "1 paths of sessions were refused here");
	testbed_pass(t, 1100 * NSEC_PER_MSEC, 5 * NSEC_PER_MSEC);
	m.hop.lih++;
	give(t, &in_tunnel);
	check_told(t, "1 paths of sessions were refused here");
	check(!strstr(told, "answer"), "told again: %s", told);
	check_metrics(t, "sluice_rsvp_neighbor_answers{node=\"t\",neighbor=\"fd00::1\"} 1\n");
	testbed_free(t);
}

/* The lcores are this thread: while it waits for them they cannot answer. */
static void trace_one(struct testbed *t)
{
	char err[256];

	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_leave(t->node->lcore[i]);
	check(node_trace_start(t->node, &(struct node_trace){.count = 1}, err, sizeof(err)) == 0, "%s", err);
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_enter(t->node->lcore[i]);
}

/* The trace of a message has what became of it, and the packets that it caused. */
static void traced(void **state)
{
	struct testbed *t = start(NODE CREDIT(ACCEPT));

	(void)state;
	trace_one(t);
	make_init("fd00::2");
	give(t, &in_tunnel);
	check_shown(t, "show trace", "what rsvp: Path init from fd00:1::5: accepted");
	check_shown(t, "show trace", "step sent, port p0");
	check_shown(t, "show trace", "step sent, port p1");
	trace_one(t);
	m.hop.addr = address("fd00::66");
	give(t, &in_tunnel);
	check_shown(t, "show trace", "what rsvp: Path init from fd00:1::5: refused, stranger");
	node_trace_clear(t->node);
	testbed_free(t);
}

/* Samples of sessions are there on demand only. */
static void session_metrics(void **state)
{
	struct testbed *t = start(NODE CREDIT(SESSION("a")));
	static struct rsvp_message init;

	(void)state;
	testbed_settle(t, 300);
	check_metrics_of(t, "a", "sluice_session_up{node=\"t\",session=\"a\"} 0\n");
	assert_true(next_sent(t, 1, IN_TUNNEL));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, false});
	check_metrics_of(t, "*", "sluice_session_up{node=\"t\",session=\"a\"} 1\n");
	check_metrics_of(t, "*", "sluice_session_credit_units{node=\"t\",session=\"a\"} 16\n");
	check_metrics_of(t, "b", "# EOF\n");
	assert_false(metrics_have(t, "b", "session=\"a\""));
	assert_false(metrics_have(t, NULL, "sluice_session_up"));
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(messages), cmocka_unit_test(cleared),
		cmocka_unit_test(alarms), cmocka_unit_test(traced), cmocka_unit_test(session_metrics)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
