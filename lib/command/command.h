/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command table: what console, script files, socket and lab understand. A command builds a JSON value; the
 * text form is made of that value, so both always say the same. Arguments are declared, so that checking,
 * completion, help and docs/commands.md follow from the table.
 *
 * Management thread only.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

struct node;

#define COMMAND_ARGS_MAX 5
#define COMMAND_LINE_MAX 4096 /* bytes of one line; longer ones are refused */

enum command_arg_kind {
	ARG_PORT,   /* name of a port; number: its index */
	ARG_WORD,   /* one of the words "a|b|c"; number: its position */
	ARG_NUMBER, /* whole number from min to max */
	ARG_FILE,   /* path */
	ARG_NAME,   /* any one word */
	ARG_TEXT,   /* the rest of the line, spaces included */
};

struct command_arg {
	const char *name; /* as shown in help: FILE; of a word its alternatives */
	enum command_arg_kind kind;
	bool optional;
	bool keyword;	   /* the value stands behind the argument's own name: filter "udp port 4791" */
	const char *words; /* ARG_WORD; also words allowed beside a port or number */
	uint64_t min, max;
	const char *help;
};

/* What a command can ask of the program around it. Members may be NULL: "not here". All return 0 or -errno. */
struct command_host {
	struct node *node;
	void *arg;
	void *session;
	void (*quit)(void *session); /* end what the command came by */
	/* Read a file (NULL: the running one's), check, plan and, unless dry, apply. */
	int (*reload)(void *arg, const char *file, bool dry, json_t **plan, char *err, size_t size);
	/* Reload with an automatic way back after so many seconds; confirm; go back now. */
	int (*commit_confirmed)(void *arg, const char *file, uint64_t seconds, json_t **plan, char *err, size_t size);
	int (*commit)(void *arg, char *err, size_t size);
	int (*rollback)(void *arg, json_t **plan, char *err, size_t size);
	const char *version;
};

struct command_call {
	const struct command_host *host;
	struct node *node;
	const char *arg[COMMAND_ARGS_MAX]; /* text of each declared argument; NULL: left out */
	uint64_t number[COMMAND_ARGS_MAX];
	bool is_word[COMMAND_ARGS_MAX]; /* of a port or number argument: one of its words was given */
	bool flag;			/* the command's flag was given */
	json_t *result;			/* set by the command; NULL: nothing to say */
	char error[8192];		/* set by the command when it returns < 0 */
};

struct command {
	const char *words; /* "show ports" */
	const char *help;
	int (*run)(struct command_call *c); /* 0 or -errno */
	struct command_arg args[COMMAND_ARGS_MAX];
	const char *flag; /* "--dry-run": may stand anywhere; NULL: none */
	const char *flag_help;
};

extern const struct command commands[];
extern const unsigned int n_commands;

/*
 * Run one line and print what it says; "-j" anywhere asks for JSON. Words may be abbreviated as long as they
 * are unique. An empty line and one that begins with # do nothing. 0, or -errno with the reason printed.
 */
int command_run(const struct command_host *host, const char *line, FILE *out);

/* What may stand at the end of the line: calls fn for each, in order. `line` up to the cursor. */
typedef void (*command_complete_fn)(void *arg, const char *text, const char *help);
void command_complete(const struct command_host *host, const char *line, command_complete_fn fn, void *arg);

/* "show port [NAME]": words and arguments of a command. */
void command_usage(const struct command *c, char *buf, size_t size);

/* The text form of a value: tables for lists of objects, "name: value" lines for objects. */
void command_print_text(json_t *value, FILE *out);

#endif
