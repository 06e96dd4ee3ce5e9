/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receive buffer of a host: it drains at a fixed rate, except while the host is stalled, and pauses the senders by
 * PFC when it fills. The lab is single-threaded.
 */
#include "lab/host_priv.h"

static void trigger(struct lab_host *h, enum topo_after what)
{
	for (uint16_t i = 0; h->lab->trigger && i < h->n_ports; i++)
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (h->pfc_mask >> k & 1)
				lab_trigger(h->lab, what, &h->port[i].way->link->end[h->port[i].way->from].place, k);
}

static void send_pause(struct lab_host *h, uint16_t quanta)
{
	uint8_t frame[sizeof(struct pfc_frame)];

	for (uint16_t i = 0; i < h->n_ports; i++) {
		struct host_port *p = &h->port[i];

		host_queue_urgent(p, frame, frame_pfc(p, h->pfc_mask, quanta, frame));
		h->stats.pauses_sent++;
	}
}

uint64_t host_awake_ns(const struct lab_host *h, uint64_t from, uint64_t to)
{
	uint64_t ns = to - from;

	for (uint32_t i = 0; i < h->topo->sink.stalls.n; i++) {
		const struct topo_stall *s = &h->topo->sink.stalls.items[i];
		uint64_t begin = MAX_OF(from, s->start_ns), end = MIN_OF(to, s->start_ns + s->for_ns);

		ns -= end > begin ? end - begin : 0;
	}
	return ns;
}

/* The host has its senders paused until so. */
static void track_pausing(struct lab_host *h, uint64_t until)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (h->pfc_mask >> i & 1)
			track_set(&h->tracks,
				&(struct track_id){TRACK_XOFF, TRACK_NO_INDEX, TRACK_NO_INDEX, (uint8_t)i}, h->lab->now,
				until);
}

/* The time when the host will have run for so long. Stalls do not overlap and are in order (topo_check). */
static uint64_t after_awake(const struct lab_host *h, uint64_t ns)
{
	uint64_t at = h->lab->now;

	for (uint32_t i = 0; i < h->topo->sink.stalls.n; i++) {
		const struct topo_stall *s = &h->topo->sink.stalls.items[i];
		uint64_t end = s->start_ns + s->for_ns;

		if (end <= at)
			continue;
		if (at + ns <= s->start_ns)
			break;
		ns -= s->start_ns > at ? s->start_ns - at : 0;
		at = end;
	}
	return at + ns;
}

static double drained(const struct lab_host *h, uint64_t until)
{
	return (double)h->topo->sink.drain_bps / 8e9 * (double)host_awake_ns(h, h->buffered_at, until);
}

double host_buffered(const struct lab_host *h)
{
	double taken = drained(h, h->lab->now);

	return h->buffered > taken ? h->buffered - taken : 0;
}

/* Time in which the host was idle for lack of data, from its first packet until the senders stopped. */
static double starved(const struct lab_host *h)
{
	uint64_t until = MIN_OF(h->lab->now, h->lab->topo->lab.run_ns);
	double short_by;

	if (!h->took || until <= h->buffered_at)
		return 0;
	short_by = drained(h, until) - h->buffered;
	return short_by > 0 ? short_by * 8e9 / (double)h->topo->sink.drain_bps : 0;
}

uint64_t host_starved_ns(const struct lab_host *h)
{
	return (uint64_t)(h->starved_ns + (h->topo->sink.drain_bps ? starved(h) : 0));
}

static void drain(struct lab_host *h)
{
	h->starved_ns += starved(h);
	h->buffered = host_buffered(h);
	h->buffered_at = h->lab->now;
}

/*
 * While the host pauses its link: send XON if the buffer is below xon, otherwise refresh the pause before it expires.
 */
static void pause_tick(void *arg)
{
	struct lab_host *h = arg;
	const struct topo_sink *s = &h->topo->sink;
	uint64_t left_ns, refresh_ns, next;

	drain(h);
	if (h->buffered <= (double)s->xon) {
		h->pausing = false;
		trigger(h, AFTER_XON);
		track_pausing(h, h->lab->now);
		send_pause(h, 0);
		return;
	}
	send_pause(h, (uint16_t)s->quanta);
	left_ns = (uint64_t)((h->buffered - (double)s->xon) * 8e9 / (double)s->drain_bps) + 1;
	refresh_ns = (uint64_t)((double)s->quanta * PFC_QUANTUM_BITS * 5e8 /
				(double)h->port[0].way->link->topo->rate_bps);
	next = MIN_OF(after_awake(h, left_ns), h->lab->now + refresh_ns);
	timeline_set(&h->timeline, &h->pause, MAX_OF(next, h->lab->now + 100));
}

bool host_take(struct lab_host *h, uint32_t bytes)
{
	const struct topo_sink *s = &h->topo->sink;

	if (!s->drain_bps)
		return true;
	drain(h);
	h->took = true;
	if (h->buffered + bytes > (double)s->buffer) {
		h->stats.overflow++;
		return false;
	}
	h->buffered += bytes;
	h->stats.buffered_most = MAX_OF(h->stats.buffered_most, (uint64_t)h->buffered);
	if (s->xoff && !h->pausing && h->buffered > (double)s->xoff) {
		h->pausing = true;
		trigger(h, AFTER_XOFF);
		track_pausing(h, TIME_NEVER);
		pause_tick(h);
	}
	return true;
}

void sink_init(struct lab_host *h)
{
	static const struct track_id stalled = {TRACK_STALL, TRACK_NO_INDEX, TRACK_NO_INDEX, TRACK_NO_INDEX};

	event_init(&h->pause, pause_tick, h, "pause", h->topo->name);
	for (uint32_t i = 0; i < h->topo->sink.stalls.n; i++) {
		const struct topo_stall *t = &h->topo->sink.stalls.items[i];

		track_set(&h->tracks, &stalled, t->start_ns, t->start_ns + t->for_ns);
	}
}
