/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ND and ARP of the control role: sends the messages of the state machine, handles those of neighbours. Control lcore.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "classify/vlan.h"
#include "neigh/nd.h"
#include "node/control_send.h"
#include "service/neighbor/neighbor.h"
#include "service/nexthop/nexthop.h"
#include "service/pfc/service_pfc.h"
#include "node/service.h"
#include "wire/arp.h"
#include "wire/icmp.h"

static const struct ip_prefix *own_subnet(const struct snap_interface *p, const struct ip_addr *addr)
{
	for (unsigned int i = 0; i < p->n_own; i++)
		if (ip_prefix_contains(&p->own[i], addr))
			return &p->own[i];
	return NULL;
}

static bool is_own(const struct snap_interface *p, const struct ip_addr *addr)
{
	for (unsigned int i = 0; i < p->n_own; i++)
		if (ip_addr_equal(&p->own[i].addr, addr))
			return true;
	return false;
}

/* Write the Ethernet header of a message on an interface. Returns its length in bytes. */
static uint32_t put_header(uint8_t *frame, const struct snap_interface *in, const struct eth_addr *to, uint16_t type)
{
	struct eth_hdr *eth = (struct eth_hdr *)frame;

	eth->dst = *to;
	eth->src = in->mac;
	eth->type = be16(type);
	if (!in->n_tags)
		return sizeof(*eth);
	/* ND and ARP keep the link working, so they have the highest priority. */
	return eth_put_tags(frame, in->tag[0].type, in->tag[0].id, in->n_tags > 1 ? in->tag[1].id : 0, 7, type);
}

static void send_frame(struct control_role *c, const struct snap_interface *in, const uint8_t *frame, uint32_t size)
{
	struct rte_mbuf *m = control_packet(c, frame, size);

	if (!m)
		return;
	stat_add(&c->lcore->stats.nd_sent, 1);
	if (in->n_tags) {
		struct interface_stats *stats = &c->lcore->stats.interface[vlan_row(in)];

		stat_add(&stats->tx_packets, 1);
		stat_add(&stats->tx_bytes, size);
	}
	control_send_frame(c, m, snap_interface_of(in->interface));
}

static void send_arp(struct control_role *c, const struct snap_interface *in, uint16_t op, uint32_t own,
	const struct eth_addr *to, uint32_t target)
{
	static const struct eth_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	uint8_t frame[ETH_MIN_LEN + 2 * sizeof(struct vlan_tag)] = {0};
	uint32_t at = put_header(frame, in, to ? to : &broadcast, ETH_TYPE_ARP);

	arp_write(frame + at, op, &in->mac, own, to, target);
	send_frame(c, in, frame, ETH_MIN_LEN + at - (uint32_t)sizeof(struct eth_hdr));
}

static void solicit4(struct control_role *c, const struct snap_interface *in, const struct ip_addr *addr,
	const struct eth_addr *mac)
{
	const struct ip_prefix *own = own_subnet(in, addr);

	send_arp(c, in, ARP_OP_REQUEST, own ? ip_addr_v4(&own->addr) : 0, mac, ip_addr_v4(addr));
}

/* Send an ND packet to `mac`; NULL: to the multicast MAC of its destination. */
static void send_nd(struct control_role *c, const struct snap_interface *in, const void *packet, size_t size,
	const struct eth_addr *mac)
{
	uint8_t frame[sizeof(struct eth_hdr) + 2 * sizeof(struct vlan_tag) + ND_MESSAGE_MAX];
	struct eth_addr group = nd_multicast_mac(&((const struct ipv6_hdr *)packet)->dst);
	uint32_t at = put_header(frame, in, mac ? mac : &group, ETH_TYPE_IPV6);

	memcpy(frame + at, packet, size);
	send_frame(c, in, frame, at + (uint32_t)size);
}

static void solicit6(struct control_role *c, const struct snap_interface *in, const struct ip_addr *addr,
	const struct eth_addr *mac)
{
	const struct ip_prefix *own = own_subnet(in, addr);
	struct ipv6_addr group = nd_solicited_node(&addr->v6);
	uint8_t packet[ND_MESSAGE_MAX];
	size_t size;

	if (!own)
		own = &in->own[0];
	size = nd_write_solicit(packet, &own->addr.v6, mac ? &addr->v6 : &group, &addr->v6, &in->mac);
	send_nd(c, in, packet, size, mac);
}

static void solicit(void *arg, uint16_t interface, const struct ip_addr *addr, const struct eth_addr *mac)
{
	struct control_role *c = arg;
	const struct snap_interface *in = snap_interface(c->s, interface);

	/* The interface was removed: send nothing. The entry expires. */
	if (!in)
		return;
	if (addr->family == 4)
		solicit4(c, in, addr, mac);
	else
		solicit6(c, in, addr, mac);
}

