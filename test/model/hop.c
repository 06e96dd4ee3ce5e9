/* SPDX-License-Identifier: BSD-3-Clause */
/* The model of one hop; see hop.h. The credit of both ends is lib/credit, every step calls it. */
#include "test/model/hop.h"

#include <string.h>

#define NOW (1u << 20)
#define LONG_AGO 1u
#define D_IDLE 1000u
#define T_STALL 1000u
#define MOST 100
#define LIH 1

/* An entry of the line. */
#define FENCE 0x80 /* its number in the low bits */
#define LIFE 0x0f  /* of data: the user's life that sent it */

struct up { /* 29 */
	uint8_t valid, commit, epoch, sequence, fccl, abr, buf, echo;
};

struct down { /* CBFC_HOP */
	uint8_t valid, bits, epoch, sequence, fctbs, fence, want, unused;
};
enum { FULL = 1, IDLE = 2, ASK = 4 };

struct hop {
	struct credit_user user;
	struct credit_gate gate;
	struct credit_grantor grantor;
	struct credit_intake intake;
	struct credit_sample samples[CREDIT_SAMPLES];
	struct credit_release release;
	struct up up[HOP_MESSAGES];
	struct down down[HOP_MESSAGES];
	uint8_t line[HOP_LINE]; /* oldest first; the last n_held are still in the device */
	uint8_t fence_epoch[HOP_LINE];
	uint8_t n_line, n_held;
	uint8_t at_gate;  /* CONTROL_SENT_AT_GATE: units that count as sent and wait for the neighbour */
	uint8_t ring;	  /* CONTROL_RING_BEHIND: units received and not counted */
	uint8_t sampling; /* CONTROL_LATE_SAMPLE: a fence has arrived and is not sampled */
	int8_t vanished;  /* units that are gone and not freed (CONTROL_KEPT_DROPS), minus those freed and not gone */
	/* the truth */
	uint8_t life;		/* of the user: one more with every epoch that it adopts */
	uint8_t alien;		/* units counted in the grantor's epoch that do not belong to its user's life */
	uint8_t missing, twice; /* units of this life that were lost, and that came twice */
	uint8_t fell;		/* units by which LOST fell in this epoch */
	uint8_t uncontrolled;	/* units forwarded that no session counts */
	/* what is used up */
	uint8_t sent, updates, markers, fences, lost, doubled, stops, user_restarts, grantor_restarts;
};
_Static_assert(sizeof(struct hop) % 8 == 0, "words");

static struct credit_totals totals(const struct hop *h)
{
	return (struct credit_totals){.freed = h->release.freed, .rcvd = h->intake.rcvd};
}

/* Units that are really queued at the grantor. */
static uint8_t queued(const struct hop *h)
{
	return (uint8_t)(h->intake.rcvd - h->release.freed - (uint64_t)h->vanished);
}

static bool same_epoch(const struct hop *h)
{
	return h->user.epoch && h->user.epoch == h->grantor.epoch && h->user.state == CREDIT_OPEN;
}

static void begin(void *state, const void *config)
{
	const struct hop_config *c = config;
	struct hop *h = state;
	struct credit_hop hello;
	struct credit_update m;

	credit_user_init(&h->user, &h->gate, LONG_AGO);
	credit_user_hello(&h->user, 0, &hello);
	h->grantor.floor = 1;
	credit_grantor_open(&h->grantor, &hello, 1, c->window, totals(h));
	h->intake.epoch = 1;
	h->intake.lih = LIH;
	credit_grantor_update(&h->grantor, totals(h), &m);
	m.commit = true;
	credit_user_hear(&h->user, &h->gate, &m, MOST, NOW);
	h->life = 1;
}

/* ---- messages ---- */

/* The two places of a direction in a fixed order: states that differ only in that are the same. */
static void sort_places(void *places, size_t size)
{
	uint8_t *first = places, swap[16];

	if (memcmp(first, first + size, size) >= 0)
		return;
	memcpy(swap, first, size);
	memcpy(first, first + size, size);
	memcpy(first + size, swap, size);
}

/* A free place for a message, or -1. */
static int up_place(const struct hop *h, const struct hop_config *c)
{
	for (int i = 0; i < c->messages; i++)
		if (!h->up[i].valid)
			return i;
	return -1;
}

