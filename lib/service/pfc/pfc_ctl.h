/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for the management thread: pauses, counters and watchdogs of PFC. */
#ifndef SERVICE_PFC_PFC_CTL_H
#define SERVICE_PFC_PFC_CTL_H

#include "service/pfc/service_pfc.h"
#include "pfc/pfc_history.h"
#include "pfc/pfc_watchdog.h"

#define PAUSE_COUNTERS(X) \
	X(part_counter, history.transitions, "pauses", "pauses", "sluice_pfc_pauses", \
		"PFC pauses, each from the first XOFF to XON or expiry") \
	X(part_counter, total_ns, "total_us", "ns", "sluice_pfc_paused_ns", \
		"time paused by PFC, including the current pause") \
	X(part_gauge, history.last_ns, "last_us", "ns", NULL, "duration of the last pause that ended") \
	X(part_gauge, history.last_began, "last_began_ns", "ns", NULL, \
		"start of the last pause on the node's clock; 0: never paused")

/* Pauses of one queue in one direction, as they happened (pfc/pfc_history.h). */
struct node_pauses {
	const char *direction; /*
	 * heard, said: with the neighbour; executed: by frames of tunnels at End.X.PFC; relayed: to a gateway;
	 * tunnel: through one
	 */
	const char *name;      /* of the port or the tunnel */
	unsigned int priority;
	struct pfc_history history; /* expired pauses are included */
	uint64_t total_ns;	    /* includes the current pause */
};

/*
 * Calls `say` for every queue that was ever paused, or that paused others; `shown`: since node_clear_stats. Management
 * thread.
 */
void node_pauses(const struct node *n, uint64_t now, void (*say)(void *arg, const struct node_pauses *p), void *arg);
void node_pauses_shown(const struct node *n, uint64_t now, void (*say)(void *arg, const struct node_pauses *p),
	void *arg);

/* PFC counters and histories of a port since node_clear_stats. Other members are current. Management thread. */
struct service_pfc_port service_pfc_shown(const struct node *n, uint32_t port);

/* --- watchdogs: watch_ctl.c --- */

#define STORM_COUNTERS(X) \
	X(counter, dropped_from, "rx_dropped", "packets", "sluice_pfc_storm_rx_dropped_packets", \
		"packets received from the neighbour that causes a storm, and dropped")

struct service_watchdog {
	const char *port;
	const char *relay; /* of the gateway behind it; NULL: a queue of the port */
	const char *slice; /* "": what belongs to none */
	unsigned int priority;
	const struct pfc_watchdog_config *config;
	struct pfc_watchdog state; /* the owner goes on meanwhile */
	STORM_COUNTERS(STAT_DECLARE)
};

/* Call `say` for each watchdog that is paused, or has had an alarm or a storm. Management thread. */
void service_watchdogs(const struct node *n, void (*say)(void *arg, const struct service_watchdog *w), void *arg);

#endif
