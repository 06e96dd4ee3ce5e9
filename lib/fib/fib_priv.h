/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table itself: a trie of 64-way nodes whose children and leaves are found by counting bits, after Asai and Ohara,
 * "Poptrie" (SIGCOMM 2015), section 3. Two things are added: a node skips the bits in which all its routes agree, so
 * that a lone /64 costs one node and not eight; and small tables have no direct table in front.
 *
 *   address:  | 18 bits: direct table (large tables only) | skip | 6 bits | skip | 6 bits | ...
 *
 * A slot of a node (one value of its 6 bits) is either a child node or a leaf:
 *
 *   children   bit s is set: slot s is child number popcount(children below s), at node[first_node + number]
 *   runs       bit s is set: a run of equal leaves begins at slot s. Slot s has leaf[first_leaf + popcount(runs up to s)].
 *   skip       the address must have these bits before the 6 bits; else the answer is leaf[first_leaf]
 *
 * Every leaf holds the answer of the longest match, so a lookup never goes back up.
 */
#ifndef FIB_FIB_PRIV_H
#define FIB_FIB_PRIV_H

#include "fib/fib.h"

#define FIB_STRIDE 6
#define FIB_SLOTS (1u << FIB_STRIDE)
#define FIB_SKIP_MAX 57u /* bits that a node can skip: with its own 6 bits, 63 at most are shifted at once */
#define FIB_SKIP_COUNT 0x3fu
#define FIB_DIRECT_BITS 18u	      /* 1 MB */
#define FIB_DIRECT_ROUTES (16u << 10) /* tables of fewer routes have no direct table */
#define FIB_IS_NODE 0x80000000u	      /* in an entry of the direct table: a node's number, else a target (31 bits) */

struct fib_node {
	uint64_t children;
	uint64_t runs;
	uint64_t skip; /* the bits, left-aligned; their number in FIB_SKIP_COUNT */
	uint32_t first_node;
	uint32_t first_leaf;
};
_Static_assert(sizeof(struct fib_node) == 32, "two nodes in a cache line, none across two");

struct fib {
	uint32_t *direct; /* 1 << direct_bits entries, at least one */
	unsigned int direct_bits;
	struct fib_node *node;
	target_t *leaf;

	/* Control side only. */
	uint32_t n_nodes, n_leaves;
	struct fib_route *routes; /* sorted: for show, and to recognise an equal table */
	size_t n_routes;
	int family;
	int on;		  /* NUMA node, -1: any */
	struct fib *copy; /* on other nodes; a list by `copy` */
	unsigned int owners;
};

#endif
