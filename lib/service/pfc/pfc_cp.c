/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC across the WAN. Control lcore.
 *
 *   out of tunnels   frames are checked; at End.X.PFC they become messages to the owners of the ports that must pause
 *		      (docs/protocol.md 4.4), at the DX2 SID of a relay frames to the gateway (5.3, 5.5)
 *   into tunnels     frames of a gateway (draft-he); tunnels_cp.c sends those about the node's own buffers
 */
#include "service/pfc/pfc_cp.h"

#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "node/service.h"
#include "wire/srh.h"

#define UNKNOWN_BPS 1000000000ull /* of a port whose link has not come up yet: low, so that pauses last */

/*
 * Send a pause to the owner of a port. control_has_room has checked for room. If there is none, the mailbox counts the
 * message as refused.
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

	mailbox_push(&service_pfc_worker(w)->pauses, &m, sizeof(m));
}

/* The reasons of docs/protocol.md 4.4. */
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

/* Leave only what is new in a frame with a trailer. Returns false when nothing is. */
static bool is_new(struct control_role *c, const struct pfc_party *party, const struct ipv6_addr *destination,
	const struct pfc_seal *seal, struct pfc_request *request)
{
	uint8_t asked = request->enable;

	if (seal->sent_ns)
		request->enable = pfc_seen_take(&control_pfc(c)->seen, &party->source, destination, seal->sent_ns,
			asked);
	return !asked || request->enable;
}

static enum reason judge(struct control_role *c, struct rte_mbuf *m, const struct snap_sid **sid,
	struct pfc_party *party, struct pfc_request *request)
{
	const struct pkt *x = pkt_of(m);
	uint8_t frame[sizeof(struct pfc_frame)];
	uint32_t size = pkt_copy_out(m, x->strip, frame, MIN_OF(x->l3_bytes, sizeof(frame)));
	struct pfc_seal seal;
	enum reason reason;

	/* The SID may have been removed since it was looked up. */
	*sid = x->sid < c->s->n_sids ? &c->s->sid[x->sid] : NULL;
	if (!*sid || !(*sid)->used || !(*sid)->pfc)
		return DROP_not_served;
	party->sid = x->sid;
	pkt_copy_out(m, x->srh + (uint32_t) __builtin_offsetof(struct ipv6_hdr, src), &party->source,
		sizeof(party->source));
	reason = reason_of(
		pfc_read(frame, size, PFC_UNPADDED | ((*sid)->pfc->lenient_cev ? PFC_ANY_ENABLE : 0), request));
	if (reason != CONSUME_pfc)
		return reason;
	if (!control_seal_is_genuine(c, m, *sid, &party->source, &seal))
		return DROP_pfc_frame_forged;
	if (!control_pfc_may_listen(c, m->port))
		return DROP_pfc_limited;
	return is_new(c, party, &x->da, &seal, request) ? CONSUME_pfc : DROP_pfc_frame_stale;
}

static void relay_out(struct control_role *c, const struct snap_relay *r, const struct pfc_party *party,
	const struct pfc_request *request)
{
	struct pfc_relay_config config = control_relay_config(r);
	struct pfc_relay_port *p = &control_pfc(c)->relay[r->port];
	struct pfc_request out;

	p->bps = c->s->port[r->port].speed_bps;
	if (p->bps && pfc_relay_frame(p, &config, party, request, c->now, &out))
		control_say_to_gateway(c, r->port, &out);
}

static void pause_ports(struct control_role *c, const struct snap_pfc_sid *sid, uint8_t slice,
	const struct pfc_party *party, const struct pfc_request *request)
{
	for (uint16_t port = 0; port < c->s->n_ports && request->enable; port++) {
		uint64_t bps = c->s->port[port].speed_bps;
		struct pfc_pause pause;

		if (!(sid->ports >> port & 1))
			continue;
		/* too long a pause ends with XON; one that is left out ends in loss */
		pause = pfc_pause_of(request, bps ? bps : UNKNOWN_BPS, sid->jitter_ns + sid->outage_ns);
		pause_port(c, port, party, slice, &pause);
	}
}

static void control_pfc_frame(struct control_role *c, struct rte_mbuf *m)
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

/* Tell the management thread until when the gateway of a port pauses the others. */
static void gateway_asks(struct control_role *c, uint16_t port, const struct pfc_request *request)
{
	uint64_t bps = c->s->port[port].speed_bps;

	FOR_EACH_BIT(i, request->enable)
		stat_level(control_pfc(c)->asked_until[port][i],
			request->time[i] && bps ? c->now + pfc_quanta_ns(request->time[i], bps) : 0);
}

