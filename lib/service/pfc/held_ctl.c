/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses in force that a new snapshot would take away: whoever is paused would send again into a buffer that is full,
 * or this node into that of its neighbour. A reload waits for their end (control_service.held). Management thread.
 */
#include <stdarg.h>
#include <stdio.h>

#include "service/pfc/pfc_cp.h"
#include "snapshot/pfc_outer.h"

#define TEXT_MAX 256
#define ANY_SLICE UINT32_MAX

struct listener {
	const struct node *n;
	const struct snapshot *old, *next;
	uint64_t now;
	void (*say)(void *arg, const char *text);
	void *arg;
};

static void PRINTF_LIKE(2, 3) tell(const struct listener *l, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	l->say(l->arg, text);
}

/* Priorities with a pause in force, a bit each. */
static uint8_t paused(const struct listener *l, const struct pfc_history *h)
{
	uint8_t bits = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (stat_read(&h[i].until) > l->now)
			bits = (uint8_t)(bits | 1u << i);
	return bits;
}

static const char *list(uint8_t priorities, char text[2 * PFC_PRIORITIES])
{
	char *p = text;

	*p = '\0';
	FOR_EACH_BIT(i, priorities)
		p += sprintf(p, "%s%u", p == text ? "" : ",", (unsigned int)i);
	return text;
}

/* --- ports --- */

/* Priorities in which this node obeys the neighbour. */
static uint8_t obeyed(const struct snap_interface *p)
{
	return p->pfc_relayed && !p->pfc_obeyed ? 0 : p->lossless;
}

static bool same_peers(const struct snap_interface *a, const struct snap_interface *b)
{
	return a->n_pfc_peers == b->n_pfc_peers && a->pfc_learn == b->pfc_learn &&
	       memcmp(a->pfc_peer, b->pfc_peer, a->n_pfc_peers * sizeof(a->pfc_peer[0])) == 0;
}

static bool above(const struct pfc_threshold *level, const struct pfc_threshold *threshold)
{
	return level->bytes >= threshold->bytes || level->buffers >= threshold->buffers;
}

/* Less room than before, and more in the buffer than leaves the headroom free for what is still on its way. */
static void look_at_room(const struct listener *l, uint16_t port, uint8_t priorities)
{
	const struct pfc_buffer_config *was = &l->old->port[port].buffer, *is = &l->next->port[port].buffer;

	if (is->full.bytes >= was->full.bytes && is->full.buffers >= was->full.buffers)
		return;
	FOR_EACH_BIT(i, priorities) {
		struct pfc_threshold level = service_pfc_level(l->n, port, i);

		if (above(&level, &is->urgent))
			tell(l, "ports %s: priority %u holds %llu bytes, and XOFF would be at %llu",
				l->old->port[port].name, (unsigned int)i, (unsigned long long)level.bytes,
				(unsigned long long)is->xoff.bytes);
	}
}

static void look_at_port(const struct listener *l, uint16_t port)
{
	const struct service_pfc_port *state = &service_pfc(l->n)->port[port];
	const struct snap_interface *was = &l->old->port[port], *is = &l->next->port[port];
	uint8_t said = paused(l, state->speaker.history) & was->lossless & ~is->lossless;
	uint8_t heard = paused(l, state->heard) & obeyed(was);
	char text[2 * PFC_PRIORITIES];

	if (said)
		tell(l, "ports %s: the neighbour is paused in priority %s", was->name, list(said, text));
	if (heard & ~obeyed(is))
		tell(l, "ports %s: the neighbour pauses priority %s", was->name, list(heard & ~obeyed(is), text));
	else if (heard && !same_peers(was, is))
		tell(l, "ports %s: the neighbour pauses priority %s, and pfc.peers changes", was->name,
			list(heard, text));
	look_at_room(l, port, was->lossless & is->lossless);
}

/* --- relays --- */

static const struct snap_relay *relay_at(const struct snapshot *s, uint16_t port)
{
	for (uint32_t i = 0; i < s->n_relays; i++)
		if (s->relay[i].port == port)
			return &s->relay[i];
	return NULL;
}

static bool same_sources(const struct listener *l, const struct snap_match *a, uint32_t n_a, const struct snap_match *b,
	uint32_t n_b)
{
	bool infrastructure = l->old->n_infrastructure == l->next->n_infrastructure &&
			      memcmp(l->old->infrastructure, l->next->infrastructure,
				      l->old->n_infrastructure * sizeof(l->old->infrastructure[0])) == 0;

	return infrastructure && n_a == n_b && (!n_a || memcmp(a, b, n_a * sizeof(*a)) == 0);
}

