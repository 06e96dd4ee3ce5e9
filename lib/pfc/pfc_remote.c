/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of other nodes' SIDs, expansion of a segment list, and its reversal (docs/protocol.md 4.6). Pure; the
 * management thread seals the table, the control lcore reads it.
 */
#include "pfc/pfc_remote.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compiler.h"

const char *pfc_refusal_name(enum pfc_refusal r)
{
	static const char *const names[] = {
#define X(name, help) #name,
		PFC_REFUSALS(X)
#undef X
	};

	return names[r];
}

const char *pfc_refusal_help(enum pfc_refusal r)
{
	static const char *const help[] = {
#define X(name, help) help,
		PFC_REFUSALS(X)
#undef X
	};

	return help[r];
}

bool pfc_behavior_is_end(uint16_t code)
{
	return (code >= 1 && code <= 4) || (code >= 28 && code <= 31) || (code >= 43 && code <= 50);
}

bool pfc_behavior_is_next_csid(uint16_t code)
{
	return (code >= 43 && code <= 60) || (code >= 85 && code <= 97) || code == SRV6_END_X_PFC_NEXT_CSID;
}

/* Longest prefix first, so that the first match is the longest one; then by address and owner. */
static int compare(const void *a, const void *b)
{
	const struct pfc_remote *x = a, *y = b;
	int d;

	if (x->prefix.len != y->prefix.len)
		return x->prefix.len > y->prefix.len ? -1 : 1;
	d = memcmp(&x->prefix.addr.v6, &y->prefix.addr.v6, sizeof(x->prefix.addr.v6));
	return d ? d : strcmp(x->owner, y->owner);
}

static bool same_block(const struct pfc_remote *a, const struct pfc_remote *b)
{
	struct ip_prefix block = {.addr = a->prefix.addr, .len = a->block_bits};

	return a->block_bits == b->block_bits && ip_prefix_covers(&block, &b->prefix);
}

/* By owner, then as in the table. */
static int by_owner(const void *a, const void *b)
{
	const struct pfc_remote *const *x = a, *const *y = b;
	int d = strcmp((*x)->owner, (*y)->owner);

	return d ? d : *x < *y ? -1 : *x > *y;
}

/* The End SID that replaces `r` in a reverse list: one of the same owner, from the same block if there is one. */
static uint32_t end_for(const struct pfc_remotes *t, const struct pfc_remote *const *ends, uint32_t n,
	const struct pfc_remote *r)
{
	uint32_t low = 0, high = n, found = PFC_REMOTE_NONE;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (strcmp(ends[middle]->owner, r->owner) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < n && strcmp(ends[low]->owner, r->owner) == 0; low++) {
		if (same_block(ends[low], r))
			return (uint32_t)(ends[low] - t->sid);
		if (found == PFC_REMOTE_NONE)
			found = (uint32_t)(ends[low] - t->sid);
	}
	return found;
}

int pfc_remotes_seal(struct pfc_remotes *t, struct pfc_remote *sid, uint32_t n)
{
	const struct pfc_remote **ends = calloc(n + 1, sizeof(*ends));
	uint32_t n_ends = 0;

	if (!ends)
		return -ENOMEM;
	*t = (struct pfc_remotes){.sid = sid, .n = n};
	if (n)
		qsort(sid, n, sizeof(*sid), compare);
	for (uint32_t i = 0; i < n; i++)
		if (pfc_behavior_is_end(sid[i].behavior))
			ends[n_ends++] = &sid[i];
	qsort(ends, n_ends, sizeof(*ends), by_owner);
	for (uint32_t i = 0; i < n; i++)
		sid[i].end = end_for(t, ends, n_ends, &sid[i]);
	free(ends);
	return 0;
}

