/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines: packets of credit sessions wait here, one FIFO for each session, in front of the queue of their slice and class,
 * until their credit permits that they are sent (docs/credit.md 2.5).
 *
 * A packet passes straight through if its line is empty and its gate open. Otherwise it waits; the lines of a queue that
 * have credit are served by deficit round robin, and keep that queue short. Behind the gate a packet is as any other, and
 * its units are pending until the device takes it, or it ends.
 *
 * A line belongs to one worker at a time, the owner of the port by which the session leaves. The control lcore binds it by
 * orders through a mailbox, and the worker acknowledges. What waits is bound when it passes the gate, never before.
 *
 *   LINE_HELD   nothing passes, and what was pending has come back: the session has no credit now
 *   LINE_GATED  credit decides
 *   LINE_FREE   everything passes, without credit: the session has ended, or has had no credit for too long
 *   LINE_ENDS   everything ends, by name
 */
#ifndef QUEUE_LINE_H
#define QUEUE_LINE_H

#include "base/limits.h"
#include "credit/credit_hot.h"
#include "credit/credit_table.h"
#include "queue/turn.h"

#define LINE_AHEAD 32	  /* packets of lines that may be in the queue of their class */
#define LINE_QUANTUM 9216 /* bytes of a line and round */
#define LINE_NONE 0	  /* number of no line, and of no reservation */
#define LINE_ALIVES 512	  /* neighbours with leases, more than can be configured at a time */

enum line_mode { LINE_HELD, LINE_GATED, LINE_FREE, LINE_ENDS };
enum line_op {
	LINE_BEGIN, /* the line is this worker's now */
	LINE_SET,   /* change the mode */
	LINE_LEAVE, /* the line is held, and not this worker's any more */
	LINE_KICK,  /* there may be more credit */
};

/* From the control lcore to the worker of a line. */
struct line_order {
	uint32_t line, number;	     /* number: acknowledged in struct credit_line */
	uint8_t op, mode;	     /* LINE_BEGIN, LINE_SET */
	uint8_t port, class;	     /* LINE_BEGIN: by which it leaves */
	uint16_t alive, unused;	     /* LINE_BEGIN: index of the neighbour's word in credit_data.alive */
	uint32_t path, neigh, label; /* LINE_BEGIN: of the headend's path; the next hop */
};

/* What the data path tells the control lcore, in a word: what happened, and a number. */
#define LINE_TELLS_GRANT 0x01000000u /* of that reservation: data has come or ended, or a fence */
#define LINE_TELLS_LINE 0x02000000u  /* of that line: data is sent, waits for credit, or an order was obeyed */
#define LINE_TELLS_FREED 0x03000000u /* of that reservation: a batch was freed */
#define LINE_TELLS_NUMBER 0x00ffffffu

struct credit_line {
	struct credit_gate gate; /* as its header says */
	/* the worker's */
	struct fifo fifo; /* oldest first */
	int32_t deficit;
	uint32_t next;	/* in its ring; 0: none */
	uint16_t owner; /* worker + 1; 0: none */
	uint8_t mode;	/* enum line_mode */
	uint8_t port;
	uint8_t ring_slice, ring_class; /* where it is listed */
	bool listed;
	uint16_t alive;
	uint32_t path, neigh, label;
	/* written by the worker, read by control; relaxed */
	uint64_t waits, waits_bytes; /* packets and bytes that wait for credit */
	uint64_t packets;	     /* that passed the gate */
	uint64_t waited;	     /* packets that waited for credit */
	uint64_t uncredited;	     /* packets that were sent without credit: the session had none for too long */
	uint64_t ended;		     /* packets dropped for the same reason */
	uint64_t marked;	     /* packets marked CE: the session holds more than its share of the buffer */
	uint64_t overrun;	     /* packets dropped: more than twice its share */
	uint32_t ack;		     /* number of the last order that was obeyed; release */
	uint8_t tos;		     /* outer traffic class of the last packet */
	uint8_t slice;		     /* and its slice */
	uint8_t blocked;	     /* the oldest packet waits for credit */
	uint8_t fences;		     /* behind the gate; also of a worker that had the line before: atomic */
	/* set by worker and control: control looks at the line in each tick */
	bool told;
	/* written by control, read by rx */
	uint8_t to CACHE_ALIGNED; /* port to whose owner packets are handed */
	uint8_t class;
} CACHE_ALIGNED;

