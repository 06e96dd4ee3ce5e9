/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of fences, written by an rx lcore and read by control (docs/credit.md 2.6). Pure. */
#include "credit/credit_hot.h"

bool credit_intake_fence(struct credit_intake *in, struct credit_sample *samples, uint64_t number, uint32_t epoch,
	uint32_t lih)
{
	struct credit_sample *s = &samples[in->fences % CREDIT_SAMPLES];

	if (!number || epoch != __atomic_load_n(&in->epoch, __ATOMIC_RELAXED) ||
		lih != __atomic_load_n(&in->lih, __ATOMIC_RELAXED)) {
		__atomic_store_n(&in->stale, in->stale + 1, __ATOMIC_RELAXED);
		return false;
	}
	for (unsigned int i = 0; i < CREDIT_SAMPLES; i++)
		if (samples[i].number == number)
			return false;
	__atomic_store_n(&s->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->rcvd, in->rcvd, __ATOMIC_RELEASE);
	__atomic_store_n(&s->epoch, epoch, __ATOMIC_RELEASE);
	__atomic_store_n(&s->number, number, __ATOMIC_RELEASE);
	__atomic_store_n(&in->fences, in->fences + 1, __ATOMIC_RELEASE);
	return true;
}

bool credit_sample_read(const struct credit_sample *s, struct credit_sample *out)
{
	out->number = __atomic_load_n(&s->number, __ATOMIC_ACQUIRE);
	out->rcvd = __atomic_load_n(&s->rcvd, __ATOMIC_ACQUIRE);
	out->epoch = __atomic_load_n(&s->epoch, __ATOMIC_ACQUIRE);
	return out->number && out->number == __atomic_load_n(&s->number, __ATOMIC_RELAXED);
}
