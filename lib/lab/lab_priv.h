/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LAB_LAB_PRIV_H
#define LAB_LAB_PRIV_H

#include "command/command.h"
#include "drivers/virtual/line.h"
#include "drivers/virtual/pool.h"
#include "drivers/virtual/port.h"
#include "lab/event.h"
#include "lab/lab.h"
#include "lab/lab_loss.h"
#include "lab/lab_track.h"
#include "lab/timeline.h"
#include "node/node_ctl.h"

#define LAB_HEADER_BYTES 192 /* most bytes of a frame that hosts write when only headers are carried */
#define LAB_BUFFER_BYTES 384 /* size of a node's buffers then: room for the longest outer headers */
#define LAB_FRAME_OVERHEAD \
	138 /* headers and trailers of a data packet: Ethernet, IPv6, UDP, BTH, RETH, ICRC, outer IPv6 */
#define LAB_HISTORY 1000
#define LAB_SERIES_MAX 4096

_Static_assert(LAB_BUFFER_BYTES >= SNAP_ENCAP_BYTES_MAX + 22,
	"outer headers, Ethernet and two tags must fit into one buffer");

struct lab_host;
struct lab_flow;
struct lab_seen;
struct lab_credit;

/* One end of a link: a port of a node or host. */
struct lab_end {
	struct topo_end place;
	struct lab_node *node; /* or NULL */
	struct lab_host *host; /* or NULL */
	struct timeline *timeline;
	uint16_t port;
	uint64_t into_void; /* frames that arrived while the node was down */
};

struct lab_link {
	struct lab *lab;
	const struct topo_link *topo;
	struct lab_end end[2]; /* a, b */
	struct lab_way {
		struct lab_link *link;
		struct line *line;
		struct event arrival;
		uint16_t from;	  /* index of the end that sends; the other receives */
		uint16_t cuts[3]; /* failures in progress, by enum topo_traffic */
		bool reported;	  /* link state reported to the ends: up */
		struct tracks tracks;
		char name[80]; /* "gw1.p0 > leaf1.p0" */
	} way[2];
};

struct lab_lcore {
	struct lab_node *owner;
	struct node_lcore *lcore;
	struct event wake;
	uint32_t owns; /* bit per port whose egress its worker role owns */
	uint64_t busy_until;
	uint64_t cycles_left; /* fraction of a nanosecond left over by rounding */
	char name[48];
};

struct lab_node {
	struct lab *lab;
	struct timeline timeline;
	const struct topo_node *topo;
	struct node *node; /* NULL while it is down */
	char *text;	   /* its configuration, for restarts */
	uint32_t index;
	struct lab_lcore lcore[2 * NODE_MAX_ROLES + 1];
	uint16_t n_lcores;
	char *place[MAX_PORTS];		/* "gw1.p0" */
	struct lab_way *way[MAX_PORTS]; /* transmit direction; NULL: no link is connected */
	struct line *void_line;		/* for ports without a link */
	struct lab_queue {
		uint16_t lcore; /* that polls it */
		uint16_t index; /* in its rx role */
	} queue[MAX_PORTS][64]; /* receive queues */
	uint32_t n_ports;
	uint64_t promised;		 /* buffers, the budget of its configuration */
	uint64_t queue_limit[MAX_PORTS]; /* most packets queued on a port without lossless classes */
	uint64_t least_limit;		 /* the lowest of them */
	uint64_t drops;			 /* packets dropped since the start of the run */
	bool changed;			 /* polled, or has got a frame, since the last check of everything */
	bool pauses;			 /* its configuration has PFC, or may have been changed */
	uint32_t touched;		 /* bit per port that has sent, or missed frames, since the last check */
	struct node_balance balance;	 /* valid for the event of this number */
	uint64_t balance_event;
	struct event restart;
	uint64_t restarts;
	struct tracks tracks;
	struct lab_seen *seen;	   /* by port; lab_watch.c */
	struct lab_credit *credit; /* NULL: it has none; lab_credit.c */
	/* sums of the time before the last restart */
	struct lab_past {
		uint64_t rx, originated, sent, dropped, consumed;
		uint64_t port_sent[MAX_PORTS], port_received[MAX_PORTS], missed[MAX_PORTS];
		uint64_t unpolled; /* frames in receive descriptors when it stopped */
	} past;
};

struct lab_failure {
	struct lab_link *link;
	const struct topo_failure *topo;
	uint64_t left; /* remaining repetitions */
	bool down;
	struct event change;
};

