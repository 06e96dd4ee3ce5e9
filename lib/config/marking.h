/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes and DSCPs that maps of a checked configuration give: tables by code point. Pure. */
#ifndef CONFIG_MARKING_H
#define CONFIG_MARKING_H

#include "config/model.h"

#define CFG_DSCPS 64

/* Write the values of ranges into a table by code point. What is not listed stays. */
void cfg_apply_ranges(const struct config *c, const struct cfg_range *ranges, uint32_t n, uint8_t *table);

/* The class map of that name, or NULL. */
const struct cfg_class_map *cfg_class_map(const struct config *c, const char *name);

/* Class of untagged packets that a port receives, by DSCP. */
void cfg_class_of_dscp(const struct config *c, const struct cfg_port *port, uint8_t class[CFG_DSCPS]);

/* DSCP by DSCP of the map of that name. NULL, or a name that is not in dscp-maps: the same. */
void cfg_dscp_table(const struct config *c, const char *name, uint8_t dscp[CFG_DSCPS]);

#endif
