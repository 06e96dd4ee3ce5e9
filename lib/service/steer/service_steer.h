/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement of flows on the paths of their policies (docs/path-placement.md). Each rx role has a table of the flows that it
 * sees; what is placed is the same for all of them, and one object that the management thread replaces. A flow's packets
 * take their path in the classified packet itself: the bits of pkt.hash that choose the bucket are those of a bucket of the
 * path, so that all later stages, a failure included, treat it as the flow's own.
 */
#ifndef SERVICE_STEER_SERVICE_STEER_H
#define SERVICE_STEER_SERVICE_STEER_H

#include "node/node.h"
#include "service/services.h"
#include "service/steer/feedback.h"
#include "service/steer/pairs.h"
#include "steer/flow_table.h"
#include "steer/place_store.h"
#include "steer/placements.h"

struct steer_rx {
	struct flow_table *table;     /* NULL: no policy has flows. Release by management, acquire by the role */
	struct feedback_rx *feedback; /* NULL: no policy has had feedback yet. Likewise; stays until the end */
	struct mailbox sightings;     /* pairs of hosts, to the control lcore */
} CACHE_ALIGNED;

/* What no lcore may read any more after a grace period. Management thread. */
struct steer_retired {
	struct steer_retired *next;
	uint64_t token;
	struct flow_table *table;
	struct placements *placements; /* without its regions */
	void **gone;		       /* regions */
	bool whole;		       /* placements with all regions */
	struct feedback *feedback;
};

/* Paths that an operator has drained, by name. Management thread. */
struct steer_drained {
	struct steer_drained *next;
	char policy[STEER_NAME], path[STEER_NAME];
};

/* To the control lcore: a path is drained, or is used again. One writer, one reader. */
#define STEER_ORDERS 256
struct steer_order {
	uint32_t path; /* id */
	bool drained;
};

struct node_steer {
	struct steer_secret secret;    /* constant */
	struct placements *placements; /* NULL: none. Release by management, acquire by rx roles */
	struct steer_rx rx[NODE_MAX_ROLES];
	struct feedback
		*feedback; /* NULL: no policy has feedback. Release by management, acquire by the control lcore */
	/*
	 * Times in ns: what came to rx before them and left by that port in that class is out of its queues. Written by the control
	 * lcore, relaxed readers.
	 */
	uint64_t left_before[MAX_PORTS][FLOW_CLASSES];
	uint64_t gap_ns; /* steering.gap; written by management, relaxed */
	/* NULL: no policy has had `roce` yet. Release by management, acquire by others; stays until the end */
	struct node_pairs *pairs;
	uint64_t pair_idle_ns; /* steering.idle; written by management, relaxed */
	struct {
		uint32_t head; /* release by management */
		uint32_t tail; /* release by the control lcore */
		struct steer_order order[STEER_ORDERS];
	} orders;
	/* management thread: */
	struct place_store store;
	uint32_t serial;	     /* of the last placement */
	const struct config *config; /* the running one when its placements were taken */
	uint64_t flows, idle_s;	     /* of the tables */
	unsigned int with;	     /* FLOW_WITH_... */
	struct steer_drained *drained;
	uint64_t is_drained[SNAP_PATH_MAX / 64]; /* bit per path id, as ordered */
	struct steer_retired *retired;
};

static inline struct node_steer *node_steer(const struct node *n)
{
	return n->state[SERVICE_STEER];
}

/* flow_dp.c */
extern const struct rx_hooks steer_rx_hooks;

/*
 * move_dp.c: a packet of a flow of this table has come; it would leave by path->via. Returns the bucket of another path if the
 * flow leaves its path with this packet, else FLOW_BY_HASH. The caller moves it with feedback_moved. Rx lcores.
 */
uint8_t feedback_bucket(struct rx_role *rx, struct flow_table *t, const struct flow *f, const struct flow_class *on,
	uint64_t hash, struct feedback_order **by, unsigned int *which);
void feedback_moved(struct rx_role *rx, struct flow_table *t, struct flow *f, struct feedback_order *by,
	unsigned int which);

/* feedback_cp.c: take samples and give orders if it is time. Control lcore. */
unsigned int feedback_poll(struct control_role *c, uint64_t *next);

/* feedback_ctl.c: a new snapshot; the log; what is shown of a path. Management thread. */
int feedback_published(struct node *n, struct feedback **old);
void feedback_free(struct feedback *f);
void feedback_tick(struct node *n);

/* Of a path of a policy: the class in which most of its flows are. X(kind, member, name, unit, metric, help) */
#define FEEDBACK_COUNTERS(X) \
	X(gauge, score, "score", "permille", "sluice_path_score", \
		"how congested the path is: 1000 is the limit of its worst signal") \
	X(counter, left, "moved_away", "flows", "sluice_path_flows_moved_away", \
		"flows that feedback moved to other paths") \
	X(counter, came, "moved_here", "flows", "sluice_path_flows_moved_here", \
		"flows that feedback moved to this path") \
	X(gauge, dead, NULL, "0 or 1", "sluice_path_no_way_out", \
		"1 if the path has failed and its flows cannot move, because all paths of the policy have")

struct feedback_shown {
	FEEDBACK_COUNTERS(STAT_DECLARE)
	uint8_t class;
	struct path_score last; /* of the class: why flows last moved */
	uint32_t last_path;	/* id of the other path; STEER_NO_PATH: none yet */
};
/* False: the policy has no feedback, or the path is a backup. */
bool feedback_show(const struct node *n, uint32_t path, struct feedback_shown *out);
const char *feedback_reason(uint8_t reason);

/* --- management thread --- */

/*
 * Place n flows, all or none. -errno: *wrong is the number of the wish that cannot be fulfilled, and err says why; n: it was
 * none of them. `replace`: all other placements are taken away.
 */
int steer_place(struct node *n, const struct place_wish *wishes, size_t count, bool replace, size_t *wrong, char *err,
	size_t size);

/* Take a placement away. -ENOENT: there is none. */
int steer_unplace(struct node *n, const struct steer_key *key, const char *vrf);

/* Move the flows of a path away, or use it again. -errno with a message. */
int steer_drain(struct node *n, const char *policy, const char *path, bool drain, char *err, size_t size);

/* Flows of all tables on a path. */
uint64_t steer_flows_on(const struct node *n, uint32_t path);

/* Counters of all tables. */
struct flow_counters steer_counters(const struct node *n);

/* Call fn for the flows of all tables until it returns false. */
void steer_each_flow(const struct node *n,
	bool (*fn)(void *arg, uint16_t rx, const struct flow_seen *f, unsigned int with), void *arg);

/* Bytes of the tables of a node with this configuration. */
struct config;
uint64_t steer_memory(const struct config *c);

/* Name of a VRF by id, "" for the underlay's table. */
static inline const char *steer_vrf_name(const struct snapshot *s, uint16_t vrf)
{
	return vrf == VRF_UNDERLAY || vrf >= s->n_vrfs || !s->vrf[vrf].name ? STEER_UNDERLAY : s->vrf[vrf].name;
}

#endif
