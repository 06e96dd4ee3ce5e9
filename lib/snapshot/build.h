/* SPDX-License-Identifier: BSD-3-Clause */
/* From a checked configuration to a snapshot. Management thread; may allocate much and take long. */
#ifndef SNAPSHOT_BUILD_H
#define SNAPSHOT_BUILD_H

#include "snapshot/ids.h"
#include "snapshot/snapshot.h"

/* What survives from one snapshot to the next: ids, learnt MTUs, the generation counter. One per node. */
struct snapshot_registry {
	struct ids *nbrs, *paths, *sids, *vrfs, *slices, *interfaces;
	struct path_mtus *path_mtus; /* written by the control lcore alone: path_mtu.h */
	uint64_t generation;	     /* of the newest snapshot built */
};

int snapshot_registry_init(struct snapshot_registry *r); /* 0 or -ENOMEM */
void snapshot_registry_fini(struct snapshot_registry *r);

/* No packet resolved by a snapshot before `generation` is left anywhere: ids only those used are free. */
void snapshot_reap(struct snapshot_registry *r, uint64_t generation);

/* What a build needs to know about ports beyond their configuration, by port index. */
struct snapshot_port_info {
	struct eth_addr mac; /* in use */
	uint64_t speed_bps;  /* of the line; 0: unknown */
};

/*
 * Build the next snapshot. Tables that are the same as in `old` (NULL: none) are shared with it. NULL with a
 * message in err (size bytes) when something did not fit; nothing has changed then, but for unused ids.
 * `config` must outlive the snapshot.
 */
struct snapshot *snapshot_build(struct snapshot_registry *r, const struct config *config,
	const struct snapshot_port_info *ports, const struct snapshot *old, char *err, size_t size);

/* Free what no other snapshot shares. No lcore may still read it. NULL is fine. */
void snapshot_free(const struct snapshot *s);

/*
 * Bytes of memory that the configured routes take in tables, found by building these. Addresses of interfaces and SIDs add
 * little. A reload needs as much again for tables that change.
 */
size_t snapshot_table_bytes(const struct config *config);

#endif
