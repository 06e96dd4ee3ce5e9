/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transmit side of a host's port: its queues, and the time of its next attempt to send. lab_host.c selects the next
 * frame. The lab is single-threaded.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/host_priv.h"

#define CONTROL_MOST 65536 /* most queued control frames of a port */

void host_send(struct host_port *p, const void *bytes, uint32_t captured, uint32_t length)
{
	struct lab_host *h = p->host;

	h->stats.sent++;
	h->stats.sent_bytes += length;
	if (h->lab->capture || h->lab->messages)
		lab_captured(h->lab, &p->way->link->end[p->way->from].place, true, bytes, captured, length);
	lab_way_send(p->way, bytes, captured, length);
}

void host_run_at(struct host_port *p, uint64_t at)
{
	timeline_set_by(&p->host->timeline, &p->tx, MAX_OF(MAX_OF(at, line_free_at(p->way->line)), p->host->lab->now));
}

/* A new frame at the end; NULL: no room, like a lost frame, which every protocol here tolerates. */
static struct host_control *push(struct host_fifo *f)
{
	if (f->n == f->room) {
		uint32_t room = f->room ? f->room * 2 : 64;
		struct host_control *ring = room <= CONTROL_MOST ? calloc(room, sizeof(*ring)) : NULL;

		if (!ring)
			return NULL;
		for (uint32_t i = 0; i < f->n; i++)
			ring[i] = f->item[(f->head + i) % f->room];
		free(f->item);
		*f = (struct host_fifo){.item = ring, .n = f->n, .room = room};
	}
	return &f->item[(f->head + f->n++) % f->room];
}

static void queue(struct host_port *p, struct host_fifo *f, const void *bytes, uint16_t size)
{
	struct host_control *c = push(f);

	if (!c)
		return;
	c->size = size;
	memcpy(c->bytes, bytes, MIN_OF(size, sizeof(c->bytes)));
	host_run_at(p, p->host->lab->now);
}

bool host_fifo_pop(struct host_fifo *f, struct host_control *out)
{
	if (!f->n)
		return false;
	*out = f->item[f->head];
	f->n--;
	f->head = f->n ? (f->head + 1) % f->room : 0; /* an empty ring starts over, so that it stays in the cache */
	return true;
}

void host_queue_control(struct host_port *p, const void *bytes, uint16_t size)
{
	queue(p, &p->control, bytes, size);
}

void host_queue_reply(struct host_port *p, unsigned int priority, const void *bytes, uint16_t size)
{
	queue(p, &p->reply[priority], bytes, size);
}

void host_queue_urgent(struct host_port *p, const void *bytes, uint16_t size)
{
	struct host_fifo *f = &p->control;

	queue(p, f, bytes, size);
	if (f->n > 1) {
		struct host_control c = f->item[(f->head + f->n - 1) % f->room];

		f->head = (f->head + f->room - 1) % f->room;
		f->item[f->head] = c;
	}
}

/* The home port of the queue pair, or the other port while the home port has no link. */
static uint16_t port_of(const struct lab_qp *q)
{
	const struct lab_host *h = q->from;
	uint16_t home = h->n_ports > 1 ? q->number % h->n_ports : 0;

	return h->port[home].up || h->n_ports == 1 || !h->port[!home].up ? home : !home;
}

void host_ready(struct lab_qp *q)
{
	struct host_port *p;
	unsigned int priority = (unsigned int)q->flow->priority;

	if (q->ready)
		return;
	q->port = port_of(q);
	p = &q->from->port[q->port];
	q->ready = true;
	q->next_ready = NULL;
	if (p->ready[priority].head)
		p->ready[priority].tail->next_ready = q;
	else
		p->ready[priority].head = q;
	p->ready[priority].tail = q;
	host_run_at(p, q->lab->now);
}
