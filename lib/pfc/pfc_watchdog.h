/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC storm watchdog of one queue (port, slice, priority), with the semantics of SONiC's watchdog:
 *
 *   storm      the queue was paused without a break for the detection time, even if it was empty
 *   restored   no frame has asked the queue to stop for the restoration time
 *
 * Actions during a storm:
 *
 *   release    a pause across the WAN must not last for ever (docs/protocol.md 5.5), and yet it may be true: requests of
 *              tunnels are ignored for the release time only, which lets a bounded amount of data go, and again whenever
 *              they have paused the queue for the detection time. Requests of the neighbour on the link count
 *   drop       queued and arriving packets are dropped and counted, and cause no PFC
 *   forward    the queue is served as if there were no PFC
 *   alert      the storm is only reported; the queue stays paused as PFC requests
 *
 * Known defects of other watchdogs are avoided: breaks are detected by the end of each pause, not by polling;
 * restoration depends on frames received, not on a counter that does not change; a resume (time 0) is no storm; drops
 * of the queue accumulate; the state belongs to the queue and survives a reload. An alarm precedes the detection,
 * because a pause of WAN length looks like a storm (docs/protocol.md 5.5).
 *
 * There is one writer: the owner of the port, or the control lcore for a gateway behind a relay. It stores each member
 * relaxed; other threads read with pfc_watchdog_copy. Pure: no packets, no clock.
 */
#ifndef PFC_PFC_WATCHDOG_H
#define PFC_PFC_WATCHDOG_H

#include "pfc/pfc_hold.h"
#include "stats/counter.h"

/* The values of enum cfg_watchdog_action (config/words.h), as snapshot/build_pfc.c asserts. */
enum pfc_watchdog_action {
	PFC_WATCHDOG_RELEASE,
	PFC_WATCHDOG_DROP,
	PFC_WATCHDOG_FORWARD,
	PFC_WATCHDOG_ALERT,
	PFC_WATCHDOG_OFF,
};

/* Configuration of a watchdog. All zero except the action: off. */
struct pfc_watchdog_config {
	uint8_t action;	     /* enum pfc_watchdog_action */
	uint64_t alarm_ns;   /* ns of unbroken pause until the alarm; 0: no alarm */
	uint64_t detect_ns;  /* ns of unbroken pause until a storm is detected; 0: the watchdog is off */
	uint64_t restore_ns; /* ns without a request to stop until the storm is over */
	uint64_t release_ns; /* release: ns for which requests of tunnels are ignored; 0: until the storm is over */
};

enum pfc_watchdog_event {
	PFC_WATCHDOG_NOTHING,  /* no event is due */
	PFC_WATCHDOG_ALARM,    /* paused for the alarm time */
	PFC_WATCHDOG_STORM,    /* a storm begins: the caller updates the gate with pfc_watchdog_heed */
	PFC_WATCHDOG_RELEASED, /* in a storm, requests of tunnels begin or cease to be ignored: the same */
	PFC_WATCHDOG_RESTORED, /* a storm is over: the caller updates the gate with pfc_watchdog_heed */
};

/* Counters of a watchdog. Packets are those of the queue during storms; the owner of the queue counts them. */
#define WATCHDOG_COUNTERS(X) \
	X(part_gauge, stormed, NULL, "storms", "sluice_pfc_storm", \
		"1 during a PFC storm of a queue or of a gateway behind a relay") \
	X(counter, alarms, "alarms", "alarms", "sluice_pfc_storm_alarms", \
		"pauses that lasted longer than the alarm time") \
	X(counter, detections, "detected", "storms", "sluice_pfc_storms", "PFC storms detected") \
	X(counter, restorations, "restored", "storms", "sluice_pfc_storms_restored", "PFC storms that ended") \
	X(time, detected_at, "detected_ms_ago", "ms", NULL, "time since the last storm was detected") \
	X(time, restored_at, "restored_ms_ago", "ms", NULL, "time since the last storm ended") \
	X(counter, storm_ns, "storm_ms", "ns", "sluice_pfc_storm_ns", "total duration of storms that ended") \
	X(counter, releases, "released", "times", "sluice_pfc_storm_releases", \
		"times that pauses of tunnels were ignored in a storm, for the release time each") \
	X(counter, ignored, "ignored", "requests", "sluice_pfc_storm_ignored", "pause requests ignored during storms") \
	X(counter, sent, "sent", "packets", "sluice_pfc_storm_sent_packets", \
		"packets sent by the queue during storms") \
	X(counter, dropped, "dropped", "packets", "sluice_pfc_storm_dropped_packets", \
		"packets of the queue dropped during storms") \
	X(gauge, last_sent, "last_sent", "packets", NULL, \
		"packets sent by the queue during the current or last storm") \
	X(gauge, last_dropped, "last_dropped", "packets", NULL, \
		"packets of the queue dropped during the current or last storm")

struct pfc_watchdog {
	bool paused, alarmed, stormed; /* unbroken pause; alarm was raised in it; in a storm */
	bool by_link;		       /* the neighbour on the link causes the current storm; set by the caller */
	uint8_t action;		       /* action of the current storm; a reload changes only that of the next storm */
	uint64_t since, until;	       /* begin and end in ns of the unbroken pause; valid if paused */
	uint64_t release_until;	       /* end in ns of the release time; 0: requests count */
	uint64_t last_stop;	       /* time in ns of the last request to stop */
	struct pfc_heed heed;	       /* holds that count outside storms; requests of past storms do not count again */

	WATCHDOG_COUNTERS(STAT_DECLARE)
	uint64_t last_storm_ns; /* duration in ns of the last storm that is over */
};

/*
 * Report a request, of a tunnel or of the peer on the link, to stop the queue until `until` (ns), or to resume (until
 * <= now). Returns true when the request counts. The caller sets its hold in either case, and reports the resulting
 * gate with pfc_watchdog_gate.
 */
bool pfc_watchdog_frame(struct pfc_watchdog *w, bool tunnel, uint64_t until, uint64_t now);

/* Holds that count for the gate of the queue. */
struct pfc_heed pfc_watchdog_heed(const struct pfc_watchdog *w);

/* Report that the gate of the queue is closed until `until` (ns) by the holds that count; <= now: open. */
void pfc_watchdog_gate(struct pfc_watchdog *w, uint64_t until, uint64_t now);

/*
 * Return the event that is due at `now` (ns). Call again until PFC_WATCHDOG_NOTHING. *next: time in ns of the next
 * call; TIME_NEVER: none.
 */
enum pfc_watchdog_event pfc_watchdog_poll(struct pfc_watchdog *w, const struct pfc_watchdog_config *config,
	uint64_t now, uint64_t *next);

/* Time in ns of the next event of pfc_watchdog_poll if no frame is received; TIME_NEVER: none. */
uint64_t pfc_watchdog_next(const struct pfc_watchdog *w, const struct pfc_watchdog_config *config);

/* Must packets of the queue be dropped? */
static inline bool pfc_watchdog_drops(const struct pfc_watchdog *w)
{
	return unlikely(w->stormed) && w->action == PFC_WATCHDOG_DROP;
}

/*
 * Copy the state member by member, with relaxed loads and stores. Each member is consistent; while the owner runs,
 * members may stem from different moments.
 */
void pfc_watchdog_copy(struct pfc_watchdog *to, const struct pfc_watchdog *from);

/* Total time in storms in ns, the current one included. */
uint64_t pfc_watchdog_storm_ns(const struct pfc_watchdog *w, uint64_t now);

#endif
