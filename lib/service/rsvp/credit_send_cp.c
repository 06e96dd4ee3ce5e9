/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engine has to say: updates, of which many share one message (D50), markers, and fences in the stream of data
 * (docs/credit.md 2.6, 2.9). Control lcore.
 */
#include "service/rsvp/rsvp_packet.h"
#include "service/rsvp/service_credit.h"

#define UPDATES_MAX 24 /* of a message, so that it fits the smallest MTU with a digest */
#define FENCE_INNER 64
#define ECT0 2

/* --- updates --- */

void credit_update_due(struct control_role *c, uint32_t number)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_grant *g = &k->grant[number];
	const struct rsvp_path *p = g->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, g->slot) : NULL;
	struct credit_neighbor *n;
	struct rsvp_path_view v;

	if (!g->on || !p || g->due)
		return;
	rsvp_path_show(p, &v);
	n = credit_neighbor_of(k, v.zone_up, &v.phop);
	if (!n)
		return;
	g->due = true;
	g->next_due = n->due;
	n->due = number;
}

static void put_update(struct control_role *c, struct credit_grant *g, uint32_t number, const struct rsvp_path_view *v,
	struct rsvp_message *m)
{
	struct credit_update u;

	credit_grantor_update(&g->g, credit_totals_of(credit_of(c->node)->data, number), &u);
	credit_limit(credit_of(c->node), number);
	g->updated_ns = c->now;
	g->counts.updates++;
	m->credit[m->count[RSVP_O_CREDIT]++] = (struct rsvp_credit){.form = RSVP_CREDIT_OF_CONTEXT,
		.flags = RSVP_CREDIT_UPDATE,
		.traffic_class = v->traffic_class,
		.unit = v->unit,
		.epoch = u.epoch,
		.fccl = u.fccl,
		.abr = u.abr,
		.buffer = u.buf,
		.heartbeat_us = c->s->credit.config.heartbeat_us,
		.sequence = u.sequence,
		.lih = v->phop_lih,
		.echo = u.echo};
}

static bool same_session(const struct rsvp_session *a, const struct rsvp_session *b)
{
	return ip_addr_equal(&a->dst, &b->dst) && a->protocol == b->protocol && a->port == b->port;
}

static void begin(struct rsvp_message *m, enum rsvp_kind kind, const struct rsvp_session *session, struct ip_addr own)
{
	rsvp_clear(m, kind);
	m->flags = RSVP_FLAG_REFRESH_REDUCTION;
	m->send_ttl = UINT8_MAX;
	m->session = *session;
	m->hop = (struct rsvp_hop){.addr = own};
	m->count[RSVP_O_SESSION] = m->count[RSVP_O_HOP] = 1;
}

static void send(struct control_role *c, struct credit_neighbor *n, struct rsvp_message *m)
{
	struct rsvp_way way = {.to = n->addr, .zone = n->zone};

	if (m->count[RSVP_O_CREDIT])
		credit_lease_sent(&n->lease, c->s->credit.config.heartbeat_us * NSEC_PER_USEC, &(struct credit_way){0},
			c->now);
	rsvp_send(c, &way, m);
}

/* What is due for a neighbour goes out together, a message for each destination of sessions. */
static void send_to(struct control_role *c, struct credit_neighbor *n)
{
	struct credit_control *k = credit_of(c->node);
	struct rsvp_message *m = &rsvp_of(c)->out;
	struct rsvp_session session = {0};

	while (n->due) {
		uint32_t *at = &n->due, left = 0;

		m->count[RSVP_O_CREDIT] = 0;
		while (*at) {
			uint32_t number = *at;
			struct credit_grant *g = &k->grant[number];
			const struct rsvp_path *p = g->slot != CREDIT_NO_SLOT
							    ? rsvp_path_at(rsvp_of(c)->machines, g->slot)
							    : NULL;
			struct rsvp_path_view v;

			if (p)
				rsvp_path_show(p, &v);
			if (p && g->on && left && (!same_session(&session, &v.session) || left == UPDATES_MAX)) {
				at = &g->next_due;
				continue;
			}
			*at = g->next_due;
			g->due = false;
			if (!p || !g->on)
				continue;
			if (!left) {
				session = v.session;
				begin(m, RSVP_UPDATE, &session, rsvp_own_towards(c, n->zone, &n->addr));
			}
			put_update(c, g, number, &v, m);
			left++;
		}
		if (left)
			send(c, n, m);
	}
}

void credit_updates_send(struct control_role *c)
{
	struct credit_control *k = credit_of(c->node);

	for (uint32_t i = 0; i < k->neighbors; i++)
		if (k->neighbor[i].due)
			send_to(c, &k->neighbor[i]);
}

/* --- markers --- */

