/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates packet pools in the management thread; cuts and copies packets on any lcore. */
#include "pkt/pkt.h"

#include <rte_eal.h>
#include <rte_mbuf_dyn.h>

struct rte_mempool *pkt_pool_create(const char *name, unsigned int buffers, unsigned int cache, uint32_t bytes,
	int socket, bool shared_cpu)
{
	/* a preempted thread must not block the others on its CPU (DPDK: rings are not preemptive) */
	const char *ops = shared_cpu ? "ring_mt_hts" : "ring_mp_mc";
	/*
	 * Without hugepages DPDK would place one buffer per page, so that none crosses a page boundary. In that mode
	 * every usable device has virtual addresses, so a buffer may cross a boundary.
	 */
	unsigned int flags = rte_eal_has_hugepages() ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = (uint16_t)(bytes + RTE_PKTMBUF_HEADROOM),
		.mbuf_priv_size = sizeof(struct pkt)};
	struct rte_mempool *p = rte_mempool_create_empty(name, buffers,
		sizeof(struct rte_mbuf) + sizeof(struct pkt) + priv.mbuf_data_room_size, cache, sizeof(priv), socket,
		flags);

	_Static_assert(sizeof(struct pkt) % RTE_MBUF_PRIV_ALIGN == 0, "private area must be aligned");
	if (!p)
		return NULL;
	if (rte_mempool_set_ops_byname(p, ops, NULL) != 0) {
		rte_mempool_free(p);
		return NULL;
	}
	rte_pktmbuf_pool_init(p, &priv);
	if (rte_mempool_populate_default(p) < 0) {
		rte_mempool_free(p);
		return NULL;
	}
	rte_mempool_obj_iter(p, rte_pktmbuf_init, NULL);
	return p;
}

void pkt_cut(struct rte_mbuf *m, uint32_t bytes)
{
	struct rte_mbuf *seg = m, *rest;
	uint32_t left = bytes;

	while (left > seg->data_len && seg->next) {
		left -= seg->data_len;
		seg = seg->next;
	}
	seg->data_len = (uint16_t)MIN_OF(left, (uint32_t)seg->data_len);
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

void pkt_tap_find_stamps(struct pkt_tap *t)
{
	int flag = rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, NULL);
	int at = rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, NULL);

	if (flag < 0 || at < 0)
		return;
	t->stamp_at = (size_t)at;
	t->stamp_flag = 1ull << flag;
}
