/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP for credit on the control lcore (docs/credit.md). lib/rsvp reads and writes messages, authenticates them, and is the
 * state machines of sessions; this service carries their packets, follows the configuration, and tells the management
 * thread what happens.
 *
 * Sessions that begin here have their candidate paths along a policy. Messages of others come in tunnels whose next SID is
 * here; they go on as they came, and are executed at that SID then.
 */
#ifndef SERVICE_RSVP_SERVICE_RSVP_H
#define SERVICE_RSVP_SERVICE_RSVP_H

#include "base/bucket.h"
#include "node/node.h"
#include "rsvp/rsvp_integrity.h"
#include "rsvp/rsvp_letter.h"
#include "rsvp/rsvp_node.h"
#include "service/services.h"

#define RSVP_NAME 32
#define RSVP_PACKET_MAX 9216 /* bytes of a packet that this node makes, without its IP header */
#define RSVP_EVENTS 256	     /* that wait for the management thread; a power of two */
#define RSVP_ORDERS 16	     /* of users, that wait for the control lcore; a power of two */

/* Of the node. */
#define RSVP_SERVICE_COUNTERS(X) \
	X(counter, rx, "messages_rx", "messages", "sluice_rsvp_rx", "RSVP messages received") \
	X(counter, tx, "messages_tx", "messages", "sluice_rsvp_tx", "RSVP messages sent") \
	X(counter, bundles, "bundles", "packets", "sluice_rsvp_bundles", \
		"Bundles sent; their messages are counted one by one") \
	X(counter, challenges, "challenges", "messages", "sluice_rsvp_challenges", "integrity challenges sent") \
	X(gauge, senders, "senders", "senders", "sluice_rsvp_senders", "senders whose sequence numbers are known") \
	X(gauge, window_used, "window_used", "messages", "sluice_rsvp_window_used", \
		"largest distance of an accepted sequence number below the newest one of its sender") \
	X(counter, unsent, "unsent", "messages", "sluice_rsvp_unsent", \
		"RSVP messages not sent: no key is valid, no buffer is free, or their path has no way out")

/* Reasons for which a message is refused: those of lib/rsvp, and what this service adds. */
#define RSVP_REFUSED_COUNTERS(X) \
	RSVP_REFUSALS(X) \
	RSVP_REFUSAL(X, unreadable, "no IPv6 packet with RSVP and nothing else after its options") \
	RSVP_REFUSAL(X, stranger, "RSVP_HOP or source is no configured neighbour") \
	RSVP_REFUSAL(X, source, "the source is not the neighbour in RSVP_HOP") \
	RSVP_REFUSAL(X, hop_limit, "hop limit too low for the hops of the neighbour") \
	RSVP_REFUSAL(X, tunnel, "a message for one hop, in a tunnel or with router alert") \
	RSVP_REFUSAL(X, above_rate, "above the rate of the neighbour")

struct rsvp_service_stats {
	RSVP_SERVICE_COUNTERS(STAT_DECLARE)
	RSVP_REFUSED_COUNTERS(STAT_DECLARE)
};

/* Of a neighbour. */
#define RSVP_NEIGHBOR_COUNTERS(X) \
	X(counter, rx, "rx", "messages", "sluice_rsvp_neighbor_rx", "RSVP messages accepted from this neighbour") \
	X(counter, tx, "tx", "messages", "sluice_rsvp_neighbor_tx", "RSVP messages sent to this neighbour's address") \
	X(counter, refused, "refused", "messages", "sluice_rsvp_neighbor_refused", \
		"RSVP messages of this neighbour refused") \
	X(counter, limited, "limited", "messages", "sluice_rsvp_neighbor_limited", \
		"RSVP messages of this neighbour above its rate") \
	X(counter, replayed, "replayed", "messages", "sluice_rsvp_neighbor_replayed", \
		"RSVP messages of this neighbour whose sequence number was received before, or is below the window") \
	X(counter, unanswered, "unanswered", "times", "sluice_rsvp_neighbor_unanswered", \
		"times that this neighbour acknowledged no copy of a message, or refreshed no credit") \
	X(time, heard, "heard_ms", "ms", NULL, "time since a message of this neighbour was accepted") \
	X(gauge, answers, "answers", "boolean", "sluice_rsvp_neighbor_answers", \
		"0: nothing was accepted from this neighbour since the last time that it did not answer") \
	X(gauge, reachable, "reachable", "boolean", "sluice_rsvp_neighbor_reachable", \
		"1: a way to this neighbour is alive")

