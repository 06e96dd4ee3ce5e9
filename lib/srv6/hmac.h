/* SPDX-License-Identifier: BSD-3-Clause */
/* Verification of the HMAC TLV (RFC 8754 section 2.1.2.1) of packets to SIDs and from hosts that ask for it. */
#ifndef SRV6_HMAC_H
#define SRV6_HMAC_H

#include "hmac/hmac.h"
#include "srv6/endpoint.h"

/* What is verified with. */
struct srv6_hmac {
	const struct hmac_key *key;
	uint32_t n;
};

/*
 * Has the packet, which was walked, an SRH with a TLV that proves it? `sid`: the one its destination is; NULL: none
 * here, the destination must then be the active segment itself. False: what to do is in *e. The frame is only read.
 */
bool srv6_verify_hmac(const struct srv6_hmac *h, const struct snap_sid *sid, const struct srv6_packet *p,
	struct srv6_error *e);

#endif
