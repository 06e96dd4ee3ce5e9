/* SPDX-License-Identifier: BSD-3-Clause */
/* Who does PFC on a port, against a device of functions; no NIC has been met yet. */
#include "test/support/unit.h"

#include "drivers/abilities.h"
#include "drivers/pfc_setup.h"

/* The answers of the device, and the settings that it was asked for. */
static struct fake {
	int fc_get, fc_set, pfc_set;
	int pfc_fails_at;		      /* priority */
	struct rte_eth_pfc_queue_info queues; /* tc_max 0: no PFC of queues */
	int queue_fails_at;		      /* 1 and up; 0: never */
	uint8_t tc_of[9];		      /* by queue: priority + 1 that stops it */
	struct rte_eth_fc_conf fc;
	uint8_t obeys; /* bit per priority */
	unsigned int calls;
} fake;

static int fc_get(uint16_t id, struct rte_eth_fc_conf *conf)
{
	fake.calls++;
	assert_int_equal(id, 7);
	conf->mode = RTE_ETH_FC_FULL;
	conf->autoneg = 1;
	conf->high_water = 80;
	conf->low_water = 60;
	return fake.fc_get;
}

static int fc_set(uint16_t id, struct rte_eth_fc_conf *conf)
{
	fake.calls++;
	assert_int_equal(id, 7);
	assert_int_equal(conf->autoneg, conf->mode == RTE_ETH_FC_FULL);
	fake.fc = *conf;
	return fake.fc_set;
}

static int pfc_set(uint16_t id, struct rte_eth_pfc_conf *conf)
{
	fake.calls++;
	assert_int_equal(id, 7);
	if (fake.pfc_set || (conf->fc.mode != RTE_ETH_FC_NONE && conf->priority == fake.pfc_fails_at))
		return fake.pfc_set ? fake.pfc_set : -EINVAL;
	if (conf->fc.mode == RTE_ETH_FC_RX_PAUSE)
		fake.obeys = (uint8_t)(fake.obeys | 1u << conf->priority);
	else
		fake.obeys = (uint8_t)(fake.obeys & ~(1u << conf->priority));
	return 0;
}

static int queue_info(uint16_t id, struct rte_eth_pfc_queue_info *info)
{
	assert_int_equal(id, 7);
	*info = fake.queues;
	return fake.queues.tc_max ? 0 : -ENOTSUP;
}

static int queue_set(uint16_t id, struct rte_eth_pfc_queue_conf *conf)
{
	assert_int_equal(id, 7);
	if (conf->mode == RTE_ETH_FC_RX_PAUSE && conf->rx_pause.tx_qid == fake.queue_fails_at)
		return -EIO;
	fake.tc_of[conf->rx_pause.tx_qid] = conf->mode == RTE_ETH_FC_NONE ? 0 : (uint8_t)(conf->rx_pause.tc + 1);
	return 0;
}

static const struct pfc_device device = {fc_get, fc_set, pfc_set, queue_info, queue_set};

