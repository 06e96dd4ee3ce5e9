/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Credit as a whole, for those who check it from outside: what a node grants, what it uses, and where the packets of sessions
 * wait. The invariants of docs/credit.md 2.13 are checked with it over several nodes. Read only; any thread while no lcore of
 * the node is in a pass.
 */
#ifndef SERVICE_RSVP_SERVICE_AUDIT_H
#define SERVICE_RSVP_SERVICE_AUDIT_H

#include "node/node.h"

/* Of a node. */
struct audit_node {
	uint32_t numbers;   /* of grants and of uses: 1 to numbers - 1 */
	uint32_t most;	    /* units of the largest packet */
	uint64_t pool;	    /* units */
	uint64_t committed; /* units that sessions have been given */
};

/* What a previous hop is granted. Totals count from the start of the node; units. */
struct audit_grant {
	bool on;	      /* updates are sent: the promise stands */
	uint32_t epoch, buf;  /* 0: nothing is granted yet */
	uint64_t rcvd, freed; /* totals */
	uint64_t base;	      /* rcvd when the epoch began */
	uint64_t fccl, abr;   /* sent last, within the epoch */
	uint64_t held;	      /* of the pool */
	uint64_t doubled;     /* by which LOST has ever fallen */
	int64_t lost;
};

/* What is used of the next hop's credit. */
struct audit_use {
	bool open;     /* its gate */
	bool current;  /* epoch, fccl, abr and fctbs are of the credit that it has */
	uint16_t port; /* by which it leaves */
	uint32_t epoch;
	uint64_t sent, pending, limit; /* totals */
	uint64_t fccl, abr, fctbs;     /* within the epoch */
	uint64_t waits;		       /* packets */
};

/* The session of a use, and the node that grants. */
struct audit_hop {
	struct ip_addr source, next;
	uint32_t label;
};

/* False: the node has no credit, the number is not in use, or the use has no credit now. */
bool service_audit_node(const struct node *n, struct audit_node *out);
bool service_audit_grant(const struct node *n, uint32_t number, struct audit_grant *out);
bool service_audit_use(const struct node *n, uint32_t number, struct audit_use *out);
bool service_audit_hop(const struct node *n, uint32_t number, struct audit_hop *out);

/* Those at which something happens: how many there are, and which, from 0 on. */
uint32_t service_audit_busy_grants(const struct node *n);
uint32_t service_audit_busy_uses(const struct node *n);
uint32_t service_audit_busy_grant(const struct node *n, uint32_t i);
uint32_t service_audit_busy_use(const struct node *n, uint32_t i);

/* The grant of a session; 0: none. */
uint32_t service_audit_grant_of(const struct node *n, const struct ip_addr *source, uint32_t label);

/* Adds the units of all packets in lines to those of their grants, by number; returns the packets. */
uint64_t service_audit_lines(const struct node *n, uint64_t *units);

/* Packets of a session that wait: for the wait-for graph. */
struct audit_line {
	uint32_t use;	      /* its number */
	uint16_t port;	      /* by which it leaves */
	uint8_t slice, class; /* of the oldest packet */
	uint32_t need;	      /* units of that packet, if it waits for credit; 0: it waits for the queue of its class */
};

struct service_audit_visitor {
	void *arg;
	/* A line that waits; those below are called about it next. */
	void (*line)(void *arg, const struct audit_line *l);
	/* Units of its packets that a grant has a reservation for; may be called several times. */
	void (*granted)(void *arg, uint32_t grant, uint32_t units);
	/* A packet that has none, and stands in the buffer of a port and class. */
	void (*charged)(void *arg, uint16_t port, uint8_t class, uint32_t bytes, uint32_t buffers);
};

void service_audit_visit(const struct node *n, const struct service_audit_visitor *v);

#endif
