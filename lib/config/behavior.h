/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SRv6 endpoint behaviours (RFC 8986 section 4, RFC 9800 section 4.1): name, required parameters and action of each. No
 * DPDK.
 */
#ifndef CONFIG_BEHAVIOR_H
#define CONFIG_BEHAVIOR_H

#include <stdbool.h>

#include "config/model.h"

/* The action on a packet at this SID. */
enum behavior_kind {
	KIND_END,   /* go to the next segment, by lookup */
	KIND_END_X, /* go to the next segment, over an adjacency */
	KIND_END_T, /* go to the next segment, by lookup in the SID's own table */
	KIND_DT,    /* decapsulate, then lookup in a table */
	KIND_DX,    /* decapsulate, then send over an adjacency */
	KIND_DX2,   /* decapsulate a frame, then send it by a port */
};

struct behavior_info {
	const char *name; /* as in the configuration */
	enum behavior_kind kind;
	bool compressed;     /* SID of the uSID block: block and 16-bit ids */
	bool inner4, inner6; /* KIND_DT, KIND_DX: allowed inner packets */
	bool pauses;	     /* ends PFC frames (draft-ruan section 2) */
	uint16_t code;	     /* IANA SRv6 Endpoint Behaviors, without flavours */
};

const struct behavior_info *behavior_info(enum cfg_behavior b);

/* Whether the behaviour may have PSP, USP and USD, so belongs to the End family. uA.PFC has one code point only. */
static inline bool behavior_has_flavors(enum cfg_behavior b)
{
	return behavior_info(b)->kind <= KIND_END_T && b != BEHAVIOR_UA_PFC;
}

/* Bits of cfg_flavor that the SID has: those configured, else the behaviour's default (uN and uA: PSP and USD). */
unsigned int behavior_flavors(const struct cfg_sid *sid);

/* IANA code point of a behaviour with flavours (bits of cfg_flavor). */
uint16_t behavior_code(enum cfg_behavior b, unsigned int flavors);

#define FLAVOR_BIT(f) (1u << (f))

#endif
