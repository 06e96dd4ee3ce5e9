/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pools of packet buffers: one on each NUMA node that ports or lcores are on, so that a frame is received into memory near
 * its port. Each has cfg_pool buffers: the promises of config/budget.h hold for whatever part of the traffic one pool
 * serves. Management thread.
 */
#include <errno.h>
#include <stdio.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_memory.h>

#include "base/text.h"
#include "config/budget.h"
#include "config/model.h"
#include "node/node_ctl.h"

/* The caches of the lcores must not hold a large part of a small pool. */
static unsigned int cache_size(const struct node *n)
{
	uint64_t share = cfg_pool(n->config) / (n->n_lcores * 4u);

	return (unsigned int)MIN_OF(share, 256);
}

static struct rte_mempool *make_pool(const struct node *n, const struct node_options *options, int socket)
{
	const struct cfg_memory *m = &n->config->memory;
	uint32_t bytes = options->buffer_bytes ? options->buffer_bytes : (uint32_t)m->buffer_size;
	char name[28];

	snprintf(name, sizeof(name), "%x.pool.%u", (unsigned int)((uintptr_t)n >> 6), n->n_pools);
	if (options->new_pool)
		return options->new_pool(name, (unsigned int)cfg_pool(n->config), bytes);
	/* ordinary memory is on no particular node, and DPDK has no heap for nodes without a CPU of this process */
	return pkt_pool_create(name, (unsigned int)cfg_pool(n->config), cache_size(n), bytes,
		rte_eal_has_hugepages() ? socket : SOCKET_ID_ANY, options->shared_cpu);
}

/* The pool on a NUMA node, which is made if it is not there yet. NULL: no memory. */
static struct rte_mempool *pool_on(struct node *n, const struct node_options *options, int socket, int *socket_of)
{
	for (uint16_t k = 0; k < n->n_pools; k++)
		if (socket_of[k] == socket)
			return n->pools[k];
	if (n->n_pools == NODE_POOLS_MAX)
		return n->pools[0];
	n->pools[n->n_pools] = make_pool(n, options, socket < 0 ? options->socket : socket);
	if (!n->pools[n->n_pools])
		return NULL;
	socket_of[n->n_pools] = socket;
	return n->pools[n->n_pools++];
}

int node_make_pools(struct node *n, const struct node_options *options, char *err, size_t size)
{
	const struct cfg_memory *m = &n->config->memory;
	int socket_of[NODE_POOLS_MAX];
	bool made = true;

	for (uint32_t i = 0; i < n->n_ports && made; i++) {
		n->pool_of_port[i] = pool_on(n, options, cfg_node_of_port(n->config, &n->places, &n->deal, i),
			socket_of);
		made = n->pool_of_port[i];
	}
	if (!n->n_ports)
		made = pool_on(n, options, DEAL_ANYWHERE, socket_of);
	n->pool = n->pools[0];
	if (made)
		return 0;
	return text_fail(err, size, -ENOMEM,
		"no memory for %llu packet buffers of %llu bytes (%s): lower memory.buffers or memory.buffer-size, or "
		"give "
		"the EAL more with -- -m MEGABYTES",
		(unsigned long long)cfg_pool(n->config), (unsigned long long)m->buffer_size, rte_strerror(rte_errno));
}

uint64_t node_buffers(const struct node *n)
{
	uint64_t all = 0;

	for (uint16_t i = 0; i < n->n_pools; i++)
		all += n->pools[i]->size;
	return all;
}

uint64_t node_buffers_free(const struct node *n)
{
	uint64_t all = 0;

	for (uint16_t i = 0; i < n->n_pools; i++)
		all += rte_mempool_avail_count(n->pools[i]);
	return all;
}

uint64_t node_buffers_used(const struct node *n)
{
	uint64_t all = 0;

	for (uint16_t i = 0; i < n->n_pools; i++)
		all += rte_mempool_in_use_count(n->pools[i]);
	return all;
}
