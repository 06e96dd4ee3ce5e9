/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SNAPSHOT_BUILD_PRIV_H
#define SNAPSHOT_BUILD_PRIV_H

#include "base/arena.h"
#include "config/model.h"
#include "snapshot/build.h"

/* One build in progress. Every step returns 0, or a negative errno with a message in err. */
struct builder {
	struct snapshot_registry *ids;
	const struct config *config;
	const struct snapshot *old;
	struct snapshot *s;
	/* The arrays of *s, writable; the pointers in *s are to const. */
	struct snap_vrf *vrf;
	struct snap_neigh *neigh;
	struct snap_sid *sid;
	struct snap_path *path;
	struct snap_group *group;
	uint32_t group_room;  /* of group[] */
	bool *group_used;     /* by group number */
	uint32_t group_free;  /* no number below it is free */
	uint32_t *group_hash; /* group numbers by members, plus 1; 0: free. On the heap, of group_slots entries */
	uint32_t group_slots; /* a power of two */
	struct snap_policy *policy;
	uint8_t (*dscp)[SNAP_DSCPS]; /* by number of a dscp-map; after the last one: each is the same */
	struct snap_relay *relay;
	struct snap_interface **interface;
	target_t *usid_entry;
	target_t **usid_subtable;
	/* By port: its tables of VLANs and circuits; NULL: none. */
	uint16_t *vlan[MAX_PORTS];
	uint16_t **inner_vlan[MAX_PORTS];
	const struct snap_circuit **circuit[MAX_PORTS];
	/* The neighbours asked for last: many routes have the same next hop. */
	struct {
		struct ip_addr addr;
		uint16_t interface;
		uint32_t id; /* plus 1; 0: free */
	} neigh_seen[256];
	char *err;
	size_t err_size;
};

/*
 * build_common.c: ids of named objects; build_fail writes a message to err and returns rc; own addresses of an
 * interface.
 */
int build_fail(struct builder *b, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));
void build_match(struct snap_match *m, const struct ip_prefix *p);
uint16_t build_vrf_of(const struct builder *b, const char *name);  /* NULL: VRF_UNDERLAY */
uint8_t build_slice_of(const struct builder *b, const char *name); /* NULL: SNAP_SLICE_NONE */
int build_own_addresses(struct builder *b, struct snap_interface *p, const struct ip_prefix *addresses, uint32_t n);

/* build_qos.c: DSCP maps, shared by all who use them; the one of that name, NULL: none; the one that changes nothing */
int build_dscp_maps(struct builder *b);
const uint8_t *build_dscp_of(const struct builder *b, const char *name);
const uint8_t *build_same_dscp(const struct builder *b);

/* build_qos.c: slices; the slice and class members of a port, a VRF, a SID or a path. */
int build_slices(struct builder *b);
int build_port_qos(struct builder *b, struct snap_interface *p, const struct cfg_port *cp, uint64_t speed_bps);
void build_tunnel_classes(const struct builder *b, const char *class_map, uint8_t *tclass_of);

/* build_interfaces.c: VLAN interfaces, needs ports; the number of a named port or interface. */
int build_interfaces(struct builder *b);
uint16_t build_interface_of(const struct builder *b, const char *name);

/* build_neighs.c: static neighbours, needs interfaces; the neighbour id of an address on a named port or interface. */
int build_static_neighs(struct builder *b);
int build_neigh(struct builder *b, const char *link, const struct ip_addr *addr, uint32_t *id);

int build_sids(struct builder *b); /* needs neighbours, VRFs, relays */

/*
 * build_groups.c: ECMP groups. A group of the last snapshot keeps its number while it is in use, so that tables with
 * groups can be shared. build_groups_begin comes before all groups, build_groups_end after them.
 */
int build_groups_begin(struct builder *b);
void build_groups_end(struct builder *b);
/* The group of these members, of equal weight; the order matters, members from SNAP_GROUP_MAX on do not. */
int build_group(struct builder *b, const target_t *members, size_t n, target_t *out);

/* build_pfc.c: relays and PFC tunnels, needs ports; the relay that a DX2 SID belongs to, or NULL. */
int build_pfc_wan(struct builder *b);
/* Keys by id. Ids that are not in the file are errors of the configuration. */
void build_message_keys(const struct builder *b, const uint64_t *id, uint32_t n, struct snap_message_keys *out);
const struct snap_relay *build_relay_of(const struct builder *b, const struct ip_prefix *sid);

int build_tables(struct builder *b); /* VRF tables and ECMP groups; needs ports, SIDs and policies */
int build_usid(struct builder *b);   /* the direct index; needs the underlay's table */
int build_policies(struct builder *b);
int build_path_ways(struct builder *b); /* ways out of paths and shares of policies; needs the direct index */

int build_keys(struct builder *b);
/* Complete an interface whose side, VRF and boundary are set. */
void build_sources_closed(struct snap_interface *p);
int build_port_boundary(struct builder *b, struct snap_interface *p, const struct cfg_port *cp);
struct srh;
int build_hmac(struct builder *b, uint32_t key_id, const struct ipv6_addr *src, struct srh *srh); /* needs keys */

int build_bfd(struct builder *b); /* needs neighbours and policies */

int build_credit(struct builder *b); /* needs policies */

int build_circuits(struct builder *b); /* needs ports and policies */

/* Times of a watchdog. longest_ns: the longest pause that one frame can request. */
struct pfc_watchdog_config build_watchdog(const struct cfg_watchdog *w, uint64_t longest_ns);

/* build_near.c, when all else is built: tables for lcores on other NUMA nodes */
int build_near(struct builder *b);

#endif
