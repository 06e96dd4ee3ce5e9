/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The declared configuration. Each key has a name, type, limits, default, help text, and a flag that says whether a
 * reload may change it. The order here is the order of the reference and of `show config`. Pure.
 */
#include "base/limits.h"
#include "base/log.h"
#include "config/headroom.h"
#include "config/schema_priv.h"

static const char *const words_side[] = CFG_WORDS(CFG_SIDES);
static const char *const words_rx_spread[] = CFG_WORDS(CFG_RX_SPREADS);
static const char *const words_path_mtu[] = CFG_WORDS(CFG_PATH_MTUS);
static const char *const words_hmac[] = CFG_WORDS(CFG_HMAC_CHECKS);
static const char *const words_flow_key[] = CFG_WORDS(CFG_FLOW_KEYS);
static const char *const words_disjoint[] = CFG_WORDS(CFG_DISJOINTS);
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
static const char *const words_inner_dscp[] = CFG_WORDS(CFG_INNER_DSCPS);

/* clang-format off */

static const struct cfg_key usid_keys[] = {
	{"block", CFG_PREFIX6, .offset = AT(struct cfg_usid, block), .flags = CFG_REQUIRED,
		.example = "5f00:0::/32",
		.help = "Locator block of the domain's uSIDs: 16 to 64 bits, whole bytes, before ids of 16 bits (RFC 9800). A /32 "
			"is the most common, and the fastest: other blocks are looked up among the routes."},
	{"more-blocks", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_usid, more_blocks), .max = 16,
		.example = "[\"5f00:1::/32\"]",
		.help = "Locator blocks of other parts of the domain, of any such length. Their SIDs are packed "
			"into containers too (RFC 9800 section 6.2), each block into containers of its own."},
	{"node", CFG_UINT, .offset = AT(struct cfg_usid, node), .min = 1, .max = 0xdfff, .example = "0x0100",
		.fallback = "1",
		.help = "Global id of the node, 0x0001-0xdfff. 0xe000-0xffff are local ids (functions)."},
};
static const struct cfg_map usid_map = MAP_OF(usid_keys, "node.usid", struct cfg_usid);

static const struct cfg_key node_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_node, name), .flags = CFG_REQUIRED | CFG_START_ONLY,
		.example = "pe1", .help = "Name of the node in log lines, runtime files and prompts."},
	{"loopback", CFG_IPV6, .offset = AT(struct cfg_node, loopback), .flags = CFG_REQUIRED,
		.example = "fd00:0:1::1",
		.help = "Source address of outer headers and of ICMPv6 errors. It answers ping on "
			"every port of the underlay; VRFs have no route to it."},
	{"usid", CFG_MAP, .offset = AT(struct cfg_node, usid), .map = &usid_map,
		.help = "Structure of the domain's compressed SIDs."},
	{"sid-blocks", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_node, sid_blocks), .max = 16,
		.example = "[\"2001:db8:f0::/48\"]",
		.help = "Prefixes from which SIDs of the domain are allocated, in addition to 5f00::/16 (RFC 9602) "
			"and usid.block. Packets from outside the domain to these prefixes are dropped."},
	{"infrastructure", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_node, infrastructure),
		.max = 64, .example = "[\"fd00::/16\"]",
		.help = "Prefixes of the sources inside the SRv6 domain. Packets to local SIDs from any other source "
			"are dropped (RFC 8754 section 5.1). Required if the node has SIDs."},
	{"slice-option", CFG_UINT, .offset = AT(struct cfg_node, slice_option), .max = 63, .fallback = "0",
		.help = "Type of the hop-by-hop option that carries the slice id, for slice-by: option. No type is "
			"assigned yet (draft-ietf-6man-enhanced-vpn-vtn-id); 30 and 62 are for experiments (RFC "
			"4727). 0: none."},
};
static const struct cfg_map node_map = MAP_OF(node_keys, "node", struct cfg_node);

static const struct cfg_key lcores_keys[] = {
	{"control", CFG_UINT, .offset = AT(struct cfg_lcores, control), .max = 126,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "0",
		.help = "lcore of the control protocols: ND, ARP, ICMP and timers."},
	{"rx", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_lcores, rx), .min = 1, .max = 64,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "[1]",
		.help = "lcores that receive and classify packets. Receive queues are distributed over them."},
	{"worker", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_lcores, worker), .min = 1, .max = 64,
		.flags = CFG_REQUIRED | CFG_START_ONLY, .example = "[1]",
		.help = "lcores that own the egress of ports. An lcore that is also listed under rx runs to "
			"completion."},
	{"cpus", CFG_TEXT, .offset = AT(struct cfg_lcores, cpus), .flags = CFG_START_ONLY,
		.example = "\"0@0,1@0\"",
		.help = "CPU of each lcore, as LCORE@CPU,... Default: lcore N runs on CPU N. Several lcores may share "
			"a CPU; they yield it when idle."},
};
static const struct cfg_map lcores_map = MAP_OF(lcores_keys, "lcores", struct cfg_lcores);

static const struct cfg_key memory_keys[] = {
	{"hugepages", CFG_WORD, .offset = AT(struct cfg_memory, hugepages), .words = words_hugepages,
		.flags = CFG_START_ONLY, .fallback = "auto",
		.help = "auto: use hugepages if enough are free, else ordinary memory."},
	{"buffers", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, buffers), .min = 512,
		.max = 64u << 20, .word = "auto", .word_value = CFG_NONE, .flags = CFG_START_ONLY, .fallback = "auto",
		.help = "Packet buffers in the pool. --check prints how many of them each part of the node may hold. auto: as many as "
			"all parts together, and an eighth more for what a reload may add."},
	{"buffer-size", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_memory, buffer_size), .min = 2048,
		.max = 16384, .flags = CFG_START_ONLY, .fallback = "2K",
		.help = "Bytes of a frame that fit one packet buffer, a multiple of 1K. A longer frame takes several "
			"buffers, and --check counts that many for every frame. 10K holds any frame of an mtu of 9216."},
	{"lossless", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, lossless), .max = 64u << 20,
		.flags = CFG_START_ONLY, .fallback = "0",
		.help = "Packet buffers of the pool that the lossless classes of profiles with alpha share below "
			"their headroom."},
	{"ring", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_memory, ring), .min = 64, .max = 65536,
		.flags = CFG_START_ONLY, .fallback = "1K",
		.help = "Slots of each ring between two lcores, rounded up to a power of two. The rings of three and more rx lcores to a worker "
			"are smaller: about twice as many slots all together, 256 each at least."},
	{"fib", CFG_WORD, .offset = AT(struct cfg_memory, fib), .words = words_fib, .fallback = "fast",
		.help = "Ignored: one kind of table serves any number of routes. The key is accepted so that files of "
			"earlier versions load."},
};
static const struct cfg_map memory_map = MAP_OF(memory_keys, "memory", struct cfg_memory);