struct rsvp_neighbor {
	struct ip_addr addr;
	uint16_t zone;		/* of a server; 0: of the domain */
	bool letter;		/* it speaks by the letter of the draft */
	struct rsvp_auth *auth; /* of a server, or in letter mode; NULL: that of the domain */
	uint32_t number;	/* no other neighbour has had it since the start */
	struct bucket bucket;
	bool reduces;	  /* flag 0x1 of its last message (RFC 2961 section 2) */
	uint64_t told_ns; /* of its last alarm about replays */
	uint64_t replayed_told;
	RSVP_NEIGHBOR_COUNTERS(STAT_DECLARE)
};

/* Of a session that begins here; only when a page asks for sessions. */
#define RSVP_SESSION_COUNTERS(X) \
	X(gauge, up, NULL, "boolean", "sluice_session_up", "1: the credit session has a path with credit") \
	X(gauge, units, "units", "units", "sluice_session_credit_units", "credit of that path") \
	X(gauge, candidates, "candidates", "paths", "sluice_session_candidates", \
		"candidate paths of the credit session that are signalled")

/* What users see of a session that begins here. */
struct rsvp_session_shown {
	const struct snap_rsvp_session *session;
	uint32_t row; /* of the path that says most: the one with credit, else the best; RSVP_NO_ROW */
	int weight;
	RSVP_SESSION_COUNTERS(STAT_DECLARE)
};
#define RSVP_NO_ROW UINT32_MAX

/* What goes along a path: made with it, freed with it. Control lcore. */
struct rsvp_carrier {
	char session[RSVP_NAME], path[RSVP_NAME]; /* of a session that begins here; else "" */
	uint32_t path_id;			  /* the same: of the policy's path */
	uint16_t line;				  /* of its data; 0: none */
	bool own, dead;
	bool updated;		 /* the next hop sends updates, so its credit can be waited for */
	uint32_t next;		 /* pkt.neigh of its messages */
	struct ip_addr next_hop; /* letter mode: one of several; family 0: as routing says */
	uint16_t next_header_at;
	uint16_t bytes;	  /* of the outer headers; 0: the message goes natively */
	uint8_t header[]; /* as they came; of an own path those of its policy */
};

/* A path as users see it. The version is odd while the control lcore writes. */
struct rsvp_row {
	uint32_t version;
	bool used;
	char session[RSVP_NAME], path[RSVP_NAME];
	uint64_t since_ns; /* of its states */
	struct rsvp_path_view view;
};

/* A permission of credit.accept, and the limit of its sessions in the machines: its index, from 1. */
struct rsvp_permission {
	bool used;
	struct snap_match sources;
};
#define RSVP_NO_LIMIT 0 /* there is no room for the limit: those of permissions that were removed are still in use */

/* A session that begins here. */
struct rsvp_own {
	struct rsvp_own *next; /* in its bucket */
	char name[RSVP_NAME];
	struct rsvp_instance *instance; /* NULL: stopped, or there was no room */
	struct letter_session *letter;	/* to a server of letter mode; NULL likewise */
	struct rsvp_carry carry;	/* of the session of letter mode: those that are joined to it */
	bool stopped;
	uint64_t seen_ns;    /* on demand: when its data was shown last; 0: never */
	uint64_t generation; /* of the snapshot that last had it */
	uint32_t place;	     /* in that snapshot */
	uint16_t line;	     /* of its data; 0: none */
	/* what it was opened with */
	struct ip_addr to;
	struct rsvp_tspec tspec;
	uint16_t zone;
	uint8_t traffic_class, paths;
	uint32_t fingerprint[RSVP_CANDIDATES_MAX];
};

enum rsvp_event_kind {
	RSVP_EVENT_UP,
	RSVP_EVENT_DOWN,
	RSVP_EVENT_REFUSED,
	RSVP_EVENT_SILENT, /* no way to a neighbour is alive */
	RSVP_EVENT_BACK,
	RSVP_EVENT_UNANSWERED, /* a neighbour does not answer */
	RSVP_EVENT_ANSWERS,
	RSVP_EVENT_REPLAYED,
	RSVP_EVENT_STALLED, /* no credit comes for a session whose packets wait */
	RSVP_EVENT_FLOWS,
	RSVP_EVENT_LEAKS, /* lost units of a session are not given back */
	RSVP_EVENT_HEALED,
	RSVP_EVENT_BEYOND /* a neighbour grants more than it has announced */
};

