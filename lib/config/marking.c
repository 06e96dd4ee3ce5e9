/* SPDX-License-Identifier: BSD-3-Clause */
/* Classes and DSCPs by the maps of a configuration. Pure. */
#include "config/marking.h"

#include "config/config.h"

void cfg_apply_ranges(const struct config *c, const struct cfg_range *ranges, uint32_t n, uint8_t *table)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t to = cfg_given(c, &ranges[i].to) ? ranges[i].to : ranges[i].from;

		for (uint64_t v = ranges[i].from; v <= to; v++)
			table[v] = (uint8_t)ranges[i].value;
	}
}

const struct cfg_class_map *cfg_class_map(const struct config *c, const char *name)
{
	int i = cfg_find_named(c, "class-maps", name, NULL);

	return i < 0 ? NULL : &c->class_maps.items[i];
}

void cfg_class_of_dscp(const struct config *c, const struct cfg_port *port, uint8_t class[CFG_DSCPS])
{
	const struct cfg_class_map *map = cfg_class_map(c, port->class_map);

	/* class selector: the three high bits of the DSCP (RFC 2474 section 4.2.2); RoCEv2's 26 is class 3 */
	for (unsigned int d = 0; d < CFG_DSCPS; d++)
		class[d] = (uint8_t)(d >> 3);
	if (map)
		cfg_apply_ranges(c, map->dscp.items, map->dscp.n, class);
}

void cfg_dscp_table(const struct config *c, const char *name, uint8_t dscp[CFG_DSCPS])
{
	int map = cfg_find_named(c, "dscp-maps", name, NULL);

	for (unsigned int d = 0; d < CFG_DSCPS; d++)
		dscp[d] = (uint8_t)d;
	if (map >= 0)
		cfg_apply_ranges(c, c->dscp_maps.items[map].map.items, c->dscp_maps.items[map].map.n, dscp);
}
