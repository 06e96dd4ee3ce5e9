/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC relays whose PEs send each other the leased state of their gateways instead of frames (`carrier: state`,
 * docs/protocol.md 5.6, D38). A message is a UDP packet of this node to an address of the far PE, by the segments of
 * the relay. It can be lost, duplicated and reordered. Control lcore.
 */
#include "service/pfc/carrier_cp.h"

#include "service/pfc/pfc_cp.h"
#include "wire/checksum.h"
#include "wire/srh.h"
#include "wire/udp.h"

/* A gateway that starts again has no voice for a moment; after that a pause that it does not renew is over. */
#define QUIET_NS (5 * NSEC_PER_MSEC)
#define MESSAGE_MAX 512 /* bytes of headers and message; longer packets are invalid */

/* --- to the far PE --- */

/* The final destination, which the checksum covers (RFC 8200 section 8.1). */
static const struct ipv6_addr *destination(const struct snap_pfc_outer *outer)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)outer->header;

	return ip->next_header == IP_PROTO_ROUTING ? &((const struct srh *)(ip + 1))->segment[0] : &ip->dst;
}

/* The digest of a keyed message between these addresses (D64). */
static void digest_of(const struct hmac_key *k, const struct ipv6_addr *src, const struct ipv6_addr *dst,
	const struct pfc_state_keyed_msg *msg, uint8_t out[HMAC_BYTES])
{
	const struct hmac_chunk chunks[] = {{src, sizeof(*src)}, {dst, sizeof(*dst)},
		{msg, offsetof(struct pfc_state_keyed_msg, digest)}};

	_Static_assert(PFC_STATE_DIGEST_BYTES == HMAC_BYTES, "the whole digest is in the message");
	hmac_of_chunks(&k->secret, chunks, RTE_DIM(chunks), out);
}

static void send_state(struct control_role *c, const struct snap_relay *r, const struct pfc_state *state)
{
	struct {
		struct udp_hdr udp;
		union {
			uint8_t bytes[PFC_STATE_BYTES_MAX];
			struct pfc_state_keyed_msg keyed;
		};
	} body = {.udp = {.src_port = be16(r->udp_port), .dst_port = be16(r->udp_port)}};
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)r->outer.header;
	const struct ipv6_addr *dst = destination(&r->outer);
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + sizeof(body)];
	uint32_t size = (uint32_t)(sizeof(body.udp) + pfc_state_write(body.bytes, state));
	struct rte_mbuf *m;

	_Static_assert(sizeof(body.udp) + sizeof(struct pfc_state_msg) == SNAP_PFC_STATE_BYTES &&
			       sizeof(body) == SNAP_PFC_KEYED_BYTES,
		"the outer header says so");
	if (state->keyed)
		digest_of(r->keys.key[0], &ip->src, dst, &body.keyed, body.keyed.digest);
	body.udp.length = be16((uint16_t)size);
	body.udp.checksum = checksum_finish(
		checksum_add(checksum_pseudo6(&ip->src, dst, size, IP_PROTO_UDP), &body, size));
	if (!be16_get(body.udp.checksum))
		body.udp.checksum = be16(0xffff); /* 0 would mean no checksum */
	memcpy(packet, r->outer.header, r->outer.bytes);
	memcpy(packet + r->outer.bytes, &body, size);
	m = control_packet(c, packet, r->outer.bytes + size);
	if (!m)
		return;
	stat_add(&control_pfc(c)->carrier[r->port].sent, 1);
	control_send_routed(c, m, VRF_UNDERLAY);
}

/*
 * The epoch of a sender that begins now. With a digest it is the time of day in ms, so that receivers refuse what was sent
 * before. Else it differs at every start, but is the same in every run of the lab.
 */
static uint64_t new_epoch(const struct control_role *c, bool keyed)
{
	uint64_t now = c->node->born_ns + c->now;

	return keyed ? MAX_OF(now / NSEC_PER_MSEC, 1) : (uint32_t)(now * 0x9e3779b97f4a7c15ull >> 32) | 1;
}

