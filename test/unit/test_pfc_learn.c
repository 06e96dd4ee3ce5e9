/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC tunnels that running nodes learn from the segment lists of data (draft-ruan section 3, scenario 2; docs/protocol.md 4.6):
 * the network of draft-ruan figure 3 and one more capable node in it, and what a single node refuses, forgets and changes.
 *
 *   source - r1 (End.X.PFC) - r4 (End.X.PFC) - r2 (End, knows no PFC) - r3 (End.DT46) - data centre
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "config/config.h"
#include "service/pfc/pfc_cp.h"
#include "test/support/conf.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"
#include "wire/srh.h"
#include "wire/udp.h"

#define HEAD(name, id) \
	"node: {name: " name ", loopback: \"fd00::" id "\", infrastructure: [\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 64K, forced: true}]\n"
#define REMOTE \
	"remote-sids:\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, owner: r1}\n" \
	"  - {sid: \"5f00:1:1:1::/64\", behavior: End, owner: r1}\n" \
	"  - {sid: \"5f00:1:4:e1::/64\", behavior: End.X.PFC, owner: r4}\n" \
	"  - {sid: \"5f00:1:4:1::/64\", behavior: End, owner: r4}\n" \
	"  - {sid: \"5f00:1:2:1::/64\", behavior: End, owner: r2}\n" \
	"  - {sid: \"5f00:1:5:1::/64\", behavior: End, owner: r5}\n"
#define SMALL "pfc: {priorities: [3], learn: true, buffer: small}"
#define LEARNS "pfc: {priorities: [3], learn: true, buffer: small, learn-tunnels: true}"

/* Ports p0 to the left and p1 to the right; addresses and MACs by node and side. */
#define PORTS(n, left, right) \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 1G, mac: \"02:00:00:00:" n ":00\", " left "\n" \
	"     addresses: [\"2001:db8:" n "::1/64\"]}\n" \
	"  - {name: p1, device: net_null1, speed: 1G, mac: \"02:00:00:00:" n ":01\", " right "\n" \
	"     addresses: [\"2001:db8:" n ":1::1/64\"]}\n"

#define R1 \
	HEAD("r1", "1") \
	PORTS("1a", "", "side: wan,") \
	"neighbors: [{port: p1, address: \"2001:db8:1a:1::4\", mac: \"02:00:00:00:4a:00\"}]\n" \
	"routes: [{prefix: \"5f00:1::/32\", port: p1, nexthop: \"2001:db8:1a:1::4\"}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: p1, nexthop: " \
	"\"2001:db8:1a:1::4\", slice: gold}\n"
#define R4 \
	HEAD("r4", "4") \
	PORTS("4a", LEARNS ",", "side: wan,") \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:4a::1a\", mac: \"02:00:00:00:1a:01\"}\n" \
	"  - {port: p1, address: \"2001:db8:4a:1::2\", mac: \"02:00:00:00:2a:00\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:1:1::/48\", port: p0, nexthop: \"2001:db8:4a::1a\"}\n" \
	"  - {prefix: \"5f00:1::/32\", port: p1, nexthop: \"2001:db8:4a:1::2\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:1:4:1::/64\", behavior: End}\n" \
	"  - {sid: \"5f00:1:4:e1::/64\", behavior: End.X.PFC, port: p1, nexthop: " \
	"\"2001:db8:4a:1::2\", slice: gold}\n" REMOTE
#define R2 \
	HEAD("r2", "2") \
	PORTS("2a", "", "side: wan,") \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:2a::4\", mac: \"02:00:00:00:4a:01\"}\n" \
	"  - {port: p1, address: \"2001:db8:2a:1::3\", mac: \"02:00:00:00:3a:00\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:1::/32\", port: p0, nexthop: \"2001:db8:2a::4\"}\n" \
	"  - {prefix: \"5f00:1:3::/48\", port: p1, nexthop: \"2001:db8:2a:1::3\"}\n" \
	"sids: [{sid: \"5f00:1:2:1::/64\", behavior: End}]\n"