static const struct cfg_key idle_keys[] = {
	{"policy", CFG_WORD, .offset = AT(struct cfg_idle, policy), .words = words_idle, .fallback = "poll",
		.flags = CFG_START_ONLY,
		.help = "poll: lcores never sleep. sleep: an lcore without work sleeps, longer each time."},
	{"max-sleep", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_idle, max_sleep_us), .min = 1,
		.max = 10000, .fallback = "100", .flags = CFG_START_ONLY,
		.help = "Longest sleep of an idle lcore with policy: sleep."},
};
static const struct cfg_map idle_map = MAP_OF(idle_keys, "idle", struct cfg_idle);

static const struct cfg_key icmp_keys[] = {
	{"errors-per-port", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, errors_per_port),
		.max = 1000000, .fallback = "100",
		.help = "Limit of ICMP errors that packets of one port cause (RFC 4443 section 2.4 f)."},
	{"errors", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, errors), .max = 1000000,
		.fallback = "1000", .help = "Limit of ICMP errors of the whole node."},
	{"echo", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_icmp, echo), .max = 1000000,
		.fallback = "1000", .help = "Limit of echo replies of the whole node."},
	{"path-mtu", CFG_WORD, .offset = AT(struct cfg_icmp, path_mtu), .words = words_path_mtu, .fallback = "learn",
		.help = "learn: a Packet Too Big that arrives on a wan port of the underlay, from a source in "
			"node.infrastructure, lowers the MTU of the path that it quotes for ten minutes (RFC 8201). "
			"fixed: such messages are ignored, and paths have the MTU of their egress."},
};
static const struct cfg_map icmp_map = MAP_OF(icmp_keys, "icmp", struct cfg_icmp);

static const struct cfg_key discovery_keys[] = {
	{"retransmit", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, retransmit_ms), .min = 10,
		.max = 60000, .fallback = "1000", .help = "Time between two solicitations (RFC 4861 RetransTimer)."},
	{"probes", CFG_UINT, .offset = AT(struct cfg_discovery, probes), .min = 1, .max = 20, .fallback = "3",
		.help = "Solicitations that are sent before a neighbour counts as unreachable."},
	{"reachable", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, reachable_ms), .min = 100,
		.max = 3600000, .fallback = "30000",
		.help = "Mean time for which a confirmed neighbour stays reachable (RFC 4861 ReachableTime)."},
	{"stale", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_discovery, stale_ms), .min = 1000,
		.max = 86400000, .fallback = "600000",
		.help = "Time after which a learnt neighbour is forgotten if nothing is sent to it."},
	{"hold", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, hold), .min = 1, .max = 1024,
		.fallback = "16",
		.help = "Packets that are held for one unresolved neighbour. Further packets are dropped."},
	{"hold-total", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, hold_total), .min = 1,
		.max = 65536, .fallback = "512", .flags = CFG_START_ONLY,
		.help = "Packets that one worker holds for all its unresolved neighbours. One port or interface may have "
			"at most as many as are left for the others; when it has them, the learnt neighbour that has "
			"been asked for the longest loses its oldest packet."},
	{"max", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_discovery, max), .min = 16, .max = 65536,
		.fallback = "1K", .flags = CFG_START_ONLY,
		.help = "Largest number of learnt neighbours of the whole node."},
};
static const struct cfg_map discovery_map =
	MAP_OF(discovery_keys, "neighbor-discovery", struct cfg_discovery);

static const struct cfg_key failover_keys[] = {
	{"hold", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_failover, hold_ms), .max = 3600000, .fallback = "10",
		.help = "Hold-down: a link or next hop that has failed must work for this time before traffic returns to "
			"it. While nothing else is alive it is used at once. Doubled each time it fails again within window."},
	{"hold-max", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_failover, hold_max_ms), .max = 3600000,
		.fallback = "10000", .help = "Longest hold-down of a link or next hop that keeps failing."},
	{"window", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_failover, window_ms), .max = 86400000,
		.fallback = "10000",
		.help = "A link or next hop that fails again within this time of its last return is flapping; one that "
			"has worked for longer begins with hold again."},
};
static const struct cfg_map failover_map = MAP_OF(failover_keys, "failover", struct cfg_failover);

static const struct cfg_key metrics_keys[] = {
	{"listen", CFG_TEXT, .offset = AT(struct cfg_metrics, listen), .flags = CFG_START_ONLY,
		.example = "\"127.0.0.1:9111\"",
		.help = "Address and port of the OpenMetrics page (HTTP, without access control). Default: none."},
};
static const struct cfg_map metrics_map = MAP_OF(metrics_keys, "metrics", struct cfg_metrics);

static const struct cfg_key log_keys[] = {
	{"to", CFG_WORD, .offset = AT(struct cfg_log, to), .words = words_log, .fallback = "stderr",
		.flags = CFG_START_ONLY, .help = "Destination of log lines."},
	{"level", CFG_WORD, .offset = AT(struct cfg_log, level), .words = words_level, .fallback = "notice",
		.help = "Least urgent level that is logged. The command 'set log' changes it for one module."},
	{"rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_log, rate), .min = 1, .max = 100000,
		.fallback = "50",
		.help = "Log lines per second and module. Further lines are counted and summarized."},
};
static const struct cfg_map log_map = MAP_OF(log_keys, "log", struct cfg_log);

