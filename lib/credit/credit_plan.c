/* SPDX-License-Identifier: BSD-3-Clause */
/* What credit costs over a distance (docs/credit.md 2.6, 2.9, 2.12). Pure. */
#include "credit/credit_plan.h"

#include <math.h>

static uint64_t units_of(uint64_t bytes, uint32_t unit)
{
	return (bytes + (1u << unit) - 1) >> unit;
}

/* A steady loss keeps the units of two loops out of the window until fences have found them. */
static double with_loss(const struct credit_load *load, uint64_t window, double loss)
{
	double left = (double)window * (1 - 2 * loss);

	return left > 0 ? credit_utilisation(load, (uint64_t)left) * (1 - loss) : 0;
}

/* Without fences nothing heals before the user has been idle: the window falls to one packet, again and again. */
static double idle_only(double utilisation, uint64_t packets, double loss)
{
	return loss > 0 && packets > 1 ? utilisation / (1 + log((double)packets)) : utilisation;
}

void credit_plan(const struct credit_question *q, struct credit_answer *a)
{
	uint64_t frame_bits = 8ull * (q->packet + CREDIT_FRAME_BYTES), window;
	uint32_t charged = credit_units(q->packet, q->overhead, q->unit) << q->unit;
	struct credit_load load = {.updates = q->updates, .mtu = charged}, share;

	a->rate = (uint64_t)((unsigned __int128)q->rate_bps * charged / frame_bits);
	load.rate = load.rate_all = a->rate;
	load.loop_ns = a->loop_ns = 2 * q->one_way_ns + q->poll_ns +
				    (uint64_t)((unsigned __int128)frame_bits * NSEC_PER_SEC / q->rate_bps);
	share = load;
	share.rate /= q->sessions;
	window = credit_window(&load);
	a->window = units_of(window, q->unit);
	a->batch = MAX_OF(credit_batch(&load, window) >> q->unit, 1ull);
	a->share = units_of(credit_window(&share), q->unit);
	a->batch_share = MAX_OF(credit_batch(&share, credit_window(&share)) >> q->unit, 1ull);
	a->update_rate = MIN_OF(a->rate / (a->batch_share << q->unit), (uint64_t)q->updates);
	a->sync_ns = credit_sync_time(&load, q->sessions);
	a->fence_ns = credit_fence_time(a->loop_ns, q->sessions);
	a->pool = MAX_OF(a->share * q->sessions, a->window);
	a->memory = a->pool * ((1ull << q->unit) + CREDIT_BUFFER_BYTES);
	a->utilisation = with_loss(&load, a->window << q->unit, q->loss);
	a->bdp = with_loss(&load, (uint64_t)((unsigned __int128)a->rate * a->loop_ns / NSEC_PER_SEC), q->loss);
	a->idle_only = idle_only(a->utilisation, window / charged, q->loss);
}
