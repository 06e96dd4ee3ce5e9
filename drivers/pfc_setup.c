/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configures flow control of a device when its port starts (IEEE 802.1Qbb), and restores the original settings when the
 * port stops. Management thread.
 */
#define ALLOW_EXPERIMENTAL_API /* PFC of queues is, from 22.03 to 26.07 at least */

#include "drivers/pfc_setup.h"

#include <string.h>

#include "base/compiler.h"

const struct pfc_device pfc_ethdev = {
	.fc_get = rte_eth_dev_flow_ctrl_get,
	.fc_set = rte_eth_dev_flow_ctrl_set,
	.pfc_set = rte_eth_dev_priority_flow_ctrl_set,
	.queue_info = rte_eth_dev_priority_flow_ctrl_queue_info_get,
	.queue_set = rte_eth_dev_priority_flow_ctrl_queue_configure,
};

enum fwd {
	FWD_ALWAYS,  /* software device: frames always pass */
	FWD_HONOURS, /* mac_ctrl_frame_fwd works */
	FWD_REFUSES, /* the request fails, or is documented to fail */
	FWD_IGNORES, /* the request succeeds without effect */
};

/* From the sources of DPDK 22.11. For other drivers the return value of the request counts. */
static const struct {
	const char *driver;
	enum fwd fwd;
	bool swallows; /* drops MAC control frames that software sends */
} known[] = {
	{"net_pcap", FWD_ALWAYS, false},
	{"net_af_packet", FWD_ALWAYS, false},
	{"net_memif", FWD_ALWAYS, false},
	{"net_null", FWD_ALWAYS, false},
	{"net_ring", FWD_ALWAYS, false},
	{"net_tap", FWD_ALWAYS, false},
	{"net_e1000_igb", FWD_HONOURS, false},
	{"net_e1000_em", FWD_HONOURS, false},
	{"net_e1000_igc", FWD_HONOURS, false},
	{"net_igc", FWD_HONOURS, false},
	{"net_ixgbe", FWD_HONOURS, false},
	{"net_i40e", FWD_HONOURS, true},
	{"net_txgbe", FWD_HONOURS, false},
	{"net_ngbe", FWD_HONOURS, false},
	{"net_hns3", FWD_REFUSES, false},
	{"net_cn9k", FWD_REFUSES, false},
	{"net_cn10k", FWD_REFUSES, false},
	{"net_octeontx", FWD_REFUSES, false},
	{"net_mvpp2", FWD_REFUSES, false},
	{"net_sfc_efx", FWD_REFUSES, false},
	{"net_bnxt", FWD_REFUSES, false},
	{"net_ice", FWD_IGNORES, false},
	{"mlx5_pci", FWD_IGNORES, false},
	{"net_mlx4", FWD_IGNORES, false},
};

static bool takes_frames(const struct pfc_device *d, uint16_t id, enum fwd fwd, struct pfc_changes *changes)
{
	struct rte_eth_fc_conf conf;

	if (fwd == FWD_ALWAYS)
		return true;
	if (fwd == FWD_REFUSES || fwd == FWD_IGNORES)
		return false;
	memset(&conf, 0, sizeof(conf));
	if (d->fc_get(id, &conf) != 0)
		return false;
	changes->before = conf;
	conf.mode = RTE_ETH_FC_NONE; /* software obeys PFC, so the device must not */
	conf.autoneg = 0;
	conf.mac_ctrl_frame_fwd = 1;
	changes->fc = d->fc_set(id, &conf) == 0;
	return changes->fc;
}

static int set_priority(const struct pfc_device *d, uint16_t id, unsigned int priority, enum rte_eth_fc_mode mode)
{
	struct rte_eth_pfc_conf conf;

	memset(&conf, 0, sizeof(conf));
	conf.fc.mode = mode;
	conf.fc.pause_time = UINT16_MAX;
	conf.fc.send_xon = 1;
	conf.priority = (uint8_t)priority;
	return d->pfc_set(id, &conf);
}