struct rsvp_event {
	uint8_t kind;
	char session[RSVP_NAME], path[RSVP_NAME];
	struct rsvp_path_view view;
	struct ip_addr neighbor;
	uint64_t count; /* RSVP_EVENT_REPLAYED: messages since the last such event; RSVP_EVENT_LEAKS: units */
};

/* The last messages, as they were received and sent, while they are recorded: `debug rsvp on`. */
#define RSVP_RECORDS 1000
#define RSVP_RECORD_BYTES 2048 /* of a message; of a longer one only its header is shown */

enum rsvp_verdict { RSVP_VERDICT_SENT, RSVP_VERDICT_ACCEPTED, RSVP_VERDICT_REFUSED, RSVP_VERDICT_NO_EFFECT };

struct rsvp_about {
	uint64_t time_ns;
	struct ip_addr peer; /* source or destination of the packet */
	uint16_t port;	     /* by which it came, or by which its path leaves; RSVP_NO_PORT: by routing */
	uint16_t bytes;	     /* of the message */
	bool along;	     /* in a tunnel or with router alert */
	uint8_t verdict;     /* enum rsvp_verdict */
	const char *why;     /* a literal: the counter of a refusal, else "" */
};

struct rsvp_record {
	uint32_t version; /* odd while the control lcore writes */
	uint32_t number;  /* from 1; 0: none yet */
	struct rsvp_about about;
	uint8_t message[RSVP_RECORD_BYTES];
};
#define RSVP_NO_PORT UINT16_MAX

/* A packet with which a session on demand begins or goes on, as rx roles show them. */
struct rsvp_sighting {
	uint64_t generation; /* of the snapshot */
	uint32_t demand;     /* index in it */
};
#define RSVP_SIGHTINGS 256	   /* that wait for the control lcore */
#define RSVP_SHOWN_NS NSEC_PER_SEC /* a session is shown again that often */

/* Of an rx role, which alone writes it. */
struct rsvp_rx {
	struct mailbox sightings; /* to the control role */
	uint64_t left_out;	  /* there was no room */
	struct {
		uint64_t generation, at;
	} shown[LIMIT_CREDIT_ON_DEMAND];
};

/* Made by the management thread, written by the control lcore. */
struct rsvp_journal {
	uint32_t last; /* number of the newest record; relaxed */
	struct rsvp_record record[RSVP_RECORDS];
};

/* Counters when users cleared them. */
struct rsvp_base {
	struct rsvp_service_stats service;
	struct rsvp_node_stats machines;
	struct letter_stats letter;
	uint32_t neighbors;
	struct rsvp_neighbor neighbor[LIMIT_CREDIT_NEIGHBORS];
};

/* Written by the control lcore, read by the management thread. */
struct rsvp_events {
	uint32_t head;	 /* release */
	uint32_t tail;	 /* written by the management thread, release */
	uint64_t missed; /* relaxed */
	struct rsvp_event event[RSVP_EVENTS];
};

/* `session start` and `session stop`: written by the management thread, read by the control lcore. */
struct rsvp_orders {
	uint32_t head, tail; /* release */
	struct rsvp_order {
		char name[RSVP_NAME];
		bool stop;
	} order[RSVP_ORDERS];
};

/* Messages of the pass under way to one neighbour. */
#define RSVP_PARCELS 8 /* neighbours for which there may be some at a time */
struct rsvp_parcel {
	struct ip_addr to;
	uint16_t zone;
	unsigned int messages;
	struct rsvp_bundle bundle;
	uint8_t bytes[RSVP_PACKET_MAX];
};

#define RSVP_OWN_BUCKETS 4096

