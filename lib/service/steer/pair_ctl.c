/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the state of pairs of hosts, and reads what is shown of it (pairs.h). Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "config/config.h"
#include "node/service.h"
#include "service/steer/service_steer.h"

int pair_init(struct control_role *c, int socket)
{
	int rc = 0;

	for (uint16_t i = 0; i < c->node->n_rx && rc == 0; i++) {
		struct mailbox_options o = {.carries = "pairs of hosts",
			.from = rx_end(&c->node->rx[i]),
			.to = control_end(c),
			.bytes = sizeof(struct pair_sighting),
			.slots = PAIR_SIGHTINGS,
			.socket = socket};

		rc = mailbox_open(&c->node->mailboxes, &node_steer(c->node)->rx[i].sightings, &o);
	}
	return rc;
}

void pair_free(struct node_pairs *p)
{
	for (unsigned int i = 0; p && i < NODE_MAX_ROLES; i++)
		free(p->rx[i]);
	free(p);
}

int pair_published(struct node *n)
{
	struct node_steer *st = node_steer(n);
	struct node_pairs *p;

	__atomic_store_n(&st->pair_idle_ns, (uint64_t)n->config->steering.idle_s * NSEC_PER_SEC, __ATOMIC_RELAXED);
	if (!n->snapshot->roce || st->pairs)
		return 0;
	p = new_aligned(sizeof(*p));
	for (uint16_t i = 0; p && i < n->n_rx; i++) {
		p->rx[i] = new_aligned(sizeof(*p->rx[i]));
		if (!p->rx[i]) {
			pair_free(p);
			p = NULL;
		}
	}
	if (!p)
		return -ENOMEM;
	p->table.secret = st->secret;
	__atomic_store_n(&st->pairs, p, __ATOMIC_RELEASE);
	return 0;
}

/* Counters of the pair at a place, of all roles. */
static void add_answers(const struct node *n, uint32_t place, struct pair_shown *out)
{
	const struct node_pairs *p = node_steer(n)->pairs;
	uint64_t *to = (uint64_t *)out;

	_Static_assert(offsetof(struct pair_shown, gaps) == PAIR_COUNTS * sizeof(uint64_t),
		"the same counters come first");
	for (uint16_t i = 0; i < n->n_rx; i++) {
		for (unsigned int k = 0; k < PAIR_COUNTS; k++)
			to[k] += stat_read((const uint64_t *)&p->rx[i]->count[place] + k);
		out->seen = MAX_OF(out->seen, stat_read(&p->rx[i]->count[place].seen));
	}
	for (unsigned int k = 0; k < PAIR_COUNTS; k++)
		to[k] -= MIN_OF(to[k], stat_read((const uint64_t *)&p->base[place] + k));
}

struct losses {
	const struct node_pairs *pairs;
	struct pair_row *rows;
	uint32_t *row_of; /* by place, plus 1; 0: the pair is not among the rows */
};

static bool add_losses(void *arg, uint16_t rx, const struct flow_seen *f, unsigned int with)
{
	struct losses *l = arg;
	struct steer_key k = pair_key(&f->flow.key, false);
	uint32_t place, row;

	(void)rx;
	if (!(with & FLOW_WITH_ROCE) || !(f->roce.gaps | f->roce.duplicates))
		return true;
	place = pair_find(&l->pairs->table, &k);
	row = place == PAIR_NONE ? 0 : l->row_of[place];
	if (row) {
		l->rows[row - 1].count.gaps += f->roce.gaps;
		l->rows[row - 1].count.repeated += f->roce.duplicates;
	}
	return true;
}

struct pair_row *pair_show(const struct node *n, const struct steer_filter *filter, uint32_t *rows)
{
	struct losses l = {.pairs = node_steer(n)->pairs,
		.rows = calloc(PAIR_PLACES, sizeof(*l.rows)),
		.row_of = calloc(PAIR_PLACES, sizeof(*l.row_of))};
	struct steer_key k;

	*rows = 0;
	for (uint32_t i = 0; l.rows && l.row_of && l.pairs && i < PAIR_PLACES; i++) {
		if (!pair_read(&l.pairs->table, i, &k) ||
			!steer_filter_matches(filter, &k, steer_vrf_name(n->snapshot, k.vrf), "", ""))
			continue;
		l.rows[*rows] = (struct pair_row){.key = k, .place = i};
		add_answers(n, i, &l.rows[(*rows)++].count);
		l.row_of[i] = *rows;
	}
	if (*rows)
		steer_each_flow(n, add_losses, &l);
	free(l.row_of);
	return l.rows;
}

struct roce_counters roce_counters(const struct node *n)
{
	const struct node_pairs *p = node_steer(n)->pairs;
	struct roce_counters sum = {0};

	for (uint16_t i = 0; p && i < n->n_rx; i++) {
		const struct flow_table *t = node_steer(n)->rx[i].table;

		for (size_t k = 0; k < sizeof(sum) / sizeof(uint64_t); k++)
			((uint64_t *)&sum)[k] += stat_read((const uint64_t *)&p->rx[i]->sum + k);
		sum.repeated += t ? stat_read(&t->psn[0]) : 0;
		sum.gaps += t ? stat_read(&t->psn[1]) : 0;
	}
	if (p) {
		sum.pairs = __atomic_load_n(&p->table.n, __ATOMIC_RELAXED);
		sum.full = stat_read(&p->full);
	}
	return sum;
}

void pair_watch(struct node *n, uint32_t place)
{
	struct node_pairs *p = node_steer(n)->pairs;
	uint64_t number;

	if (!p)
		return;
	number = (p->watched >> 32) + 1;
	if (place != PAIR_NONE && !pair_read(&p->table, place, &p->watch))
		place = PAIR_NONE;
	__atomic_store_n(&p->watched, number << 32 | (place == PAIR_NONE ? 0 : place + 1), __ATOMIC_RELAXED);
}

bool pair_watched(const struct node *n, struct steer_key *pair, uint64_t *others,
	void (*fn)(void *arg, const struct pair_qp *q), void *arg)
{
	const struct node_pairs *p = node_steer(n)->pairs;
	struct steer_key now;

	*others = 0;
	if (!p || !(uint32_t)p->watched)
		return false;
	/* another pair may have got its place */
	if (!pair_read(&p->table, (uint32_t)p->watched - 1, &now) || !steer_same(&now, &p->watch))
		return false;
	*pair = p->watch;
	for (uint16_t i = 0; i < n->n_rx; i++) {
		if (stat_read(&p->rx[i]->watched) != p->watched)
			continue;
		*others += stat_read(&p->rx[i]->others);
		for (unsigned int k = 0; k < PAIR_QPS; k++) {
			struct pair_qp q = p->rx[i]->qp[k];

			q.qp &= ~PAIR_QP_USED;
			if (p->rx[i]->qp[k].qp)
				fn(arg, &q);
		}
	}
	return true;
}
