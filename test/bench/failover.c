/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What failover and BFD cost (docs/performance.md), on a whole node whose lcores this one thread polls in turn:
 *
 *   paths N     a next hop fails: until the first packet has left by another path. N: times
 *   queue N     a link fails with N packets queued: until all have left by the port of another worker
 *   bfd N       N sessions are up for N_MS of virtual time: what the control lcore does. Their neighbours are here
 *
 * The configuration comes from test/bench/failover.py and has ports in, one, two. Prints lines `name number...`; times are
 * real ones. Everything in measured() is counted by callgrind, if the program runs under it.
 * Usage: bench_failover CONFIG paths|queue|bfd N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "bench_node.h"
#include "bfd/bfd_packet.h"
#include "service/bfd/service_bfd.h"
#include "service/nexthop/nexthop.h"
#include "stats/counter.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/udp.h"

#define FRAMES 4096 /* that wait in a receive queue */
#define FRAME_BYTES 192
#define BURST 64
#define N_MS 1000
#define SETTLE_MS 3000	  /* by then all sessions are up: they begin with a packet a second */
#define BFD_STEP_NS 20000 /* virtual time of a pass */

enum { IN, ONE, TWO, PORTS };

struct bench_port {
	struct port port; /* first */
	struct rte_mempool *pool;
	struct {
		uint16_t size;
		uint8_t bytes[FRAME_BYTES];
	} frame[FRAMES];
	uint32_t head, n;
	bool stuck;    /* the device takes nothing */
	bool answers;  /* it is the neighbours of BFD sessions */
	uint64_t sent; /* frames; of sessions: control packets of this node */
};

static struct bench_port *ports[PORTS];
static struct node *node;
static uint64_t now = NSEC_PER_SEC;

/* --- ports --- */

static uint16_t rx(struct port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct bench_port *p = (struct bench_port *)port;
	uint16_t got = (uint16_t)MIN_OF(n, p->n);

	(void)queue;
	for (uint16_t i = 0; i < got; i++, p->head++, p->n--) {
		uint32_t at = p->head % FRAMES;

		pkts[i] = rte_pktmbuf_alloc(p->pool);
		if (!pkts[i])
			abort();
		memcpy(rte_pktmbuf_append(pkts[i], p->frame[at].size), p->frame[at].bytes, p->frame[at].size);
	}
	return got;
}

static void receive(struct bench_port *p, const void *bytes, size_t size)
{
	uint32_t at = (p->head + p->n) % FRAMES;

	if (p->n == FRAMES || size > FRAME_BYTES)
		abort();
	memcpy(p->frame[at].bytes, bytes, size);
	p->frame[at].size = (uint16_t)size;
	p->n++;
}

#define BFD_AT (sizeof(struct eth_hdr) + sizeof(struct ipv4_hdr) + sizeof(struct udp_hdr))

/* The neighbour of a session is as fast as the session itself, and sends a packet for each one. */
static void answer(struct bench_port *p, const struct rte_mbuf *m)
{
	uint8_t frame[BFD_AT + BFD_MESSAGE_MAX];
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv4_hdr *ip = (struct ipv4_hdr *)(eth + 1);
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);
	struct bfd_packet b;
	uint32_t number;
	be32_t to;

	memcpy(frame, rte_pktmbuf_mtod(m, const void *), BFD_AT);
	if (be16_get(udp->dst_port) != BFD_PORT_CONTROL ||
		bfd_packet_read(rte_pktmbuf_mtod_offset(m, const void *, BFD_AT), m->pkt_len - BFD_AT, &b) !=
			BFD_ACCEPTED)
		abort();
	p->sent++;
	to = ip->dst;
	number = b.my_discr;
	b.my_discr = be32_get(to);
	b.your_discr = number;
	b.state = b.state == BFD_DOWN ? BFD_INIT : BFD_UP;
	b.final = b.poll;
	b.poll = false;
	eth->dst = eth->src;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0xb0, 0}};
	ip->dst = ip->src;
	ip->src = to;
	udp->checksum = be16(0); /* as IPv4 allows */
	receive(p, frame, BFD_AT + bfd_packet_write(frame + BFD_AT, &b));
}

