/* SPDX-License-Identifier: BSD-3-Clause */
/* Explicit-state exploration, breadth first; see explore.h. */
#include "test/model/explore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STATE_MOST 4096
#define NONE UINT32_MAX

struct explorer {
	const struct model *model;
	const void *config;
	/* the table of known states: open addressing; hash 0 is a free slot */
	uint64_t *hash;
	uint32_t *from; /* slot of the predecessor */
	uint64_t mask, most;
	/* the levels */
	FILE *level, *next_level;
	uint64_t n_level, n_next;
	/* the state whose successors are made */
	const void *state;
	uint32_t slot;
	uint32_t broken_at; /* slot of a state that is broken; NONE: none */
	struct explored *result;
	/* while a counterexample is replayed: the successor sought, and its name */
	uint64_t sought;
	uint8_t *found;
	const char *name;
	int name_i;
};

/* Four chains at a time: a multiplication waits for the one before it. */
static uint64_t hash_of(const void *state, size_t size)
{
	const uint64_t *word = state;
	uint64_t h[4] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0xd6e8feb86659fd93}, sum = 0;

	for (size_t i = 0; i < size / 8; i++) {
		h[i % 4] = (h[i % 4] ^ word[i]) * 0xff51afd7ed558ccd;
		h[i % 4] ^= h[i % 4] >> 32;
	}
	for (int i = 0; i < 4; i++) {
		sum = (sum ^ h[i]) * 0xc4ceb9fe1a85ec53;
		sum ^= sum >> 29;
	}
	return sum ? sum : 1;
}

/* Slot of a hash, whether it is known or not. */
static uint64_t slot_of(const struct explorer *x, uint64_t hash)
{
	uint64_t slot = hash & x->mask;

	while (x->hash[slot] && x->hash[slot] != hash)
		slot = (slot + 1) & x->mask;
	return slot;
}

/* Most bytes of a state are zero: pairs of (number of zero bytes, number of others), then the others. */
static void put(FILE *f, const uint8_t *state, size_t size)
{
	uint8_t out[2 * STATE_MOST];
	size_t n = 0;

	for (size_t i = 0; i < size;) {
		size_t zeros = 0, others = 0;

		while (i + zeros < size && zeros < 255 && !state[i + zeros])
			zeros++;
		i += zeros;
		while (i + others < size && others < 255 && state[i + others])
			others++;
		out[n++] = (uint8_t)zeros;
		out[n++] = (uint8_t)others;
		memcpy(out + n, state + i, others);
		n += others;
		i += others;
	}
	fwrite_unlocked(out, 1, n, f);
}

static bool get(FILE *f, uint8_t *state, size_t size)
{
	for (size_t i = 0; i < size;) {
		int zeros = getc_unlocked(f), others = getc_unlocked(f);

		if (zeros == EOF || others == EOF || i + (size_t)zeros + (size_t)others > size)
			return false;
		memset(state + i, 0, (size_t)zeros);
		i += (size_t)zeros;
		if (fread_unlocked(state + i, 1, (size_t)others, f) != (size_t)others)
			return false;
		i += (size_t)others;
	}
	return true;
}

static void mark_broken(struct explorer *x, uint64_t slot, const char *why)
{
	x->broken_at = (uint32_t)slot;
	x->result->broken = why;
}

static void add(struct explorer *x, const void *next, uint64_t slot, uint64_t hash)
{
	uint64_t copy[STATE_MOST / 8];
	const char *why;

	x->hash[slot] = hash;
	x->from[slot] = x->slot;
	x->result->states++;
	x->n_next++;
	put(x->next_level, next, x->model->size);
	if (!x->model->stuck)
		return;
	memcpy(copy, next, x->model->size);
	why = x->model->stuck(copy, x->config);
	if (why)
		mark_broken(x, slot, why);
}

void explore_step(struct explorer *x, const void *next, const char *name, int i)
{
	uint64_t hash = hash_of(next, x->model->size), slot;
	const char *why;

	if (x->sought) {
		if (hash == x->sought && !x->name) {
			memcpy(x->found, next, x->model->size);
			x->name = name;
			x->name_i = i;
		}
		return;
	}
	if (x->broken_at != NONE || x->result->states >= x->most)
		return;
	x->result->steps++;
	slot = slot_of(x, hash);
	why = x->model->broken(x->state, next, x->config);
	if (!x->hash[slot])
		add(x, next, slot, hash);
	if (why && x->broken_at == NONE)
		mark_broken(x, slot, why);
}

/* Walk the states of a counterexample again, from the first, to name its steps. */
static void replay(struct explorer *x, FILE *out)
{
	uint32_t way[4096];
	uint64_t state[STATE_MOST / 8], after[STATE_MOST / 8];
	unsigned int n = 0;

	for (uint32_t slot = x->broken_at; x->from[slot] != NONE && n < 4096; slot = x->from[slot])
		way[n++] = slot;
	x->result->length = n;
	memset(state, 0, sizeof(state));
	x->model->init(state, x->config);
	x->found = (uint8_t *)after;
	while (n--) {
		x->sought = x->hash[way[n]];
		x->name = NULL;
		x->model->next(x, state, x->config);
		fprintf(out, "#   %2u. %s", x->result->length - n, x->name ? x->name : "(not found again)");
		fprintf(out, x->name && x->name_i >= 0 ? " %d\n" : "\n", x->name_i);
		memcpy(state, after, x->model->size);
	}
	fprintf(out, "#   %s\n", x->result->broken);
}

static bool next_level(struct explorer *x)
{
	FILE *done = x->level;

	x->level = x->next_level;
	x->next_level = done;
	x->n_level = x->n_next;
	x->n_next = 0;
	rewind(x->level);
	rewind(x->next_level);
	return x->n_level != 0;
}

static int run(struct explorer *x)
{
	uint64_t state[STATE_MOST / 8];

	memset(state, 0, sizeof(state));
	x->model->init(state, x->config);
	x->slot = NONE;
	x->state = state;
	explore_step(x, state, "the beginning", -1);
	while (x->broken_at == NONE && x->result->states < x->most && next_level(x)) {
		for (uint64_t i = 0; i < x->n_level && x->broken_at == NONE; i++) {
			if (!get(x->level, (uint8_t *)state, x->model->size))
				return -EIO;
			x->slot = (uint32_t)slot_of(x, hash_of(state, x->model->size));
			x->model->next(x, state, x->config);
		}
		x->result->depth++;
	}
	x->result->whole = x->broken_at == NONE && x->result->states < x->most;
	return 0;
}

int explore(const struct model *m, const void *config, uint64_t most, FILE *out, struct explored *result)
{
	struct explorer x = {.model = m, .config = config, .most = most, .broken_at = NONE, .result = result};
	uint64_t slots = 1024;
	clock_t began = clock();
	int err = -ENOMEM;

	while (slots - slots / 8 < most)
		slots *= 2;
	*result = (struct explored){0};
	x.mask = slots - 1;
	x.hash = calloc(slots, sizeof(*x.hash));
	x.from = calloc(slots, sizeof(*x.from));
	x.level = tmpfile();
	x.next_level = tmpfile();
	if (x.hash && x.from && x.level && x.next_level && slots <= NONE)
		err = run(&x);
	result->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
	if (!err && x.broken_at != NONE)
		replay(&x, out);
	free(x.hash);
	free(x.from);
	if (x.level)
		fclose(x.level);
	if (x.next_level)
		fclose(x.next_level);
	return err;
}
