/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Longest-prefix match over one table of one family, built once and never changed: a changed table is a new fib.
 * One form serves all sizes: memory follows the number of routes (a few hundred bytes for ten routes), and a lookup
 * takes one step for each 6 bits in which routes differ. fib_priv.h describes it, ADR 4 says why it is our own.
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
 * Build a table of `family` from `n` routes, all of that family, prefixes all different; sorts them in place. NULL: out of
 * memory. Control code, one thread; the caller owns it.
 */
struct fib *fib_build(int family, struct fib_route *routes, size_t n);

/* Snapshots share unchanged tables: one more owner, one owner less; the last one frees. NULL is fine. */
struct fib *fib_ref(struct fib *f);
void fib_free(struct fib *f);

/*
 * Move the table to a NUMA node. And a copy for lookups alone on another node, which is made once and belongs to the table; NULL:
 * out of memory, or f is NULL. Control code, one thread.
 */
void fib_place(struct fib *f, int node);
struct fib *fib_near(struct fib *f, int node);

/* The NUMA node that a table was made for; -1: none. */
int fib_node(const struct fib *f);

/* Bytes of memory that the table takes; 0 for NULL. */
size_t fib_bytes(const struct fib *f);

/* The routes of the table, sorted by prefix; owned by it. NULL has none. */
const struct fib_route *fib_routes(const struct fib *f, size_t *n);

/* Would fib_build make just this table again? Sorts the routes in place. */
bool fib_holds(const struct fib *f, int family, struct fib_route *routes, size_t n);

/* Any lcore. A NULL table has no routes. */
target_t fib_lookup4(const struct fib *f, uint32_t host_order);
target_t fib_lookup6(const struct fib *f, const struct ipv6_addr *a);

#endif
