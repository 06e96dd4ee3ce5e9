/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions shared by services. Originated packets go through the mailbox to the owner of their egress. Control lcore.
 */
#include "node/control_send.h"

#include "classify/vlan.h"
#include "node/service.h"
#include "wire/ipv4.h"

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

static bool to_owner(struct control_role *c, struct rte_mbuf *m)
{
	uint16_t owner = c->node->owner[pkt_of(m)->egress];

	if (unlikely(c->trace))
		pkt_of(m)->trace = c->trace;
	if (mailbox_push_packets(&c->to_worker[owner], &m, 1) == 1)
		return true;
	pkt_end(m, DROP_punt_full, &c->lcore->stats);
	return false;
}

/* Data of tenants leaves half of the mailbox to what the node itself has to say. */
static bool half_full(const struct mailbox *b)
{
	return mailbox_room(b) < rte_ring_get_capacity(b->ring) / 2;
}

bool control_send_routed(struct control_role *c, struct rte_mbuf *m, uint16_t vrf)
{
	classify_originated(&c->classifier, m, vrf);
	if (pkt_of(m)->verdict == PKT_FORWARD)
		return to_owner(c, m);
	pkt_end(m, (enum reason)pkt_of(m)->reason, &c->lcore->stats);
	return false;
}

void control_send_again(struct control_role *c, struct rte_mbuf *m, const struct pkt *of)
{
	classify_part(&c->classifier, m, of);
	if (pkt_of(m)->verdict != PKT_FORWARD)
		pkt_end(m, (enum reason)pkt_of(m)->reason, &c->lcore->stats);
	else if (half_full(&c->to_worker[c->node->owner[pkt_of(m)->egress]]))
		pkt_end(m, DROP_punt_full, &c->lcore->stats);
	else
		to_owner(c, m);
}

void control_send_on_link(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint16_t interface)
{
	classify_to_neighbor(&c->classifier, m, family, interface);
	to_owner(c, m);
}

bool control_send_to_next_hop(struct control_role *c, struct rte_mbuf *m, uint8_t family, uint32_t neigh)
{
	classify_to_next_hop(&c->classifier, m, family, neigh);
	return to_owner(c, m);
}

bool control_send_on_path(struct control_role *c, const struct control_tunnelled *t, uint8_t *payload, size_t bytes)
{
	const struct snap_path *path = t->path < c->s->n_paths ? &c->s->path[t->path] : NULL;
	struct ipv6_hdr *ip;
	struct rte_mbuf *m;
	target_t via;

	if (!path || !path->name || !path->bytes)
		return false;
	ip = (struct ipv6_hdr *)(payload - path->bytes);
	memcpy(ip, path->header, path->bytes);
	((uint8_t *)ip)[path->next_header_at] = t->type;
	ip->vtc_flow = ipv6_vtc_flow(t->traffic_class, path->flow_label);
	ip->payload_length = be16((uint16_t)(path->bytes - sizeof(*ip) + bytes));
	if (t->hop_limit)
		ip->hop_limit = t->hop_limit;
	if (t->source)
		ip->src = *t->source;
	m = control_packet(c, ip, (uint32_t)(path->bytes + bytes));
	if (!m)
		return false;
	via = path->via;
	if (target_kind(via) == TARGET_GROUP)
		via = c->s->group[target_index(via)].member[t->flow % c->s->group[target_index(via)].n];
	if (target_kind(via) == TARGET_NEIGH)
		return control_send_to_next_hop(c, m, 6, target_index(via));
	return control_send_routed(c, m, VRF_UNDERLAY);
}

void control_send_frame(struct control_role *c, struct rte_mbuf *m, uint16_t port)
{
	classify_to_neighbor(&c->classifier, m, 0, port);
	to_owner(c, m);
}

const struct snap_interface *control_came_in_by(const struct control_role *c, const struct rte_mbuf *m)
{
	/* An originated packet has no Ethernet header. The first headers of a received packet are contiguous. */
	if (m->port == PORT_LOCAL)
		return NULL;
	return vlan_find(c->s, &c->s->port[m->port], rte_pktmbuf_mtod(m, const uint8_t *), m->data_len).in;
}

/* The extension headers of a packet to the node itself have no further effect, so they are skipped. */
struct control_upper control_upper_layer(const uint8_t *packet, size_t size)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet;
	struct control_upper u = {.at = sizeof(*ip),
		.type = ip->next_header,
		.named = __builtin_offsetof(struct ipv6_hdr, next_header)};

	if (packet[0] >> 4 == 4)
		return (struct control_upper){.at = ipv4_header_bytes((const struct ipv4_hdr *)packet),
			.type = ((const struct ipv4_hdr *)packet)->protocol,
			.named = __builtin_offsetof(struct ipv4_hdr, protocol)};
	while ((u.type == IP_PROTO_HOPOPTS || u.type == IP_PROTO_DSTOPTS || u.type == IP_PROTO_ROUTING) &&
		u.at + 8 <= size) {
		u.type = packet[u.at];
		u.named = (uint32_t)u.at;
		u.at += 8u * (packet[u.at + 1] + 1u);
	}
	return u;
}

bool control_has_room(const struct control_role *c, uint32_t takes)
{
	for (const struct control_service *const *s = c->node->services; *s; s++)
		if ((*s)->takes & takes && (*s)->has_room && !(*s)->has_room(c))
			return false;
	return true;
}
