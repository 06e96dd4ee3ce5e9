/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The manual pages sluice(8) and sluicectl(1): fixed text around options and commands, which come from their tables.
 * Main thread, before lcores start.
 */
#include "man.h"
#include "options.h"
#include "plan.h"
#include "preflight.h"
#include "reference/man.h"

static void man_options(FILE *out, const struct cli_option *options, size_t n)
{
	char tag[64];

	for (size_t i = 0; i < n; i++) {
		const struct cli_option *o = &options[i];

		if (o->value > 255)
			snprintf(tag, sizeof(tag), "--%s", o->name);
		else
			snprintf(tag, sizeof(tag), "-%c, --%s", o->value, o->name);
		man_tag(out, tag, o->arg, o->help);
	}
}

void man_sluice(FILE *out)
{
	fputs(".\\\" Generated from app/sluice by `sluice --print sluice.8`; do not edit.\n"
	      ".TH SLUICE 8 2026 \"sluice " SLUICE_VERSION "\" \"System Administration\"\n"
	      ".SH NAME\nsluice \\- SRv6 gateway for RDMA traffic on DPDK\n"
	      ".SH SYNOPSIS\n"
	      ".B sluice \\-c\n.I FILE\n[options] [\\-\\- EAL options]\n"
	      ".br\n.B sluice preflight\n[\\fB\\-c\\fR \\fIFILE\\fR] [\\fB\\-j\\fR]\n"
	      ".br\n.B sluice plan headroom \\-\\-rate\n.I RATE\n.B \\-\\-distance\n.I LENGTH\n[options] "
	      "[\\fB\\-j\\fR]\n"
	      ".br\n.B sluice plan credit \\-\\-rate\n.I RATE\n.B \\-\\-distance\n.I LENGTH\n[options] "
	      "[\\fB\\-j\\fR]\n"
	      ".br\n.B sluice plan placement\n.I TOPOLOGY DEMANDS\n[\\fB\\-j\\fR]\n"
	      ".SH DESCRIPTION\n"
	      "sluice runs one node, described by one configuration file.\n"
	      "On SIGINT or SIGTERM it stops receiving, sends the packets that it holds, prints a report and checks\n"
	      "that every packet is accounted for.\n"
	      "On SIGHUP it reads the configuration file again and applies it whole or not at all;\n"
	      "the log has the result.\n"
	      ".PP\n"
	      ".B sluice preflight\n"
	      "checks the machine and starts nothing: hugepages, IOMMU and the drivers of network controllers, and,\n"
	      "with a configuration, its memory, its devices, and the isolation and frequency of its CPUs.\n"
	      "Each warning and error comes with the command that fixes it.\n"
	      ".PP\n"
	      ".B sluice plan headroom\n"
	      "computes how many bytes a lossless class may still receive after it has sent XOFF, by the formula of\n"
	      "draft\\-he\\-rtgwg\\-wan\\-pfc and by the full one, and how many bytes must be left in the buffer\n"
	      "when it sends XON, so that the link stays busy. It starts nothing.\n"
	      ".PP\n"
	      ".B sluice plan credit\n"
	      "computes the window that a credit session needs to use a rate over a distance, the buffers of the node "
	      "that\n"
	      "grants it, how many updates it takes, and the utilisation to expect, also with less. It starts "
	      "nothing.\n"
	      ".PP\n"
	      ".B sluice plan placement\n"
	      "places the flows of a job, which are known before it starts, on the shortest paths of a network, so "
	      "that the\n"
	      "most loaded link carries as little as possible, and says how little any placement can reach. It prints "
	      "what\n"
	      "the command path load reads.\n"
	      ".SH OPTIONS\n",
		out);
	man_options(out, sluice_options, n_sluice_options);
	fputs(".SS Options of preflight\n", out);
	man_options(out, preflight_options, n_preflight_options);
	fputs(".SS Options of plan headroom\n", out);
	man_options(out, plan_options, n_plan_options);
	fputs(".SS Options of plan credit\n", out);
	man_options(out, plan_credit_options, n_plan_credit_options);
	fputs(".PP\nArguments after \\-\\- are passed to DPDK's EAL unchanged.\n"
	      ".SH EXIT STATUS\n"
	      ".TP\n.B 0\nSuccess: the node has run and stopped, a page was printed, or preflight found no errors.\n"
	      ".TP\n.B 1\nThe configuration is invalid, preflight found errors, a command of\n"
	      ".B \\-\\-script\nfailed, or, with\n.BR \\-\\-strict ,\na start on this machine would fail.\n"
	      ".TP\n.B 2\nThe command line is wrong.\n"
	      ".TP\n.B 3\nThe node cannot start on this machine.\n"
	      ".TP\n.B 4\nPackets are unaccounted for or buffers leaked: a bug.\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\n.B NOTIFY_SOCKET, WATCHDOG_USEC\n"
	      "Set by systemd. sluice reports readiness and stopping, and feeds the watchdog while every lcore\n"
	      "makes passes.\n"
	      ".TP\n.B XDG_RUNTIME_DIR\nFolder of pid file and socket if sluice does not run as root.\n"
	      ".SH FILES\n"
	      ".TP\n.I /run/sluice/NODE.pid\nPid file, locked while the node runs.\n"
	      ".TP\n.I /run/sluice/NODE.sock\nSocket of\n.BR sluicectl (1),\nmode 0600.\n"
	      ".TP\n.I /etc/sluice/NODE.yaml\nConfiguration of sluice@NODE.service.\n"
	      ".SH SEE ALSO\n.BR sluicectl (1),\n.BR sluice.yaml (5)\n",
		out);
}

void man_sluicectl(FILE *out)
{
	fputs(".\\\" Generated from app/cli and lib/command by `sluice --print sluicectl.1`; do not edit.\n"
	      ".TH SLUICECTL 1 2026 \"sluice " SLUICE_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\nsluicectl \\- send commands to a running sluice node\n"
	      ".SH SYNOPSIS\n.B sluicectl\n[\\fB\\-n\\fR \\fINODE\\fR | \\fB\\-s\\fR \\fISOCKET\\fR] "
	      "[\\fB\\-j\\fR] [\\fB\\-w\\fR \\fISECONDS\\fR]\n.RI [ COMMAND ...]\n"
	      ".SH DESCRIPTION\n"
	      "With a command, sluicectl runs it on the node, prints the output, and exits with 0 if it succeeded.\n"
	      ".PP\n"
	      "Without a command it opens a console if standard input is a terminal: Tab completes, ? shows help,\n"
	      "Ctrl\\-D or Ctrl\\-C leaves the console.\n"
	      "Otherwise it reads commands from standard input, one per line.\n"
	      ".SH OPTIONS\n",
		out);
	man_options(out, sluicectl_options, n_sluicectl_options);
	fputs(".SH COMMANDS\n"
	      "Words may be abbreviated as long as they are unique. \\-j anywhere on the line prints JSON. # starts a\n"
	      "comment. Enclose words that contain spaces in double quotes.\n",
		out);
	man_commands(out);
	fputs(".SH EXIT STATUS\n"
	      ".TP\n.B 0\nSuccess.\n.TP\n.B 1\nA command failed; its message is on standard error.\n"
	      ".TP\n.B 2\nWrong usage.\n.TP\n.B 3\nNo connection.\n"
	      ".SH SEE ALSO\n.BR sluice (8),\n.BR sluice.yaml (5)\n",
		out);
}
