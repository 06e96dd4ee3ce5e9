/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schema of a topology file: each key with type, limits, default and help, as lib/config/schema.c has them. Data only.
 * The lab's only thread.
 */
#include "base/compiler.h"
#include "config/schema.h"
#include "lab/topology.h"

#define AT(type, member) (uint32_t) __builtin_offsetof(type, member)
#define MAP_OF(keys_, what, type) \
	{ \
		.name = what, .keys = keys_, .n_keys = ARRAY_LEN(keys_), .size = sizeof(type) \
	}
#define HOUR_NS (3600 * NSEC_PER_SEC)

static const char *const words_frames[] = {"headers", "whole", NULL};
static const char *const words_direction[] = {"both", "a-to-b", "b-to-a", NULL};
static const char *const words_transport[] = {"rc", "datagram", NULL};
static const char *const words_arrivals[] = {"constant", "poisson", NULL};

/* clang-format off */

static const struct cfg_key lab_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_lab, name), .flags = CFG_REQUIRED, .example = "two-gateways",
		.help = "Name of the topology: title of the report."},
	{"run", CFG_TIME, .offset = AT(struct topo_lab, run_ns), .min = 1000, .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "20ms", .help = "Virtual time that senders send."},
	{"drain", CFG_TIME, .offset = AT(struct topo_lab, drain_ns), .max = HOUR_NS, .fallback = "1s",
		.help = "Virtual time at most, behind that, for what is under way to arrive."},
	{"seed", CFG_UINT, .offset = AT(struct topo_lab, seed), .max = UINT32_MAX, .fallback = "1",
		.help = "Of all random numbers. The same file and seed give the same run, to the byte."},
	{"frames", CFG_WORD, .offset = AT(struct topo_lab, frames), .words = words_frames, .fallback = "headers",
		.help = "headers: of each frame only the first bytes are carried, at its full length in time and counters. "
			"whole: every byte."},
	{"memory", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_lab, memory), .min = 64u << 20,
		.max = 1ull << 42, .fallback = "2G", .help = "What the run may take; checked before it starts."},
	{"sample", CFG_TIME, .offset = AT(struct topo_lab, sample_ns), .max = HOUR_NS,
		.help = "Time between two points of the plots. Default: a four-hundredth of the run."},
};
static const struct cfg_map lab_map = MAP_OF(lab_keys, "lab", struct topo_lab);

static const struct cfg_key node_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_node, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "gw1",
		.help = "Name used by links and the schedule."},
	{"file", CFG_TEXT, .offset = AT(struct topo_node, file),
		.help = "Its configuration: an ordinary one, beside this file. Devices of its ports are not looked at."},
	{"config", CFG_CONFIG, .offset = AT(struct topo_node, config), .example = "{node: {name: gw1, loopback: \"fd00::1\"}, "
		"lcores: {control: 0, rx: [1], worker: [1]}, ports: [{name: p0, device: net_null0, side: wan}]}",
		.help = "The same, inline."},
	{"cpu", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_node, cpu_hz), .min = 1000000, .max = 100000000000ull,
		.fallback = "3G", .help = "Clock of its CPUs, in Hz: what cycles are counted by."},
	{"cycles", CFG_UINT, .offset = AT(struct topo_node, cycles), .max = 100000000, .fallback = "60",
		.help = "CPU cycles for a packet that a role receives or hands on: on one lcore a forwarded packet is two."},
	{"pass-cycles", CFG_UINT, .offset = AT(struct topo_node, pass_cycles), .min = 1, .max = 100000000,
		.fallback = "120", .help = "CPU cycles of a pass that finds nothing."},
};
static const struct cfg_map node_map = MAP_OF(node_keys, "a node", struct topo_node);

static const struct cfg_key failure_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_failure, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "5ms", .help = "When it begins."},
	{"for", CFG_TIME, .offset = AT(struct topo_failure, for_ns), .min = 1, .max = HOUR_NS, .word = "ever",
		.word_value = TIME_NEVER, .fallback = "ever", .help = "How long it lasts."},
	{"direction", CFG_WORD, .offset = AT(struct topo_failure, direction), .words = words_direction, .fallback = "both",
		.help = "Which way the link is cut."},
	{"detect", CFG_TIME, .offset = AT(struct topo_failure, detect_ns), .max = HOUR_NS, .word = "never",
		.word_value = TIME_NEVER, .fallback = "10us",
		.help = "After this the ports at both ends see that the link is down, and later that it is up. never: they "
			"go on sending into the void."},
	{"repeat", CFG_UINT, .offset = AT(struct topo_failure, repeat), .min = 1, .max = 100000, .fallback = "1",
		.help = "How often: a flapping link."},
	{"every", CFG_TIME, .offset = AT(struct topo_failure, every_ns), .max = HOUR_NS, .fallback = "0",
		.help = "From the beginning of one failure to that of the next."},
};
static const struct cfg_map failure_map = MAP_OF(failure_keys, "a failure", struct topo_failure);

