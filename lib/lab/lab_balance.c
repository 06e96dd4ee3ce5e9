/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums of a node's counters, computed once per event for all its callers. The lab is single-threaded. */
#include "lab/lab_priv.h"

const struct node_balance *lab_node_balance(struct lab_node *n)
{
	if (n->balance_event == n->lab->events)
		return &n->balance;
	n->balance = (struct node_balance){0};
	if (n->node)
		node_balance(n->node, &n->balance);
	n->balance_event = n->lab->events;
	return &n->balance;
}
