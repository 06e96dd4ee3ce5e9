/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included by every fuzz target. A target is one LLVMFuzzerTestOneInput; it keeps no state that one input could
 * hand to the next, so that a crash can be repeated from its input alone.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Something that must hold, whatever the input: a crash of libFuzzer's, with a message. */
#define must(cond, ...) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: must hold: %s: ", __FILE__, __LINE__, #cond); \
			fprintf(stderr, __VA_ARGS__); \
			fprintf(stderr, "\n"); \
			abort(); \
		} \
	} while (0)

/* The input, consumed from the front; zeros after its end. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

/* Up to n bytes; *taken: how many there were. */
static inline const uint8_t *fuzz_bytes(struct fuzz_input *in, size_t n, size_t *taken)
{
	const uint8_t *from = in->at;

	*taken = n < in->left ? n : in->left;
	in->at += *taken;
	in->left -= *taken;
	return from;
}

/* A copy of exactly that size, so that a sanitizer sees any byte read or written beyond it. The caller frees. */
static inline uint8_t *fuzz_exact(const uint8_t *from, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	if (n)
		memcpy(copy, from, n);
	return copy;
}

#endif
