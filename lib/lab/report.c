/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as JSON, the source of the text and of the HTML page. Reads the lab without changing it; runs
 * after lab_run, in the same thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/aligned.h"
#include "lab/host_priv.h"
#include "lab/report_priv.h"
#include "service/pfc/pfc_ctl.h"
#include "service/pfc/service_wait.h"

#define INT(x) ((json_int_t)(x))

static json_t *report_qp(const struct lab_qp *q)
{
	const struct lab_qp_stats *s = &q->stats;
	double delay = s->received ? (double)s->delay_ns / (double)s->received : 0;

	return json_pack("{ss sI sI sI sI sI sI sI sI sI sI sI sI sI sI sf sI sI sI sI sI sI sb}", "name", q->name,
		"udp_source", INT(q->udp_source), "sent", INT(s->sent), "retransmitted", INT(s->retransmitted),
		"received", INT(s->received), "received_bytes", INT(s->received_bytes), "naks", INT(s->naks),
		"timeouts", INT(s->timeouts), "out_of_sequence", INT(s->out_of_sequence), "duplicates",
		INT(s->duplicates), "reordered", INT(s->reordered), "ce_marked", INT(s->marked), "cnps", INT(s->cnps),
		"messages", INT(s->messages), "message_bytes_acked", INT(s->acked_bytes), "delay_mean_ns", delay,
		"delay_min_ns", INT(s->received ? s->delay_min_ns : 0), "delay_max_ns", INT(s->delay_max_ns),
		"message_mean_ns", INT(s->messages ? s->message_ns / s->messages : 0), "message_max_ns",
		INT(s->message_ns_max), "gap_max_ns", INT(s->gap_ns), "heard_ns", INT(s->heard_ns), "failed",
		q->failed);
}

static const double quantiles[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 1};

static json_t *report_quantiles(void)
{
	json_t *out = json_array();

	for (size_t i = 0; i < ARRAY_LEN(quantiles); i++)
		json_array_append_new(out, json_real(quantiles[i]));
	return out;
}

/* Times in us at `quantiles`, less `base` ns; empty if there are none. */
static json_t *report_times_at(const struct histogram *h, double base)
{
	json_t *out = json_array();

	for (size_t i = 0; h->n && i < ARRAY_LEN(quantiles); i++)
		json_array_append_new(out, json_real(MAX_OF(histogram_quantile(h, quantiles[i]) - base, 0.0) / 1e3));
	return out;
}

/* The sum of a flow's queue pairs. */
static json_t *report_flow(const struct lab *lab, const struct lab_flow *sum)
{
	const struct topo_flow *f = sum->topo;
	uint64_t sent = 0, again = 0, received = 0, bytes = 0, delay = 0, delay_max = 0, delay_min = UINT64_MAX,
		 failed = 0;
	uint64_t naks = 0, timeouts = 0, messages = 0, last = 0, gap = 0, ns;
	json_t *qps = json_array();

	for (uint32_t i = 0; i < lab->n_qps; i++) {
		const struct lab_qp *q = lab->qp[i];

		if (q->flow != f)
			continue;
		sent += q->stats.sent;
		again += q->stats.retransmitted;
		received += q->stats.received;
		bytes += q->stats.received_bytes;
		delay += q->stats.delay_ns;
		delay_min = MIN_OF(delay_min, q->stats.delay_min_ns);
		delay_max = MAX_OF(delay_max, q->stats.delay_max_ns);
		naks += q->stats.naks;
		timeouts += q->stats.timeouts;
		messages += q->stats.messages;
		failed += q->failed;
		last = MAX_OF(last, q->stats.last_ns);
		gap = MAX_OF(gap, q->stats.gap_ns);
		json_array_append_new(qps, report_qp(q));
	}
	/* from the earliest possible arrival to the end of the run; a flow with `messages` ends with its last arrival */
	last -= received ? MIN_OF(last, delay_min) : 0;
	ns = (f->messages ? last : lab->topo->lab.run_ns);
	ns -= MIN_OF(ns, f->start_ns);
	return json_pack("{ss ss ss ss sI sI sI sI sI sI sI sI sI sf sf sf sf sf so so so}", "name", f->name, "from",
		f->from, "to", f->to, "transport", f->transport == TRANSPORT_RC ? "rc" : "datagram", "queue_pairs",
		INT(f->queue_pairs), "sent", INT(sent), "retransmitted", INT(again), "received", INT(received),
		"received_bytes", INT(bytes), "naks", INT(naks), "timeouts", INT(timeouts), "messages", INT(messages),
		"failed", INT(failed), "goodput_gbps", ns ? (double)bytes * 8 / (double)ns : 0.0, "delay_mean_us",
		received ? (double)delay / (double)received / 1e3 : 0.0, "delay_min_us",
		received ? (double)delay_min / 1e3 : 0.0, "delay_max_us", (double)delay_max / 1e3, "gap_max_us",
		(double)gap / 1e3, "message_time_us", report_times_at(&sum->message, 0), "queueing_delay_us",
		report_times_at(&sum->wait, (double)sum->wait.least), "qps", qps);
}

