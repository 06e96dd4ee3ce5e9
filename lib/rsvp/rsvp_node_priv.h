/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the session machines: records, and the steps of each machine. Control lcore.
 *
 * The grantor's and the user's machine of a path do not call each other. Each leaves what the other has to do in
 * `steps`, and rsvp_node.c carries that out after every event.
 */
#ifndef RSVP_RSVP_NODE_PRIV_H
#define RSVP_RSVP_NODE_PRIV_H

#include <assert.h>

#include "base/aligned.h"
#include "base/bucket.h"
#include "base/compiler.h"
#include "base/timers.h"
#include "rsvp/rsvp_node.h"

#define RSVP_LEFT 4 /* epochs that a user remembers (docs/credit.md 2.11) */

enum rsvp_timer_kind {
	RSVP_T_GRANTOR_LIFE,  /* no 28 for L; ended: the tombstone */
	RSVP_T_GRANTOR_STATE, /* an offer, a lease, or the rest of the data ends */
	RSVP_T_GRANTOR_SEND,  /* S again */
	RSVP_T_USER_LIFE,     /* no 29 for L */
	RSVP_T_USER_SEND,     /* 28 or 30 again; refused: the rest of the path is over */
	RSVP_T_BLOCKED,	      /* the blockade of S is over: nothing is done then */
	RSVP_PATH_TIMERS,
	RSVP_T_SELECT = RSVP_PATH_TIMERS, /* of an instance: T_sel; at a headend: no S has come, or one too many */
	RSVP_T_FREE			  /* of a reservation */
};

/*
 * When something is due: 32 bits in steps of 65.5 us, rounded down. That reaches 39 hours from now, and a refresh, the life of
 * a neighbour's state and a blockade end before. 0: not set.
 */
#define RSVP_DUE_BITS 16

/* What one grantor holds for a session from one previous hop, however many paths run through it. */
struct rsvp_reservation {
	struct rsvp_instance *instance;
	struct rsvp_reservation *next; /* of the instance */
	const struct ip_addr *phop;
	uint64_t received;
	int64_t lost, freed;
	uint64_t fccl, abr;	  /* as sent */
	uint32_t units;		  /* in the pool, margin included; 0: nothing */
	uint32_t buffer;	  /* advertised */
	uint32_t number;	  /* of the caller; 0: none */
	uint32_t due;		  /* the units go back */
	uint32_t epoch, sequence; /* 0: no epoch yet */
	uint32_t opened_by;	  /* sequence of the CBFC_HOP that opened the epoch */
	bool committed;
};

/*
 * What a user has from one next hop for a session, for all paths that go there: all that an update changes. They are in a table
 * of their own, a cache line each, so that the updates of many sessions touch no more than that of each.
 */
struct rsvp_context {
	_Alignas(CACHE_LINE_BYTES) uint64_t fccl;
	uint64_t abr;
	uint64_t sent;
	uint32_t epoch, sequence, buffer;
	uint32_t left[RSVP_LEFT];
	uint32_t paths; /* that have it; 0: it is free */
	uint32_t next;	/* free: the next one, counted from 1 */
	uint8_t left_next;
	bool stale; /* the first offer was of a reservation from before a restart: no data before RESYNC */
	bool rest;  /* something is on its way to the next hop, or queued */
};
static_assert(sizeof(struct rsvp_context) == 64, "what updates touch");

/* What one machine of a path leaves to the other. */
#define RSVP_DOWN_INIT 0x01   /* 28 down */
#define RSVP_DOWN_ASK 0x02    /* 28 with ASK down */
#define RSVP_DOWN_END 0x04    /* 30 down */
#define RSVP_DOWN_REFUSE 0x08 /* ResvErr 1 down: no room for the S that came */
#define RSVP_UP_COMMIT 0x10   /* S up */
#define RSVP_UP_ERROR 0x20    /* PathErr up */
#define RSVP_UP_LOST 0x40     /* the user's side is gone */
#define RSVP_DOWN_MORE 0x80   /* look whether End can be final */

/*
 * The newest MESSAGE_ID that a neighbour has sent for a path: by it the neighbour refreshes the path. Both of a path are found by
 * the number of its link (rsvp_link_of), doubled, and one more for that of the next hop.
 */
