/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the state of feedback for a snapshot, writes the log of moves, and reads what is shown. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "base/log.h"
#include "config/config.h"
#include "node/service.h"
#include "service/steer/steer_ctl.h"

static uint8_t bucket_to(const struct snap_policy *p, uint32_t path)
{
	for (unsigned int i = 0; i < SNAP_POLICY_BUCKETS; i++)
		if (p->bucket[i] == path)
			return (uint8_t)i;
	return FLOW_BY_HASH;
}

static void fill_policy(struct feedback_policy *f, const struct node *n, uint32_t index,
	const struct path_control_rules *rules, uint64_t now)
{
	const struct snapshot *s = n->snapshot;
	const struct snap_policy *p = &s->policy[index];

	f->index = index;
	for (uint32_t i = 0; i < p->n_paths && f->n < PATH_CONTROL_PATHS; i++) {
		if (s->path[p->path[i]].backup)
			continue;
		f->path[f->n] = p->path[i];
		f->bucket[f->n++] = bucket_to(p, p->path[i]);
	}
	for (unsigned int k = 0; k < FLOW_CLASSES; k++)
		path_control_init(&f->of[k].control, rules, f->n, n->seed + index * FLOW_CLASSES + k, now);
}

static int make_rx(struct node *n)
{
	for (uint16_t i = 0; i < n->n_rx; i++) {
		struct steer_rx *r = &node_steer(n)->rx[i];
		struct feedback_rx *fresh;

		if (r->feedback)
			continue;
		fresh = new_aligned(sizeof(*fresh));
		if (!fresh)
			return -ENOMEM;
		__atomic_store_n(&r->feedback, fresh, __ATOMIC_RELEASE);
	}
	return 0;
}

int feedback_published(struct node *n, struct feedback **old)
{
	struct node_steer *st = node_steer(n);
	const struct cfg_steering *c = &n->config->steering;
	const struct path_control_rules rules = {.interval_ns = c->interval_ns,
		.hold_ns = FEEDBACK_PATH_HOLD * c->interval_ns,
		.floor = FEEDBACK_AT_LIMIT,
		.margin = (uint32_t)c->margin,
		.share = (uint32_t)c->share,
		.jitter = FEEDBACK_JITTER};
	uint64_t now = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);
	struct feedback *f = NULL;
	uint32_t count = 0;

	*old = st->feedback;
	for (uint32_t i = 0; i < n->snapshot->n_policies; i++)
		count += n->snapshot->policy[i].feedback;
	if (count) {
		f = new_aligned(sizeof(*f) + count * sizeof(f->policy[0]));
		if (f)
			f->mark = calloc(n->n_ports, sizeof(*f->mark));
		if (!f || !f->mark || make_rx(n) < 0) {
			feedback_free(f);
			*old = NULL;
			return -ENOMEM;
		}
		f->generation = n->snapshot->generation;
		f->interval_ns = c->interval_ns;
		f->queue_limit_ns = c->queue_limit_ns;
		f->credit_limit_ns = c->credit_limit_ns;
		f->pause_limit = (uint32_t)c->pause_limit * 10;
		for (uint32_t i = 0; i < n->snapshot->n_policies; i++)
			if (n->snapshot->policy[i].feedback)
				fill_policy(&f->policy[f->n_policies++], n, i, &rules, now);
	}
	__atomic_store_n(&st->gap_ns, c->gap_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&st->feedback, f, __ATOMIC_RELEASE);
	return 0;
}

void feedback_free(struct feedback *f)
{
	if (f)
		free(f->mark);
	free(f);
}

/* --- the log --- */

const char *feedback_reason(uint8_t reason)
{
	static const char *const words[] = {"", "congested", "no credit", "failed"};

	return reason < ARRAY_LEN(words) ? words[reason] : "";
}

static const char *name_of(const struct snapshot *s, uint32_t path)
{
	return path < s->n_paths && s->path[path].name ? s->path[path].name : "(removed)";
}

