/* SPDX-License-Identifier: BSD-3-Clause */
/* A line editor with completion, context help ('?') and history for console sessions. Management thread. */
#ifndef SLUICE_TERMINAL_H
#define SLUICE_TERMINAL_H

#include "command/command.h"

struct terminal;

/* show: writes text to the screen. NULL when out of memory. The caller frees with terminal_free. */
struct terminal *terminal_new(const struct command_host *host, const char *prompt,
	void (*show)(void *arg, const char *data, size_t n), void *arg);
void terminal_free(struct terminal *t); /* NULL is fine */

/*
 * Process one key. Calls enter with each complete line; if that returns false, its output is still to come, and
 * terminal_prompt follows it. True at Ctrl-D: end the session.
 */
bool terminal_input(struct terminal *t, char key, bool (*enter)(void *arg, const char *line), void *arg);
void terminal_prompt(struct terminal *t);

/* Show the output of a command. */
void terminal_print(struct terminal *t, const char *text, size_t n);

#endif
