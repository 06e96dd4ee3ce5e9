/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK Ethernet device as a port: opens and closes it, and says what it is, in the management thread. rx runs on the
 * lcore of its receive queue, tx on the worker that owns the port.
 */
#include "drivers/ethdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "base/text.h"
#include "config/budget.h"
#include "config/headroom.h"
#include "drivers/abilities.h"
#include "drivers/ethdev_priv.h"
#include "pkt/pkt.h"

static uint16_t rx(struct port *p, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_rx_burst(dev_of(p)->id, queue, pkts, n);
}

/*
 * For devices without a maximum frame length: drop frames of more buffers than the budget counts for one frame, as a
 * NIC would.
 */
static uint16_t rx_bounded(struct port *p, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct ethdev *dev = dev_of(p);
	uint16_t got = rte_eth_rx_burst(dev->id, queue, pkts, n), kept = 0;

	for (uint16_t i = 0; i < got; i++) {
		if (unlikely(pkts[i]->nb_segs > dev->frame_buffers)) {
			__atomic_add_fetch(&dev->too_long, 1, __ATOMIC_RELAXED);
			rte_pktmbuf_free(pkts[i]);
			continue;
		}
		pkts[kept++] = pkts[i];
	}
	return kept;
}

static int rx_waits(struct port *p, uint16_t queue)
{
	return rte_eth_rx_queue_count(dev_of(p)->id, queue);
}

static uint16_t tx(struct port *p, struct rte_mbuf **pkts, uint16_t n)
{
	return rte_eth_tx_burst(dev_of(p)->id, 0, pkts, n);
}

static uint16_t queue_of(const struct ethdev *dev, const struct rte_mbuf *m)
{
	uint8_t class = pkt_of((struct rte_mbuf *)(uintptr_t)m)->tclass;

	return class < PKT_CLASSES ? dev->pfc_changes.queue_of[class] : 0;
}

/* A queue for each lossless class. What a queue does not take stops the burst, so that no class is overtaken. */
static uint16_t tx_by_class(struct port *p, struct rte_mbuf **pkts, uint16_t n)
{
	const struct ethdev *dev = dev_of(p);
	uint16_t sent = 0;

	while (sent < n) {
		uint16_t queue = queue_of(dev, pkts[sent]), run = 1, taken;

		while (sent + run < n && queue_of(dev, pkts[sent + run]) == queue)
			run++;
		taken = rte_eth_tx_burst(dev->id, queue, pkts + sent, run);
		sent = (uint16_t)(sent + taken);
		if (taken < run)
			break;
	}
	return sent;
}

static void offload_names(uint64_t offloads, const char *(*name)(uint64_t), char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint64_t bit = 1; bit && n < size; bit <<= 1)
		if (offloads & bit)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", name(bit));
}

