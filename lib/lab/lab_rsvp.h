/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between lab_rsvp.c, which says when the sessions of a host begin and end, the two ways to speak, lab_rsvp_ext.c and
 * lab_rsvp_letter.c, and lab_rsvp_frame.c, which carries their messages. The lab is single-threaded.
 */
#ifndef LAB_LAB_RSVP_H
#define LAB_LAB_RSVP_H

#include "credit/credit_grantor.h"
#include "credit/credit_user.h"
#include "lab/host_priv.h"
#include "rsvp/rsvp_letter.h"

#define SIGNAL_SESSIONS_MAX 1024 /* that end at a host */
#define SIGNAL_POLL 1000	 /* timers of one poll */
#define SIGNAL_FIRST_PORT 0xc000 /* of the sender in SENDER_TEMPLATE; each session has its own */
#define SIGNAL_PORTS 64		 /* of them of each host, if data has them too */

struct lab_signal;

struct signal_session {
	const struct topo_flow *flow;
	struct ip_addr to;
	void *begun; /* the machine's session; NULL: not begun, or ended */
	uint16_t number;
	struct event start;
	struct lab_signal *signal;
	bool waits;		 /* packets wait for credit */
	struct credit_user user; /* ext */
	struct credit_gate gate;
	uint64_t marked_ns;
};

struct signal_speech {
	const struct rsvp_numbers *numbers;
	bool has_ipv4;
	int (*open)(struct lab_signal *s, uint64_t seed); /* the machine; 0, or -ENOMEM */
	void (*close)(struct lab_signal *s);		  /* without a word */
	void *(*begin)(struct lab_signal *s, struct signal_session *x);
	void (*end)(struct lab_signal *s, void *begun);
	bool (*is_up)(void *begun);
	void (*receive)(struct lab_signal *s, const struct ip_addr *from);
	uint64_t (*poll)(struct lab_signal *s);		 /* time of the next one */
	uint64_t (*granted)(const struct lab_signal *s); /* sessions that end here and have credit */
	uint64_t (*left)(const struct lab_signal *s);	 /* sessions, and buffer in any unit */
	/* Of hosts whose data is gated: lab_rsvp_data.c. `bytes`: of the IP packet. arrived: false: it is of no session. */
	bool (*may_send)(struct lab_signal *s, struct signal_session *x, uint32_t bytes);
	void (*sent)(struct lab_signal *s, struct signal_session *x, uint32_t bytes);
	bool (*arrived)(struct lab_signal *s, uint8_t class, uint8_t family, uint32_t bytes, uint32_t *who,
		uint32_t *credit);
	void (*freed)(struct lab_signal *s, uint32_t who, uint32_t credit);
	void (*tick)(struct lab_signal *s);
};
extern const struct signal_speech signal_ext, signal_letter;

struct lab_signal {
	struct lab_host *host;
	const struct signal_speech *speech;
	struct rsvp_node *ext; /* NULL while it is down; likewise */
	struct letter_node *letter;
	struct ip_addr own, own4;     /* the first of each family; family 0: none */
	uint64_t lent;		      /* bytes that sessions of letter mode have reserved */
	uint64_t received, received4; /* payload of each family */
	struct signal_frame *head, **tail;
	struct event timers, stop, *restarts; /* two of each restart: its begin, its end */
	uint64_t next, incarnation;	      /* next: when the timers are looked at */
	bool over;			      /* no session begins any more */
	struct signal_session *session;
	uint32_t sessions;
	struct signal_state state; /* when the sessions end */
	/* lab_rsvp_data.c */
	bool gated;
	struct event tick;
	uint64_t tick_ns;
	struct signal_kept *kept; /* a ring: packets in the receive buffer */
	uint32_t kept_first, kept_n, kept_room;
	uint64_t kept_bytes;
	uint64_t freed[2];	    /* letter: bytes of IPv6 and of IPv4 */
	struct signal_grant *grant; /* ext: by number; [0] is unused */
	struct rsvp_message in, out;
};

/* lab_rsvp_data.c; signal_run_at: the timers of the machines run then. */
void signal_run_at(struct lab_signal *s, uint64_t at);
int signal_data_init(struct lab_signal *s);
void signal_data_forget(struct lab_signal *s);
void signal_tick_at(struct lab_signal *s, uint64_t at);
void signal_go_on(struct lab_signal *s, struct signal_session *x); /* there is more credit */
uint16_t signal_port(const struct lab_signal *s, uint16_t number); /* of a session, in SENDER_TEMPLATE */

/* lab_rsvp_credit.c: the data of ext mode. */
extern const struct rsvp_data_ops signal_credit_ops;
int signal_credit_open(struct lab_signal *s);
void signal_credit_close(struct lab_signal *s);
void signal_credit_shown(void *arg, const struct rsvp_path *p); /* the machines' op */
bool signal_credit_may_send(struct lab_signal *s, struct signal_session *x, uint32_t bytes);
void signal_credit_sent(struct lab_signal *s, struct signal_session *x, uint32_t bytes);
bool signal_credit_arrived(struct lab_signal *s, uint8_t class, uint8_t family, uint32_t bytes, uint32_t *who,
	uint32_t *credit);
void signal_credit_freed(struct lab_signal *s, uint32_t who, uint32_t credit);
void signal_credit_tick(struct lab_signal *s);

/* lab_rsvp_frame.c */
void signal_put(void *arg, const struct rsvp_way *way, struct rsvp_message *m); /* the machines' op: send a message */
void signal_drop_frames(struct lab_signal *s);
/* The RSVP message in a frame. NULL: there is none. */
const uint8_t *signal_message_in(const struct line_frame *f, struct ip_addr *from, uint8_t *hop_limit, size_t *bytes);

static inline bool signal_is_own(const struct lab_signal *s, const struct ip_addr *addr)
{
	return ip_addr_equal(addr, addr->family == 4 ? &s->own4 : &s->own);
}

#endif
