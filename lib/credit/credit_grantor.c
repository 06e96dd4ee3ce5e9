/* SPDX-License-Identifier: BSD-3-Clause */
/* The grantor of a hop: 29s, healing, epochs (docs/credit.md 2.5, 2.6, 2.9, 2.11). Pure; control lcore. */
#include "credit/credit_grantor.h"

/* D63: one base serves RCVD and FREED. FCCL is 0 until a backlog that is larger than the reservation has left. */
static void begin(struct credit_grantor *g, uint32_t epoch, uint32_t buf, struct credit_totals t)
{
	uint64_t backlog = credit_backlog(t);

	g->base = t.rcvd;
	g->lost = 0;
	g->fctbs = g->abr = 0;
	g->returned = t.freed - g->base;
	g->fccl = buf > backlog ? buf - backlog : 0;
	g->epoch = epoch;
	g->sequence = 0;
	g->buf = buf;
	g->dirty = CREDIT_DIRTY_TICKS;
	g->corrected_any = false;
	for (unsigned int i = 0; i < CREDIT_STATEMENTS; i++)
		g->statement[i] = (struct credit_statement){0};
	g->next_statement = 0;
}

/* A copy of the 28 that has opened an epoch opens no other one. */
static void opened_by(struct credit_grantor *g, const struct credit_hop *hop)
{
	g->opened = hop->sequence;
	g->known = true;
}

void credit_grantor_open(struct credit_grantor *g, const struct credit_hop *hop, uint32_t epoch, uint32_t buf,
	struct credit_totals t)
{
	begin(g, epoch, MAX_OF(buf, g->floor), t);
	if (!hop)
		return;
	g->heard = hop->sequence;
	if (!hop->epoch && hop->idle)
		opened_by(g, hop);
}

void credit_grantor_resize(struct credit_grantor *g, uint32_t buf)
{
	g->buf = MAX_OF(buf, g->floor);
}

/* What the totals have come to; "max" withholds growth while they are behind what was sent. */
static uint64_t abr_now(const struct credit_grantor *g, struct credit_totals t)
{
	uint64_t abr = credit_rcvd(g, t) + (uint64_t)g->lost;

	return credit_ahead(abr, g->abr) > 0 ? abr : g->abr;
}

static uint64_t fccl_now(const struct credit_grantor *g, struct credit_totals t)
{
	uint64_t fccl = (uint64_t)credit_freed(g, t) + (uint64_t)g->lost + g->buf;

	return credit_ahead(fccl, g->fccl) > 0 ? fccl : g->fccl;
}

void credit_grantor_update(struct credit_grantor *g, struct credit_totals t, struct credit_update *out)
{
	uint64_t abr = abr_now(g, t), fccl = fccl_now(g, t);

	g->abr = abr;
	g->fccl = fccl;
	g->returned = (uint64_t)credit_freed(g, t);
	*out = (struct credit_update){
		.has_echo = true,
		.epoch = g->epoch,
		.sequence = ++g->sequence,
		.buf = g->buf,
		.echo = g->heard,
		.fccl = fccl,
		.abr = abr,
	};
}

uint64_t credit_grantor_held(const struct credit_grantor *g, struct credit_totals t, bool open)
{
	int64_t granted = credit_ahead(g->fccl, (uint64_t)credit_freed(g, t) + (uint64_t)g->lost);
	uint64_t backlog = credit_backlog(t);

	if (!open || !g->epoch)
		return backlog;
	granted = MAX_OF(granted, (int64_t)g->buf);
	return MAX_OF((uint64_t)granted, backlog);
}

/* LOST := fctbs - rcvd, if the statement is newer than the last correction (2.6). */
static unsigned int correct(struct credit_grantor *g, uint64_t fctbs, uint64_t rcvd, uint32_t sequence)
{
	int64_t lost = credit_ahead(fctbs, rcvd - g->base), before = g->lost;

	if (g->corrected_any && !credit_newer(sequence, g->corrected))
		return 0;
	g->corrected = sequence;
	g->corrected_any = true;
	g->lost = lost;
	if (lost == before)
		return 0;
	g->dirty = CREDIT_DIRTY_TICKS;
	return CREDIT_ANSWER | (unsigned int)(lost > before ? CREDIT_HEALED : CREDIT_LOWERED);
}