static const struct cfg_key link_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_link, name),
		.help = "Name in the report. Default: made of its ends."},
	{"a", CFG_NAME, .offset = AT(struct topo_link, a), .flags = CFG_REQUIRED, .example = "gw1.p0",
		.help = "One end: NODE.PORT, or HOST.eth0 or HOST.eth1."},
	{"b", CFG_NAME, .offset = AT(struct topo_link, b), .flags = CFG_REQUIRED, .example = "nic1.eth0",
		.help = "The other end."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_link, rate_bps), .min = 1000000,
		.max = 3200000000000ull, .flags = CFG_REQUIRED, .example = "100G", .help = "Line rate, each way."},
	{"delay", CFG_TIME, .offset = AT(struct topo_link, delay_ns), .max = 10 * NSEC_PER_SEC, .example = "1us",
		.help = "Propagation, one way."},
	{"km", CFG_UINT, .offset = AT(struct topo_link, km), .max = 100000,
		.help = "The same, as kilometres of fibre: 5 us each."},
	{"faulty", CFG_WORD, .offset = AT(struct topo_link, faulty), .words = words_direction, .fallback = "both",
		.help = "Which way there are jitter, loss, corruption, duplication and reordering."},
	{"jitter", CFG_TIME, .offset = AT(struct topo_link, jitter_ns), .max = NSEC_PER_SEC, .fallback = "0",
		.help = "Up to so much more, evenly distributed. Frames keep their order."},
	{"loss", CFG_FRACTION, .offset = AT(struct topo_link, loss), .fallback = "0", .help = "Share of frames lost."},
	{"corruption", CFG_FRACTION, .offset = AT(struct topo_link, corruption), .fallback = "0",
		.help = "Share of frames with a bit error."},
	{"fcs", CFG_BOOL, .offset = AT(struct topo_link, fcs), .fallback = "true",
		.help = "The receiver's FCS check drops frames with bit errors. false: they arrive, a bit flipped."},
	{"duplication", CFG_FRACTION, .offset = AT(struct topo_link, duplication), .fallback = "0",
		.help = "Share of frames that arrive twice."},
	{"reordering", CFG_FRACTION, .offset = AT(struct topo_link, reordering), .fallback = "0",
		.help = "Share of frames that others overtake."},
	{"reorder-delay", CFG_TIME, .offset = AT(struct topo_link, reorder_ns), .max = NSEC_PER_SEC, .fallback = "10us",
		.help = "How much later those come."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_link, mtu), .min = 1280, .max = 16000,
		.fallback = "9600", .help = "Longest IP packet it carries; longer ones are lost."},
	{"failures", CFG_LIST_OF, .item = CFG_MAP, .map = &failure_map, .offset = AT(struct topo_link, failures),
		.max = 1000, .help = "When it is down. Frames under way then are lost."},
};
static const struct cfg_map link_map = MAP_OF(link_keys, "a link", struct topo_link);

static const struct cfg_key stall_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_stall, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED, .example = "10ms",
		.help = "When it begins."},
	{"for", CFG_TIME, .offset = AT(struct topo_stall, for_ns), .min = 1, .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "50ms", .help = "How long it lasts."},
};
static const struct cfg_map stall_map = MAP_OF(stall_keys, "a stall", struct topo_stall);

static const struct cfg_key injection_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_injection, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED, .example = "1ms",
		.help = "When the first one is sent, behind what already waits in the NIC."},
	{"repeat", CFG_UINT, .offset = AT(struct topo_injection, repeat), .min = 1, .max = 10000000, .fallback = "1",
		.help = "How often it is sent."},
	{"every", CFG_TIME, .offset = AT(struct topo_injection, every_ns), .min = 1, .max = HOUR_NS, .fallback = "100us",
		.help = "From one to the next."},
	{"frame", CFG_TEXT, .offset = AT(struct topo_injection, frame), .flags = CFG_REQUIRED,
		.example = "\"0180c2000001 02000000ff00 8808 0101 0008 000000000000 ffff\"",
		.help = "The frame in hexadecimal digits, without FCS; a short one is padded."},
};
static const struct cfg_map injection_map = MAP_OF(injection_keys, "a frame to send", struct topo_injection);

