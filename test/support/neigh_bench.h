/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A neighbour table with its own clock, whose messages and events are recorded.
 *
 * Each line of `said` is the time in ms, what happened, port and address: "0 ask 1 fe80::5 all" (solicited by
 * multicast; or a MAC, that station), "250 set 1 fe80::5 02:00:00:00:05:00" (the egress may send there),
 * "3000 tell 1 fe80::5 failed" (or stale, or forget).
 */
#ifndef SUPPORT_NEIGH_BENCH_H
#define SUPPORT_NEIGH_BENCH_H

#include "base/compiler.h"
#include "neigh/neigh_cache.h"

#define MS NSEC_PER_MSEC

struct bench {
	struct neigh_cache *t;
	uint64_t now, next;
	char said[4096];
};

/* 1 s between solicitations, three of them; reachable for 30 s, stale for 600 s; four learnt entries. */
extern const struct neigh_limits bench_limits;
extern const struct eth_addr bench_mac5, bench_mac6; /* 02:00:00:00:05:00 and :06:00 */

/* Fixture of a cmocka test: *state is a struct bench with an empty table at time 0. */
int bench_setup(void **state);
int bench_teardown(void **state);
#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, bench_setup, bench_teardown)

/* Compare the records since the last call with this text. */
void bench_expect(struct bench *b, const char *want);

/* Let time pass, doing everything when it is due and not a nanosecond later. */
void bench_run_to(struct bench *b, uint64_t ms);

struct bench_entry {
	uint16_t port;
	struct ip_addr addr;
	struct neigh_info info;
	bool found;
};
struct bench_entry bench_entry(struct bench *b, uint16_t port, const char *addr);
void bench_expect_state(struct bench *b, uint16_t port, const char *addr, enum neigh_state state);

/* neigh_cache_ask, neigh_cache_keep and neigh_cache_used, now. */
int bench_ask(struct bench *b, uint16_t port, const char *addr);
void bench_keep(struct bench *b, uint16_t port, const char *addr, bool wanted);
void bench_used(struct bench *b, uint16_t port, const char *addr);

/* neigh_cache_heard; mac NULL: the message had none. */
enum {
	SOLICITED = 1,
	OVERRIDE = 2,
	CREATE = 4,
};
void bench_heard(struct bench *b, uint16_t port, const char *addr, const struct eth_addr *mac, unsigned int flags);

/* fe80::5 on port 1, confirmed with bench_mac5 just now, or waiting in another state; `said` is empty then. */
void bench_make_reachable(struct bench *b);
void bench_make_state(struct bench *b, enum neigh_state state);

#endif
