/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIB_FIB_PRIV_H
#define FIB_FIB_PRIV_H

#include <rte_fib.h>
#include <rte_fib6.h>

#include "fib/fib.h"

/*
 * A DPDK entry holds an index into `targets`, so that entries of two bytes suffice for tables with few
 * different targets; 0 is TARGET_NONE.
 */
struct fib {
	struct rte_fib *v4;
	struct rte_fib6 *v6;
	target_t *targets;
	uint32_t n_targets;
	struct fib_route *routes; /* as built, sorted: for show and for comparison */
	size_t n_routes;
	int family;
	unsigned int owners;
};

#endif