static int down_place(const struct hop *h, const struct hop_config *c)
{
	for (int i = 0; i < c->messages; i++)
		if (!h->down[i].valid)
			return i;
	return -1;
}

/* The grantor says what it has; false: no room, or it has nothing new to say. */
static bool say(struct hop *h, const struct hop_config *c, bool commit)
{
	int i = up_place(h, c);
	struct credit_update m;
	uint64_t fccl = h->grantor.fccl, abr = h->grantor.abr;

	if (i < 0 || h->updates >= c->updates || !h->grantor.epoch)
		return false;
	credit_grantor_update(&h->grantor, totals(h), &m);
	h->updates++;
	h->up[i] = (struct up){.valid = 1,
		.commit = commit,
		.epoch = (uint8_t)m.epoch,
		.sequence = (uint8_t)m.sequence,
		.fccl = (uint8_t)m.fccl,
		.abr = (uint8_t)m.abr,
		.buf = (uint8_t)m.buf,
		.echo = (uint8_t)m.echo};
	if (c->control == CONTROL_DELTA && !commit)
		h->up[i].fccl = (uint8_t)(m.fccl - fccl), h->up[i].abr = (uint8_t)(m.abr - abr);
	sort_places(h->up, sizeof(struct up));
	return true;
}

static bool tell(struct hop *h, const struct hop_config *c, const struct credit_hop *m)
{
	int i = down_place(h, c);

	if (i < 0 || h->markers >= c->markers)
		return false;
	h->markers++;
	h->down[i] = (struct down){.valid = 1,
		.bits = (uint8_t)((m->full ? FULL : 0) | (m->idle ? IDLE : 0) | (m->ask ? ASK : 0)),
		.epoch = (uint8_t)m->epoch,
		.sequence = (uint8_t)m->sequence,
		.fctbs = (uint8_t)m->fctbs,
		.fence = (uint8_t)m->fence,
		.want = (uint8_t)m->want};
	sort_places(h->down, sizeof(struct down));
	return true;
}

/* ---- the user's end ---- */

/* A life ends: what it has on its way is of no epoch that the user sends in. */
static void new_life(struct hop *h)
{
	h->life++;
	h->missing = h->twice = 0;
}

static void ask_with_marker(struct hop *h, const struct hop_config *c)
{
	struct credit_hop m;

	if (down_place(h, c) < 0 || h->markers >= c->markers)
		return;
	credit_user_marker(&h->user, &h->gate, &m);
	m.ask = true;
	tell(h, c, &m);
}

static void hear_up(struct hop *h, const struct hop_config *c, struct up u)
{
	struct credit_update m = {.commit = u.commit,
		.has_echo = c->control != CONTROL_NO_ECHO,
		.epoch = u.epoch,
		.sequence = u.sequence,
		.fccl = u.fccl,
		.abr = u.abr,
		.buf = u.buf,
		.echo = u.echo};

	if (c->control == CONTROL_DELTA && !u.commit && m.epoch == h->user.epoch) {
		m.sequence = h->user.sequence + 1;
		m.fccl += h->user.fccl;
		m.abr += h->user.abr;
	}
	switch (credit_user_hear(&h->user, &h->gate, &m, MOST, NOW)) {
	case CREDIT_ADOPTED:
		new_life(h);
		break;
	case CREDIT_UNUSABLE:
		ask_with_marker(h, c);
		break;
	default:
		break;
	}
}

static bool may_pass(const struct hop *h, const struct hop_config *c)
{
	const struct credit_gate *g = &h->gate;

	if (h->sent + c->size > c->sent)
		return false;
	if (c->control == CONTROL_NOT_ZERO)
		return g->open && credit_ahead(g->limit, g->sent + g->pending) > 0;
	return credit_gate_passes(g, TIME_NEVER, NOW, c->size);
}

static void pass(struct hop *h, const struct hop_config *c)
{
	h->sent += c->size;
	credit_gate_pass(&h->gate, c->size);
	if (c->control != CONTROL_SENT_AT_GATE)
		return;
	credit_gate_taken(&h->gate, c->size, NOW);
	h->gate.given_ns = LONG_AGO; /* the device knows nothing of it */
	h->at_gate += c->size;
}

