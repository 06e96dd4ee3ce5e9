/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sessions of a node: found by discriminator and by neighbour, driven by packets and timers (RFC 5880 sections 6.3
 * and 6.8.6). Control lcore.
 */
#include "bfd/bfd_priv.h"

#include <stdlib.h>

struct bfd_table *bfd_table_new(const struct bfd_ops *ops, void *arg, uint64_t seed)
{
	struct bfd_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->ops = ops;
	t->arg = arg;
	t->random = seed ? seed : 1;
	return t;
}

void bfd_table_free(struct bfd_table *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < BFD_SESSIONS_MAX; i++)
		free(t->slot[i]);
	while (t->pool) {
		struct bfd_session *s = t->pool;

		t->pool = s->next_peer;
		free(s);
	}
	free(t);
}

void bfd_set_reflector(struct bfd_table *t, uint32_t discriminator)
{
	t->reflector = discriminator;
}

void bfd_withdraw_reflector(struct bfd_table *t)
{
	t->withdrawn = true;
}

static struct bfd_session **bucket_of(struct bfd_table *t, uint16_t interface, const struct ip_addr *remote)
{
	uint32_t hash = interface * 0x9e3779b1u;

	for (unsigned int i = 0; i < (remote->family == 4 ? 4u : 16u); i++)
		hash = (hash ^ remote->b[i]) * 0x01000193u;
	return &t->peer[(hash ^ hash >> 16) % BFD_PEER_BUCKETS];
}

static struct bfd_session *by_peer(struct bfd_table *t, uint16_t interface, const struct ip_addr *remote)
{
	struct bfd_session *s = *bucket_of(t, interface, remote);

	while (s && !(s->peer.interface == interface && ip_addr_equal(&s->peer.remote, remote)))
		s = s->next_peer;
	return s;
}

/* A session begins as Down and knows nothing of its neighbour (6.8.1). */
static void reset(struct bfd_session *s)
{
	s->state = s->config.shutdown ? BFD_ADMIN_DOWN : BFD_DOWN;
	s->diag = s->config.shutdown ? BFD_DIAG_ADMIN : BFD_DIAG_NONE;
	s->remote_state = BFD_DOWN;
	s->remote_discr = 0;
	s->remote_demand = false;
	s->remote_multiplier = 0;
	s->remote_rx = 1;
	s->remote_tx = s->remote_echo_rx = 0;
	s->auth_seq_known = false;
	stat_level(s->stats.state, s->state);
	stat_level(s->stats.diag, s->diag);
	stat_level(s->stats.remote_state, s->remote_state);
	stat_level(s->stats.remote_discr, 0);
}

static bool place(struct bfd_table *t, struct bfd_session *s)
{
	while (t->free_from < BFD_SESSIONS_MAX && t->slot[t->free_from])
		t->free_from++;
	if (t->free_from == BFD_SESSIONS_MAX)
		return false;
	s->slot = t->free_from;
	t->slot[s->slot] = s;
	/* the slot finds the session, the random part makes the discriminator hard to guess; never 0 */
	s->local_discr = (bfd_random(t) % (UINT32_MAX / BFD_SESSIONS_MAX) + 1) * BFD_SESSIONS_MAX + s->slot;
	return true;
}

static void pool(struct bfd_table *t, struct bfd_session *s)
{
	s->next_peer = t->pool;
	t->pool = s;
}

/* All zero. */
static struct bfd_session *new_session(struct bfd_table *t)
{
	struct bfd_session *s = t->pool;
	uint64_t *counter;

	if (!s)
		return calloc(1, sizeof(*s));
	t->pool = s->next_peer;
	memset(s, 0, offsetof(struct bfd_session, stats));
	counter = (uint64_t *)&s->stats;
	for (unsigned int i = 0; i < sizeof(s->stats) / sizeof(*counter); i++)
		stat_level(counter[i], 0);
	return s;
}

