/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table of an egress: MAC addresses, and the packets held until one is resolved.
 *
 * The table belongs to one worker, which alone reads and writes it. Ids below SNAP_NEIGH_MAX are those of the snapshot.
 * The other ids are on-link destinations, found by address. Results of ND and ARP arrive in messages from the control
 * lcore (enum neigh_update). Requests to the control lcore leave in messages too (enum neigh_question).
 */
#ifndef NEIGH_NEIGH_TABLE_H
#define NEIGH_NEIGH_TABLE_H

#include "pkt/fifo.h"
#include "snapshot/snapshot.h"
#include "wire/eth.h"

struct rte_hash;

enum neigh_entry_state {
	NEIGH_ENTRY_UNKNOWN, /* resolution not requested */
	NEIGH_ASKED,	     /* the control lcore is resolving it; packets are held */
	NEIGH_ENTRY_RESOLVED,
	NEIGH_ENTRY_STALE, /* usable, but its next use is reported to the control lcore */
};

struct neigh_entry {
	struct eth_hdr mac; /* destination and source; the rewriter sets the type */
	uint8_t state;	    /* enum neigh_entry_state; set by neigh_entry_set_state; relaxed readers */
	bool ready;	    /* resolved, and not `apart`: the fast path of most packets */
	bool apart;	    /* its interface adds tags or maps DSCPs */
	bool used_id;	    /* relaxed readers */
	bool is_static;	    /* configured; results of ND and ARP are ignored */
	bool confirm;	    /* was static until the last snapshot: its next use asks the control lcore to resolve it */
	uint16_t interface; /* snapshot.h */
	struct fifo waiting;
	struct ip_addr addr;
	uint32_t older, newer; /* in the list of neigh_share, while packets wait for a learnt neighbour */
} CACHE_ALIGNED;

#define NEIGH_NONE UINT32_MAX

/* What an interface has of the packets that the worker holds for neighbours. */
struct neigh_share {
	uint32_t held;		 /* packets of lossy classes */
	uint32_t oldest, newest; /* learnt neighbours that packets wait for, by the time since when; NEIGH_NONE */
};

static inline void neigh_entry_set_state(struct neigh_entry *n, enum neigh_entry_state state)
{
	__atomic_store_n(&n->state, (uint8_t)state, __ATOMIC_RELAXED);
	n->ready = state == NEIGH_ENTRY_RESOLVED && !n->apart;
}

struct neigh_table {
	struct neigh_entry *neigh; /* by id */
	uint32_t n, first_free;	   /* free ids from SNAP_NEIGH_MAX on: a list linked through waiting.n */
	struct rte_hash *by_addr;
	struct neigh_share *share;  /* of NEIGH_SHARES interfaces */
	uint32_t held;		    /* packets held in this table; relaxed readers */
	uint32_t lossy, hold_total; /* those of lossy classes, and their limit */
	uint32_t hold;		    /* limit of them for one neighbour */
	uint32_t mapped;	    /* bit per port with dscp_out */
};

#define NEIGH_SHARES (MAX_PORTS + INTERFACE_SLOTS)

/* Messages from the control lcore to a worker. */
enum neigh_update {
	NEIGH_SET,    /* the address has this MAC */
	NEIGH_AGED,   /* keep the MAC, report the next use */
	NEIGH_FAIL,   /* no answer: drop the held packets */
	NEIGH_FORGET, /* remove the entry */
	NEIGH_REFUSE, /* there is no room for the address: drop the held packets, remove the entry */
};

/* A message in either direction; fits into a ring element of 32 bytes. */
struct neigh_message {
	struct ip_addr addr; /* 17 bytes */
	uint8_t what;	     /* enum neigh_update, or enum neigh_question */
	uint16_t interface;
	struct eth_addr mac;
	uint8_t pad[6];
};
_Static_assert(sizeof(struct neigh_message) == 32, "neigh_message must fit its ring");

/* Messages from a worker to the control lcore. */
enum neigh_question {
	NEIGH_ASK,  /* packets are held for this neighbour */
	NEIGH_USED, /* a stale neighbour is in use */
};

/*
 * Before lcores start. `learnt`: maximum of on-link destinations, those that the control lcore has not refused yet
 * included; `socket`: NUMA node or -1. Returns 0 or -ENOMEM.
 */
int neigh_table_init(struct neigh_table *t, const char *name, uint32_t learnt, uint32_t hold_total, int socket);
void neigh_table_fini(struct neigh_table *t); /* frees held packets */

/* Effects of a new snapshot on neighbours with held packets. */
struct neigh_sync {
	const bool *owns; /* by port: only neighbours on these are taken over */
	/* `id` has become static and has its MAC: release its held packets */
	void (*resolved)(void *arg, uint32_t id);
	void *arg;
};

/* Take over the next hops of a new snapshot. Called by the worker. */
void neigh_table_sync(struct neigh_table *t, const struct snapshot *s, const struct neigh_sync *sync);

/*
 * Id of an on-link destination, created if there is room. UINT32_MAX when there is none, or the interface was removed.
 */
uint32_t neigh_table_lookup(struct neigh_table *t, const struct snapshot *s, uint16_t interface,
	const struct ip_addr *addr);

/* Id of a known neighbour by address; UINT32_MAX when unknown. */
uint32_t neigh_table_find(const struct neigh_table *t, uint16_t interface, const struct ip_addr *addr);

/*
 * May a packet of a lossy class be held? An interface may have at most as many as are left for the others, so that no
 * flood to one of them leaves another one without any.
 */
bool neigh_table_may_hold(const struct neigh_table *t, uint32_t id);

/* The learnt neighbour of the same interface that packets have waited for the longest; NEIGH_NONE. */
uint32_t neigh_table_oldest(const struct neigh_table *t, uint32_t id);

/* Hold a packet; remove the oldest one, at least one. pkt.lossless says whether it counts. */
void neigh_table_hold(struct neigh_table *t, uint32_t id, struct rte_mbuf *m);
struct rte_mbuf *neigh_table_unhold(struct neigh_table *t, uint32_t id);

/* Free a learnt id. The neighbour must hold no packets. */
void neigh_table_release(struct neigh_table *t, uint32_t id);

#endif
