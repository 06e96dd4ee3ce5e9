/* SPDX-License-Identifier: BSD-3-Clause */
/* The user of a hop: 29s, the gate, fences, new epochs (docs/credit.md 2.5, 2.6, 2.10, 2.11). Pure; control lcore. */
#include "credit/credit_user.h"

static void shut(struct credit_user *u, struct credit_gate *g, enum credit_state state)
{
	__atomic_store_n(&g->open, false, __ATOMIC_RELEASE);
	__atomic_store_n(&g->fence, 0, __ATOMIC_RELAXED);
	u->fence_open = 0;
	u->short_ns = 0;
	u->state = state;
}

static bool is_left(const struct credit_user *u, uint32_t epoch)
{
	for (unsigned int i = 0; i < CREDIT_EPOCHS_LEFT; i++)
		if (u->left[i] == epoch)
			return true;
	return false;
}

static void leave(struct credit_user *u, uint32_t epoch)
{
	if (epoch && !is_left(u, epoch))
		u->left[u->n_left++ % CREDIT_EPOCHS_LEFT] = epoch;
}

void credit_user_init(struct credit_user *u, struct credit_gate *g, uint64_t now)
{
	*u = (struct credit_user){.state = CREDIT_RESYNC};
	*g = (struct credit_gate){.given_ns = now};
}

bool credit_user_idle(const struct credit_gate *g, uint64_t idle_ns, uint64_t now)
{
	return !__atomic_load_n(&g->pending, __ATOMIC_ACQUIRE) &&
	       now - __atomic_load_n(&g->given_ns, __ATOMIC_RELAXED) >= idle_ns;
}

void credit_user_stop(struct credit_user *u, struct credit_gate *g)
{
	shut(u, g, CREDIT_RESYNC);
	leave(u, u->epoch);
	u->epoch = 0;
	u->hello = 0;
}

void credit_user_down(struct credit_user *u, struct credit_gate *g)
{
	if (u->state == CREDIT_OPEN)
		shut(u, g, CREDIT_DOWN);
}

void credit_user_hello(struct credit_user *u, uint32_t want, struct credit_hop *out)
{
	if (!u->hello)
		u->hello = ++u->hop_sequence;
	u->state = CREDIT_ASKED;
	*out = (struct credit_hop){.full = true, .idle = true, .ask = true, .sequence = u->hello, .want = want};
}

/* The limit of the gate: no neighbour's promise counts beyond `most` (2.5). */
static void set_limit(struct credit_user *u, struct credit_gate *g, uint32_t most)
{
	uint64_t bound = credit_fctbs(u, g) + most;
	uint64_t fccl = credit_ahead(u->fccl, bound) > 0 ? bound : u->fccl;
	uint64_t limit = u->base + fccl;

	if (u->state != CREDIT_OPEN || credit_ahead(limit, g->limit) > 0)
		__atomic_store_n(&g->limit, limit, __ATOMIC_RELAXED);
}

/* An S answers the 28 only if it names it, or begins an epoch that was unknown when the 28 left (2.11). */
static bool answers(const struct credit_user *u, const struct credit_update *m)
{
	if (m->has_echo && m->echo != u->hello)
		return false;
	return u->state == CREDIT_ASKED && !m->abr && m->fccl <= m->buf && !is_left(u, m->epoch);
}

static void adopt(struct credit_user *u, struct credit_gate *g, const struct credit_update *m, uint32_t most,
	uint64_t now)
{
	u->epoch = m->epoch;
	u->sequence = m->sequence;
	u->base = __atomic_load_n(&g->sent, __ATOMIC_RELAXED);
	u->fccl = m->fccl;
	u->abr = m->abr;
	u->buf = u->buf_now = m->buf;
	u->hello = 0;
	u->fence_fctbs = 0;
	u->heard_ns = u->moved_ns = now;
	u->asked_ns = 0;
	set_limit(u, g, most);
	u->state = CREDIT_OPEN;
	__atomic_store_n(&g->open, true, __ATOMIC_RELEASE);
}

static enum credit_taken hear_shut(struct credit_user *u, struct credit_gate *g, const struct credit_update *m,
	uint32_t most, uint64_t now)
{
	if (u->state == CREDIT_RESYNC) {
		leave(u, m->epoch);
		return CREDIT_IGNORED;
	}
	if (m->commit && answers(u, m)) {
		adopt(u, g, m, most, now);
		return CREDIT_ADOPTED;
	}
	if (m->has_echo && m->echo && !credit_newer(u->hop_sequence, m->echo)) {
		if (m->echo == u->hello)
			return m->commit ? CREDIT_UNUSABLE : CREDIT_IGNORED;
		leave(u, m->epoch);
		u->hop_sequence = m->echo;
		u->hello = 0;
		u->state = CREDIT_RESYNC;
		return CREDIT_HELLO_NEW;
	}
	return m->commit ? CREDIT_UNUSABLE : CREDIT_IGNORED;
}

static enum credit_taken hear_open(struct credit_user *u, struct credit_gate *g, const struct credit_update *m,
	uint32_t most, uint64_t now)
{
	if (!credit_newer(m->sequence, u->sequence))
		return CREDIT_REPEATED;
	u->sequence = m->sequence;
	u->heard_ns = now;
	u->buf_now = m->buf;
	u->buf = MAX_OF(u->buf, m->buf);
	if (credit_ahead(m->abr, u->abr) > 0)
		u->abr = m->abr;
	if (credit_ahead(m->fccl, u->fccl) > 0) {
		u->fccl = m->fccl;
		u->moved_ns = now;
	}
	set_limit(u, g, most);
	return CREDIT_TAKEN;
}

