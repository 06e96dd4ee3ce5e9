/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates manual pages in troff from the lists in the code. Main thread. */
#include "reference/man.h"

#include "command/command.h"
#include "config/schema.h"

/* Print words literally: troff finds no requests in them. Does not begin a new line. */
static void put_text(FILE *out, const char *text)
{
	/* troff treats a dot or quote at the beginning of a line as a request, and a minus as a hyphen */
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (const char *p = text; *p; p++) {
		if (*p == '\\')
			fputs("\\e", out);
		else if (*p == '-')
			fputs("\\-", out);
		else
			fputc(*p, out);
	}
}

void man_tag(FILE *out, const char *tag, const char *arg, const char *text)
{
	fputs(".TP\n\\fB", out);
	put_text(out, tag);
	fputs("\\fR", out);
	if (arg) {
		fputs(" \\fI", out);
		put_text(out, arg);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	put_text(out, text);
	fputc('\n', out);
}

void man_commands(FILE *out)
{
	char usage[256];

	for (unsigned int i = 0; i < n_commands; i++) {
		command_usage(&commands[i], usage, sizeof(usage));
		man_tag(out, usage, NULL, commands[i].help);
	}
}

static void man_key(FILE *out, const struct cfg_key *key, const char *path)
{
	enum cfg_type type = key->type == CFG_LIST_OF ? key->item : key->type;
	char expected[256];

	man_tag(out, path, NULL, key->help);
	if (type == CFG_MAP)
		return;
	cfg_key_expected(key, type, expected, sizeof(expected));
	fprintf(out, ".br\n%s", key->type == CFG_LIST_OF ? "List of: " : "Value: ");
	put_text(out, expected);
	if (key->fallback) {
		fputs("; default ", out);
		put_text(out, key->fallback);
	}
	fprintf(out, "%s; %s.\n", key->flags & CFG_REQUIRED ? "; required" : "",
		key->flags & CFG_START_ONLY ? "read at start only" : "reloadable");
}

static void man_map(FILE *out, const struct cfg_map *map, const char *prefix)
{
	char path[256];

	for (uint32_t i = 0; i < map->n_keys; i++) {
		const struct cfg_key *key = &map->keys[i];
		bool list_of_maps = key->type == CFG_LIST_OF && key->item == CFG_MAP;

		snprintf(path, sizeof(path), "%s%s%s", prefix, *prefix ? "." : "", key->name);
		man_key(out, key, path);
		if (list_of_maps)
			snprintf(path, sizeof(path), "%s%s%s[]", prefix, *prefix ? "." : "", key->name);
		if (key->map)
			man_map(out, key->map, path);
	}
}

void man_yaml(FILE *out)
{
	fputs(".\\\" Generated from lib/config/schema.c by `sluice --print sluice.yaml.5`; do not edit.\n"
	      ".TH SLUICE.YAML 5 2026 \"sluice " SLUICE_VERSION "\" \"File Formats\"\n"
	      ".SH NAME\nsluice.yaml \\- configuration of a sluice node\n"
	      ".SH DESCRIPTION\n"
	      "One YAML file describes one node.\n"
	      "Numbers may be hexadecimal (0x...) and may end in K, M, G or T: powers of 1024 for bytes and counts, "
	      "of\n"
	      "1000 for rates.\n"
	      "Unknown keys are errors.\n"
	      "All errors of a file are reported in one run, as file:line:column.\n"
	      ".PP\n"
	      "Keys marked reloadable may change while the node runs (reload, SIGHUP); a reload that changes any other "
	      "key\n"
	      "is refused as a whole.\n"
	      ".PP\n"
	      "A list of mappings is written name[] below.\n"
	      ".SH KEYS\n",
		out);
	man_map(out, &cfg_root, "");
	fputs(".SH SEE ALSO\n.BR sluice (8),\n.BR sluicectl (1)\n", out);
}