static void take_frame(struct hop *h, const struct hop_config *c)
{
	h->line[h->n_line] = h->life;
	h->fence_epoch[h->n_line++] = 0;
	h->n_held++;
	if (!c->holds)
		h->n_held = 0;
	if (c->control == CONTROL_SENT_AT_GATE)
		h->at_gate -= c->size;
	else
		credit_gate_taken(&h->gate, c->size, NOW);
}

static void send_fence(struct hop *h, const struct hop_config *c)
{
	uint8_t number = ++h->fences;

	credit_user_fence(&h->user, &h->gate, number, NOW);
	h->user.fence_ns = 0; /* T_fence has passed again */
	credit_gate_fence_taken(&h->gate, number);
	h->line[h->n_line] = FENCE | number;
	h->fence_epoch[h->n_line++] = (uint8_t)h->user.epoch;
	h->n_held += c->holds;
}

static bool fence_is_due(const struct hop *h, const struct hop_config *c)
{
	struct credit_user u = h->user;
	bool stalled;

	u.moved_ns = LONG_AGO;
	u.short_ns = LONG_AGO;
	stalled = credit_user_health(&u, &h->gate, true, c->size, T_STALL, NOW) == CREDIT_STALLED;
	return credit_user_fence_due(&u, &h->gate, stalled, 0, NOW);
}

/* D_idle has passed for both ends: nothing is on the way, or held by the device as far as D_idle counts that. */
static bool quiet_is_possible(const struct hop *h, const struct hop_config *c)
{
	unsigned int held = c->control == CONTROL_NO_HOLD ? h->n_held : 0;

	for (int i = 0; i < HOP_MESSAGES && !c->late; i++)
		if (h->up[i].valid || h->down[i].valid)
			return false;
	return h->n_line == held || c->control == CONTROL_NO_QUARANTINE || c->control == CONTROL_IDLE_ANY_TIME;
}

static void quiet(struct hop *h)
{
	h->gate.given_ns = LONG_AGO;
	credit_grantor_watch(&h->grantor, totals(h), NOW);
	h->grantor.quiet_ns = LONG_AGO;
}

static void hello(struct hop *h, const struct hop_config *c)
{
	struct credit_hop m;

	credit_user_hello(&h->user, 0, &m);
	tell(h, c, &m);
}

static void restart_user(struct hop *h)
{
	credit_user_init(&h->user, &h->gate, NOW);
	h->n_line -= h->n_held; /* what the device held is gone */
	h->n_held = h->at_gate = 0;
	h->alien = (uint8_t)credit_rcvd(&h->grantor, totals(h));
	h->user_restarts++;
	new_life(h);
}

/* ---- the grantor's end ---- */

static void begun(struct hop *h)
{
	h->intake.epoch = h->grantor.epoch;
	h->alien = h->fell = 0;
}

static uint32_t random_epoch(const struct hop *h)
{
	return 16u * (1u + h->grantor_restarts);
}

static void lost_changed(struct hop *h, const struct hop_config *c, int64_t before)
{
	if (c->control == CONTROL_UNSIGNED && h->grantor.lost < before)
		h->grantor.lost = before;
	if (h->grantor.lost < before)
		h->fell += (uint8_t)(before - h->grantor.lost);
}

static void hear_down(struct hop *h, const struct hop_config *c, struct down d)
{
	struct credit_hop m = {.full = d.bits & FULL,
		.idle = d.bits & IDLE,
		.ask = d.bits & ASK,
		.epoch = d.epoch,
		.sequence = d.sequence,
		.fctbs = d.fctbs,
		.fence = d.fence,
		.want = d.want};
	struct credit_totals t = totals(h);
	uint8_t backlog = queued(h);
	int64_t lost = h->grantor.lost;
	unsigned int bits;

	if (!h->grantor.epoch) {
		if (!m.full)
			return;
		h->grantor.floor = 1;
		credit_grantor_open(&h->grantor, &m, random_epoch(h), c->window, totals(h));
		bits = CREDIT_OPENED | CREDIT_COMMIT;
	} else {
		if (c->control == CONTROL_NO_BACKLOG && m.full)
			t.freed = t.rcvd;
		bits = credit_grantor_hear(&h->grantor, &m, t, h->samples, D_IDLE, NOW);
	}
	if (bits & CREDIT_OPENED) {
		begun(h);
		h->vanished -= t.freed == h->release.freed ? 0 : (int8_t)backlog;
		h->release.freed = t.freed;
		if (c->control == CONTROL_FLOOR_ON_TOP)
			h->grantor.fccl = MAX_OF(h->grantor.fccl, h->grantor.floor);
	}
	if (!(bits & CREDIT_OPENED))
		lost_changed(h, c, lost);
	if (bits & CREDIT_COMMIT)
		say(h, c, true);
}