/* Of the control lcore; made by the first snapshot that has credit. */
struct rsvp_control {
	struct rsvp_node *machines;
	struct letter_node *letter;
	struct rsvp_auth *auth;
	uint64_t generation; /* of the snapshot that is followed */
	uint32_t at;	     /* sessions of it that were looked at */
	bool unopened;	     /* there was no room for one of them */
	uint64_t again_ns;   /* when they are looked at again */
	uint64_t begin_ns;   /* no session begins before */
	uint64_t demand_ns;  /* when sessions on demand are looked at whose data may be over */
	uint64_t ready_ns;   /* nothing is sent before: D_idle since the start */
	uint64_t random;     /* state of rsvp_secret */
	uint32_t epoch;	     /* of struct liveness */
	uint64_t repair_ns;  /* routes have changed: when their paths are looked at; 0: they have not */
	uint32_t repaired;   /* slots of paths that were looked at since */
	uint32_t ended;	     /* buckets of sessions that were ended since `stopping` */
	uint32_t labels;     /* given so far */
	struct rsvp_own *own[RSVP_OWN_BUCKETS];
	uint32_t owns;
	bool carries; /* a session that begins here has a path for data now, or none */
	struct rsvp_service_stats stats;
	struct rsvp_neighbor neighbor[LIMIT_CREDIT_NEIGHBORS];
	uint32_t neighbors; /* relaxed readers */
	uint32_t neighbors_made;
	struct rsvp_permission permission[RSVP_LIMITS];
	uint8_t limit_of[LIMIT_CREDIT_ACCEPTS]; /* by place in credit.accept */
	const uint64_t *refused_by; /* counter of the refusal of the message that is handled; NULL: accepted */
	struct rsvp_parcel parcel[RSVP_PARCELS];
	unsigned int parcels; /* of them in use */
	struct rsvp_message in, out;
	uint8_t bytes[RSVP_BYTES_MAX];
	uint32_t paths; /* of ext mode; the rows behind them are sessions of letter mode */
	uint32_t rows;
	struct rsvp_row row[];
};

struct credit_control;

struct node_rsvp {
	struct credit_control *credit; /* NULL: data is not gated (service_credit.h); constant while lcores run */
	struct rsvp_control *control;  /* NULL: not made yet; release */
	bool stopping;		       /* the node is about to stop; set by the management thread, relaxed */
	struct rsvp_events events;
	struct rsvp_orders orders;
	struct rsvp_rx *rx[NODE_MAX_ROLES]; /* by rx role */
	struct rsvp_journal *recording;	    /* NULL: debug rsvp is off; release */
	/* management thread */
	struct rsvp_journal *journal; /* NULL: never made; it stays until the node ends */
	uint32_t forgotten;	      /* number of the last record that users have cleared */
	struct rsvp_base *base;	      /* NULL: nothing was cleared */
	uint64_t missed_said, refused_said, said_ns;
};

static inline struct node_rsvp *node_rsvp(const struct node *n)
{
	return n->state[SERVICE_RSVP];
}

static inline struct rsvp_control *rsvp_of(const struct control_role *c)
{
	return node_rsvp(c->node)->control;
}

/* Any thread: NULL before the first snapshot with credit. */
static inline struct rsvp_control *rsvp_shown(const struct node *n)
{
	return __atomic_load_n(&node_rsvp(n)->control, __ATOMIC_ACQUIRE);
}

/* A packet that is being handled. The headers point into it. */
struct rsvp_arrival {
	struct ip_addr source; /* of the packet with the message */
	uint8_t hop_limit;
	const void *message;
	size_t bytes;
	bool alerts;	      /* in a tunnel, or with router alert: not addressed to one hop */
	const uint8_t *outer; /* NULL: no tunnel */
	uint16_t outer_bytes, next_header_at;
	uint16_t port;
	uint16_t zone; /* of a server; 0: it came from the domain */
};

/* --- control lcore --- */

/* neighbors_cp.c: the configured neighbours, and their state. Zones are interfaces of servers (snapshot.h). */
struct rsvp_neighbor *rsvp_neighbor_of(struct rsvp_control *r, uint16_t zone, const struct ip_addr *addr);
const struct snap_rsvp_neighbor *rsvp_permitted(const struct snap_credit *s, uint16_t zone, const struct ip_addr *addr);
struct rsvp_auth *rsvp_auth_of(const struct rsvp_control *r,
	const struct rsvp_neighbor *n); /* NULL: no memory for keys */
void rsvp_take_neighbors(struct control_role *c);
void rsvp_free_neighbors(struct rsvp_control *r);
struct ip_addr rsvp_own_towards(void *arg, uint16_t zone, const struct ip_addr *neighbor); /* struct rsvp_node_ops */
bool rsvp_neighbor_reduces(void *arg, uint16_t zone, const struct ip_addr *addr);

