/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configures a DPDK Ethernet device as a port: queues, descriptors, offloads, MAC address, MTU, filters. Management
 * thread, before the device is started.
 */
#include "drivers/ethdev_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_mbuf_dyn.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/text.h"
#include "config/headroom.h"
#include "drivers/abilities.h"
#include "pkt/pkt.h"

#define TX_LEAST 64				/* descriptors of each of several transmit queues */
#define TX_ROUND(n) ((uint16_t)((n) / 32 * 32)) /* what devices take */

/* The EAL's name of a device: "net_pcap0,rx_pcap=..." -> "net_pcap0". */
void ethdev_name(const char *device, char *buf, size_t size)
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

/*
 * Set MAC address and MTU, and record in abilities whether the device could (docs/design.md rule 10). A device that is
 * opened again keeps the address that neighbours know, if it can.
 */
static int set_up_identity(struct port *p, const struct cfg_port *config, char *err, size_t size)
{
	bool configured = !eth_is_zero(&config->mac), again = dev_of(p)->restarts;
	uint16_t id = dev_of(p)->id;
	struct rte_ether_addr mac;
	struct eth_addr own;
	int rc = rte_eth_macaddr_get(id, &mac);

	if (rc == 0)
		memcpy(&own, &mac, sizeof(own));
	if (rc == 0 && !again)
		p->mac = own;
	if (configured)
		p->mac = config->mac;
	if (configured || (again && rc == 0 && memcmp(&own, &p->mac, sizeof(own)) != 0)) {
		memcpy(&mac, &p->mac, sizeof(mac));
		p->abilities.set_mac = rte_eth_dev_default_mac_addr_set(id, &mac) == 0;
		if (!configured && !p->abilities.set_mac)
			p->mac = own;
	}
	/* the af_packet driver assumes frames of at most 1518 bytes */
	if (dev_of(p)->kernel_if.index)
		rc = kernel_if_set_mtu(&dev_of(p)->kernel_if, (unsigned int)config->mtu);
	else
		rc = rte_eth_dev_set_mtu(id, (uint16_t)config->mtu);
	p->abilities.set_mtu = rc == 0;
	if (rc < 0 && !abilities_any_length(p->abilities.driver))
		return text_fail(err, size, rc, "port %s: the device rejects an MTU of %llu: %s; lower mtu", p->name,
			(unsigned long long)config->mtu, strerror(-rc));
	return 0;
}

/* A device that cannot filter for the port's MAC address must pass all frames; ND needs group addresses. */
void ethdev_set_up_filters(struct port *p)
{
	const struct ethdev *dev = dev_of(p);
	bool need_all = dev->receives_all || (dev->own_mac && !p->abilities.set_mac);

	if (rte_eth_allmulticast_enable(dev->id) != 0)
		need_all = true;
	if (need_all)
		p->abilities.promiscuous = rte_eth_promiscuous_enable(dev->id) == 0;
	else if (p->abilities.promiscuous)
		p->abilities.promiscuous = rte_eth_promiscuous_disable(dev->id) != 0;
	if (dev->receives_all && !p->abilities.promiscuous && !abilities_any_length(p->abilities.driver))
		log_warning(port,
			"%s: the device has no promiscuous mode: circuits receive frames to its own address only",
			p->name);
}

/* Receive times of the device, if they are wanted. 0, or -ENOTSUP with a message. */
static int set_up_timestamps(struct port *p, const struct cfg_port *config, const struct rte_eth_dev_info *info,
	struct rte_eth_conf *conf, char *err, size_t size)
{
	p->abilities.timestamps = config->hardware_timestamps;
	if (!config->hardware_timestamps)
		return 0;
	if (!(info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP) && strcmp(info->driver_name, "net_pcap") != 0)
		return text_fail(err, size, -ENOTSUP,
			"port %s: the device (%s) has no receive timestamps; remove hardware-timestamps", p->name,
			info->driver_name);
	conf->rxmode.offloads |= info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	if (rte_mbuf_dyn_rx_timestamp_register(NULL, NULL) < 0)
		return text_fail(err, size, -ENOTSUP, "port %s: no room for timestamps in packet buffers", p->name);
	return 0;
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
	unsigned long need = scatters || dev_of(p)->kernel_if.index ? info->min_rx_bufsize
								    : MAX_OF(frame, info->min_rx_bufsize);

	if (buffer >= need)
		return 0;
	return text_fail(err, size, -EINVAL,
		"port %s: the device needs buffers of %lu bytes for frames of mtu %llu; set "
		"memory.buffer-size to %luK",
		p->name, need, (unsigned long long)config->mtu, (need + 1023) / 1024);
}

int ethdev_set_up(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size)
{
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
	kernel_if_open(&dev_of(p)->kernel_if, strcmp(info.driver_name, "net_af_packet") == 0 ? info.if_index : 0);
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
	dev_of(p)->spread.who = (uint8_t)config->rx_spread;
	spread_configure(&dev_of(p)->spread, &info, p->n_rx_queues, config->rss_symmetric, &conf, &p->abilities);
	if (config->rss_symmetric && !p->abilities.symmetric)
		log_warning(port, "%s: rss-symmetric: the device takes no RSS key", p->name);
	/* frames longer than one buffer are received and sent as chains */
	conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
	conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	rc = set_up_timestamps(p, config, &info, &conf, err, size);
	if (rc < 0)
		return rc;
	if (!abilities_any_length(info.driver_name) && !dev_of(p)->kernel_if.index)
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
	dev_of(p)->own_mac = !eth_is_zero(&config->mac);
	if (rc == 0)
		ethdev_set_up_filters(p);
	return rc;
}