#define REFUSED (-2) /* in place of a state: there is no room for the address */

static void update(void *arg, uint16_t interface, const struct ip_addr *addr, const struct eth_addr *mac, int state)
{
	struct control_role *c = arg;
	struct worker_role *w = &c->node->worker[c->node->owner[snap_interface_of(interface)]];
	struct neigh_message m = {.addr = *addr, .interface = interface, .mac = *mac};

	if (state == NEIGH_REACHABLE || state == NEIGH_FAILED || state == NEIGH_UNREACHABLE)
		nexthop_report_address(c, interface, addr, LIVENESS_NEIGHBOR, state == NEIGH_REACHABLE);
	if (state == NEIGH_UNREACHABLE)
		return; /* the worker goes on with the MAC that it has */
	m.what = (uint8_t)(state == NEIGH_REACHABLE ? NEIGH_SET
			   : state == NEIGH_STALE   ? NEIGH_AGED
			   : state == NEIGH_FAILED  ? NEIGH_FAIL
			   : state == REFUSED	    ? NEIGH_REFUSE
						    : NEIGH_FORGET);
	if (state == NEIGH_REACHABLE)
		nexthop_report_address(c, interface, addr, LIVENESS_UNRESOLVED, true);
	if (state == NEIGH_REACHABLE)
		service_pfc_learn(c->node, snap_interface_of(interface), mac);
	/* has_room has checked for room. If there is none, the mailbox counts the message as refused. */
	mailbox_push(&neighbors_of(c)->updates[w->index], &m, sizeof(m));
}

/*
 * Compare one neighbour id of the snapshot with the entry that is kept resolved under that id. While a new one is asked for
 * the first time, others are preferred.
 */
static void keep(struct control_role *c, uint32_t id)
{
	const struct snap_neigh *want = id < c->s->n_neighs ? &c->s->neigh[id] : NULL;
	bool wanted = want && want->used && !want->is_static;
	struct control_kept *k = &neighbors_of(c)->kept[id];

	if (k->kept && (!wanted || k->interface != want->interface || !ip_addr_equal(&k->addr, &want->addr))) {
		neigh_cache_keep(neighbors_of(c)->table, c->now, k->interface, &k->addr, false);
		k->kept = false;
	}
	if (wanted && !k->kept) {
		*k = (struct control_kept){.addr = want->addr, .interface = want->interface};
		k->kept = neigh_cache_keep(neighbors_of(c)->table, c->now, k->interface, &k->addr, true) == 0;
		if (k->kept && !neigh_cache_has_mac(neighbors_of(c)->table, k->interface, &k->addr))
			nexthop_report(c, id, LIVENESS_UNRESOLVED, false);
	}
}

/* Compare a VLAN interface with the one of the last snapshot. Another number means other stations. True: it is gone. */
static bool look_at_interface(struct control_role *c, uint32_t row)
{
	const struct snap_interface *in = row < c->s->n_interfaces ? c->s->interface[row] : NULL;
	uint16_t number = in ? in->interface : 0;
	bool gone = neighbors_of(c)->interface[row] && neighbors_of(c)->interface[row] != number;

	if (gone)
		neigh_cache_link_down(neighbors_of(c)->table, c->now, neighbors_of(c)->interface[row], UINT16_MAX);
	neighbors_of(c)->interface[row] = number;
	return gone;
}

/* Each removed interface costs a scan of all neighbours, so a pass is limited. Returns true when all are done. */
static bool look_at_interfaces(struct control_role *c)
{
	struct node_neighbors *s = neighbors_of(c);
	uint32_t rows = MAX_OF(s->interface_rows, c->s->n_interfaces), gone = 0;

	while (s->interface_at < rows && gone < CONTROL_BURST)
		gone += look_at_interface(c, s->interface_at++);
	/* rows that a snapshot left half way had set count, too */
	s->interface_rows = s->interface_at < rows ? MAX_OF(s->interface_rows, s->interface_at) : c->s->n_interfaces;
	return s->interface_at >= rows;
}

/* The same for the next hops, by neighbour id. */
static bool look_at_next_hops(struct control_role *c)
{
	struct node_neighbors *s = neighbors_of(c);
	uint32_t rows = MAX_OF(s->kept_rows, c->s->n_neighs);

	for (unsigned int i = 0; i < CONTROL_BURST && s->kept_at < rows; i++)
		keep(c, s->kept_at++);
	s->kept_rows = s->kept_at < rows ? MAX_OF(s->kept_rows, s->kept_at) : c->s->n_neighs;
	return s->kept_at >= rows;
}

