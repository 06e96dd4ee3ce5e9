/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic that ports admit into the SR domain, and the keys that authenticate it (RFC 8754 sections 2.1.2 and 5).
 */
#include <errno.h>

#include "config/config.h"
#include "config/keys.h"
#include "snapshot/build_priv.h"
#include "snapshot/pfc_outer.h"

int build_keys(struct builder *b)
{
	const struct cfg_secrets *secrets = b->config->secrets;
	struct snapshot *s = b->s;
	struct hmac_key *key;

	if (!secrets)
		return 0;
	s->key = key = arena_alloc_secret(s->arena, (secrets->n + 1) * sizeof(*key));
	if (!key)
		return build_fail(b, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < secrets->n; i++)
		hmac_prepare(&key[s->n_keys++], secrets->key[i].id, secrets->key[i].key, secrets->key[i].bytes,
			b->config->hmac.profile == HMAC_LINUX);
	return 0;
}

void build_sources_closed(struct snap_interface *p)
{
	/* addresses in a VRF belong to the tenant, even when they look like addresses of the domain */
	p->sources_closed = p->side == SIDE_DC && p->vrf == VRF_UNDERLAY && !p->any_source;
}

int build_port_boundary(struct builder *b, struct snap_interface *p, const struct cfg_port *cp)
{
	struct snap_match *m = arena_alloc(b->s->arena, (cp->allow_sids.n + 1) * sizeof(*m));

	if (!m)
		return build_fail(b, -ENOMEM, "out of memory");
	p->sids_closed = cp->side != SIDE_WAN;
	p->hmac = cp->hmac == HMAC_REQUIRED;
	p->allow_sids = m;
	for (uint32_t i = 0; i < cp->allow_sids.n; i++)
		build_match(&m[p->n_allow_sids++], &cp->allow_sids.items[i]);
	for (uint32_t i = 0; i < cp->boundary_off.n; i++) {
		if (cp->boundary_off.items[i] == BOUNDARY_SIDS)
			p->sids_closed = false;
		else
			p->any_source = true;
	}
	build_sources_closed(p);
	return 0;
}

/* Write the HMAC TLV of a path. The text that it covers is the same for all packets of the path. */
int build_hmac(struct builder *b, uint32_t key_id, const struct ipv6_addr *src, struct srh *srh)
{
	const struct hmac_key *key = snap_hmac_key(b->s, key_id);

	if (key) {
		snap_write_hmac(key, src, srh);
		return 0;
	}
	return build_fail(b, -EINVAL, "there is no HMAC key %u", key_id);
}
