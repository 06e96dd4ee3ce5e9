/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies packets for captures and traces, on the lcore that holds the packet. A copy that finds no buffer or no slot is
 * counted as lost.
 */
#include "pkt/filter.h"
#include "pkt/pkt.h"

#include <rte_mbuf_dyn.h>
#include <rte_ring_elem.h>

/* Number of bytes that can be copied. See pkt_cut for frames whose length exceeds it. */
static uint32_t tap_captured(const struct rte_mbuf *m)
{
	uint32_t n = 0;

	for (; m; m = m->next)
		n += m->data_len;
	return n;
}

/* Receive time of the device of that port; 0: none. */
static uint64_t tap_stamp(const struct pkt_tap *t, const struct rte_mbuf *m, uint16_t port)
{
	if (port >= MAX_PORTS || !(t->stamp_ports & (1u << port)))
		return 0;
	return m->ol_flags & t->stamp_flag ? *RTE_MBUF_DYNFIELD(m, t->stamp_at, const rte_mbuf_timestamp_t *) : 0;
}

void pkt_tap_copy(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	enum tap_direction direction, unsigned int reason)
{
	for (unsigned int i = 0; i < n; i++) {
		struct tap_record *r;
		struct rte_mbuf *copy;

		pkt_unpoison(pkts[i]);
		copy = rte_pktmbuf_copy(pkts[i], t->pool, 0, tap_captured(pkts[i]));
		if (!copy) {
			stat_add(&t->lost, 1);
			continue;
		}
		r = (struct tap_record *)rte_mbuf_to_priv(copy);
		*r = (struct tap_record){.time_ns = t->now_ns,
			.length = pkts[i]->pkt_len,
			.stamp = tap_stamp(t, pkts[i], port),
			.port = port,
			.direction = (uint8_t)direction,
			.reason = (uint8_t)reason};
		if (rte_ring_sp_enqueue(t->ring, copy) != 0) {
			rte_pktmbuf_free(copy);
			stat_add(&t->lost, 1);
		}
	}
}

void pkt_tap_oam(struct pkt_tap *t, struct rte_mbuf *m, uint16_t port)
{
	if (bucket_take(&t->oam_bucket, t->now_ns, TAP_OAM_RATE, TAP_OAM_BURST))
		pkt_tap_copy(t, &m, 1, port, TAP_OAM, 0);
	else
		stat_add(&t->lost, 1);
}

/* The first bytes of a frame, from its first buffer. */
static uint32_t tap_first_bytes(struct rte_mbuf *m, uint8_t *out, uint32_t room)
{
	uint32_t n = MIN_OF(m->data_len, room);

	memcpy(out, rte_pktmbuf_mtod(m, const void *), n);
	return n;
}

static void tap_keep_sample(struct pkt_tap *t, struct rte_mbuf *m, enum reason reason)
{
	struct tap_sample *s = &t->samples->sample[reason][t->samples->next[reason]++ % TAP_SAMPLES];

	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	s->length = m->pkt_len;
	s->time_ns = t->now_ns;
	s->port = m->port;
	s->captured = (uint16_t)tap_first_bytes(m, s->bytes, sizeof(s->bytes));
	__atomic_store_n(&s->seq, s->seq + 1, __ATOMIC_RELEASE);
}

void pkt_tap_end(struct pkt_tap *t, struct rte_mbuf *m, enum reason reason)
{
	if (reason_is_drop(reason)) {
		if (t->samples)
			tap_keep_sample(t, m, reason);
		if (unlikely(t->dropped))
			t->dropped(t->dropped_arg, m, reason);
		if (unlikely(__atomic_load_n(&t->drops, __ATOMIC_ACQUIRE)))
			pkt_tap_copy(t, &m, 1, m->port, TAP_DROP, reason);
	}
	if (unlikely(pkt_tap_tracing(t)))
		pkt_tap_trace(t, m, TRACE_ENDED, m->port, reason);
}

static void tap_post(struct pkt_tap *t, struct trace_event *e)
{
	e->time_ns = t->clock ? t->clock() : t->now_ns;
	if (rte_ring_sp_enqueue_elem(t->events, e, sizeof(*e)) != 0)
		stat_add(&t->lost, 1);
}

void pkt_tap_trace(struct pkt_tap *t, struct rte_mbuf *m, enum trace_kind kind, uint16_t port, uint32_t value)
{
	const struct pkt *x = pkt_of(m);
	struct trace_event e = {.id = x->trace,
		.kind = (uint8_t)kind,
		.port = (uint8_t)port,
		.value = value,
		.length = m->pkt_len};

	if (!x->trace)
		return;
	if (kind == TRACE_SENT || kind == TRACE_RECEIVED) {
		e.captured = tap_first_bytes(m, e.bytes, sizeof(e.bytes));
	} else if (kind == TRACE_RESOLVED || kind == TRACE_PLACED) {
		e.captured = sizeof(*x);
		memcpy(e.bytes, x, sizeof(*x));
	}
	tap_post(t, &e);
}

void pkt_tap_note(struct pkt_tap *t, uint16_t trace, uint16_t port, const char *text)
{
	struct trace_event e = {.id = trace, .kind = TRACE_SERVED, .port = (uint8_t)port};

	if (!pkt_tap_tracing(t))
		return;
	while (e.captured < sizeof(e.bytes) && text[e.captured]) {
		e.bytes[e.captured] = (uint8_t)text[e.captured];
		e.captured++;
	}
	tap_post(t, &e);
}

static void tap_trace_stamp(struct pkt_tap *t, struct rte_mbuf *m, uint16_t port)
{
	struct trace_stamp stamp = {.time = tap_stamp(t, m, port)};
	struct trace_event e = {.id = pkt_of(m)->trace,
		.kind = TRACE_STAMPED,
		.port = (uint8_t)port,
		.captured = sizeof(stamp)};

	memcpy(e.bytes, &stamp, sizeof(stamp));
	if (stamp.time)
		tap_post(t, &e);
}

void pkt_tap_trace_received(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	uint32_t generation)
{
	struct trace_filter *f = t->filter;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (__atomic_load_n(&f->left, __ATOMIC_RELAXED) <= 0)
			return;
		if (!pkt_filter_match(f->filter, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, m->pkt_len))
			continue;
		if (__atomic_fetch_sub(&f->left, 1, __ATOMIC_RELAXED) <= 0)
			return;
		pkt_of(m)->trace = (uint16_t)(__atomic_fetch_add(&f->chosen, 1, __ATOMIC_RELAXED) + 1);
		pkt_tap_trace(t, m, TRACE_RECEIVED, port, 0);
		pkt_tap_trace(t, m, TRACE_RESOLVED, port, generation);
		tap_trace_stamp(t, m, port);
	}
}
