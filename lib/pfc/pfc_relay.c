/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carries PFC over the WAN to the gateway's port: transparent, scaled or regenerated (draft-he-rtgwg-wan-pfc;
 * docs/protocol.md 5.3, 5.5). Pure; control lcore.
 */
#include "pfc/pfc_relay.h"

#include "stats/stats.h"

/*
 * Time in ns for which the far PE holds a priority after a request (regenerate): quanta at the rate of the originating
 * port plus J_max, and at least hold_min_ns.
 */
static uint64_t hold_ns(const struct pfc_relay_config *c, uint16_t quanta)
{
	return MAX_OF(pfc_quanta_ns(quanta, c->from_bps) + c->jitter_ns, c->hold_min_ns) + c->outage_ns;
}

static uint64_t refresh_interval(const struct pfc_relay_port *p)
{
	return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, p->bps) / 2, 1);
}

/* Update the gateway's state to match the holds. Returns true when a frame must be sent to the gateway. */
static bool settle(struct pfc_relay_port *p, uint64_t now, struct pfc_request *out)
{
	*out = (struct pfc_request){0};
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		uint64_t until = pfc_holds_until(&p->holds, PFC_ALL_SLICES, i, pfc_watchdog_heed(&p->watchdog[i]));
		bool stop = until > now;
		uint8_t bit = (uint8_t)(1u << i);

		pfc_watchdog_gate(&p->watchdog[i], until, now);
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

/* Report a request of a tunnel for priority i to the watchdog. Returns true when the request counts. */
static bool heard(struct pfc_relay_port *p, unsigned int i, bool stop, uint64_t now)
{
	return pfc_watchdog_frame(&p->watchdog[i], true, stop ? TIME_NEVER : 0, now);
}

/*
 * A pause asked for by a slower port can be longer than 65,535 quanta of the gateway's port. The rest is renewed by
 * pfc_relay_poll (docs/protocol.md 5.5). Returns the end of the pause in ns; 0: XON.
 */
static uint64_t scale_longer(struct pfc_relay_port *p, const struct pfc_relay_config *c, unsigned int i,
	uint16_t quanta, uint64_t now)
{
	uint64_t until = quanta ? now + pfc_quanta_ns(quanta, c->from_bps) : 0;
	bool longer = until > now + pfc_quanta_ns(PFC_QUANTA_MAX, p->bps);

	p->longer_until[i] = longer ? until : 0;
	p->refresh_at[i] = now + refresh_interval(p);
	return until;
}

/*
 * Modes transparent and scaled: forward each frame as received, or with converted times. Holds only record which
 * parties pause the gateway.
 */
static bool hand_on(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	const struct pfc_request *request, uint64_t now, struct pfc_request *out)
{
	struct pfc_pause pause;
	uint64_t until;

	*out = *request;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(request->enable & 1u << i))
			continue;
		if (!heard(p, i, request->time[i], now)) {
			out->enable = (uint8_t)(out->enable & ~(1u << i));
			out->time[i] = 0;
			p->longer_until[i] = 0;
			continue;
		}
		until = request->time[i] ? now + pfc_quanta_ns(request->time[i], p->bps) : 0;
		if (c->mode == PFC_RELAY_SCALED) {
			out->time[i] = pfc_scale(request->time[i], c->from_bps, p->bps);
			until = scale_longer(p, c, i, request->time[i], now);
		}
		pfc_history_set(&p->history[i], until, now);
		pfc_watchdog_gate(&p->watchdog[i], until, now);
	}
	pause = pfc_pause_of(out, p->bps, 0);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (out->enable & 1u << i && p->longer_until[i])
			pause.ns[i] = p->longer_until[i] - now;
	pfc_holds_apply(&p->holds, party, PFC_ALL_SLICES, &pause, now);
	p->sent += out->enable != 0;
	return out->enable;
}

static bool hold(struct pfc_relay_port *p, const struct pfc_party *party, const struct pfc_pause *pause, uint64_t now,
	struct pfc_request *out)
{
	static const struct pfc_party start = {.sid = PFC_SID_START};
	struct pfc_pause spoken = {.enable = pause->enable};

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (pause->enable & 1u << i)
			heard(p, i, pause->ns[i], now);
	pfc_holds_apply(&p->holds, &start, PFC_ALL_SLICES, &spoken, now);
	if (!pfc_holds_apply(&p->holds, party, PFC_ALL_SLICES, pause, now))
		p->refused++;
	return settle(p, now, out);
}

