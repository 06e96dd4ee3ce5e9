/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs. The reliable connection is that of the InfiniBand specification, chapter 9.7, as NICs have it: the
 * receiver accepts packets in sequence only and requests the expected one once (NAK); the sender then, or after its
 * local ACK timeout, retransmits all packets from that one on: go-back-N. lab_repeat.c has the alternative. The lab is
 * single-threaded.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "lab/host_priv.h"
#include "wire/udp.h"

#define PS_PER_NS 1000u
#define PSN_HALF (1u << 23)
#define PHASE_NS 2000u
#define TIMEOUT_UNIT 4096u /* ns: local ACK timeout 0 */

static uint64_t timeout_ns(const struct lab_qp *q)
{
	return (uint64_t)TIMEOUT_UNIT << q->flow->timeout;
}

/* Rate of the queue pair in bit/s; 0: the rate of the port. */
static uint64_t rate_of(struct lab_qp *q, uint64_t bytes)
{
	uint64_t own = q->flow->rate_bps, allowed;

	if (!qp_has_rate(q))
		return own;
	allowed = dcqcn_rate(&q->dcqcn, q->lab->now, bytes);
	return own && own < allowed ? own : allowed;
}

static bool window_open(const struct lab_qp *q)
{
	uint64_t packets = q->flow->window ? MAX_OF(q->flow->window / q->flow->mtu, 1) : PSN_HALF - 1;

	if (qp_is_selective(q))
		packets = MIN_OF(packets, (uint64_t)REPEAT_WINDOW);

	return q->next - q->una < packets;
}

static bool has_data(struct lab_qp *q)
{
	uint64_t again;

	if (q->failed || q->stopped)
		return false;
	if (qp_is_datagram(q))
		return q->due > 0;
	if (qp_is_selective(q) && repeat_next(q, &again))
		return true;
	return q->next < q->limit && window_open(q);
}

uint32_t qp_longest(const struct lab_qp *q)
{
	return (uint32_t)(q->flow->mtu + (q->flow->family == 4 ? 20 : 40) + sizeof(struct udp_hdr) +
			  sizeof(struct roce_bth) + sizeof(struct roce_reth) + ROCE_ICRC_BYTES);
}

bool qp_may_send(struct lab_qp *q)
{
	return has_data(q) && q->pace_ps <= q->lab->now * PS_PER_NS && q->lab->now >= q->start_ns;
}

/* After a change: send now, or as soon as the pace allows. */
static void stir(struct lab_qp *q)
{
	uint64_t when = MAX_OF((q->pace_ps + PS_PER_NS - 1) / PS_PER_NS, q->start_ns);

	if (!has_data(q))
		return;
	if (qp_may_send(q))
		host_ready(q);
	else
		timeline_set_by(&q->from->timeline, &q->pace, MAX_OF(when, q->lab->now));
}

static void pace(void *arg)
{
	stir(arg);
}

/* ns between two datagrams. */
static uint64_t interval(struct lab_qp *q)
{
	double mean = (double)(frame_payload(q, 0) + 14 + (q->flow->family == 4 ? 20 : 40) + 8 + 12 + ROCE_ICRC_BYTES +
			       LINE_OVERHEAD) *
		      8e9 / (double)q->flow->rate_bps;

	if (q->flow->arrivals == ARRIVALS_POISSON)
		mean *= -log(1 - line_random_share(&q->random));
	return (uint64_t)(mean + line_random_share(&q->random));
}

/* A datagram is due. */
static void arrival(void *arg)
{
	struct lab_qp *q = arg;

	if (q->flow->messages && q->next + q->due >= q->flow->messages)
		return;
	if (q->due < ARRAY_LEN(q->due_ns))
		q->due_ns[q->due] = q->lab->now;
	q->due++;
	stir(q);
	timeline_set(&q->from->timeline, &q->arrival, q->lab->now + interval(q));
}

