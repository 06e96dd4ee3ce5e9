/* SPDX-License-Identifier: BSD-3-Clause */
/* Verification of the HMAC TLV (RFC 8754 section 2.1.2.1), required by some SIDs and host ports. rx lcores. */
#ifndef SRV6_HMAC_H
#define SRV6_HMAC_H

#include "hmac/hmac.h"
#include "srv6/endpoint.h"

/* The keys of the node. */
struct srv6_hmac {
	const struct hmac_key *key;
	uint32_t n;
};

/*
 * Verify the HMAC TLV of a packet whose extension headers were walked. `sid`: the local SID that the destination
 * matches; NULL: none, and the destination must equal the active segment. Returns false and fills *e when the TLV is
 * missing or wrong. The frame is only read.
 */
bool srv6_verify_hmac(const struct srv6_hmac *h, const struct snap_sid *sid, const struct srv6_packet *p,
	struct srv6_error *e);

#endif
