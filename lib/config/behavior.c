/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of SRv6 endpoint behaviours: name, IANA code point, flavours and parameters (RFC 8986 section 4 and 10.2,
 * RFC 9800 section 4.1). Pure.
 */
#include "config/behavior.h"

const struct behavior_info *behavior_info(enum cfg_behavior b)
{
	static const struct behavior_info table[BEHAVIOR_COUNT] = {
		[BEHAVIOR_UN] = {"uN", KIND_END, true, .code = 43},
		[BEHAVIOR_UA] = {"uA", KIND_END_X, true, .code = 52},
		/* RFC 9800 gives those at the end of a container no code points of their own */
		[BEHAVIOR_UDT4] = {"uDT4", KIND_DT, true, .inner4 = true, .code = 19},
		[BEHAVIOR_UDT6] = {"uDT6", KIND_DT, true, .inner6 = true, .code = 18},
		[BEHAVIOR_UDT46] = {"uDT46", KIND_DT, true, .inner4 = true, .inner6 = true, .code = 20},
		[BEHAVIOR_UDX4] = {"uDX4", KIND_DX, true, .inner4 = true, .code = 17},
		[BEHAVIOR_UDX6] = {"uDX6", KIND_DX, true, .inner6 = true, .code = 16},
		[BEHAVIOR_UDX2] = {"uDX2", KIND_DX2, true, .code = 21},
		[BEHAVIOR_END] = {"End", KIND_END, .code = 1},
		[BEHAVIOR_END_X] = {"End.X", KIND_END_X, .code = 5},
		[BEHAVIOR_END_T] = {"End.T", KIND_END_T, .code = 9},
		[BEHAVIOR_END_DT4] = {"End.DT4", KIND_DT, .inner4 = true, .code = 19},
		[BEHAVIOR_END_DT6] = {"End.DT6", KIND_DT, .inner6 = true, .code = 18},
		[BEHAVIOR_END_DT46] = {"End.DT46", KIND_DT, .inner4 = true, .inner6 = true, .code = 20},
		[BEHAVIOR_END_DX4] = {"End.DX4", KIND_DX, .inner4 = true, .code = 17},
		[BEHAVIOR_END_DX6] = {"End.DX6", KIND_DX, .inner6 = true, .code = 16},
		[BEHAVIOR_END_DX2] = {"End.DX2", KIND_DX2, .code = 21},
		/* draft-ruan-spring-priority-flow-control-sid-02; private use numbers (D30) */
		[BEHAVIOR_END_X_PFC] = {"End.X.PFC", KIND_END_X, .pauses = true, .code = 0x8100},
		[BEHAVIOR_UA_PFC] = {"uA.PFC", KIND_END_X, true, .pauses = true, .code = 0x8104},
	};

	return &table[b];
}

unsigned int behavior_flavors(const struct cfg_sid *sid)
{
	unsigned int bits = 0;

	if (!sid->flavors.n && behavior_info((enum cfg_behavior)sid->behavior)->compressed &&
		behavior_has_flavors((enum cfg_behavior)sid->behavior))
		return FLAVOR_BIT(FLAVOR_PSP) | FLAVOR_BIT(FLAVOR_USD);
	for (uint32_t i = 0; i < sid->flavors.n; i++)
		if (sid->flavors.items[i] != FLAVOR_NONE)
			bits |= FLAVOR_BIT(sid->flavors.items[i]);
	return bits;
}

uint16_t behavior_code(enum cfg_behavior b, unsigned int flavors)
{
	const struct behavior_info *info = behavior_info(b);

	if (!behavior_has_flavors(b))
		return info->code;
	/*
	 * Eight numbers in the order of the bits PSP, USP, USD. Those of RFC 8986 with USD came later: 28 to 39 for
	 * what begins with 1, 5 and 9.
	 */
	if (info->compressed || flavors < FLAVOR_BIT(FLAVOR_USD))
		return (uint16_t)(info->code + flavors);
	return (uint16_t)(info->code + flavors + 23);
}
