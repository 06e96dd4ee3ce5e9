/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates and frees a worker's neighbour table: before lcores start, after they have stopped. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include "base/aligned.h"
#include "neigh/nbr.h"

int nbr_table_init(struct nbr_table *t, const char *name, uint32_t learnt, uint32_t hold_total, int socket)
{
	struct rte_hash_parameters params = {
		.name = name,
		.entries = SNAP_NBR_MAX + learnt,
		.key_len = 20,
		.hash_func = rte_hash_crc,
		.socket_id = socket,
		/* configured entries must fit even when a hash bucket happens to be full */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	*t = (struct nbr_table){.n = SNAP_NBR_MAX + learnt, .hold_total = hold_total, .first_free = UINT32_MAX};
	t->nbr = new_aligned(t->n * sizeof(*t->nbr));
	t->by_addr = rte_hash_create(&params);
	if (!t->nbr || !t->by_addr) {
		nbr_table_fini(t);
		return -ENOMEM;
	}
	for (uint32_t id = t->n; id-- > SNAP_NBR_MAX;) {
		t->nbr[id].waiting.n = t->first_free;
		t->first_free = id;
	}
	return 0;
}

void nbr_table_fini(struct nbr_table *t)
{
	for (uint32_t i = 0; t->nbr && i < t->n; i++)
		while (t->nbr[i].used_id && t->nbr[i].waiting.n)
			pkt_free(fifo_pop(&t->nbr[i].waiting));
	free(t->nbr);
	rte_hash_free(t->by_addr);
	*t = (struct nbr_table){0};
}
