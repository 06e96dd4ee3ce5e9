/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit as a whole, read from outside (service_audit.h). Any thread while no lcore of the node is in a pass. */
#include "service/rsvp/service_audit.h"

#include "service/rsvp/service_credit.h"

bool service_audit_node(const struct node *n, struct audit_node *out)
{
	const struct credit_control *k = credit_of(n);
	const struct snap_credit *s = &n->snapshot->credit;

	if (!k || !s->on)
		return false;
	*out = (struct audit_node){.numbers = k->numbers, .pool = s->config.pool};
	if (node_rsvp(n)->control) /* made by the control lcore, soon after the start */
		out->committed = rsvp_node_stats_of(node_rsvp(n)->control->machines)->committed;
	for (uint32_t i = 0; i < n->snapshot->n_ports; i++)
		out->most = MAX_OF(out->most,
			credit_units((uint32_t)n->snapshot->port[i].mtu, s->overhead, s->config.unit));
	return true;
}

bool service_audit_grant(const struct node *n, uint32_t number, struct audit_grant *out)
{
	const struct credit_control *k = credit_of(n);
	const struct credit_grant *g = &k->grant[number];
	struct credit_totals t;

	if (!g->used)
		return false;
	t = credit_totals_of(k->data, number);
	*out = (struct audit_grant){.on = g->on,
		.epoch = g->g.epoch,
		.buf = g->g.buf,
		.rcvd = t.rcvd,
		.freed = t.freed,
		.base = g->g.base,
		.fccl = g->g.fccl,
		.abr = g->g.abr,
		.held = credit_grantor_held(&g->g, t, g->on),
		.doubled = g->counts.doubled,
		.lost = g->g.lost};
	return true;
}

bool service_audit_use(const struct node *n, uint32_t number, struct audit_use *out)
{
	const struct credit_control *k = credit_of(n);
	const struct credit_line *l = &k->data->line[number];
	const struct credit_use *u = &k->use[number];

	if (!u->used)
		return false;
	*out = (struct audit_use){.open = l->gate.open,
		.current = u->u.state == CREDIT_OPEN && u->slot != CREDIT_NO_SLOT,
		.port = u->binding.port,
		.epoch = u->u.epoch,
		.sent = l->gate.sent,
		.pending = l->gate.pending,
		.limit = l->gate.limit,
		.fccl = u->u.fccl,
		.abr = u->u.abr,
		.fctbs = credit_fctbs(&u->u, &l->gate),
		.waits = l->fifo.n};
	return true;
}

bool service_audit_hop(const struct node *n, uint32_t number, struct audit_hop *out)
{
	const struct credit_use *u = &credit_of(n)->use[number];
	const struct rsvp_path *p;
	struct rsvp_path_view v;

	if (!u->used || u->slot == CREDIT_NO_SLOT)
		return false;
	p = rsvp_path_at(node_rsvp(n)->control->machines, u->slot);
	if (!p)
		return false;
	rsvp_path_show(p, &v);
	*out = (struct audit_hop){.source = v.sender.src, .next = v.nhop, .label = v.sender.port};
	return true;
}

uint32_t service_audit_busy_grants(const struct node *n)
{
	return credit_of(n)->active_grants;
}

uint32_t service_audit_busy_uses(const struct node *n)
{
	return credit_of(n)->active_lines;
}

uint32_t service_audit_busy_grant(const struct node *n, uint32_t i)
{
	return credit_of(n)->active_grant[i];
}

uint32_t service_audit_busy_use(const struct node *n, uint32_t i)
{
	return credit_of(n)->active_line[i];
}

uint32_t service_audit_grant_of(const struct node *n, const struct ip_addr *source, uint32_t label)
{
	const struct credit_entry *e = credit_table_find(&credit_of(n)->data->table, ipv6_hi(&source->v6),
		ipv6_lo(&source->v6), label);

	return e ? e->grant : 0;
}

uint64_t service_audit_lines(const struct node *n, uint64_t *units)
{
	const struct credit_data *d = credit_of(n)->data;
	uint64_t packets = 0;

	for (uint32_t i = 1; i < d->numbers; i++) {
		const struct fifo *f = &d->line[i].fifo;

		packets += f->n;
		for (struct rte_mbuf *m = f->n ? f->head : NULL; m; m = pkt_of(m)->next)
			if (pkt_of(m)->priority & PKT_GRANTED)
				units[pkt_credit_of(m)->grant] += pkt_credit_of(m)->units;
	}
	return packets;
}

static void visit_packets(const struct fifo *f, const struct service_audit_visitor *v)
{
	for (struct rte_mbuf *m = f->head; m; m = pkt_of(m)->next) {
		const struct pkt *x = pkt_of(m);

		if (x->priority & PKT_GRANTED)
			v->granted(v->arg, pkt_credit_of(m)->grant, pkt_credit_of(m)->units);
		else
			v->charged(v->arg, m->port, x->priority, m->pkt_len, m->nb_segs);
	}
}

/* A line that is held waits for messages and times, never for a buffer. */
void service_audit_visit(const struct node *n, const struct service_audit_visitor *v)
{
	const struct credit_control *k = credit_of(n);

	for (uint32_t i = 1; k && i < k->numbers; i++) {
		const struct credit_line *l = &k->data->line[i];
		struct audit_line a = {.use = i, .port = l->port};

		if (!l->fifo.n || l->mode != LINE_GATED || !l->gate.open)
			continue;
		a.slice = pkt_of(l->fifo.head)->slice;
		a.class = pkt_of(l->fifo.head)->tclass;
		if (!credit_gate_passes(&l->gate, UINT64_MAX, 0, pkt_credit_of(l->fifo.head)->units))
			a.need = pkt_credit_of(l->fifo.head)->units;
		v->line(v->arg, &a);
		visit_packets(&l->fifo, v);
	}
}