#define R3_WITH(learning, remote) \
	HEAD("r3", "3") \
	PORTS("3a", LEARNS ",", "side: dc, vrf: red, pfc: {priorities: [3], peers: [\"02:00:00:00:dc:02\"]},") \
	"neighbors:\n" \
	"  - {port: p0, " \
	"address: " \
	"\"2001:db8:3a::2\", " \
	"mac: " \
	"\"02:00:00:00:2a:" \
	"01\"}\n" \
	"  - {port: p1, " \
	"address: " \
	"\"2001:db8:3a:1::2\"," \
	" mac: " \
	"\"02:00:00:00:dc:" \
	"02\"}\n" \
	"routes: [{prefix: " \
	"\"5f00:1::/32\", " \
	"port: p0, nexthop: " \
	"\"2001:db8:3a::2\"}]" \
	"\n" \
	"vrfs: [{name: red, " \
	"slice: gold, routes: " \
	"[{prefix: " \
	"\"2001:db8:d::/48\", " \
	"port: p1, nexthop: " \
	"\"2001:db8:3a:1::2\"}" \
	"]}]\n" \
	"sids:\n" \
	"  - {sid: " \
	"\"5f00:1:3:d46::/" \
	"64\", behavior: " \
	"End.DT46, vrf: red}\n" \
	"  - {sid: " \
	"\"5f00:1:3:1::/64\", " \
	"behavior: " \
	"End}\n" learning remote
#define R3 R3_WITH("", REMOTE)

static struct ipv6_addr address(const char *text)
{
	struct ip_addr a;

	check(ip_addr_parse(text, &a) == 0, "%s", text);
	return a.v6;
}

/* A list in travel order, of which the SID at `at` is the destination; SRH with all of them, or none at all. */
static uint32_t data_frame(uint8_t *out, const struct eth_addr *to, const char *source, const char *list,
	unsigned int at, bool srh)
{
	struct eth_hdr *eth = (struct eth_hdr *)out;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1), *inner;
	struct srh *h = (struct srh *)(ip + 1);
	char copy[512], *save = NULL;
	struct ipv6_addr sid[PFC_LIST_MAX + 8];
	unsigned int n = 0;
	struct udp_hdr *udp;

	snprintf(copy, sizeof(copy), "%s", list);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		sid[n++] = address(word);
	memset(out, 0, 1024);
	*eth = (struct eth_hdr){.dst = *to, .src = {{2, 0, 0, 0, 0xee, 0}}, .type = be16(ETH_TYPE_IPV6)};
	ip->vtc_flow = ipv6_vtc_flow(3 << 5, 0x12345);
	ip->hop_limit = 64;
	ip->src = address(source);
	ip->dst = sid[at];
	inner = (struct ipv6_hdr *)h;
	ip->next_header = IP_PROTO_IPV6;
	if (srh) {
		*h = (struct srh){.next_header = IP_PROTO_IPV6,
			.length = (uint8_t)(2 * n),
			.routing_type = SRH_ROUTING_TYPE,
			.segments_left = (uint8_t)(n - 1 - at),
			.last_entry = (uint8_t)(n - 1)};
		for (unsigned int i = 0; i < n; i++)
			h->segment[i] = sid[n - 1 - i];
		ip->next_header = IP_PROTO_ROUTING;
		inner = (struct ipv6_hdr *)&h->segment[n];
	}
	inner->vtc_flow = ipv6_vtc_flow(3 << 5, 0);
	inner->payload_length = be16(sizeof(*udp) + 64);
	inner->next_header = IP_PROTO_UDP;
	inner->hop_limit = 64;
	inner->src = address("2001:db8:c::1");
	inner->dst = address("2001:db8:d::1");
	udp = (struct udp_hdr *)(inner + 1);
	udp->dst_port = be16(UDP_PORT_ROCEV2);
	udp->length = inner->payload_length;
	ip->payload_length = be16((uint16_t)((uint8_t *)udp - (uint8_t *)(ip + 1) + 72));
	return (uint32_t)((uint8_t *)udp - out) + 72;
}

#define LIST "5f00:1:1:e1:: 5f00:1:4:e1:: 5f00:1:2:1:: 5f00:1:3:d46::"

static void send_to(struct testbed *t, const char *source, const char *list, unsigned int at, bool srh)
{
	uint8_t frame[1024];
	uint32_t n = data_frame(frame, &t->port[0]->port.mac, source, list, at, srh);

	fake_port_receive(t->port[0], 0, frame, n, 0);
}

