/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tables of BFD sessions with a link between them, in virtual time: delay, loss, doubled and overtaken packets. */
#ifndef SUPPORT_BFD_NET_H
#define SUPPORT_BFD_NET_H

#include "bfd/bfd_priv.h"

#define MS NSEC_PER_MSEC
#define BFD_NET_WIRE 8192 /* messages on the way */

/* A message on the way. */
struct bfd_flight {
	uint64_t at;
	struct bfd_received r;
	uint8_t to;
	uint8_t bytes[BFD_MESSAGE_MAX];
};

struct bfd_end {
	struct bfd_table *table;
	struct bfd_session *session;
	struct bfd_change last;
	unsigned int changes, admin_downs, lost;
	uint64_t sent_ns, gap_min, gap_max; /* of control packets since the last reset */
	struct bfd_packet sent;		    /* the last one */
	/* the direction away from this end */
	unsigned int drop;    /* per mille */
	unsigned int doubled; /* per mille */
	uint64_t delay, spread;
	bool cut, cut_echo, stopped;
	uint64_t next;
};

/* Two nodes, 0 and 1, and the link between them. */
struct bfd_net {
	uint64_t now;
	uint64_t random;
	struct bfd_end end[2];
	struct bfd_flight wire[BFD_NET_WIRE];
	unsigned int n;
};

extern struct bfd_net net;

extern const struct ip_addr bfd_net_address[2];
extern const struct bfd_config bfd_net_usual; /* 3 x 10 ms */

/* Forget the intervals between control packets that an end has sent. */
void bfd_net_reset_gaps(unsigned int i);
/* For cmocka. */
int bfd_net_set_up(void **state);
int bfd_net_tear_down(void **state);
struct bfd_peer bfd_net_peer_of(unsigned int i);
/* Start the session of an end with the other one. */
void bfd_net_start(unsigned int i, const struct bfd_config *config);
/* Run both ends and the link. */
void bfd_net_run_until(uint64_t until);
void bfd_net_run_for(uint64_t ns);
unsigned int bfd_net_state_of(unsigned int i);
/* Start both sessions and wait until they are Up. */
void bfd_net_bring_up(const struct bfd_config *a, const struct bfd_config *b);
/* A packet of the neighbour of end 0, made by hand, and how it is received usually. */
struct bfd_packet bfd_net_from_peer(uint8_t state);
/* Let end 0 receive a packet; key: sign it. */
enum bfd_refusal bfd_net_give_signed(const struct bfd_packet *p, const struct bfd_received *how,
	const struct bfd_key *key);
struct bfd_received bfd_net_as_usual(void);
enum bfd_refusal bfd_net_give(const struct bfd_packet *p);

#define BFD_NET_TEST(f) cmocka_unit_test_setup_teardown(f, bfd_net_set_up, bfd_net_tear_down)

#endif
