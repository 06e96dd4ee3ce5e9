/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDs of other nodes: prefix, behaviour, structure, owner. draft-ruan section 2 leaves their advertisement to another
 * document (IGP, BGP-LS); sluice reads them from the configuration or from a JSON file. The value of a SID does not
 * show its behaviour, so tunnels cannot be learnt without this table (docs/protocol.md 4.6).
 *
 * The management thread makes the table, and the control lcore reads it; it is immutable after pfc_remotes_seal.
 */
#ifndef PFC_PFC_REMOTE_H
#define PFC_PFC_REMOTE_H

#include <stdbool.h>

#include "wire/addr.h"

/* Code points of SRv6 Endpoint Behaviors from the private-use range (D30): draft-ruan section 6 has only "TBA". */
#define SRV6_END_X_PFC 0x8100
#define SRV6_END_X_PFC_PSP 0x8101
#define SRV6_END_X_PFC_USP 0x8102
#define SRV6_END_X_PFC_PSP_USP 0x8103
#define SRV6_END_X_PFC_NEXT_CSID 0x8104

#define PFC_OWNER_TEXT 32 /* longest owner name, NUL included */
#define PFC_LIST_MAX 32	  /* SIDs of one list */

struct pfc_remote {
	struct ip_prefix prefix; /* block, node and function */
	uint16_t behavior;	 /* code point of the SRv6 Endpoint Behavior */
	/* Structure of the SID, lengths in bits (RFC 9800 section 4). */
	uint8_t block_bits, node_bits, function_bits, argument_bits;
	char owner[PFC_OWNER_TEXT]; /* name of the node that owns the SID */
	/* Index of the owner's End SID, from the same block if there is one, or PFC_REMOTE_NONE; set by pfc_remotes_seal. */
	uint32_t end;
};
#define PFC_REMOTE_NONE UINT32_MAX

struct pfc_remotes {
	const struct pfc_remote *sid; /* sorted by pfc_remotes_seal; owned by the caller */
	uint32_t n;		      /* entries of sid */
};

/*
 * Make a table of `n` SIDs: sort them and find the End SID of each owner. The caller keeps ownership of the array,
 * which must outlive the table. Returns 0 or -ENOMEM.
 */
int pfc_remotes_seal(struct pfc_remotes *t, struct pfc_remote *sid, uint32_t n);

/*
 * Find the SID with which an address begins, by longest match. A SID of local meaning (no node bits: a function of the
 * local id block) is ambiguous without its node: `owner` is the node that the packet visited before it, or NULL.
 * Returns NULL if the SID is unknown, or if several nodes have it and `owner` does not decide.
 */
const struct pfc_remote *pfc_remote_find(const struct pfc_remotes *t, const struct ipv6_addr *a, const char *owner);

/* Is it a behaviour of draft-ruan (End.X.PFC), of any flavour? */
static inline bool pfc_behavior_pauses(uint16_t code)
{
	return code >= SRV6_END_X_PFC && code <= SRV6_END_X_PFC_NEXT_CSID;
}

/* Is it a plain End or uN, of any flavour? Such a SID identifies only the node. */
bool pfc_behavior_is_end(uint16_t code);

/* Is it a NEXT-CSID behaviour? Its argument holds further SIDs. */
bool pfc_behavior_is_next_csid(uint16_t code);

/* Reasons why no tunnel can be learnt from a data packet. */
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
	uint8_t n;  /* SIDs in sid */
	bool local; /* the last SID has local meaning: it is valid only after the SID before it */
	struct ipv6_addr sid[PFC_LIST_MAX]; /* in travel order, not packed into containers */
};

/*
 * Expand a full segment list of `n` entries, in travel order: split its containers into SIDs. Containers in an SRH are
 * not shifted, as the headend wrote them, so they can be split (docs/protocol.md 4.6).
 */
enum pfc_refusal pfc_expand(const struct pfc_remotes *t, const struct ipv6_addr *list, unsigned int n,
	struct pfc_list *out);

/*
 * Make the reverse list (docs/protocol.md 4.6): from the node that owns list[own] back to the nearest End.X.PFC before
 * it, over the End SIDs of the nodes in between (D33). Further SIDs of that upstream node are left out.
 */
enum pfc_refusal pfc_reverse(const struct pfc_remotes *t, const struct pfc_list *list, unsigned int own,
	struct pfc_list *out);

#endif
