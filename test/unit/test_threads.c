/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node whose lcores are real threads, while snapshots are exchanged under them and management reads what they write.
 * scripts/test runs it under ThreadSanitizer, too.
 */
#include "test/support/unit.h"

#include <sched.h>
#include <stdlib.h>

#include <rte_lcore.h>

#include "config/config.h"
#include "test/support/conf.h"
#include "test/support/testbed.h"
#include "service/pfc/pfc_ctl.h"

#define NODE_OF(lcores) \
	TESTBED_NODE \
	"lcores: " lcores "\n" \
	"memory: {buffers: 48K, ring: 256}\n" \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, rx-queues: 2, queue-limit: 2K, addresses: " \
	"[\"2001:db8:a::2/64\"]}\n" \
	"  - {name: p1, device: net_null1, side: wan, queue-limit: 1K, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n"

#define TWO_BY_TWO NODE_OF("{control: 0, rx: [1, 2], worker: [3, 4]}")
#define FLOWS 64

static const char *const out_of[2] = {"5f00:0:100:400:300::", "5f00:0:100:500:300::"};

/* Flow f comes in by queue f % 2 of p0 and leaves by port f / 2 % 2. */
static void receive(struct testbed *t, uint16_t flow, uint32_t sequence)
{
	uint8_t frame[256];
	uint32_t n = testbed_frame(frame, &t->port[0]->port.mac, out_of[flow / 2 % 2], flow, sequence, 100);

	fake_port_receive(t->port[0], flow % 2, frame, n, 0);
}

/* Order of every flow, and its port; returns frames taken. */
static uint32_t take_all(struct testbed *t, uint32_t *next)
{
	struct sent_frame *f;
	uint32_t n = 0;

	for (uint16_t port = 0; port < 2; port++) {
		while ((f = fake_port_take(t->port[port]))) {
			uint16_t flow;
			uint32_t sequence;

			testbed_frame_read(f, &flow, &sequence);
			check(flow / 2 % 2 == port, "flow %u left by port %u", flow, port);
			check(sequence == next[flow], "flow %u: %u came, %u was due", flow, sequence, next[flow]);
			next[flow]++;
			n++;
			free(f);
		}
	}
	return n;
}

struct thread {
	pthread_t id;
	struct node_lcore *lcore;
	const bool *stop;
};

static void *poll_thread(void *arg)
{
	struct thread *x = arg;
	uint64_t now = NSEC_PER_SEC, next;

	rte_thread_register();
	while (!__atomic_load_n(x->stop, __ATOMIC_RELAXED)) {
		now += 1000;
		if (!node_lcore_poll(x->lcore, now, &next))
			sched_yield();
	}
	rte_thread_unregister();
	return NULL;
}

static void nothing(void *arg, const struct node_watchdog *w)
{
	(void)arg;
	(void)w;
}

/* Two files that differ in neighbours' MACs and in the number of everything. */
#define OTHER TWO_BY_TWO "  \nvrfs: [{name: red}]\n"

/*
 * Two rx and two worker threads, one tx queue a port; the snapshot under them is exchanged all the time.
 * Order of flows, balance, and no use of freed memory (sanitizer builds).
 */
static void threads_and_snapshots(void **state)
{
	struct testbed *t = testbed_new(TWO_BY_TWO);
	uint32_t sent[FLOWS] = {0}, next[FLOWS] = {0}, total = 0, got = 0, published = 0;
	struct snapshot_port_info info[2];
	struct thread thread[8];
	bool stop = false;
	uint64_t seed = 99;
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));

	(void)state;
	assert_non_null(sum);
	for (unsigned int i = 0; i < 2; i++)
		info[i].mac = t->port[i]->port.mac;
	for (uint16_t i = 0; i < t->node->n_lcores; i++) {
		thread[i] = (struct thread){.lcore = t->node->lcore[i], .stop = &stop};
		assert_int_equal(pthread_create(&thread[i].id, NULL, poll_thread, &thread[i]), 0);
	}
	for (unsigned int round = 0; round < 300; round++) {
		struct config *c = conf_load(CONF_CHECK, round % 2 ? TWO_BY_TWO : OTHER);
		char err[256];
		struct snapshot *s;

		for (unsigned int k = 0; k < 64; k++) {
			uint16_t flow = (uint16_t)(unit_random(&seed) % FLOWS);

			receive(t, flow, sent[flow]++);
			total++;
		}
		s = snapshot_build(&t->node->registry, c, info, t->node->snapshot, err, sizeof(err));
		assert_non_null(s);
		node_publish(t->node, s, c);
		published++;
		/* grace periods are looked at, never waited for; the threads end them in their own time */
		for (unsigned int k = 0; node_reclaim(t->node) > 20 && k < 100000; k++)
			sched_yield();
		got += take_all(t, next);
		/* what management reads while lcores write it; node_balance is exact only while nothing is polled */
		node_stats(t->node, sum);
		node_watchdogs(t->node, nothing, NULL);
	}
	for (unsigned int k = 0; k < 200000 && got < total; k++) {
		sched_yield();
		got += take_all(t, next);
	}
	for (unsigned int k = 0; node_reclaim(t->node) && k < 100000; k++)
		sched_yield();
	assert_int_equal(node_reclaim(t->node), 0);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		pthread_join(thread[i].id, NULL);
	got += take_all(t, next);
	assert_int_equal(got, total);
	assert_true(published == 300);
	free(sum);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_snapshots),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