static void take_snapshot(struct control_role *c)
{
	const struct snap_discovery *d = &c->s->discovery;
	struct neigh_limits limits = {
		.retransmit_ns = d->retransmit_ms * NSEC_PER_MSEC,
		.reachable_ns = d->reachable_ms * NSEC_PER_MSEC,
		.stale_ns = d->stale_ms * NSEC_PER_MSEC,
		.probes = (uint32_t)d->probes,
		.max = d->max,
	};

	if (likely(neighbors_of(c)->kept_generation == c->s->generation && neighbors_of(c)->kept_all))
		return;
	if (neighbors_of(c)->kept_generation != c->s->generation) {
		neighbors_of(c)->kept_generation = c->s->generation;
		neighbors_of(c)->kept_all = false;
		neighbors_of(c)->kept_at = 0;
		neighbors_of(c)->interface_at = 0;
		neigh_cache_set_limits(neighbors_of(c)->table, &limits);
	}
	/* Interfaces come first: entries kept on a new interface must not be dropped with those of the old one. */
	neighbors_of(c)->kept_all = look_at_interfaces(c) && look_at_next_hops(c);
}

/* Each event causes at most two messages to a worker, and a batch is CONTROL_BURST events. */
static bool has_room(const struct control_role *c)
{
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		if (mailbox_room(&neighbors_of(c)->updates[i]) < 2 * CONTROL_BURST)
			return false;
	return true;
}

static unsigned int answer_questions(struct control_role *c, struct worker_role *w)
{
	struct mailbox *questions = &neighbors_of(c)->questions[w->index];
	struct neigh_message m[CONTROL_BURST];
	static const struct eth_addr none;
	unsigned int n;

	if (mailbox_is_empty(questions) || !has_room(c))
		return 0;
	n = mailbox_pop(questions, m, sizeof(m[0]), CONTROL_BURST);
	for (unsigned int i = 0; i < n; i++) {
		if (m[i].what == NEIGH_USED)
			neigh_cache_used(neighbors_of(c)->table, c->now, m[i].interface, &m[i].addr);
		else if (neigh_cache_ask(neighbors_of(c)->table, c->now, m[i].interface, &m[i].addr) < 0)
			update(c, m[i].interface, &m[i].addr, &none, REFUSED);
	}
	return n;
}

/*
 * The next hops of a port must be resolved again: others are preferred until they have answered. One that spoke first may
 * have been heard before its link was seen to be up.
 */
static void prefer_others(struct control_role *c, uint32_t port)
{
	for (uint32_t i = 0; i < c->s->n_neighs; i++) {
		const struct snap_neigh *n = &c->s->neigh[i];

		if (n->used && n->port == port && !n->is_static &&
			!neigh_cache_has_mac(neighbors_of(c)->table, n->interface, &n->addr))
			nexthop_report(c, i, LIVENESS_UNRESOLVED, false);
	}
}

/* After a link was down, another station may be connected, so the learnt entries are invalid. */
static void look_at_links(struct control_role *c)
{
	for (uint32_t i = 0; i < c->s->n_ports; i++) {
		bool up = port_is_up(c->node->port[i]);

		if (neighbors_of(c)->port_up[i] && !up)
			neigh_cache_link_down(neighbors_of(c)->table, c->now, (uint16_t)i, SNAP_INTERFACE_ROW - 1);
		if (neighbors_of(c)->looked && !neighbors_of(c)->port_up[i] && up) {
			neigh_cache_link_up(neighbors_of(c)->table, c->now, (uint16_t)i, SNAP_INTERFACE_ROW - 1);
			prefer_others(c, i);
		}
		neighbors_of(c)->port_up[i] = up;
	}
	neighbors_of(c)->looked = true;
}

static unsigned int poll_neighbors(struct control_role *c, uint64_t *next)
{
	unsigned int work = 0;
	uint64_t due = c->now;

	look_at_links(c);
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		work += answer_questions(c, &c->node->worker[i]);
	if (has_room(c))
		work += neigh_cache_poll(neighbors_of(c)->table, c->now, CONTROL_BURST, &due);
	if (!neighbors_of(c)->kept_all)
		due = c->now;
	*next = MIN_OF(*next, due);
	return work;
}

static void answer_solicit(struct control_role *c, const struct snap_interface *in, const struct nd_message *nd,
	const struct eth_addr *from)
{
	static const struct ipv6_addr all_nodes = {{0xff, 0x02, [15] = 1}};
	uint8_t packet[ND_MESSAGE_MAX];
	size_t size;

	if (nd->target.family == 4) {
		send_arp(c, in, ARP_OP_REPLY, ip_addr_v4(&nd->target), &nd->mac,
			nd->sender.family ? ip_addr_v4(&nd->sender) : 0);
		return;
	}
	size = nd_write_advert(packet, &nd->target.v6, nd->sender.family ? &nd->sender.v6 : &all_nodes, &nd->target.v6,
		&in->mac, nd->sender.family != 0);
	/* To the MAC of the option, else to the source MAC of the frame (RFC 4861 section 7.2.4). */
	send_nd(c, in, packet, size, !nd->sender.family ? NULL : nd->has_mac ? &nd->mac : from);
}

