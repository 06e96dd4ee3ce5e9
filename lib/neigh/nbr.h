/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table of an egress: MAC addresses, and the packets held until one is resolved.
 *
 * The table belongs to one worker, which alone reads and writes it. Ids below SNAP_NBR_MAX are those of the snapshot.
 * The other ids are on-link destinations, found by address. Results of ND and ARP arrive in messages from the control
 * lcore (enum nbr_update). Requests to the control lcore leave in messages too (enum nbr_question).
 */
#ifndef NEIGH_NBR_H
#define NEIGH_NBR_H

#include "pkt/fifo.h"
#include "snapshot/snapshot.h"
#include "wire/eth.h"

struct rte_hash;

enum nbr_state {
	NBR_UNKNOWN, /* resolution not requested */
	NBR_ASKED,   /* the control lcore is resolving it; packets are held */
	NBR_RESOLVED,
	NBR_STALE, /* usable, but its next use is reported to the control lcore */
};

struct nbr {
	struct eth_hdr mac; /* destination and source; the rewriter sets the type */
	uint8_t state;	    /* enum nbr_state; set by nbr_set_state */
	bool ready;	    /* resolved, and frames get no tag: the fast path of most packets */
	bool used_id;
	bool is_static;	    /* configured; results of ND and ARP are ignored */
	bool confirm;	    /* was static until the last snapshot: its next use asks the control lcore to resolve it */
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
	uint32_t n, first_free; /* free ids from SNAP_NBR_MAX on: a list linked through waiting.n */
	struct rte_hash *by_addr;
	uint32_t held, hold_total; /* packets held in this table, and their limit */
	uint32_t hold;		   /* limit for one neighbour */
};

/* Messages from the control lcore to a worker. */
enum nbr_update {
	NBR_SET,    /* the address has this MAC */
	NBR_AGED,   /* keep the MAC, report the next use */
	NBR_FAIL,   /* no answer: drop the held packets */
	NBR_FORGET, /* remove the entry */
};

/* A message in either direction; fits into a ring element of 32 bytes. */
struct nbr_message {
	struct ip_addr addr; /* 17 bytes */
	uint8_t what;	     /* enum nbr_update, or enum nbr_question */
	uint16_t interface;
	struct eth_addr mac;
	uint8_t pad[6];
};
_Static_assert(sizeof(struct nbr_message) == 32, "nbr_message must fit its ring");

/* Messages from a worker to the control lcore. */
enum nbr_question {
	NBR_ASK,  /* packets are held for this neighbour */
	NBR_USED, /* a stale neighbour is in use */
};

/* Before lcores start. `learnt`: maximum of on-link destinations; `socket`: NUMA node or -1. Returns 0 or -ENOMEM. */
int nbr_table_init(struct nbr_table *t, const char *name, uint32_t learnt, uint32_t hold_total, int socket);
void nbr_table_fini(struct nbr_table *t); /* frees held packets */

/* Effects of a new snapshot on neighbours with held packets. */
struct nbr_sync {
	const bool *owns; /* by port: only neighbours on these are taken over */
	/* `id` has become static and has its MAC: release its held packets */
	void (*resolved)(void *arg, uint32_t id);
	void *arg;
};

/* Take over the next hops of a new snapshot. Called by the worker. */
void nbr_table_sync(struct nbr_table *t, const struct snapshot *s, const struct nbr_sync *sync);

/*
 * Id of an on-link destination, created if there is room. UINT32_MAX when there is none, or the interface was removed.
 */
uint32_t nbr_lookup(struct nbr_table *t, const struct snapshot *s, uint16_t interface, const struct ip_addr *addr);

/* Id of a known neighbour by address; UINT32_MAX when unknown. */
uint32_t nbr_find(const struct nbr_table *t, uint16_t interface, const struct ip_addr *addr);

/* Free a learnt id. The neighbour must hold no packets. */
void nbr_release(struct nbr_table *t, uint32_t id);

#endif
