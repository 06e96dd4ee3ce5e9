/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames that wait for the CPU between the receive ring of a device and classification. Rx lcores. */
#include "node/service.h"

static void backlog_publish(struct backlog *b)
{
	__atomic_store_n(&b->waits, b->lossless.n + b->credited.n + b->lossy.n, __ATOMIC_RELAXED);
}

/* Whoever sends more than was granted gets no more than the pool. */
static bool backlog_is_credited(const struct rx_role *rx, const struct backlog *b, const struct rte_mbuf *m)
{
	const struct node *n = rx->node;

	if (b->credited_buffers + m->nb_segs > rx->classifier.s->port[m->port].credited)
		return false;
	for (uint16_t i = 0; i < n->n_rx_hooks; i++)
		if (n->rx_hooks[i]->granted && n->rx_hooks[i]->granted(rx, m))
			return true;
	return false;
}

/* Append a frame to the backlog of its class, or drop it. */
static void backlog_append(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf *m, uint8_t class)
{
	const struct node *n = rx->node;
	uint16_t port = m->port;

	pkt_of(m)->priority = class;
	if (backlog_is_credited(rx, &q->backlog, m)) {
		q->backlog.credited_buffers += m->nb_segs;
		fifo_push(&q->backlog.credited, m);
		return;
	}
	if (!(rx->classifier.s->port[port].lossless >> class & 1)) {
		if (q->backlog.lossy.n >= LIMIT_BACKLOG_LOSSY)
			pkt_end(m, DROP_rx_overload, &rx->lcore->stats);
		else
			fifo_push(&q->backlog.lossy, m);
		return;
	}
	if (__atomic_load_n(&n->exhausted[port], __ATOMIC_RELAXED) >> class & 1) {
		pkt_end(m, DROP_headroom_exceeded, &rx->lcore->stats);
		return;
	}
	account_charge(&rx->waiting[port][class], m->pkt_len, m->nb_segs);
	fifo_push(&q->backlog.lossless, m);
}

/* Frames of one burst: those that must not wait are put aside. */
static unsigned int backlog_sort(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **pkts, unsigned int n,
	struct rte_mbuf **first, unsigned int n_first)
{
	struct port_stats *stats = &rx->lcore->stats.port[q->port->index];
	const struct snap_interface *in = &rx->classifier.s->port[q->port->index];
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], const uint8_t *));
	pkt_poison_burst(pkts, n);
	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		uint8_t class = classify_class(in, m);

		m->port = q->port->index;
		bytes += m->pkt_len;
		if (class != PKT_CLASS_CONTROL)
			backlog_append(rx, q, m, class);
		else if (n_first < LIMIT_BURST)
			first[n_first++] = m;
		else
			backlog_append(rx, q, m, 0);
	}
	stat_add(&stats->rx_packets, n);
	stat_add(&stats->rx_bytes, bytes);
	return n_first;
}

unsigned int backlog_fill(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **first, unsigned int *n_first)
{
	struct rte_mbuf *pkts[LIMIT_BURST];
	unsigned int taken = 0;
	uint16_t n;

	*n_first = 0;
	do {
		if (q->backlog.blind && q->backlog.lossy.n + LIMIT_BURST > LIMIT_BACKLOG_LOSSY)
			break;
		n = port_ops_of(q->port)->rx(q->port, q->queue, pkts, LIMIT_BURST);
		*n_first = backlog_sort(rx, q, pkts, n, first, *n_first);
		taken += n;
	} while (n == LIMIT_BURST && taken < LIMIT_RX_RING);
	q->backlog.short_ns = rx->classifier.now;
	backlog_publish(&q->backlog);
	stat_add(&rx->lcore->stats.rx_backlogged, taken);
	return taken;
}

static unsigned int backlog_pop(struct fifo *f, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = 0;

	for (; done < n && f->n; done++) {
		pkts[done] = fifo_pop(f);
		if (f->n)
			rte_prefetch0(pkt_of(f->head));
	}
	return done;
}

unsigned int backlog_take(struct rx_role *rx, struct rx_queue *q, struct rte_mbuf **pkts, unsigned int n)
{
	struct backlog *b = &q->backlog;
	unsigned int room = n - (n > 1 && b->lossy.n), credited;
	unsigned int done = backlog_pop(&b->lossless, pkts, room);

	for (unsigned int i = 0; i < done; i++)
		account_release(&rx->waiting[q->port->index][pkt_of(pkts[i])->priority], pkts[i]->pkt_len,
			pkts[i]->nb_segs);
	credited = backlog_pop(&b->credited, pkts + done, room - done);
	for (unsigned int i = 0; i < credited; i++)
		b->credited_buffers -= pkts[done + i]->nb_segs;
	done += credited;
	done += backlog_pop(&b->lossy, pkts + done, n - done);
	backlog_publish(b);
	return done;
}

bool backlog_wanted(struct rx_role *rx, struct rx_queue *q)
{
	const struct snap_interface *p = &rx->classifier.s->port[q->port->index];
	int waits;

	if (rx->classifier.now - q->backlog.short_ns < p->short_ns)
		return false;
	waits = port_ops_of(q->port)->rx_waits ? port_ops_of(q->port)->rx_waits(q->port, q->queue) : -1;
	q->backlog.blind = waits < 0;
	if (waits >= 0 && (uint32_t)waits <= p->short_frames)
		q->backlog.short_ns = rx->classifier.now;
	return waits < 0 || (uint32_t)waits > p->short_frames;
}
