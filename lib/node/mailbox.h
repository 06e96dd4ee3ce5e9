/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes: how the roles of a node hand packets and messages to each other.
 *
 * A mailbox has one role as its producer and one as its consumer, and is the only way from one to the other. It holds either
 * packets (struct rte_mbuf *) or messages of one type, by value. Nothing is lost without notice: a push into a full mailbox
 * fails, is counted as refused, and the producer decides what becomes of the packet or message. The consumer receives them
 * in the order in which they were pushed.
 *
 * All mailboxes of a node stand in one list. It is used to free them, to show them, to find out whether an lcore has something
 * to do (node_lcore_has_input), what the node holds (node_held) and when packets of an old snapshot are gone (publish.c).
 *
 * mailbox_open and mailbox_close_all belong to the management thread, before the lcores run and after they have stopped.
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
	struct rte_ring *ring;	       /* NULL: not open, because nothing is sent this way */
	uint64_t pushed;	       /* written by the producer; relaxed readers */
	uint64_t refused;	       /* written by the producer: the mailbox was full; relaxed readers */
	uint64_t popped CACHE_ALIGNED; /* written by the consumer; relaxed readers */
	/* Constant once the mailbox is open. */
	struct mailbox *next;
	const char *carries; /* what `show rings` calls its contents */
	struct mailbox_end from, to;
	uint32_t bytes; /* size of a message; 0: packets */
};

/* All zero is an empty list. */
struct mailbox_list {
	struct mailbox *first, *last;
};

struct mailbox_options {
	const char *carries; /* static string: "packets", or what the messages are about */
	struct mailbox_end from, to;
	uint32_t bytes; /* size of a message, a multiple of 4; 0: packets */
	uint32_t slots; /* a power of two; one less can be used */
	int socket;	/* NUMA node of the memory, or -1 */
};

/* Open a mailbox, all zero, and add it to the list. 0 or -ENOMEM. */
int mailbox_open(struct mailbox_list *list, struct mailbox *b, const struct mailbox_options *o);

/* Free the rings of all mailboxes and empty the list. Packets in them must be gone. */
void mailbox_close_all(struct mailbox_list *list);

/* "rx", "worker", "control" */
const char *mailbox_role_name(enum mailbox_role role);

static inline bool mailbox_has_packets(const struct mailbox *b)
{
	return b->bytes == 0;
}

/* Is there nothing to pop? The consumer of an open mailbox. */
static inline bool mailbox_is_empty(const struct mailbox *b)
{
	return rte_ring_empty(b->ring);
}

/* Packets or messages in the mailbox. Any thread; exact only while neither role runs. */
static inline uint32_t mailbox_used(const struct mailbox *b)
{
	return b->ring ? rte_ring_count(b->ring) : 0;
}

/* Free slots. Exact for the producer, as the consumer can only add to them. */
static inline uint32_t mailbox_room(const struct mailbox *b)
{
	return rte_ring_free_count(b->ring);
}

/* Push one message of `bytes`, which is copied; false when the mailbox is full. The producer. */
static inline bool mailbox_push(struct mailbox *b, const void *message, uint32_t bytes)
{
	RTE_VERIFY(bytes == b->bytes);
	if (unlikely(rte_ring_sp_enqueue_elem(b->ring, (void *)(uintptr_t)message, bytes) != 0)) {
		stat_add(&b->refused, 1);
		return false;
	}
	stat_add(&b->pushed, 1);
	return true;
}

/* Pop up to n messages of `bytes` each; none when the mailbox is not open. Returns how many. The consumer. */
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

/* Push up to n packets; returns how many went in, the others are still the caller's. The producer. */
static inline unsigned int mailbox_push_packets(struct mailbox *b, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = rte_ring_sp_enqueue_burst(b->ring, (void **)pkts, n, NULL);

	stat_add(&b->pushed, done);
	if (unlikely(done < n))
		stat_add(&b->refused, n - done);
	return done;
}

/* Pop up to n packets. Returns how many. The consumer. */
static inline unsigned int mailbox_pop_packets(struct mailbox *b, struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int done = rte_ring_sc_dequeue_burst(b->ring, (void **)pkts, n, NULL);

	stat_add(&b->popped, done);
	return done;
}

#endif
