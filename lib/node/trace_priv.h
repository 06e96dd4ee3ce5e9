/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NODE_TRACE_PRIV_H
#define NODE_TRACE_PRIV_H

#include "node/node.h"

/* Take what lcores have posted; often, for their rings are small. */
void node_trace_collect(struct node *n);

/* Free what tracing has made; no lcore may run any more. */
void node_trace_fini(struct node *n);

#endif
