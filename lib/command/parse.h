/* SPDX-License-Identifier: BSD-3-Clause */
/* A line to a command with its arguments. */
#ifndef COMMAND_PARSE_H
#define COMMAND_PARSE_H

#include "command/command.h"

#define WORDS_MAX 64

/* A line taken apart. Words point into `text`; quotes are taken off. */
struct words {
	char text[COMMAND_LINE_MAX];
	char *word[WORDS_MAX];
	unsigned int n;
	bool json;	  /* a -j was among them; taken out */
	bool comment;	  /* a # ended the line */
	const char *flag; /* a word that begins with --; taken out. NULL: none */
};

/* 0, or -EINVAL with a message. */
int parse_words(const char *line, struct words *out, char *err, size_t size);

/*
 * The command that the words begin with, by unique prefixes; *used: how many words are its own. NULL with a
 * message that names the nearest command or the ones that are possible.
 */
const struct command *parse_command(const struct words *w, unsigned int *used, char *err, size_t size);

/* Arguments of a command from the words behind it; they point into `w`. 0, or -EINVAL with a message. */
int parse_args(const struct command *c, struct words *w, unsigned int used, struct command_call *call, char *err,
	size_t size);

/* The k-th word of a command: where it begins and how long it is; NULL behind the last. */
const char *parse_word_of(const struct command *c, unsigned int k, size_t *len);

/* Does one of "a|b|c" equal the word (n bytes)? Its position, or -1. */
int parse_word_index(const char *words, const char *word);

/* The i-th of "a|b|c" into buf; false behind the last. */
bool parse_word_at(const char *words, unsigned int i, char *buf, size_t size);

#endif
