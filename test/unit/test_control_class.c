/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control class of a node: what keeps a network going still acts when every data queue of every port is closed and
 * full, and nothing that a tenant sends gets in there (docs/design.md section 4).
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/model.h"
#include "service/pfc/service_pfc.h"
#include "pfc/pfc_frame.h"
#include "queue/gate.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"
#include "wire/udp.h"

/* Tenants behind dc0 and, without VRF, dc1; fd00:0:3::/48 is behind wan1, fd00:0:4::/48 behind wan0. */
#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n" \
	"  infrastructure: [\"fd00::/16\"]}\n" \
	"memory: {buffers: 64K}\n" \
	"buffer-profiles: [{name: b, xoff: 20K, xon: 8K, headroom: 60K, forced: true, min-frame: 100}]\n" \
	"ports:\n" \
	"  - {name: dc0, device: net_null0, side: dc, vrf: red, speed: 10G, addresses: [10.1.0.1/24, " \
	"\"2001:db8:a::2/64\"],\n" \
	"     queue-limit: 32, buffer-limit: 256, pfc: {priorities: [3], peers: [\"02:00:00:00:a0:09\"], buffer: " \
	"b}}\n" \
	"  - {name: wan0, device: net_null1, side: wan, speed: 10G, addresses: [192.0.2.2/24, " \
	"\"2001:db8:b::2/64\"],\n" \
	"     queue-limit: 32, buffer-limit: 256, pfc: {priorities: [3], peers: [\"02:00:00:00:b0:03\"], buffer: " \
	"b}}\n" \
	"  - {name: wan1, device: net_null2, side: wan, speed: 10G, addresses: [\"2001:db8:c::2/64\"], queue-limit: " \
	"32,\n" \
	"     buffer-limit: 256}\n" \
	"  - {name: dc1, device: net_null3, side: dc, addresses: [\"2001:db8:d::2/64\"]}\n" \
	"interfaces: [{name: wan0.7, port: wan0, vlan: 7, addresses: [\"2001:db8:7::2/64\"]}]\n" \
	"neighbors:\n" \
	"  - {port: dc0, address: 10.1.0.9, mac: \"02:00:00:00:a0:09\"}\n" \
	"  - {port: dc0, address: \"2001:db8:a::9\", mac: \"02:00:00:00:a0:09\"}\n" \
	"  - {port: wan0, address: 192.0.2.3, mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: wan0, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"  - {port: wan1, address: \"2001:db8:c::3\", mac: \"02:00:00:00:c0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:500::/48\", port: wan0, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:600::/48\", port: wan1, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"fd00:0:3::/48\", port: wan1, nexthop: \"2001:db8:c::3\"}\n" \
	"  - {prefix: \"fd00:0:4::/48\", port: wan0, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: 198.51.100.0/24, port: wan0, nexthop: 192.0.2.3}\n" \
	"vrfs:\n" \
	"  - {name: red, routes: [{prefix: 10.2.0.0/16, policy: p}, {prefix: \"2001:db8:2::/48\", policy: p},\n" \
	"      {prefix: \"2001:db8:3::/48\", port: dc0, nexthop: \"2001:db8:a::9\"}]}\n" \
	"policies: [{name: p, paths: [{name: a, segments: [\"5f00:0:600:e102::\"]}]}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e101::/48\", behavior: uDT46, vrf: red}\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: wan1, nexthop: \"2001:db8:c::3\"}\n"

static const char *const lcores[] = {"lcores: {control: 0, rx: [0], worker: [0]}\n",
	"lcores: {control: 0, rx: [1], worker: [2, 3, 4]}\n"};

enum { DC0, WAN0, WAN1, DC1, PORTS };

static const struct eth_addr dc0_peer = {{2, 0, 0, 0, 0xa0, 9}}, wan0_peer = {{2, 0, 0, 0, 0xb0, 3}},
			     far_pe = {{2, 0, 0, 0, 0xc0, 9}};

#define FAR "fd00:0:3::1" /* of the domain, behind wan1 */

static struct testbed *bed(unsigned int which)
{
	char text[8192];
	struct testbed *t;

	snprintf(text, sizeof(text), "%s%s", lcores[which], NODE);
	t = testbed_new(text);
	testbed_settle(t, 1000);
	for (unsigned int p = 0; p < PORTS; p++)
		for (struct sent_frame *f; (f = fake_port_take(t->port[p]));)
			free(f);
	return t;
}

/* --- packets --- */

struct packet {
	uint8_t bytes[512];
	uint32_t n;
};

static struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(ip_addr_parse(text, &a), 0);
	return a;
}