/* The grantor's end of a hop, as rx lcores know it. Written by control, except `told`. */
struct credit_origin {
	struct ipv6_addr user, own; /* addresses in fences */
	uint64_t
		limit; /* of a server: value of all `rcvd` of the reservation that its credit ends at; control writes it */
	bool told;     /* as of a line */
} CACHE_ALIGNED;

/* Everything that lcores share about credit. Made by the management thread; its tables never move. */
struct credit_data {
	uint32_t numbers; /* of lines and of reservations: 1 to numbers - 1 */
	uint16_t n_rx, n_workers;
	struct credit_table table;
	struct credit_table native; /* sessions of servers: service/rsvp/credit_native.h */
	uint64_t salt;		    /* of its keys */
	uint16_t from_servers[MAX_PORTS],
		to_servers[MAX_PORTS];	  /* entries of that table, by port; control writes them */
	struct credit_line *line;	  /* by number */
	struct credit_origin *origin;	  /* by number of a reservation */
	struct credit_intake *intake;	  /* [rx * numbers + number] */
	struct credit_sample *sample;	  /* [(rx * numbers + number) * CREDIT_SAMPLES] */
	struct credit_release *release;	  /* [(worker, or n_workers + rx) * numbers + number] */
	uint16_t *line_of_path;		  /* [path * PKT_CLASSES + class]; written by control, read by rx */
	uint64_t alive[LINE_ALIVES];	  /* until when the credit of a neighbour lasts; written by control */
	const struct accounts **accounts; /* of the workers */
	uint32_t homeless;		  /* packets in lines that are between two workers; atomic */
};

static inline struct credit_release *line_release_of(const struct egress_context *c, uint32_t grant)
{
	return &c->credit->release[(size_t)c->self * c->credit->numbers + grant];
}

static inline struct credit_line *line_of(const struct egress_context *c, uint32_t number)
{
	return &c->credit->line[number];
}

static inline uint32_t number_of(const struct egress_context *c, const struct credit_line *l)
{
	return (uint32_t)(l - c->credit->line);
}

/* The control lcore looks at the line in its next tick, and until nothing happens there any more. */
void line_tell(struct egress_context *c, struct credit_line *l);

/* Packets in lines that are between two workers. Any thread. */
uint32_t lines_between(const struct egress_context *c);

/* Does a packet wait for the decision of its gate? */
static inline bool line_decides(struct rte_mbuf *m)
{
	return pkt_of(m)->verdict == PKT_GATED && !pkt_credit_of(m)->passed;
}

/* May a packet for which line_decides() go on at once? Then it is behind the gate, and bound to its way. */
bool line_lets_pass(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* Such a packet that may not waits, or ends by name. */
void line_join(struct egress *e, struct egress_context *c, struct rte_mbuf *m);

/* Move packets of lines with credit into their queues, as far as these are short. */
void lines_release(struct egress *e, struct egress_context *c);

/* Note the credit of frames before the device takes some of them, and account for these afterwards. */
void lines_mark(const struct egress_burst *b, struct pkt_credit *marks);
void lines_sent(struct egress_context *c, const struct pkt_credit *marks, uint16_t taken);

/* Obey an order of the control lcore. */
void line_obey(struct egress_context *c, const struct line_order *o);

/* Drop everything that waits at an egress, before a node ends. */
void lines_drain(struct egress *e, struct egress_context *c, enum reason reason);

#endif