/* The sender of a relay, with the current configuration. It is initialized once per start of the node. */
static struct pfc_state_sender *sender_of(struct control_role *c, const struct snap_relay *r)
{
	struct pfc_state_sender *s = &control_pfc(c)->carrier[r->port].sender;

	if (!s->state.epoch) {
		pfc_state_sender_init(s, 0, new_epoch(c, false), r->lease_ns, 0);
		/* a gateway that has been pausing us says so again within its longest pause */
		if (!c->node->steady && c->s->port[r->port].speed_bps)
			pfc_state_sender_start(s,
				c->now + pfc_quanta_ns(PFC_QUANTA_MAX, c->s->port[r->port].speed_bps));
	}
	if (s->state.keyed != (r->keys.n != 0)) {
		s->state.keyed = r->keys.n != 0;
		s->state.epoch = new_epoch(c, s->state.keyed);
		s->state.sequence = 0;
	}
	s->state.key_id = s->state.keyed ? r->keys.key[0]->id : 0;
	s->state.speaks_for = c->s->port[r->port].lossless;
	s->state.lease_ns = r->lease_ns;
	return s;
}

/* Return the priorities that the gateway pauses, a bit each. Its pauses expire. */
static uint8_t wanted(const struct carrier *k, uint64_t now)
{
	uint8_t bits = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (k->until[i] > now)
			bits = (uint8_t)(bits | 1u << i);
	return bits;
}

void control_carrier_heard(struct control_role *c, const struct snap_relay *r, const struct pfc_request *request)
{
	struct carrier *k = &control_pfc(c)->carrier[r->port];
	struct pfc_state state;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->enable >> i & 1)
			k->until[i] = request->time[i]
					      ? c->now +
							pfc_quanta_ns(request->time[i], c->s->port[r->port].speed_bps) +
							QUIET_NS
					      : 0;
	sender_of(c, r)->quiet_until = 0; /* it has spoken */
	if (pfc_state_sender_set(sender_of(c, r), wanted(k, c->now), c->now, &state))
		send_state(c, r, &state);
}

static unsigned int poll_sender(struct control_role *c, const struct snap_relay *r, uint64_t *next)
{
	struct carrier *k = &control_pfc(c)->carrier[r->port];
	struct pfc_state_sender *s = sender_of(c, r);
	uint8_t stopped = wanted(k, c->now);
	struct pfc_state state;
	unsigned int sent = 0;

	if (pfc_state_sender_set(s, stopped, c->now, &state) || pfc_state_sender_poll(s, c->now, &state)) {
		send_state(c, r, &state);
		sent++;
	}
	*next = MIN_OF(*next, s->send_at);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (stopped >> i & 1)
			*next = MIN_OF(*next, k->until[i]);
	return sent;
}

unsigned int control_carrier_poll(struct control_role *c, uint64_t *next)
{
	unsigned int sent = 0;

	for (uint32_t i = 0; i < c->s->n_relays; i++)
		if (c->s->relay[i].udp_port && c->s->relay[i].outer.bytes)
			sent += poll_sender(c, &c->s->relay[i], next);
	return sent;
}

/* --- from far PEs --- */

/*
 * Return the entry of a far PE. A new PE replaces one that has been silent for longer than any lease. NULL: none is
 * free.
 */
static struct carrier_peer *peer_of(struct carrier *k, const struct ipv6_addr *source, uint64_t now)
{
	struct carrier_peer *oldest = &k->peer[0];

	for (unsigned int i = 0; i < CARRIER_PEERS; i++) {
		struct carrier_peer *p = &k->peer[i];

		if (p->heard_ns && ipv6_equal(&p->source, source))
			return p;
		if (p->heard_ns < oldest->heard_ns)
			oldest = p;
	}
	if (oldest->heard_ns && now < oldest->heard_ns + PFC_STATE_LEASE_MAX_NS)
		return NULL;
	*oldest = (struct carrier_peer){.source = *source};
	return oldest;
}

