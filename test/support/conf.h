/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations in tests: load a text and compare its messages, place by place. */
#ifndef SUPPORT_CONF_H
#define SUPPORT_CONF_H

#include <stddef.h>

#include "config/config.h"

/* A valid configuration that gives every key there is a value other than its default, as cfg_emit writes it. */
extern const char conf_full[];

enum conf_depth { CONF_LOAD, CONF_CHECK }; /* cfg_load_text alone, or cfg_check after it */

/*
 * `marked` is a configuration with a '^' in front of every place that must be reported;
 * `messages` are the messages in the order of the marks, a line each. A message that begins with "warning: " is a
 * warning. NULL: there is nothing to complain about. A message that begins with '-' is expected without a place.
 */
void conf_expect(const char *row, enum conf_depth depth, const char *marked, const char *messages);

/*
 * One thing changed in conf_full, or two where one does not do, and what cfg_check says about the result, as
 * conf_expect takes it. Rows without messages are the nearest thing that is allowed.
 */
struct conf_row {
	const char *what, *find, *by, *messages;
	const char *also_find, *also_by;
};

void conf_expect_rows(const struct conf_row *rows, size_t n);

/* Exactly what cfg_diags_print writes about the text when it is called "t"; the caller frees it. */
char *conf_output(enum conf_depth depth, const char *text, size_t size);

/* `text` with its only occurrence of `find` replaced; the caller frees it. */
char *conf_replace(const char *text, const char *find, const char *by);

/* A configuration that must load and, with CONF_CHECK, hold; the caller frees it. */
struct config *conf_load(enum conf_depth depth, const char *text);

/* cfg_emit and cfg_emit_reference as text; the caller frees it. */
char *conf_emit(const struct config *c, int all);
char *conf_reference(void);

#endif
