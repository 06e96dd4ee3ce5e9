/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of credit flow control in one node: the machines of docs/credit.md 2.8, for ext mode. A headend opens sessions
 * along candidate paths, transit devices pass them on, the far gateway selects a path. Every device grants to its
 * previous hop (PHOP) and uses what its next hop (NHOP) grants.
 *
 * Pure: no packets, no clock, no DPDK. The control lcore passes `now` (ns) and carries out the callbacks. Not thread
 * safe; one per node. Timers are in a wheel (base/timers.h): a pass in which none expires costs the same for any number
 * of sessions. Messages come in as they were read and verified (rsvp_message.h, rsvp_integrity.h).
 *
 * Data is counted elsewhere. rsvp_grantor_count and rsvp_user_count tell the machines how far it is, because End and
 * RESYNC wait for it.
 */
#ifndef RSVP_RSVP_NODE_H
#define RSVP_RSVP_NODE_H

#include "rsvp/rsvp_message.h"
#include "stats/stats.h"

#define RSVP_HOPS_MAX 16	   /* devices of a path (D12) */
#define RSVP_CANDIDATES_MAX 16	   /* paths of a session */
#define RSVP_PASSED_BYTES_MAX 1024 /* objects of a 28 or 29 that are passed on, in all */
/*
 * The longest R that counts: a neighbour's TIME_VALUES decides how long its state is kept here, and 32 bits of ms are
 * nine months of memory.
 */
#define RSVP_REFRESH_MAX_MS 300000

/* States (docs/credit.md 2.8). X(id, name) */
#define RSVP_GRANTOR_STATES(X) \
	X(G_NONE, "none") \
	X(G_OFFERED, "offered") \
	X(G_STORED, "stored") \
	X(G_COMMITTED, "committed") \
	X(G_LEASE, "lease") \
	X(G_CLOSING, "closing") \
	X(G_TOMB, "ended")
#define RSVP_USER_STATES(X) \
	X(U_NONE, "none") \
	X(U_WAIT, "waiting") \
	X(U_OFFER, "offered") \
	X(U_COMMITTED, "committed") \
	X(U_DOWN, "down") \
	X(U_RESYNC, "resync") \
	X(U_ENDING, "ending") \
	X(U_OUT, "refused")

enum rsvp_grantor_state {
#define X(id, name) RSVP_##id,
	RSVP_GRANTOR_STATES(X)
#undef X
};

enum rsvp_user_state {
#define X(id, name) RSVP_##id,
	RSVP_USER_STATES(X)
#undef X
};

const char *rsvp_grantor_state_name(unsigned int state);
const char *rsvp_user_state_name(unsigned int state);

/* Refusals of D60: values of error code 1. */
#define RSVP_REFUSE_POOL 0x8001
#define RSVP_REFUSE_ROUTE 0x8002
#define RSVP_REFUSE_HOPS 0x8003
#define RSVP_REFUSE_CLASS 0x8004
#define RSVP_REFUSE_UNIT 0x8005
#define RSVP_REFUSE_OPERATOR 0x8006

struct rsvp_config {
	struct ip_addr addr;	      /* RSVP_HOP address of this node: its loopback */
	uint32_t paths_max;	      /* records of paths; memory for handles is allocated for them at once */
	uint32_t refresh_ms;	      /* R */
	uint32_t keep;		      /* K: refreshes that may be lost */
	uint32_t rapid_ms, rapid_max; /* Rf and Rl of RFC 2961 section 6.2 */
	uint32_t repeat_max_ms;	      /* longest interval between copies of a 30 */
	uint32_t select_ms;	      /* T_sel */
	uint32_t offer_ms;	      /* an offer without S loses its buffer after that; more than T_sel */
	uint32_t idle_ms;	      /* D_idle: after that, what was sent has arrived or is lost */
	uint32_t lease_ms;	      /* T_lease */
	uint32_t heartbeat_us;	      /* T_hb, as announced */
	uint32_t blockade;	      /* Kb: a refused path rests for Kb * R */
	uint8_t hops_max;	      /* of CBFC_PATH, up to RSVP_HOPS_MAX */
	uint8_t unit;		      /* log2 of the bytes of a unit */
	uint64_t pool;		      /* units that may be committed */
	uint32_t oversubscription;    /* offers may promise that many pools, from 1 */
	uint32_t buffer;	      /* units offered to a session */
	uint32_t floor;	 /* units that a session keeps while the pool is shared by demand (D52); 0: it is not */
	uint32_t margin; /* units reserved for a session above what is advertised: cells, descriptors (2.12) */
};
extern const struct rsvp_config rsvp_config_default; /* without address and pool */

