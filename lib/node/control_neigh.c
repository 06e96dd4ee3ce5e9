/* SPDX-License-Identifier: BSD-3-Clause */
/* ND and ARP of the control role: the state machine's messages out, the neighbours' messages in. */
#include <errno.h>
#include <stdlib.h>

#include "neigh/nd.h"
#include "node/control_priv.h"
#include "wire/arp.h"
#include "wire/icmp.h"

static const struct ip_prefix *own_subnet(const struct snap_port *p, const struct ip_addr *addr)
{
	for (unsigned int i = 0; i < p->n_own; i++)
		if (ip_prefix_contains(&p->own[i], addr))
			return &p->own[i];
	return NULL;
}

static bool is_own(const struct snap_port *p, const struct ip_addr *addr)
{
	for (unsigned int i = 0; i < p->n_own; i++)
		if (ip_addr_equal(&p->own[i].addr, addr))
			return true;
	return false;
}

static void send_arp(struct control_role *c, uint16_t port, uint16_t op, uint32_t own, const struct eth_addr *to,
	uint32_t target)
{
	static const struct eth_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	uint8_t frame[ETH_MIN_LEN] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct rte_mbuf *m;

	eth->dst = to ? *to : broadcast;
	eth->src = c->s->port[port].mac;
	eth->type = be16(ETH_TYPE_ARP);
	arp_write(eth + 1, op, &eth->src, own, to, target);
	m = control_packet(c, frame, sizeof(frame));
	if (m) {
		stat_add(&c->lcore->stats.nd_sent, 1);
		control_send_frame(c, m, port);
	}
}

static void solicit4(struct control_role *c, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac)
{
	const struct ip_prefix *own = own_subnet(&c->s->port[port], addr);

	send_arp(c, port, ARP_OP_REQUEST, own ? ip_addr_v4(&own->addr) : 0, mac, ip_addr_v4(addr));
}

/* An ND packet to a station whose MAC is known, or to a group. */
static void send_nd(struct control_role *c, uint16_t port, const void *packet, size_t size,
	const struct eth_addr *mac)
{
	uint8_t frame[sizeof(struct eth_hdr) + ND_MESSAGE_MAX];
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct rte_mbuf *m;

	eth->dst = mac ? *mac : nd_multicast_mac(&((const struct ipv6_hdr *)packet)->dst);
	eth->src = c->s->port[port].mac;
	eth->type = be16(ETH_TYPE_IPV6);
	memcpy(eth + 1, packet, size);
	m = control_packet(c, frame, (uint32_t)(sizeof(*eth) + size));
	if (m) {
		stat_add(&c->lcore->stats.nd_sent, 1);
		control_send_frame(c, m, port);
	}
}

static void solicit6(struct control_role *c, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac)
{
	const struct snap_port *p = &c->s->port[port];
	const struct ip_prefix *own = own_subnet(p, addr);
	struct ipv6_addr group = nd_solicited_node(&addr->v6);
	uint8_t packet[ND_MESSAGE_MAX];
	size_t size;

	if (!own)
		own = &p->own[0];
	size = nd_write_solicit(packet, &own->addr.v6, mac ? &addr->v6 : &group, &addr->v6, &p->mac);
	send_nd(c, port, packet, size, mac);
}

static void solicit(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac)
{
	if (addr->family == 4)
		solicit4(arg, port, addr, mac);
	else
		solicit6(arg, port, addr, mac);
}

static void update(void *arg, uint16_t port, const struct ip_addr *addr, const struct eth_addr *mac, int state)
{
	struct control_role *c = arg;
	struct worker_role *w = &c->node->worker[c->node->owner[port]];
	struct nbr_message m = {.addr = *addr, .port = port, .mac = *mac};

	m.what = (uint8_t)(state == NEIGH_REACHABLE ? NBR_SET
			   : state == NEIGH_STALE   ? NBR_AGED
			   : state == NEIGH_FAILED  ? NBR_FAIL
						    : NBR_FORGET);
	if (state == NEIGH_REACHABLE)
		node_pfc_learn(c->node, port, mac);
	/* there is room: see control_mailboxes_ready */
	rte_ring_sp_enqueue_elem(w->from_control, &m, sizeof(m));
}

int control_neigh_init(struct control_role *c)
{
	static const struct neigh_ops ops = {.solicit = solicit, .update = update};

	c->neighs = neigh_new(&ops, c);
	c->kept = calloc(SNAP_NBR_MAX, sizeof(*c->kept));
	c->kept_at = 0;
	return c->neighs && c->kept ? 0 : -ENOMEM;
}

void control_neigh_fini(struct control_role *c)
{
	neigh_free(c->neighs);
	free(c->kept);
}

/* One neighbour id of the snapshot against what is being kept under that id. */
static void keep(struct control_role *c, uint32_t id)
{
	const struct snap_nbr *want = id < c->s->n_nbrs ? &c->s->nbr[id] : NULL;
	bool wanted = want && want->used && !want->is_static;
	struct control_kept *k = &c->kept[id];

	if (k->kept && (!wanted || k->port != want->port || !ip_addr_equal(&k->addr, &want->addr))) {
		neigh_keep(c->neighs, c->now, k->port, &k->addr, false);
		k->kept = false;
	}
	if (wanted && !k->kept) {
		*k = (struct control_kept){.addr = want->addr, .port = want->port};
		k->kept = neigh_keep(c->neighs, c->now, k->port, &k->addr, true) == 0;
	}
}

