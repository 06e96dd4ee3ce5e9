/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schema of a topology file: each key with type, limits, default and help, in the format of lib/config/schema.c.
 * Data only; the lab is single-threaded.
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
static const char *const words_lossless[] = {"auto", "required", "off", NULL};
static const char *const words_direction[] = {"both", "a-to-b", "b-to-a", NULL};
static const char *const words_transport[] = {"rc", "datagram", NULL};
static const char *const words_repeat[] = {"go-back-n", "selective", NULL};
static const char *const words_profile[] = {"paper", "nic", NULL};
static const char *const words_after[] = {"xoff", "xon", "paused", "resumed", NULL};
static const char *const words_traffic[] = {"all", "control", "data", NULL};
static const char *const words_rsvp_data[] = {"free", "gated", NULL};
static const char *const words_rsvp[] = {"off", "ext", "letter", NULL};
static const char *const words_arrivals[] = {"constant", "poisson", NULL};

/* clang-format off */

static const struct cfg_key lab_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_lab, name), .flags = CFG_REQUIRED, .example = "two-gateways",
		.help = "Name of the topology and title of the report."},
	{"run", CFG_TIME, .offset = AT(struct topo_lab, run_ns), .min = 1000, .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "20ms", .help = "Virtual time for which senders send."},
	{"drain", CFG_TIME, .offset = AT(struct topo_lab, drain_ns), .max = HOUR_NS, .fallback = "1s",
		.help = "Longest virtual time after the run for frames in flight to arrive."},
	{"seed", CFG_UINT, .offset = AT(struct topo_lab, seed), .max = UINT32_MAX, .fallback = "1",
		.help = "Seed of all random numbers. The same file and seed reproduce the run byte for byte."},
	{"frames", CFG_WORD, .offset = AT(struct topo_lab, frames), .words = words_frames, .fallback = "headers",
		.help = "headers: carry only the first bytes of each frame; timing and counters use its full length. "
			"whole: carry every byte."},
	{"memory", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_lab, memory), .min = 64u << 20,
		.max = 1ull << 42, .fallback = "2G", .help = "Memory that the run may use; checked before it starts."},
	{"sample", CFG_TIME, .offset = AT(struct topo_lab, sample_ns), .max = HOUR_NS,
		.help = "Time between two points of the plots. Default: 1/400 of the run, or 1/100 with more than 64 nodes and "
			"hosts."},
	{"lossless", CFG_WORD, .offset = AT(struct topo_lab, lossless), .words = words_lossless, .fallback = "auto",
		.help = "required: the run fails if a node loses a packet of a priority with PFC, if a host that pauses "
			"overflows, or if a pause remains when all has arrived. auto: required if a port of a node has PFC "
			"priorities. off: such losses are only counted."},
	{"counters", CFG_UINT, .offset = AT(struct topo_lab, counters), .max = UINT64_MAX, .fallback = "0",
		.help = "Where the counters of credit begin that never restart, in units, such as 4294867296: they pass 2^32 soon."},
};
static const struct cfg_map lab_map = MAP_OF(lab_keys, "lab", struct topo_lab);

static const struct cfg_key node_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_node, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "gw1",
		.help = "Name used by links and the schedule."},
	{"file", CFG_TEXT, .offset = AT(struct topo_node, file),
		.help = "Configuration file of the node, relative to this file. The devices of its ports are ignored."},
	{"config", CFG_CONFIG, .offset = AT(struct topo_node, config), .example = "{node: {name: gw1, loopback: \"fd00::1\"}, "
		"lcores: {control: 0, rx: [1], worker: [1]}, ports: [{name: p0, device: net_null0, side: wan}]}",
		.help = "Configuration of the node, inline."},
	{"cpu", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_node, cpu_hz), .min = 1000000, .max = 100000000000ull,
		.fallback = "3G", .help = "Clock rate of its CPUs in Hz."},
	{"cycles", CFG_UINT, .offset = AT(struct topo_node, cycles), .max = 100000000, .fallback = "60",
		.help = "CPU cycles for each packet that a role receives or passes on. On a single lcore a forwarded packet "
			"counts twice."},
	{"pass-cycles", CFG_UINT, .offset = AT(struct topo_node, pass_cycles), .min = 1, .max = 100000000,
		.fallback = "120", .help = "CPU cycles of a pass that finds no work."},
};
static const struct cfg_map node_map = MAP_OF(node_keys, "a node", struct topo_node);

