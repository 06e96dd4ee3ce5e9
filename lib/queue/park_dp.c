/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets packets that may not leave yet step aside (park.h). Worker lcores; the owner of the egress. */
#include "queue/park.h"

#include "queue/rebind.h"

static bool park_front(struct egress *e, uint8_t slice, uint8_t class)
{
	struct fifo *f = &e->slice[slice].queue[class].packets;

	while (f->n && park_is_due(e, f->head)) {
		if (!e->rebind.park_left)
			return false;
		e->rebind.park_left--;
		e->rebind.parked++;
		fifo_push(&e->parked[slice][class].later, fifo_pop(f));
	}
	sched_settle(e, slice, class);
	return true;
}

bool park_fronts(struct egress *e)
{
	for (unsigned int word = 0; word < ARRAY_LEN(e->may); word++) {
		FOR_EACH_BIT64(i, e->may[word])
		{
			uint8_t slice = (uint8_t)(word * 64 + i);

			FOR_EACH_BIT(k, sched_ready(&e->slice[slice]))
				if (!park_front(e, slice, (uint8_t)k))
					return false;
		}
	}
	return true;
}

void park_return(struct egress *e, const struct egress_context *c)
{
	for (unsigned int slice = 0; e->rebind.parked && slice < SNAP_SLICE_MAX; slice++) {
		for (unsigned int k = 0; k < PKT_CLASSES; k++) {
			struct egress_parked *p = &e->parked[slice][k];
			struct fifo *f = &e->slice[slice].queue[k].packets;
			uint32_t before = f->n;

			fifo_move_front(f, &p->later);
			if (!e->rebind.waits)
				fifo_move_front(f, &p->home);
			e->rebind.parked -= f->n - before;
			if (f->n == before)
				continue;
			e->slice[slice].busy = (uint8_t)(e->slice[slice].busy | 1u << k);
			sched_list(e, &e->slice[slice], (uint8_t)slice);
			e->rebind.again |= e->rebind.scan; /* the search may have passed them */
		}
	}
	if (unlikely(e->gates & EGRESS_GATE_STORM))
		e->wake_ns = c->now; /* queues may be in a storm with action drop, and must then be emptied */
}

void park_full(struct egress *e, const struct egress_context *c, uint16_t home)
{
	e->rebind.full |= 1u << home;
	e->rebind.full_until = c->now + REBIND_LOOK_NS;
}

void park_retry(struct egress *e, const struct egress_context *c)
{
	if (!e->rebind.full && !e->rebind.drains)
		return;
	e->rebind.full = 0;
	e->rebind.drains = false;
	park_return(e, c);
}

void park_begin_pass(struct egress *e, const struct egress_context *c)
{
	if (!e->rebind.drains && c->now >= e->rebind.full_until && e->rebind.park_left)
		park_retry(e, c);
	e->rebind.park_left = PARK_BATCH;
}
