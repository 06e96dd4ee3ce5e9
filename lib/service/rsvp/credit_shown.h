/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What users see of the credit of data (docs/credit.md, In operation): copies that the control lcore writes at ticks, a row for
 * each use (credit from a next hop) and each grant (credit for a previous hop), and their sums. Readers: management thread.
 */
#ifndef SERVICE_RSVP_CREDIT_SHOWN_H
#define SERVICE_RSVP_CREDIT_SHOWN_H

#include "service/rsvp/service_rsvp.h"

/* Levels of a use, and what has happened to it. M: beginning of the metrics' names. Units are those of credit.unit. */
#define CREDIT_SENT_ROWS(X, M) \
	X(gauge, granted, "granted", "units", M "granted_units", "window that the next hop has granted") \
	X(gauge, used, "used", "units", M "used_units", \
		"units of that window in use: pending, on the way, or in the next hop") \
	X(gauge, in_flight, "in_flight", "units", M "in_flight_units", \
		"units sent that the next hop has not reported as arrived") \
	X(gauge, pending, "pending", "units", M "pending_units", \
		"units that have passed the gate and that the device has not taken") \
	X(gauge, queued, "queued", "packets", M "queued_packets", "packets that wait for credit") \
	X(gauge, queued_bytes, "queued_bytes", "bytes", M "queued_bytes", "bytes that wait for credit") \
	X(gauge, leaked, "leaked", "units", M "leaked_units", \
		"units in front of the last fence that are missing although it was answered: not healed yet") \
	X(gauge, stalled, "stalled", "sessions", M "stalled", \
		"sessions whose packets wait, and for which no credit has come for a whole loop") \
	X(gauge, heard_rate, "updates_s", "updates a second", M "update_rate", \
		"updates a second heard from the next hop") \
	X(counter, packets, "packets", "packets", M "packets", "packets that passed the gate") \
	X(counter, waited, "waited", "packets", M "waited_packets", "packets that waited for credit") \
	X(counter, uncredited, "uncredited", "packets", M "uncredited_packets", \
		"packets sent without credit because the session had none for longer than credit.wait") \
	X(counter, ended, "ended", "packets", M "ended_packets", \
		"packets dropped because the session had no credit for longer than credit.wait") \
	X(counter, marked, "marked", "packets", M "marked_packets", \
		"packets marked CE because the session held more than its share of the buffer of its port") \
	X(counter, overrun, "overrun", "packets", M "overrun_packets", \
		"packets dropped because the session held more than twice that share") \
	X(counter, stalls, "stalls", "times", M "stalls", \
		"times that packets waited and no credit came for a whole loop") \
	X(counter, stalled_ns, "stalled_ms", "ns", M "stalled_ns", "time without credit in these stalls") \
	X(counter, fences, "fences", "packets", M "fences", "fences ordered") \
	X(counter, markers, "markers", "messages", M "markers", "markers sent") \
	X(counter, resyncs, "resyncs", "times", M "resyncs", "times that a new epoch was asked for") \
	X(counter, returned, "returned", "times", M "returned", \
		"times that credit was given back because the session sent nothing") \
	X(counter, beyond, "beyond", "updates", M "beyond", "updates that promise more than the neighbour may grant")

/* The same of a grant. */
#define CREDIT_GIVEN_ROWS(X, M) \
	X(gauge, given, "given", "units", M "given_units", "window granted to the previous hop") \
	X(gauge, buffered, "buffered", "units", M "buffered_units", "units that have arrived and are still here") \
	X(gauge, update_rate, "given_updates_s", "updates a second", M "given_update_rate", \
		"updates a second sent to the previous hop") \
	X(counter, updates, "updates", "updates", M "updates", "updates sent to previous hops") \
	X(counter, healed, "healed", "units", M "healed_units", \
		"units lost on the way that were found and given back") \
	X(counter, doubled, "doubled", "units", M "doubled_units", \
		"units that arrived twice, or were declared lost and arrived later") \
	X(counter, stale, "stale", "messages", M "stale", "markers of another epoch") \
	X(counter, bad, "bad", "messages", M "bad", "markers that state more than was granted") \
	X(counter, ungranted, "ungranted", "units", M "ungranted_units", \
		"units that a server has sent beyond its credit: its port holds them, not the pool")

#define CREDIT_NODE_METRIC "sluice_credit_"
#define CREDIT_SESSION_METRIC "sluice_session_credit_"
#define CREDIT_SENT_COUNTERS(X) CREDIT_SENT_ROWS(X, CREDIT_NODE_METRIC)
#define CREDIT_GIVEN_COUNTERS(X) CREDIT_GIVEN_ROWS(X, CREDIT_NODE_METRIC)
#define CREDIT_SENT_BY_SESSION(X) CREDIT_SENT_ROWS(X, CREDIT_SESSION_METRIC)

struct credit_sent {
	CREDIT_SENT_COUNTERS(STAT_DECLARE)
};

struct credit_given {
	CREDIT_GIVEN_COUNTERS(STAT_DECLARE)
};

/* Why a use does not send. */
enum credit_why {
	CREDIT_WHY_SENDS,      /* nothing waits */
	CREDIT_WHY_QUEUE,      /* it has credit: the queue of its class is long, or paused */
	CREDIT_WHY_WAITS,      /* credit comes, slower than packets */
	CREDIT_WHY_STALLED,    /* no credit comes */
	CREDIT_WHY_SILENT,     /* the next hop is not heard */
	CREDIT_WHY_NO_CREDIT,  /* no path of it has credit now; packets wait */
	CREDIT_WHY_UNCREDITED, /* it has had none for too long: packets go without */
	CREDIT_WHY_ENDED,      /* the same, on the way: packets are dropped */
};
const char *credit_why_name(enum credit_why why);

/* The version is odd while the control lcore writes. */
struct credit_use_row {
	uint32_t version;
	bool used;
	uint8_t why; /* enum credit_why */
	uint8_t traffic_class, port;
	uint32_t slot; /* path that it has, or had last; CREDIT_NO_SLOT: none yet */
	char session[RSVP_NAME];
	struct rsvp_sender sender;
	struct ip_addr next_hop;
	uint64_t loop_ns[2]; /* 50 % and 99.9 % of T_loop to the next hop; 0: not measured */
	uint64_t at_ns;	     /* when it was written */
	struct credit_sent sent;
};

struct credit_grant_row {
	uint32_t version;
	bool used;
	uint8_t traffic_class;
	uint32_t slot;
	struct rsvp_sender sender;
	struct ip_addr previous_hop;
	uint64_t at_ns;
	struct credit_given given;
};

/* What both ends of this node do for a session. */
struct credit_session_shown {
	bool sends, gives; /* which of the two rows counts */
	struct credit_use_row use;
	struct credit_grant_row grant;
};

/*
 * The sessions with data here, in the order of their numbers: *n of them. The caller frees it. NULL: there are none, or no
 * memory.
 */
struct credit_session_shown *credit_sessions_shown(const struct node *n, uint32_t *count);

/* Sums over all of them. False: data is not gated. */
bool credit_sums_shown(const struct node *n, struct credit_sent *sent, struct credit_given *given);

#endif
