/* SPDX-License-Identifier: BSD-3-Clause */
/* VLAN interfaces of a configuration: errors, keys that may name them, and printing without a change. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"

/* RED follows the existing interface; dc0 has VRF red and 10.1.0.1/24; its circuit is VLAN 100 */
#define SLICES "slices:\n  - name: gold\n"
#define RED \
	"  - name: dc0.7\n    port: dc0\n    vlan: 7\n    vrf: red\n    mtu: 1500\n" \
	"    addresses: [10.7.0.1/24, \"fe80::7/64\"]\n"
#define SECOND(text) RED "  - name: second\n    port: dc0\n    vlan: 8\n" text SLICES
#define VRF_ROUTE "port: dc0\n        nexthop: 10.1.0.253"

static void refused(void **state)
{
	static const struct conf_row rows[] = {
		{"as it should be", SLICES, RED SLICES, NULL},
		{"no VLAN", SLICES, "  - ^name: dc0.7\n    port: dc0\n" SLICES, "an interface needs the key 'vlan'"},
		{"VLAN 0", SLICES, "  - name: dc0.7\n    port: dc0\n    vlan: ^0\n" SLICES,
			"vlan: expected a whole number from 1 to 4094, found '0'"},
		{"VLAN 4095", SLICES, "  - name: dc0.7\n    port: dc0\n    vlan: ^4095\n" SLICES,
			"vlan: expected a whole number from 1 to 4094, found '4095'"},
		{"unknown port", SLICES, "  - name: dc0.7\n    port: ^dc7\n    vlan: 7\n" SLICES,
			"port: there is no 'dc7' in ports; did you mean 'dc0'?"},
		{"on an interface", SLICES, SECOND("  - name: third\n    port: ^second\n    vlan: 9\n"),
			"port: there is no 'second' in ports"},
		{"unknown VRF", SLICES, "  - name: dc0.7\n    port: dc0\n    vlan: 7\n    vrf: ^rad\n" SLICES,
			"vrf: there is no 'rad' in vrfs; did you mean 'red'?"},
		{"the name of a port", SLICES, "  - name: ^dc1\n    port: dc0\n    vlan: 7\n" SLICES,
			"name: 'dc1' is already the name of a port"},
		{"the same VLAN", SLICES, RED "  - name: b\n    port: dc0\n    vlan: ^7\n" SLICES,
			"interface 'dc0.7' of port 'dc0' already takes these frames"},
		{"the same VLAN of another type", SLICES,
			RED "  - name: b\n    port: dc0\n    vlan: ^7\n    tag: 802.1ad\n" SLICES,
			"interface 'dc0.7' of port 'dc0' already takes these frames"},
		{"the same VLAN of another port", SLICES, RED "  - name: b\n    port: dc1\n    vlan: 7\n" SLICES, NULL},
		{"the same VLAN with a second tag", SLICES,
			RED "  - name: b\n    port: dc0\n    vlan: 7\n    inner-vlan: 7\n" SLICES, NULL},
		{"a circuit's VLAN", SLICES, "  - name: b\n    port: dc0\n    vlan: ^100\n" SLICES,
			"vlan: 100 of port 'dc0' is already used by circuit 'pw1'"},
		{"a circuit's VLAN on another port", SLICES, "  - name: b\n    port: dc1\n    vlan: 100\n" SLICES,
			NULL},
		{"more than the port's MTU", SLICES, SECOND("    mtu: ^9101\n"),
			"mtu: 9101 is larger than 9100, the mtu of port 'dc0'"},
		{"as much as the port's MTU", SLICES, SECOND("    mtu: 9100\n"), NULL},
		{"the port's MTU", SLICES, SECOND("    mtu: port\n"), NULL},
		{"an address of the port", SLICES, SECOND("    vrf: red\n    addresses: [^10.1.0.1/24]\n"),
			"addresses: 10.1.0.1/24 is also an address of port dc0"},
		{"an address of another interface", SLICES, SECOND("    vrf: red\n    addresses: [^10.7.0.1/24]\n"),
			"addresses: 10.7.0.1/24 is also an address of interface dc0.7"},
		{"a subnet of another interface", SLICES, SECOND("    vrf: red\n    addresses: [^10.7.0.129/25]\n"),
			"addresses: the subnet of 10.7.0.129/25 overlaps a subnet of interface dc0.7 in the same "
			"table"},
		{"the same subnet in another VRF", SLICES, SECOND("    vrf: blue\n    addresses: [10.7.0.1/24]\n"),
			NULL},
		{"a SID as address", SLICES, SECOND("    addresses: [^\"5f00::1/64\"]\n"),
			"addresses: 5f00::1/64 is in the SID space; interface addresses must be outside"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* Keys with a next hop may name an interface; keys that need a whole port may not. */
static void named(void **state)
{
	static const struct conf_row rows[] = {
		{"a route", VRF_ROUTE, "port: dc0.7\n        nexthop: 10.7.0.9", NULL, SLICES, RED SLICES},
		{"a route off the link", VRF_ROUTE, "port: dc0.7\n        nexthop: ^10.1.0.253",
			"nexthop: 10.1.0.253 is not on a subnet of interface dc0.7", SLICES, RED SLICES},
		{"a route to itself", VRF_ROUTE, "port: dc0.7\n        nexthop: ^10.7.0.1",
			"nexthop: 10.7.0.1 is the interface's own address", SLICES, RED SLICES},
		{"a neighbour", "- port: dc0\n    address: 10.1.0.254", "- port: dc0.7\n    address: 10.7.0.254", NULL,
			SLICES, RED SLICES},
		{"a neighbour off the link", "- port: dc0\n    address: 10.1.0.254",
			"- port: dc0.7\n    address: ^10.1.0.254",
			"address: 10.1.0.254 is not on a subnet of interface dc0.7", SLICES, RED SLICES},
		{"an adjacency", "behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\"",
			"behavior: uA\n    port: dc0.7\n    nexthop: \"fe80::5\"", NULL, SLICES, RED SLICES},
		{"frames out of it", "\nsids:\n",
			"\nsids:\n  - sid: \"5f00:0:e777::/48\"\n    behavior: uDX2\n    port: ^dc0.7\n",
			"port: 'dc0.7' is an interface; a uDX2 needs a whole port to send frames", SLICES, RED SLICES},
		{"a circuit on it", "port: dc0\n    vlan: 100", "port: ^dc0.7\n    vlan: 100",
			"port: there is no 'dc0.7' in ports; did you mean 'dc0'?", SLICES, RED SLICES},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void comes_back(void **state)
{
	static const char text[] =
		"node: {name: a, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: p, device: net_null0, side: dc}]\nvrfs: [{name: red}]\nslices: [{name: gold}]\n"
		"interfaces:\n"
		"  - {name: p.9, port: p, vlan: 9, inner-vlan: 4094, tag: 802.1q, vrf: red, slice: gold, mtu: 1400,\n"
		"     addresses: [10.9.0.1/24]}\n"
		"  - {name: p.8, port: p, vlan: 8}\n";
	struct cfg_diags d = {0};
	struct config *c = cfg_load_text("t", text, strlen(text), &d);
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	assert_non_null(c);
	assert_int_equal(cfg_check(c, &d), 0);
	assert_true(c->interfaces.items[0].mtu == 1400 && c->interfaces.items[1].mtu == CFG_NONE);
	cfg_emit(c, f, 0);
	fclose(f);
	cfg_free(c);
	assert_non_null(strstr(out,
		"  - name: p.9\n    port: p\n    vlan: 9\n    inner-vlan: 4094\n    tag: 802.1q\n    vrf: red\n"
		"    slice: gold\n    mtu: 1400\n    addresses: [10.9.0.1/24]\n"
		"  - name: p.8\n    port: p\n    vlan: 8\n"));
	free(out);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(named),
		cmocka_unit_test(comes_back),
	};

	return cmocka_run_group_tests_name("config_interfaces", tests, NULL, NULL);
}
