/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit of data (docs/credit.md 2.5 to 2.12): the control lcore drives the engine of lib/credit with what rx lcores and
 * workers count (queue/line.h), and carries its words in the messages of sessions. The machines of lib/rsvp decide which
 * session has credit; this part follows them.
 *
 * A *grant* is what this node gives to a previous hop for a session, a *use* what it has from a next hop. Both have numbers,
 * by which the data path knows them.
 */
#ifndef SERVICE_RSVP_SERVICE_CREDIT_H
#define SERVICE_RSVP_SERVICE_CREDIT_H

#include "credit/credit_alive.h"
#include "credit/credit_grantor.h"
#include "credit/credit_pace.h"
#include "credit/credit_pool.h"
#include "credit/credit_user.h"
#include "queue/line.h"
#include "service/rsvp/credit_shown.h"

#define CREDIT_TELL_SLOTS 4096
#define CREDIT_ORDER_SLOTS 4096
#define CREDIT_NO_SLOT UINT32_MAX
#define CREDIT_SYNC_SHORT_NS (NSEC_PER_MSEC / 4) /* T_sync for loops of up to 1 ms */
#define CREDIT_PATHS 16				 /* of a policy that lead to a line */

/* Counters of a grant and of a use, shown in the rows of credit_shown.h. */
struct credit_grant_counts {
	uint64_t updates, healed, doubled, stale, bad;
};

struct credit_use_counts {
	uint64_t fences, markers, resyncs, stalls, stalled_ns, beyond, returned;
};

/* Counters that the worker has of a line. */
struct credit_line_counts {
	uint64_t packets, waited, uncredited, ended, marked, overrun;
};

/* How many there were in a second. */
struct credit_rate {
	uint64_t since_ns, count, rate;
};

struct credit_neighbor;

struct credit_grant {
	bool used, on; /* on: 29s are sent */
	bool active;   /* looked at in each tick */
	uint32_t slot; /* path by which updates are sent; CREDIT_NO_SLOT */
	struct credit_grantor g;
	bool due, closing;
	bool wants;	/* its user asks for more than it has */
	uint8_t quiet;	/* ticks without anything to do */
	uint8_t row;	/* rx role that has sampled fences in this epoch; UINT8_MAX: none */
	uint32_t lih;	/* of the previous hop */
	uint32_t batch; /* units */
	uint64_t updated_ns;
	uint64_t others; /* units that other rx roles had received then */
	struct credit_neighbor *neighbor;
	uint32_t next_due; /* in the list of a pass */
	struct credit_grant_counts counts;
	uint64_t beyond;	 /* credit_beyond() when it began */
	struct credit_rate rate; /* of updates sent */
	uint64_t shown_ns;	 /* when its row was written last */
};

/* Where the data of a use goes. */
struct credit_binding {
	uint8_t port, class;
	uint16_t alive;
	uint32_t path, neigh, label;
};

