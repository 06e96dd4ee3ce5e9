/* SPDX-License-Identifier: BSD-3-Clause */
/* show sids, neighbors */
#include <errno.h>

#include "command/command_priv.h"
#include "node/node_ctl.h"

static const char *behavior_name(uint8_t behavior)
{
	static const char *const names[] = {"uN", "uA", "uDT4", "uDT6", "uDT46"};

	return names[behavior];
}

int cmd_show_sids(struct command_call *c)
{
	const struct node *n = c->node;
	const struct snapshot *s = n->snapshot;
	char text[IP_PREFIX_TEXT];

	c->result = json_array();
	for (uint32_t i = 0; i < s->n_sids; i++) {
		uint64_t packets = 0, bytes = 0;

		if (!s->sid[i].used)
			continue;
		for (uint16_t r = 0; r < n->n_rx; r++) {
			packets += stat_read(&n->rx[r].classifier.sids[i].packets);
			bytes += stat_read(&n->rx[r].classifier.sids[i].bytes);
		}
		json_array_append_new(c->result,
			json_pack("{ss ss si ss sI sI}", "sid", ip_prefix_format(&s->sid[i].prefix, text), "behavior",
				behavior_name(s->sid[i].behavior), "code", s->sid[i].code, "vrf",
				s->vrf[s->sid[i].vrf].name, "packets", (json_int_t)packets, "bytes",
				(json_int_t)bytes));
	}
	return 0;
}

static const char *nbr_state_name(uint8_t state)
{
	static const char *const names[] = {"unknown", "asked", "resolved", "releasing", "stale"};

	return names[state];
}

int cmd_show_neighbors(struct command_call *c)
{
	const struct node *n = c->node;
	char addr[IP_ADDR_TEXT], mac[ETH_ADDR_TEXT];

	c->result = json_array();
	for (uint16_t w = 0; w < n->n_workers; w++) {
		for (uint32_t i = 0; i < n->worker[w].nbrs.n; i++) {
			const struct nbr *nb = &n->worker[w].nbrs.nbr[i];
			bool is_static = i < n->snapshot->n_nbrs && n->snapshot->nbr[i].is_static;

			if (!nb->used_id)
				continue;
			json_array_append_new(c->result,
				json_pack("{ss ss ss ss si}", "port", n->port[nb->port]->name, "address",
					ip_addr_format(&nb->addr, addr), "mac",
					nb->state >= NBR_RESOLVED ? eth_addr_format(&nb->mac.dst, mac) : "", "state",
					is_static ? "static" : nbr_state_name(nb->state), "waiting",
					(int)nb->waiting.n));
		}
	}
	return 0;
}
