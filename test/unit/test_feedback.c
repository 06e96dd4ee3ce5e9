/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole nodes whose flows leave congested paths: one of two ways out is slow, paused or dead. Every frame that leaves is looked
 * at: packets of a flow must leave in order.
 */
#include "test/support/unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/command.h"
#include "node/node_ctl.h"
#include "pfc/pfc_hold.h"
#include "service/steer/service_steer.h"
#include "test/support/conf.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"
#include "wire/udp.h"

#define HEAD \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: dc, device: net_null0, side: dc, vrf: ai, addresses: [\"2001:db8:1::1/64\"]}\n" \
		"  - {name: s5, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\"]}\n" \
		"  - {name: s6, device: net_null2, side: wan, speed: 10G, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"vrfs: [{name: ai, routes: [{prefix: \"2001:db8:3::/64\", policy: p}]}]\n" \
		"neighbors: [{port: s5, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"},\n" \
		"  {port: s6, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:01\"}]\n" \
		"routes: [{prefix: \"5f00:0:500::/48\", port: s5, nexthop: \"2001:db8:b::3\"},\n" \
		"  {prefix: \"5f00:0:600::/48\", port: s6, nexthop: \"2001:db8:c::3\"}]\n"
#define PATHS \
	"paths: [{name: five, segments: [\"5f00:0:500::\", \"5f00:0:300::\"]},\n" \
	"   {name: six, segments: [\"5f00:0:600::\", \"5f00:0:300::\"]}]}\n"
#define NODE(keys) \
	HEAD "policies:\n - {name: p, flows: 1K, feedback: yes, " PATHS "steering: {interval: 200us, " keys "}\n"
#define FLOW(sport) "vrf=ai,src=2001:db8:1::11,dst=2001:db8:3::33,sport=" sport

enum { DC, S5, S6 };
#define FLOWS 16
#define FIRST 1000 /* source port of the first flow */
#define STEP 10000 /* ns */
#define BURST 16
#define IDLE 1000000 /* ns: more than the rings of a device hold */
#define ROUND 20     /* steps in which each flow sends once: 200 us */

struct traffic {
	struct testbed *t;
	uint32_t next[FLOWS], last[FLOWS]; /* sequence number to send; of the last packet that left, plus 1 */
	uint64_t heard[FLOWS];		   /* time at which it left */
	unsigned int on[FLOWS];		   /* port that it left by */
	unsigned int reordered;
	unsigned int every; /* rounds from a burst to the next one, whatever has left; 0: they wait for each other */
	unsigned int burst;
	bool lossy;		/* more is sent than queues hold */
	unsigned int per_round; /* packets that S5 sends in a round at most */
};

static void send(struct traffic *w, unsigned int flow)
{
	uint8_t frame[256], out[256] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)out;
	uint32_t n = testbed_frame(frame, &w->t->port[DC]->port.mac, "5f00::", (uint16_t)(FIRST + flow), w->next[flow],
		160);
	struct ipv6_hdr *inner = (struct ipv6_hdr *)(eth + 1);
	struct ip_addr a;
	uint32_t sequence = w->next[flow]++;

	memcpy(out, frame, sizeof(*eth));
	memcpy(inner, frame + sizeof(*eth) + 40, n - sizeof(*eth) - 40);
	assert_int_equal(ip_addr_parse("2001:db8:3::33", &a), 0);
	inner->dst = a.v6;
	memcpy((uint8_t *)(inner + 1) + sizeof(struct udp_hdr), &sequence, sizeof(sequence));
	fake_port_receive(w->t->port[DC], 0, out, n - 40, 0);
}

static void look(struct traffic *w, unsigned int port)
{
	for (struct sent_frame *f; (f = fake_port_take(w->t->port[port])); free(f)) {
		const struct ipv6_hdr *outer = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));
		const struct udp_hdr *udp = (const struct udp_hdr *)(outer + 2);
		unsigned int flow = be16_get(udp->src_port) - FIRST;
		uint32_t sequence;

		assert_true(flow < FLOWS);
		/* a packet has the headers of the path that it leaves by */
		assert_int_equal(outer->dst.b[4], port == S5 ? 5 : 6);
		memcpy(&sequence, udp + 1, sizeof(sequence));
		w->reordered += sequence < w->last[flow];
		w->last[flow] = MAX_OF(w->last[flow], sequence + 1);
		w->on[flow] = port;
		w->heard[flow] = w->t->now;
	}
}

/* Is it time for a burst of a flow? So long after all of the last one has left, or in every so manyth round. */
static bool is_due(const struct traffic *w, unsigned int flow, unsigned int round)
{
	if (w->every)
		return round % w->every == 0;
	return w->next[flow] == w->last[flow] && w->t->now >= w->heard[flow] + IDLE;
}

/* Let so many rounds pass. The port S5 is as slow as per_round says. */
static void rounds(struct traffic *w, unsigned int n)
{
	struct fake_port *slow = w->t->port[S5];

	for (unsigned int i = 0; i < n * ROUND; i++) {
		if (w->per_round == UINT32_MAX)
			slow->tx_allowed = UINT64_MAX;
		else
			slow->tx_allowed = (i + 1) * w->per_round / ROUND - i * w->per_round / ROUND;
		for (unsigned int k = i % ROUND; k < FLOWS; k += ROUND)
			for (unsigned int left = is_due(w, k, i / ROUND) ? w->burst : 0; left; left--)
				send(w, k);
		testbed_pass(w->t, STEP, STEP / 4);
		look(w, S5);
		look(w, S6);
	}
}

static unsigned int count(const struct traffic *w, unsigned int port)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < FLOWS; i++)
		n += w->on[i] == port;
	return n;
}

