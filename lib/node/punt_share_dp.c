/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of VLANs and stations in what a port may hand to the control lcore. Rx lcores, only above a port's limit. */
#include "node/punt_share.h"

#include "classify/vlan.h"

#define LEAST_RATE 10	    /* packets/s of a share, if there are many */
#define LEAST_BFD_RATE 1000 /* sessions are few, and one needs this much */

static const struct snap_interface *interface_of(const struct snapshot *s, const struct rte_mbuf *m)
{
	const struct snap_interface *port = &s->port[m->port];
	struct vlan_place place = vlan_find(s, port, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);

	return place.in ? place.in : port;
}

/* A number of the station: by its address and VLAN, and by time. */
static uint32_t hash_of(const struct rte_mbuf *m, const struct snap_interface *in, uint64_t now)
{
	const uint8_t *mac = rte_pktmbuf_mtod(m, const struct eth_hdr *)->src.b;
	uint64_t x = vlan_row(in);

	for (unsigned int i = 0; i < 6; i++)
		x = x << 8 | mac[i];
	x += (now / PUNT_TURN_NS + 1) * 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)(x >> 32);
}

static bool take(struct bucket *b, uint64_t now, enum punt_kind kind, uint64_t rate, uint64_t among)
{
	uint64_t least = kind == PUNT_KIND_BFD ? LEAST_BFD_RATE : LEAST_RATE, all = rate / PUNT_SHARE_PARTS;
	uint64_t burst = kind == PUNT_KIND_BFD ? 32 : 8; /* those of a flood leave room in the least ring */
	uint64_t share = MAX_OF(MAX_OF(all / among, MIN_OF(all, least)), 1);

	return bucket_take(b, now, share, burst);
}

bool punt_share_take(struct punt_shares *shares, const struct snapshot *s, uint64_t now, const struct rte_mbuf *m,
	enum punt_kind kind, uint64_t rate, bool crowded)
{
	const struct snap_interface *in = interface_of(s, m);
	struct bucket *station = shares->station[m->port][kind];
	uint32_t hash = hash_of(m, in, now);
	unsigned int link = snap_is_vlan(in->interface) ? MAX_PORTS + vlan_row(in) : m->port;

	if (!crowded && (take(&station[hash % PUNT_STATIONS], now, kind, rate, PUNT_STATIONS) ||
				take(&station[(hash >> 16) % PUNT_STATIONS], now, kind, rate, PUNT_STATIONS)))
		return true;
	return take(&shares->link[link][kind], now, kind, rate, s->port[m->port].n_links);
}