static json_t *report_host(const struct lab_host *h)
{
	const struct lab_host_stats *s = &h->stats;
	struct signal_state rsvp = signal_state(h);
	json_t *paused = json_array();

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		json_array_append_new(paused, json_integer(INT(host_paused_ns(h, i))));
	return json_pack("{ss sI sI sI sI sI sI sI sI sI sI sI sI sI sI so sI sI sI sI sI sI sI}", "name",
		h->topo->name, "ports", INT(h->n_ports), "sent", INT(s->sent), "sent_bytes", INT(s->sent_bytes),
		"received", INT(s->received), "received_bytes", INT(s->received_bytes), "goodput_bytes",
		INT(s->goodput_bytes), "buffer_overflow", INT(s->overflow), "fcs_errors", INT(s->fcs), "check_errors",
		INT(s->check), "stray", INT(s->stray), "icmp", INT(s->icmp), "pauses_sent", INT(s->pauses_sent),
		"pauses_received", INT(s->pauses_received), "buffer_most", INT(s->buffered_most), "paused_ns", paused,
		"starved_ns", INT(host_starved_ns(h)), "possible_bytes", INT(h->possible_bytes), "timely_bytes",
		INT(h->timely_bytes), "rsvp_opened", INT(rsvp.opened), "rsvp_up", INT(rsvp.up), "rsvp_granted",
		INT(rsvp.granted), "rsvp_left", INT(rsvp.left));
}

static json_t *report_way(const struct lab_way *w)
{
	const struct line_stats *s = line_stats(w->line);

	return json_pack("{ss sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI sI}", "name", w->name, "sent",
		INT(s->sent), "sent_bytes", INT(s->sent_bytes), "delivered", INT(s->delivered), "delivered_bytes",
		INT(s->delivered_bytes), "lost", INT(s->lost), "cut", INT(s->cut), "corrupt", INT(s->corrupt),
		"flipped", INT(s->flipped), "duplicated", INT(s->duplicated), "reordered", INT(s->reordered),
		"oversize", INT(s->oversize), "into_void", INT(w->link->end[!w->from].into_void), "most_bytes",
		INT(s->most_bytes), "under_way", INT(line_frames(w->line)), "pfc", INT(s->watched), "pfc_lost",
		INT(s->watched_lost), "pfc_lost_run", INT(s->watched_run));
}

static json_t *report_link(const struct lab_link *l)
{
	return json_pack("{ss ss ss sI sI so so}", "name", l->topo->name, "a", l->topo->a, "b", l->topo->b, "rate_bps",
		INT(l->topo->rate_bps), "delay_ns", INT(topo_delay(l->topo)), "a_to_b", report_way(&l->way[0]),
		"b_to_a", report_way(&l->way[1]));
}

static json_t *report_drops(const struct lcore_stats *sum)
{
	json_t *drops = json_object();

	for (unsigned int r = 0; r < REASON_COUNT; r++) {
		uint64_t n = 0;

		for (unsigned int p = 0; p < PORT_SLOTS; p++)
			n += sum->port[p].reason[r];
		if (n)
			json_object_set_new(drops, reason_name((enum reason)r), json_integer(INT(n)));
	}
	return drops;
}

static void add_pauses(void *out, const struct node_pauses *p)
{
	const struct pfc_history *h = &p->history;

	json_array_append_new(out,
		json_pack("{ss ss si sI sI sI sI}", "direction", p->direction, "name", p->name, "priority",
			(int)p->priority, "pauses", INT(h->transitions), "total_ns", INT(p->total_ns), "last_ns",
			INT(h->last_ns), "last_began_ns", INT(h->last_began)));
}

static json_t *report_pauses(const struct lab_node *n)
{
	json_t *out = json_array();

	if (n->node)
		node_pauses(n->node, n->lab->now, add_pauses, out);
	return out;
}

/* Queues that were paused. */
static json_t *report_gates(const struct lab_node *n)
{
	json_t *out = json_array();

	for (uint16_t p = 0; n->node && p < n->n_ports; p++) {
		const struct egress *e = &n->node->egress[p];

		for (uint32_t s = 0; s < e->n_slices; s++) {
			for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
				const struct egress_queue *q = &e->slice[s].queue[i];
				uint64_t ns = q->paused_ns + (e->slice[s].closed[EGRESS_PAUSE] >> i & 1
									     ? n->lab->now - q->paused_since
									     : 0);

				if (q->pauses)
					json_array_append_new(out,
						json_pack("{ss si si sI sI sI}", "port", n->node->port[p]->name,
							"slice", (int)s, "class", (int)i, "pauses", INT(q->pauses),
							"paused_ns", INT(ns), "since_ns", INT(q->paused_since)));
			}
		}
	}
	return out;
}

