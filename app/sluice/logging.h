/* SPDX-License-Identifier: BSD-3-Clause */
/* Where log lines go. Management thread. */
#ifndef SLUICE_LOGGING_H
#define SLUICE_LOGGING_H

#include "config/config.h"

/* Send log lines to stderr or syslog, with a level and a limit per module. */
void logging_start(const struct cfg_log *log);
/* Apply the log keys of a reload. Levels set by `set log` stay unless log.level has changed. */
void logging_change(const struct cfg_log *before, const struct cfg_log *log);
void logging_tick(void); /* report suppressed lines; call at least once a second */

#endif
