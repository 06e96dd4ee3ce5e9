/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Log lines of control code. A data-path lcore must not log: it posts events, and the management thread writes them.
 *
 * A process has one sink, which receives finished lines. A test can install its own.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/compiler.h"

/* constant, word; the most urgent first */
#define LOG_LEVELS(X) \
	X(LOG_LEVEL_ERROR, "error") \
	X(LOG_LEVEL_WARNING, "warning") \
	X(LOG_LEVEL_NOTICE, "notice") \
	X(LOG_LEVEL_INFO, "info") \
	X(LOG_LEVEL_DEBUG, "debug")

enum log_level {
#define X(id, word) id,
	LOG_LEVELS(X)
#undef X
		LOG_LEVEL_COUNT
};

/* name, subject of its lines */
#define LOG_MODULES(X) \
	X(main, "start, stop and signals") \
	X(config, "files, reloads and what they change") \
	X(port, "devices and links") \
	X(neigh, "ND and ARP") \
	X(failover, "links, next hops and paths that fail and return") \
	X(srv6, "policies and SIDs") \
	X(pfc, "PFC storms") \
	X(bfd, "BFD sessions") \
	X(rsvp, "credit sessions") \
	X(steer, "flows and the paths they are placed on") \
	X(console, "console, socket and HTTP")

enum log_module {
#define X(name, help) LOG_##name,
	LOG_MODULES(X)
#undef X
		LOG_MODULE_COUNT
};

typedef void (*log_sink_fn)(enum log_level level, enum log_module module, const char *line);

void log_set_sink(log_sink_fn sink); /* NULL: the default sink, stderr */
void log_set_level(enum log_module module, enum log_level level);
enum log_level log_get_level(enum log_module module);

const char *log_module_name(enum log_module module);
const char *log_level_name(enum log_level level);

/* Index of the module or level with this name; -ENOENT when there is none. */
int log_module_by_name(const char *name);
int log_level_by_name(const char *name);

void log_line(enum log_level level, enum log_module module, const char *format, ...) PRINTF_LIKE(3, 4);

#define log_error(module, ...) log_line(LOG_LEVEL_ERROR, LOG_##module, __VA_ARGS__)
#define log_warning(module, ...) log_line(LOG_LEVEL_WARNING, LOG_##module, __VA_ARGS__)
#define log_notice(module, ...) log_line(LOG_LEVEL_NOTICE, LOG_##module, __VA_ARGS__)
#define log_info(module, ...) log_line(LOG_LEVEL_INFO, LOG_##module, __VA_ARGS__)
#define log_debug(module, ...) log_line(LOG_LEVEL_DEBUG, LOG_##module, __VA_ARGS__)

#endif
