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
#include "test/support/flows.h"
#include "test/support/testbed.h"
#include "service/pfc/pfc_ctl.h"

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

static void nothing(void *arg, const struct service_watchdog *w)
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
		service_watchdogs(t->node, nothing, NULL);
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
