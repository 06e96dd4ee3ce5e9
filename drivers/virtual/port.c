/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The virtual port: receive and transmit descriptors between a node and a line. Single-threaded; the owner has the
 * clock.
 */
#include "drivers/virtual/port.h"

#include <stdio.h>
#include <stdlib.h>

#include <rte_hash_crc.h>

#include "drivers/virtual/pool.h"
#include "pkt/pkt.h"
#include "wire/ipv4.h"

struct rx_ring {
	struct rte_mbuf **frame; /* of rx_descriptors */
	uint32_t head, n;
	uint32_t used; /* descriptors, one per buffer */
};

struct tx_slot {
	uint64_t left_ns;     /* when the last bit has left */
	uint32_t descriptors; /* in use until then */
	uint32_t lent;	      /* buffers of the pool (virtual_pool_lend) */
};

struct virtual_port {
	struct port port;
	struct virtual_port_config config;
	struct virtual_port_stats stats;
	struct rx_ring rx[64];
	struct tx_slot *tx;
	uint32_t tx_head, tx_n;
	uint32_t tx_used; /* descriptors */
	bool link;
	uint8_t scratch[LINE_SNAP_MAX];
};

static struct virtual_port *of(const struct port *p)
{
	return p->driver;
}

/* Free descriptors whose frames have left. */
static void reap(struct virtual_port *v)
{
	while (v->tx_n && v->tx[v->tx_head].left_ns <= *v->config.now) {
		v->tx_used -= v->tx[v->tx_head].descriptors;
		virtual_pool_end_loan(v->config.pool, v->tx[v->tx_head].lent);
		v->tx_head = (v->tx_head + 1) % v->config.tx_descriptors;
		v->tx_n--;
	}
	if (!v->tx_n)
		v->tx_head = 0; /* an empty ring starts over, so that it stays in the cache */
}

static uint16_t rx(struct port *p, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct virtual_port *v = of(p);
	struct rx_ring *r = &v->rx[queue];
	uint16_t done = 0;

	while (done < n && r->n) {
		r->used -= r->frame[r->head]->nb_segs;
		pkts[done++] = r->frame[r->head];
		r->head = (r->head + 1) % v->config.rx_descriptors;
		r->n--;
	}
	if (!r->n)
		r->head = 0;
	v->stats.polled += done;
	return done;
}

static int rx_waits(struct port *p, uint16_t queue)
{
	return (int)of(p)->rx[queue].n;
}

static void send_one(struct virtual_port *v, struct rte_mbuf *m, int *rc)
{
	struct tx_slot *slot = &v->tx[(v->tx_head + v->tx_n++) % v->config.tx_descriptors];
	const void *bytes = rte_pktmbuf_mtod(m, const void *);
	uint32_t captured = m->data_len;

	v->tx_used += m->nb_segs;
	pkt_unpoison(m);
	if (unlikely(m->nb_segs > 1)) {
		captured = pkt_copy_out(m, 0, v->scratch, sizeof(v->scratch));
		bytes = v->scratch;
	}
	if (unlikely(v->config.seen))
		v->config.seen(v->config.arg, true, bytes, captured, m->pkt_len);
	slot->left_ns = line_send(v->config.line, *v->config.now, bytes, captured, m->pkt_len, rc);
	slot->descriptors = m->nb_segs;
	slot->lent = virtual_pool_lend(v->config.pool, m);
}

