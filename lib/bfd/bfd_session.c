/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state machine of a session: what a packet, and what silence does (RFC 5880 sections 6.2 and 6.8.6 to 6.8.7;
 * RFC 7880 section 7.3.1 for initiators). Control lcore.
 */
#include "bfd/bfd_priv.h"

void bfd_send_control(struct bfd_table *t, struct bfd_session *s, uint64_t now, bool final)
{
	bool sbfd = s->peer.kind == BFD_SBFD;
	uint8_t message[BFD_MESSAGE_MAX];
	struct bfd_packet p = {.diag = s->diag,
		.state = s->state,
		.poll = s->polling && !final,
		.final = final,
		.demand = sbfd, /* marks packets of initiators */
		.multiplier = s->config.multiplier,
		.my_discr = s->local_discr,
		.your_discr = sbfd ? s->config.reflector : s->remote_discr,
		.desired_tx_us = s->desired_tx,
		.required_rx_us = s->required_rx,
		.required_echo_us = sbfd ? 0 : s->config.echo_rx_us};
	size_t bytes;

	bfd_auth_prepare(s, &p);
	bytes = bfd_packet_write(message, &p);
	if (p.has_auth)
		bfd_packet_sign(message, bytes, &s->config.key);
	/* a Final is sent besides the periodic packets */
	if (!final)
		s->last_tx_ns = now;
	stat_add(&s->stats.sent, 1);
	stat_add(&t->stats.sent, 1);
	t->ops->send(t->arg, s, sbfd ? BFD_PORT_SBFD : BFD_PORT_CONTROL, message, bytes);
}

/* Send the new state at once, and then periodically (6.8.7). */
static void announce(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	timers_cancel(&t->wheel, &s->tx.timer);
	if (!s->config.passive || s->remote_discr || s->leaving)
		bfd_send_control(t, s, now, false);
	bfd_plan_transmit(t, s, now);
}

static void count_change(struct bfd_table *t, struct bfd_session *s, uint64_t now, enum bfd_state from)
{
	bool was = from == BFD_UP, is = s->state == BFD_UP;

	stat_level(s->stats.state, s->state);
	stat_level(s->stats.diag, s->diag);
	stat_level(s->stats.changed_ns, now);
	stat_level(s->stats.up, is);
	if (is && !was) {
		stat_add(&s->stats.ups, 1);
		stat_add(&t->stats.up, 1);
	}
	if (was && !is) {
		stat_add(&s->stats.downs, 1);
		stat_level(s->stats.last_down, s->diag);
		stat_sub(&t->stats.up, 1);
	}
}

void bfd_change(struct bfd_table *t, struct bfd_session *s, uint64_t now, enum bfd_state to, enum bfd_diag diag)
{
	struct bfd_change change = {.at = now,
		.from = s->state,
		.to = (uint8_t)to,
		.remote_state = s->remote_state,
		.diag = (uint8_t)diag,
		.remote_diag = s->remote_diag,
		.heard_ns = s->stats.heard_ns,
		.detect_us = bfd_detect_us(s)};

	s->state = (uint8_t)to;
	s->diag = (uint8_t)diag;
	count_change(t, s, now, (enum bfd_state)change.from);
	bfd_echo_update(t, s, now);
	bfd_negotiate(s);
	announce(t, s, now);
	if (!s->leaving)
		t->ops->changed(t->arg, s, &change);
}

/* The next state of a single-hop session (6.8.6); the diagram of 6.2. */
static enum bfd_state after(enum bfd_state state, uint8_t received)
{
	if (received == BFD_ADMIN_DOWN)
		return BFD_DOWN;
	switch (state) {
	case BFD_DOWN:
		return received == BFD_DOWN ? BFD_INIT : received == BFD_INIT ? BFD_UP : BFD_DOWN;
	case BFD_INIT:
		return received == BFD_DOWN ? BFD_INIT : BFD_UP;
	case BFD_UP:
		return received == BFD_DOWN ? BFD_DOWN : BFD_UP;
	case BFD_ADMIN_DOWN:
		break;
	}
	return state;
}

/* An initiator is Up while a reflector answers that it is (RFC 7880 section 7.3.1). */
static enum bfd_state after_reply(uint8_t received)
{
	return received == BFD_UP ? BFD_UP : BFD_DOWN;
}

