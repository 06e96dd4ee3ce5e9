/* SPDX-License-Identifier: BSD-3-Clause */
/* The PFC storm watchdog: detects an unbroken pause and decides when it is over. Pure; one lcore owns a watchdog. */
#include "pfc/pfc_watchdog.h"

#include "stats/stats.h"

/* Together with WATCHDOG_COUNTERS: all members, for pfc_watchdog_copy. */
#define MEMBERS(X) \
	X(paused) \
	X(alarmed) \
	X(by_link) \
	X(action) \
	X(since) \
	X(until) \
	X(release_until) \
	X(last_stop) \
	X(heed.link) \
	X(heed.tunnels) \
	X(last_storm_ns)
_Static_assert(sizeof(struct pfc_watchdog) == 8 + 19 * sizeof(uint64_t),
	"MEMBERS and WATCHDOG_COUNTERS list every member");

/* Relaxed store: other threads read the state. */
#define SET(member, value) __atomic_store_n(&(member), value, __ATOMIC_RELAXED)

void pfc_watchdog_copy(struct pfc_watchdog *to, const struct pfc_watchdog *from)
{
#define COPY(member) SET(to->member, __atomic_load_n(&from->member, __ATOMIC_RELAXED));
#define COPY_COUNTER(kind, member, ...) COPY(member)
	MEMBERS(COPY)
	WATCHDOG_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
#undef COPY
}

static bool sets_aside(const struct pfc_watchdog *w, bool tunnel)
{
	switch ((enum pfc_watchdog_action)w->action) {
	case PFC_WATCHDOG_RELEASE:
		return w->stormed && tunnel && w->release_until;
	case PFC_WATCHDOG_DROP:
	case PFC_WATCHDOG_FORWARD:
		return w->stormed;
	case PFC_WATCHDOG_ALERT:
	case PFC_WATCHDOG_OFF:
		break;
	}
	return false;
}

bool pfc_watchdog_frame(struct pfc_watchdog *w, bool tunnel, uint64_t until, uint64_t now)
{
	if (until > now)
		SET(w->last_stop, now);
	if (likely(!sets_aside(w, tunnel)))
		return true;
	if (until > now)
		stat_add(&w->ignored, 1);
	return false;
}

struct pfc_heed pfc_watchdog_heed(const struct pfc_watchdog *w)
{
	return (struct pfc_heed){.link = sets_aside(w, false) ? TIME_NEVER : w->heed.link,
		.tunnels = sets_aside(w, true) ? TIME_NEVER : w->heed.tunnels};
}

void pfc_watchdog_gate(struct pfc_watchdog *w, uint64_t until, uint64_t now)
{
	bool broken = !w->paused || w->until < now;

	SET(w->paused, until > now);
	if (!w->paused) {
		SET(w->alarmed, false);
		return;
	}
	if (broken) {
		SET(w->since, now);
		SET(w->alarmed, false);
	}
	SET(w->until, until);
}

/* Has the unbroken pause lasted for `ns` at `now`? It may have ended meanwhile. */
static bool lasted(const struct pfc_watchdog *w, uint64_t ns, uint64_t now)
{
	return w->paused && ns && now >= w->since + ns && w->until >= w->since + ns;
}

static enum pfc_watchdog_event restore(struct pfc_watchdog *w, uint64_t now)
{
	if (sets_aside(w, false))
		SET(w->heed.link, now);
	if (sets_aside(w, true))
		SET(w->heed.tunnels, now);
	SET(w->stormed, false);
	SET(w->release_until, 0);
	stat_add(&w->restorations, 1);
	SET(w->restored_at, now);
	SET(w->last_storm_ns, now - w->detected_at);
	stat_add(&w->storm_ns, w->last_storm_ns);
	/* a pause that was obeyed all the time may continue: it counts from here */
	SET(w->since, now);
	SET(w->alarmed, false);
	return PFC_WATCHDOG_RESTORED;
}

static void release(struct pfc_watchdog *w, const struct pfc_watchdog_config *config, uint64_t now)
{
	SET(w->release_until, config->release_ns ? now + config->release_ns : TIME_NEVER);
	stat_add(&w->releases, 1);
}

/*
 * In a storm with action release: when the release time is over, requests count again, those of before too. The next
 * one comes when they have paused the queue for the detection time, counted from there.
 */
static bool turn_release(struct pfc_watchdog *w, const struct pfc_watchdog_config *config, uint64_t now)
{
	if (w->release_until && now >= w->release_until) {
		SET(w->release_until, 0);
		SET(w->since, now);
		return true;
	}
	if (!w->release_until && lasted(w, config->detect_ns, now)) {
		release(w, config, now);
		return true;
	}
	return false;
}

static enum pfc_watchdog_event detect(struct pfc_watchdog *w, const struct pfc_watchdog_config *config, uint64_t now)
{
	SET(w->stormed, true);
	SET(w->action, config->action);
	stat_add(&w->detections, 1);
	SET(w->detected_at, now);
	release(w, config, now);
	SET(w->last_sent, 0);
	SET(w->last_dropped, 0);
	return PFC_WATCHDOG_STORM;
}

/* Time in ns at which the current pause will have lasted for `ns`; TIME_NEVER if it ends before. */
static uint64_t due(const struct pfc_watchdog *w, uint64_t ns)
{
	return w->paused && ns && w->until >= w->since + ns ? w->since + ns : TIME_NEVER;
}

/* Time in ns at which a storm is over if no frame asks for a pause. */
static uint64_t quiet_at(const struct pfc_watchdog *w, const struct pfc_watchdog_config *config)
{
	return MAX_OF(w->last_stop, w->detected_at) + config->restore_ns;
}

/* Time in ns at which the release time of a storm ends or begins again. */
static uint64_t release_at(const struct pfc_watchdog *w, const struct pfc_watchdog_config *config)
{
	if (w->action != PFC_WATCHDOG_RELEASE)
		return TIME_NEVER;
	return w->release_until ? w->release_until : due(w, config->detect_ns);
}

uint64_t pfc_watchdog_next(const struct pfc_watchdog *w, const struct pfc_watchdog_config *config)
{
	if (w->stormed)
		return MIN_OF(quiet_at(w, config), release_at(w, config));
	return MIN_OF(due(w, config->detect_ns), w->alarmed ? TIME_NEVER : due(w, config->alarm_ns));
}

enum pfc_watchdog_event pfc_watchdog_poll(struct pfc_watchdog *w, const struct pfc_watchdog_config *config,
	uint64_t now, uint64_t *next)
{
	*next = now;
	if (w->stormed) {
		if (now >= quiet_at(w, config))
			return restore(w, now);
		if (w->action == PFC_WATCHDOG_RELEASE && turn_release(w, config, now))
			return PFC_WATCHDOG_RELEASED;
		*next = pfc_watchdog_next(w, config);
		return PFC_WATCHDOG_NOTHING;
	}
	if (!w->alarmed && lasted(w, config->alarm_ns, now)) {
		SET(w->alarmed, true);
		stat_add(&w->alarms, 1);
		return PFC_WATCHDOG_ALARM;
	}
	if (lasted(w, config->detect_ns, now))
		return detect(w, config, now);
	*next = pfc_watchdog_next(w, config);
	return PFC_WATCHDOG_NOTHING;
}

uint64_t pfc_watchdog_storm_ns(const struct pfc_watchdog *w, uint64_t now)
{
	return w->storm_ns + (w->stormed ? now - w->detected_at : 0);
}
