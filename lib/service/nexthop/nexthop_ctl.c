/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the events of links, next hops and paths to the log. Management thread. */
#include <stdio.h>

#include "base/log.h"
#include "service/nexthop/nexthop.h"

const char *nexthop_causes(unsigned int causes, char *buf, size_t size)
{
	static const char *const words[] = {
#define X(name, word) word,
		LIVENESS_CAUSES(X)
#undef X
	};
	size_t n = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < LIVENESS_CAUSE_COUNT && n < size; i++)
		if (causes >> i & 1)
			n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", words[i]);
	return buf;
}

void nexthop_life_copy(const struct node *n, uint32_t object, struct nexthop_life *out)
{
	const struct nexthop_life *l = &node_nexthops(n)->life[object];

#define COPY(field) out->field = __atomic_load_n(&l->field, __ATOMIC_RELAXED)
	COPY(causes);
	COPY(last);
	COPY(downs);
	COPY(since);
	COPY(failed);
	COPY(down_ns);
	COPY(returned);
	COPY(hold_ns);
	COPY(held_until);
#undef COPY
}

unsigned int nexthop_causes_of_way(const struct snapshot *s, target_t via)
{
	const struct snap_group *g;
	unsigned int best, causes;

	if (target_kind(via) != TARGET_GROUP)
		return liveness_of_nexthop(s, via);
	g = &s->group[target_index(via)];
	best = liveness_of_nexthop(s, g->member[0]);
	for (unsigned int i = 1; i < g->n; i++) {
		causes = liveness_of_nexthop(s, g->member[i]);
		if (liveness_grade(causes) > liveness_grade(best))
			best = causes;
	}
	return best;
}

enum liveness_grade nexthop_path_grade(const struct snapshot *s, uint32_t path)
{
	return MIN_OF(liveness_grade(liveness_of_path(s, path)), liveness_of_way(s, s->path[path].via));
}

bool nexthop_path_carries(const struct snapshot *s, const struct snap_policy *policy, uint32_t path)
{
	enum liveness_grade best[2] = {LIVENESS_IS_DEAD, LIVENESS_IS_DEAD}, grade = nexthop_path_grade(s, path);
	bool backup = s->path[path].backup;

	for (uint32_t k = 0; k < policy->n_paths; k++) {
		const struct snap_path *p = &s->path[policy->path[k]];

		best[p->backup] = MAX_OF(best[p->backup], nexthop_path_grade(s, policy->path[k]));
	}
	return grade != LIVENESS_IS_DEAD && grade == best[backup] && (backup ? best[0] < best[1] : best[0] >= best[1]);
}

/* "link wan0", "next hop wan0 fe80::2", "path to-dc2 direct" */
static void name_object(const struct node *n, uint32_t object, char *buf, size_t size)
{
	const struct snapshot *s = n->snapshot;
	char addr[IP_ADDR_TEXT];
	uint32_t id = object - NEXTHOP_FIRST_NEIGH;

	switch (nexthop_kind(object)) {
	case NEXTHOP_PORT:
		snprintf(buf, size, "link %s", n->port[object]->name);
		return;
	case NEXTHOP_NEIGH:
		if (id < s->n_neighs && snap_interface(s, s->neigh[id].interface))
			snprintf(buf, size, "next hop %s %s", snap_interface(s, s->neigh[id].interface)->name,
				ip_addr_format(&s->neigh[id].addr, addr));
		else
			snprintf(buf, size, "next hop %u (removed)", id);
		return;
	case NEXTHOP_PATH:
		id = object - NEXTHOP_FIRST_PATH;
		if (id < s->n_paths && s->path[id].name)
			snprintf(buf, size, "path %s %s", s->path[id].policy, s->path[id].name);
		else
			snprintf(buf, size, "path %u (removed)", id);
		return;
	}
}

/* Times in the log are those of the line; the event itself says how long before it happened. */
static void write_event(const struct node *n, const struct nexthop_event *e, uint64_t now)
{
	char who[160], why[96];
	uint64_t ago = now > e->at ? (now - e->at) / NSEC_PER_USEC : 0;

	name_object(n, e->object, who, sizeof(who));
	nexthop_causes(e->causes, why, sizeof(why));
	switch ((enum nexthop_event_kind)e->kind) {
	case NEXTHOP_DOWN:
		log_warning(failover, "%s: down (%s), %llu us ago; its traffic takes other ways", who, why,
			(unsigned long long)ago);
		break;
	case NEXTHOP_RETURNS:
		log_notice(failover, "%s: works again (was: %s), %llu us ago; used after a hold-down of %llu ms", who,
			why, (unsigned long long)ago, (unsigned long long)(e->ns / NSEC_PER_MSEC));
		break;
	case NEXTHOP_UP:
		log_notice(failover, "%s: in use again, %llu us ago; it was out of use for %llu us", who,
			(unsigned long long)ago, (unsigned long long)(e->ns / NSEC_PER_USEC));
		break;
	}
}

void nexthop_tick(struct node *n)
{
	struct node_nexthops *s = node_nexthops(n);
	uint32_t end = __atomic_load_n(&s->written, __ATOMIC_ACQUIRE);
	uint64_t now = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);

	for (; s->read != end; __atomic_store_n(&s->read, s->read + 1, __ATOMIC_RELEASE))
		write_event(n, &s->event[s->read % NEXTHOP_EVENTS], now);
}
