/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads received packets over the queues of a device (spread.h). Management thread. */
#include "drivers/spread.h"

#include <stdio.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_flow.h>

#include "base/compiler.h"

#define RSS (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)
#define LEVEL_INNER 2 /* of an RSS action: 1 is the outer headers */

/* Devices whose queues are filled by others, or in a way of their own. */
static const struct {
	const char *driver;
	enum port_spread spread;
} software[] = {
	{"net_memif", PORT_SPREAD_PEER},
	{"net_pcap", PORT_SPREAD_PEER},
	{"net_ring", PORT_SPREAD_PEER},
	{"net_null", PORT_SPREAD_PEER},
	/* the kernel's hash (PACKET_FANOUT_HASH) ends at the flow label, if there is one */
	{"net_af_packet", PORT_SPREAD_LABEL},
};

const char *spread_words(enum port_spread spread)
{
	static const char *const words[] = {
#define X(name, id, text) text,
		PORT_SPREADS(X)
#undef X
	};

	return words[spread];
}

/* With this key the Toeplitz hash of a flow is that of its opposite direction. */
static void fill_symmetric(struct spread *s, uint8_t len)
{
	for (unsigned int i = 0; i < SPREAD_KEY; i++)
		s->key[i] = i % 2 ? 0x5a : 0x6d;
	s->key_len = len;
}

static bool is_software(const char *driver, uint8_t *spread)
{
	for (size_t i = 0; i < ARRAY_LEN(software); i++)
		if (strcmp(software[i].driver, driver) == 0) {
			*spread = (uint8_t)software[i].spread;
			return true;
		}
	return false;
}

void spread_configure(struct spread *s, const struct rte_eth_dev_info *info, uint16_t n_queues, bool symmetric,
	struct rte_eth_conf *conf, struct port_abilities *a)
{
	struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;
	uint64_t can = info->flow_type_rss_offloads;

	s->key_len = 0;
	a->spread = PORT_SPREAD_ONE;
	a->symmetric = n_queues == 1;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	if (n_queues == 1 || is_software(info->driver_name, &a->spread))
		return;
	a->spread = PORT_SPREAD_NONE;
	if (!(can & RSS))
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	rss->rss_hf = can & RSS;
	a->spread = PORT_SPREAD_OUTER;
	if (can & RTE_ETH_RSS_LEVEL_INNERMOST) {
		rss->rss_hf |= RTE_ETH_RSS_LEVEL_INNERMOST;
		a->spread = PORT_SPREAD_INNER;
	}
	if (symmetric && info->hash_key_size && info->hash_key_size <= SPREAD_KEY) {
		fill_symmetric(s, info->hash_key_size);
		rss->rss_key = s->key;
		rss->rss_key_len = s->key_len;
		a->symmetric = true;
	}
}

/* Ethernet, IPv6, and the inner packet. */
static struct rte_flow *make_rule(const struct spread *s, uint16_t id, uint16_t n_queues, enum rte_flow_item_type inner,
	struct rte_flow_error *error)
{
	struct rte_flow_item_ipv6 outer = {.hdr.proto = inner == RTE_FLOW_ITEM_TYPE_IPV6 ? IPPROTO_IPV6 : IPPROTO_IPIP};
	struct rte_flow_item_ipv6 mask = {.hdr.proto = 0xff};
	uint16_t queue[SPREAD_QUEUES];
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV6, .spec = &outer, .mask = &mask}, {.type = inner},
		{.type = RTE_FLOW_ITEM_TYPE_END}};
	struct rte_flow_action_rss rss = {.level = LEVEL_INNER,
		.types = RSS,
		.key = s->key_len ? s->key : NULL,
		.key_len = s->key_len,
		.queue = queue,
		.queue_num = n_queues};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss},
		{.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};

	for (uint16_t q = 0; q < n_queues; q++)
		queue[q] = q;
	return rte_flow_create(id, &attr, pattern, actions, error);
}

uint8_t spread_with_software(uint8_t device, enum cfg_rx_spread who)
{
	bool stays = device == PORT_SPREAD_OUTER || device == PORT_SPREAD_NONE;

	if (device == PORT_SPREAD_ONE || who == RX_SPREAD_DEVICE || (who == RX_SPREAD_AUTO && !stays))
		return device;
	return PORT_SPREAD_SOFTWARE;
}

static void add_rules(struct spread *s, uint16_t id, uint16_t n_queues, struct port_abilities *a)
{
	static const enum rte_flow_item_type inner[SPREAD_RULES] = {RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_IPV4};
	struct rte_flow_error error = {.message = NULL};

	s->why[0] = '\0';
	if (a->spread != PORT_SPREAD_OUTER || n_queues > SPREAD_QUEUES)
		return;
	for (unsigned int i = 0; i < SPREAD_RULES; i++) {
		s->rule[i] = make_rule(s, id, n_queues, inner[i], &error);
		if (s->rule[i])
			continue;
		snprintf(s->why, sizeof(s->why), "%s", error.message ? error.message : "the driver gives no reason");
		spread_stop(s, id);
		return;
	}
	a->spread = PORT_SPREAD_RULE;
}

void spread_start(struct spread *s, uint16_t id, uint16_t n_queues, struct port_abilities *a)
{
	add_rules(s, id, n_queues, a);
	a->spread = spread_with_software(a->spread, (enum cfg_rx_spread)s->who);
}

void spread_stop(struct spread *s, uint16_t id)
{
	struct rte_flow_error error;

	for (unsigned int i = 0; i < SPREAD_RULES; i++) {
		if (s->rule[i])
			rte_flow_destroy(id, s->rule[i], &error);
		s->rule[i] = NULL;
	}
}
