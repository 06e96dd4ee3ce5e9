/* SPDX-License-Identifier: BSD-3-Clause */
/* What each kind of message consists of (docs/credit.md 1.4 and 2.3), and the names of kinds and refusals. Pure. */
#include "rsvp/rsvp_priv.h"

/* What RFC 2961 section 4 lets every message have. */
#define INTEGRITY \
	{ \
		RSVP_O_INTEGRITY, 0, 1 \
	}
#define ACKS \
	{ \
		RSVP_O_ACK, 0, RSVP_MANY \
	}
#define HEAD \
	INTEGRITY, ACKS, \
	{ \
		RSVP_O_ID, 0, 1 \
	}
#define ONE(object) \
	{ \
		RSVP_O_##object, 1, 1 \
	}
#define MAYBE(object) \
	{ \
		RSVP_O_##object, 0, 1 \
	}
#define ANY(object) \
	{ \
		RSVP_O_##object, 0, RSVP_MANY \
	}
#define SOME(object) \
	{ \
		RSVP_O_##object, 1, RSVP_MANY \
	}
#define FLOWS ANY(FLOWSPEC), ANY(FILTER)

static const struct rsvp_part path[] = {HEAD, ONE(SESSION), ONE(HOP), ONE(TIME), ANY(POLICY), ONE(TEMPLATE), ONE(TSPEC),
	MAYBE(ADSPEC)};
static const struct rsvp_part resv[] = {HEAD, ONE(SESSION), ONE(HOP), ONE(TIME), MAYBE(CONFIRM), MAYBE(SCOPE),
	ANY(POLICY), ONE(STYLE), SOME(FLOWSPEC), ANY(FILTER)};
static const struct rsvp_part path_err[] = {HEAD, ONE(SESSION), ONE(ERROR), ANY(POLICY), MAYBE(TEMPLATE), MAYBE(TSPEC),
	MAYBE(ADSPEC)};
static const struct rsvp_part resv_err[] = {HEAD, ONE(SESSION), ONE(HOP), ONE(ERROR), MAYBE(SCOPE), ANY(POLICY),
	MAYBE(STYLE), FLOWS};
static const struct rsvp_part path_tear[] = {HEAD, ONE(SESSION), ONE(HOP), MAYBE(TEMPLATE), MAYBE(TSPEC),
	MAYBE(ADSPEC)};
static const struct rsvp_part resv_tear[] = {HEAD, ONE(SESSION), ONE(HOP), MAYBE(SCOPE), ONE(STYLE), FLOWS};
static const struct rsvp_part resv_conf[] = {HEAD, ONE(SESSION), ONE(ERROR), ONE(CONFIRM), ONE(STYLE), FLOWS};
static const struct rsvp_part ack[] = {INTEGRITY, SOME(ACK)};
static const struct rsvp_part srefresh[] = {HEAD, SOME(ID_LIST)};
static const struct rsvp_part challenge[] = {ONE(CHALLENGE)};
static const struct rsvp_part response[] = {ONE(INTEGRITY), ONE(CHALLENGE)};
static const struct rsvp_part init[] = {HEAD, ONE(SESSION), ONE(HOP), ONE(TIME), MAYBE(CBFC_HOP), MAYBE(CBFC_PATH),
	MAYBE(CBFC_OFFER), ANY(POLICY), ONE(TEMPLATE), ONE(TSPEC), MAYBE(ADSPEC)};
static const struct rsvp_part marker[] = {INTEGRITY, ACKS, ONE(SESSION), ONE(HOP), SOME(CBFC_HOP)};
static const struct rsvp_part reserve[] = {HEAD, ONE(SESSION), ONE(HOP), ONE(TIME), SOME(CREDIT), ANY(CBFC_OFFER),
	ANY(POLICY), ONE(STYLE), SOME(FLOWSPEC), SOME(FILTER)};
static const struct rsvp_part update[] = {HEAD, ONE(SESSION), ONE(HOP), MAYBE(TIME), SOME(CREDIT)};
static const struct rsvp_part end[] = {HEAD, ONE(SESSION), ONE(HOP), MAYBE(CBFC_HOP), ANY(POLICY), ONE(TEMPLATE)};
static const struct rsvp_part end_ack[] = {HEAD, ONE(SESSION), ONE(HOP), MAYBE(CREDIT), ONE(TEMPLATE)};

static const struct {
	const struct rsvp_part *part;
	unsigned int n;
} parts[RSVP_KIND_COUNT] = {
#define ROW(id, list) [RSVP_##id] = {list, ARRAY_LEN(list)}
	ROW(PATH, path), ROW(RESV, resv), ROW(PATH_ERR, path_err), ROW(RESV_ERR, resv_err), ROW(PATH_TEAR, path_tear),
	ROW(RESV_TEAR, resv_tear), ROW(RESV_CONF, resv_conf), ROW(ACK, ack), ROW(SREFRESH, srefresh),
	ROW(CHALLENGE, challenge), ROW(RESPONSE, response), ROW(INIT, init), ROW(MARKER, marker), ROW(RESERVE, reserve),
	ROW(UPDATE, update), ROW(END, end), ROW(END_ACK, end_ack)
#undef ROW
};

const struct rsvp_part *rsvp_parts_of(unsigned int kind, unsigned int *n)
{
	*n = kind < RSVP_KIND_COUNT ? parts[kind].n : 0;
	return *n ? parts[kind].part : NULL;
}

unsigned int rsvp_room_of(enum rsvp_object object)
{
	switch (object) {
	case RSVP_O_ACK:
		return RSVP_ACKS_MAX;
	case RSVP_O_ID_LIST:
		return RSVP_ID_LISTS_MAX;
	case RSVP_O_CREDIT:
		return RSVP_CREDITS_MAX;
	case RSVP_O_CBFC_HOP:
		return RSVP_CBFC_HOPS_MAX;
	case RSVP_O_CBFC_OFFER:
		return RSVP_OFFERS_MAX;
	case RSVP_O_POLICY:
		return RSVP_PASSED_MAX;
	case RSVP_O_FLOWSPEC:
	case RSVP_O_FILTER:
		return RSVP_FLOWS_MAX;
	default:
		return 1;
	}
}

const char *rsvp_kind_name(unsigned int kind)
{
	static const char *const names[] = {
#define X(id, name) name,
		RSVP_KINDS(X)
#undef X
	};

	return kind < RSVP_KIND_COUNT ? names[kind] : "?";
}

const char *rsvp_refusal_name(enum rsvp_refusal refusal)
{
	static const char *const names[] = {"accepted",
#define X(kind, name, shown, unit, metric, help) #name,
		RSVP_REFUSALS(X)
#undef X
	};

	return refusal < RSVP_REFUSAL_COUNT ? names[refusal] : "?";
}