struct credit_use {
	bool used;
	bool headend, closing; /* closing: it is given back when nothing waits */
	bool active;
	bool bound;		   /* a worker has the line */
	bool listed;		   /* rx lcores send data to it */
	bool ordered;		   /* an order is not acknowledged yet */
	bool ending;		   /* data that is still here is sent while credit comes */
	uint8_t quiet;		   /* ticks without anything to do */
	uint8_t mode;		   /* enum line_mode that was ordered last */
	uint32_t left, left_epoch; /* path and epoch that were given up with the last order; CREDIT_NO_SLOT */
	uint32_t slot, wanted;	   /* path whose credit it has, and shall have; CREDIT_NO_SLOT */
	uint32_t returns;	   /* path whose credit is given back when the worker holds the line; CREDIT_NO_SLOT */
	uint32_t gave;		   /* window that was given back last; 0: none, or it was smaller afterwards */
	bool keeps;		   /* the next hop takes nothing back */
	uint32_t want;		   /* of the next marker, units; 0: as it is */
	uint64_t wanted_ns, returned_ns;
	uint64_t off_ns; /* since when it has had none */
	uint64_t ordered_ns, idle_ns;
	struct line_order order; /* the last one */
	struct credit_binding binding;
	struct credit_user u;
	uint8_t health;
	uint32_t n_paths, path[CREDIT_PATHS]; /* of the policy, whose data waits here */
	uint8_t path_class;
	uint16_t zone; /* of the server to which the data goes; 0: it goes into paths */
	struct ip_addr to;
	struct credit_use_counts counts;
	struct credit_line_counts base; /* of the line, when this use began */
	struct credit_rate rate;	/* of updates heard */
	uint64_t heard;			/* updates */
	uint64_t looked_ns, shown_ns;	/* the last tick, and when its row was written */
	uint64_t trouble_ns[2];		/* since when it is stalled, and leaks; 0: it does not */
	bool told[2];			/* of that, an alarm was raised */
	bool beyond_told;
	uint64_t stated; /* units in front of the last fence that was stated */
	uint32_t stated_sequence;
	bool unanswered; /* that statement has not been answered */
	uint64_t leaked; /* units of it that are missing */
};

/* Of a neighbour, by its place in credit_data.alive. */
struct credit_neighbor {
	bool used;
	uint16_t zone;
	struct ip_addr addr;
	struct credit_alive alive;
	struct credit_lease lease;
	struct credit_loop loop;
	uint64_t probed_ns;
	uint64_t again_ns; /* when its paths ask for new epochs; 0: they need none, or ask already */
	bool silent;	   /* its credit has ended, and it was not heard since */
	uint32_t granted;  /* grants that are on */
	uint32_t beat;	   /* number of the grant whose turn it is */
	uint32_t due;	   /* first of the pass; 0: none */
};

struct credit_control {
	struct credit_data *data;
	void *memory[10]; /* of the tables */
	uint32_t numbers, paths;
	struct credit_grant *grant;	/* by number */
	struct credit_use *use;		/* by number */
	struct credit_use_row *use_row; /* by number, as users see it */
	struct credit_grant_row *grant_row;
	struct {
		uint32_t version; /* odd while a row ends */
		struct credit_sent sent;
		struct credit_given given;
	} past; /* counters of rows that have ended */
	uint32_t *free_grant, *free_line, free_grants, free_lines;
	uint32_t *active_grant, *active_line, active_grants, active_lines;
	uint32_t *wanting, n_wanting; /* grants whose users want more: numbers */
	struct credit_demand *demand, **demands;
	bool asked;	    /* by one of them since they were served last */
	uint64_t pool_free; /* units when they were */
	struct credit_neighbor neighbor[LINE_ALIVES];
	uint32_t neighbors; /* places that were ever used */
	uint32_t orders;    /* given so far */
	bool over;	    /* the node ends: its mailboxes are closed */
	uint64_t tick_ns;   /* when the next tick is due */
	uint64_t late_ns; /* when a batch may be told that was freed too soon after another one; TIME_NEVER: none was */
	uint64_t generation;
	uint32_t live_epoch;
	struct mailbox rx_tells[NODE_MAX_ROLES], worker_tells[NODE_MAX_ROLES], worker_orders[NODE_MAX_ROLES];
};

static inline struct credit_control *credit_of(const struct node *n)
{
	return node_rsvp(n)->credit;
}

/* credit_ctl.c: make and free the tables; management thread. 0 or -errno. */
int credit_make(struct control_role *c, int socket);
void credit_free(struct control_role *c);

extern const struct worker_hooks credit_worker_hooks;
/* data_dp.c: functions of struct egress_context. */
void credit_obey_orders(void *worker);
unsigned int credit_examine(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port);
bool credit_granted(const struct rx_role *rx, const struct rte_mbuf *m);
bool credit_tell_control(void *worker, uint32_t what);