/* The data centre stops or resumes r3's port to it. */
static void data_center_says(struct testbed *r3, uint16_t quanta)
{
	const struct eth_addr dc = {{2, 0, 0, 0, 0xdc, 2}};
	struct pfc_request r = {.enable = 8, .time = {[3] = quanta}};
	struct pfc_frame frame;

	pfc_write(&frame, &dc, &r);
	fake_port_receive(r3->port[1], 0, &frame, sizeof(frame), 0);
}

/* --- the network --- */

struct net {
	struct testbed *r1, *r4, *r2, *r3;
	unsigned int sent, arrived;
};

static struct net net_new(void)
{
	return (struct net){.r1 = testbed_new(R1), .r4 = testbed_new(R4), .r2 = testbed_new(R2), .r3 = testbed_new(R3)};
}

static void carry(struct testbed *from, unsigned int out, struct testbed *to, unsigned int in)
{
	struct sent_frame *f;

	while ((f = fake_port_take(from->port[out]))) {
		fake_port_receive(to->port[in], 0, f->bytes, f->size, 0);
		free(f);
	}
}

static void net_round(struct net *n)
{
	struct testbed *all[] = {n->r1, n->r4, n->r2, n->r3};
	struct sent_frame *f;

	for (unsigned int i = 0; i < ARRAY_LEN(all); i++)
		testbed_round(all[i]);
	carry(n->r1, 1, n->r4, 0);
	carry(n->r4, 0, n->r1, 1);
	carry(n->r4, 1, n->r2, 0);
	carry(n->r2, 0, n->r4, 1);
	carry(n->r2, 1, n->r3, 0);
	carry(n->r3, 0, n->r2, 1);
	while ((f = fake_port_take(n->r3->port[1]))) {
		n->arrived += f->size > 100;
		free(f);
	}
}

static void net_pass(struct net *n, unsigned int rounds)
{
	while (rounds--)
		net_round(n);
}

static void net_send(struct net *n, unsigned int packets)
{
	for (; packets; packets--, n->sent++) {
		send_to(n->r1, "fd00::c", LIST, 0, true);
		net_pass(n, 2);
	}
	net_pass(n, 12);
}

static const struct pfc_tunnel *only_tunnel(struct testbed *t)
{
	const struct pfc_tunnels *all = &service_pfc(t->node)->control->tunnels;
	const struct pfc_tunnel *found = NULL;

	for (uint32_t i = 0; i < all->bound; i++) {
		if (all->tunnel[i].origin == PFC_TUNNEL_FREE)
			continue;
		assert_null(found);
		found = &all->tunnel[i];
	}
	return found;
}

static void check_way(const struct pfc_tunnel *t, const char *want)
{
	char text[IP_ADDR_TEXT], all[512] = "";

	assert_non_null(t);
	for (unsigned int i = 0; i < t->list.n; i++) {
		if (i)
			strcat(all, " ");
		strcat(all, ipv6_addr_format(&t->list.sid[i], text));
	}
	check_text(t->name, all, want);
}

/*
 * Figures 2 and 3: r3 finds the nearest capable node, r4, over r2, which has no PFC; r4 pauses r1 only when its
 * own buffer has crossed its threshold (figure 1, step d). Nothing is lost, and all is delivered in the end.
 */
static void upstream_by_upstream(void **state)
{
	struct net n = net_new();

	net_send(&n, 1);
	assert_int_equal(n.arrived, 1);
	check_way(only_tunnel(n.r3), "5f00:1:2:1:: 5f00:1:4:e1::");
	check_way(only_tunnel(n.r4), "5f00:1:1:e1::");
	assert_null(only_tunnel(n.r1));
	assert_null(only_tunnel(n.r2));

	data_center_says(n.r3, 65535);
	net_pass(&n, 4);
	net_send(&n, 10);
	assert_int_equal(n.arrived, 1);
	assert_int_equal(only_tunnel(n.r3)->stops, 0);
	/* xoff is 17 packets */
	net_send(&n, 12);
	assert_int_equal(only_tunnel(n.r3)->stops, 1);
	assert_int_equal(testbed_reason(n.r4, 1, CONSUME_pfc), 1);
	assert_int_equal(only_tunnel(n.r4)->stops, 0);
	assert_int_equal(testbed_reason(n.r1, 1, CONSUME_pfc), 0);
	/* now they pile up at r4 */
	net_send(&n, 25);
	assert_int_equal(only_tunnel(n.r4)->stops, 1);
	assert_int_equal(testbed_reason(n.r1, 1, CONSUME_pfc), 1);
	net_send(&n, 40);
	assert_true(n.r1->node->egress[1].backlog > 0);
	assert_int_equal(n.arrived, 1);

	data_center_says(n.r3, 0);
	net_pass(&n, 2000);
	assert_int_equal(n.arrived, n.sent);
	assert_int_equal(only_tunnel(n.r3)->stopped, 0);
	assert_int_equal(only_tunnel(n.r3)->resumes, 1);
	assert_int_equal(only_tunnel(n.r4)->resumes, 1);
	assert_int_equal(testbed_reason(n.r3, 0, DROP_headroom_exceeded), 0);
	assert_int_equal(testbed_reason(n.r4, 0, DROP_headroom_exceeded), 0);
	net_send(&n, 5);
	assert_int_equal(n.arrived, n.sent);
	testbed_free(n.r1);
	testbed_free(n.r4);
	testbed_free(n.r2);
	testbed_free(n.r3);
}

