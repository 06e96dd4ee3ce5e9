/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a hop that sends data and spends credit (docs/credit.md 2.5, 2.6, 2.10, 2.11). It takes 29s, opens and shuts
 * the gate of the worker, orders fences and states them, and starts a new epoch where the two ends do not agree. Pure;
 * control lcore, which writes every member.
 */
#ifndef CREDIT_CREDIT_USER_H
#define CREDIT_CREDIT_USER_H

#include "credit/credit_hot.h"

#define CREDIT_EPOCHS_LEFT 4 /* epochs remembered after they have been left */

enum credit_state {
	CREDIT_RESYNC, /* shut: nothing may be sent, the quarantine of D_idle runs */
	CREDIT_ASKED,  /* shut: the 28 that asks for an epoch is out */
	CREDIT_OPEN,   /* COMMITTED */
	CREDIT_DOWN,   /* shut: the neighbour is silent; its next 29 starts RESYNC */
};

/* What a 29 has led to. */
enum credit_taken {
	CREDIT_TAKEN,	 /* new: renews the lease of its neighbour */
	CREDIT_ADOPTED,	 /* an S has opened an epoch: data may go; renews the lease */
	CREDIT_REPEATED, /* a copy, or overtaken by a newer one */
	CREDIT_LEFT,	 /* of an epoch that was left: neither credit nor sign of life */
	CREDIT_RESTART,	 /* of an unknown epoch: the session has stopped; ask for a new epoch after the quarantine */
	CREDIT_UNUSABLE, /* an S that does not answer the 28: send a marker with epoch 0 that asks, then the 28 again */
	CREDIT_HELLO_NEW, /* the grantor knows higher sequence numbers: send a new 28 */
	CREDIT_IGNORED,	  /* not for this state, or malformed; counted */
};

struct credit_user {
	enum credit_state state;
	uint32_t epoch;			   /* 0: none */
	uint32_t sequence;		   /* of the newest 29 of the epoch */
	uint32_t hop_sequence;		   /* of the last CBFC_HOP made */
	uint32_t hello;			   /* sequence of RESYNC's 28 */
	uint32_t buf;			   /* largest that the grantor announced in the epoch */
	uint32_t buf_now;		   /* in the newest 29 */
	uint64_t base;			   /* the gate's `sent` when the epoch began */
	uint64_t fccl, abr;		   /* largest received in the epoch */
	uint32_t left[CREDIT_EPOCHS_LEFT]; /* epochs left, or received while shut */
	uint32_t n_left;		   /* epochs ever put there */
	bool was_open;			   /* a stop has an epoch behind it */
	/* fences */
	uint64_t fence_fctbs; /* FCTBS at the last fence */
	uint64_t fence_ns;    /* when it was ordered */
	uint64_t fence_open;  /* number of a fence that is not stated yet; 0: none */
	/* time */
	uint64_t heard_ns; /* reception of the session's newest 29 */
	uint64_t moved_ns; /* when FCCL grew last */
	uint64_t short_ns; /* since when packets have waited without credit for one; 0: they do not */
	uint64_t asked_ns; /* when a marker with ASK was sent last; 0: never */
	uint64_t since_ns; /* when the first one was sent that no 29 of the session has followed */
	uint32_t asked;	   /* its sequence */
};

/*
 * Initialize at `now`, also after a restart of the node: nothing is sent, not even a 28, before D_idle is over. The worker
 * must not use the gate yet.
 */
void credit_user_init(struct credit_user *u, struct credit_gate *g, uint64_t now);

/* Units sent in the epoch. */
static inline uint64_t credit_fctbs(const struct credit_user *u, const struct credit_gate *g)
{
	return __atomic_load_n(&g->sent, __ATOMIC_RELAXED) - u->base;
}

/*
 * Has nothing been given to the device for idle_ns (D_idle, 2.6)? The device and the way must be empty then. It ends the
 * quarantine of RESYNC, allows IDLE and the return of credit.
 */