static const struct cfg_key when_keys[] = {
	{"after", CFG_WORD, .offset = AT(struct topo_when, after), .words = words_after, .flags = CFG_REQUIRED,
		.example = "xoff", .help = "Event that starts it. xoff, xon: the port pauses or resumes its senders. paused, "
			"resumed: its neighbour pauses or resumes the port."},
	{"port", CFG_NAME, .offset = AT(struct topo_when, port), .flags = CFG_REQUIRED, .example = "gw1.p0",
		.help = "Port of a node or host."},
	{"priority", CFG_UINT, .offset = AT(struct topo_when, priority), .max = 7, .fallback = "3", .help = "PFC priority."},
	{"count", CFG_UINT, .offset = AT(struct topo_when, count), .min = 1, .max = 1000000, .fallback = "1",
		.help = "The first time that this happens, the second, and so on."},
	{"delay", CFG_TIME, .offset = AT(struct topo_when, delay_ns), .max = HOUR_NS, .fallback = "0",
		.help = "Time from there on."},
};
static const struct cfg_map when_map = MAP_OF(when_keys, "a time relative to a pause", struct topo_when);

static const struct cfg_key failure_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_failure, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED,
		.map = &when_map, .map_offset = AT(struct topo_failure, when), .example = "5ms",
		.help = "When it begins: a time, or one relative to a pause, such as {after: xoff, port: gw1.p0, delay: 10us}."},
	{"for", CFG_TIME, .offset = AT(struct topo_failure, for_ns), .min = 1, .max = HOUR_NS, .word = "ever",
		.word_value = TIME_NEVER, .fallback = "ever", .help = "How long it lasts."},
	{"direction", CFG_WORD, .offset = AT(struct topo_failure, direction), .words = words_direction, .fallback = "both",
		.help = "Direction in which the link fails."},
	{"traffic", CFG_WORD, .offset = AT(struct topo_failure, traffic), .words = words_traffic, .fallback = "all",
		.help = "What is lost. control: PFC frames, state messages of PFC tunnels, and RSVP only; data: everything else. The "
			"link itself is then up, and no port detects anything."},
	{"remote-fault", CFG_BOOL, .offset = AT(struct topo_failure, remote_fault), .fallback = "true",
		.help = "If one direction fails: true: both ports go down, because the receiver signals it (IEEE 802.3). false: only "
			"the port that receives nothing."},
	{"detect", CFG_TIME, .offset = AT(struct topo_failure, detect_ns), .max = HOUR_NS, .word = "never",
		.word_value = TIME_NEVER, .fallback = "10us",
		.help = "Time until the ports at both ends detect that the link is down, and later that it is up. never: they "
			"keep sending, and the frames are lost."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_failure, rate_bps), .max = 3200000000000ull, .fallback = "0",
		.help = "The link stays up, but is slow: its rate meanwhile. Nothing is lost, and no port detects anything. 0: it is down."},
	{"repeat", CFG_UINT, .offset = AT(struct topo_failure, repeat), .min = 1, .max = 100000, .fallback = "1",
		.help = "Number of failures, for a flapping link."},
	{"every", CFG_TIME, .offset = AT(struct topo_failure, every_ns), .max = HOUR_NS, .fallback = "0",
		.help = "Time from the start of one failure to the start of the next."},
};
static const struct cfg_map failure_map = MAP_OF(failure_keys, "a failure", struct topo_failure);