/*
 * Sessions may share a limit: what they are granted in all. Their numbers are the caller's, below RSVP_LIMITS. 0 is none, and
 * RSVP_UNLIMITED is the sum that is never reached. Offers may promise as many times a limit as pools.
 */
#define RSVP_LIMITS 129
#define RSVP_UNLIMITED (UINT64_MAX >> 8)

/* Where a message goes. */
struct rsvp_way {
	struct ip_addr to; /* one hop away by routing, or ALONG: address of the session */
	bool along;	   /* on the way of a path: native or encapsulated, as the caller knows `port` and `carrier` */
	struct ip_addr here; /* ALONG: RSVP_HOP address of this node; family 0: rsvp_config.addr */
	uint8_t port;	     /* egress, up to 253 */
	uint16_t zone;	     /* in which `to` and the next hop are */
	bool joined;	     /* RSVP_FAR: another session of this node carries its data on (ops->under) */
	uint64_t carrier;    /* any number of the caller's: segment list, label */
	uint64_t rate_bps;   /* of that port; all ones: not known */
	uint32_t delay_us;   /* one way to the next device, unless ops->delay_us says; all ones: not known */
	uint32_t buffer;     /* units that a session from there is offered at most; 0: rsvp_config.buffer */
	uint8_t limit;	     /* of the sum of such sessions: rsvp_limit_set; 0: none */
};

enum rsvp_role { RSVP_HEADEND, RSVP_TRANSIT, RSVP_FAR };

/*
 * Zones: an address of a neighbour, of a sender or of a session names a node in its zone only, and a message concerns
 * only sessions of the zone from which it came. Zone 0 is the domain; the others are networks of strangers, such as the
 * link of a server. Their numbers are the caller's.
 */

struct rsvp_node;
struct rsvp_path;     /* a path of a session in this node */
struct rsvp_instance; /* a session in this node */

/*
 * What carries on the data of sessions that end here: a session that begins here, or one that other machines of the caller
 * have. All zero: no session is joined to it, and it has no path for data.
 */
struct rsvp_carry {
	struct rsvp_instance *above; /* the first of the sessions whose data it carries on */
	bool on;		     /* it has a path for their data: they may be granted credit */
	uint16_t why;		     /* it has none: what their previous hops are told, RSVP_REFUSE_...; 0: ..._ROUTE */
};

/*
 * Credit as the data path counts it. Reservations have numbers here, which the caller gives; 0 is none. `opened` begins an
 * epoch of a reservation, `resized` makes the reservation larger in it, and `filled` completes what a 29 says of it: FCCL, ABR
 * and sequence. `heard` is a new 29 for a path.
 * `used`: what was sent on a path in its epoch, what is on its way to the device, what is queued; false: the path carries no
 * data now. `marked`: a CBFC_HOP of a marker.
 */
struct rsvp_data_ops {
	uint32_t (*reserved)(void *arg);
	void (*released)(void *arg, uint32_t number);
	void (*opened)(void *arg, uint32_t number, uint32_t epoch, uint32_t buffer);
	void (*resized)(void *arg, uint32_t number, uint32_t buffer);
	void (*filled)(void *arg, uint32_t number, struct rsvp_credit *c);
	void (*counted)(void *arg, uint32_t number, uint64_t *received, int64_t *lost, int64_t *freed);
	void (*heard)(void *arg, const struct rsvp_path *p, const struct rsvp_credit *c);
	bool (*used)(void *arg, const struct rsvp_path *p, uint64_t *sent, uint64_t *pending, uint64_t *queued);
	void (*marked)(void *arg, const struct rsvp_path *p, uint32_t number, const struct rsvp_cbfc_hop *h);
};

