/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placements and flow tables: made and replaced by the management thread, read by rx lcores. What is replaced is freed
 * after a grace period, as old snapshots are.
 */
#include "service/steer/steer_ctl.h"

#include <errno.h>

#include "base/aligned.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "config/placing.h"
#include "node/service.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

int steer_init(struct control_role *c, int socket)
{
	struct node_steer *st = new_aligned(sizeof(*st));

	c->node->state[SERVICE_STEER] = st;
	if (!st)
		return -ENOMEM;
	st->secret = (struct steer_secret){mix(c->node->seed + 1), mix(c->node->seed + 2)};
	return pair_init(c, socket);
}

static void free_retired(struct steer_retired *r)
{
	flow_table_free(r->table);
	placements_free_regions(r->gone);
	if (r->whole)
		placements_free(r->placements);
	else
		free(r->placements);
	feedback_free(r->feedback);
	free(r);
}

void steer_fini(struct control_role *c)
{
	struct node_steer *st = node_steer(c->node);
	struct steer_retired *r;
	struct steer_drained *d;

	if (!st)
		return;
	while ((r = st->retired)) {
		st->retired = r->next;
		free_retired(r);
	}
	while ((d = st->drained)) {
		st->drained = d->next;
		free(d);
	}
	for (unsigned int i = 0; i < NODE_MAX_ROLES; i++) {
		flow_table_free(st->rx[i].table);
		free(st->rx[i].feedback);
	}
	feedback_free(st->feedback);
	pair_free(st->pairs);
	placements_free(st->placements);
	place_store_clear(&st->store);
	free(st);
}

/* Free it after a grace period. If there is no memory to note that, it is never freed: too early would be worse. */
static void retire(struct node *n, const struct steer_retired *what)
{
	struct steer_retired *r = malloc(sizeof(*r));

	if (!r)
		return;
	*r = *what;
	r->next = node_steer(n)->retired;
	r->token = rte_rcu_qsbr_start(n->qsbr);
	node_steer(n)->retired = r;
}

void steer_tick(struct node *n)
{
	struct steer_retired **at = &node_steer(n)->retired, *r;

	feedback_tick(n);
	while ((r = *at)) {
		if (rte_rcu_qsbr_check(n->qsbr, r->token, false) != 1) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		free_retired(r);
	}
}

/* --- tables --- */

static void set_table(struct node *n, uint16_t rx, struct flow_table *t)
{
	struct steer_rx *r = &node_steer(n)->rx[rx];
	struct flow_table *old = r->table;

	__atomic_store_n(&r->table, t, __ATOMIC_RELEASE);
	if (old)
		retire(n, &(struct steer_retired){.table = old});
}

/* Tables of another size begin empty: flows get their places again, and their placements with them. */
static void make_tables(struct node *n)
{
	struct node_steer *st = node_steer(n);
	const struct snapshot *s = n->snapshot;
	unsigned int with = (s->roce ? FLOW_WITH_ROCE : 0) | (s->feedback ? FLOW_WITH_MOVES : 0);
	uint64_t idle_s = n->config->steering.idle_s;

	if (st->flows == s->flows && st->with == with && st->idle_s == idle_s)
		return;
	for (uint16_t i = 0; i < n->n_rx; i++) {
		struct flow_table *t = s->flows ? flow_table_new(s->flows, with, &st->secret, idle_s * NSEC_PER_SEC)
						: NULL;

		if (s->flows && !t)
			log_error(steer, "no memory for a flow table of %llu flows: they are distributed by hash",
				(unsigned long long)s->flows);
		set_table(n, i, t);
	}
	st->flows = s->flows;
	st->with = with;
	st->idle_s = idle_s;
}

