/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * BFD sessions: the state machine of RFC 5880 for single hops (RFC 5881), with the echo function and authentication, and
 * the initiator and reflector of S-BFD (RFC 7880).
 *
 * Pure: no packets, no clock, no DPDK. The control lcore passes `now` (ns) and carries out the callbacks. Not thread
 * safe; one table per node. An `interface` is any number that the caller assigns to a link. Timers are in a wheel
 * (base/timers.h): a pass in which none expires costs the same for any number of sessions.
 *
 * A session is in one of three ways: in the asynchronous mode; with the echo function, during which control packets
 * become slow (section 6.8.3); silent, while the neighbour asks for demand mode (section 6.6). This node never asks for
 * demand mode itself, except as S-BFD initiator, where the bit marks the direction.
 *
 * Own gaps: the time in which this node itself was not run (bfd_poll was called late) does not count as silence of a
 * neighbour. A detection time that ends after such a gap is extended once by the gap, at most by itself.
 */
#ifndef BFD_BFD_H
#define BFD_BFD_H

#include "base/limits.h"
#include "bfd/bfd_packet.h"
#include "stats/stats.h"
#include "wire/addr.h"

#define BFD_SESSIONS_MAX LIMIT_BFD_SESSIONS
#define BFD_SLOW_US 1000000u /* section 6.8.3: lower limit of Desired Min TX while a session is not Up */

enum bfd_kind { BFD_SINGLE_HOP, BFD_SBFD };

/* With whom a session is. There is one single-hop session for each (interface, remote). */
struct bfd_peer {
	uint8_t kind;	    /* enum bfd_kind */
	uint16_t interface; /* BFD_SINGLE_HOP */
	uint32_t user;	    /* any number of the caller's */
	struct ip_addr local, remote;
};

struct bfd_config {
	uint32_t tx_us;	     /* Desired Min TX Interval while Up */
	uint32_t rx_us;	     /* Required Min RX Interval */
	uint32_t echo_us;    /* interval of own echo packets; 0: none are sent */
	uint32_t echo_rx_us; /* Required Min Echo RX Interval; 0: the neighbour may send none */
	uint8_t multiplier;  /* Detect Mult, from 1 */
	bool passive;	     /* wait for the first packet of the neighbour */
	bool shutdown;	     /* AdminDown */
	uint8_t auth_type;   /* enum bfd_auth_type */
	struct bfd_key key;
	uint32_t reflector; /* BFD_SBFD: discriminator of the far reflector */
};

/* Of a session. X(kind, member, name, unit, metric, help): stats/counter.h */
#define BFD_SESSION_COUNTERS(X) \
	X(counter, received, "rx", "packets", "sluice_bfd_session_rx_packets", "control packets accepted") \
	X(counter, sent, "tx", "packets", "sluice_bfd_session_tx_packets", "control packets sent") \
	X(counter, refused, "refused", "packets", "sluice_bfd_session_refused_packets", \
		"control packets from the neighbour refused") \
	X(counter, echo_received, "echo_rx", "packets", "sluice_bfd_session_echo_rx_packets", \
		"own echo packets that came back") \
	X(counter, echo_sent, "echo_tx", "packets", "sluice_bfd_session_echo_tx_packets", "echo packets sent") \
	X(counter, ups, "ups", "changes", "sluice_bfd_session_ups", "changes of the session to Up") \
	X(counter, downs, "downs", "changes", "sluice_bfd_session_downs", "changes of the session from Up") \
	X(counter, polls, "polls", "sequences", "sluice_bfd_session_polls", "Poll Sequences completed") \
	X(counter, own_gaps, "own_gaps", "times", "sluice_bfd_session_own_gaps", \
		"detection times extended because the control lcore itself was not run") \
	X(gauge, up, NULL, "sessions", "sluice_bfd_session_up", "1 while the session is Up") \
	X(gauge, transmit_us, "transmit_us", "us", NULL, "negotiated interval of control packets sent; 0: none") \
	X(gauge, detect_us, "detect_us", "us", NULL, "negotiated detection time") \
	X(gauge, echo_us, "echo_us", "us", NULL, "interval of echo packets; 0: none are sent") \
	X(gauge, echo_rtt_ns, "echo_rtt_us", "ns", "sluice_bfd_session_echo_rtt_ns", \
		"round-trip time of the last echo packet") \
	X(time, changed_ns, "changed_ms", "ns", NULL, "last change of the state") \
	X(time, heard_ns, "heard_ms", "ns", NULL, "last control packet accepted")

/* What `show` displays. Written by the control lcore; other threads read it relaxed. */
struct bfd_session_stats {
	BFD_SESSION_COUNTERS(STAT_DECLARE)
	uint64_t state, remote_state; /* enum bfd_state */
	uint64_t diag, remote_diag;   /* enum bfd_diag */
	uint64_t last_down;	      /* diag of the last change from Up */
	uint64_t local_discr, remote_discr;
};

