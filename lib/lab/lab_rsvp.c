/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host that speaks RSVP for credit natively (docs/credit.md 2.3): it opens a session to the other end of each of its
 * flows, and lets sessions end at its own addresses. The messages are those of lib/rsvp; lab_rsvp_frame.c carries them. Data
 * that waits for credit is in lab_rsvp_data.c. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_rsvp.h"

#define RETURN_NS NSEC_PER_MSEC /* payload that has arrived is gone that time later */

static struct ip_addr first_of(const struct topo_host *h, uint8_t family)
{
	for (uint32_t i = 0; i < h->addresses.n; i++)
		if (h->addresses.items[i].addr.family == family)
			return h->addresses.items[i].addr;
	return (struct ip_addr){.family = 0};
}

static bool is_up(const struct lab_signal *s)
{
	return s->ext || s->letter;
}

/* --- messages --- */

static void poll_timers(void *arg)
{
	struct lab_signal *s = arg;

	if (is_up(s))
		signal_run_at(s, s->speech->poll(s));
}

bool signal_receive(struct lab_host *h, const struct line_frame *f)
{
	struct lab_signal *s = h->signal;
	struct ip_addr from;
	uint8_t hop_limit;
	size_t bytes;
	const uint8_t *at = s ? signal_message_in(f, &from, &hop_limit, &bytes) : NULL;

	if (!at || rsvp_read(s->speech->numbers, at, bytes, &s->in) != RSVP_ACCEPTED)
		return false;
	if (!is_up(s))
		return true;
	s->in.send_ttl = hop_limit;
	s->speech->receive(s, &from);
	poll_timers(s);
	return true;
}

void signal_data(struct lab_host *h, uint64_t family, uint32_t payload)
{
	struct lab_signal *s = h->signal;

	if (!s || !s->letter || s->gated)
		return;
	*(family == 4 ? &s->received4 : &s->received) += payload;
	if (s->next > h->lab->now + RETURN_NS)
		signal_run_at(s, h->lab->now + RETURN_NS);
}

/* --- sessions --- */

static void begin(void *arg)
{
	struct signal_session *x = arg;
	struct lab_signal *s = x->signal;

	if (!is_up(s) || s->over)
		return;
	x->begun = s->speech->begin(s, x);
	poll_timers(s);
}

/* One for each flow to another address or of another priority. */
static bool is_new(const struct lab_signal *s, const struct topo_flow *f, const struct ip_addr *to)
{
	for (uint32_t i = 0; i < s->sessions; i++)
		if (ip_addr_equal(&s->session[i].to, to) && s->session[i].flow->priority == f->priority)
			return false;
	return true;
}

static void add_session(struct lab_signal *s, const struct topo_flow *f)
{
	const struct topology *t = s->host->lab->topo;
	struct ip_addr to = {.family = 0};

	if (strcmp(f->from, s->host->topo->name) != 0 || (f->family == 4 && !s->speech->has_ipv4))
		return;
	for (uint32_t i = 0; i < t->hosts.n; i++)
		if (strcmp(t->hosts.items[i].name, f->to) == 0)
			to = first_of(&t->hosts.items[i], (uint8_t)f->family);
	if (!is_new(s, f, &to))
		return;
	s->session[s->sessions] =
		(struct signal_session){.flow = f, .to = to, .number = (uint16_t)s->sessions, .signal = s};
	s->sessions++;
}

