/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/fake_port.h"

#include <errno.h>
#include <stdlib.h>

#include "test/support/rsvp_capture.h"
#include "test/support/unit.h"

static struct fake_port *fake(struct port *p)
{
	return (struct fake_port *)p;
}

static uint16_t rx(struct port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct fake_port *p = fake(port);
	struct fifo_of_frames *q = &p->rx[queue];
	uint16_t done = 0;

	if (p->absent)
		return 0;
	pthread_mutex_lock(&p->lock);
	while (done < n && q->n) {
		pkts[done++] = q->frame[q->head++ % ARRAY_LEN(q->frame)];
		q->n--;
	}
	pthread_mutex_unlock(&p->lock);
	return done;
}

static void keep(struct fake_port *p, struct rte_mbuf *m)
{
	struct sent_frame *f = malloc(sizeof(*f) + m->pkt_len);

	if (!f)
		abort();
	f->next = NULL;
	f->size = m->pkt_len;
	pkt_copy_out(m, 0, f->bytes, m->pkt_len);
	rsvp_capture_frame(f->bytes, f->size);
	*p->sent_end = f;
	p->sent_end = &f->next;
	p->n_sent++;
	for (struct rte_mbuf *s = m; s; s = s->next)
		memset(rte_pktmbuf_mtod(s, void *), 0xdd, s->data_len);
	memset(rte_mbuf_to_priv(m), 0xdd, sizeof(struct pkt));
	rte_pktmbuf_free(m);
}

static uint16_t tx(struct port *port, struct rte_mbuf **pkts, uint16_t n)
{
	struct fake_port *p = fake(port);
	uint16_t done = 0;

	if (p->absent)
		return 0;
	pthread_mutex_lock(&p->lock);
	p->tx_calls++;
	while (done < n && done < p->tx_limit && p->tx_allowed) {
		keep(p, pkts[done++]);
		p->tx_allowed -= p->tx_allowed != UINT64_MAX;
	}
	pthread_mutex_unlock(&p->lock);
	return done;
}

static int start(struct port *p)
{
	(void)p;
	return 0;
}

static void stop(struct port *p)
{
	(void)p;
}

static void close_port(struct port *port)
{
	struct fake_port *p = fake(port);
	struct sent_frame *f;

	for (unsigned int q = 0; q < FAKE_QUEUES; q++)
		while (p->rx[q].n) {
			rte_pktmbuf_free(p->rx[q].frame[p->rx[q].head++ % ARRAY_LEN(p->rx[q].frame)]);
			p->rx[q].n--;
		}
	while ((f = fake_port_take(p)))
		free(f);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static bool link_up(struct port *p)
{
	return port_is_up(p);
}

static int rx_waits(struct port *port, uint16_t queue)
{
	const struct fake_port *p = fake(port);

	return p->counts ? (int)p->rx[queue].n : -1;
}

static void device_stats(struct port *p, struct port_device_stats *out)
{
	*out = (struct port_device_stats){.imissed = fake(p)->missed};
}

static void details(struct port *p, struct port_details *out)
{
	*out = (struct port_details){.link_mbps = port_is_up(p) ? fake(p)->link_mbps : 0};
}

static const char *failed(struct port *port, uint64_t now)
{
	struct fake_port *p = fake(port);

	(void)now;
	p->absent |= p->fails != NULL;
	return p->fails;
}

static int restart(struct port *port, const struct config *c, struct rte_mempool *pool, char *err, size_t size)
{
	struct fake_port *p = fake(port);

	(void)c;
	(void)pool;
	p->restarts++;
	if (p->restart_result && p->restart_result != -EAGAIN)
		snprintf(err, size, "out of order");
	if (p->restart_result)
		return p->restart_result;
	if (!eth_is_zero(&p->mac_after))
		p->port.mac = p->mac_after;
	p->fails = NULL;
	p->absent = false;
	return 0;
}

static const struct port_ops ops = {
	.rx = rx,
	.rx_waits = rx_waits,
	.tx = tx,
	.start = start,
	.stop = stop,
	.close = close_port,
	.link_up = link_up,
	.failed = failed,
	.restart = restart,
	.device_stats = device_stats,
	.details = details,
};

struct fake_port *fake_port_new(struct rte_mempool *pool, const char *name, const struct eth_addr *mac,
	uint16_t n_rx_queues)
{
	struct fake_port *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->port.ops = &ops;
	p->port.mac = *mac;
	p->port.n_rx_queues = n_rx_queues;
	p->port.link = 1;
	snprintf(p->port.name, sizeof(p->port.name), "%s", name);
	p->pool = pool;
	p->sent_end = &p->sent;
	p->tx_limit = UINT32_MAX;
	p->tx_allowed = UINT64_MAX;
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

void fake_port_receive(struct fake_port *p, uint16_t queue, const void *frame, uint32_t size, uint32_t first_segment)
{
	struct rte_mbuf *head = NULL, **at = &head, *m;
	const uint8_t *from = frame;
	uint32_t left = size, room = first_segment ? first_segment : UINT32_MAX;
	uint16_t segs = 0;

	do {
		uint32_t n;

		m = rte_pktmbuf_alloc(p->pool);
		if (!m)
			abort(); /* the test's pool is too small for its packets */
		/* whatever a recycled buffer held must not matter */
		memset(rte_mbuf_to_priv(m), 0xff, sizeof(struct pkt));
		memset(m->buf_addr, 0xa5, m->buf_len);
		n = MIN_OF(left, MIN_OF(room, (uint32_t)rte_pktmbuf_tailroom(m)));
		memcpy(rte_pktmbuf_mtod(m, void *), from, n);
		m->data_len = (uint16_t)n;
		from += n;
		left -= n;
		room = UINT32_MAX;
		segs++;
		*at = m;
		at = &m->next;
	} while (left);
	head->nb_segs = segs;
	head->pkt_len = size;
	pthread_mutex_lock(&p->lock);
	assert_true(p->rx[queue].n < ARRAY_LEN(p->rx[queue].frame));
	p->rx[queue].frame[(p->rx[queue].head + p->rx[queue].n++) % ARRAY_LEN(p->rx[queue].frame)] = head;
	pthread_mutex_unlock(&p->lock);
}

struct sent_frame *fake_port_take(struct fake_port *p)
{
	struct sent_frame *f;

	pthread_mutex_lock(&p->lock);
	f = p->sent;
	if (f) {
		p->sent = f->next;
		p->n_sent--;
		if (!p->sent)
			p->sent_end = &p->sent;
	}
	pthread_mutex_unlock(&p->lock);
	return f;
}