static const struct snap_pfc_sid *pfc_sid(const struct snapshot *s, uint32_t id)
{
	return id < s->n_sids && s->sid[id].used ? s->sid[id].pfc : NULL;
}

/* Do far PEs still reach the relay of a port by every SID by which they do? */
static bool same_way_in(const struct listener *l, const struct snap_relay *was, const struct snap_relay *is)
{
	if (was->mode != is->mode || was->udp_port != is->udp_port ||
		!same_sources(l, was->allowed, was->n_allowed, is->allowed, is->n_allowed))
		return false;
	for (uint32_t id = 0; id < l->old->n_sids; id++) {
		const struct snap_pfc_sid *a = pfc_sid(l->old, id), *b = pfc_sid(l->next, id);

		if (a && a->relay == was &&
			(!b || b->relay != is || (!a->hmac && b->hmac) ||
				!same_sources(l, a->allowed, a->n_allowed, b->allowed, b->n_allowed)))
			return false;
	}
	return true;
}

static void look_at_relay(const struct listener *l, const struct snap_relay *was)
{
	const struct snap_relay *is = relay_at(l->next, was->port);
	const struct control_pfc *wan = service_pfc(l->n)->control;
	const char *fate = is ? "changes" : "goes";
	uint8_t gateway = paused(l, wan->relay[was->port].history), asked = 0;
	char text[2 * PFC_PRIORITIES];

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (stat_read(&wan->asked_until[was->port][i]) > l->now)
			asked = (uint8_t)(asked | 1u << i);
	if (is && was->receives && is->receives && same_way_in(l, was, is))
		gateway &= (uint8_t)~l->next->port[was->port].lossless;
	if (is && is->outer.bytes && was->udp_port == is->udp_port)
		asked &= (uint8_t)~l->next->port[was->port].lossless;
	if (was->receives && gateway)
		tell(l, "pfc-relays %s %s: it pauses the gateway at %s in priority %s", was->name, fate,
			l->old->port[was->port].name, list(gateway, text));
	if (was->outer.bytes && asked)
		tell(l, "pfc-relays %s %s: through it the gateway at %s pauses priority %s of far PEs", was->name, fate,
			l->old->port[was->port].name, list(asked, text));
}

/* --- End.X.PFC and slices --- */

/* Classes of a slice, or of any, whose gates on a port pauses hold closed. */
static uint8_t held_shut(const struct listener *l, uint16_t port, uint32_t slice)
{
	const struct egress *e = &l->n->egress[port];
	uint32_t first = slice == ANY_SLICE ? 0 : slice;
	uint32_t end = slice == ANY_SLICE ? l->old->n_slices : slice + 1;
	uint8_t bits = 0;

	for (uint32_t id = first; id < end; id++)
		bits = (uint8_t)(bits | __atomic_load_n(&e->slice[id].closed[EGRESS_PAUSE], __ATOMIC_RELAXED));
	return bits;
}

static bool pauses_the_same(const struct listener *l, const struct snap_sid *was, const struct snap_sid *is)
{
	const struct snap_pfc_sid *a = was->pfc, *b = is->pfc;

	return b && !b->relay && !(a->ports & ~b->ports) && a->slice == b->slice && was->slice_by == is->slice_by &&
	       a->hmac >= b->hmac && (a->keys.n || !b->keys.n) &&
	       same_sources(l, a->allowed, a->n_allowed, b->allowed, b->n_allowed);
}

static void look_at_sid(const struct listener *l, uint32_t id)
{
	const struct snap_sid *was = &l->old->sid[id];
	char sid[IP_PREFIX_TEXT], text[2 * PFC_PRIORITIES];
	bool stays = pfc_sid(l->next, id);

	if (!pfc_sid(l->old, id) || was->pfc->relay || (stays && pauses_the_same(l, was, &l->next->sid[id])))
		return;
	for (uint16_t port = 0; port < l->old->n_ports; port++) {
		uint8_t shut = was->pfc->ports >> port & 1
				       ? held_shut(l, port, was->slice_by ? ANY_SLICE : was->pfc->slice)
				       : 0;

		if (shut)
			tell(l, "sids %s %s: pauses hold priority %s of %s", ip_prefix_format(&was->prefix, sid),
				stays ? "changes" : "goes", list(shut, text), l->old->port[port].name);
	}
}

