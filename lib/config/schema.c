/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The declared configuration. Each key: name, type, limits, default, whether a reload may change it, and one
 * help text. The order here is the order of the reference and of `show config`. Pure.
 */
#include "base/log.h"
#include "config/schema_priv.h"

static const char *const words_side[] = CFG_WORDS(CFG_SIDES);
static const char *const words_hmac[] = CFG_WORDS(CFG_HMAC_CHECKS);
static const char *const words_hmac_profile[] = CFG_WORDS(CFG_HMAC_PROFILES);
static const char *const words_boundary[] = CFG_WORDS(CFG_BOUNDARIES);
static const char *const words_hugepages[] = CFG_WORDS(CFG_HUGEPAGES);
static const char *const words_fib[] = CFG_WORDS(CFG_FIB_KINDS);
static const char *const words_idle[] = CFG_WORDS(CFG_IDLE_POLICIES);
static const char *const words_behavior[] = {BEHAVIORS(CFG_BEHAVIOR_TEXT) NULL};
static const char *const words_allow[] = CFG_WORDS(CFG_ALLOWED);
static const char *const words_encap[] = CFG_WORDS(CFG_ENCAPS);
static const char *const words_tag[] = CFG_WORDS(CFG_TAGS);
static const char *const words_log[] = CFG_WORDS(CFG_LOG_TO);
static const char *const words_level[] = CFG_WORDS(LOG_LEVELS);
static const char *const words_dscp[] = CFG_WORDS(CFG_DSCP_MODES);

/* clang-format off */

static const struct cfg_key usid_keys[] = {
	{"block", CFG_PREFIX6, .offset = AT(struct cfg_usid, block), .flags = CFG_REQUIRED,
		.example = "5f00:0::/32",
		.help = "Locator block of the domain's uSIDs. 32 bits long (RFC 9800: LBL 32, LNFL 16)."},
	{"more-blocks", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_usid, more_blocks), .max = 16,
		.example = "[\"5f00:1::/32\"]",
		.help = "Blocks of other parts of the domain, of the same structure: their SIDs too are packed into "
			"containers (RFC 9800 section 6.2), each block into its own."},
	{"node", CFG_UINT, .offset = AT(struct cfg_usid, node), .min = 1, .max = 0xdfff, .example = "0x0100",
		.fallback = "1",
		.help = "The node's global id: 0x0001-0xdfff; 0xe000-0xffff are local ids (functions)."},
};
static const struct cfg_map usid_map = MAP_OF(usid_keys, "node.usid", struct cfg_usid);

static const struct cfg_key node_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_node, name), .flags = CFG_REQUIRED | CFG_START_ONLY,
		.example = "pe1", .help = "Name of this node: log lines, runtime files, prompts."},
	{"loopback", CFG_IPV6, .offset = AT(struct cfg_node, loopback), .flags = CFG_REQUIRED,
		.example = "fd00:0:1::1",
		.help = "Source of outer headers and of ICMPv6 errors; answers ping on every port."},
	{"usid", CFG_MAP, .offset = AT(struct cfg_node, usid), .map = &usid_map,
		.help = "Structure of the domain's compressed SIDs."},
	{"sid-blocks", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_node, sid_blocks), .max = 16,
		.example = "[\"2001:db8:f0::/48\"]",
		.help = "Prefixes that SIDs of the domain are taken from, besides 5f00::/16 (RFC 9602) and usid.block. "
			"Nothing from outside the domain may go there."},
	{"infrastructure", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_node, infrastructure),
		.max = 64, .example = "[\"fd00::/16\"]",
		.help = "Sources inside the SRv6 domain. Packets to local SIDs from any other source are dropped "
			"(RFC 8754 section 5.1). Required where there are SIDs."},
	{"slice-option", CFG_UINT, .offset = AT(struct cfg_node, slice_option), .max = 63, .fallback = "0",
		.help = "Type of the hop-by-hop option that carries the slice's id (draft-ietf-6man-enhanced-vpn-vtn-id: none is assigned "
			"yet; 30 and 62 are for experiments, RFC 4727), for slice-by: option; 0: there is none."},
};
static const struct cfg_map node_map = MAP_OF(node_keys, "node", struct cfg_node);

