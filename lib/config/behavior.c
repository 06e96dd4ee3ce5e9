/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of SRv6 endpoint behaviours: name, IANA code point, flavours and parameters (RFC 8986 section 4 and 10.2,
 * RFC 9800 section 4.1). Pure.
 */
#include "config/behavior.h"

const struct behavior_info *behavior_info(enum cfg_behavior b)
{
	static const struct behavior_info table[BEHAVIOR_COUNT] = {
#define X(id, name_, kind_, properties, code_) \
	[BEHAVIOR_##id] = {.name = (name_), \
		.kind = KIND_##kind_, \
		.compressed = ((properties)&BEHAVIOR_COMPRESSED) != 0, \
		.inner4 = ((properties)&BEHAVIOR_INNER4) != 0, \
		.inner6 = ((properties)&BEHAVIOR_INNER6) != 0, \
		.pauses = ((properties)&BEHAVIOR_PAUSES) != 0, \
		.code = (code_)},
		BEHAVIORS(X)
#undef X
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
	 * Eight numbers in the order of the bits PSP, USP, USD. In RFC 8986 the combinations with USD have separate
	 * numbers: 28 to 39 for the behaviours whose numbers begin at 1, 5 and 9.
	 */
	if (info->compressed || flavors < FLAVOR_BIT(FLAVOR_USD))
		return (uint16_t)(info->code + flavors);
	return (uint16_t)(info->code + flavors + 23);
}
