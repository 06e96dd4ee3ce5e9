/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of a credit hop for unit tests; see credit_hop.h. */
#include "test/support/credit_hop.h"

struct credit_totals hop_totals(const struct hop *h)
{
	return (struct credit_totals){.freed = h->release.freed, .rcvd = h->intake.rcvd};
}

struct credit_update *hop_update(struct hop *h)
{
	credit_grantor_update(&h->grantor, hop_totals(h), &h->last);
	return &h->last;
}

enum credit_taken hop_hear(struct hop *h, const struct credit_update *m)
{
	return credit_user_hear(&h->user, &h->gate, m, MOST, h->now);
}

unsigned int hop_heard(struct hop *h, const struct credit_hop *m)
{
	unsigned int bits = credit_grantor_hear(&h->grantor, m, hop_totals(h), h->samples, IDLE_NS, h->now);

	h->intake.epoch = h->grantor.epoch;
	return bits;
}

void hop_open_epoch(struct hop *h)
{
	struct credit_hop hello;

	credit_user_hello(&h->user, 0, &hello);
	assert_true(hop_heard(h, &hello) & CREDIT_COMMIT);
	hop_update(h)->commit = true;
	assert_int_equal(hop_hear(h, &h->last), CREDIT_ADOPTED);
}

void hop_start_at(struct hop *h, uint32_t buf, uint32_t epoch, uint64_t sent, uint64_t rcvd)
{
	struct credit_hop hello;

	*h = (struct hop){.now = NSEC_PER_SEC};
	credit_user_init(&h->user, &h->gate, h->now);
	h->gate.sent = sent;
	h->intake.rcvd = h->release.freed = rcvd;
	h->intake.lih = LIH;
	h->now += IDLE_NS;
	assert_true(credit_user_idle(&h->gate, IDLE_NS, h->now));
	credit_user_hello(&h->user, 0, &hello);
	credit_grantor_open(&h->grantor, &hello, epoch, buf, hop_totals(h));
	hop_open_epoch(h); /* the copy of the 28 that this repeats opens no other epoch */
	assert_int_equal(h->user.epoch, epoch);
}

void hop_start(struct hop *h, uint32_t buf)
{
	hop_start_at(h, buf, 7, 0, 0);
}

bool hop_may(const struct hop *h, uint32_t units)
{
	return credit_gate_passes(&h->gate, ALWAYS, h->now, units);
}

void hop_send(struct hop *h, unsigned int packets)
{
	for (unsigned int i = 0; i < packets; i++) {
		assert_true(hop_may(h, 1));
		credit_gate_pass(&h->gate, 1);
		credit_gate_taken(&h->gate, 1, ++h->now);
	}
}

void hop_arrive(struct hop *h, uint32_t units)
{
	credit_intake_count(&h->intake, units);
}

void hop_forward(struct hop *h, uint32_t units)
{
	credit_release_count(&h->release, units);
}

void hop_fence(struct hop *h, uint64_t number)
{
	credit_user_fence(&h->user, &h->gate, number, h->now);
	assert_int_equal(h->gate.fence, number);
	credit_gate_fence_taken(&h->gate, number);
}

unsigned int hop_state(struct hop *h)
{
	struct credit_hop marker;

	assert_true(credit_user_has_statement(&h->user, &h->gate));
	credit_user_marker(&h->user, &h->gate, &marker);
	assert_false(credit_user_has_statement(&h->user, &h->gate));
	marker.ask = true;
	return hop_heard(h, &marker);
}