static const struct cfg_key lcores_keys[] = {
	{"control", CFG_UINT, .offset = AT(struct cfg_lcores, control), .max = 126,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "0",
		.help = "lcore of the control protocols: ND, ARP, ICMP, timers."},
	{"rx", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_lcores, rx), .min = 1, .max = 64,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "[1]",
		.help = "lcores that receive and classify. Receive queues are spread over them."},
	{"worker", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_lcores, worker), .min = 1, .max = 64,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "[1]",
		.help = "lcores that own the egress of ports. One that is also under rx runs to completion."},
	{"cpus", CFG_TEXT, .offset = AT(struct cfg_lcores, cpus), .flags = CFG_START_ONLY,
		.example = "\"0@0,1@0\"",
		.help = "CPU of each lcore, as LCORE@CPU,... Default: lcore N on CPU N. Several lcores may share a "
			"CPU; they then yield when idle."},
};
static const struct cfg_map lcores_map = MAP_OF(lcores_keys, "lcores", struct cfg_lcores);

static const struct cfg_key memory_keys[] = {
	{"hugepages", CFG_WORD, .offset = AT(struct cfg_memory, hugepages), .words = words_hugepages,
		.flags = CFG_START_ONLY, .fallback = "auto",
		.help = "auto: hugepages when enough are free, else ordinary memory."},
	{"buffers", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, buffers), .min = 512,
		.max = 64u << 20, .flags = CFG_START_ONLY, .fallback = "16K",
		.help = "Packet buffers in the pool. --check prints who may hold how many of them."},
	{"buffer-size", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_memory, buffer_size), .min = 2048,
		.max = 16384, .flags = CFG_START_ONLY, .fallback = "2K",
		.help = "Bytes of a frame that one packet buffer takes, a multiple of 1K. A longer frame takes several, and --check counts as "
			"many for each; 10K holds any of an mtu of 9216."},
	{"lossless", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, lossless), .max = 64u << 20,
		.flags = CFG_START_ONLY, .fallback = "0",
		.help = "Packet buffers, out of the pool, that lossless classes of profiles with alpha share below their headroom."},
	{"ring", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, ring), .min = 64, .max = 65536,
		.flags = CFG_START_ONLY, .fallback = "1K",
		.help = "Slots of each ring between two lcores; rounded up to a power of two."},
	{"fib", CFG_WORD, .offset = AT(struct cfg_memory, fib), .words = words_fib, .fallback = "fast",
		.help = "Ignored: one kind of table serves every number of routes. Accepted so that files of earlier versions load."},
};
static const struct cfg_map memory_map = MAP_OF(memory_keys, "memory", struct cfg_memory);

static const struct cfg_key idle_keys[] = {
	{"policy", CFG_WORD, .offset = AT(struct cfg_idle, policy), .words = words_idle, .fallback = "poll",
		.flags = CFG_START_ONLY,
		.help = "poll: lcores never sleep. sleep: an lcore without work sleeps, longer each time."},
	{"max-sleep", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_idle, max_sleep_us), .min = 1,
		.max = 10000, .fallback = "100", .flags = CFG_START_ONLY,
		.help = "Longest sleep of an idle lcore under policy sleep."},
};
static const struct cfg_map idle_map = MAP_OF(idle_keys, "idle", struct cfg_idle);

static const struct cfg_key icmp_keys[] = {
	{"errors-per-port", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, errors_per_port),
		.max = 1000000, .fallback = "100",
		.help = "ICMP errors caused by packets of one port (RFC 4443 section 2.4 f)."},
	{"errors", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, errors), .max = 1000000,
		.fallback = "1000", .help = "ICMP errors of the whole node."},
	{"echo", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, echo), .max = 1000000,
		.fallback = "1000", .help = "Echo replies of the whole node."},
};
static const struct cfg_map icmp_map = MAP_OF(icmp_keys, "icmp", struct cfg_icmp);

static const struct cfg_key discovery_keys[] = {
	{"retransmit", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, retransmit_ms), .min = 10,
		.max = 60000, .fallback = "1000", .help = "Time between two solicitations (RFC 4861 RetransTimer)."},
	{"probes", CFG_UINT, .offset = AT(struct cfg_discovery, probes), .min = 1, .max = 20, .fallback = "3",
		.help = "Solicitations before a neighbour counts as unreachable."},
	{"reachable", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, reachable_ms), .min = 100,
		.max = 3600000, .fallback = "30000",
		.help = "Mean time a confirmed neighbour stays reachable (RFC 4861 ReachableTime)."},
	{"stale", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, stale_ms), .min = 1000,
		.max = 86400000, .fallback = "600000",
		.help = "A learnt neighbour that nothing was sent to for so long is forgotten."},
	{"hold", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, hold), .min = 1, .max = 1024,
		.fallback = "16", .help = "Packets that wait for one unresolved neighbour; the next one is dropped."},
	{"hold-total", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, hold_total), .min = 1,
		.max = 65536, .fallback = "512", .flags = CFG_START_ONLY,
		.help = "Packets that wait for unresolved neighbours behind one worker."},
	{"max", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, max), .min = 16, .max = 65536,
		.fallback = "1K", .flags = CFG_START_ONLY, .help = "Learnt neighbours of the whole node."},
};
static const struct cfg_map discovery_map =
	MAP_OF(discovery_keys, "neighbor-discovery", struct cfg_discovery);