static uint16_t tx(struct port *p, struct rte_mbuf **pkts, uint16_t n)
{
	struct virtual_port *v = of(p);
	uint16_t done = 0;
	int rc = 0, failed = 0;

	reap(v);
	while (done < n && v->tx_used + pkts[done]->nb_segs <= v->config.tx_descriptors) {
		send_one(v, pkts[done++], &rc);
		failed = rc ? rc : failed;
	}
	v->stats.sent += done;
	if (done && v->config.sent)
		v->config.sent(v->config.arg, failed);
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

static void close_port(struct port *p)
{
	struct virtual_port *v = of(p);
	struct rte_mbuf *m;

	for (uint16_t q = 0; q < v->config.rx_queues; q++) {
		while (rx(p, q, &m, 1))
			pkt_free(m);
		free(v->rx[q].frame);
	}
	for (; v->tx_n; v->tx_n--) {
		virtual_pool_end_loan(v->config.pool, v->tx[v->tx_head].lent);
		v->tx_head = (v->tx_head + 1) % v->config.tx_descriptors;
	}
	free(v->tx);
	free(v);
}

/* Rings begin anew whenever they are empty, so that it is mostly their first entries that are touched. */
void virtual_port_lines(const struct port *p, void (*found)(void *arg, const void *at, size_t bytes), void *arg)
{
	const struct virtual_port *v = of(p);

	found(arg, v, offsetof(struct virtual_port, rx[1]));
	found(arg, &v->tx, 4 * sizeof(uint32_t) + sizeof(v->tx));
	found(arg, v->rx[0].frame, CACHE_LINE_BYTES);
	found(arg, v->tx, 2 * sizeof(*v->tx));
}

static bool link_up(struct port *p)
{
	return of(p)->link;
}

static void device_stats(struct port *p, struct port_device_stats *out)
{
	const struct virtual_port_stats *s = &of(p)->stats;

	*out = (struct port_device_stats){.imissed = s->imissed, .rx_nombuf = s->nombuf, .ierrors = s->ierrors};
}

static void details(struct port *p, struct port_details *out)
{
	const struct virtual_port_config *c = &of(p)->config;

	*out = (struct port_details){.driver = "virtual",
		.link_mbps = (uint32_t)(c->speed_bps / 1000000),
		.full_duplex = true,
		.promiscuous = true,
		.socket = -1,
		.device_mtu = (uint16_t)c->mtu,
		.rx_descriptors = c->rx_descriptors,
		.tx_descriptors = c->tx_descriptors};
	snprintf(out->device, sizeof(out->device), "virtual:%.50s", c->name);
}

static const struct port_ops ops = {
	.rx = rx,
	.rx_waits = rx_waits,
	.tx = tx,
	.start = start,
	.stop = stop,
	.close = close_port,
	.link_up = link_up,
	.device_stats = device_stats,
	.details = details,
};

static int make_rings(struct virtual_port *v)
{
	v->tx = calloc(v->config.tx_descriptors, sizeof(*v->tx));
	for (uint16_t q = 0; q < v->config.rx_queues; q++) {
		v->rx[q].frame = calloc(v->config.rx_descriptors, sizeof(v->rx[q].frame[0]));
		if (!v->rx[q].frame)
			return -1;
	}
	return v->tx ? 0 : -1;
}

struct port *virtual_port_new(const struct virtual_port_config *config)
{
	struct virtual_port *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->config = *config;
	v->link = true;
	v->port.ops = &ops;
	v->port.driver = v;
	v->port.n_rx_queues = config->rx_queues;
	v->port.mac = config->mac;
	v->port.link = 1;
	v->port.abilities = (struct port_abilities){.set_mac = true,
		.set_mtu = true,
		.promiscuous = true,
		.tx_queues = 1,
		.rx_queues = config->rx_queues,
		.speed_mbps = (uint32_t)(config->speed_bps / 1000000),
		.driver = "virtual"};
	snprintf(v->port.name, sizeof(v->port.name), "%s", config->name);
	v->config.name = v->port.name;
	if (make_rings(v) < 0) {
		close_port(&v->port);
		return NULL;
	}
	return &v->port;
}

/* The receive queue by a hash of addresses and flow label (IPv6), or addresses and ports (IPv4), like RSS in a NIC. */
static uint16_t queue_of(const struct virtual_port *v, const struct line_frame *f)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
	_Alignas(8) uint8_t flow[36];
	be32_t label;
	uint32_t hash = 0;

	if (v->config.rx_queues == 1)
		return 0;
	if (f->captured >= sizeof(*eth) + 40 && be16_get(eth->type) == ETH_TYPE_IPV6) {
		memcpy(flow, f->bytes + sizeof(*eth) + 8, 32);
		memcpy(&label, eth + 1, sizeof(label));
		hash = rte_hash_crc(flow, 32, be32_get(label) & IPV6_FLOW_MASK);
	} else if (f->captured >= sizeof(*eth) + 24 && be16_get(eth->type) == ETH_TYPE_IPV4) {
		memcpy(flow, f->bytes + sizeof(*eth) + 12, 12);
		hash = rte_hash_crc(flow, 12, 0);
	}
	return (uint16_t)(hash % v->config.rx_queues);
}

