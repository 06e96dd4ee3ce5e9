/* SPDX-License-Identifier: BSD-3-Clause */
/* Manual pages. Main thread, before lcores start. */
#ifndef SLUICE_MAN_H
#define SLUICE_MAN_H

#include <stdio.h>

/* sluice(8) and sluicectl(1). */
void man_sluice(FILE *out);
void man_sluicectl(FILE *out);

#endif
