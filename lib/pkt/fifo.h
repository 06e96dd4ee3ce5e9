/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue of packets, linked through their private areas. The code that appends limits its length. One lcore owns it.
 */
#ifndef PKT_FIFO_H
#define PKT_FIFO_H

#include "pkt/pkt.h"

/* All zero is an empty queue. */
struct fifo {
	struct rte_mbuf *head, *tail;
	uint32_t n;
};

static inline void fifo_push(struct fifo *f, struct rte_mbuf *m)
{
	pkt_of(m)->next = NULL;
	if (f->n++)
		pkt_of(f->tail)->next = m;
	else
		f->head = m;
	f->tail = m;
}

/* Append n packets that are already linked: each one except the last has the next one in its private area. */
static inline void fifo_append(struct fifo *f, struct rte_mbuf *first, struct rte_mbuf *last, uint32_t n)
{
	uint32_t before = f->n;
	struct rte_mbuf **end = before ? &pkt_of(f->tail)->next : &f->head;

	pkt_of(last)->next = NULL;
	*end = first;
	f->tail = last;
	f->n = before + n;
}

/* Return a packet to the front. It becomes the oldest packet again. */
static inline void fifo_push_front(struct fifo *f, struct rte_mbuf *m)
{
	pkt_of(m)->next = f->head;
	if (!f->n++)
		f->tail = m;
	f->head = m;
}

/* Move all packets of a queue to the front of another one. */
static inline void fifo_move_front(struct fifo *to, struct fifo *from)
{
	if (!from->n)
		return;
	pkt_of(from->tail)->next = to->n ? to->head : NULL;
	if (!to->n)
		to->tail = from->tail;
	to->head = from->head;
	to->n += from->n;
	*from = (struct fifo){0};
}

/* Remove a packet from anywhere: `before` is the one before it, NULL if it is the oldest. */
static inline void fifo_remove(struct fifo *f, struct rte_mbuf *before, struct rte_mbuf *m)
{
	if (before)
		pkt_of(before)->next = pkt_of(m)->next;
	else
		f->head = pkt_of(m)->next;
	if (f->tail == m)
		f->tail = before;
	f->n--;
}

/* The oldest packet; the queue must not be empty. */
static inline struct rte_mbuf *fifo_pop(struct fifo *f)
{
	struct rte_mbuf *m = f->head;

	f->head = pkt_of(m)->next;
	f->n--;
	return m;
}

#endif
