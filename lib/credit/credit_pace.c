/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows, batches and times of credit (docs/credit.md 2.9). Pure. */
#include "credit/credit_pace.h"

#define WINDOW_SHARE 128 /* a batch is at least this part of a window */
#define SLACK 4		 /* batches on top of rate * loop */
#define LOOP_STEPS 16	 /* buckets for each doubling */

/* Least batch whatever the window: the bytes of all sessions per update that control can spend. */
static uint64_t least_batch(const struct credit_load *load)
{
	return MAX_OF((uint64_t)CREDIT_BATCH_LEAST, load->rate_all / load->updates);
}

uint64_t credit_batch(const struct credit_load *load, uint64_t window)
{
	uint64_t batch = MAX_OF(least_batch(load), window / WINDOW_SHARE);

	return MIN_OF(batch, MAX_OF(window / 2, (uint64_t)load->mtu));
}

uint64_t credit_window(const struct credit_load *load)
{
	uint64_t loop = (uint64_t)((unsigned __int128)load->rate * load->loop_ns / NSEC_PER_SEC) + 2ull * load->mtu;
	uint64_t shares = WINDOW_SHARE / SLACK; /* C = loop + 4 * C / 128 */

	return MAX_OF((loop * shares + shares - 2) / (shares - 1), loop + SLACK * least_batch(load));
}

double credit_utilisation(const struct credit_load *load, uint64_t window)
{
	double need = (double)load->rate * (double)load->loop_ns / (double)NSEC_PER_SEC +
		      (double)credit_batch(load, window);

	return (double)window >= need ? 1 : (double)window / need;
}

uint64_t credit_sync_time(const struct credit_load *load, uint64_t busy)
{
	uint64_t time = load->loop_ns <= NSEC_PER_MSEC ? NSEC_PER_MSEC / 4 : NSEC_PER_MSEC;

	return MAX_OF(time, busy * NSEC_PER_SEC / load->updates);
}

uint64_t credit_heartbeat_time(uint64_t sync_ns)
{
	return MAX_OF(3 * sync_ns, NSEC_PER_MSEC);
}

uint64_t credit_fence_time(uint64_t loop_ns, uint64_t busy)
{
	uint64_t time = MAX_OF(loop_ns, NSEC_PER_MSEC);

	return MAX_OF(time, busy * NSEC_PER_SEC / CREDIT_FENCES_PER_S);
}

uint64_t credit_stall_time(uint64_t loop_ns, uint64_t sync_ns)
{
	return loop_ns + 3 * sync_ns;
}

/* Buckets of us: the first 16 are 1 us wide, then 16 for each doubling. */
static unsigned int bucket_of(uint64_t us)
{
	unsigned int shift = us < LOOP_STEPS ? 0 : 59 - (unsigned int)__builtin_clzll(us);
	unsigned int bucket = shift * LOOP_STEPS + (unsigned int)(us >> shift);

	return MIN_OF(bucket, CREDIT_LOOP_BUCKETS - 1u);
}

static uint64_t end_of(unsigned int bucket)
{
	unsigned int shift = bucket < 2 * LOOP_STEPS ? 0 : bucket / LOOP_STEPS - 1;

	return (uint64_t)(bucket - shift * LOOP_STEPS + 1) << shift;
}

void credit_loop_add(struct credit_loop *l, uint64_t loop_ns)
{
	l->count[bucket_of(loop_ns / NSEC_PER_USEC)]++;
	if (++l->samples < CREDIT_LOOP_SAMPLES)
		return;
	l->samples = 0;
	for (unsigned int i = 0; i < CREDIT_LOOP_BUCKETS; i++)
		l->samples += l->count[i] /= 2;
}

uint64_t credit_loop_quantile(const struct credit_loop *l, uint32_t permille)
{
	uint64_t want = ((uint64_t)l->samples * permille + 999) / 1000, seen = 0;

	for (unsigned int i = 0; want && i < CREDIT_LOOP_BUCKETS; i++) {
		seen += l->count[i];
		if (seen >= want)
			return end_of(i) * NSEC_PER_USEC;
	}
	return 0;
}