/* All priorities or none: partial PFC would leave some lossless priorities unprotected. */
static bool obeys_itself(const struct pfc_device *d, uint16_t id, uint8_t priorities)
{
	/* reception only: when to pause the neighbour depends on software queues */
	for (unsigned int i = 0; i < 8; i++) {
		if (!(priorities >> i & 1) || set_priority(d, id, i, RTE_ETH_FC_RX_PAUSE) == 0)
			continue;
		while (i--)
			if (priorities >> i & 1)
				set_priority(d, id, i, RTE_ETH_FC_NONE);
		return false;
	}
	return true;
}

static enum fwd fwd_of(const char *driver, bool *swallows)
{
	*swallows = false;
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(known[i].driver, driver) != 0)
			continue;
		*swallows = known[i].swallows;
		return known[i].fwd;
	}
	return FWD_HONOURS;
}

uint16_t pfc_tx_queues(const struct pfc_device *d, uint16_t id, const char *driver, uint8_t priorities, bool hardware,
	uint16_t most)
{
	unsigned int n = 1u + (unsigned int)__builtin_popcount(priorities);
	struct rte_eth_pfc_queue_info info;
	bool swallows;
	enum fwd fwd = fwd_of(driver, &swallows);

	memset(&info, 0, sizeof(info));
	if (!priorities || !hardware || fwd == FWD_ALWAYS || fwd == FWD_HONOURS || n > most ||
		d->queue_info(id, &info) != 0)
		return 1;
	/* classes are counted from 0 */
	if (priorities >> MIN_OF(info.tc_max, 8) ||
		(info.mode_capa != RTE_ETH_FC_RX_PAUSE && info.mode_capa != RTE_ETH_FC_FULL))
		return 1;
	return (uint16_t)n;
}

static int set_queue(const struct pfc_device *d, uint16_t id, uint8_t queue, unsigned int priority,
	enum rte_eth_fc_mode mode)
{
	struct rte_eth_pfc_queue_conf conf;

	memset(&conf, 0, sizeof(conf));
	conf.mode = mode;
	conf.rx_pause.tx_qid = queue;
	conf.rx_pause.tc = (uint8_t)priority;
	return d->queue_set(id, &conf);
}

/* A transmit queue for each priority, stopped by its pauses alone. All or none, as above. */
static bool obeys_by_queues(const struct pfc_device *d, uint16_t id, uint8_t priorities, struct pfc_changes *changes)
{
	uint8_t queue = 0;

	for (unsigned int i = 0; i < 8; i++) {
		if (!(priorities >> i & 1))
			continue;
		if (set_queue(d, id, ++queue, i, RTE_ETH_FC_RX_PAUSE) == 0) {
			changes->queue_of[i] = queue;
			continue;
		}
		while (i--)
			if (changes->queue_of[i])
				set_queue(d, id, changes->queue_of[i], i, RTE_ETH_FC_NONE);
		memset(changes->queue_of, 0, sizeof(changes->queue_of));
		return false;
	}
	return true;
}

void pfc_setup(const struct pfc_device *d, uint16_t id, const char *driver, uint8_t priorities, bool hardware,
	uint16_t n_tx, struct port_abilities *abilities, struct pfc_changes *changes)
{
	enum fwd fwd = fwd_of(driver, &abilities->pfc_swallows);

	abilities->pfc = PORT_PFC_SOFTWARE;
	abilities->pfc_queues = false;
	*changes = (struct pfc_changes){0};
	if (!priorities)
		return;
	if (takes_frames(d, id, fwd, changes))
		return;
	abilities->pfc = PORT_PFC_BLIND;
	if (hardware && obeys_itself(d, id, priorities)) {
		abilities->pfc = PORT_PFC_HARDWARE;
		changes->obeys = priorities;
	} else if (hardware && n_tx > 1 && obeys_by_queues(d, id, priorities, changes)) {
		abilities->pfc = PORT_PFC_HARDWARE;
		abilities->pfc_queues = true;
	}
}

void pfc_restore(const struct pfc_device *d, uint16_t id, struct pfc_changes *changes)
{
	if (changes->fc)
		d->fc_set(id, &changes->before);
	for (unsigned int i = 0; i < 8; i++)
		if (changes->obeys >> i & 1)
			set_priority(d, id, i, RTE_ETH_FC_NONE);
	for (unsigned int i = 0; i < 8; i++)
		if (changes->queue_of[i])
			set_queue(d, id, changes->queue_of[i], i, RTE_ETH_FC_NONE);
	*changes = (struct pfc_changes){0};
}
