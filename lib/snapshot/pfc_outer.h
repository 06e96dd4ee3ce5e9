/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer headers of tunnels for PFC frames: configured tunnels, and tunnels that the control lcore learns. */
#ifndef SNAPSHOT_PFC_OUTER_H
#define SNAPSHOT_PFC_OUTER_H

#include "snapshot/snapshot.h"
#include "wire/srh.h"

#define PFC_OUTER_ADDRESSES 16

/*
 * Write H.Encaps.L2.Red of a frame of 60 bytes (RFC 8986 section 5.4; docs/protocol.md 5.3) to `n` addresses, 1 to
 * PFC_OUTER_ADDRESSES, in travel order. key: of the HMAC TLV; with a key there is always an SRH; NULL: no TLV. option:
 * type of a hop-by-hop option with slice_id (docs/protocol.md 4.5); 0: none.
 */
void pfc_outer_write(struct snap_pfc_outer *out, const struct ipv6_addr *source, const struct ipv6_addr *address,
	unsigned int n, uint32_t flow_label, const struct hmac_key *key, uint8_t option, uint32_t slice_id);

/*
 * Write a slice's id into the argument of the SID at the start of an address (docs/protocol.md 4.5). Returns false when
 * the SID is unknown, its argument has another meaning, or the id does not fit.
 */
bool pfc_slice_argument(const struct pfc_remotes *remotes, struct ipv6_addr *address, uint32_t slice_id);

/*
 * Write a hop-by-hop options header with a slice's id, of CFG_SLICE_OPTION_BYTES (draft-ietf-6man-enhanced-vpn-vtn-id):
 * flags, context type and four bytes of id, aligned to four bytes. `option` is the option's type.
 */
void snap_write_slice(uint8_t *at, uint8_t next_header, uint8_t option, uint32_t slice_id);
#define SNAP_SLICE_ID_AT 8 /* offset of the id in that header */

/*
 * The frames of a tunnel have a trailer (docs/protocol.md 5.8) by this key; slice_id: of the slice that its packets carry,
 * 0: none. The address at the end of the tunnel is the last one of its list, without the uSIDs of a container that other
 * SIDs consume: they are known by the blocks, and SIDs of several ids by `remotes`.
 */
void pfc_outer_seal(struct snap_pfc_outer *out, const struct pfc_remotes *remotes, const struct ip_prefix *block,
	unsigned int n_blocks, uint32_t key_id, uint32_t slice_id);

/* Change the headers to carry an upper layer of this number of bytes instead of a frame. */
void pfc_outer_carry(struct snap_pfc_outer *out, uint8_t upper, uint16_t bytes);

/* Read the addresses in travel order; `out` has room for PFC_OUTER_ADDRESSES. Returns their number. */
unsigned int pfc_outer_addresses(const struct snap_pfc_outer *outer, struct ipv6_addr *address);

/* Find a key by its id; NULL when there is none. */
const struct hmac_key *snap_hmac_key(const struct snapshot *s, uint32_t id);

/* Write the HMAC TLV after the segment list of a finished SRH (RFC 8754 section 2.1.2). */
void snap_write_hmac(const struct hmac_key *key, const struct ipv6_addr *source, struct srh *srh);

#endif
