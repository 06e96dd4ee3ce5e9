/* SPDX-License-Identifier: BSD-3-Clause */
/* Semantic checks, one by one, as rows of conf.h. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"

static void full_is_valid(void **state)
{
	conf_expect("the configuration that all rows start from", CONF_CHECK, conf_full, NULL);
}

/* --- names and duplicates, as the schema declares them --- */

static void references(void **state)
{
	static const struct conf_row rows[] = {
		{"VRF of a port", "vrf: red\n    mtu", "vrf: ^rad\n    mtu",
			"vrf: there is no 'rad' in vrfs; did you mean 'red'?"},
		{"VRF of a port, unlike any", "vrf: red\n    mtu", "vrf: ^tenant\n    mtu",
			"vrf: there is no 'tenant' in vrfs"},
		{"port of a neighbour", "- port: wan0\n    address", "- port: ^wan1\n    address",
			"port: there is no 'wan1' in ports or interfaces; did you mean 'wan0'?"},
		{"port of a route", "port: wan0\n    nexthop: \"fe80::6\"", "port: ^lan7",
			"port: there is no 'lan7' in ports or interfaces; did you mean 'wan0'?"},
		{"port of a VRF route", "port: dc0\n        nexthop: 10.1.0.253", "port: ^dc2",
			"port: there is no 'dc2' in ports or interfaces; did you mean 'dc0'?"},
		{"policy of a VRF route", "        policy: to-dc2", "        policy: ^to-dc3",
			"policy: there is no 'to-dc3' in policies; did you mean 'to-dc2'?"},
		{"port of a SID", "behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\"",
			"behavior: uA\n    port: ^wan\n    nexthop: \"fe80::5\"",
			"port: there is no 'wan' in ports or interfaces; did you mean 'wan0'?"},
		{"VRF of a SID", "behavior: uDT4\n    vrf: blue", "behavior: uDT4\n    vrf: ^to-dc2",
			"vrf: there is no 'to-dc2' in vrfs"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void duplicates(void **state)
{
	static const struct conf_row rows[] = {
		{"port name", "- name: dc1", "- name: ^dc0", "name dc0 is used twice in ports, first in line 50"},
		{"device", "device: net_null1", "device: ^\"net_pcap0,rx_pcap=in.pcap\"",
			"device \"net_pcap0,rx_pcap=in.pcap\" is used twice in ports, first in line 51"},
		{"VRF name", "- name: blue\n", "- name: blue\n  - name: ^blue\n",
			"name blue is used twice in vrfs, first in line 239"},
		{"thrice: each names the first", "- name: blue\n", "- name: blue\n  - name: ^blue\n  - name: ^blue\n",
			"name blue is used twice in vrfs, first in line 239\n"
			"name blue is used twice in vrfs, first in line 239"},
		{"SID", "sid: \"5f00:0:e102::/48\"", "sid: ^\"5f00:0:e101::/48\"",
			"sid \"5f00:0:e101::/48\" is used twice in sids, first in line 256"},
		{"SID written differently", "sid: \"5f00:0:e102::/48\"", "sid: ^\"5f00:0000:E101::/48\"",
			"sid \"5f00:0:e101::/48\" is used twice in sids, first in line 256"},
		{"path name", "- name: via-spine6", "- name: ^via-spine5",
			"name via-spine5 is used twice in paths, first in line 305"},
		{"path name in another policy", "- name: only", "- name: via-spine5", NULL},
		{"policy name", "- name: marked\n    source", "- name: ^to-dc2\n    source",
			"name to-dc2 is used twice in policies, first in line 298", "policy: marked", "policy: to-dc2"},
		{"names of different things", "name: pe1", "name: dc0", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* --- lcores --- */

static void promises(void **state)
{
	static const struct conf_row rows[] = {
		{"within the limit, and what the port has", "min-rate: 20G", "min-rate: 25G", NULL},
		{"above the limit", "min-rate: 20G\n    max-rate: 40G", "min-rate: ^3G\n    max-rate: 2G",
			"min-rate: 3Gbit/s is more than the slice's max-rate, 2Gbit/s"},
		{"above a port", "min-rate: 20G", "min-rate: ^26G",
			"min-rate: all slices together are promised 26Gbit/s, but port 'wan0' has 25Gbit/s; lower "
			"some"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void lcores(void **state)
{
	static const struct conf_row rows[] = {
		{"rx beyond what there is", "rx: [1, 2]\n", "rx: [1, 2, ^127]\n",
			"rx: expected lcores from 0 to 126, found 127"},
		{"the last one", "rx: [1, 2]\n", "rx: [1, 2, 126]\n", NULL},
		{"worker beyond what there is", "worker: [2, 3]", "worker: [2, 3, ^127]",
			"worker: expected lcores from 0 to 126, found 127"},
		{"rx twice", "rx: [1, 2]\n", "rx: [1, 2, ^1]\n", "rx: lcore 1 is listed twice"},
		{"worker twice", "worker: [2, 3]", "worker: [2, 3, ^3]", "worker: lcore 3 is listed twice"},
		{"control is rx and worker", "control: 0\n  rx: [1, 2]\n  worker: [2, 3]\n  cpus: \"0@0,1@4,2@5,3@6\"",
			"control: 2\n  rx: [2]\n  worker: [2]", NULL},

		{"cpus: two lcores on one CPU", "0@0,1@4", "0@0,1@0", NULL},
		{"cpus: not all are named", "\"0@0,1@4,2@5,3@6\"", "2@1", NULL},
		{"cpus: unknown lcore", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^\"0@0,4@7\"",
			"cpus: lcore 4 is not listed under control, rx or worker"},
		{"cpus: far beyond", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^\"4000@7\"",
			"cpus: lcore 4000 is not listed under control, rx or worker"},
		{"cpus: twice", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^\"1@0,2@5,1@6\"", "cpus: lcore 1 is listed twice"},
		{"cpus: no CPU", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^\"0@0,1\"",
			"cpus: expected LCORE@CPU,LCORE@CPU,..., found '1'"},
		{"cpus: other separator", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^\"0@0 1@4\"",
			"cpus: expected LCORE@CPU,LCORE@CPU,..., found '0@0 1@4'"},
		{"cpus: a word", "cpus: \"0@0,1@4,2@5,3@6\"", "cpus: ^auto",
			"cpus: expected LCORE@CPU,LCORE@CPU,..., found 'auto'"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void lcore_questions(void **state)
{
	struct config *c = conf_load(CONF_CHECK, conf_full);

	assert_int_equal(cfg_cpu_of(c, 0), 0);
	assert_int_equal(cfg_cpu_of(c, 1), 4);
	assert_int_equal(cfg_cpu_of(c, 3), 6);
	assert_int_equal(cfg_cpu_of(c, 9), 9); /* not named: its own number */
	assert_false(cfg_is_rx(c, 0) || cfg_is_worker(c, 0));
	assert_true(cfg_is_rx(c, 1) && !cfg_is_worker(c, 1));
	assert_true(cfg_is_rx(c, 2) && cfg_is_worker(c, 2));
	assert_true(!cfg_is_rx(c, 3) && cfg_is_worker(c, 3));
	cfg_free(c);
}

/* --- ports and neighbours --- */

static void ports(void **state)
{
	static const struct conf_row rows[] = {
		{"device", "device: net_null1", "device: ^eth0",
			"device: expected a PCI address (0000:17:00.0) or a virtual device (net_pcap0,...), found "
			"'eth0'"},
		{"PCI device with arguments", "\"0000:17:00.1\"", "\"0000:17:00.1,mprq_en=1\"", NULL},
		{"worker that is none", "worker: 2\n", "worker: ^1\n",
			"worker: lcore 1 is not listed under lcores.worker"},
		{"worker any", "worker: 2\n", "worker: any\n", NULL},
		{"group MAC", "mac: \"02:00:00:00:d0:00\"", "mac: ^\"03:00:00:00:d0:00\"",
			"mac: expected a unicast address"},
		{"zero MAC", "mac: \"02:00:00:00:d0:00\"", "mac: ^\"00:00:00:00:00:00\"",
			"mac: expected a unicast address"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void pci_addresses(void **state)
{
	static const struct {
		const char *device;
		int pci;
	} rows[] = {
		{"0000:17:00.0", 1},
		{"0000:17:00.1,mprq_en=1", 1},
		{"ffff:ff:1f.7", 1},
		{"0000:17:00.0 ", 0},
		{"0000:17:00", 0},
		{"17:00.0", 0},
		{"0000:17:00.", 0},
		{"net_null0", 0},
		{"", 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		check(!!cfg_device_is_pci(rows[i].device) == rows[i].pci, "%s", rows[i].device);
}

#define DC1 "vrf: blue\n    addresses: [10.1.0.1/24]"
#define WAN0 "addresses: [\"fe80::1/64\", \"2001:db8:2::1/64\"]"

static void addresses(void **state)
{
	static const struct conf_row rows[] = {
		{"in 5f00::/16 (RFC 9602)", DC1, "vrf: blue\n    addresses: [^\"5f00:77::1/64\"]",
			"addresses: 5f00:77::1/64 is in the SID space; interface addresses must be outside"},
		{"next to it", DC1, "vrf: blue\n    addresses: [\"5f01::1/64\", \"10.9.0.1/24\"]", NULL},
		{"IPv6 multicast", DC1, "vrf: blue\n    addresses: [^\"ff02::1/64\"]",
			"addresses: ff02::1/64 is not a unicast address"},
		{"IPv6 unspecified", DC1, "vrf: blue\n    addresses: [^\"::/64\"]",
			"addresses: ::/64 is not a unicast address"},
		{"IPv4 multicast", DC1, "vrf: blue\n    addresses: [^224.0.0.1/24]",
			"addresses: 224.0.0.1/24 is not a unicast address"},
		{"IPv4 loopback", DC1, "vrf: blue\n    addresses: [^127.0.0.1/8]",
			"addresses: 127.0.0.1/8 is not a unicast address"},
		{"IPv4 broadcast", DC1, "vrf: blue\n    addresses: [^255.255.255.255/32]",
			"addresses: 255.255.255.255/32 is not a unicast address"},
		{"twice on a port", DC1, "vrf: blue\n    addresses: [10.1.0.1/24, ^10.1.0.1/25]",
			"addresses: 10.1.0.1/25 is also an address of port dc1"},
		{"two of one subnet on a port", DC1, "vrf: blue\n    addresses: [10.1.0.1/24, 10.1.0.2/24]", NULL},
		{"on another port of the table", DC1, "vrf: red\n    addresses: [^10.1.0.1/24]",
			"addresses: 10.1.0.1/24 is also an address of port dc0"},
		{"subnet within another's", DC1, "vrf: red\n    addresses: [^10.1.0.129/25]",
			"addresses: the subnet of 10.1.0.129/25 overlaps a subnet of port dc0 in the same table"},
		{"subnet around another's", DC1, "vrf: red\n    addresses: [^10.9.0.1/8]",
			"addresses: the subnet of 10.9.0.1/8 overlaps a subnet of port dc0 in the same table"},
		{"subnet beside another's", DC1, "vrf: red\n    addresses: [10.1.1.1/24]", NULL, "  - name: blue\n",
			"  - name: blue\n    routes: [{prefix: 10.9.0.0/16, policy: marked}]\n"},
		{"the later port is the one to complain about", "vrf: blue\n    addresses: [10.1.0.1/24]",
			"addresses: [\"2001:db8:2::99/96\"]",
			"addresses: the subnet of 2001:db8:2::1/64 overlaps a subnet of port dc1 in the same table",
			"\"2001:db8:2::1/64\"]", "^\"2001:db8:2::1/64\"]"},
		{"the same link-local address on two ports", DC1, "addresses: [\"fe80::1/64\"]", NULL,
			"behavior: uDT4\n    vrf: blue", "behavior: uDT4"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* Another block than RFC 9602's is SID space too. */
static void addresses_in_the_block(void **state)
{
	static const struct {
		const char *loopback, *address, *messages;
	} rows[] = {
		{"\"fd00::1\"", "\"fcbb:bb01::1/64\"", NULL},
		{"\"fd00::1\"", "^\"fcbb:bb00:1::1/64\"",
			"addresses: fcbb:bb00:1::1/64 is in the SID space; interface addresses must be outside"},
		{"^\"fcbb:bb00::1\"", "10.0.0.1/8",
			"loopback: expected a routable unicast address outside the SID space"},
	};
	char text[512];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(text, sizeof(text),
			"node: {name: a, usid: {block: \"fcbb:bb00::/32\"}, loopback: %s}\n"
			"lcores: {control: 0, rx: [1], worker: [1]}\n"
			"ports: [{name: p, device: net_null0, side: dc, addresses: [%s]}]\n",
			rows[i].loopback, rows[i].address);
		conf_expect(rows[i].address, CONF_CHECK, text, rows[i].messages);
	}
}

static void loopback(void **state)
{
	static const char message[] = "loopback: expected a routable unicast address outside the SID space";
	static const struct conf_row rows[] = {
		{"a SID", "loopback: \"fd00:0:1::1\"", "loopback: ^\"5f00:0:100::\"", message},
		{"multicast", "loopback: \"fd00:0:1::1\"", "loopback: ^\"ff02::1\"", message},
		{"unspecified", "loopback: \"fd00:0:1::1\"", "loopback: ^\"::\"", message},
		{"link-local", "loopback: \"fd00:0:1::1\"", "loopback: ^\"fe80::1\"", message},
		{"global", "loopback: \"fd00:0:1::1\"", "loopback: \"2001:db8::1\"", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void neighbors(void **state)
{
	static const struct conf_row rows[] = {
		{"group MAC", "mac: \"02:00:00:00:05:00\"", "mac: ^\"33:33:00:00:00:01\"",
			"mac: expected a unicast address"},
		{"zero MAC", "mac: \"02:00:00:00:05:00\"", "mac: ^\"00:00:00:00:00:00\"",
			"mac: expected a unicast address"},
		{"off link", "address: 10.1.0.254", "address: ^10.1.1.254",
			"address: 10.1.1.254 is not on a subnet of port dc0"},
		{"link-local is on every link", "address: 10.1.0.254", "address: \"fe80::99\"", NULL},
		{"twice", "- port: dc0\n    address: 10.1.0.254", "- ^port: wan0\n    address: \"fe80::5\"",
			"this neighbour of port wan0 is already listed in line 211"},
		{"the same address on another port", "- port: dc0\n    address: 10.1.0.254",
			"- port: dc0\n    address: \"fe80::5\"", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* --- routes --- */

#define LAST_ROUTE "- prefix: 192.0.2.0/24\n    port: wan0\n    nexthop: \"fe80::6\""
#define VRF_ROUTE "- prefix: 10.3.0.0/16\n        port: dc0\n        nexthop: 10.1.0.253"

static void routes(void **state)
{
	static const struct conf_row rows[] = {
		{"leads nowhere", VRF_ROUTE, "- ^prefix: 10.3.0.0/16", "a route needs a port or a policy"},
		{"underlay route leads nowhere", LAST_ROUTE, "- ^prefix: 192.0.2.0/24",
			"a route needs a port or a policy"},
		{"on link", VRF_ROUTE, "- prefix: 10.3.0.0/16\n        port: dc0", NULL},
		{"leads two ways", VRF_ROUTE, "- prefix: 10.3.0.0/16\n        port: dc0\n        policy: ^to-dc2",
			"policy: a route has a port or a policy, not both"},
		{"nexthop of a policy", VRF_ROUTE,
			"- prefix: 10.3.0.0/16\n        policy: to-dc2\n        nexthop: ^10.1.0.253",
			"nexthop: a next hop needs a port"},
		{"IPv6 over IPv4", VRF_ROUTE,
			"- prefix: \"2001:db8:5::/48\"\n        port: dc0\n        nexthop: ^10.1.0.253",
			"nexthop: an IPv6 prefix needs an IPv6 next hop"},
		{"RFC 8950: IPv4 over IPv6", VRF_ROUTE,
			"- prefix: 10.3.0.0/16\n        port: dc0\n        nexthop: \"2001:db8:1::5\"", NULL},
		{"nexthop off link", LAST_ROUTE,
			"- prefix: 192.0.2.0/24\n    port: wan0\n    nexthop: ^\"2001:db8:3::5\"",
			"nexthop: 2001:db8:3::5 is not on a subnet of port wan0"},
		{"nexthop of another port", VRF_ROUTE,
			"- prefix: 10.3.0.0/16\n        port: dc0\n        nexthop: ^\"2001:db8:2::5\"",
			"nexthop: 2001:db8:2::5 is not on a subnet of port dc0"},
		{"nexthop is the port itself", VRF_ROUTE,
			"- prefix: 10.3.0.0/16\n        port: dc0\n        nexthop: ^10.1.0.1",
			"nexthop: 10.1.0.1 is the port's own address"},

		{"twice", LAST_ROUTE, "- ^prefix: \"::/0\"\n    port: wan0\n    nexthop: \"fe80::5\"",
			"this route is already listed in line 219"},
		{"ECMP", LAST_ROUTE, "- prefix: \"::/0\"\n    port: wan0\n    nexthop: \"fe80::6\"", NULL},
		{"ECMP over two ports", LAST_ROUTE, "- prefix: \"::/0\"\n    port: dc0\n    nexthop: \"fe80::5\"",
			NULL},
		{"on link twice", LAST_ROUTE,
			"- prefix: 192.0.2.0/24\n    port: wan0\n  - ^prefix: 192.0.2.0/24\n    port: wan0",
			"this route is already listed in line 225"},
		{"policy beside a port", VRF_ROUTE, "- ^prefix: 10.2.0.0/16\n        port: dc0",
			"this prefix is already listed in line 233; a policy distributes flows over its own paths "
			"only"},
		{"two policies", VRF_ROUTE, "- ^prefix: 10.2.0.0/16\n        policy: marked",
			"this prefix is already listed in line 233; a policy distributes flows over its own paths "
			"only"},
		{"longer prefix within", VRF_ROUTE, "- prefix: 10.2.0.0/17\n        policy: to-dc2", NULL},
		{"the same prefix in another table", LAST_ROUTE, "- prefix: 10.2.0.0/16\n    port: wan0", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* A prefix with `n` next hops. */
static void ecmp_group(unsigned int n, const char *messages)
{
	char *hops = NULL, *text;
	size_t size;
	FILE *out = open_memstream(&hops, &size);

	fprintf(out, "- prefix: 192.0.2.0/24\n    port: wan0");
	for (unsigned int i = 1; i < n; i++)
		fprintf(out, "\n  - %sprefix: 192.0.2.0/24\n    port: wan0\n    nexthop: \"fe80::1:%x\"",
			i >= 64 ? "^" : "", i);
	fclose(out);
	text = conf_replace(conf_full, LAST_ROUTE, hops);
	conf_expect("ECMP group", CONF_CHECK, text, messages);
	free(text);
	free(hops);
}

static void ecmp_limit(void **state)
{
	ecmp_group(64, NULL);
	ecmp_group(65, "this prefix has more than 64 next hops");
	ecmp_group(66, "this prefix has more than 64 next hops\nthis prefix has more than 64 next hops");
}

/* --- SIDs (RFC 9800, docs/protocol.md 3.3) --- */

#define UDT4 "sid: \"5f00:0:e102::/48\"\n    behavior: uDT4\n    vrf: blue"
#define UN "sid: \"5f00:0:100::/48\"\n    behavior: uN"
#define UA "sid: \"5f00:0:e005::/48\"\n    behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\""
#define UA64 "sid: \"5f00:0:100:e006::/64\"\n    behavior: uA\n    port: wan0\n    nexthop: \"2001:db8:2::5\""

static void sid_values(void **state)
{
	static const struct conf_row rows[] = {
		{"outside the block", UDT4, "sid: ^\"5f00:1:e102::/48\"\n    behavior: uDT4",
			"sid: it is outside node.usid.block"},
		{"a length between", UDT4, "sid: ^\"5f00:0:e102::/56\"\n    behavior: uDT4",
			"sid: expected a /48 (block and one id) or a /64 (block, node id, function)"},
		{"a whole address", UDT4, "sid: ^\"5f00:0:e102::\"\n    behavior: uDT4",
			"sid: expected a /48 (block and one id) or a /64 (block, node id, function)"},
		{"the block itself", UDT4, "sid: ^\"5f00::/32\"\n    behavior: uDT4",
			"sid: expected a /48 (block and one id) or a /64 (block, node id, function)"},
		{"uN of 64 bits", UN, "sid: ^\"5f00:0:100:200::/64\"\n    behavior: uN",
			"sid: a uN must be a /48: block and global id"},
		{"uN with a local id", UN, "sid: ^\"5f00:0:e000::/48\"\n    behavior: uN",
			"sid: id 0xe000 is not a global id; a uN needs one from 0x0001 to 0xdfff"},
		{"uN with the last global id", UN, "sid: \"5f00:0:dfff::/48\"\n    behavior: uN", NULL},
		{"uN with id 0", UN, "sid: ^\"5f00::/48\"\n    behavior: uN",
			"sid: id 0x0000 is not a global id; a uN needs one from 0x0001 to 0xdfff"},
		{"uA with a global id", UA,
			"sid: ^\"5f00:0:105::/48\"\n    behavior: uA\n    port: wan0\n    nexthop: \"fe80::5\"",
			"sid: id 0x0105 is not a local id; functions need one from 0xe000 to 0xffff"},
		{"uDT with the first local id", UDT4, "sid: \"5f00:0:e000::/48\"\n    behavior: uDT4", NULL},
		{"uDT with a global id", UDT4, "sid: ^\"5f00:0:dfff::/48\"\n    behavior: uDT4",
			"sid: id 0xdfff is not a local id; functions need one from 0xe000 to 0xffff"},
		{"/64 whose function is global", UDT4, "sid: ^\"5f00:0:100:200::/64\"\n    behavior: uDT4",
			"sid: id 0x0200 is not a local id; functions need one from 0xe000 to 0xffff"},
		{"/64 whose node id is local", UDT4, "sid: ^\"5f00:0:e100:e102::/64\"\n    behavior: uDT4",
			"sid: a /64 begins with the node's global id; 0xe100 is not a global id"},
		{"/64 whose node id is 0", UDT4, "sid: ^\"5f00:0:0:e102::/64\"\n    behavior: uDT4",
			"sid: a /64 begins with the node's global id; 0x0000 is not a global id"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void sid_behaviors(void **state)
{
	static const struct conf_row rows[] = {
		{"uA without port", UA, "^sid: \"5f00:0:e005::/48\"\n    behavior: uA\n    nexthop: \"fe80::5\"",
			"a uA needs the port of its adjacency"},
		{"uA without nexthop", UA64, "^sid: \"5f00:0:100:e006::/64\"\n    behavior: uA\n    port: wan0",
			"a uA needs the nexthop of its adjacency"},
		{"uA off link", UA,
			"sid: \"5f00:0:e005::/48\"\n    behavior: uA\n    port: wan0\n    nexthop: ^\"2001:db8:77::5\"",
			"nexthop: 2001:db8:77::5 is not on a subnet of port wan0"},
		{"uA to the port itself", UA64,
			"sid: \"5f00:0:100:e006::/64\"\n    behavior: uA\n    port: wan0\n    nexthop: "
			"^\"2001:db8:2::1\"",
			"nexthop: 2001:db8:2::1 is the port's own address"},
		{"End.X.PFC with usd", "flavors: [psp, usp]", "flavors: [psp, ^usd]",
			"flavors: End.X.PFC does not support usd; for data, use a DT46 SID after it"},
		{"adjacencies of another SID", "sid: \"5f00:0:100::/48\"\n    behavior: uN",
			"sid: \"5f00:0:100::/48\"\n    behavior: uN\n    adjacencies:\n      ^- {port: wan0, nexthop: "
			"\"fe80::5\"}",
			"adjacencies: a uN has no adjacencies"},
		{"several adjacencies", UA, UA "\n    adjacencies:\n      - {port: wan0, nexthop: \"fe80::7\"}", NULL},
		{"an adjacency of the other family", UA,
			UA "\n    adjacencies:\n      - {port: dc0, nexthop: ^10.1.0.253}",
			"nexthop: a uA sends IPv6 and needs an IPv6 next hop"},
		{"adjacency off link", "      - port: wan0\n        nexthop: \"2001:db8:2::5\"",
			"      - port: wan0\n        nexthop: ^\"2001:db8:77::5\"",
			"nexthop: 2001:db8:77::5 is not on a subnet of port wan0"},
		{"a paused port without speed",
			"    behavior: End.X.PFC\n    flavors: [psp, usp]\n    port: wan0\n    nexthop: \"fe80::5\"",
			"    behavior: End.X.PFC\n    flavors: [psp, usp]\n    port: ^dc1\n    nexthop: \"fe80::5\"",
			"port: an End.X.PFC pauses 'dc1', a virtual device, and pause times depend on its speed; set "
			"speed"},
		{"sources of a SID that ends no PFC", UA, UA "\n    allowed-sources: ^[\"2001:db8:2::/48\"]",
			"allowed-sources: a uA does not terminate PFC frames"},
		{"jitter of a SID that pauses nothing", UA, UA "\n    jitter: ^500",
			"jitter: a uA does not pause queues"},
		{"jitter of a SID that hands pauses to a gateway", UDT4,
			"sid: \"5f00:0:e102::/48\"\n    behavior: uDX2\n    port: dc0\n    jitter: ^5",
			"jitter: a uDX2 does not pause queues; for a gateway, set jitter of the PFC relay"},
		{"jitter of more than a watchdog bears", "    jitter: 500", "    jitter: ^100001",
			"jitter: expected a whole number from 0 to 100000 us, found '100001'"},
		{"uA with a VRF", UA, UA "\n    vrf: ^red",
			"vrf: a uA does not use a VRF; only DT4, DT6, DT46 and End.T do"},
		{"uN with a VRF", UN, UN "\n    vrf: ^red",
			"vrf: a uN does not use a VRF; only DT4, DT6, DT46 and End.T do"},
		{"uN with an adjacency", UN, UN "\n    port: ^wan0\n    nexthop: ^\"fe80::5\"",
			"port: a uN has no adjacency\nnexthop: a uN has no adjacency"},
		{"uDT with a port", UDT4, UDT4 "\n    port: ^wan0", "port: a uDT4 has no adjacency"},
		{"uA over IPv4", UA,
			"sid: \"5f00:0:e005::/48\"\n    behavior: uA\n    port: wan0\n    nexthop: ^10.1.0.5",
			"nexthop: a uA sends IPv6 and needs an IPv6 next hop"},
		{"DX4 over IPv6", "behavior: End.DX4\n    port: dc0\n    nexthop: 10.1.0.254",
			"behavior: End.DX4\n    port: dc0\n    nexthop: \"fe80::1\"", NULL},
		{"DX6 over IPv4", "behavior: End.DX4\n    port: dc0\n    nexthop: 10.1.0.254",
			"behavior: End.DX6\n    port: dc0\n    nexthop: ^10.1.0.254",
			"nexthop: an End.DX6 sends IPv6 and needs an IPv6 next hop"},
		{"DX2 without port", UDT4, "^sid: \"5f00:0:e102::/48\"\n    behavior: uDX2",
			"a uDX2 needs the port that frames leave by"},
		{"DX2 with a next hop", UDT4,
			"sid: \"5f00:0:e102::/48\"\n    behavior: uDX2\n    port: dc0\n    nexthop: ^10.1.0.254",
			"nexthop: a uDX2 has no adjacency"},
		{"flavours of a DT", UDT4, UDT4 "\n    flavors: ^[psp]",
			"flavors: a uDT4 has no flavors; only uN, uA, End, End.X, End.T and End.X.PFC do"},
		{"no flavours of a uN", UN, UN "\n    flavors: [none]", NULL},
		{"none and some", "[psp, usp, usd]", "[psp, ^none]",
			"flavors: none cannot be combined with other values"},
		{"a flavour twice", "[psp, usp, usd]", "[psp, usd, ^psp]", "flavors: this value is listed twice"},
		{"allowed twice", "[ping, traceroute]", "[ping, ^ping]", "allow: this value is listed twice"},
		{"nothing allowed", "[ping, traceroute]", "[none]", NULL},
		{"End inside the block", "\"5f00:9:1::/48\"", "^\"5f00:0:1::/48\"",
			"sid: node.usid.block is for uSIDs only (uN, uA, uD*); an End must be outside"},
		{"End around the block", "\"5f00:9:1::/48\"", "^\"5f00::/24\"",
			"sid: node.usid.block is for uSIDs only (uN, uA, uD*); an End must be outside"},
		{"End nowhere", "\"5f00:9:1::/48\"", "^\"2001:db8:1::/48\"",
			"sid: it is neither in 5f00::/16 nor in node.sid-blocks"},
		{"sources among the SIDs", "sid-blocks: [\"2001:db8:f0::/48\"]",
			"sid-blocks: [\"2001:db8:f0::/48\", ^\"2001:db8:2::/47\"]",
			"sid-blocks: this block contains infrastructure sources, but a SID cannot be a source address\n"
			"addresses: 2001:db8:2::1/64 is in the SID space; interface addresses must be outside",
			"\"2001:db8:2::1/64\"]", "^\"2001:db8:2::1/64\"]"},
		{"uDT without VRF", UDT4, "sid: \"5f00:0:e102::/48\"\n    behavior: uDT4", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void sid_surroundings(void **state)
{
	static const struct conf_row rows[] = {
		{"a block of another length", "block: \"5f00::/32\"", "block: ^\"5f00::/20\"",
			"block: expected a length from /16 to /64 of whole bytes, before 16-bit ids (RFC 9800; mostly "
			"a /32 "
			"or a /48), found a /20"},
		{"too long a block", "block: \"5f00::/32\"", "block: ^\"5f00::/121\"",
			"block: expected a length from /16 to /64 of whole bytes, before 16-bit ids (RFC 9800; mostly "
			"a /32 "
			"or a /48), found a /121"},
		{"no infrastructure", "  infrastructure: [\"fd00::/16\", \"2001:db8:2::/48\"]\n", "",
			"sids: without node.infrastructure every packet to a SID is dropped; set node.infrastructure",
			"\nsids:\n  - sid", "\nsids:\n  ^- sid"},
		{"a SID as infrastructure", "\"2001:db8:2::/48\"]", "^\"5f00:0:100::/48\"]",
			"infrastructure: this prefix is in node.usid.block, but a SID cannot be a source address"},
		{"the block as infrastructure", "\"2001:db8:2::/48\"]", "^\"5f00::/32\"]",
			"infrastructure: this prefix is in node.usid.block, but a SID cannot be a source address"},
		{"everybody", "\"2001:db8:2::/48\"]", "\"::/0\"]", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
	conf_expect("a uSID without block", CONF_CHECK,
		"node: {name: a, loopback: \"fd00::1\", infrastructure: [\"fd00::/16\"]}\n"
		"lcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: p, device: net_null0, side: dc}]\n"
		"sids: [{sid: ^\"5f00:0:1::/48\", behavior: uN}, {sid: \"5f00:9:1::/48\", behavior: End}]\n",
		"sid: a uN needs node.usid.block");
#define BLOCK48(sids) \
	"node: {name: a, loopback: \"fd00::1\", infrastructure: [\"fd00::/16\"], usid: {block: " \
	"\"2001:db8:f::/48\"}}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"ports: [{name: p, device: net_null0, side: wan}]\n" \
	"sids: [" sids "]\n"
	/* RFC 9800 with LBL 48, and a classic locator beside it */
	conf_expect("a block of 48 bits", CONF_CHECK,
		BLOCK48("{sid: \"2001:db8:f:100::/64\", behavior: uN}, {sid: \"2001:db8:f:100:e001::/80\", behavior: "
			"uDT46}, "
			"{sid: \"2001:db8:f:e002::/64\", behavior: uDT46}, {sid: \"5f00:9:1::/64\", behavior: End}"),
		NULL);
	conf_expect("a uN of two ids", CONF_CHECK, BLOCK48("{sid: ^\"2001:db8:f:100:200::/80\", behavior: uN}"),
		"sid: a uN must be a /64: block and global id");
	conf_expect("neither one id nor two", CONF_CHECK, BLOCK48("{sid: ^\"2001:db8:f:100::/72\", behavior: uN}"),
		"sid: expected a /64 (block and one id) or a /80 (block, node id, function)");
	/* without SIDs neither is required */
	conf_expect("no SIDs", CONF_CHECK,
		"node: {name: a, loopback: \"fd00::1\", usid: {block: \"5f00::/32\"}}\n"
		"lcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: p, device: net_null0, side: dc}]\n",
		NULL);
}

/* --- circuits --- */

static void circuits(void **state)
{
#define PW1 "  - name: pw1\n    port: dc0\n    vlan: 100\n    policy: frames\n"
	static const struct conf_row rows[] = {
		{"packets instead of frames", "policy: frames", "policy: ^marked",
			"policy: 'marked' carries packets, not frames; a circuit needs H.Encaps.L2 or H.Encaps.L2.Red"},
		{"frames instead of packets", "policy: marked", "policy: ^frames",
			"policy: 'frames' carries Ethernet frames; a route needs H.Encaps or H.Encaps.Red"},
		{"inside the domain", "port: dc0\n    vlan", "port: ^wan0\n    vlan",
			"port: 'wan0' is inside the domain (side: wan); a circuit needs a port outside"},
		{"unknown port", "port: dc0\n    vlan", "port: ^dc7\n    vlan",
			"port: there is no 'dc7' in ports; did you mean 'dc0'?"},
		{"same VLAN of a port", PW1, PW1 "  - name: pw2\n    port: dc0\n    vlan: ^100\n    policy: frames\n",
			"circuit 'pw1' of port 'dc0' already takes these frames"},
		{"same VLAN of another port", PW1,
			PW1 "  - name: pw2\n    port: dc1\n    vlan: 100\n    policy: frames\n", NULL},
		{"a VLAN and the rest", PW1, PW1 "  - name: pw2\n    port: dc0\n    policy: frames\n", NULL},
		{"the rest twice", PW1,
			"  - name: pw1\n    port: dc0\n    policy: frames\n  - ^name: pw2\n    port: dc0\n    policy: "
			"frames\n",
			"circuit 'pw1' of port 'dc0' already takes these frames"},
		{"name twice", PW1, PW1 "  - name: ^pw1\n    port: dc1\n    policy: frames\n",
			"name pw1 is used twice in circuits, first in line 352"},
		{"a longer block", "\"5f00:1::/32\"]", "\"5f00:1::/48\"]", NULL},
		{"another length of block", "\"5f00:1::/32\"]", "^\"5f00:1::/60\"]",
			"more-blocks: expected a length from /16 to /64 of whole bytes, before 16-bit ids (RFC 9800; "
			"mostly a "
			"/32 or a /48), found a /60"},
		{"a block in the block", "\"5f00:1::/32\"]", "^\"5f00:0:7::/48\"]",
			"more-blocks: it overlaps the block 5f00::/32"},
		{"only backups", "    paths:\n      - name: raw\n        segments: [\"2001:db8:9::2\"]\n",
			"    paths:\n      ^- name: raw\n        segments: [\"2001:db8:9::2\"]\n        backup: true\n",
			"paths: all paths are backups; at least one must not be a backup"},
		{"two sources", "source-prefix: \"fd", "source: \"fd00::7\"\n    source-prefix: ^\"fd",
			"source-prefix: source is set too; remove one of them"},
		{"a prefix too long", "source-prefix: \"fd00:0:1:ff::/64\"", "source-prefix: ^\"fd00:0:1:ff::/121\"",
			"source-prefix: expected at most a /120, which holds 255 paths; found a /121"},
		{"SIDs as sources", "source-prefix: \"fd00:0:1:ff::/64\"", "source-prefix: ^\"5f00:1:ff::/64\"",
			"source-prefix: it is in the SID space, but a SID cannot be a source address"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

/* --- the boundary of the domain --- */

static void boundary(void **state)
{
#define DC1_PORT "  - name: dc1\n    device: net_null1\n    side: dc\n"
	static const struct conf_row rows[] = {
		{"a host port without a list", DC1_PORT, "  - name: dc1\n    device: net_null1\n    side: ^host\n",
			"side: a host port needs allow-sids or hmac: required"},
		{"a host port with one", DC1_PORT,
			"  - name: dc1\n    device: net_null1\n    side: host\n    allow-sids: [\"5f00:0:1::/48\"]\n",
			NULL},
		{"a list elsewhere", DC1_PORT, DC1_PORT "    allow-sids: ^[\"5f00:0:1::/48\"]\n",
			"allow-sids: only a port with side: host uses this list"},
		{"HMAC elsewhere", DC1_PORT, DC1_PORT "    hmac: ^required\n",
			"hmac: only a port with side: host can require an HMAC"},
		{"filters off", DC1_PORT, DC1_PORT "    boundary-off: [sids, sources]\n", NULL},
		{"a filter off twice", DC1_PORT, DC1_PORT "    boundary-off: [sids, ^sids]\n",
			"boundary-off: this value is listed twice"},
		{"a filter that is not there", "boundary-off: [sources]", "boundary-off: [^sids]",
			"boundary-off: only a dc port has the filter sids"},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
	conf_expect("HMACs without keys", CONF_CHECK,
		"node: {name: a, loopback: \"fd00::1\", usid: {block: \"5f00::/32\"}, infrastructure: "
		"[\"fd00::/16\"]}\n"
		"lcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: p, device: net_null0, side: host, hmac: ^required}]\n"
		"sids: [{sid: \"5f00:0:1::/48\", behavior: uN, hmac: ^required}]\n"
		"policies: [{name: t, hmac-key: ^7, paths: [{name: a, segments: [\"5f00:0:2::\"]}]}]\n"
		"routes: [{prefix: \"::/0\", port: p, nexthop: \"fe80::9\"}]\n",
		"hmac: there is no key file; set hmac.keys\n"
		"hmac: there is no key file; set hmac.keys\n"
		"hmac-key: there is no key file; set hmac.keys");
}

/* --- policies --- */

static void policies(void **state)
{
	static const char unicast[] = "segments: a SID must be a routable unicast address";
	static const char zero[] = "segments: id 0 is reserved (RFC 9800 section 5)";
	static const struct conf_row rows[] = {
		{"source is a SID", "source: \"fd00:0:1::2\"", "source: ^\"5f00:0:100::\"",
			"source: it is in the SID space, but a SID cannot be a source address"},
		{"value without set", "dscp: set\n", "dscp: copy\n", "dscp-value: it is used only with dscp: set",
			"dscp-value: 46", "dscp-value: ^46"},
		{"default value without set", "dscp: set\n", "dscp: copy\n", NULL, "dscp-value: 46", "dscp-value: 0"},
		{"set without value", "    dscp-value: 46\n", "", NULL},
		{"control traffic's", "dscp-value: 46", "dscp-value: ^48",
			"dscp-value: expected a whole number from 0 to 47, found '48'"},
		{"multicast segment", "[\"2001:db8:9::1\"]", "[^\"ff02::1\"]", unicast},
		{"unspecified segment", "[\"2001:db8:9::1\"]", "[^\"::\"]", unicast},
		{"loopback segment", "[\"2001:db8:9::1\"]", "[^\"::1\"]", unicast},
		{"link-local segment", "[\"2001:db8:9::1\"]", "[^\"fe80::5\"]", unicast},
		{"the bare block", "[\"2001:db8:9::1\"]", "[\"5f00:0:500::\", ^\"5f00::\"]", zero},
		{"id 0 in front", "[\"2001:db8:9::1\"]", "[^\"5f00:0:0:500::\"]", zero},
		{"id 0 between others", "[\"2001:db8:9::1\"]", "[^\"5f00:0:500:0:300::\"]", zero},
		{"zeros in a foreign SID", "[\"2001:db8:9::1\"]", "[\"5f00:1:0:500::\"]", NULL},
		{"six ids", "[\"2001:db8:9::1\"]", "[\"5f00:0:500:501:502:503:504:505\"]", NULL},
		{"ends here", "[\"2001:db8:9::1\"]", "^[\"5f00:0:100::\", \"5f00:0:e101::\"]",
			"segments: the path ends at this node"},
		{"leads nowhere", "[\"2001:db8:9::1\"]", "^[\"5f00:0:100::\"]",
			"segments: the list contains only SIDs of this node"},
		{"begins here", "[\"2001:db8:9::1\"]", "[\"5f00:0:100::\", \"5f00:0:e005::\", \"5f00:0:500::\"]", NULL},
	};

	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void longest_path(void **state)
{
	static const char message[] = "segments: the list takes more than 16 addresses; an SRH has room for 16";

	for (unsigned int n = 16; n <= 17; n++) {
		char *list = NULL, *text;
		size_t size;
		FILE *out = open_memstream(&list, &size);

		fprintf(out, "%s[", n > 16 ? "^" : "");
		for (unsigned int i = 0; i < n; i++)
			fprintf(out, "%s\"2001:db8:9::%x\"", i ? ", " : "", i + 1);
		fprintf(out, "]");
		fclose(out);
		text = conf_replace(conf_full, "[\"2001:db8:9::1\"]", list);
		conf_expect("addresses", CONF_CHECK, text, n > 16 ? message : NULL);
		free(text);
		free(list);
	}
}

/* --- slices, classes, queues --- */

static void qos(void **state)
{
	static const struct conf_row rows[] = {
		{"slice of a port", "slice: gold\n    class-map: roce", "slice: ^golt\n    class-map: roce",
			"slice: there is no 'golt' in slices; did you mean 'gold'?"},
		{"slice of a VRF", "slice: silver", "slice: ^bronze", "slice: there is no 'bronze' in slices"},
		{"class map", "class-map: roce", "class-map: ^roxe",
			"class-map: there is no 'roxe' in class-maps; did you mean 'roce'?"},
		{"range backwards", "from: 24\n        to: 31", "from: 24\n        to: ^23",
			"to: 23 is less than from, 24"},
		{"ranges overlap", "- from: 46", "- ^from: 31", "DSCP 31 is also in the range of line 142"},
		{"ECN limits", "max: 1M", "max: ^99K", "ecn: max, 101376, is less than min, 102400"},
		{"ECN class", "classes: [3, 4]", "classes: [3, ^8]", "classes: expected classes from 0 to 7, found 8"},
		{"PFC from nobody", "priorities: [3, 4]\n      peers: [\"02:00:00:00:0a:01\"]\n      learn: true\n",
			"priorities: ^[3, 4]\n", "pfc: no source may pause this port; set peers, or learn: true"},
		{"headroom of an unknown speed", "    device: net_null1\n",
			"    device: net_null1\n    pfc: {priorities: [3], peers: [\"02:00:00:00:0b:01\"], buffer: "
			"near}\n",
			NULL},
		{"PFC peer", "peers: [\"02:00:00:00:0a:01\"]", "peers: [^\"01:80:c2:00:00:01\"]",
			"peers: expected a unicast address"},
		{"PFC priority", "priorities: [3, 4]", "priorities: [3, ^9]",
			"priorities: expected classes from 0 to 7, found 9"},
		{"PFC buffer", "buffer: far", "buffer: ^fax",
			"buffer: there is no 'fax' in buffer-profiles; did you mean 'far'?"},
		{"bounce into a lossless class", "bounce-class: 1", "bounce-class: ^4",
			"bounce-class: 4 is one of the priorities of pfc, and bounced packets must not wait in a class "
			"that can be paused; use another class"},
		{"XON above XOFF", "xon: 300K", "xon: ^513K", "xon: 525312 is larger than xoff, 524288"},
		{"ECN class twice", "classes: [3, 4]", "classes: [3, ^3]", "classes: 3 is listed twice"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_is_valid),
		cmocka_unit_test(references),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(promises),
		cmocka_unit_test(lcores),
		cmocka_unit_test(lcore_questions),
		cmocka_unit_test(ports),
		cmocka_unit_test(pci_addresses),
		cmocka_unit_test(addresses),
		cmocka_unit_test(addresses_in_the_block),
		cmocka_unit_test(loopback),
		cmocka_unit_test(neighbors),
		cmocka_unit_test(routes),
		cmocka_unit_test(ecmp_limit),
		cmocka_unit_test(sid_values),
		cmocka_unit_test(sid_behaviors),
		cmocka_unit_test(sid_surroundings),
		cmocka_unit_test(policies),
		cmocka_unit_test(circuits),
		cmocka_unit_test(boundary),
		cmocka_unit_test(longest_path),
		cmocka_unit_test(qos),
	};

	return cmocka_run_group_tests_name("config_check", tests, NULL, NULL);
}