static const struct cfg_key descriptors_keys[] = {
	{"rx", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_descriptors, rx), .min = 64, .max = LIMIT_RX_RING,
		.word = "auto", .word_value = CFG_NONE, .fallback = "auto", .flags = CFG_START_ONLY,
		.help = "Descriptors of each receive queue. auto: 512; with lossless classes as many as frames of "
			"min-frame bytes arrive in the response time of the buffer profile, rounded up to a power of two."},
	{"tx", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_descriptors, tx), .min = 64, .max = 16384,
		.fallback = "512", .flags = CFG_START_ONLY, .help = "Descriptors of the transmit queue."},
};
static const struct cfg_map descriptors_map =
	MAP_OF(descriptors_keys, "descriptors", struct cfg_descriptors);

static const struct cfg_key port_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_port, name), .example = "dc0",
		.flags = CFG_REQUIRED | CFG_IDENTITY | CFG_START_ONLY,
		.help = "Name of the port, used everywhere else in this file."},
	{"device", CFG_TEXT, .offset = AT(struct cfg_port, device),
		.flags = CFG_REQUIRED | CFG_START_ONLY | CFG_UNIQUE, .example = "net_null0",
		.help = "PCI address, or a DPDK virtual device with its arguments."},
	{"side", CFG_WORD, .offset = AT(struct cfg_port, side), .words = words_side, .flags = CFG_REQUIRED,
		.example = "dc",
		.help = "dc: the port is outside the SRv6 domain, and packets to SIDs of the domain are dropped. wan: "
			"the port is inside the domain. host: the port leads to a host that writes SIDs itself; it "
			"may reach the SIDs in allow-sids, and others with a valid HMAC."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_port, vrf), .refs = "vrfs", .example = "tenant-a",
		.help = "Routing table of packets that are received here. Default: the table of the underlay."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_port, mtu), .min = 1280, .max = 16000,
		.fallback = "1500", .flags = CFG_START_ONLY, .help = "Largest IP packet of the port."},
	{"mac", CFG_MAC, .offset = AT(struct cfg_port, mac), .flags = CFG_START_ONLY,
		.example = "\"02:00:00:00:d0:00\"",
		.help = "MAC address that the port sends from and answers to. Default: the address of the device."},
	{"speed", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_port, speed_bps), .min = 1000000,
		.max = 3200000000000ull, .flags = CFG_START_ONLY, .example = "100G",
		.help = "Line rate. Default: the rate that the device reports; virtual devices report none."},
	{"rx-queues", CFG_UINT, .offset = AT(struct cfg_port, rx_queues), .min = 1, .max = 64, .fallback = "1",
		.flags = CFG_START_ONLY,
		.help = "Receive queues. With more than one, flows are distributed (RSS) over several rx lcores; show port and "
			"--check say whether the flows of one tunnel are, too."},
	{"rx-spread", CFG_WORD, .offset = AT(struct cfg_port, rx_spread), .words = words_rx_spread, .fallback = "auto",
		.flags = CFG_START_ONLY,
		.help = "Who spreads the flows of a tunnel over the rx lcores of the port. device: the device alone, by RSS. software: "
			"the rx lcores, by flow label. auto: software, where a NIC can do it neither by RSS of the innermost "
			"headers nor by rte_flow."},
	{"rss-symmetric", CFG_BOOL, .offset = AT(struct cfg_port, rss_symmetric), .fallback = "no", .flags = CFG_START_ONLY,
		.help = "Both directions of a flow reach the same receive queue (a symmetric RSS key)."},
	{"hardware-timestamps", CFG_BOOL, .offset = AT(struct cfg_port, hardware_timestamps), .fallback = "no",
		.flags = CFG_START_ONLY,
		.help = "Traces and captures have the time at which the device received a packet, by its own clock. Some drivers "
			"receive more slowly with it."},
	{"descriptors", CFG_MAP, .offset = AT(struct cfg_port, descriptors), .map = &descriptors_map,
		.help = "Sizes of the device's rings."},
	{"worker", CFG_SCALE, .offset = AT(struct cfg_port, worker), .max = 126, .word = "any",
		.word_value = CFG_NONE, .fallback = "any", .flags = CFG_START_ONLY,
		.help = "lcore that owns the egress of the port. any: ports are assigned to the workers in turn."},
	{"queue-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, queue_limit), .min = 32,
		.max = 1 << 20, .fallback = "256",
		.help = "Packets that one queue, of a slice and traffic class, may hold before further packets are "
			"dropped. Lossless classes are limited by their buffers instead."},
	{"buffer-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, buffer_limit), .min = 32, .max = 16u << 20,
		.fallback = "1792",
		.help = "Packet buffers that all queues of the port together may hold for lossy classes. One slice "
			"may hold at most as many as are left for the others."},
	{"control-limit", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_port, control_limit), .min = 32, .max = 65536,
		.fallback = "256",
		.help = "Packet buffers that are reserved for control traffic that leaves by this port."},
	{"control-rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_port, control_rate), .max = 100000000,
		.fallback = "100K",
		.help = "Packets with DSCP 48-63 from infrastructure sources that are received here and forwarded as "
			"control traffic, for each rx lcore. Further packets are forwarded as data."},
	{"link-delay", CFG_SCALE, .unit = UNIT_US, .offset = AT(struct cfg_port, link_delay_us), .max = 1000000, .word = "auto",
		.word_value = CFG_NONE, .fallback = "auto",
		.help = "One-way delay of the link, as credit sessions tell it to the far gateway, which prefers the shorter of two "
			"equal paths. auto: half the round trip that BFD Echo measures to the next hop; else 5 ns a metre of "
			"pfc.length, or half of pfc.round-trip, if the port has no PFC tunnels; else unknown."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_port, slice), .refs = "slices", .example = "gold",
		.help = "Slice of packets that are received here. Default: the slice of the port's VRF."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_port, class_map), .refs = "class-maps", .example = "roce",
		.help = "Class map that gives packets received here a class, by DSCP or PCP."},
	{"dscp-in", CFG_NAME, .offset = AT(struct cfg_port, dscp_in), .refs = "dscp-maps", .example = "to-wan",
		.help = "DSCP map of IP packets that are received here. Their class is that of the DSCP as received; "
			"policies, SIDs and other ports see the new one. Control traffic and frames of circuits keep theirs."},
	{"dscp-out", CFG_NAME, .offset = AT(struct cfg_port, dscp_out), .refs = "dscp-maps",
		.help = "DSCP map of packets that leave by this port, for the outermost IP header. Control traffic and "
			"frames that leave a tunnel whole keep theirs."},
	{"bounce-class", CFG_UINT, .offset = AT(struct cfg_port, bounce_class), .max = 7, .fallback = "0",
		.help = "Class in which lossless packets are queued that leave by the port they were received on. It "
			"must not be a lossless class, or two nodes could wait for each other."},
	{"ecn", CFG_MAP, .offset = AT(struct cfg_port, ecn), .map = &cfg_ecn_map,
		.help = "ECN marking (RFC 3168) of packets that leave by this port."},
	{"pfc", CFG_MAP, .offset = AT(struct cfg_port, pfc), .map = &cfg_pfc_map,
		.help = "Priority flow control with the neighbour."},
	{"boundary-off", CFG_LIST_OF, .item = CFG_WORD, .words = words_boundary, .max = 3,
		.offset = AT(struct cfg_port, boundary_off), .example = "[sources]",
		.help = "Filters of RFC 8754 section 5.1 that are off on this port. sids: on a dc port, the filter "
			"that drops packets to the SID space. sources: the filter that drops packets to own SIDs from "
			"sources outside node.infrastructure and, on a dc port without VRF, packets to be forwarded "
			"from sources inside it."},
	{"allow-sids", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_port, allow_sids), .max = 64,
		.help = "side: host: prefixes that the host may send to in the SID space. The destination and every "
			"segment of the SRH must be in one of them."},
	{"hmac", CFG_WORD, .offset = AT(struct cfg_port, hmac), .words = words_hmac, .fallback = "off",
		.help = "side: host. required: a packet into the SID space that allow-sids does not cover needs an "
			"SRH with a valid HMAC TLV (RFC 8754 section 2.1.2)."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_port, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of every next hop on this port: each has a session. A next hop may name another."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct cfg_port, addresses), .max = 32,
		.example = "[10.1.0.1/24, \"2001:db8:1::1/64\"]",
		.help = "Own addresses with their prefix lengths. If no link-local address is given, one is derived "
			"from the MAC address."},
};
static const struct cfg_map port_map = MAP_OF(port_keys, "a port", struct cfg_port);