struct rsvp_heard {
	uint32_t next; /* in its bucket; 0: none */
	uint32_t id;
	uint32_t epoch : 24;
	uint32_t listed : 1;
	uint32_t down : 1; /* of the next hop */
};

/* Contents that paths have in common, for as long as one has them: rsvp_share. */
struct rsvp_shared {
	struct rsvp_shared *next; /* in its bucket */
	uint32_t hash;
	uint32_t users;
	uint16_t bytes;
	_Alignas(uint64_t) uint8_t data[];
};

/* What RSVP tells of traffic in a SENDER_TSPEC: the rest of struct rsvp_tspec is of a FLOWSPEC. */
struct rsvp_traffic {
	float rate, depth, peak;
	uint32_t least, most;
};

/* The neighbours that a path has left: routes have changed. */
struct rsvp_former {
	struct ip_addr left; /* the previous hop before this one; its 28s that are under way still are copies, until: */
	uint64_t left_until; /* ns */
	struct ip_addr nhop; /* that the path has left, and that has not been told; family 0: none */
	uint16_t zone;	     /* of that one */
	struct {
		struct ip_addr nhop;
		uint32_t left[RSVP_LEFT];
	} known[2]; /* the last two next hops, and epochs of them that it has left, should it come back */
	uint8_t known_next;
};

struct rsvp_path {
	/* first what each message reads */
	struct rsvp_instance *instance;
	struct rsvp_path *next; /* of the instance */
	struct rsvp_context *context;
	const struct rsvp_shared *way; /* a struct rsvp_way without `carrier` */
	uint32_t lih;
	uint32_t next_lih, next_hop, next_sender; /* in the buckets; 0: none, else rsvp_link_of the next one */
	uint32_t slot;
	uint8_t grantor; /* enum rsvp_grantor_state */
	uint8_t user;	 /* enum rsvp_user_state */
	uint8_t steps;	 /* RSVP_DOWN_..., RSVP_UP_... */
	uint8_t copies;	 /* of the S that is not acknowledged */
	uint8_t tries;
	uint8_t hops, ttl;
	uint8_t hops_max;   /* of CBFC_PATH, by its headend; 0: that of this node */
	bool candidate : 1; /* of a session that begins here */
	bool has_offer : 1, has_path : 1;
	/* grantor */
	bool end_counted : 1, end_final : 1;
	bool forsaken : 1;     /* its lease ended: only ASK commits it again */
	bool answers : 1;      /* S answers a 28 of RESYNC, and names it */
	bool tried : 1;	       /* by the selection under way */
	bool acknowledged : 1; /* the last S */
	bool confirmed : 1;    /* an S of this epoch */
	/* user */
	bool final : 1; /* the last 30 */
	bool ask : 1, asked : 1;
	bool again : 1;	     /* the session has left it: it begins again as a backup when its End is over */
	bool down_acked : 1; /* the last 28 or 30, by the next hop */
	bool returns : 1;    /* U_RESYNC that gives credit back, but for rsvp_config.floor units */
	bool hurried : 1;    /* U_RESYNC: its next hop was heard, and asked beside the turn */
	uint16_t id;
	uint32_t due[RSVP_PATH_TIMERS];
	struct rsvp_sender sender;
	/* grantor */
	struct rsvp_reservation *reservation;
	const struct ip_addr *phop;
	uint32_t phop_lih, phop_refresh_ms;
	uint32_t hop_heard; /* sequence of the newest CBFC_HOP */
	struct rsvp_heard heard_up;
	uint32_t s_id, s_sum; /* of the last S: its id, and rsvp_sum_of */
	uint64_t end_sent;
	/* the 28, as it goes on */
	uint64_t carrier;
	struct rsvp_cbfc_offer offer;
	const struct rsvp_shared
		*passed; /* the devices before this one, 16 bytes each; objects that are passed on; ADSPEC */
	uint16_t object_bytes, adspec_bytes;
	/* user */
	const struct rsvp_shared *passed_up; /* objects of the last S that are passed on with its own S; NULL: none */
	uint32_t refresh_ms;		     /* R as sent: it changes in steps */
	uint32_t nhop_refresh_ms;
	uint32_t down_id;  /* of the last 28 or 30 */
	uint32_t down_sum; /* rsvp_sum_of the last 28 */
	uint32_t hop_sequence;
	struct rsvp_heard heard_down;
	const struct ip_addr *nhop;	 /* rsvp_nobody: none yet */
	const struct rsvp_shared *error; /* struct rsvp_error of the last PathErr; NULL: none */
	struct rsvp_former *former;	 /* NULL: it has neither */
};

