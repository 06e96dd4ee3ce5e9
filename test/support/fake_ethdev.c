/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/fake_ethdev.h"

#include <errno.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_flow.h>

#include "test/support/unit.h"

struct fake_ethdev fake_ethdev;

static struct {
	rte_eth_dev_cb_fn fn;
	void *arg;
} callback[RTE_ETH_EVENT_MAX];

void fake_ethdev_init(const char *driver)
{
	fake_ethdev = (struct fake_ethdev){.driver = driver,
		.plugged = true,
		.up = true,
		.id = 3,
		.mac = {{2, 0, 0, 0, 0, 1}}};
	memset(callback, 0, sizeof(callback));
}

void fake_ethdev_event(enum rte_eth_event_type event)
{
	assert_non_null(callback[event].fn);
	callback[event].fn(fake_ethdev.id, event, callback[event].arg, NULL);
}

static void note(char what)
{
	size_t n = strlen(fake_ethdev.calls);

	assert_true(n + 1 < sizeof(fake_ethdev.calls));
	fake_ethdev.calls[n] = what;
}

static bool is_there(uint16_t id)
{
	return fake_ethdev.plugged && id == fake_ethdev.id;
}

int rte_eth_dev_get_port_by_name(const char *name, uint16_t *id)
{
	(void)name;
	*id = fake_ethdev.id;
	return fake_ethdev.plugged ? 0 : -ENODEV;
}

int rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info)
{
	static const uint32_t flags = RTE_ETH_DEV_INTR_LSC;

	assert_true(is_there(id));
	*info = (struct rte_eth_dev_info){.driver_name = fake_ethdev.driver,
		.if_index = fake_ethdev.index,
		.max_rx_queues = fake_ethdev.rx_queues ? fake_ethdev.rx_queues : 1,
		.flow_type_rss_offloads = fake_ethdev.rss,
		.hash_key_size = fake_ethdev.key_size,
		.max_tx_queues = 1,
		.rx_offload_capa = RTE_ETH_RX_OFFLOAD_SCATTER | fake_ethdev.rx_offloads,
		.dev_flags = &flags};
	return 0;
}

int rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf *conf)
{
	const struct rte_eth_rss_conf *rss = &conf->rx_adv_conf.rss_conf;

	(void)rx;
	(void)tx;
	assert_true(is_there(id) && !fake_ethdev.started);
	/* as ethdev does */
	if ((rss->rss_hf | fake_ethdev.rss) != fake_ethdev.rss || rss->rss_key_len > sizeof(fake_ethdev.key))
		return -EINVAL;
	fake_ethdev.rss_hf = conf->rxmode.mq_mode == RTE_ETH_MQ_RX_RSS ? rss->rss_hf : 0;
	fake_ethdev.offloads = conf->rxmode.offloads;
	fake_ethdev.key_len = rss->rss_key_len;
	if (rss->rss_key)
		memcpy(fake_ethdev.key, rss->rss_key, rss->rss_key_len);
	note('c');
	return 0;
}

int rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx)
{
	(void)rx;
	(void)tx;
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_rx_queue_setup(uint16_t id, uint16_t q, uint16_t n, unsigned int socket, const struct rte_eth_rxconf *conf,
	struct rte_mempool *pool)
{
	(void)q;
	(void)n;
	(void)socket;
	(void)conf;
	(void)pool;
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_tx_queue_setup(uint16_t id, uint16_t q, uint16_t n, unsigned int socket, const struct rte_eth_txconf *conf)
{
	(void)q;
	(void)n;
	(void)socket;
	(void)conf;
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_dev_socket_id(uint16_t id)
{
	(void)id;
	return -1;
}

int rte_eth_macaddr_get(uint16_t id, struct rte_ether_addr *mac)
{
	assert_true(is_there(id));
	memcpy(mac, &fake_ethdev.mac, sizeof(*mac));
	return 0;
}

int rte_eth_dev_default_mac_addr_set(uint16_t id, struct rte_ether_addr *mac)
{
	assert_true(is_there(id));
	note('m');
	if (fake_ethdev.keeps_mac)
		return -EPERM;
	memcpy(&fake_ethdev.mac, mac, sizeof(*mac));
	return 0;
}

int rte_eth_dev_set_mtu(uint16_t id, uint16_t mtu)
{
	(void)mtu;
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_promiscuous_enable(uint16_t id)
{
	fake_ethdev.promiscuous = is_there(id);
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_promiscuous_disable(uint16_t id)
{
	fake_ethdev.promiscuous = false;
	return is_there(id) ? 0 : -ENODEV;
}

int rte_eth_allmulticast_enable(uint16_t id)
{
	return fake_ethdev.no_multicast ? -ENOTSUP : is_there(id) ? 0 : -ENODEV;
}

struct rte_flow *rte_flow_create(uint16_t id, const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
	const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	const struct rte_flow_action_rss *rss = actions[0].conf;

	assert_true(is_there(id) && fake_ethdev.started && attr->ingress);
	assert_int_equal(pattern[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_int_equal(pattern[1].type, RTE_FLOW_ITEM_TYPE_IPV6);
	if (fake_ethdev.n_rules == fake_ethdev.rules) {
		error->message = "too many rules";
		return NULL;
	}
	fake_ethdev.rule_level = (uint8_t)rss->level;
	fake_ethdev.rule_queues = (uint16_t)rss->queue_num;
	fake_ethdev.n_rules++;
	return (struct rte_flow *)&fake_ethdev;
}

int rte_flow_destroy(uint16_t id, struct rte_flow *rule, struct rte_flow_error *error)
{
	(void)error;
	assert_true(is_there(id) && fake_ethdev.started && rule == (struct rte_flow *)&fake_ethdev);
	fake_ethdev.n_rules--;
	return 0;
}

int rte_eth_dev_start(uint16_t id)
{
	assert_true(is_there(id));
	note('S');
	fake_ethdev.started = !fake_ethdev.start_result;
	return fake_ethdev.start_result;
}

int rte_eth_dev_stop(uint16_t id)
{
	assert_true(is_there(id));
	note('s');
	fake_ethdev.started = false;
	return 0;
}

int rte_eth_dev_reset(uint16_t id)
{
	assert_true(is_there(id) && !fake_ethdev.started);
	note('R');
	if (!fake_ethdev.reset_result)
		fake_ethdev.imissed = 0;
	return fake_ethdev.reset_result;
}

int rte_eth_dev_close(uint16_t id)
{
	assert_true(is_there(id) && !fake_ethdev.started);
	note('C');
	return 0;
}

int rte_eal_hotplug_remove(const char *bus, const char *name)
{
	(void)bus;
	(void)name;
	note('U');
	fake_ethdev.plugged = false;
	return 0;
}

int rte_eal_hotplug_add(const char *bus, const char *name, const char *args)
{
	(void)bus;
	(void)name;
	(void)args;
	note('P');
	if (fake_ethdev.plug_result)
		return fake_ethdev.plug_result;
	assert_false(fake_ethdev.plugged);
	fake_ethdev.plugged = true;
	fake_ethdev.id++;
	fake_ethdev.imissed = 0;
	return 0;
}

int rte_eth_link_get_nowait(uint16_t id, struct rte_eth_link *link)
{
	assert_true(is_there(id));
	*link = (struct rte_eth_link){
		.link_status = fake_ethdev.started && fake_ethdev.up ? RTE_ETH_LINK_UP : RTE_ETH_LINK_DOWN};
	return 0;
}

int rte_eth_stats_get(uint16_t id, struct rte_eth_stats *stats)
{
	assert_true(is_there(id));
	*stats = (struct rte_eth_stats){.imissed = fake_ethdev.imissed};
	return 0;
}

int rte_eth_dev_callback_register(uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg)
{
	assert_true(is_there(id));
	callback[event].fn = fn;
	callback[event].arg = arg;
	return 0;
}

int rte_eth_dev_callback_unregister(uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn fn, void *arg)
{
	assert_true(is_there(id) && callback[event].fn == fn && callback[event].arg == arg);
	callback[event].fn = NULL;
	return 0;
}

int rte_eal_alarm_set(uint64_t us, rte_eal_alarm_callback fn, void *arg)
{
	(void)us;
	fn(arg);
	return 0;
}

int rte_eal_alarm_cancel(rte_eal_alarm_callback fn, void *arg)
{
	(void)fn;
	(void)arg;
	return 0;
}