/*
 * Run the watchdogs before holds expire: a pause may have lasted long enough before it ended. Returns the time in ns
 * of the next call.
 */
static uint64_t look_for_storms(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint64_t now)
{
	uint64_t next, first = TIME_NEVER;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		enum pfc_watchdog_event event;

		while ((event = pfc_watchdog_poll(&p->watchdog[i], &c->watchdog, now, &next)) != PFC_WATCHDOG_NOTHING) {
			stat_add(&p->watch_events, 1);
			/* a forwarded frame paused the gateway, so the gateway must now be resumed */
			if (event != PFC_WATCHDOG_ALARM && pfc_watchdog_heed(&p->watchdog[i]).tunnels == TIME_NEVER &&
				!(p->stopped >> i & 1))
				p->release = (uint8_t)(p->release | 1u << i);
		}
		first = MIN_OF(first, next);
	}
	return first;
}

bool pfc_relay_frame(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	const struct pfc_request *request, uint64_t now, struct pfc_request *out)
{
	struct pfc_pause pause = {.enable = request->enable};

	look_for_storms(p, c, now);
	p->relayed++;
	p->busy = true;
	if (c->mode != PFC_RELAY_REGENERATE)
		return hand_on(p, c, party, request, now, out);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->time[i])
			pause.ns[i] = hold_ns(c, request->time[i]);
	return hold(p, party, &pause, now, out);
}

bool pfc_relay_start(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint8_t priorities, uint64_t lease_ns,
	uint64_t now, struct pfc_request *out)
{
	static const struct pfc_party start = {.sid = PFC_SID_START};
	struct pfc_pause pause = {.enable = priorities};

	FOR_EACH_BIT(i, priorities)
		pause.ns[i] = lease_ns ? lease_ns + c->outage_ns : hold_ns(c, PFC_QUANTA_MAX);
	p->busy = true;
	pfc_holds_apply(&p->holds, &start, PFC_ALL_SLICES, &pause, now);
	return settle(p, now, out);
}

bool pfc_relay_state(struct pfc_relay_port *p, const struct pfc_relay_config *c, const struct pfc_party *party,
	uint8_t speaks_for, uint8_t stopped, uint64_t lease_ns, uint64_t now, struct pfc_request *out)
{
	struct pfc_pause pause = {.enable = speaks_for};

	look_for_storms(p, c, now);
	p->relayed++;
	p->busy = true;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (speaks_for & stopped & 1u << i)
			pause.ns[i] = lease_ns + c->outage_ns;
	return hold(p, party, &pause, now, out);
}

/* Priorities in a storm for which no request of a tunnel counts. */
static uint8_t released(const struct pfc_relay_port *p)
{
	uint8_t bits = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (pfc_watchdog_heed(&p->watchdog[i]).tunnels == TIME_NEVER)
			bits = (uint8_t)(bits | 1u << i);
	return bits;
}

/* Forwarded frames have caused a storm: resume the gateway. */
static void release(struct pfc_relay_port *p, uint64_t now, struct pfc_request *out)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(p->release >> i & 1))
			continue;
		out->enable |= (uint8_t)(1u << i);
		out->time[i] = 0;
		p->longer_until[i] = 0;
		pfc_history_set(&p->history[i], 0, now);
		pfc_watchdog_gate(&p->watchdog[i], 0, now);
	}
	p->sent += p->release != 0;
	p->release = 0;
}

/* Renew the pauses that were too long for one frame, the last time with exactly the rest. Returns their priorities. */
static uint8_t renew_longer(struct pfc_relay_port *p, uint64_t now, struct pfc_request *out, uint64_t *next)
{
	uint8_t renewed = 0;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!p->longer_until[i])
			continue;
		if (now >= p->longer_until[i]) { /* nobody asked in time */
			p->longer_until[i] = 0;
		} else if (now >= p->refresh_at[i]) {
			uint64_t left = p->longer_until[i] - now;

			out->time[i] = pfc_ns_quanta(left, p->bps);
			out->enable |= (uint8_t)(1u << i);
			renewed |= (uint8_t)(1u << i);
			p->refresh_at[i] = now + refresh_interval(p);
			if (left <= pfc_quanta_ns(PFC_QUANTA_MAX, p->bps))
				p->longer_until[i] = 0;
		}
		if (p->longer_until[i])
			*next = MIN_OF(*next, p->refresh_at[i]);
	}
	return renewed;
}

