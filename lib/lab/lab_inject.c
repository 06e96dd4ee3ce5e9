/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that hosts send exactly as the topology gives them, to act as attackers and broken devices.
 * The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>

#include "lab/host_priv.h"

struct lab_injection {
	struct lab_host *host;
	const struct topo_injection *topo;
	uint64_t left;
	struct event event;
	uint16_t size;
	uint8_t bytes[TOPO_FRAME_MAX];
};

static void inject(void *arg)
{
	struct lab_injection *i = arg;

	host_queue_control(&i->host->port[0], i->bytes, i->size);
	if (--i->left)
		timeline_set(&i->host->timeline, &i->event, i->host->lab->now + i->topo->every_ns);
}

int inject_init(struct lab_host *h)
{
	h->injection = calloc(h->topo->send.n + 1, sizeof(*h->injection));
	for (uint32_t k = 0; h->injection && k < h->topo->send.n; k++) {
		struct lab_injection *i = &h->injection[k];

		i->host = h;
		i->topo = &h->topo->send.items[k];
		i->left = i->topo->repeat;
		i->size = (uint16_t)MAX_OF(topo_frame(i->topo->frame, i->bytes, sizeof(i->bytes)), ETH_MIN_LEN);
		event_init(&i->event, inject, i, "inject", h->topo->name);
		if (timeline_set(&h->timeline, &i->event, i->topo->start_ns) < 0)
			return -ENOMEM;
	}
	return h->injection ? 0 : -ENOMEM;
}