static void count(struct hop *h, const struct hop_config *c, uint8_t life)
{
	if (!h->grantor.epoch) {
		h->uncontrolled += c->control == CONTROL_FORWARD_ALL ? c->size : 0;
		return;
	}
	credit_intake_count(&h->intake, c->size);
	if (life != h->life || !same_epoch(h))
		h->alien += c->size;
}

static void sample(struct hop *h, const struct hop_config *c, uint8_t number, uint8_t epoch)
{
	int64_t lost = h->grantor.lost;

	if (credit_intake_fence(&h->intake, h->samples, number, epoch, LIH))
		credit_grantor_sampled(&h->grantor, h->samples);
	lost_changed(h, c, lost);
}

static void remove_entry(struct hop *h, unsigned int i)
{
	memmove(&h->line[i], &h->line[i + 1], (size_t)(h->n_line - i - 1));
	memmove(&h->fence_epoch[i], &h->fence_epoch[i + 1], (size_t)(h->n_line - i - 1));
	h->n_line--;
	h->line[h->n_line] = h->fence_epoch[h->n_line] = 0;
}

static void arrive(struct hop *h, const struct hop_config *c, unsigned int i)
{
	uint8_t entry = h->line[i], epoch = h->fence_epoch[i];

	remove_entry(h, i);
	if (!(entry & FENCE) && c->control == CONTROL_RING_BEHIND)
		h->ring += c->size;
	else if (!(entry & FENCE))
		count(h, c, entry);
	else if (c->control == CONTROL_LATE_SAMPLE)
		h->sampling = entry;
	else
		sample(h, c, entry & LIFE, epoch);
}

static void restart_grantor(struct hop *h)
{
	memset(&h->grantor, 0, sizeof(h->grantor));
	memset(&h->intake, 0, sizeof(h->intake));
	memset(h->samples, 0, sizeof(h->samples));
	memset(&h->release, 0, sizeof(h->release));
	h->intake.lih = LIH;
	h->alien = h->ring = h->sampling = h->vanished = 0;
	h->grantor_restarts++;
}

static void commit_by_itself(struct hop *h, const struct hop_config *c)
{
	h->grantor.floor = 1;
	credit_grantor_open(&h->grantor, NULL, random_epoch(h), c->window, totals(h));
	begun(h);
	say(h, c, true);
}

/* ---- steps ---- */

static void user_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	struct hop n = *h;

	if (may_pass(h, c) && h->n_line + h->gate.pending / c->size + h->at_gate / c->size < c->line) {
		pass(&n, c);
		if (!c->pends && c->control != CONTROL_SENT_AT_GATE)
			take_frame(&n, c);
		explore_step(x, &n, "the user sends a packet", -1);
		n = *h;
	}
	if ((h->gate.pending || h->at_gate) && h->n_line < c->line) {
		take_frame(&n, c);
		explore_step(x, &n, "the device takes a frame", -1);
		n = *h;
	}
	if (h->gate.pending) {
		n.sent -= c->size;
		credit_gate_refused(&n.gate, c->size);
		explore_step(x, &n, "the device refuses a frame", -1);
		n = *h;
	}
	if (h->n_held) {
		n.n_held--;
		explore_step(x, &n, "a frame leaves the device", -1);
		n = *h;
	}
	if (h->fences < c->fences && h->n_line < c->line && !h->user.fence_open && fence_is_due(h, c)) {
		send_fence(&n, c);
		explore_step(x, &n, "the user sends a fence", -1);
	}
}

