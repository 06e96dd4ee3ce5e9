/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC across the WAN, on the control lcore.
 *
 *   out of tunnels   frames are judged; at End.X.PFC they become messages to the owners of the ports that are to pause
 *		      (docs/protocol.md 4.4), at the DX2 SID of a relay frames to the gateway (5.3, 5.5)
 *   into tunnels     what a gateway says (draft-he); what this node's own buffers say is in control_tunnels.c
 */
#include "node/control_pfc.h"

#include <errno.h>
#include <stdlib.h>

#include "node/control_priv.h"
#include "wire/srh.h"

/* More than 400 Gb/s ports refresh by half-life, four times over; a flood costs the control lcore no more than that. */
#define FRAMES_PER_SECOND 100000
#define FRAMES_AT_ONCE 256

int control_pfc_init(struct control_role *c)
{
	c->pfc = calloc(1, sizeof(*c->pfc));
	if (!c->pfc)
		return -ENOMEM;
	control_tunnels_init(c);
	return 0;
}

void control_pfc_fini(struct control_role *c)
{
	free(c->pfc);
	c->pfc = NULL;
}

/*
 * Tell the owner of a port. control_mailboxes_ready has made sure that there is room; should there be none after all, the
 * mailbox counts the message as refused.
 */
static void pause_port(struct control_role *c, uint16_t port, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause)
{
	struct worker_role *w = &c->node->worker[c->node->owner[port]];
	struct pfc_message m = {.kind = PFC_PAUSE_QUEUES,
		.port = (uint8_t)port,
		.slice = slice,
		.party = *party,
		.pause = *pause};

	mailbox_push(&w->pauses, &m, sizeof(m));
}

static bool is_allowed(const struct snap_pfc_sid *sid, const struct ipv6_addr *source)
{
	for (uint32_t i = 0; i < sid->n_allowed; i++)
		if (snap_match_has(&sid->allowed[i], ipv6_hi(source), ipv6_lo(source)))
			return true;
	return sid->n_allowed == 0; /* then any infrastructure source, which classification has made sure of */
}

/* In the words of docs/protocol.md 4.4. */
static enum reason reason_of(enum pfc_fault fault)
{
	switch (fault) {
	case PFC_LEGAL:
		return CONSUME_pfc;
	case PFC_SHORT:
	case PFC_BAD_DA:
		return DROP_pfc_bad_da;
	case PFC_BAD_TYPE:
	case PFC_IS_PAUSE:
	case PFC_BAD_OPCODE:
		return DROP_pfc_bad_opcode;
	case PFC_BAD_ENABLE:
		return DROP_pfc_bad_cev;
	}
	return DROP_pfc_bad_opcode;
}

bool control_pfc_may_listen(struct control_role *c, uint16_t port)
{
	return bucket_take(&c->pfc->frames[port], c->now, FRAMES_PER_SECOND, FRAMES_AT_ONCE);
}

static enum reason judge(struct control_role *c, struct rte_mbuf *m, const struct snap_sid **sid,
	struct pfc_party *party, struct pfc_request *request)
{
	const struct pkt *x = pkt_of(m);
	uint8_t frame[sizeof(struct pfc_frame)];
	uint32_t size = pkt_copy_out(m, x->strip, frame, MIN_OF(x->l3_bytes, sizeof(frame)));
	enum reason reason;

	/* the SID may be gone since it was looked up */
	*sid = x->sid < c->s->n_sids ? &c->s->sid[x->sid] : NULL;
	if (!*sid || !(*sid)->used || !(*sid)->pfc)
		return DROP_not_served;
	party->sid = x->sid;
	pkt_copy_out(m, x->srh + (uint32_t) __builtin_offsetof(struct ipv6_hdr, src), &party->source,
		sizeof(party->source));
	reason = reason_of(
		pfc_read(frame, size, PFC_UNPADDED | ((*sid)->pfc->lenient_cev ? PFC_ANY_ENABLE : 0), request));
	if (reason == CONSUME_pfc && !is_allowed((*sid)->pfc, &party->source))
		return DROP_pfc_bad_peer;
	if (reason == CONSUME_pfc && !control_pfc_may_listen(c, m->port))
		return DROP_pfc_limited;
	return reason;
}

/* A PFC frame to the gateway behind a port; its owner speaks (node_pfc_relay). */
void control_say_to_gateway(struct control_role *c, uint16_t port, const struct pfc_request *request)
{
	struct worker_role *w = &c->node->worker[c->node->owner[port]];
	struct pfc_message m = {.kind = PFC_TELL_NEIGHBOUR, .port = (uint8_t)port, .request = *request};

	mailbox_push(&w->pauses, &m, sizeof(m)); /* as in pause_port */
}

static struct pfc_relay_config relay_config(const struct snap_relay *r)
{
	return (struct pfc_relay_config){.mode = r->mode,
		.from_bps = r->from_bps,
		.jitter_ns = r->jitter_ns,
		.hold_min_ns = r->hold_min_ns,
		.watchdog = r->watchdog};
}