/* Returns false when the message is not valid on the interface. */
static bool hear(struct control_role *c, const struct snap_interface *in, const struct nd_message *nd,
	const struct eth_addr *from)
{
	const struct ip_addr *about = nd->kind == ND_SOLICIT ? &nd->sender : &nd->target;
	struct neigh_news news = {.port = in->interface,
		.addr = *about,
		.mac = nd->mac,
		.has_mac = nd->has_mac,
		.solicited = nd->solicited,
		.override = nd->kind == ND_SOLICIT || nd->override};

	if (nd->kind == ND_OTHER)
		return true;
	if (about->family && (is_own(in, about) || !own_subnet(in, about)))
		return false;
	if (nd->kind == ND_SOLICIT) {
		news.create = is_own(in, &nd->target);
		if (news.create)
			answer_solicit(c, in, nd, from);
	}
	if (about->family)
		neigh_cache_heard(neighbors_of(c)->table, c->now, &news);
	if (about->family && news.has_mac)
		nexthop_report_address(c, in->interface, about, LIVENESS_UNRESOLVED, true);
	return true;
}

static bool take(struct control_role *c, struct rte_mbuf *m)
{
	const struct snap_interface *in = control_came_in_by(c, m);
	const struct pkt *x = pkt_of(m);
	enum reason reason = x->punt == PUNT_ARP ? CONSUME_arp : CONSUME_nd;
	struct nd_message nd;
	uint32_t size = pkt_copy_out(m, x->strip, c->scratch, 1500);
	struct eth_addr from = ((const struct eth_hdr *)rte_pktmbuf_mtod(m, const void *))->src;
	int rc = x->punt == PUNT_ARP ? arp_parse(c->scratch, size, &nd) : nd_parse(c->scratch, size, &nd);

	if (!in)
		reason = DROP_vlan;
	else if (rc < 0 || !hear(c, in, &nd, &from))
		reason = DROP_nd_invalid;
	pkt_end(m, reason, &c->lcore->stats);
	return true;
}

/* egress_context.ask: the egress of a worker requests a neighbour. Worker lcore. */
static bool ask_control(void *arg, struct neigh_message *message)
{
	struct worker_role *w = arg;

	return mailbox_push(&node_neighbors(w->node)->questions[w->index], message, sizeof(*message));
}

static int open_mailboxes(struct control_role *c, struct worker_role *w, int socket)
{
	struct mailbox_options updates = {.carries = "neighbors",
		.from = control_end(c),
		.to = worker_end(w),
		.bytes = sizeof(struct neigh_message),
		.slots = LIMIT_NEIGH_MESSAGES,
		.socket = socket};
	struct mailbox_options questions = {.carries = "questions",
		.from = worker_end(w),
		.to = control_end(c),
		.bytes = sizeof(struct neigh_message),
		.slots = LIMIT_NEIGH_MESSAGES,
		.socket = socket};
	int rc = mailbox_open(&c->node->mailboxes, &neighbors_of(c)->updates[w->index], &updates);

	if (rc == 0)
		rc = mailbox_open(&c->node->mailboxes, &neighbors_of(c)->questions[w->index], &questions);
	w->ctx.ask = ask_control;
	return rc;
}

static int init(struct control_role *c, int socket)
{
	static const struct neigh_ops ops = {.solicit = solicit, .update = update};
	struct node_neighbors *s = new_aligned(sizeof(*s));
	int rc = 0;

	c->node->state[SERVICE_NEIGHBOR] = s;
	if (!s)
		return -ENOMEM;
	s->table = neigh_cache_new(&ops, c);
	s->kept = calloc(SNAP_NEIGH_MAX, sizeof(*s->kept));
	if (!s->table || !s->kept)
		return -ENOMEM;
	for (uint16_t w = 0; w < c->node->n_workers && rc == 0; w++)
		rc = open_mailboxes(c, &c->node->worker[w], socket);
	return rc;
}

static void fini(struct control_role *c)
{
	if (!neighbors_of(c))
		return;
	neigh_cache_free(neighbors_of(c)->table);
	free(neighbors_of(c)->kept);
	free(neighbors_of(c));
}

const struct control_service neighbor_service = {
	.name = "neighbor",
	.init = init,
	.fini = fini,
	.snapshot = take_snapshot,
	.has_room = has_room,
	.takes = SERVICE_TAKES(PUNT_ND) | SERVICE_TAKES(PUNT_ARP),
	.take = take,
	.poll = poll_neighbors,
	.worker = &neighbor_worker_hooks,
};
