/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC storm watchdog of one queue (port, slice, priority), with the meaning SONiC's operators know:
 *
 *   storm      the queue was paused without a break for the detection time, even if it was empty
 *   restored   no frame has asked the queue to stop for the restoration time
 *
 * While a storm lasts:
 *
 *   release    what tunnels say is set aside, for a pause across the WAN must end (docs/protocol.md 5.5); the neighbour on the
 *              link is obeyed
 *   drop       what the queue holds and what comes for it is dropped, counted, and no PFC is sent because of it
 *   forward    the queue is served as if there were no PFC
 *   alert      only reported; the queue stays as paused as PFC wants it
 *
 * What is known to go wrong elsewhere is excluded here: breaks are seen by the end of each pause, not by polling;
 * restoration goes by frames received, not by a counter that stands still; a resume (time 0) is no storm; drops of
 * the queue add up; the state belongs to the queue and outlives a reload. An alarm comes before the detection, for a
 * pause of WAN length looks like a storm (docs/protocol.md 5.5).
 *
 * One writer: the owner of the port; of a gateway behind a relay, the control lcore. It stores relaxed, member by member;
 * other threads read by pfc_watchdog_copy. Pure: no packets, no clock.
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

/* From the configuration. All zero but the action: off. */
struct pfc_watchdog_config {
	uint8_t action;	    /* enum pfc_watchdog_action */
	uint64_t alarm_ns;  /* 0: no alarm before the detection */
	uint64_t detect_ns; /* 0: the watchdog is off */
	uint64_t restore_ns;
};

enum pfc_watchdog_event {
	PFC_WATCHDOG_NOTHING,
	PFC_WATCHDOG_ALARM,    /* paused for the alarm time */
	PFC_WATCHDOG_STORM,    /* detected: the caller sets the gate by pfc_watchdog_heed anew */
	PFC_WATCHDOG_RESTORED, /* likewise */
};

/* Packets are those of the queue while it was in a storm; the owner of the queue counts them. */
#define WATCHDOG_COUNTERS(X) \
	X(part_gauge, stormed, NULL, "storms", "sluice_pfc_storm", \
		"1 while a queue, or a gateway behind a relay, is in a PFC storm") \
	X(counter, alarms, "alarms", "alarms", "sluice_pfc_storm_alarms", "pauses that lasted for the alarm time") \
	X(counter, detections, "detected", "storms", "sluice_pfc_storms", "PFC storms detected") \
	X(counter, restorations, "restored", "storms", "sluice_pfc_storms_restored", "PFC storms that are over") \
	X(time, detected_at, "detected_ms_ago", "ms", NULL, "since the last storm was detected") \
	X(time, restored_at, "restored_ms_ago", "ms", NULL, "since the last storm was over") \
	X(counter, storm_ns, "storm_ms", "ns", "sluice_pfc_storm_ns", "time in storms that are over") \
	X(counter, ignored, "ignored", "requests", "sluice_pfc_storm_ignored", \
		"requests to pause not obeyed in a storm") \
	X(counter, sent, "sent", "packets", "sluice_pfc_storm_sent_packets", "sent by the queue in storms") \
	X(counter, dropped, "dropped", "packets", "sluice_pfc_storm_dropped_packets", \
		"of the queue, dropped in storms") \
	X(gauge, last_sent, "last_sent", "packets", NULL, "sent by the queue in the last or present storm") \
	X(gauge, last_dropped, "last_dropped", "packets", NULL, "of the queue, dropped in the last or present storm")

struct pfc_watchdog {
	bool paused, alarmed, stormed;
	bool by_link;	       /* the storm under way is the neighbour's on the link; the caller's */
	uint8_t action;	       /* of the storm under way: a reload changes only the next one */
	uint64_t since, until; /* of the unbroken pause, while paused */
	uint64_t last_stop;    /* when a frame last asked the queue to stop */
	struct pfc_heed heed;  /* when there is no storm: what storms have said does not come back */

	WATCHDOG_COUNTERS(STAT_DECLARE)
	uint64_t last_storm_ns; /* of the last storm that is over */
};

/*
 * A frame, of a tunnel or of the peer on the link, asked the queue to stop until `until`, or to resume (until <= now).
 * Returns true when it is to be obeyed. The caller keeps its hold in any case, and reports what the gate does now by
 * pfc_watchdog_gate.
 */
bool pfc_watchdog_frame(struct pfc_watchdog *w, bool tunnel, uint64_t until, uint64_t now);

/* Whose holds make the gate of the queue. */
struct pfc_heed pfc_watchdog_heed(const struct pfc_watchdog *w);

/* The gate of the queue is closed until `until` now, all holds that count considered; <= now: open. */
void pfc_watchdog_gate(struct pfc_watchdog *w, uint64_t until, uint64_t now);

/* What is due at `now`? Call again until nothing is. *next: when to ask again, TIME_NEVER for never. */
enum pfc_watchdog_event pfc_watchdog_poll(struct pfc_watchdog *w, const struct pfc_watchdog_config *config,
	uint64_t now, uint64_t *next);

/* When pfc_watchdog_poll has something to say if nothing happens; TIME_NEVER: never. */
uint64_t pfc_watchdog_next(const struct pfc_watchdog *w, const struct pfc_watchdog_config *config);

/* Are packets of the queue to be dropped? */
static inline bool pfc_watchdog_drops(const struct pfc_watchdog *w)
{
	return unlikely(w->stormed) && w->action == PFC_WATCHDOG_DROP;
}

/*
 * Copy the state member by member, with relaxed loads and stores. Each member is whole; while the owner goes on, they
 * may be of different moments.
 */
void pfc_watchdog_copy(struct pfc_watchdog *to, const struct pfc_watchdog *from);

/* Time of storms, the one under way included. */
uint64_t pfc_watchdog_storm_ns(const struct pfc_watchdog *w, uint64_t now);

#endif
