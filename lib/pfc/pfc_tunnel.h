/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC tunnels of a congested node: where its back-pressure is sent, and its last state (draft-ruan section 3,
 * docs/protocol.md 4.6).
 *
 *   configured   scenario 1: a controller has deployed the segment list and the slice
 *   learnt       scenario 2: from the segment list in the first data packet of a policy
 *
 * A stop is refreshed before its pause ends. A learnt tunnel ages out when no data refreshes it, but never while it
 * holds a stop: the data has stopped because of it. When data of the same ingress node and slice arrives by another
 * list, the new tunnel is made first and gets the stops of the old one at once. The old tunnel is kept for one more
 * round trip.
 *
 * Pure: no packets, no clock; frames are passed to `send`. Only the control lcore touches it.
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
#define PFC_REFUSED_MAX 32 /* refusals that are remembered individually */
#define PFC_TUNNEL_BUCKETS 1024

/* Hash chains, so that tunnels with a common property are found without a search of all tunnels. */
enum pfc_tunnel_chain {
	PFC_TUNNELS_BY_KEY,    /* name of a configured tunnel, pfc_tunnel.forward of a learnt one */
	PFC_TUNNELS_BY_END,    /* the last SID of its list */
	PFC_TUNNELS_BY_SOURCE, /* learnt: contributor, slice and port */
	PFC_TUNNEL_CHAINS
};

/* Links of a tunnel in a chain. Ids and the bucket count from 1; all zero: not in a chain. */
struct pfc_tunnel_link {
	uint16_t next, prev, bucket; /* id + 1 of the neighbours, bucket + 1 */
};

enum pfc_tunnel_origin { PFC_TUNNEL_FREE, PFC_TUNNEL_CONFIGURED, PFC_TUNNEL_LEARNT };

/* Counters of frames sent through a tunnel. */
#define TUNNEL_COUNTERS(X) \
	X(counter, stops, "xoff", "frames", "sluice_pfc_tunnel_xoff", "PFC frames sent to pause the far end") \
	X(counter, resumes, "xon", "frames", "sluice_pfc_tunnel_xon", "PFC frames sent to resume the far end") \
	X(counter, refreshes, "refreshes", "frames", "sluice_pfc_tunnel_refreshes", \
		"PFC frames sent to renew a pause of the far end") \
	X(counter, repeats, "repeats", "frames", "sluice_pfc_tunnel_repeats", \
		"PFC frames sent again in case the WAN lost the first one")

struct pfc_tunnel {
	uint8_t origin;		      /* enum pfc_tunnel_origin */
	uint8_t slice;		      /* slice whose back-pressure it carries */
	uint8_t priorities;	      /* bit per priority that it may pause */
	uint8_t stopped;	      /* bit per priority that it holds stopped */
	uint8_t repeat;		      /* bit per priority whose last change must be repeated */
	bool twice;		      /* XOFF is sent twice */
	uint64_t outage_ns;	      /* XON is repeated for so long, and at least once if twice */
	uint64_t resumed_at;	      /* time in ns of the last XON */
	bool carries;		      /* packets carry the slice, so the far end sees each slice as a separate party */
	char name[PFC_TUNNEL_NAME];   /* unique name */
	uint8_t port;		      /* learnt: ingress port of the data */
	struct ipv6_addr contributor; /* learnt: source of the data's outer header, the ingress node */
	struct pfc_list list;	      /* in travel order; ends with the upstream node's End.X.PFC */
	struct ip_prefix own;	      /* learnt: own SID to which the data was sent */
	struct pfc_list data;	      /* learnt: segment list of the data, as in its SRH */
	uint64_t forward;	      /* learnt: hash of `data` and of all other properties that distinguish tunnels */
	uint64_t far_bps;	      /* rate in bits per second of the interface that must stop */
	uint64_t used;		      /* learnt: time in ns of the last data */
	uint64_t superseded;	      /* learnt: time in ns at which data arrived by another list; 0: never */
	uint64_t refresh_at, repeat_at; /* time in ns of the next refresh and repeat */
	TUNNEL_COUNTERS(STAT_DECLARE)
	struct pfc_history history[PFC_PRIORITIES];	/* pauses sent, by priority */
	struct timer timer;				/* next time at which the tunnel needs service */
	struct pfc_tunnel_link link[PFC_TUNNEL_CHAINS]; /* by chain */
};

/* Settings that a reload may change. They apply to a tunnel when it is next configured or learnt again. */
struct pfc_tunnels_config {
	uint64_t idle_ns;    /* ns without data after which a learnt tunnel is removed */
	uint64_t max_rtt_ns; /* longest round trip in ns: an old tunnel is kept beside its successor for this time */
	bool repeat;	     /* new tunnels send every change twice, 1 ms apart */
	uint64_t outage_ns;  /* new tunnels repeat XON for so long */
	uint32_t learnt_max; /* limit of learnt tunnels */
};

/* Data from which no tunnel can be learnt. */
struct pfc_refused {
	uint8_t reason;		 /* enum pfc_refusal; PFC_REFUSED_none: free entry */
	uint8_t port, slice;	 /* ingress port and slice of the data */
	struct ipv6_addr source; /* of the outer header */
	uint64_t count, last;	 /* number of sightings; time of the last one in ns */
};

