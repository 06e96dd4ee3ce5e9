/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of a node: answers to commands, and metrics. */
#ifndef SUPPORT_SHOWN_H
#define SUPPORT_SHOWN_H

#include <jansson.h>

#include "test/support/testbed.h"

/* The answer to the command line contains `part`; the command must not fail. */
void check_shown(struct testbed *t, const char *line, const char *part);

/* The answer to a command line that ends in -j, which must not fail, for the caller to give back. */
json_t *shown_json(struct testbed *t, const char *line);

/* The metrics contain `part`. _of: with the samples of a credit session, or of all ("*"). */
void check_metrics(struct testbed *t, const char *part);
void check_metrics_of(struct testbed *t, const char *session, const char *part);
bool metrics_have(struct testbed *t, const char *session, const char *part); /* session NULL: of none */

#endif
