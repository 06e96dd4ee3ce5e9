/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts: NICs with RoCEv2. lab_host.c is the NIC (pausing, ARP and ND), lab_port.c the transmit side of its ports,
 * lab_sink.c its receive buffer, lab_qp.c a queue pair (reliable connection, or datagrams), lab_repeat.c its selective
 * repeat, lab_frame.c the frames, dcqcn.c the rate control, lab_inject.c frames given by the topology, lab_rsvp.c sessions of
 * credit, with lab_rsvp_ext.c, lab_rsvp_letter.c, lab_rsvp_credit.c, lab_rsvp_data.c and lab_rsvp_frame.c. The lab is single-threaded.
 *
 * Each file calls only those after it in this order: host; qp, inject; rsvp; sink; frame, port, repeat.
 */
#ifndef LAB_HOST_PRIV_H
#define LAB_HOST_PRIV_H

#include "lab/dcqcn.h"
#include "lab/histogram.h"
#include "lab/lab_priv.h"
#include "wire/pfc.h"
#include "wire/roce.h"

#define HOST_QP_SENDER 0x800000u /* bit of a queue pair number on the wire that marks the sender's end */
#define HOST_MESSAGES 256	 /* messages of a queue pair whose completion is timed at once */

/* The first bytes of the payload of every data packet. */
struct host_mark {
	be64_t serial;	/* of the packet, in transmit order of the queue pair */
	be64_t sent_ns; /* datagrams: when the packet was due */
	be32_t reserved;
	be32_t check; /* stands in for the ICRC */
};
WIRE_SIZE(struct host_mark, 24);

/* Sums of all queue pairs of a flow for the report, and the bounds of lab_bound.c. */
struct lab_flow {
	const struct topo_flow *topo;
	uint32_t from, to;		/* hosts */
	struct lab_flow *next;		/* to the same host */
	uint64_t way_ns;		/* propagation delay of the shortest way */
	double offered_bps;		/* payload */
	uint64_t bytes, sampled_bytes;	/* payload received in order; at the last sample */
	struct histogram message, wait; /* ns: of a message; one way of a packet, beyond way_ns */
};

#define REPEAT_WINDOW 65536u /* packets: most of a queue pair with selective repeat that are not acknowledged */

/* Selective repeat. */
struct lab_repeat {
	uint64_t *sacked, *kept; /* rings of bits: of the sender, arrived after a gap; of the receiver likewise */
	uint64_t next, end;	 /* packets to repeat, except for those that have arrived; none: next >= end */
};

struct lab_qp {
	struct lab *lab;
	const struct topo_flow *flow;
	uint32_t number;
	struct lab_host *from, *to;
	uint16_t udp_source;
	uint16_t port; /* current port of `from` */
	uint64_t random;
	uint64_t start_ns; /* start of its flow plus a random offset */
	struct lab_qp *next_ready;
	bool ready;   /* in its port's list */
	bool failed;  /* has given up after too many timeouts */
	bool stopped; /* the run is over */
	char name[48];

	/* sender */
	uint64_t next, una, limit, highest; /* packet sequence numbers; highest: largest ever sent, plus one */
	uint64_t per_message;
	uint64_t serial;
	uint64_t arrived, lost; /* data packets: at their host, even if it had no room; on the way there */
	uint64_t pace_ps;	/* earliest time of the next packet, ps */
	uint64_t progress_ns;
	uint64_t due, due_ns[64]; /* waiting datagrams; due times of the first of them */
	struct event pace, rto, arrival;
	uint64_t timeouts_in_row;
	struct dcqcn dcqcn;
	struct lab_repeat repeat;
	uint64_t began_ns[HOST_MESSAGES];

	/* receiver */
	uint64_t expected, last_serial, cnp_at;
	bool nak_sent;

	struct lab_qp_stats {
		uint64_t sent, retransmitted, acked_bytes, naks, timeouts, cnps;
		uint64_t messages, message_ns, message_ns_max; /* completed; their total time */
		uint64_t received, received_bytes;	       /* in sequence */
		uint64_t last_ns;			       /* arrival of the last of them */
		uint64_t heard_ns, gap_ns;		       /* last arrival; longest time between two */
		uint64_t out_of_sequence, duplicates, reordered, marked;
		uint64_t delay_ns, delay_min_ns, delay_max_ns; /* one way, sum */
	} stats;
};

static inline struct lab_flow *qp_flow(const struct lab_qp *q)
{
	return &q->lab->flow[q->flow - q->lab->topo->flows.items];
}