/* draft-he section 3.2: the frame is sent as received, with its padding. */
static void control_pfc_relay(struct control_role *c, struct rte_mbuf *m)
{
	struct pfc_frame frame = {.enable = 0};
	const struct snap_relay *r = NULL;
	struct pfc_request request;

	for (uint32_t i = 0; i < c->s->n_relays && !r; i++)
		if (c->s->relay[i].port == m->port && c->s->relay[i].outer.bytes)
			r = &c->s->relay[i];
	pkt_copy_out(m, 0, &frame, sizeof(frame));
	/* The frame was checked on reception. A shorter one is padded here. */
	if (r && pfc_read(&frame, sizeof(frame), PFC_ANY_ENABLE, &request) == PFC_LEGAL) {
		struct pfc_relay_config config = control_relay_config(r);

		gateway_asks(c, m->port, &request);
		control_pfc(c)->thinner[m->port].bps = c->s->port[m->port].speed_bps;
		if (r->udp_port)
			control_carrier_heard(c, r, &request);
		else if (pfc_thinner_frame(&control_pfc(c)->thinner[m->port], &config, &request, c->now))
			control_pfc_send(c, &r->outer, &frame);
	}
	pkt_end(m, CONSUME_pfc, &c->lcore->stats);
}

/* XON that is due into the tunnels of gateways. */
static unsigned int poll_thinners(struct control_role *c, uint64_t *next)
{
	unsigned int work = 0;

	for (uint32_t i = 0; i < c->s->n_relays; i++) {
		const struct snap_relay *r = &c->s->relay[i];
		struct pfc_relay_config config = control_relay_config(r);
		struct pfc_request request;
		struct pfc_frame frame;
		uint64_t due;

		if (r->udp_port || !r->outer.bytes)
			continue;
		if (pfc_thinner_poll(&control_pfc(c)->thinner[r->port], &config, c->now, &request, &due)) {
			pfc_write(&frame, &c->s->port[r->port].mac, &request);
			control_pfc_send(c, &r->outer, &frame);
			work++;
		}
		*next = MIN_OF(*next, due);
	}
	return work;
}

/*
 * A PE that starts does not know whether its gateway is paused from afar. The longest hold of a request made before the
 * start may still be in force, and so it assumes that it is.
 */
static void start_relays(struct control_role *c)
{
	if (likely(control_pfc(c)->started))
		return;
	control_pfc(c)->started = true;
	control_seal_start(c);
	for (uint32_t i = 0; i < c->s->n_relays && !c->node->steady; i++) {
		const struct snap_relay *r = &c->s->relay[i];
		struct pfc_relay_config config = control_relay_config(r);
		struct pfc_relay_port *p = &control_pfc(c)->relay[r->port];
		struct pfc_request out;

		p->bps = c->s->port[r->port].speed_bps;
		if (!c->s->port[r->port].pfc_regenerated || !p->bps)
			continue;
		if (pfc_relay_start(p, &config, c->s->port[r->port].lossless, r->udp_port ? r->lease_ns : 0, c->now,
			    &out))
			control_say_to_gateway(c, r->port, &out);
	}
}

/* The request that is due to the gateway of a port. After a reload removes a relay, its pause ends with its time. */
static bool poll_relay(struct control_role *c, uint16_t port, struct pfc_request *out, uint64_t *due)
{
	struct pfc_relay_config config = {.mode = PFC_RELAY_REGENERATE, .watchdog.action = PFC_WATCHDOG_OFF};

	for (uint32_t i = 0; i < c->s->n_relays; i++)
		if (c->s->relay[i].port == port)
			config = control_relay_config(&c->s->relay[i]);
	return pfc_relay_poll(&control_pfc(c)->relay[port], &config, c->now, out, due);
}

static unsigned int poll(struct control_role *c, uint64_t *next)
{
	unsigned int work;
	uint64_t due;

	work = control_tunnels_poll(c, next);
	work += control_carrier_poll(c, next);
	work += poll_thinners(c, next);
	for (uint16_t port = 0; port < c->s->n_ports; port++) {
		struct pfc_request out;

		if (!control_pfc(c)->relay[port].busy)
			continue;
		if (poll_relay(c, port, &out, &due)) {
			control_say_to_gateway(c, port, &out);
			work++;
		}
		*next = MIN_OF(*next, due);
	}
	return work;
}

