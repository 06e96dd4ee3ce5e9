/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rx lcore polls each receive queue, and which worker owns each port. Pure: a start and --check ask the same function. */
#ifndef CONFIG_DEAL_H
#define CONFIG_DEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"

struct config;

#define DEAL_LCORES 127	   /* lcores 0 to 126 */
#define DEAL_QUEUES_MAX 64 /* receive queues of a port */
#define DEAL_ANYWHERE (-1) /* NUMA node of what is near to all */

/* NUMA nodes of ports and lcores. */
struct cfg_places {
	int port[MAX_PORTS];
	int lcore[DEAL_LCORES];
};

struct cfg_deal {
	uint8_t rx[MAX_PORTS][DEAL_QUEUES_MAX]; /* by port and queue: index in lcores.rx */
	uint8_t owner[MAX_PORTS];		/* by port: index in lcores.worker */
	uint16_t queues[DEAL_LCORES];		/* of each of lcores.rx */
	uint16_t ports[DEAL_LCORES];		/* of each of lcores.worker */
};

/* All ports and lcores are near to each other. */
void cfg_places_init(struct cfg_places *p);

/*
 * A queue goes to the rx lcore with the fewest queues, a port without `worker` to the worker with the fewest ports: of those
 * on the node of the port, if there are any, or else of all.
 */
void cfg_deal(const struct config *c, const struct cfg_places *where, struct cfg_deal *out);

/* The node of the buffers that a port receives into: its own, or else that of the rx lcore of its first queue. */
int cfg_node_of_port(const struct config *c, const struct cfg_places *where, const struct cfg_deal *d, uint32_t port);

/* Is a lcore on another node than the port? False if either is anywhere. */
static inline bool cfg_is_far(const struct cfg_places *where, uint32_t port, uint64_t lcore)
{
	return where->port[port] >= 0 && where->lcore[lcore] >= 0 && where->port[port] != where->lcore[lcore];
}

#endif
