/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One frame through the classifier alone. First byte: port in bits 0-1, then flags as in fuzz_packet.c; the rest is
 * the frame. The frame's buffer is poisoned around it.
 */
#include "test/support/unit.h"

#include "classify/classify_priv.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/node.h"
#include "test/support/verdict.h"

static struct lcore_stats stats;
static struct sid_counter sids[SNAP_SID_MAX];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_node();
	return 0;
}

static void check_forward(const struct pkt *x, const struct snapshot *s, uint32_t size)
{
	must(x->egress < s->n_ports, "egress %u", x->egress);
	must(x->neigh >= PKT_NEIGH_LINK ? snap_interface_of(x->neigh - PKT_NEIGH_LINK) == x->egress
					: x->neigh < s->n_neighs && s->neigh[x->neigh].used,
		"neighbour %u", x->neigh);
	/* a circuit takes a frame as it is */
	must((x->strip >= 14 || (x->family == PKT_FRAME && !x->strip)) && x->strip + x->l3_bytes <= size,
		"packet at %u, %u bytes, frame of %u", x->strip, x->l3_bytes, size);
	must(x->family == 4 || x->family == 6 || x->family == PKT_FRAME, "family %u", x->family);
	must(!(x->ops & PKT_OP_ENCAP) || (x->path < s->n_paths && s->path[x->path].bytes), "path %u", x->path);
	must(!(x->ops & (PKT_OP_SL | PKT_OP_POP_SRH)) || (x->srh >= x->strip + 40 && x->srh + 8u <= size), "SRH at %u",
		x->srh);
	must(!(x->ops & PKT_OP_SPENT) || (x->ops & PKT_OP_SL && x->srh >= x->strip + 40 + 24), "second SRH at %u",
		x->srh);
	must(!(x->ops & PKT_OP_POP_SPENT) || x->ops & PKT_OP_SPENT, "changes %x", x->ops);
}

static void check_verdict(const struct pkt *x, const struct snapshot *s, uint32_t size)
{
	switch (x->verdict) {
	case PKT_FORWARD:
		check_forward(x, s, size);
		break;
	case PKT_PUNT:
		must(x->punt <= PUNT_LAST, "punt %u", x->punt);
		must(x->strip >= 14 && x->strip <= size, "punted at %u, frame of %u", x->strip, size);
		break;
	case PKT_DROP:
		must(x->reason < DROP_COUNT, "reason %u", x->reason);
		break;
	default:
		must(false, "verdict %u", x->verdict);
	}
}

/* The express lane and the general way agree. The bucket of control traffic has given the packet its class before. */
static void check_lane(struct classifier *c, uint16_t port, struct rte_mbuf *m)
{
	struct pkt verdict = *pkt_of(m);
	const char *differs;

	memset(c->control, 0, sizeof(c->control));
	memset(pkt_of(m), 0, sizeof(struct pkt));
	classify_frames(c, &c->s->port[port], &m, 1);
	differs = verdict_differs(&verdict, pkt_of(m));
	must(!differs, "%s is another by the general way", differs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct testbed *t = fuzz_node();
	const struct snapshot *s = t->node->snapshot;
	struct classifier c = {.s = s, .stats = &stats, .sids = sids};
	struct fuzz_input in = {data, size};
	uint8_t flags = fuzz_byte(&in), copy[2048];
	uint16_t port = flags & 3u;
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->node->pool);
	uint32_t bytes = (uint32_t)MIN_OF(in.left, sizeof(copy)), first = (flags >> 5) * 16u;

	must(m, "no buffer");
	memcpy(copy, in.at, bytes);
	fuzz_block(copy, bytes);
	if (flags & 4)
		fuzz_address(copy, bytes, t->node->port[port]);
	if (flags & 8)
		fuzz_seal(copy, bytes);
	memcpy(rte_pktmbuf_mtod(m, void *), copy, bytes);
	/* the rest of a split frame is in a buffer that must not be read; its length counts */
	m->data_len = (uint16_t)(first ? MIN_OF(first, bytes) : bytes);
	m->pkt_len = bytes;
	memset(pkt_of(m), 0xff, sizeof(struct pkt));
	pkt_poison(m);
	/* of frames that wait for the CPU, before anything of them is checked */
	must(classify_class(&s->port[port], m) <= PKT_CLASS_CONTROL, "no class");
	classify_burst(&c, port, &m, 1);
	check_verdict(pkt_of(m), s, bytes);
	check_lane(&c, port, m);
	m->pkt_len = m->data_len;
	pkt_free(m);
	return 0;
}
