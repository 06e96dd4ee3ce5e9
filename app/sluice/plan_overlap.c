/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what the candidate paths of a policy have in common, for --check. Main thread, before the EAL starts. */
#include "config/overlap.h"
#include "plan.h"

struct printing {
	const struct cfg_policy *policy;
	FILE *out;
};

static void print_overlap(void *arg, const struct cfg_overlap *o)
{
	const struct printing *p = arg;

	if (o->kind == CFG_SHARED_LINK)
		return; /* the segment that it begins at is printed */
	fprintf(p->out, "  %s: ", p->policy->name);
	if (o->n == p->policy->paths.n)
		fprintf(p->out, "all paths");
	for (uint32_t k = 0, shown = 0; o->n < p->policy->paths.n && k < p->policy->paths.n; k++)
		if (o->same[k])
			fprintf(p->out, "%s%s", shown++ ? ", " : "", p->policy->paths.items[k].name);
	fprintf(p->out, " %s\n", o->text);
}

void plan_overlap_print(const struct config *c, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	FILE *out)
{
	struct printing p = {policy, out};

	cfg_overlap_each(c, own, policy, print_overlap, &p);
}