/* Does the sender keep a rate of its own below that of the port? */
static inline bool qp_has_rate(const struct lab_qp *q)
{
	return q->flow->dcqcn || q->flow->slow_restart;
}

static inline bool qp_is_selective(const struct lab_qp *q)
{
	return q->repeat.sacked != NULL;
}

static inline bool qp_is_datagram(const struct lab_qp *q)
{
	return q->flow->transport == TRANSPORT_DATAGRAM;
}

/* A whole frame that a host originates besides data: ACK, NAK, CNP, PFC, ARP, ND. */
struct host_control {
	uint16_t size;
	uint8_t bytes[TOPO_FRAME_MAX];
};

/* A queue of such frames: a ring. */
struct host_fifo {
	struct host_control *item;
	uint32_t head, n, room;
};

struct host_port {
	struct lab_host *host;
	struct lab_way *way; /* transmit direction; NULL: no link is connected */
	uint16_t index;
	bool up;
	struct eth_addr mac, peer;
	struct event tx;
	struct host_fifo control;		/* PFC, ARP, ND and given frames, which no pause stops */
	struct host_fifo reply[PFC_PRIORITIES]; /* ACK, NAK and CNP, which pauses of their class stop */
	struct {
		struct lab_qp *head, *tail;
	} ready[PFC_PRIORITIES];
	unsigned int turn;
	/* The current pause, which begins when the NIC has responded, and the total of those before it. */
	uint64_t paused_from[PFC_PRIORITIES], paused_until[PFC_PRIORITIES];
	uint64_t paused_ns[PFC_PRIORITIES];
	uint64_t committed[PFC_PRIORITIES]; /* bytes that it still sends: they are in its pipeline */
};

struct lab_host {
	struct lab *lab;
	struct timeline timeline;
	const struct topo_host *topo;
	struct tracks tracks;
	struct lab_flow *flows; /* to it */
	double best_bps;	/* payload that links could carry to it (lab_bound.c) */
	double waiting_bytes;	/* offered to it, but not possible yet */
	double possible_bytes;	/* payload that it could receive while senders sent, with its drain rate and stalls */
	uint64_t timely_bytes, sampled_goodput; /* payload that it received then; goodput_bytes at the last sample */
	uint32_t index;
	struct host_port port[TOPO_HOST_PORTS];
	uint16_t n_ports;
	uint8_t pfc_mask;
	uint64_t random;
	/* receive buffer, emptied at drain_bps */
	double buffered;
	uint64_t buffered_at;
	bool took; /* at least one packet was received */
	double starved_ns;
	bool pausing;
	struct event pause;
	struct lab_injection *injection;
	struct lab_signal *signal; /* lab_rsvp.c; NULL: it does not speak RSVP */
	struct lab_host_stats {
		uint64_t sent, sent_bytes, received, received_bytes;
		uint64_t goodput_bytes;
		uint64_t overflow;   /* no room in the receive buffer */
		uint64_t fcs, check; /* frames with a wrong FCS; with a flipped bit that ICRC or header checks find */
		uint64_t stray;	     /* not for this host, or of an unknown kind */
		uint64_t answered;   /* ARP and ND */
		uint64_t icmp;	     /* ICMP messages received */
		uint64_t pauses_sent, pauses_received;
		uint64_t buffered_most;
	} stats;
};

/* lab_host.c */
uint64_t host_paused_ns(const struct lab_host *h, unsigned int priority);

/* lab_bound.c; after links and hosts */
int lab_bounds_init(struct lab *lab, char *err, size_t size);
void lab_bounds_fini(struct lab *lab);
/* Payload bytes that a host could receive from t0, the end of the last call, to t1 (ns). Counts what it did receive. */
double lab_bound_bytes(const struct lab *lab, struct lab_host *h, uint64_t t0, uint64_t t1);

/* lab_port.c */
void host_send(struct host_port *p, const void *bytes, uint32_t captured, uint32_t length);
void host_run_at(struct host_port *p, uint64_t at); /* look for frames to send at that time, or once the line is free */
void host_queue_control(struct host_port *p, const void *bytes, uint16_t size);
void host_queue_reply(struct host_port *p, unsigned int priority, const void *bytes, uint16_t size);
void host_queue_urgent(struct host_port *p, const void *bytes, uint16_t size); /* before everything else */
void host_ready(struct lab_qp *q);					       /* the queue pair has data to send */

bool host_fifo_pop(struct host_fifo *f, struct host_control *out);

