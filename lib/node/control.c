/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control role: takes what rx roles punt, answers, and runs the protocols' timers. It never waits and
 * never touches a file; what it originates goes through the ring to the egress's owner like any packet.
 */
#include "classify/vlan.h"
#include "node/control_priv.h"

struct rte_mbuf *control_packet(struct control_role *c, const void *data, uint32_t size)
{
	struct rte_mbuf *head = NULL, **at = &head, *m;
	const uint8_t *from = data;
	uint32_t left = size, n;
	uint16_t segs = 0;

	do {
		m = rte_pktmbuf_alloc(c->node->pool);
		if (!m) {
			if (head) {
				head->nb_segs = segs;
				rte_pktmbuf_free(head);
			}
			return NULL;
		}
		n = MIN_OF(left, rte_pktmbuf_tailroom(m));
		memcpy(rte_pktmbuf_mtod(m, void *), from, n);
		m->data_len = (uint16_t)n;
		from += n;
		left -= n;
		segs++;
		*at = m;
		at = &m->next;
	} while (left);
	head->nb_segs = segs;
	head->pkt_len = size;
	head->port = PORT_LOCAL;
	stat_add(&c->lcore->stats.port[PORT_LOCAL].originated, 1);
	return head;
}

static void to_owner(struct control_role *c, struct rte_mbuf *m)
{
	uint16_t owner = c->node->owner[pkt_of(m)->egress];

	if (mailbox_push_packets(&c->to_worker[owner], &m, 1) != 1)
		pkt_end(m, DROP_punt_full, &c->lcore->stats);
}

void control_send_routed(struct control_role *c, struct rte_mbuf *m, uint16_t vrf)
{
	classify_originated(&c->classifier, m, vrf);
	if (pkt_of(m)->verdict == PKT_FORWARD)
		to_owner(c, m);
	else
		pkt_end(m, (enum reason)pkt_of(m)->reason, &c->lcore->stats);
}

void control_send_again(struct control_role *c, struct rte_mbuf *m, const struct pkt *of)
{
	classify_part(&c->classifier, m, of);
	if (pkt_of(m)->verdict == PKT_FORWARD)
		to_owner(c, m);
	else
		pkt_end(m, (enum reason)pkt_of(m)->reason, &c->lcore->stats);
}

void control_send_on_link(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint16_t interface)
{
	classify_to_neighbor(&c->classifier, m, family, interface);
	to_owner(c, m);
}

void control_send_frame(struct control_role *c, struct rte_mbuf *m, uint16_t port)
{
	classify_to_neighbor(&c->classifier, m, 0, port);
	to_owner(c, m);
}

const struct snap_port *control_came_in_by(const struct control_role *c, const struct rte_mbuf *m)
{
	/* a packet of the node itself has no frame around it; a received one has the first of its headers in one piece */
	if (m->port == PORT_LOCAL)
		return NULL;
	return vlan_find(c->s, &c->s->port[m->port], rte_pktmbuf_mtod(m, const uint8_t *), m->data_len).in;
}

static void take(struct control_role *c, struct rte_mbuf *m)
{
	switch ((enum pkt_punt)pkt_of(m)->punt) {
	case PUNT_ND:
	case PUNT_ARP:
		control_neigh_packet(c, m);
		break;
	case PUNT_PFC: /* never comes here */
	case PUNT_LOCAL:
		if (!control_carrier_take(c, m))
			control_icmp_local(c, m);
		break;
	case PUNT_ERROR:
		control_icmp_error(c, m);
		break;
	case PUNT_PFC_RELAY:
		control_pfc_relay(c, m);
		break;
	case PUNT_PFC_TUNNEL:
		control_pfc_frame(c, m);
		break;
	case PUNT_FRAGMENT:
		control_fragment(c, m);
		break;
	}
}

static unsigned int take_ring(struct control_role *c, struct mailbox *r)
{
	struct rte_mbuf *pkts[CONTROL_BURST];
	unsigned int n = mailbox_pop_packets(r, pkts, CONTROL_BURST);

	/* what came out of the ring may have been classified by a newer snapshot */
	c->s = c->classifier.s = node_snapshot(c->node);
	for (unsigned int k = 0; k < n; k++)
		take(c, pkts[k]);
	return n;
}

static unsigned int take_punts(struct control_role *c)
{
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx && control_mailboxes_ready(c); i++)
		work += take_ring(c, &c->node->rx[i].to_control);
	for (uint16_t i = 0; i < c->node->n_workers && control_mailboxes_ready(c); i++)
		work += take_ring(c, &c->node->worker[i].to_control);
	return work;
}

unsigned int control_poll(struct control_role *c, uint64_t now, uint64_t *next)
{
	unsigned int work;

	__atomic_store_n(&c->now, now, __ATOMIC_RELAXED);
	c->s = c->classifier.s = node_snapshot(c->node);
	control_neigh_snapshot(c);
	work = take_punts(c);
	work += control_neigh_poll(c, next);
	control_mtu_poll(c, next);
	return work + control_pfc_poll(c, next);
}
