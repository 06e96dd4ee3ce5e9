/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SLUICE_MANAGE_H
#define SLUICE_MANAGE_H

#include "app.h"

/* Read the links of all ports. Returns how many are up. */
unsigned int look_at_links(struct node *n);

/* Take signals that have come; true when one of them, or a command, says stop. */
bool told_to_stop(struct app *app, int signals);

#endif