static const struct cfg_key metrics_keys[] = {
	{"listen", CFG_TEXT, .offset = AT(struct cfg_metrics, listen), .flags = CFG_START_ONLY,
		.example = "\"127.0.0.1:9111\"",
		.help = "Address and port of the OpenMetrics page (HTTP, no access control). Default: none."},
};
static const struct cfg_map metrics_map = MAP_OF(metrics_keys, "metrics", struct cfg_metrics);

static const struct cfg_key log_keys[] = {
	{"to", CFG_WORD, .offset = AT(struct cfg_log, to), .words = words_log, .fallback = "stderr",
		.flags = CFG_START_ONLY, .help = "Where log lines go."},
	{"level", CFG_WORD, .offset = AT(struct cfg_log, level), .words = words_level, .fallback = "notice",
		.help = "Least urgent level that is logged; set log changes it for one module."},
	{"rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_log, rate), .min = 1, .max = 100000,
		.fallback = "50", .help = "Lines a second and module; what is beyond is counted and summed up."},
};
static const struct cfg_map log_map = MAP_OF(log_keys, "log", struct cfg_log);

static const struct cfg_key descriptors_keys[] = {
	{"rx", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_descriptors, rx), .min = 64, .max = 16384,
		.fallback = "512", .flags = CFG_START_ONLY, .help = "Descriptors of each receive queue."},
	{"tx", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_descriptors, tx), .min = 64, .max = 16384,
		.fallback = "512", .flags = CFG_START_ONLY, .help = "Descriptors of the transmit queue."},
};
static const struct cfg_map descriptors_map =
	MAP_OF(descriptors_keys, "descriptors", struct cfg_descriptors);

static const struct cfg_key port_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_port, name), .example = "dc0",
		.flags = CFG_REQUIRED | CFG_IDENTITY | CFG_START_ONLY, .help = "Name used everywhere else in this file."},
	{"device", CFG_TEXT, .offset = AT(struct cfg_port, device),
		.flags = CFG_REQUIRED | CFG_START_ONLY | CFG_UNIQUE, .example = "net_null0",
		.help = "PCI address, or a DPDK virtual device with its arguments."},
	{"side", CFG_WORD, .offset = AT(struct cfg_port, side), .words = words_side, .flags = CFG_REQUIRED,
		.example = "dc",
		.help = "dc: outside the SRv6 domain, packets to its SIDs are dropped. wan: inside. host: a host that "
			"writes SIDs itself; what it may reach is in allow-sids, or proven by an HMAC."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_port, vrf), .refs = "vrfs", .example = "tenant-a",
		.help = "Routing table of packets that arrive here. Default: the underlay's."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_port, mtu), .min = 1280, .max = 16000,
		.fallback = "1500", .flags = CFG_START_ONLY, .help = "Largest IP packet of the port."},
	{"mac", CFG_MAC, .offset = AT(struct cfg_port, mac), .flags = CFG_START_ONLY,
		.example = "\"02:00:00:00:d0:00\"",
		.help = "What the port sends and answers as. Default: the device's own address."},
	{"speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_port, speed_bps), .min = 1000000,
		.max = 3200000000000ull, .flags = CFG_START_ONLY, .example = "100G",
		.help = "Line rate. Default: what the device reports; virtual devices report none."},
	{"rx-queues", CFG_UINT, .offset = AT(struct cfg_port, rx_queues), .min = 1, .max = 64, .fallback = "1",
		.flags = CFG_START_ONLY,
		.help = "Receive queues; more than one spreads flows (RSS) over several rx lcores."},
	{"descriptors", CFG_MAP, .offset = AT(struct cfg_port, descriptors), .map = &descriptors_map,
		.help = "Sizes of the device's rings."},
	{"worker", CFG_SCALE, .offset = AT(struct cfg_port, worker), .max = 126, .word = "any",
		.word_value = CFG_NONE, .fallback = "any", .flags = CFG_START_ONLY,
		.help = "lcore that owns the egress. any: ports are dealt out to the workers in turn."},
	{"queue-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, queue_limit), .min = 32,
		.max = 1 << 20, .fallback = "256",
		.help = "Packets that one queue, of a slice and traffic class, may keep waiting here before more are dropped. "
			"Lossless classes are bounded by their buffers instead."},
	{"buffer-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, buffer_limit), .min = 32, .max = 16u << 20,
		.fallback = "1792",
		.help = "Packet buffers that all queues of the port together may hold for lossy classes. A slice may have "
			"as many as are left for the others."},
	{"control-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, control_limit), .min = 32, .max = 65536,
		.fallback = "256", .help = "Packet buffers set aside for control traffic that leaves here."},
	{"control-rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_port, control_rate), .max = 100000000,
		.fallback = "100K",
		.help = "Packets of DSCP 48-63 from infrastructure sources that arrive here and are forwarded as control "
			"traffic, for each rx lcore; more of them go with the data."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_port, slice), .refs = "slices", .example = "gold",
		.help = "Slice of what arrives here. Default: that of the port's VRF."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_port, class_map), .refs = "class-maps", .example = "roce",
		.help = "Class of what arrives here, by DSCP or PCP."},
	{"bounce-class", CFG_UINT, .offset = AT(struct cfg_port, bounce_class), .max = 7, .fallback = "0",
		.help = "Queue of lossless packets that leave by the port they came in by: never their own, or two nodes could "
			"wait for each other."},
	{"ecn", CFG_MAP, .offset = AT(struct cfg_port, ecn), .map = &cfg_ecn_map,
		.help = "Congestion marks (RFC 3168) on what leaves here."},
	{"pfc", CFG_MAP, .offset = AT(struct cfg_port, pfc), .map = &cfg_pfc_map,
		.help = "Priority flow control with the neighbour."},
	{"boundary-off", CFG_LIST_OF, .item = CFG_WORD, .words = words_boundary, .max = 3,
		.offset = AT(struct cfg_port, boundary_off), .example = "[sources]",
		.help = "Filters of RFC 8754 section 5.1 that this port does without. sids: on a dc port, the one that drops "
			"packets to the SID space. sources: the one that drops packets to own SIDs from sources outside "
			"node.infrastructure, and on a dc port without VRF what is forwarded from sources inside it."},
	{"allow-sids", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_port, allow_sids), .max = 64,
		.help = "side: host: prefixes that its packets into the SID space must lie in, with the destination and with "
			"every segment of the SRH."},
	{"hmac", CFG_WORD, .offset = AT(struct cfg_port, hmac), .words = words_hmac, .fallback = "off",
		.help = "side: host: required: a packet into the SID space that allow-sids does not cover needs an SRH with "
			"a valid HMAC TLV (RFC 8754 section 2.1.2)."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct cfg_port, addresses), .max = 32,
		.example = "[10.1.0.1/24, \"2001:db8:1::1/64\"]",
		.help = "Own addresses with their subnets. A link-local one is made of the MAC if none is given."},
};
static const struct cfg_map port_map = MAP_OF(port_keys, "a port", struct cfg_port);

