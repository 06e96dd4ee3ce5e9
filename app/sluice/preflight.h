/* SPDX-License-Identifier: BSD-3-Clause */
/* What preflight collects: each finding says what it is about and, when it should be mended, the command that does. */
#ifndef SLUICE_PREFLIGHT_H
#define SLUICE_PREFLIGHT_H

#include <jansson.h>

#include "base/compiler.h"
#include "config/config.h"

struct memory_plan;

enum severity { OK, ADVICE, MUST };

struct findings {
	json_t *list;
	enum severity worst;
};

/* mend: a command, or the words for what must change; empty or NULL: nothing to mend. */
void find(struct findings *f, enum severity severity, const char *about, const char *mend, const char *format, ...)
	PRINTF_LIKE(5, 6);

/* What a check of the start says: "what is wrong; run: COMMAND". */
void find_error(struct findings *f, const char *about, char *error);

/* Print the list as text on standard output, with the number of findings of each severity. */
void findings_print(const json_t *list);

/* preflight_machine.c: hugepages, IOMMU, VFIO, network controllers. need: of the configuration; NULL: none given. */
void preflight_machine(struct findings *f, const struct memory_plan *need);

/* preflight_config.c: memory, CPUs, devices of a checked configuration. */
void preflight_config(struct findings *f, const struct config *c);

#endif