/* lab_repeat.c */
int repeat_init(struct lab_qp *q);
void repeat_fini(struct lab_qp *q);
bool repeat_next(struct lab_qp *q, uint64_t *packet); /* the next packet to repeat; false: none */
bool repeat_sacked(struct lab_qp *q, uint64_t seq);   /* a packet has arrived after a gap. True: a recovery begins */
void repeat_all(struct lab_qp *q);		      /* after a timeout */
void repeat_acknowledged(struct lab_qp *q, uint64_t from, uint64_t to); /* packets from `from` up to before `to` */
bool repeat_keep(struct lab_qp *q, uint64_t seq); /* the receiver keeps a packet after a gap. False: a duplicate */
bool repeat_filled(struct lab_qp *q);		  /* it takes kept packets that follow. True: there were some */

/* lab_sink.c */
void sink_init(struct lab_host *h);
bool host_take(struct lab_host *h, uint32_t bytes); /* reserve room in the receive buffer; false: full */
double host_buffered(const struct lab_host *h);	    /* bytes in the receive buffer */
uint64_t host_awake_ns(const struct lab_host *h, uint64_t from, uint64_t to); /* part in which it is not stalled */
uint64_t host_starved_ns(const struct lab_host *h); /* time in which it could have taken more than arrived */

/* lab_inject.c */
int inject_init(struct lab_host *h);

/* lab_rsvp.c */
int signal_init(struct lab_host *h);
void signal_stop(struct lab_host *h); /* its sessions end */
void signal_fini(struct lab_host *h);
bool signal_send(struct host_port *p);					 /* the next message; false: none */
bool signal_receive(struct lab_host *h, const struct line_frame *f);	 /* false: no RSVP message for the host */
void signal_data(struct lab_host *h, uint64_t family, uint32_t payload); /* has arrived */
/* lab_rsvp_data.c: data that waits for credit, if the host does; `bytes`: of the IP packet. */
uint16_t signal_source(const struct lab_host *h, const struct topo_flow *flow); /* UDP source port; 0: any */
bool signal_may_send(const struct lab_qp *q, uint32_t bytes);
void signal_sent(const struct lab_qp *q, uint32_t bytes);
/* A RoCEv2 packet has arrived; `buffered`: bytes that it takes in the receive buffer. */
void signal_arrived(struct lab_host *h, uint64_t priority, uint64_t family, uint32_t bytes, uint32_t buffered);
struct signal_state {
	uint64_t opened, up; /* sessions that begin here; with credit */
	uint64_t granted;    /* sessions that end here and have credit */
	uint64_t left;	     /* sessions, buffer and timers that are still there */
};
/* left: as it is; the others: at rsvp-end, before the sessions end. */
struct signal_state signal_state(const struct lab_host *h);

/* lab_qp.c */
int qp_init(struct lab *lab, struct lab_qp *q, uint32_t number, const struct topo_flow *flow, uint32_t index);
bool qp_may_send(struct lab_qp *q);
uint32_t qp_longest(const struct lab_qp *q); /* IP packet of data */
void qp_send(struct lab_qp *q, struct host_port *p);
void qp_data(struct lab_qp *q, struct host_port *p, const struct roce_bth *bth, const struct host_mark *mark,
	uint32_t payload, bool congestion);
void qp_ack(struct lab_qp *q, const struct roce_bth *bth, const struct roce_aeth *aeth);
void qp_cnp(struct lab_qp *q);
void qp_stop(struct lab_qp *q); /* no new data */
bool qp_idle(struct lab_qp *q);

/* lab_frame.c */
/* A data packet; returns the number of bytes carried, and the length on the wire in *length. */
uint32_t frame_data(const struct lab_qp *q, const struct host_port *p, uint64_t packet, uint64_t sent_ns, uint8_t *out,
	uint32_t *length);
uint16_t frame_ack(const struct lab_qp *q, const struct host_port *p, uint32_t psn, uint8_t syndrome, uint32_t msn,
	uint8_t *out);
uint16_t frame_cnp(const struct lab_qp *q, const struct host_port *p, uint8_t *out);
uint16_t frame_pfc(const struct host_port *p, uint8_t mask, uint16_t quanta, uint8_t *out);
uint32_t frame_payload(const struct lab_qp *q, uint64_t packet); /* bytes of a packet's payload */

/* A received RoCEv2 packet. False: it has an error for which a NIC would drop it. */
struct frame_roce {
	const struct roce_bth *bth;
	const struct roce_aeth *aeth; /* ACK */
	const struct host_mark *mark; /* data */
	uint32_t payload;
	bool congestion; /* CE */
};
bool frame_parse(const struct lab_host *h, const struct line_frame *f, struct frame_roce *out);

#endif
