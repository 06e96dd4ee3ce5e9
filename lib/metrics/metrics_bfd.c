/* SPDX-License-Identifier: BSD-3-Clause */
/* Locates the counters of BFD: of the node, and of its sessions. Management thread; the control lcore writes them. */
#include <stdio.h>

#include "metrics/metrics_priv.h"
#include "service/bfd/service_bfd.h"

static void each_node(const struct metric_context *c, metric_object object, void *arg)
{
	const struct bfd_stats *x = bfd_shown(c->n);

	if (x)
		object(arg, "", x, 0);
}

static void each_session(const struct metric_context *c, metric_object object, void *arg)
{
	const struct snapshot *s = c->n->snapshot;
	char labels[METRIC_LABELS], peer[IP_ADDR_TEXT];

	for (uint32_t i = 0; i < s->n_bfd; i++) {
		const struct snap_bfd *b = &s->bfd[i];
		const struct bfd_session_stats *x = bfd_session_shown(c->n, b);
		bool path = b->peer.kind == BFD_SBFD;

		if (!x)
			continue;
		snprintf(labels, sizeof(labels), "peer=\"%s\",interface=\"%s\",policy=\"%s\",path=\"%s\"",
			ip_addr_format(&b->peer.remote, peer), path ? "" : snap_interface(s, b->peer.interface)->name,
			path ? s->path[b->id].policy : "", path ? s->path[b->id].name : "");
		object(arg, labels, x, 0);
	}
}

const struct metric_source metric_bfd[] = {
	{&stat_bfd, each_node},
	{&stat_bfd_session, each_session},
	{0},
};
