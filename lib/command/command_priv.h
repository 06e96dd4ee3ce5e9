/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_COMMAND_PRIV_H
#define COMMAND_COMMAND_PRIV_H

#include "command/command.h"

int cmd_show_ports(struct command_call *c);
int cmd_show_lcores(struct command_call *c);
int cmd_show_drops(struct command_call *c);
int cmd_show_conservation(struct command_call *c);
int cmd_show_neighbors(struct command_call *c);
int cmd_show_sids(struct command_call *c);
int cmd_show_version(struct command_call *c);

#endif
