/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes log lines to stderr or syslog, with a limit per module and second. Management thread, the only one that logs.
 */
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "logging.h"
#include "base/log.h"

static struct {
	bool syslog;
	uint64_t rate;
	struct {
		time_t second;
		uint64_t lines, suppressed;
	} module[LOG_MODULE_COUNT];
} state = {.rate = 50};

static void write_line(enum log_level level, enum log_module module, const char *line)
{
	static const int priorities[] = {LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG};

	if (state.syslog)
		syslog(priorities[level], "%s: %s", log_module_name(module), line);
	else
		fprintf(stderr, "%s: %s: %s\n", log_level_name(level), log_module_name(module), line);
}

/* At the start of a new second: report the lines suppressed in the last one and reset the counters. */
static void turn_over(enum log_module module, time_t now)
{
	uint64_t suppressed = state.module[module].suppressed;
	char text[96];

	if (now == state.module[module].second)
		return;
	state.module[module].second = now;
	state.module[module].lines = state.module[module].suppressed = 0;
	if (suppressed) {
		snprintf(text, sizeof(text), "%llu lines suppressed (log.rate)", (unsigned long long)suppressed);
		write_line(LOG_LEVEL_WARNING, module, text);
	}
}

void logging_tick(void)
{
	time_t now = time(NULL);

	for (unsigned int m = 0; m < LOG_MODULE_COUNT; m++)
		turn_over((enum log_module)m, now);
}

static void sink(enum log_level level, enum log_module module, const char *line)
{
	turn_over(module, time(NULL));
	if (state.module[module].lines++ < state.rate)
		write_line(level, module, line);
	else
		state.module[module].suppressed++;
}

static void set_levels(const struct cfg_log *log)
{
	for (unsigned int m = 0; m < LOG_MODULE_COUNT; m++)
		log_set_level((enum log_module)m, (enum log_level)log->level);
}

void logging_change(const struct cfg_log *before, const struct cfg_log *log)
{
	state.rate = log->rate;
	if (log->level != before->level)
		set_levels(log);
}

void logging_start(const struct cfg_log *log)
{
	state.syslog = log->to == LOG_TO_SYSLOG;
	if (state.syslog)
		openlog("sluice", LOG_PID, LOG_DAEMON);
	state.rate = log->rate;
	set_levels(log);
	log_set_sink(sink);
}
