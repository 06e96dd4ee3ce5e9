/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the candidate paths of a policy have in common, for --check. What all of them end with, the far node and its
 * function, is left out: no other choice of paths would change it. Main thread, before the EAL starts.
 */
#include <stdlib.h>
#include <string.h>

#include "config/program.h"
#include "config/ways.h"
#include "plan.h"

/* Segments at the end that are the same in all paths. */
static uint32_t common_end(const struct cfg_policy *policy)
{
	const struct cfg_path *first = &policy->paths.items[0];
	uint32_t n = first->segments.n;

	for (uint32_t k = 1; k < policy->paths.n; k++) {
		const struct cfg_path *p = &policy->paths.items[k];
		uint32_t same = 0;

		while (same < n && same < p->segments.n &&
			ip_addr_equal(&p->segments.items[p->segments.n - 1 - same],
				&first->segments.items[first->segments.n - 1 - same]))
			same++;
		n = same;
	}
	return n;
}

static bool has_segment(const struct cfg_path *p, uint32_t end, const struct ip_addr *sid)
{
	for (uint32_t i = 0; i + end < p->segments.n; i++)
		if (ip_addr_equal(&p->segments.items[i], sid))
			return true;
	return false;
}

/* The only port that a path leaves by; NULL: several, or none. */
static const char *only_port(const struct config *c, const struct cfg_own_sids *own, const struct cfg_path *p)
{
	struct cfg_program program;
	struct cfg_way way;
	const char *why;

	if (cfg_program(c, own, p, &program, &why) < 0 || !cfg_way_out(c, &program, &way) || way.more)
		return NULL;
	return way.port;
}

/* The paths `same` of a policy have something in common, unless it is one path only. */
static void print_shared(const struct cfg_policy *policy, const bool *same, const char *what, const char *name,
	FILE *out)
{
	unsigned int n = 0;

	for (uint32_t k = 0; k < policy->paths.n; k++)
		n += same[k];
	if (n < 2)
		return;
	fprintf(out, "  %s: ", policy->name);
	if (n == policy->paths.n)
		fprintf(out, "all paths");
	for (uint32_t k = 0, shown = 0; n < policy->paths.n && k < policy->paths.n; k++)
		if (same[k])
			fprintf(out, "%s%s", shown++ ? ", " : "", policy->paths.items[k].name);
	fprintf(out, " %s %s\n", what, name);
}

static void print_shared_ports(const struct config *c, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	const char **port, bool *same, FILE *out)
{
	for (uint32_t i = 0; i < policy->paths.n; i++)
		port[i] = only_port(c, own, &policy->paths.items[i]);
	for (uint32_t i = 0; i < policy->paths.n; i++) {
		bool seen = !port[i];

		for (uint32_t k = 0; k < policy->paths.n; k++) {
			same[k] = port[i] && port[k] && strcmp(port[i], port[k]) == 0;
			seen |= same[k] && k < i;
		}
		if (!seen)
			print_shared(policy, same, "leave by", port[i], out);
	}
}

static void print_shared_segments(const struct cfg_policy *policy, uint32_t i, uint32_t end, bool *same, FILE *out)
{
	const struct cfg_path *p = &policy->paths.items[i];
	char text[IP_ADDR_TEXT];

	for (uint32_t n = 0; n + end < p->segments.n; n++) {
		bool seen = false;

		for (uint32_t k = 0; k < policy->paths.n; k++) {
			same[k] = has_segment(&policy->paths.items[k], end, &p->segments.items[n]);
			seen |= same[k] && k < i;
		}
		if (!seen)
			print_shared(policy, same, "pass", ip_addr_format(&p->segments.items[n], text), out);
	}
}

void plan_overlap_print(const struct config *c, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	FILE *out)
{
	const char **port = calloc(policy->paths.n, sizeof(*port));
	bool *same = calloc(policy->paths.n, sizeof(*same));

	if (port && same && policy->paths.n > 1) {
		print_shared_ports(c, own, policy, port, same, out);
		for (uint32_t i = 0; i < policy->paths.n; i++)
			print_shared_segments(policy, i, common_end(policy), same, out);
	}
	free(port);
	free(same);
}
