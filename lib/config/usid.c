/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the ids of a uSID container and packs SIDs into containers (RFC 9800 section 6.2). Pure. */
#include "config/usid.h"

unsigned int usid_count(const struct ipv6_addr *a)
{
	unsigned int n = USID_PER_CONTAINER;

	while (n && usid_at(a, n - 1) == 0)
		n--;
	return n;
}

static const struct ip_prefix *block_of(const struct ip_prefix *blocks, unsigned int n, const struct ip_addr *sid)
{
	for (unsigned int i = 0; i < n; i++)
		if (ip_prefix_contains(&blocks[i], sid))
			return &blocks[i];
	return NULL;
}

unsigned int usid_pack(const struct ip_prefix *blocks, unsigned int n_blocks, const struct ip_addr *sids,
	unsigned int n, struct ipv6_addr *out, unsigned int room)
{
	const struct ip_prefix *current = NULL;
	unsigned int containers = 0, used = USID_PER_CONTAINER;
	struct ipv6_addr container = {{0}};

	for (unsigned int i = 0; i < n; i++) {
		const struct ipv6_addr *sid = &sids[i].v6;
		const struct ip_prefix *block = block_of(blocks, n_blocks, &sids[i]);
		unsigned int ids = block ? usid_count(sid) : USID_PER_CONTAINER;

		if (!block || block != current || used + ids > USID_PER_CONTAINER) {
			current = block;
			container = *sid;
			containers++;
			used = ids;
		} else {
			memcpy(container.b + 4 + 2 * used, sid->b + 4, 2 * ids);
			used += ids;
		}
		if (out && containers <= room)
			out[containers - 1] = container;
	}
	return containers;
}
