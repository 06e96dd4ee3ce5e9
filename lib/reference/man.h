/* SPDX-License-Identifier: BSD-3-Clause */
/* Manual pages in troff, made from the lists in the code. */
#ifndef REFERENCE_MAN_H
#define REFERENCE_MAN_H

#include <stdio.h>

/* A tagged paragraph: "tag" in bold, then " arg" in italics unless it is NULL, then the text on the next line. */
void man_tag(FILE *out, const char *tag, const char *arg, const char *text);

/* All commands, each as a tagged paragraph. */
void man_commands(FILE *out);

/* The complete page sluice.yaml(5). */
void man_yaml(FILE *out);

#endif
