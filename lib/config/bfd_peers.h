/* SPDX-License-Identifier: BSD-3-Clause */
/* The next hops of a configuration that have BFD sessions. Pure; management thread. */
#ifndef CONFIG_BFD_PEERS_H
#define CONFIG_BFD_PEERS_H

#include "config/config.h"

/* A next hop: of a route, an adjacency or a static neighbour. */
struct cfg_bfd_peer {
	const char *link; /* name of the port or interface */
	const struct ip_addr *address;
	const struct cfg_bfd_profile *profile;
	const char *const *named; /* the key `bfd` that names the profile: of the next hop, else of its link */
};

/*
 * Call fn for each next hop with a session, in the order of the file. The same next hop may come several times. A next
 * hop whose link or profile does not exist, which is reported elsewhere, is left out.
 */
void cfg_bfd_each(const struct config *c, void (*fn)(void *arg, const struct cfg_bfd_peer *p), void *arg);

/* The profile of this name; NULL: none. */
const struct cfg_bfd_profile *cfg_bfd_profile(const struct config *c, const char *name);

#endif