static const struct cfg_key interface_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_interface, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "dc0.100",
		.help = "Name of the interface, used wherever a port with a next hop is named: neighbors, routes, "
			"adjacencies of SIDs."},
	{"port", CFG_NAME, .offset = AT(struct cfg_interface, port), .flags = CFG_REQUIRED, .refs = "ports", .example = "dc0",
		.help = "Port whose frames the interface takes. It has the side, MAC, class map and boundary filters "
			"of that port."},
	{"vlan", CFG_UINT, .offset = AT(struct cfg_interface, vlan), .min = 1, .max = CFG_VLAN_MAX, .flags = CFG_REQUIRED,
		.example = "100", .help = "VLAN id of the outer tag, or of the only tag."},
	{"inner-vlan", CFG_UINT, .offset = AT(struct cfg_interface, inner_vlan), .max = CFG_VLAN_MAX, .fallback = "0",
		.help = "VLAN id of the inner tag (802.1Q). 0: there is one tag."},
	{"tag", CFG_WORD, .offset = AT(struct cfg_interface, tag), .words = words_tag, .fallback = "auto",
		.help = "Type of the outer tag. auto: 802.1ad if there are two tags, else 802.1q."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_interface, vrf), .refs = "vrfs", .example = "tenant-a",
		.help = "Routing table of packets that are received here. Default: the table of the underlay."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_interface, slice), .refs = "slices", .example = "gold",
		.help = "Slice of packets that are received here. Default: the slice of the VRF."},
	{"mtu", CFG_SCALE, .unit = UNIT_BYTES, .offset = AT(struct cfg_interface, mtu), .min = 1280, .max = 16000, .word = "port",
		.word_value = CFG_NONE, .fallback = "port",
		.help = "Largest IP packet, without tags. port: the mtu of the port."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_interface, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of every next hop on this interface: each has a session. A next hop may name another."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct cfg_interface, addresses), .max = 32,
		.example = "[10.1.100.1/24]",
		.help = "Own addresses with their prefix lengths. If no link-local address is given, one is derived "
			"from the MAC address."},
};
static const struct cfg_map interface_map = MAP_OF(interface_keys, "an interface", struct cfg_interface);