static void timed_out(void *arg)
{
	struct lab_qp *q = arg;
	uint64_t due = q->progress_ns + timeout_ns(q);

	if (q->una == q->next || q->failed || q->stopped)
		return;
	if (q->lab->now < due) {
		timeline_set(&q->from->timeline, &q->rto, due);
		return;
	}
	lab_record(q->lab, "ack timeout", q->name, q->una);
	q->stats.timeouts++;
	if (q->timeouts_in_row++ >= q->flow->retries) {
		q->failed = true;
		return;
	}
	if (q->flow->slow_restart)
		dcqcn_restart(&q->dcqcn, q->lab->now);
	if (qp_is_selective(q))
		repeat_all(q);
	else
		q->next = q->una;
	q->progress_ns = q->lab->now;
	stir(q);
}

int qp_init(struct lab *lab, struct lab_qp *q, uint32_t number, const struct topo_flow *flow, uint32_t index)
{
	q->lab = lab;
	q->flow = flow;
	q->number = number;
	q->random = lab->seed * 0x9e3779b97f4a7c15ull + number;
	q->per_message = (flow->message + flow->mtu - 1) / flow->mtu;
	q->limit = flow->messages ? flow->messages * q->per_message : UINT64_MAX;
	/* a dynamic port; the values are spread, because they are the entropy for ECMP */
	q->udp_source = (uint16_t)(0xc000 | (line_random(&q->random) & 0x3fff));
	/* random start times, so that each seed has other collisions */
	q->start_ns = flow->start_ns + line_random(&q->random) % PHASE_NS;
	if (signal_source(q->from, flow))
		q->udp_source = signal_source(q->from, flow);
	q->cnp_at = 0;
	snprintf(q->name, sizeof(q->name), "%s/%u", flow->name, index);
	event_init(&q->pace, pace, q, "pace", q->name);
	event_init(&q->rto, timed_out, q, "ack timeout", q->name);
	event_init(&q->arrival, arrival, q, "datagram due", q->name);
	dcqcn_init(&q->dcqcn, flow->dcqcn_profile == DCQCN_NIC ? &dcqcn_nic : &dcqcn_paper,
		q->from->port[0].way->link->topo->rate_bps);
	q->stats.delay_min_ns = UINT64_MAX;
	if (!qp_is_datagram(q) && flow->repeat == REPEAT_SELECTIVE && repeat_init(q) < 0)
		return -ENOMEM;
	if (!qp_is_datagram(q))
		return timeline_set(&q->from->timeline, &q->pace, q->start_ns);
	if (flow->rate_bps)
		return timeline_set(&q->from->timeline, &q->arrival, q->start_ns + interval(q));
	q->due = flow->messages ? flow->messages : UINT64_MAX / 2;
	return timeline_set(&q->from->timeline, &q->pace, q->start_ns);
}

/* Due time of the datagram being sent. It is known only for the first waiting ones. */
static uint64_t datagram_due(struct lab_qp *q)
{
	uint64_t at = q->flow->rate_bps ? q->due_ns[0] : q->lab->now;

	memmove(q->due_ns, q->due_ns + 1, sizeof(q->due_ns) - sizeof(q->due_ns[0]));
	if (q->due > ARRAY_LEN(q->due_ns))
		q->due_ns[ARRAY_LEN(q->due_ns) - 1] = q->lab->now;
	q->due--;
	return at;
}

static void count_sent(struct lab_qp *q, uint64_t packet)
{
	q->stats.sent++;
	if (packet < q->highest) {
		q->stats.retransmitted++;
		return;
	}
	q->highest = packet + 1;
	if (packet % q->per_message == 0)
		q->began_ns[packet / q->per_message % HOST_MESSAGES] = q->lab->now;
}

