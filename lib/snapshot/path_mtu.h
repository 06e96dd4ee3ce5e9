/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path MTUs learnt from Packet Too Big messages (RFC 8201). The snapshot has the MTUs of the links on the way out and
 * never changes. This table has the learnt MTUs and outlives snapshots.
 *
 * Entries are indexed by stable path id; the snapshot points to them. An entry carries the fingerprint of the outer
 * headers that it was learnt for. An entry with another fingerprint is ignored. So a reader whose snapshot is newer
 * than the control lcore's never applies an outdated MTU.
 *
 * One writer, the control lcore (service/icmp/mtu_cp.c); any lcore or thread may read. All accesses are relaxed:
 * an entry is one word and orders nothing.
 */
#ifndef SNAPSHOT_PATH_MTU_H
#define SNAPSHOT_PATH_MTU_H

#include "snapshot/snapshot.h"

struct path_mtus {
	/* fingerprint << 16 | MTU in bytes; 0: nothing was learnt */
	uint64_t path[SNAP_PATH_MAX];	/* by path id */
	uint64_t policy[SNAP_PATH_MAX]; /* the least of a policy's paths, indexed by the id of its first path */
};

/* The lesser of `mtu`, from the snapshot, and the MTU learnt for headers with that fingerprint. In bytes. */
static inline uint16_t path_mtu_least(const uint64_t *entry, uint32_t fingerprint, uint16_t mtu)
{
	uint64_t learnt = __atomic_load_n(entry, __ATOMIC_RELAXED);

	if (likely(!learnt) || learnt >> 16 != fingerprint)
		return mtu;
	return MIN_OF(mtu, (uint16_t)learnt);
}

/* Largest packet or frame, in bytes, that currently fits a path. */
static inline uint16_t path_mtu_of(const struct snap_path *path)
{
	return path_mtu_least(path->learnt_mtu, path->fingerprint, path->inner_mtu);
}

/* Largest packet or frame, in bytes, that currently fits every path of a policy; 65535 when no path has a way out. */
static inline uint16_t path_mtu_of_policy(const struct snap_policy *policy)
{
	return path_mtu_least(policy->learnt_mtu, policy->fingerprint, policy->inner_mtu);
}

/* Is there a learnt MTU that path_mtu_of_policy compares with policy->inner_mtu? */
static inline bool path_mtu_is_learnt(const struct snap_policy *policy)
{
	return __atomic_load_n(policy->learnt_mtu, __ATOMIC_RELAXED) != 0;
}

/* Store a learnt `mtu` in bytes; 0 clears the entry. Control lcore. */
static inline void path_mtu_set(uint64_t *entry, uint32_t fingerprint, uint16_t mtu)
{
	__atomic_store_n(entry, mtu ? (uint64_t)fingerprint << 16 | mtu : 0, __ATOMIC_RELAXED);
}

#endif
