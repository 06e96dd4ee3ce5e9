/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a snapshot from a checked configuration. Management thread; may allocate much and take long. */
#ifndef SNAPSHOT_BUILD_H
#define SNAPSHOT_BUILD_H

#include "config/deal.h"
#include "snapshot/ids.h"
#include "snapshot/snapshot.h"

/* The NUMA nodes of the rx lcores; n below 2: their memory needs no distinction. */
struct snapshot_places {
	uint8_t n;
	int node[SNAP_PLACES];
};

/* Find them. And the index of a node among them; 0: it is none of them. */
void snapshot_find_places(const struct config *c, const struct cfg_places *where, struct snapshot_places *out);
uint16_t snapshot_place_of(const struct snapshot_places *p, int node);

/* State that outlives snapshots: ids, learnt MTUs, the generation counter. One per node. */
struct snapshot_registry {
	struct ids *neighs, *paths, *sids, *vrfs, *slices, *interfaces;
	struct path_mtus *path_mtus;   /* written only by the control lcore: path_mtu.h */
	struct liveness *live;	       /* likewise: liveness.h */
	struct snapshot_places places; /* set before the first build */
	uint64_t generation;	       /* of the newest snapshot built */
	uint64_t epoch_since;	       /* generation of the first snapshot of the newest epoch */
};

int snapshot_registry_init(struct snapshot_registry *r); /* 0 or -ENOMEM */
void snapshot_registry_fini(struct snapshot_registry *r);

/*
 * Does `s`, built last, lack an id of an earlier snapshot of this epoch? Such an id can be assigned again only after
 * the next epoch has begun (node/publish_ctl.c).
 */
bool snapshot_drops_ids(const struct snapshot_registry *r, const struct snapshot *s);

/*
 * No packet resolved by a snapshot before `generation` is left anywhere. Free the ids that only those snapshots used.
 */
void snapshot_reap(struct snapshot_registry *r, uint64_t generation);

/* Properties of ports that a build needs in addition to the configuration, by port index. */
struct snapshot_port_info {
	struct eth_addr mac; /* in use */
	uint64_t speed_bps;  /* of the line; 0: unknown */
};

/*
 * Build the next snapshot. It shares the tables that equal those of `old` (NULL: none). Returns NULL with a message in
 * err (`size` bytes) when a limit is exceeded or memory is short. Nothing has changed then, except that unused ids may
 * be assigned. `config` must outlive the snapshot.
 */
struct snapshot *snapshot_build(struct snapshot_registry *r, const struct config *config,
	const struct snapshot_port_info *ports, const struct snapshot *old, char *err, size_t size);

/*
 * Free a snapshot that was built last and never published, and forget the ids that it took. The next one gets its
 * generation.
 */
void snapshot_undo(struct snapshot_registry *r, const struct snapshot *s);

/* Set the epoch of a snapshot that was built last and is not published yet. */
void snapshot_set_epoch(struct snapshot *s, uint64_t epoch);

/* Free the parts that no other snapshot shares. No lcore may still read the snapshot. NULL is allowed. */
void snapshot_free(const struct snapshot *s);

/*
 * Memory in bytes for the tables of the configured routes; the function builds the tables to measure it. Addresses of
 * interfaces and SIDs add little. Each NUMA node of snapshot_places takes it. A reload needs the same amount again for tables that change.
 */
size_t snapshot_table_bytes(const struct config *config);

#endif