bool credit_marker_send(struct control_role *c, uint32_t line, bool ask, bool idle)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	const struct rsvp_path *p = u->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, u->slot) : NULL;
	struct rsvp_message *m = &rsvp_of(c)->out;
	struct credit_neighbor *n;
	struct credit_hop hop;
	struct rsvp_path_view v;

	if (!p)
		return false;
	rsvp_path_show(p, &v);
	n = credit_neighbor_of(k, v.zone_down, &v.nhop);
	if (!n)
		return false;
	u->u.hop_sequence = rsvp_hop_sequence(p) - 1;
	credit_user_marker(&u->u, &k->data->line[line].gate, &hop);
	begin(m, RSVP_MARKER, &v.session, rsvp_own_towards(c, n->zone, &n->addr));
	m->cbfc_hop[0] = (struct rsvp_cbfc_hop){.of_context = true,
		.flags = (uint8_t)((ask ? RSVP_HOP_ASK : 0) | (idle && !hop.fence ? RSVP_HOP_IDLE : 0)),
		.traffic_class = v.traffic_class,
		.unit = v.unit,
		.epoch = hop.epoch,
		.fctbs = hop.fctbs,
		.sequence = hop.sequence,
		.lih = v.lih,
		.want = u->want,
		.fence = hop.fence};
	m->count[RSVP_O_CBFC_HOP] = 1;
	if (ask)
		credit_user_asked(&u->u, &hop, c->now);
	if (hop.fence)
		credit_use_stated(u, &hop);
	u->counts.markers++;
	u->want = 0;
	send(c, n, m);
	return true;
}

/* --- fences --- */

static void put_number(uint8_t *at, uint64_t number, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		at[i] = (uint8_t)(number >> 8 * (bytes - 1 - i));
}

static void put_inner(uint8_t *at, const struct rsvp_path_view *v, const struct credit_use *u,
	const struct ip_addr *own, uint64_t number)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)at;

	memset(at, 0, FENCE_INNER);
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0, 0),
		.payload_length = be16(FENCE_INNER - sizeof(*ip)),
		.next_header = IP_PROTO_NONE,
		.hop_limit = UINT8_MAX,
		.src = own->v6,
		.dst = v->nhop.v6};
	put_number(at + 40, 0x43424643u, 4);
	at[44] = 1;
	at[45] = v->traffic_class;
	at[46] = v->unit;
	put_number(at + 48, u->u.epoch, 4);
	put_number(at + 52, v->lih, 4);
	put_number(at + 56, number, 8);
}

/* The outer traffic class of the session's data, as it was seen last. */
static uint8_t class_of(const struct control_role *c, const struct credit_line *l, const struct credit_use *u)
{
	uint8_t dscp = __atomic_load_n(&l->tos, __ATOMIC_RELAXED) >> 2;
	const struct snap_path *path = u->headend && u->binding.path < c->s->n_paths ? &c->s->path[u->binding.path]
										     : NULL;

	if (path && path->dscp == SNAP_DSCP_MAP)
		dscp = path->dscp_of[dscp];
	else if (path && path->dscp != SNAP_DSCP_COPY)
		dscp = path->dscp;
	return (uint8_t)(dscp << 2 | ECT0);
}

void credit_fence_send(struct control_role *c, uint32_t line)
{
	struct credit_control *k = credit_of(c->node);
	struct credit_use *u = &k->use[line];
	struct credit_line *l = &k->data->line[line];
	const struct rsvp_path *p = u->slot != CREDIT_NO_SLOT ? rsvp_path_at(rsvp_of(c)->machines, u->slot) : NULL;
	const struct rsvp_carrier *x = p ? (const struct rsvp_carrier *)(uintptr_t)rsvp_path_carrier(p) : NULL;
	uint8_t packet[SNAP_ENCAP_BYTES_MAX + FENCE_INNER];
	uint64_t number = rsvp_secret(rsvp_of(c)) | 1;
	struct rsvp_path_view v;
	struct ip_addr own;
	struct rte_mbuf *m;
	struct pkt *pkt;

	if (!x || !x->bytes || u->ordered)
		return;
	rsvp_path_show(p, &v);
	own = rsvp_own_towards(c, v.zone_down, &v.nhop);
	put_outer(packet, x, v.sender.port, FENCE_INNER);
	((struct ipv6_hdr *)packet)->vtc_flow = ipv6_vtc_flow(class_of(c, l, u), v.sender.port);
	put_inner(packet + x->bytes, &v, u, &own, number);
	m = control_packet(c, packet, x->bytes + FENCE_INNER);
	if (!m)
		return;
	if (u->headend)
		classify_to_next_hop(&c->classifier, m, 6, 0);
	else
		classify_originated(&c->classifier, m, VRF_UNDERLAY);
	pkt = pkt_of(m);
	if (pkt->verdict != PKT_FORWARD) {
		pkt_end(m, (enum reason)pkt->reason, &c->lcore->stats);
		return;
	}
	pkt->verdict = PKT_GATED;
	pkt->tclass = u->binding.class;
	pkt->slice = __atomic_load_n(&l->slice, __ATOMIC_RELAXED);
	pkt->priority = 0;
	pkt->neigh = u->binding.neigh;
	pkt->egress = u->binding.port;
	*pkt_credit_of(m) = (struct pkt_credit){.line = (uint16_t)line, .units = (uint16_t)number, .fence = 1};
	credit_user_fence(&u->u, &l->gate, number, c->now);
	u->counts.fences++;
	if (mailbox_push_packets(&c->to_worker[c->node->owner[pkt->egress]], &m, 1) != 1)
		pkt_end(m, DROP_punt_full, &c->lcore->stats);
}
