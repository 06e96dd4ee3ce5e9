/* SPDX-License-Identifier: BSD-3-Clause */
/* Outer headers of tunnels for PFC frames: those of the configuration, and those that the control lcore learns. */
#ifndef SNAPSHOT_PFC_OUTER_H
#define SNAPSHOT_PFC_OUTER_H

#include "snapshot/snapshot.h"
#include "wire/srh.h"

#define PFC_OUTER_ADDRESSES 16

/*
 * H.Encaps.L2.Red of a frame of 60 bytes (RFC 8986 section 5.4; docs/protocol.md 5.3) to `n` addresses, from 1 to
 * PFC_OUTER_ADDRESSES, in travel order. key: of the HMAC TLV, with which the SRH is always there; NULL: none. option: type
 * of a hop-by-hop option with slice_id (docs/protocol.md 4.5); 0: none.
 */
void pfc_outer_write(struct snap_pfc_outer *out, const struct ipv6_addr *source, const struct ipv6_addr *address,
	unsigned int n, uint32_t flow_label, const struct hmac_key *key, uint8_t option, uint32_t slice_id);

/*
 * Write a slice's id as the argument of the SID that an address begins with (docs/protocol.md 4.5). False: what SID that is
 * is not known, its argument is something else, or the id does not fit.
 */
bool pfc_slice_argument(const struct pfc_remotes *remotes, struct ipv6_addr *address, uint32_t slice_id);

/*
 * A hop-by-hop options header with a slice's id, of CFG_SLICE_OPTION_BYTES, as draft-ietf-6man-enhanced-vpn-vtn-id has it:
 * flags, context type and four bytes of id, on a boundary of four. `option`: its type.
 */
void snap_write_slice(uint8_t *at, uint8_t next_header, uint8_t option, uint32_t slice_id);
#define SNAP_SLICE_ID_AT 8 /* of the id in that header */

/* Not a frame is inside, but an upper layer of so many bytes. */
void pfc_outer_carry(struct snap_pfc_outer *out, uint8_t upper, uint16_t bytes);

/* The addresses in travel order; room for PFC_OUTER_ADDRESSES. Returns how many there are. */
unsigned int pfc_outer_addresses(const struct snap_pfc_outer *outer, struct ipv6_addr *address);

/* Key by its id; NULL: there is none. */
const struct hmac_key *snap_hmac_key(const struct snapshot *s, uint32_t id);

/* The HMAC TLV behind the segment list of a finished SRH (RFC 8754 section 2.1.2). */
void snap_write_hmac(const struct hmac_key *key, const struct ipv6_addr *source, struct srh *srh);

#endif