static const struct cfg_key interface_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_interface, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "dc0.100",
		.help = "Name used wherever a port with a next hop is named: neighbors, routes, adjacencies of SIDs."},
	{"port", CFG_NAME, .offset = AT(struct cfg_interface, port), .flags = CFG_REQUIRED, .refs = "ports", .example = "dc0",
		.help = "Port whose frames it takes. What is not said here is the port's: side, MAC, class map, boundary."},
	{"vlan", CFG_UINT, .offset = AT(struct cfg_interface, vlan), .min = 1, .max = CFG_VLAN_MAX, .flags = CFG_REQUIRED,
		.example = "100", .help = "VLAN id of the outer tag, or of the only one."},
	{"inner-vlan", CFG_UINT, .offset = AT(struct cfg_interface, inner_vlan), .max = CFG_VLAN_MAX, .fallback = "0",
		.help = "VLAN id of the second tag (802.1Q); 0: there is one tag."},
	{"tag", CFG_WORD, .offset = AT(struct cfg_interface, tag), .words = words_tag, .fallback = "auto",
		.help = "Type of the outer tag. auto: 802.1ad where there are two tags, else 802.1q."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_interface, vrf), .refs = "vrfs", .example = "tenant-a",
		.help = "Routing table of packets that arrive here. Default: the underlay's."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_interface, slice), .refs = "slices", .example = "gold",
		.help = "Slice of what arrives here. Default: that of the VRF."},
	{"mtu", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_interface, mtu), .min = 1280, .max = 16000, .word = "port",
		.word_value = CFG_NONE, .fallback = "port", .help = "Largest IP packet, tags not counted. port: as on the port."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct cfg_interface, addresses), .max = 32,
		.example = "[10.1.100.1/24]",
		.help = "Own addresses with their subnets. A link-local one is made of the MAC if none is given."},
};
static const struct cfg_map interface_map = MAP_OF(interface_keys, "an interface", struct cfg_interface);