uint64_t steer_memory(const struct config *c)
{
	uint64_t flows = 0;
	unsigned int with = 0;

	for (uint32_t i = 0; i < c->policies.n; i++) {
		flows += c->policies.items[i].flows;
		with |= c->policies.items[i].roce ? FLOW_WITH_ROCE : 0;
		with |= c->policies.items[i].feedback ? FLOW_WITH_MOVES : 0;
	}
	return flows ? (with & FLOW_WITH_ROCE ? sizeof(struct node_pairs) : 0) +
			       c->lcores.rx.n * (flow_table_memory(flows, with) +
							(with & FLOW_WITH_MOVES ? sizeof(struct feedback_rx) : 0) +
							(with & FLOW_WITH_ROCE ? sizeof(struct pair_rx) : 0))
		     : 0;
}

/* --- placements --- */

/* Ids of names, for many placements: the last one is remembered. */
struct resolver {
	const struct snapshot *s;
	char name[STEER_NAME];
	int id;
};

static int vrf_id(struct resolver *r, const char *name)
{
	if (!*name)
		return VRF_UNDERLAY;
	if (r->id >= 0 && strcmp(r->name, name) == 0)
		return r->id;
	r->id = -1;
	for (uint32_t i = 0; i < r->s->n_vrfs; i++)
		if (r->s->vrf[i].name && i != VRF_UNDERLAY && strcmp(r->s->vrf[i].name, name) == 0)
			r->id = (int)i;
	memcpy(r->name, name, strlen(name) + 1);
	return r->id;
}

/* The id of a path of the running configuration; STEER_REMOVED: there is none. */
static uint32_t path_id(const struct node *n, const char *policy, const char *path)
{
	int i = cfg_find_policy(n->config, policy), k = i < 0 ? -1 : cfg_find_path(&n->config->policies.items[i], path);

	return k < 0 ? STEER_REMOVED : n->snapshot->policy[i].path[k];
}

/* False: it leads nowhere now, because its VRF is gone. */
static bool resolve(const struct node *n, struct resolver *r, const struct place_wish *w, bool removed,
	struct placement_change *out)
{
	int vrf = vrf_id(r, w->vrf);

	if (vrf < 0)
		return false;
	out->to.key = w->key;
	out->to.key.vrf = (uint16_t)vrf;
	out->to.path = removed ? STEER_REMOVED : path_id(n, w->policy, w->path);
	out->to.pinned = w->pinned;
	out->to.serial = w->serial & INT32_MAX;
	out->hash = steer_hash(&out->to.key, &node_steer(n)->secret);
	return true;
}

static int publish(struct node *n, struct placements *old, struct placement_change *changes, size_t count)
{
	struct node_steer *st = node_steer(n);
	struct placements *p;
	void **gone;

	p = placements_change(old, changes, count, &st->secret, &gone);
	if (!p)
		return -ENOMEM;
	for (uint32_t i = 0; !old && st->placements && i < STEER_REGIONS; i++)
		p->version[i] = (uint16_t)(st->placements->version[i] + 1);
	retire(n, &(struct steer_retired){.placements = st->placements, .gone = gone, .whole = !old});
	__atomic_store_n(&st->placements, p, __ATOMIC_RELEASE);
	return 0;
}

/* Make the object of the data path again, from all that is wanted. */
static int publish_all(struct node *n)
{
	struct node_steer *st = node_steer(n);
	struct resolver r = {.s = n->snapshot, .id = -1};
	struct placement_change *changes;
	struct place_wish w;
	size_t count = 0;
	int rc;

	if (!st->store.n && !st->placements)
		return 0;
	changes = calloc(st->store.n + 1, sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	for (uint32_t i = 0; i < st->store.rows; i++) {
		if (!place_store_at(&st->store, i, &w) || !resolve(n, &r, &w, false, &changes[count]))
			continue;
		changes[count].order = (uint32_t)count;
		count += changes[count].to.path != STEER_REMOVED;
	}
	rc = publish(n, NULL, changes, count);
	free(changes);
	return rc;
}

static int publish_some(struct node *n, const struct place_wish *wishes, size_t count, bool removed)
{
	struct placement_change *changes = calloc(count + 1, sizeof(*changes));
	struct resolver r = {.s = n->snapshot, .id = -1};
	size_t found = 0;
	int rc;

	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (!resolve(n, &r, &wishes[i], removed, &changes[found]))
			continue;
		changes[found].to.serial = node_steer(n)->serial & INT32_MAX;
		changes[found].order = (uint32_t)found;
		found++;
	}
	rc = publish(n, node_steer(n)->placements, changes, found);
	free(changes);
	return rc;
}

