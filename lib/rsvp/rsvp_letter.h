/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions by the letter of draft-hu (docs/credit.md 2.4, mode letter): native messages of IPv4 or IPv6 with the objects of
 * Path, a Credit of one word, absolute grants in MB, increments for what was forwarded. A 28 goes to every next hop, the
 * first 28 wins, data may start on the first 29, and an End is repeated until it is answered.
 *
 * Pure: no packets, no clock, no DPDK. The control lcore passes `now` (ns) and carries out the callbacks. Not thread safe; one
 * per node, beside the machines of ext mode (rsvp_node.h), whose pool the caller lends to it. Timers are in a wheel.
 */
#ifndef RSVP_RSVP_LETTER_H
#define RSVP_RSVP_LETTER_H

#include "credit/credit_letter.h"
#include "rsvp/rsvp_node.h"

#define LETTER_BRANCHES_MAX 8 /* next hops to which a 28 goes */
#define LETTER_OWED_MAX 16    /* increments to a previous hop that wait for their acknowledgement */

struct letter_config {
	uint32_t sessions_max;
	bool refresh;		      /* 28 and 29 are refreshed, and state ends without (the draft has neither) */
	uint32_t refresh_ms, keep;    /* R and K, as in struct rsvp_config */
	uint32_t rapid_ms, rapid_max; /* copies of a 28 that no 29 answers, of increments */
	uint32_t repeat_max_ms;	      /* longest interval between copies of a 30 and of increments */
	uint32_t idle_ms, lease_ms;   /* D_idle, T_lease */
	uint32_t heartbeat_ms;	      /* sent data without an answer for that long: the next hop has failed */
	uint32_t grant_mb;	      /* most that a session is granted */
	enum credit_letter_unit unit; /* of increments */
	bool strict;		      /* a packet must be smaller than the credit, not only as large */
	uint32_t rate;		      /* 29s a second to a previous hop; 0: one for each packet */
};
extern const struct letter_config letter_config_default;

struct letter_node;
struct letter_session;
struct letter_grant;  /* what a session has promised to a previous hop */
struct letter_branch; /* what it has from a next hop */

/* Where a 28 goes on. */
struct letter_route {
	uint8_t role;	/* enum rsvp_role; not RSVP_HEADEND */
	bool joined;	/* RSVP_FAR: its data needs another session of this node: ops->carried */
	uint64_t bytes; /* a session is granted no more; 0: as the configuration says */
	unsigned int branches;
	struct rsvp_way way[LETTER_BRANCHES_MAX];
};

struct letter_ops {
	void (*send)(void *arg, const struct rsvp_way *way, struct rsvp_message *m);
	/* 0, or a negative value as from route of struct rsvp_node_ops. */
	int (*route)(void *arg, const struct rsvp_message *m, uint64_t arrival, struct letter_route *out);
	struct ip_addr (*own)(void *arg, uint16_t zone, const struct ip_addr *neighbor);
	/* Has the session that carries on the data of one that ends here a path now? letter_carried says that it may be news. */
	bool (*carried)(void *arg, uint16_t zone, const struct rsvp_session *session, const struct rsvp_sender *sender);
	/* Buffer for a grant; false: there is none. And back. */
	bool (*take)(void *arg, uint64_t bytes);
	void (*give)(void *arg, uint64_t bytes);
	/* Data may be sent on a branch now, or no more. */
	void (*changed)(void *arg, const struct letter_session *s, bool on);
	void (*shown)(void *arg, const struct letter_session *s);
	void (*silent)(void *arg, uint16_t zone, const struct ip_addr *neighbor);
	/* A way of a session is about to be freed, with its carrier; way NULL: the session. */
	void (*gone)(void *arg, const struct letter_session *s, const struct rsvp_way *way);
};

/* X(kind, member, name, unit, metric, help): stats/counter.h */
#define LETTER_DROP(X, name, help) \
	X(counter, name, "letter_" #name, "messages", "sluice_rsvp_letter_" #name, \
		"RSVP messages of letter mode without effect: " help)
