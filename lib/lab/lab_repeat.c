/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selective repeat: the receiver keeps packets that arrive after a gap and names each of them in a NAK; the sender
 * repeats those below the highest of them that it has not heard of, each once, and after a timeout all of those. The
 * window is limited, because both ends keep a bit for each packet of it. The lab is single-threaded.
 */
#include <stdlib.h>

#include "lab/host_priv.h"

#define WORDS (REPEAT_WINDOW / 64)

static bool has(const uint64_t *bits, uint64_t seq)
{
	return bits[seq % REPEAT_WINDOW / 64] >> (seq % 64) & 1;
}

static void set(uint64_t *bits, uint64_t seq, bool on)
{
	uint64_t *word = &bits[seq % REPEAT_WINDOW / 64], bit = 1ull << (seq % 64);

	*word = on ? *word | bit : *word & ~bit;
}

int repeat_init(struct lab_qp *q)
{
	q->repeat.sacked = calloc(2 * WORDS, sizeof(uint64_t));
	q->repeat.kept = q->repeat.sacked ? q->repeat.sacked + WORDS : NULL;
	return q->repeat.sacked ? 0 : -1;
}

void repeat_fini(struct lab_qp *q)
{
	free(q->repeat.sacked);
}

bool repeat_next(struct lab_qp *q, uint64_t *packet)
{
	struct lab_repeat *r = &q->repeat;

	while (r->next < r->end && has(r->sacked, r->next))
		r->next++;
	*packet = r->next;
	return r->next < r->end;
}

bool repeat_sacked(struct lab_qp *q, uint64_t seq)
{
	struct lab_repeat *r = &q->repeat;
	bool begins = r->next >= r->end;

	if (seq < q->una || seq >= q->highest)
		return false;
	set(r->sacked, seq, true);
	if (seq <= r->end)
		return false;
	r->next = MAX_OF(r->next, q->una);
	r->end = seq;
	return begins;
}

void repeat_all(struct lab_qp *q)
{
	q->repeat.next = q->una;
	q->repeat.end = q->next;
}

void repeat_acknowledged(struct lab_qp *q, uint64_t from, uint64_t to)
{
	for (uint64_t seq = from; seq < to; seq++)
		set(q->repeat.sacked, seq, false);
	q->repeat.next = MAX_OF(q->repeat.next, to);
}

bool repeat_keep(struct lab_qp *q, uint64_t seq)
{
	if (seq - q->expected >= REPEAT_WINDOW || has(q->repeat.kept, seq))
		return false;
	set(q->repeat.kept, seq, true);
	return true;
}

bool repeat_filled(struct lab_qp *q)
{
	uint64_t before = q->expected;

	for (; has(q->repeat.kept, q->expected); q->expected++)
		set(q->repeat.kept, q->expected, false);
	return q->expected != before;
}
