/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between lab_rsvp.c, which says when the sessions of a host begin and end, the two ways to speak, lab_rsvp_ext.c and
 * lab_rsvp_letter.c, and lab_rsvp_frame.c, which carries their messages. The lab is single-threaded.
 */
#ifndef LAB_LAB_RSVP_H
#define LAB_LAB_RSVP_H

#include "lab/host_priv.h"
#include "rsvp/rsvp_letter.h"

#define SIGNAL_SESSIONS_MAX 1024 /* that end at a host */
#define SIGNAL_POLL 1000	 /* timers of one poll */
#define SIGNAL_FIRST_PORT 0xc000 /* of the sender in SENDER_TEMPLATE; each session has its own */

struct lab_signal;

struct signal_session {
	const struct topo_flow *flow;
	struct ip_addr to;
	void *begun; /* the machine's session; NULL: not begun, or ended */
	uint16_t number;
	struct event start;
	struct lab_signal *signal;
};

struct signal_speech {
	const struct rsvp_numbers *numbers;
	bool has_ipv4;
	int (*open)(struct lab_signal *s, uint64_t seed); /* the machine; 0, or -ENOMEM */
	void (*close)(struct lab_signal *s);		  /* without a word */
	void *(*begin)(struct lab_signal *s, const struct signal_session *x);
	void (*end)(struct lab_signal *s, void *begun);
	bool (*is_up)(void *begun);
	void (*receive)(struct lab_signal *s, const struct ip_addr *from);
	uint64_t (*poll)(struct lab_signal *s);		 /* time of the next one */
	uint64_t (*granted)(const struct lab_signal *s); /* sessions that end here and have credit */
	uint64_t (*left)(const struct lab_signal *s);	 /* sessions, and buffer in any unit */
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
	struct rsvp_message in;
};

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