static void relay_out(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_request *request)
{
	struct pfc_relay_config config = relay_config(r);
	struct pfc_relay_port *p = &c->pfc->relay[r->port];
	struct pfc_request out;

	p->bps = c->s->port[r->port].speed_bps;
	if (p->bps && pfc_relay_frame(p, &config, party, request, c->now, &out))
		control_say_to_gateway(c, r->port, &out);
}

bool control_pfc_state(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_state *state, struct pfc_request *out)
{
	struct pfc_relay_config config = relay_config(r);
	struct pfc_relay_port *p = &c->pfc->relay[r->port];

	p->bps = c->s->port[r->port].speed_bps;
	return p->bps &&
	       pfc_relay_state(p, &config, party, state->speaks_for, state->stopped, state->lease_ns, c->now, out);
}

static void pause_ports(struct control_role *c, const struct snap_pfc_sid *sid, uint8_t slice,
	const struct pfc_party *party, const struct pfc_request *request)
{
	for (uint16_t port = 0; port < c->s->n_ports && request->enable; port++) {
		struct pfc_pause pause;

		if (!(sid->ports >> port & 1) || !c->s->port[port].speed_bps)
			continue;
		pause = pfc_pause_of(request, c->s->port[port].speed_bps, sid->jitter_ns);
		pause_port(c, port, party, slice, &pause);
	}
}

void control_pfc_frame(struct control_role *c, struct rte_mbuf *m)
{
	const struct snap_sid *sid;
	struct pfc_request request;
	struct pfc_party party;
	enum reason reason = judge(c, m, &sid, &party, &request);

	if (reason == CONSUME_pfc && sid->pfc->relay)
		relay_out(c, sid->pfc->relay, &party, &request);
	else if (reason == CONSUME_pfc)
		pause_ports(c, sid->pfc, pkt_of(m)->slice, &party, &request);
	pkt_end(m, reason, &c->lcore->stats);
}

/* --- into tunnels --- */

/* The frame behind outer headers, routed by the underlay. */
void control_pfc_send(struct control_role *c, const struct snap_pfc_outer *outer, const void *frame)
{
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + sizeof(struct pfc_frame)];
	struct rte_mbuf *m;

	memcpy(packet, outer->header, outer->bytes);
	memcpy(packet + outer->bytes, frame, sizeof(struct pfc_frame));
	m = control_packet(c, packet, (uint32_t)(outer->bytes + sizeof(struct pfc_frame)));
	if (m)
		control_send_routed(c, m, VRF_UNDERLAY);
}

/* draft-he section 3.2: the frame goes as it came, pad and all. */
void control_pfc_relay(struct control_role *c, struct rte_mbuf *m)
{
	struct pfc_frame frame = {.enable = 0};
	const struct snap_relay *r = NULL;
	struct pfc_request request;

	for (uint32_t i = 0; i < c->s->n_relays && !r; i++)
		if (c->s->relay[i].port == m->port && c->s->relay[i].outer.bytes)
			r = &c->s->relay[i];
	pkt_copy_out(m, 0, &frame, sizeof(frame));
	/* it was legal when it came in; a shorter one is padded here */
	if (r && pfc_read(&frame, sizeof(frame), PFC_ANY_ENABLE, &request) == PFC_LEGAL) {
		struct pfc_relay_config config = relay_config(r);

		if (r->udp_port)
			control_carrier_heard(c, r, &request);
		else if (pfc_thinner_frame(&c->pfc->thinner[m->port], &config, &request, c->now))
			control_pfc_send(c, &r->outer, &frame);
	}
	pkt_end(m, CONSUME_pfc, &c->lcore->stats);
}

/* What the gateway behind a port must hear now; a relay that a reload has removed lets it go when its time is over. */
static bool poll_relay(struct control_role *c, uint16_t port, struct pfc_request *out, uint64_t *due)
{
	struct pfc_relay_config config = {.mode = PFC_RELAY_REGENERATE, .watchdog.action = PFC_WATCHDOG_OFF};

	for (uint32_t i = 0; i < c->s->n_relays; i++)
		if (c->s->relay[i].port == port)
			config = relay_config(&c->s->relay[i]);
	return pfc_relay_poll(&c->pfc->relay[port], &config, c->now, out, due);
}

unsigned int control_pfc_poll(struct control_role *c, uint64_t *next)
{
	unsigned int work;
	uint64_t due;

	work = control_tunnels_poll(c, next);
	work += control_carrier_poll(c, next);
	for (uint16_t port = 0; port < c->s->n_ports; port++) {
		struct pfc_request out;

		if (!c->pfc->relay[port].busy)
			continue;
		if (poll_relay(c, port, &out, &due)) {
			control_say_to_gateway(c, port, &out);
			work++;
		}
		*next = MIN_OF(*next, due);
	}
	return work;
}
