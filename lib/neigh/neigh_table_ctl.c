/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees a worker's neighbour table: before lcores start, after they have stopped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "base/aligned.h"
#include "neigh/neigh_table.h"

int neigh_table_init(struct neigh_table *t, const char *name, uint32_t learnt, uint32_t hold_total, int socket)
{
	struct rte_hash_parameters params = {
		.name = name,
		.entries = SNAP_NEIGH_MAX + learnt,
		.key_len = 20,
		.hash_func = rte_hash_crc,
		.socket_id = socket,
		/* configured entries must fit even when a hash bucket happens to be full */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	*t = (struct neigh_table){.n = SNAP_NEIGH_MAX + learnt, .hold_total = hold_total, .first_free = UINT32_MAX};
	t->neigh = new_aligned(t->n * sizeof(*t->neigh));
	t->share = calloc(NEIGH_SHARES, sizeof(*t->share));
	t->by_addr = rte_hash_create(&params);
	if (!t->neigh || !t->share || !t->by_addr) {
		neigh_table_fini(t);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < NEIGH_SHARES; i++)
		t->share[i].oldest = t->share[i].newest = NEIGH_NONE;
	for (uint32_t id = t->n; id-- > SNAP_NEIGH_MAX;) {
		t->neigh[id].waiting.n = t->first_free;
		t->first_free = id;
	}
	return 0;
}

void neigh_table_fini(struct neigh_table *t)
{
	for (uint32_t i = 0; t->neigh && i < t->n; i++)
		while (t->neigh[i].used_id && t->neigh[i].waiting.n)
			pkt_free(fifo_pop(&t->neigh[i].waiting));
	free(t->neigh);
	free(t->share);
	rte_hash_free(t->by_addr);
	*t = (struct neigh_table){0};
}