static void write_event(const struct node *n, const struct feedback_event *e, uint64_t now)
{
	const struct snapshot *s = n->snapshot;
	char text[STEER_TEXT];

	log_info(steer, "policy %s: %s: from path %s (%s, score %u) to %s (score %u), %llu us ago",
		e->from < s->n_paths && s->path[e->from].policy ? s->path[e->from].policy : "(removed)",
		steer_key_format(&e->key, steer_vrf_name(s, e->key.vrf), text), name_of(s, e->from),
		feedback_reason(e->reason), e->from_score, name_of(s, e->to), e->to_score,
		(unsigned long long)(now > e->at ? (now - e->at) / NSEC_PER_USEC : 0));
}

/* All paths have failed, or one is alive again. */
static void write_alarm(const struct node *n, struct feedback_policy *p)
{
	const char *name = n->snapshot->policy[p->index].name;
	bool none = false;

	for (unsigned int k = 0; k < FLOW_CLASSES; k++)
		none |= __atomic_load_n(&p->of[k].none_left, __ATOMIC_RELAXED);
	if (none == p->told_none_left)
		return;
	p->told_none_left = none;
	if (none)
		log_error(steer,
			"policy %s: all paths that flows may be placed on have failed; flows take what is left, by "
			"hash: see "
			"show paths",
			name);
	else
		log_notice(steer, "policy %s: a path that flows may be placed on works again", name);
}

void feedback_tick(struct node *n)
{
	struct node_steer *st = node_steer(n);
	uint64_t now = __atomic_load_n(&n->control->now, __ATOMIC_RELAXED);
	struct feedback *f = st->feedback;

	for (uint32_t i = 0; f && f->generation == n->snapshot->generation && i < f->n_policies; i++)
		write_alarm(n, &f->policy[i]);
	for (uint16_t i = 0; i < n->n_rx; i++) {
		struct feedback_rx *r = st->rx[i].feedback;
		uint32_t end = r ? __atomic_load_n(&r->written, __ATOMIC_ACQUIRE) : 0;

		for (; r && r->read != end; __atomic_store_n(&r->read, r->read + 1, __ATOMIC_RELEASE))
			write_event(n, &r->event[r->read % FEEDBACK_EVENTS], now);
	}
}

/* --- what is shown --- */

static const struct feedback_policy *policy_of(const struct node *n, uint32_t path, uint32_t *which)
{
	const struct feedback *f = node_steer(n)->feedback;

	for (uint32_t i = 0; f && f->generation == n->snapshot->generation && i < f->n_policies; i++)
		for (uint32_t k = 0; k < f->policy[i].n; k++)
			if (f->policy[i].path[k] == path) {
				*which = k;
				return &f->policy[i];
			}
	return NULL;
}

static uint64_t sum_of(const struct node *n, uint32_t path, unsigned int class, size_t member)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_rx; i++) {
		const struct flow_table *t = node_steer(n)->rx[i].table;

		if (t && t->by_class)
			sum += stat_read(
				(const uint64_t *)(const void *)((const char *)flow_class(t, path, class) + member));
	}
	return sum;
}

bool feedback_show(const struct node *n, uint32_t path, struct feedback_shown *out)
{
	uint32_t which;
	const struct feedback_policy *p = policy_of(n, path, &which);
	uint32_t most = 0;

	*out = (struct feedback_shown){.last_path = STEER_NO_PATH};
	if (!p)
		return false;
	for (unsigned int k = 0; k < FLOW_CLASSES; k++) {
		const struct path_score *s = &p->of[k].control.path[which];
		uint32_t flows = 0;

		for (uint32_t i = 0; i < p->n; i++)
			flows += __atomic_load_n(&p->of[k].control.path[i].last.flows, __ATOMIC_RELAXED);
		out->left += sum_of(n, path, k, offsetof(struct flow_class, left));
		out->came += sum_of(n, path, k, offsetof(struct flow_class, came));
		out->dead |= __atomic_load_n(&p->of[k].none_left, __ATOMIC_RELAXED);
		if (k && flows <= most)
			continue;
		most = flows;
		out->class = (uint8_t)k;
		out->last = *s;
		out->score = s->score;
		out->last_path = s->reason ? p->path[s->reason_path] : STEER_NO_PATH;
	}
	return true;
}
