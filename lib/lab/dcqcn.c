/* SPDX-License-Identifier: BSD-3-Clause */
/* DCQCN, the rate control of a sending queue pair (Zhu et al., SIGCOMM 2015). Pure: time is an argument. */
#include "lab/dcqcn.h"

#include "base/compiler.h"

/* The paper's parameters, section 5.2 and table 2 of its companion: g 1/256, K 55 us, T 55 us, B 10 MB, F 5. */
#define GAIN (1.0 / 256)
#define ALPHA_NS 55000u
#define TIMER_NS 55000u
#define COUNTER_BYTES (10u << 20)
#define FAST_ROUNDS 5u
#define ADDITIVE_BPS 40e6
#define HYPER_BPS 400e6
#define LEAST_BPS 10e6

void dcqcn_init(struct dcqcn *d, uint64_t line_bps)
{
	*d = (struct dcqcn){.line = (double)line_bps,
		.current = (double)line_bps,
		.target = (double)line_bps,
		.alpha = 1};
}

void dcqcn_cnp(struct dcqcn *d, uint64_t now)
{
	d->target = d->current;
	d->current = MAX_OF(d->current * (1 - d->alpha / 2), LEAST_BPS);
	d->alpha = (1 - GAIN) * d->alpha + GAIN;
	d->alpha_at = d->timer_at = now;
	d->bytes = 0;
	d->timer_rounds = d->byte_rounds = 0;
}

static void increase(struct dcqcn *d)
{
	unsigned int least = MIN_OF(d->timer_rounds, d->byte_rounds), most = MAX_OF(d->timer_rounds, d->byte_rounds);

	if (least > FAST_ROUNDS)
		d->target += HYPER_BPS;
	else if (most > FAST_ROUNDS)
		d->target += ADDITIVE_BPS;
	d->target = MIN_OF(d->target, d->line);
	d->current = (d->target + d->current) / 2;
}

uint64_t dcqcn_rate(struct dcqcn *d, uint64_t now, uint64_t bytes)
{
	if (d->current >= d->line - 1)
		return (uint64_t)d->line;
	for (; now - d->alpha_at >= ALPHA_NS; d->alpha_at += ALPHA_NS)
		d->alpha *= 1 - GAIN;
	for (; now - d->timer_at >= TIMER_NS; d->timer_at += TIMER_NS) {
		d->timer_rounds++;
		increase(d);
	}
	for (d->bytes += bytes; d->bytes >= COUNTER_BYTES; d->bytes -= COUNTER_BYTES) {
		d->byte_rounds++;
		increase(d);
	}
	return (uint64_t)d->current;
}
