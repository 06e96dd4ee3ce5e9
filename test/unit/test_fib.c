/* SPDX-License-Identifier: BSD-3-Clause */
/* Longest-prefix match against the plainest model there is: look at every route. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "fib/fib.h"
#include "test/support/testbed.h"

static target_t model(const struct fib_route *routes, size_t n, const struct ip_addr *a)
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

static struct ip_addr random_addr(uint64_t *seed, int family)
{
	struct ip_addr a = {.family = (uint8_t)family};

	/* few different high bytes, so that prefixes nest and addresses hit them */
	for (unsigned int i = 0; i < ip_addr_bits(&a) / 8; i++)
		a.b[i] = (uint8_t)(i < 2 ? unit_random(seed) % 4 : unit_random(seed) & 0x83);
	return a;
}

static size_t random_routes(uint64_t *seed, int family, struct fib_route *routes, size_t n)
{
	size_t made = 0;

	memset(routes, 0, n * sizeof(*routes));
	while (made < n) {
		struct ip_prefix p = {.addr = random_addr(seed, family)};
		size_t i = 0;

		p.len = (uint8_t)(unit_random(seed) % (ip_addr_bits(&p.addr) + 1));
		p = ip_prefix_network(&p);
		while (i < made && !ip_prefix_equal(&routes[i].prefix, &p))
			i++;
		if (i < made)
			continue;
		routes[made++] = (struct fib_route){.prefix = p, .target = target(TARGET_NBR, (uint32_t)i % 500)};
	}
	return made;
}

static void compare(int family, int fast, size_t n)
{
	struct fib_route *routes = calloc(n + 1, sizeof(*routes));
	uint64_t seed = 7 + (uint64_t)family;
	struct fib *f;

	random_routes(&seed, family, routes, n);
	f = fib_build(family, routes, n, fast, -1);
	assert_non_null(f);
	for (unsigned int i = 0; i < 20000; i++) {
		struct ip_addr a = random_addr(&seed, family);
		target_t want = model(routes, n, &a);
		target_t got = family == 4 ? fib_lookup4(f, ip_addr_v4(&a)) : fib_lookup6(f, &a.v6);
		char text[IP_ADDR_TEXT];

		check(got == want, "IPv%d fast %d: %s: got %x, want %x", family, fast, ip_addr_format(&a, text), got,
			want);
	}
	fib_free(f);
	free(routes);
}

static void lookups_equal_the_model(void **state)
{
	(void)state;
	for (int fast = 0; fast < 2; fast++) {
		compare(4, fast, 500);
		compare(6, fast, 500);
		compare(4, fast, 1);
	}
}

/* DPDK's 15-bit entries hold no more than 32766 different targets; larger tables take wider ones. */
static void many_targets(void **state)
{
	size_t n = 40000;
	struct fib_route *routes = calloc(n, sizeof(*routes));
	struct fib *f;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		routes[i].prefix.addr = ip_addr_from4(0x0a000000u + (uint32_t)i * 256);
		routes[i].prefix.len = 24;
		routes[i].target = target(TARGET_NBR, (uint32_t)i + 1);
	}
	f = fib_build(4, routes, n, 1, -1);
	assert_non_null(f);
	for (size_t i = 0; i < n; i += 97)
		assert_int_equal(fib_lookup4(f, 0x0a000000u + (uint32_t)i * 256 + 5),
			target(TARGET_NBR, (uint32_t)i + 1));
	fib_free(f);
	free(routes);
}

static void an_empty_table_has_no_routes(void **state)
{
	struct ipv6_addr a = {{0x20, 1}};

	(void)state;
	assert_int_equal(fib_lookup4(NULL, 1), 0);
	assert_int_equal(fib_lookup6(NULL, &a), 0);
}

static void equal_tables_are_recognised(void **state)
{
	struct fib_route a[4], b[4];
	uint64_t seed = 3;
	struct fib *f, *again;
	size_t n;

	(void)state;
	random_routes(&seed, 6, a, 4);
	memcpy(b, a, sizeof(b));
	f = fib_build(6, a, 4, 0, -1);
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
		cmocka_unit_test(lookups_equal_the_model),
		cmocka_unit_test(many_targets),
		cmocka_unit_test(an_empty_table_has_no_routes),
		cmocka_unit_test(equal_tables_are_recognised),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("fib", tests, NULL, NULL);
}
