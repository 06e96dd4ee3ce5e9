/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was lost in a run: where, why, in which priority, and whose fault it is. Each lost packet of a flow is entered
 * here where it is lost; the lab recognises it by its contents (lab_class.c) and asks no node. Single-threaded.
 */
#ifndef LAB_LAB_LOSS_H
#define LAB_LAB_LOSS_H

#include <stdbool.h>
#include <stdint.h>

struct lab;
struct lab_qp;

/* Whose fault a loss is. Only those of nodes and of pausing hosts break the promise of a lossless class. */
enum lab_blame {
	BLAME_NODE,	/* it dropped the packet, or had no room for it */
	BLAME_PAUSER,	/* a host that pauses its senders: the pause came too late */
	BLAME_RECEIVER, /* a host that does not pause its senders */
	BLAME_WATCHDOG, /* a neighbour paused for longer than a PFC watchdog allows */
	BLAME_RESTART,	/* in a node that stopped, or on the way to it */
	BLAME_LINK,	/* a link's loss, corruption, failure or MTU */
};

struct lab_loss {
	const char *place, *reason; /* names; compared as pointers */
	uint8_t priority;
	bool reply; /* ACK, NAK or CNP */
	uint8_t blame;
	uint64_t packets, first_ns, last_ns;
};

struct lab_losses {
	struct lab_loss *item;
	uint32_t n, room, latest; /* latest: of the last loss; the next one is often the same */
	uint64_t unknown;	  /* frames of no flow */
};

void lab_losses_fini(struct lab *lab);

/* A frame was lost; `place` and `reason` outlive the lab's run. Frames of no flow are counted only. */
void lab_lost(struct lab *lab, const char *place, const char *reason, enum lab_blame blame, const void *bytes,
	uint32_t captured);

/* The same for a data packet of a known queue pair. */
void lab_lost_data(struct lab *lab, const char *place, const char *reason, enum lab_blame blame, struct lab_qp *q);

/* Are packets of this priority lossless? */
bool lab_is_lossless(const struct lab *lab, unsigned int priority);

/* Does this loss break the promise of a lossless class? */
bool lab_loss_breaks(const struct lab *lab, const struct lab_loss *l);

#endif