static int add_sessions(struct lab_signal *s)
{
	const struct topology *t = s->host->lab->topo;

	s->session = calloc(t->flows.n + 1, sizeof(*s->session));
	if (!s->session)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->flows.n; i++)
		add_session(s, &t->flows.items[i]);
	for (uint32_t i = 0; i < s->sessions; i++) {
		struct signal_session *x = &s->session[i];

		event_init(&x->start, begin, x, "session", s->host->topo->name);
		if (timeline_set(&s->host->timeline, &x->start, x->flow->start_ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void end_sessions(void *arg)
{
	struct lab_signal *s = arg;

	if (s->over)
		return;
	s->over = true;
	s->state.granted = is_up(s) ? s->speech->granted(s) : 0;
	for (uint32_t i = 0; i < s->sessions; i++) {
		struct signal_session *x = &s->session[i];

		s->state.opened += x->begun != NULL;
		s->state.up += x->begun && s->speech->is_up(x->begun);
		timeline_clear(&s->host->timeline, &x->start);
		if (x->begun)
			s->speech->end(s, x->begun);
		x->begun = NULL;
	}
	poll_timers(s);
}

void signal_stop(struct lab_host *h)
{
	if (h->signal)
		end_sessions(h->signal);
}

/* --- restarts: the host forgets everything, without a word --- */

static int open_machine(struct lab_signal *s)
{
	return s->speech->open(s, (s->host->lab->seed * 1024 + s->host->index) * 1024 + s->incarnation++);
}

static void die(void *arg)
{
	struct lab_signal *s = arg;

	s->speech->close(s);
	signal_data_forget(s);
	signal_run_at(s, TIME_NEVER);
	for (uint32_t i = 0; i < s->sessions; i++)
		s->session[i].begun = NULL;
}

static void revive(void *arg)
{
	struct lab_signal *s = arg;

	if (open_machine(s) < 0)
		return; /* it stays down */
	for (uint32_t i = 0; i < s->sessions; i++)
		if (s->session[i].flow->start_ns <= s->host->lab->now)
			begin(&s->session[i]);
}

static int add_restarts(struct lab_signal *s)
{
	const struct topo_host *h = s->host->topo;
	int failed = 0;

	s->restarts = calloc(2 * (size_t)h->rsvp_restarts.n + 1, sizeof(*s->restarts));
	if (!s->restarts)
		return -ENOMEM;
	for (uint32_t i = 0; i < h->rsvp_restarts.n; i++) {
		const struct topo_stall *t = &h->rsvp_restarts.items[i];
		struct event *e = &s->restarts[2 * (size_t)i];

		event_init(&e[0], die, s, "restart", h->name);
		event_init(&e[1], revive, s, "restart", h->name);
		failed |= timeline_set(&s->host->timeline, &e[0], t->start_ns);
		failed |= timeline_set(&s->host->timeline, &e[1], t->start_ns + t->for_ns);
	}
	event_init(&s->stop, end_sessions, s, "sessions end", h->name);
	if (h->rsvp_end_ns != TIME_NEVER)
		failed |= timeline_set(&s->host->timeline, &s->stop, h->rsvp_end_ns);
	return failed ? -ENOMEM : 0;
}

int signal_init(struct lab_host *h)
{
	struct lab_signal *s;

	if (h->topo->rsvp == HOST_RSVP_OFF)
		return 0;
	s = h->signal = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->host = h;
	s->speech = h->topo->rsvp == HOST_RSVP_EXT ? &signal_ext : &signal_letter;
	s->own = first_of(h->topo, 6);
	s->own4 = first_of(h->topo, 4);
	s->tail = &s->head;
	s->next = TIME_NEVER;
	event_init(&s->timers, poll_timers, s, "rsvp", h->topo->name);
	return signal_data_init(s) < 0 || open_machine(s) < 0 || add_sessions(s) < 0 || add_restarts(s) < 0 ? -ENOMEM
													    : 0;
}

void signal_fini(struct lab_host *h)
{
	struct lab_signal *s = h->signal;

	if (!s)
		return;
	s->speech->close(s);
	signal_drop_frames(s);
	free(s->session);
	free(s->restarts);
	free(s->kept);
	free(s);
}

struct signal_state signal_state(const struct lab_host *h)
{
	const struct lab_signal *s = h->signal;
	struct signal_state state = s ? s->state : (struct signal_state){0};

	if (s && is_up(s))
		/* data that has just arrived is looked at soon, which is no timer of a session */
		state.left = s->speech->left(s) + (s->next != TIME_NEVER && s->next > h->lab->now + RETURN_NS);
	return state;
}
