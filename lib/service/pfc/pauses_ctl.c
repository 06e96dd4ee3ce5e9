/* SPDX-License-Identifier: BSD-3-Clause */
/* Pauses and their durations, in total and since `clear stats`. Management thread. */
#include <stdlib.h>

#include "service/pfc/pfc_cp.h"
#include "service/pfc/pfc_ctl.h"

/* Counters at the last clear. A tunnel is identified by its name, because its entry may be reused. */
struct node_cleared_pfc {
	uint64_t at; /* ns on the node's clock */
	struct service_pfc_port port[MAX_PORTS];
	struct pfc_history relay[MAX_PORTS][PFC_PRIORITIES];
	struct {
		char name[PFC_TUNNEL_NAME];
		struct pfc_history history[PFC_PRIORITIES];
	} tunnel[PFC_TUNNELS_MAX];
};

struct listener {
	void (*say)(void *arg, const struct node_pauses *p);
	void *arg;
	uint64_t now, base_now;
};

/* `base`: count from there; NULL: all. */
static void tell(const struct listener *l, const char *direction, const char *name, unsigned int priority,
	const struct pfc_history *h, const struct pfc_history *base)
{
	struct node_pauses p = {.direction = direction,
		.name = name,
		.priority = priority,
		.history = pfc_history_at(h, l->now)};

	if (base && base->transitions <= p.history.transitions)
		p.history = pfc_history_since(&p.history, base, l->base_now);
	p.total_ns = pfc_history_total(&p.history, l->now);
	if (p.history.transitions || p.total_ns)
		l->say(l->arg, &p);
}

static void all(const struct node *n, const struct node_cleared_pfc *base, const struct listener *l)
{
	const struct control_pfc *wan = service_pfc(n)->control;
	uint32_t bound = __atomic_load_n(&wan->tunnels.bound, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		for (uint32_t port = 0; port < n->n_ports; port++) {
			tell(l, "heard", n->port[port]->name, i, &service_pfc(n)->port[port].heard[i],
				base ? &base->port[port].heard[i] : NULL);
			tell(l, "executed", n->port[port]->name, i, &service_pfc(n)->port[port].sid[i],
				base ? &base->port[port].sid[i] : NULL);
			tell(l, "said", n->port[port]->name, i, &service_pfc(n)->port[port].speaker.history[i],
				base ? &base->port[port].speaker.history[i] : NULL);
			tell(l, "relayed", n->port[port]->name, i, &wan->relay[port].history[i],
				base ? &base->relay[port][i] : NULL);
		}
		for (uint32_t t = 0; t < bound; t++) {
			const struct pfc_tunnel *tunnel = &wan->tunnels.tunnel[t];
			bool known = base && strcmp(base->tunnel[t].name, tunnel->name) == 0;

			if (tunnel->origin != PFC_TUNNEL_FREE)
				tell(l, "tunnel", tunnel->name, i, &tunnel->history[i],
					known ? &base->tunnel[t].history[i] : NULL);
		}
	}
}

void node_pauses(const struct node *n, uint64_t now, void (*say)(void *arg, const struct node_pauses *p), void *arg)
{
	all(n, NULL, &(struct listener){say, arg, now, 0});
}

void node_pauses_shown(const struct node *n, uint64_t now, void (*say)(void *arg, const struct node_pauses *p),
	void *arg)
{
	const struct node_cleared_pfc *base = service_pfc(n)->cleared;

	all(n, base, &(struct listener){say, arg, now, base ? base->at : 0});
}

struct service_pfc_port service_pfc_shown(const struct node *n, uint32_t port)
{
	struct service_pfc_port out = service_pfc(n)->port[port];
	const struct service_pfc_port *base;

	if (!service_pfc(n)->cleared)
		return out;
	base = &service_pfc(n)->cleared->port[port];
#define X(kind, member, ...) STAT_SINCE(kind, out.member, base->member)
	PFC_RX_COUNTERS(X)
	PFC_COUNTERS(X)
#undef X
#define X(kind, member, ...) STAT_SINCE(kind, out.speaker.member, base->speaker.member)
	PFC_TX_COUNTERS(X)
#undef X
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		out.heard[i] = pfc_history_since(&out.heard[i], &base->heard[i], service_pfc(n)->cleared->at);
		out.sid[i] = pfc_history_since(&out.sid[i], &base->sid[i], service_pfc(n)->cleared->at);
		out.speaker.history[i] = pfc_history_since(&out.speaker.history[i], &base->speaker.history[i],
			service_pfc(n)->cleared->at);
	}
	return out;
}

void node_clear_pfc(struct node *n)
{
	const struct control_pfc *wan = service_pfc(n)->control;
	struct node_cleared_pfc *base = service_pfc(n)->cleared ? service_pfc(n)->cleared : calloc(1, sizeof(*base));

	if (!base)
		return;
	service_pfc(n)->cleared = base;
	base->at = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);
	for (uint32_t port = 0; port < n->n_ports; port++) {
		base->port[port] = service_pfc(n)->port[port];
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
			base->port[port].heard[i] = pfc_history_at(&service_pfc(n)->port[port].heard[i], base->at);
			base->port[port].sid[i] = pfc_history_at(&service_pfc(n)->port[port].sid[i], base->at);
			base->port[port].speaker.history[i] =
				pfc_history_at(&service_pfc(n)->port[port].speaker.history[i], base->at);
			base->relay[port][i] = pfc_history_at(&wan->relay[port].history[i], base->at);
		}
	}
	for (uint32_t t = 0; t < PFC_TUNNELS_MAX; t++) {
		memcpy(base->tunnel[t].name, wan->tunnels.tunnel[t].name, sizeof(base->tunnel[t].name));
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
			base->tunnel[t].history[i] = pfc_history_at(&wan->tunnels.tunnel[t].history[i], base->at);
	}
}