static void ethernet(struct packet *p, const struct testbed *t, unsigned int port, uint16_t type)
{
	*p = (struct packet){.n = sizeof(struct eth_hdr)};
	*(struct eth_hdr *)p->bytes = (struct eth_hdr){.dst = t->port[port]->port.mac,
		.src = {{2, 0, 0, 0, 0xee, 1}},
		.type = be16(type)};
}

/* A VLAN tag after the addresses. */
static void tag(struct packet *p, unsigned int pcp, unsigned int vlan)
{
	memmove(p->bytes + 16, p->bytes + 12, p->n - 12);
	p->bytes[12] = 0x81;
	p->bytes[13] = 0;
	p->bytes[14] = (uint8_t)(pcp << 5 | vlan >> 8);
	p->bytes[15] = (uint8_t)vlan;
	p->n += 4;
}

static void *more(struct packet *p, uint32_t n)
{
	assert_true(p->n + n <= sizeof(p->bytes));
	p->n += n;
	return p->bytes + p->n - n;
}

static struct ipv6_hdr *ip6(struct packet *p, const char *src, const char *dst, uint8_t dscp, uint8_t next,
	uint32_t payload)
{
	struct ipv6_hdr *ip = more(p, sizeof(*ip));

	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow((uint8_t)(dscp << 2), 0),
		.payload_length = be16((uint16_t)payload),
		.next_header = next,
		.hop_limit = 64,
		.src = address(src).v6,
		.dst = address(dst).v6};
	return ip;
}

static void ip4(struct packet *p, const char *src, const char *dst, uint8_t dscp, uint8_t protocol, bool alert,
	uint32_t payload)
{
	static const uint8_t router_alert[] = {IPV4_OPTION_RALERT, 4, 0, 0}; /* RFC 2113 */
	uint32_t header = sizeof(struct ipv4_hdr) + (alert ? 4 : 0);
	uint8_t *at = more(p, header);
	struct ipv4_hdr *ip = (struct ipv4_hdr *)at;
	struct ip_addr from = address(src), to = address(dst);

	*ip = (struct ipv4_hdr){.version_ihl = (uint8_t)(0x40 | header / 4),
		.tos = (uint8_t)(dscp << 2),
		.total_length = be16((uint16_t)(header + payload)),
		.ttl = 64,
		.protocol = protocol,
		.src = be32(ip_addr_v4(&from)),
		.dst = be32(ip_addr_v4(&to))};
	if (alert)
		memcpy(at + sizeof(*ip), router_alert, sizeof(router_alert));
	packet_seal4_header(at);
}

/* A Hello without objects but its own (RFC 3209 section 5.3): common header (RFC 2205 section 3.1.1), HELLO REQUEST. */
static void rsvp(struct packet *p)
{
	static const uint8_t hello[] = {0x10, 20, 0, 0, 1, 0, 0, 20, 0, 12, 22, 1, 0, 0, 0, 1, 0, 0, 0, 0};
	uint8_t *at = more(p, sizeof(hello));
	uint16_t sum;

	memcpy(at, hello, sizeof(hello));
	sum = packet_sum(at, sizeof(hello));
	at[2] = (uint8_t)(sum >> 8);
	at[3] = (uint8_t)sum;
}
#define RSVP_BYTES 20

/* Hop-by-hop header with the router alert of RSVP (RFC 2711), as docs/credit.md 1.1 has it. */
static void alert6(struct packet *p)
{
	memcpy(more(p, 8), (uint8_t[]){IP_PROTO_RSVP, 0, 5, 2, 0, 1, 1, 0}, 8);
}

static void udp(struct packet *p, uint32_t payload)
{
	struct udp_hdr *u = more(p, (uint32_t)sizeof(*u) + payload);

	*u = (struct udp_hdr){be16(33000), be16(33434), be16((uint16_t)(sizeof(*u) + payload)), {{0, 0}}};
}

static void send(struct testbed *t, unsigned int port, const struct packet *p)
{
	fake_port_receive(t->port[port], 0, p->bytes, p->n, 0);
}