struct bfd_session *bfd_add(struct bfd_table *t, uint64_t now, const struct bfd_peer *peer,
	const struct bfd_config *config)
{
	struct bfd_session *s = peer->kind == BFD_SINGLE_HOP ? by_peer(t, peer->interface, &peer->remote) : NULL;
	struct bfd_session **bucket;

	if (s) {
		s->peer = *peer;
		s->leaving = false;
		bfd_plan_detection(t, s, now);
		bfd_set(t, now, s, config);
		return s;
	}
	s = new_session(t);
	if (!s)
		return NULL;
	if (!place(t, s)) {
		pool(t, s);
		return NULL;
	}
	s->peer = *peer;
	s->config = *config;
	s->tx = (struct bfd_timer){.session = s, .kind = BFD_TIMER_TX};
	s->detect = (struct bfd_timer){.session = s, .kind = BFD_TIMER_DETECT};
	s->echo_tx = (struct bfd_timer){.session = s, .kind = BFD_TIMER_ECHO_TX};
	s->echo_detect = (struct bfd_timer){.session = s, .kind = BFD_TIMER_ECHO_DETECT};
	s->xmit_auth_seq = bfd_random(t);
	s->echo_cookie = (uint64_t)bfd_random(t) << 32 | bfd_random(t);
	stat_level(s->stats.local_discr, s->local_discr);
	reset(s);
	if (peer->kind == BFD_SINGLE_HOP) {
		bucket = bucket_of(t, peer->interface, &peer->remote);
		s->next_peer = *bucket;
		*bucket = s;
	}
	stat_add(&t->stats.sessions, 1);
	bfd_negotiate(s);
	/* not all sessions of a start at the same time */
	if (!config->passive)
		timers_set(&t->wheel, &s->tx.timer, now + bfd_jittered(t, s, MIN_OF(config->tx_us, BFD_SLOW_US)) / 4);
	return s;
}

static void release(struct bfd_table *t, struct bfd_session *s)
{
	struct bfd_session **at;

	timers_cancel(&t->wheel, &s->tx.timer);
	timers_cancel(&t->wheel, &s->detect.timer);
	timers_cancel(&t->wheel, &s->echo_tx.timer);
	timers_cancel(&t->wheel, &s->echo_detect.timer);
	if (s->peer.kind == BFD_SINGLE_HOP) {
		for (at = bucket_of(t, s->peer.interface, &s->peer.remote); *at != s; at = &(*at)->next_peer)
			continue;
		*at = s->next_peer;
	}
	t->slot[s->slot] = NULL;
	t->free_from = MIN_OF(t->free_from, s->slot);
	if (s->state == BFD_UP)
		stat_sub(&t->stats.up, 1);
	stat_sub(&t->stats.sessions, 1);
	pool(t, s);
}

void bfd_set(struct bfd_table *t, uint64_t now, struct bfd_session *s, const struct bfd_config *config)
{
	bool restart = config->auth_type != s->config.auth_type || config->reflector != s->config.reflector;
	bool admin = s->state == BFD_ADMIN_DOWN;

	s->config = *config;
	if (restart)
		s->auth_seq_known = false;
	if (config->shutdown && !admin) {
		bfd_change(t, s, now, BFD_ADMIN_DOWN, BFD_DIAG_ADMIN);
		return;
	}
	if (!config->shutdown && admin) {
		bfd_change(t, s, now, BFD_DOWN, BFD_DIAG_NONE);
		return;
	}
	bfd_echo_update(t, s, now);
	bfd_negotiate(s);
	bfd_plan_transmit(t, s, now);
}

void bfd_remove(struct bfd_table *t, uint64_t now, struct bfd_session *s)
{
	if (s->peer.kind == BFD_SBFD || !s->remote_discr) {
		release(t, s);
		return;
	}
	s->leaving = true;
	if (s->state != BFD_ADMIN_DOWN)
		bfd_change(t, s, now, BFD_ADMIN_DOWN, BFD_DIAG_ADMIN);
	timers_set(&t->wheel, &s->detect.timer, now + (uint64_t)s->config.multiplier * BFD_SLOW_US * NSEC_PER_USEC);
}

/* A timer that is due late shows that this node was not run since. */
static void note_time(struct bfd_table *t, uint64_t now)
{
	uint64_t due;

	if (now == t->seen)
		return;
	t->seen = now;
	due = t->behind ? now : timers_next(&t->wheel);
	if (due >= now || now - due <= BFD_STALL_NS)
		return;
	t->stalled += now - due;
	stat_add(&t->stats.gaps, 1);
	stat_add(&t->stats.gap_ns, now - due);
}