#define LETTER_DROPS(X) \
	LETTER_DROP(X, duplicate, "the same 28 came less than a second ago, and is answered only") \
	LETTER_DROP(X, bad_lih, "LIH or sender of no session") \
	LETTER_DROP(X, bad_hop, "RSVP_HOP is not the next hop of the session") \
	LETTER_DROP(X, late, "an increment that was accepted before, or is too old") \
	LETTER_DROP(X, no_id, "an increment without MESSAGE_ID, which could be counted twice") \
	LETTER_DROP(X, no_grant, "a grant while data is outstanding, or of less than 2 MB") \
	LETTER_DROP(X, no_event, "nothing to do in that state") \
	LETTER_DROP(X, no_room, "no room for another session") \
	LETTER_DROP(X, not_passed, "objects that should be passed on were left out: there are too many")
#define LETTER_COUNTERS(X) \
	X(counter, received, "letter_rx", "messages", "sluice_rsvp_letter_rx", \
		"RSVP messages of letter mode received") \
	X(counter, sent, "letter_tx", "messages", "sluice_rsvp_letter_tx", "RSVP messages of letter mode sent") \
	X(gauge, sessions, "letter_sessions", "sessions", "sluice_rsvp_letter_sessions", \
		"sessions of letter mode that this node knows") \
	X(gauge, reserved, "letter_reserved", "bytes", "sluice_rsvp_letter_reserved_bytes", \
		"buffer reserved for sessions of letter mode") \
	X(counter, refused, "letter_refused", "sessions", "sluice_rsvp_letter_refused", \
		"sessions of letter mode that this node refused") \
	X(counter, returned, "letter_returned", "bytes", "sluice_rsvp_letter_returned_bytes", \
		"credit returned to previous hops in increments") \
	X(counter, switched, "letter_switched", "sessions", "sluice_rsvp_letter_switched", \
		"sessions of letter mode that have gone over to another next hop") \
	LETTER_DROPS(X)

struct letter_stats {
	LETTER_COUNTERS(STAT_DECLARE)
};

struct letter_node *letter_new(const struct letter_config *c, const struct letter_ops *ops, void *arg, uint64_t seed);
void letter_free(struct letter_node *n);
void letter_set(struct letter_node *n, const struct letter_config *c); /* sessions_max stays */

/* A session that begins here, to be ended by letter_close. NULL: no room. The ways are the next hops. */
struct letter_session *letter_open(struct letter_node *n, uint64_t now, const struct rsvp_session *session,
	const struct rsvp_sender *sender, const struct rsvp_tspec *tspec, const struct rsvp_way *way,
	unsigned int ways);
void letter_close(struct letter_node *n, uint64_t now, struct letter_session *s);

/* As rsvp_receive. */
void letter_receive(struct letter_node *n, uint64_t now, const struct rsvp_message *m, const struct ip_addr *from,
	uint64_t arrival);
/* A link to a neighbour went down, or works again. */
void letter_neighbor(struct letter_node *n, uint64_t now, uint16_t zone, const struct ip_addr *addr, bool up);
/*
 * Sessions that carry on the data of those that end here have a path, or none: the previous hops of the latter are granted credit,
 * or told not to use what they have.
 */
void letter_carried(struct letter_node *n, uint64_t now);
/* Run the timers that are due, at most `budget`. *next: time of the next call (ns). */
unsigned int letter_poll(struct letter_node *n, uint64_t now, unsigned int budget, uint64_t *next);

/*
 * Data of a grant: bytes that have arrived, and of them those that have gone on, since the start. Data of the current
 * branch: its gate, whose `sent` and `given_ns` the caller writes; queued: packets wait for credit.
 */
struct letter_grant *letter_grant_of(const struct letter_session *s, const struct ip_addr *phop);
void letter_freed(struct letter_node *n, uint64_t now, struct letter_grant *g, uint64_t received, uint64_t freed);
struct credit_letter_gate *letter_gate(struct letter_session *s); /* NULL: no data may be sent */
void letter_sent(struct letter_node *n, uint64_t now, struct letter_session *s, bool queued);

/* What a session looks like: states as in ext mode; grants and credit in MB. */
void letter_show(const struct letter_session *s, struct rsvp_path_view *out);
uint32_t letter_slot(const struct letter_session *s);		      /* below sessions_max */
const struct rsvp_way *letter_way_of(const struct letter_session *s); /* of the next hop that is shown; NULL: none */
struct letter_session *letter_at(const struct letter_node *n, uint32_t slot); /* NULL: none */
const struct letter_stats *letter_stats_of(const struct letter_node *n);
size_t letter_bytes_of_session(void);

#endif
