/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The holds of queues, and the buffers that cannot drain: the edges of the wait-for graph for the deadlock search.
 * Read-only; any thread while no lcore of the node is in a pass.
 */
#include "service/pfc/service_wait.h"

#include "service/pfc/pfc_cp.h"
#include "config/config.h"
#include "config/usid.h"
#include "wire/srh.h"

static void visit_holds(const struct node *n, const struct node_queue *q, uint64_t now,
	const struct service_wait_visitor *v)
{
	const struct pfc_holds *holds = &n->egress[q->port].holds;

	for (uint32_t i = 0; i < holds->n; i++) {
		const struct pfc_hold *h = &holds->hold[i];

		if ((h->slice != q->slice && h->slice != PFC_ALL_SLICES) || h->until[q->class] <= now)
			continue;
		if (h->party.sid == PFC_SID_LINK)
			v->held_by_link(v->arg);
		else if (h->party.sid < n->snapshot->n_sids)
			v->held_by_tunnel(v->arg, &n->snapshot->sid[h->party.sid].prefix, &h->party.source);
	}
}

static void visit_charges(const struct fifo *f, const struct service_wait_visitor *v)
{
	struct account_level sum[PORT_SLOTS][PKT_PRIORITIES] = {0};

	for (struct rte_mbuf *m = f->head; m; m = pkt_of(m)->next) {
		const struct pkt *x = pkt_of(m);

		if (x->priority & PKT_GRANTED)
			v->granted(v->arg, pkt_credit_of(m)->grant, pkt_credit_of(m)->units);
		sum[m->port][x->priority].bytes += m->pkt_len;
		sum[m->port][x->priority].buffers += m->nb_segs;
	}
	for (uint16_t port = 0; port < PORT_SLOTS; port++)
		for (uint8_t class = 0; class < PKT_CLASSES; ++class)
			if (sum[port][class].buffers)
				v->charges(v->arg, port, class, sum[port][class].bytes, sum[port][class].buffers);
}

void service_wait_visit(const struct node *n, uint64_t now, const struct service_wait_visitor *v)
{
	for (uint16_t port = 0; port < n->n_ports; port++) {
		const struct egress *e = &n->egress[port];

		if (!(e->gates & EGRESS_GATE_PAUSE))
			continue;
		for (uint32_t slice = 0; slice < e->n_slices; slice++) {
			const struct egress_slice *s = &e->slice[slice];

			for (uint8_t class = 0; class < PKT_CLASSES; ++class) {
				struct node_queue q = {port, (uint8_t)slice, class};

				if (!(s->busy & s->closed[EGRESS_PAUSE] & 1u << class) ||
					s->queue[class].pause_until <= now)
					continue;
				v->closed(v->arg, &q);
				visit_holds(n, &q, now, v);
				visit_charges(&s->queue[class].packets, v);
			}
		}
	}
}

bool node_buffer_stops(const struct node *n, uint16_t port, uint8_t class, const struct pfc_threshold *level,
	uint64_t shared)
{
	const struct snapshot *s = n->snapshot;
	uint64_t left = s->shared_buffers > shared ? s->shared_buffers - shared : 0;

	return s->port[port].lossless >> class & 1 && service_pfc(n)->port[port].buffer[class].stopped &&
	       !(level && pfc_buffer_may_resume(&s->port[port].buffer, level, left));
}

bool node_buffer_shares(const struct node *n, uint16_t port, uint8_t class)
{
	const struct snap_interface *p = &n->snapshot->port[port];

	return p->buffer.alpha && p->lossless >> class & 1;
}

/* Does an address of this node's lists lead to a SID, be it as the last one in a container (RFC 9800 section 4.1)? */
static bool ends_at(const struct node *n, struct ipv6_addr a, const struct ip_prefix *sid)
{
	const struct cfg_usid *u = &n->config->node.usid;
	struct ip_addr ip = ip_addr_from6(&a);
	unsigned int left = u->at.line && ip_prefix_contains(&u->block, &ip) ? usid_per_container(u->block.len) : 1;

	while (!ip_prefix_contains(sid, &ip) && --left) {
		usid_shift(&a, u->block.len, 1);
		ip = ip_addr_from6(&a);
	}
	return left > 0;
}

uint32_t node_tunnels_stop(const struct node *n, const struct ip_prefix *sid, uint8_t class)
{
	const struct pfc_tunnels *t = &service_pfc(n)->control->tunnels;
	uint32_t ports = 0;

	for (uint32_t i = 0; i < t->bound; i++) {
		const struct pfc_tunnel *x = &t->tunnel[i];

		if (x->origin != PFC_TUNNEL_FREE && x->stopped >> class & 1 &&
			ends_at(n, x->list.sid[x->list.n - 1], sid))
			ports |= 1u << service_pfc(n)->control->tunnel[i].port;
	}
	return ports;
}

void node_relay_holds(const struct node *n, uint16_t port, uint8_t class, uint64_t now,
	void (*fn)(void *arg, const struct ip_prefix *sid, const struct ipv6_addr *source), void *arg)
{
	const struct pfc_holds *holds = &service_pfc(n)->control->relay[port].holds;
	/* State messages are addressed to the node itself. */
	const struct ip_prefix self = {.addr = ip_addr_from6(&n->snapshot->loopback), .len = 128};

	for (uint32_t i = 0; i < holds->n; i++) {
		const struct pfc_hold *h = &holds->hold[i];

		if (h->until[class] <= now)
			continue;
		if (h->party.sid == PFC_SID_STATE)
			fn(arg, &self, &h->party.source);
		else if (h->party.sid < n->snapshot->n_sids)
			fn(arg, &n->snapshot->sid[h->party.sid].prefix, &h->party.source);
	}
}

uint64_t node_relays_expired(const struct node *n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n->n_ports; i++)
		sum += stat_read(&service_pfc(n)->control->relay[i].expired);
	return sum;
}

/* The last address of outer headers. */
static struct ipv6_addr last_of(const struct snap_pfc_outer *outer)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)outer->header;
	const struct srh *srh = (const struct srh *)(ip + 1);

	return ip->next_header == IP_PROTO_ROUTING ? srh->segment[0] : ip->dst;
}

uint32_t node_relays_to(const struct node *n, const struct ip_prefix *sid)
{
	uint32_t ports = 0;

	for (uint32_t i = 0; i < n->snapshot->n_relays; i++) {
		const struct snap_relay *r = &n->snapshot->relay[i];

		if (r->outer.bytes && ends_at(n, last_of(&r->outer), sid))
			ports |= 1u << r->port;
	}
	return ports;
}
