/* SPDX-License-Identifier: BSD-3-Clause */
/* DCQCN, the rate control of a sending queue pair (Zhu et al., SIGCOMM 2015). Pure: time is an argument. */
#include "lab/dcqcn.h"

#include "base/compiler.h"

/* Section 5.2, and table 2 of its companion. */
const struct dcqcn_profile dcqcn_paper = {.gain = 1.0 / 256,
	.alpha_ns = 55000,
	.timer_ns = 55000,
	.bytes = 10u << 20,
	.rounds = 5,
	.additive = 40e6,
	.hyper = 400e6,
	.least = 10e6,
	.cnp_ns = 50000};

/*
 * NVIDIA, "DCQCN CC Parameters": dce_tcp_g 1019, dce_tcp_rtt 1 us, rpg_min_dec_fac 50 %, rate_reduce_monitor_period 4 us,
 * rpg_time_reset 300 us, rpg_byte_reset 32767, rpg_threshold 1, rpg_ai_rate 5, rpg_hai_rate 50, rpg_min_rate 1 Mb/s,
 * min_time_between_cnps 4 us.
 */
const struct dcqcn_profile dcqcn_nic = {.gain = 5.0 / 1024,
	.alpha_ns = 1000,
	.periodic = true,
	.reduce_ns = 4000,
	.least_share = 0.5,
	.timer_ns = 300000,
	.bytes = 32767,
	.rounds = 1,
	.additive = 5e6,
	.hyper = 50e6,
	.least = 1e6,
	.cnp_ns = 4000};

void dcqcn_init(struct dcqcn *d, const struct dcqcn_profile *profile, uint64_t line_bps)
{
	*d = (struct dcqcn){.profile = profile,
		.line = (double)line_bps,
		.current = (double)line_bps,
		.target = (double)line_bps,
		.alpha = 1};
}

/* Bring alpha up to date. After so many periods without CNPs that it is next to nothing it need not be decayed. */
static void update_alpha(struct dcqcn *d, uint64_t now)
{
	const struct dcqcn_profile *p = d->profile;

	for (; now - d->alpha_at >= p->alpha_ns; d->alpha_at += p->alpha_ns) {
		d->alpha = (1 - p->gain) * d->alpha + (d->notified ? p->gain : 0);
		d->notified = false;
		if (d->alpha < 1e-9) {
			d->alpha_at = now;
			return;
		}
	}
}

void dcqcn_cnp(struct dcqcn *d, uint64_t now)
{
	const struct dcqcn_profile *p = d->profile;

	if (p->periodic) {
		if (d->current < d->line - 1)
			update_alpha(d, now);
		else
			d->alpha_at = now; /* no alpha is kept at full rate */
		d->notified = true;
	}
	if (d->reduced_at && now - d->reduced_at < p->reduce_ns)
		return;
	d->reduced_at = now;
	d->target = d->current;
	d->current = MAX_OF(d->current * MAX_OF(1 - d->alpha / 2, p->least_share), p->least);
	if (!p->periodic) {
		d->alpha = (1 - p->gain) * d->alpha + p->gain;
		d->alpha_at = now;
	}
	d->timer_at = now;
	d->bytes = 0;
	d->timer_rounds = d->byte_rounds = 0;
}

void dcqcn_restart(struct dcqcn *d, uint64_t now)
{
	double alpha = d->alpha;

	d->alpha = 1;
	d->alpha_at = now;
	dcqcn_cnp(d, now);
	d->alpha = alpha;
}

static void increase(struct dcqcn *d)
{
	unsigned int least = MIN_OF(d->timer_rounds, d->byte_rounds), most = MAX_OF(d->timer_rounds, d->byte_rounds);

	if (least > d->profile->rounds)
		d->target += d->profile->hyper;
	else if (most > d->profile->rounds)
		d->target += d->profile->additive;
	d->target = MIN_OF(d->target, d->line);
	d->current = (d->target + d->current) / 2;
}

uint64_t dcqcn_rate(struct dcqcn *d, uint64_t now, uint64_t bytes)
{
	if (d->current >= d->line - 1)
		return (uint64_t)d->line;
	update_alpha(d, now);
	for (; now - d->timer_at >= d->profile->timer_ns; d->timer_at += d->profile->timer_ns) {
		d->timer_rounds++;
		increase(d);
	}
	for (d->bytes += bytes; d->bytes >= d->profile->bytes; d->bytes -= d->profile->bytes) {
		d->byte_rounds++;
		increase(d);
	}
	return (uint64_t)d->current;
}