static void next_serial(struct node_steer *st)
{
	st->serial = st->serial % INT32_MAX + 1;
}

int steer_place(struct node *n, const struct place_wish *wishes, size_t count, bool replace, size_t *wrong, char *err,
	size_t size)
{
	struct place_store *store = &node_steer(n)->store, fresh = {0}, old;
	int rc;

	next_serial(node_steer(n));
	store->serial = fresh.serial = node_steer(n)->serial;
	for (*wrong = 0; *wrong < count; (*wrong)++) {
		const struct place_wish *w = &wishes[*wrong];

		rc = cfg_may_place(n->config, &w->key, w->vrf, w->policy, w->path, err, size);
		if (rc < 0)
			return rc;
	}
	rc = place_store_reserve(replace ? &fresh : store, wishes, count);
	if (rc == 0 && !replace)
		rc = publish_some(n, wishes, count, false);
	for (size_t i = 0; rc == 0 && i < count; i++)
		place_store_put(replace ? &fresh : store, &wishes[i]);
	if (rc == 0 && replace) {
		old = *store;
		*store = fresh;
		rc = publish_all(n);
		fresh = rc < 0 ? *store : old;
		if (rc < 0)
			*store = old;
	}
	if (replace || rc < 0)
		place_store_clear(&fresh);
	if (rc < 0)
		return text_fail(err, size, rc,
			rc == -ENOSPC ? "more than %u placements" : "no memory for more than %u placements",
			rc == -ENOSPC ? PLACE_STORE_MAX : store->n);
	return 0;
}

int steer_unplace(struct node *n, const struct steer_key *key, const char *vrf)
{
	struct place_wish w;
	int rc;

	if (!place_store_find(&node_steer(n)->store, key, vrf, &w))
		return -ENOENT;
	rc = publish_some(n, &w, 1, true);
	if (rc == 0)
		place_store_remove(&node_steer(n)->store, key, vrf);
	return rc;
}

/* What a new configuration file says about flows counts; other placements stay. */
static int take_config(struct node *n)
{
	struct node_steer *st = node_steer(n);
	const struct config *c = n->config;
	struct place_wish *wishes;
	char err[128];
	int rc;

	if (st->config == c)
		return 0;
	st->config = c;
	if (!c->placements.n)
		return 0;
	wishes = calloc(c->placements.n, sizeof(*wishes));
	if (!wishes)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->placements.n; i++) {
		const struct cfg_placement *p = &c->placements.items[i];

		/* the check of the configuration has parsed it */
		steer_key_parse(p->flow, &wishes[i].key, wishes[i].vrf, err, sizeof(err));
		snprintf(wishes[i].policy, STEER_NAME, "%s", p->policy);
		snprintf(wishes[i].path, STEER_NAME, "%s", p->path);
		wishes[i].pinned = p->pinned;
	}
	rc = place_store_reserve(&st->store, wishes, c->placements.n);
	next_serial(st);
	for (uint32_t i = 0; rc == 0 && i < c->placements.n; i++) {
		struct place_wish was;
		bool same = place_store_find(&st->store, &wishes[i].key, wishes[i].vrf, &was) &&
			    !strcmp(was.policy, wishes[i].policy) && !strcmp(was.path, wishes[i].path);

		/* the same placement again is no new one: what feedback has moved stays where it is */
		st->store.serial = same ? was.serial : st->serial;
		place_store_put(&st->store, &wishes[i]);
	}
	free(wishes);
	return rc;
}

