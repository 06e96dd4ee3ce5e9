/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Longest-prefix match over one table of one family: DPDK's rte_fib and rte_fib6, built once and never
 * changed. A changed table is a new fib.
 */
#ifndef FIB_FIB_H
#define FIB_FIB_H

#include <stddef.h>

#include "fib/target.h"
#include "wire/addr.h"

struct fib;

struct fib_route {
	struct ip_prefix prefix;
	target_t target;
};

/*
 * Build a table of `family` from `n` routes, all of that family, prefixes all different; sorts them in place.
 * fast: DIR-24-8 (IPv4) or a trie of 24-8-8... (IPv6), at least 32 MB each; else a radix tree. NULL with errno: ENOMEM, or
 * what DPDK said. Control code, one thread; the caller owns it.
 */
struct fib *fib_build(int family, struct fib_route *routes, size_t n, int fast, int socket);

/* Snapshots share unchanged tables: one more owner, one owner less; the last one frees. NULL is fine. */
struct fib *fib_ref(struct fib *f);
void fib_free(struct fib *f);

/* Bytes of DPDK memory that fib_build would take at most for these routes; sorts them in place. */
size_t fib_size(int family, struct fib_route *routes, size_t n, int fast);

/* The routes of the table, sorted by prefix; owned by it. NULL has none. */
const struct fib_route *fib_routes(const struct fib *f, size_t *n);

/* Would fib_build make just this table again? Sorts the routes in place. */
bool fib_holds(const struct fib *f, int family, struct fib_route *routes, size_t n);

/* Any lcore. A NULL table has no routes. */
target_t fib_lookup4(const struct fib *f, uint32_t host_order);
target_t fib_lookup6(const struct fib *f, const struct ipv6_addr *a);

#endif