static void details(struct port *p, struct port_details *out)
{
	uint16_t id = dev_of(p)->id;
	struct rte_eth_link link = {0};

	*out = (struct port_details){.driver = p->abilities.driver, .socket = -1};
	if (!ethdev_answers(dev_of(p)))
		return;
	rte_eth_dev_get_name_by_port(id, out->device);
	if (rte_eth_link_get_nowait(id, &link) == 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		out->link_mbps = link.link_speed;
	out->full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
	out->promiscuous = rte_eth_promiscuous_get(id) == 1;
	out->all_multicast = rte_eth_allmulticast_get(id) == 1;
	out->socket = rte_eth_dev_socket_id(id);
	rte_eth_dev_get_mtu(id, &out->device_mtu);
	out->rx_descriptors = dev_of(p)->rx_descriptors;
	out->tx_descriptors = dev_of(p)->tx_descriptors;
	offload_names(dev_of(p)->rx_offloads, rte_eth_dev_rx_offload_name, out->rx_offloads, sizeof(out->rx_offloads));
	offload_names(dev_of(p)->tx_offloads, rte_eth_dev_tx_offload_name, out->tx_offloads, sizeof(out->tx_offloads));
}

static void xstats(struct port *p, void (*fn)(void *arg, const char *name, uint64_t value), void *arg)
{
	uint16_t id = dev_of(p)->id;
	int n = ethdev_answers(dev_of(p)) ? rte_eth_xstats_get_names(id, NULL, 0) : 0;
	struct rte_eth_xstat_name *names = n > 0 ? calloc((size_t)n, sizeof(*names)) : NULL;
	struct rte_eth_xstat *values = n > 0 ? calloc((size_t)n, sizeof(*values)) : NULL;

	if (names && values && rte_eth_xstats_get_names(id, names, (unsigned int)n) == n &&
		rte_eth_xstats_get(id, values, (unsigned int)n) == n)
		for (int i = 0; i < n; i++)
			fn(arg, names[i].name, values[i].value);
	free(names);
	free(values);
}

/* --- while lcores must not use the device --- */

static uint16_t rx_absent(struct port *p, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	(void)p;
	(void)queue;
	(void)pkts;
	(void)n;
	return 0;
}

static int rx_waits_absent(struct port *p, uint16_t queue)
{
	(void)p;
	(void)queue;
	return 0;
}

static uint16_t tx_absent(struct port *p, struct rte_mbuf **pkts, uint16_t n)
{
	(void)p;
	(void)pkts;
	(void)n;
	return 0;
}

static void close_port(struct port *p)
{
	struct ethdev *dev = dev_of(p);

	ethdev_stop(p);
	if (dev->open)
		rte_eth_dev_close(dev->id);
	kernel_if_close(&dev->kernel_if);
	memif_server_close(&dev->server);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
	free(p);
}

#define OPS(receive, waits, send) \
	{ \
		.rx = receive, .rx_waits = waits, .tx = send, .start = ethdev_start, .stop = ethdev_stop, \
		.close = close_port, .link_up = ethdev_link_up, .failed = ethdev_failed, .restart = ethdev_restart, \
		.receive_all = ethdev_receive_all, .device_stats = ethdev_stats, .details = details, .xstats = xstats, \
	}

static const struct port_ops ops = OPS(rx, rx_waits, tx), ops_bounded = OPS(rx_bounded, rx_waits, tx),
			     ops_by_class = OPS(rx, rx_waits, tx_by_class),
			     ops_absent = OPS(rx_absent, rx_waits_absent, tx_absent);

static const struct port_ops *ops_of(const struct port *p)
{
	return abilities_any_length(p->abilities.driver) ? &ops_bounded : dev_of(p)->n_tx > 1 ? &ops_by_class : &ops;
}

struct port *ethdev_open(const struct config *c, uint32_t index, struct rte_mempool *pool, char *err, size_t size)
{
	const struct cfg_port *config = &c->ports.items[index];
	struct port *p = calloc(1, sizeof(*p));
	struct ethdev *dev = calloc(1, sizeof(*dev));
	char name[64];

	ethdev_name(config->device, name, sizeof(name));
	if (!p || !dev) {
		text_fail(err, size, 0, "out of memory");
	} else if (rte_eth_dev_get_port_by_name(name, &dev->id) != 0) {
		text_fail(err, size, 0, "port %s: there is no device %s", config->name, name);
	} else {
		p->driver = dev;
		pthread_mutex_init(&dev->lock, NULL);
		memif_server_init(&dev->server, config->device);
		dev->open = true;
		dev->absent = &ops_absent;
		dev->frame_buffers = (uint16_t)cfg_frame_buffers(c);
		dev->rx_descriptors = (uint16_t)cfg_rx_descriptors(c, config);
		dev->rx_least = (uint16_t)cfg_rx_descriptors_least(c, config);
		snprintf(p->name, sizeof(p->name), "%s", config->name);
		if (ethdev_set_up(p, config, pool, err, size) == 0) {
			dev->in_use = p->ops = ops_of(p);
			return p;
		}
		rte_eth_dev_close(dev->id);
		kernel_if_close(&dev->kernel_if);
	}
	free(p);
	free(dev);
	return NULL;
}
