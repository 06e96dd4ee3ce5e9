/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refreshes by id (RFC 2961 section 5; docs/credit.md 1.10): a 28 or S that the neighbour has acknowledged, and whose contents
 * have not changed since, is refreshed by its MESSAGE_ID in an Srefresh. Those of one pass to one neighbour go together. An id
 * that is not known is answered by a NACK, after which the whole message is sent. Control lcore.
 */
#include "rsvp/rsvp_node_priv.h"

#define TOGETHER 16 /* instants in R at which refreshes by id are sent */

static bool reduces(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *neighbor)
{
	return n->ops->reduces && neighbor->family && n->ops->reduces(n->arg, zone, neighbor);
}

static void send_list(struct rsvp_node *n, uint16_t zone, const struct ip_addr *to)
{
	struct rsvp_way way = {.to = *to, .zone = zone};
	unsigned int kept = 0;
	uint16_t ids = 0;

	for (unsigned int i = 0; i < n->pending_n; i++) {
		if (n->pending[i].zone == zone && ip_addr_equal(&n->pending[i].to, to))
			n->ids[ids++] = be32(n->pending[i].id);
		else
			n->pending[kept++] = n->pending[i];
	}
	n->pending_n = kept;
	rsvp_clear(&n->out, RSVP_SREFRESH);
	n->out.flags = RSVP_FLAG_REFRESH_REDUCTION;
	n->out.id_list[0] = (struct rsvp_id_list){.epoch = n->id_epoch, .ids = n->ids, .count = ids};
	n->out.count[RSVP_O_ID_LIST] = 1;
	n->stats.sent++;
	n->stats.refreshed += ids;
	n->ops->send(n->arg, &way, &n->out);
}

void rsvp_refresh_flush(struct rsvp_node *n)
{
	while (n->pending_n) {
		struct ip_addr to = n->pending[0].to;

		send_list(n, n->pending[0].zone, &to);
	}
}

static void add(struct rsvp_node *n, uint16_t zone, const struct ip_addr *to, uint32_t id)
{
	if (n->pending_n == RSVP_PENDING)
		rsvp_refresh_flush(n);
	n->pending[n->pending_n++] = (struct rsvp_pending){.to = *to, .zone = zone, .id = id};
}

bool rsvp_refresh_init(struct rsvp_node *n, const struct rsvp_path *p)
{
	if (p->user != RSVP_U_COMMITTED || !p->down_acked || !reduces(n, rsvp_way_of(p)->zone, p->nhop) ||
		rsvp_init_sum(n, p) != p->down_sum)
		return false;
	add(n, rsvp_way_of(p)->zone, p->nhop, p->down_id);
	return true;
}

bool rsvp_refresh_commit(struct rsvp_node *n, const struct rsvp_path *p)
{
	if (!p->acknowledged || !reduces(n, p->instance->zone, p->phop) || rsvp_commit_sum(n, p) != p->s_sum)
		return false;
	add(n, p->instance->zone, p->phop, p->s_id);
	return true;
}

uint64_t rsvp_refresh_together(struct rsvp_node *n, uint64_t now, struct rsvp_path *p)
{
	uint64_t at = now + rsvp_refresh_ns(n, p), step = rsvp_ms(p->refresh_ms) / TOGETHER + 1;

	return at - at % step;
}
