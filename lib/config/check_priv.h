/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef CONFIG_CHECK_PRIV_H
#define CONFIG_CHECK_PRIV_H

#include "config/config.h"

void check_lcores(const struct config *c, struct cfg_diags *d);
void check_ports(const struct config *c, struct cfg_diags *d);
void check_interfaces(const struct config *c, struct cfg_diags *d);
void check_routes(const struct config *c, struct cfg_diags *d);
void check_sids(const struct config *c, struct cfg_diags *d);
void check_boundary(const struct config *c, struct cfg_diags *d);
void check_circuits(const struct config *c, struct cfg_diags *d);
/* Check a watchdog of a port, or of a relay, which has no queue. */
void check_watchdog(const struct config *c, struct cfg_diags *d, const struct cfg_watchdog *w, bool relay);
void check_pfc_wan(const struct config *c, struct cfg_diags *d);     /* relays, PFC tunnels */
void check_remote_sids(const struct config *c, struct cfg_diags *d); /* SIDs of other nodes */
void check_policies(const struct config *c, struct cfg_diags *d);
void check_qos(const struct config *c, struct cfg_diags *d);	  /* slices, class maps, queues */
void check_dscp(const struct config *c, struct cfg_diags *d);	  /* DSCP maps and their users */
void check_headroom(const struct config *c, struct cfg_diags *d); /* buffers of lossless classes */
void check_bfd(const struct config *c, struct cfg_diags *d);	  /* profiles, sessions of next hops and paths */
void check_credit(const struct config *c, struct cfg_diags *d);	  /* keys, neighbours and sessions of credit */
void check_steering(const struct config *c, struct cfg_diags *d); /* flow tables, placements */
void check_ways(const struct config *c, struct cfg_diags *d);	  /* paths, tunnels and relays have a way out */
void check_buffers(const struct config *c, struct cfg_diags *d);

/* Check a key id for signing; 0: none. The key must exist. */
void check_hmac_key(const struct config *c, struct cfg_diags *d, const char *name, const uint64_t *key);
void check_key_ids(const struct config *c, struct cfg_diags *d, const uint64_t *id, uint32_t n);

/* Check the slice-by key at *slice_by: its option and slice ids must be configured. */
void check_slice_by(const struct config *c, struct cfg_diags *d, const uint32_t *slice_by);

/* Check the ranges of a map: none is empty, and no two overlap. `what` they are of: "DSCP". Values are below 64. */
void check_ranges(const struct config *c, struct cfg_diags *d, const char *what, const struct cfg_range *ranges,
	uint32_t n);

/* Place of a member, or of the enclosing mapping if the member was omitted. */
struct cfg_mark check_at(const struct config *c, const void *member, struct cfg_mark around);

/* Whether the address is in the SID space of the domain, which no interface or source address may use. */
bool check_in_blocks(const struct config *c, const struct ip_addr *a);

/*
 * Check a next hop of a route or an adjacency: on a subnet of the port or interface, and not one of its own addresses.
 */
void check_nexthop(const struct config *c, struct cfg_diags *d, const char *port_name, const struct ip_addr *nexthop);

#endif