static enum bfd_refusal receive_control(struct bfd_table *t, uint64_t now, const struct bfd_received *r,
	const struct bfd_packet *p)
{
	struct bfd_session *s = p->your_discr ? bfd_by_discr(t, p->your_discr) : by_peer(t, r->interface, &r->from);
	enum bfd_refusal refusal;

	if (!s)
		return p->your_discr ? BFD_REFUSED_unknown_discriminator : BFD_REFUSED_no_session;
	if (s->peer.kind != BFD_SINGLE_HOP || s->peer.interface != r->interface ||
		!ip_addr_equal(&s->peer.remote, &r->from))
		return BFD_REFUSED_sender;
	refusal = bfd_auth_check(s, p, r->data);
	if (refusal != BFD_ACCEPTED) {
		stat_add(&s->stats.refused, 1);
		return refusal;
	}
	bfd_apply(t, s, now, p);
	return BFD_ACCEPTED;
}

static enum bfd_refusal receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r, void *answer,
	size_t *answer_bytes)
{
	/* the neighbour has forwarded an echo packet, and subtracted one */
	uint8_t least = r->port == BFD_PORT_CONTROL ? BFD_HOP_LIMIT : r->port == BFD_PORT_ECHO ? BFD_HOP_LIMIT - 1 : 0;
	enum bfd_refusal refusal;
	struct bfd_packet p;

	if (r->hop_limit < least)
		return BFD_REFUSED_hop_limit;
	if (r->port == BFD_PORT_ECHO)
		return bfd_echo_receive(t, now, r);
	refusal = bfd_packet_read(r->data, r->size, &p);
	if (refusal != BFD_ACCEPTED)
		return refusal;
	return r->port == BFD_PORT_SBFD ? bfd_sbfd_receive(t, now, r, &p, answer, answer_bytes)
					: receive_control(t, now, r, &p);
}

void bfd_count_refused(struct bfd_table *t, enum bfd_refusal refusal)
{
	switch (refusal) {
#define X(kind, member, name, unit, metric, help) \
	case BFD_REFUSED_##member: \
		stat_add(&t->stats.member, 1); \
		break;
		BFD_REFUSALS(X)
#undef X
	case BFD_ACCEPTED:
	case BFD_REFUSAL_COUNT:
		break;
	}
}

enum bfd_refusal bfd_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r, void *answer,
	size_t *answer_bytes)
{
	enum bfd_refusal refusal;

	*answer_bytes = 0;
	note_time(t, now);
	refusal = receive(t, now, r, answer, answer_bytes);
	if (refusal != BFD_ACCEPTED)
		bfd_count_refused(t, refusal);
	return refusal;
}

static void expire(struct bfd_table *t, struct bfd_timer *timer, uint64_t now)
{
	struct bfd_session *s = timer->session;

	switch ((enum bfd_timer_kind)timer->kind) {
	case BFD_TIMER_TX:
		bfd_send_control(t, s, now, false);
		bfd_plan_transmit(t, s, now);
		break;
	case BFD_TIMER_DETECT:
		if (s->leaving)
			release(t, s);
		else
			bfd_detect_expired(t, s, now);
		break;
	case BFD_TIMER_ECHO_TX:
		bfd_echo_send(t, s, now);
		break;
	case BFD_TIMER_ECHO_DETECT:
		bfd_echo_expired(t, s, now);
		break;
	}
}

unsigned int bfd_poll(struct bfd_table *t, uint64_t now, unsigned int budget, uint64_t *next)
{
	unsigned int left = budget;
	struct timer *timer;

	note_time(t, now);
	while ((timer = timers_pop(&t->wheel, now, &left)))
		expire(t, TIMER_OWNER(timer, struct bfd_timer, timer), now);
	*next = timers_next(&t->wheel);
	t->behind = *next <= now;
	return budget - left;
}

const struct bfd_peer *bfd_peer_of(const struct bfd_session *s)
{
	return &s->peer;
}

const struct bfd_session_stats *bfd_stats_of(const struct bfd_session *s)
{
	return &s->stats;
}

const struct bfd_stats *bfd_table_stats(const struct bfd_table *t)
{
	return &t->stats;
}

uint16_t bfd_source_port(const struct bfd_session *s)
{
	return (uint16_t)(BFD_PORT_SOURCE_FIRST + s->slot);
}