static uint16_t tx(struct port *port, struct rte_mbuf **pkts, uint16_t n)
{
	struct bench_port *p = (struct bench_port *)port;

	if (p->stuck)
		return 0;
	for (uint16_t i = 0; p->answers && i < n; i++)
		answer(p, pkts[i]);
	if (!p->answers)
		p->sent += n;
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

static struct port *new_port(const struct node *n, const struct cfg_port *c)
{
	static const struct port_ops ops = {.rx = rx,
		.tx = tx,
		.stop = bench_port_nothing,
		.close = bench_port_nothing};
	static unsigned int made;
	struct bench_port *p = calloc(1, sizeof(*p));

	if (!p || made == PORTS)
		abort();
	bench_port_init(&p->port, &ops, c);
	p->pool = n->pool;
	ports[made++] = p;
	return &p->port;
}

/* --- the node --- */

static double ns_of(uint64_t cycles)
{
	return (double)cycles * 1e9 / (double)rte_get_tsc_hz();
}

/* One pass of all lcores. spent: cycles of each are added; NULL: nobody asks. */
static void pass(uint64_t step_ns, uint64_t *spent)
{
	uint64_t next;

	now += step_ns;
	for (uint16_t l = 0; l < node->n_lcores; l++) {
		uint64_t began = rte_rdtsc();

		node_lcore_poll(node->lcore[l], now, &next);
		if (spent)
			spent[l] += rte_rdtsc() - began;
	}
}

static void settle(uint64_t ns)
{
	for (uint64_t end = now + ns; now < end;)
		pass(100 * NSEC_PER_USEC, NULL);
}

/* A packet to the policy arrives; 64 flows in turn. */
static void arrives(void)
{
	static uint16_t flow;
	uint8_t frame[128] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)frame;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);
	struct udp_hdr *udp = (struct udp_hdr *)(ip + 1);
	struct ip_addr addr;

	eth->dst = ports[IN]->port.mac;
	eth->src = (struct eth_addr){{2, 0, 0, 0, 0x11, 0x11}};
	eth->type = be16(ETH_TYPE_IPV6);
	ip->vtc_flow = be32(6u << 28);
	ip->payload_length = be16((uint16_t)(sizeof(frame) - sizeof(*eth) - sizeof(*ip)));
	ip->next_header = IP_PROTO_UDP;
	ip->hop_limit = 64;
	ip_addr_parse("2001:db8:1::11", &addr);
	ip->src = addr.v6;
	ip_addr_parse("2001:db8:99::1", &addr);
	ip->dst = addr.v6;
	udp->src_port = be16((uint16_t)(49152 + flow++ % 64));
	udp->dst_port = be16(4791);
	udp->length = ip->payload_length;
	receive(ports[IN], frame, sizeof(frame));
}

/* --- paths --- */

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report_bfd(uint32_t id, bool up)
{
	node->control->now = now;
	nexthop_report(node->control, id, LIVENESS_BFD, up);
}

/* The next hop is down; packets arrive until one has left. Returns passes. */
__attribute__((noinline)) unsigned int measured_paths(uint32_t id);
__attribute__((noinline)) unsigned int measured_paths(uint32_t id)
{
	uint64_t before = ports[TWO]->sent;
	unsigned int passes = 0;

	report_bfd(id, false);
	for (; ports[TWO]->sent == before && passes < 1000; passes++) {
		arrives();
		pass(1000, NULL);
	}
	return passes;
}

/* The neighbour id of what the port `one` leads to. */
static uint32_t nexthop_of_one(void)
{
	for (uint32_t i = 0; i < node->snapshot->n_neighs; i++)
		if (node->snapshot->neigh[i].used && node->snapshot->neigh[i].port == ONE)
			return i;
	abort();
}

static int paths(unsigned int times)
{
	double *ns = calloc(times, sizeof(*ns));
	uint32_t id = nexthop_of_one();
	unsigned int passes = 0;

	if (!ns)
		abort();
	for (unsigned int i = 0; i < times; i++) {
		uint64_t before = ports[ONE]->sent, began;

		arrives();
		settle(NSEC_PER_MSEC);
		if (ports[ONE]->sent == before)
			return fprintf(stderr, "the path does not carry\n"), 1;
		before = ports[TWO]->sent;
		began = rte_rdtsc_precise();
		passes += measured_paths(id);
		ns[i] = ns_of(rte_rdtsc_precise() - began);
		if (ports[TWO]->sent == before)
			return fprintf(stderr, "no packet took the other path\n"), 1;
		report_bfd(id, true);
		settle(3 * NSEC_PER_MSEC);
	}
	qsort(ns, times, sizeof(*ns), ascending);
	printf("ns %.0f %.0f %.0f\npasses %.2f\npaths %u\n", ns[0], ns[times / 2], ns[times - 1 - times / 100],
		(double)passes / times, node->snapshot->n_paths);
	free(ns);
	return 0;
}

