/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks flow tables and placements of flows. Pure. */
#include <string.h>

#include "config/check_priv.h"
#include "config/placing.h"

#define FLOWS_MAX (16u << 20) /* of all policies together, on each rx lcore */

/* Light in fibre: 5 us a kilometre. */
#define NS_PER_KM 5000

/* Flows move between the paths that are not backups. Nobody has said by how much the delays of these differ. */
static void check_gap(const struct config *c, struct cfg_diags *d, const struct cfg_policy *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->paths.n; i++)
		n += !p->paths.items[i].backup;
	if (!p->feedback || n < 2 || cfg_given(c, &c->steering.gap_ns))
		return;
	cfg_diag_warn(d, cfg_where(c, &p->feedback),
		"feedback: flows that move keep their order if the delays of the paths of '%s' differ by less than "
		"steering.gap, %llu us, "
		"which is %llu km of fibre; set it to more than they differ by",
		p->name, (unsigned long long)(c->steering.gap_ns / NSEC_PER_USEC),
		(unsigned long long)(c->steering.gap_ns / NS_PER_KM));
}

static void check_tables(const struct config *c, struct cfg_diags *d)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->policies.n; i++) {
		const struct cfg_policy *p = &c->policies.items[i];

		sum += p->flows;
		if (p->flows && (p->encap == ENCAP_H_ENCAPS_L2 || p->encap == ENCAP_H_ENCAPS_L2_RED))
			cfg_diag_add(d, cfg_where(c, &p->flows),
				"flows: frames have no flows to place; leave it out, or use H.Encaps or H.Encaps.Red");
		if (p->roce && !p->flows)
			cfg_diag_add(d, cfg_where(c, &p->roce), "roce: PSNs are kept with the flows; set flows, too");
		if (p->feedback && !p->flows)
			cfg_diag_add(d, cfg_where(c, &p->feedback),
				"feedback: flows move one by one, out of a flow table; set flows, too");
		check_gap(c, d, p);
		if (sum - p->flows <= FLOWS_MAX && sum > FLOWS_MAX)
			cfg_diag_add(d, cfg_where(c, &p->flows), "flows: all policies together have %llu, more than %u",
				(unsigned long long)sum, FLOWS_MAX);
	}
}

static void check_placement(const struct config *c, struct cfg_diags *d, const struct cfg_placement *p)
{
	struct steer_key key;
	char vrf[STEER_NAME], err[256];
	int rc = steer_key_parse(p->flow, &key, vrf, err, sizeof(err));

	if (rc < 0)
		cfg_diag_add(d, cfg_where(c, &p->flow), "flow: %s", err);
	else if (cfg_find_policy(c, p->policy) >= 0 &&
		 cfg_may_place(c, &key, vrf, p->policy, p->path, err, sizeof(err)) < 0)
		cfg_diag_add(d, cfg_where(c, &p->flow), "%s", err);
}

void check_steering(const struct config *c, struct cfg_diags *d)
{
	check_tables(c, d);
	for (uint32_t i = 0; i < c->placements.n; i++)
		check_placement(c, d, &c->placements.items[i]);
}
