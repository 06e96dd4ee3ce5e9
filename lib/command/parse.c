/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits a line into words, finds the command that they abbreviate and checks its arguments. Management thread. */
#include "command/parse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "node/node.h"

#define INSTEAD_MAX 4 /* words that may replace a port */

static int fail(char *err, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static int fail(char *err, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, size, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool parse_asks_for_json(const char *line, size_t len)
{
	for (size_t i = 0; i + 2 <= len; i++)
		if (line[i] == '-' && line[i + 1] == 'j' && (!i || is_space(line[i - 1])) &&
			(i + 2 == len || is_space(line[i + 2])))
			return true;
	return false;
}

static int give_up(struct words *out, const char *line, int rc)
{
	out->json = parse_asks_for_json(line, strlen(line));
	return rc;
}

int parse_words(const char *line, struct words *out, char *err, size_t size)
{
	size_t len = strlen(line);
	json_t *text;
	char *p, *to;

	out->n = 0;
	out->comment = false;
	out->flag = NULL;
	out->json = parse_asks_for_json(line, len);
	if (len >= sizeof(out->text))
		return fail(err, size, "a line has at most %d bytes; this one has %zu", COMMAND_LINE_MAX - 1, len);
	for (const unsigned char *c = (const unsigned char *)line; *c; c++)
		if ((*c < 0x20 && !is_space((char)*c)) || *c == 0x7f)
			return fail(err, size, "the line contains control character 0x%02x", *c);
	text = json_string(line);
	if (!text)
		return fail(err, size, "the line is not valid UTF-8");
	json_decref(text);
	memcpy(out->text, line, len + 1);
	out->json = false;
	for (p = out->text; *p;) {
		char quote = 0;

		while (is_space(*p))
			p++;
		out->comment = *p == '#';
		if (!*p || out->comment)
			break;
		if (out->n == WORDS_MAX)
			return give_up(out, line, fail(err, size, "a line has at most %d words", WORDS_MAX));
		out->word[out->n++] = to = p;
		for (; *p && (quote || !is_space(*p)); p++) {
			if (*p == '\\' && p[1] == '"')
				*to++ = *++p;
			else if (*p == '"' && (!quote || quote == '"'))
				quote = quote ? 0 : '"';
			else
				*to++ = *p;
		}
		if (quote)
			return give_up(out, line, fail(err, size, "missing closing quote"));
		if (*p)
			p++;
		*to = '\0';
		if (strcmp(out->word[out->n - 1], "-j") == 0) {
			out->json = true;
			out->n--;
		} else if (strncmp(out->word[out->n - 1], "--", 2) == 0) {
			out->flag = out->word[--out->n];
		}
	}
	return 0;
}

const char *parse_word_of(const struct command *c, unsigned int k, size_t *len)
{
	const char *at = c->words;

	while (k--) {
		at = strchr(at, ' ');
		if (!at)
			return NULL;
		at++;
	}
	*len = strcspn(at, " ");
	return at;
}

/* How well a command matches the beginning of a line. */
struct fit {
	bool fits;	    /* all of its words that the line covers match */
	bool complete;	    /* the line covers all of its words */
	unsigned int words; /* number of its words */
	unsigned int exact; /* one bit per word that is written in full, the first word highest */
};

static struct fit fit_of(const struct command *c, const struct words *w)
{
	struct fit f = {.fits = true, .complete = true};
	const char *own;
	size_t len;

	for (; (own = parse_word_of(c, f.words, &len)); f.words++) {
		size_t n;

		f.exact <<= 1;
		if (f.words >= w->n) {
			f.complete = false;
			continue;
		}
		n = strlen(w->word[f.words]);
		if (!n || n > len || strncmp(own, w->word[f.words], n) != 0)
			f.fits = f.complete = false;
		else
			f.exact |= n == len;
	}
	return f;
}

static bool better(const struct fit *a, const struct fit *b)
{
	return a->words != b->words ? a->words > b->words : a->exact > b->exact;
}

static void unknown(const struct words *w, char *err, size_t size)
{
	const char *names[256], *near;
	char text[96] = "";
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n && i < 3; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.24s", i ? " " : "", w->word[i]);
	}
	for (unsigned int i = 0; i < n_commands && n < 256; i++)
		names[n++] = commands[i].words;
	near = text_nearest(text, names, n);
	if (near)
		fail(err, size, "unknown command '%s'; did you mean '%s'?", text, near);
	else
		fail(err, size, "unknown command '%s'; type 'help' for a list", text);
}

/* Whether the line could also be the beginning of another command, through an abbreviated word. */
static bool could_become_another(const struct words *w, const struct command *best, const struct fit *f)
{
	for (unsigned int i = 0; i < n_commands; i++) {
		struct fit other = fit_of(&commands[i], w);

		for (unsigned int k = 0; other.fits && !other.complete && k < f->words; k++) {
			size_t a, b;
			const char *x = parse_word_of(best, k, &a), *y = parse_word_of(&commands[i], k, &b);

			if (!(f->exact >> (f->words - 1 - k) & 1) && (!y || a != b || memcmp(x, y, a) != 0))
				return true;
		}
	}
	return false;
}

/* Lists the commands that match the line: completely if `complete`, otherwise in part. */
static void list_fitting(const struct words *w, bool complete, unsigned int words, char *err, size_t size)
{
	size_t n = (size_t)snprintf(err, size,
		complete ? "ambiguous command; it could be one of:" : "incomplete command; expected one of:");

	for (unsigned int i = 0; i < n_commands && n < size; i++) {
		struct fit f = fit_of(&commands[i], w);

		if (f.fits && f.complete == complete && (!complete || f.words == words))
			n += (size_t)snprintf(err + n, size - n, " '%s'", commands[i].words);
	}
}

const struct command *parse_command(const struct words *w, unsigned int *used, char *err, size_t size)
{
	const struct command *best = NULL;
	struct fit best_fit = {0};
	bool tie = false, open = false;

	for (unsigned int i = 0; i < n_commands; i++) {
		struct fit f = fit_of(&commands[i], w);

		open = open || (f.fits && !f.complete);
		if (!f.complete)
			continue;
		if (!best || better(&f, &best_fit)) {
			best = &commands[i];
			best_fit = f;
			tie = false;
		} else if (!better(&best_fit, &f)) {
			tie = true;
		}
	}
	*used = best_fit.words;
	if (best && !tie && !could_become_another(w, best, &best_fit))
		return best;
	if (best && !tie)
		fail(err, size, "'%.40s' could be '%s' or another command; write it in full", w->word[0], best->words);
	else if (best || open)
		list_fitting(w, best != NULL, best_fit.words, err, size);
	else
		unknown(w, err, size);
	return NULL;
}

bool parse_word_at(const char *words, unsigned int i, char *buf, size_t size)
{
	while (words && i--) {
		words = strchr(words, '|');
		words = words ? words + 1 : NULL;
	}
	if (!words)
		return false;
	snprintf(buf, size, "%.*s", (int)strcspn(words, "|"), words);
	return true;
}

/* Position of the word (n bytes) among "a|b|c"; -1: it is not among them. */
static int word_index(const char *words, const char *word)
{
	char one[64];

	for (unsigned int i = 0; parse_word_at(words, i, one, sizeof(one)); i++)
		if (strcmp(one, word) == 0)
			return (int)i;
	return -1;
}

/* Reports an unknown port and suggests the nearest port, or the nearest word that may replace a port. */
static int bad_port(const struct command_arg *a, const struct command_call *call, const char *word, char *err,
	size_t size)
{
	const char *names[MAX_PORTS + INSTEAD_MAX], *near;
	char instead[INSTEAD_MAX][32];
	unsigned int n = 0;

	for (unsigned int i = 0;
		a->words && i < INSTEAD_MAX && parse_word_at(a->words, i, instead[i], sizeof(instead[i])); i++)
		names[n++] = instead[i];
	for (uint32_t i = 0; i < call->node->n_ports; i++)
		names[n++] = call->node->port[i]->name;
	near = text_nearest(word, names, n);
	if (near)
		return fail(err, size, "there is no port '%.40s'; did you mean '%s'?", word, near);
	return fail(err, size, "there is no port '%.40s'; see: show ports", word);
}

static int bad_word(const struct command_arg *a, const char *word, char *err, size_t size)
{
	char known[WORDS_MAX][24];
	const char *names[WORDS_MAX], *near;
	unsigned int n = 0;

	for (; n < WORDS_MAX && parse_word_at(a->words, n, known[n], sizeof(known[n])); n++)
		names[n] = known[n];
	near = text_nearest(word, names, n);
	if (near)
		return fail(err, size, "expected one of %s, found '%.40s'; did you mean '%s'?", a->words, word, near);
	return fail(err, size, "expected one of %s, found '%.40s'", a->words, word);
}

static int parse_arg(const struct command_arg *a, const char *word, struct command_call *call, unsigned int i,
	char *err, size_t size)
{
	int index = a->words ? word_index(a->words, word) : -1;

	call->arg[i] = word;
	if (index >= 0) {
		call->is_word[i] = true;
		call->number[i] = (uint64_t)index;
		return 0;
	}
	switch (a->kind) {
	case ARG_WORD:
		return bad_word(a, word, err, size);
	case ARG_PORT:
		for (uint32_t p = 0; p < call->node->n_ports; p++) {
			if (strcmp(call->node->port[p]->name, word) == 0) {
				call->number[i] = p;
				return 0;
			}
		}
		return bad_port(a, call, word, err, size);
	case ARG_NUMBER:
		if (text_parse_number(word, 1000, &call->number[i]) < 0 || call->number[i] < a->min ||
			call->number[i] > a->max)
			return fail(err, size, "%s: expected a whole number from %llu to %llu, found '%.40s'", a->name,
				(unsigned long long)a->min, (unsigned long long)a->max, word);
		return 0;
	default:
		return 0;
	}
}

/* The words from the i-th on, separated by single spaces, joined in place. */
static const char *join(struct words *w, unsigned int i)
{
	char *first = w->word[i], *end = first + strlen(first);

	while (++i < w->n) {
		size_t len = strlen(w->word[i]);

		*end++ = ' ';
		memmove(end, w->word[i], len + 1);
		end += len;
	}
	return first;
}

int parse_place(const struct command *c, const char *word, const bool *given)
{
	for (int i = 0; i < COMMAND_ARGS_MAX && c->args[i].name; i++) {
		const struct command_arg *a = &c->args[i];

		if (given[i])
			continue;
		if (!a->keyword || strcmp(word, a->name) == 0)
			return i;
	}
	return -1;
}

int parse_args(const struct command *c, struct words *w, unsigned int used, struct command_call *call, char *err,
	size_t size)
{
	char usage[256];
	bool given[COMMAND_ARGS_MAX] = {false};

	command_usage(c, usage, sizeof(usage));
	for (unsigned int k = 0; w->flag && k < COMMAND_FLAGS_MAX; k++)
		if (c->flag[k].name && strcmp(w->flag, c->flag[k].name) == 0)
			call->flag = k + 1;
	if (w->flag && !call->flag)
		return fail(err, size, "unknown option '%.40s'; usage: %s", w->flag, usage);
	while (used < w->n) {
		int i = parse_place(c, w->word[used], given);

		if (i < 0)
			return fail(err, size, "unexpected argument '%.40s'; usage: %s", w->word[used], usage);
		given[i] = true;
		if (c->args[i].keyword && ++used == w->n)
			return fail(err, size, "%s needs %s; usage: %s", c->args[i].name, command_value_of(&c->args[i]),
				usage);
		if (c->args[i].kind == ARG_TEXT) {
			call->arg[i] = join(w, used);
			used = w->n;
		} else if (parse_arg(&c->args[i], w->word[used++], call, (unsigned int)i, err, size) < 0) {
			return -EINVAL;
		}
	}
	for (unsigned int i = 0; i < COMMAND_ARGS_MAX && c->args[i].name; i++)
		if (!given[i] && !c->args[i].optional)
			return fail(err, size, "missing %s; usage: %s", c->args[i].name, usage);
	return 0;
}
