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

/* In words: "802.1ad 200, 802.1q 7" */
static void set_tags(json_t *o, const struct snap_interface *in)
{
	json_t *list = json_array();
	char words[64] = "";

	for (unsigned int i = 0; i < in->n_tags; i++) {
		const char *type = in->tag[i].type == ETH_TYPE_VLAN ? "802.1q" : "802.1ad";
		size_t n = strlen(words);

		json_array_append_new(list, json_pack("{ss si}", "type", type, "id", (int)in->tag[i].id));
		snprintf(words + n, sizeof(words) - n, "%s%s %u", i ? ", " : "", type, in->tag[i].id);
	}
	command_set_worded(o, "tags", list, words);
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
			o = json_pack("{ss ss}", "interface", in->name, "port",
				describe_interface(s, snap_interface_of(in->interface)));
			set_tags(o, in);
			json_object_update_new(o, json_pack("{ss si so}", "vrf", describe_vrf(s, in->vrf), "mtu",
							  (int)in->mtu, "addresses", addresses_of(in)));
			json_row(o, &stat_interface, &sum->interface[row], 0);
			json_array_append_new(c->result, o);
		}
	}
	free(sum);
	return 0;
}
