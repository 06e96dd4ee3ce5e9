/* SPDX-License-Identifier: BSD-3-Clause */
/* RSVP messages that a test gives to a whole node, and those that the node sends. */
#ifndef SUPPORT_RSVP_PACKETS_H
#define SUPPORT_RSVP_PACKETS_H

#include "service/rsvp/service_rsvp.h"
#include "test/support/testbed.h"

#define LABEL 0x12345 /* of the outer header */

/* Bytes of IP headers in front of a message: in a tunnel, for one hop, with router alert. */
#define IN_TUNNEL (2 * sizeof(struct ipv6_hdr) + 8)
#define UNICAST sizeof(struct ipv6_hdr)
#define NATIVE (sizeof(struct ipv6_hdr) + 8)

extern struct rsvp_message m, got;	  /* to be given; sent by the node */
extern uint8_t out_bytes[2048];		  /* what the node has sent, from the IP header on */
extern const struct rsvp_numbers *speech; /* of both: rsvp_ext, unless a test says rsvp_letter */
extern struct rsvp_auth *neighbor;	  /* signs what is given to the node; NULL: nobody does */

struct sending {
	unsigned int port;
	const char *from, *to; /* of the packet, or of the outer one; ALERTING: to the address of the session */
	uint8_t tc, hop_limit;
	enum sending_form { FOR_ONE_HOP, TUNNELLED, ALERTING } form; /* ALERTING: with router alert, without a tunnel */
};

struct ip_addr address(const char *text);
bool is(const struct ipv6_addr *a, const char *text);
/* The message `m` arrives at the node. give: and the node does what it has to. */
void arrive(struct testbed *t, const struct sending *s);
void give(struct testbed *t, const struct sending *s);
/* The next RSVP message that left by a port, read into `got`; false: none. `front`: bytes of IP headers. */
bool next_sent(struct testbed *t, unsigned int port, size_t front);
const struct ipv6_hdr *outer(void);
/* A node that may send: D_idle has passed. */
struct testbed *start(const char *yaml);
void apply(struct testbed *t, const char *yaml);
const struct rsvp_service_stats *stats(const struct testbed *t);

#endif