static const struct cfg_key link_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_link, name),
		.help = "Name in the report. Default: built from the names of its ends."},
	{"a", CFG_NAME, .offset = AT(struct topo_link, a), .flags = CFG_REQUIRED, .example = "gw1.p0",
		.help = "One end: NODE.PORT, or HOST.eth0 or HOST.eth1."},
	{"b", CFG_NAME, .offset = AT(struct topo_link, b), .flags = CFG_REQUIRED, .example = "nic1.eth0",
		.help = "The other end."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_link, rate_bps), .min = 1000000,
		.max = 3200000000000ull, .flags = CFG_REQUIRED, .example = "100G", .help = "Line rate in each direction."},
	{"delay", CFG_TIME, .offset = AT(struct topo_link, delay_ns), .max = 10 * NSEC_PER_SEC, .example = "1us",
		.help = "One-way propagation delay."},
	{"km", CFG_UINT, .offset = AT(struct topo_link, km), .max = 100000,
		.help = "Propagation delay as kilometres of fibre, 5 us each."},
	{"faulty", CFG_WORD, .offset = AT(struct topo_link, faulty), .words = words_direction, .fallback = "both",
		.help = "Direction with jitter, loss, corruption, duplication and reordering."},
	{"faults", CFG_WORD, .offset = AT(struct topo_link, faults), .words = words_traffic, .fallback = "all",
		.help = "Frames that these concern. control: PFC frames, state messages of PFC tunnels, and RSVP; data: everything "
			"else, with fences of credit sessions."},
	{"jitter", CFG_TIME, .offset = AT(struct topo_link, jitter_ns), .max = NSEC_PER_SEC, .fallback = "0",
		.help = "Largest additional delay, uniformly distributed. Frames keep their order."},
	{"loss", CFG_FRACTION, .offset = AT(struct topo_link, loss), .fallback = "0", .help = "Share of frames lost."},
	{"corruption", CFG_FRACTION, .offset = AT(struct topo_link, corruption), .fallback = "0",
		.help = "Share of frames with a bit error."},
	{"fcs", CFG_BOOL, .offset = AT(struct topo_link, fcs), .fallback = "true",
		.help = "true: the receiver's FCS check drops frames with bit errors. false: they arrive with one bit flipped."},
	{"duplication", CFG_FRACTION, .offset = AT(struct topo_link, duplication), .fallback = "0",
		.help = "Share of frames that arrive twice."},
	{"reordering", CFG_FRACTION, .offset = AT(struct topo_link, reordering), .fallback = "0",
		.help = "Share of frames that are delayed by reorder-delay, so that later frames overtake them."},
	{"reorder-delay", CFG_TIME, .offset = AT(struct topo_link, reorder_ns), .max = NSEC_PER_SEC, .fallback = "10us",
		.help = "Additional delay of reordered frames."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_link, mtu), .min = 1280, .max = 16000,
		.fallback = "9600", .help = "Longest IP packet the link carries; longer packets are lost."},
	{"failures", CFG_LIST_OF, .item = CFG_MAP, .map = &failure_map, .offset = AT(struct topo_link, failures),
		.max = 1000, .help = "Times when the link is down. Frames in flight are lost."},
};
static const struct cfg_map link_map = MAP_OF(link_keys, "a link", struct topo_link);

static const struct cfg_key stall_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_stall, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED, .example = "10ms",
		.help = "When it begins."},
	{"for", CFG_TIME, .offset = AT(struct topo_stall, for_ns), .min = 1, .max = HOUR_NS, .flags = CFG_REQUIRED,
		.example = "50ms", .help = "How long it lasts."},
};
static const struct cfg_map stall_map = MAP_OF(stall_keys, "a stall", struct topo_stall);
static const struct cfg_map forgetting_map = MAP_OF(stall_keys, "a restart", struct topo_stall);

static const struct cfg_key injection_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_injection, start_ns), .max = HOUR_NS, .flags = CFG_REQUIRED, .example = "1ms",
		.help = "When the first frame is sent, after the frames already queued in the NIC."},
	{"repeat", CFG_UINT, .offset = AT(struct topo_injection, repeat), .min = 1, .max = 10000000, .fallback = "1",
		.help = "Number of times the frame is sent."},
	{"every", CFG_TIME, .offset = AT(struct topo_injection, every_ns), .min = 1, .max = HOUR_NS, .fallback = "100us",
		.help = "Interval between frames."},
	{"frame", CFG_TEXT, .offset = AT(struct topo_injection, frame), .flags = CFG_REQUIRED,
		.example = "\"0180c2000001 02000000ff00 8808 0101 0008 000000000000 ffff\"",
		.help = "The frame in hexadecimal digits, without FCS; a short one is padded."},
};
static const struct cfg_map injection_map = MAP_OF(injection_keys, "a frame to send", struct topo_injection);

static const struct cfg_key sink_keys[] = {
	{"drain", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_sink, drain_bps), .max = 3200000000000ull,
		.fallback = "0", .help = "Rate at which the host empties its receive buffer. 0: at once."},
	{"buffer", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, buffer), .min = 16384, .max = 1ull << 40,
		.fallback = "1M", .help = "Size of the receive buffer. Packets that do not fit are lost."},
	{"xoff", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, xoff), .max = 1ull << 40, .fallback = "0",
		.help = "Fill level above which the host pauses the priorities of pfc. 0: never."},
	{"xon", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_sink, xon), .max = 1ull << 40, .fallback = "0",
		.help = "Fill level below which the host resumes them."},
	{"quanta", CFG_UINT, .offset = AT(struct topo_sink, quanta), .min = 1, .max = 65535, .fallback = "65535",
		.help = "Pause time it requests, in quanta of 512 bit times; refreshed after half of it."},
	{"stalls", CFG_LIST_OF, .item = CFG_MAP, .map = &stall_map, .offset = AT(struct topo_sink, stalls), .max = 1000,
		.help = "Times when the host does not empty its buffer, in chronological order."},
};
static const struct cfg_map sink_map = MAP_OF(sink_keys, "sink", struct topo_sink);