/* Reports a failure, or its end, to the ports after the detection time. */
struct lab_notice {
	struct lab_link *link;
	struct event event;
	struct lab_notice *next;
	bool up[2]; /* of the ends */
};

struct lab_scheduled {
	struct lab *lab;
	const struct topo_event *topo;
	struct event event;
};

struct lab_record {
	uint64_t at;
	const char *kind, *name;
	uint64_t value;
};

/* What becomes of two samples that are joined: their mean by time, the larger one, the sum. */
enum series_kind { SERIES_RATE, SERIES_LEVEL, SERIES_COUNT, SERIES_BOUND /* a rate that cannot be exceeded */ };

#define LAB_LIMITS 4 /* XON, XOFF, urgent, full */

struct lab_series {
	char *name, *unit, *group;
	enum series_kind kind;
	bool limited;
	double limit[LAB_LIMITS]; /* thresholds of a buffer, in the unit of the series, if `limited` */
	double *value;		  /* of each sample */
	double (*read)(struct lab *lab, struct lab_series *s);
	void *of;
	uint32_t index;
	uint64_t last;
};

struct lab_capture;
struct lab_messages;
struct lab_trigger;

struct lab {
	struct topology *topo;
	struct lab_options options;
	uint64_t now;
	uint64_t seed;
	struct event_queue turns; /* of the timelines of nodes and hosts */
	struct event_queue queue; /* what concerns more than one of them: samples, failures, commands */
	uint64_t apart_ns;	  /* objects cannot affect each other sooner */
	uint64_t latest;	  /* time of the last event of all of them */
	bool large;		  /* its nodes and hosts do not fit in the cache */
	bool in_turns;		  /* timelines have not all got to the same time */
	struct timeline **due;	  /* room for all: those that have a turn now */
	uint64_t events, hops, end_ns;
	uint64_t checked; /* events when all invariants were checked */
	struct lab_node *node;
	uint32_t n_nodes;
	struct lab_link *link;
	uint32_t n_links;
	struct lab_host *host;
	uint32_t n_hosts;
	struct lab_qp **qp; /* all queue pairs, by number */
	uint32_t n_qps;
	struct lab_flow *flow; /* as in the topology */
	uint32_t n_flows;
	struct lab_failure *failure;
	uint32_t n_failures;
	struct lab_notice *notice;
	struct lab_scheduled *scheduled;
	struct lab_capture *capture;
	struct lab_messages *messages; /* NULL: none are written */
	struct lab_trigger *trigger;
	struct lab_record history[LAB_HISTORY];
	uint64_t recorded;
	struct lab_series series[LAB_SERIES_MAX];
	uint32_t n_series, n_samples, room_samples;
	uint32_t series_left_out; /* there was no room for */
	uint64_t *sample_at;
	uint64_t sample_ns, record_ns, sampled_at; /* record_ns: least time between samples that are kept */
	struct event sample;
	bool relaxed_order; /* the topology may reorder a flow */
	bool flips;	    /* a link delivers frames with flipped bits */
	bool duplicates;    /* a link duplicates frames */
	uint8_t lossless;   /* bit per priority whose packets must not be lost */
	bool lossless_required;
	struct lab_losses losses;
	json_t *broken; /* promises of lossless classes that the run has broken, in words */
	bool ending;	/* senders have stopped */
	char *violation;
	json_t *commands; /* output of scheduled commands */
};

/* lab_record.c */
void lab_record(struct lab *lab, const char *kind, const char *name, uint64_t value);
void lab_violate(struct lab *lab, const char *invariant, const char *format, ...) PRINTF_LIKE(3, 4);

/* lab_class.c: the queue pair of a frame, or NULL; *reply: sent by the receiver of its data; its priority. */
struct lab_qp *lab_flow_of(const struct lab *lab, const void *bytes, uint32_t captured, bool *reply, uint8_t *priority);

/* lab_lossless.c */
bool lab_gates_closed(const struct lab *lab);		/* pauses of lossless classes that are still in force */
void lab_judge_lossless(struct lab *lab, bool drained); /* at the end of the run; drained: no packet is under way */
json_t *lab_lossless_report(const struct lab *lab);

/* lab_trigger.c */
/* Set the event to a time, or for when a pause begins or ends. 0, or -ENOMEM. */
int lab_trigger_or_set(struct lab *lab, const struct topo_when *when, uint64_t at, struct event *event);
/* A pause begins or ends. */
void lab_trigger(struct lab *lab, enum topo_after what, const struct topo_end *place, unsigned int priority);
json_t *lab_untriggered(const struct lab *lab); /* events whose pause has not come */
void lab_triggers_fini(struct lab *lab);

