/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sluice(8) and sluicectl(1): what is declared elsewhere, options and commands, between what is written here. Main
 * thread, before lcores start.
 */
#include "app.h"
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
	      ".SH DESCRIPTION\n"
	      "sluice runs one node, described by one configuration file, until SIGINT or SIGTERM tells it to stop. It "
	      "then\n"
	      "receives nothing more, lets what is inside leave, prints a report and checks that every packet is "
	      "accounted\n"
	      "for.\n"
	      ".PP\n"
	      "SIGHUP reads the configuration file again and applies it whole or not at all; the log says which.\n"
	      ".PP\n"
	      ".B sluice preflight\n"
	      "starts nothing. It says what this machine offers and lacks: hugepages, IOMMU, drivers of network\n"
	      "controllers, and, for a configuration, memory, devices, isolation and frequency of its CPUs; with each\n"
	      "finding the command that mends it.\n"
	      ".PP\n"
	      ".B sluice plan headroom\n"
	      "starts nothing either. It says how much a lossless class may still receive once its sender has been "
	      "told to\n"
	      "stop, by the rule of draft\\-he\\-rtgwg\\-wan\\-pfc and by the full one, and what must be left when it "
	      "is told to\n"
	      "go on.\n"
	      ".SH OPTIONS\n",
		out);
	man_options(out, sluice_options, n_sluice_options);
	fputs(".SS Options of preflight\n", out);
	man_options(out, preflight_options, n_preflight_options);
	fputs(".SS Options of plan headroom\n", out);
	man_options(out, plan_options, n_plan_options);
	fputs(".PP\nWhat follows \\-\\- goes to DPDK's EAL untouched.\n"
	      ".SH EXIT STATUS\n"
	      ".TP\n.B 0\nThe node has run, stopped and drained; or a page was printed, or nothing must be mended.\n"
	      ".TP\n.B 1\nThe configuration is wrong, or preflight found what must be mended.\n"
	      ".TP\n.B 2\nThe command line is wrong.\n"
	      ".TP\n.B 3\nThe machine lacks something that the start needs.\n"
	      ".TP\n.B 4\nPackets are unaccounted for or buffers leaked: a bug.\n"
	      ".SH ENVIRONMENT\n"
	      ".TP\n.B NOTIFY_SOCKET, WATCHDOG_USEC\n"
	      "Set by systemd: readiness, stopping, and a watchdog that is fed only while every lcore makes passes.\n"
	      ".TP\n.B XDG_RUNTIME_DIR\nWhere pid file and socket are when sluice does not run as root.\n"
	      ".SH FILES\n"
	      ".TP\n.I /run/sluice/NODE.pid\nPid file, locked: a node's name is taken once.\n"
	      ".TP\n.I /run/sluice/NODE.sock\nSocket of\n.BR sluicectl (1),\nmode 0600.\n"
	      ".TP\n.I /etc/sluice/NODE.yaml\nConfiguration that sluice@NODE.service starts.\n"
	      ".SH SEE ALSO\n.BR sluicectl (1),\n.BR sluice.yaml (5)\n",
		out);
}

void man_sluicectl(FILE *out)
{
	fputs(".\\\" Generated from app/cli and lib/command by `sluice --print sluicectl.1`; do not edit.\n"
	      ".TH SLUICECTL 1 2026 \"sluice " SLUICE_VERSION "\" \"User Commands\"\n"
	      ".SH NAME\nsluicectl \\- commands to a running sluice node\n"
	      ".SH SYNOPSIS\n.B sluicectl\n[\\fB\\-n\\fR \\fINODE\\fR | \\fB\\-s\\fR \\fISOCKET\\fR] "
	      "[\\fB\\-j\\fR]\n.RI [ COMMAND ...]\n"
	      ".SH DESCRIPTION\n"
	      "With a command, sluicectl has the node run it, prints the answer and tells by its exit status whether "
	      "it\n"
	      "succeeded. Without one it opens a console when standard input is a terminal: Tab completes, ? helps, "
	      "Ctrl\\-D\n"
	      "or Ctrl\\-C ends it; else it reads commands from standard input, a line each.\n"
	      ".SH OPTIONS\n",
		out);
	man_options(out, sluicectl_options, n_sluicectl_options);
	fputs(".SH COMMANDS\n"
	      "Words may be abbreviated as long as they are unique. \\-j anywhere on the line asks for JSON. # begins "
	      "a\n"
	      "comment. Words with spaces stand in double quotes.\n",
		out);
	man_commands(out);
	fputs(".SH EXIT STATUS\n"
	      ".TP\n.B 0\nDone.\n.TP\n.B 1\nA command failed; why stands on standard error.\n"
	      ".TP\n.B 2\nWrong usage.\n.TP\n.B 3\nNo connection.\n"
	      ".SH SEE ALSO\n.BR sluice (8),\n.BR sluice.yaml (5)\n",
		out);
}
