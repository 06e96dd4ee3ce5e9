/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of BFD: keys, profiles of next hops, S-BFD of paths. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/bfd_peers.h"
#include "test/support/conf.h"

static void profiles(void **state)
{
	static const struct conf_row rows[] = {
		{"key without auth", "auth: meticulous-sha1\n    auth-key: 7", "auth: none\n    auth-key: ^7",
			"auth-key: the profile does not authenticate; set auth: meticulous-sha1"},
		{"auth without key", "auth: meticulous-sha1\n    auth-key: 7", "auth: ^sha1",
			"auth: it needs a key; set auth-key to an id of hmac.keys"},
		{"key id that no packet can carry", "auth-key: 7", "auth-key: ^256",
			"auth-key: expected a whole number from 0 to 255, found '256'"},
		{"too slow an lcore", "max-sleep: 50", "max-sleep: 2501",
			"receive: with idle.policy: sleep an lcore sleeps up to 2501 us, too long for an interval of "
			"5000 us; "
			"lower idle.max-sleep to at most 2500, or raise receive",
			"receive: 5000", "receive: ^5000"},
		{"just fast enough", "max-sleep: 50", "max-sleep: 2500", NULL},
		{"no name", "    bfd: plain\ninterfaces:", "    bfd: ^plane\ninterfaces:",
			"bfd: there is no 'plane' in bfd-profiles; did you mean 'plain'?"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* A next hop may stand in several places, with one profile. */
static void next_hops(void **state)
{
	static const struct conf_row rows[] = {
		{"two profiles", "        nexthop: \"2001:db8:2::5\"\n        bfd: full",
			"        nexthop: \"2001:db8:2::5\"\n        bfd: ^plain",
			"bfd: next hop 2001:db8:2::5 on wan0 has profile 'plain' here and 'full' in line 255; a next "
			"hop has one "
			"session"},
		{"echo to a link-local address", "    nexthop: \"fe80::6\"\n    bfd: plain",
			"    nexthop: \"fe80::6\"\n    bfd: ^full",
			"bfd: profile 'full' has echo, and no router returns echo packets of a link-local session; use "
			"a "
			"global address instead of fe80::6, or a profile without echo"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void paths(void **state)
{
	static const struct conf_row rows[] = {
		{"no reflector", "        reflector: \"fd00:0:2::1\"\n", "",
			"bfd: a path needs reflector, an address of the far node in the table that its last SID looks "
			"up, and "
			"reflector-discriminator, that node's sbfd-reflector.discriminator",
			"        bfd: plain\n", "        bfd: ^plain\n"},
		{"no discriminator", "        reflector-discriminator: 167772162\n", "",
			"bfd: a path needs reflector, an address of the far node in the table that its last SID looks "
			"up, and "
			"reflector-discriminator, that node's sbfd-reflector.discriminator",
			"        bfd: plain\n", "        bfd: ^plain\n"},
		{"reflector without bfd", "        bfd: plain\n", "",
			"reflector: the path has no bfd; set bfd to a profile\n"
			"reflector-discriminator: the path has no bfd; set bfd to a profile",
			"        reflector: \"fd00:0:2::1\"\n        reflector-discriminator: 167772162\n",
			"        reflector: ^\"fd00:0:2::1\"\n        reflector-discriminator: ^167772162\n"},
		{"a profile with more than S-BFD has", "        bfd: plain\n", "        bfd: ^full\n",
			"bfd: profile 'full' has auth, echo or passive, which S-BFD of a path does not have"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void count(void *arg, const struct cfg_bfd_peer *p)
{
	unsigned int *n = arg;
	char text[IP_ADDR_TEXT];

	check(p->profile && *p->named, "%s", ip_addr_format(p->address, text));
	(*n)++;
}

static void found(void **state)
{
	struct config *c = conf_load(CONF_CHECK, conf_full);
	unsigned int n = 0;

	(void)state;
	/* a neighbour, a route, a VRF route, a SID and an adjacency name one */
	cfg_bfd_each(c, count, &n);
	assert_int_equal(5, n);
	assert_null(cfg_bfd_profile(c, "none"));
	cfg_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profiles),
		cmocka_unit_test(next_hops),
		cmocka_unit_test(paths),
		cmocka_unit_test(found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