static const struct cfg_key neighbor_keys[] = {
	{"port", CFG_NAME, .offset = AT(struct cfg_neighbor, port), .flags = CFG_REQUIRED,
		.refs = "ports or interfaces", .example = "dc0", .help = "Port or interface the neighbour is on."},
	{"address", CFG_IP, .offset = AT(struct cfg_neighbor, address), .flags = CFG_REQUIRED,
		.example = "\"fe80::5\"", .help = "Its address on that link."},
	{"mac", CFG_MAC, .offset = AT(struct cfg_neighbor, mac), .flags = CFG_REQUIRED,
		.example = "\"02:00:00:00:05:00\"", .help = "Its MAC address; never asked for, never aged."},
};
static const struct cfg_map neighbor_map = MAP_OF(neighbor_keys, "a neighbor", struct cfg_neighbor);

static const struct cfg_key route_keys[] = {
	{"prefix", CFG_PREFIX, .offset = AT(struct cfg_route, prefix), .flags = CFG_REQUIRED,
		.example = "\"5f00:0:500::/48\"",
		.help = "Destination. The same prefix may be listed again with another next hop: ECMP."},
	{"port", CFG_NAME, .offset = AT(struct cfg_route, port), .refs = "ports or interfaces", .example = "dc0",
		.help = "Port or interface to leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_route, nexthop), .example = "\"fe80::5\"",
		.help = "Router on a subnet of that port. Default: every destination is on the link."},
};
static const struct cfg_map route_map = MAP_OF(route_keys, "a route", struct cfg_route);

static const struct cfg_key vrf_route_keys[] = {
	{"prefix", CFG_PREFIX, .offset = AT(struct cfg_route, prefix), .flags = CFG_REQUIRED,
		.example = "10.2.0.0/16",
		.help = "Destination. The same prefix may be listed again with another next hop: ECMP."},
	{"port", CFG_NAME, .offset = AT(struct cfg_route, port), .refs = "ports or interfaces",
		.help = "Port or interface to leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_route, nexthop),
		.help = "Router on a subnet of that port. Default: every destination is on the link."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_route, policy), .refs = "policies", .example = "to-dc2",
		.help = "SRv6 policy that carries the packet instead of a port."},
};
static const struct cfg_map vrf_route_map = MAP_OF(vrf_route_keys, "a VRF route", struct cfg_route);

static const struct cfg_key vrf_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_vrf, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "tenant-a", .help = "Name used by ports and SIDs."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_vrf, slice), .refs = "slices", .example = "gold",
		.help = "Slice of the tenant's packets. Default: none."},
	{"routes", CFG_LIST_OF, .item = CFG_MAP, .map = &vrf_route_map, .offset = AT(struct cfg_vrf, routes),
		.max = 4u << 20, .help = "Routes of the tenant, to its ports or over policies."},
};
static const struct cfg_map vrf_map = MAP_OF(vrf_keys, "a VRF", struct cfg_vrf);

