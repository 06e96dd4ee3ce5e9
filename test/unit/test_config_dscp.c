/* SPDX-License-Identifier: BSD-3-Clause */
/* DSCP maps that make no sense are refused, and lossless classes that share an outer DSCP are warned of. */
#include "test/support/unit.h"
#include <stdlib.h>
#include "test/support/conf.h"

static void dscp_maps(void **state)
{
	static const struct conf_row rows[] = {
		{"map of a port", "dscp-in: from-lan", "dscp-in: ^from-lam",
			"dscp-in: there is no 'from-lam' in dscp-maps; did you mean 'from-lan'?"},
		{"map of a port, out", "dscp-out: to-lan", "dscp-out: ^to", "dscp-out: there is no 'to' in dscp-maps"},
		{"range backwards", "from: 25\n        to: 27", "from: 25\n        to: ^24",
			"to: 24 is less than from, 25"},
		{"ranges overlap", "- from: 34", "- ^from: 27", "DSCP 27 is also in the range of line 161"},
		{"no such DSCP", "dscp: 22", "dscp: ^64", "dscp: expected a whole number from 0 to 63, found '64'"},
		{"nothing in it",
			"    map:\n      - from: 25\n        to: 27\n        dscp: 26\n      - from: 34\n        dscp: "
			"26\n",
			"    map: ^[]\n", "map: expected 1 to 64 items, found 0"},
		{"control traffic's from a policy", "dscp-map: to-wan", "dscp-map: ^to-lan",
			"dscp-map: 'to-lan' gives DSCP 40 the DSCP 48 (line 170), and 48 to 63 are reserved for the "
			"control "
			"traffic of the domain; use 47 or less"},
		{"control traffic's of a policy", "to: 50\n        dscp: 22", "to: 50\n        dscp: 50",
			"dscp-map: 'to-wan' gives DSCP 48 the DSCP 50 (line 176), and 48 to 63 are reserved for the "
			"control "
			"traffic of the domain; use 47 or less",
			"dscp-map: to-wan", "dscp-map: ^to-wan"},
		{"map without a name", "    dscp: map\n    dscp-map: to-wan\n", "    dscp: ^map\n",
			"dscp: map needs dscp-map, the name of one of dscp-maps"},
		{"name without map", "    dscp: map\n    dscp-map: to-wan\n", "    dscp-map: ^to-wan\n",
			"dscp-map: it is used only with dscp: map"},
		{"value with map", "    dscp: map\n    dscp-map: to-wan\n",
			"    dscp: map\n    dscp-value: ^1\n    dscp-map: to-wan\n",
			"dscp-value: it is used only with dscp: set"},
		{"SID: map without a name", "    dscp: map\n    dscp-map: to-lan\n", "    dscp: ^map\n",
			"dscp: map needs dscp-map, the name of one of dscp-maps"},
		{"SID: name without map", "    dscp: map\n    dscp-map: to-lan\n",
			"    dscp: copy\n    dscp-map: ^to-lan\n", "dscp-map: it is used only with dscp: map"},
		{"SID: frames", "    behavior: End.DX2\n", "    behavior: End.DX2\n    dscp: ^copy\n",
			"dscp: an End.DX2 decapsulates no IP packets"},
		{"SID: without USD", "    flavors: [psp, usp, usd]\n", "    flavors: [psp, usp]\n    dscp: ^copy\n",
			"dscp: an End decapsulates no IP packets without the flavor usd"},
		{"SID: with USD", "    flavors: [psp, usp, usd]\n", "    flavors: [psp, usp, usd]\n    dscp: copy\n",
			NULL},
		{"SID: USD by default", "    behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\"\n",
			"    behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\"\n    dscp: copy\n", NULL},
		{"SID: adjacency", "    behavior: End.DX4\n", "    behavior: End.DX4\n    dscp: copy\n", NULL},
		{"all frames are a circuit's", "    class-map: roce\n    dscp-out",
			"    class-map: roce\n    dscp-in: ^from-lan\n    dscp-out",
			"dscp-in: circuit 'pw1' takes all frames of the port, and frames keep the DSCP inside; for the "
			"outer "
			"header, set dscp of policy 'frames'",
			"    vlan: 100\n    policy: frames\n", "    vlan: any\n    policy: frames\n"},
		{"control traffic's on a wan port", "    boundary-off: [sources]\n",
			"    dscp-out: ^to-lan\n    boundary-off: [sources]\n",
			"dscp-out: 'to-lan' gives DSCP 40 the DSCP 48 (line 171), and 48 to 63 are reserved for the "
			"control "
			"traffic of the domain; use 47 or less"},
		{"control traffic's that stays so on a wan port", "    boundary-off: [sources]\n",
			"    dscp-in: to-lan\n    boundary-off: [sources]\n", NULL,
			"      - from: 40\n        dscp: 48\n", "      - from: 56\n        dscp: 48\n"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* Two lossless classes with one outer DSCP: the nodes of the WAN cannot pause one of them alone. */
static void lossless_classes_in_the_wan(void **state)
{
#define APART(policy, a, b, dscp) \
	"warning: policy '" policy "': packets of the lossless classes " a " and " b \
	" leave with the same outer DSCP, " dscp ": nodes of the WAN cannot tell these classes apart, so a pause of " \
	"one stops the other; use dscp: map with a dscp-map " \
	"that gives each class a DSCP of its own"
	static const struct conf_row rows[] = {
		{"set", "        policy: to-dc2\n", "        policy: marked\n", APART("marked", "3", "4", "46"),
			"    dscp: set\n", "    dscp: ^set\n"},
		{"the map of a policy", "      - from: 48\n        to: 50\n        dscp: 22\n",
			"      - from: 34\n        to: 50\n        dscp: 18\n", APART("frames", "3", "4", "18"),
			"dscp-map: to-wan", "dscp-map: ^to-wan"},
		{"the map of the port", "    class-map: roce\n    dscp-out",
			"    class-map: roce\n    dscp-in: from-lan\n    dscp-out", APART("to-dc2", "3", "4", "26"),
			"  - name: to-dc2\n", "  - ^name: to-dc2\n"},
		{"another port's class", "    device: net_null1\n",
			"    device: net_null1\n    speed: 10G\n"
			"    pfc: {priorities: [5], peers: [\"02:00:00:00:0b:01\"], buffer: near}\n",
			NULL},
		{"one class", "priorities: [3, 4]\n", "priorities: [4]\n", NULL},
	};
	char *more = conf_replace(conf_full, "priorities: [3, 4]\n", "priorities: [5, 7]\n"), *text, *both, *all;

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
	/* CS6 enters the tunnel as CS5 */
	text = conf_replace(more, "honour-local: true", "honour-local: false");
	both = conf_replace(text, "  - name: to-dc2\n", "  - ^name: to-dc2\n");
	all = conf_replace(both, "dscp-map: to-wan", "dscp-map: ^to-wan");
	conf_expect("what is lowered", CONF_CHECK, all,
		APART("to-dc2", "5", "7", "40") "\n" APART("frames", "5", "7", "40"));
	free(more);
	free(text);
	free(both);
	free(all);
#undef APART
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(dscp_maps),
		cmocka_unit_test(lossless_classes_in_the_wan),
	};

	return cmocka_run_group_tests_name("config_dscp", tests, NULL, NULL);
}
