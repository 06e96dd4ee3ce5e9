/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups: any lcore, on a table that does not change. */
#include "base/dpdk_compat.h"
#include "fib/fib_priv.h"

target_t fib_lookup4(const struct fib *f, uint32_t host_order)
{
	uint64_t index;

	if (!f || !f->v4)
		return 0;
	rte_fib_lookup_bulk(f->v4, &host_order, &index, 1);
	return f->targets[index];
}

target_t fib_lookup6(const struct fib *f, const struct ipv6_addr *a)
{
	uint64_t index;

	if (!f || !f->v6)
		return 0;
	rte_fib6_lookup_bulk(f->v6, COMPAT_IPV6_BULK(a), &index, 1);
	return f->targets[index];
}
