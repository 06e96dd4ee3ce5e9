/* SPDX-License-Identifier: BSD-3-Clause */
/* Log levels and the sink that receives log lines. Management thread: lcores do not log. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const module_names[] = {
#define X(name, help) #name,
	LOG_MODULES(X)
#undef X
};

static const char *const level_names[] = {
#define X(id, word) word,
	LOG_LEVELS(X)
#undef X
};

static void sink_stderr(enum log_level level, enum log_module module, const char *line)
{
	fprintf(stderr, "%s: %s: %s\n", level_names[level], module_names[module], line);
}

/* The log of the process. Control code writes it at start and from the console; log_line reads it. */
static log_sink_fn sink = sink_stderr;
static unsigned char levels[LOG_MODULE_COUNT] = {[0 ... LOG_MODULE_COUNT - 1] = LOG_LEVEL_NOTICE};

void log_set_sink(log_sink_fn fn)
{
	sink = fn ? fn : sink_stderr;
}

void log_set_level(enum log_module module, enum log_level level)
{
	levels[module] = (unsigned char)level;
}

enum log_level log_get_level(enum log_module module)
{
	return levels[module];
}

const char *log_module_name(enum log_module module)
{
	return module_names[module];
}

const char *log_level_name(enum log_level level)
{
	return level_names[level];
}

static int by_name(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return (int)i;
	return -ENOENT;
}

int log_module_by_name(const char *name)
{
	return by_name(name, module_names, ARRAY_LEN(module_names));
}

int log_level_by_name(const char *name)
{
	return by_name(name, level_names, ARRAY_LEN(level_names));
}

void log_line(enum log_level level, enum log_module module, const char *format, ...)
{
	char line[1024];
	va_list args;

	if (level > levels[module])
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	sink(level, module, line);
}