static const struct cfg_key sid_keys[] = {
	{"sid", CFG_PREFIX6, .offset = AT(struct cfg_sid, sid), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "\"5f00:0:100::/48\"",
		.help = "Locator and function. uN: block and global id, /48. uA, uDT*, uDX*: block and local id, /48. With "
			"the node's global id in front, /64, both are taken in one step. End*: any prefix of 5f00::/16 or "
			"node.sid-blocks outside usid.block."},
	{"behavior", CFG_WORD, .offset = AT(struct cfg_sid, behavior), .words = words_behavior,
		.flags = CFG_REQUIRED, .example = "uN",
		.help = "uN: End with NEXT-CSID. uA: End.X with NEXT-CSID. DT4, DT6, DT46: decapsulate into a VRF. DX4, "
			"DX6: decapsulate, over an adjacency. DX2: decapsulate an Ethernet frame, out of a port. uD*: the "
			"same behind uSIDs. (RFC 8986 section 4, RFC 9800 section 4.1) End.X.PFC: End.X that ends PFC frames of a "
			"tunnel; they pause the slice's queues of its adjacencies' ports. uA.PFC: the same with NEXT-CSID. "
			"(draft-ruan-spring-priority-flow-control-sid)"},
	{"flavors", CFG_LIST_OF, .item = CFG_WORD, .words = cfg_words_flavor, .offset = AT(struct cfg_sid, flavors), .max = 3,
		.example = "[psp, usd]",
		.help = "uN, uA, End, End.X, End.T (RFC 8986 section 4.16); End.X.PFC: psp and usp only. Default: psp and usd for "
			"uN and uA, none for the others."},
	{"port", CFG_NAME, .offset = AT(struct cfg_sid, port), .refs = "ports or interfaces",
		.help = "uA, End.X, End.X.PFC, DX4, DX6: port or interface of the adjacency. DX2: port that frames leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_sid, nexthop),
		.help = "uA, End.X, End.X.PFC, DX4, DX6: neighbour of the adjacency."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_sid, vrf), .refs = "vrfs",
		.help = "DT4, DT6, DT46: table of the inner packet. End.T: table of the next segment. Default: the "
			"underlay's."},
	{"hmac", CFG_WORD, .offset = AT(struct cfg_sid, hmac), .words = words_hmac, .fallback = "off",
		.help = "required: packets to the SID need an SRH with a valid HMAC TLV (RFC 8754 section 2.1.2)."},
	{"allow", CFG_LIST_OF, .item = CFG_WORD, .words = words_allow, .offset = AT(struct cfg_sid, allow), .max = 3,
		.example = "[ping, traceroute]",
		.help = "What the node itself answers at the SID: ICMPv6 echo, UDP by port unreachable. Anything else is an "
			"SR Upper-layer Header Error (RFC 8986 section 4.1.1). Default: ping."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_sid, slice), .refs = "slices",
		.help = "Slice of packets that this SID is executed for. Default: the one they have; DT4, DT6, DT46: that of the VRF."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_sid, class_map), .refs = "class-maps",
		.help = "Decapsulation: class of what is inside, by the class the tunnel had."},
	{"adjacencies", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_adjacency_map, .offset = AT(struct cfg_sid, adjacencies),
		.max = 63, .flags = CFG_COMMENTED,
		.help = "uA, End.X, End.X.PFC, uA.PFC, DX4, DX6: further adjacencies besides port and nexthop. Flows are spread over "
			"all of them (RFC 8986 section 4.2), and a pause holds on all their ports."},
	{"allowed-sources", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_sid, allowed_sources), .max = 64,
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: outer sources whose PFC frames count. Default: "
			"node.infrastructure."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_sid, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "What says the slice of packets, and at End.X.PFC and uA.PFC whose queues a PFC frame stops. sid: the SID "
			"itself, by slice. argument, outside node.usid.block: the 16 bits behind it, an id of slices; option: the "
			"hop-by-hop option of type node.slice-option; 0, or none: slice of the SID."},
	{"pfc-hmac", CFG_WORD, .offset = AT(struct cfg_sid, pfc_hmac), .words = words_hmac, .fallback = "off",
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: required: PFC frames need an SRH with a valid HMAC TLV; hmac "
			"would ask data for one, too."},
	{"lenient-cev", CFG_BOOL, .offset = AT(struct cfg_sid, lenient_cev), .fallback = "false",
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: take frames whose class enable vector has bits in its high octet."},
	/* at most half of what a port's watchdog takes for a storm by itself: one frame is none (build_watchdog) */
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_sid, jitter_us), .max = 100000, .fallback = "0",
		.help = "End.X.PFC, uA.PFC: how much longer than its frame says a pause is held: delay variation of the tunnel, and the time "
			"that as many lost frames cost as are to be survived. XON ends it at once. 0: the letter of "
			"draft-ruan-spring-priority-flow-control-sid."},
};
static const struct cfg_map sid_map = MAP_OF(sid_keys, "a SID", struct cfg_sid);

static const struct cfg_key path_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_path, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "via-spine5", .help = "Name of the path within its policy."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_path, segments),
		.flags = CFG_REQUIRED, .min = 1, .max = 96,
		.example = "[\"5f00:0:500::\", \"5f00:0:300::\", \"5f00:0:e102::\"]",
		.help = "SIDs in travel order. uSIDs of one block are packed, six to an address (RFC 9800)."},
	{"weight", CFG_UINT, .offset = AT(struct cfg_path, weight), .min = 1, .max = 64, .fallback = "1",
		.help = "Share of the flows, relative to the other paths."},
	{"backup", CFG_BOOL, .offset = AT(struct cfg_path, backup), .fallback = "no",
		.help = "Carries nothing as long as a path that is no backup leads somewhere. Its MTU counts all the same."},
};
static const struct cfg_map path_map = MAP_OF(path_keys, "a path", struct cfg_path);

