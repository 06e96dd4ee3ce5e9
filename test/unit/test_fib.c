/* SPDX-License-Identifier: BSD-3-Clause */
/* Longest-prefix match against plain models: a look at every route, and one search for each prefix length. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "fib/fib.h"

#define PROBES 20000

static target_t look_at_all(const struct fib_route *routes, size_t n, const struct ip_addr *a)
{
	target_t best = 0;
	int len = -1;

	for (size_t i = 0; i < n; i++) {
		if (routes[i].prefix.len > len && ip_prefix_contains(&routes[i].prefix, a)) {
			best = routes[i].target;
			len = routes[i].prefix.len;
		}
	}
	return best;
}

static int by_prefix(const void *a, const void *b)
{
	return ip_prefix_compare(&((const struct fib_route *)a)->prefix, &((const struct fib_route *)b)->prefix);
}

/* For tables too large to look at every route; these are sorted. */
static target_t search_lengths(const struct fib_route *routes, size_t n, const struct ip_addr *a)
{
	for (int len = (int)ip_addr_bits(a); len >= 0; len--) {
		struct ip_prefix p = {.addr = *a, .len = (uint8_t)len};
		struct fib_route key = {.prefix = ip_prefix_network(&p)};
		const struct fib_route *found = bsearch(&key, routes, n, sizeof(key), by_prefix);

		if (found)
			return found->target;
	}
	return 0;
}

static target_t look_up(const struct fib *f, const struct ip_addr *a)
{
	return a->family == 4 ? fib_lookup4(f, ip_addr_v4(a)) : fib_lookup6(f, &a->v6);
}

static void expect(const struct fib *f, const struct ip_addr *a, target_t want)
{
	target_t got = look_up(f, a);
	char text[IP_ADDR_TEXT];

	check(got == want, "%s: got %x, want %x", ip_addr_format(a, text), got, want);
}

/* The addresses where an answer may change: first and last of a prefix, and those next to it. */
static struct ip_addr edge(const struct ip_prefix *p, unsigned int which)
{
	struct ip_prefix q = ip_prefix_network(p);
	unsigned int bits = ip_addr_bits(&q.addr);
	int step = which == 0 ? -1 : which == 3 ? 1 : 0;

	for (unsigned int i = q.len; i < bits && which >= 2; i++)
		q.addr.b[i / 8] |= (uint8_t)(0x80 >> i % 8);
	for (int i = (int)bits / 8 - 1; i >= 0 && step; i--) {
		q.addr.b[i] = (uint8_t)(q.addr.b[i] + step);
		if (q.addr.b[i] != (step > 0 ? 0 : 0xff))
			break;
	}
	return q.addr;
}

static struct ip_addr clustered_addr(uint64_t *seed, int family)
{
	struct ip_addr a = {.family = (uint8_t)family};

	/* few different high bytes, so that prefixes nest and addresses hit them */
	for (unsigned int i = 0; i < ip_addr_bits(&a) / 8; i++)
		a.b[i] = (uint8_t)(i < 2 ? unit_random(seed) % 4 : unit_random(seed) & 0x83);
	return a;
}

static size_t remove_doubles(struct fib_route *routes, size_t n)
{
	size_t kept = 0;

	qsort(routes, n, sizeof(*routes), by_prefix);
	for (size_t i = 0; i < n; i++)
		if (!kept || !ip_prefix_equal(&routes[kept - 1].prefix, &routes[i].prefix))
			routes[kept++] = routes[i];
	return kept;
}

static size_t clustered_routes(uint64_t *seed, int family, struct fib_route *routes, size_t n)
{
	memset(routes, 0, n * sizeof(*routes));
	for (size_t i = 0; i < n; i++) {
		struct ip_prefix p = {.addr = clustered_addr(seed, family)};

		p.len = (uint8_t)(unit_random(seed) % (ip_addr_bits(&p.addr) + 1));
		routes[i].prefix = ip_prefix_network(&p);
		routes[i].target = target(TARGET_NEIGH, (uint32_t)i % 500);
	}
	return remove_doubles(routes, n);
}

