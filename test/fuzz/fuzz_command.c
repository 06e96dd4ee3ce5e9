/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Console input. The bytes are split into lines as those of a socket are; each is completed at every position, taken
 * apart, and run if it only looks. An error has words, JSON is JSON, and an offer goes on with what stands there.
 */
#include "test/support/unit.h"

#include <jansson.h>

#include "base/log.h"
#include "command/line.h"
#include "command/parse.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/node.h"

static struct command_host host;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	host = (struct command_host){.node = fuzz_node()->node, .version = "0"};
	return 0;
}

static void offered(void *arg, const char *text, const char *help)
{
	const char *partial = arg;

	must(text[0] && help, "an empty offer");
	/* a value that must be typed is only named */
	must(strncmp(text, partial, strlen(partial)) == 0 || !*partial, "'%s' for '%s'", text, partial);
}

static void complete(const char *line)
{
	size_t n = strlen(line);

	for (size_t at = 0; at <= n && at < 200; at++) {
		char *part = (char *)fuzz_exact((const uint8_t *)line, at + 1);
		const char *partial;

		part[at] = '\0';
		partial = part + at;
		while (partial > part && partial[-1] != ' ' && partial[-1] != '\t')
			partial--;
		command_complete(&host, part, offered, (void *)(uintptr_t)partial);
		free(part);
	}
}

/* Commands that change only the next output. */
static bool only_looks(const struct command *c)
{
	return strncmp(c->words, "show ", 5) == 0 || strcmp(c->words, "help") == 0 ||
	       strcmp(c->words, "set log") == 0 || strcmp(c->words, "quit") == 0 ||
	       strncmp(c->words, "commit", 6) == 0 || strcmp(c->words, "rollback") == 0;
}

static void run(const char *line, const struct words *w)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	json_t *v;
	int rc;

	must(f, "memory");
	rc = command_run(&host, line, f);
	fclose(f);
	must(rc >= 0 || size, "%d without a word", rc);
	if (rc == 0 && w->json && size) {
		v = json_loads(text, JSON_DECODE_ANY, NULL);
		must(v, "no JSON: %.100s", text);
		json_decref(v);
	}
	free(text);
}

static void take(const char *line)
{
	struct command_call call = {.host = &host, .node = host.node};
	char err[512] = "";
	const struct command *c;
	unsigned int used;
	struct words w;

	complete(line);
	if (parse_words(line, &w, err, sizeof(err)) < 0) {
		must(err[0], "refused without a word");
		return;
	}
	if (!w.n)
		return;
	c = parse_command(&w, &used, err, sizeof(err));
	must(c || err[0], "refused without a word");
	if (!c)
		return;
	must(used <= w.n, "%u of %u words", used, w.n);
	must(parse_args(c, &w, used, &call, err, sizeof(err)) == 0 || err[0], "refused without a word");
	if (only_looks(c))
		run(line, &w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_reader *l = calloc(1, sizeof(*l));

	must(l, "memory");
	for (size_t i = 0; i < size; i++) {
		enum line_state state = line_take(l, (char)data[i]);

		must(l->n < COMMAND_LINE_MAX, "%zu bytes", l->n);
		if (state == LINE_WHOLE)
			take(l->text);
	}
	if (line_end(l) == LINE_WHOLE)
		take(l->text);
	free(l);
	return 0;
}
