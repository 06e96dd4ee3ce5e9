/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the parties that pause a port, which slices and priorities they pause and until when, and combines the
 * pauses of all parties (docs/protocol.md 4.4). Pure; the worker that owns the port calls.
 */
#include "pfc/pfc_hold.h"

struct pfc_pause pfc_pause_of(const struct pfc_request *request, uint64_t bps, uint64_t jitter_ns)
{
	struct pfc_pause pause = {.enable = request->enable};

	FOR_EACH_BIT(i, request->enable)
		if (request->time[i])
			pause.ns[i] = pfc_quanta_ns(request->time[i], bps) + jitter_ns;
	return pause;
}

static bool same_party(const struct pfc_party *a, const struct pfc_party *b)
{
	return a->sid == b->sid && memcmp(&a->source, &b->source, sizeof(a->source)) == 0;
}

static bool is_over(const struct pfc_hold *h, uint64_t now)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (h->until[i] > now)
			return false;
	return true;
}

static struct pfc_hold *find(struct pfc_holds *h, const struct pfc_party *party, uint8_t slice)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (h->hold[i].slice == slice && same_party(&h->hold[i].party, party))
			return &h->hold[i];
	return NULL;
}

/* Find a free entry: one whose hold has ended, or a new one. NULL: full. */
static struct pfc_hold *place(struct pfc_holds *h, uint64_t now)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (is_over(&h->hold[i], now))
			return &h->hold[i];
	return h->n < PFC_PARTIES_MAX ? &h->hold[h->n++] : NULL;
}

/* The time of the holds, which may stand still. */
static uint64_t hold_time(const struct pfc_holds *h, uint64_t now)
{
	return h->stood_ns ? h->stood_ns : now;
}

void pfc_holds_stand_still(struct pfc_holds *h, uint64_t now)
{
	if (!h->stood_ns)
		h->stood_ns = MAX_OF(now, 1);
}

void pfc_holds_go_on(struct pfc_holds *h, uint64_t now)
{
	for (uint32_t i = 0; i < h->n && h->stood_ns; i++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (h->hold[i].until[k] > h->stood_ns)
				h->hold[i].until[k] += now - h->stood_ns;
	h->stood_ns = 0;
}

static bool asks_for_a_pause(const struct pfc_pause *pause)
{
	FOR_EACH_BIT(i, pause->enable)
		if (pause->ns[i])
			return true;
	return false;
}

bool pfc_holds_apply(struct pfc_holds *h, const struct pfc_party *party, uint8_t slice, const struct pfc_pause *pause,
	uint64_t now)
{
	struct pfc_hold *hold = find(h, party, slice);

	if (!hold) {
		if (!asks_for_a_pause(pause))
			return true;
		hold = place(h, hold_time(h, now));
		if (!hold)
			return false;
		*hold = (struct pfc_hold){.party = *party, .slice = slice};
	}
	FOR_EACH_BIT(i, pause->enable) {
		hold->until[i] = pause->ns[i] ? hold_time(h, now) + pause->ns[i] : 0;
		hold->said[i] = now;
	}
	return true;
}

static bool concerns(const struct pfc_hold *hold, uint8_t slice)
{
	return hold->slice == slice || hold->slice == PFC_ALL_SLICES;
}

static bool counts(const struct pfc_hold *hold, unsigned int priority, struct pfc_heed heed)
{
	return hold->said[priority] >= (hold->party.sid == PFC_SID_LINK ? heed.link : heed.tunnels);
}

uint64_t pfc_holds_until(const struct pfc_holds *h, uint8_t slice, unsigned int priority, struct pfc_heed heed)
{
	uint64_t until = 0;

	for (uint32_t i = 0; i < h->n; i++)
		if (concerns(&h->hold[i], slice) && counts(&h->hold[i], priority, heed))
			until = MAX_OF(until, h->hold[i].until[priority]);
	return h->stood_ns && until > h->stood_ns ? TIME_NEVER : until;
}

uint64_t pfc_holds_of_sids(const struct pfc_holds *h, unsigned int priority)
{
	uint64_t until = 0;

	for (uint32_t i = 0; i < h->n; i++)
		if (h->hold[i].party.sid < PFC_SID_START)
			until = MAX_OF(until, h->hold[i].until[priority]);
	return until;
}

unsigned int pfc_holds_count(const struct pfc_holds *h, uint8_t slice, unsigned int priority, uint64_t now)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < h->n; i++)
		n += concerns(&h->hold[i], slice) && h->hold[i].until[priority] > hold_time(h, now);
	return n;
}
