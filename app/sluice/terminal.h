/* SPDX-License-Identifier: BSD-3-Clause */
/* A line editor with completion, context help ('?') and history: DPDK's rdline over the command table. */
#ifndef SLUICE_TERMINAL_H
#define SLUICE_TERMINAL_H

#include "command/command.h"

struct terminal;

/* show: called with what must appear on the screen. NULL when out of memory. */
struct terminal *terminal_new(const struct command_host *host, const char *prompt,
	void (*show)(void *arg, const char *data, size_t n), void *arg);
void terminal_free(struct terminal *t); /* NULL is fine */

/* One key. Calls enter with each finished line. True when the user wants to leave (Ctrl-D). */
bool terminal_input(struct terminal *t, char key, void (*enter)(void *arg, const char *line), void *arg);

/* Output of a command. */
void terminal_print(struct terminal *t, const char *text, size_t n);

#endif
