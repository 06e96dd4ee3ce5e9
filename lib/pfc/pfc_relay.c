/* SPDX-License-Identifier: BSD-3-Clause */
#include "pfc/pfc_relay.h"

uint64_t pfc_relay_hold_ns(const struct pfc_relay_config *c, uint16_t quanta)
{
	return MAX_OF(pfc_quanta_ns(quanta, c->from_bps) + c->jitter_ns, c->hold_min_ns);
}

static uint64_t refresh_interval(const struct pfc_relay_port *p)
{
	return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, p->bps) / 2, 1);
}

/* Bring what the gateway was told in line with the holds. True when it is to be told something. */
static bool settle(struct pfc_relay_port *p, uint64_t now, struct pfc_request *out)
{
	*out = (struct pfc_request){0};
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		bool stop = pfc_holds_until(&p->holds, PFC_ALL_SLICES, i) > now;
		uint8_t bit = (uint8_t)(1u << i);

		if (stop == !!(p->stopped & bit))
			continue;
		out->enable |= bit;
		out->time[i] = stop ? PFC_QUANTA_MAX : 0;
		p->refresh_at[i] = now + refresh_interval(p);
		pfc_history_set(&p->history[i], stop ? TIME_NEVER : 0, now);
		p->stopped ^= bit;
	}
	p->sent += out->enable != 0;
	return out->enable;
}

/* Letter of the draft: each frame as it is, or with its times converted. */
static bool hand_on(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_request *request,
	uint64_t now, struct pfc_request *out)
{
	*out = *request;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(request->enable & 1u << i))
			continue;
		if (c->mode == PFC_RELAY_SCALED)
			out->time[i] = pfc_scale(request->time[i], c->from_bps, p->bps);
		pfc_history_set(&p->history[i], out->time[i] ? now + pfc_quanta_ns(out->time[i], p->bps) : 0, now);
	}
	p->sent += out->enable != 0;
	return out->enable;
}

static bool hold(struct pfc_relay_port *p, const struct pfc_party *party, const struct pfc_pause *pause, uint64_t now,
	struct pfc_request *out)
{
	if (!pfc_holds_apply(&p->holds, party, PFC_ALL_SLICES, pause, now))
		p->refused++;
	return settle(p, now, out);
}

bool pfc_relay_frame(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	const struct pfc_request *request, uint64_t now, struct pfc_request *out)
{
	struct pfc_pause pause = {.enable = request->enable};

	p->relayed++;
	if (c->mode != PFC_RELAY_REGENERATE)
		return hand_on(p, c, request, now, out);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->time[i])
			pause.ns[i] = pfc_relay_hold_ns(c, request->time[i]);
	return hold(p, party, &pause, now, out);
}

bool pfc_relay_state(struct pfc_relay_port *p, const struct pfc_party *party, uint8_t speaks_for, uint8_t stopped,
	uint64_t lease_ns, uint64_t now, struct pfc_request *out)
{
	struct pfc_pause pause = {.enable = speaks_for};

	p->relayed++;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (speaks_for & stopped & 1u << i)
			pause.ns[i] = lease_ns;
	return hold(p, party, &pause, now, out);
}

bool pfc_relay_poll(struct pfc_relay_port *p, uint64_t now, struct pfc_request *out, uint64_t *next)
{
	uint8_t before = p->stopped, renewed = 0;
	bool send = settle(p, now, out);

	*next = TIME_NEVER;
	p->expired += (unsigned int)__builtin_popcount(before & ~p->stopped);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		uint8_t bit = (uint8_t)(1u << i);

		if (!(p->stopped & bit))
			continue;
		if (now >= p->refresh_at[i]) {
			out->enable |= bit;
			out->time[i] = PFC_QUANTA_MAX;
			p->refresh_at[i] = now + refresh_interval(p);
			renewed |= bit;
		}
		*next = MIN_OF(*next, p->refresh_at[i]);
		*next = MIN_OF(*next, pfc_holds_until(&p->holds, PFC_ALL_SLICES, i));
	}
	if (renewed && !send) {
		p->sent++;
		p->refreshes++;
	}
	return out->enable;
}

/* Does the request change what the receiver holds, or renew what it holds soon enough? */
static bool is_due(const struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *r, uint64_t now)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		bool stop = r->time[i], held = t->hold_end[i] > now;

		if (r->enable & 1u << i && (stop != held || (stop && now >= t->sent_at[i] + c->hold_min_ns / 3)))
			return true;
	}
	return false;
}

bool pfc_thinner_frame(struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *request,
	uint64_t now)
{
	bool pass = c->mode == PFC_RELAY_REGENERATE ? is_due(t, c, request, now) : request->enable != 0;

	if (!pass) {
		t->thinned++;
		return false;
	}
	t->stopped = (uint8_t)((t->stopped & ~request->enable) | pfc_stops(request));
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(request->enable & 1u << i))
			continue;
		t->hold_end[i] = request->time[i] ? now + pfc_relay_hold_ns(c, request->time[i]) : 0;
		t->sent_at[i] = now;
	}
	t->passed++;
	return true;
}