/* Index of the first entry that is not before (len, address). */
static uint32_t lower_bound(const struct pfc_remotes *t, const struct ip_prefix *p)
{
	struct pfc_remote key = {.prefix = *p};
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&t->sid[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The entry for `owner` among the entries from `i` on with this prefix. */
static const struct pfc_remote *meant(const struct pfc_remotes *t, uint32_t i, const struct ip_prefix *p,
	const char *owner)
{
	const struct pfc_remote *only = NULL;
	unsigned int n = 0;

	for (; i < t->n && ip_prefix_equal(&t->sid[i].prefix, p); i++) {
		if (owner && strcmp(t->sid[i].owner, owner) == 0)
			return &t->sid[i];
		only = &t->sid[i];
		n++;
	}
	/* a SID of local meaning belongs to the previous node; without a previous node, to the only owner */
	if (n != 1 || (owner && only->node_bits == 0))
		return NULL;
	return only;
}

const struct pfc_remote *pfc_remote_find(const struct pfc_remotes *t, const struct ipv6_addr *a, const char *owner)
{
	struct ip_prefix p = {.addr = ip_addr_from6(a)};
	uint32_t at = 0;

	/* one search per prefix length */
	while (at < t->n) {
		const struct pfc_remote *found;
		uint8_t len = t->sid[at].prefix.len;
		struct ip_prefix key, end = {.addr = {.family = 6}, .len = len};

		p.len = len;
		key = ip_prefix_network(&p);
		found = meant(t, lower_bound(t, &key), &key, owner);
		if (found)
			return found;
		memset(&end.addr.v6, 0xff, sizeof(end.addr.v6));
		at = lower_bound(t, &end);
		while (at < t->n && t->sid[at].prefix.len == len)
			at++;
	}
	return NULL;
}

/*
 * The rest of a container after a SID: the block, followed by the argument shifted up to it. False: the container is
 * empty.
 */
static bool next_of_container(const struct pfc_remote *r, struct ipv6_addr *a)
{
	unsigned int block = r->block_bits / 8, used = (r->node_bits + r->function_bits) / 8;
	static const struct ipv6_addr zero;

	memmove(a->b + block, a->b + block + used, sizeof(a->b) - block - used);
	memset(a->b + sizeof(a->b) - used, 0, used);
	return memcmp(a->b + block, zero.b, sizeof(a->b) - block) != 0;
}

/* A SID can be split if its lengths are whole bytes and leave room for an argument. */
static bool divisible(const struct pfc_remote *r)
{
	unsigned int used = r->node_bits + r->function_bits;

	return r->block_bits % 8 == 0 && used && used % 8 == 0 && r->block_bits + used < 128;
}

enum pfc_refusal pfc_expand(const struct pfc_remotes *t, const struct ipv6_addr *list, unsigned int n,
	struct pfc_list *out)
{
	const char *owner = NULL;

	out->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct ipv6_addr a = list[i];
		bool more;

		do {
			const struct pfc_remote *r = pfc_remote_find(t, &a, owner);
			struct ip_prefix p = {.addr = ip_addr_from6(&a), .len = r ? r->prefix.len : 128};

			more = r && pfc_behavior_is_next_csid(r->behavior) && divisible(r);
			if (out->n == PFC_LIST_MAX)
				return PFC_REFUSED_too_long;
			/* of a container only the part that is this SID */
			out->sid[out->n++] = more ? ip_prefix_network(&p).addr.v6 : a;
			owner = r ? r->owner : NULL;
			more = more && next_of_container(r, &a);
		} while (more);
	}
	return PFC_REFUSED_none;
}

static enum pfc_refusal append(struct pfc_list *out, const struct ipv6_addr *sid)
{
	if (out->n && memcmp(&out->sid[out->n - 1], sid, sizeof(*sid)) == 0)
		return PFC_REFUSED_none; /* several consecutive SIDs of one node: visit the node once */
	if (out->n == PFC_LIST_MAX)
		return PFC_REFUSED_too_long;
	out->sid[out->n++] = *sid;
	return PFC_REFUSED_none;
}

static enum pfc_refusal append_end(const struct pfc_remotes *t, const struct pfc_remote *r, struct pfc_list *out)
{
	if (!r)
		return PFC_REFUSED_unknown_sid;
	if (r->end == PFC_REMOTE_NONE)
		return PFC_REFUSED_no_end_sid;
	return append(out, &t->sid[r->end].prefix.addr.v6);
}

static bool same_owner(const struct pfc_remote *a, const struct pfc_remote *b)
{
	return a && b && strcmp(a->owner, b->owner) == 0;
}

enum pfc_refusal pfc_reverse(const struct pfc_remotes *t, const struct pfc_list *list, unsigned int own,
	struct pfc_list *out)
{
	const struct pfc_remote *of[PFC_LIST_MAX];
	const char *owner = NULL;
	enum pfc_refusal refusal;
	int upstream = -1;

	*out = (struct pfc_list){.n = 0};
	for (unsigned int i = 0; i <= own; i++) {
		of[i] = pfc_remote_find(t, &list->sid[i], owner);
		owner = of[i] ? of[i]->owner : NULL;
	}
	/* the list may have several consecutive SIDs of the node itself, and none of them is upstream */
	for (unsigned int i = 0; i < own; i++)
		if (of[i] && pfc_behavior_pauses(of[i]->behavior) && !same_owner(of[i], of[own]))
			upstream = (int)i;
	if (upstream < 0)
		return PFC_REFUSED_no_upstream;
	for (int i = (int)own - 1; i > upstream; i--) {
		/* further SIDs of the upstream node or of the node itself are not needed on the way back */
		if (same_owner(of[i], of[upstream]) || same_owner(of[i], of[own]))
			continue;
		refusal = append_end(t, of[i], out);
		if (refusal)
			return refusal;
	}
	/* a SID of local meaning is valid only after a SID of its node */
	out->local = of[upstream]->node_bits == 0;
	if (out->local) {
		refusal = append_end(t, of[upstream], out);
		if (refusal)
			return refusal;
	}
	return append(out, &list->sid[upstream]);
}
