/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DPDK Ethernet device as a port: opens, configures, starts and closes it in the management thread. rx runs on the
 * lcore of its receive queue, tx on the worker that owns the port.
 */
#include "drivers/ethdev.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_ethdev.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/text.h"
#include "config/budget.h"
#include "config/headroom.h"
#include "drivers/abilities.h"
#include "drivers/pfc_setup.h"
#include "drivers/kernel_if.h"
#include "pkt/pkt.h"

#define TX_LEAST 64				/* descriptors of each of several transmit queues */
#define TX_ROUND(n) ((uint16_t)((n) / 32 * 32)) /* what devices take */

struct ethdev {
	uint16_t id;
	bool started;
	bool reports_link;			 /* by an interrupt */
	uint16_t rx_descriptors, tx_descriptors; /* wanted, then set up */
	uint16_t rx_least;			 /* receive descriptors that lossless classes need */
	uint64_t rx_offloads, tx_offloads;
	uint8_t pfc_priorities;
	bool pfc_hardware; /* the device may obey PFC itself */
	struct pfc_changes pfc_changes;
	uint16_t n_tx;		/* transmit queues: 1, or one more for each lossless priority */
	bool connects;		/* memif client: tries to connect once, when it is started */
	unsigned int kernel_if; /* af_packet: index of the kernel's interface; 0: another driver */
	uint16_t frame_buffers; /* buffers of the longest configured frame */
	uint64_t too_long;	/* frames of more buffers; atomic: the lcore of each receive queue adds */
};

static struct ethdev *dev_of(const struct port *p)
{
	return p->driver;
}

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

static int link_changed(uint16_t id, enum rte_eth_event_type event, void *arg, void *out);

static int start(struct port *p)
{
	int rc = rte_eth_dev_start(dev_of(p)->id);

	dev_of(p)->started = rc == 0;
	/* the management thread looks too rarely for a link that flaps */
	if (rc == 0 && dev_of(p)->reports_link)
		rte_eth_dev_callback_register(dev_of(p)->id, RTE_ETH_EVENT_INTR_LSC, link_changed, p);
	if (rc == 0)
		pfc_setup(&pfc_ethdev, dev_of(p)->id, p->abilities.driver, dev_of(p)->pfc_priorities,
			dev_of(p)->pfc_hardware, dev_of(p)->n_tx, &p->abilities, &dev_of(p)->pfc_changes);
	/* a memif client may start before its server: see reconnect */
	return dev_of(p)->connects ? 0 : rc;
}

static void stop(struct port *p)
{
	if (dev_of(p)->started) {
		if (dev_of(p)->reports_link)
			rte_eth_dev_callback_unregister(dev_of(p)->id, RTE_ETH_EVENT_INTR_LSC, link_changed, p);
		pfc_restore(&pfc_ethdev, dev_of(p)->id, &dev_of(p)->pfc_changes);
		rte_eth_dev_stop(dev_of(p)->id);
	}
	dev_of(p)->started = false;
}

static void close_port(struct port *p)
{
	stop(p);
	rte_eth_dev_close(dev_of(p)->id);
	free(p->driver);
	free(p);
}

