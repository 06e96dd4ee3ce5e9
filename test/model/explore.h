/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit-state exploration: every state that a model can reach, breadth first, so that a counterexample is a shortest
 * one. A state is a block of bytes without pointers; states are told apart by a hash of 64 bits (of 10^8 states two share
 * one with a probability of 3e-4). The states of a level are kept in a file, hashes and predecessors in memory.
 */
#ifndef MODEL_EXPLORE_H
#define MODEL_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct explorer;

struct model {
	size_t size; /* of a state in bytes, a multiple of 8 */
	void (*init)(void *state, const void *config);
	/* Hand every successor to explore_step. */
	void (*next)(struct explorer *x, const void *state, const void *config);
	/* What is wrong with a step, or NULL. */
	const char *(*broken)(const void *from, const void *to, const void *config);
	/* Why a state can never become right again if all faults end, or NULL. May change the state. */
	const char *(*stuck)(void *state, const void *config);
};

struct explored {
	uint64_t states, steps; /* different states; steps between them */
	unsigned int depth;	/* length of the longest shortest way */
	bool whole;		/* every state was seen */
	const char *broken;	/* of the counterexample that was found; NULL: none */
	unsigned int length;	/* of the counterexample, in steps */
	double seconds;
};

/* Offer a successor. `name` describes the step; it and its number `i` are shown in a counterexample. */
void explore_step(struct explorer *x, const void *next, const char *name, int i);

/*
 * Explore until all states are seen, a counterexample is found, or `most` states are known (a power of two is the size of
 * the table, and `most` at most 7/8 of it). Writes a counterexample to `out`. Returns 0 or -errno.
 */
int explore(const struct model *m, const void *config, uint64_t most, FILE *out, struct explored *result);

#endif
