/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDs of other nodes: prefix, behaviour, structure, owner. draft-ruan section 2 leaves their advertisement to another
 * document (IGP, BGP-LS); here they come from the configuration or from a JSON file. A SID's value alone does not tell
 * its behaviour, so without this table nothing can be learnt (docs/protocol.md 4.6).
 *
 * Made by the management thread, read by the control lcore; immutable in between.
 */
#ifndef PFC_PFC_REMOTE_H
#define PFC_PFC_REMOTE_H

#include <stdbool.h>

#include "wire/addr.h"

/* SRv6 Endpoint Behaviors, private use (D30): not assigned yet, "TBA" in draft-ruan section 6. */
#define SRV6_END_X_PFC 0x8100
#define SRV6_END_X_PFC_PSP 0x8101
#define SRV6_END_X_PFC_USP 0x8102
#define SRV6_END_X_PFC_PSP_USP 0x8103
#define SRV6_END_X_PFC_NEXT_CSID 0x8104

#define PFC_OWNER_TEXT 32 /* longest owner name, NUL included */
#define PFC_LIST_MAX 32	  /* SIDs of one list */

struct pfc_remote {
	struct ip_prefix prefix; /* block, node and function */
	uint16_t behavior;	 /* code point */
	/* RFC 9800 section 4: lengths in bits */
	uint8_t block_bits, node_bits, function_bits, argument_bits;
	char owner[PFC_OWNER_TEXT];
	uint32_t
		end; /* the owner's End SID, of the same block if there is one, or PFC_REMOTE_NONE; set by pfc_remotes_seal */
};
#define PFC_REMOTE_NONE UINT32_MAX

struct pfc_remotes {
	const struct pfc_remote *sid; /* sorted by pfc_remotes_seal; the caller's */
	uint32_t n;
};

/* A table of `n` SIDs, which stay the caller's: sorts them and finds every owner's End SID. 0 or -ENOMEM. */
int pfc_remotes_seal(struct pfc_remotes *t, struct pfc_remote *sid, uint32_t n);

/*
 * The SID an address begins with, by longest match. A SID of local meaning (no node bits: a function of the local id
 * block) says nothing without its node: `owner` is the node that the packet has reached before it, or NULL. NULL: not
 * known, or several nodes have one and `owner` does not decide.
 */
const struct pfc_remote *pfc_remote_find(const struct pfc_remotes *t, const struct ipv6_addr *a, const char *owner);

/* draft-ruan's behaviours, of all flavours. */
static inline bool pfc_behavior_pauses(uint16_t code)
{
	return code >= SRV6_END_X_PFC && code <= SRV6_END_X_PFC_NEXT_CSID;
}

/* Plain End or uN, of all flavours: a SID that means the node and nothing else. */
bool pfc_behavior_is_end(uint16_t code);

/* NEXT-CSID: the argument holds further SIDs. */
bool pfc_behavior_is_next_csid(uint16_t code);

/* Why no tunnel can be made of what a data packet shows. */
#define PFC_REFUSALS(X) \
	X(none, "accepted") \
	X(no_srh, "no SRH: removed by PSP, or all SIDs were in one container") \
	X(not_in_list, "own SID is not in the segment list") \
	X(no_upstream, "no End.X.PFC SID before the own one (a reduced SRH does not show the first SID)") \
	X(unknown_sid, "a SID on the way is not in remote-sids") \
	X(no_end_sid, "a node on the way has no End SID in remote-sids") \
	X(too_long, "more SIDs than a list may have") \
	X(no_slice_id, "its slice has no id, and slice-by asks for one") \
	X(no_argument, "the upstream SID leaves no room for the slice's id") \
	X(table_full, "as many tunnels as pfc-learning.tunnels allows")

enum pfc_refusal {
#define X(name, help) PFC_REFUSED_##name,
	PFC_REFUSALS(X)
#undef X
		PFC_REFUSAL_COUNT
};

const char *pfc_refusal_name(enum pfc_refusal r);
const char *pfc_refusal_help(enum pfc_refusal r);

struct pfc_list {
	uint8_t n;
	bool local;			    /* the last one means something only behind the one before it */
	struct ipv6_addr sid[PFC_LIST_MAX]; /* in travel order, not packed into containers */
};

/*
 * A full segment list in travel order, its containers taken apart. Containers in an SRH are as the headend wrote them,
 * unshifted, so they can be (docs/protocol.md 4.6).
 */
enum pfc_refusal pfc_expand(const struct pfc_remotes *t, const struct ipv6_addr *list, unsigned int n,
	struct pfc_list *out);

/*
 * The reverse list (docs/protocol.md 4.6): from the node that owns list[own] back to the nearest End.X.PFC before it, over
 * the End SIDs of the nodes between (D33); that node's own further SIDs are left out.
 */
enum pfc_refusal pfc_reverse(const struct pfc_remotes *t, const struct pfc_list *list, unsigned int own,
	struct pfc_list *out);

#endif
