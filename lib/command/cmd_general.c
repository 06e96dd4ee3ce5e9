/* SPDX-License-Identifier: BSD-3-Clause */
/* show log, set log, show version, quit. Management thread. */
#include <errno.h>
#include <string.h>

#include <rte_version.h>

#include "base/log.h"
#include "command/command_priv.h"
#include "node/node.h"

int cmd_show_log(struct command_call *c)
{
	c->result = json_array();
	for (unsigned int m = 0; m < LOG_MODULE_COUNT; m++)
		json_array_append_new(c->result, json_pack("{ss ss}", "module", log_module_name((enum log_module)m),
							 "level", log_level_name(log_get_level((enum log_module)m))));
	return 0;
}

int cmd_set_log(struct command_call *c)
{
	int level = log_level_by_name(c->arg[1]);

	/* the words of the argument are "all" and then the modules */
	for (unsigned int m = 0; m < LOG_MODULE_COUNT; m++)
		if (strcmp(c->arg[0], "all") == 0 || log_module_by_name(c->arg[0]) == (int)m)
			log_set_level((enum log_module)m, (enum log_level)level);
	return 0;
}

int cmd_show_version(struct command_call *c)
{
	c->result = json_pack("{ss ss ss si}", "sluice", c->host->version ? c->host->version : SLUICE_VERSION, "dpdk",
		rte_version(), "node", c->node->name, "schema", COMMAND_SCHEMA);
	return 0;
}

int cmd_quit(struct command_call *c)
{
	if (!c->host->quit)
		return command_fail(c, -ENOTSUP, "not available here");
	c->host->quit(c->host->session);
	return 0;
}
