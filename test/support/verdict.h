/* SPDX-License-Identifier: BSD-3-Clause */
/* Two verdicts on one packet: the express lane of classification and the general way must agree. */
#ifndef TEST_VERDICT_H
#define TEST_VERDICT_H

#include <string.h>

#include "pkt/pkt.h"

#define VERDICT_DIFFERS(condition, member) \
	do { \
		if ((condition) && memcmp(&a->member, &b->member, sizeof(a->member))) \
			return #member; \
	} while (0)

/* The name of a member that counts and is different, or NULL. */
static inline const char *verdict_differs(const struct pkt *a, const struct pkt *b)
{
	bool goes_on = a->verdict == PKT_FORWARD;

	VERDICT_DIFFERS(true, verdict);
	VERDICT_DIFFERS(true, epoch);
	VERDICT_DIFFERS(true, tclass);
	VERDICT_DIFFERS(true, trace);
	VERDICT_DIFFERS(true, vrf);
	VERDICT_DIFFERS(a->verdict == PKT_DROP, reason);
	VERDICT_DIFFERS(a->verdict == PKT_PUNT, punt);
	VERDICT_DIFFERS(a->verdict != PKT_PUNT || a->punt != PUNT_ERROR, sid);
	VERDICT_DIFFERS(goes_on, kind);
	VERDICT_DIFFERS(goes_on, neigh);
	VERDICT_DIFFERS(goes_on, hash);
	VERDICT_DIFFERS(goes_on, strip);
	VERDICT_DIFFERS(goes_on, ops);
	VERDICT_DIFFERS(goes_on, hops);
	VERDICT_DIFFERS(goes_on, family);
	VERDICT_DIFFERS(goes_on, l3_bytes);
	VERDICT_DIFFERS(goes_on && a->ops & PKT_OP_DA, da);
	VERDICT_DIFFERS(goes_on && a->ops & PKT_OP_ENCAP, path);
	VERDICT_DIFFERS(goes_on && a->ops & PKT_OP_TOS, tos);
	VERDICT_DIFFERS(goes_on && a->ops & PKT_OP_SL, segments_left);
	return NULL;
}

#endif