static void take_over(struct bfd_session *s, const struct bfd_packet *p, uint64_t now)
{
	s->remote_state = p->state;
	s->remote_diag = p->diag;
	s->remote_rx = p->required_rx_us;
	s->remote_tx = p->desired_tx_us;
	s->remote_multiplier = p->multiplier;
	s->remote_echo_rx = p->required_echo_us;
	s->remote_demand = p->demand;
	s->remote_discr = p->my_discr;
	stat_add(&s->stats.received, 1);
	stat_level(s->stats.heard_ns, now);
	stat_level(s->stats.remote_state, p->state);
	stat_level(s->stats.remote_diag, p->diag);
	stat_level(s->stats.remote_discr, p->my_discr);
}

/* RFC 5882 section 4.2: what is administratively down has not failed, so the caller must know it. */
static void tell_admin_down(struct bfd_table *t, const struct bfd_session *s, uint64_t now)
{
	const struct bfd_change change = {.at = now,
		.from = s->state,
		.to = s->state,
		.remote_state = s->remote_state,
		.diag = s->diag,
		.remote_diag = s->remote_diag};

	if (!s->leaving)
		t->ops->changed(t->arg, s, &change);
}

static void follow(struct bfd_table *t, struct bfd_session *s, uint64_t now, bool said_admin_down)
{
	enum bfd_state to = s->peer.kind == BFD_SBFD ? after_reply(s->remote_state)
						     : after((enum bfd_state)s->state, s->remote_state);

	if (to != s->state && !(s->state == BFD_DOWN && now < s->hold_until)) {
		bfd_change(t, s, now, to,
			to == BFD_DOWN ? BFD_DIAG_NEIGHBOR
			: to == BFD_UP ? BFD_DIAG_NONE
				       : (enum bfd_diag)s->diag);
		return;
	}
	if (s->remote_state == BFD_ADMIN_DOWN && !said_admin_down)
		tell_admin_down(t, s, now);
	bfd_echo_update(t, s, now);
	bfd_negotiate(s);
}

void bfd_apply(struct bfd_table *t, struct bfd_session *s, uint64_t now, const struct bfd_packet *p)
{
	bool said_admin_down = s->remote_state == BFD_ADMIN_DOWN;

	take_over(s, p, now);
	stat_add(&t->stats.received, 1);
	if (p->final)
		bfd_poll_ended(s);
	/* the timer of a session that is being ended says when it is freed */
	if (!s->leaving)
		bfd_plan_detection(t, s, now);
	if (s->state == BFD_ADMIN_DOWN)
		return;
	follow(t, s, now, said_admin_down);
	if (p->poll && s->peer.kind == BFD_SINGLE_HOP)
		bfd_send_control(t, s, now, true);
	bfd_plan_transmit(t, s, now);
}

/*
 * The neighbour is silent for a detection time (6.8.4). Its discriminator is forgotten then, and after twice that time
 * its sequence number (6.8.1).
 */
void bfd_detect_expired(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	if (!s->remote_discr && s->peer.kind == BFD_SINGLE_HOP) {
		s->auth_seq_known = false;
		return;
	}
	if (bfd_extended(t, s, now, &s->detect.timer, &s->stalled, bfd_detect_us(s)))
		return;
	if (s->peer.kind == BFD_SINGLE_HOP)
		timers_set(&t->wheel, &s->detect.timer, now + bfd_detect_us(s) * NSEC_PER_USEC);
	s->remote_discr = 0;
	stat_level(s->stats.remote_discr, 0);
	s->remote_demand = false;
	if (s->state == BFD_INIT || s->state == BFD_UP)
		bfd_change(t, s, now, BFD_DOWN, BFD_DIAG_EXPIRED);
	bfd_plan_transmit(t, s, now);
}

/*
 * Own echo packets do not come back, though the neighbour may still be heard. Then the session would be Up again in a
 * round trip, and fail again: it stays Down for a second.
 */
void bfd_echo_expired(struct bfd_table *t, struct bfd_session *s, uint64_t now)
{
	if (!bfd_echo_is_lost(t, s, now))
		return;
	s->hold_until = now + BFD_SLOW_US * NSEC_PER_USEC;
	bfd_change(t, s, now, BFD_DOWN, BFD_DIAG_ECHO_FAILED);
}
