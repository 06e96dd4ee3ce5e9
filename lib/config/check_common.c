/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that several check_*.c files share. Pure: they read the model and add to the list of messages. */
#include "config/check_priv.h"
#include "config/keys.h"

struct cfg_mark check_at(const struct config *c, const void *member, struct cfg_mark around)
{
	struct cfg_mark at = cfg_where(c, member);

	return at.line ? at : around;
}

void check_slice_by(const struct config *c, struct cfg_diags *d, const uint32_t *slice_by)
{
	bool any = false;

	for (uint32_t i = 0; i < c->slices.n; i++)
		any |= c->slices.items[i].id != 0;
	if (*slice_by == SLICE_BY_OPTION && !c->node.slice_option)
		cfg_diag_add(d, cfg_where(c, slice_by), "slice-by: option needs node.slice-option");
	else if (*slice_by && !any)
		cfg_diag_add(d, cfg_where(c, slice_by), "slice-by: no slice has an id; set id in slices");
}

void check_watchdog(const struct config *c, struct cfg_diags *d, const struct cfg_watchdog *w, bool relay)
{
	if (relay && (w->action == WATCHDOG_DROP || w->action == WATCHDOG_FORWARD))
		cfg_diag_add(d, cfg_where(c, &w->action),
			"action: a relay has no queue to drop from or to send; use release, alert or off");
	if (w->alarm_ms != CFG_NONE && w->detect_ms != CFG_NONE && w->alarm_ms >= w->detect_ms)
		cfg_diag_add(d, cfg_where(c, &w->alarm_ms), "alarm: %llu ms is not shorter than detect, %llu ms",
			(unsigned long long)w->alarm_ms, (unsigned long long)w->detect_ms);
}

void check_hmac_key(const struct config *c, struct cfg_diags *d, const char *name, const uint64_t *key)
{
	if (*key && !c->hmac.keys)
		cfg_diag_add(d, cfg_where(c, key), "%s: there is no key file; set hmac.keys", name);
	else if (*key && c->secrets && (*key > UINT32_MAX || !cfg_secret(c, (uint32_t)*key)))
		cfg_diag_add(d, cfg_where(c, key), "%s: there is no key %llu in %s", name, (unsigned long long)*key,
			c->hmac.keys);
}

void check_key_ids(const struct config *c, struct cfg_diags *d, const uint64_t *id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (id[i])
			check_hmac_key(c, d, "message-keys", &id[i]);
		else
			cfg_diag_add(d, cfg_where(c, &id[i]), "message-keys: no key has the id 0");
	}
}

void check_ranges(const struct config *c, struct cfg_diags *d, const char *what, const struct cfg_range *ranges,
	uint32_t n)
{
	const struct cfg_range *owner[64] = {NULL};

	for (uint32_t i = 0; i < n; i++) {
		const struct cfg_range *r = &ranges[i];
		uint64_t to = cfg_given(c, &r->to) ? r->to : r->from;

		if (to < r->from)
			cfg_diag_add(d, cfg_where(c, &r->to), "to: %llu is less than from, %llu",
				(unsigned long long)to, (unsigned long long)r->from);
		for (uint64_t v = r->from; v <= to; v++) {
			if (owner[v]) {
				cfg_diag_add(d, r->at, "%s %llu is also in the range of line %u", what,
					(unsigned long long)v, owner[v]->at.line);
				break;
			}
			owner[v] = r;
		}
	}
}