/* --- one node --- */

static void drain(struct testbed *t)
{
	struct sent_frame *f;

	for (unsigned int i = 0; i < 2; i++) {
		while ((f = fake_port_take(t->port[i])))
			free(f);
	}
}

static void data(struct testbed *t, const char *source, const char *list, unsigned int at, bool srh,
	unsigned int packets)
{
	for (; packets; packets--) {
		send_to(t, source, list, at, srh);
		for (unsigned int i = 0; i < 3; i++)
			testbed_round(t);
	}
	drain(t);
}

static unsigned int tunnels(struct testbed *t)
{
	const struct pfc_tunnels *all = &service_pfc(t->node)->control->tunnels;
	unsigned int n = 0;

	for (uint32_t i = 0; i < all->bound; i++)
		n += all->tunnel[i].origin != PFC_TUNNEL_FREE;
	return n;
}

/* Data from which no tunnel can be learnt is reported with the reason, once for each source, however many packets it sends. */
static void refusals(void **state)
{
	static const struct {
		const char *list;
		unsigned int at;
		bool srh;
		enum pfc_refusal reason;
	} rows[] = {
		{"5f00:1:3:d46::", 0, false, PFC_REFUSED_no_srh},
		{"5f00:1:3:1:: 5f00:1:3:d46::", 0, true, PFC_REFUSED_no_upstream},
		{"5f00:1:2:1:: 5f00:1:3:d46::", 1, true,
			PFC_REFUSED_no_upstream}, /* as reduced encapsulation leaves it */
		{"5f00:1:4:e1:: 5f00:1:9:1:: 5f00:1:3:d46::", 2, true, PFC_REFUSED_unknown_sid},
		{"5f00:1:4:e1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: "
		 "5f00:1:2:1:: "
		 "5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: "
		 "5f00:1:2:1:: "
		 "5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: "
		 "5f00:1:2:1:: "
		 "5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: 5f00:1:2:1:: "
		 "5f00:1:2:1:: "
		 "5f00:1:3:d46::",
			32, true, PFC_REFUSED_too_long},
	};
	struct testbed *t = testbed_new(R3);
	const struct pfc_tunnels *all = &service_pfc(t->node)->control->tunnels;
	char source[16];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t before = all->refused[rows[i].reason];

		snprintf(source, sizeof(source), "fd00::c%u", i);
		data(t, source, rows[i].list, rows[i].at, rows[i].srh, 5);
		check(all->refused[rows[i].reason] == before + 1, "row %u: %llu", i,
			(unsigned long long)(all->refused[rows[i].reason] - before));
		check_shown(t, "show pfc tunnels", pfc_refusal_help(rows[i].reason));
		check_shown(t, "show pfc tunnels -j", source);
	}
	assert_int_equal(tunnels(t), 0);
	assert_int_equal(service_pfc(t->node)->rx[0].learner->shown, ARRAY_LEN(rows));
	drain(t);
	testbed_free(t);
}

/* The configuration with something else in one place; for the caller to free. */
static char *with(const char *text, const char *what, const char *instead)
{
	size_t before = 0, size;
	char *out = NULL;
	FILE *f = open_memstream(&out, &size);

	assert_non_null(f);
	while (strncmp(text + before, what, strlen(what)) != 0)
		assert_true(text[before++] != 0);
	fprintf(f, "%.*s%s%s", (int)before, text, instead, text + before + strlen(what));
	fclose(f);
	return out;
}