static void marker_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	struct hop n = *h;
	struct credit_hop m;

	if (down_place(h, c) < 0 || h->markers >= c->markers)
		return;
	if (credit_user_has_statement(&h->user, &h->gate)) {
		credit_user_marker(&n.user, &n.gate, &m);
		m.ask = true;
		tell(&n, c, &m);
		explore_step(x, &n, "the user states what was in front of fence", (int)m.fence);
		n = *h;
	}
	if (c->idles && h->user.state == CREDIT_OPEN && !h->user.fence_open && credit_fctbs(&h->user, &h->gate) &&
		(credit_user_idle(&h->gate, D_IDLE, NOW) || c->control == CONTROL_IDLE_ANY_TIME)) {
		credit_user_marker(&n.user, &n.gate, &m);
		m.idle = true;
		tell(&n, c, &m);
		explore_step(x, &n, "the user says IDLE, FCTBS", (int)m.fctbs);
		n = *h;
	}
	if (h->user.state == CREDIT_ASKED ||
		(h->user.state == CREDIT_RESYNC &&
			(credit_user_idle(&h->gate, D_IDLE, NOW) ||
				(c->control == CONTROL_NO_QUARANTINE && !h->gate.pending)))) {
		hello(&n, c);
		explore_step(x, &n, "the user asks for a new epoch", -1);
	}
}

static void line_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	for (unsigned int i = 0; i < (unsigned int)(h->n_line - h->n_held) && (c->reorders || i < 1); i++) {
		struct hop n = *h;
		uint8_t mine = h->line[i] == h->life;

		arrive(&n, c, i);
		explore_step(x, &n, h->line[i] & FENCE ? "the fence arrives" : "data arrives", -1);
		n = *h;
		if (h->line[i] & FENCE || h->lost < c->lost) {
			remove_entry(&n, i);
			n.lost += !(h->line[i] & FENCE);
			n.missing += mine * c->size;
			explore_step(x, &n, h->line[i] & FENCE ? "the fence is lost" : "data is lost", -1);
			n = *h;
		}
		if (!(h->line[i] & FENCE) && h->doubled < c->doubled) {
			arrive(&n, c, i);
			n.doubled++;
			n.twice += mine * c->size;
			if (c->control == CONTROL_RING_BEHIND)
				n.ring += c->size;
			else
				count(&n, c, h->line[i]);
			explore_step(x, &n, "data arrives twice", -1);
		}
	}
}

static void grantor_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	struct hop n = *h;
	struct credit_update now;

	if (queued(h)) {
		credit_release_count(&n.release, c->size);
		explore_step(x, &n, "the grantor forwards a packet", -1);
		n = *h;
	}
	if (queued(h) && c->control == CONTROL_KEPT_DROPS && !h->vanished) {
		n.vanished += c->size;
		explore_step(x, &n, "the grantor drops a packet", -1);
		n = *h;
	}
	if (h->ring) {
		n.ring -= c->size;
		count(&n, c, h->life);
		explore_step(x, &n, "the ring is read", -1);
		n = *h;
	}
	if (h->sampling) {
		n.sampling = 0;
		sample(&n, c, h->sampling & LIFE, (uint8_t)h->grantor.epoch);
		explore_step(x, &n, "the fence is sampled", -1);
		n = *h;
	}
	credit_grantor_update(&n.grantor, totals(h), &now);
	if (h->grantor.epoch && (now.fccl != h->grantor.fccl || now.abr != h->grantor.abr)) {
		n = *h;
		if (say(&n, c, false))
			explore_step(x, &n, "the grantor sends FCCL", (int)now.fccl);
	}
}

static void message_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	for (int i = 0; i < c->messages; i++) {
		struct hop n = *h;

		if (h->up[i].valid) {
			hear_up(&n, c, h->up[i]);
			explore_step(x, &n, "the user receives a copy of 29", h->up[i].sequence);
			n = *h;
			n.up[i] = (struct up){0};
			sort_places(n.up, sizeof(struct up));
			explore_step(x, &n, "a message is lost: 29", h->up[i].sequence);
			hear_up(&n, c, h->up[i]);
			explore_step(x, &n, "the user receives 29", h->up[i].sequence);
			n = *h;
		}
		if (h->down[i].valid) {
			hear_down(&n, c, h->down[i]);
			explore_step(x, &n, "the grantor receives a copy of CBFC_HOP", h->down[i].sequence);
			n = *h;
			n.down[i] = (struct down){0};
			sort_places(n.down, sizeof(struct down));
			explore_step(x, &n, "a message is lost: CBFC_HOP", h->down[i].sequence);
			hear_down(&n, c, h->down[i]);
			explore_step(x, &n, "the grantor receives CBFC_HOP", h->down[i].sequence);
		}
	}
}