static void who_does_it(void **state)
{
	static const struct {
		const char *driver;
		struct fake fake;
		uint8_t priorities;
		bool hardware;
		enum port_pfc pfc;
		bool swallows;
		uint8_t obeys;
		bool asked; /* the device was asked anything */
	} rows[] = {
		{"net_ixgbe", {.pfc_fails_at = -1}, 0, true, PORT_PFC_SOFTWARE, false, 0, false},
		{"net_af_packet", {.fc_get = -ENOTSUP, .pfc_set = -ENOTSUP}, 8, true, PORT_PFC_SOFTWARE, false, 0,
			false},
		{"net_ixgbe", {.pfc_fails_at = -1}, 8, true, PORT_PFC_SOFTWARE, false, 0, true},
		{"net_i40e", {.pfc_set = -ENOSYS}, 8, true, PORT_PFC_SOFTWARE, true, 0, true},
		/* says yes and means no */
		{"net_ice", {.pfc_set = -ENOTSUP}, 8, true, PORT_PFC_BLIND, false, 0, true},
		{"mlx5_pci", {.pfc_set = -ENOTSUP}, 8, true, PORT_PFC_BLIND, false, 0, true},
		{"net_hns3", {.pfc_fails_at = -1}, 0x18, true, PORT_PFC_HARDWARE, false, 0x18, true},
		{"net_hns3", {.pfc_fails_at = -1}, 0x18, false, PORT_PFC_BLIND, false, 0, false},
		/* one priority fails: none is left switched on */
		{"net_hns3", {.pfc_fails_at = 4}, 0x1b, true, PORT_PFC_BLIND, false, 0, true},
		{"net_unheard_of", {.pfc_fails_at = -1}, 8, true, PORT_PFC_SOFTWARE, false, 0, true},
		{"net_unheard_of", {.fc_set = -ENOTSUP, .pfc_fails_at = -1}, 8, true, PORT_PFC_HARDWARE, false, 8,
			true},
		{"net_unheard_of", {.fc_get = -ENOTSUP, .pfc_set = -ENOTSUP}, 8, true, PORT_PFC_BLIND, false, 0, true},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct port_abilities a = {0};
		struct pfc_changes changes;
		unsigned int calls;

		fake = rows[i].fake;
		pfc_setup(&device, 7, rows[i].driver, rows[i].priorities, rows[i].hardware, 1, &a, &changes);
		check(a.pfc == rows[i].pfc, "row %u, %s: %u", i, rows[i].driver, a.pfc);
		check(a.pfc_swallows == rows[i].swallows, "row %u", i);
		check(fake.obeys == rows[i].obeys, "row %u: obeys %02x", i, fake.obeys);
		check((fake.calls != 0) == rows[i].asked, "row %u: %u calls", i, fake.calls);
		check(abilities_pfc(&a)[0], "row %u", i);
		/* as it was found; a device that was not changed is left alone */
		calls = fake.calls;
		check(changes.fc == (rows[i].asked && rows[i].pfc == PORT_PFC_SOFTWARE), "row %u", i);
		check(!changes.fc || fake.fc.mode == RTE_ETH_FC_NONE, "row %u: mode %u", i, fake.fc.mode);
		pfc_restore(&device, 7, &changes);
		check(fake.obeys == 0, "row %u: obeys %02x when stopped", i, fake.obeys);
		check((fake.calls > calls) == (rows[i].obeys || (rows[i].asked && rows[i].pfc == PORT_PFC_SOFTWARE)),
			"row %u", i);
		pfc_restore(&device, 7, &changes);
	}
}

/* Where software obeys, the device must not obey too, and keeps its other settings. */
static void the_device_stays_passive(void **state)
{
	struct port_abilities a = {0};
	struct pfc_changes changes;

	(void)state;
	fake = (struct fake){.pfc_fails_at = -1};
	pfc_setup(&device, 7, "net_ixgbe", 8, true, 1, &a, &changes);
	assert_int_equal(fake.fc.mode, RTE_ETH_FC_NONE);
	assert_int_equal(fake.fc.mac_ctrl_frame_fwd, 1);
	assert_int_equal(fake.fc.high_water, 80);
	assert_int_equal(fake.fc.low_water, 60);
	pfc_restore(&device, 7, &changes);
	assert_int_equal(fake.fc.mode, RTE_ETH_FC_FULL);
	assert_int_equal(fake.fc.mac_ctrl_frame_fwd, 0);
	assert_int_equal(fake.fc.autoneg, 1);
}

/* Lossless classes on a port that cannot keep their promise: an error that names the cure, unless it is accepted. */
static void promises(void **state)
{
	static const struct {
		uint8_t pfc;
		bool swallows, lossless, accepted;
		struct cfg_relayed relayed;
		const char *says; /* NULL: may start */
	} rows[] = {
		{PORT_PFC_SOFTWARE, false, true, false, {true, true}, NULL},
		{PORT_PFC_SOFTWARE, true, true, false, {false, false}, "drops PFC frames that software sends"},
		{PORT_PFC_SOFTWARE, true, true, true, {false, false}, NULL},
		{PORT_PFC_SOFTWARE, true, false, false, {false, false}, NULL},
		{PORT_PFC_SOFTWARE, true, false, false, {true, false}, NULL},
		{PORT_PFC_SOFTWARE, true, false, false, {false, true}, "could not pause the gateway"},
		{PORT_PFC_HARDWARE, false, true, false, {false, false}, NULL},
		{PORT_PFC_HARDWARE, false, true, false, {false, true}, NULL},
		{PORT_PFC_HARDWARE, false, true, false, {true, false}, "the PFC relay of this port would receive none"},
		{PORT_PFC_HARDWARE, false, true, true, {true, false}, NULL},
		{PORT_PFC_BLIND, false, true, false, {false, false}, "cannot pause"},
		{PORT_PFC_BLIND, false, true, true, {false, false}, NULL},
		{PORT_PFC_BLIND, false, false, false, {false, true}, NULL},
	};
	uint64_t priority = 3;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct port_abilities a = {.pfc = rows[i].pfc, .pfc_swallows = rows[i].swallows, .driver = "net_x"};
		struct cfg_port port = {.name = (char *)(uintptr_t) "p0",
			.pfc = {.priorities = {&priority, rows[i].lossless},
				.blind = rows[i].accepted ? PFC_BLIND_ACCEPT : PFC_BLIND_REFUSE}};
		char err[512] = "";
		int rc = abilities_lossless(&port, &a, &rows[i].relayed, err, sizeof(err));

		check((rc == 0) == !rows[i].says, "row %u: %d: %s", i, rc, err);
		check(!rows[i].says || (strstr(err, rows[i].says) && strstr(err, "set pfc.blind to accept")),
			"row %u: %s", i, err);
	}
}

