/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an rx lcore sends to the control lcore, by kind. Kinds are limited by ingress port, and those that a network
 * cannot do without have a ring of their own. So a flood of one kind, or by one port, costs no other kind and no other
 * port a packet. One list feeds the enum, `show punts`, OpenMetrics and the documentation.
 */
#ifndef PKT_PUNT_H
#define PKT_PUNT_H

#include "base/limits.h"
#include "pkt/pkt.h"
#include "stats/counter.h"

/*
 * Rings from an rx lcore to the control lcore, in the order in which it reads them. id, contents in `show rings`, part of
 * memory.ring: all of them together are one ring, or LIMIT_PUNT_RINGS slots if that is more (lib/config/budget.c).
 */
#define PUNT_RINGS_LIST(X) \
	X(PFC, "pfc packets", 4) \
	X(SESSION, "bfd packets", 4) \
	X(LINK, "nd packets", 4) \
	X(SIGNAL, "rsvp packets", 8) \
	X(REST, "packets", 8)

enum punt_ring {
#define X(id, carries, part) PUNT_RING_##id,
	PUNT_RINGS_LIST(X)
#undef X
		PUNT_RINGS
};
_Static_assert(PUNT_RINGS *LIMIT_PUNT_RING <= LIMIT_PUNT_RINGS, "the budget counts them");

/* id, name, ring */
#define PUNT_KINDS(X) \
	X(PFC, "pfc", PUNT_RING_PFC) /* out of tunnels and of gateways, and state messages of relays */ \
	X(BFD, "bfd", PUNT_RING_SESSION) \
	X(ND, "nd", PUNT_RING_LINK) /* and ARP */ \
	X(RSVP, "rsvp", PUNT_RING_SIGNAL) \
	X(LOCAL, "local", PUNT_RING_REST)	/* all else to the node, such as ping */ \
	X(ERROR, "error", PUNT_RING_REST)	/* dropped, and an ICMP error may be due */ \
	X(FRAGMENT, "fragment", PUNT_RING_REST) /* IPv4 packets to be sent in fragments */

enum punt_kind {
#define X(id, name, ring) PUNT_KIND_##id,
	PUNT_KINDS(X)
#undef X
		PUNT_KIND_COUNT
};

/* Of an ingress port and a kind. The rx lcore writes, relaxed readers. */
#define PUNT_COUNTERS(X) \
	X(counter, taken, "taken", "packets", "sluice_punt_taken", \
		"packets of this port and kind handed to the control lcore") \
	X(counter, spared, "spared", "packets", "sluice_punt_spared", \
		"packets of this port and kind above its rate limit, within the share of their VLAN or station") \
	X(counter, limited, "limited", "packets", "sluice_punt_limited", \
		"packets of this port and kind dropped on the rx lcore, above the rate limit of port and kind and " \
		"the shares of VLAN and station") \
	X(counter, full, "full", "packets", "sluice_punt_full", \
		"packets of this port and kind dropped because the ring of the kind was full")

struct punt_stats {
	PUNT_COUNTERS(STAT_DECLARE)
};

/* Packets that a port may hand on: per second, by each rx lcore that serves it. */
struct punt_limit {
	uint64_t rate, burst; /* packets/s, packets; rate 0: limited elsewhere */
	bool strict;	      /* always; else only while the ring is more than half full */
};

static inline enum punt_kind punt_kind_of(uint8_t punt)
{
	static const uint8_t kind[] = {[PUNT_ND] = PUNT_KIND_ND,
		[PUNT_ARP] = PUNT_KIND_ND,
		[PUNT_PFC] = PUNT_KIND_PFC,
		[PUNT_LOCAL] = PUNT_KIND_LOCAL,
		[PUNT_ERROR] = PUNT_KIND_ERROR,
		[PUNT_PFC_RELAY] = PUNT_KIND_PFC,
		[PUNT_PFC_TUNNEL] = PUNT_KIND_PFC,
		[PUNT_PFC_STATE] = PUNT_KIND_PFC,
		[PUNT_BFD] = PUNT_KIND_BFD,
		[PUNT_FRAGMENT] = PUNT_KIND_FRAGMENT,
		[PUNT_RSVP] = PUNT_KIND_RSVP};

	return (enum punt_kind)kind[punt];
}

static inline enum punt_ring punt_ring_of(enum punt_kind kind)
{
	static const uint8_t ring[] = {
#define X(id, name, ring) ring,
		PUNT_KINDS(X)
#undef X
	};

	return (enum punt_ring)ring[kind];
}

/* What a ring carries, in `show rings`. */
static inline const char *punt_ring_carries(enum punt_ring ring)
{
	static const char *const names[] = {
#define X(id, carries, part) carries,
		PUNT_RINGS_LIST(X)
#undef X
	};

	return names[ring];
}

/* Slots of a ring, of the `slots` of any other ring; enough for a burst if those are few. A power of two. */
static inline uint32_t punt_ring_slots(enum punt_ring ring, uint32_t slots)
{
	static const uint8_t part[] = {
#define X(id, carries, part) part,
		PUNT_RINGS_LIST(X)
#undef X
	};

	return MAX_OF(slots / part[ring], LIMIT_PUNT_RING);
}

/* The name of a kind in `show punts`. */
static inline const char *punt_kind_name(enum punt_kind kind)
{
	static const char *const names[] = {
#define X(id, name, ring) name,
		PUNT_KINDS(X)
#undef X
	};

	return names[kind];
}

#endif
