/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of letter mode: records, and the messages that they make. Control lcore. */
#ifndef RSVP_RSVP_LETTER_PRIV_H
#define RSVP_RSVP_LETTER_PRIV_H

#include "base/compiler.h"
#include "base/timers.h"
#include "rsvp/rsvp_letter.h"
#include "rsvp/rsvp_node_priv.h"

#define LETTER_BUCKETS 4096
#define LETTER_SENT 1024 /* ids of increments whose grants are remembered; a power of two */

enum letter_timer_kind { LETTER_T_LIFE, LETTER_T_STATE, LETTER_T_SEND, LETTER_T_OWED, LETTER_TIMERS };

/* The timers of a record, of which the earliest is in the wheel. */
struct letter_timers {
	struct timer timer;
	bool of_branch;
	uint64_t due[LETTER_TIMERS];
};

/* An increment that nobody has acknowledged. */
struct letter_owed {
	uint32_t id, value;
	uint64_t due;
	uint8_t tries; /* 0: the entry is free */
};

struct letter_grant {
	struct letter_timers timers; /* first */
	struct letter_session *session;
	struct letter_grant *next; /* of the session */
	struct ip_addr phop;
	uint32_t lih, refresh_ms;
	uint8_t state; /* RSVP_G_OFFERED, RSVP_G_COMMITTED, RSVP_G_CLOSING, RSVP_G_TOMB; RSVP_G_NONE: nothing yet */
	bool selected; /* its 28 was the first */
	uint64_t seen_ns;
	uint32_t mb; /* reserved */
	uint64_t received, freed, arrived_ns;
	struct credit_letter_grantor grantor;
	struct letter_owed owed[LETTER_OWED_MAX];
};

struct letter_branch {
	struct letter_timers timers; /* first */
	struct letter_session *session;
	struct letter_branch *next; /* of the session */
	struct letter_branch *next_lih;
	struct rsvp_way way;
	struct ip_addr nhop; /* family 0: nobody has answered */
	uint32_t lih, mb, nhop_refresh_ms;
	uint8_t state; /* RSVP_U_WAIT, RSVP_U_OFFER, RSVP_U_COMMITTED, RSVP_U_DOWN, RSVP_U_OUT, RSVP_U_ENDING */
	uint8_t tries;
	bool queued;
	uint64_t answered; /* gate.sent when the last 29 came */
	struct credit_letter_gate gate;
};

struct letter_session {
	struct letter_session *next_key;
	struct rsvp_session session;
	struct rsvp_sender sender;
	struct rsvp_tspec tspec;
	uint16_t zone;
	uint32_t slot;
	uint8_t role; /* enum rsvp_role */
	uint8_t ttl;
	bool wanted, joined, closing;
	bool carried;	 /* joined: what its previous hops were told last */
	uint64_t bytes;	 /* most that it is granted */
	uint8_t *passed; /* foreign objects of its 28, then ADSPEC */
	uint16_t object_bytes, adspec_bytes;
	struct letter_grant *grants;
	struct letter_branch *branches, *current;
	struct rsvp_error error;
};

/* The increments of a neighbour that were accepted. */
struct letter_heard {
	struct letter_heard *next;
	struct ip_addr addr;
	uint16_t zone;
	struct credit_letter_ids ids;
};

struct letter_node {
	struct letter_config config;
	const struct letter_ops *ops;
	void *arg;
	uint64_t random;
	uint64_t salt; /* of the hash table: neighbours choose what is in it */
	uint32_t id_epoch, id_last, handle;
	struct timers wheel;
	struct letter_stats stats;
	struct letter_session **by_slot;
	uint32_t *free_slot;
	struct letter_session *by_key[LETTER_BUCKETS];
	struct letter_branch *by_lih[LETTER_BUCKETS];
	struct letter_heard *heard;
	struct {
		uint32_t id, slot;
	} sent[LETTER_SENT];
	struct bucket errors; /* answers to what is not known */
	struct rsvp_message out;
};

/* rsvp_letter_record.c */
struct letter_session *letter_session_of(const struct letter_node *n, const struct rsvp_message *m);
/* The same for a message of a next hop, whose zone is another one. */
struct letter_session *letter_session_below(const struct letter_node *n, const struct rsvp_message *m);
struct letter_session *letter_session_new(struct letter_node *n, uint16_t zone, const struct rsvp_session *session,
	const struct rsvp_sender *sender);
bool letter_keep_passed(struct letter_node *n, struct letter_session *s, const struct rsvp_message *m);
struct letter_grant *letter_grant_new(struct letter_session *s, const struct ip_addr *phop);
struct letter_branch *letter_branch_new(struct letter_node *n, struct letter_session *s, const struct rsvp_way *way);
struct letter_branch *letter_branch_of(const struct letter_node *n, uint32_t lih);
void letter_grant_free(struct letter_node *n, struct letter_grant *g);
void letter_branch_free(struct letter_node *n, struct letter_branch *b);
/* Free the session if nothing is left of it. */
void letter_sweep(struct letter_node *n, struct letter_session *s);
struct credit_letter_ids *letter_ids_of(struct letter_node *n, uint16_t zone, const struct ip_addr *addr);
void letter_timer_set(struct letter_node *n, struct letter_timers *t, enum letter_timer_kind kind, uint64_t at);

/* rsvp_letter_return.c: increments that are due, first ones and copies; acknowledgements of them. */
void letter_pay(struct letter_node *n, uint64_t now, struct letter_grant *g);
bool letter_owes(const struct letter_grant *g); /* increments that nobody has acknowledged */
void letter_take_acks(struct letter_node *n, uint64_t now, const struct rsvp_message *m);

/* rsvp_letter_carried.c: does the data of a session go on with credit, if it must? */
bool letter_is_carried(const struct letter_node *n, const struct letter_session *s);

/* rsvp_letter_send.c */
void letter_send_init(struct letter_node *n, struct letter_branch *b);
void letter_send_grant(struct letter_node *n, const struct letter_grant *g);
void letter_send_increment(struct letter_node *n, const struct letter_grant *g, uint32_t id, uint32_t value);
void letter_send_end(struct letter_node *n, const struct letter_branch *b);
void letter_send_end_ack(struct letter_node *n, const struct rsvp_message *end);
void letter_send_path_err(struct letter_node *n, const struct rsvp_message *init, const struct letter_grant *g,
	const struct rsvp_error *e);
void letter_send_ack(struct letter_node *n, const struct rsvp_message *m, const struct ip_addr *to);

/* Time after the copy of that number, from 0. */
static inline uint64_t letter_backed_off(const struct letter_node *n, uint8_t tries)
{
	return MIN_OF(rsvp_ms(n->config.rapid_ms) << MIN_OF(tries, 16), rsvp_ms(n->config.repeat_max_ms));
}

#endif