static void fault_steps(struct explorer *x, const struct hop *h, const struct hop_config *c)
{
	struct hop n = *h;

	if (quiet_is_possible(h, c)) {
		quiet(&n);
		explore_step(x, &n, "D_idle passes", -1);
		n = *h;
	}
	if (h->stops < c->stops && h->user.state == CREDIT_OPEN) {
		n.stops++;
		credit_user_stop(&n.user, &n.gate);
		explore_step(x, &n, "the user begins RESYNC", -1);
		n = *h;
	}
	if (h->user_restarts < c->user_restarts) {
		restart_user(&n);
		explore_step(x, &n, "the user restarts", -1);
		n = *h;
	}
	if (h->grantor_restarts < c->grantor_restarts) {
		restart_grantor(&n);
		explore_step(x, &n, "the grantor restarts", -1);
		n = *h;
	}
	if (!h->grantor.epoch) {
		commit_by_itself(&n, c);
		explore_step(x, &n, "the grantor commits by itself", -1);
	}
}

static void next(struct explorer *x, const void *state, const void *config)
{
	const struct hop *h = state;
	const struct hop_config *c = config;

	user_steps(x, h, c);
	marker_steps(x, h, c);
	line_steps(x, h, c);
	grantor_steps(x, h, c);
	message_steps(x, h, c);
	fault_steps(x, h, c);
}

/* ---- promises (docs/credit.md 2.13) ---- */

static bool is_sought(const struct hop_config *c, const char *promise)
{
	return !c->sought || !strncmp(c->sought, promise, 3);
}

static const char *broken_in_epoch(const struct hop *h, const struct hop_config *c)
{
	int64_t sum = credit_freed(&h->grantor, totals(h)) + h->grantor.lost + h->grantor.buf;
	uint64_t fctbs = credit_fctbs(&h->user, &h->gate), here = credit_rcvd(&h->grantor, totals(h)) + h->ring;
	uint64_t moving = h->at_gate;

	if (is_sought(c, "I10") && h->alien)
		return "I10: data of another epoch is counted in an epoch in which the user sends";
	for (unsigned int i = 0; i < h->n_line; i++)
		moving += h->line[i] == h->life ? c->size : 0;
	if (is_sought(c, "I11") && fctbs + h->twice != here + moving + h->missing)
		return "I11: a unit is neither in flight nor received nor lost, or two of these";
	if (is_sought(c, "I2:") &&
		credit_ahead(h->user.fccl, (uint64_t)sum) > (c->late ? h->fell : h->doubled) * c->size)
		return "I2: the user believes more than FREED + LOST + BUF";
	return NULL;
}

static const char *broken(const void *from, const void *to, const void *config)
{
	const struct hop *f = from, *h = to;
	const struct hop_config *c = config;
	const struct credit_grantor *g = &h->grantor;

	if (is_sought(c, "I3:") &&
		(uint64_t)queued(h) + h->ring > (uint64_t)c->window + (uint64_t)(h->doubled * c->size))
		return "I3: more is queued than was reserved";
	if (is_sought(c, "I3:") && h->uncontrolled)
		return "I3: data goes on that no session counts, and overruns the next hop";
	if (is_sought(c, "I1:") && h->gate.open && credit_ahead(h->gate.limit, h->gate.sent + h->gate.pending) < 0)
		return "I1: more was sent than FCCL permits";
	if (is_sought(c, "I6:") && f->grantor.epoch == g->epoch && g->epoch &&
		(credit_ahead(g->fccl, f->grantor.fccl) < 0 || credit_ahead(g->abr, f->grantor.abr) < 0))
		return "I6: a counter on the wire falls";
	if (is_sought(c, "I6:") && f->user.epoch == h->user.epoch && h->user.state == CREDIT_OPEN &&
		f->user.state == CREDIT_OPEN && f->life == h->life &&
		(credit_ahead(h->user.fccl, f->user.fccl) < 0 || credit_ahead(h->gate.sent, f->gate.sent) < 0))
		return "I6: a counter of the user falls";
	return same_epoch(h) ? broken_in_epoch(h, c) : NULL;
}

