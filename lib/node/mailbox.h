/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes: how the roles of a node hand packets and messages to each other.
 *
 * A mailbox has one producer role and one consumer role. Roles on different lcores exchange packets and messages only
 * through mailboxes. A mailbox holds either packets (struct rte_mbuf *) or messages of one type, by value. A push into
 * a full mailbox fails and is counted as refused; the producer then decides what to do with the packet or message. The
 * consumer receives them in the order in which they were pushed.
 *
 * All mailboxes of a node are in one list. The list is used to free and show the mailboxes, to check an lcore for work
 * (node_lcore_has_input), to count the packets that the node holds (node_held), and to find out when the packets of an
 * old snapshot have left (publish_ctl.c).
 *
 * The management thread calls mailbox_open before the lcores run, and mailbox_close_all after they have stopped.
 */
#ifndef NODE_MAILBOX_H
#define NODE_MAILBOX_H

#include <rte_ring_elem.h>

#include "base/aligned.h"
#include "base/compiler.h"
#include "stats/stats.h"

struct node_lcore;
struct rte_mbuf;

enum mailbox_role { MAILBOX_RX, MAILBOX_WORKER, MAILBOX_CONTROL };

/* One side of a mailbox. `lcore` plays the role. */
struct mailbox_end {
	struct node_lcore *lcore;
	enum mailbox_role role;
};

struct mailbox {
	struct rte_ring *ring; /* NULL: not open, because nothing is sent in this direction */
	uint64_t pushed;       /* written by the producer; relaxed readers */
	uint64_t refused;      /* written by the producer: the mailbox was full; relaxed readers */
	bool *bell; /* set with each push; NULL: nobody listens. Only where one thread plays all roles (node_options.told) */
	uint64_t popped CACHE_ALIGNED; /* written by the consumer; relaxed readers */
	/* Constant once the mailbox is open. */
	struct mailbox *next;
	const char *carries; /* name of the contents in `show rings` */
	struct mailbox_end from, to;
	uint32_t bytes; /* size of a message; 0: packets */
};

/* A list that is all zero is empty. */
struct mailbox_list {
	struct mailbox *first, *last;
};

struct mailbox_options {
	const char *carries; /* static string: "packets" or the subject of the messages */
	struct mailbox_end from, to;
	uint32_t bytes; /* size of a message, a multiple of 4; 0: packets */
	uint32_t slots; /* a power of two; slots - 1 are usable */
	int socket;	/* NUMA node of the memory; -1: that of the consumer */
};

/* Open a mailbox that is all zero and add it to the list. Returns 0 or -ENOMEM. */
int mailbox_open(struct mailbox_list *list, struct mailbox *b, const struct mailbox_options *o);

/* Free the rings of all mailboxes and empty the list. The caller has removed all packets from them. */
void mailbox_close_all(struct mailbox_list *list);

/* Return "rx", "worker" or "control". */
const char *mailbox_role_name(enum mailbox_role role);

static inline bool mailbox_has_packets(const struct mailbox *b)
{
	return b->bytes == 0;
}

/* Return whether an open mailbox is empty. Caller: the consumer. */
static inline bool mailbox_is_empty(const struct mailbox *b)
{
	return rte_ring_empty(b->ring);
}

/* Return the number of packets or messages in the mailbox. Caller: any thread. Exact only while neither role runs. */
static inline uint32_t mailbox_used(const struct mailbox *b)
{
	uint64_t popped = stat_read(&b->popped), pushed = stat_read(&b->pushed);

	/* The producer counts after it has pushed, so the consumer can be ahead of it. */
	return pushed > popped ? (uint32_t)(pushed - popped) : 0;
}

/* Return the number of free slots. For the producer it is a lower bound: the consumer can only free more. */
static inline uint32_t mailbox_room(const struct mailbox *b)
{
	return rte_ring_free_count(b->ring);
}

static inline void mailbox_ring(struct mailbox *b)
{
	if (unlikely(b->bell))
		*b->bell = true;
}

/* Push a copy of one message of `bytes`. Returns false when the mailbox is full. Caller: the producer. */
static inline bool mailbox_push(struct mailbox *b, const void *message, uint32_t bytes)
{
	RTE_VERIFY(bytes == b->bytes);
	if (unlikely(rte_ring_sp_enqueue_elem(b->ring, (void *)(uintptr_t)message, bytes) != 0)) {
		stat_add(&b->refused, 1);
		return false;
	}
	stat_add(&b->pushed, 1);
	mailbox_ring(b);
	return true;
}

/* Pop up to n messages of `bytes` each. Returns their number, 0 when the mailbox is not open. Caller: the consumer. */
static inline unsigned int mailbox_pop(struct mailbox *b, void *messages, uint32_t bytes, unsigned int n)
{
	unsigned int done;

	if (!b->ring)
		return 0;
	RTE_VERIFY(bytes == b->bytes);
	done = rte_ring_sc_dequeue_burst_elem(b->ring, messages, bytes, n, NULL);
	if (done)
		stat_add(&b->popped, done);
	return done;
}

/* Push up to n packets. Returns the number pushed; the caller keeps the others. Caller: the producer. */
static inline unsigned int mailbox_push_packets(struct mailbox *b, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = rte_ring_sp_enqueue_burst(b->ring, (void **)pkts, n, NULL);

	stat_add(&b->pushed, done);
	mailbox_ring(b);
	if (unlikely(done < n))
		stat_add(&b->refused, n - done);
	return done;
}

/* Pop up to n packets. Returns their number. Caller: the consumer. */
static inline unsigned int mailbox_pop_packets(struct mailbox *b, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = rte_ring_sc_dequeue_burst(b->ring, (void **)pkts, n, NULL);

	stat_add(&b->popped, done);
	return done;
}

#endif
