/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions of ids of the forwarding state. */
#ifndef COMMAND_DESCRIBE_H
#define COMMAND_DESCRIBE_H

#include <jansson.h>

#include "fib/target.h"
#include "node/node.h"

#define DESCRIBE_TEXT 256

/*
 * Set a member to a lookup result. In words: "wan0 via fe80::5", "policy to-dc2"; for programs an object with `kind` (next-hop, group,
 * link, policy, own, sid, broadcast, none) and what belongs to it: port, address, policy, sid, ways.
 */
void describe_set_target(json_t *o, const char *key, const struct node *n, target_t t);

/* Name of a VRF; "underlay" for the underlay's table. */
const char *describe_vrf(const struct snapshot *s, uint32_t vrf);
/* Index of a VRF; NULL or "": the underlay. n_vrfs: there is none of that name. */
uint32_t describe_find_vrf(const struct snapshot *s, const char *name);

/* The route of a VRF that matches an address: "10.2.0.0/16"; "none". */
const char *describe_route(const struct snapshot *s, uint32_t vrf, const struct ip_addr *addr, char *buf);

/* Name of the DSCP map with this table of the snapshot; NULL: none of dscp-maps. */
const char *describe_dscp_map(const struct snapshot *s, const uint8_t *table);

/* Name of a port or a VLAN interface by number; "the node" for PORT_LOCAL, "(removed)". */
const char *describe_interface(const struct snapshot *s, uint32_t interface);

/* Description of a neighbour id: "wan0 via fe80::5"; for programs an object as above. */
const char *describe_neigh(const struct snapshot *s, uint32_t neigh, char *buf);
json_t *describe_neigh_json(const struct snapshot *s, uint32_t neigh);

#endif
