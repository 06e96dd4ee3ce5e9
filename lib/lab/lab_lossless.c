/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The promise of lossless classes: nodes lose none of their packets, and no pause outlives its cause. It is judged at
 * the end of the run, so that the report has the whole of what was lost. The lab is single-threaded.
 */
#include <stdarg.h>
#include <string.h>

#include "lab/host_priv.h"

#define NAMED 3 /* broken promises that the violation names; the report has all */

static const char *const blame_words[] = {
	[BLAME_NODE] = "node",
	[BLAME_PAUSER] = "host that pauses too late",
	[BLAME_RECEIVER] = "host that does not pause",
	[BLAME_WATCHDOG] = "pause longer than the watchdog allows",
	[BLAME_RESTART] = "restart",
	[BLAME_LINK] = "link",
};

/* The lossless classes of a port's slice that a pause closes. */
static uint8_t closed(const struct lab *lab, const struct lab_node *n, uint16_t port, uint32_t slice)
{
	return n->node->egress[port].slice[slice].closed[EGRESS_PAUSE] & lab->lossless;
}

static bool port_open(const struct lab *lab, const struct lab_node *n, uint16_t port)
{
	for (uint32_t s = 0; s < n->node->egress[port].n_slices; s++)
		if (closed(lab, n, port, s))
			return false;
	return true;
}

/* A gate in front of a link that is down stays closed for as long. */
static bool gate_counts(const struct lab_node *n, uint16_t port)
{
	return n->node && n->way[port] && lab_way_up(n->way[port]);
}

bool lab_gates_closed(const struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		for (uint16_t p = 0; p < lab->node[i].n_ports; p++)
			if (gate_counts(&lab->node[i], p) && !port_open(lab, &lab->node[i], p))
				return true;
	return false;
}

static void breaks(struct lab *lab, const char *format, ...) PRINTF_LIKE(2, 3);
static void breaks(struct lab *lab, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(lab->broken, json_string(text));
}

static void judge_losses(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->losses.n; i++) {
		const struct lab_loss *l = &lab->losses.item[i];

		if (lab_loss_breaks(lab, l))
			breaks(lab, "%s lost %llu %s of priority %u: %s, first at %.6f ms", l->place,
				(unsigned long long)l->packets, l->reply ? "replies" : "data packets", l->priority,
				l->reason, (double)l->first_ns / 1e6);
	}
}

/* Where PFC itself was lost, beside what that may have cost. */
static void judge_links(struct lab *lab)
{
	for (uint32_t i = 0; json_array_size(lab->broken) && i < lab->n_links; i++) {
		for (int w = 0; w < 2; w++) {
			const struct lab_way *way = &lab->link[i].way[w];
			const struct line_stats *s = line_stats(way->line);

			if (s->watched_lost)
				breaks(lab,
					"%s lost %llu frames of PFC, %llu in a row, so that who was to stop may not "
					"have known",
					way->name, (unsigned long long)s->watched_lost,
					(unsigned long long)s->watched_run);
		}
	}
}

/* No host pauses any more, so that every pause should have ended. */
static bool hosts_resumed(const struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		if (lab->host[i].pausing)
			return false;
	return true;
}

static void judge_gates(struct lab *lab, bool drained)
{
	for (uint32_t i = 0; i < lab->n_nodes; i++) {
		const struct lab_node *n = &lab->node[i];

		for (uint16_t p = 0; p < n->n_ports; p++) {
			for (uint32_t s = 0; gate_counts(n, p) && s < n->node->egress[p].n_slices; s++)
				if (closed(lab, n, p, s))
					breaks(lab,
						"%s is still paused at the end (slice %u, priorities 0x%02x), and %s",
						n->place[p], s, closed(lab, n, p, s),
						drained ? "all packets have arrived" : "packets wait");
		}
	}
}

/* Every data packet has arrived, or is in the table of losses. */
static void judge_flows(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_qps; i++) {
		const struct lab_qp *q = lab->qp[i];

		if (q->stats.sent != q->arrived + q->lost)
			lab_violate(lab, "flow conservation",
				"%s: %llu data packets were sent, %llu arrived, and %llu are known to be lost", q->name,
				(unsigned long long)q->stats.sent, (unsigned long long)q->arrived,
				(unsigned long long)q->lost);
	}
}

void lab_judge_lossless(struct lab *lab, bool drained)
{
	size_t n, size, at = 0;
	char text[1000] = "";

	if (lab->violation)
		return;
	if (drained && !lab->flips && !lab->duplicates)
		judge_flows(lab);
	if (!lab->lossless_required || lab->violation)
		return;
	judge_losses(lab);
	if (hosts_resumed(lab))
		judge_gates(lab, drained);
	judge_links(lab);
	size = json_array_size(lab->broken);
	for (n = 0; n < size && n < NAMED; n++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", n ? "; " : "",
			json_string_value(json_array_get(lab->broken, n)));
	if (size > n)
		snprintf(text + at, sizeof(text) - at, "; and %zu more in the report", size - n);
	if (size && asprintf(&lab->violation, "invariant 'lossless' is violated: %s", text) < 0)
		lab->violation = NULL;
}

static json_t *priorities(uint8_t mask)
{
	json_t *out = json_array();

	for (int i = 0; i < 8; i++)
		if (mask >> i & 1)
			json_array_append_new(out, json_integer(i));
	return out;
}

json_t *lab_lossless_report(const struct lab *lab)
{
	uint64_t broken = 0, excused = 0, lossy = 0;
	json_t *all = json_array();

	for (uint32_t i = 0; i < lab->losses.n; i++) {
		const struct lab_loss *l = &lab->losses.item[i];
		bool lossless = lab_is_lossless(lab, l->priority);

		*(lab_loss_breaks(lab, l) ? &broken : lossless ? &excused : &lossy) += l->packets;
		json_array_append_new(all,
			json_pack("{ss ss si sb sb ss sI sI sI}", "place", l->place, "reason", l->reason, "priority",
				l->priority, "lossless", lossless, "reply", l->reply, "cause", blame_words[l->blame],
				"packets", (json_int_t)l->packets, "first_ns", (json_int_t)l->first_ns, "last_ns",
				(json_int_t)l->last_ns));
	}
	return json_pack("{sb so sI sI sI sI sI sO so}", "required", lab->lossless_required, "priorities",
		priorities(lab->lossless), "lost", (json_int_t)(broken + excused), "lost_broken", (json_int_t)broken,
		"lost_excused", (json_int_t)excused, "lossy_lost", (json_int_t)lossy, "lost_of_no_flow",
		(json_int_t)lab->losses.unknown, "broken", lab->broken, "losses", all);
}
