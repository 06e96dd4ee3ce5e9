/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Record of a run: the last events, and the first violated invariant. Every other file of the lab may call this one; it
 * calls none of them. The lab is single-threaded.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lab/lab_priv.h"

void lab_record(struct lab *lab, const char *kind, const char *name, uint64_t value)
{
	lab->history[lab->recorded++ % LAB_HISTORY] =
		(struct lab_record){.at = lab->now, .kind = kind, .name = name, .value = value};
}

void lab_violate(struct lab *lab, const char *invariant, const char *format, ...)
{
	const struct lab_record *last = &lab->history[(lab->recorded + LAB_HISTORY - 1) % LAB_HISTORY];
	char why[512];
	va_list args;

	if (lab->violation)
		return; /* keep the first one */
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (asprintf(&lab->violation, "invariant '%s' is violated at %llu ns, in the event '%s' of %s: %s", invariant,
		    (unsigned long long)lab->now, lab->recorded ? last->kind : "start",
		    lab->recorded ? last->name : "the lab", why) < 0)
		lab->violation = NULL;
}