/* The maximum that each lossless class of a port held, in total and above XOFF. */
static json_t *report_buffers(const struct lab_node *n)
{
	json_t *out = json_array();

	for (uint16_t p = 0; n->node && p < n->n_ports; p++) {
		for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
			const struct pfc_buffer *b = &service_pfc(n->node)->port[p].buffer[i];

			if (b->most.bytes)
				json_array_append_new(out,
					json_pack("{ss si sI sI sI}", "port", n->node->port[p]->name, "class", (int)i,
						"most_bytes", INT(b->most.bytes), "headroom_most_bytes",
						INT(b->most_headroom.bytes), "xoffs", INT(b->xoffs)));
		}
	}
	return out;
}

static json_t *report_node(const struct lab_node *n)
{
	struct node_balance b = {0};
	struct lcore_stats *sum = NULL;
	json_t *ports = json_array(), *node;

	if (n->node) {
		node_balance(n->node, &b);
		sum = new_aligned(sizeof(*sum));
		if (sum)
			node_stats(n->node, sum);
	}
	for (uint16_t p = 0; sum && p < n->n_ports; p++) {
		const struct virtual_port_stats *s = virtual_port_stats(n->node->port[p]);

		json_array_append_new(ports,
			json_pack("{ss sI sI sI sI sI sI sI sI sI}", "name", n->node->port[p]->name, "rx_packets",
				INT(sum->port[p].rx_packets), "rx_bytes", INT(sum->port[p].rx_bytes), "tx_packets",
				INT(sum->port[p].tx_packets), "tx_bytes", INT(sum->port[p].tx_bytes), "imissed",
				INT(s->imissed), "rx_nombuf", INT(s->nombuf), "ierrors", INT(s->ierrors), "rebound",
				INT(n->node->egress[p].rebound), "failover_gap_most_ns",
				INT(n->node->egress[p].gap_most_ns)));
	}
	node = json_pack("{ss sI sI sI sI sI sI sI sI sI so so so so so}", "name", n->topo->name, "cycles",
		INT(n->topo->cycles), "restarts", INT(n->restarts), "rx", INT(b.rx + n->past.rx), "originated",
		INT(b.originated + n->past.originated), "sent", INT(b.sent + n->past.sent), "dropped",
		INT(b.dropped + n->past.dropped), "consumed", INT(b.consumed + n->past.consumed), "held", INT(b.held),
		"relayed_pauses_expired", INT(n->node ? node_relays_expired(n->node) : 0), "ports", ports, "reasons",
		sum ? report_drops(sum) : json_object(), "pauses", report_pauses(n), "gates", report_gates(n),
		"buffers", report_buffers(n));
	free(sum);
	return node;
}

static json_t *report_one_series(const struct lab *lab, const struct lab_series *s)
{
	json_t *values = json_array(), *out;
	bool any = false;

	for (uint32_t k = 0; k < lab->n_samples; k++) {
		any = any || s->value[k] != 0;
		json_array_append_new(values, json_real(s->value[k]));
	}
	/* a series of zeros keeps its name, without values */
	if (!any)
		json_array_clear(values);
	out = json_pack("{ss ss ss so}", "name", s->name, "group", s->group, "unit", s->unit, "values", values);
	if (s->kind == SERIES_BOUND)
		json_object_set_new(out, "bound", json_true());
	if (s->limited)
		json_object_set_new(out, "limits",
			json_pack("{sf sf sf sf}", "XON", s->limit[0], "XOFF", s->limit[1], "urgent", s->limit[2],
				"full", s->limit[3]));
	return out;
}

static json_t *report_series(const struct lab *lab)
{
	json_t *all = json_array();

	for (uint32_t i = 0; i < lab->n_series; i++)
		json_array_append_new(all, report_one_series(lab, &lab->series[i]));
	return all;
}

static json_t *report_times(const struct lab *lab)
{
	json_t *times = json_array();

	for (uint32_t k = 0; k < lab->n_samples; k++)
		json_array_append_new(times, json_real((double)lab->sample_at[k] / 1e6));
	return times;
}

json_t *lab_report(struct lab *lab)
{
	json_t *flows = json_array(), *hosts = json_array(), *links = json_array(), *nodes = json_array();

	for (uint32_t i = 0; i < lab->n_flows; i++)
		json_array_append_new(flows, report_flow(lab, &lab->flow[i]));
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		json_array_append_new(hosts, report_host(&lab->host[i]));
	for (uint32_t i = 0; i < lab->n_links; i++)
		json_array_append_new(links, report_link(&lab->link[i]));
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		json_array_append_new(nodes, report_node(&lab->node[i]));
	return json_pack("{ss sI sI sI sI sI sI ss* so so so so so so sO so so so so sI}", "name", lab->topo->lab.name,
		"seed", INT(lab->seed), "run_ns", INT(lab->topo->lab.run_ns), "ended_ns", INT(lab->now), "events",
		INT(lab->events), "packet_hops", INT(lab->hops), "losses", INT(lab_losses(lab)), "violation",
		lab->violation, "lossless", lab_lossless_report(lab), "untriggered", lab_untriggered(lab), "flows",
		flows, "hosts", hosts, "links", links, "nodes", nodes, "commands", lab->commands, "quantiles",
		report_quantiles(), "tracks", report_tracks(lab), "time_ms", report_times(lab), "series",
		report_series(lab), "series_left_out", INT(lab->series_left_out));
}
