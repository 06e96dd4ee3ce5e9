/* SPDX-License-Identifier: BSD-3-Clause */
/* A device on the way of a session whose data is gated, between two neighbours that a test plays. */
#ifndef SUPPORT_CREDIT_PEER_H
#define SUPPORT_CREDIT_PEER_H

#include "test/support/rsvp_peer.h"

#define GATED "  data: gated\n  idle: 20\n  lease: 200\n  wait: 100\n"
#define DATA 1000 /* bytes of the inner packet: one unit */

static struct rsvp_message init; /* the 28 that the node has sent */
static uint32_t echo;		 /* of its markers, in updates */

/* Data of the session, or with another label. */
static inline void data(struct testbed *t, uint32_t label, unsigned int n)
{
	uint8_t frame[14 + 40 + DATA] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *out = (struct ipv6_hdr *)(eth + 1), *in = out + 1;

	eth->dst = t->port[0]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xa0, 3}};
	eth->type = be16(ETH_TYPE_IPV6);
	*out = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5, label),
		.payload_length = be16(DATA),
		.next_header = IP_PROTO_IPV6,
		.hop_limit = 60,
		.src = address("fd00:1::5").v6,
		.dst = address("5f00:0:100:200::").v6};
	*in = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16(DATA - 40),
		.next_header = IP_PROTO_UDP,
		.hop_limit = 64,
		.src = address("2001:db8:1::11").v6,
		.dst = address("2001:db8:2::22").v6};
	for (unsigned int i = 0; i < n; i++)
		fake_port_receive(t->port[0], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

/* Frames of data that left towards the next hop since the last call, fences counted apart. */
static inline unsigned int passed(struct testbed *t, unsigned int *fences)
{
	struct sent_frame *f;
	unsigned int n = 0;

	*fences = 0;
	while ((f = fake_port_take(t->port[1]))) {
		const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + 14);

		if (ip->next_header == IP_PROTO_IPV6 && f->size == 14 + 40 + DATA)
			n++;
		else if (ip->next_header == IP_PROTO_IPV6 && be16_get(ip->payload_length) == 64 &&
			 (ip + 1)->next_header == IP_PROTO_NONE)
			++*fences;
		free(f);
	}
	return n;
}

static inline unsigned int data_passed(struct testbed *t)
{
	unsigned int fences;

	return passed(t, &fences);
}

static inline void to_node(struct testbed *t)
{
	give(t, &(struct sending){1, "fd00::2", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
}

/* Prepare an update of the next hop, in epoch 5: no units more than were granted before. */
static inline struct rsvp_credit *make_update(uint64_t fccl, uint32_t sequence)
{
	rsvp_clear(&m, RSVP_UPDATE);
	m.session = init.session;
	m.hop = (struct rsvp_hop){.addr = address("fd00::2")};
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_OF_CONTEXT,
		.flags = RSVP_CREDIT_UPDATE,
		.traffic_class = 3,
		.unit = 11,
		.epoch = 5,
		.fccl = fccl,
		.buffer = 16,
		.heartbeat_us = 50000,
		.sequence = sequence,
		.lih = init.hop.lih};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	return &m.credit[0];
}

/* An update of the next hop. */
static inline void update(struct testbed *t, uint64_t fccl, uint64_t abr, uint32_t sequence)
{
	struct rsvp_credit *c = make_update(fccl, sequence);

	c->abr = abr;
	c->echo = echo;
	to_node(t);
}

/* A marker of the previous hop, with more than its form, epoch and sequence: fctbs and fence, or want. */
static inline void mark(struct testbed *t, uint32_t epoch, uint32_t sequence, const struct rsvp_cbfc_hop *more)
{
	rsvp_clear(&m, RSVP_MARKER);
	m.session = init.session;
	m.hop = (struct rsvp_hop){.addr = address("fd00::1")};
	m.cbfc_hop[0] = *more;
	m.cbfc_hop[0].of_context = true;
	m.cbfc_hop[0].flags = RSVP_HOP_ASK;
	m.cbfc_hop[0].traffic_class = 3;
	m.cbfc_hop[0].unit = 11;
	m.cbfc_hop[0].epoch = epoch;
	m.cbfc_hop[0].sequence = sequence;
	m.cbfc_hop[0].lih = 0x101;
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CBFC_HOP] = 1;
	give(t, &(struct sending){0, "fd00::1", "fd00::d", 0xc0, 255, FOR_ONE_HOP});
}

/* A fence, or a packet that looks like one. */
static inline void fence(struct testbed *t, unsigned int port, const char *from, uint64_t number, uint32_t epoch,
	uint32_t lih)
{
	uint8_t frame[14 + 40 + 64] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *out = (struct ipv6_hdr *)(eth + 1), *in = out + 1;
	uint8_t *at = (uint8_t *)in;

	eth->dst = t->port[port]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xa0, 3}};
	eth->type = be16(ETH_TYPE_IPV6);
	*out = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(3 << 5 | 2, LABEL),
		.payload_length = be16(64),
		.next_header = IP_PROTO_IPV6,
		.hop_limit = 60,
		.src = address("fd00:1::5").v6,
		.dst = address("5f00:0:100:200::").v6};
	*in = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16(24),
		.next_header = IP_PROTO_NONE,
		.hop_limit = 255,
		.src = address(from).v6,
		.dst = address("fd00::d").v6};
	memcpy(at + 40, "CBFC\1\3\13", 7);
	*(be32_t *)(at + 48) = be32(epoch);
	*(be32_t *)(at + 52) = be32(lih);
	*(be32_t *)(at + 60) = be32((uint32_t)number);
	fake_port_receive(t->port[port], 0, frame, sizeof(frame), 0);
	testbed_settle(t, 50);
}

/* A session through the node is committed: 16 units from below, 16 for the previous hop. */
static inline struct testbed *committed(const char *more)
{
	char yaml[4096];
	struct testbed *t;

	snprintf(yaml, sizeof(yaml),
		NODE "credit:\n  mode: ext\n  integrity: off\n  pool: 64\n  buffer: 16\n"
		     "  neighbors: [{address: \"fd00::1\"}, {address: \"fd00::2\"}]\n" GATED "%s",
		more);
	t = start(yaml);
	make_init("fd00::2");
	give(t, &in_tunnel);
	assert_true(next_sent(t, 1, IN_TUNNEL));
	init = got;
	make_offer(&init, RSVP_CREDIT_COMMIT);
	m.credit[0].heartbeat_us = 50000;
	to_node(t);
	while (next_sent(t, 0, UNICAST))
		;
	data_passed(t);
	return t;
}

/* The newest word to the previous hop about the session; false: there was none. */
static inline bool told_up(struct testbed *t, struct rsvp_credit *c)
{
	bool any = false;

	while (next_sent(t, 0, UNICAST))
		if (got.kind == RSVP_UPDATE || got.kind == RSVP_RESERVE) {
			*c = got.credit[0];
			any = true;
		}
	return any;
}

static inline json_int_t value_of(struct testbed *t, const char *line, const char *key)
{
	json_t *rows = shown_json(t, line), *v = json_object_get(json_array_get(rows, 0), key);
	json_int_t value;

	check(json_is_integer(v), "%s: no '%s'", line, key);
	value = json_integer_value(v);
	json_decref(rows);
	return value;
}

#endif
