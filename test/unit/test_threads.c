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
#include "metrics/openmetrics.h"
#include "pfc/pfc_frame.h"
#include "service/pfc/pfc_ctl.h"

/* DPDK reads the tail of a ring plainly; what the tail says is read with acquire when an element is taken. */
const char *__tsan_default_suppressions(void);

const char *__tsan_default_suppressions(void)
{
	return "race:rte_ring_empty\nrace:rte_ring_count\n";
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

struct threads {
	struct thread thread[8];
	uint16_t n;
	bool stop;
};

static void threads_start(struct threads *x, struct node *n)
{
	x->n = n->n_lcores;
	x->stop = false;
	assert_true(x->n <= ARRAY_LEN(x->thread));
	for (uint16_t i = 0; i < x->n; i++) {
		x->thread[i] = (struct thread){.lcore = n->lcore[i], .stop = &x->stop};
		assert_int_equal(pthread_create(&x->thread[i].id, NULL, poll_thread, &x->thread[i]), 0);
	}
}

static void threads_stop(struct threads *x)
{
	__atomic_store_n(&x->stop, true, __ATOMIC_RELAXED);
	for (uint16_t i = 0; i < x->n; i++)
		pthread_join(x->thread[i].id, NULL);
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
	struct threads threads;
	uint32_t sent[FLOWS] = {0}, next[FLOWS] = {0}, total = 0, got = 0, published = 0;
	struct snapshot_port_info info[2];
	uint64_t seed = 99;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		info[i].mac = t->port[i]->port.mac;
	threads_start(&threads, t->node);
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
	}
	for (unsigned int k = 0; k < 200000 && got < total; k++) {
		sched_yield();
		got += take_all(t, next);
	}
	for (unsigned int k = 0; node_reclaim(t->node) && k < 100000; k++)
		sched_yield();
	assert_int_equal(node_reclaim(t->node), 0);
	threads_stop(&threads);
	got += take_all(t, next);
	assert_int_equal(got, total);
	assert_true(published == 300);
	testbed_free(t);
}

#define LOSSLESS \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1, 2], worker: [2, 3]}\n" \
	"memory: {buffers: 32K, lossless: 4K, ring: 256}\n" \
	"ports:\n" \
	"  - {name: in, device: net_null0, side: wan, speed: 10G, rx-queues: 2, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     descriptors: {tx: 64}, pfc: {priorities: [3], learn: true, learn-tunnels: true, buffer: b}}\n" \
	"  - {name: out, device: net_null1, side: wan, speed: 10G, queue-limit: 256, addresses: " \
	"[\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:b0:01\"], buffer: b}}\n" \
	"buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 400K, forced: true, min-frame: 100}]\n" \
	"neighbors:\n" \
	"  - {port: out, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:01\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:501::/48\", port: out, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:502::/48\", port: out, nexthop: \"2001:db8:b::4\"}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n" \
	"remote-sids: [{sid: \"5f00:0:200::/48\", behavior: uN, owner: r2}]\n"

/* A packet of class 3 or of best effort, for a neighbour that answers or for one that is never found. */
static void receive_mixed(struct testbed *t, uint64_t *seed, uint32_t sequence)
{
	uint32_t flow = (uint32_t)unit_random(seed);
	uint8_t frame[512];
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(frame + sizeof(struct eth_hdr));
	const char *to = flow % 16 ? "5f00:0:100:501:300::" : "5f00:0:100:502:300::";
	uint8_t class = flow % 16 && flow & 0x40 ? 3 : 0;
	uint32_t n = testbed_frame(frame, &t->port[0]->port.mac, to, (uint16_t)flow, sequence, 100);

	ip->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), flow & 0xff);
	((uint8_t *)&ip->src)[15] = (uint8_t)(flow >> 8 & 31); /* several sources, which have shares of a buffer */
	fake_port_receive(t->port[0], flow & 1, frame, n, 0);
}

/* The neighbour of `out` pauses class 3 for `quanta`; 0: resumes. */
static void pause_class(struct testbed *t, uint16_t quanta)
{
	static const struct eth_addr peer = {{0x02, 0, 0, 0, 0xb0, 1}};
	struct pfc_request r = {.enable = 1 << 3, .time = {[3] = quanta}};
	struct pfc_frame frame;

	pfc_write(&frame, &peer, &r);
	fake_port_receive(t->port[1], 0, &frame, sizeof(frame), 0);
}

static unsigned int shares_used(const struct node *n)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < NODE_SHARES; i++)
		used += service_pfc(n)->rx[0].learner->share[i].began != 0;
	return used;
}

/*
 * Management reads all that it can read (metrics, balance, watchdogs) while lcores receive, queue, pause, learn shares
 * of sources and hold packets for a neighbour. ThreadSanitizer finds what is read or written plainly.
 */
static void threads_and_readers(void **state)
{
	struct testbed *t = testbed_new(LOSSLESS);
	struct lcore_stats *sum = aligned_alloc(CACHE_LINE_BYTES, sizeof(*sum));
	FILE *out = fopen("/dev/null", "w");
	struct threads threads;
	struct node_balance b = {0};
	uint64_t seed = 7;

	(void)state;
	assert_non_null(sum);
	assert_non_null(out);
	threads_start(&threads, t->node);
	/* lcores that get little of the CPU receive less in a round, not less in all */
	for (unsigned int round = 0; round < 200 || (b.rx <= 9000 && round < 4000); round++) {
		struct sent_frame *f;

		for (unsigned int k = 0; k < 48; k++)
			receive_mixed(t, &seed, round * 48 + k);
		pause_class(t, round % 4 < 2 ? 0xffff : 0);
		openmetrics_print(t->node, &(struct openmetrics_how){.open = true}, out);
		node_balance(t->node, &b);
		node_stats(t->node, sum);
		service_watchdogs(t->node, nothing, NULL);
		for (unsigned int port = 0; port < 2; port++)
			while ((f = fake_port_take(t->port[port])))
				free(f);
	}
	threads_stop(&threads);
	node_balance(t->node, &b);
	assert_true(b.rx > 9000);
	assert_true(b.missing == 0);
	assert_true(t->node->egress[1].queued_packets > 0);
	assert_true(shares_used(t->node) > 16);
	fclose(out);
	free(sum);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_snapshots),
		cmocka_unit_test(threads_and_readers),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
