/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLUICE_MANAGE_H
#define SLUICE_MANAGE_H

#include "app.h"

/* Update the link state of all ports and log changes. Returns how many are up. */
unsigned int look_at_links(struct node *n);

/* Handle pending signals. True if one of them, or a command, has stopped the node. */
bool told_to_stop(struct app *app, int signals);

#endif
