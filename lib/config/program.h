/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a policy's segment list into the addresses that go on the wire (RFC 9800 section 6.2). The list on the wire
 * begins with the first SID that this node does not own, because the node has already executed the leading SIDs of its
 * own (D33). The SRH of a list that is not reduced contains these own SIDs anyway, as if it had been pushed
 * before they were executed (RFC 8986 section 5.1). A node that learns a PFC tunnel from the list looks for them there
 * (docs/protocol.md 4.6). No DPDK; control code.
 */
#ifndef CONFIG_PROGRAM_H
#define CONFIG_PROGRAM_H

#include "config/model.h"
#include "config/usid.h"

struct cfg_program {
	struct ipv6_addr container[USID_MAX_CONTAINERS]; /* in travel order */
	unsigned int n;
	struct ipv6_addr all[USID_MAX_CONTAINERS]; /* the whole list, own SIDs included */
	unsigned int n_all;
	/* own SID that the packet visits after it has left this node: it returns; NULL: none */
	const struct cfg_sid *returns;
	const struct cfg_sid *via; /* own uA at the head of the list: its adjacency is the next hop; NULL: none */
};

/* Index of the own SIDs by id. Build it once and use it for many calls of cfg_program. */
struct cfg_own_sids;
struct cfg_own_sids *cfg_own_sids_new(const struct config *c); /* NULL when out of memory */
void cfg_own_sids_free(struct cfg_own_sids *o);

/* 0, or -EINVAL with *why set to the error in the list. */
int cfg_program(const struct config *c, const struct cfg_own_sids *own, const struct cfg_path *path,
	struct cfg_program *out, const char **why);

/* The blocks of uSIDs: node.usid.block and more-blocks. Returns their number. */
#define CFG_BLOCKS_MAX (1 + 16)
unsigned int cfg_blocks(const struct config *c, struct ip_prefix *blocks);

/*
 * The destination of a packet to the last SID of a path, or to that of a single address, when the packet gets there: the ids
 * before are used up on the way (RFC 9800 section 6.5). Two ids are one step if they are a known SID (config/remote_sids.h).
 */
struct ip_addr cfg_last_sid(const struct config *c, const struct cfg_path *path);
struct ip_addr cfg_last_id(const struct config *c, const struct ipv6_addr *a);

/* Entries of the SRH that the policy pushes (RFC 8754 section 4.1). 0: no SRH. */
unsigned int cfg_listed(const struct cfg_policy *policy, const struct cfg_program *program);

#define CFG_SLICE_OPTION_BYTES 16 /* hop-by-hop options header with a slice id (docs/protocol.md 4.5) */
#define CFG_HMAC_TLV_BYTES 40	  /* type, length, flags, key id, SHA-256 (RFC 8754 section 2.1.2) */

/* Bytes of all outer headers. */
unsigned int cfg_outer_bytes(const struct cfg_policy *policy, const struct cfg_program *program);

/* Outer source address of the path at this position in the policy. */
struct ip_addr cfg_outer_source(const struct config *c, const struct cfg_policy *policy, uint32_t path);

#endif
