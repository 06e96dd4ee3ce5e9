/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of a host that obeys its sessions (rsvp-data: gated): what it sends waits for credit, and what it has received frees
 * credit when it has left the receive buffer. The machines say how credit is counted: lab_rsvp_ext.c in units, lab_rsvp_letter.c in
 * bytes. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_rsvp.h"

#define TICK_NS (NSEC_PER_MSEC / 4) /* while data is in the receive buffer, or packets wait for credit */
#define REST_NS (4 * NSEC_PER_MSEC)

/* A packet in the receive buffer. */
struct signal_kept {
	uint32_t bytes, credit, who;
};

static bool is_gated(const struct lab_host *h)
{
	return h->signal && h->signal->gated;
}

static struct signal_session *session_of(const struct lab_signal *s, const struct topo_flow *flow)
{
	for (uint32_t i = 0; i < s->sessions; i++)
		if (s->session[i].flow == flow ||
			(!strcmp(s->session[i].flow->to, flow->to) && s->session[i].flow->priority == flow->priority &&
				s->session[i].flow->family == flow->family))
			return &s->session[i];
	return NULL;
}

uint16_t signal_port(const struct lab_signal *s, uint16_t number)
{
	uint32_t host = s->gated ? s->host->index * SIGNAL_PORTS : 0;

	return (uint16_t)(SIGNAL_FIRST_PORT + (host + number) % 0x4000);
}

uint16_t signal_source(const struct lab_host *h, const struct topo_flow *flow)
{
	const struct signal_session *x = is_gated(h) ? session_of(h->signal, flow) : NULL;

	return x ? signal_port(h->signal, x->number) : 0;
}

/* The timers of the machines run then. */
void signal_run_at(struct lab_signal *s, uint64_t at)
{
	s->next = at;
	if (at == TIME_NEVER)
		timeline_clear(&s->host->timeline, &s->timers);
	else
		timeline_set(&s->host->timeline, &s->timers, MAX_OF(at, s->host->lab->now));
}

/* --- to send --- */

bool signal_may_send(const struct lab_qp *q, uint32_t bytes)
{
	struct lab_signal *s = q->from->signal;
	struct signal_session *x = is_gated(q->from) ? session_of(s, q->flow) : NULL;

	if (!x || q->flow->overruns)
		return true;
	x->waits = !x->begun || !(s->ext || s->letter) || !s->speech->may_send(s, x, bytes);
	if (x->waits && s->tick_ns > s->host->lab->now + TICK_NS)
		signal_tick_at(s, s->host->lab->now + TICK_NS);
	return !x->waits;
}

void signal_sent(const struct lab_qp *q, uint32_t bytes)
{
	struct lab_signal *s = q->from->signal;
	struct signal_session *x = is_gated(q->from) ? session_of(s, q->flow) : NULL;

	if (x && x->begun && (s->ext || s->letter))
		s->speech->sent(s, x, bytes);
}

void signal_go_on(struct lab_signal *s, struct signal_session *x)
{
	struct lab *lab = s->host->lab;

	if (!x->waits)
		return;
	x->waits = false;
	for (uint32_t i = 0; i < lab->n_qps; i++)
		if (lab->qp[i]->from == s->host && session_of(s, lab->qp[i]->flow) == x)
			host_ready(lab->qp[i]);
}

/* --- what was received --- */

static bool keep(struct lab_signal *s, struct signal_kept kept)
{
	if (s->kept_n == s->kept_room) {
		uint32_t room = MAX_OF(2 * s->kept_room, 1024u);
		struct signal_kept *k = malloc(room * sizeof(*k));

		if (!k)
			return false;
		for (uint32_t i = 0; i < s->kept_n; i++)
			k[i] = s->kept[(s->kept_first + i) % s->kept_room];
		free(s->kept);
		s->kept = k;
		s->kept_room = room;
		s->kept_first = 0;
	}
	s->kept[(s->kept_first + s->kept_n++) % s->kept_room] = kept;
	s->kept_bytes += kept.bytes;
	return true;
}

void signal_arrived(struct lab_host *h, uint64_t priority, uint64_t family, uint32_t bytes, uint32_t buffered)
{
	struct lab_signal *s = h->signal;
	struct signal_kept kept = {.bytes = buffered};

	if (!is_gated(h) || !(s->ext || s->letter) ||
		!s->speech->arrived(s, (uint8_t)priority, (uint8_t)family, bytes, &kept.who, &kept.credit))
		return;
	if (!keep(s, kept))
		s->speech->freed(s, kept.who, kept.credit);
	if (s->tick_ns > h->lab->now + TICK_NS)
		signal_tick_at(s, h->lab->now + TICK_NS);
}

/* What has left the receive buffer is free again, in the order of arrival. */
static void free_drained(struct lab_signal *s)
{
	double left = host_buffered(s->host);

	while (s->kept_n && (double)s->kept_bytes - (double)s->kept[s->kept_first].bytes + 1 > left) {
		struct signal_kept k = s->kept[s->kept_first];

		s->kept_first = (s->kept_first + 1) % s->kept_room;
		s->kept_n--;
		s->kept_bytes -= k.bytes;
		s->speech->freed(s, k.who, k.credit);
	}
}

static void tick(void *arg)
{
	struct lab_signal *s = arg;
	bool waits = false;

	s->tick_ns = TIME_NEVER;
	if (!s->ext && !s->letter)
		return;
	free_drained(s);
	s->speech->tick(s);
	for (uint32_t i = 0; i < s->sessions; i++)
		waits |= s->session[i].waits;
	if (!s->over)
		signal_tick_at(s, s->host->lab->now + (s->kept_n || waits ? TICK_NS : REST_NS));
}

void signal_tick_at(struct lab_signal *s, uint64_t at)
{
	s->tick_ns = at;
	timeline_set(&s->host->timeline, &s->tick, at);
}

int signal_data_init(struct lab_signal *s)
{
	s->gated = s->host->topo->rsvp_data == HOST_RSVP_GATED;
	event_init(&s->tick, tick, s, "credit", s->host->topo->name);
	s->tick_ns = TIME_NEVER;
	if (s->gated)
		signal_tick_at(s, REST_NS);
	return 0;
}

/* The host forgets everything, but not what is in its receive buffer: it is of nobody's credit any more. */
void signal_data_forget(struct lab_signal *s)
{
	s->kept_n = 0;
	s->kept_bytes = 0;
}
