/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC tunnels of a congested node: where its back-pressure goes, and what has been said there (draft-ruan section 3,
 * docs/protocol.md 4.6).
 *
 *   configured   scenario 1: a controller has deployed the segment list and the slice
 *   learnt       scenario 2: from the segment list that the first data packet of a policy shows
 *
 * A tunnel that was told to stop priorities is told again before its pause runs out. A learnt one ages out when no data
 * refreshes it, but never while it holds a stop: the data has stopped because of it. When data of the same ingress node
 * and slice comes by another list, the new tunnel is made first, is told at once what the old one was told, and the old
 * one is kept for one more round trip.
 *
 * Pure: no packets, no clock; what is to be sent is handed to `send`. The control lcore alone touches it.
 */
#ifndef PFC_PFC_TUNNEL_H
#define PFC_PFC_TUNNEL_H

#include "base/timers.h"
#include "pfc/pfc_frame.h"
#include "pfc/pfc_history.h"
#include "pfc/pfc_remote.h"
#include "stats/counter.h"

#define PFC_TUNNELS_MAX 1024
#define PFC_TUNNEL_NONE UINT32_MAX
#define PFC_TUNNEL_NAME 32
#define PFC_REFUSED_MAX 32 /* refusals that are remembered one by one */
#define PFC_TUNNEL_BUCKETS 1024

/* Tunnels are found by what they have in common, without looking at the others: chains of those with the same hash. */
enum pfc_tunnel_chain {
	PFC_TUNNELS_BY_KEY,    /* name of a configured one, pfc_tunnel.forward of a learnt one */
	PFC_TUNNELS_BY_END,    /* the last SID of its list */
	PFC_TUNNELS_BY_SOURCE, /* learnt: contributor, slice and port */
	PFC_TUNNEL_CHAINS
};

/* A place in a chain: ids and bucket count from 1; all zero: in no chain. */
struct pfc_tunnel_link {
	uint16_t next, prev, bucket;
};

enum pfc_tunnel_origin { PFC_TUNNEL_FREE, PFC_TUNNEL_CONFIGURED, PFC_TUNNEL_LEARNT };

/* Frames sent through a tunnel. */
#define TUNNEL_COUNTERS(X) \
	X(counter, stops, "xoff", "frames", "sluice_pfc_tunnel_xoff", "PFC frames sent that stop the far end") \
	X(counter, resumes, "xon", "frames", "sluice_pfc_tunnel_xon", "PFC frames sent that end its pause") \
	X(counter, refreshes, "refreshes", "frames", "sluice_pfc_tunnel_refreshes", \
		"PFC frames sent that renew its pause") \
	X(counter, repeats, "repeats", "frames", "sluice_pfc_tunnel_repeats", \
		"PFC frames sent that repeat a change, for a WAN that loses packets")

struct pfc_tunnel {
	uint8_t origin;	    /* enum pfc_tunnel_origin */
	uint8_t slice;	    /* whose back-pressure it carries */
	uint8_t priorities; /* it may speak about */
	uint8_t stopped;    /* priorities it has been told to stop */
	uint8_t repeat;	    /* priorities of the last change, to be said once more */
	bool twice;	    /* every change is said twice */
	bool carries;	    /* its packets say the slice, so that at the far end each slice is one more party */
	char name[PFC_TUNNEL_NAME];
	uint8_t port;		      /* learnt: that the data comes in by */
	struct ipv6_addr contributor; /* learnt: source of the data's outer header, the ingress node */
	struct pfc_list list;	      /* travel order; ends with the upstream node's End.X.PFC */
	struct ip_prefix own;	      /* learnt: own SID that the data was for */
	struct pfc_list data;	      /* learnt: the data's list, as its SRH has it */
	uint64_t forward;	      /* learnt: hash of that and all else that tells tunnels apart */
	uint64_t far_bps;	      /* rate of the interface that is to stop */
	uint64_t used;		      /* learnt: when data was last seen */
	uint64_t superseded;	      /* learnt: when data came by another list; 0: not */
	uint64_t refresh_at, repeat_at;
	TUNNEL_COUNTERS(STAT_DECLARE)
	struct pfc_history history[PFC_PRIORITIES]; /* of what it was told */
	struct timer timer;			    /* when something is to be done for it */
	struct pfc_tunnel_link link[PFC_TUNNEL_CHAINS];
};

/* Settings that a reload may change. Tunnels go by them when they are next configured or learnt again. */
struct pfc_tunnels_config {
	uint64_t idle_ns;    /* a learnt tunnel without data */
	uint64_t max_rtt_ns; /* longest round trip: for how long an old tunnel is kept beside its successor */
	bool repeat;	     /* new tunnels say every change twice, a millisecond apart */
	uint32_t learnt_max; /* tunnels that may be learnt */
};

