/* SPDX-License-Identifier: BSD-3-Clause */
/* What a node says of itself: answers to commands, and metrics. */
#ifndef SUPPORT_SHOWN_H
#define SUPPORT_SHOWN_H

#include <jansson.h>

#include "test/support/testbed.h"

/* `part` stands in the answer to the command line, which must not fail. */
void check_shown(struct testbed *t, const char *line, const char *part);

/* The answer to a command line that ends in -j, which must not fail, for the caller to give back. */
json_t *shown_json(struct testbed *t, const char *line);

/* `part` stands in the metrics. */
void check_metrics(struct testbed *t, const char *part);

#endif
