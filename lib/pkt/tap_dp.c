/* SPDX-License-Identifier: BSD-3-Clause */
#include "pkt/pkt.h"

#include <rte_ring.h>

#define TAP_SNAPLEN 65535

void pkt_tap_copy(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	enum tap_direction direction, unsigned int reason)
{
	for (unsigned int i = 0; i < n; i++) {
		struct tap_record *r;
		struct rte_mbuf *copy;

		pkt_unpoison(pkts[i]);
		copy = rte_pktmbuf_copy(pkts[i], t->pool, 0, TAP_SNAPLEN);
		if (!copy) {
			stat_add(&t->lost, 1);
			continue;
		}
		r = (struct tap_record *)rte_mbuf_to_priv(copy);
		*r = (struct tap_record){.time_ns = t->now_ns,
			.length = pkts[i]->pkt_len,
			.port = port,
			.direction = (uint8_t)direction,
			.reason = (uint8_t)reason};
		if (rte_ring_sp_enqueue(t->ring, copy) != 0) {
			rte_pktmbuf_free(copy);
			stat_add(&t->lost, 1);
		}
	}
}
