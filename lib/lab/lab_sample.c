/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling: all series (lab_series.c) are read at regular times. Memory is bounded: when there is no room for another
 * sample, every two samples become one. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>

#include "lab/host_priv.h"

#define CHECK_EVENTS 256	 /* events per node between two checks of all invariants, at least */
#define SAMPLES 400		 /* of a run, unless the topology says otherwise */
#define SAMPLES_LARGE 100	 /* of a run of a large network: each sample reads all of it */
#define SAMPLES_MAX 4000	 /* ever held */
#define VALUES_MAX (2000 * 1000) /* of all series together; but each has SAMPLES */

/* The value for two samples of which the second took the share `later` of the time. */
static double joined(enum series_kind kind, double a, double b, double later)
{
	switch (kind) {
	case SERIES_COUNT:
		return a + b;
	case SERIES_LEVEL:
		return MAX_OF(a, b);
	case SERIES_RATE:
	case SERIES_BOUND:
		break;
	}
	return a * (1 - later) + b * later;
}

static void halve(struct lab *lab)
{
	uint32_t half = lab->n_samples / 2;

	for (uint32_t k = 0; k < half; k++) {
		uint64_t begin = k ? lab->sample_at[k - 1] : 0, end = lab->sample_at[2 * k + 1];
		double later = (double)(end - lab->sample_at[2 * k]) / (double)MAX_OF(end - begin, 1);

		for (uint32_t i = 0; i < lab->n_series; i++) {
			double *value = lab->series[i].value;

			value[k] = joined(lab->series[i].kind, value[2 * k], value[2 * k + 1], later);
		}
		lab->sample_at[k] = end;
	}
	lab->n_samples = half;
	lab->record_ns *= 2;
}

static void record(struct lab *lab)
{
	if (lab->n_samples == lab->room_samples)
		halve(lab);
	lab->sample_at[lab->n_samples] = lab->now;
	for (uint32_t i = 0; i < lab->n_series; i++)
		lab->series[i].value[lab->n_samples] = lab->series[i].read(lab, &lab->series[i]);
	lab->n_samples++;
	lab->sampled_at = lab->now;
}

static void sample(void *arg)
{
	struct lab *lab = arg;
	uint64_t behind = lab->now - MIN_OF(lab->now, lab->topo->lab.run_ns);

	for (uint32_t i = 0; i < lab->n_nodes; i++)
		lab_node_housekeeping(&lab->node[i]);
	/* so that a check of all nodes, too, costs an event no more the more nodes there are */
	if (lab->events - lab->checked >= (uint64_t)CHECK_EVENTS * lab->n_nodes) {
		lab_check(lab);
		lab->checked = lab->events;
	}
	if (lab->now >= lab->sampled_at + lab->record_ns)
		record(lab);
	/* sample less often during a long drain: it mostly waits for timeouts */
	event_set(&lab->queue, &lab->sample, lab->now + MAX_OF(lab->sample_ns, behind / 50));
}

/* An even number of samples per series, so that they can be halved. */
static int make_room(struct lab *lab)
{
	uint64_t room = MIN_OF(lab->end_ns / lab->sample_ns + 2, (uint64_t)SAMPLES_MAX);

	room = MIN_OF(room, MAX_OF(VALUES_MAX / MAX_OF(lab->n_series, 1), (uint32_t)SAMPLES));
	lab->room_samples = (uint32_t)(room + 1) & ~1u;
	lab->sample_at = calloc(lab->room_samples, sizeof(*lab->sample_at));
	if (!lab->sample_at)
		return -ENOMEM;
	for (uint32_t i = 0; i < lab->n_series; i++) {
		lab->series[i].value = calloc(lab->room_samples, sizeof(*lab->series[i].value));
		if (!lab->series[i].value)
			return -ENOMEM;
	}
	return 0;
}

int lab_samples_init(struct lab *lab, char *err, size_t size)
{
	int rc;

	lab->sample_ns = lab->topo->lab.sample_ns;
	if (!lab->sample_ns)
		lab->sample_ns = MAX_OF(lab->topo->lab.run_ns / (lab->large ? SAMPLES_LARGE : SAMPLES), 1);
	lab->record_ns = lab->sample_ns;
	rc = lab_series_init(lab);
	rc = rc ? rc : make_room(lab);
	event_init(&lab->sample, sample, lab, "sample", lab->topo->lab.name);
	rc = rc ? rc : event_set(&lab->queue, &lab->sample, lab->sample_ns);
	if (rc < 0)
		snprintf(err, size, "out of memory");
	return rc;
}

void lab_samples_fini(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_series; i++) {
		free(lab->series[i].name);
		free(lab->series[i].value);
	}
	free(lab->sample_at);
}
