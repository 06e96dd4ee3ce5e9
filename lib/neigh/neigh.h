/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour unreachability detection and address resolution: the state machine of RFC 4861 section 7.3, used
 * for IPv6 and, with ARP for its messages, for IPv4.
 *
 * Pure: no packets, no clock, no DPDK. The control lcore feeds it with `now` and does what the callbacks say.
 * Not thread safe; one per node. A `port` is whatever number the caller gives a link.
 */
#ifndef NEIGH_NEIGH_H
#define NEIGH_NEIGH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

enum neigh_state {
	NEIGH_INCOMPLETE, /* being asked for */
	NEIGH_REACHABLE,
	NEIGH_STALE,
	NEIGH_DELAY,  /* in use, waiting a moment before probing */
	NEIGH_PROBE,  /* asked again, by unicast */
	NEIGH_FAILED, /* a kept one that did not answer; asked again later */
};

struct neigh_limits {
	uint64_t retransmit_ns, reachable_ns, stale_ns;
	uint32_t probes;
	uint32_t max; /* learnt entries; kept ones come on top */
};

struct neigh_ops {
	/* Ask for an address: by multicast or broadcast when mac is NULL, else that station. */
	void (*solicit)(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac);
	/* The egress must know: NEIGH_REACHABLE with its MAC, NEIGH_STALE, NEIGH_FAILED; -1: forget it. */
	void (*update)(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac, int state);
};

struct neigh_table;

struct neigh_table *neigh_new(const struct neigh_ops *ops, void *arg); /* NULL when out of memory */
void neigh_free(struct neigh_table *t);
void neigh_set_limits(struct neigh_table *t, const struct neigh_limits *limits);

/* A configured next hop: resolved ahead of traffic and kept so (keep), or not any more. 0 or -ENOMEM. */
int neigh_keep(struct neigh_table *t, uint64_t now, uint16_t port, const struct ip_addr *addr, bool keep);

/* A packet waits for the address. 0, -ENOSPC at the limit, -ENOMEM. */
int neigh_ask(struct neigh_table *t, uint64_t now, uint16_t port, const struct ip_addr *addr);

/* A stale address is in use. */
void neigh_used(struct neigh_table *t, uint64_t now, uint16_t port, const struct ip_addr *addr);

/*
 * A station told its MAC: in an advertisement (solicited and override as its flags say), or beside a request
 * of its own (solicited false, override true). Unknown addresses are not learnt from it unless `create`.
 */
struct neigh_news {
	uint16_t port;
	struct ip_addr addr;
	struct eth_addr mac;
	bool has_mac;
	bool solicited, override, create;
};
void neigh_heard(struct neigh_table *t, uint64_t now, const struct neigh_news *news);

/*
 * A link went down, of the ports that have the bits of `mask` in common with `port`: nobody there is believed in any
 * more. neigh_poll gives them up, as many at a time as its budget says, so that the messages about them find room.
 */
void neigh_link_down(struct neigh_table *t, uint64_t now, uint16_t port, uint16_t mask);

/* Do what is due; at most `budget` entries. Returns how many; *next: when to come again. */
unsigned int neigh_poll(struct neigh_table *t, uint64_t now, unsigned int budget, uint64_t *next);

/* For show: calls fn for each entry in order of port and address. */
struct neigh_info {
	uint16_t port;
	struct ip_addr addr;
	struct eth_addr mac;
	enum neigh_state state;
	bool keep;
	uint64_t until_ns;
};
void neigh_each(const struct neigh_table *t, void (*fn)(void *arg, const struct neigh_info *info), void *arg);
unsigned int neigh_count(const struct neigh_table *t);
const char *neigh_state_name(enum neigh_state state);

#endif
