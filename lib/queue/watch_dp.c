/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the PFC watchdogs of an egress (pfc/pfc_watchdog.h). Worker lcores; the owner of the egress. */
#include "queue/watch.h"

static bool watch_is_on(const struct egress *e, const struct egress_context *c)
{
	return c->s->port[e->index].watchdog.detect_ns;
}

static const struct pfc_watchdog_config *watch_config_of(const struct egress *e, const struct egress_context *c)
{
	return &c->s->port[e->index].watchdog;
}

void watch_request(struct egress *e, const struct egress_context *c, const struct pfc_party *party, uint8_t slice,
	const struct pfc_pause *pause)
{
	uint32_t first = slice == EGRESS_ALL_SLICES ? 0 : slice;
	uint32_t end = slice == EGRESS_ALL_SLICES ? e->n_slices : slice + 1u;

	for (uint32_t id = first; id < end; id++)
		FOR_EACH_BIT(k, pause->enable)
			pfc_watchdog_frame(&e->watchdog[id][k], party->sid != PFC_SID_LINK, c->now + pause->ns[k],
				c->now);
}

uint64_t watch_pause(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class)
{
	struct pfc_watchdog *w = &e->watchdog[slice][class];
	uint64_t until = pfc_holds_until(&e->holds, (uint8_t)slice, class, pfc_watchdog_heed(w));

	if (watch_is_on(e, c) || w->stormed) {
		/* a pause that cannot be refreshed is no storm */
		pfc_watchdog_gate(w, e->holds.stood_ns ? 0 : until, c->now);
		e->watch_ns = MIN_OF(e->watch_ns, pfc_watchdog_next(w, watch_config_of(e, c)));
	}
	return unlikely(pfc_watchdog_drops(w)) ? TIME_NEVER : until;
}

bool watch_poll(struct egress *e, const struct egress_context *c, uint32_t slice, unsigned int class, uint64_t *next)
{
	struct pfc_watchdog *w = &e->watchdog[slice][class];
	struct pfc_heed link_alone = {.link = w->heed.link, .tunnels = TIME_NEVER};
	enum pfc_watchdog_event event;

	while ((event = pfc_watchdog_poll(w, watch_config_of(e, c), c->now, next)) != PFC_WATCHDOG_NOTHING) {
		stat_add(&e->watch_events, 1);
		if (event == PFC_WATCHDOG_STORM)
			__atomic_store_n(&w->by_link,
				pfc_holds_until(&e->holds, (uint8_t)slice, class, link_alone) >= c->now,
				__ATOMIC_RELAXED);
		if (event != PFC_WATCHDOG_ALARM)
			return true;
	}
	return false;
}

void watch_publish(struct egress *e, const struct egress_context *c)
{
	bool storm = false;
	uint8_t drop = 0;

	for (uint32_t id = 0; id < e->n_slices; id++) {
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++) {
			const struct pfc_watchdog *w = &e->watchdog[id][k];

			storm |= w->stormed;
			if (pfc_watchdog_drops(w) && w->by_link)
				drop = (uint8_t)(drop | 1u << k);
		}
	}
	e->gates = (uint8_t)((e->gates & ~EGRESS_GATE_STORM) | (storm ? EGRESS_GATE_STORM : 0));
	if (c->storming)
		__atomic_store_n(&c->storming[e->index], drop, __ATOMIC_RELAXED);
}

void watch_configure(struct egress *e, const struct egress_context *c, uint32_t n_slices_before)
{
	/* clear watchdogs of removed slices: a new slice may reuse their ids */
	for (uint32_t id = e->n_slices; id < n_slices_before; id++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			pfc_watchdog_copy(&e->watchdog[id][k], &(const struct pfc_watchdog){0});
	for (uint32_t id = 0; id < e->n_slices && watch_is_on(e, c) && !e->holds.stood_ns; id++)
		FOR_EACH_BIT(k, e->slice[id].closed[EGRESS_PAUSE])
			if (!e->watchdog[id][k].paused && !e->watchdog[id][k].stormed)
				pfc_watchdog_gate(&e->watchdog[id][k], e->slice[id].queue[k].pause_until, c->now);
	e->watch_ns = c->now; /* configured times may have changed */
}