struct rsvp_node_ops {
	/* NULL: the caller counts no data, or says what it counts by rsvp_grantor_count and rsvp_user_count. */
	const struct rsvp_data_ops *data;
	/* May add INTEGRITY to the message, and nothing else. */
	void (*send)(void *arg, const struct rsvp_way *way, struct rsvp_message *m);
	/*
	 * Where a 28 goes on. RSVP_FAR: the session ends here. RSVP_TRANSIT: *way is filled. In both cases way->buffer may
	 * bound the session. A negative value: refused with that error value of code 1, negated (RSVP_REFUSE_...), or -1:
	 * not permitted (code 2).
	 */
	int (*route)(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way);
	/* RSVP_HOP address of this node in messages to a neighbour. NULL: rsvp_config.addr to all. */
	struct ip_addr (*own)(void *arg, uint16_t zone, const struct ip_addr *neighbor);
	/*
	 * What carries on the data of a session that ends here, for which route has set way->joined. NULL: nothing does
	 * now; asked again with every 28. The op may be NULL.
	 */
	struct rsvp_carry *(*under)(void *arg, const struct rsvp_message *m);
	/* One-way delay, us, of the link by which a path leaves, as it is now; all ones: not known. NULL: way->delay_us. */
	uint32_t (*delay_us)(void *arg, const struct rsvp_way *way);
	/* Does a neighbour take part in Refresh Reduction (flag 0x1, RFC 2961 section 2)? NULL: none does. */
	bool (*reduces)(void *arg, uint16_t zone, const struct ip_addr *neighbor);
	/* A path is committed, or stops being so: `on` says whether data may be sent on it (user's side). */
	void (*changed)(void *arg, const struct rsvp_path *p, bool on);
	/* After each event of its session: what rsvp_path_show says may be new. NULL: nobody is interested. */
	void (*shown)(void *arg, const struct rsvp_path *p);
	/* A neighbour has acknowledged no copy of a message, or has not refreshed its credit. NULL: nobody is interested. */
	void (*silent)(void *arg, uint16_t zone, const struct ip_addr *neighbor);
	/* A path is about to be freed, with its `carrier`. NULL: nobody is interested. */
	void (*gone)(void *arg, const struct rsvp_path *p);
};

