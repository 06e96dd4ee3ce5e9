/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a node that several libraries must agree on: sizes of tables, and the number of packets that each stage of
 * the data path may hold. Constants only.
 *
 * The LIMIT_* numbers are promises. lib/config/budget.c adds them up, so that memory.buffers suffices for any traffic.
 * The data path keeps to them.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* Ports. Packets that the node originates count as received by PORT_LOCAL. */
#define MAX_PORTS 32
#define PORT_LOCAL MAX_PORTS	   /* pseudo ingress of originated packets */
#define PORT_SLOTS (MAX_PORTS + 1) /* size of a table indexed by ingress port */

/*
 * VLAN interfaces: ids in use and ids not yet free again. Rows: those of ports and of PORT_LOCAL as well
 * (snapshot/snapshot.h).
 */
#define INTERFACE_SLOTS 1026

#define LIMIT_BURST 64		/* packets that an lcore receives, dequeues or sends at a time */
#define LIMIT_RX_RING 16384	/* descriptors of a receive queue */
#define LIMIT_BACKLOG_LOSSY 128 /* frames of lossy classes that wait for the CPU, in each receive queue */
#define LIMIT_PARK 256 /* packets that an rx lcore keeps for workers whose rings are full, all of them together */
#define LIMIT_SPREAD_RING 128	/* slots of a ring between two rx lcores: frames that are spread in software */
#define LIMIT_WORKER_RING 256	/* least slots of a ring from an rx lcore to a worker: see cfg_worker_ring */
#define LIMIT_POOL_CACHE 384	/* buffers in the pool cache of one lcore: 256, flushed at 1.5 times that */
#define LIMIT_TX_ROOM 128	/* rewritten frames of a port that its device has not accepted; control and data each */
#define LIMIT_LOSSLESS_MAIL 192 /* packets in a ring to a worker above which lossless ports hand on no more */
#define LIMIT_PEER_MAIL 128	/* packets in the ring from a worker to another one: they leave by another port */
#define LIMIT_PUNT_RING \
	64 /* least slots of a ring from an rx lcore to the control lcore: a burst of 32 fits, and more */
#define LIMIT_PUNT_RINGS 320	    /* of all these rings of an rx lcore together */
#define LIMIT_WORKER_PUNTS 32	    /* packets in the ring from a worker to the control lcore */
#define LIMIT_NEIGH_MESSAGES 1024   /* about neighbours, in a ring between a worker and the control lcore */
#define LIMIT_CONTROL 256	    /* packets that the control lcore originates or answers at a time */
#define LIMIT_BFD_SESSIONS 4096	    /* BFD sessions of a node */
#define LIMIT_BFD_KEY 20	    /* bytes of a BFD key (RFC 5880 section 4.4) */
#define LIMIT_CREDIT_PATHS 65536    /* paths of credit sessions of a node */
#define LIMIT_CREDIT_SESSIONS 65536 /* of which begin there */
#define LIMIT_LETTER_SESSIONS 1024  /* of letter mode */
#define LIMIT_CREDIT_ON_DEMAND 1024 /* of those that begin on demand */
#define LIMIT_CREDIT_NEIGHBORS 256
#define LIMIT_CREDIT_DATA_OF 16 /* entries of credit.data-of, looked at one by one */
#define LIMIT_CREDIT_ACCEPTS 64
#define LIMIT_FRONT 128 /* bytes before a received frame (RTE_PKTMBUF_HEADROOM) */

#endif
