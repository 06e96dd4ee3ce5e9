/* SPDX-License-Identifier: BSD-3-Clause */
/* show bfd sessions, counters. Management thread; the control lcore writes what is shown. */
#include <errno.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "command/json_row.h"
#include "service/bfd/service_bfd.h"

/* "0x0a000001", as tshark prints it. */
static json_t *discriminator(uint64_t value)
{
	return json_sprintf("0x%08x", (unsigned int)value);
}

static json_t *of_session(const struct command_call *c, const struct snap_bfd *s, const struct bfd_session_stats *x)
{
	const struct snapshot *snapshot = c->node->snapshot;
	bool path = s->peer.kind == BFD_SBFD;
	char remote[IP_ADDR_TEXT], local[IP_ADDR_TEXT];
	json_t *o = json_pack("{ss ss ss ss ss ss so so ss ss ss}", "peer", ip_addr_format(&s->peer.remote, remote),
		"local", ip_addr_format(&s->peer.local, local), "port",
		path ? "" : describe_interface(snapshot, s->peer.interface), "policy",
		path ? snapshot->path[s->id].policy : "", "path", path ? snapshot->path[s->id].name : "", "profile",
		s->profile, "discriminator", discriminator(stat_read(&x->local_discr)), "remote_discriminator",
		discriminator(stat_read(&x->remote_discr)), "state", bfd_state_name((unsigned int)stat_read(&x->state)),
		"remote_state", bfd_state_name((unsigned int)stat_read(&x->remote_state)), "diagnostic",
		bfd_diag_text((unsigned int)stat_read(&x->diag)));

	json_object_set_new(o, "remote_diagnostic",
		json_string(bfd_diag_text((unsigned int)stat_read(&x->remote_diag))));
	json_object_set_new(o, "last_down",
		stat_read(&x->downs) ? json_string(bfd_diag_text((unsigned int)stat_read(&x->last_down)))
				     : json_null());
	json_row(o, &stat_bfd_session, x, stat_read(&c->node->control->now));
	return o;
}

int cmd_show_bfd_sessions(struct command_call *c)
{
	static const struct bfd_session_stats starting;
	const struct snapshot *s = c->node->snapshot;

	c->result = json_array();
	for (uint32_t i = 0; i < s->n_bfd; i++) {
		const struct bfd_session_stats *x = bfd_session_shown(c->node, &s->bfd[i]);

		json_array_append_new(c->result, of_session(c, &s->bfd[i], x ? x : &starting));
	}
	return 0;
}

int cmd_show_bfd_counters(struct command_call *c)
{
	static const struct bfd_stats none;
	const struct bfd_stats *x = bfd_shown(c->node);

	c->result = json_object();
	json_row(c->result, &stat_bfd, x ? x : &none, 0);
	return 0;
}