/* events_cp.c: what the management thread is told, and the record of messages. */
void rsvp_post(struct control_role *c, const struct rsvp_event *e);
void rsvp_neighbor_silent(void *arg, uint16_t zone, const struct ip_addr *addr); /* struct rsvp_node_ops */
void rsvp_neighbor_heard(struct control_role *c, struct rsvp_neighbor *n);
void rsvp_neighbor_replays(struct control_role *c, struct rsvp_neighbor *n);
/* While rsvp_is_recording: the next record. */
struct rsvp_record *rsvp_record_begin(struct control_role *c, const struct rsvp_about *about, const void *message);
void rsvp_record_end(struct rsvp_record *record, enum rsvp_verdict verdict, const char *why);
/* The name of the counter by which a message was refused, or that the machines counted since then; "": it was taken. */
enum rsvp_verdict rsvp_verdict_of(const struct rsvp_control *r, const struct rsvp_node_stats *before,
	const struct letter_stats *letter, const char **why);

static inline bool rsvp_is_recording(const struct control_role *c)
{
	return unlikely(__atomic_load_n(&node_rsvp(c->node)->recording, __ATOMIC_RELAXED) != NULL);
}

/*
 * bundle_cp.c: a packet for one hop, at once; false: there is no buffer. A message that goes in a Bundle with others of
 * this pass; false: it is too long for one. Send what waits.
 */
bool rsvp_send_packet(struct control_role *c, uint16_t zone, const struct ip_addr *to, uint8_t hop_limit,
	const void *message, size_t bytes);
bool rsvp_bundle_put(struct control_role *c, uint16_t zone, const struct ip_addr *to, const void *message,
	size_t bytes);
void rsvp_bundles_flush(struct control_role *c);

/* packets_cp.c: a received packet (PUNT_RSVP), whose reason for the end is returned; struct rsvp_node_ops. */
enum reason rsvp_take(struct control_role *c, struct rte_mbuf *m);
void rsvp_send(void *arg, const struct rsvp_way *way, struct rsvp_message *m);
void rsvp_send_as(struct control_role *c, const struct rsvp_way *way, struct rsvp_message *m, struct rsvp_auth *auth,
	const struct rsvp_numbers *numbers);

/*
 * letter_cp.c and letter_way_cp.c: sessions with neighbours of letter mode. letter_begin: a session to a server; NULL: no
 * room. letter_send_next: a message along the way to one of several next hops. letter_member_of: the next hops of a route, one
 * by one; 0: no more. letter_put_way: false: no memory.
 */
extern const struct letter_ops rsvp_letter_ops;
struct letter_session *letter_begin(struct control_role *c, const struct snap_rsvp_session *s);
void letter_send_next(struct control_role *c, const struct rsvp_carrier *x, const struct ip_addr *to,
	struct rte_mbuf *m);
target_t letter_look_up(const struct snapshot *s, const struct ip_addr *to);
target_t letter_member_of(const struct snapshot *s, target_t t, unsigned int i);
const struct snap_neigh *letter_neigh_of(const struct snapshot *s, target_t t); /* NULL: it is no configured next hop */
bool letter_put_way(struct letter_route *out, const struct snap_interface *in, uint16_t zone,
	const struct ip_addr *here, const struct ip_addr *next_hop);
int letter_route_to_server(const struct control_role *c, const struct snap_rsvp_neighbor *n, struct letter_route *out);

/* route_cp.c: where a 28 goes on, and the link there; the session that carries on a server's data. struct rsvp_node_ops. */
int rsvp_route(void *arg, const struct rsvp_message *m, uint64_t arrival, struct rsvp_way *way);
bool rsvp_egress_of(struct control_role *c, struct rsvp_carrier *x, const struct rsvp_sender *sender,
	const struct ip_addr *to, struct rsvp_way *way);
uint32_t rsvp_link_delay_us(void *arg, const struct rsvp_way *way);
struct rsvp_carry *rsvp_under(void *arg, const struct rsvp_message *m);
/* The session to a server that carries on what the permission of a source says. NULL: none must. */
const struct snap_rsvp_session *rsvp_joined_by(const struct snap_credit *s, const struct ip_addr *source);
/* The session along the policy by which data for that address leaves the domain, of that class. NULL: none. */
const struct snap_rsvp_session *rsvp_session_towards(const struct snapshot *s, uint16_t zone, const struct ip_addr *to,
	uint8_t traffic_class);