struct rsvp_instance {
	struct rsvp_path *paths;
	struct rsvp_path *current; /* headend */
	struct rsvp_reservation *reservations;
	struct rsvp_instance *next_key;
	const struct ip_addr *origin;
	const struct rsvp_session *session; /* in a struct rsvp_shared */
	bool native : 1;		    /* no CBFC_PATH: the session and its sender are the key */
	bool wanted : 1;		    /* by rsvp_open */
	bool select : 1, backup : 1;	    /* steps of the far gateway and of the headend */
	bool joined : 1;		    /* far gateway: `under`, while there is one, carries the data on */
	uint8_t role;			    /* enum rsvp_role */
	uint8_t traffic_class, unit;
	uint8_t limit; /* index into rsvp_node.limit */
	uint8_t offers;
	uint16_t zone; /* of its origin and its previous hops */
	uint32_t nonce;
	uint32_t most; /* units that a reservation of it may get */
	struct rsvp_traffic traffic;
	uint32_t hop_sequence;	       /* of the last CBFC_HOP sent */
	uint32_t due;		       /* RSVP_T_SELECT */
	struct rsvp_cbfc_offer *offer; /* of the last S: RSVP_OFFERS_MAX of them, or NULL */
	struct timer timer;	 /* not later than what is due first of the instance, its paths and its reservations */
	struct rsvp_carry carry; /* headend: those whose data it carries on, and what they were told last */
	struct rsvp_carry *under;
	struct rsvp_instance *next_above; /* of those above `under` */
};

#define RSVP_PENDING 64 /* refreshes by id of a pass */

struct rsvp_pending {
	struct ip_addr to;
	uint16_t zone;
	uint32_t id;
};

struct rsvp_node {
	struct rsvp_config config;
	const struct rsvp_node_ops *ops;
	void *arg;
	uint64_t now; /* of the event that is handled */
	uint64_t random;
	uint64_t salt; /* of the hash tables: neighbours choose what is in them */
	uint32_t id_epoch, id_last;
	uint32_t handle; /* next */
	struct timers wheel;
	struct rsvp_node_stats stats;
	uint32_t buckets;	      /* of the tables: paths_max */
	struct rsvp_context *context; /* paths_max of them */
	void *context_memory;
	uint32_t contexts, context_free; /* those that were ever used; the first of them that is free, counted from 1 */
	uint32_t *by_lih, *by_hop, *by_sender; /* buckets: rsvp_link_of their first paths */
	struct rsvp_path **by_slot;
	uint32_t *free_slot; /* the slots that no path has: paths_max - stats.paths of them */
	struct rsvp_instance **by_key;
	uint32_t *sent; /* by id: the link of its path, doubled, and one more for an S */
	uint32_t *by_heard;
	struct rsvp_shared **by_contents;
	struct rsvp_pending pending[RSVP_PENDING];
	unsigned int pending_n;
	be32_t ids[RSVP_PENDING]; /* of the Srefresh that is being sent */
	struct rsvp_limit {
		uint64_t most, committed, promised; /* units */
	} limit[RSVP_LIMITS];
	struct bucket errors; /* answers to what is not known */
	/* of the message that is handled: to be acknowledged */
	struct ip_addr ack_to;
	uint16_t ack_zone;
	struct rsvp_message_id ack;
	bool ack_due;
	struct rsvp_message out;
};

/* The bucket for a hash, of as many as there are. */
static inline uint32_t rsvp_bucket(uint32_t hash, uint32_t buckets)
{
	return (uint32_t)((uint64_t)hash * buckets >> 32);
}

/* Fewer contents are shared than there are paths. */
static inline uint32_t rsvp_content_buckets(uint32_t paths_max)
{
	return paths_max / 4 + 1;
}