/* Apply every statement whose fence has been sampled in this epoch. */
static unsigned int match(struct credit_grantor *g, const struct credit_sample *samples)
{
	unsigned int done = 0;

	for (unsigned int i = 0; i < CREDIT_SAMPLES; i++) {
		struct credit_sample sample;

		if (!credit_sample_read(&samples[i], &sample) || sample.epoch != g->epoch)
			continue;
		for (unsigned int j = 0; j < CREDIT_STATEMENTS; j++) {
			struct credit_statement s = g->statement[j];

			if (s.number != sample.number)
				continue;
			g->statement[j] = (struct credit_statement){0};
			done |= correct(g, s.fctbs, sample.rcvd, s.sequence);
		}
	}
	return done;
}

unsigned int credit_grantor_sampled(struct credit_grantor *g, const struct credit_sample *samples)
{
	return match(g, samples);
}

/* Everything sent has arrived or is lost. Less than LOST counts only where no newer data can be on its way (2.6). */
static unsigned int idle(struct credit_grantor *g, const struct credit_hop *hop, struct credit_totals t,
	uint64_t idle_ns, uint64_t now)
{
	bool grows = credit_ahead(hop->fctbs, credit_rcvd(g, t)) > g->lost;

	credit_grantor_watch(g, t, now);
	if (!grows && now - g->quiet_ns < idle_ns)
		return 0;
	return correct(g, hop->fctbs, t.rcvd, hop->sequence);
}

static unsigned int hear_current(struct credit_grantor *g, const struct credit_hop *hop, struct credit_totals t,
	const struct credit_sample *samples, uint64_t idle_ns, uint64_t now)
{
	if (credit_ahead(hop->fctbs, g->fccl) > 0)
		return CREDIT_BAD;
	if (credit_ahead(hop->fctbs, g->fctbs) > 0)
		g->fctbs = hop->fctbs;
	if (hop->want && hop->sequence == g->heard)
		g->want = hop->want;
	if (hop->idle)
		return idle(g, hop, t, idle_ns, now);
	if (!hop->fence)
		return 0;
	g->statement[g->next_statement] = (struct credit_statement){.number = hop->fence,
		.fctbs = hop->fctbs,
		.sequence = hop->sequence};
	g->next_statement = (uint8_t)((g->next_statement + 1) % CREDIT_STATEMENTS);
	return match(g, samples);
}

/* A 28 that asks for a new epoch (2.11). A copy gets the epoch it has opened, never another one. */
static unsigned int resync(struct credit_grantor *g, const struct credit_hop *hop, struct credit_totals t)
{
	if (!hop->idle || (g->known && !credit_newer(hop->sequence, g->opened)))
		return CREDIT_ANSWER | CREDIT_COMMIT;
	begin(g, credit_next_epoch(g->epoch), hop->want ? MAX_OF(MIN_OF(hop->want, g->buf), g->floor) : g->buf, t);
	opened_by(g, hop);
	return CREDIT_ANSWER | CREDIT_OPENED | CREDIT_COMMIT;
}

unsigned int credit_grantor_hear(struct credit_grantor *g, const struct credit_hop *hop, struct credit_totals t,
	const struct credit_sample *samples, uint64_t idle_ns, uint64_t now)
{
	unsigned int ask = hop->ask ? CREDIT_ANSWER : 0;

	if (!g->epoch)
		return CREDIT_STALE;
	if (!g->heard || credit_newer(hop->sequence, g->heard))
		g->heard = hop->sequence;
	if (!hop->epoch && hop->full)
		return resync(g, hop, t);
	if (hop->epoch != g->epoch)
		return ask | CREDIT_STALE;
	return ask | hear_current(g, hop, t, samples, idle_ns, now);
}

bool credit_grantor_due(struct credit_grantor *g, struct credit_totals t, struct credit_pace pace)
{
	uint64_t freed = (uint64_t)credit_freed(g, t), fccl = fccl_now(g, t);
	bool grown = credit_ahead(fccl, g->fccl) > 0, changed = grown || abr_now(g, t) != g->abr;
	bool blocked = credit_ahead(g->fccl, g->abr) < (int64_t)pace.mtu;
	bool outstanding = credit_backlog(t) || credit_ahead(g->fctbs, g->abr) > 0;
	bool dirty;

	if (!g->epoch)
		return false;
	if (freed - g->returned >= pace.batch || (!credit_backlog(t) && blocked && grown))
		return true;
	if (!pace.tick)
		return false;
	g->dirty = changed ? CREDIT_DIRTY_TICKS : g->dirty;
	dirty = g->dirty;
	g->dirty -= dirty;
	return dirty || blocked || outstanding;
}

void credit_grantor_watch(struct credit_grantor *g, struct credit_totals t, uint64_t now)
{
	if (t.rcvd == g->quiet_rcvd && g->quiet_ns)
		return;
	g->quiet_rcvd = t.rcvd;
	g->quiet_ns = now;
}
