/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command table that console, script files, socket and lab share. A command builds a JSON value, and the text form
 * is made from that value, so the two always agree. Arguments are declared: checking, completion, help and
 * docs/commands.md follow from the table.
 *
 * Management thread only.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "manage/apply.h"

struct node;

#define COMMAND_ARGS_MAX 8
#define COMMAND_FLAGS_MAX 2
/*
 * Version of the JSON of all commands (show version). It rises when a member is removed, renamed, or changes its type, its
 * unit or its meaning. New members and new values of words do not change it.
 */
#define COMMAND_SCHEMA 2
#define COMMAND_LINE_MAX 4096 /* bytes of one line; longer lines are rejected */

enum command_arg_kind {
	ARG_PORT,   /* name of a port; number: its index */
	ARG_WORD,   /* one of the words "a|b|c"; number: its position */
	ARG_NUMBER, /* whole number from min to max */
	ARG_FILE,   /* path */
	ARG_NAME,   /* any one word */
	ARG_TEXT,   /* the rest of the line, spaces included */
};

struct command_arg {
	const char *name; /* name in help: FILE; for a word, its alternatives */
	enum command_arg_kind kind;
	bool optional;
	/* keyword: the value follows the argument's own name, for example: filter "udp port 4791". value: its name in help */
	bool keyword;
	const char *value;
	const char *words; /* ARG_WORD; also words accepted instead of a port or number */
	uint64_t min, max;
	const char *help;
};

/*
 * Operations that a command may request from the program. A NULL member means: not available here. All return 0 or
 * -errno.
 */
struct command_host {
	struct node *node;
	void *arg;
	void *session;
	void (*quit)(void *session); /* end the session that sent the command */
	/* Read a file (NULL: the file of the running configuration), check, plan and, unless dry, apply. */
	int (*reload)(void *arg, const char *file, enum apply_how how, json_t **plan, char *err, size_t size);
	/* Reload with an automatic rollback after this many seconds; confirm; roll back immediately. */
	int (*commit_confirmed)(void *arg, const char *file, uint64_t seconds, enum apply_how how, json_t **plan,
		char *err, size_t size);
	int (*commit)(void *arg, char *err, size_t size);
	int (*rollback)(void *arg, enum apply_how how, json_t **plan, char *err, size_t size);
	/* Where a command that takes a while leaves what is to be done (command_go_on); NULL: such commands are refused. */
	struct command_later *later;
	const char *version;
};

struct command_call;

/* A command that goes on after command_run, with lcores running meanwhile. All zero: none. */
struct command_later {
	const struct command *command; /* NULL: none */
	bool json;
	unsigned int id;		      /* of whatever goes on */
	json_t *head;			      /* of the result */
	int (*go_on)(struct command_call *c); /* -EINPROGRESS: not finished yet; else as struct command.run */
	void (*stop)(struct node *node, unsigned int id); /* the result is not wanted any more */
};

struct command_call {
	const struct command_host *host;
	const struct command *command;
	struct node *node;
	const char *arg[COMMAND_ARGS_MAX]; /* text of each declared argument; NULL: omitted */
	uint64_t number[COMMAND_ARGS_MAX];
	bool is_word[COMMAND_ARGS_MAX]; /* for a port or number argument: one of its words was given */
	unsigned int flag;		/* which of the command's flags was given, from 1; 0: none */
	json_t *result;			/* set by the command; NULL: no output */
	char error[8192];		/* set by the command when it returns < 0 */
	struct command_later later;	/* set by a command that returns -EINPROGRESS; then by command_go_on */
};

struct command {
	const char *words; /* "show ports" */
	const char *help;
	int (*run)(struct command_call *c); /* 0 or -errno; -EINPROGRESS: see command_later */
	struct command_arg args[COMMAND_ARGS_MAX];
	/* "--dry-run": at most one of them, anywhere on the line; name NULL: none */
	struct {
		const char *name, *help;
	} flag[COMMAND_FLAGS_MAX];
};

extern const struct command commands[];
extern const unsigned int n_commands;

/*
 * Run one line and print its result. "-j" anywhere on the line selects JSON. Words may be abbreviated as long as they
 * are unique. An empty line and a line that begins with # do nothing. 0, or -errno with the reason printed. -EINPROGRESS: nothing
 * was printed; call command_go_on until it returns something else.
 */
int command_run(const struct command_host *host, const char *line, FILE *out);

/*
 * Print why a line is no command: it has a zero byte, or is too long. In JSON if -j is a word of its `len` bytes. Any thread.
 */
void command_refuse(const char *line, size_t len, const char *text, FILE *out);

/* Go on with host->later: -EINPROGRESS, or it has ended, and its result was printed and returned as by command_run. */
int command_go_on(const struct command_host *host, FILE *out);

/* Give up what goes on; nothing is printed. `later` may be all zero. */
void command_stop(struct node *node, struct command_later *later);

/* Completions for the end of the line: calls fn for each, in order. `line` ends at the cursor. */
typedef void (*command_complete_fn)(void *arg, const char *text, const char *help);
void command_complete(const struct command_host *host, const char *line, command_complete_fn fn, void *arg);

/* What follows a keyword in help: "MS". */
const char *command_value_of(const struct command_arg *a);

/* "show port [NAME]": words and arguments of a command. */
void command_usage(const struct command *c, char *buf, size_t size);

/*
 * Set a member whose text form is in words: programs get `value`, people the words. `value` is taken over.
 */
void command_set_worded(json_t *o, const char *key, json_t *value, const char *words);

/* Print the text form of a value: tables for lists of objects, "name: value" lines for objects. */
void command_print_text(json_t *value, FILE *out);

/* Leave of a value what one of the forms has: words, or what they stand for. */
void command_choose_form(json_t *value, bool words);

#endif
