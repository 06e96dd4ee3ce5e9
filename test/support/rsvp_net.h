/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes with RSVP sessions, joined by links of virtual time. Each message is written, travels as bytes, and is read. A
 * network is a set of paths, each a list of nodes; messages for one hop go to any node directly.
 */
#ifndef SUPPORT_RSVP_NET_H
#define SUPPORT_RSVP_NET_H

#include "rsvp/rsvp_node.h"

#define NET_NODES 12
#define NET_PATHS 8
#define NET_HOPS 6
#define NET_FLYING 65536
#define NET_MS 1000000ull
#define NET_S 1000000000ull

struct net;

struct net_node {
	struct net *net;
	struct rsvp_node *rsvp;
	struct rsvp_config config;
	struct ip_addr addr;
	unsigned int changes;
	bool refuses; /* its operator permits nothing */
};

struct net_message {
	uint64_t at;
	uint64_t order;
	unsigned int to;
	struct ip_addr from;
	uint64_t arrival;
	uint16_t bytes;
	uint8_t data[700];
};

struct net {
	struct net_node node[NET_NODES];
	unsigned int nodes, paths;
	unsigned int path[NET_PATHS][NET_HOPS]; /* nodes */
	unsigned int length[NET_PATHS];
	uint64_t now, random;
	uint64_t delay_ns, spread_ns; /* of each message: delay plus up to spread */
	unsigned int loss, twice;     /* in 1,000 */
	bool routed;		      /* messages along paths: another previous hop is a change of route */
	bool whole;		      /* no refreshes by id */
	unsigned int budget;	      /* timers that a node runs at once; 0: one */
	/* the n-th message, counted from 0, is lost, doubled or late by late_ns; -1: none */
	int lose, twice_at, late_at;
	uint64_t late_ns;
	unsigned int sent;
	unsigned int kinds[RSVP_KIND_COUNT]; /* messages sent */
	bool cut[NET_NODES][NET_NODES];	     /* no message gets through */
	unsigned int flying_n;
	/* the last member: a heap, the next message first */
	struct net_message *flying[NET_FLYING];
	struct rsvp_message message; /* the last one received; it points into `received` */
	struct net_message received;
};

/* Nodes 0 (headend) and 1 (far gateway), without paths; the configuration of a test. */
void net_init(struct net *t, uint64_t random);
void net_free(struct net *t);
unsigned int net_add(struct net *t); /* another node */
/* A path from node 0 to node 1 through the nodes, in that order. */
void net_path(struct net *t, unsigned int n, const unsigned int *through);
/* Make a node again: all its state is lost. */
void net_restart(struct net *t, unsigned int node);
void net_config(struct net *t, unsigned int node); /* node[].config has changed */
void net_lose_all(struct net *t);		   /* what is in flight */

/* A session over all paths. `number` tells sessions apart. */
struct rsvp_instance *net_open(struct net *t, unsigned int number);
void net_close(struct net *t, struct rsvp_instance *s);
void net_run(struct net *t, uint64_t ns);
bool net_step(struct net *t, uint64_t until); /* the next message or timer; false: nothing before `until` */
void net_neighbor(struct net *t, unsigned int a, unsigned int b, bool up); /* both ends notice */

/* Paths of a node in that state of the grantor's or user's side. */
unsigned int net_grantors(const struct net *t, unsigned int node, enum rsvp_grantor_state state);
unsigned int net_users(const struct net *t, unsigned int node, enum rsvp_user_state state);
/* Nothing is left anywhere: no session, path, unit. */
bool net_is_empty(const struct net *t);
/* No user has credit that its grantor has not committed, and no pool promises more than it has; text: what is wrong. */
const char *net_wrong(const struct net *t);

#endif
