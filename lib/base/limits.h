/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Limits of a node that several libraries must agree on: sizes of tables, and how many packets each stage of the data
 * path may hold. Constants only.
 *
 * The LIMIT_* numbers are promises: lib/config/budget.c adds them up, so that memory.buffers is enough whatever arrives,
 * and the data path keeps to them.
 */
#ifndef BASE_LIMITS_H
#define BASE_LIMITS_H

/* Ports. Packets that the node itself makes are counted as received by PORT_LOCAL. */
#define MAX_PORTS 32
#define PORT_LOCAL MAX_PORTS	   /* pseudo ingress of originated packets */
#define PORT_SLOTS (MAX_PORTS + 1) /* of tables by ingress port */

/* VLAN interfaces, of ids in use and of ids that linger; and the rows of ports and of PORT_LOCAL (snapshot/snapshot.h). */
#define INTERFACE_SLOTS 1026

#define LIMIT_BURST 64	      /* packets that an lcore receives, takes from a ring or sends at a time */
#define LIMIT_PARK 256	      /* packets that an rx lcore keeps for one worker whose ring is full */
#define LIMIT_POOL_CACHE 384  /* buffers in the pool cache of one lcore: 256, flushed at 1.5 times that */
#define LIMIT_TX_ROOM 128     /* rewritten frames of a port that its device has not taken; of control and data each */
#define LIMIT_WORKER_PUNTS 32 /* packets in the ring from a worker to the control lcore */
#define LIMIT_CONTROL 256     /* packets that the control lcore originates or answers at a time */
#define LIMIT_FRONT 128	      /* bytes in front of a received frame (RTE_PKTMBUF_HEADROOM) */

#endif