void control_neigh_snapshot(struct control_role *c)
{
	const struct cfg_discovery *d = &c->s->discovery;
	struct neigh_limits limits = {
		.retransmit_ns = d->retransmit_ms * NSEC_PER_MSEC,
		.reachable_ns = d->reachable_ms * NSEC_PER_MSEC,
		.stale_ns = d->stale_ms * NSEC_PER_MSEC,
		.probes = (uint32_t)d->probes,
		.max = (uint32_t)d->max,
	};

	if (likely(c->kept_generation == c->s->generation && c->kept_at == SNAP_NBR_MAX))
		return;
	if (c->kept_generation != c->s->generation) {
		c->kept_generation = c->s->generation;
		c->kept_at = 0;
		neigh_set_limits(c->neighs, &limits);
	}
	for (unsigned int i = 0; i < CONTROL_BURST && c->kept_at < SNAP_NBR_MAX; i++)
		keep(c, c->kept_at++);
}

/* Each event tells a worker at most two things, and a batch is CONTROL_BURST events. */
bool control_mailboxes_ready(const struct control_role *c)
{
	for (uint16_t i = 0; i < c->node->n_workers; i++)
		if (rte_ring_free_count(c->node->worker[i].from_control) < 2 * CONTROL_BURST ||
			rte_ring_free_count(c->node->worker[i].pauses) < 2 * CONTROL_BURST * MAX_PORTS)
			return false;
	return true;
}

static unsigned int answer_questions(struct control_role *c, struct worker_role *w)
{
	struct nbr_message m[CONTROL_BURST];
	unsigned int n = rte_ring_sc_dequeue_burst_elem(w->ask_control, m, sizeof(m[0]), CONTROL_BURST, NULL);
	static const struct eth_addr none;

	for (unsigned int i = 0; i < n; i++) {
		if (m[i].what == NBR_USED)
			neigh_used(c->neighs, c->now, m[i].port, &m[i].addr);
		else if (neigh_ask(c->neighs, c->now, m[i].port, &m[i].addr) < 0)
			update(c, m[i].port, &m[i].addr, &none, -1);
	}
	return n;
}

/* Behind a link that was down there may be another station: what was learnt there is void. */
static void look_at_links(struct control_role *c)
{
	for (uint32_t i = 0; i < c->s->n_ports; i++) {
		bool up = port_is_up(c->node->port[i]);

		if (c->port_up[i] && !up)
			neigh_port_down(c->neighs, c->now, (uint16_t)i);
		c->port_up[i] = up;
	}
}

unsigned int control_neigh_poll(struct control_role *c, uint64_t *next)
{
	unsigned int work = 0;

	*next = c->now;
	look_at_links(c);
	for (uint16_t i = 0; i < c->node->n_workers && control_mailboxes_ready(c); i++)
		work += answer_questions(c, &c->node->worker[i]);
	if (control_mailboxes_ready(c))
		work += neigh_poll(c->neighs, c->now, CONTROL_BURST, next);
	if (c->kept_at < SNAP_NBR_MAX)
		*next = c->now;
	return work;
}

static void answer_solicit(struct control_role *c, uint16_t port, const struct nd_message *nd,
	const struct eth_addr *from)
{
	static const struct ipv6_addr all_nodes = {{0xff, 0x02, [15] = 1}};
	const struct snap_port *p = &c->s->port[port];
	uint8_t packet[ND_MESSAGE_MAX];
	size_t size;

	if (nd->target.family == 4) {
		send_arp(c, port, ARP_OP_REPLY, ip_addr_v4(&nd->target), &nd->mac,
			nd->sender.family ? ip_addr_v4(&nd->sender) : 0);
		return;
	}
	size = nd_write_advert(packet, &nd->target.v6, nd->sender.family ? &nd->sender.v6 : &all_nodes,
		&nd->target.v6, &p->mac, nd->sender.family != 0);
	/* to where the option says, else to where the frame came from (RFC 4861 section 7.2.4) */
	send_nd(c, port, packet, size, !nd->sender.family ? NULL : nd->has_mac ? &nd->mac : from);
}

/* False when the message may not be believed. */
static bool hear(struct control_role *c, uint16_t port, const struct nd_message *nd, const struct eth_addr *from)
{
	const struct snap_port *p = &c->s->port[port];
	const struct ip_addr *about = nd->kind == ND_SOLICIT ? &nd->sender : &nd->target;
	struct neigh_news news = {.port = port,
		.addr = *about,
		.mac = nd->mac,
		.has_mac = nd->has_mac,
		.solicited = nd->solicited,
		.override = nd->kind == ND_SOLICIT || nd->override};

	if (nd->kind == ND_OTHER)
		return true;
	if (about->family && (is_own(p, about) || !own_subnet(p, about)))
		return false;
	if (nd->kind == ND_SOLICIT) {
		news.create = is_own(p, &nd->target);
		if (news.create)
			answer_solicit(c, port, nd, from);
	}
	if (about->family)
		neigh_heard(c->neighs, c->now, &news);
	return true;
}

void control_neigh_packet(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	enum reason reason = x->punt == PUNT_ARP ? CONSUME_arp : CONSUME_nd;
	struct nd_message nd;
	uint32_t size = pkt_copy_out(m, x->strip, c->scratch, 1500);
	struct eth_addr from = ((const struct eth_hdr *)rte_pktmbuf_mtod(m, const void *))->src;
	int rc = x->punt == PUNT_ARP ? arp_parse(c->scratch, size, &nd) : nd_parse(c->scratch, size, &nd);

	if (rc < 0 || !hear(c, m->port, &nd, &from))
		reason = DROP_nd_invalid;
	pkt_end(m, reason, &c->lcore->stats);
}