static const struct cfg_key neighbor_keys[] = {
	{"port", CFG_NAME, .offset = AT(struct cfg_neighbor, port), .flags = CFG_REQUIRED,
		.refs = "ports or interfaces", .example = "dc0", .help = "Port or interface of the neighbour."},
	{"address", CFG_IP, .offset = AT(struct cfg_neighbor, address), .flags = CFG_REQUIRED,
		.example = "\"fe80::5\"", .help = "Address of the neighbour on that link."},
	{"mac", CFG_MAC, .offset = AT(struct cfg_neighbor, mac), .flags = CFG_REQUIRED,
		.example = "\"02:00:00:00:05:00\"",
		.help = "MAC address of the neighbour. It is never resolved and never expires."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_neighbor, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of a session with the neighbour. Default: that of its port or interface."},
};
static const struct cfg_map neighbor_map = MAP_OF(neighbor_keys, "a neighbor", struct cfg_neighbor);

static const struct cfg_key route_keys[] = {
	{"prefix", CFG_PREFIX, .offset = AT(struct cfg_route, prefix), .flags = CFG_REQUIRED,
		.example = "\"5f00:0:500::/48\"",
		.help = "Destination prefix. List the same prefix again with another next hop for ECMP."},
	{"port", CFG_NAME, .offset = AT(struct cfg_route, port), .refs = "ports or interfaces", .example = "dc0",
		.help = "Port or interface that packets leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_route, nexthop), .example = "\"fe80::5\"",
		.help = "Router on a subnet of that port or interface. Default: all destinations are on the link."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_route, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of a session with the next hop. Default: that of its port or interface."},
};
static const struct cfg_map route_map = MAP_OF(route_keys, "a route", struct cfg_route);

static const struct cfg_key vrf_route_keys[] = {
	{"prefix", CFG_PREFIX, .offset = AT(struct cfg_route, prefix), .flags = CFG_REQUIRED,
		.example = "10.2.0.0/16",
		.help = "Destination prefix. List the same prefix again with another next hop for ECMP."},
	{"port", CFG_NAME, .offset = AT(struct cfg_route, port), .refs = "ports or interfaces",
		.help = "Port or interface that packets leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_route, nexthop),
		.help = "Router on a subnet of that port or interface. Default: all destinations are on the link."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_route, policy), .refs = "policies", .example = "to-dc2",
		.help = "SRv6 policy that carries the packets, instead of a port."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_route, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of a session with the next hop. Default: that of its port or interface."},
};
static const struct cfg_map vrf_route_map = MAP_OF(vrf_route_keys, "a VRF route", struct cfg_route);

static const struct cfg_key vrf_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_vrf, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "tenant-a", .help = "Name of the VRF, used by ports and SIDs."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_vrf, slice), .refs = "slices", .example = "gold",
		.help = "Slice of the tenant's packets. Default: none."},
	{"routes", CFG_LIST_OF, .item = CFG_MAP, .map = &vrf_route_map, .offset = AT(struct cfg_vrf, routes),
		.max = 4u << 20, .help = "Routes of the tenant, to its ports or over policies."},
};
static const struct cfg_map vrf_map = MAP_OF(vrf_keys, "a VRF", struct cfg_vrf);

static const struct cfg_key sid_keys[] = {
	{"sid", CFG_PREFIX6, .offset = AT(struct cfg_sid, sid), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "\"5f00:0:100::/48\"",
		.help = "Locator and function. uN: block and global id, /48. uA, uDT*, uDX*: block and local id, /48; "
			"or block, the node's global id and local id, /64, which executes both ids in one step. End*: "
			"any prefix of 5f00::/16 or node.sid-blocks outside usid.block."},
	{"behavior", CFG_WORD, .offset = AT(struct cfg_sid, behavior), .words = words_behavior,
		.flags = CFG_REQUIRED, .example = "uN",
		.help = "Endpoint behaviour (RFC 8986 section 4, RFC 9800 section 4.1). uN: End with NEXT-CSID. uA: "
			"End.X with NEXT-CSID. DT4, DT6, DT46: decapsulate and look up in a VRF. DX4, DX6: "
			"decapsulate and send over an adjacency. DX2: decapsulate an Ethernet frame and send it out "
			"of a port. uD*: the same as uSIDs. End.X.PFC: End.X that also terminates the PFC frames of a "
			"tunnel; they pause the slice's queues on the ports of its adjacencies. uA.PFC: the same with "
			"NEXT-CSID (draft-ruan-spring-priority-flow-control-sid)."},
	{"flavors", CFG_LIST_OF, .item = CFG_WORD, .words = cfg_words_flavor, .offset = AT(struct cfg_sid, flavors), .max = 3,
		.example = "[psp, usd]",
		.help = "Flavors of uN, uA, End, End.X and End.T (RFC 8986 section 4.16); End.X.PFC takes psp and usp "
			"only. Default: psp and usd for uN and uA, none for the others."},
	{"port", CFG_NAME, .offset = AT(struct cfg_sid, port), .refs = "ports or interfaces",
		.help = "uA, End.X, End.X.PFC, DX4, DX6: port or interface of the adjacency. DX2: port that frames "
			"leave by."},
	{"nexthop", CFG_IP, .offset = AT(struct cfg_sid, nexthop),
		.help = "uA, End.X, End.X.PFC, DX4, DX6: next hop of the adjacency."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_sid, bfd), .refs = "bfd-profiles", .example = "fast",
		.help = "BFD profile of a session with the next hop. Default: that of its port or interface."},
	{"vrf", CFG_NAME, .offset = AT(struct cfg_sid, vrf), .refs = "vrfs",
		.help = "DT4, DT6, DT46: table for the inner packet. End.T: table for the next segment. Default: the "
			"table of the underlay."},
	{"hmac", CFG_WORD, .offset = AT(struct cfg_sid, hmac), .words = words_hmac, .fallback = "off",
		.help = "required: packets to the SID need an SRH with a valid HMAC TLV (RFC 8754 section 2.1.2)."},
	{"allow", CFG_LIST_OF, .item = CFG_WORD, .words = words_allow, .offset = AT(struct cfg_sid, allow), .max = 3,
		.example = "[ping, traceroute]",
		.help = "Upper layers that the node itself answers at the SID. ping: ICMPv6 echo. traceroute: UDP, "
			"with port unreachable. Any other upper layer is an SR Upper-layer Header Error (RFC 8986 "
			"section 4.1.1). Default: ping."},
	{"slice", CFG_NAME, .offset = AT(struct cfg_sid, slice), .refs = "slices",
		.help = "Slice of packets for which the SID is executed. Default: the slice they already have; DT4, "
			"DT6, DT46: the slice of the VRF."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_sid, class_map), .refs = "class-maps",
		.help = "Decapsulation: class map that gives inner packets a class, by the class they had in the "
			"tunnel."},
	{"dscp", CFG_WORD, .offset = AT(struct cfg_sid, dscp_mode), .words = words_inner_dscp, .fallback = "keep",
		.help = "Decapsulation of packets: DSCP of the inner packet (RFC 2983). keep: its own (pipe model). copy: that "
			"of the outer header (uniform model). map: what dscp-map makes of that of the outer header. ECN "
			"follows RFC 6040 in all cases."},
	{"dscp-map", CFG_NAME, .offset = AT(struct cfg_sid, dscp_map), .refs = "dscp-maps",
		.help = "DSCP map for dscp: map."},
	{"adjacencies", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_adjacency_map, .offset = AT(struct cfg_sid, adjacencies),
		.max = 63, .flags = CFG_COMMENTED,
		.help = "uA, End.X, End.X.PFC, uA.PFC, DX4, DX6: adjacencies in addition to port and nexthop. Flows "
			"are distributed over all of them (RFC 8986 section 4.2), and a pause applies to all their "
			"ports."},
	{"allowed-sources", CFG_LIST_OF, .item = CFG_PREFIX6, .offset = AT(struct cfg_sid, allowed_sources), .max = 64,
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: outer sources from which PFC frames are accepted. "
			"Default: node.infrastructure."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_sid, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How a packet identifies its slice and, at End.X.PFC and uA.PFC, how a PFC frame identifies "
			"the slice whose queues it pauses. sid: by the SID itself and its key slice. argument, "
			"outside node.usid.block: by the 16 bits after the SID, the id of a slice. option: by the "
			"hop-by-hop option of type node.slice-option. If the id is 0 or missing, the slice of the SID "
			"is used."},
	{"pfc-hmac", CFG_WORD, .offset = AT(struct cfg_sid, pfc_hmac), .words = words_hmac, .fallback = "off",
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: required: PFC frames need an SRH with a valid "
			"HMAC TLV, which proves the segment list. The key hmac requires it for data too."},
	{"message-keys", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_sid, message_keys), .max = 8,
		.help = "End.X.PFC, uA.PFC: ids of keys in hmac.keys. Only PFC frames with a digest by one of them are "
			"accepted, and each of them once; their senders need message-key. Default: no digest, the format "
			"of the draft."},
	{"lenient-cev", CFG_BOOL, .offset = AT(struct cfg_sid, lenient_cev), .fallback = "false",
		.help = "End.X.PFC, uA.PFC, and DX2 of a PFC relay: accept frames whose class enable vector has bits "
			"in its high octet."},
	/*
	 * by default at most half of the detect time of a port's watchdog, so that one frame is never a storm
	 * (build_watchdog)
	 */
	{"jitter", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_sid, jitter_us), .max = 100000, .fallback = "0",
		.help = "End.X.PFC, uA.PFC: time for which a pause is held after the end that its frame gives. Use "
			"the delay variation of the tunnel, plus time for the number of lost frames to be tolerated. "
			"XON ends the pause at once."},
	{"outage", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_sid, outage_ms), .max = 1000, .fallback = "50",
		.help = "End.X.PFC, uA.PFC: interruption of the way back that a pause outlives, in addition to jitter. A "
			"node that starts stops its lossless classes behind the SID for as long, or until it hears a "
			"PFC frame. The default is the time of protection switching. 0, with jitter 0: exactly as in "
			"draft-ruan-spring-priority-flow-control-sid."},
};
static const struct cfg_map sid_map = MAP_OF(sid_keys, "a SID", struct cfg_sid);

