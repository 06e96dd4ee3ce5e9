/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scheduler for a job whose flows are known before it starts (draft-filsfils-spring-srv6-ai-backend section 4): each demand
 * gets one of the shortest paths of its pair of nodes, so that the most loaded link carries as little as possible. Whole flows
 * cannot be divided, so the exact optimum is hard (it contains bin packing); the bound says how far from it the answer can be.
 * Pure.
 */
#ifndef STEER_SPREAD_H
#define STEER_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#define SPREAD_PATHS 64 /* of a pair of nodes; as many as a policy has */
#define SPREAD_HOPS 32	/* links of a path */
#define SPREAD_NODES 4096

/* A direction of a link. */
struct spread_edge {
	uint32_t from, to; /* nodes */
	double rate;	   /* bit/s, above 0 */
	double load;	   /* bit/s; result */
};

struct spread_path {
	uint32_t n;
	uint32_t edge[SPREAD_HOPS];
};

/* All shortest paths between two nodes, up to SPREAD_PATHS. */
struct spread_pair {
	uint32_t from, to, n;
	struct spread_path path[SPREAD_PATHS];
};

struct spread_demand {
	uint32_t pair; /* index */
	double rate;   /* bit/s */
	uint32_t path; /* of the pair; result */
};

struct spread {
	uint32_t n_nodes, n_edges, n_pairs, n_demands;
	struct spread_edge *edge;
	struct spread_pair *pair;
	struct spread_demand *demand;
};

/* Find the paths of a pair, whose from and to are set: pair.n is 0 if there is none. 0 or -ENOMEM. */
int spread_find_paths(const struct spread *s, struct spread_pair *pair);

/* Give each demand a path. 0 or -ENOMEM. */
int spread_place(struct spread *s);

/* The load of the most loaded link, as a share of its rate. */
double spread_most(const struct spread *s);

/*
 * No placement can have less: the least share by which flows that can be divided at will load the most loaded link, if only
 * the demands from one node, or to one node, or all of them without regard to who gets what, count (max-flow). *out is
 * spread_most's unit. 0 or -ENOMEM.
 */
int spread_bound(const struct spread *s, double *out);

#endif