static int try(struct testbed *t, const char *line)
{
	struct command_host host = {.node = t->node};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int rc = command_run(&host, line, f);

	fclose(f);
	free(text);
	return rc;
}

static void place(struct testbed *t, const char *how, unsigned int flow, const char *path)
{
	char line[256];

	snprintf(line, sizeof(line), "path %s " FLOW("%u") " p %s", how, FIRST + flow, path);
	check(try(t, line) == 0, "%s", line);
}

/* Half of the flows on each path, and all of them known. */
static struct traffic begin(const char *yaml)
{
	struct traffic w = {.t = testbed_new(yaml), .per_round = UINT32_MAX, .burst = BURST};

	testbed_settle(w.t, 100);
	for (unsigned int i = 0; i < FLOWS; i++)
		place(w.t, "place", i, i % 2 ? "six" : "five");
	rounds(&w, 10);
	assert_int_equal(count(&w, S5), FLOWS / 2);
	assert_int_equal(steer_counters(w.t->node).moved, 0);
	return w;
}

static void end(struct traffic *w)
{
	w->per_round = UINT32_MAX;
	w->every = 0;
	rounds(w, 12);
	assert_int_equal(w->reordered, 0);
	for (unsigned int i = 0; i < FLOWS && !w->lossy; i++)
		check(w->last[i] + BURST >= w->next[i], "flow %u: %u of %u left", i, w->last[i], w->next[i]);
	testbed_free(w->t);
}

/* A way out becomes slow: some flows leave it, in order, as many as it cannot carry; then nothing moves any more. */
static void slow(void **state)
{
	struct traffic w = begin(NODE("gap: 50us, queue-limit: 2ms"));
	struct flow_counters sum;

	(void)state;
	w.per_round = 4;
	rounds(&w, 100);
	sum = steer_counters(w.t->node);
	check(count(&w, S5) >= 3 && count(&w, S5) <= 6, "%u flows stayed", count(&w, S5));
	assert_true(sum.moved >= 2 && sum.moved <= FLOWS / 2);
	assert_int_equal(sum.rescued, 0);
	rounds(&w, 200);
	assert_int_equal(steer_counters(w.t->node).moved, sum.moved);
	check_shown(w.t, "show paths -j", "\"last_move\": \"to six: congested, score ");
	check_shown(w.t, "show paths -j", "\"last_move\": \"from five: congested, score ");
	check_shown(w.t, "show flows -j", "\"moves\": 1");
	check_metrics(w.t, "sluice_path_flows_moved_away_total{node=\"t\",policy=\"p\",path=\"five\"} ");
	/* a reload keeps what has moved; a placement counts more */
	{
		unsigned int stayed = count(&w, S5);
		char err[256] = "";

		check(node_apply(w.t->node, conf_load(CONF_CHECK, NODE("gap: 50us, queue-limit: 2ms")), err,
			      sizeof(err)) == 0,
			"%s", err);
		w.per_round = UINT32_MAX;
		rounds(&w, 12);
		assert_int_equal(count(&w, S5), stayed);
		for (unsigned int i = 0; i < FLOWS; i++)
			place(w.t, "place", i, "six");
		for (unsigned int i = 0; i < FLOWS; i++)
			place(w.t, "place", i, "five");
		rounds(&w, 12);
		assert_int_equal(count(&w, S5), FLOWS);
		w.reordered = 0;
	}
	end(&w);
}

