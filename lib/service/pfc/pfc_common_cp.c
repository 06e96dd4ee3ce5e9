/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions shared by the parts of PFC across the WAN: send frames into tunnels and to gateways, limit them. Control
 * lcore.
 */
#include "service/pfc/pfc_cp.h"

/* More than 400 Gb/s ports refresh by half-life, four times over; a flood costs the control lcore no more than that. */
#define FRAMES_PER_SECOND 100000
#define FRAMES_AT_ONCE 256

bool control_pfc_may_listen(struct control_role *c, uint16_t port)
{
	return bucket_take(&control_pfc(c)->frames[port], c->now, FRAMES_PER_SECOND, FRAMES_AT_ONCE);
}

/* Send PFC to the gateway of a port, through the owner of the port. */
void control_say_to_gateway(struct control_role *c, uint16_t port, const struct pfc_request *request)
{
	struct worker_role *w = &c->node->worker[c->node->owner[port]];
	struct pfc_message m = {.kind = PFC_TELL_NEIGHBOUR, .port = (uint8_t)port, .request = *request};

	/* A full mailbox counts it as refused. The next refresh repeats the request. */
	mailbox_push(&service_pfc_worker(w)->pauses, &m, sizeof(m));
}

struct pfc_relay_config control_relay_config(const struct snap_relay *r)
{
	return (struct pfc_relay_config){.mode = r->mode,
		.from_bps = r->from_bps,
		.jitter_ns = r->jitter_ns,
		.hold_min_ns = r->hold_min_ns,
		.outage_ns = r->outage_ns,
		.watchdog = r->watchdog};
}

bool control_pfc_state(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_state *state, struct pfc_request *out)
{
	struct pfc_relay_config config = control_relay_config(r);
	struct pfc_relay_port *p = &control_pfc(c)->relay[r->port];

	p->bps = c->s->port[r->port].speed_bps;
	return p->bps &&
	       pfc_relay_state(p, &config, party, state->speaks_for, state->stopped, state->lease_ns, c->now, out);
}

/* The frame behind outer headers, routed by the underlay. */
void control_pfc_send(struct control_role *c, const struct snap_pfc_outer *outer, const void *frame)
{
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + sizeof(struct pfc_sealed)];
	size_t size = outer->message_key ? sizeof(struct pfc_sealed) : sizeof(struct pfc_frame);
	struct pfc_sealed sealed;
	struct rte_mbuf *m;

	memcpy(&sealed.frame, frame, sizeof(sealed.frame));
	if (outer->message_key && !control_seal(c, outer, &sealed))
		return;
	memcpy(packet, outer->header, outer->bytes);
	memcpy(packet + outer->bytes, &sealed, size);
	m = control_packet(c, packet, (uint32_t)(outer->bytes + size));
	if (m)
		control_send_routed(c, m, VRF_UNDERLAY);
}
