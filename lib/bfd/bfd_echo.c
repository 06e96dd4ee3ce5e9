/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The echo function (RFC 5880 sections 6.4, 6.8.5, 6.8.8 and 6.8.9; RFC 5881 section 4): packets to this node itself
 * that the neighbour's forwarding plane sends back. Control lcore.
 */
#include "bfd/bfd_priv.h"

#define WINDOW 16 /* echo packets on the way that are accepted when they come back */

static uint32_t interval_us(const struct bfd_session *s)
{
	return MAX_OF(s->config.echo_us, s->remote_echo_rx);
}

static uint32_t detect_us(const struct bfd_session *s)
{
	return (uint32_t)MIN_OF((uint64_t)s->config.multiplier * interval_us(s), UINT32_MAX);
}

static void plan_detection(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	s->echo_stalled = t->stalled;
	timers_set(&t->wheel, &s->echo_detect.timer, now + detect_us(s) * NSEC_PER_USEC);
}

/* Packets may be sent only while the session is Up and the neighbour returns them (6.8.9). */
void bfd_echo_update(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	bool on = s->state == BFD_UP && s->config.echo_us && s->remote_echo_rx && s->peer.kind == BFD_SINGLE_HOP;

	stat_level(s->stats.echo_us, on ? interval_us(s) : 0);
	if (on == s->echoing)
		return;
	s->echoing = on;
	if (on) {
		timers_set(&t->wheel, &s->echo_tx.timer, now);
		plan_detection(t, s, now);
	} else {
		timers_cancel(&t->wheel, &s->echo_tx.timer);
		timers_cancel(&t->wheel, &s->echo_detect.timer);
	}
}

void bfd_echo_send(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	struct bfd_echo e = {.discr = be32(s->local_discr),
		.sequence = be32(++s->echo_sequence),
		.cookie = be64(s->echo_cookie),
		.sent = be64(now)};

	stat_add(&s->stats.echo_sent, 1);
	stat_add(&t->stats.echo_sent, 1);
	timers_set(&t->wheel, &s->echo_tx.timer, now + bfd_jittered(t, s, interval_us(s)));
	t->ops->send(t->arg, s, BFD_PORT_ECHO, &e, sizeof(e));
}

bool bfd_echo_is_lost(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	return !bfd_extended(t, s, now, &s->echo_detect.timer, &s->echo_stalled, detect_us(s));
}

enum bfd_refusal bfd_echo_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r)
{
	const struct bfd_echo *e = r->data;
	struct bfd_session *s;
	uint64_t sent;

	if (r->size < sizeof(*e))
		return BFD_REFUSED_echo;
	s = bfd_by_discr(t, be32_get(e->discr));
	if (!s || !s->echoing || s->peer.interface != r->interface || be64_get(e->cookie) != s->echo_cookie ||
		s->echo_sequence - be32_get(e->sequence) >= WINDOW)
		return BFD_REFUSED_echo;
	sent = be64_get(e->sent);
	if (sent > now)
		return BFD_REFUSED_echo;
	stat_add(&s->stats.echo_received, 1);
	stat_add(&t->stats.echo_received, 1);
	stat_level(s->stats.echo_rtt_ns, now - sent);
	plan_detection(t, s, now);
	return BFD_ACCEPTED;
}
