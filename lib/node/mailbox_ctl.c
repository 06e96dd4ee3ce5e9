/* SPDX-License-Identifier: BSD-3-Clause */
/* Open and close mailboxes. Management thread. */
#include "node/node.h"

#include <errno.h>
#include <stdio.h>

int mailbox_open(struct mailbox_list *list, struct mailbox *b, const struct mailbox_options *o)
{
	char name[RTE_RING_NAMESIZE];
	uint32_t bytes = o->bytes ? o->bytes : (uint32_t)sizeof(struct rte_mbuf *);
	int socket = o->socket < 0 && o->to.lcore ? o->to.lcore->socket : o->socket;

	/* DPDK requires names that are unique in the process. */
	snprintf(name, sizeof(name), "%.8s.%llx", o->carries, (unsigned long long)(uintptr_t)b);
	b->ring = rte_ring_create_elem(name, bytes, o->slots, socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (!b->ring)
		return -ENOMEM;
	b->carries = o->carries;
	b->from = o->from;
	b->to = o->to;
	b->bytes = o->bytes;
	if (list->last)
		list->last->next = b;
	else
		list->first = b;
	list->last = b;
	return 0;
}

void mailbox_close_all(struct mailbox_list *list)
{
	for (struct mailbox *b = list->first; b; b = b->next) {
		rte_ring_free(b->ring);
		b->ring = NULL;
	}
	*list = (struct mailbox_list){NULL, NULL};
}

const char *mailbox_role_name(enum mailbox_role role)
{
	static const char *const names[] =
		{[MAILBOX_RX] = "rx", [MAILBOX_WORKER] = "worker", [MAILBOX_CONTROL] = "control"};

	return names[role];
}
