/* SPDX-License-Identifier: BSD-3-Clause */
/* Learn the sources of lossless data, their segment lists and their recent bytes. Rx lcores. */
#include "service/pfc/service_pfc.h"
#include "srv6/endpoint.h"

#define SIGHTINGS_PER_SECOND 2000
#define SIGHTINGS_AT_ONCE 256

static uint64_t learn_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t learn_hash_of(const struct node_sighting *s)
{
	uint64_t h = learn_mix((uint64_t)s->sid << 32 | (uint64_t)s->port << 24 | (uint64_t)s->slice << 16 | s->n,
		ipv6_hi(&s->source));

	h = learn_mix(h, ipv6_lo(&s->source));
	for (unsigned int i = 0; i < MIN_OF(s->n, PFC_LIST_MAX); i++)
		h = learn_mix(learn_mix(h, ipv6_hi(&s->list[i])), ipv6_lo(&s->list[i]));
	return h ? h : 1;
}

/* A hash has two possible entries. Return the one that holds it, else the older one. */
static struct node_sighted *learn_known_at(struct service_learner *l, uint64_t hash)
{
	struct node_sighted *a = &l->sighted[hash % NODE_SIGHTED], *b = &l->sighted[(hash % NODE_SIGHTED) ^ 1];

	if (a->hash == hash || b->hash == hash)
		return a->hash == hash ? a : b;
	return a->at <= b->at ? a : b;
}

/* Report a sighting once, and again after a time or when the control role asks for it. */
static void learn_show(struct rx_role *rx, const struct node_sighting *s)
{
	struct service_learner *l = service_pfc_rx(rx)->learner;
	uint64_t now = rx->classifier.now, hash = learn_hash_of(s);
	uint32_t epoch = __atomic_load_n(&service_pfc(rx->node)->sight_epoch, __ATOMIC_RELAXED);
	struct node_sighted *known = learn_known_at(l, hash);

	/* Repeated sightings keep a tunnel alive. */
	if (likely(known->hash == hash && known->epoch == epoch &&
		    now - known->at < rx->classifier.s->pfc_learning.idle_ns / 4))
		return;
	if (!bucket_take(&l->bucket, now, SIGHTINGS_PER_SECOND, SIGHTINGS_AT_ONCE) ||
		!mailbox_push(&service_pfc_rx(rx)->sightings, s, sizeof(*s))) {
		stat_add(&l->left_out, 1);
		return;
	}
	stat_add(&l->shown, 1);
	*known = (struct node_sighted){.hash = hash, .at = now, .epoch = epoch};
}

/* The list in reverse is the path of the packet. */
static void learn_read_list(struct node_sighting *s, const struct rte_mbuf *m, const struct ipv6_hdr *ip)
{
	struct srv6_packet p = {.frame = rte_pktmbuf_mtod(m, const uint8_t *),
		.readable = m->data_len,
		.end = m->pkt_len,
		.at = sizeof(struct eth_hdr)};
	const struct srh *srh;

	if ((const uint8_t *)ip != p.frame + p.at || !srv6_walk(&p) || !p.srh)
		return;
	srh = (const struct srh *)(p.frame + p.srh);
	if ((int)srh->last_entry > srh_max_last_entry(srh))
		return;
	s->n = (uint16_t)(srh->last_entry + 1u);
	for (unsigned int i = 0; i < MIN_OF(s->n, PFC_LIST_MAX); i++)
		s->list[i] = srh->segment[srh->last_entry - i];
}

/* The first entry to search for the share of a source. The search continues with the next entries. */
static uint32_t learn_place_of(uint16_t port, uint8_t slice, uint64_t hi, uint64_t lo)
{
	return (uint32_t)(learn_mix(learn_mix((uint64_t)port << 8 | slice, hi), lo) >> 16) % NODE_SHARES;
}

static bool learn_is_of(const struct node_share *s, uint16_t port, uint8_t slice, uint64_t hi, uint64_t lo)
{
	return stat_read(&s->began) && stat_read(&s->lo) == lo && stat_read(&s->hi) == hi &&
	       __atomic_load_n(&s->port, __ATOMIC_RELAXED) == port &&
	       __atomic_load_n(&s->slice, __ATOMIC_RELAXED) == slice;
}