/* --- queue --- */

/* Until `n` packets have left by the other port, or for a second. spent: cycles by lcore; *busiest: of the busier one in each pass */
__attribute__((noinline)) unsigned int measured_queue(unsigned int n, uint64_t *spent, uint64_t *busiest);
__attribute__((noinline)) unsigned int measured_queue(unsigned int n, uint64_t *spent, uint64_t *busiest)
{
	unsigned int passes = 0;

	port_set_link(&ports[ONE]->port, false);
	for (; ports[TWO]->sent < n && passes < 1000000; passes++) {
		uint64_t one[MAX_PORTS] = {0}, most = 0;

		pass(1000, one);
		for (uint16_t l = 0; l < node->n_lcores; l++) {
			spent[l] += one[l];
			most = MAX_OF(most, one[l]);
		}
		*busiest += most;
	}
	return passes;
}

static int queue(unsigned int n)
{
	uint64_t spent[MAX_PORTS] = {0}, busiest = 0;
	unsigned int passes;

	ports[ONE]->stuck = true;
	for (unsigned int i = 0; i < n; i++) {
		arrives();
		if (i % BURST == BURST - 1)
			pass(1000, NULL);
	}
	settle(NSEC_PER_MSEC);
	if (ports[ONE]->sent || ports[TWO]->sent)
		return fprintf(stderr, "packets have left\n"), 1;
	passes = measured_queue(n, spent, &busiest);
	if (ports[TWO]->sent != n)
		return fprintf(stderr, "%llu of %u packets have left\n", (unsigned long long)ports[TWO]->sent, n), 1;
	printf("ns %.0f\nowner %.0f\nother %.0f\npasses %u\n", ns_of(busiest), ns_of(spent[0]), ns_of(spent[1]),
		passes);
	return 0;
}

/* --- BFD --- */

__attribute__((noinline)) void measured_bfd(struct node_lcore *l);
__attribute__((noinline)) void measured_bfd(struct node_lcore *l)
{
	uint64_t next;

	node_lcore_poll(l, now, &next);
}

/* The control lcore alone is measured. */
static uint64_t bfd_pass(bool counted)
{
	uint64_t next, began;

	now += BFD_STEP_NS;
	for (uint16_t l = 0; l < node->n_lcores; l++)
		if (!node->lcore[l]->control)
			node_lcore_poll(node->lcore[l], now, &next);
	began = rte_rdtsc();
	if (counted)
		measured_bfd(node->control->lcore);
	else
		node_lcore_poll(node->control->lcore, now, &next);
	return rte_rdtsc() - began;
}

static unsigned int sessions_up(void)
{
	unsigned int up = 0;

	for (uint32_t i = 0; i < node->snapshot->n_bfd; i++)
		up += bfd_session_shown(node, &node->snapshot->bfd[i])->state == BFD_UP;
	return up;
}

static int bfd(unsigned int n)
{
	uint64_t cycles = 0, before;

	ports[ONE]->answers = true;
	for (uint64_t end = now + SETTLE_MS * NSEC_PER_MSEC; now < end;)
		bfd_pass(false);
	if (sessions_up() != n)
		return fprintf(stderr, "%u of %u sessions are up\n", sessions_up(), n), 1;
	before = ports[ONE]->sent;
	for (uint64_t end = now + N_MS * NSEC_PER_MSEC; now < end;)
		cycles += bfd_pass(true);
	if (sessions_up() != n)
		return fprintf(stderr, "%u of %u sessions are still up\n", sessions_up(), n), 1;
	printf("share %.4f\npackets %llu\n", ns_of(cycles) / (N_MS * 1e6),
		(unsigned long long)(ports[ONE]->sent - before));
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 4 ? (unsigned int)atoi(argv[3]) : 0;

	node = argc == 4 ? bench_node(argv[1], 1024, new_port) : NULL;
	if (!node)
		return 2;
	settle(10 * NSEC_PER_MSEC);
	for (unsigned int i = 0; i < PORTS; i++)
		ports[i]->sent = 0;
	if (strcmp(argv[2], "paths") == 0)
		return paths(n);
	return strcmp(argv[2], "queue") == 0 ? queue(n) : bfd(n);
}
