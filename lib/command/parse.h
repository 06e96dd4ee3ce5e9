/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a line into a command and its arguments. */
#ifndef COMMAND_PARSE_H
#define COMMAND_PARSE_H

#include "command/command.h"

#define WORDS_MAX 64

/* A line split into words. Words point into `text`, without quotes; \" is a quote that belongs to its word. */
struct words {
	char text[COMMAND_LINE_MAX];
	char *word[WORDS_MAX];
	unsigned int n;
	bool json;	  /* the line contained -j, which is removed */
	bool comment;	  /* the line contained a comment, begun by # */
	const char *flag; /* word that begins with --, which is removed; NULL: none */
};

/* 0, or -EINVAL with a message; then of `out` only `json` is valid. */
int parse_words(const char *line, struct words *out, char *err, size_t size);

/* Does a line that cannot be split have -j as a word, as far as one can tell? It may contain any bytes. */
bool parse_asks_for_json(const char *line, size_t len);

/*
 * Find the command that the words begin with, by unique prefixes. *used: number of words of the command. NULL with a
 * message that names the nearest command or the possible ones.
 */
const struct command *parse_command(const struct words *w, unsigned int *used, char *err, size_t size);

/* Parse the arguments of a command from the words after it; they point into `w`. 0, or -EINVAL with a message. */
int parse_args(const struct command *c, struct words *w, unsigned int used, struct command_call *call, char *err,
	size_t size);

/*
 * The argument that the next word gives the value, or, of a keyword, the name of; -1: none takes it. given: the arguments before it
 * on the line. Keywords may come in any order behind the arguments that stand before them in the table.
 */
int parse_place(const struct command *c, const char *word, const bool *given);

/* Start and length of the k-th word of a command; NULL after the last. */
const char *parse_word_of(const struct command *c, unsigned int k, size_t *len);

/* Copy the i-th word of "a|b|c" to buf; false after the last. */
bool parse_word_at(const char *words, unsigned int i, char *buf, size_t size);

#endif
