/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The floor of scripts/bench: an lcore that receives bursts from port 0 and sends them to port 1, with a packet pool as
 * sluice creates it. What sluice takes over this loop is its own work. testpmd's io mode is no such floor: without
 * hugepages its pool has one buffer per page, so that all headers lie in the same few sets of the cache.
 * Usage: bench_floor EAL-OPTIONS -- BUFFERS; runs until SIGINT. Packets are counted by the devices.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include "base/limits.h"
#include "pkt/pkt.h"

#define DESCRIPTORS 1024
#define CACHE 256 /* buffers of the pool that an lcore keeps, as in a node with many buffers */

static volatile sig_atomic_t stop;

static void on_signal(int signal)
{
	(void)signal;
	stop = 1;
}

static int forward(void *arg)
{
	struct rte_mbuf *pkts[LIMIT_BURST];
	uint16_t n, sent;

	(void)arg;
	while (!stop) {
		n = rte_eth_rx_burst(0, 0, pkts, LIMIT_BURST);
		if (!n)
			continue;
		sent = rte_eth_tx_burst(1, 0, pkts, n);
		if (sent < n)
			rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	}
	return 0;
}

static int start_port(uint16_t id, struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {0};
	int rc = rte_eth_dev_configure(id, 1, 1, &conf);

	if (rc == 0)
		rc = rte_eth_rx_queue_setup(id, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL, pool);
	if (rc == 0)
		rc = rte_eth_tx_queue_setup(id, 0, DESCRIPTORS, SOCKET_ID_ANY, NULL);
	return rc ? rc : rte_eth_dev_start(id);
}

int main(int argc, char **argv)
{
	int used = rte_eal_init(argc, argv);
	struct rte_mempool *pool;
	unsigned int lcore;

	if (used < 0 || used + 1 >= argc)
		return 2;
	pool = pkt_pool_create("floor", (unsigned int)atoi(argv[used + 1]), CACHE, RTE_MBUF_DEFAULT_DATAROOM,
		SOCKET_ID_ANY, false);
	lcore = rte_get_next_lcore(-1, 1, 0);
	if (!pool || lcore == RTE_MAX_LCORE || start_port(0, pool) != 0 || start_port(1, pool) != 0) {
		fprintf(stderr, "bench_floor: expected two ports, two lcores and memory for %s buffers\n",
			argv[used + 1]);
		return 1;
	}
	signal(SIGINT, on_signal);
	if (rte_eal_remote_launch(forward, NULL, lcore) != 0)
		return 1;
	while (!stop)
		pause();
	rte_eal_mp_wait_lcore();
	for (uint16_t id = 0; id < 2; id++) {
		rte_eth_dev_stop(id);
		rte_eth_dev_close(id);
	}
	rte_eal_cleanup();
	return 0;
}
