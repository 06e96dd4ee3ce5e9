/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab: a topology of complete nodes, links and hosts under virtual time, in one thread. Nodes are the appliance's
 * own objects; the lab only says what time it is, carries frames between their ports, and calls node_lcore_poll
 * when something has arrived for an lcore, or when the lcore's own roles asked for it. Nothing is stepped idly.
 *
 * The EAL must run. Everything printed depends on the topology and its seed alone.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "lab/topology.h"

struct lab;

struct lab_options {
	uint64_t seed; /* in place of the file's when seed_given */
	bool seed_given;
	const char *out;	/* folder for captures; NULL: none are written */
	FILE *console;		/* what scheduled commands say; NULL: nowhere */
	bool check_every_event; /* all invariants after every event: slow, exact */
	/* Called now and then while it runs, for a progress bar; NULL: never. */
	void (*progress)(const struct lab *lab, void *arg);
	void *progress_arg;
};

/* Build it. Takes over nothing; the topology outlives it. NULL with the reason in err. */
struct lab *lab_new(struct topology *t, const struct lab_options *options, char *err, size_t size);

/* Run to the end. 0; -EPROTO when an invariant was violated: lab_violation says which. */
int lab_run(struct lab *lab);

void lab_free(struct lab *lab);

/* Where it is: ns of virtual time, share of the whole, events so far, frames that crossed a link. */
uint64_t lab_now(const struct lab *lab);
double lab_share_done(const struct lab *lab);
uint64_t lab_events(const struct lab *lab);
uint64_t lab_hops(const struct lab *lab);
uint64_t lab_losses(const struct lab *lab); /* frames lost anywhere */

/* NULL while nothing is wrong; else which invariant, why, and during which event. */
const char *lab_violation(const struct lab *lab);

/* The last events before now, oldest first, and what every node's `show` says: for a violation. */
void lab_dump(struct lab *lab, FILE *out);

/* Everything the run has shown, for people and machines: see lab/report.c for the keys. The caller frees it. */
json_t *lab_report(struct lab *lab);
void lab_report_text(json_t *report, FILE *out);
void lab_report_html(json_t *report, FILE *out); /* one page, no network needed */

#endif
