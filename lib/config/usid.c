/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the ids of a uSID container and packs SIDs into containers (RFC 9800 section 6.2). Pure. */
#include "config/usid.h"

unsigned int usid_count(const struct ipv6_addr *a, unsigned int block)
{
	unsigned int n = usid_per_container(block);

	while (n && usid_at(a, block, n - 1) == 0)
		n--;
	return n;
}

const struct ip_prefix *usid_block_of(const struct ip_prefix *blocks, unsigned int n, const struct ip_addr *a)
{
	const struct ip_prefix *best = NULL;

	for (unsigned int i = 0; i < n; i++)
		if (ip_prefix_contains(&blocks[i], a) && (!best || blocks[i].len > best->len))
			best = &blocks[i];
	return best;
}

unsigned int usid_pack(const struct ip_prefix *blocks, unsigned int n_blocks, const struct ip_addr *sids,
	unsigned int n, struct ipv6_addr *out, unsigned int room)
{
	const struct ip_prefix *current = NULL;
	unsigned int containers = 0, used = 0;
	struct ipv6_addr container = {{0}};

	for (unsigned int i = 0; i < n; i++) {
		const struct ipv6_addr *sid = &sids[i].v6;
		const struct ip_prefix *block = usid_block_of(blocks, n_blocks, &sids[i]);
		unsigned int ids = block ? usid_count(sid, block->len) : 0;

		if (!block || block != current || used + ids > usid_per_container(block->len)) {
			current = block;
			container = *sid;
			containers++;
			used = ids;
		} else {
			memcpy(container.b + block->len / 8 + 2 * used, sid->b + block->len / 8, 2 * ids);
			used += ids;
		}
		if (out && containers <= room)
			out[containers - 1] = container;
	}
	return containers;
}
