/* SPDX-License-Identifier: BSD-3-Clause */
#include "node/control_pfc.h"
#include "node/node_ctl.h"

struct listener {
	void (*say)(void *arg, const struct node_pauses *p);
	void *arg;
	uint64_t now;
};

static void tell(const struct listener *l, const char *direction, const char *name, unsigned int priority,
	const struct pfc_history *h)
{
	struct node_pauses p = {.direction = direction, .name = name, .priority = priority, .history = pfc_history_at(h, l->now)};

	if (!p.history.transitions)
		return;
	p.total_ns = pfc_history_total(&p.history, l->now);
	l->say(l->arg, &p);
}

void node_pauses(const struct node *n, uint64_t now, void (*say)(void *arg, const struct node_pauses *p), void *arg)
{
	const struct control_pfc *wan = n->control->pfc;
	uint32_t bound = __atomic_load_n(&wan->tunnels.bound, __ATOMIC_RELAXED);
	struct listener l = {say, arg, now};

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		for (uint32_t port = 0; port < n->n_ports; port++) {
			tell(&l, "heard", n->port[port]->name, i, &n->pfc[port].heard[i]);
			tell(&l, "said", n->port[port]->name, i, &n->pfc[port].speaker.history[i]);
			tell(&l, "relayed", n->port[port]->name, i, &wan->relay[port].history[i]);
		}
		for (uint32_t t = 0; t < bound; t++)
			if (wan->tunnels.tunnel[t].origin != PFC_TUNNEL_FREE)
				tell(&l, "tunnel", wan->tunnels.tunnel[t].name, i, &wan->tunnels.tunnel[t].history[i]);
	}
}
