/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AddressSanitizer cannot see a read past the end of a frame, because the bytes after it belong to the same buffer
 * pool. Sanitizer builds poison every part of a buffer outside its data while sluice holds it. They unpoison it before
 * it returns to DPDK. In other builds these functions compile to nothing.
 */
#ifndef PKT_POISON_H
#define PKT_POISON_H

#include <rte_mbuf.h>

#if defined(__SANITIZE_ADDRESS__)
#define PKT_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PKT_POISONS 1
#endif
#endif

#ifdef PKT_POISONS
#include <sanitizer/asan_interface.h>

static inline void pkt_poison(struct rte_mbuf *m)
{
	for (; m; m = m->next) {
		char *buf = m->buf_addr;

		ASAN_UNPOISON_MEMORY_REGION(buf, m->buf_len);
		ASAN_POISON_MEMORY_REGION(buf, m->data_off);
		ASAN_POISON_MEMORY_REGION(buf + m->data_off + m->data_len,
			(size_t)(m->buf_len - m->data_off - m->data_len));
	}
}

static inline void pkt_unpoison(struct rte_mbuf *m)
{
	for (; m; m = m->next)
		ASAN_UNPOISON_MEMORY_REGION(m->buf_addr, m->buf_len);
}
#else
static inline void pkt_poison(struct rte_mbuf *m)
{
	(void)m;
}

static inline void pkt_unpoison(struct rte_mbuf *m)
{
	(void)m;
}
#endif

static inline void pkt_poison_burst(struct rte_mbuf **pkts, unsigned int n)
{
#ifdef PKT_POISONS
	for (unsigned int i = 0; i < n; i++)
		pkt_poison(pkts[i]);
#else
	(void)pkts;
	(void)n;
#endif
}

#endif