#define QUEUES(n, mode) \
	{ \
		(n), (mode) \
	}

/* A device that can stop single transmit queues has one for each lossless priority, and stops none other. */
static void a_queue_for_each_priority(void **state)
{
	static const struct {
		const char *driver;
		struct fake fake;
		uint8_t priorities;
		bool hardware;
		uint16_t most, n;
		enum port_pfc pfc;
		uint8_t tc_of[9];
	} rows[] = {
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 0x18, true, 16, 3,
			PORT_PFC_HARDWARE, {0, 4, 5}},
		{"net_cn9k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_RX_PAUSE)}, 0x81, true, 3, 3,
			PORT_PFC_HARDWARE, {0, 1, 8}},
		/* too few queues, too few classes, only sends, must not, cannot */
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 0x18, true, 2, 1,
			PORT_PFC_BLIND, {0}},
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(4, RTE_ETH_FC_FULL)}, 0x18, true, 16, 1,
			PORT_PFC_BLIND, {0}},
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_TX_PAUSE)}, 8, true, 16, 1,
			PORT_PFC_BLIND, {0}},
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 8, false, 16, 1,
			PORT_PFC_BLIND, {0}},
		{"mlx5_pci", {.pfc_set = -ENOTSUP}, 8, true, 16, 1, PORT_PFC_BLIND, {0}},
		/* one queue fails: none is left */
		{"net_cn10k", {.pfc_set = -ENOTSUP, .queues = QUEUES(8, RTE_ETH_FC_FULL), .queue_fails_at = 2}, 0x18,
			true, 16, 3, PORT_PFC_BLIND, {0}},
		/* the port-based one comes first; software before both */
		{"net_hns3", {.pfc_fails_at = -1, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 8, true, 16, 2,
			PORT_PFC_HARDWARE, {0}},
		{"net_ixgbe", {.pfc_fails_at = -1, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 8, true, 16, 1,
			PORT_PFC_SOFTWARE, {0}},
		{"net_pcap", {.pfc_fails_at = -1, .queues = QUEUES(8, RTE_ETH_FC_FULL)}, 8, true, 16, 1,
			PORT_PFC_SOFTWARE, {0}},
	};
	static const uint8_t none[9];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct port_abilities a = {0};
		struct pfc_changes changes;
		uint16_t n;

		fake = rows[i].fake;
		n = pfc_tx_queues(&device, 7, rows[i].driver, rows[i].priorities, rows[i].hardware, rows[i].most);
		check(n == rows[i].n, "row %u, %s: %u queues", i, rows[i].driver, n);
		pfc_setup(&device, 7, rows[i].driver, rows[i].priorities, rows[i].hardware, n, &a, &changes);
		check(a.pfc == rows[i].pfc, "row %u, %s: %u", i, rows[i].driver, a.pfc);
		check(a.pfc_queues == (rows[i].tc_of[1] != 0), "row %u", i);
		check(memcmp(fake.tc_of, rows[i].tc_of, sizeof(none)) == 0, "row %u: queues", i);
		for (unsigned int k = 0; k < 8; k++)
			check(!changes.queue_of[k] || fake.tc_of[changes.queue_of[k]] == k + 1, "row %u: %u", i, k);
		check(!a.pfc_queues || strstr(abilities_pfc(&a), "control traffic goes on"), "row %u", i);
		pfc_restore(&device, 7, &changes);
		check(memcmp(fake.tc_of, none, sizeof(none)) == 0, "row %u: left behind", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_does_it),
		cmocka_unit_test(the_device_stays_passive),
		cmocka_unit_test(promises),
		cmocka_unit_test(a_queue_for_each_priority),
	};

	return cmocka_run_group_tests_name("pfc_setup", tests, NULL, NULL);
}