/* --- results --- */

struct out {
	unsigned int frames, pfc, rsvp, na, ns, echo_reply, errors, data;
};

static void judge6(struct out *o, const struct ipv6_hdr *ip)
{
	const uint8_t *upper = (const uint8_t *)(ip + 1);
	uint8_t next = ip->next_header;

	if (next == IP_PROTO_HOPOPTS) {
		next = upper[0];
		upper += 8;
	}
	o->rsvp += next == IP_PROTO_RSVP;
	if (next != IP_PROTO_ICMP6) {
		o->data += next != IP_PROTO_RSVP;
		return;
	}
	o->na += *upper == ICMP6_NEIGHBOR_ADVERT;
	o->ns += *upper == ICMP6_NEIGHBOR_SOLICIT;
	o->echo_reply += *upper == ICMP6_ECHO_REPLY;
	o->errors += icmp6_is_error(*upper);
}

static struct out take(struct testbed *t, unsigned int port)
{
	struct out o = {0};
	struct sent_frame *f;

	while ((f = fake_port_take(t->port[port]))) {
		uint16_t type = be16_get(((struct eth_hdr *)f->bytes)->type);
		const uint8_t *ip = f->bytes + sizeof(struct eth_hdr);

		o.frames++;
		if (type == ETH_TYPE_MAC_CONTROL)
			o.pfc++;
		else if (type == ETH_TYPE_IPV6)
			judge6(&o, (const struct ipv6_hdr *)ip);
		else if (type == ETH_TYPE_IPV4 && ((const struct ipv4_hdr *)ip)->protocol == IP_PROTO_ICMP)
			o.errors += ip[20] == ICMP4_UNREACHABLE;
		else
			o.data++;
		free(f);
	}
	return o;
}

static bool nothing_else(struct testbed *t, unsigned int but)
{
	for (unsigned int p = 0; p < PORTS; p++)
		if (p != but && t->port[p]->n_sent)
			return false;
	return true;
}

/* --- closed and full --- */

static void hold(struct testbed *t, uint8_t classes)
{
	struct pfc_pause pause = {.enable = classes};
	struct pfc_party party = {.sid = 1};

	for (unsigned int i = 0; i < 8; i++)
		pause.ns[i] = 1000 * NSEC_PER_SEC;
	for (unsigned int p = 0; p < PORTS; p++) {
		struct worker_role *w = &t->node->worker[t->node->owner[p]];

		w->ctx.now = t->now;
		assert_true(egress_pause(&t->node->egress[p], &w->ctx, &party, PFC_ALL_SLICES, &pause));
	}
}

static void link_pfc(struct testbed *t, unsigned int port, const struct eth_addr *from, uint16_t quanta)
{
	struct pfc_request r = {.enable = 0x08, .time = {[3] = quanta}};
	struct pfc_frame frame;

	pfc_write(&frame, from, &r);
	fake_port_receive(t->port[port], 0, &frame, sizeof(frame), 0);
}

/* To the End.X.PFC SID of wan1, from the PE beyond it; received on wan0. */
static void tunnel_pfc(struct testbed *t, uint16_t quanta)
{
	struct pfc_request r = {.enable = 0x08, .time = {[3] = quanta}};
	struct packet p;

	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	ip6(&p, FAR, "5f00:1:1:e1::", 56, IP_PROTO_ETHERNET, sizeof(struct pfc_frame));
	pfc_write(more(&p, sizeof(struct pfc_frame)), &far_pe, &r);
	send(t, WAN0, &p);
}

/* Data of a class to a port, from one that is not itself. */
static void data(struct testbed *t, unsigned int to, unsigned int class, uint32_t sequence)
{
	static const char *const da[] = {"5f00:0:e101::", "5f00:0:100:500:300::", "5f00:0:100:600:300::"};
	unsigned int from = to == WAN0 ? WAN1 : WAN0;
	uint8_t frame[1024];
	uint32_t n = testbed_frame(frame, &t->port[from]->port.mac, da[to], (uint16_t) class, sequence, 400);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5), class);
	fake_port_receive(t->port[from], 0, frame, n, 0);
}

