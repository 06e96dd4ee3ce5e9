/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours as the owner of an egress sees them: MAC addresses, and the packets that wait for one.
 *
 * The table belongs to one worker, which alone reads and writes it. Ids below SNAP_NBR_MAX are those of the
 * snapshot; the others are on-link destinations found by address. What ND and ARP learn comes in by messages
 * from the control lcore (enum nbr_update), what they should find out goes out by messages too.
 */
#ifndef NEIGH_NBR_H
#define NEIGH_NBR_H

#include "pkt/fifo.h"
#include "snapshot/snapshot.h"
#include "wire/eth.h"

struct rte_hash;

enum nbr_state {
	NBR_UNKNOWN, /* not asked for */
	NBR_ASKED,   /* the control lcore is finding out; packets wait */
	NBR_RESOLVED,
	NBR_STALE, /* usable, but the control lcore wants to know when it is used */
};

struct nbr {
	struct eth_hdr mac; /* destination and source; the type is the rewriter's */
	uint8_t state;	    /* enum nbr_state; set by nbr_set_state */
	bool ready;	    /* resolved, and frames get no tag: what most packets find */
	bool used_id;
	bool is_static;	    /* as configured: what ND and ARP say does not count */
	bool confirm;	    /* was static until the last snapshot: ask before it is believed for long */
	uint16_t interface; /* snapshot.h */
	struct fifo waiting;
	struct ip_addr addr;
} CACHE_ALIGNED;

static inline void nbr_set_state(struct nbr *n, enum nbr_state state)
{
	n->state = (uint8_t)state;
	n->ready = state == NBR_RESOLVED && !snap_is_vlan(n->interface);
}

struct nbr_table {
	struct nbr *nbr;	/* by id */
	uint32_t n, first_free; /* ids from SNAP_NBR_MAX on: a list through waiting.n */
	struct rte_hash *by_addr;
	uint32_t held, hold_total; /* packets waiting in this table, and how many may */
	uint32_t hold;		   /* the same for one neighbour */
};

/* What the control lcore tells a worker. */
enum nbr_update {
	NBR_SET,    /* the address is at this MAC */
	NBR_AGED,   /* keep the MAC, report the next use */
	NBR_FAIL,   /* it did not answer: drop what waits */
	NBR_FORGET, /* not needed any more */
};

/* A message of either direction; fits an rte_ring of 32-byte elements. */
struct nbr_message {
	struct ip_addr addr; /* 17 bytes */
	uint8_t what;	     /* enum nbr_update, or enum nbr_question */
	uint16_t interface;
	struct eth_addr mac;
	uint8_t pad[6];
};
_Static_assert(sizeof(struct nbr_message) == 32, "nbr_message must fit its ring");

/* What a worker tells the control lcore. */
enum nbr_question {
	NBR_ASK,  /* packets wait for this neighbour */
	NBR_USED, /* a stale one is in use */
};

/* 0 or -ENOMEM. learnt: on-link destinations; socket: NUMA node or -1. Before lcores start. */
int nbr_table_init(struct nbr_table *t, const char *name, uint32_t learnt, uint32_t hold_total, int socket);
void nbr_table_fini(struct nbr_table *t); /* frees waiting packets */

/* What a new snapshot does to neighbours that packets wait for. */
struct nbr_sync {
	const bool *owns; /* by port: only these are taken over */
	/* `id` is static now and has its MAC: let what waits go */
	void (*resolved)(void *arg, uint32_t id);
	void *arg;
};

/* Take over the next hops of a new snapshot. The worker. */
void nbr_table_sync(struct nbr_table *t, const struct snapshot *s, const struct nbr_sync *sync);

/* Id of an on-link destination, made if there is room; UINT32_MAX when there is none, or the interface is gone. */
uint32_t nbr_lookup(struct nbr_table *t, const struct snapshot *s, uint16_t interface, const struct ip_addr *addr);

/* Id of a known neighbour by address; UINT32_MAX. */
uint32_t nbr_find(const struct nbr_table *t, uint16_t interface, const struct ip_addr *addr);

/* Give a learnt id back; nothing may wait for it. */
void nbr_release(struct nbr_table *t, uint32_t id);

#endif