/* Of the node. X(kind, member, name, unit, metric, help): stats/counter.h */
#define RSVP_DROP(X, name, help) \
	X(counter, name, #name, "messages", "sluice_rsvp_session_" #name, "RSVP messages without effect: " help)
#define RSVP_NODE_DROPS(X) \
	RSVP_DROP(X, loop, "this node is in the list of devices already") \
	RSVP_DROP(X, duplicate, "a path that another previous hop has sent") \
	RSVP_DROP(X, other_family, "SESSION is of another address family than the RSVP_HOP of this node") \
	RSVP_DROP(X, late, "a newer message of that path was received before") \
	RSVP_DROP(X, bad_lih, "LIH of no path") \
	RSVP_DROP(X, bad_hop, "RSVP_HOP is not the next or previous hop of the path") \
	RSVP_DROP(X, bad_session, "SESSION or sender is not that of the path") \
	RSVP_DROP(X, bad_epoch, "epoch of credit was left, or may not be used") \
	RSVP_DROP(X, bad_unit, "unit or class of credit is not that of the path") \
	RSVP_DROP(X, no_state, "an error or End about a path that is not known") \
	RSVP_DROP(X, no_event, "nothing to do in that state") \
	RSVP_DROP(X, no_memory, "no room for another path")
#define RSVP_NODE_COUNTERS(X) \
	X(counter, received, "rx", "messages", "sluice_rsvp_session_rx", "RSVP messages of sessions received") \
	X(counter, sent, "tx", "messages", "sluice_rsvp_session_tx", "RSVP messages of sessions sent") \
	X(counter, refreshed, "refreshed_by_id", "messages", "sluice_rsvp_session_refreshed_by_id", \
		"Path inits and commits refreshed by their ids in Srefresh messages") \
	X(gauge, instances, "sessions", "sessions", "sluice_rsvp_sessions", "sessions that this node knows") \
	X(gauge, paths, "paths", "paths", "sluice_rsvp_paths", "paths of sessions that this node knows") \
	X(gauge, committed, "committed", "units", "sluice_rsvp_committed_units", "units committed to previous hops") \
	X(gauge, promised, "promised", "units", "sluice_rsvp_promised_units", "units committed or offered") \
	X(counter, refused, "refused", "sessions", "sluice_rsvp_refused", "paths that this node refused") \
	X(counter, lost, "lost", "paths", "sluice_rsvp_lost", "paths that ended because nothing refreshed them") \
	X(counter, unacknowledged, "unacknowledged", "messages", "sluice_rsvp_unacknowledged", \
		"RSVP messages given up because no copy was acknowledged") \
	X(counter, not_passed, "not_passed", "messages", "sluice_rsvp_not_passed", \
		"Path inits and Reserves whose foreign objects were too long to be passed on") \
	X(counter, moved, "moved", "paths", "sluice_rsvp_moved", "paths whose next or previous hop has changed") \
	RSVP_NODE_DROPS(X)

struct rsvp_node_stats {
	RSVP_NODE_COUNTERS(STAT_DECLARE)
};

/* `seed`: not predictable: nonces and epochs follow from it. NULL when out of memory. */
struct rsvp_node *rsvp_node_new(const struct rsvp_config *c, const struct rsvp_node_ops *ops, void *arg, uint64_t seed);
void rsvp_node_free(struct rsvp_node *n);

/*
 * Memory in bytes, with what the allocator adds. Soft state of a session, and of one of its paths with a reservation and its share
 * of the tables; besides, what updates of its credit touch. What sessions share that have the same neighbours, SESSION, way,
 * `hops` devices before this one, and objects that are passed on (here none). What a session takes only while it needs it: the
 * offers that S tells, and the neighbours that a path has left. What a node takes without sessions, above the tables.
 */
size_t rsvp_bytes_of_session(void);
size_t rsvp_bytes_of_path(void);
size_t rsvp_bytes_of_updates(void);
size_t rsvp_bytes_of_shared(unsigned int hops);
size_t rsvp_bytes_on_demand(void);
size_t rsvp_bytes_of_node(void);

/* Change timers, pool and buffer. What was granted stays granted. */
void rsvp_node_set(struct rsvp_node *n, const struct rsvp_config *c);

/* Units of the pool for promises that are not of these machines, and back. False: there are not so many. */
bool rsvp_lend(struct rsvp_node *n, uint64_t lent);
void rsvp_return(struct rsvp_node *n, uint64_t lent);

/*
 * Sharing of the pool by demand (D52). Units that may be given to sessions which ask for more; the rest is kept for those
 * that begin. And: let a committed session have up to `want` units, as far as its limits and the pool permit: returns how many
 * more it has.
 */
uint64_t rsvp_pool_free(const struct rsvp_node *n);
uint32_t rsvp_grow(struct rsvp_node *n, const struct rsvp_path *p, uint32_t want);

/* Change the units that a limit allows. What was granted stays granted. */
void rsvp_limit_set(struct rsvp_node *n, uint8_t limit, uint64_t units);
/* Units granted or offered under a limit. */
uint64_t rsvp_limit_promised(const struct rsvp_node *n, uint8_t limit);

/* A candidate path of a session that begins here. */
struct rsvp_candidate {
	uint16_t id;
	struct rsvp_sender sender; /* outer source and flow label */
	struct rsvp_way way;
};

struct rsvp_open {
	struct rsvp_session session;
	struct rsvp_tspec tspec;
	uint8_t traffic_class;
	unsigned int candidates; /* 1 to RSVP_CANDIDATES_MAX */
	struct rsvp_candidate candidate[RSVP_CANDIDATES_MAX];
};

/* Begin a session. NULL: no memory, no room, or no candidate. It is kept up until rsvp_close. */
struct rsvp_instance *rsvp_open(struct rsvp_node *n, uint64_t now, const struct rsvp_open *o);
/* End a session that rsvp_open has begun. The caller forgets it at once. */
void rsvp_close(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s);

/*
 * A message, whose send_ttl is the hop limit with which it came. `from`: source of a message for one hop;
 * `arrival`: any number of the caller's, for ops->route.
 */
void rsvp_receive(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from,
	uint64_t arrival);

/* Link or BFD to a neighbour went down, or it is alive again. */
void rsvp_neighbor(struct rsvp_node *n, uint64_t now, uint16_t zone, const struct ip_addr *addr, bool up);

/* Run the timers that are due, at most `budget`. Returns the number examined. *next: time of the next call (ns). */
unsigned int rsvp_poll(struct rsvp_node *n, uint64_t now, unsigned int budget, uint64_t *next);

/* How far data is: totals of this epoch. Grantor: arrived, declared lost, freed. User: sent, pending, still queued. */
void rsvp_grantor_count(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint64_t received, int64_t lost,
	int64_t freed);
void rsvp_user_count(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint64_t sent, uint64_t pending,
	uint64_t queued);

/* What a path looks like, for `show` and tests. */
struct rsvp_path_view {
	struct rsvp_session session;
	struct rsvp_sender sender;
	uint32_t nonce;
	uint16_t path;
	uint8_t role;	       /* enum rsvp_role */
	uint8_t grantor, user; /* states */
	bool current;	       /* a headend sends data on it */
	uint8_t traffic_class, unit, port;
	struct rsvp_error error;      /* the last one from below; code 0: none */
	struct rsvp_cbfc_offer offer; /* what the devices before this one offered */
	struct ip_addr phop, nhop;
	uint32_t phop_lih, lih;
	uint32_t grant_epoch, grant_units;   /* what this node gives; 0: nothing */
	uint32_t credit_epoch, credit_units; /* what it has; 0: nothing */
	uint64_t fccl, abr;		     /* of the credit it has */
	uint64_t sent;			     /* of that credit, as it was counted last */
	uint32_t number;		     /* of the reservation; 0: it holds none */
	uint16_t zone_up, zone_down;	     /* of the previous and of the next hop */
};

void rsvp_path_show(const struct rsvp_path *p, struct rsvp_path_view *out);
/* The paths of the node, one after the other: NULL begins, NULL ends. */
struct rsvp_path *rsvp_path_next(const struct rsvp_node *n, const struct rsvp_path *p);
/* Number of a path, below paths_max, that no other path of the node has; and its `carrier`. */
uint32_t rsvp_path_slot(const struct rsvp_path *p);
uint64_t rsvp_path_carrier(const struct rsvp_path *p);

/* Ways by which paths leave went down or work again: `news` says of each path -1: down, 1: works again, 0: as before. */
void rsvp_links(struct rsvp_node *n, uint64_t now, int (*news)(void *arg, const struct rsvp_path *p));

/*
 * Local repair (RFC 2205 section 3.6): routes have changed, and the caller has waited a while. `moved` says of a path whether
 * it leaves by another way now, and fills *way, whose carrier is not looked at. Paths with slots from `from` on, at most
 * `budget` slots; returns the next slot: paths_max when all were looked at.
 */
uint32_t rsvp_routes(struct rsvp_node *n, uint64_t now, uint32_t from, uint32_t budget,
	bool (*moved)(void *arg, const struct rsvp_path *p, struct rsvp_way *way));

/* The path in a slot; NULL: none. */
struct rsvp_path *rsvp_path_at(const struct rsvp_node *n, uint32_t slot);
/* The sequence of the next CBFC_HOP of a path's session: a marker. */
uint32_t rsvp_hop_sequence(const struct rsvp_path *p);
/* Data that was sent in an epoch of a path's credit, which carries data no more. */
void rsvp_user_store(const struct rsvp_path *p, uint32_t epoch, uint64_t sent);
/* The next hop of a path is silent; and: its credit is out of step, so that a new epoch is needed. */
void rsvp_user_silent(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_user_resync(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
/*
 * Give the credit of a path back but for rsvp_config.floor units (D52). Nothing was sent for D_idle, and nothing is until the next S. False:
 * the path is not committed, or another one uses the same credit.
 */
bool rsvp_user_return(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);

/* The path on which the data of a session that begins here may be sent; NULL: none. */
struct rsvp_path *rsvp_current(const struct rsvp_instance *s);

/*
 * What carries on data in a session that rsvp_open has begun: it lives as long as the session. And of a session of other
 * machines, in the caller's memory: rsvp_carry_set tells the sessions above that it has a path for data, or none;
 * rsvp_carry_end also parts it from them, before its memory is freed.
 */
struct rsvp_carry *rsvp_carry_of(struct rsvp_instance *s);
void rsvp_carry_set(struct rsvp_node *n, uint64_t now, struct rsvp_carry *c, bool on);
void rsvp_carry_end(struct rsvp_node *n, uint64_t now, struct rsvp_carry *c);
const struct rsvp_node_stats *rsvp_node_stats_of(const struct rsvp_node *n);

#endif
