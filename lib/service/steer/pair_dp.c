/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts what receivers of RoCEv2 send back for the pair of hosts, and shows pairs to the control lcore (pairs.h). A packet of hosts that no data is
 * known to go between is counted, and changes nothing: forged ACKs and CNPs make no pairs. Rx lcores.
 */
#include "node/service.h"
#include "service/steer/service_steer.h"

/* The pair at a place is in use. */
static void refresh(struct rx_role *rx, struct pair_count *c)
{
	stat_level(c->seen, rx->classifier.now);
}

void pair_data(struct rx_role *rx, const struct node_pairs *p, const struct steer_key *flow)
{
	struct pair_sighting s = {.pair = pair_key(flow, false)};
	struct pair_rx *mine = p->rx[rx->index];
	uint32_t place = pair_find(&p->table, &s.pair);

	if (place == PAIR_NONE) {
		/* a full mailbox counts it, and the flow's next packets show the pair again */
		mailbox_push(&node_steer(rx->node)->rx[rx->index].sightings, &s, sizeof(s));
		return;
	}
	refresh(rx, &mine->count[place]);
}

static struct pair_qp *qp_of(struct pair_rx *mine, uint32_t qp)
{
	for (uint32_t i = 0; i < PAIR_QPS; i++) {
		struct pair_qp *q = &mine->qp[(qp + i) % PAIR_QPS];

		if (!q->qp)
			stat_level(q->qp, qp | PAIR_QP_USED);
		if (q->qp == (qp | PAIR_QP_USED))
			return q;
	}
	stat_add(&mine->others, 1);
	return NULL;
}

static void count_qp(struct pair_rx *mine, uint64_t watched, const struct roce *r)
{
	struct pair_qp *q;

	if (mine->watched != watched) {
		memset(mine->qp, 0, sizeof(mine->qp));
		stat_level(mine->others, 0);
		stat_level(mine->watched, watched);
	}
	q = qp_of(mine, r->qp);
	if (!q)
		return;
	stat_level(q->acks, q->acks + (r->kind == ROCE_ACKS));
	stat_level(q->nak_sequence, q->nak_sequence + (r->kind == ROCE_NAK_SEQUENCE));
	stat_level(q->rnr, q->rnr + (r->kind == ROCE_RNR));
	stat_level(q->naks, q->naks + (r->kind == ROCE_NAK));
	stat_level(q->cnps, q->cnps + (r->kind == ROCE_CONGESTION));
}

#define COUNT(c, kind) \
	do { \
		stat_add(&(c)->acks, (kind) == ROCE_ACKS); \
		stat_add(&(c)->nak_sequence, (kind) == ROCE_NAK_SEQUENCE); \
		stat_add(&(c)->rnr, (kind) == ROCE_RNR); \
		stat_add(&(c)->naks, (kind) == ROCE_NAK); \
		stat_add(&(c)->cnps, (kind) == ROCE_CONGESTION); \
	} while (0)

void pair_answer(struct rx_role *rx, struct node_pairs *p, const struct steer_key *key, const struct roce *r)
{
	struct steer_key pair = pair_key(key, true);
	struct pair_rx *mine = p->rx[rx->index];
	uint32_t place = pair_find(&p->table, &pair);
	uint64_t watched = __atomic_load_n(&p->watched, __ATOMIC_RELAXED);

	if (place == PAIR_NONE) {
		stat_add(&mine->sum.unknown, 1);
		return;
	}
	refresh(rx, &mine->count[place]);
	COUNT(&mine->sum, r->kind);
	COUNT(&mine->count[place], r->kind);
	if (unlikely((uint32_t)watched == place + 1))
		count_qp(mine, watched, r);
}