/* A server of that table, and the permission of sessions that end here. NULL: nobody there is heard. */
const struct snap_rsvp_neighbor *rsvp_server_at(const struct snapshot *s, uint16_t vrf, const struct ip_addr *addr);
const struct snap_rsvp_accept *rsvp_accepted(const struct snap_credit *s, const struct ip_addr *source);
bool rsvp_has_moved(void *arg, const struct rsvp_path *p, struct rsvp_way *way); /* for rsvp_routes */

/*
 * sessions_cp.c: sessions follow the snapshot, some in each pass, and orders of users. Those that found no room are tried
 * again every second. *due: lowered to the time of the next pass that is needed.
 */
void rsvp_sessions_begin(struct control_role *c);
void rsvp_sessions_follow(struct control_role *c, uint64_t *due);
void rsvp_sessions_obey(struct control_role *c);
unsigned int rsvp_sessions_stop(struct control_role *c);
struct rsvp_own *rsvp_own_of(const struct rsvp_control *r, const char *name);	  /* NULL: there is none */
bool rsvp_is_letter(const struct snapshot *s, const struct snap_rsvp_session *x); /* to a server of letter mode */
/* Sessions on demand: those whose data was shown begin, those whose data is over end. Returns the number shown. */
unsigned int rsvp_sessions_demanded(struct control_role *c, uint64_t *due);

extern const struct rx_hooks rsvp_rx_hooks; /* demand_dp.c */

/* Around the writing of a row. */
static inline void rsvp_row_begin(struct rsvp_row *row)
{
	__atomic_store_n(&row->version, row->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline void rsvp_row_end(struct rsvp_row *row)
{
	__atomic_store_n(&row->version, row->version + 1, __ATOMIC_RELEASE);
}

/* 64 bits that nobody can guess: splitmix64 of the node's secret. */
static inline uint64_t rsvp_secret(struct rsvp_control *r)
{
	uint64_t z = r->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* The time of day (s). */
static inline uint64_t rsvp_unix_s(const struct control_role *c)
{
	return (c->node->born_ns + c->now) / NSEC_PER_SEC;
}

/* The interface of a zone; NULL: none, or a reload has removed it. */
static inline const struct snap_interface *rsvp_link_of(const struct snapshot *s, uint16_t zone)
{
	return zone ? snap_interface(s, zone - 1u) : NULL;
}

/* --- management thread, rsvp_ctl.c --- */

void rsvp_tick(struct node *n);
uint64_t rsvp_stopping(struct node *n);
/* A copy of a row; false: it is free. */
bool rsvp_row_copy(const struct rsvp_control *r, uint32_t i, struct rsvp_row *out);
/*
 * The sessions that begin here, in the order of the configuration: *n of them. The caller frees it. NULL: there are none, or
 * no memory.
 */
struct rsvp_session_shown *rsvp_sessions_shown(const struct node *n, uint32_t *count);
/* The counters since users cleared them. All 0 before the first snapshot with credit. */
void rsvp_stats_shown(const struct node *n, struct rsvp_service_stats *service, struct rsvp_node_stats *machines,
	struct letter_stats *letter);
struct rsvp_neighbor rsvp_neighbor_shown(const struct node *n, uint32_t i);
/* Counters begin at 0 again, and the recorded messages are forgotten. Sessions stay. */
void rsvp_clear_shown(struct node *n);
/* Record messages, or stop it; what was recorded stays. -ENOMEM: there is no room for the record. */
int rsvp_debug(struct node *n, bool on);
/* The record behind number `after`, the oldest one first; false: there is none. */
bool rsvp_record_next(const struct node *n, uint32_t after, struct rsvp_record *out);
/* Start or stop a session that begins here. 0, or -EBUSY: too many orders wait. */
int rsvp_order(struct node *n, const char *name, bool stop);
/*
 * Bytes of memory: soft state of a session of one path, with its share of the tables, without what it shares; what updates of its
 * credit touch, besides; what sessions along the same way after the same devices share, of the longest list of devices;
 * everything of such a session, as headend or far gateway; and of `paths` paths in the worst case, each of them such a session
 * that shares nothing.
 */
size_t rsvp_soft_state(void);
size_t rsvp_updated_state(void);
size_t rsvp_shared_memory(void);
size_t rsvp_session_memory(void);
uint64_t rsvp_memory(uint32_t paths);
/* credit_ctl.c: bytes of the tables of gated data, for so many paths, rx lcores and workers. */
uint64_t credit_memory(uint32_t paths, unsigned int rx, unsigned int workers);

#endif
