/* SPDX-License-Identifier: BSD-3-Clause */
/* Packet traces of a node: functions for the management thread. */
#ifndef NODE_TRACE_PRIV_H
#define NODE_TRACE_PRIV_H

#include "node/node.h"

/* Collect the events that lcores have posted. Call it often, because the rings are small. Management thread. */
void node_trace_collect(struct node *n);

/* Free the memory of tracing. No lcore runs. Management thread. */
void node_trace_fini(struct node *n);

#endif