/* The tenants' lossless traffic into the WAN. */
static void tenant(struct testbed *t)
{
	struct packet p;

	ethernet(&p, t, DC0, ETH_TYPE_IPV6);
	ip6(&p, "2001:db8:a::9", "2001:db8:2::1", 24, IP_PROTO_UDP, 308);
	udp(&p, 300);
	send(t, DC0, &p);
}

/*
 * Every queue of dc0, wan0 and wan1 is closed: class 3 by the neighbours of dc0 and wan0 and by the tunnel to End.X.PFC of
 * wan1, the others by other ports; lossy ones to their limits, lossless ones until their senders were paused.
 */
static void close_and_fill(struct testbed *t)
{
	hold(t, 0xf7);
	link_pfc(t, DC0, &dc0_peer, 65535);
	link_pfc(t, WAN0, &wan0_peer, 65535);
	tunnel_pfc(t, 65535);
	testbed_settle(t, 10);
	for (unsigned int p = DC0; p <= WAN1; p++)
		assert_int_equal(t->node->egress[p].slice[0].closed[EGRESS_PAUSE], 0xff);
	for (uint32_t i = 0; i < 40; i++)
		for (unsigned int p = DC0; p <= WAN1; p++)
			for (unsigned int k = 0; k < 6; k++)
				if (k != 3)
					data(t, p, k, i);
	testbed_settle(t, 100);
	for (uint32_t i = 0;
		i < 200 && !(service_pfc(t->node)->port[DC0].stopped && service_pfc(t->node)->port[WAN0].stopped);
		i++) {
		if (!service_pfc(t->node)->port[DC0].stopped)
			tenant(t);
		if (!service_pfc(t->node)->port[WAN0].stopped) {
			data(t, DC0, 3, i / 2);
			data(t, WAN1, 3, i / 2);
		}
		data(t, WAN0, 3, i);
		testbed_settle(t, 10);
	}
	for (unsigned int p = DC0; p <= WAN1; p++) {
		const struct egress_slice *s = &t->node->egress[p].slice[0];

		check(s->queue[0].dropped && s->queue[3].packets.n, "port %u: %u dropped, %u of class 3", p,
			(unsigned int)s->queue[0].dropped, s->queue[3].packets.n);
		assert_int_equal(t->node->egress[p].tx.n, 0);
	}
	/* that much did get out */
	assert_int_equal(take(t, DC0).pfc, 1);
	assert_int_equal(take(t, WAN0).pfc, 1);
	assert_true(nothing_else(t, PORTS));
}

/* RSVP (protocol 46): to the node, which has no RSVP and answers with an error, and of the domain's routers in transit. */
static void rsvp_acts(struct testbed *t)
{
	struct packet p;
	struct out o;

	for (unsigned int alert = 0; alert < 2; alert++) {
		uint64_t refused = testbed_reason(t, WAN1, DROP_not_served);

		ethernet(&p, t, WAN1, ETH_TYPE_IPV6);
		ip6(&p, FAR, "fd00::d", 48, alert ? IP_PROTO_HOPOPTS : IP_PROTO_RSVP, RSVP_BYTES + 8 * alert);
		if (alert)
			alert6(&p);
		rsvp(&p);
		send(t, WAN1, &p);
		testbed_settle(t, 20);
		o = take(t, WAN1);
		check(o.errors == 1 && o.frames == 1, "to the node: %u frames, %u errors", o.frames, o.errors);
		assert_int_equal(testbed_reason(t, WAN1, DROP_not_served), refused + 1);
		ethernet(&p, t, WAN1, ETH_TYPE_IPV6);
		ip6(&p, FAR, "fd00:0:4::1", 48, alert ? IP_PROTO_HOPOPTS : IP_PROTO_RSVP, RSVP_BYTES + 8 * alert);
		if (alert)
			alert6(&p);
		rsvp(&p);
		send(t, WAN1, &p);
		testbed_settle(t, 20);
		o = take(t, WAN0);
		check(o.rsvp == 1 && o.frames == 1, "in transit: %u frames, %u of RSVP", o.frames, o.rsvp);
	}
	/* along a segment list, as credit offers travel */
	ethernet(&p, t, WAN1, ETH_TYPE_IPV6);
	ip6(&p, FAR, "5f00:0:100:500:300::", 48, IP_PROTO_IPV6, sizeof(struct ipv6_hdr) + RSVP_BYTES);
	ip6(&p, FAR, "fd00:0:4::1", 48, IP_PROTO_RSVP, RSVP_BYTES);
	rsvp(&p);
	send(t, WAN1, &p);
	testbed_settle(t, 20);
	assert_int_equal(take(t, WAN0).frames, 1);
	/* IPv4, with router alert, to the node: protocol unreachable */
	ethernet(&p, t, WAN0, ETH_TYPE_IPV4);
	ip4(&p, "192.0.2.3", "192.0.2.2", 48, IP_PROTO_RSVP, true, RSVP_BYTES);
	rsvp(&p);
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	o = take(t, WAN0);
	check(o.errors == 1 && o.frames == 1, "IPv4: %u frames, %u errors", o.frames, o.errors);
	assert_true(nothing_else(t, PORTS));
}

