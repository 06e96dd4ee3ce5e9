/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intervals of a session: negotiation with Poll Sequences, jitter and detection time (RFC 5880 sections 6.5, 6.8.2 to
 * 6.8.4, 6.8.7). Control lcore.
 */
#include "bfd/bfd_priv.h"

/* xorshift64*: jitter and discriminators need no more. */
uint32_t bfd_random(struct bfd_table *t)
{
	t->random ^= t->random >> 12;
	t->random ^= t->random << 25;
	t->random ^= t->random >> 27;
	return (uint32_t)(t->random * 0x2545f4914f6cdd1dull >> 32);
}

uint32_t bfd_transmit_us(const struct bfd_session *s)
{
	/* a neighbour that asks for 0 wants no periodic packets (6.8.1); a reflector says how fast it may be asked */
	if (!s->remote_rx && s->peer.kind == BFD_SINGLE_HOP)
		return 0;
	return MAX_OF(s->tx_in_use, s->remote_rx);
}

/*
 * 6.8.4, of the neighbour's packets; of an S-BFD initiator, of the reflector's answers to its own packets (RFC 7880
 * section 7.3.2).
 */
uint32_t bfd_detect_us(const struct bfd_session *s)
{
	uint64_t us = s->peer.kind == BFD_SBFD ? (uint64_t)s->config.multiplier * bfd_transmit_us(s)
					       : (uint64_t)s->remote_multiplier * MAX_OF(s->rx_in_use, s->remote_tx);

	return (uint32_t)MIN_OF(us, UINT32_MAX);
}

uint64_t bfd_jittered(struct bfd_table *t, const struct bfd_session *s, uint32_t us)
{
	uint64_t ns = us * NSEC_PER_USEC, span = s->config.multiplier == 1 ? ns * 15 / 100 : ns / 4;

	return ns - ns / 4 + (span * (bfd_random(t) >> 16) >> 16);
}

static void show_intervals(struct bfd_session *s)
{
	stat_level(s->stats.transmit_us, bfd_transmit_us(s));
	stat_level(s->stats.detect_us, bfd_detect_us(s));
}

/*
 * While the session is Up, a longer transmit interval and a shorter detection time come into force only when the
 * neighbour has confirmed them (6.8.3). Everything else does at once.
 */
void bfd_negotiate(struct bfd_session *s)
{
	bool up = s->state == BFD_UP, sbfd = s->peer.kind == BFD_SBFD;
	uint32_t tx = up ? s->config.tx_us : MAX_OF(s->config.tx_us, BFD_SLOW_US);
	/* with the echo function control packets only need to keep the session (6.8.9) */
	uint32_t rx = sbfd ? 0 : s->echoing ? MAX_OF(s->config.rx_us, BFD_SLOW_US) : s->config.rx_us;
	bool first = !s->desired_tx, changed = tx != s->desired_tx || rx != s->required_rx;

	s->desired_tx = tx;
	s->required_rx = rx;
	if (!up || sbfd || tx < s->tx_in_use)
		s->tx_in_use = tx;
	if (!up || sbfd || rx > s->rx_in_use)
		s->rx_in_use = rx;
	if (changed && !first && !sbfd) {
		s->poll_again = s->polling;
		s->polling = true;
	}
	show_intervals(s);
}

void bfd_poll_ended(struct bfd_session *s)
{
	if (!s->polling)
		return;
	stat_add(&s->stats.polls, 1);
	/* the Final bit may answer a packet with the values before the last change */
	s->polling = s->poll_again;
	if (s->poll_again) {
		s->poll_again = false;
		return;
	}
	s->tx_in_use = s->desired_tx;
	s->rx_in_use = s->required_rx;
}

/* Section 6.8.7: when no periodic packets are sent. */
static bool is_silent(const struct bfd_session *s)
{
	if (s->config.passive && !s->remote_discr && !s->leaving)
		return true;
	if (s->remote_demand && s->state == BFD_UP && s->remote_state == BFD_UP && !s->polling &&
		s->peer.kind == BFD_SINGLE_HOP)
		return true;
	return !bfd_transmit_us(s);
}

void bfd_plan_transmit(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	uint32_t us = bfd_transmit_us(s);
	uint64_t at = now;

	show_intervals(s);
	if (is_silent(s)) {
		timers_cancel(&t->wheel, &s->tx.timer);
		return;
	}
	/* one draw of the jitter for each packet */
	if (timer_is_set(&s->tx.timer) && us == s->planned_us)
		return;
	s->planned_us = us;
	if (s->last_tx_ns)
		at = MAX_OF(now, s->last_tx_ns + bfd_jittered(t, s, us));
	if (!timer_is_set(&s->tx.timer) || at < s->tx.timer.at)
		timers_set(&t->wheel, &s->tx.timer, at);
}

void bfd_plan_detection(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	show_intervals(s);
	s->stalled = t->stalled;
	timers_set(&t->wheel, &s->detect.timer, now + bfd_detect_us(s) * NSEC_PER_USEC);
}

bool bfd_extended(struct bfd_table *t, struct bfd_session *s, uint64_t now, struct timer *timer, uint64_t *stalled,
	uint32_t us)
{
	uint64_t gap = t->stalled - *stalled;

	/* once: a node that is late all the time still finds out that a neighbour is dead */
	if (*stalled == BFD_EXTENDED || !gap)
		return false;
	*stalled = BFD_EXTENDED;
	stat_add(&s->stats.own_gaps, 1);
	timers_set(&t->wheel, timer, now + MIN_OF(gap, us * NSEC_PER_USEC));
	return true;
}