static const struct cfg_key host_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_host, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "nic1",
		.help = "Name used by links and flows. Its ports are eth0 and, when dual-homed, eth1."},
	{"addresses", CFG_LIST_OF, .item = CFG_IFADDR, .offset = AT(struct topo_host, addresses), .max = 8,
		.example = "[10.1.0.11/24]",
		.help = "Addresses. Flows use the first of each family. The host answers ARP and ND for all."},
	{"mac", CFG_MAC, .offset = AT(struct topo_host, mac),
		.help = "MAC address of eth0; eth1 has the next one. Default: derived from the number of the host."},
	{"pfc", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct topo_host, pfc), .max = 8, .example = "[3]",
		.help = "Priorities with PFC: the host obeys pauses of them and pauses them itself."},
	{"response", CFG_TIME, .offset = AT(struct topo_host, response_ns), .max = NSEC_PER_SEC, .word = "standard",
		.word_value = TIME_NEVER, .fallback = "standard",
		.help = "Time from an XOFF to its effect. standard: the limit of IEEE 802.1Q for the rate of the link."},
	{"pipeline", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_host, pipeline), .max = 1ull << 30, .fallback = "0",
		.help = "Bytes of a paused priority that still leave after that, as from a switch whose pipeline holds frames."},
	{"sink", CFG_MAP, .offset = AT(struct topo_host, sink), .map = &sink_map, .help = "Its receive buffer."},
	{"send", CFG_LIST_OF, .item = CFG_MAP, .map = &injection_map, .offset = AT(struct topo_host, send), .max = 1000,
		.help = "Frames that it sends on eth0 exactly as given, for example those of attackers and broken devices."},
	{"rsvp", CFG_WORD, .offset = AT(struct topo_host, rsvp), .words = words_rsvp, .fallback = "off",
		.help = "ext: the host speaks RSVP for credit on eth0. It opens a session to the far end of each of its flows of "
			"family 6, from their start to rsvp-end, and grants credit to sessions that end at its first IPv6 "
			"address. letter: likewise by the letter of draft-hu-rtgwg-cbfc-rsvp, in both families; it returns the credit of "
			"what it receives."},
	{"rsvp-data", CFG_WORD, .offset = AT(struct topo_host, rsvp_data), .words = words_rsvp_data, .fallback = "free",
		.help = "gated: its data waits for the credit of its sessions, with the UDP source port of the session, and what it has "
			"received frees credit when it has left the receive buffer. free: its packets do not wait."},
	{"rsvp-end", CFG_TIME, .offset = AT(struct topo_host, rsvp_end_ns), .max = HOUR_NS, .word = "run",
		.word_value = TIME_NEVER, .fallback = "run",
		.help = "When it ends the sessions that it has opened. run: with the run."},
	{"rsvp-refresh", CFG_TIME, .offset = AT(struct topo_host, rsvp_refresh_ns), .max = 600 * NSEC_PER_SEC, .word = "never",
		.word_value = 0, .fallback = "never",
		.help = "letter: how often it refreshes sessions; those that nobody refreshes end. never: as in the draft."},
	{"rsvp-restarts", CFG_LIST_OF, .item = CFG_MAP, .map = &forgetting_map,
		.offset = AT(struct topo_host, rsvp_restarts), .max = 100,
		.help = "Times when its RSVP is down; it forgets all sessions without a word, and begins its own ones again."},
};
static const struct cfg_map host_map = MAP_OF(host_keys, "a host", struct topo_host);