static inline uint64_t rsvp_splitmix64(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static inline uint32_t rsvp_random(struct rsvp_node *n)
{
	return (uint32_t)rsvp_splitmix64(&n->random);
}

/* L = (K + 0.5) * 1.5 * R (RFC 2205 section 3.7) */
static inline uint64_t rsvp_life_of(uint32_t keep, uint32_t refresh_ms)
{
	return (2ull * keep + 1) * 3 * refresh_ms * NSEC_PER_MSEC / 4;
}

static inline uint64_t rsvp_ms(uint32_t ms)
{
	return ms * NSEC_PER_MSEC;
}

static inline uint32_t rsvp_link_of(const struct rsvp_path *p)
{
	return p->slot + 1;
}

static inline struct rsvp_path *rsvp_linked(const struct rsvp_node *n, uint32_t link)
{
	return link ? n->by_slot[link - 1] : NULL;
}

static inline struct rsvp_traffic rsvp_traffic_of(const struct rsvp_tspec *t)
{
	return (struct rsvp_traffic){t->rate, t->depth, t->peak, t->least, t->most};
}

static inline struct rsvp_tspec rsvp_tspec_of(const struct rsvp_instance *s)
{
	const struct rsvp_traffic *t = &s->traffic;

	return (struct rsvp_tspec){t->rate, t->depth, t->peak, t->least, t->most};
}

/* rsvp_record.c: records and their lookup */
struct rsvp_instance *rsvp_instance_of(const struct rsvp_node *n, const struct rsvp_message *m);
struct rsvp_instance *rsvp_instance_new(struct rsvp_node *n, const struct rsvp_session *s, const struct ip_addr *origin,
	uint32_t nonce);
void rsvp_instance_key(const struct rsvp_message *m, struct ip_addr *origin, uint32_t *nonce, bool *native);
struct rsvp_path *rsvp_path_new(struct rsvp_node *n, struct rsvp_instance *s, uint16_t id,
	const struct rsvp_sender *sender, const struct rsvp_way *way);			      /* NULL: no room */
bool rsvp_path_set_hop(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_hop *hop); /* false: no memory */
void rsvp_path_set_lih(struct rsvp_node *n, struct rsvp_path *p);
/* By RSVP_HOP of a message from a previous hop. */
struct rsvp_path *rsvp_path_by_hop(const struct rsvp_node *n, const struct rsvp_message *m);
struct rsvp_path *rsvp_path_of_hop(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *addr, uint32_t lih);
struct rsvp_path *rsvp_path_by_lih(const struct rsvp_node *n, uint32_t lih);
/* Is this node in the list of devices of a 28, by its own address or by that of the link on which it goes on? */
bool rsvp_passed_here(const struct rsvp_node *n, const struct rsvp_message *m);
/* The most devices of a path: this node's limit, and that of the headend. */
unsigned int rsvp_hops_most(const struct rsvp_node *n, const struct rsvp_message *m);
struct rsvp_path *rsvp_path_by_sender(const struct rsvp_node *n, const struct rsvp_message *m);
/* Bytes of the objects of a message that are passed on unexamined, and a copy of them. Returns the end of the copy. */
size_t rsvp_passed_bytes(const struct rsvp_message *m);
uint8_t *rsvp_passed_copy(uint8_t *at, const struct rsvp_message *m);
/* Free what has nothing left: paths, reservations, contexts, and the instance itself. True: it is gone. */
bool rsvp_instance_sweep(struct rsvp_node *n, struct rsvp_instance *s);
void rsvp_path_free(struct rsvp_node *n, struct rsvp_path *p);
/* `under` carries on the data of `s`; NULL: no session does. */
void rsvp_instance_join(struct rsvp_instance *s, struct rsvp_carry *under);
void rsvp_instance_free(struct rsvp_node *n, struct rsvp_instance *s);
bool rsvp_session_equal(const struct rsvp_session *a, const struct rsvp_session *b);
bool rsvp_sender_equal(const struct rsvp_sender *a, const struct rsvp_sender *b);

/*
 * rsvp_due.c: `due` is a time of the instance, of one of its paths or of one of its reservations. TIME_NEVER: cancelled. _take:
 * the earliest time, which is not set any more; false: nothing is due.
 */
struct rsvp_due {
	uint32_t *due; /* NULL: nothing is */
	enum rsvp_timer_kind kind;
	struct rsvp_path *path;		      /* of which it is; NULL: of another record */
	struct rsvp_reservation *reservation; /* likewise */
};
void rsvp_due_set(struct rsvp_node *n, struct rsvp_instance *s, uint32_t *due, uint64_t at);
bool rsvp_due_take(struct rsvp_node *n, struct rsvp_instance *s, struct rsvp_due *out);

/* rsvp_shared.c. NULL: no memory. rsvp_unshare takes NULL, too. */
const struct rsvp_shared *rsvp_share(struct rsvp_node *n, const void *data, size_t bytes);
const struct rsvp_shared *rsvp_share_way(struct rsvp_node *n, const struct rsvp_way *way);
void rsvp_unshare(struct rsvp_node *n, const struct rsvp_shared *shared);
/* Addresses that many paths have. _set: false: no memory, and it is as before. _clear: it is rsvp_nobody. */
extern const struct ip_addr rsvp_nobody; /* family 0 */
bool rsvp_addr_set(struct rsvp_node *n, const struct ip_addr **at, const struct ip_addr *addr);
const struct ip_addr *rsvp_addr_again(const struct ip_addr *addr); /* the same one for another record */
void rsvp_addr_clear(struct rsvp_node *n, const struct ip_addr **at);
const struct rsvp_session *rsvp_share_session(struct rsvp_node *n, const struct rsvp_session *session);
void rsvp_unshare_session(struct rsvp_node *n, const struct rsvp_session *session);
/* What users and neighbours are told of a path. NULL: nothing. */
extern const struct rsvp_error rsvp_no_way; /* there is none to the next hop, or behind it */
void rsvp_error_set(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_error *e);
const struct rsvp_error *rsvp_error_of(const struct rsvp_path *p);
struct rsvp_former *rsvp_former_of(struct rsvp_node *n, struct rsvp_path *p); /* NULL: no memory */

static inline const struct rsvp_way *rsvp_way_of(const struct rsvp_path *p)
{
	return (const struct rsvp_way *)(const void *)p->way->data;
}

/* With its `carrier`. */
static inline struct rsvp_way rsvp_whole_way(const struct rsvp_path *p)
{
	struct rsvp_way way = *rsvp_way_of(p);

	way.carrier = p->carrier;
	return way;
}

/* rsvp_heard.c: ids that neighbours have sent. _find: NULL if that neighbour has not sent the id for a path. */
void rsvp_heard_set(struct rsvp_node *n, struct rsvp_heard *heard, const struct rsvp_message *m);
bool rsvp_heard_late(struct rsvp_node *n, struct rsvp_heard *heard, const struct rsvp_message *m);
void rsvp_heard_forget(struct rsvp_node *n, struct rsvp_heard *heard);
struct rsvp_heard *rsvp_heard_find(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *from, uint32_t epoch,
	uint32_t id);
struct rsvp_path *rsvp_heard_path(struct rsvp_heard *h);
/* Sum of the contents that a refresh must not change. */
uint32_t rsvp_sum_of(const struct rsvp_message *m);

/* rsvp_credit.c: reservations and contexts */
/* With the previous hop of the path. NULL: no room. */
struct rsvp_reservation *rsvp_reserve(struct rsvp_node *n, const struct rsvp_path *p);
bool rsvp_reservation_commit(struct rsvp_node *n, struct rsvp_reservation *r);
/* The user gives back all but `keep` units, in the epoch that begins next (D52). */
void rsvp_reservation_shrink(struct rsvp_node *n, struct rsvp_reservation *r, uint32_t keep);
/* Give the units back `delay_ms` later, unless a path is still on it. */
void rsvp_release(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint32_t delay_ms);
void rsvp_give_back(struct rsvp_node *n, struct rsvp_reservation *r); /* at once */
void rsvp_context_count(const struct rsvp_node *n, const struct rsvp_path *p);
void rsvp_reservation_free(struct rsvp_node *n, struct rsvp_reservation *r);
void rsvp_epoch_open(struct rsvp_node *n, struct rsvp_reservation *r, uint32_t hop_sequence);
void rsvp_credit_of(const struct rsvp_node *n, struct rsvp_reservation *r, uint8_t flags, struct rsvp_credit *out);
enum rsvp_credit_answer { RSVP_CREDIT_OLD, RSVP_CREDIT_NEW, RSVP_CREDIT_LEFT, RSVP_CREDIT_OTHER };
/* Credit of the context's epoch is taken if it is newer. OTHER: of another epoch, and not one of the last that were left. */
enum rsvp_credit_answer rsvp_context_take(struct rsvp_context *x, const struct rsvp_credit *c);
void rsvp_context_start(struct rsvp_context *x, const struct rsvp_credit *c); /* a new epoch */
/* The path goes to that next hop, and shares what other paths of the session have from it; the path goes there no more. */
bool rsvp_context_join(struct rsvp_node *n, struct rsvp_path *p, const struct ip_addr *nhop); /* false: no memory */
void rsvp_context_leave(struct rsvp_node *n, struct rsvp_path *p);
/* The path leaves its next hop, but may come back to it. */
void rsvp_context_remember(struct rsvp_node *n, struct rsvp_path *p);

/* rsvp_send.c: messages */
uint64_t rsvp_life_ns(const struct rsvp_node *n, uint32_t refresh_ms); /* L */
uint64_t rsvp_refresh_ns(struct rsvp_node *n, struct rsvp_path *p);    /* the next interval, with jitter */
/* A new 28; a copy of the last one; one with an id of its own and the CBFC_HOP sequence of the last one (RESYNC). */
enum rsvp_copy { RSVP_FRESH, RSVP_AGAIN, RSVP_RENEWED };
struct ip_addr rsvp_own_along(const struct rsvp_node *n,
	const struct rsvp_path *p); /* what the next hop knows this node by */
void rsvp_send_init(struct rsvp_node *n, struct rsvp_path *p, uint8_t flags, enum rsvp_copy copy);
void rsvp_send_reserve(struct rsvp_node *n, struct rsvp_path *p, uint8_t flags, bool again);
void rsvp_send_end(struct rsvp_node *n, struct rsvp_path *p, bool again);
void rsvp_send_end_ack(struct rsvp_node *n, const struct rsvp_path *p, const struct rsvp_message *end);
void rsvp_send_path_err(struct rsvp_node *n, const struct rsvp_message *m, const struct rsvp_path *p,
	const struct rsvp_error *e);
void rsvp_send_resv_err(struct rsvp_node *n, const struct rsvp_session *session, uint16_t zone,
	const struct ip_addr *to, uint32_t lih, uint8_t code, uint16_t value);
void rsvp_send_ack(struct rsvp_node *n); /* what no message has carried */
/* Objects that are passed on, one after the other. Returns their end. */
const uint8_t *rsvp_put_objects(struct rsvp_message *m, const uint8_t *at, uint16_t left);

/* What a 28 or S of a path would tell now, in short. */
uint32_t rsvp_init_sum(struct rsvp_node *n, const struct rsvp_path *p);
uint32_t rsvp_commit_sum(struct rsvp_node *n, const struct rsvp_path *p);

/* rsvp_refresh.c: refreshes by id. */
/* Refresh the 28 or S by its id, with others of this pass. False: the whole message is needed. */
bool rsvp_refresh_init(struct rsvp_node *n, const struct rsvp_path *p);
bool rsvp_refresh_commit(struct rsvp_node *n, const struct rsvp_path *p);
/* When to refresh next: with others, so that one message has many ids. */
uint64_t rsvp_refresh_together(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_refresh_flush(struct rsvp_node *n); /* send those of this pass */

/* rsvp_grantor.c */
bool rsvp_grantor_refreshed(struct rsvp_node *n, uint64_t now, struct rsvp_path *p); /* false: the whole 28 is needed */
void rsvp_grantor_repeat(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);    /* the whole S was asked for */
void rsvp_grantor_init(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m, uint64_t arrival);
void rsvp_grantor_end(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
void rsvp_grantor_marker(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
void rsvp_grantor_resv_err(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
bool rsvp_grantor_commit(struct rsvp_node *n, uint64_t now, struct rsvp_path *p); /* false: no room, or not offered */
void rsvp_grantor_acknowledged(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_grantor_lost(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_grantor_down(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_grantor_complete(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_grantor_timer(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint8_t kind);
bool rsvp_grantor_is_complete(const struct rsvp_path *p); /* nothing more comes from above */
void rsvp_grantor_select(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s);
void rsvp_grantor_carried(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s,
	bool on); /* by the session under it */

/* rsvp_user.c */
bool rsvp_user_refreshed(struct rsvp_node *n, uint64_t now, struct rsvp_path *p); /* false: the whole S is needed */
void rsvp_user_start(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, bool ask);
void rsvp_user_reserve(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
void rsvp_user_end_ack(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
void rsvp_user_path_err(struct rsvp_node *n, uint64_t now, const struct rsvp_message *m);
void rsvp_user_end(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_user_refuse(struct rsvp_node *n, struct rsvp_path *p);
void rsvp_user_more(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_user_down(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
/* Has the path credit of its next hop? Also while it gives some of it back: data that comes then waits for one round trip. */
static inline bool rsvp_user_has_credit(const struct rsvp_path *p)
{
	return p->user == RSVP_U_COMMITTED || (p->user == RSVP_U_RESYNC && p->returns);
}

void rsvp_user_out_of_step(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
bool rsvp_user_give_back(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_user_up(struct rsvp_node *n, uint64_t now, struct rsvp_path *p);
void rsvp_user_moved(struct rsvp_node *n, struct rsvp_path *p, const struct rsvp_way *way);
void rsvp_user_timer(struct rsvp_node *n, uint64_t now, struct rsvp_path *p, uint8_t kind);
void rsvp_user_backup(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s);
void rsvp_user_keep_one(struct rsvp_node *n, uint64_t now, struct rsvp_instance *s); /* of the committed paths */

/* the order of D13 */
bool rsvp_offer_is_better(const struct rsvp_cbfc_offer *a, const struct rsvp_cbfc_offer *b);

/* Units that a new reservation of a session gets. */
static inline uint32_t rsvp_buffer_of(const struct rsvp_node *n, const struct rsvp_instance *s)
{
	return MIN_OF(n->config.buffer, s->most);
}

/* Units with which a session begins: the rest follows its demand, if the pool is shared (D52). */
static inline uint32_t rsvp_first_buffer_of(const struct rsvp_node *n, const struct rsvp_instance *s)
{
	return n->config.floor ? MIN_OF(n->config.floor, rsvp_buffer_of(n, s)) : rsvp_buffer_of(n, s);
}

/* R of a neighbour, as far as it counts. */
static inline uint32_t rsvp_refresh_of(const struct rsvp_message *m)
{
	return MIN_OF(m->refresh_ms, RSVP_REFRESH_MAX_MS);
}

static inline void rsvp_timer_set(struct rsvp_node *n, struct rsvp_path *p, enum rsvp_timer_kind kind, uint64_t at)
{
	rsvp_due_set(n, p->instance, &p->due[kind], at);
}

static inline void rsvp_timer_cancel(struct rsvp_node *n, struct rsvp_path *p, enum rsvp_timer_kind kind)
{
	if (p->due[kind])
		rsvp_timer_set(n, p, kind, TIME_NEVER);
}

static inline bool rsvp_timer_is_set(const struct rsvp_path *p, enum rsvp_timer_kind kind)
{
	return p->due[kind];
}

/* A neighbour does not answer: it has had all copies of a message, or its state has ended. */
static inline void rsvp_silent(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *neighbor)
{
	if (n->ops->silent && neighbor->family)
		n->ops->silent(n->arg, zone, neighbor);
}

/* Is there still a previous hop that wants the path? */
static inline bool rsvp_path_has_user(const struct rsvp_path *p)
{
	return p->grantor != RSVP_G_NONE && p->grantor != RSVP_G_TOMB && p->grantor != RSVP_G_CLOSING;
}

/* Does the path keep its reservation in the pool? */
static inline bool rsvp_path_holds(const struct rsvp_path *p)
{
	return p->grantor == RSVP_G_OFFERED || p->grantor == RSVP_G_COMMITTED || p->grantor == RSVP_G_LEASE ||
	       p->grantor == RSVP_G_CLOSING;
}

#endif
