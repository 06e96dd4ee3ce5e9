/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan that --check prints, and `sluice plan`. Main thread, before lcores start. */
#ifndef SLUICE_PLAN_H
#define SLUICE_PLAN_H

#include <stdio.h>

#include "cli/cli.h"
#include "config/config.h"

struct cfg_own_sids;
struct memory_plan;

/* --check: print what a start would do. */
void plan_print(const struct config *c, const struct memory_plan *m, FILE *out);

extern const struct cli_option plan_options[];
extern const size_t n_plan_options;

extern const struct cli_option plan_credit_options[];
extern const size_t n_plan_credit_options;

/* `sluice plan headroom ...`, `sluice plan credit ...`, `sluice plan placement ...`: without a node. Exit status. */
int plan(int argc, char **argv);

/* `sluice plan credit ...`: windows, buffers and updates of credit over a distance. Exit status. */
int plan_credit(int argc, char **argv);

/* Values of options, in base units: a length in m or km, a time, a rate in bit/s, a number. False: malformed. */
bool plan_read_length(const char *text, uint64_t *meters);
bool plan_read_time(const char *text, uint64_t *ns);
bool plan_read_rate(const char *text, uint64_t *bps);
bool plan_read_bytes(const char *text, uint64_t *bytes);

/* `sluice plan placement TOPOLOGY DEMANDS`: place the flows of a job. Exit status. */
int plan_placement(int argc, char **argv);

/* What candidate paths of a policy have in common, as lines of the plan; nothing if they fail apart. */
void plan_overlap_print(const struct config *c, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	FILE *out);

/* Headroom of a configured port, as lines of the plan; nothing without PFC. */
void plan_headroom_print(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out);

#endif