enum credit_taken credit_user_hear(struct credit_user *u, struct credit_gate *g, const struct credit_update *m,
	uint32_t most, uint64_t now)
{
	if (!m->epoch)
		return CREDIT_IGNORED;
	if (u->state == CREDIT_RESYNC || u->state == CREDIT_ASKED)
		return hear_shut(u, g, m, most, now);
	if (m->epoch != u->epoch && is_left(u, m->epoch))
		return CREDIT_LEFT;
	if (u->state == CREDIT_OPEN && m->epoch == u->epoch)
		return hear_open(u, g, m, most, now);
	credit_user_stop(u, g);
	leave(u, m->epoch);
	return CREDIT_RESTART;
}

void credit_user_marker(struct credit_user *u, const struct credit_gate *g, struct credit_hop *out)
{
	*out = (struct credit_hop){.epoch = u->epoch, .sequence = ++u->hop_sequence};
	if (!u->epoch)
		return;
	out->fctbs = credit_fctbs(u, g);
	if (!credit_user_has_statement(u, g))
		return;
	out->fence = u->fence_open;
	out->fctbs = __atomic_load_n(&g->fenced, __ATOMIC_RELAXED) - u->base;
	u->fence_open = 0;
}

bool credit_user_has_statement(const struct credit_user *u, const struct credit_gate *g)
{
	return u->fence_open && __atomic_load_n(&g->fence_taken, __ATOMIC_ACQUIRE) == u->fence_open;
}

bool credit_user_fence_due(const struct credit_user *u, const struct credit_gate *g, bool stalled, uint64_t interval_ns,
	uint64_t now)
{
	uint64_t fctbs = credit_fctbs(u, g);
	int64_t ahead = credit_ahead(fctbs, u->abr);

	if (u->state != CREDIT_OPEN || (u->fence_ns && now - u->fence_ns < interval_ns))
		return false;
	return ahead > 0 || (ahead < 0 && fctbs != u->fence_fctbs) || stalled;
}

void credit_user_fence(struct credit_user *u, struct credit_gate *g, uint64_t number, uint64_t now)
{
	u->fence_open = number;
	u->fence_ns = now;
	u->fence_fctbs = credit_fctbs(u, g);
	__atomic_store_n(&g->fence, number, __ATOMIC_RELEASE);
}

static bool is_short(const struct credit_user *u, const struct credit_gate *g, uint32_t mtu)
{
	return credit_ahead(u->fccl, credit_fctbs(u, g) + __atomic_load_n(&g->pending, __ATOMIC_RELAXED)) <
	       (int64_t)mtu;
}

enum credit_health credit_user_health(struct credit_user *u, const struct credit_gate *g, bool waiting, uint32_t mtu,
	uint64_t stall_ns, uint64_t now)
{
	if (u->state != CREDIT_OPEN || !waiting || !is_short(u, g, mtu)) {
		u->short_ns = 0;
		return CREDIT_FLOWING;
	}
	if (!u->short_ns)
		u->short_ns = now;
	return now - MAX_OF(u->short_ns, u->moved_ns) >= stall_ns ? CREDIT_STALLED : CREDIT_CONGESTED;
}

bool credit_user_ask_due(const struct credit_user *u, const struct credit_gate *g, uint64_t interval_ns, uint64_t now)
{
	uint64_t last = MAX_OF(u->heard_ns, u->asked_ns);

	if (u->state != CREDIT_OPEN || now - last < interval_ns)
		return false;
	return u->short_ns || credit_ahead(credit_fctbs(u, g), u->abr) > 0;
}

void credit_user_asked(struct credit_user *u, const struct credit_hop *hop, uint64_t now)
{
	if (!u->asked_ns || u->heard_ns >= u->asked_ns)
		u->since_ns = now;
	u->asked = hop->sequence;
	u->asked_ns = now;
}

bool credit_user_loop(struct credit_user *u, const struct credit_update *m, uint64_t now, uint64_t *loop_ns)
{
	if (!u->asked || !m->has_echo || m->echo != u->asked)
		return false;
	*loop_ns = now - u->asked_ns;
	u->asked = 0;
	return true;
}

bool credit_user_out_of_step(const struct credit_user *u, uint64_t hb_ns, uint64_t now)
{
	return u->state == CREDIT_OPEN && credit_ahead(u->asked_ns, u->heard_ns) > 0 && now - u->since_ns >= 3 * hb_ns;
}

uint32_t credit_user_want(const struct credit_user *u, uint32_t usable, uint64_t loop_ns, uint64_t now)
{
	return u->short_ns && now - u->short_ns >= loop_ns && u->buf_now < usable ? usable : 0;
}

bool credit_user_returns(const struct credit_user *u, const struct credit_gate *g, bool waiting, uint32_t floor,
	uint64_t after_ns, uint64_t now)
{
	return u->state == CREDIT_OPEN && !waiting && u->buf_now > floor && credit_user_idle(g, after_ns, now);
}