static const struct cfg_key flow_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct topo_flow, name), .help = "Name in the report. Default: FROM-TO."},
	{"from", CFG_NAME, .offset = AT(struct topo_flow, from), .flags = CFG_REQUIRED, .refs = "hosts", .example = "nic1",
		.help = "Host that sends."},
	{"to", CFG_NAME, .offset = AT(struct topo_flow, to), .flags = CFG_REQUIRED, .refs = "hosts", .example = "nic2",
		.help = "Host that receives."},
	{"transport", CFG_WORD, .offset = AT(struct topo_flow, transport), .words = words_transport, .fallback = "rc",
		.help = "rc: RoCEv2 reliable connection. datagram: packets without acknowledgement."},
	{"family", CFG_UINT, .offset = AT(struct topo_flow, family), .min = 4, .max = 6, .fallback = "4",
		.help = "IP version, 4 or 6."},
	{"overruns", CFG_BOOL, .offset = AT(struct topo_flow, overruns), .fallback = "false",
		.help = "The sender breaks its word: of a host with rsvp-data: gated, this flow does not wait for credit."},
	{"queue-pairs", CFG_UINT, .offset = AT(struct topo_flow, queue_pairs), .min = 1, .max = 65536, .fallback = "1",
		.help = "Connections; each has its own UDP source port."},
	{"message", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, message), .min = 64, .max = 1ull << 31,
		.fallback = "1M", .help = "Length of a message (RDMA WRITE), or of the payload of a datagram."},
	{"messages", CFG_UINT, .offset = AT(struct topo_flow, messages), .max = 1ull << 40, .fallback = "0",
		.help = "Messages that each queue pair sends. 0: as many as fit into the run."},
	{"start", CFG_TIME, .offset = AT(struct topo_flow, start_ns), .max = HOUR_NS, .fallback = "0",
		.help = "When it begins to send."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct topo_flow, rate_bps), .max = 3200000000000ull,
		.fallback = "0", .help = "Rate of one queue pair, headers included. 0: the rate of its port."},
	{"window", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, window), .max = 1ull << 40, .fallback = "0",
		.help = "Most unacknowledged bytes of a queue pair. 0: no limit."},
	{"mtu", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct topo_flow, mtu), .min = 256, .max = 8192,
		.fallback = "4096", .help = "Payload of one packet (path MTU of the connection)."},
	{"ack-every", CFG_UINT, .offset = AT(struct topo_flow, ack_every), .min = 1, .max = 100000, .fallback = "16",
		.help = "Packets per acknowledgement. The last packet of each message is always acknowledged."},
	{"timeout", CFG_UINT, .offset = AT(struct topo_flow, timeout), .max = 31, .fallback = "14",
		.help = "Exponent of the local ACK timeout, 4.096 us * 2^timeout. 0: no timeout."},
	{"retries", CFG_UINT, .offset = AT(struct topo_flow, retries), .max = 1000000, .fallback = "7",
		.help = "Consecutive timeouts without progress after which the queue pair gives up."},
	{"dscp", CFG_UINT, .offset = AT(struct topo_flow, dscp), .max = 63, .fallback = "26", .help = "DSCP of its packets."},
	{"priority", CFG_UINT, .offset = AT(struct topo_flow, priority), .max = 7, .fallback = "3",
		.help = "PFC priority that pauses the flow."},
	{"ecn", CFG_BOOL, .offset = AT(struct topo_flow, ecn), .fallback = "true",
		.help = "true: packets are ECT(0). false: Not-ECT."},
	{"dcqcn", CFG_BOOL, .offset = AT(struct topo_flow, dcqcn), .fallback = "false",
		.help = "Receivers answer CE with CNP and senders slow down (DCQCN)."},
	{"dcqcn-profile", CFG_WORD, .offset = AT(struct topo_flow, dcqcn_profile), .words = words_profile, .fallback = "paper",
		.help = "Constants of DCQCN. paper: those of Zhu et al., SIGCOMM 2015. nic: firmware defaults of ConnectX-5 and later."},
	{"slow-restart", CFG_BOOL, .offset = AT(struct topo_flow, slow_restart), .fallback = "false",
		.help = "Senders that retransmit, after a NAK or a timeout, halve their rate and recover "
			"as after a CNP, like NICs."},
	{"repeat", CFG_WORD, .offset = AT(struct topo_flow, repeat), .words = words_repeat, .fallback = "go-back-n",
		.help = "Packets retransmitted after a loss. go-back-N: all from the lost one on; selective: only lost ones; at "
			"most 65536 packets are then unacknowledged."},
	{"cnp-dscp", CFG_UINT, .offset = AT(struct topo_flow, cnp_dscp), .max = 63, .fallback = "48",
		.help = "DSCP of its CNPs."},
	{"cnp-priority", CFG_UINT, .offset = AT(struct topo_flow, cnp_priority), .max = 7, .fallback = "6",
		.help = "PFC priority that pauses its CNPs."},
	{"arrivals", CFG_WORD, .offset = AT(struct topo_flow, arrivals), .words = words_arrivals, .fallback = "constant",
		.help = "Datagrams are sent at constant intervals, or as a Poisson process of the same mean rate."},
};
static const struct cfg_map flow_map = MAP_OF(flow_keys, "a flow", struct topo_flow);

