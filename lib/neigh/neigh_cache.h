/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour unreachability detection and address resolution: the state machine of RFC 4861 section 7.3, used for IPv6
 * and, with ARP messages, for IPv4.
 *
 * Pure: no packets, no clock, no DPDK. The control lcore passes `now` and carries out the callbacks. Not thread safe;
 * one per node. A `port` is any number that the caller assigns to a link.
 */
#ifndef NEIGH_NEIGH_CACHE_H
#define NEIGH_NEIGH_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

enum neigh_state {
	NEIGH_INCOMPLETE, /* resolution under way */
	NEIGH_REACHABLE,
	NEIGH_STALE,
	NEIGH_DELAY,	   /* in use; a short delay before the first probe */
	NEIGH_PROBE,	   /* probed by unicast */
	NEIGH_FAILED,	   /* a kept entry that did not answer and has no valid MAC; solicited again later */
	NEIGH_UNREACHABLE, /* a kept entry that did not answer probes; its MAC stays in use while it is solicited again */
};

struct neigh_limits {
	uint64_t retransmit_ns, reachable_ns, stale_ns;
	uint32_t probes;
	uint32_t max; /* learnt entries; kept entries are not included */
};

struct neigh_ops {
	/* Solicit an address: by multicast or broadcast when mac is NULL, else by unicast to that MAC. */
	void (*solicit)(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac);
	/* Update the egress: NEIGH_REACHABLE with its MAC, NEIGH_STALE, NEIGH_FAILED, NEIGH_UNREACHABLE; -1: remove
	 * the entry. */
	void (*update)(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac, int state);
};

struct neigh_cache;

struct neigh_cache *neigh_cache_new(const struct neigh_ops *ops, void *arg); /* NULL when out of memory */
void neigh_cache_free(struct neigh_cache *t);
void neigh_cache_set_limits(struct neigh_cache *t, const struct neigh_limits *limits);

/*
 * Add a configured next hop, which is resolved before traffic arrives and kept resolved (`keep`), or stop keeping it.
 * Returns 0 or -ENOMEM.
 */
int neigh_cache_keep(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr, bool keep);

/* Return whether the address has an entry with a MAC address, confirmed or not. */
bool neigh_cache_has_mac(const struct neigh_cache *t, uint16_t port, const struct ip_addr *addr);

/*
 * A packet waits for the address. Returns 0, -ENOSPC at the limit, or -ENOMEM.
 *
 * At the limit a port with fewer learnt entries than another one still gets one: the entry of the port with the most that
 * is used least is removed. So a port that fills the table costs the others nothing.
 */
int neigh_cache_ask(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr);

/* A stale address was used. */
void neigh_cache_used(struct neigh_cache *t, uint64_t now, uint16_t port, const struct ip_addr *addr);

/*
 * A station announced its MAC: in an advertisement (`solicited` and `override` as its flags), or in a request that it
 * sent (`solicited` false, `override` true). An unknown address is learnt only with `create`.
 */
struct neigh_news {
	uint16_t port;
	struct ip_addr addr;
	struct eth_addr mac;
	bool has_mac;
	bool solicited, override, create;
};
void neigh_cache_heard(struct neigh_cache *t, uint64_t now, const struct neigh_news *news);

/*
 * A link went down. It affects each port whose number equals `port` in the bits of `mask`: its entries are no longer
 * valid. neigh_cache_poll removes them within its budget, so that the messages about them find room.
 */
void neigh_cache_link_down(struct neigh_cache *t, uint64_t now, uint16_t port, uint16_t mask);

/* A link came up, likewise: next hops that did not answer and neighbours that have not answered yet are asked at once. */
void neigh_cache_link_up(struct neigh_cache *t, uint64_t now, uint16_t port, uint16_t mask);

/* Process at most `budget` entries that are due. Returns their number. *next is the time of the next call. */
unsigned int neigh_cache_poll(struct neigh_cache *t, uint64_t now, unsigned int budget, uint64_t *next);

/* For show: call fn for each entry, in order of port and address. */
struct neigh_info {
	uint16_t port;
	struct ip_addr addr;
	struct eth_addr mac;
	enum neigh_state state;
	bool keep;
	uint64_t until_ns;
};
void neigh_cache_each(const struct neigh_cache *t, void (*fn)(void *arg, const struct neigh_info *info), void *arg);
unsigned int neigh_cache_count(const struct neigh_cache *t);

/* Entries removed for those of ports with fewer; addresses not learnt at the limit. Since neigh_cache_new. */
struct neigh_cache_stats {
	uint64_t evicted, refused;
};
const struct neigh_cache_stats *neigh_cache_stats(const struct neigh_cache *t);
const char *neigh_state_name(enum neigh_state state);

#endif
