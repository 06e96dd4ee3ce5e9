/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The means to inspect an lcore's packets:
 *
 *   captures  copies of bursts received and sent, of dropped packets, and of packets whose SRH requests it (O-flag,
 *             RFC 9259 section 2.1), through a ring to the management thread
 *   samples   the last dropped packets of each reason, always on, in the lcore's own memory
 *   trace     events in the life of chosen packets, through a ring of their own
 *
 * Captures and traces that are off cost one predictable branch per burst. Copies come from a separate pool, so they
 * take no buffer from forwarding.
 */
#ifndef PKT_TAP_H
#define PKT_TAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "base/compiler.h"
#include "stats/reasons.h"

struct rte_mbuf;
struct rte_mempool;
struct rte_ring;

enum tap_direction { TAP_RX, TAP_TX, TAP_DROP, TAP_OAM };

/* Any sender of an SRH can set the O-flag. These limit the copies: per second and lcore, and in one burst. */
#define TAP_OAM_RATE 1000
#define TAP_OAM_BURST 100

#define TAP_SAMPLES 8	     /* per reason */
#define TAP_SAMPLE_BYTES 192 /* of each packet */

/* One dropped packet. seq is odd while the lcore writes. A reader that sees seq change reads again. */
struct tap_sample {
	uint32_t seq;
	uint32_t length;
	uint64_t time_ns;
	uint16_t port, captured;
	uint8_t bytes[TAP_SAMPLE_BYTES];
};

struct tap_samples {
	uint32_t next[DROP_COUNT];
	struct tap_sample sample[DROP_COUNT][TAP_SAMPLES];
};

enum trace_kind {
	TRACE_RECEIVED, /* bytes: as received */
	TRACE_RESOLVED, /* bytes: its struct pkt; value: generation of the snapshot, low bits */
	TRACE_PLACED,	/* likewise: its flow is placed on another path than that of its hash */
	TRACE_STAMPED,	/* by the device; bytes: struct trace_stamp */
	TRACE_SERVED,	/* by a service of the control lcore; bytes: what it says, as text */
	TRACE_CREDIT,	/* it waits for the credit of its session; value: packets already waiting */
	TRACE_QUEUED,	/* value: packets of its class already queued */
	TRACE_WAITS,	/* for its neighbour; value: packets already waiting */
	TRACE_SENT,	/* bytes: as sent */
	TRACE_ENDED,	/* value: reason */
};

#define TRACE_BYTES 104

/* When the device received a packet, by its own clock and in its units. */
struct trace_stamp {
	uint64_t time;
};

struct trace_event {
	uint64_t time_ns;
	uint32_t value;
	uint16_t id;
	uint8_t kind; /* enum trace_kind */
	uint8_t port;
	uint32_t length;
	uint32_t captured;
	uint8_t bytes[TRACE_BYTES];
};
_Static_assert(sizeof(struct trace_event) == 128, "trace_event must fit its ring");

/* The selection of a trace, shared by all lcores of a node. */
struct trace_filter;

struct pkt_tap {
	/* written by the management thread (release, after the objects they refer to), read by the lcore (acquire) */
	uint64_t rx_ports, tx_ports; /* captures: bit per port */
	uint64_t drops;		     /* captures: dropped packets too */
	uint64_t oam;		     /* captures: packets with the O-flag at a local SID */
	uint64_t tracing;	     /* events of traced packets are wanted */
	struct rte_ring *ring;	     /* copies. Producer: the lcore; consumer: management */
	struct rte_mempool *pool;
	struct rte_ring *events; /* struct trace_event; producer and consumer as for ring */
	struct trace_filter *filter;
	uint64_t (*clock)(
		void); /* time of events of traced packets, ns; NULL: that of the pass. Set before lcores run */
	/* Of mbufs: where the receive time of the device is, and the flag that says it is there; 0: nowhere. As `events`. */
	uint64_t stamp_flag;
	size_t stamp_at;
	uint32_t
		stamp_ports; /* a bit for each port with hardware-timestamps; others may fill the field, too (net_pcap) */
	struct tap_samples *samples; /* set before lcores run, written by the lcore */
	/* Called for each dropped packet before it is freed; set before lcores run, NULL: none. For the lab. */
	void (*dropped)(void *arg, struct rte_mbuf *m, enum reason reason);
	void *dropped_arg;
	/* written by the lcore */
	uint64_t now_ns CACHE_ALIGNED; /* of the pass under way */
	uint64_t lost;		       /* copies and events that exceeded a rate or found no buffer or room; relaxed */
	struct bucket oam_bucket;
};

/* Private area of a copy. */
struct tap_record {
	uint64_t time_ns;
	uint32_t length; /* of the packet; the copy may be shorter */
	uint64_t stamp;	 /* receive time of the device, in its units; 0: none */
	uint16_t port;
	uint8_t direction; /* enum tap_direction */
	uint8_t reason;	   /* TAP_DROP: enum reason */
};

static inline bool pkt_tap_wants(const uint64_t *ports, uint16_t port)
{
	return __atomic_load_n(ports, __ATOMIC_ACQUIRE) >> port & 1;
}

static inline bool pkt_tap_wants_oam(const struct pkt_tap *t)
{
	return __atomic_load_n(&t->oam, __ATOMIC_ACQUIRE) != 0;
}

static inline bool pkt_tap_tracing(const struct pkt_tap *t)
{
	return __atomic_load_n(&t->tracing, __ATOMIC_ACQUIRE) != 0;
}

/* Called by the lcore that owns the tap. These functions never fail; copies without room are counted as lost. */

void pkt_tap_copy(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	enum tap_direction direction, unsigned int reason);

/* Copy one packet with the O-flag as received on `port`. The rate is limited. */
void pkt_tap_oam(struct pkt_tap *t, struct rte_mbuf *m, uint16_t port);

/* A packet ends: add it to samples, captures and trace as they are enabled. */
void pkt_tap_end(struct pkt_tap *t, struct rte_mbuf *m, enum reason reason);

/*
 * Choose packets for the trace. They have just been classified by the snapshot of that generation, and their frames are still
 * as received.
 */
void pkt_tap_trace_received(struct pkt_tap *t, struct rte_mbuf **pkts, unsigned int n, uint16_t port,
	uint32_t generation);

/* Look for the field of mbufs with the receive time of devices. Management thread, before captures and traces begin. */
void pkt_tap_find_stamps(struct pkt_tap *t);

/* Record an event in the life of a packet. Does nothing for an untraced packet. TRACE_SENT includes the frame. */
void pkt_tap_trace(struct pkt_tap *t, struct rte_mbuf *m, enum trace_kind kind, uint16_t port, uint32_t value);

/* Record what a service says about the traced packet with that number, not 0. A long text is cut. */
void pkt_tap_note(struct pkt_tap *t, uint16_t trace, uint16_t port, const char *text);

#endif