static struct nd_neighbor *nd(struct packet *p, const char *src, const char *dst, uint8_t type, const char *target)
{
	struct ipv6_hdr *ip = ip6(p, src, dst, 0, IP_PROTO_ICMP6, 32);
	struct nd_neighbor *n = more(p, sizeof(*n));

	ip->hop_limit = 255;
	*n = (struct nd_neighbor){.type = type, .target = address(target).v6};
	memcpy(more(p, 8), (uint8_t[]){type == ICMP6_NEIGHBOR_SOLICIT ? 1 : 2, 1, 2, 0, 0, 0, 0xb0, 0x77}, 8);
	return n;
}

static void seal(struct packet *p, uint32_t upper)
{
	packet_seal6(p->bytes + sizeof(struct eth_hdr), upper, p->n - sizeof(struct eth_hdr));
}

/* Neighbour discovery: the node answers a solicitation, and solicits a station to which it must answer. */
static void nd_acts(struct testbed *t)
{
	struct packet p;
	struct out o;

	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	nd(&p, "2001:db8:b::3", "2001:db8:b::2", ICMP6_NEIGHBOR_SOLICIT, "2001:db8:b::2");
	seal(&p, sizeof(struct ipv6_hdr));
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	o = take(t, WAN0);
	check(o.na == 1 && o.frames == 1, "%u advertisements, %u frames", o.na, o.frames);

	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	ip6(&p, "2001:db8:b::77", "2001:db8:b::2", 0, IP_PROTO_ICMP6, 16);
	((struct icmp_hdr *)more(&p, 16))->type = ICMP6_ECHO_REQUEST;
	seal(&p, sizeof(struct ipv6_hdr));
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	o = take(t, WAN0);
	check(o.ns == 1 && o.frames == 1, "%u solicitations, %u frames", o.ns, o.frames);
	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	nd(&p, "2001:db8:b::77", "2001:db8:b::2", ICMP6_NEIGHBOR_ADVERT, "2001:db8:b::77")->flags = be32(0x60000000);
	seal(&p, sizeof(struct ipv6_hdr));
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	o = take(t, WAN0);
	check(o.echo_reply == 1 && o.frames == 1, "%u replies, %u frames", o.echo_reply, o.frames);
	assert_true(nothing_else(t, PORTS));
}

/* Probes: ping of an own address and of a SID, traceroute, and probes of the domain in transit. */
static void probes_act(struct testbed *t)
{
	static const char *const targets[] = {"fd00::d", "5f00:0:100::"};
	struct packet p;
	struct out o;

	for (unsigned int i = 0; i < ARRAY_LEN(targets); i++) {
		ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
		ip6(&p, FAR, targets[i], 0, IP_PROTO_ICMP6, 16);
		((struct icmp_hdr *)more(&p, 16))->type = ICMP6_ECHO_REQUEST;
		seal(&p, sizeof(struct ipv6_hdr));
		send(t, WAN0, &p);
		testbed_settle(t, 20);
		o = take(t, WAN1);
		check(o.echo_reply == 1 && o.frames == 1, "ping of %s: %u replies", targets[i], o.echo_reply);
	}
	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	ip6(&p, FAR, "5f00:0:600::", 0, IP_PROTO_UDP, 32)->hop_limit = 1;
	udp(&p, 24);
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	o = take(t, WAN1);
	check(o.errors == 1 && o.frames == 1, "traceroute: %u errors", o.errors);
	ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
	ip6(&p, "fd00:0:4::1", FAR, 48, IP_PROTO_UDP, 32);
	udp(&p, 24);
	send(t, WAN0, &p);
	testbed_settle(t, 20);
	assert_int_equal(take(t, WAN1).data, 1);
	/* a tenant is answered as well */
	ethernet(&p, t, DC0, ETH_TYPE_IPV6);
	ip6(&p, "2001:db8:a::9", "2001:db8:2::1", 0, IP_PROTO_UDP, 32)->hop_limit = 1;
	udp(&p, 24);
	send(t, DC0, &p);
	testbed_settle(t, 20);
	assert_int_equal(take(t, DC0).errors, 1);
	assert_true(nothing_else(t, PORTS));
}

