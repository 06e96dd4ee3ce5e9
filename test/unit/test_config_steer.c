/* SPDX-License-Identifier: BSD-3-Clause */
/* What --check says of flow tables and of feedback. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"

#define TABLE "    flows: 64K\n    flow-key: queue-pair\n    roce: true\n    feedback: true\n"
#define PLACED \
	"\n  - flow: \"src=10.0.0.1,dst=10.0.1.1,qp=0x11\"\n    policy: to-dc2\n    path: via-spine5\n    pinned: " \
	"true\n"

static void tables(void **state)
{
	static const struct conf_row rows[] = {
		{"feedback without flows", TABLE, "    feedback: ^true\n",
			"feedback: flows move one by one, out of a flow table; set flows, too", "placements:" PLACED,
			""},
		{"roce without flows", TABLE, "    roce: ^true\n", "roce: PSNs are kept with the flows; set flows, too",
			"placements:" PLACED, ""},
		{"frames have none", "    encap: H.Encaps.L2\n", "    encap: H.Encaps.L2\n    flows: ^1K\n",
			"flows: frames have no flows to place; leave it out, or use H.Encaps or H.Encaps.Red"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* Flows that move between paths of unlike delay may overtake themselves: somebody must have looked at the delays. */
static void gap(void **state)
{
	char *two = conf_replace(conf_full, "        backup: true\n", "        backup: false\n");
	char *unsaid = conf_replace(two, "  gap: 100us\n", ""),
	     *marked = conf_replace(unsaid, "    feedback: true\n", "    feedback: ^true\n");
	char *one = conf_replace(conf_full, "  gap: 100us\n", "");

	(void)state;
	conf_expect("said", CONF_CHECK, two, NULL);
	conf_expect("unsaid", CONF_CHECK, marked,
		"warning: feedback: flows that move keep their order if the delays of the paths of 'to-dc2' differ by "
		"less than "
		"steering.gap, 50 us, which is 10 km of fibre; set it to more than they differ by");
	conf_expect("nowhere to move to", CONF_CHECK, one, NULL);
	free(two);
	free(unsaid);
	free(marked);
	free(one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),
		cmocka_unit_test(gap),
	};

	return cmocka_run_group_tests_name("config_steer", tests, NULL, NULL);
}
