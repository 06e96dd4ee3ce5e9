/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of a port's limits of punts (pkt/punt.h): what a VLAN interface, and a station behind the port, may hand to the
 * control lcore although others have used up the limit of port and kind. So a station that floods does not silence its
 * neighbours on a shared port.
 *
 * A station is a source MAC address in a VLAN. Stations share PUNT_STATIONS buckets: each has two of them by hash, and the
 * hash changes every PUNT_TURN_NS. So two stations seldom have the same buckets, and not for long. A sender that forges source addresses takes the shares of all stations, but
 * only the share of its own VLAN: the switch before the port writes the tag.
 */
#ifndef NODE_PUNT_SHARE_H
#define NODE_PUNT_SHARE_H

#include "base/bucket.h"
#include "base/limits.h"
#include "pkt/punt.h"
#include "snapshot/snapshot.h"

#define PUNT_STATIONS 32	  /* buckets of a port and kind */
#define PUNT_TURN_NS (1ull << 33) /* 8.6 s */
#define PUNT_SHARE_PARTS 4	  /* all VLANs together, and all stations together, have this part of the port's rate */

/* Of an rx role, which alone uses it. All zero is full. */
struct punt_shares {
	struct bucket link[MAX_PORTS + INTERFACE_SLOTS]
			  [PUNT_KIND_COUNT]; /* ports without a tag; VLAN interfaces by row */
	struct bucket station[MAX_PORTS][PUNT_KIND_COUNT][PUNT_STATIONS];
};

/*
 * Take a packet, as received, from the share of its station, else of its VLAN. rate: packets/s, of its port and kind.
 * m->port is the ingress port. crowded: the ring has little room, which is not for stations, because forged sources would
 * take it from other ports. Returns false if both are used up. Caller: the rx lcore of the role.
 */
bool punt_share_take(struct punt_shares *shares, const struct snapshot *s, uint64_t now, const struct rte_mbuf *m,
	enum punt_kind kind, uint64_t rate, bool crowded);

#endif