static void compare(uint64_t seed, int family, size_t n)
{
	struct fib_route *routes = calloc(n + 1, sizeof(*routes));
	struct fib *f;

	n = clustered_routes(&seed, family, routes, n);
	f = fib_build(family, routes, n);
	assert_non_null(f);
	for (size_t i = 0; i < n; i++) {
		for (unsigned int which = 0; which < 4; which++) {
			struct ip_addr a = edge(&routes[i].prefix, which);

			expect(f, &a, look_at_all(routes, n, &a));
		}
	}
	for (unsigned int i = 0; i < 2000; i++) {
		struct ip_addr a = clustered_addr(&seed, family);

		expect(f, &a, look_at_all(routes, n, &a));
	}
	fib_free(f);
	free(routes);
}

static void small_tables_equal_the_model(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		compare(seed, 4, 1 + seed % 7);
		compare(seed, 6, 1 + seed % 7);
	}
	for (uint64_t seed = 1; seed <= 4; seed++) {
		compare(seed, 4, 500);
		compare(seed, 6, 500);
	}
}

/* Every length of one address at once, and host routes that differ in the last bit only. */
static void chains_of_nested_prefixes(void **state)
{
	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct ip_addr a = {.family = (uint8_t)family};
		struct fib_route routes[130];
		size_t n = 0;
		struct fib *f;

		for (unsigned int i = 0; i < 16; i++)
			a.b[i] = (uint8_t)(0x5a + 77 * i);
		memset(routes, 0, sizeof(routes));
		for (unsigned int len = 0; len <= ip_addr_bits(&a); len++, n++) {
			struct ip_prefix p = {.addr = a, .len = (uint8_t)len};

			routes[n] = (struct fib_route){ip_prefix_network(&p), len + 1};
		}
		routes[n] = routes[n - 1];
		routes[n].prefix.addr.b[ip_addr_bits(&a) / 8 - 1] ^= 1;
		routes[n++].target = 1000;
		f = fib_build(family, routes, n);
		for (size_t i = 0; i < n; i++) {
			for (unsigned int which = 0; which < 4; which++) {
				a = edge(&routes[i].prefix, which);
				expect(f, &a, look_at_all(routes, n, &a));
			}
		}
		fib_free(f);
	}
}

/* Prefix lengths as the public tables have them, in percent (the rest is spread over all others). */
static const struct {
	uint8_t len, percent;
} lengths4[] = {{24, 60}, {23, 10}, {22, 11}, {21, 5}, {20, 4}, {19, 3}, {18, 1}, {16, 2}},
  lengths6[] = {{48, 48}, {32, 12}, {44, 9}, {40, 8}, {36, 5}, {46, 3}, {47, 3}, {29, 2}, {64, 2}};

static uint8_t random_length(uint64_t *seed, int family)
{
	unsigned int at = (unsigned int)(unit_random(seed) % 100);

	for (size_t i = 0; i < (family == 4 ? ARRAY_LEN(lengths4) : ARRAY_LEN(lengths6)); i++) {
		unsigned int percent = family == 4 ? lengths4[i].percent : lengths6[i].percent;

		if (at < percent)
			return family == 4 ? lengths4[i].len : lengths6[i].len;
		at -= percent;
	}
	return (uint8_t)(8 + unit_random(seed) % (family == 4 ? 25 : 57));
}

static struct ip_addr internet_addr(uint64_t *seed, int family)
{
	struct ip_addr a = {.family = (uint8_t)family};

	for (unsigned int i = 0; i < ip_addr_bits(&a) / 8; i++)
		a.b[i] = (uint8_t)unit_random(seed);
	if (family == 6) {
		/* 2000::/3, in the blocks that registries have had */
		a.b[0] = (uint8_t)(0x20 + (a.b[0] & 0xf));
		a.b[1] &= 0x1f;
	}
	return a;
}