static const struct cfg_key path_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_path, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "via-spine5", .help = "Name of the path within its policy."},
	{"segments", CFG_LIST_OF, .item = CFG_IPV6, .offset = AT(struct cfg_path, segments),
		.flags = CFG_REQUIRED, .min = 1, .max = 96,
		.example = "[\"5f00:0:500::\", \"5f00:0:300::\", \"5f00:0:e102::\"]",
		.help = "SIDs in travel order. uSIDs of one block are packed, six of a /32 to an address (RFC 9800)."},
	{"weight", CFG_UINT, .offset = AT(struct cfg_path, weight), .min = 1, .max = 64, .fallback = "1",
		.help = "Share of the flows, relative to the other paths."},
	{"backup", CFG_BOOL, .offset = AT(struct cfg_path, backup), .fallback = "no",
		.help = "yes: use this path only while no path without backup is usable. Its MTU counts in either "
			"case."},
	{"bfd", CFG_NAME, .offset = AT(struct cfg_path, bfd), .refs = "bfd-profiles",
		.help = "BFD profile of an S-BFD session (RFC 7880) whose packets follow the segments of this path."},
	{"reflector", CFG_IPV6, .offset = AT(struct cfg_path, reflector),
		.help = "Address of the far node to which S-BFD packets are sent in the tunnel: its loopback if the last "
			"SID leads to the underlay's table, else an own address in the table that it looks up. The far "
			"node needs a route back to node.loopback there."},
	{"reflector-discriminator", CFG_UINT, .offset = AT(struct cfg_path, reflector_discriminator), .max = UINT32_MAX,
		.fallback = "0", .help = "The far node's sbfd-reflector.discriminator."},
};
static const struct cfg_map path_map = MAP_OF(path_keys, "a path", struct cfg_path);