void qp_send(struct lab_qp *q, struct host_port *p)
{
	struct lab *lab = q->lab;
	uint8_t frame[LINE_SNAP_MAX];
	uint64_t sent_ns = qp_is_datagram(q) ? datagram_due(q) : lab->now, rate;
	uint64_t packet = q->next, again;
	uint32_t length, carried;

	if (qp_is_selective(q) && repeat_next(q, &again))
		packet = again;

	q->serial++;
	carried = frame_data(q, p, packet, sent_ns, frame, &length);
	count_sent(q, packet);
	*(packet == q->next ? &q->next : &q->repeat.next) = packet + 1;
	if (!qp_is_datagram(q)) {
		if (q->next - q->una == 1)
			q->progress_ns = lab->now;
		if (q->flow->timeout && !event_is_set(&q->rto))
			timeline_set(&q->from->timeline, &q->rto, q->progress_ns + timeout_ns(q));
		rate = rate_of(q, length + LINE_OVERHEAD);
		if (rate)
			q->pace_ps = MAX_OF(q->pace_ps, lab->now * PS_PER_NS) +
				     (uint64_t)((double)(length + LINE_OVERHEAD) * 8e12 / (double)rate);
	}
	signal_sent(q, length - (uint32_t)sizeof(struct eth_hdr));
	host_send(p, frame, carried, length);
	stir(q);
}

/* All packets before `seq` have arrived. */
static void acknowledged(struct lab_qp *q, uint64_t seq)
{
	uint64_t now = q->lab->now;

	for (uint64_t m = q->una / q->per_message; (m + 1) * q->per_message <= seq; m++) {
		uint64_t took = now - q->began_ns[m % HOST_MESSAGES];

		q->stats.messages++;
		q->stats.message_ns += took;
		q->stats.message_ns_max = MAX_OF(q->stats.message_ns_max, took);
		histogram_add(&qp_flow(q)->message, took);
		q->stats.acked_bytes += q->flow->message;
	}
	if (qp_is_selective(q))
		repeat_acknowledged(q, q->una, seq);
	q->una = seq;
	q->next = MAX_OF(q->next, seq);
	q->progress_ns = now;
	q->timeouts_in_row = 0;
}

void qp_ack(struct lab_qp *q, const struct roce_bth *bth, const struct roce_aeth *aeth)
{
	uint32_t ahead = (be32_get(bth->psn) - (uint32_t)q->una) & ROCE_PSN_MASK;
	bool nak = be32_get(aeth->syndrome_msn) >> 24 == ROCE_SYNDROME_NAK_SEQUENCE;
	uint64_t seq = q->una + ahead + !nak, sacked;
	bool begins = true;

	/* an ACK names the last packet that has arrived, a NAK the one that has not */
	if (ahead >= PSN_HALF || seq > q->highest || q->failed)
		return;
	if (seq > q->una)
		acknowledged(q, seq);
	if (nak) {
		q->stats.naks++;
		if (qp_is_selective(q)) {
			sacked = q->una + ((be32_get(aeth->syndrome_msn) - (uint32_t)q->una) & ROCE_PSN_MASK);
			begins = repeat_sacked(q, sacked);
		} else {
			q->next = q->una;
		}
		if (begins && q->flow->slow_restart)
			dcqcn_restart(&q->dcqcn, q->lab->now);
	}
	stir(q);
}

void qp_cnp(struct lab_qp *q)
{
	q->stats.cnps++;
	if (q->flow->dcqcn)
		dcqcn_cnp(&q->dcqcn, q->lab->now);
}

static void note_delay(struct lab_qp *q, const struct host_mark *mark)
{
	uint64_t delay = q->lab->now - be64_get(mark->sent_ns);

	histogram_add(&qp_flow(q)->wait, delay - MIN_OF(delay, qp_flow(q)->way_ns));
	q->stats.delay_ns += delay;
	q->stats.delay_min_ns = MIN_OF(q->stats.delay_min_ns, delay);
	q->stats.delay_max_ns = MAX_OF(q->stats.delay_max_ns, delay);
}

/* A packet arrives, at whatever place of the sequence. */
static void note_gap(struct lab_qp *q)
{
	if (q->stats.heard_ns)
		q->stats.gap_ns = MAX_OF(q->stats.gap_ns, q->lab->now - q->stats.heard_ns);
	q->stats.heard_ns = q->lab->now;
}

/* The network must keep the packets of a queue pair in order, for every transport. */
static void check_order(struct lab_qp *q, const struct host_mark *mark)
{
	uint64_t serial = be64_get(mark->serial);

	if (serial < q->last_serial) {
		q->stats.reordered++;
		if (!q->lab->relaxed_order)
			lab_violate(q->lab, "order", "%s: packet %llu arrived after packet %llu", q->name,
				(unsigned long long)serial, (unsigned long long)q->last_serial);
	}
	q->last_serial = MAX_OF(q->last_serial, serial);
}

