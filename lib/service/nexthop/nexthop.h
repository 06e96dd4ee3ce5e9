/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops: what is known of links, next hops and paths is combined here and published in the table of
 * snapshot/liveness.h. Detectors (links, ND and ARP, BFD) report up or down; hold-down and events are the same for all.
 *
 *   down    takes effect at once
 *   up      an object that had failed is in hold-down first: it is used only where nothing else is alive. The
 *           hold-down begins with failover.hold, is doubled each time the object fails again within failover.window of
 *           its last return, and ends at failover.hold-max
 */
#ifndef SERVICE_NEXTHOP_NEXTHOP_H
#define SERVICE_NEXTHOP_NEXTHOP_H

#include "node/node.h"
#include "service/services.h"
#include "snapshot/liveness.h"
#include "stats/counter.h"

/*
 * For detectors. Something that `cause` stands for (LIVENESS_BFD, ...) has failed or works again, for the next hop
 * with this neighbour id of c->s, or for a path. Calling it again with the same state has no effect. An id that gets
 * another meaning begins alive. Control lcore.
 */
void nexthop_report(struct control_role *c, uint32_t neigh, enum liveness_cause cause, bool up);
void nexthop_report_path(struct control_role *c, uint32_t path, enum liveness_cause cause, bool up);

/* The same for the next hop with this address on an interface, if there is one. */
void nexthop_report_address(struct control_role *c, uint16_t interface, const struct ip_addr *addr,
	enum liveness_cause cause, bool up);

/* Objects by number: ports, then next hops by neighbour id, then paths by id. */
enum nexthop_kind { NEXTHOP_PORT, NEXTHOP_NEIGH, NEXTHOP_PATH };
#define NEXTHOP_FIRST_NEIGH MAX_PORTS
#define NEXTHOP_FIRST_PATH (NEXTHOP_FIRST_NEIGH + SNAP_NEIGH_MAX)
#define NEXTHOP_OBJECTS (NEXTHOP_FIRST_PATH + SNAP_PATH_MAX)

/* What is known of an object. The control lcore writes; other threads read the members relaxed. Times in ns. */
struct nexthop_life {
	uint8_t causes;	   /* why it is not used: bits of enum liveness_cause */
	uint8_t last;	   /* causes of the last failure */
	uint32_t downs;	   /* failures since start */
	uint64_t since;	   /* time of the last change; 0: since start */
	uint64_t failed;   /* time of the last failure */
	uint64_t down_ns;  /* time out of use since start, without the present failure */
	uint64_t returned; /* time of the last return; 0: never */
	uint64_t hold_ns;  /* last hold-down */
	uint64_t held_until;
};

enum nexthop_event_kind { NEXTHOP_DOWN, NEXTHOP_RETURNS, NEXTHOP_UP };

/* A change, for the log. */
struct nexthop_event {
	uint64_t at;	 /* ns */
	uint64_t ns;	 /* NEXTHOP_RETURNS: hold-down; NEXTHOP_UP: time since the failure */
	uint32_t object; /* number */
	uint8_t kind;	 /* enum nexthop_event_kind */
	uint8_t causes;	 /* of the failure */
};
#define NEXTHOP_EVENTS 1024 /* a power of two */

/* Whom a neighbour id belongs to. */
struct nexthop_owner {
	struct ip_addr addr;
	uint16_t interface;
	bool used;
};

struct node_nexthops {
	struct nexthop_life *life;	     /* by object */
	struct nexthop_owner *owner;	     /* by neighbour id; control lcore */
	uint32_t *held, n_held;		     /* objects in hold-down; control lcore */
	uint64_t generation;		     /* of the snapshot that owner[] agrees with; control lcore */
	uint32_t link[MAX_PORTS];	     /* port.link when it was last looked at; control lcore */
	bool started;			     /* link[] is known; control lcore */
	uint32_t dead[LIVENESS_CAUSE_COUNT]; /* next hops with that cause; control lcore */
	/* Events: a ring with one writer, the control lcore, and one reader, the management thread. */
	struct nexthop_event event[NEXTHOP_EVENTS];
	uint32_t written; /* events so far; release by the writer */
	uint32_t read;	  /* likewise by the reader */
	uint32_t missed;  /* events without room; relaxed */
};

static inline struct node_nexthops *node_nexthops(const struct node *n)
{
	return n->state[SERVICE_NEXTHOP];
}

static inline enum nexthop_kind nexthop_kind(uint32_t object)
{
	return object < NEXTHOP_FIRST_NEIGH ? NEXTHOP_PORT : object < NEXTHOP_FIRST_PATH ? NEXTHOP_NEIGH : NEXTHOP_PATH;
}

/* The causes as words: "link down, hold-down"; "" when there are none. Returns buf. */
const char *nexthop_causes(unsigned int causes, char *buf, size_t size);

/* Copy what is known of an object. Any thread. */
void nexthop_life_copy(const struct node *n, uint32_t object, struct nexthop_life *out);

/* What the metrics tell of links and next hops, and of paths (stats/counter.h). */
#define NEXTHOP_COUNTERS(X) \
	X(gauge, up, NULL, "0 or 1", "sluice_nexthop_up", "1 if the next hop and its link work, in hold-down or not") \
	X(counter, downs, "downs", "times", "sluice_nexthop_downs", "failures of the link or next hop") \
	X(counter, down_ns, NULL, "ns", "sluice_nexthop_down_ns", \
		"time for which the link or next hop was not in use, hold-down included, without the present failure")
#define PATH_COUNTERS(X) \
	X(gauge, up, NULL, "0 or 1", "sluice_path_up", \
		"1 if the path and one of its next hops work, in hold-down or not") \
	X(gauge, carries, NULL, "0 or 1", "sluice_path_carries", "1 if the path carries traffic now") \
	PATH_TRAFFIC(X)

struct nexthop_shown {
	NEXTHOP_COUNTERS(STAT_DECLARE)
};
struct path_shown {
	PATH_COUNTERS(STAT_DECLARE)
};

/* Reasons why a way (a next hop or a group) is not used, as bits: those of its best next hop. Any thread. */
unsigned int nexthop_causes_of_way(const struct snapshot *s, target_t via);

/* How good a path is, with its next hops. Any thread. */
enum liveness_grade nexthop_path_grade(const struct snapshot *s, uint32_t path);

/* Does a path of a policy carry traffic now? The best primary path decides, then the best backup. Any thread. */
bool nexthop_path_carries(const struct snapshot *s, const struct snap_policy *policy, uint32_t path);

/* Write the events to the log. Management thread; a tick of the service. */
void nexthop_tick(struct node *n);

#endif