static const struct cfg_key policy_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_policy, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "to-dc2", .help = "Name of the policy, used by VRF routes and circuits."},
	{"encap", CFG_WORD, .offset = AT(struct cfg_policy, encap), .words = words_encap,
		.fallback = "H.Encaps.Red",
		.help = "Headend behaviour (RFC 8986 section 5). Red: the first address is in the destination only, "
			"not in the SRH. L2: for Ethernet frames of circuits."},
	{"source", CFG_IPV6, .offset = AT(struct cfg_policy, source),
		.help = "Outer source address. Default: the loopback address of the node."},
	{"source-prefix", CFG_PREFIX6, .offset = AT(struct cfg_policy, source_prefix),
		.example = "\"fd00:0:1:ff::/64\"",
		.help = "Prefix of the outer source addresses, one for each path: the position of the path in "
			"`paths`, from 1, follows the prefix. The far end can then tell the paths apart."},
	{"hmac-key", CFG_UINT, .offset = AT(struct cfg_policy, hmac_key), .max = 0xffffffff, .fallback = "0",
		.help = "Key id of the HMAC TLV in the SRH (SHA-256). With a key, even a list of a single address has "
			"an SRH. 0: no HMAC TLV."},
	{"hop-limit", CFG_UINT, .offset = AT(struct cfg_policy, hop_limit), .min = 1, .max = 255,
		.fallback = "64", .help = "Outer hop limit."},
	{"dscp", CFG_WORD, .offset = AT(struct cfg_policy, dscp_mode), .words = words_dscp, .fallback = "copy",
		.example = "set",
		.help = "Outer DSCP. copy: from the inner packet, or from the IP packet in a frame. set: the value of "
			"dscp-value. map: what dscp-map makes of that of the inner packet. ECN is always copied from packets "
			"(RFC 6040), never from frames."},
	{"dscp-value", CFG_UINT, .offset = AT(struct cfg_policy, dscp), .max = 47, .fallback = "0",
		.help = "Outer DSCP with dscp: set. 48 to 63 are reserved for the domain's control traffic, which "
			"never enters a tunnel."},
	{"dscp-map", CFG_NAME, .offset = AT(struct cfg_policy, dscp_map), .refs = "dscp-maps",
		.help = "DSCP map for dscp: map, without results from 48 to 63. An inner DSCP from 48 to 63 that it does not "
			"list becomes 40."},
	{"flow-label", CFG_UINT, .offset = AT(struct cfg_policy, flow_label), .max = 0xfffff, .fallback = "0",
		.help = "Fixed outer flow label, for tests and tunnels. 0: a hash of the inner 5-tuple."},
	{"class-map", CFG_NAME, .offset = AT(struct cfg_policy, class_map), .refs = "class-maps",
		.help = "Class map that gives packets entering the tunnel a class, by the class they were received in."},
	{"slice-by", CFG_WORD, .offset = AT(struct cfg_policy, slice_by), .words = cfg_words_slice_by, .fallback = "sid",
		.help = "How packets carry their slice. sid: in the segments, which are SIDs of slices or are written "
			"with the slice id as argument. option: in a hop-by-hop option of type node.slice-option, 16 "
			"bytes, with the id of the slice that each packet has here."},
	{"flows", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_policy, flows), .max = 4u << 20, .fallback = "0",
		.help = "Flows of the policy that each rx lcore keeps in its flow table, so that they can be placed on "
			"paths one by one. Flows beyond that are distributed by hash. 0: all are, and there is no table."},
	{"flow-key", CFG_WORD, .offset = AT(struct cfg_policy, flow_key), .words = words_flow_key, .fallback = "tuple",
		.help = "What tells flows apart. tuple: VRF, addresses, protocol and ports. queue-pair: of RoCEv2, the "
			"destination queue pair in place of the ports."},
	{"roce", CFG_BOOL, .offset = AT(struct cfg_policy, roce), .fallback = "no",
		.help = "yes: follow the packet sequence numbers of RoCEv2 flows, for the gaps and duplicates that 'show "
			"flows' shows. Needs flows."},
	{"feedback", CFG_BOOL, .offset = AT(struct cfg_policy, feedback), .fallback = "no",
		.help = "yes: flows leave paths that are congested or have failed, as steering says. Needs flows. Flows that an "
			"operator has pinned stay."},
	{"disjoint", CFG_WORD, .offset = AT(struct cfg_policy, disjoint), .words = words_disjoint, .fallback = "no",
		.help = "What no two paths of the policy may share, so that no single failure takes two of them. links: the "
			"port that they leave by, and the way from a segment to the next. nodes: segments, too. The far "
			"node, where all paths end, does not count."},
	{"paths", CFG_LIST_OF, .item = CFG_MAP, .map = &path_map, .offset = AT(struct cfg_policy, paths),
		.flags = CFG_REQUIRED, .min = 1, .max = 64, .help = "Segment lists over which flows are distributed."},
};
static const struct cfg_map policy_map = MAP_OF(policy_keys, "a policy", struct cfg_policy);

static const struct cfg_key circuit_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_circuit, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "pw1",
		.help = "Name in counters and messages."},
	{"port", CFG_NAME, .offset = AT(struct cfg_circuit, port), .flags = CFG_REQUIRED, .refs = "ports", .example = "dc0",
		.help = "Port whose frames the circuit takes."},
	{"vlan", CFG_SCALE, .offset = AT(struct cfg_circuit, vlan), .max = CFG_VLAN_MAX, .word = "any",
		.word_value = CFG_NONE, .fallback = "any",
		.help = "VLAN id of the outer tag (802.1Q or 802.1ad). 0: frames without a tag, or with a priority "
			"tag. any: frames that no other circuit of the port takes."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_circuit, policy), .flags = CFG_REQUIRED, .refs = "policies",
		.example = "l2-to-dc2",
		.help = "Policy with encap H.Encaps.L2 or H.Encaps.L2.Red that carries the frames with their tags. A "
			"DX2 SID receives the frames of the reverse direction."},
};
static const struct cfg_map circuit_map = MAP_OF(circuit_keys, "a circuit", struct cfg_circuit);

static const struct cfg_key hmac_keys[] = {
	{"keys", CFG_TEXT, .offset = AT(struct cfg_hmac, keys), .example = "hmac.keys",
		.help = "File of keys, relative to the directory of this file. Each line has a key id and a key of 16 "
			"to 64 bytes in hexadecimal. Only its owner may have access (mode 0600), and the owner must "
			"be root or the user that sluice runs as. A symbolic link is followed, and its target must "
			"meet these conditions."},
	{"profile", CFG_WORD, .offset = AT(struct cfg_hmac, profile), .words = words_hmac_profile, .fallback = "rfc8754",
		.help = "rfc8754: as RFC 8754 section 2.1.2 defines it. linux: as Linux computes and verifies it, "
			"with flag 0x08 of the SRH set and without the TLV's D and reserved bits in the text. With "
			"linux, sluice and Linux can verify each other's HMACs."},
};
static const struct cfg_map hmac_map = MAP_OF(hmac_keys, "hmac", struct cfg_hmac);

