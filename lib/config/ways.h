/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out of this node for a segment list: the underlay route, subnet or adjacency to its first hop, as the data path
 * would choose it. Routes come from the configuration only, so a list without one never carries a packet. Pure.
 */
#ifndef CONFIG_WAYS_H
#define CONFIG_WAYS_H

#include "config/program.h"

struct cfg_way {
	const char *port;	/* port or interface; of several next hops the first one in the file */
	struct ip_addr nexthop; /* family 0: on the link */
	unsigned int more;	/* further next hops of the same prefix, or members of the adjacency */
};

/* Find the way to the first hop of a list on the wire. False: there is none. */
bool cfg_way_out(const struct config *c, const struct cfg_program *program, struct cfg_way *out);

#endif