/* Return the entry of a source, or one that has not been used recently; NULL: there is none. */
static struct node_share *learn_find_share(struct service_learner *l, uint16_t port, uint8_t slice, uint64_t hi,
	uint64_t lo, uint64_t now)
{
	uint32_t first = learn_place_of(port, slice, hi, lo);
	struct node_share *spare = NULL;

	for (unsigned int i = 0; i < NODE_SHARE_PROBES; i++) {
		struct node_share *s = &l->share[(first + i) % NODE_SHARES];

		if (learn_is_of(s, port, slice, hi, lo))
			return s;
		if (!spare && (!s->began || now - s->began >= 2 * NODE_SHARE_NS))
			spare = s;
	}
	if (spare) {
		/* The control role reads meanwhile: `began` is 0 until the entry is whole. */
		__atomic_store_n(&spare->began, 0, __ATOMIC_RELAXED);
		stat_level(spare->hi, hi);
		stat_level(spare->lo, lo);
		stat_level(spare->port, port);
		stat_level(spare->slice, slice);
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
			stat_level(spare->bytes[0][i], 0);
			stat_level(spare->bytes[1][i], 0);
		}
		__atomic_store_n(&spare->began, MAX_OF(now, 1), __ATOMIC_RELAXED);
	}
	return spare;
}

static void learn_count_share(struct rx_role *rx, const struct pkt *x, const struct ipv6_hdr *ip, uint16_t port,
	uint32_t bytes)
{
	uint64_t now = rx->classifier.now;
	struct node_share *s = learn_find_share(service_pfc_rx(rx)->learner, port, x->slice, ipv6_hi(&ip->src),
		ipv6_lo(&ip->src), now);

	if (unlikely(!s)) {
		stat_add(&service_pfc_rx(rx)->learner->uncounted, 1);
		return;
	}
	if (unlikely(now - s->began >= NODE_SHARE_NS)) {
		bool next = now - s->began < 2 * NODE_SHARE_NS;

		for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
			__atomic_store_n(&s->bytes[1][i], next ? s->bytes[0][i] : 0, __ATOMIC_RELAXED);
			__atomic_store_n(&s->bytes[0][i], 0, __ATOMIC_RELAXED);
		}
		__atomic_store_n(&s->began, now, __ATOMIC_RELAXED);
	}
	stat_add(&s->bytes[0][x->priority], bytes);
}

void service_learn(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	const struct snap_interface *p = &rx->classifier.s->port[port];

	for (unsigned int i = 0; i < n; i++) {
		const struct pkt *x = pkt_of(pkts[i]);
		const struct eth_hdr *eth = rte_pktmbuf_mtod(pkts[i], const struct eth_hdr *);
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(eth + 1);
		struct node_sighting s;

		if (x->verdict != PKT_FORWARD || x->sid == PKT_SID_NONE || x->tclass == PKT_CLASS_CONTROL ||
			!(p->lossless >> x->priority & 1) || be16_get(eth->type) != ETH_TYPE_IPV6)
			continue;
		if (p->pfc_shares)
			learn_count_share(rx, x, ip, port, pkts[i]->pkt_len);
		if (!p->pfc_learning)
			continue;
		s = (struct node_sighting){.source = ip->src, .sid = x->sid, .port = (uint8_t)port, .slice = x->slice};
		learn_read_list(&s, pkts[i], ip);
		learn_show(rx, &s);
	}
}

uint64_t node_share_of(const struct service_learner *l, uint16_t port, uint8_t slice, const struct ipv6_addr *source,
	unsigned int class, uint64_t now)
{
	uint64_t hi = ipv6_hi(source), lo = ipv6_lo(source);
	uint32_t first = learn_place_of(port, slice, hi, lo);

	for (unsigned int i = 0; i < NODE_SHARE_PROBES; i++) {
		const struct node_share *s = &l->share[(first + i) % NODE_SHARES];

		if (!learn_is_of(s, port, slice, hi, lo))
			continue;
		/* The last period of a silent source has not been closed. */
		if (now - stat_read(&s->began) >= 2 * NODE_SHARE_NS)
			return 0;
		return stat_read(&s->bytes[0][class]) + stat_read(&s->bytes[1][class]);
	}
	return 0;
}
