/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "command/command_priv.h"

#define WORDS_MAX 64

const struct command commands[] = {
	{"show ports", "", "Ports: side, addresses, link, packets in and out.", cmd_show_ports},
	{"show lcores", "", "What each lcore does and how busy it is.", cmd_show_lcores},
	{"show drops", "", "Packets dropped or consumed, by port and reason.", cmd_show_drops},
	{"show conservation", "", "Where all packets are: rx + originated = sent + dropped + consumed + held.",
		cmd_show_conservation},
	{"show neighbors", "", "Neighbours with state and MAC address.", cmd_show_neighbors},
	{"show sids", "", "Local SIDs, behaviours, IANA code points and counters.", cmd_show_sids},
	{"show version", "", "Versions of sluice and DPDK.", cmd_show_version},
};
const unsigned int n_commands = ARRAY_LEN(commands);

/* How many words of the command the line begins with; 0 when it does not match. */
static int match(const struct command *c, int argc, char **argv)
{
	const char *at = c->words;
	int n = 0;

	while (*at) {
		size_t len = strcspn(at, " ");

		if (n == argc || strlen(argv[n]) != len || strncmp(argv[n], at, len) != 0)
			return 0;
		n++;
		at += len;
		at += *at == ' ';
	}
	return n;
}

static int unknown(const char *line, FILE *out)
{
	const char *words[64], *near;
	size_t n = 0;

	for (unsigned int i = 0; i < n_commands && n < 64; i++)
		words[n++] = commands[i].words;
	near = text_nearest(line, words, n);
	if (near)
		fprintf(out, "unknown command '%.100s'; did you mean '%s'?\n", line, near);
	else
		fprintf(out, "unknown command '%.100s'\n", line);
	return -ENOENT;
}

static int call(const struct command *c, struct command_call *k, bool json, FILE *out)
{
	int rc = c->run(k);

	if (rc < 0) {
		fprintf(out, "%s: %s\n", c->words, k->error[0] ? k->error : strerror(-rc));
	} else if (k->result) {
		if (json) {
			json_dumpf(k->result, out, JSON_INDENT(2) | JSON_ENCODE_ANY);
			fputc('\n', out);
		} else {
			command_print_text(k->result, out);
		}
	}
	json_decref(k->result);
	return rc;
}

int command_run(struct node *node, const char *line, FILE *out)
{
	char *copy = strdup(line), *argv[WORDS_MAX], *save = NULL, *word;
	struct command_call k = {.node = node};
	bool json = false;
	int argc = 0, rc = 0;

	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, " \t\r\n", &save); word; word = strtok_r(NULL, " \t\r\n", &save)) {
		if (strcmp(word, "-j") == 0)
			json = true;
		else if (argc < WORDS_MAX)
			argv[argc++] = word;
	}
	for (unsigned int i = 0; argc && i < n_commands; i++) {
		int used = match(&commands[i], argc, argv);

		if (used) {
			k.argc = argc - used;
			k.argv = argv + used;
			rc = call(&commands[i], &k, json, out);
			free(copy);
			return rc;
		}
	}
	if (argc)
		rc = unknown(line, out);
	free(copy);
	return rc;
}
