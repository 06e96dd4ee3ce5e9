/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to the node itself, and ICMP errors about dropped packets (docs/protocol.md 3.5). Control lcore. */
#include <errno.h>
#include <stdlib.h>

#include "icmp/icmp.h"
#include "service/icmp/icmp_cp.h"
#include "node/service.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"

/* Burst in packets: a tenth of a second at `rate` (packets/s), but not less than a traceroute sends. */
static uint64_t burst_of(uint64_t rate)
{
	return MAX_OF(rate / 10, 10);
}

static bool error_allowed(struct control_role *c, uint16_t port)
{
	const struct snapshot *s = c->s;

	return bucket_take(&control_icmp(c)->errors_of_port[port], c->now, s->icmp_errors_per_port,
		       burst_of(s->icmp_errors_per_port)) &&
	       bucket_take(&control_icmp(c)->errors, c->now, s->icmp_errors, burst_of(s->icmp_errors));
}

static bool own4(const struct snap_interface *p, struct ip_addr *out)
{
	for (unsigned int k = 0; k < p->n_own; k++) {
		if (p->own[k].addr.family == 4) {
			*out = p->own[k].addr;
			return true;
		}
	}
	return false;
}

/*
 * The source of an IPv4 error about a packet of the table `vrf`: an address of the ingress interface if that has the same
 * table, else any own address of the table (RFC 1812 section 4.3.2.4). After a tunnel the ingress interface is one of the
 * underlay, whose address is not known to tenants and tells them about it.
 */
static bool source4(struct control_role *c, const struct snap_interface *in, uint16_t vrf, struct ip_addr *out)
{
	const struct snapshot *s = c->s;

	if (in && in->vrf == vrf && own4(in, out))
		return true;
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->port[i].vrf == vrf && own4(&s->port[i], out))
			return true;
	for (uint32_t i = 0; i < s->n_interfaces; i++)
		if (s->interface[i] && s->interface[i]->vrf == vrf && own4(s->interface[i], out))
			return true;
	return false;
}

/* Route a reply. A reply to a link-local address is sent on the link of the request. */
static void send_answer(struct control_role *c, const void *packet, size_t size, uint16_t vrf,
	const struct snap_interface *in)
{
	struct rte_mbuf *m = control_packet(c, packet, (uint32_t)size);
	const struct ipv6_hdr *ip = packet;

	if (!m)
		return;
	if (ip->vtc_flow.b[0] >> 4 != 6 || !ipv6_is_link_local(&ip->dst))
		control_send_routed(c, m, vrf);
	else if (in)
		control_send_on_link(c, m, 6, in->interface);
	else
		pkt_end(m, DROP_no_route, &c->lcore->stats);
}

static bool report(struct control_role *c, struct rte_mbuf *m, const struct icmp_error *error)
{
	const struct pkt *x = pkt_of(m);
	const struct snap_interface *in = control_came_in_by(c, m);
	uint8_t *out = c->scratch + ICMP_ERROR_MAX;
	struct ip_addr src = ip_addr_from6(&c->s->loopback);
	uint32_t size = pkt_copy_out(m, x->strip, c->scratch, MIN_OF(x->l3_bytes, ICMP_ERROR_MAX));
	size_t n;

	if (!icmp_may_report(c->scratch, size) || !error_allowed(c, m->port))
		return false;
	if (x->family == 4 && !source4(c, in, x->vrf, &src))
		return false;
	n = icmp_write_error(out, c->scratch, size, &src, error);
	if (!n)
		return false;
	send_answer(c, out, n, x->vrf, in);
	return true;
}

static void take_error(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	struct icmp_error error = {.type = x->icmp_type, .code = x->icmp_code, .arg = x->icmp_arg};

	stat_add(report(c, m, &error) ? &c->lcore->stats.icmp_sent : &c->lcore->stats.icmp_suppressed, 1);
	pkt_end(m, (enum reason)x->reason, &c->lcore->stats);
}

/* Remove the headers between IPv6 and its upper layer. Returns the new size. */
static size_t cut_extensions(uint8_t *packet, size_t upper, size_t size, uint8_t type)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)packet;

	if (packet[0] >> 4 == 4 || upper == sizeof(*ip))
		return size;
	memmove(ip + 1, packet + upper, size - upper);
	size -= upper - sizeof(*ip);
	ip->next_header = type;
	ip->payload_length = be16((uint16_t)(size - sizeof(*ip)));
	return size;
}

static enum reason answer_echo(struct control_role *c, struct rte_mbuf *m, size_t upper, size_t size, uint8_t type)
{
	const struct pkt *x = pkt_of(m);

	if (!bucket_take(&control_icmp(c)->echo, c->now, c->s->icmp_echo, burst_of(c->s->icmp_echo)))
		return DROP_echo_limited;
	size = cut_extensions(c->scratch, upper, size, type);
	upper = x->family == 4 ? upper : sizeof(struct ipv6_hdr);
	if (!icmp_make_echo_reply(c->scratch, upper, size))
		return DROP_not_served;
	send_answer(c, c->scratch, size, x->vrf, control_came_in_by(c, m));
	return CONSUME_echo;
}