/* Data that no tunnel can be learnt from. */
struct pfc_refused {
	uint8_t reason; /* enum pfc_refusal; PFC_REFUSED_none: a free place */
	uint8_t port, slice;
	struct ipv6_addr source;
	uint64_t count, last; /* sightings; time of the last one */
};

#define LEARNING_COUNTERS(X) \
	X(counter, learnt, "learnt", "tunnels", "sluice_pfc_tunnels_learnt", "PFC tunnels learnt from data") \
	X(counter, aged, "aged", "tunnels", "sluice_pfc_tunnels_aged", "learnt PFC tunnels removed without data") \
	X(counter, replaced, "replaced", "tunnels", "sluice_pfc_tunnels_replaced", \
		"learnt PFC tunnels replaced because data came by another segment list")

struct pfc_tunnels {
	struct pfc_tunnels_config config;
	/* A frame for tunnel `i`, to be sent at once. */
	void (*send)(void *arg, uint32_t i, const struct pfc_request *request);
	/*
	 * Tunnel `i` was learnt or learnt anew: make its outer headers, before anything is sent. A refusal: they cannot be
	 * made. NULL: there is nothing to be made.
	 */
	enum pfc_refusal (*made)(void *arg, uint32_t i);
	void *arg;
	uint32_t bound;	   /* ids in use are below */
	uint32_t n_learnt; /* of these */
	uint32_t changes;  /* of which tunnels of data there are: sightings that were left out are wanted again */
	LEARNING_COUNTERS(STAT_DECLARE)
	uint64_t refused[PFC_REFUSAL_COUNT];
	struct pfc_refused recent[PFC_REFUSED_MAX];
	struct timers timers;
	uint64_t in_use[PFC_TUNNELS_MAX / 64]; /* bit per id */
	uint16_t chain[PFC_TUNNEL_CHAINS][PFC_TUNNEL_BUCKETS];
	struct pfc_tunnel tunnel[PFC_TUNNELS_MAX];
};

/* What a data packet for an own SID shows. */
struct pfc_sighting {
	uint8_t port; /* it came in by */
	uint8_t slice;
	uint8_t priorities;	      /* that tunnels of the slice may speak about */
	struct ipv6_addr source;      /* of the outer header */
	struct ip_prefix own;	      /* the own SID that it was for */
	const struct ipv6_addr *list; /* from the SRH, in travel order, not expanded */
	unsigned int n;		      /* 0: there was no SRH */
	uint64_t far_bps;	      /* rate to reckon pauses by */
};

/*
 * Scenario 1, at start and after a reload. The tunnel called `name`, new or changed in place; a changed list is told what the
 * old one was told. Returns its id, or PFC_TUNNEL_NONE when the table is full.
 */
uint32_t pfc_tunnel_configure(struct pfc_tunnels *t, const char *name, uint8_t slice, uint8_t priorities,
	const struct pfc_list *list, uint64_t far_bps, uint64_t now);

/* Id of a configured tunnel, or PFC_TUNNEL_NONE. */
uint32_t pfc_tunnel_find(const struct pfc_tunnels *t, const char *name);

/* Remove a tunnel; what it holds is released first. */
void pfc_tunnel_remove(struct pfc_tunnels *t, uint32_t i, uint64_t now);

/* Scenario 2: data was seen. *id: the tunnel for it when it is not refused. */
enum pfc_refusal pfc_tunnel_learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes,
	const struct pfc_sighting *data, uint64_t now, uint32_t *id);

/*
 * What SIDs mean may have changed: learn tunnel `i` again from the list it was learnt from. False: that cannot be done
 * any more, and the tunnel has gone. Its headers are made anew in any case.
 */
bool pfc_tunnel_relearn(struct pfc_tunnels *t, const struct pfc_remotes *remotes, uint32_t i, uint64_t now);

/* From now on the tunnel is to hold exactly these priorities stopped, as far as it may speak about them. */
void pfc_tunnel_want(struct pfc_tunnels *t, uint32_t i, uint8_t stopped, uint64_t now);

/*
 * Refresh, repeat, age: what is due at `now`, in the order of ids. A pass in which nothing is due takes a constant number
 * of steps. *next: when to call again if nothing happens, TIME_NEVER for never. Returns frames sent.
 */
unsigned int pfc_tunnels_poll(struct pfc_tunnels *t, uint64_t now, uint64_t *next);

#endif