#define LEARNING_COUNTERS(X) \
	X(counter, learnt, "learnt", "tunnels", "sluice_pfc_tunnels_learnt", "PFC tunnels learnt from data") \
	X(counter, aged, "aged", "tunnels", "sluice_pfc_tunnels_aged", \
		"learnt PFC tunnels removed because their data stopped") \
	X(counter, replaced, "replaced", "tunnels", "sluice_pfc_tunnels_replaced", \
		"learnt PFC tunnels replaced because data arrived with another segment list") \
	X(counter, evicted, "evicted", "tunnels", "sluice_pfc_tunnels_evicted", \
		"learnt PFC tunnels of the slice with the most of them, removed because the table was full and a " \
		"slice " \
		"with fewer needed room")

struct pfc_tunnels {
	struct pfc_tunnels_config config; /* of the newest configuration */
	/* Send a frame with this request through tunnel `i` at once. */
	void (*send)(void *arg, uint32_t i, const struct pfc_request *request);
	/*
	 * Tunnel `i` was learnt, or learnt again: make its outer headers before a frame is sent. Returns a refusal if
	 * they cannot be made. NULL: no headers are needed.
	 */
	enum pfc_refusal (*made)(void *arg, uint32_t i);
	void *arg;	   /* first argument of send and made */
	uint32_t bound;	   /* all ids in use are below this */
	uint32_t n_learnt; /* learnt tunnels */
	/* Changes of the set of learnt tunnels. After a change, suppressed sightings are wanted again. */
	uint32_t changes;
	LEARNING_COUNTERS(STAT_DECLARE)
	uint64_t refused[PFC_REFUSAL_COUNT];		       /* sightings refused, by reason */
	struct pfc_refused recent[PFC_REFUSED_MAX];	       /* recent refusals */
	struct timers timers;				       /* of all tunnels */
	uint64_t in_use[PFC_TUNNELS_MAX / 64];		       /* bit per id */
	uint16_t chain[PFC_TUNNEL_CHAINS][PFC_TUNNEL_BUCKETS]; /* first id + 1 of each bucket; 0: empty */
	struct pfc_tunnel tunnel[PFC_TUNNELS_MAX];	       /* by id */
};

/* A sighting: properties of a data packet to an own SID. */
struct pfc_sighting {
	uint8_t port;		      /* ingress port */
	uint8_t slice;		      /* slice of the data */
	uint8_t priorities;	      /* bit per priority that tunnels of the slice may pause */
	struct ipv6_addr source;      /* of the outer header */
	struct ip_prefix own;	      /* own SID to which the packet was sent */
	const struct ipv6_addr *list; /* from the SRH, in travel order, not expanded */
	unsigned int n;		      /* entries of list; 0: no SRH */
	uint64_t far_bps;	      /* rate in bits per second from which pauses are computed */
};

/*
 * Configure tunnel `name` (scenario 1), at start and after a reload: add it or change it in place. After a change of
 * the list, the stops are sent by the new list. Returns the id, or PFC_TUNNEL_NONE when the table is full.
 */
uint32_t pfc_tunnel_configure(struct pfc_tunnels *t, const char *name, uint8_t slice, uint8_t priorities,
	const struct pfc_list *list, uint64_t far_bps, uint64_t now);

/* Id of a configured tunnel, or PFC_TUNNEL_NONE. */
uint32_t pfc_tunnel_find(const struct pfc_tunnels *t, const char *name);

/* Remove a tunnel; its stops are released first. */
void pfc_tunnel_remove(struct pfc_tunnels *t, uint32_t i, uint64_t now);

/* Learn a tunnel from data (scenario 2), or refresh it. *id: id of the tunnel, unless the data is refused. */
enum pfc_refusal pfc_tunnel_learn(struct pfc_tunnels *t, const struct pfc_remotes *remotes,
	const struct pfc_sighting *data, uint64_t now, uint32_t *id);

/*
 * Learn tunnel `i` again from the list of its data, after the meaning of SIDs may have changed. False: no tunnel can
 * be learnt from it any more, and the tunnel was removed. True: its headers were made again, even if the list is the same.
 */
bool pfc_tunnel_relearn(struct pfc_tunnels *t, const struct pfc_remotes *remotes, uint32_t i, uint64_t now);

/* Set the priorities that the tunnel holds stopped, a bit each; those that it may not pause are ignored. */
void pfc_tunnel_want(struct pfc_tunnels *t, uint32_t i, uint8_t stopped, uint64_t now);

/*
 * The node has just started: resume what the one before it may have stopped, for its buffers are empty. Repeated like any
 * XON.
 */
void pfc_tunnel_begin(struct pfc_tunnels *t, uint32_t i, uint64_t now);

/*
 * Refresh, repeat and age tunnels as due at `now` (ns), in the order of ids. A pass in which nothing is due takes a
 * constant number of steps. *next: time in ns of the next call if nothing happens; TIME_NEVER: none. Returns the
 * number of frames sent.
 */
unsigned int pfc_tunnels_poll(struct pfc_tunnels *t, uint64_t now, uint64_t *next);

#endif
