/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's side of a node's socket (app/sluice/server.c). Single-threaded. */
#ifndef SLUICECTL_CLIENT_H
#define SLUICECTL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define EXIT_COMMAND 1 /* a command failed */
#define EXIT_USAGE 2
#define EXIT_CONNECT 3

/* A connection to a node: fd to write, `from` to read. */
struct client {
	int fd;
	FILE *from;
};

/* Print an error of sluicectl itself; with `json`, as an object with `error`, like the errors of a node. */
__attribute__((format(printf, 2, 3))) void client_error(bool json, const char *format, ...);

/* 0, or -1 when the node has closed the connection. */
int client_send(int fd, const char *data, size_t n);

/*
 * Send a line: kind 'x' runs it, kind 'c' completes it. Returns the status of the node, 0 or more, and its answer in *text,
 * which the caller frees; -1 when the node closes the connection.
 */
int client_ask(struct client *c, char kind, const char *line, char **text, size_t *size);

/* The console on a terminal: editing, history, completion, pager, filters. Exit status. */
int console_run(struct client *c);

#endif