static const struct cfg_key sink_keys[] = {
	{"drain", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_sink, drain_bps), .max = 3200000000000ull,
		.fallback = "0", .help = "How fast the host takes what it receives out of its buffer. 0: at once."},
	{"buffer", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, buffer), .min = 16384, .max = 1ull << 40,
		.fallback = "1M", .help = "What does not fit is lost."},
	{"xoff", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, xoff), .max = 1ull << 40, .fallback = "0",
		.help = "Fuller than this it sends PFC pause for the priorities of pfc. 0: never."},
	{"xon", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, xon), .max = 1ull << 40, .fallback = "0",
		.help = "Emptier than this again it lets go."},
	{"quanta", CFG_UINT, .offset = AT(struct topo_sink, quanta), .min = 1, .max = 65535, .fallback = "65535",
		.help = "Pause time it asks for, in 512 bit times; asked for again at half of it."},
	{"stalls", CFG_LIST_OF, .item = CFG_MAP, .map = &stall_map, .offset = AT(struct topo_sink, stalls), .max = 1000,
		.help = "When the host takes nothing out of its buffer. In order of time."},
};
static const struct cfg_map sink_map = MAP_OF(sink_keys, "sink", struct topo_sink);

static const struct cfg_key host_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_host, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "nic1",
		.help = "Name used by links and flows. Its ports are eth0 and, when dual-homed, eth1."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct topo_host, addresses), .max = 8,
		.example = "[10.1.0.11/24]", .help = "The first of each family is used by flows; ARP and ND are answered."},
	{"mac", CFG_MAC, .offset = AT(struct topo_host, mac), .help = "Of eth0; eth1's is one more. Default: made of its number."},
	{"pfc", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct topo_host, pfc), .max = 8, .example = "[3]",
		.help = "Priorities it pauses when it is told to, and asks to be paused."},
	{"sink", CFG_MAP, .offset = AT(struct topo_host, sink), .map = &sink_map, .help = "Its receive buffer."},
	{"send", CFG_LIST_OF, .item = CFG_MAP, .map = &injection_map, .offset = AT(struct topo_host, send), .max = 1000,
		.help = "Frames that it sends by eth0 just as they stand here: what strangers and broken devices send."},
};
static const struct cfg_map host_map = MAP_OF(host_keys, "a host", struct topo_host);

static const struct cfg_key flow_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_flow, name), .help = "Name in the report. Default: FROM-TO."},
	{"from", CFG_NAME, .offset = AT(struct topo_flow, from), .flags = CFG_REQUIRED, .refs = "hosts", .example = "nic1",
		.help = "Host that sends."},
	{"to", CFG_NAME, .offset = AT(struct topo_flow, to), .flags = CFG_REQUIRED, .refs = "hosts", .example = "nic2",
		.help = "Host that receives."},
	{"transport", CFG_WORD, .offset = AT(struct topo_flow, transport), .words = words_transport, .fallback = "rc",
		.help = "rc: RoCEv2 reliable connection with go-back-N. datagram: packets that nobody acknowledges."},
	{"family", CFG_UINT, .offset = AT(struct topo_flow, family), .min = 4, .max = 6, .fallback = "4",
		.help = "IP version, 4 or 6."},
	{"queue-pairs", CFG_UINT, .offset = AT(struct topo_flow, queue_pairs), .min = 1, .max = 65536, .fallback = "1",
		.help = "Connections; each has its own UDP source port."},
	{"message", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, message), .min = 64, .max = 1ull << 31,
		.fallback = "1M", .help = "Length of one message (RDMA WRITE), or of one datagram's payload."},
	{"messages", CFG_UINT, .offset = AT(struct topo_flow, messages), .max = 1ull << 40, .fallback = "0",
		.help = "How many a queue pair sends. 0: as many as fit the run."},
	{"start", CFG_TIME, .offset = AT(struct topo_flow, start_ns), .max = HOUR_NS, .fallback = "0",
		.help = "When it begins to send."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_flow, rate_bps), .max = 3200000000000ull,
		.fallback = "0", .help = "Of one queue pair, with all headers. 0: as fast as its port."},
	{"window", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, window), .max = 1ull << 40, .fallback = "0",
		.help = "Unacknowledged bytes of a queue pair at most. 0: no limit."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, mtu), .min = 256, .max = 8192,
		.fallback = "4096", .help = "Payload of one packet (path MTU of the connection)."},
	{"ack-every", CFG_UINT, .offset = AT(struct topo_flow, ack_every), .min = 1, .max = 100000, .fallback = "16",
		.help = "The receiver acknowledges every so many packets, and the last of each message."},
	{"timeout", CFG_UINT, .offset = AT(struct topo_flow, timeout), .max = 31, .fallback = "14",
		.help = "Local ACK timeout: 4.096 us times two to this. 0: none."},
	{"retries", CFG_UINT, .offset = AT(struct topo_flow, retries), .max = 1000000, .fallback = "7",
		.help = "Timeouts in a row without progress before the queue pair gives up."},
	{"dscp", CFG_UINT, .offset = AT(struct topo_flow, dscp), .max = 63, .fallback = "26", .help = "DSCP of its packets."},
	{"priority", CFG_UINT, .offset = AT(struct topo_flow, priority), .max = 7, .fallback = "3",
		.help = "PFC priority that pauses it."},
	{"ecn", CFG_BOOL, .offset = AT(struct topo_flow, ecn), .fallback = "true", .help = "Packets are ECT(0), else Not-ECT."},
	{"dcqcn", CFG_BOOL, .offset = AT(struct topo_flow, dcqcn), .fallback = "false",
		.help = "Receivers answer CE with CNP, senders slow down (DCQCN)."},
	{"arrivals", CFG_WORD, .offset = AT(struct topo_flow, arrivals), .words = words_arrivals, .fallback = "constant",
		.help = "Datagrams: evenly spaced, or a Poisson process of the same mean rate."},
};
static const struct cfg_map flow_map = MAP_OF(flow_keys, "a flow", struct topo_flow);

