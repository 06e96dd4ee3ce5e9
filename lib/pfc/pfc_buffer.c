/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thresholds of a lossless buffer: when to send XOFF and XON, and when to refresh it (IEEE 802.1Qbb). Pure; the owner
 * of the buffer calls.
 */
#include "pfc/pfc_buffer.h"

#include "stats/stats.h"

static bool reached(const struct pfc_threshold *level, const struct pfc_threshold *t)
{
	return level->bytes >= t->bytes || level->buffers >= t->buffers;
}

static uint64_t above(uint64_t level, uint64_t threshold)
{
	return level > threshold ? level - threshold : 0;
}

static void raise_to(struct pfc_threshold *mark, const struct pfc_threshold *level)
{
	stat_max(&mark->bytes, level->bytes);
	stat_max(&mark->buffers, level->buffers);
}

void pfc_buffer_clear(struct pfc_buffer *b, bool persistent)
{
	b->user = b->user_headroom = (struct pfc_threshold){0};
	if (persistent)
		b->most = b->most_headroom = (struct pfc_threshold){0};
}

/*
 * Dynamic limit in buffers. The buffers left shrink as the class grows, so classes share without starving each other.
 */
static uint64_t dynamic_limit(const struct pfc_buffer_config *c, uint64_t shared_left)
{
	return c->alpha ? shared_left * c->alpha / 128 : UINT64_MAX;
}

bool pfc_buffer_may_resume(const struct pfc_buffer_config *c, const struct pfc_threshold *level, uint64_t shared_left)
{
	/* an empty class may always resume, even if its dynamic limit is almost 0 */
	return level->bytes <= c->xon.bytes && level->buffers <= c->xon.buffers &&
	       (!level->buffers || level->buffers <= dynamic_limit(c, shared_left) / 2);
}

bool pfc_buffer_look(struct pfc_buffer *b, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	uint64_t shared_left)
{
	bool was = b->stopped, was_exhausted = b->exhausted;
	struct pfc_threshold over;
	bool much = level->buffers && level->buffers >= dynamic_limit(c, shared_left);

	stat_level(b->level.bytes, level->bytes);
	stat_level(b->level.buffers, level->buffers);
	over.bytes = above(level->bytes, c->xoff.bytes);
	over.buffers = above(level->buffers, c->xoff.buffers);
	raise_to(&b->most, level);
	raise_to(&b->user, level);
	raise_to(&b->most_headroom, &over);
	raise_to(&b->user_headroom, &over);
	if (much || reached(level, &c->xoff))
		stat_level(b->stopped, true);
	else if (pfc_buffer_may_resume(c, level, shared_left))
		stat_level(b->stopped, false);
	stat_level(b->urgent, b->stopped && (much || reached(level, &c->urgent)));
	stat_level(b->exhausted, reached(level, &c->full));
	stat_add(&b->exhausted_times, b->exhausted && !was_exhausted);
	stat_add(&b->xoffs, b->stopped && !was);
	stat_add(&b->xons, was && !b->stopped);
	return was != b->stopped;
}

static uint64_t longest_ns(uint64_t bps)
{
	return pfc_quanta_ns(PFC_QUANTA_MAX, bps);
}

bool pfc_speaker_want(const struct pfc_speaker *s, uint8_t stopped, uint64_t bps, uint64_t now, struct pfc_request *out)
{
	if (!s->fresh && stopped == s->stopped && (!stopped || now < pfc_speaker_next(s, bps)))
		return false;
	*out = (struct pfc_request){.enable = stopped | s->stopped | s->fresh};
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		out->time[i] = stopped >> i & 1 ? PFC_QUANTA_MAX : 0;
	return true;
}

void pfc_speaker_said(struct pfc_speaker *s, const struct pfc_request *said, uint64_t bps, uint64_t now)
{
	stat_add(&s->frames, 1);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(said->enable >> i & 1))
			continue;
		pfc_history_set(&s->history[i], said->time[i] ? now + pfc_quanta_ns(said->time[i], bps) : 0, now);
		stat_add(&s->xoff[i], said->time[i] != 0);
		stat_add(&s->xon[i], said->time[i] == 0);
	}
	s->stopped = pfc_stops(said);
	s->fresh = 0;
	s->said_ns = now;
}

uint64_t pfc_speaker_next(const struct pfc_speaker *s, uint64_t bps)
{
	return s->stopped ? s->said_ns + longest_ns(bps) / 2 : TIME_NEVER;
}
