/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive queues, timestamps and promiscuous mode of a NIC, against a device of functions (fake_ethdev.h): what the device
 * can decides what it is asked for.
 */
#include "test/support/unit.h"

#include <errno.h>

#include <rte_flow.h>

#include "drivers/ethdev.h"
#include "pkt/pkt.h"
#include "test/support/conf.h"
#include "test/support/fake_ethdev.h"
#include "test/support/testbed.h"

#define OUTER (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP)

static struct rte_mempool *pool;
static struct config *config;
static char err[256];

/* A device as `fake_ethdev` says, with these keys; NULL: refused, the message is in err. */
static struct port *opened(struct fake_ethdev device, const char *keys)
{
	char yaml[512];
	struct port *p;

	testbed_eal();
	if (!pool)
		pool = pkt_pool_create("spread", 1023, 0, 2048, -1, false);
	snprintf(yaml, sizeof(yaml),
		TESTBED_NODE TESTBED_ONE_LCORE
		"ports: [{name: wan0, device: \"0000:17:00.0\", side: wan, mtu: 1500%s}]\n",
		keys);
	cfg_free(config);
	config = conf_load(CONF_LOAD, yaml);
	fake_ethdev_init(device.driver);
	fake_ethdev.rx_queues = 8;
	fake_ethdev.rss = device.rss;
	fake_ethdev.rx_offloads = device.rx_offloads;
	fake_ethdev.key_size = device.key_size;
	fake_ethdev.rules = device.rules;
	fake_ethdev.no_multicast = device.no_multicast;
	err[0] = '\0';
	p = ethdev_open(config, 0, pool, err, sizeof(err));
	if (p)
		assert_int_equal(p->ops->start(p), 0);
	return p;
}

static void spread(void **state)
{
	static const struct {
		struct fake_ethdev device;
		const char *keys;
		enum port_spread spread;
		uint64_t rss_hf;
		int n_rules;
		bool symmetric;
	} rows[] = {
		{{.driver = "net_ixgbe", .rss = OUTER}, "", PORT_SPREAD_ONE, 0, 0, true},
		{{.driver = "net_cnxk", .rss = OUTER | RTE_ETH_RSS_LEVEL_MASK}, ", rx-queues: 4", PORT_SPREAD_INNER,
			OUTER | RTE_ETH_RSS_LEVEL_INNERMOST, 0, false},
		{{.driver = "mlx5_pci", .rss = OUTER, .rules = 8}, ", rx-queues: 4", PORT_SPREAD_RULE, OUTER, 2, false},
		/* one rule only would leave the inner IPv4 packets on one queue: none then */
		{{.driver = "net_ice", .rss = OUTER, .rules = 1}, ", rx-queues: 4", PORT_SPREAD_SOFTWARE, OUTER, 0,
			false},
		{{.driver = "net_ixgbe", .rss = OUTER}, ", rx-queues: 4", PORT_SPREAD_SOFTWARE, OUTER, 0, false},
		{{.driver = "net_ixgbe", .rss = RTE_ETH_RSS_IPV6, .key_size = 40}, ", rx-queues: 4, rss-symmetric: yes",
			PORT_SPREAD_SOFTWARE, RTE_ETH_RSS_IPV6, 0, true},
		{{.driver = "net_ixgbe", .rss = OUTER}, ", rx-queues: 4, rss-symmetric: yes", PORT_SPREAD_SOFTWARE,
			OUTER, 0, false},
		{{.driver = "net_e1000"}, ", rx-queues: 2", PORT_SPREAD_SOFTWARE, 0, 0, false},
		/* software does not, if the configuration says so, or does so nevertheless */
		{{.driver = "net_ixgbe", .rss = OUTER}, ", rx-queues: 4, rx-spread: device", PORT_SPREAD_OUTER, OUTER,
			0, false},
		{{.driver = "net_e1000"}, ", rx-queues: 2, rx-spread: device", PORT_SPREAD_NONE, 0, 0, false},
		{{.driver = "mlx5_pci", .rss = OUTER, .rules = 8}, ", rx-queues: 4, rx-spread: device",
			PORT_SPREAD_RULE, OUTER, 2, false},
		{{.driver = "net_pcap"}, ", rx-queues: 2, rx-spread: software", PORT_SPREAD_SOFTWARE, 0, 0, false},
		{{.driver = "net_pcap"}, ", rx-spread: software", PORT_SPREAD_ONE, 0, 0, true},
		{{.driver = "net_af_packet", .rss = OUTER, .rules = 8}, ", rx-queues: 2", PORT_SPREAD_LABEL, 0, 0,
			false},
		{{.driver = "net_memif"}, ", rx-queues: 2", PORT_SPREAD_PEER, 0, 0, false},
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct port *p = opened(rows[i].device, rows[i].keys);

		check(p, "row %u: %s", i, err);
		check(p->abilities.spread == rows[i].spread, "row %u: %u", i, p->abilities.spread);
		check(fake_ethdev.rss_hf == rows[i].rss_hf, "row %u: %llx", i, (unsigned long long)fake_ethdev.rss_hf);
		check(fake_ethdev.n_rules == rows[i].n_rules, "row %u: %d rules", i, fake_ethdev.n_rules);
		check(p->abilities.symmetric == rows[i].symmetric, "row %u: symmetric", i);
		if (rows[i].n_rules)
			check(fake_ethdev.rule_level == 2 && fake_ethdev.rule_queues == 4, "row %u: rule", i);
		p->ops->stop(p);
		check(fake_ethdev.n_rules == 0, "row %u: a rule stays", i);
		p->ops->close(p);
	}
}

