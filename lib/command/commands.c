/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of commands, and help, which lists it. Management thread. */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/compiler.h"
#include "command/command_priv.h"

/* "|main|config..." */
#define MODULE_WORD(name, help) "|" #name
/* "|error|warning...": the first bar is skipped, because an empty alternative is not allowed */
#define LEVEL_WORD(id, word) "|" word
#define LEVEL_WORDS (&(LOG_LEVELS(LEVEL_WORD))[1])

#define PORT_OPTIONAL \
	{ \
		.name = "PORT", .kind = ARG_PORT, .optional = true, .help = "name of a port" \
	}

#define FILTER \
	{ \
		.name = "filter", .kind = ARG_NAME, .optional = true, .keyword = true, \
		.help = "pcap filter in quotes, for example: \"udp port 4791\"" \
	}

#define FORCE \
	{ \
		"--force", "also if flow control that is in force would be taken away, and lossless packets lost" \
	}

#define OPTION(name_, value_, help_) \
	{ \
		.name = (name_), .kind = ARG_NAME, .optional = true, .keyword = true, .value = (value_), \
		.help = (help_) \
	}
#define OPTION_NUMBER(name_, value_, min_, max_, help_) \
	{ \
		.name = (name_), .kind = ARG_NUMBER, .optional = true, .keyword = true, .value = (value_), \
		.min = (min_), .max = (max_), .help = (help_) \
	}
#define OPTION_VRF OPTION("vrf", "VRF", "name of a VRF; default: the underlay")
#define OPTION_PATH OPTION("path", "PATH", "name of a path; default: the first that carries traffic")
#define OPTION_TIMEOUT OPTION_NUMBER("timeout", "MS", 10, 10000, "milliseconds to wait for each answer; default: 1000")
#define PING_OPTIONS \
	OPTION_NUMBER("count", "N", 1, 100, "number of requests; default: 5"), \
		OPTION_NUMBER("interval", "MS", 10, 10000, "milliseconds between requests; default: 200"), \
		OPTION_TIMEOUT, \
		OPTION_NUMBER("size", "BYTES", 8, 9000, "bytes of data after the ICMP header; default: 56")
#define TRACEROUTE_OPTIONS OPTION_NUMBER("hops", "N", 1, 30, "number of hops at most; default: 30"), OPTION_TIMEOUT
#define SIDS \
	{ \
		.name = "SIDS", .kind = ARG_NAME, \
		.help = "SIDs to pass, with commas between them; the last, or an address, answers" \
	}
#define POLICY_AND_PATH \
	{.name = "POLICY", .kind = ARG_NAME, .help = "name of a policy"}, OPTION_PATH, \
		OPTION("to", "ADDRESS", "address behind the tunnel; default: the last SID of the path answers"), \
		OPTION("vrf", "VRF", "with 'to': the VRF in which the answers arrive; default: the underlay")

static int cmd_help(struct command_call *c);

