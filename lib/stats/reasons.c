/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and help texts of the reasons for which packets are dropped or consumed. Constant tables; any thread. */
#include "stats/reasons.h"

static const struct {
	const char *name, *help;
} reasons[REASON_COUNT] = {
#define X(name, help) [DROP_##name] = {#name, help},
	DROP_REASONS(X)
#undef X
#define X(name, help) [CONSUME_##name] = {#name, help},
		CONSUME_REASONS(X)
#undef X
};

const char *reason_name(enum reason r)
{
	return reasons[r].name;
}

const char *reason_help(enum reason r)
{
	return reasons[r].help;
}