/* The symmetric key is the two bytes that make the Toeplitz hash of both directions equal, as long as the device's. */
static void symmetric_key(void **state)
{
	struct port *p = opened((struct fake_ethdev){.driver = "net_ice", .rss = OUTER, .key_size = 52},
		", rx-queues: 4, rss-symmetric: yes");

	check(p, "%s", err);
	assert_int_equal(fake_ethdev.key_len, 52);
	for (unsigned int i = 0; i < 52; i++)
		assert_int_equal(fake_ethdev.key[i], i % 2 ? 0x5a : 0x6d);
	p->ops->close(p);
}

static void timestamps(void **state)
{
	struct port *p = opened((struct fake_ethdev){.driver = "mlx5_pci", .rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP},
		"");

	check(p, "%s", err);
	assert_false(fake_ethdev.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP); /* nobody asked */
	assert_false(p->abilities.timestamps);
	p->ops->close(p);
	p = opened((struct fake_ethdev){.driver = "mlx5_pci", .rx_offloads = RTE_ETH_RX_OFFLOAD_TIMESTAMP},
		", hardware-timestamps: yes");
	check(p, "%s", err);
	assert_true(fake_ethdev.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	assert_true(p->abilities.timestamps);
	p->ops->close(p);
	p = opened((struct fake_ethdev){.driver = "net_ixgbe"}, ", hardware-timestamps: yes");
	assert_null(p);
	assert_non_null(strstr(err, "net_ixgbe) has no receive timestamps; remove hardware-timestamps"));
}

/* Circuits take frames to any address: a reload that brings or takes the first one turns promiscuous mode on or off. */
static void circuits(void **state)
{
	struct port *p = opened((struct fake_ethdev){.driver = "net_ice"}, "");

	check(p, "%s", err);
	assert_false(fake_ethdev.promiscuous);
	p->ops->receive_all(p, true);
	assert_true(fake_ethdev.promiscuous && p->abilities.promiscuous);
	p->ops->receive_all(p, false);
	assert_false(fake_ethdev.promiscuous || p->abilities.promiscuous);
	p->ops->close(p);
	/* a device without filters for group addresses keeps it on */
	p = opened((struct fake_ethdev){.driver = "net_ice", .no_multicast = true}, "");
	check(p, "%s", err);
	assert_true(fake_ethdev.promiscuous);
	p->ops->receive_all(p, true);
	p->ops->receive_all(p, false);
	assert_true(fake_ethdev.promiscuous);
	p->ops->close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread),
		cmocka_unit_test(symmetric_key),
		cmocka_unit_test(timestamps),
		cmocka_unit_test(circuits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