static void reply(struct lab_qp *q, struct host_port *p, uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	uint8_t frame[128];

	host_queue_reply(p, (unsigned int)q->flow->priority, frame, frame_ack(q, p, psn, syndrome, msn, frame));
}

static void accept(struct lab_qp *q, const struct host_mark *mark, uint32_t payload)
{
	q->stats.received++;
	q->stats.received_bytes += payload;
	q->stats.last_ns = q->lab->now;
	q->to->stats.goodput_bytes += payload;
	signal_data(q->to, q->flow->family, payload);
	qp_flow(q)->bytes += payload;
	note_delay(q, mark);
}

static void notify_congestion(struct lab_qp *q, struct host_port *p)
{
	uint8_t frame[128];

	q->stats.marked++;
	if (!q->flow->dcqcn || (q->cnp_at && q->lab->now < q->cnp_at + q->dcqcn.profile->cnp_ns))
		return;
	q->cnp_at = q->lab->now;
	host_queue_reply(p, (unsigned int)q->flow->cnp_priority, frame, frame_cnp(q, p, frame));
}

/* A packet after one that is missing. */
static void beyond_gap(struct lab_qp *q, struct host_port *p, uint64_t seq, const struct host_mark *mark,
	uint32_t payload)
{
	q->stats.out_of_sequence++;
	if (qp_is_selective(q)) {
		if (repeat_keep(q, seq))
			accept(q, mark, payload);
		else
			q->stats.duplicates++;
	}
	if (qp_is_selective(q) || !q->nak_sent)
		reply(q, p, (uint32_t)q->expected, ROCE_SYNDROME_NAK_SEQUENCE, (uint32_t)seq);
	q->nak_sent = true;
}

/* The packet that was expected. Returns true if the sender must hear of it: a gap is filled. */
static bool in_sequence(struct lab_qp *q, const struct host_mark *mark, uint32_t payload)
{
	q->nak_sent = false;
	q->expected++;
	accept(q, mark, payload);
	return qp_is_selective(q) && repeat_filled(q);
}

void qp_data(struct lab_qp *q, struct host_port *p, const struct roce_bth *bth, const struct host_mark *mark,
	uint32_t payload, bool congestion)
{
	uint32_t psn = be32_get(bth->psn), ahead = (psn - (uint32_t)q->expected) & ROCE_PSN_MASK;
	bool answer = false;

	q->arrived++;
	note_gap(q);
	check_order(q, mark);
	if (congestion)
		notify_congestion(q, p);
	if (!host_take(q->to, payload)) {
		q->arrived--;
		lab_lost_data(q->lab, q->to->topo->name, "receive buffer full",
			q->to->topo->sink.xoff ? BLAME_PAUSER : BLAME_RECEIVER, q);
		return;
	}
	if (qp_is_datagram(q)) {
		accept(q, mark, payload);
		return;
	}
	if (ahead >= PSN_HALF)
		q->stats.duplicates++;
	else if (ahead)
		return beyond_gap(q, p, q->expected + ahead, mark, payload);
	else
		answer = in_sequence(q, mark, payload);
	if (answer || psn & ROCE_ACK_REQUEST)
		reply(q, p, (uint32_t)q->expected - 1, ROCE_SYNDROME_ACK, 0);
}

/* A flow without a number of messages ends with the run: unacknowledged packets are not retransmitted. */
void qp_stop(struct lab_qp *q)
{
	if (q->flow->messages)
		return;
	timeline_clear(&q->from->timeline, &q->arrival);
	q->due = 0;
	q->stopped = true;
	timeline_clear(&q->from->timeline, &q->rto);
	timeline_clear(&q->from->timeline, &q->pace);
}

bool qp_idle(struct lab_qp *q)
{
	if (q->failed || q->stopped)
		return true;
	if (qp_is_datagram(q))
		return !q->due && q->next >= q->flow->messages;
	return q->una == q->next && !has_data(q);
}