/* PFC of the neighbour on the link and of the far PE: XOFF is refreshed, XON opens, and the senders hear of it. */
static void pfc_acts(struct testbed *t)
{
	const struct egress_queue *link = &t->node->egress[WAN0].slice[0].queue[3],
				  *far = &t->node->egress[WAN1].slice[0].queue[3];
	uint64_t link_until = link->pause_until, far_until = far->pause_until;
	uint32_t queued = link->packets.n + far->packets.n + t->node->egress[DC0].slice[0].queue[3].packets.n;
	struct out o;

	link_pfc(t, WAN0, &wan0_peer, 65535);
	tunnel_pfc(t, 65535);
	testbed_settle(t, 20);
	assert_true(link->pause_until > link_until && far->pause_until > far_until);
	assert_true(nothing_else(t, PORTS));
	link_pfc(t, WAN0, &wan0_peer, 0);
	tunnel_pfc(t, 0);
	link_pfc(t, DC0, &dc0_peer, 0);
	testbed_settle(t, 100);
	assert_int_equal(service_pfc(t->node)->port[WAN0].xon[3], 1);
	for (unsigned int p = DC0; p <= WAN1; p++) {
		assert_int_equal(t->node->egress[p].slice[0].closed[EGRESS_PAUSE], 0xf7);
		o = take(t, p);
		check(o.pfc == (p != WAN1), "port %u: %u PFC frames", p, o.pfc);
		queued -= o.data;
	}
	assert_int_equal(queued, 0);
	assert_int_equal(service_pfc(t->node)->port[DC0].stopped | service_pfc(t->node)->port[WAN0].stopped, 0);
}

/* With every data queue of every port closed and full: RSVP, ND, probes and PFC that arrive still act. */
static void nothing_waits_behind_data(void **state)
{
	for (unsigned int i = 0; i < ARRAY_LEN(lcores); i++) {
		struct testbed *t = bed(i);

		close_and_fill(t);
		rsvp_acts(t);
		nd_acts(t);
		probes_act(t);
		pfc_acts(t);
		testbed_free(t);
	}
}

/* --- who gets in --- */

/* Does the packet leave by `out` though all queues are closed? */
static bool overtakes(struct testbed *t, unsigned int in, const struct packet *p, unsigned int out)
{
	uint32_t n;

	send(t, in, p);
	testbed_settle(t, 20);
	n = take(t, out).frames;
	assert_true(n <= 1);
	assert_true(nothing_else(t, PORTS));
	return n;
}

/* Tenants: no DSCP, no PCP, no protocol, no source address; what they wrote there is lowered on the way. */
static void tenants_stay_out(void **state)
{
	struct testbed *t = bed(0);
	uint32_t queued = 0;
	struct sent_frame *f;
	struct packet p;

	hold(t, 0xff);
	for (uint8_t dscp = 48; dscp < 64; dscp++) {
		for (unsigned int how = 0; how < 5; how++, queued++) {
			ethernet(&p, t, DC0, how == 1 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6);
			if (how == 1)
				ip4(&p, "10.1.0.9", "10.2.0.1", dscp, IP_PROTO_RSVP, true, RSVP_BYTES);
			else /* 3: as if from a router of the domain */
				ip6(&p, how == 3 ? FAR : "2001:db8:a::9", "2001:db8:2::1", dscp,
					how == 2 ? IP_PROTO_RSVP : IP_PROTO_UDP, how == 2 ? RSVP_BYTES : 32);
			if (how == 1 || how == 2)
				rsvp(&p);
			else
				udp(&p, 24);
			if (how == 4)
				tag(&p, 7, 0);
			check(!overtakes(t, DC0, &p, WAN1), "DSCP %u, %u", dscp, how);
		}
	}
	/* in the WAN they are CS5: no other node takes them for control traffic either */
	hold(t, 0);
	t->node->egress[WAN1].holds.n = 0;
	gate_pause(&t->node->egress[WAN1], &t->node->worker[0].ctx, PFC_ALL_SLICES, UINT8_MAX);
	testbed_settle(t, 50);
	for (queued = 0; (f = fake_port_take(t->port[WAN1])); queued++) {
		check(ipv6_tc((struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr))) >> 2 == 40,
			"outer DSCP of packet %u", queued);
		free(f);
	}
	assert_true(queued > 60);
	assert_int_equal(t->node->lcore[0]->stats.dscp_remapped, queued);
	testbed_free(t);
}