static const struct cfg_key capture_keys[] = {
	{"place", CFG_NAME, .offset = AT(struct topo_capture, place), .flags = CFG_REQUIRED, .example = "gw1.p0",
		.help = "Port of a node or host; both directions."},
	{"file", CFG_TEXT, .offset = AT(struct topo_capture, file), .flags = CFG_REQUIRED, .example = "gw1.pcapng",
		.help = "pcapng file, in the folder of the report."},
	{"count", CFG_UINT, .offset = AT(struct topo_capture, count), .max = 1ull << 40, .fallback = "0",
		.help = "End after so many frames. 0: never."},
};
static const struct cfg_map capture_map = MAP_OF(capture_keys, "a capture", struct topo_capture);

static const struct cfg_key event_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_event, time_ns), .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "10ms", .help = "When."},
	{"node", CFG_NAME, .offset = AT(struct topo_event, node), .flags = CFG_REQUIRED, .refs = "nodes", .example = "gw1",
		.help = "Where."},
	{"command", CFG_TEXT, .offset = AT(struct topo_event, command), .example = "show conservation",
		.help = "Line for its console (docs/commands.md); what it says goes to the report."},
	{"reload", CFG_TEXT, .offset = AT(struct topo_event, reload), .help = "Configuration file to reload, beside this one."},
	{"restart", CFG_TIME, .offset = AT(struct topo_event, restart_ns), .max = HOUR_NS, .word = "no",
		.word_value = TIME_NEVER, .fallback = "no",
		.help = "The node stops, loses all it holds, and comes back after so long with its configuration."},
};
static const struct cfg_map event_map = MAP_OF(event_keys, "an event", struct topo_event);

static const struct cfg_key root_keys[] = {
	{"lab", CFG_MAP, .offset = AT(struct topology, lab), .map = &lab_map, .flags = CFG_REQUIRED, .help = "The run."},
	{"nodes", CFG_LIST_OF, .item = CFG_MAP, .map = &node_map, .offset = AT(struct topology, nodes), .max = 256,
		.help = "Complete sluice nodes."},
	{"hosts", CFG_LIST_OF, .item = CFG_MAP, .map = &host_map, .offset = AT(struct topology, hosts), .max = 1024,
		.help = "RoCEv2 NICs."},
	{"links", CFG_LIST_OF, .item = CFG_MAP, .map = &link_map, .offset = AT(struct topology, links), .flags = CFG_REQUIRED,
		.min = 1, .max = 4096, .help = "What joins them."},
	{"flows", CFG_LIST_OF, .item = CFG_MAP, .map = &flow_map, .offset = AT(struct topology, flows), .max = 4096,
		.help = "Who sends what to whom."},
	{"captures", CFG_LIST_OF, .item = CFG_MAP, .map = &capture_map, .offset = AT(struct topology, captures), .max = 64,
		.help = "Where frames are written down."},
	{"schedule", CFG_LIST_OF, .item = CFG_MAP, .map = &event_map, .offset = AT(struct topology, schedule), .max = 10000,
		.help = "Console commands, reloads and restarts of nodes."},
};
/* clang-format on */

const struct cfg_map topo_root = MAP_OF(root_keys, "the file", struct topology);

void topo_emit_reference(FILE *out)
{
	cfg_emit_reference_of(&topo_root,
		"# Reference of the lab's topology files: every key, with its limits and its default.\n"
		"# Generated from the schema (lib/lab/topology_schema.c) by `sluice-lab --print reference`; do not "
		"edit.\n"
		"# Times end in ns, us, ms or s; shares are numbers from 0 to 1, or end in %.\n",
		out);
}