/* Where the tunnel is to say the slice, it must have a number, and the SID room for it. */
static void slices_refused(void **state)
{
	static const struct {
		const char *slices, *remote, *list;
		enum pfc_refusal reason;
	} rows[] = {
		{"[{name: gold}, {name: silver, id: 7}]", "5f00:1:4:e1::/64", LIST, PFC_REFUSED_no_slice_id},
		{"[{name: gold, id: 65536}]", "5f00:1:4:e1::/64", LIST, PFC_REFUSED_no_argument},
		{"[{name: gold, id: 5}]", "5f00:1:4:e1::/116", LIST, PFC_REFUSED_no_argument},
		{"[{name: gold, id: 5}]", "5f00:1:4:e1::/64", LIST, PFC_REFUSED_none},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *a = with(R3_WITH("pfc-learning: {slice-by: argument}\n", REMOTE), "[{name: gold}]",
			rows[i].slices);
		char *b = with(a, "5f00:1:4:e1::/64", rows[i].remote);
		struct testbed *t = testbed_new(b);

		data(t, "fd00::c", rows[i].list, 3, true, 1);
		check(tunnels(t) == (rows[i].reason == PFC_REFUSED_none), "row %u", i);
		check(service_pfc(t->node)->control->tunnels.refused[rows[i].reason] ==
				(rows[i].reason != PFC_REFUSED_none),
			"row %u", i);
		if (!rows[i].reason)
			assert_int_equal(service_pfc(t->node)->control->tunnel[0].outer.header[40 + 8 + 8 + 1], 5);
		testbed_free(t);
		free(b);
		free(a);
	}
}

/* Lossy packets cause no pause, nor do packets in transit: their SRH is not read (RFC 8754 4.2). */
static void not_looked_at(void **state)
{
	struct testbed *t = testbed_new(R3);
	const struct service_learner *l = service_pfc(t->node)->rx[0].learner;
	struct ipv6_addr source = address("fd00::c");
	uint8_t frame[1024];
	uint32_t n;

	for (unsigned int class = 0; class < 8; ++class) {
		n = data_frame(frame, &t->port[0]->port.mac, "fd00::c", LIST, 3, true);
		((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5),
			0x12345);
		if (class == 3)
			continue;
		fake_port_receive(t->port[0], 0, frame, n, 0);
		testbed_round(t);
	}
	data(t, "fd00::c", LIST, 2, true, 3);
	assert_int_equal(testbed_reason(t, 0, DROP_no_route), 0);
	assert_int_equal(l->shown, 0);
	for (unsigned int class = 0; class < 8; ++class)
		assert_int_equal(node_share_of(l, 0, 0, &source, class, t->now), 0);
	data(t, "fd00::c", LIST, 3, true, 1);
	assert_int_equal(l->shown, 1);
	assert_int_equal(tunnels(t), 1);
	testbed_free(t);
}

/* Refreshed by data, removed when the data stops, but never while it holds a pause. */
static void ages_out(void **state)
{
	struct testbed *t = testbed_new(R3_WITH("pfc-learning: {idle: 2}\n", REMOTE));
	uint64_t next;

	data(t, "fd00::c", LIST, 3, true, 1);
	assert_int_equal(tunnels(t), 1);
	check_shown(t, "show pfc tunnels", "learnt-");
	check_shown(t, "show pfc tunnels", "fd00::c");
	for (unsigned int i = 0; i < 6; i++) {
		testbed_pass(t, NSEC_PER_SEC, NSEC_PER_SEC / 10);
		data(t, "fd00::c", LIST, 3, true, 1);
	}
	assert_int_equal(tunnels(t), 1);
	assert_int_equal(service_pfc(t->node)->control->tunnels.learnt, 1);
	pfc_tunnels_poll(&service_pfc(t->node)->control->tunnels, t->now, &next);
	testbed_pass(t, 1900 * NSEC_PER_MSEC, NSEC_PER_SEC / 10);
	assert_int_equal(tunnels(t), 1);
	testbed_pass(t, NSEC_PER_SEC, NSEC_PER_SEC / 10);
	assert_int_equal(tunnels(t), 0);
	assert_int_equal(service_pfc(t->node)->control->tunnels.aged, 1);
	/* and learnt again by the next packet */
	data(t, "fd00::c", LIST, 3, true, 1);
	assert_int_equal(tunnels(t), 1);
	/* stopped: it stays, for its data has stopped because of it */
	data_center_says(t, 65535);
	data(t, "fd00::c", LIST, 3, true, 50);
	assert_int_equal(only_tunnel(t)->stopped, 8);
	for (unsigned int i = 0; i < 150; i++) {
		data_center_says(t, 65535);
		testbed_pass(t, 30 * NSEC_PER_MSEC, 10 * NSEC_PER_MSEC);
	}
	assert_int_equal(tunnels(t), 1);
	data_center_says(t, 0);
	testbed_pass(t, 4 * NSEC_PER_SEC, NSEC_PER_SEC / 10);
	assert_int_equal(tunnels(t), 0);
	drain(t);
	testbed_free(t);
}

