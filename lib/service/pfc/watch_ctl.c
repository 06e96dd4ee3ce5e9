/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results of the PFC watchdogs, for the log and for commands. Management thread; the owners of ports write the results.
 */
#include <stdlib.h>

#include "base/log.h"
#include "service/pfc/pfc_cp.h"
#include "service/pfc/pfc_ctl.h"

#define RELAY SNAP_SLICE_MAX /* the gateway behind a port, beside the slices of its queues */

struct seen {
	uint64_t alarms, detections, restorations;
};

/* The events of a port that have been logged. */
struct node_storms {
	uint64_t events;
	struct seen queue[SNAP_SLICE_MAX + 1][PFC_PRIORITIES];
};

static const struct snap_relay *relay_of(const struct node *n, uint32_t port)
{
	for (uint32_t i = 0; i < n->snapshot->n_relays; i++)
		if (n->snapshot->relay[i].port == port)
			return &n->snapshot->relay[i];
	return NULL;
}

static uint64_t dropped_by_rx(const struct node *n, uint32_t port, unsigned int priority)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_rx; i++)
		sum += stat_read(&service_pfc(n)->rx[i].storm_dropped[port][priority]);
	return sum;
}

static bool of_relay(const struct node *n, uint32_t port, unsigned int priority, struct service_watchdog *out)
{
	static const struct pfc_watchdog_config off = {.action = PFC_WATCHDOG_OFF};
	const struct snap_relay *r = relay_of(n, port);

	*out = (struct service_watchdog){.port = n->port[port]->name,
		.relay = r ? r->name : "(removed)",
		.slice = "",
		.priority = priority,
		.config = r ? &r->watchdog : &off};
	pfc_watchdog_copy(&out->state, &service_pfc(n)->control->relay[port].watchdog[priority]);
	return out->state.alarms || out->state.detections || out->state.paused;
}

static bool of_queue(const struct node *n, uint32_t port, uint32_t slice, unsigned int priority,
	struct service_watchdog *out)
{
	const char *name = n->snapshot->slice[slice].name;

	*out = (struct service_watchdog){.port = n->port[port]->name,
		.slice = name ? name : "(removed)",
		.priority = priority,
		.config = &n->snapshot->port[port].watchdog};
	pfc_watchdog_copy(&out->state, &n->egress[port].watchdog[slice][priority]);
	if (out->state.by_link)
		out->dropped_from = dropped_by_rx(n, port, priority);
	return out->state.alarms || out->state.detections || out->state.paused;
}

void service_watchdogs(const struct node *n, void (*say)(void *arg, const struct service_watchdog *w), void *arg)
{
	struct service_watchdog w;

	for (uint32_t port = 0; port < n->n_ports; port++) {
		for (uint32_t slice = 0; slice < n->snapshot->n_slices; slice++)
			for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
				if (of_queue(n, port, slice, i, &w))
					say(arg, &w);
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
			if (of_relay(n, port, i, &w))
				say(arg, &w);
	}
}

/* "wan0, slice gold, priority 3", "the gateway behind dc0, priority 3" */
static void describe(const struct service_watchdog *w, char *buf, size_t size)
{
	snprintf(buf, size, "%s%s%s%s, priority %u", w->relay ? "the gateway behind " : "", w->port,
		*w->slice ? ", slice " : "", w->slice, w->priority);
}

static const char *measure(const struct service_watchdog *w)
{
	switch ((enum pfc_watchdog_action)w->state.action) {
	case PFC_WATCHDOG_RELEASE:
		return w->relay		  ? "it is resumed, and pauses from tunnels are ignored"
		       : w->state.by_link ? "by its neighbour, which is obeyed; pauses from tunnels are ignored"
					  : "pauses from tunnels are ignored";
	case PFC_WATCHDOG_DROP:
		return w->state.by_link ? "its packets and the neighbour's packets of that priority are dropped"
					: "its packets are dropped";
	case PFC_WATCHDOG_FORWARD:
		return "PFC is ignored";
	case PFC_WATCHDOG_ALERT:
	case PFC_WATCHDOG_OFF:
		break;
	}
	return "PFC is still obeyed";
}

static void log_events(const struct service_watchdog *w, struct seen *seen)
{
	char who[128];

	describe(w, who, sizeof(who));
	if (w->state.alarms != seen->alarms)
		log_warning(pfc, "%s: paused for %llu ms without a break", who,
			(unsigned long long)(w->config->alarm_ns / NSEC_PER_MSEC));
	if (w->state.detections != seen->detections)
		log_error(pfc, "%s: PFC storm, paused for %llu ms without a break: %s", who,
			(unsigned long long)(w->config->detect_ns / NSEC_PER_MSEC), measure(w));
	if (w->state.restorations != seen->restorations)
		log_notice(pfc,
			"%s: PFC storm over after %llu ms, %llu packets dropped, %llu requests not obeyed since the "
			"start",
			who, (unsigned long long)(w->state.last_storm_ns / NSEC_PER_MSEC),
			(unsigned long long)w->state.last_dropped, (unsigned long long)w->state.ignored);
	*seen = (struct seen){w->state.alarms, w->state.detections, w->state.restorations};
}

static void report_port(struct node *n, uint32_t port, uint64_t events)
{
	struct node_storms *s = service_pfc(n)->storms[port];
	struct service_watchdog w;

	for (uint32_t slice = 0; slice < n->snapshot->n_slices; slice++)
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
			if (of_queue(n, port, slice, i, &w))
				log_events(&w, &s->queue[slice][i]);
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (of_relay(n, port, i, &w))
			log_events(&w, &s->queue[RELAY][i]);
	s->events = events;
}

/*
 * A device that loses packets of a port with lossless classes breaks the promise of these classes, and no counter of a
 * class shows it.
 */
static void report_missed(const struct node *n, uint32_t port)
{
	struct service_pfc_port *own = &service_pfc(n)->port[port];
	struct port_device_stats d;
	uint64_t lost;

	n->port[port]->ops->device_stats(n->port[port], &d);
	lost = d.imissed + d.rx_nombuf;
	if (lost > own->missed_seen) {
		stat_add(&own->missed, lost - own->missed_seen);
		log_error(pfc,
			"%s: its device lost %llu packets because no receive descriptor or buffer was free, though the "
			"port has lossless classes: an lcore was interrupted for longer than the response time of the "
			"buffer profile, or a sender ignores PFC",
			n->port[port]->name, (unsigned long long)(lost - own->missed_seen));
	}
	own->missed_seen = lost;
}

void service_watch_report(struct node *n)
{
	uint64_t now = stat_read(&n->control->now);

	/* some devices take long to say it */
	if (now >= service_pfc(n)->missed_next) {
		for (uint32_t port = 0; port < n->n_ports; port++)
			if (n->snapshot->port[port].lossless)
				report_missed(n, port);
		service_pfc(n)->missed_next = now + NSEC_PER_SEC;
	}
	for (uint32_t port = 0; port < n->n_ports; port++) {
		uint64_t events = stat_read(&n->egress[port].watch_events) +
				  stat_read(&service_pfc(n)->control->relay[port].watch_events);

		if (!events)
			continue;
		if (!service_pfc(n)->storms[port])
			service_pfc(n)->storms[port] = calloc(1, sizeof(*service_pfc(n)->storms[port]));
		if (service_pfc(n)->storms[port] && service_pfc(n)->storms[port]->events != events)
			report_port(n, port, events);
	}
}

void service_watch_fini(struct node *n)
{
	for (uint32_t port = 0; port < MAX_PORTS; port++)
		free(service_pfc(n)->storms[port]);
}