static const struct cfg_key capture_keys[] = {
	{"place", CFG_NAME, .offset = AT(struct topo_capture, place), .flags = CFG_REQUIRED, .example = "gw1.p0",
		.help = "Port of a node or host. Both directions are captured."},
	{"file", CFG_TEXT, .offset = AT(struct topo_capture, file), .flags = CFG_REQUIRED, .example = "gw1.pcapng",
		.help = "Name of the pcapng file in the folder of the report."},
	{"count", CFG_UINT, .offset = AT(struct topo_capture, count), .max = 1ull << 40, .fallback = "0",
		.help = "Stop after this number of frames. 0: never."},
};
static const struct cfg_map capture_map = MAP_OF(capture_keys, "a capture", struct topo_capture);

static const struct cfg_key event_keys[] = {
	{"at", CFG_TIME, .offset = AT(struct topo_event, time_ns), .max = HOUR_NS, .flags = CFG_REQUIRED,
		.map = &when_map, .map_offset = AT(struct topo_event, when), .example = "10ms",
		.help = "Virtual time of the event, or a time relative to a pause, like that of a failure."},
	{"node", CFG_NAME, .offset = AT(struct topo_event, node), .flags = CFG_REQUIRED, .refs = "nodes", .example = "gw1",
		.help = "Node of the event."},
	{"command", CFG_TEXT, .offset = AT(struct topo_event, command), .example = "show conservation",
		.help = "Command for the console of the node (docs/commands.md). The report shows its output."},
	{"reload", CFG_TEXT, .offset = AT(struct topo_event, reload),
		.help = "Configuration file to reload, relative to this file."},
	{"restart", CFG_TIME, .offset = AT(struct topo_event, restart_ns), .max = HOUR_NS, .word = "no",
		.word_value = TIME_NEVER, .fallback = "no",
		.help = "Stop the node, lose the packets it holds, and start it with the same configuration after this time."},
};
static const struct cfg_map event_map = MAP_OF(event_keys, "an event", struct topo_event);

static const struct cfg_key root_keys[] = {
	{"lab", CFG_MAP, .offset = AT(struct topology, lab), .map = &lab_map, .flags = CFG_REQUIRED,
		.help = "Settings of the run."},
	{"nodes", CFG_LIST_OF, .item = CFG_MAP, .map = &node_map, .offset = AT(struct topology, nodes), .max = 256,
		.help = "Complete sluice nodes."},
	{"hosts", CFG_LIST_OF, .item = CFG_MAP, .map = &host_map, .offset = AT(struct topology, hosts), .max = 1024,
		.help = "RoCEv2 NICs."},
	{"links", CFG_LIST_OF, .item = CFG_MAP, .map = &link_map, .offset = AT(struct topology, links), .flags = CFG_REQUIRED,
		.min = 1, .max = 4096, .help = "Links between nodes and hosts."},
	{"flows", CFG_LIST_OF, .item = CFG_MAP, .map = &flow_map, .offset = AT(struct topology, flows), .max = 4096,
		.help = "Traffic between hosts."},
	{"captures", CFG_LIST_OF, .item = CFG_MAP, .map = &capture_map, .offset = AT(struct topology, captures), .max = 64,
		.help = "Ports whose frames are captured."},
	{"schedule", CFG_LIST_OF, .item = CFG_MAP, .map = &event_map, .offset = AT(struct topology, schedule), .max = 10000,
		.help = "Console commands, reloads and restarts of nodes."},
};
/* clang-format on */

const struct cfg_map topo_root = MAP_OF(root_keys, "the file", struct topology);

void topo_emit_reference(FILE *out)
{
	cfg_emit_reference_of(&topo_root,
		"# Reference of lab topology files: every key, with its limits and its default.\n"
		"# Generated from the schema (lib/lab/topology_schema.c) by `sluice-lab --print reference`; do not "
		"edit.\n"
		"# Times end in ns, us, ms or s; shares are numbers from 0 to 1, or end in %.\n",
		out);
}
