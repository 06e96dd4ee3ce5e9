/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands packets from worker to worker (peer.h). Worker lcores. */
#include "node/peer.h"

#include "queue/rebind.h"

static void peer_account(struct worker_role *w, const struct peer_charge *p, bool charge)
{
	struct account *total = &w->accounts->total[p->port][p->priority];
	struct account *slice = &w->accounts->slice[p->port][p->slice][p->priority];
	uint64_t *held = &w->ctx.held[p->epoch % EGRESS_EPOCHS];

	if (charge) {
		account_charge(total, p->bytes, p->buffers);
		account_charge(slice, p->bytes, p->buffers);
		stat_add(held, 1);
	} else {
		account_release(total, p->bytes, p->buffers);
		account_release(slice, p->bytes, p->buffers);
		stat_sub(held, 1);
	}
}

void peer_release(struct worker_role *w, struct peer_mail *p)
{
	uint32_t popped = (uint32_t)stat_read(&p->box.popped);

	for (; p->released != popped; p->released++)
		peer_account(w, &p->charge[p->released % LIMIT_PEER_MAIL], false);
}

static struct peer_mail *mail_to(struct worker_role *w, uint16_t worker, bool home)
{
	return &w->to_peer[(home ? w->node->n_workers : 0) + worker];
}

bool peer_has_room(void *arg, uint16_t worker, bool home)
{
	struct worker_role *w = arg;
	struct peer_mail *p = mail_to(w, worker, home);

	peer_release(w, p);
	return p->charged - p->released < LIMIT_PEER_MAIL;
}

void peer_give(void *arg, uint16_t worker, struct rte_mbuf *m)
{
	const struct pkt *x = pkt_of(m);
	struct worker_role *w = arg;
	struct peer_mail *p = mail_to(w, worker, rebind_comes_home(m, x->egress));
	struct peer_charge *c = &p->charge[p->charged++ % LIMIT_PEER_MAIL];

	*c = (struct peer_charge){.bytes = m->pkt_len,
		.buffers = m->nb_segs,
		.port = m->port,
		.epoch = x->epoch,
		.slice = x->slice,
		.priority = x->priority};
	peer_account(w, c, true);
	mailbox_push_packets(&p->box, &m, 1);
}

static unsigned int peer_read_one(struct worker_role *w, struct peer_mail *p)
{
	unsigned int work = 0;

	for (; work < LIMIT_PEER_MAIL; work++) {
		struct rte_mbuf *m = p->stalled;
		struct egress *e;

		if (!m && !mailbox_pop_packets(&p->box, &m, 1))
			break;
		e = &w->node->egress[pkt_of(m)->egress];
		/* one that was resolved by a newer snapshot waits for the next pass, which begins with that */
		if (node_snapshot(w->node) != w->ctx.s || !egress_can_take(e, &w->ctx, m)) {
			__atomic_store_n(&p->stalled, m, __ATOMIC_RELAXED);
			break;
		}
		if (p->stalled)
			__atomic_store_n(&p->stalled, NULL, __ATOMIC_RELAXED);
		egress_take(e, &w->ctx, m);
	}
	return work;
}

unsigned int peer_read(struct worker_role *w)
{
	unsigned int work = 0;

	for (uint16_t i = 0; i < PEER_LANES * w->node->n_workers; i++) {
		uint16_t peer = i % w->node->n_workers, lane = i - peer;
		struct peer_mail *out = &w->to_peer[i], *in = &w->node->worker[peer].to_peer[lane + w->index];

		if (peer == w->index)
			continue;
		if (unlikely(out->charged != out->released))
			peer_release(w, out);
		if (unlikely(in->stalled || !mailbox_is_empty(&in->box)))
			work += peer_read_one(w, in);
	}
	return work;
}
