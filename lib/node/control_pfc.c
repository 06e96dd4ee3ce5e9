/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC across the WAN, on the control lcore: frames out of tunnels are judged and become messages to the owners of the
 * ports that are to pause (PROTOCOL.md 4.4).
 */
#include <errno.h>
#include <stdlib.h>

#include "node/control_priv.h"
#include "pfc/pfc_hold.h"

/* More than 400 Gb/s ports refresh by half-life, four times over; a flood costs the control lcore no more than that. */
#define FRAMES_PER_SECOND 100000
#define FRAMES_AT_ONCE	  256

struct control_pfc {
	struct bucket frames[PORT_SLOTS]; /* by the port they came in by */
};

int control_pfc_init(struct control_role *c)
{
	c->pfc = calloc(1, sizeof(*c->pfc));
	return c->pfc ? 0 : -ENOMEM;
}

void control_pfc_fini(struct control_role *c)
{
	free(c->pfc);
	c->pfc = NULL;
}

/* Tell the owner of a port. Room in its mailbox was made sure of before (control_mailboxes_ready). */
static void pause_port(struct control_role *c, uint16_t port, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause)
{
	struct worker_role *w = &c->node->worker[c->node->owner[port]];
	struct pfc_message m = {.party = *party, .port = port, .slice = slice, .enable = pause->enable};

	memcpy(m.ns, pause->ns, sizeof(m.ns));
	if (rte_ring_sp_enqueue_elem(w->pauses, &m, sizeof(m)) != 0)
		stat_add(&c->lcore->stats.pfc_refused, 1);
}

static bool is_allowed(const struct snap_pfc_sid *sid, const struct ipv6_addr *source)
{
	for (uint32_t i = 0; i < sid->n_allowed; i++)
		if (snap_match_has(&sid->allowed[i], ipv6_hi(source), ipv6_lo(source)))
			return true;
	return sid->n_allowed == 0; /* then any infrastructure source, which classification has made sure of */
}

/* In the words of PROTOCOL.md 4.4. */
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
	pkt_copy_out(m, x->srh + (uint32_t) __builtin_offsetof(struct ipv6_hdr, src), &party->source, sizeof(party->source));
	reason = reason_of(pfc_read(frame, size, PFC_UNPADDED | ((*sid)->pfc->lenient_cev ? PFC_ANY_ENABLE : 0), request));
	if (reason == CONSUME_pfc && !is_allowed((*sid)->pfc, &party->source))
		return DROP_pfc_bad_peer;
	if (reason == CONSUME_pfc && !bucket_take(&c->pfc->frames[m->port], c->now, FRAMES_PER_SECOND, FRAMES_AT_ONCE))
		return DROP_pfc_limited;
	return reason;
}

void control_pfc_frame(struct control_role *c, struct rte_mbuf *m)
{
	const struct snap_sid *sid;
	struct pfc_request request;
	struct pfc_party party;
	enum reason reason = judge(c, m, &sid, &party, &request);

	if (reason == CONSUME_pfc) {
		for (uint16_t port = 0; port < c->s->n_ports; port++) {
			struct pfc_pause pause;

			if (!(sid->pfc->ports >> port & 1) || !request.enable || !c->s->port[port].speed_bps)
				continue;
			pause = pfc_pause_of(&request, c->s->port[port].speed_bps);
			pause_port(c, port, &party, sid->pfc->slice, &pause);
		}
	}
	pkt_end(m, reason, &c->lcore->stats);
}
