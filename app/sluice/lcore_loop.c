/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The endless loop of each lcore, and the only place where the data path's clock is read. Runs on every lcore except
 * the management thread's.
 */
#include <errno.h>
#include <sched.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include "lcores.h"
#include "machine.h"
#include "node/node_ctl.h"

#define SLEEP_FIRST_NS 1000 /* doubled after every empty pass */
#define EMPTY_PASSES 64	    /* before the first sleep */

/* Written once at start, read by all lcores. `stop` is written by the management thread; relaxed. */
static struct {
	uint64_t base, hz;
	bool stop, share;
	uint32_t policy; /* enum cfg_idle_policy */
	uint64_t max_sleep_ns;
} loop;

void clock_init(void)
{
	loop.hz = rte_get_tsc_hz();
	loop.base = rte_rdtsc() - loop.hz / 1000;
}

uint64_t clock_now(void)
{
	return (uint64_t)((__uint128_t)(rte_rdtsc() - loop.base) * NSEC_PER_SEC / loop.hz);
}

uint64_t clock_wall_offset(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec - clock_now();
}

/* After `empty` consecutive passes without work: sleep by the idle policy, until `next` at most. Returns ns slept. */
static uint64_t idle(unsigned int empty, uint64_t now, uint64_t next)
{
	struct timespec t = {0};
	uint64_t ns;

	if (loop.policy == IDLE_POLL || empty < EMPTY_PASSES) {
		if (loop.share)
			sched_yield();
		else
			rte_pause();
		return 0;
	}
	ns = SLEEP_FIRST_NS << MIN_OF(empty - EMPTY_PASSES, 20u);
	ns = MIN_OF(ns, loop.max_sleep_ns);
	if (next != TIME_NEVER)
		ns = next > now ? MIN_OF(ns, next - now) : 0;
	t.tv_nsec = (long)ns;
	if (ns)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return clock_now() - now;
}

static int run(void *arg)
{
	struct node_lcore *l = arg;
	unsigned int empty = 0;
	uint64_t now, next;

	node_lcore_enter(l);
	while (!__atomic_load_n(&loop.stop, __ATOMIC_RELAXED)) {
		now = clock_now();
		if (node_lcore_poll(l, now, &next)) {
			empty = 0;
			continue;
		}
		node_lcore_slept(l, idle(empty++, now, next));
	}
	node_lcore_leave(l);
	return 0;
}

int lcores_launch(struct node *n, const struct config *c)
{
	loop.stop = false;
	loop.share = lcores_share_cpus(c);
	loop.policy = c->idle.policy;
	loop.max_sleep_ns = c->idle.max_sleep_us * NSEC_PER_USEC;
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		int rc = rte_eal_remote_launch(run, n->lcore[i], n->lcore[i]->id);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void lcores_stop(void)
{
	__atomic_store_n(&loop.stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
}