/* credit_cp.c: follows the machines. */
extern const struct rsvp_data_ops credit_data_ops;
void credit_shown(struct control_role *c, const struct rsvp_path *p, const struct rsvp_path_view *v);
void credit_gone(struct control_role *c, const struct rsvp_path *p);
uint32_t credit_line_new(struct control_role *c, bool headend); /* 0: none is free */
void credit_line_close(struct control_role *c, uint32_t line);
void credit_line_leads(struct control_role *c, uint32_t line, const struct snap_policy *policy, uint8_t class);
void credit_line_leads_to(struct control_role *c, uint32_t line, const struct snap_rsvp_session *s); /* a server */
unsigned int credit_poll(struct control_role *c, uint64_t *due);

/* credit_neighbor_cp.c: silence, and heartbeats; *due: when it is called again. */
void credit_neighbors_poll(struct control_role *c, uint64_t *due);

/* credit_share_cp.c: sharing of the pool by demand (docs/credit.md 2.12, D52). */
void credit_grant_wants(struct credit_control *k, uint32_t grant);
void credit_serve(struct control_role *c);
bool credit_holds_more(const struct control_role *c, const struct credit_use *u);
void credit_look_at_share(struct control_role *c, uint32_t line, uint64_t loop_ns, uint64_t pause_ns);
bool credit_give_back(struct control_role *c, uint32_t line);

/* credit_line_cp.c: lines and their workers. */
void credit_line_step(struct control_role *c, uint32_t line);
void credit_line_kick(struct control_role *c, uint32_t line);
void credit_rebind_all(struct control_role *c);

/*
 * credit_native_cp.c: the data that a server sends on a path, in the reservation of its view, and the line in which it waits if it
 * goes on to another server; data to a server, in the line of a session that begins here.
 */
void credit_native_from(struct credit_control *k, uint32_t slot, const struct rsvp_path_view *v, uint16_t line);
void credit_native_from_ends(struct credit_control *k, uint32_t slot, uint16_t zone);
void credit_native_to(struct credit_control *k, uint32_t line);
void credit_native_to_ends(struct credit_control *k, uint32_t line);

/* credit_send_cp.c: updates, markers and fences. */
void credit_update_due(struct control_role *c, uint32_t grant);
void credit_updates_send(struct control_role *c);
bool credit_marker_send(struct control_role *c, uint32_t line, bool ask, bool idle);
void credit_fence_send(struct control_role *c, uint32_t line);

/* credit_shown_cp.c: rows for users, alarms. `now`: also if it was written just before. */
void credit_use_show(struct control_role *c, uint32_t line, bool now);
void credit_grant_show(struct control_role *c, uint32_t grant, bool now);
void credit_use_hide(struct credit_control *k, uint32_t line);
void credit_grant_hide(struct credit_control *k, uint32_t grant);
void credit_use_watch(struct control_role *c, uint32_t line);
void credit_use_stated(struct credit_use *u, const struct credit_hop *hop);
void credit_use_answered(struct credit_use *u, uint32_t echo);
void credit_promises_beyond(struct control_role *c, uint32_t line, const struct rsvp_path_view *v);
struct credit_line_counts credit_line_counts(const struct credit_line *l);

/* credit_common_cp.c */
uint32_t credit_mtu_units(const struct control_role *c);			/* of the largest packet */
uint64_t credit_beyond(const struct credit_data *d, uint32_t grant);		/* units that were sent beyond it */
void credit_limit(struct credit_control *k, uint32_t grant);			/* where a server's credit ends */
void credit_set_batch(struct control_role *c, uint32_t grant, uint32_t buffer); /* N2 of a window (2.9) */
void credit_activate_grant(struct credit_control *k, uint32_t number);
void credit_activate_line(struct control_role *c, uint32_t line);
struct credit_totals credit_totals_of(const struct credit_data *d, uint32_t grant);
struct credit_neighbor *credit_neighbor_of(struct credit_control *k, uint16_t zone, const struct ip_addr *addr);

#endif