static const struct cfg_key policy_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_policy, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "to-dc2", .help = "Name used by VRF routes and circuits."},
	{"encap", CFG_WORD, .offset = AT(struct cfg_policy, encap), .words = words_encap,
		.fallback = "H.Encaps.Red",
		.help = "Headend behaviour (RFC 8986 section 5). Red: the first address stands in the destination only. L2: "
			"of Ethernet frames, for circuits."},
	{"source", CFG_IPV6, .offset = AT(struct cfg_policy, source),
		.help = "Outer source address. Default: the node's loopback."},
	{"source-prefix", CFG_PREFIX6, .offset = AT(struct cfg_policy, source_prefix),
		.example = "\"fd00:0:1:ff::/64\"",
		.help = "Outer source addresses, one for each path: its place in `paths`, from 1, behind the prefix. So the "
			"far end can tell paths apart."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_policy, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH (SHA-256), which is there then even for a single address; 0: none."},
	{"hop-limit", CFG_UINT, .offset = AT(struct cfg_policy, hop_limit), .min = 1, .max = 255,
		.fallback = "64", .help = "Outer hop limit."},
	{"dscp", CFG_WORD, .offset = AT(struct cfg_policy, dscp_mode), .words = words_dscp, .fallback = "copy",
		.example = "set",
		.help = "copy: outer DSCP from the inner packet, or from the IP packet in a frame. set: the value of "
			"dscp-value. ECN is always copied (RFC 6040), but not from frames."},
	{"dscp-value", CFG_UINT, .offset = AT(struct cfg_policy, dscp), .max = 47, .fallback = "0",
		.help = "Outer DSCP with dscp: set. 48 to 63 mark the domain's control traffic, which what enters a tunnel is not."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_policy, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Fixed outer flow label, for tests and tunnels. 0: a hash of the inner 5-tuple."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_policy, class_map), .refs = "class-maps",
		.help = "Class of what enters the tunnel, by the class it came in."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_policy, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "What says the slice of the packets. sid: the segments do, by SIDs of slices or by SIDs written with the "
			"slice's id as their argument. option: each packet does, the one it has here by its id, in a hop-by-hop "
			"option of type node.slice-option, 16 bytes."},
	{"paths", CFG_LIST_OF, .item = CFG_MAP, .map = &path_map, .offset = AT(struct cfg_policy, paths),
		.flags = CFG_REQUIRED, .min = 1, .max = 64, .help = "Segment lists the flows are spread over."},
};
static const struct cfg_map policy_map = MAP_OF(policy_keys, "a policy", struct cfg_policy);

static const struct cfg_key circuit_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_circuit, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "pw1",
		.help = "Name in counters and messages."},
	{"port", CFG_NAME, .offset = AT(struct cfg_circuit, port), .flags = CFG_REQUIRED, .refs = "ports", .example = "dc0",
		.help = "Port whose frames it takes."},
	{"vlan", CFG_SCALE, .offset = AT(struct cfg_circuit, vlan), .max = CFG_VLAN_MAX, .word = "any",
		.word_value = CFG_NONE, .fallback = "any",
		.help = "VLAN id of the outer tag (802.1Q or 802.1ad); 0: frames without a tag, or with a priority tag. any: "
			"frames that no other circuit of the port takes."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_circuit, policy), .flags = CFG_REQUIRED, .refs = "policies",
		.example = "l2-to-dc2",
		.help = "Policy with encap H.Encaps.L2 or H.Encaps.L2.Red that carries the frames, tags and all. The way back "
			"is a DX2 SID."},
};
static const struct cfg_map circuit_map = MAP_OF(circuit_keys, "a circuit", struct cfg_circuit);

static const struct cfg_key hmac_keys[] = {
	{"keys", CFG_TEXT, .offset = AT(struct cfg_hmac, keys), .example = "hmac.keys",
		.help = "File of keys, relative to this one: a line each of key id and key in hexadecimal, 16 to 64 bytes. It "
			"must be readable by its owner alone (mode 0600), who is root or the user that sluice runs as. A symbolic link "
			"is followed: what counts is the file it leads to."},
	{"profile", CFG_WORD, .offset = AT(struct cfg_hmac, profile), .words = words_hmac_profile, .fallback = "rfc8754",
		.help = "rfc8754: as section 2.1.2 has it. linux: as Linux makes and verifies them, with flag 0x08 of the SRH set "
			"and without the TLV's D and reserved bits in the text; so sluice and Linux verify each other's."},
};
static const struct cfg_map hmac_map = MAP_OF(hmac_keys, "hmac", struct cfg_hmac);