/* lab_link.c */
int lab_links_init(struct lab *lab, char *err, size_t size);
void lab_links_fini(struct lab *lab);

/* lab_way.c */
void lab_way_kick(struct lab_way *w); /* a frame was put on the line */
void lab_way_send(struct lab_way *w, const void *bytes, uint32_t captured, uint32_t length);
bool lab_way_up(const struct lab_way *w); /* the state reported to the ends */

/* lab_node.c */
int lab_node_init(struct lab *lab, uint32_t index, char *err, size_t size);
int lab_node_start(struct lab_node *n, char *err, size_t size);
void lab_node_fini(struct lab_node *n);
void lab_node_receive(struct lab_node *n, struct lab_end *end, const struct line_frame *f);
void lab_node_link(struct lab_node *n, uint16_t port, bool up);
int lab_node_command(struct lab_node *n, const char *line, FILE *out);
void lab_node_restart(struct lab_node *n, uint64_t for_ns);
void lab_node_housekeeping(struct lab_node *n);
struct eth_addr lab_node_mac(const struct lab *lab, uint32_t node, uint16_t port);

/* lab_balance.c: zero while the node is down. Call it after the current event has made its last change to the node. */
const struct node_balance *lab_node_balance(struct lab_node *n);

/* lab_host.c */
int lab_hosts_init(struct lab *lab, char *err, size_t size);
void lab_hosts_fini(struct lab *lab);
void lab_host_receive(struct lab_host *h, struct lab_end *end, const struct line_frame *f);
void lab_host_link(struct lab_host *h, uint16_t port, bool up);
void lab_hosts_stop(struct lab *lab); /* no new data from now on */
uint64_t lab_hosts_lost(const struct lab *lab);
bool lab_hosts_idle(const struct lab *lab);

/* lab_watch.c */
int lab_watch_init(struct lab_node *n);
void lab_watch_fini(struct lab_node *n);
void lab_watch_pass(struct lab_node *n, uint32_t queues);    /* after a pass; bit per port that the lcore owns */
void lab_watch_stopped(struct lab_node *n, uint64_t for_ns); /* the node restarts after for_ns */

/* lab_capture.c */
int lab_captures_init(struct lab *lab, char *err, size_t size);
void lab_captures_fini(struct lab *lab);
bool lab_captures_at(const struct lab *lab, const struct topo_end *place);
void lab_captured(struct lab *lab, const struct topo_end *place, bool outbound, const void *bytes, uint32_t captured,
	uint32_t length);

/* lab_series.c, lab_sample.c */
int lab_series_init(struct lab *lab);
int lab_samples_init(struct lab *lab, char *err, size_t size);
void lab_samples_fini(struct lab *lab);

/* lab_invariant.c */
void lab_check(struct lab *lab);			  /* all invariants */
void lab_check_way(struct lab_way *w);			  /* the cheap invariants: after an arrival, and after a pass */
void lab_check_pass(struct lab_node *n, uint32_t queues); /* bit per port that the lcore owns */
void lab_check_leak(struct lab *lab, struct lab_node *n);

/* lab_credit.c: invariants of credit (docs/credit.md 2.13) */
int lab_credit_init(struct lab_node *n); /* the node has started; 0, or -ENOMEM */
void lab_credit_fini(struct lab_node *n);
/* Calls fn for sessions of a node with credit: those at which something happens, a number of them in turn; or all. */
void lab_credit_each(const struct lab_node *n, bool all,
	void (*fn)(const struct lab_node *n, uint32_t number, bool use));
/* The node that grants the credit that is used, and the number there; NULL: none, or it is down. */
struct lab_node *lab_credit_grantor(const struct lab_node *n, uint32_t use, uint32_t *grant);
bool lab_credit_used(const struct lab_node *n, uint32_t number, char *why, size_t size);
bool lab_credit_granted(const struct lab_node *n, uint32_t number, char *why, size_t size);
bool lab_credit_pool(const struct lab_node *n, char *why, size_t size);
bool lab_credit_hops(struct lab *lab, char *why, size_t size);
bool lab_credit_units(struct lab *lab, char *why, size_t size);

/* lab_waitfor.c: an invariant (lab_invariant.c) */
bool lab_no_deadlock(struct lab *lab, char *why, size_t size);

#endif