bool credit_user_idle(const struct credit_gate *g, uint64_t idle_ns, uint64_t now);

/* Shut the gate and leave the epoch: RESYNC begins. */
void credit_user_stop(struct credit_user *u, struct credit_gate *g);

/* The neighbour is silent (D49), or its link is down: shut the gate until it is heard again. */
void credit_user_down(struct credit_user *u, struct credit_gate *g);

/*
 * The 28 of RESYNC. The quarantine must be over. A repeat has the same sequence. want: 0, or the floor if credit is
 * returned (D52).
 */
void credit_user_hello(struct credit_user *u, uint32_t want, struct credit_hop *out);

/*
 * A 29 of the session, received at `now`. most: units beyond FCTBS that this neighbour may grant at most, whatever it says.
 */
enum credit_taken credit_user_hear(struct credit_user *u, struct credit_gate *g, const struct credit_update *m,
	uint32_t most, uint64_t now);

/*
 * A marker: FCTBS of now or, if the device has taken a fence that is not stated yet, its statement. ASK and IDLE are set
 * by the caller, IDLE only if credit_user_idle() says so and the marker is no statement. In RESYNC the epoch is 0.
 */
void credit_user_marker(struct credit_user *u, const struct credit_gate *g, struct credit_hop *out);

/* Is a fence due (2.6)? interval_ns: T_fence. stalled: credit_user_health() says CREDIT_STALLED. */
bool credit_user_fence_due(const struct credit_user *u, const struct credit_gate *g, bool stalled, uint64_t interval_ns,
	uint64_t now);

/* Order a fence with this number: not 0, unguessable, never repeated in an epoch. */
void credit_user_fence(struct credit_user *u, struct credit_gate *g, uint64_t number, uint64_t now);

/* Has the device taken a fence that no marker has stated yet? */
bool credit_user_has_statement(const struct credit_user *u, const struct credit_gate *g);

enum credit_health {
	CREDIT_FLOWING,
	CREDIT_CONGESTED, /* packets wait, but credit comes */
	CREDIT_STALLED,	  /* no credit came for T_stall while packets waited */
};

/*
 * The state of an open session (2.10). DOWN is its neighbour's (credit_alive.h). waiting: packets are queued. mtu: cost of
 * the largest one. Call it at each tick: it notes since when packets wait.
 */
enum credit_health credit_user_health(struct credit_user *u, const struct credit_gate *g, bool waiting, uint32_t mtu,
	uint64_t stall_ns, uint64_t now);

/* Is a marker with ASK due, because no 29 of the session came for interval_ns = T_loop + 3 T_sync (2.9)? */
bool credit_user_ask_due(const struct credit_user *u, const struct credit_gate *g, uint64_t interval_ns, uint64_t now);

/* The marker `hop` is sent with ASK at `now`. */
void credit_user_asked(struct credit_user *u, const struct credit_hop *hop, uint64_t now);

/* Does this 29, received at `now`, answer the newest marker with ASK? Then the loop took *loop_ns (D53). */
bool credit_user_loop(struct credit_user *u, const struct credit_update *m, uint64_t now, uint64_t *loop_ns);

/* The neighbour lives, but this session has had no 29 for 3 T_hb since it first asked: RESYNC (2.10). */
bool credit_user_out_of_step(const struct credit_user *u, uint64_t hb_ns, uint64_t now);

/* Window that the marker should ask for: `usable` if packets stood for a loop and more would help; 0: as it is (D52). */
uint32_t credit_user_want(const struct credit_user *u, uint32_t usable, uint64_t loop_ns, uint64_t now);

/* Should the session give its credit back (D52)? after_ns: max(D_idle, 2 T_loop). floor: units it keeps. */
bool credit_user_returns(const struct credit_user *u, const struct credit_gate *g, bool waiting, uint32_t floor,
	uint64_t after_ns, uint64_t now);

#endif
