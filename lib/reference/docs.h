/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference pages made from the lists in the code: docs/counters.md and docs/commands.md. */
#ifndef REFERENCE_DOCS_H
#define REFERENCE_DOCS_H

#include <stdio.h>

void docs_counters(FILE *out);
void docs_commands(FILE *out);

#endif
