/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of a credit hop for unit tests, with data and messages moved by hand. */
#ifndef SUPPORT_CREDIT_HOP_H
#define SUPPORT_CREDIT_HOP_H

#include "test/support/unit.h"

#include "credit/credit_grantor.h"
#include "credit/credit_user.h"

#define IDLE_NS (20 * NSEC_PER_MSEC)
#define MOST 1000
#define LIH 1
#define ALWAYS TIME_NEVER

/* Both ends of a hop, with data and messages moved by hand. */
struct hop {
	struct credit_user user;
	struct credit_gate gate;
	struct credit_grantor grantor;
	struct credit_intake intake;
	struct credit_sample samples[CREDIT_SAMPLES];
	struct credit_release release;
	struct credit_update last; /* the last 29 made */
	uint64_t now;
};

struct credit_totals hop_totals(const struct hop *h);

struct credit_update *hop_update(struct hop *h);

enum credit_taken hop_hear(struct hop *h, const struct credit_update *m);

unsigned int hop_heard(struct hop *h, const struct credit_hop *m);

/* The user says hello, and the grantor's S opens the gate. */
void hop_open_epoch(struct hop *h);

/* A hop whose counters start anywhere: none may depend on it. */
void hop_start_at(struct hop *h, uint32_t buf, uint32_t epoch, uint64_t sent, uint64_t rcvd);

void hop_start(struct hop *h, uint32_t buf);

bool hop_may(const struct hop *h, uint32_t units);

void hop_send(struct hop *h, unsigned int packets);

void hop_arrive(struct hop *h, uint32_t units);

void hop_forward(struct hop *h, uint32_t units);

void hop_fence(struct hop *h, uint64_t number);

unsigned int hop_state(struct hop *h);

#endif