static const struct cfg_key root_keys[] = {
	{"node", CFG_MAP, .offset = AT(struct config, node), .map = &node_map, .flags = CFG_REQUIRED,
		.help = "Identity of this node."},
	{"lcores", CFG_MAP, .offset = AT(struct config, lcores), .map = &lcores_map, .flags = CFG_REQUIRED,
		.help = "Roles of lcores, and their CPUs."},
	{"memory", CFG_MAP, .offset = AT(struct config, memory), .map = &memory_map, .help = "Buffers and tables."},
	{"idle", CFG_MAP, .offset = AT(struct config, idle), .map = &idle_map,
		.help = "Behaviour of lcores without work."},
	{"icmp", CFG_MAP, .offset = AT(struct config, icmp), .map = &icmp_map, .help = "Rate limits of ICMP."},
	{"neighbor-discovery", CFG_MAP, .offset = AT(struct config, discovery), .map = &discovery_map,
		.help = "Timers and limits of ND and ARP."},
	{"failover", CFG_MAP, .offset = AT(struct config, failover), .map = &failover_map,
		.help = "Return to links and next hops that have failed."},
	{"metrics", CFG_MAP, .offset = AT(struct config, metrics), .map = &metrics_map,
		.help = "Counters for Prometheus."},
	{"log", CFG_MAP, .offset = AT(struct config, log), .map = &log_map, .help = "Log lines."},
	{"ports", CFG_LIST_OF, .item = CFG_MAP, .map = &port_map, .offset = AT(struct config, ports),
		.flags = CFG_REQUIRED, .min = 1, .max = 32,
		.help = "Ports. Devices that are not listed are neither used nor bound."},
	{"interfaces", CFG_LIST_OF, .item = CFG_MAP, .map = &interface_map, .offset = AT(struct config, interfaces),
		.max = CFG_MAX_INTERFACES, .flags = CFG_COMMENTED,
		.help = "VLANs of ports that are routed, each like a port of its own."},
	{"slices", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_slice_map, .offset = AT(struct config, slices), .max = 64,
		.help = "Slices: shares of the rate of every port."},
	{"class-maps", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_class_map_map, .offset = AT(struct config, class_maps),
		.max = 64, .help = "Assignment of packets to the eight traffic classes."},
	{"dscp-maps", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_dscp_map_map, .offset = AT(struct config, dscp_maps),
		.max = 64, .help = "DSCPs that replace others: at ports, in tunnels and after them."},
	{"buffer-profiles", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_buffer_profile_map,
		.offset = AT(struct config, buffer_profiles), .max = 64, .help = "Thresholds of lossless classes."},
	{"bfd-profiles", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_bfd_profile_map,
		.offset = AT(struct config, bfd_profiles), .max = 64,
		.help = "Parameters of BFD sessions (RFC 5880). The key bfd of a next hop, port, interface or path names one."},
	{"sbfd-reflector", CFG_MAP, .offset = AT(struct config, sbfd_reflector), .map = &cfg_sbfd_reflector_map,
		.help = "Answers to the S-BFD packets of other nodes (RFC 7880)."},
	{"neighbors", CFG_LIST_OF, .item = CFG_MAP, .map = &neighbor_map,
		.offset = AT(struct config, neighbors), .max = 65536,
		.help = "Static neighbours. All others are resolved by ND and ARP."},
	{"routes", CFG_LIST_OF, .item = CFG_MAP, .map = &route_map, .offset = AT(struct config, routes),
		.max = 4u << 20, .help = "Routing table of the underlay."},
	{"vrfs", CFG_LIST_OF, .item = CFG_MAP, .map = &vrf_map, .offset = AT(struct config, vrfs), .max = 8192,
		.help = "Routing tables of tenants."},
	{"sids", CFG_LIST_OF, .item = CFG_MAP, .map = &sid_map, .offset = AT(struct config, sids), .max = 65536,
		.help = "SIDs that this node instantiates."},
	{"policies", CFG_LIST_OF, .item = CFG_MAP, .map = &policy_map, .offset = AT(struct config, policies),
		.max = 65536, .help = "SRv6 policies: outer headers that are added to packets."},
	{"steering", CFG_MAP, .offset = AT(struct config, steering), .map = &cfg_steering_map,
		.help = "Flow tables of policies with flows."},
	{"placements", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_placement_map, .offset = AT(struct config, placements),
		.max = 4u << 20, .flags = CFG_COMMENTED,
		.help = "Flows that take a certain path of their policy. 'path place' adds others; a reload keeps all of "
			"them, and what the file says about a flow counts."},
	{"hmac", CFG_MAP, .offset = AT(struct config, hmac), .map = &hmac_map, .flags = CFG_COMMENTED,
		.help = "Keys and format of HMAC TLVs."},
	{"circuits", CFG_LIST_OF, .item = CFG_MAP, .map = &circuit_map, .offset = AT(struct config, circuits),
		.max = 4096, .flags = CFG_COMMENTED,
		.help = "Attachment circuits: ports and VLANs whose frames are carried through a tunnel."},
	{"pfc-relays", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_relay_map, .offset = AT(struct config, relays),
		.max = 32, .flags = CFG_COMMENTED,
		.help = "PFC of gateways that is carried across the WAN (draft-he-rtgwg-wan-pfc)."},
	{"pfc-tunnels", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_pfc_tunnel_map, .offset = AT(struct config, pfc_tunnels),
		.max = 64, .flags = CFG_COMMENTED,
		.help = "Tunnels that carry the back-pressure of this node's buffers upstream "
			"(draft-ruan-spring-priority-flow-control-sid, scenario 1)."},
	{"pfc-learning", CFG_MAP, .map = &cfg_pfc_learning_map, .offset = AT(struct config, pfc_learning),
		.help = "PFC tunnels that are learnt from data (scenario 2), on ports with learn-tunnels."},
	{"remote-sids", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_remote_sid_map, .offset = AT(struct config, remote_sids),
		.max = CFG_REMOTE_SIDS_MAX, .flags = CFG_COMMENTED,
		.help = "SIDs of other nodes and their behaviour, which a segment list alone does not show. PFC "
			"tunnels are learnt with their help. Own SIDs need not be listed."},
	{"remote-sids-files", CFG_LIST_OF, .item = CFG_TEXT, .offset = AT(struct config, remote_files), .max = 64,
		.help = "JSON files with further SIDs of other nodes, relative to the directory of this file. The "
			"command 'show remote-sids -j' of another node writes such a file."},
	{"credit", CFG_MAP, .map = &cfg_credit_map, .offset = AT(struct config, credit),
		.help = "Sessions of credit flow control, signalled by RSVP (draft-hu-rtgwg-cbfc-rsvp)."},
};
/* clang-format on */

const struct cfg_map cfg_root = MAP_OF(root_keys, "the file", struct config);
