/* SPDX-License-Identifier: BSD-3-Clause */
/* Manual pages in troff, made of the lists in the code. */
#ifndef REFERENCE_MAN_H
#define REFERENCE_MAN_H

#include <stdio.h>

/* Words as they are: nothing in them is taken as a request. Begins no line by itself. */
void man_text(FILE *out, const char *text);

/* A tagged paragraph: "tag" in bold, then " arg" in italics unless NULL, then the text below. */
void man_tag(FILE *out, const char *tag, const char *arg, const char *text);

/* The commands, a tagged paragraph each. */
void man_commands(FILE *out);

/* sluice.yaml(5), whole. */
void man_yaml(FILE *out);

#endif