/* Packets inside a tunnel, from outside the infrastructure, or with an infrastructure source on a port that is not a WAN port. */
static void others_stay_out(void **state)
{
	struct testbed *t = bed(0);
	struct packet p;

	hold(t, 0xff);
	for (uint8_t dscp = 48; dscp < 64; dscp++) {
		/* over the WAN, but from a source outside */
		ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
		ip6(&p, "2001:db8:99::1", FAR, dscp, IP_PROTO_UDP, 32);
		udp(&p, 24);
		assert_false(overtakes(t, WAN0, &p, WAN1));
		/* inside a tunnel that ends here, whose own header may have the DSCP or not */
		for (unsigned int outer = 0; outer < 2; outer++) {
			ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
			ip6(&p, FAR, "5f00:0:e101::", outer ? dscp : 0, IP_PROTO_IPV6, sizeof(struct ipv6_hdr) + 32);
			ip6(&p, "fd00:0:4::1", "2001:db8:3::1", dscp, IP_PROTO_UDP, 32);
			udp(&p, 24);
			assert_false(overtakes(t, WAN0, &p, DC0));
		}
		/* from a data centre without VRF, as if from inside: that far and no further */
		ethernet(&p, t, DC1, ETH_TYPE_IPV6);
		ip6(&p, FAR, "fd00:0:4::1", dscp, IP_PROTO_UDP, 32);
		udp(&p, 24);
		assert_false(overtakes(t, DC1, &p, WAN0));
		assert_int_equal(testbed_reason(t, DC1, DROP_boundary_source), dscp - 47);
		ethernet(&p, t, DC1, ETH_TYPE_IPV6);
		ip6(&p, "2001:db8:d::9", "fd00:0:4::1", dscp, IP_PROTO_UDP, 32);
		udp(&p, 24);
		assert_false(overtakes(t, DC1, &p, WAN0));
		assert_int_equal(testbed_reason(t, DC1, DROP_boundary_source), dscp - 47);
	}
	testbed_free(t);
}

/* The domain's own: over the port or over one of its VLANs, whatever PCP says; and PCP alone says nothing. */
static void the_domain_gets_in(void **state)
{
	struct testbed *t = bed(0);
	struct packet p;

	hold(t, 0xff);
	for (unsigned int how = 0; how < 5; how++) {
		static const struct {
			int pcp;
			unsigned int vlan;
			uint8_t dscp;
			bool control;
		} rows[] = {{-1, 0, 48, true}, {0, 0, 63, true}, {0, 7, 48, true}, {7, 7, 47, false}, {7, 0, 0, false}};

		ethernet(&p, t, WAN0, ETH_TYPE_IPV6);
		ip6(&p, "fd00:0:4::1", FAR, rows[how].dscp, IP_PROTO_UDP, 32);
		udp(&p, 24);
		if (rows[how].pcp >= 0)
			tag(&p, (unsigned int)rows[how].pcp, rows[how].vlan);
		check(overtakes(t, WAN0, &p, WAN1) == rows[how].control, "row %u", how);
	}
	assert_int_equal(t->node->egress[WAN1].slice[0].queue[7].packets.n, 2);
	/* truncated after its tag */
	p.n = 30;
	assert_false(overtakes(t, WAN0, &p, WAN1));
	testbed_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_waits_behind_data),
		cmocka_unit_test(tenants_stay_out),
		cmocka_unit_test(others_stay_out),
		cmocka_unit_test(the_domain_gets_in),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("control_class", tests, NULL, NULL);
}
