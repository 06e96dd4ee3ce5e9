/* SPDX-License-Identifier: BSD-3-Clause */
/* show interfaces. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "classify/vlan.h"
#include "command/command_priv.h"
#include "command/describe.h"
#include "command/json_row.h"
#include "config/model.h"
#include "node/node_ctl.h"

/* "802.1q 100", "802.1ad 200 802.1q 7" */
static json_t *tags_of(const struct snap_interface *in)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < in->n_tags; i++)
		json_array_append_new(list,
			json_sprintf("%s %u", in->tag[i].type == ETH_TYPE_VLAN ? "802.1q" : "802.1ad", in->tag[i].id));
	return list;
}

static json_t *addresses_of(const struct snap_interface *in)
{
	json_t *list = json_array();
	char text[IP_PREFIX_TEXT];

	for (unsigned int i = 0; i < in->n_own; i++)
		json_array_append_new(list, json_string(ip_prefix_format(&in->own[i], text)));
	return list;
}

int cmd_show_interfaces(struct command_call *c)
{
	struct lcore_stats *sum = node_stats_shown(c->node);
	const struct snapshot *s = c->node->snapshot;

	if (!sum)
		return -ENOMEM;
	c->result = json_array();
	/* in the order of the configuration */
	for (uint32_t i = 0; i < s->config->interfaces.n; i++) {
		for (uint32_t row = 0; row < s->n_interfaces; row++) {
			const struct snap_interface *in = s->interface[row];
			json_t *o;

			if (!in || in->name != s->config->interfaces.items[i].name)
				continue;
			o = json_pack("{ss ss so ss si so}", "interface", in->name, "port",
				describe_interface(s, snap_interface_of(in->interface)), "tags", tags_of(in), "vrf",
				describe_vrf(s, in->vrf), "mtu", (int)in->mtu, "addresses", addresses_of(in));
			json_row(o, &stat_interface, &sum->interface[row], 0);
			json_array_append_new(c->result, o);
		}
	}
	free(sum);
	return 0;
}
