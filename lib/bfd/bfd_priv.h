/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of BFD: a session, the table, and the steps of the state machine. Control lcore. */
#ifndef BFD_BFD_PRIV_H
#define BFD_BFD_PRIV_H

#include "base/compiler.h"
#include "base/timers.h"
#include "bfd/bfd.h"

#define BFD_PEER_BUCKETS 1024
#define BFD_EXTENDED UINT64_MAX		   /* instead of a sum of gaps: the detection time was extended already */
#define BFD_STALL_NS (500 * NSEC_PER_USEC) /* a pass that is later than this is a gap of our own */

enum bfd_timer_kind { BFD_TIMER_TX, BFD_TIMER_DETECT, BFD_TIMER_ECHO_TX, BFD_TIMER_ECHO_DETECT };

struct bfd_timer {
	struct timer timer;
	struct bfd_session *session;
	uint8_t kind; /* enum bfd_timer_kind */
};

/* State variables of RFC 5880 section 6.8.1. Intervals in microseconds. */
struct bfd_session {
	struct bfd_peer peer;
	struct bfd_config config;
	struct bfd_session *next_peer; /* in the bucket of the peer */
	uint16_t slot;
	bool leaving; /* being ended */
	uint8_t state, remote_state, diag, remote_diag;
	uint32_t local_discr, remote_discr;
	uint32_t desired_tx, required_rx; /* as sent */
	uint32_t tx_in_use, rx_in_use;	  /* until a Poll Sequence ends, the old values may count (6.8.3) */
	uint32_t remote_tx, remote_rx, remote_echo_rx;
	uint8_t remote_multiplier;
	bool remote_demand;
	bool polling;	 /* a Poll Sequence is under way */
	bool poll_again; /* the parameters have changed since it began */
	bool auth_seq_known;
	uint32_t auth_seq, xmit_auth_seq;
	struct bfd_packet last_sent; /* its contents decide about the next sequence number */
	uint64_t last_tx_ns;
	uint32_t planned_us; /* interval by which `tx` was set */
	uint64_t stalled;    /* of the table, when the neighbour was heard last */
	bool echoing;
	uint32_t echo_sequence;
	uint64_t echo_cookie;
	uint64_t echo_stalled;
	uint64_t hold_until; /* ns: stay Down after the echo function failed */
	struct bfd_timer tx, detect, echo_tx, echo_detect;
	struct bfd_session_stats stats; /* the last member; other threads read it */
};

struct bfd_table {
	const struct bfd_ops *ops;
	void *arg;
	uint64_t random;
	uint32_t reflector;
	bool withdrawn;	  /* the reflector is */
	uint64_t seen;	  /* ns: `now` of the last call */
	uint64_t stalled; /* ns: sum of own gaps */
	bool behind;	  /* the last pass used up its budget */
	struct timers wheel;
	struct bfd_stats stats;
	struct bfd_session *slot[BFD_SESSIONS_MAX];
	uint16_t free_from; /* slots below are in use */
	/* ended sessions, linked by next_peer: their memory is used again, since other threads may still read stats */
	struct bfd_session *pool;
	struct bfd_session *peer[BFD_PEER_BUCKETS];
};

/* bfd_timing.c: intervals */
uint32_t bfd_random(struct bfd_table *t);
uint32_t bfd_transmit_us(const struct bfd_session *s); /* negotiated (6.8.2); 0: no periodic packets */
uint32_t bfd_detect_us(const struct bfd_session *s);   /* 6.8.4 */
uint64_t bfd_jittered(struct bfd_table *t, const struct bfd_session *s, uint32_t us); /* ns, section 6.8.7 */
/* Adopt the intervals that follow from configuration and state, with a Poll Sequence if they differ. */
void bfd_negotiate(struct bfd_session *s);
void bfd_poll_ended(struct bfd_session *s); /* a packet with the Final bit was received */
/* Set, move or cancel the timer of periodic packets. */
void bfd_plan_transmit(struct bfd_table *t, struct bfd_session *s, uint64_t now);
void bfd_plan_detection(struct bfd_table *t, struct bfd_session *s, uint64_t now);
/* A detection time has ended. True: not yet, since own gaps are part of it; the timer is set again. */
bool bfd_extended(struct bfd_table *t, struct bfd_session *s, uint64_t now, struct timer *timer, uint64_t *stalled,
	uint32_t us);

/* bfd_session.c: the state machine */
void bfd_send_control(struct bfd_table *t, struct bfd_session *s, uint64_t now, bool final);
void bfd_change(struct bfd_table *t, struct bfd_session *s, uint64_t now, enum bfd_state to, enum bfd_diag diag);
void bfd_apply(struct bfd_table *t, struct bfd_session *s, uint64_t now, const struct bfd_packet *p);
void bfd_detect_expired(struct bfd_table *t, struct bfd_session *s, uint64_t now);
void bfd_echo_expired(struct bfd_table *t, struct bfd_session *s, uint64_t now);

/* bfd_auth.c: section 6.7 */
void bfd_auth_prepare(struct bfd_session *s, struct bfd_packet *p);
enum bfd_refusal bfd_auth_check(struct bfd_session *s, const struct bfd_packet *p, const void *message);

/* bfd_echo.c: section 6.8.5, 6.8.8, 6.8.9 */
void bfd_echo_update(struct bfd_table *t, struct bfd_session *s, uint64_t now); /* start or stop it */
void bfd_echo_send(struct bfd_table *t, struct bfd_session *s, uint64_t now);
bool bfd_echo_is_lost(struct bfd_table *t, struct bfd_session *s, uint64_t now); /* or were own gaps the cause? */
enum bfd_refusal bfd_echo_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r);

/* bfd_sbfd.c: RFC 7880 */
enum bfd_refusal bfd_sbfd_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r,
	const struct bfd_packet *p, void *answer, size_t *answer_bytes);

static inline struct bfd_session *bfd_by_discr(const struct bfd_table *t, uint32_t discr)
{
	struct bfd_session *s = t->slot[discr % BFD_SESSIONS_MAX];

	return s && s->local_discr == discr ? s : NULL;
}

#endif