/* How many frames left into tunnels, by what they say about priority 3. */
static void said(struct testbed *t, unsigned int *xoff, unsigned int *xon)
{
	struct sent_frame *f;

	*xoff = *xon = 0;
	while ((f = fake_port_take(t->port[0]))) {
		struct pfc_request r;

		assert_int_equal(pfc_read(f->bytes + f->size - 60, 60, 0, &r), PFC_LEGAL);
		++*(r.time[3] ? xoff : xon);
		free(f);
	}
	drain(t);
}

/* Data changes its list while there is congestion: the new tunnel pauses at once, and removing the old one ends no pause. */
static void list_changes(void **state)
{
	struct testbed *t = testbed_new(R3_WITH("pfc-learning: {max-rtt: 20}\n", REMOTE));
	static const char other[] = "5f00:1:1:e1:: 5f00:1:4:e1:: 5f00:1:5:1:: 5f00:1:3:d46::";
	unsigned int xoff, xon;

	data(t, "fd00::c", LIST, 3, true, 1);
	data_center_says(t, 65535);
	data(t, "fd00::c", LIST, 3, true, 50);
	assert_int_equal(only_tunnel(t)->stopped, 8);
	said(t, &xoff, &xon);
	send_to(t, "fd00::c", other, 3, true);
	for (unsigned int i = 0; i < 4; i++)
		testbed_round(t);
	said(t, &xoff, &xon);
	assert_int_equal(tunnels(t), 2);
	assert_int_equal(xoff, 1);
	/* both end at the same SID of r4, where they are one party: the old one goes without XON */
	testbed_pass(t, 25 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	assert_int_equal(tunnels(t), 1);
	said(t, &xoff, &xon);
	assert_int_equal(xon, 0);
	assert_true(xoff > 0);
	assert_int_equal(service_pfc(t->node)->control->tunnels.replaced, 1);
	data_center_says(t, 0);
	testbed_pass(t, 5 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	said(t, &xoff, &xon);
	assert_int_equal(xon, 3); /* repeated after 1 and 2 ms */
	/* flows over both lists: neither is old for long, whatever the rx role had shown before */
	for (unsigned int i = 0; i < 60; i++) {
		data(t, "fd00::c", i % 2 ? LIST : other, 3, true, 1);
		testbed_pass(t, NSEC_PER_MSEC, NSEC_PER_MSEC);
	}
	assert_int_equal(tunnels(t), 2);
	assert_int_equal(service_pfc(t->node)->control->tunnels.replaced, 1);
	drain(t);
	testbed_free(t);
}

static void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	for (unsigned int i = 0; i < 4; i++)
		testbed_round(t);
}

#define ELSEWHERE \
	"remote-sids:\n" \
	"  - {sid: \"5f00:1:4:e1::/64\", behavior: End.X.PFC, owner: r4}\n" \
	"  - {sid: \"5f00:1:4:1::/64\", behavior: End, owner: r4}\n" \
	"  - {sid: \"5f00:1:2:1::/64\", behavior: End.X, owner: r2}\n" \
	"  - {sid: \"5f00:1:2:7::/64\", behavior: End, owner: r2}\n"
#define NOWHERE "remote-sids: [{sid: \"5f00:1:2:1::/64\", behavior: End, owner: r2}]\n"

/* A reload that gives SIDs another meaning: tunnels are learnt again from recorded data, or removed. */
static void meanings_change(void **state)
{
	struct testbed *t = testbed_new(R3);
	unsigned int xoff, xon;

	data(t, "fd00::c", LIST, 3, true, 1);
	data_center_says(t, 65535);
	data(t, "fd00::c", LIST, 3, true, 50);
	check_way(only_tunnel(t), "5f00:1:2:1:: 5f00:1:4:e1::");
	said(t, &xoff, &xon);
	apply(t, R3_WITH("", ELSEWHERE));
	check_way(only_tunnel(t), "5f00:1:2:7:: 5f00:1:4:e1::");
	said(t, &xoff, &xon);
	assert_true(xoff >= 1 && xon == 0);
	assert_int_equal(only_tunnel(t)->stopped, 8);
	apply(t, R3_WITH("", NOWHERE));
	assert_int_equal(tunnels(t), 0);
	said(t, &xoff, &xon);
	assert_int_equal(xon, 1);
	check_shown(t, "show pfc tunnels", "no_upstream");
	/* and back */
	apply(t, R3);
	data(t, "fd00::c", LIST, 3, true, 1);
	assert_int_equal(tunnels(t), 1);
	drain(t);
	data_center_says(t, 0);
	testbed_pass(t, 5 * NSEC_PER_MSEC, NSEC_PER_MSEC);
	drain(t);
	testbed_free(t);
}

/* More sources than tunnels may be: the rest is refused; and more lists than a second has sightings for are left out. */
static void bounded(void **state)
{
	struct testbed *t = testbed_new(R3_WITH("pfc-learning: {tunnels: 20}\n", REMOTE));
	char source[16];

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(source, sizeof(source), "fd00::c:%x", i);
		data(t, source, LIST, 3, true, 1);
	}
	assert_int_equal(tunnels(t), 20);
	assert_int_equal(service_pfc(t->node)->control->tunnels.learnt, 20);
	assert_true(service_pfc(t->node)->rx[0].learner->left_out > 500);
	assert_int_equal(service_pfc(t->node)->rx[0].learner->left_out + service_pfc(t->node)->rx[0].learner->shown,
		1000);
	assert_int_equal(service_pfc(t->node)->control->tunnels.refused[PFC_REFUSED_table_full],
		service_pfc(t->node)->rx[0].learner->shown - 20);
	assert_true(service_pfc(t->node)->rx[0].learner->uncounted > 0);
	testbed_free(t);
}

