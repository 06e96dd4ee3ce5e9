/* SPDX-License-Identifier: BSD-3-Clause */
/* The boundary of the SR domain: drops packets that may not enter the SID space (RFC 8754 section 5). rx lcores. */
#include "classify/classify_priv.h"

bool classify_proven(struct walk *w, const struct snap_sid *sid, struct srv6_packet *p, struct srv6_error *e)
{
	struct srv6_hmac h = {.key = w->s->key, .n = w->s->n_keys};

	if (!srv6_walk(p)) {
		*e = (struct srv6_error){.reason = p->failure};
		return false;
	}
	return srv6_verify_hmac(&h, sid, p, e);
}

static bool classify_allowed_sid(const struct snap_interface *in, uint64_t hi, uint64_t lo)
{
	for (unsigned int i = 0; i < in->n_allow_sids; i++)
		if (snap_match_has(&in->allow_sids[i], hi, lo))
			return true;
	return false;
}

/* Are the destination and all segments in allow-sids of the port? */
static bool classify_all_allowed(const struct snap_interface *in, const struct srv6_packet *p)
{
	const struct srh *srh = (const struct srh *)(p->frame + p->srh);

	if (!classify_allowed_sid(in, p->da_hi, p->da_lo) || (p->srh && (int)srh->last_entry > srh_max_last_entry(srh)))
		return false;
	for (unsigned int i = 0; p->srh && i <= srh->last_entry; i++)
		if (!classify_allowed_sid(in, ipv6_hi(&srh->segment[i]), ipv6_lo(&srh->segment[i])))
			return false;
	return true;
}

bool classify_may_enter(struct walk *w, uint32_t at, uint64_t hi, uint64_t lo)
{
	struct srv6_packet p = classify_packet_at(w, at);
	struct srv6_error e;

	if (w->in->side != SIDE_HOST) {
		classify_drop(w, DROP_boundary_drop);
		return false;
	}
	p.da_hi = hi;
	p.da_lo = lo;
	if (!srv6_walk(&p)) {
		classify_drop(w, p.failure);
		return false;
	}
	if (classify_all_allowed(w->in, &p))
		return true;
	if (!w->in->hmac)
		classify_drop(w, DROP_host_sid);
	else if (classify_proven(w, NULL, &p, &e))
		return true;
	else
		classify_drop_for(w, &e);
	return false;
}
