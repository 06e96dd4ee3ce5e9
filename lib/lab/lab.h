/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lab: a topology of complete nodes, links and hosts under virtual time, in one thread. Nodes are the
 * objects of the appliance. The lab sets the time, carries frames between their ports, and calls node_lcore_poll when
 * an lcore has received something or when one of its roles has asked for a call. It makes no idle calls.
 *
 * The EAL must be initialized. The output depends only on the topology and its seed.
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
	uint64_t seed; /* replaces the seed of the file if seed_given */
	bool seed_given;
	const char *out;	/* folder for captures; NULL: do not write captures */
	const char *messages;	/* pcapng file for the RSVP messages that are sent, one of each outline; NULL: none */
	FILE *console;		/* gets the output of scheduled commands; NULL: discard it */
	bool check_every_event; /* check all invariants after every event: slow, but exact */
	/* Called at intervals during the run, for a progress bar; NULL: never. */
	void (*progress)(const struct lab *lab, void *arg);
	void *progress_arg;
};

/* Build a lab. The caller keeps the topology, which must outlive the lab. On failure NULL, with the reason in err. */
struct lab *lab_new(struct topology *t, const struct lab_options *options, char *err, size_t size);

/* Run to the end. 0, or -EPROTO when an invariant was violated: lab_violation names it. */
int lab_run(struct lab *lab);

void lab_free(struct lab *lab);

/* Progress: ns of virtual time, share of the run from 0 to 1, events, frames carried by links. */
uint64_t lab_now(const struct lab *lab);
double lab_share_done(const struct lab *lab);
uint64_t lab_events(const struct lab *lab);
uint64_t lab_hops(const struct lab *lab);
uint64_t lab_losses(const struct lab *lab); /* frames lost anywhere */

/* NULL as long as all invariants hold; otherwise the violated invariant, the reason and the event. */
const char *lab_violation(const struct lab *lab);

/* Print the last events, oldest first, and the output of `show` commands of every node: to explain a violation. */
void lab_dump(struct lab *lab, FILE *out);

/* The results of the run as JSON; lab/report.c has the keys. The caller frees it. */
json_t *lab_report(struct lab *lab);
void lab_report_text(json_t *report, FILE *out);
void lab_report_html(json_t *report, FILE *out); /* one self-contained page */

#endif