bool pfc_relay_poll(struct pfc_relay_port *p, const struct pfc_relay_config *c, uint64_t now, struct pfc_request *out,
	uint64_t *next)
{
	uint8_t before = p->stopped, renewed = 0;
	bool send;

	*next = look_for_storms(p, c, now);
	if (c->mode == PFC_RELAY_REGENERATE || p->stopped) {
		send = settle(p, now, out);
	} else {
		*out = (struct pfc_request){0};
		send = p->release;
		release(p, now, out);
		renewed = renew_longer(p, now, out, next);
	}
	p->expired += (unsigned int)__builtin_popcount(before & ~p->stopped & ~released(p));
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
		*next = MIN_OF(*next,
			pfc_holds_until(&p->holds, PFC_ALL_SLICES, i, pfc_watchdog_heed(&p->watchdog[i])));
	}
	p->busy = *next != TIME_NEVER;
	if (renewed && !send) {
		p->sent++;
		p->refreshes++;
	}
	return out->enable;
}

/* Does the request change the receiver's state, or renew it when a renewal is due? */
static bool is_due(const struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *r,
	uint64_t now)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		bool stop = r->time[i], held = t->hold_end[i] > now;

		if (r->enable & 1u << i &&
			(stop != held || !(t->said >> i & 1) || (stop && now >= t->sent_at[i] + c->hold_min_ns / 3)))
			return true;
	}
	return false;
}

/* A gateway that starts again has no voice for a moment; after that a pause that it does not renew is over. */
#define QUIET_NS (5 * NSEC_PER_MSEC)
#define REPEAT_NS NSEC_PER_MSEC		    /* until the first two repeats of XON */
#define REPEAT_LATER_NS (5 * NSEC_PER_MSEC) /* until each later one */

static void resume(struct pfc_thinner *t, uint8_t priorities, uint64_t now)
{
	t->resumed |= priorities;
	t->resumed_at = now;
	t->repeat_at = now + REPEAT_NS;
}

/* Record what the gateway has said, whether it is sent on or not. */
static void listen(struct pfc_thinner *t, const struct pfc_request *request, uint64_t now)
{
	FOR_EACH_BIT(i, request->enable)
		t->quiet_at[i] = request->time[i] && t->bps ? now + pfc_quanta_ns(request->time[i], t->bps) + QUIET_NS
							    : 0;
}

static void fall_quiet(struct pfc_thinner *t, uint64_t now)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!t->quiet_at[i] || now < t->quiet_at[i])
			continue;
		t->quiet_at[i] = t->hold_end[i] = 0;
		t->stopped &= (uint8_t) ~(1u << i);
		resume(t, (uint8_t)(1u << i), now);
		t->repeat_at = now;
	}
}

bool pfc_thinner_poll(struct pfc_thinner *t, const struct pfc_relay_config *c, uint64_t now, struct pfc_request *out,
	uint64_t *next)
{
	bool send;

	*next = TIME_NEVER;
	*out = (struct pfc_request){0};
	if (c->mode != PFC_RELAY_REGENERATE)
		return false;
	fall_quiet(t, now);
	send = t->resumed && now >= t->repeat_at;
	if (send) {
		out->enable = t->resumed;
		t->repeat_at = now + (now < t->resumed_at + 2 * REPEAT_NS ? REPEAT_NS : REPEAT_LATER_NS);
		if (now >= t->resumed_at + MAX_OF(c->outage_ns, 2 * REPEAT_NS))
			t->resumed = 0;
	}
	if (t->resumed)
		*next = t->repeat_at;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (t->quiet_at[i])
			*next = MIN_OF(*next, t->quiet_at[i]);
	return send;
}

bool pfc_thinner_frame(struct pfc_thinner *t, const struct pfc_relay_config *c, const struct pfc_request *request,
	uint64_t now)
{
	bool pass = c->mode == PFC_RELAY_REGENERATE ? is_due(t, c, request, now) : request->enable != 0;

	listen(t, request, now);
	if (!pass) {
		t->thinned++;
		return false;
	}
	t->said |= request->enable;
	t->stopped = (uint8_t)((t->stopped & ~request->enable) | pfc_stops(request));
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (!(request->enable & 1u << i))
			continue;
		t->hold_end[i] = request->time[i] ? now + hold_ns(c, request->time[i]) : 0;
		t->sent_at[i] = now;
		if (request->time[i])
			t->resumed &= (uint8_t) ~(1u << i);
		else
			resume(t, (uint8_t)(1u << i), now);
	}
	t->passed++;
	return true;
}
