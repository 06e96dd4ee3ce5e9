/* SPDX-License-Identifier: BSD-3-Clause */
#include "pkt/pkt.h"

#include <rte_mbuf_pool_ops.h>

struct rte_mempool *pkt_pool_create(const char *name, unsigned int buffers, unsigned int cache, int socket,
	bool shared_cpu)
{
	/* a preempted thread must not block the others on its CPU (ecosystem notes on non-preemptive rings) */
	const char *ops = shared_cpu ? "ring_mt_hts" : "ring_mp_mc";

	_Static_assert(sizeof(struct pkt) % RTE_MBUF_PRIV_ALIGN == 0, "private area must be aligned");
	return rte_pktmbuf_pool_create_by_ops(name, buffers, cache, sizeof(struct pkt),
		RTE_MBUF_DEFAULT_BUF_SIZE, socket, ops);
}

void pkt_cut(struct rte_mbuf *m, uint32_t bytes)
{
	struct rte_mbuf *seg = m, *rest;
	uint32_t left = bytes;

	while (left > seg->data_len) {
		left -= seg->data_len;
		seg = seg->next;
	}
	seg->data_len = (uint16_t)left;
	m->pkt_len = bytes;
	rest = seg->next;
	seg->next = NULL;
	if (rest) {
		uint16_t dropped = 0;

		for (struct rte_mbuf *s = rest; s; s = s->next)
			dropped++;
		m->nb_segs = (uint16_t)(m->nb_segs - dropped);
		rest->nb_segs = dropped;
		pkt_unpoison(rest);
		rte_pktmbuf_free(rest);
	}
	pkt_poison(m);
}

uint32_t pkt_copy_out(const struct rte_mbuf *m, uint32_t at, void *out, uint32_t bytes)
{
	uint8_t *to = out;
	uint32_t done = 0;

	for (; m && done < bytes; m = m->next) {
		uint32_t n;

		if (at >= m->data_len) {
			at -= m->data_len;
			continue;
		}
		n = MIN_OF(bytes - done, (uint32_t)m->data_len - at);
		memcpy(to + done, rte_pktmbuf_mtod_offset(m, const uint8_t *, at), n);
		done += n;
		at = 0;
	}
	return done;
}