static bool link_up(struct port *p)
{
	struct rte_eth_link link;

	/* the driver always reports "up" */
	if (dev_of(p)->kernel_if)
		return dev_of(p)->started && kernel_if_running(dev_of(p)->kernel_if);
	return rte_eth_link_get_nowait(dev_of(p)->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

/*
 * The device reports a change of its link, in a thread of the EAL. It may have failed and returned since: then the state
 * is what it was, and yet two changes are to be recorded.
 */
static int link_changed(uint16_t id, enum rte_eth_event_type event, void *arg, void *out)
{
	struct port *p = arg;

	(void)id;
	(void)event;
	(void)out;
	if (!port_set_link(p, link_up(p)))
		__atomic_add_fetch(&p->link, 2, __ATOMIC_RELAXED);
	return 0;
}

static void reconnect(struct port *p)
{
	if (!dev_of(p)->connects)
		return;
	stop(p);
	start(p);
}

static void device_stats(struct port *p, struct port_device_stats *out)
{
	struct rte_eth_stats s;

	*out = (struct port_device_stats){0};
	if (rte_eth_stats_get(dev_of(p)->id, &s) != 0)
		return;
	*out = (struct port_device_stats){.imissed = s.imissed,
		.rx_nombuf = s.rx_nombuf,
		.oerrors = s.oerrors,
		.ierrors = s.ierrors + __atomic_load_n(&dev_of(p)->too_long, __ATOMIC_RELAXED)};
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

	*out = (struct port_details){.driver = p->abilities.driver};
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
	int n = rte_eth_xstats_get_names(id, NULL, 0);
	struct rte_eth_xstat_name *names = n > 0 ? calloc((size_t)n, sizeof(*names)) : NULL;
	struct rte_eth_xstat *values = n > 0 ? calloc((size_t)n, sizeof(*values)) : NULL;

	if (names && values && rte_eth_xstats_get_names(id, names, (unsigned int)n) == n &&
		rte_eth_xstats_get(id, values, (unsigned int)n) == n)
		for (int i = 0; i < n; i++)
			fn(arg, names[i].name, values[i].value);
	free(names);
	free(values);
}

#define OPS(receive, send) \
	{ \
		.rx = receive, .rx_waits = rx_waits, .tx = send, .start = start, .stop = stop, .close = close_port, \
		.link_up = link_up, .reconnect = reconnect, .device_stats = device_stats, .details = details, \
		.xstats = xstats, \
	}

static const struct port_ops ops = OPS(rx, tx), ops_bounded = OPS(rx_bounded, tx), ops_by_class = OPS(rx, tx_by_class);

/* The EAL's name of a device: "net_pcap0,rx_pcap=..." -> "net_pcap0". */
static void name_of(const char *device, char *buf, size_t size)
{
	snprintf(buf, size, "%.*s", (int)strcspn(device, ","), device);
}

/* The buffer budget counts the configured number of descriptors (config/budget.h). */
static int check_descriptors(const struct port *p, const char *key, uint16_t set, uint64_t wanted, char *err,
	size_t size)
{
	if (set <= wanted)
		return 0;
	return text_fail(err, size, -EINVAL,
		"port %s: the device provides %u instead of %llu descriptors; set descriptors.%s to %u", p->name, set,
		(unsigned long long)wanted, key, set);
}

/* Set up queues and descriptors as configured. */
static int set_up_queues(struct port *p, const struct cfg_port *config, struct rte_mempool *pool,
	const struct rte_eth_dev_info *info, char *err, size_t size)
{
	uint16_t id = dev_of(p)->id, wanted = dev_of(p)->rx_descriptors, nb_rx = wanted,
		 nb_tx = (uint16_t)config->descriptors.tx;
	int socket = rte_eth_dev_socket_id(id);
	int rc = rte_eth_dev_adjust_nb_rx_tx_desc(id, &nb_rx, &nb_tx);

	if (rc < 0)
		return text_fail(err, size, rc, "port %s: descriptors: %s", p->name, strerror(-rc));
	rc = check_descriptors(p, "rx", nb_rx, wanted, err, size);
	if (rc == 0)
		rc = check_descriptors(p, "tx", nb_tx, config->descriptors.tx, err, size);
	if (rc == 0 && nb_rx < MIN_OF(wanted, dev_of(p)->rx_least))
		log_warning(port,
			"%s: the device has at most %u receive descriptors: an lcore that is interrupted for longer "
			"than "
			"they hold what arrives loses packets of lossless classes; %u would last for the response time",
			p->name, nb_rx, dev_of(p)->rx_least);
	if (rc < 0)
		return rc;
	dev_of(p)->rx_descriptors = nb_rx;
	dev_of(p)->tx_descriptors = nb_tx;
	for (uint16_t q = 0; q < p->n_rx_queues; q++) {
		rc = rte_eth_rx_queue_setup(id, q, nb_rx, (unsigned int)socket, &info->default_rxconf, pool);
		if (rc < 0)
			return text_fail(err, size, rc, "port %s: receive queue %u: %s", p->name, q, strerror(-rc));
	}
	for (uint16_t q = 0; q < dev_of(p)->n_tx; q++) {
		/* the budget counts the descriptors of a port */
		rc = rte_eth_tx_queue_setup(id, q, dev_of(p)->n_tx > 1 ? TX_ROUND(nb_tx / dev_of(p)->n_tx) : nb_tx,
			(unsigned int)socket, &info->default_txconf);
		if (rc < 0)
			return text_fail(err, size, rc, "port %s: transmit queue %u: %s", p->name, q, strerror(-rc));
	}
	return 0;
}

/* Set MAC address and MTU, and record in abilities whether the device could (docs/design.md rule 10). */
static int set_up_identity(struct port *p, const struct cfg_port *config, char *err, size_t size)
{
	uint16_t id = dev_of(p)->id;
	struct rte_ether_addr mac;
	int rc = rte_eth_macaddr_get(id, &mac);

	if (rc == 0)
		memcpy(&p->mac, &mac, sizeof(p->mac));
	if (!eth_is_zero(&config->mac)) {
		p->mac = config->mac;
		memcpy(&mac, &config->mac, sizeof(mac));
		p->abilities.set_mac = rte_eth_dev_default_mac_addr_set(id, &mac) == 0;
	}
	/* the af_packet driver assumes frames of at most 1518 bytes */
	if (dev_of(p)->kernel_if)
		rc = kernel_if_set_mtu(dev_of(p)->kernel_if, (unsigned int)config->mtu);
	else
		rc = rte_eth_dev_set_mtu(id, (uint16_t)config->mtu);
	p->abilities.set_mtu = rc == 0;
	if (rc < 0 && !abilities_any_length(p->abilities.driver))
		return text_fail(err, size, rc, "port %s: the device rejects an MTU of %llu: %s; lower mtu", p->name,
			(unsigned long long)config->mtu, strerror(-rc));
	return 0;
}

/* A device that cannot filter for the port's MAC address must pass all frames; ND needs group addresses. */
static void set_up_filters(struct port *p, const struct cfg_port *config)
{
	uint16_t id = dev_of(p)->id;
	bool need_all = !eth_is_zero(&config->mac) && !p->abilities.set_mac;

	p->abilities.promiscuous = need_all && rte_eth_promiscuous_enable(id) == 0;
	if (rte_eth_allmulticast_enable(id) != 0 && !p->abilities.promiscuous)
		p->abilities.promiscuous = rte_eth_promiscuous_enable(id) == 0;
}

/*
 * DPDK 22.11's memif does not clear the "next" flag of a descriptor that it reuses: after one turn of the ring, frames
 * of several descriptors are merged with the next frame. So one descriptor must hold the longest frame.
 */
static int check_memif(const struct port *p, const struct cfg_port *config, char *err, size_t size)
{
	const char *arg = strstr(config->device, "bsize=");
	unsigned long bsize = arg ? strtoul(arg + strlen("bsize="), NULL, 10) : 2048;
	unsigned long need = config->mtu + sizeof(struct eth_hdr) + sizeof(struct vlan_tag);

	if (strcmp(p->abilities.driver, "net_memif") != 0 || bsize >= need)
		return 0;
	return text_fail(err, size, -EINVAL,
		"port %s: frames of mtu %llu need memif buffers of %lu bytes; add bsize=%lu to device", p->name,
		(unsigned long long)config->mtu, need, (need + 1023) / 1024 * 1024);
}

/* Does the device accept buffers of this size, and can it receive long frames as chains of them? */
static int check_buffers(const struct port *p, const struct cfg_port *config, const struct rte_mempool *pool,
	const struct rte_eth_dev_info *info, char *err, size_t size)
{
	unsigned long buffer = rte_pktmbuf_data_room_size((struct rte_mempool *)(uintptr_t)pool) - RTE_PKTMBUF_HEADROOM;
	unsigned long frame = config->mtu + sizeof(struct eth_hdr) + 2 * sizeof(struct vlan_tag);
	bool scatters = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER || abilities_any_length(info->driver_name);
	unsigned long need = scatters || dev_of(p)->kernel_if ? info->min_rx_bufsize
							      : MAX_OF(frame, info->min_rx_bufsize);

	if (buffer >= need)
		return 0;
	return text_fail(err, size, -EINVAL,
		"port %s: the device needs buffers of %lu bytes for frames of mtu %llu; set "
		"memory.buffer-size to %luK",
		p->name, need, (unsigned long long)config->mtu, (need + 1023) / 1024);
}

static int configure(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size)
{
	const uint64_t rss = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP;
	struct rte_eth_conf conf = {.rxmode = {.mq_mode = RTE_ETH_MQ_RX_NONE}};
	uint16_t id = dev_of(p)->id;
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(id, &info);

	if (rc < 0)
		return text_fail(err, size, rc, "port %s: %s", p->name, strerror(-rc));
	p->abilities.driver = info.driver_name;
	for (uint32_t i = 0; i < config->pfc.priorities.n; i++)
		dev_of(p)->pfc_priorities = (uint8_t)(dev_of(p)->pfc_priorities |
						      1u << config->pfc.priorities.items[i]);
	dev_of(p)->pfc_hardware = config->pfc.hardware == PFC_HARDWARE_AUTO;
	dev_of(p)->kernel_if = strcmp(info.driver_name, "net_af_packet") == 0 ? info.if_index : 0;
	dev_of(p)->connects = strcmp(info.driver_name, "net_memif") == 0 && !strstr(config->device, "role=server");
	p->abilities.rx_queues = info.max_rx_queues;
	p->abilities.tx_queues = info.max_tx_queues;
	rc = check_memif(p, config, err, size);
	if (rc == 0)
		rc = check_buffers(p, config, pool, &info, err, size);
	if (rc < 0)
		return rc;
	if (config->rx_queues > info.max_rx_queues)
		return text_fail(err, size, -EINVAL, "port %s: rx-queues: %llu is more than the %u of the device",
			p->name, (unsigned long long)config->rx_queues, info.max_rx_queues);
	p->n_rx_queues = (uint16_t)config->rx_queues;
	if (p->n_rx_queues > 1 && info.flow_type_rss_offloads & rss) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & rss;
	}
	/* frames longer than one buffer are received and sent as chains */
	conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	if (!abilities_any_length(info.driver_name) && !dev_of(p)->kernel_if)
		conf.rxmode.mtu = (uint32_t)config->mtu;
	dev_of(p)->rx_offloads = conf.rxmode.offloads;
	dev_of(p)->tx_offloads = conf.txmode.offloads;
	dev_of(p)->reports_link = *info.dev_flags & RTE_ETH_DEV_INTR_LSC;
	conf.intr_conf.lsc = dev_of(p)->reports_link;
	dev_of(p)->n_tx = pfc_tx_queues(&pfc_ethdev, id, info.driver_name, dev_of(p)->pfc_priorities,
		dev_of(p)->pfc_hardware, (uint16_t)MIN_OF(info.max_tx_queues, config->descriptors.tx / TX_LEAST));
	rc = rte_eth_dev_configure(id, p->n_rx_queues, dev_of(p)->n_tx, &conf);
	if (rc < 0)
		return text_fail(err, size, rc, "port %s: the device rejects its configuration: %s", p->name,
			strerror(-rc));
	rc = set_up_identity(p, config, err, size);
	if (rc == 0)
		rc = set_up_queues(p, config, pool, &info, err, size);
	if (rc == 0)
		set_up_filters(p, config);
	return rc;
}

struct port *ethdev_open(const struct config *c, uint32_t index, struct rte_mempool *pool, char *err, size_t size)
{
	const struct cfg_port *config = &c->ports.items[index];
	struct port *p = calloc(1, sizeof(*p));
	struct ethdev *dev = calloc(1, sizeof(*dev));
	char name[64];

	name_of(config->device, name, sizeof(name));
	if (!p || !dev) {
		text_fail(err, size, 0, "out of memory");
	} else if (rte_eth_dev_get_port_by_name(name, &dev->id) != 0) {
		text_fail(err, size, 0, "port %s: there is no device %s", config->name, name);
	} else {
		p->driver = dev;
		dev->frame_buffers = (uint16_t)cfg_frame_buffers(c);
		dev->rx_descriptors = (uint16_t)cfg_rx_descriptors(c, config);
		dev->rx_least = (uint16_t)cfg_rx_descriptors_least(c, config);
		snprintf(p->name, sizeof(p->name), "%s", config->name);
		if (configure(p, config, pool, err, size) == 0) {
			p->ops = abilities_any_length(p->abilities.driver) ? &ops_bounded
				 : dev->n_tx > 1			   ? &ops_by_class
									   : &ops;
			return p;
		}
		rte_eth_dev_close(dev->id);
	}
	free(p);
	free(dev);
	return NULL;
}