static uint32_t buffers_of(const struct virtual_port *v, const struct line_frame *f)
{
	uint32_t room = rte_pktmbuf_data_room_size(v->config.pool) - RTE_PKTMBUF_HEADROOM;

	return f->captured > room ? (f->captured + room - 1) / room : 1;
}

/* Copy a frame to buffers of the pool; NULL if it is exhausted. pkt_len may exceed the stored data. */
static struct rte_mbuf *to_buffers(struct virtual_port *v, const struct line_frame *f)
{
	struct rte_mbuf *head = NULL, **at = &head, *m;
	uint32_t left = f->captured, done = 0;
	uint16_t segs = 0;

	do {
		m = rte_pktmbuf_alloc(v->config.pool);
		if (unlikely(!m)) {
			if (head) {
				head->nb_segs = segs;
				rte_pktmbuf_free(head);
			}
			return NULL;
		}
		m->data_len = (uint16_t)MIN_OF(left, (uint32_t)rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_mtod(m, void *), f->bytes + done, m->data_len);
		done += m->data_len;
		left -= m->data_len;
		segs++;
		*at = m;
		at = &m->next;
	} while (left);
	head->nb_segs = segs;
	head->pkt_len = f->length;
	return head;
}

int virtual_port_receive(struct port *p, const struct line_frame *frame)
{
	struct virtual_port *v = of(p);
	uint16_t queue = queue_of(v, frame);
	struct rx_ring *r = &v->rx[queue];
	struct rte_mbuf *m;

	if (unlikely(frame->corrupt ||
		     frame->length > v->config.mtu + sizeof(struct eth_hdr) + 2 * sizeof(struct vlan_tag))) {
		v->stats.ierrors++;
		return VIRTUAL_PORT_ERROR;
	}
	if (unlikely(r->used + buffers_of(v, frame) > v->config.rx_descriptors)) {
		v->stats.imissed++;
		return VIRTUAL_PORT_MISSED;
	}
	m = to_buffers(v, frame);
	if (unlikely(!m)) {
		v->stats.nombuf++;
		return VIRTUAL_PORT_NO_BUFFER;
	}
	r->used += m->nb_segs;
	if (unlikely(v->config.seen))
		v->config.seen(v->config.arg, false, frame->bytes, frame->captured, frame->length);
	r->frame[(r->head + r->n++) % v->config.rx_descriptors] = m;
	v->stats.received++;
	return queue;
}

uint32_t virtual_port_waiting(const struct port *p, uint16_t queue)
{
	return of(p)->rx[queue].n;
}

uint64_t virtual_port_held(struct port *p)
{
	struct virtual_port *v = of(p);
	uint64_t held;

	reap(v);
	held = v->tx_used;
	for (uint16_t q = 0; q < v->config.rx_queues; q++)
		held += v->rx[q].used;
	return held;
}

const struct virtual_port_stats *virtual_port_stats(const struct port *p)
{
	return &of(p)->stats;
}

void virtual_port_set_link(struct port *p, bool up)
{
	of(p)->link = up;
	port_set_link(p, up);
}
