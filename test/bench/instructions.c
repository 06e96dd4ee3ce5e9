/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node's code alone, burst by burst, for counting instructions: a port that hands out the same packets again
 * and again and takes everything. Run by scripts/bench under callgrind; `floor` is the port without the node, and
 * the difference is what a packet costs. With `queued` the device is as one that has not taken all it was offered, so that
 * every packet waits; with `gate` one gate is closed, of a class that nothing is in. With `consumed` each
 * frame is a new buffer, for the node keeps what it receives (PFC), or some of it waits for long.
 * Usage: bench_instructions CONFIG IN-PCAP BURSTS [floor|queued|gate|consumed]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_node.h"

#define BURST 64

struct replay {
	struct port port;
	uint8_t frame[BURST][2048];
	uint16_t size[BURST];
	unsigned int n; /* frames in the capture, at most BURST */
	struct rte_mbuf *spare[4 * BURST];
	unsigned int n_spare;
	struct rte_mempool *pool;
	bool consumed; /* a new buffer for each frame; none comes back */
	bool on;
};

static uint16_t rx(struct port *port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct replay *r = (struct replay *)port;

	(void)queue;
	if (!r->on)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = r->consumed ? rte_pktmbuf_alloc(r->pool) : r->spare[--r->n_spare];
		unsigned int k = i % r->n;

		m->data_off = RTE_PKTMBUF_HEADROOM;
		m->data_len = r->size[k];
		m->pkt_len = r->size[k];
		memcpy(rte_pktmbuf_mtod(m, void *), r->frame[k], r->size[k]);
		pkts[i] = m;
	}
	return n;
}

static struct replay *replay; /* where sent buffers go back to */

static uint16_t tx(struct port *port, struct rte_mbuf **pkts, uint16_t n)
{
	(void)port;
	if (replay->consumed)
		rte_pktmbuf_free_bulk(pkts, n);
	for (uint16_t i = 0; !replay->consumed && i < n; i++)
		replay->spare[replay->n_spare++] = pkts[i];
	return n;
}

static const struct port_ops ops = {.rx = rx, .tx = tx, .stop = bench_port_nothing, .close = bench_port_nothing};

/* The first port is the one that receives. */
static struct port *new_port(const struct node *n, const struct cfg_port *c)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	bench_port_init(&r->port, &ops, c);
	r->pool = n->pool;
	if (!replay)
		replay = r;
	return &r->port;
}

static void read_frames(struct replay *r, const char *file)
{
	FILE *f = fopen(file, "re");
	uint32_t head[4];

	if (!f || fseek(f, 24, SEEK_SET) != 0)
		abort();
	while (r->n < BURST && fread(head, sizeof(head), 1, f) == 1 && head[2] <= sizeof(r->frame[0])) {
		if (fread(r->frame[r->n], head[2], 1, f) != 1)
			abort();
		r->size[r->n++] = (uint16_t)head[2];
	}
	fclose(f);
	if (!r->n)
		abort();
}

/* The part that callgrind counts. */
__attribute__((noinline)) void measured(struct node *n, unsigned int bursts, bool floor_only, bool queued);
__attribute__((noinline)) void measured(struct node *n, unsigned int bursts, bool floor_only, bool queued)
{
	struct rte_mbuf *pkts[BURST];
	uint64_t now = NSEC_PER_SEC, next;

	for (unsigned int i = 0; i < bursts; i++) {
		if (queued)
			n->egress[1].gates |= EGRESS_GATE_DEVICE;
		if (floor_only)
			tx(n->port[0], pkts, rx(n->port[0], 0, pkts, BURST));
		else
			for (uint16_t l = 0; l < n->n_lcores; l++)
				node_lcore_poll(n->lcore[l], now += 1000, &next);
	}
}

/* For ever, and for class 7 of no slice. */
static void close_a_gate(struct node *n)
{
	struct pfc_party party = {.sid = PFC_SID_LINK};
	struct pfc_pause pause = {.enable = 0x80, .ns = {[7] = 1000000 * NSEC_PER_SEC}};
	uint64_t next;

	for (uint16_t l = 0; l < n->n_lcores; l++)
		node_lcore_poll(n->lcore[l], NSEC_PER_SEC, &next);
	egress_pause(&n->egress[1], &n->worker[0].ctx, &party, 0, &pause);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 4 ? argv[4] : "";
	struct node *n = argc < 4 ? NULL : bench_node(argv[1], 512, new_port);

	if (!n)
		return 2;
	read_frames(replay, argv[2]);
	for (unsigned int i = 0; i < 4 * BURST; i++)
		replay->spare[replay->n_spare++] = rte_pktmbuf_alloc(n->pool);
	if (strcmp(mode, "gate") == 0)
		close_a_gate(n);
	replay->consumed = strcmp(mode, "consumed") == 0;
	replay->on = true;
	measured(n, (unsigned int)atoi(argv[3]), strcmp(mode, "floor") == 0, strcmp(mode, "queued") == 0);
	printf("%u bursts of %d\n", (unsigned int)atoi(argv[3]), BURST);
	return 0;
}