/* Of the node. */
#define BFD_COUNTERS(X) \
	X(counter, received, "rx", "packets", "sluice_bfd_rx_packets", "BFD control packets accepted") \
	X(counter, sent, "tx", "packets", "sluice_bfd_tx_packets", \
		"BFD control packets sent, reflected ones included") \
	X(counter, reflected, "reflected", "packets", "sluice_bfd_reflected_packets", \
		"S-BFD packets that the reflector answered") \
	X(counter, echo_received, "echo_rx", "packets", "sluice_bfd_echo_rx_packets", \
		"own BFD echo packets that came back") \
	X(counter, echo_sent, "echo_tx", "packets", "sluice_bfd_echo_tx_packets", "BFD echo packets sent") \
	X(gauge, sessions, "sessions", "sessions", "sluice_bfd_sessions", "BFD sessions") \
	X(gauge, up, "up", "sessions", "sluice_bfd_sessions_up", "BFD sessions that are Up") \
	X(counter, gaps, "own_gaps", "times", "sluice_bfd_own_gaps", \
		"times that the control lcore ran BFD more than 500 us late") \
	X(counter, gap_ns, "own_gaps_us", "ns", "sluice_bfd_own_gap_ns", "sum of these delays") \
	BFD_REFUSALS(X)

struct bfd_stats {
	BFD_COUNTERS(STAT_DECLARE)
};

struct bfd_session;
struct bfd_table;

/* A session changed its state; or, with from equal to `to`, its neighbour began to say AdminDown while it is Down. */
struct bfd_change {
	uint64_t at; /* ns */
	uint8_t from, to, remote_state;
	uint8_t diag, remote_diag;
	uint64_t heard_ns;  /* time of the last packet before the change; 0: none */
	uint32_t detect_us; /* detection time that was in force */
};

struct bfd_ops {
	/* Send a UDP payload for a session, to port BFD_PORT_CONTROL, BFD_PORT_ECHO or BFD_PORT_SBFD. */
	void (*send)(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes);
	void (*changed)(void *arg, const struct bfd_session *s, const struct bfd_change *change);
};

/* NULL when out of memory. `seed`: any number; it should not be predictable, because discriminators follow from it. */
struct bfd_table *bfd_table_new(const struct bfd_ops *ops, void *arg, uint64_t seed);
void bfd_table_free(struct bfd_table *t);

/* Discriminator of this node's S-BFD reflector; 0: packets to it are refused. */
void bfd_set_reflector(struct bfd_table *t, uint32_t discriminator);

/* The node is about to stop: its reflector answers AdminDown (RFC 7880 section 7.2.2). */
void bfd_withdraw_reflector(struct bfd_table *t);

/*
 * Start a session. It belongs to the table. NULL when out of memory, or when there are BFD_SESSIONS_MAX. A session with
 * the same single-hop peer that is being ended is continued.
 */
struct bfd_session *bfd_add(struct bfd_table *t, uint64_t now, const struct bfd_peer *peer,
	const struct bfd_config *config);

/* Change the parameters of a session that goes on; the neighbour hears of them by a Poll Sequence. */
void bfd_set(struct bfd_table *t, uint64_t now, struct bfd_session *s, const struct bfd_config *config);

/*
 * End a session: it becomes AdminDown, says so for a detection time (section 6.8.16), and is freed by bfd_poll. The
 * caller forgets `s` at once; `changed` is not called any more.
 */
void bfd_remove(struct bfd_table *t, uint64_t now, struct bfd_session *s);

/* A received BFD message, the payload of a UDP datagram. */
struct bfd_received {
	const void *data;
	size_t size;
	uint16_t interface;
	uint16_t port; /* BFD_PORT_... to which, or for replies of reflectors from which, it was sent */
	bool reply;    /* it was sent from BFD_PORT_SBFD */
	uint8_t hop_limit;
	struct ip_addr from;
};

/*
 * Handle a message. A packet to the reflector is answered in `answer` of BFD_MESSAGE_MAX bytes, and *answer_bytes is
 * its size; else it is 0. A refused packet changes nothing but a counter.
 */
enum bfd_refusal bfd_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r, void *answer,
	size_t *answer_bytes);

/* Count a packet that the caller refuses itself. */
void bfd_count_refused(struct bfd_table *t, enum bfd_refusal refusal);

/* Run the timers that are due, at most `budget`. Returns the number examined. *next: time of the next call (ns). */
unsigned int bfd_poll(struct bfd_table *t, uint64_t now, unsigned int budget, uint64_t *next);

const struct bfd_peer *bfd_peer_of(const struct bfd_session *s);
const struct bfd_session_stats *bfd_stats_of(const struct bfd_session *s); /* any thread, relaxed */
const struct bfd_stats *bfd_table_stats(const struct bfd_table *t);	   /* any thread, relaxed */

/* UDP source port of a session's packets, the same for all of them and unique (RFC 5881 section 4). */
uint16_t bfd_source_port(const struct bfd_session *s);

#endif
