/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command table: what console, script files, socket and lab understand. A command builds a JSON value; the
 * text form is made of that value, so both always say the same. docs/commands.md is generated from the table.
 *
 * Management thread only.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

struct node;

struct command_call {
	struct node *node;
	int argc; /* words behind the command's own */
	char **argv;
	json_t *result; /* set by the command; NULL: nothing to say */
	char error[512]; /* set by the command when it returns < 0 */
};

struct command {
	const char *words; /* "show ports" */
	const char *args;  /* "[NAME]", or "" */
	const char *help;
	int (*run)(struct command_call *c); /* 0 or -errno */
};

extern const struct command commands[];
extern const unsigned int n_commands;

/* Run one line ("-j" anywhere asks for JSON) and print what it says. 0, or -errno with the reason printed. */
int command_run(struct node *node, const char *line, FILE *out);

/* The text form of a value: tables for lists of objects, "name: value" lines for objects. */
void command_print_text(json_t *value, FILE *out);

#endif