/* ---- I7: if faults end, the hop heals ---- */

/* All data and all messages arrive, in order; what is queued leaves. */
static void drain(struct hop *h, const struct hop_config *c)
{
	h->n_held = 0;
	while (h->n_line || h->gate.pending || h->at_gate) {
		if (h->n_line)
			arrive(h, c, 0);
		else
			take_frame(h, c);
		h->n_held = 0;
	}
	while (h->ring) {
		h->ring -= c->size;
		count(h, c, h->life);
	}
	if (h->sampling)
		sample(h, c, h->sampling & LIFE, (uint8_t)h->grantor.epoch);
	h->sampling = 0;
	while (queued(h))
		credit_release_count(&h->release, c->size);
}

static void deliver(struct hop *h, const struct hop_config *c)
{
	for (int i = 0; i < HOP_MESSAGES; i++) {
		struct down d = h->down[i];

		h->down[i] = (struct down){0};
		if (d.valid)
			hear_down(h, c, d);
	}
	for (int i = 0; i < HOP_MESSAGES; i++) {
		struct up u = h->up[i];

		h->up[i] = (struct up){0};
		if (u.valid)
			hear_up(h, c, u);
	}
}

static void tick(struct hop *h, const struct hop_config *c)
{
	const struct credit_pace pace = {.batch = c->window, .mtu = c->size, .tick = true};

	if (credit_grantor_due(&h->grantor, totals(h), pace))
		say(h, c, false);
	deliver(h, c);
}

/* What the rules of 2.6 and 2.11 do next. */
static void heal(struct hop *h, const struct hop_config *c)
{
	struct credit_hop m;

	if (!h->grantor.epoch)
		commit_by_itself(h, c);
	deliver(h, c);
	h->user.heard_ns = LONG_AGO; /* if no 29 of its epoch comes now, the session is out of step */
	deliver(h, c);
	say(h, c, false);
	deliver(h, c);
	h->user.asked_ns = NOW - D_IDLE;
	if (credit_user_out_of_step(&h->user, D_IDLE, NOW))
		credit_user_stop(&h->user, &h->gate);
	if (h->user.state == CREDIT_RESYNC || h->user.state == CREDIT_ASKED) {
		quiet(h);
		hello(h, c);
	} else if (c->fences && fence_is_due(h, c)) {
		send_fence(h, c);
		if (c->control == CONTROL_LATE_SAMPLE && may_pass(h, c)) {
			pass(h, c); /* data behind the fence is counted before it is sampled */
			take_frame(h, c);
		}
		drain(h, c);
	}
	if (credit_user_has_statement(&h->user, &h->gate)) {
		ask_with_marker(h, c);
	} else if (c->idles && h->user.state == CREDIT_OPEN) {
		quiet(h);
		credit_user_marker(&h->user, &h->gate, &m);
		m.idle = true;
		tell(h, c, &m);
	}
	deliver(h, c);
	tick(h, c);
}

static const char *stuck(void *state, const void *config)
{
	struct hop *h = state;
	struct hop_config c = *(const struct hop_config *)config;

	if (!is_sought(&c, "I7:"))
		return NULL;
	c.sent = c.updates = c.markers = 250;
	c.messages = HOP_MESSAGES;
	for (int round = 0; round < 8; round++) {
		while (round < 6 && h->n_line < c.line && may_pass(h, &c)) {
			pass(h, &c);
			if (c.control != CONTROL_SENT_AT_GATE)
				take_frame(h, &c);
		}
		drain(h, &c);
		heal(h, &c);
	}
	if (!same_epoch(h))
		return "I7: the two ends do not agree on an epoch";
	if (credit_fctbs(&h->user, &h->gate) != credit_rcvd(&h->grantor, totals(h)) + (uint64_t)h->grantor.lost)
		return "I7: LOST does not become right";
	if (h->gate.limit - h->gate.sent != h->grantor.buf)
		return "I7: the window does not come back";
	return NULL;
}

const struct model hop_model = {.size = sizeof(struct hop),
	.init = begin,
	.next = next,
	.broken = broken,
	.stuck = stuck};