/* 200,000 IPv6 routes, of which DPDK 22.11's trie refuses 20,000, and 1,000,000 IPv4 routes. */
static void tables_of_the_internet(void **state)
{
	const struct {
		int family;
		size_t n, megabytes;
	} rows[] = {{4, 1000000, 64}, {6, 200000, 24}};

	(void)state;
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		struct fib_route *routes = calloc(rows[r].n, sizeof(*routes));
		uint64_t seed = 17;
		struct fib *f;
		size_t n;

		for (size_t i = 0; i < rows[r].n; i++) {
			struct ip_prefix p = {.addr = internet_addr(&seed, rows[r].family)};

			p.len = random_length(&seed, rows[r].family);
			routes[i].prefix = ip_prefix_network(&p);
			routes[i].target = target(TARGET_NEIGH, (uint32_t)unit_random(&seed) % 100000);
		}
		n = remove_doubles(routes, rows[r].n);
		f = fib_build(rows[r].family, routes, n);
		assert_non_null(f);
		check(fib_bytes(f) < rows[r].megabytes << 20, "IPv%d: %zu routes take %zu bytes", rows[r].family, n,
			fib_bytes(f));
		for (unsigned int i = 0; i < PROBES; i++) {
			size_t k = unit_random(&seed) % n;
			struct ip_addr a = i & 1 ? edge(&routes[k].prefix, i / 2 % 4)
						 : internet_addr(&seed, rows[r].family);

			expect(f, &a, search_lengths(routes, n, &a));
		}
		fib_free(f);
		free(routes);
	}
}

/* Thousands of tenants with ten routes each: memory follows the routes. */
static void small_tables_are_small(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (int family = 4; family <= 6; family += 2) {
		struct fib_route routes[10] = {0};
		struct fib *f = NULL;

		for (unsigned int i = 0; i < 10; i++) {
			struct ip_prefix p = {.addr = internet_addr(&seed, family), .len = family == 4 ? 24 : 64};

			routes[i] = (struct fib_route){ip_prefix_network(&p), i + 1};
		}
		f = fib_build(family, routes, 10);
		check(fib_bytes(f) < 2048, "IPv%d: %zu bytes", family, fib_bytes(f));
		fib_free(f);
	}
}

static void an_empty_table_has_no_routes(void **state)
{
	struct ipv6_addr a = {{0x20, 1}};
	struct fib *f = fib_build(6, NULL, 0);

	(void)state;
	assert_int_equal(fib_lookup4(NULL, 1), 0);
	assert_int_equal(fib_lookup6(NULL, &a), 0);
	assert_int_equal(fib_bytes(NULL), 0);
	assert_non_null(f);
	assert_int_equal(fib_lookup6(f, &a), 0);
	fib_free(f);
}

static void equal_tables_are_recognised(void **state)
{
	struct fib_route a[4], b[4];
	uint64_t seed = 3;
	struct fib *f, *again;
	size_t n;

	(void)state;
	assert_int_equal(clustered_routes(&seed, 6, a, 4), 4);
	memcpy(b, a, sizeof(b));
	f = fib_build(6, a, 4);
	assert_non_null(f);
	assert_true(fib_holds(f, 6, b, 4));
	assert_false(fib_holds(f, 4, b, 4));
	assert_false(fib_holds(f, 6, b, 3));
	b[2].target ^= 1;
	assert_false(fib_holds(f, 6, b, 4));
	again = fib_ref(f);
	fib_free(f);
	fib_routes(again, &n);
	assert_int_equal(n, 4);
	fib_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_tables_equal_the_model),
		cmocka_unit_test(chains_of_nested_prefixes),
		cmocka_unit_test(tables_of_the_internet),
		cmocka_unit_test(small_tables_are_small),
		cmocka_unit_test(an_empty_table_has_no_routes),
		cmocka_unit_test(equal_tables_are_recognised),
	};

	return cmocka_run_group_tests_name("fib", tests, NULL, NULL);
}
