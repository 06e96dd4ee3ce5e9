/* SPDX-License-Identifier: BSD-3-Clause */
/* The service of placement: its row, and orders about paths. Control lcore, except where it says otherwise. */
#include "node/service.h"
#include "service/nexthop/nexthop.h"
#include "service/steer/steer_ctl.h"

static unsigned int steer_poll(struct control_role *c, uint64_t *next)
{
	struct node_steer *st = node_steer(c->node);
	uint32_t head = __atomic_load_n(&st->orders.head, __ATOMIC_ACQUIRE), tail = st->orders.tail;
	unsigned int work = head - tail;

	for (; tail != head; tail++) {
		const struct steer_order *o = &st->orders.order[tail % STEER_ORDERS];

		nexthop_report_path(c, o->path, LIVENESS_DRAINED, !o->drained);
	}
	if (work)
		__atomic_store_n(&st->orders.tail, tail, __ATOMIC_RELEASE);
	if (unlikely(__atomic_load_n(&st->pairs, __ATOMIC_RELAXED)))
		work += pair_poll(c, next);
	return work + feedback_poll(c, next);
}

static bool steer_has_input(const struct control_role *c)
{
	const struct node_steer *st = node_steer(c->node);

	return __atomic_load_n(&st->orders.head, __ATOMIC_ACQUIRE) != st->orders.tail;
}

const struct control_service steer_service = {
	.name = "steer",
	.init = steer_init,
	.fini = steer_fini,
	.tick = steer_tick,
	.published = steer_published,
	.poll = steer_poll,
	.has_input = steer_has_input,
	.rx = &steer_rx_hooks,
};
