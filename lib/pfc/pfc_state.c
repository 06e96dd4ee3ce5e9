/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State messages between PFC relays: format, sender with lease and refresh, receiver (docs/protocol.md 5.6). Pure;
 * control lcore.
 */
#include "pfc/pfc_state.h"

#include <errno.h>

/* Fields at the same place in both versions. */
static void read_start(const uint8_t *m, struct pfc_state *out)
{
	*out = (struct pfc_state){.speaks_for = m[2], .stopped = m[3] & m[2]};
}

static int read_plain(const struct pfc_state_msg *m, struct pfc_state *out)
{
	read_start((const uint8_t *)m, out);
	out->epoch = be32_get(m->epoch);
	out->sequence = be32_get(m->sequence);
	out->slice = be32_get(m->slice);
	out->lease_ns = be32_get(m->lease) * NSEC_PER_USEC;
	return m->flags ? -EINVAL : 0;
}

static int read_keyed(const struct pfc_state_keyed_msg *m, struct pfc_state *out)
{
	read_start((const uint8_t *)m, out);
	out->keyed = true;
	out->epoch = (uint64_t)be32_get(m->epoch_hi) << 32 | be32_get(m->epoch_lo);
	out->sequence = be32_get(m->sequence);
	out->slice = be32_get(m->slice);
	out->key_id = be32_get(m->key_id);
	out->lease_ns = be32_get(m->lease) * NSEC_PER_USEC;
	return m->flags ? -EINVAL : 0;
}

int pfc_state_read(const void *data, size_t size, struct pfc_state *out)
{
	uint8_t version = size ? *(const uint8_t *)data : 0;
	int rc = -EINVAL;

	if (version == PFC_STATE_VERSION && size >= sizeof(struct pfc_state_msg))
		rc = read_plain(data, out);
	else if (version == PFC_STATE_VERSION_KEYED && size >= sizeof(struct pfc_state_keyed_msg))
		rc = read_keyed(data, out);
	if (rc < 0 || out->lease_ns > PFC_STATE_LEASE_MAX_NS || (out->stopped && !out->lease_ns))
		return -EINVAL;
	return 0;
}

static size_t write_keyed(struct pfc_state_keyed_msg *out, const struct pfc_state *s)
{
	*out = (struct pfc_state_keyed_msg){
		.version = PFC_STATE_VERSION_KEYED,
		.speaks_for = s->speaks_for,
		.stopped = s->stopped,
		.epoch_hi = be32((uint32_t)(s->epoch >> 32)),
		.epoch_lo = be32((uint32_t)s->epoch),
		.sequence = be32(s->sequence),
		.lease = be32((uint32_t)(s->lease_ns / NSEC_PER_USEC)),
		.slice = be32(s->slice),
		.key_id = be32(s->key_id),
	};
	return sizeof(*out);
}

size_t pfc_state_write(void *out, const struct pfc_state *s)
{
	struct pfc_state_msg *m = out;

	if (s->keyed)
		return write_keyed(out, s);
	*m = (struct pfc_state_msg){
		.version = PFC_STATE_VERSION,
		.speaks_for = s->speaks_for,
		.stopped = s->stopped,
		.epoch = be32((uint32_t)s->epoch),
		.sequence = be32(s->sequence),
		.lease = be32((uint32_t)(s->lease_ns / NSEC_PER_USEC)),
		.slice = be32(s->slice),
	};
	return sizeof(*m);
}

void pfc_state_sender_init(struct pfc_state_sender *s, uint8_t speaks_for, uint64_t epoch, uint64_t lease_ns,
	uint32_t slice)
{
	*s = (struct pfc_state_sender){
		.state = {.speaks_for = speaks_for, .epoch = epoch, .lease_ns = lease_ns, .slice = slice},
		.send_at = TIME_NEVER,
	};
}

static bool emit(struct pfc_state_sender *s, uint64_t now, struct pfc_state *out)
{
	s->state.sequence++;
	*out = s->state;
	if (s->repeats)
		s->send_at = now + PFC_STATE_REPEAT_NS;
	else
		s->send_at = s->state.stopped ? now + s->state.lease_ns / 3 : TIME_NEVER;
	return true;
}

void pfc_state_sender_start(struct pfc_state_sender *s, uint64_t at)
{
	s->quiet_until = s->send_at = at;
}

void pfc_state_sender_greet(struct pfc_state_sender *s, uint64_t now)
{
	s->send_at = MIN_OF(s->send_at, MAX_OF(now, s->quiet_until));
}

bool pfc_state_sender_set(struct pfc_state_sender *s, uint8_t stopped, uint64_t now, struct pfc_state *out)
{
	stopped &= s->state.speaks_for;
	if (stopped == s->state.stopped)
		return false;
	s->state.stopped = stopped;
	s->repeats = PFC_STATE_REPEATS;
	return emit(s, now, out);
}

bool pfc_state_sender_poll(struct pfc_state_sender *s, uint64_t now, struct pfc_state *out)
{
	if (now < s->send_at)
		return false;
	s->repeats = (uint8_t)(s->repeats - (s->repeats > 0));
	return emit(s, now, out);
}

/* Keyed epochs grow with time: an earlier start of the sender is known although it was never heard. */
static bool is_known(const struct pfc_state_receiver *r, const struct pfc_state *state)
{
	for (unsigned int i = 0; i < r->n_epochs; i++)
		if (r->epoch[i] == state->epoch)
			return true;
	return state->keyed && r->n_epochs && state->epoch < r->epoch[0];
}

bool pfc_state_receiver_is_new(const struct pfc_state_receiver *r, const struct pfc_state *state)
{
	return !is_known(r, state);
}

bool pfc_state_receiver_take(struct pfc_state_receiver *r, const struct pfc_state *state)
{
	bool current = r->n_epochs && r->epoch[0] == state->epoch;

	if (current ? (int32_t)(state->sequence - r->sequence) <= 0 : is_known(r, state)) {
		r->stale++;
		return false;
	}
	if (!current) {
		memmove(&r->epoch[1], &r->epoch[0], 3 * sizeof(r->epoch[0]));
		r->epoch[0] = state->epoch;
		r->n_epochs = (uint8_t)MIN_OF(r->n_epochs + 1, 4);
	}
	r->sequence = state->sequence;
	r->taken++;
	return true;
}
