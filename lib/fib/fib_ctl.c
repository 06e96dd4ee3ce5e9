/* SPDX-License-Identifier: BSD-3-Clause */
/* Building and freeing tables: the management thread. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_errno.h>

#include "base/compiler.h"
#include "base/dpdk_compat.h"
#include "fib/fib_priv.h"

#define TARGETS_2B ((1u << 15) - 1)
#define TBL24_ENTRIES (1u << 24)

static int by_prefix(const void *a, const void *b)
{
	return ip_prefix_compare(&((const struct fib_route *)a)->prefix, &((const struct fib_route *)b)->prefix);
}

static int by_value(const void *a, const void *b)
{
	target_t x = *(const target_t *)a, y = *(const target_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Second-level tables of 256 entries that the routes need: one for every different prefix of 24, 32, 40 ...
 * bits with a longer route inside. Routes must be sorted.
 */
static uint32_t count_tbl8(const struct fib_route *routes, size_t n)
{
	const struct fib_route *last[16] = {NULL};
	uint32_t count = 0;

	for (size_t i = 0; i < n; i++) {
		for (unsigned int level = 0, bits = 24; bits < routes[i].prefix.len; level++, bits += 8) {
			if (!last[level] || memcmp(last[level]->prefix.addr.b, routes[i].prefix.addr.b, bits / 8) != 0)
				count++;
			last[level] = &routes[i];
		}
	}
	return count;
}

static int collect_targets(struct fib *f, const struct fib_route *routes, size_t n)
{
	uint32_t kept = 1;

	f->targets = calloc(n + 1, sizeof(*f->targets));
	f->routes = calloc(n + 1, sizeof(*f->routes));
	if (!f->targets || !f->routes)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		f->targets[i + 1] = routes[i].target;
	qsort(f->targets + 1, n, sizeof(*f->targets), by_value);
	for (size_t i = 1; i <= n; i++)
		if (f->targets[i] != f->targets[kept - 1])
			f->targets[kept++] = f->targets[i];
	f->n_targets = kept;
	return 0;
}

static uint64_t index_of(const struct fib *f, target_t t)
{
	const target_t *at = bsearch(&t, f->targets + 1, f->n_targets - 1, sizeof(t), by_value);

	return at ? (uint64_t)(at - f->targets) : 0;
}

static int create(struct fib *f, int family, size_t n, int fast, uint32_t tbl8, int socket)
{
	int small = f->n_targets <= TARGETS_2B;
	char name[32];

	/* DPDK wants a unique name for its list of tables; nobody looks one up by it */
	snprintf(name, sizeof(name), "fib%" PRIxPTR, (uintptr_t)f);
	if (family == 4) {
		struct rte_fib_conf conf = {
			.type = fast ? RTE_FIB_DIR24_8 : RTE_FIB_DUMMY,
			.max_routes = (int)n + 16,
			.dir24_8 = {.nh_sz = small ? RTE_FIB_DIR24_8_2B : RTE_FIB_DIR24_8_4B, .num_tbl8 = tbl8},
		};

		f->v4 = rte_fib_create(name, socket, &conf);
	} else {
		struct rte_fib6_conf conf = {
			.type = fast ? RTE_FIB6_TRIE : RTE_FIB6_DUMMY,
			.max_routes = (int)n + 16,
			.trie = {.nh_sz = small ? RTE_FIB6_TRIE_2B : RTE_FIB6_TRIE_4B, .num_tbl8 = tbl8},
		};

		f->v6 = rte_fib6_create(name, socket, &conf);
	}
	return f->v4 || f->v6 ? 0 : rte_errno ? -rte_errno : -ENOMEM;
}

static void destroy(struct fib *f)
{
	rte_fib_free(f->v4);
	rte_fib6_free(f->v6);
	f->v4 = NULL;
	f->v6 = NULL;
}

static int fill(struct fib *f, const struct fib_route *routes, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		const struct ip_prefix *p = &routes[i].prefix;
		uint64_t index = index_of(f, routes[i].target);

		if (f->v4)
			rc = rte_fib_add(f->v4, ip_addr_v4(&p->addr), p->len, index);
		else
			rc = rte_fib6_add(f->v6, COMPAT_IPV6(p->addr.b), p->len, index);
	}
	return rc;
}

struct fib *fib_build(int family, struct fib_route *routes, size_t n, int fast, int socket)
{
	struct fib *f = calloc(1, sizeof(*f));
	uint32_t tbl8;
	int rc;

	if (!f || collect_targets(f, routes, n) < 0) {
		fib_free(f);
		errno = ENOMEM;
		return NULL;
	}
	qsort(routes, n, sizeof(*routes), by_prefix);
	f->family = family;
	f->owners = 1;
	f->n_routes = n;
	memcpy(f->routes, routes, n * sizeof(*routes));
	/* DPDK reserves second-level tables more generously than it uses them: ask for more when it says so */
	for (tbl8 = count_tbl8(routes, n) + 16;; tbl8 *= 2) {
		rc = create(f, family, n, fast, tbl8, socket);
		if (rc == 0)
			rc = fill(f, routes, n);
		if (rc != -ENOSPC || tbl8 > (1u << 24))
			break;
		destroy(f);
	}
	if (rc < 0) {
		fib_free(f);
		errno = -rc;
		return NULL;
	}
	return f;
}

struct fib *fib_ref(struct fib *f)
{
	if (f)
		f->owners++;
	return f;
}

void fib_free(struct fib *f)
{
	if (!f || (f->owners && --f->owners))
		return;
	destroy(f);
	free(f->targets);
	free(f->routes);
	free(f);
}

size_t fib_size(int family, struct fib_route *routes, size_t n, int fast)
{
	size_t tree = (n * 2 + 64) * 128, entry = n < TARGETS_2B ? 2 : 4;

	(void)family;
	if (!fast)
		return tree;
	qsort(routes, n, sizeof(*routes), by_prefix);
	return tree + TBL24_ENTRIES * entry + (size_t)(count_tbl8(routes, n) + 16) * 2 * 256 * entry;
}

const struct fib_route *fib_routes(const struct fib *f, size_t *n)
{
	*n = f ? f->n_routes : 0;
	return f ? f->routes : NULL;
}

bool fib_holds(const struct fib *f, int family, struct fib_route *routes, size_t n)
{
	if (!f || f->family != family || f->n_routes != n)
		return false;
	qsort(routes, n, sizeof(*routes), by_prefix);
	for (size_t i = 0; i < n; i++)
		if (routes[i].target != f->routes[i].target ||
			!ip_prefix_equal(&routes[i].prefix, &f->routes[i].prefix))
			return false;
	return true;
}