/* --- paths that are drained --- */

static bool is_ordered(const struct node_steer *st, uint32_t path)
{
	return st->is_drained[path / 64] >> path % 64 & 1;
}

static bool order(struct node_steer *st, uint32_t path, bool drained)
{
	uint32_t head = st->orders.head;

	if (is_ordered(st, path) == drained)
		return true;
	if (head - __atomic_load_n(&st->orders.tail, __ATOMIC_ACQUIRE) == STEER_ORDERS)
		return false;
	st->orders.order[head % STEER_ORDERS] = (struct steer_order){.path = path, .drained = drained};
	__atomic_store_n(&st->orders.head, head + 1, __ATOMIC_RELEASE);
	st->is_drained[path / 64] ^= 1ull << path % 64;
	return true;
}

static bool wants_drained(const struct node_steer *st, const struct snap_path *p)
{
	for (const struct steer_drained *d = st->drained; p->bytes && d; d = d->next)
		if (strcmp(d->policy, p->policy) == 0 && strcmp(d->path, p->name) == 0)
			return true;
	return false;
}

/* Ids may have another meaning now. */
static void order_all(struct node *n)
{
	struct node_steer *st = node_steer(n);
	bool ok = true;

	for (uint32_t i = 0; ok && i < SNAP_PATH_MAX; i++) {
		bool known = i < n->snapshot->n_paths;

		if (!known && !st->is_drained[i / 64]) {
			i |= 63;
			continue;
		}
		if (st->drained || is_ordered(st, i))
			ok = order(st, i, known && wants_drained(st, &n->snapshot->path[i]));
	}
	if (!ok)
		log_error(steer, "more than %u paths were drained at a time; drain them again", STEER_ORDERS);
}

static struct steer_drained **drained_at(struct node_steer *st, const char *policy, const char *path)
{
	struct steer_drained **at = &st->drained;

	while (*at && (strcmp((*at)->policy, policy) != 0 || strcmp((*at)->path, path) != 0))
		at = &(*at)->next;
	return at;
}

int steer_drain(struct node *n, const char *policy, const char *path, bool drain, char *err, size_t size)
{
	struct node_steer *st = node_steer(n);
	uint32_t id = path_id(n, policy, path);
	struct steer_drained **at = drained_at(st, policy, path), *d = *at;

	if (id == STEER_REMOVED)
		return text_fail(err, size, -ENOENT, "there is no path '%s' of a policy '%s'; see: show paths", path,
			policy);
	if (drain == (d != NULL))
		return 0;
	if (drain) {
		d = calloc(1, sizeof(*d));
		if (!d)
			return -ENOMEM;
		snprintf(d->policy, sizeof(d->policy), "%s", policy);
		snprintf(d->path, sizeof(d->path), "%s", path);
	}
	if (!order(st, id, drain)) {
		free(drain ? d : NULL);
		return text_fail(err, size, -EBUSY, "the control lcore has not taken %u orders yet; try again",
			STEER_ORDERS);
	}
	if (drain) {
		*at = d;
	} else {
		*at = d->next;
		free(d);
	}
	log_notice(steer, "policy %s: path %s: %s", policy, path,
		drain ? "drained; its flows take other paths" : "in use again");
	return 0;
}

/* --- a new snapshot --- */

void steer_published(struct node *n)
{
	struct feedback *old;
	int rc;

	rc = feedback_published(n, &old);
	if (rc < 0)
		log_error(steer, "no memory for feedback: flows stay on their paths");
	else if (old)
		retire(n, &(struct steer_retired){.feedback = old});
	rc = pair_published(n);
	if (rc < 0)
		log_error(steer, "no memory for pairs of hosts: what their receivers send back is not counted");
	make_tables(n);
	rc = take_config(n);
	if (rc == 0)
		rc = publish_all(n);
	if (rc < 0)
		log_error(steer, "placements: %s; those of the configuration before are in force", strerror(-rc));
	order_all(n);
}