/* clang-format off */
/* In the order of completion and of docs/commands.md: commands with the same first words are adjacent. */
const struct command commands[] = {
	{"show ports", "List ports: side, link state, packets and bytes received and sent, rates, and losses in the device.", cmd_show_ports},
	{"show port", "Show all details of a port: link, MTU, MAC address, queues, descriptors, offloads, capabilities and counters.", cmd_show_port,
		{{.name = "PORT", .kind = ARG_PORT, .help = "name of a port"}}},
	{"show port info", "Alias of 'show port PORT' for testpmd users; also takes 'all'.", cmd_show_port,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show port stats", "Show the counters of a port.", cmd_show_port_stats,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show port xstats", "Show all extended statistics of the device.", cmd_show_port_xstats,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show interfaces", "List VLAN interfaces: tags, VRF, addresses, packets and bytes received and sent.", cmd_show_interfaces},
	{"show lcores", "List lcores: roles, ports owned and load.", cmd_show_lcores},
	{"show sids", "List local SIDs: behaviour, IANA code point and counters.", cmd_show_sids},
	{"show remote-sids", "List the known SIDs by owner, including this node's own. With -j, the output is a file for remote-sids-files of another node.",
		cmd_show_remote_sids},
	{"show routes", "List the routes of the underlay and of VRFs with their next hops, policies or SIDs.", cmd_show_routes,
		{{.name = "VRF", .kind = ARG_NAME, .optional = true, .help = "name of a VRF; default: all tables"}}},
	{"show route lookup", "Look up the route of an address, as for a packet, and show which ways out are alive.", cmd_show_route_lookup,
		{{.name = "ADDRESS", .kind = ARG_NAME, .help = "IPv4 or IPv6 address"},
			{.name = "VRF", .kind = ARG_NAME, .optional = true, .help = "name of a VRF; default: the underlay"}}},
	{"show neighbors", "List neighbours: address, MAC address, state and packets waiting for resolution.", cmd_show_neighbors},
	{"show policies", "List SRv6 policies: packets, paths, addresses on the wire, next hop, overhead in bytes and largest inner packet.",
		cmd_show_policies},
	{"show paths", "List the paths of SRv6 policies: packets, alive or why not, since when, and whether they carry traffic now.",
		cmd_show_paths},
	{"show flows", "List the flows in the flow tables: policy, path, whether placed, packets, bytes, and RoCEv2's gaps and duplicates; at most 1,000.", cmd_show_flows,
		{{.name = "FILTER", .kind = ARG_NAME, .optional = true,
			.help = "what must match: vrf=, src=, dst=, proto=, sport=, dport=, qp=, policy=, path=, with commas between them"}}},
	{"show flows counters", "Show how full the flow tables are, and the packets that went by hash because they were full.", cmd_show_flow_counters},
	{"show placements", "List the placements of flows: policy, path, and whether they are in force; at most 1,000.", cmd_show_placements,
		{{.name = "FILTER", .kind = ARG_NAME, .optional = true, .help = "as for show flows"}}},
	{"show roce counters", "Show what receivers of RoCEv2 send back, and the losses of its data, of policies with roce: sum over all pairs of hosts.", cmd_show_roce_counters},
	{"show roce pairs", "List the pairs of hosts between which RoCEv2 goes, of policies with roce: ACKs, NAKs and CNPs, gaps and duplicates of PSNs; at most 1,000.", cmd_show_roce_pairs,
		{{.name = "FILTER", .kind = ARG_NAME, .optional = true, .help = "vrf=, src=, dst= of the data, with commas between them"}}},
	{"show roce watched", "List the senders' queue pairs of the pair of hosts that is watched: ACKs, NAKs and CNPs of each; at most 64 of each rx lcore.", cmd_show_roce_watched},
	{"show nexthops", "List links and next hops: alive or why not, since when, failures and hold-down.", cmd_show_nexthops},
	{"show bfd sessions", "List BFD sessions with next hops and along paths: state, causes, intervals and counters.", cmd_show_bfd_sessions},
	{"show bfd counters", "Show the BFD packets sent, received, and refused by reason.", cmd_show_bfd_counters},
	{"show rsvp sessions", "List the credit sessions that begin at this node: state, path, credit and epoch.", cmd_show_rsvp_sessions,
		{{.name = "NAME", .kind = ARG_NAME, .optional = true, .help = "name of a session; default: all"}}},
	{"show rsvp paths", "List the paths of all credit sessions that this node knows, with both sides of each hop.", cmd_show_rsvp_paths},
	{"show rsvp neighbors", "List RSVP neighbours: messages accepted, sent and refused, and whether a way to them is alive.", cmd_show_rsvp_neighbors},
	{"show rsvp counters", "Show the RSVP messages sent, received, and refused by reason, and the sessions known.", cmd_show_rsvp_counters},
	{"show rsvp messages", "Show the last RSVP messages sent and received, up to 1,000, with all their objects and what became of them; 'debug rsvp on' records them.",
		cmd_show_rsvp_messages,
		{{.name = "N", .kind = ARG_NUMBER, .min = 1, .max = 1000, .optional = true, .help = "number of messages, the newest; default: all"}}},
	{"show credit", "List the sessions whose data waits for credit here: what they have from the next hop and why they do not send, and what is given to the previous hop. Of one session everything.",
		cmd_show_credit, {{.name = "SESSION", .kind = ARG_NAME, .optional = true, .help = "name of a session that begins here, or a flow label such as 0x1a2b3; default: all"}}},
	{"show credit pools", "Show the buffers that this node grants to previous hops: units in all, committed, offered, and occupied.", cmd_show_credit_pools},
	{"show queues", "List egress queues by port, slice and class; queues that were never used are left out.", cmd_show_queues, {PORT_OPTIONAL}},
	{"show buffers", "Show buffer use by ingress port and class, with thresholds and watermarks.",
		cmd_show_buffers, {PORT_OPTIONAL}},
	{"show pfc counters", "Show the PFC frames received and sent, and the time paused, by port and priority.",
		cmd_show_pfc_counters, {PORT_OPTIONAL}},
	{"show pfc history", "Show the pauses by port, tunnel and priority: number, total time, last one and histogram of durations.",
		cmd_show_pfc_history},
	{"show pfc tunnels", "Show PFC tunnels and relays: paused priorities, frames by kind, and learning of tunnels.", cmd_show_pfc_tunnels},
	{"show pfc watchdog", "Show the PFC watchdogs: their configuration, and the storms of each queue with packets lost.",
		cmd_show_pfc_watchdog},
	{"show rings", "List the rings between lcores (packets and messages): size, used, pushed, refused, popped.", cmd_show_rings},
	{"show punts", "Show the packets handed to the control lcore by port and kind, those above their rate limit, whether within the share of their VLAN or station or dropped, and those that found their ring full.",
		cmd_show_punts, {PORT_OPTIONAL}},
	{"show stats", "Show all counters of ports and lcores.", cmd_show_stats},
	{"show drops", "Show the packets dropped or consumed, by port and reason.", cmd_show_drops},
	{"show conservation", "Check that every packet is accounted for: rx + originated = sent + dropped + consumed + held. unseen: packets that devices lost before the node could see them.",
		cmd_show_conservation},
	{"show config", "Show the running configuration as YAML that sluice can load.", cmd_show_config,
		{{.name = "all", .kind = ARG_WORD, .words = "all|placements", .optional = true,
			.help = "all: defaults too. placements: the placements of flows that were made since, too"}}},
	{"show captures", "List the running captures.", cmd_show_captures},
	{"show trace", "Show the path of the packets traced by the last 'trace add'.", cmd_show_trace},
	{"show log", "Show the log level of each module.", cmd_show_log},
	{"show version", "Show the versions of sluice and DPDK.", cmd_show_version},
	{"clear stats", "Show the counters of packets, ports, SIDs and PFC from 0 again; exported metrics keep their values.", cmd_clear_stats},
	{"clear watermarks", "Reset the watermarks of buffers and queues ('most'); the persistent ones ('ever') are kept.",
		cmd_clear_watermarks,
		{{.name = "persistent", .kind = ARG_WORD, .words = "persistent", .optional = true, .help = "reset the persistent watermarks, too"}}},
	{"clear trace", "Delete the trace and stop tracing.", cmd_clear_trace},
	{"clear rsvp", "Show the counters of RSVP and its neighbours from 0 again, and forget the recorded messages; sessions stay, and exported metrics keep their values.",
		cmd_clear_rsvp},
	{"debug rsvp", "Record RSVP messages for 'show rsvp messages', or stop it. Off, as at the start, it costs nothing.", cmd_debug_rsvp,
		{{.name = "SWITCH", .kind = ARG_WORD, .words = "on|off", .help = "on, or off"}}},
	{"set log", "Set the log level of a module.", cmd_set_log,
		{{.name = "MODULE", .kind = ARG_WORD, .words = "all" LOG_MODULES(MODULE_WORD), .help = "log module, or all"},
		{.name = "LEVEL", .kind = ARG_WORD, .words = LEVEL_WORDS, .help = "lowest severity that is logged"}}},
	{"port stop", "Stop sending by a port, for maintenance: its link counts as down, and traffic takes other ways. The device stays up.",
		cmd_port_stop, {{.name = "PORT", .kind = ARG_PORT, .help = "name of a port"}}},
	{"port start", "Use a port again that was stopped.", cmd_port_start, {{.name = "PORT", .kind = ARG_PORT, .help = "name of a port"}}},
	{"path place", "Place a flow on a path of its policy. It takes the path as long as that is alive, whether it was seen already or not.", cmd_path_place,
		{{.name = "FLOW", .kind = ARG_NAME, .help = "vrf=VRF,src=ADDRESS,dst=ADDRESS,sport=PORT; dport= (4791) and proto= (udp) if others; or qp= for the ports"},
		{.name = "POLICY", .kind = ARG_NAME, .help = "name of a policy with flows"},
		{.name = "PATH", .kind = ARG_NAME, .help = "name of a path of it"}}},
	{"path pin", "The same, for good: only an operator moves the flow.", cmd_path_pin,
		{{.name = "FLOW", .kind = ARG_NAME, .help = "as for path place"},
		{.name = "POLICY", .kind = ARG_NAME, .help = "name of a policy with flows"},
		{.name = "PATH", .kind = ARG_NAME, .help = "name of a path of it"}}},
	{"path unpin", "Take the placement of a flow away: it goes by hash again.", cmd_path_unpin,
		{{.name = "FLOW", .kind = ARG_NAME, .help = "as for path place"}}},
	{"roce watch", "Count the queue pairs of a pair of hosts one by one, instead of those of the pair that was watched before.", cmd_roce_watch,
		{{.name = "FILTER", .kind = ARG_NAME, .help = "as for show roce pairs; one pair must match"}}},
	{"roce unwatch", "Watch no pair of hosts.", cmd_roce_unwatch},
	{"path load", "Place the flows of a file, all or none: a line 'FLOW POLICY PATH [pinned]' for each, or a JSON array of objects with flow, policy, path and pinned.",
		cmd_path_load, {{.name = "FILE", .kind = ARG_FILE, .help = "path of the file"}},
		{{"--replace", "take all other placements away"}}},
	{"path batch", "Place flows, all or none.", cmd_path_batch,
		{{.name = "JSON", .kind = ARG_TEXT, .help = "in quotes, a JSON array as for path load, with \\\" for its own quotes"}}},
	{"path drain", "Move the flows of a path to others, for maintenance: it is used only while nothing else is alive. Reloads keep it so.", cmd_path_drain,
		{{.name = "POLICY", .kind = ARG_NAME, .help = "name of a policy"}, {.name = "PATH", .kind = ARG_NAME, .help = "name of a path of it"}}},
	{"path enable", "Use a path again that was drained.", cmd_path_enable,
		{{.name = "POLICY", .kind = ARG_NAME, .help = "name of a policy"}, {.name = "PATH", .kind = ARG_NAME, .help = "name of a path of it"}}},
	{"session stop", "End a credit session that begins at this node, until 'session start' or a restart.", cmd_session_stop,
		{{.name = "NAME", .kind = ARG_NAME, .help = "name of a session of credit.sessions"}}},
	{"session start", "Begin a credit session again that was stopped.", cmd_session_start,
		{{.name = "NAME", .kind = ARG_NAME, .help = "name of a session of credit.sessions"}}},
	{"ping", "Send echo requests to an address, routed as packets of the node or, in a VRF, of its tenants.", cmd_ping,
		{{.name = "ADDRESS", .kind = ARG_NAME, .help = "IPv4 or IPv6 address"}, OPTION_VRF, PING_OPTIONS}},
	{"ping sid", "Send echo requests by way of SIDs.", cmd_ping_sid, {SIDS, PING_OPTIONS}},
	{"ping policy", "Send echo requests along a path of a policy.", cmd_ping_policy, {POLICY_AND_PATH, PING_OPTIONS}},
	{"traceroute", "Find the nodes on the way to an address.", cmd_traceroute,
		{{.name = "ADDRESS", .kind = ARG_NAME, .help = "IPv4 or IPv6 address"}, OPTION_VRF, TRACEROUTE_OPTIONS}},
	{"traceroute sid", "Find the nodes on the way by SIDs.", cmd_traceroute_sid, {SIDS, TRACEROUTE_OPTIONS}},
	{"traceroute policy", "Find the nodes on a path of a policy, by the hop limit of its outer header.", cmd_traceroute_policy,
		{POLICY_AND_PATH, TRACEROUTE_OPTIONS}},
	{"trace add", "Record the path of the next N packets through the node.", cmd_trace_add,
		{{.name = "N", .kind = ARG_NUMBER, .min = 1, .max = 1000, .help = "number of packets"}, FILTER}},
	{"capture start", "Write packets to a pcapng file: those of a port in both directions, dropped packets, or packets with the O-flag.",
		cmd_capture_start,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all|drops|oam",
			.help = "a port, all ports, dropped packets, or packets at local SIDs whose SRH has the O-flag (RFC 9259)"}, FILTER,
		{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "file to write; default: a name made of node, port and time"},
		{.name = "COUNT", .kind = ARG_NUMBER, .min = 1, .max = 1000000000, .optional = true,
			.help = "stop after this many packets"}}},
	{"capture drops", "Write the last packets dropped for each reason to a pcapng file; they are recorded without a running capture.",
		cmd_capture_drops, {{.name = "FILE", .kind = ARG_FILE, .help = "file to write"}}},
	{"capture stop", "Stop a capture.", cmd_capture_stop,
		{{.name = "NUMBER", .kind = ARG_NUMBER, .words = "all", .min = 1, .max = 16, .help = "number shown by 'show captures', or all"}}},
	{"reload", "Reload the configuration: check it, print the plan, then apply all of it or nothing.", cmd_reload,
		{{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "configuration file; default: the file of the running configuration"}},
		.flag = {{"--dry-run", "only check and print the plan"}, FORCE}},
	{"commit", "Confirm the configuration applied by 'commit confirmed'.", cmd_commit},
	{"commit confirmed", "Reload, and roll back automatically unless 'commit' follows in time.", cmd_commit_confirmed,
		{{.name = "SECONDS", .kind = ARG_NUMBER, .min = 1, .max = 86400, .help = "seconds until the automatic rollback"},
		{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "configuration file; default: the file of the running configuration"}},
		.flag = {FORCE}},
	{"rollback", "Restore the configuration before the last reload.", cmd_rollback, .flag = {FORCE}},
	{"help", "List all commands, or those that begin with the given words.", cmd_help,
		{{.name = "WORDS", .kind = ARG_TEXT, .optional = true, .help = "first words of the commands"}}},
	{"quit", "Console: stop the node. Over the socket: end the session.", cmd_quit},
	{"exit", "Alias of 'quit'.", cmd_quit},
};
/* clang-format on */
const unsigned int n_commands = ARRAY_LEN(commands);

static int cmd_help(struct command_call *c)
{
	char usage[256];

	c->result = json_array();
	for (unsigned int i = 0; i < n_commands; i++) {
		if (c->arg[0] && strncmp(commands[i].words, c->arg[0], strlen(c->arg[0])) != 0)
			continue;
		command_usage(&commands[i], usage, sizeof(usage));
		json_array_append_new(c->result, json_pack("{ss ss}", "command", usage, "what", commands[i].help));
	}
	if (!json_array_size(c->result))
		return command_fail(c, -ENOENT, "no command begins with '%.60s'", c->arg[0]);
	return 0;
}