static void look_at_slice(const struct listener *l, uint32_t id)
{
	const struct snap_slice *was = &l->old->slice[id];
	bool stays = id < l->next->n_slices && l->next->slice[id].name;
	char text[2 * PFC_PRIORITIES];

	if (!was->name || !*was->name || (stays && was->wire_id == l->next->slice[id].wire_id))
		return;
	for (uint16_t port = 0; port < l->old->n_ports; port++) {
		uint8_t shut = held_shut(l, port, id);

		if (shut)
			tell(l, "slices %s %s: pauses hold its priority %s on %s", was->name,
				stays ? "gets another id" : "goes", list(shut, text), l->old->port[port].name);
	}
}

/* --- tunnels --- */

/* Do both lead to the same SID of the same node? Its last two addresses say that. */
static bool same_end(const struct snap_pfc_outer *a, const struct snap_pfc_outer *b)
{
	struct ipv6_addr x[PFC_OUTER_ADDRESSES], y[PFC_OUTER_ADDRESSES];
	unsigned int n = pfc_outer_addresses(a, x), m = pfc_outer_addresses(b, y);

	return n && m && memcmp(&x[n - 1], &y[m - 1], sizeof(x[0])) == 0;
}

static const struct snap_pfc_tunnel *tunnel_of(const struct snapshot *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_pfc_tunnels; i++)
		if (strcmp(s->pfc_tunnel[i].name, name) == 0)
			return &s->pfc_tunnel[i];
	return NULL;
}

static bool slice_stays(const struct listener *l, uint8_t slice)
{
	return slice < l->next->n_slices && l->next->slice[slice].name;
}

/* Priorities of a configured tunnel that the new snapshot lets it hold. */
static uint8_t kept_configured(const struct listener *l, const struct pfc_tunnel *t)
{
	const struct snap_pfc_tunnel *was = tunnel_of(l->old, t->name), *is = tunnel_of(l->next, t->name);

	if (!was || !is || was->port != is->port || was->slice != is->slice || was->carries != is->carries ||
		!same_end(&was->outer, &is->outer))
		return 0;
	return is->priorities & l->next->port[is->port].lossless;
}

static bool same_remotes(const struct pfc_remotes *a, const struct pfc_remotes *b)
{
	if (a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++) {
		const struct pfc_remote *x = &a->sid[i], *y = &b->sid[i];

		if (!ip_prefix_equal(&x->prefix, &y->prefix) || x->behavior != y->behavior ||
			strcmp(x->owner, y->owner) != 0)
			return false;
	}
	return true;
}

static uint8_t kept_learnt(const struct listener *l, const struct pfc_tunnel *t)
{
	const struct snap_interface *p = &l->next->port[t->port];

	return p->pfc_learning && slice_stays(l, t->slice) && same_remotes(&l->old->remotes, &l->next->remotes)
		       ? p->lossless
		       : 0;
}

static void look_at_tunnels(const struct listener *l)
{
	const struct pfc_tunnels *all = &service_pfc(l->n)->control->tunnels;
	uint32_t bound = __atomic_load_n(&all->bound, __ATOMIC_RELAXED);
	char text[2 * PFC_PRIORITIES];

	for (uint32_t i = 0; i < bound; i++) {
		const struct pfc_tunnel *t = &all->tunnel[i];
		uint8_t stopped = t->origin == PFC_TUNNEL_FREE ? 0 : paused(l, t->history);

		if (stopped)
			stopped &= (uint8_t) ~(
				t->origin == PFC_TUNNEL_CONFIGURED ? kept_configured(l, t) : kept_learnt(l, t));
		if (stopped)
			tell(l, "%s %s: it pauses priority %s of its far end",
				t->origin == PFC_TUNNEL_CONFIGURED ? "pfc-tunnels" : "learnt PFC tunnel", t->name,
				list(stopped, text));
	}
}

void service_pfc_held(const struct node *n, const struct snapshot *next, void (*say)(void *arg, const char *text),
	void *arg)
{
	struct listener l = {.n = n,
		.old = n->snapshot,
		.next = next,
		.now = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED),
		.say = say,
		.arg = arg};

	for (uint16_t port = 0; port < l.old->n_ports; port++)
		look_at_port(&l, port);
	for (uint32_t i = 0; i < l.old->n_relays; i++)
		look_at_relay(&l, &l.old->relay[i]);
	for (uint32_t id = 0; id < l.old->n_sids; id++)
		look_at_sid(&l, id);
	for (uint32_t id = 0; id < l.old->n_slices; id++)
		look_at_slice(&l, id);
	look_at_tunnels(&l);
}
