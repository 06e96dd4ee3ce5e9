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

static int cmd_help(struct command_call *c);

/* clang-format off */
/* In the order of completion and of docs/commands.md: commands with the same first words are adjacent. */
const struct command commands[] = {
	{"show ports", "Ports: side, link, packets and bytes in and out, rates, losses of the device.", cmd_show_ports},
	{"show port", "One port in full: link, MTU, MAC, queues, descriptors, offloads, abilities, counters.", cmd_show_port,
		{{.name = "PORT", .kind = ARG_PORT, .help = "name of a port"}}},
	{"show port info", "The same, in testpmd's words.", cmd_show_port,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show port stats", "Counters of a port, in testpmd's words.", cmd_show_port_stats,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show port xstats", "Every counter that the device keeps.", cmd_show_port_xstats,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all", .help = "name of a port, or all"}}},
	{"show interfaces", "VLAN interfaces: tags, VRF, addresses, packets and bytes in and out.", cmd_show_interfaces},
	{"show lcores", "What each lcore does and how busy it is.", cmd_show_lcores},
	{"show sids", "Local SIDs, behaviours, IANA code points and counters.", cmd_show_sids},
	{"show remote-sids", "SIDs known by owner, own ones included; as JSON a file that remote-sids-files of another node takes.",
		cmd_show_remote_sids},
	{"show routes", "Routes of the underlay and of VRFs, with what they lead to.", cmd_show_routes,
		{{.name = "VRF", .kind = ARG_NAME, .optional = true, .help = "name of a VRF; default: all tables"}}},
	{"show neighbors", "Neighbours with state and MAC address.", cmd_show_neighbors},
	{"show policies", "SRv6 policies: paths, addresses on the wire, way out, overhead, largest inner packet.",
		cmd_show_policies},
	{"show queues", "Egress queues that were used, by port, slice and class; those that nothing waited in are left out.", cmd_show_queues, {PORT_OPTIONAL}},
	{"show buffers", "What came in by each port and waits in egress queues, by class; thresholds and watermarks.",
		cmd_show_buffers, {PORT_OPTIONAL}},
	{"show pfc counters", "PFC frames heard and said by port and priority, and how long they paused.",
		cmd_show_pfc_counters, {PORT_OPTIONAL}},
	{"show pfc history", "Pauses by port, tunnel and priority, exactly: how many, how long, and how long they were.",
		cmd_show_pfc_history},
	{"show pfc tunnels", "PFC tunnels and relays: what they were told to stop, and frames by kind.", cmd_show_pfc_tunnels},
	{"show pfc watchdog", "PFC storms: what is done about them, and by queue when there were some and what they cost.",
		cmd_show_pfc_watchdog},
	{"show rings", "Rings between lcores, of packets and of messages: size, used, pushed, refused, popped.", cmd_show_rings},
	{"show stats", "All counters of all ports and lcores.", cmd_show_stats},
	{"show drops", "Packets dropped or consumed, by port and reason.", cmd_show_drops},
	{"show conservation", "Where all packets are: rx + originated = sent + dropped + consumed + held.",
		cmd_show_conservation},
	{"show config", "The running configuration as YAML that can be loaded.", cmd_show_config,
		{{.name = "all", .kind = ARG_WORD, .words = "all", .optional = true, .help = "defaults too"}}},
	{"show captures", "Captures under way.", cmd_show_captures},
	{"show trace", "What the packets of the last trace add went through.", cmd_show_trace},
	{"show log", "Log levels by module.", cmd_show_log},
	{"show version", "Versions of sluice and DPDK.", cmd_show_version},
	{"clear stats", "Remember the counters of packets, ports, SIDs and PFC as base line: what is shown counts from here.", cmd_clear_stats},
	{"clear watermarks", "Forget the user's watermarks of buffers and queues (most); the persistent ones (ever) stay.",
		cmd_clear_watermarks,
		{{.name = "persistent", .kind = ARG_WORD, .words = "persistent", .optional = true, .help = "forget those as well"}}},
	{"clear trace", "Forget traced packets and stop waiting for more.", cmd_clear_trace},
	{"set log", "Set how much a module logs.", cmd_set_log,
		{{.name = "MODULE", .kind = ARG_WORD, .words = "all" LOG_MODULES(MODULE_WORD), .help = "module of the log"},
		{.name = "LEVEL", .kind = ARG_WORD, .words = LEVEL_WORDS, .help = "least urgent level shown"}}},
	{"trace add", "Record the way of the next packets.", cmd_trace_add,
		{{.name = "N", .kind = ARG_NUMBER, .min = 1, .max = 1000, .help = "how many packets"}, FILTER}},
	{"capture start", "Write packets to a pcapng file: of a port, both directions, those that are dropped, or those with the O-flag.",
		cmd_capture_start,
		{{.name = "PORT", .kind = ARG_PORT, .words = "all|drops|oam",
			.help = "port, all of them, dropped packets, or those at local SIDs whose SRH has the O-flag (RFC 9259)"}, FILTER,
		{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "file to write; default: a name that tells node and time"},
		{.name = "COUNT", .kind = ARG_NUMBER, .min = 1, .max = 1000000000, .optional = true,
			.help = "end after so many packets"}}},
	{"capture drops", "Write the last dropped packets of each reason, which are always kept, to a pcapng file.",
		cmd_capture_drops, {{.name = "FILE", .kind = ARG_FILE, .help = "file to write"}}},
	{"capture stop", "End a capture.", cmd_capture_stop,
		{{.name = "NUMBER", .kind = ARG_NUMBER, .words = "all", .min = 1, .max = 16, .help = "as show captures says, or all"}}},
	{"reload", "Read the configuration again: check it, print the plan, apply all of it or nothing.", cmd_reload,
		{{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "file; default: the running one's"}},
		.flag = "--dry-run", .flag_help = "check and plan only"},
	{"commit", "Confirm what commit confirmed has applied.", cmd_commit},
	{"commit confirmed", "Reload, and go back by itself unless commit follows in time.", cmd_commit_confirmed,
		{{.name = "SECONDS", .kind = ARG_NUMBER, .min = 1, .max = 86400, .help = "time to confirm in"},
		{.name = "FILE", .kind = ARG_FILE, .optional = true, .help = "file; default: the running one's"}}},
	{"rollback", "Go back to the configuration before the last reload.", cmd_rollback},
	{"help", "Commands, or those that begin with the given words.", cmd_help,
		{{.name = "WORDS", .kind = ARG_TEXT, .optional = true, .help = "how they begin"}}},
	{"quit", "Console: stop the node. Over the socket: end the session.", cmd_quit},
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