static enum reason take_state(struct control_role *c, const struct snap_relay *r, const struct ipv6_addr *source,
	const struct pfc_state *state)
{
	struct carrier *k = &control_pfc(c)->carrier[r->port];
	struct pfc_party party = {.sid = PFC_SID_STATE, .source = *source};
	struct carrier_peer *peer = peer_of(k, source, c->now);
	struct pfc_request out;

	if (!peer)
		return DROP_pfc_limited;
	if (r->outer.bytes && pfc_state_receiver_is_new(&peer->receiver, state))
		pfc_state_sender_greet(sender_of(c, r), c->now);
	if (!pfc_state_receiver_take(&peer->receiver, state)) {
		stat_add(&k->stale, 1);
		return DROP_pfc_state_stale;
	}
	peer->heard_ns = c->now;
	stat_add(&k->taken, 1);
	if (control_pfc_state(c, r, &party, state, &out))
		control_say_to_gateway(c, r->port, &out);
	return CONSUME_pfc;
}

/* Read the message of a UDP packet. Returns false when the UDP header, its checksum or the message is invalid. */
static bool read_message(const uint8_t *packet, uint32_t size, uint32_t at, struct pfc_state *state)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet;
	const struct udp_hdr *udp = (const struct udp_hdr *)(packet + at);
	uint32_t length = be16_get(udp->length);

	if (length < sizeof(*udp) || at + length > size || !be16_get(udp->checksum))
		return false;
	if (be16_get(checksum_finish(
		    checksum_add(checksum_pseudo6(&ip->src, &ip->dst, length, IP_PROTO_UDP), udp, length))))
		return false;
	/* Nodes have no common slice numbers, so only slice 0, that of the tunnel, is accepted. */
	return pfc_state_read(udp + 1, length - sizeof(*udp), state) == 0 && state->slice == 0;
}

/* Is a message authentic? It is at the end of the packet, behind the UDP header at `udp`. */
static bool is_authentic(const struct snap_relay *r, const struct ipv6_hdr *ip, const struct udp_hdr *udp,
	const struct pfc_state *state)
{
	const struct pfc_state_keyed_msg *msg = (const struct pfc_state_keyed_msg *)(udp + 1);
	uint8_t digest[HMAC_BYTES];

	if (!r->keys.n)
		return true;
	for (unsigned int i = 0; state->keyed && i < r->keys.n; i++) {
		if (r->keys.key[i]->id != state->key_id)
			continue;
		digest_of(r->keys.key[i], &ip->src, &ip->dst, msg, digest);
		return hmac_equal(digest, msg->digest, sizeof(digest));
	}
	return false;
}

static enum reason refuse_forged(struct control_role *c, const struct snap_relay *r)
{
	stat_add(&control_pfc(c)->carrier[r->port].forged, 1);
	return DROP_pfc_state_forged;
}

bool control_carrier_take(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	const struct snap_relay *r = NULL;
	struct pfc_state state;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)c->scratch;
	enum reason reason = CONSUME_pfc;
	struct control_upper u;
	uint32_t size;

	if (likely(!c->s->n_relays) || x->family != 6)
		return false;
	size = pkt_copy_out(m, x->strip, c->scratch, MIN_OF(x->l3_bytes, MESSAGE_MAX));
	u = control_upper_layer(c->scratch, size);
	if (u.type == IP_PROTO_UDP && u.at + sizeof(struct udp_hdr) <= size)
		r = snap_relay_at(c->s, be16_get(((const struct udp_hdr *)(c->scratch + u.at))->dst_port));
	if (!r || !r->udp_port)
		return false;
	if (x->ops & PKT_OP_DA)
		ip->dst = x->da; /* SIDs of this node have changed the destination */
	if (!snap_relay_trusts(c->s, r, m->port, x->strip, x->vrf, &ip->src))
		reason = DROP_pfc_bad_peer;
	else if (!read_message(c->scratch, size, (uint32_t)u.at, &state))
		reason = DROP_pfc_state_invalid;
	else if (!is_authentic(r, ip, (const struct udp_hdr *)(c->scratch + u.at), &state))
		reason = refuse_forged(c, r);
	else if (!control_pfc_may_listen(c, m->port))
		reason = DROP_pfc_limited;
	else
		reason = take_state(c, r, &ip->src, &state);
	pkt_end(m, reason, &c->lcore->stats);
	return true;
}