static const struct cfg_key root_keys[] = {
	{"node", CFG_MAP, .offset = AT(struct config, node), .map = &node_map, .flags = CFG_REQUIRED,
		.help = "Who this node is."},
	{"lcores", CFG_MAP, .offset = AT(struct config, lcores), .map = &lcores_map, .flags = CFG_REQUIRED,
		.help = "Which CPU does what."},
	{"memory", CFG_MAP, .offset = AT(struct config, memory), .map = &memory_map, .help = "Buffers and tables."},
	{"idle", CFG_MAP, .offset = AT(struct config, idle), .map = &idle_map,
		.help = "What lcores do without work."},
	{"icmp", CFG_MAP, .offset = AT(struct config, icmp), .map = &icmp_map, .help = "Rate limits of ICMP."},
	{"neighbor-discovery", CFG_MAP, .offset = AT(struct config, discovery), .map = &discovery_map,
		.help = "Timers and limits of ND and ARP."},
	{"metrics", CFG_MAP, .offset = AT(struct config, metrics), .map = &metrics_map,
		.help = "Counters for Prometheus."},
	{"log", CFG_MAP, .offset = AT(struct config, log), .map = &log_map, .help = "Log lines."},
	{"ports", CFG_LIST_OF, .item = CFG_MAP, .map = &port_map, .offset = AT(struct config, ports),
		.flags = CFG_REQUIRED, .min = 1, .max = 32, .help = "Ports; nothing else is touched or bound."},
	{"interfaces", CFG_LIST_OF, .item = CFG_MAP, .map = &interface_map, .offset = AT(struct config, interfaces),
		.max = CFG_MAX_INTERFACES, .flags = CFG_COMMENTED, .help = "VLANs of ports that are routed, each like a port of its own."},
	{"slices", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_slice_map, .offset = AT(struct config, slices), .max = 64,
		.help = "Slices: shares of every port's rate."},
	{"class-maps", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_class_map_map, .offset = AT(struct config, class_maps),
		.max = 64, .help = "How packets are sorted into the eight traffic classes."},
	{"buffer-profiles", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_buffer_profile_map,
		.offset = AT(struct config, buffer_profiles), .max = 64, .help = "Thresholds of lossless classes."},
	{"neighbors", CFG_LIST_OF, .item = CFG_MAP, .map = &neighbor_map,
		.offset = AT(struct config, neighbors), .max = 65536,
		.help = "Static neighbours; all others are resolved by ND and ARP."},
	{"routes", CFG_LIST_OF, .item = CFG_MAP, .map = &route_map, .offset = AT(struct config, routes),
		.max = 4u << 20, .help = "The underlay's table."},
	{"vrfs", CFG_LIST_OF, .item = CFG_MAP, .map = &vrf_map, .offset = AT(struct config, vrfs), .max = 1024,
		.help = "Tenants' tables."},
	{"sids", CFG_LIST_OF, .item = CFG_MAP, .map = &sid_map, .offset = AT(struct config, sids), .max = 65536,
		.help = "SIDs that this node instantiates."},
	{"policies", CFG_LIST_OF, .item = CFG_MAP, .map = &policy_map, .offset = AT(struct config, policies),
		.max = 65536, .help = "SRv6 policies: what is put in front of a packet."},
	{"hmac", CFG_MAP, .offset = AT(struct config, hmac), .map = &hmac_map, .flags = CFG_COMMENTED, .help = "Secrets of HMAC TLVs."},
	{"circuits", CFG_LIST_OF, .item = CFG_MAP, .map = &circuit_map, .offset = AT(struct config, circuits),
		.max = 4096, .flags = CFG_COMMENTED, .help = "Attachment circuits: ports and VLANs whose frames travel through a tunnel."},
	{"pfc-relays", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_relay_map, .offset = AT(struct config, relays),
		.max = 32, .flags = CFG_COMMENTED,
		.help = "PFC of gateways, carried through the WAN (draft-he-rtgwg-wan-pfc)."},
	{"pfc-tunnels", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_pfc_tunnel_map, .offset = AT(struct config, pfc_tunnels),
		.max = 64, .flags = CFG_COMMENTED,
		.help = "Where back-pressure of this node's buffers goes (draft-ruan-spring-priority-flow-control-sid, scenario 1)."},
	{"pfc-learning", CFG_MAP, .map = &cfg_pfc_learning_map, .offset = AT(struct config, pfc_learning),
		.help = "PFC tunnels learnt from data (scenario 2), on ports with learn-tunnels."},
	{"remote-sids", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_remote_sid_map, .offset = AT(struct config, remote_sids),
		.max = CFG_REMOTE_SIDS_MAX, .flags = CFG_COMMENTED,
		.help = "SIDs of other nodes, which a segment list alone does not tell the meaning of: what PFC tunnels are learnt by. "
			"Own SIDs need not stand here."},
	{"remote-sids-files", CFG_LIST_OF, .item = CFG_TEXT, .offset = AT(struct config, remote_files), .max = 64,
		.help = "More of them: JSON files, relative to this one, as show remote-sids -j of another node writes them."},
};
/* clang-format on */

const struct cfg_map cfg_root = MAP_OF(root_keys, "the file", struct config);
