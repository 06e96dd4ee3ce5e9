/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP on the control lcore: answers to ping, errors, path MTUs of tunnels, IPv4 packets that must be fragmented, and the
 * requests of probes (service/icmp/probe.h).
 */
#ifndef SERVICE_ICMP_CONTROL_ICMP_H
#define SERVICE_ICMP_CONTROL_ICMP_H

#include "base/bucket.h"
#include "node/control_send.h"
#include "service/icmp/probe.h"
#include "service/services.h"

/* Buckets of the sources of Packet Too Big messages. A power of two. */
#define CONTROL_MTU_SOURCES 256

/* A path about which a Packet Too Big was received. */
#define CONTROL_MTUS 256

struct control_mtu {
	uint32_t path;	      /* id */
	uint32_t first_path;  /* first path of its policy: index of the policy's MTU */
	uint32_t fingerprint; /* of its outer headers */
	uint16_t mtu;	      /* bytes, of the inner packet */
	uint64_t until;	      /* ns: time of the next try of the full MTU */
};

/* The state of the service. The control lcore alone reads and writes it, except for `probes`. */
struct control_icmp {
	struct probe probe[PROBES_MAX];
	uint16_t serial; /* of the last probe; management thread */
	struct bucket errors, errors_of_port[PORT_SLOTS], echo;
	/* Learnt path MTUs, and the generation of the snapshot with which they were last compared. */
	struct control_mtu mtu[CONTROL_MTUS];
	uint32_t n_mtus;
	uint64_t mtu_generation;
	struct bucket mtus, mtus_of[CONTROL_MTU_SOURCES];
	uint8_t fragment[16384];				 /* size of the largest MTU */
	uint8_t request[SNAP_ENCAP_BYTES_MAX + PROBE_BYTES_MAX]; /* of a probe, behind room for outer headers */
};

static inline struct control_icmp *control_icmp(const struct control_role *c)
{
	return c->node->state[SERVICE_ICMP];
}

/*
 * mtu_cp.c: handle a Packet Too Big to the node that arrived on `in`; NULL: that interface no longer exists. `packet` has
 * `size` bytes, ICMPv6 starts at offset `at`.
 */
void control_mtu_heard(struct control_role *c, const struct snap_interface *in, const uint8_t *packet, size_t at,
	size_t size);
unsigned int control_mtu_poll(struct control_role *c, uint64_t *next); /* lowers *next */

/*
 * probe_cp.c: an intact ICMP message to the node, of `size` bytes; from: its source. Returns whether it is about a probe. And
 * the timers of probes.
 */
bool control_probe_heard(struct control_role *c, const struct pkt *x, const struct ip_addr *from, uint8_t hop_limit,
	const void *icmp, size_t size);
unsigned int control_probe_poll(struct control_role *c, uint64_t *next); /* lowers *next */

/* fragment_cp.c */
void control_fragment(struct control_role *c, struct rte_mbuf *m); /* PUNT_FRAGMENT; consumes m */

#endif