/*
 * Senders that do not wait for what is queued, with gaps that are long enough for paths alone: nothing is overtaken, though the way
 * is congested. First the queue is never empty, then there are packets only where the device has not accepted them.
 */
static void waits(void **state)
{
	static const unsigned int every[] = {1, 10}, burst[] = {1, BURST}, per_round[] = {4, 8};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(every); i++) {
		struct traffic w = begin(NODE("gap: 50us, queue-limit: 2us"));

		w.lossy = true;
		w.every = every[i];
		w.burst = burst[i];
		w.per_round = per_round[i];
		rounds(&w, 100);
		check(w.reordered == 0, "%u packets overtook others", w.reordered);
		check(steer_counters(w.t->node).not_safe > 0, "%u moves were not safe",
			(unsigned int)steer_counters(w.t->node).not_safe);
		end(&w);
	}
}

/* With the signal off nothing moves; pinned flows never do. */
static void stays(void **state)
{
	struct traffic w = begin(
		HEAD "policies:\n - {name: p, flows: 1K, feedback: yes, " PATHS
		     "steering: {interval: 200us, queue-limit: off, pause-limit: off, credit-limit: off}\n");

	(void)state;
	w.per_round = 4;
	rounds(&w, 50);
	assert_int_equal(steer_counters(w.t->node).moved, 0);
	end(&w);
	w = begin(NODE("gap: 50us, queue-limit: 2ms")); /* of `slow`, in which they would move */
	for (unsigned int i = 0; i < FLOWS; i += 2)
		place(w.t, "pin", i, "five");
	w.per_round = 4;
	rounds(&w, 100);
	assert_int_equal(count(&w, S5), FLOWS / 2);
	assert_int_equal(steer_counters(w.t->node).moved, 0);
	end(&w);
}

/* A pause of the class on one way out is a signal of its own, and nobody moves while its packets wait. */
static void paused(void **state)
{
	struct traffic w = begin(NODE("gap: 50us, queue-limit: 1s, pause-limit: 20"));
	struct pfc_party party = {.sid = 1};
	struct pfc_pause pause = {.enable = 0xff};

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		/* half of the time */
		for (unsigned int k = 0; k < 8; k++)
			pause.ns[k] = i % 2 ? 0 : 400000;
		assert_true(egress_pause(&w.t->node->egress[S5], &w.t->node->worker[0].ctx, &party, PFC_ALL_SLICES,
			&pause));
		rounds(&w, 1);
	}
	check(steer_counters(w.t->node).moved >= 2, "%u flows moved", (unsigned int)steer_counters(w.t->node).moved);
	check(count(&w, S5) < FLOWS / 2, "%u flows stayed", count(&w, S5));
	end(&w);
}

/*
 * A link fails: all flows leave with their next packets, whatever their gap, and stay where they are when it returns. When the
 * other one fails, too, there is an alarm, and none when it is back.
 */
static void fails(void **state)
{
	struct traffic w = begin(NODE("gap: 10ms, queue-limit: 2us"));

	(void)state;
	port_set_link(&w.t->port[S5]->port, false);
	rounds(&w, 2);
	assert_int_equal(count(&w, S6), FLOWS);
	assert_int_equal(steer_counters(w.t->node).rescued, FLOWS / 2);
	check_shown(w.t, "show paths -j", "\"last_move\": \"to six: failed");
	port_set_link(&w.t->port[S5]->port, true);
	testbed_pass(w.t, 300 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	rounds(&w, 2);
	assert_int_equal(count(&w, S6), FLOWS);
	port_set_link(&w.t->port[S5]->port, false);
	port_set_link(&w.t->port[S6]->port, false);
	testbed_pass(w.t, NSEC_PER_MSEC, STEP);
	check_metrics(w.t, "sluice_path_no_way_out{node=\"t\",policy=\"p\",path=\"six\"} 1\n");
	port_set_link(&w.t->port[S6]->port, true);
	testbed_pass(w.t, 300 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	check_metrics(w.t, "sluice_path_no_way_out{node=\"t\",policy=\"p\",path=\"six\"} 0\n");
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow),
		cmocka_unit_test(waits),
		cmocka_unit_test(stays),
		cmocka_unit_test(paused),
		cmocka_unit_test(fails),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("feedback", tests, NULL, NULL);
}