/* docs/protocol.md 5.7: of two ingress nodes of one slice the one that sends more is paused first, and both before packets are lost. */
static void larger_share_first(void **state)
{
	struct testbed *t = testbed_new(R3);
	const struct pfc_tunnels *all = &service_pfc(t->node)->control->tunnels;
	static const char far[] = "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:d46::";
	const struct pfc_tunnel *small, *large;

	data(t, "fd00::c", LIST, 3, true, 1);
	data(t, "fd00::a", far, 2, true, 1);
	assert_int_equal(tunnels(t), 2);
	small = &all->tunnel[0];
	large = &all->tunnel[1];
	check_way(small, "5f00:1:2:1:: 5f00:1:4:e1::");
	check_way(large, "5f00:1:2:1:: 5f00:1:1:e1::");
	data_center_says(t, 65535);
	for (unsigned int i = 0; i < 8; i++) {
		data(t, "fd00::a", far, 2, true, 3);
		data(t, "fd00::c", LIST, 3, true, 1);
	}
	assert_int_equal(large->stopped, 8);
	assert_int_equal(small->stopped, 0);
	/* the other one fills the rest: at the second threshold it is paused, too */
	for (unsigned int i = 0; i < 60; i++)
		data(t, "fd00::c", LIST, 3, true, 1);
	assert_int_equal(large->stopped, 8);
	assert_int_equal(small->stopped, 8);
	assert_int_equal(testbed_reason(t, 0, DROP_headroom_exceeded), 0);
	data_center_says(t, 0);
	testbed_pass(t, 5 * NSEC_PER_MSEC, NSEC_PER_MSEC / 10);
	assert_int_equal(large->stopped | small->stopped, 0);
	assert_int_equal(large->resumes + small->resumes, 2);
	drain(t);
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(upstream_by_upstream),
		cmocka_unit_test(refusals),
		cmocka_unit_test(slices_refused),
		cmocka_unit_test(not_looked_at),
		cmocka_unit_test(ages_out),
		cmocka_unit_test(list_changes),
		cmocka_unit_test(meanings_change),
		cmocka_unit_test(bounded),
		cmocka_unit_test(larger_share_first),
	};

	return cmocka_run_group_tests_name("pfc_learn", tests, NULL, NULL);
}