static bool take(struct control_role *c, struct rte_mbuf *m)
{
	switch ((enum pkt_punt)pkt_of(m)->punt) {
	case PUNT_PFC_TUNNEL:
		control_pfc_frame(c, m);
		return true;
	case PUNT_PFC_RELAY:
		control_pfc_relay(c, m);
		return true;
	case PUNT_PFC_STATE:
	case PUNT_LOCAL: /* from a PE that may not send them */
		return control_carrier_take(c, m);
	default:
		return false;
	}
}

/* A batch is CONTROL_BURST events, each of which may pause all ports. */
static bool has_room(const struct control_role *c)
{
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		if (mailbox_room(&service_pfc(c->node)->worker[i].pauses) < 2 * CONTROL_BURST * MAX_PORTS)
			return false;
	return true;
}

static int open_of_rx(struct control_role *c, struct rx_role *rx, int socket)
{
	struct mailbox_options sightings = {.carries = "sightings",
		.from = rx_end(rx),
		.to = control_end(c),
		.bytes = sizeof(struct node_sighting),
		.slots = NODE_SIGHTINGS,
		.socket = socket};
	struct mailbox_options heard = {.carries = "pfc heard",
		.from = rx_end(rx),
		.bytes = sizeof(struct service_pfc_message),
		.slots = NODE_PFC_MESSAGES,
		.socket = socket};
	struct service_pfc_rx *of = service_pfc_rx(rx);
	int rc = mailbox_open(&c->node->mailboxes, &of->sightings, &sightings);

	for (uint16_t w = 0; w < c->node->n_workers && rc == 0; w++) {
		heard.to = worker_end(&c->node->worker[w]);
		if (rx->lcore != heard.to.lcore)
			rc = mailbox_open(&c->node->mailboxes, &of->to_worker[w], &heard);
	}
	of->learner = calloc(1, sizeof(*of->learner));
	return of->learner ? rc : -ENOMEM;
}

static int open_of_worker(struct control_role *c, struct worker_role *w, int socket)
{
	struct mailbox_options pauses = {.carries = "pauses",
		.from = control_end(c),
		.to = worker_end(w),
		.bytes = sizeof(struct pfc_message),
		.slots = NODE_PAUSES,
		.socket = socket};

	return mailbox_open(&c->node->mailboxes, &service_pfc_worker(w)->pauses, &pauses);
}

static int init(struct control_role *c, int socket)
{
	struct service_pfc *s = new_aligned(sizeof(*s));
	int rc = 0;

	c->node->state[SERVICE_PFC] = s;
	if (!s)
		return -ENOMEM;
	s->control = calloc(1, sizeof(*s->control));
	s->slices = calloc(MAX_PORTS, sizeof(*s->slices));
	if (!s->control || !s->slices)
		return -ENOMEM;
	control_tunnels_init(c);
	for (uint16_t i = 0; i < c->node->n_rx && rc == 0; i++)
		rc = open_of_rx(c, &c->node->rx[i], socket);
	for (uint16_t w = 0; w < c->node->n_workers && rc == 0; w++)
		rc = open_of_worker(c, &c->node->worker[w], socket);
	return rc;
}

static void fini(struct control_role *c)
{
	struct service_pfc *s = service_pfc(c->node);

	if (!s)
		return;
	for (uint16_t i = 0; i < c->node->n_rx; i++)
		free(s->rx[i].learner);
	service_watch_fini(c->node);
	free(s->cleared);
	free(s->control);
	free(s->slices);
	free(s);
}

const struct control_service pfc_service = {
	.name = "pfc",
	.init = init,
	.fini = fini,
	.tick = service_watch_report,
	.clear = node_clear_pfc,
	.held = service_pfc_held,
	.snapshot = start_relays, /* before the first word of a far PE is heard */
	.has_room = has_room,
	.takes = SERVICE_TAKES(PUNT_PFC_TUNNEL) | SERVICE_TAKES(PUNT_PFC_RELAY) | SERVICE_TAKES(PUNT_PFC_STATE) |
		 SERVICE_TAKES(PUNT_LOCAL),
	.take = take,
	.poll = poll,
	.has_input = control_tunnels_have_input,
	.rx = &pfc_rx_hooks,
	.worker = &pfc_worker_hooks,
};