/* Refuse an upper layer that the node does not support. The sender may receive an ICMP error. */
static enum reason refuse(struct control_role *c, struct rte_mbuf *m, const struct control_upper *u)
{
	struct icmp_error error = {ICMP6_PARAM_PROBLEM, ICMP6_PARAM_NEXT_HEADER, u->named};
	bool six = pkt_of(m)->family == 6;

	if (six && u->type == IP_PROTO_FRAGMENT)
		return DROP_fragment;
	/* No next header (RFC 8200 section 4.7): no error is sent. A later IPv4 fragment causes no error either. */
	if (six && u->type == IP_PROTO_NONE)
		return DROP_not_served;
	/* Too short for an ICMP header. */
	if (u->type == (six ? IP_PROTO_ICMP6 : IP_PROTO_ICMP))
		return DROP_not_served;
	if (u->type == IP_PROTO_UDP || u->type == IP_PROTO_TCP)
		error = (struct icmp_error){ICMP6_UNREACHABLE, ICMP6_UNREACH_PORT, 0};
	stat_add(report(c, m, &error) ? &c->lcore->stats.icmp_sent : &c->lcore->stats.icmp_suppressed, 1);
	return DROP_not_served;
}

static bool is_fragment4(const void *packet)
{
	const struct ipv4_hdr *ip = packet;

	return *(const uint8_t *)packet >> 4 == 4 && be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK);
}

/* An ICMP message that needs no answer may be one about a probe. */
static void hear(struct control_role *c, const struct pkt *x, size_t at, size_t size)
{
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)c->scratch;
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)c->scratch;
	struct ip_addr from = x->family == 6 ? ip_addr_from6(&six->src) : ip_addr_from4(be32_get(four->src));

	control_probe_heard(c, x, &from, x->family == 6 ? six->hop_limit : four->ttl, c->scratch + at, size - at);
}

static void take_local(struct control_role *c, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	size_t size = pkt_copy_out(m, x->strip, c->scratch, MIN_OF(x->l3_bytes, sizeof(c->scratch)));
	struct control_upper u = control_upper_layer(c->scratch, size);
	uint8_t echo = x->family == 6 ? ICMP6_ECHO_REQUEST : ICMP4_ECHO_REQUEST;
	uint8_t icmp = x->family == 6 ? IP_PROTO_ICMP6 : IP_PROTO_ICMP;
	enum reason reason;

	/* SIDs of this node may have changed the destination since the packet was received. */
	if (x->ops & PKT_OP_DA)
		((struct ipv6_hdr *)c->scratch)->dst = x->da;
	if (u.type != icmp || u.at + sizeof(struct icmp_hdr) > size)
		reason = refuse(c, m, &u);
	else if (x->l3_bytes <= sizeof(c->scratch) && !is_fragment4(c->scratch) &&
		 !icmp_is_intact(c->scratch, u.at, size))
		reason = DROP_icmp_checksum;
	else if (c->scratch[u.at] == echo)
		reason = answer_echo(c, m, u.at, size, u.type);
	else
		reason = CONSUME_icmp;
	if (reason == CONSUME_icmp)
		hear(c, x, u.at, size);
	if (reason == CONSUME_icmp && x->family == 6 && c->scratch[u.at] == ICMP6_TOO_BIG)
		control_mtu_heard(c, control_came_in_by(c, m), c->scratch, u.at, size);
	pkt_end(m, reason, &c->lcore->stats);
}

static bool take(struct control_role *c, struct rte_mbuf *m)
{
	switch ((enum pkt_punt)pkt_of(m)->punt) {
	case PUNT_LOCAL:
		take_local(c, m);
		return true;
	case PUNT_ERROR:
		take_error(c, m);
		return true;
	case PUNT_FRAGMENT:
		control_fragment(c, m);
		return true;
	default:
		return false;
	}
}

static unsigned int poll_icmp(struct control_role *c, uint64_t *next)
{
	return control_mtu_poll(c, next) + control_probe_poll(c, next);
}

static int init(struct control_role *c, int socket)
{
	(void)socket;
	c->node->state[SERVICE_ICMP] = calloc(1, sizeof(struct control_icmp));
	return control_icmp(c) ? 0 : -ENOMEM;
}

static void fini(struct control_role *c)
{
	free(control_icmp(c));
}

const struct control_service icmp_service = {
	.name = "icmp",
	.init = init,
	.fini = fini,
	.takes = SERVICE_TAKES(PUNT_LOCAL) | SERVICE_TAKES(PUNT_ERROR) | SERVICE_TAKES(PUNT_FRAGMENT),
	.take = take,
	.poll = poll_icmp,
	.has_input = control_probe_waits,
};
