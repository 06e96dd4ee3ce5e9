/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of letter mode: sessions, what they have promised and what they have, and the tables for them. Control lcore. */
#include <stdlib.h>

#include "rsvp/rsvp_letter_priv.h"

const struct letter_config letter_config_default = {.sessions_max = 1024,
	.refresh_ms = 30000,
	.keep = 3,
	.rapid_ms = 500,
	.rapid_max = 3,
	.repeat_max_ms = 30000,
	.idle_ms = 100,
	.lease_ms = 1000,
	.heartbeat_ms = 1000,
	.grant_mb = 16,
	.rate = 10000};

struct letter_node *letter_new(const struct letter_config *c, const struct letter_ops *ops, void *arg, uint64_t seed)
{
	struct letter_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->config = *c;
	n->ops = ops;
	n->arg = arg;
	n->random = seed;
	n->salt = rsvp_splitmix64(&seed);
	n->id_epoch = (uint32_t)(seed >> 8) & 0xffffff;
	n->by_slot = calloc(c->sessions_max, sizeof(*n->by_slot));
	n->free_slot = calloc(c->sessions_max, sizeof(*n->free_slot));
	for (uint32_t i = 0; n->free_slot && i < c->sessions_max; i++)
		n->free_slot[i] = c->sessions_max - 1 - i;
	if (n->by_slot && n->free_slot)
		return n;
	letter_free(n);
	return NULL;
}

static uint32_t hash(const struct letter_node *n, const struct rsvp_session *session, const struct rsvp_sender *sender)
{
	uint64_t h = n->salt ^ session->port ^ (uint64_t)sender->port << 16;

	for (unsigned int i = 0; i < sizeof(session->dst.b); i++)
		h = (h ^ session->dst.b[i] ^ (uint64_t)sender->src.b[i] << 8) * 0x100000001b3ull;
	return (uint32_t)(h ^ h >> 32) % LETTER_BUCKETS;
}

struct letter_session *letter_session_of(const struct letter_node *n, const struct rsvp_message *m)
{
	struct letter_session *s = n->by_key[hash(n, &m->session, &m->sender)];

	while (s && (s->zone != m->zone || !rsvp_session_equal(&s->session, &m->session) ||
			    !rsvp_sender_equal(&s->sender, &m->sender)))
		s = s->next_key;
	return s;
}

struct letter_session *letter_session_below(const struct letter_node *n, const struct rsvp_message *m)
{
	struct letter_session *s = m->count[RSVP_O_TEMPLATE] ? n->by_key[hash(n, &m->session, &m->sender)] : NULL;

	while (s &&
		(!s->branches || s->branches->way.zone != m->zone || !rsvp_session_equal(&s->session, &m->session) ||
			!rsvp_sender_equal(&s->sender, &m->sender)))
		s = s->next_key;
	return s;
}

struct letter_session *letter_session_new(struct letter_node *n, uint16_t zone, const struct rsvp_session *session,
	const struct rsvp_sender *sender)
{
	struct letter_session *s, **at = &n->by_key[hash(n, session, sender)];

	if (n->stats.sessions == n->config.sessions_max)
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->zone = zone;
	s->session = *session;
	s->sender = *sender;
	s->ttl = UINT8_MAX;
	s->slot = n->free_slot[n->config.sessions_max - n->stats.sessions - 1];
	n->by_slot[s->slot] = s;
	s->next_key = *at;
	*at = s;
	n->stats.sessions++;
	return s;
}

bool letter_keep_passed(struct letter_node *n, struct letter_session *s, const struct rsvp_message *m)
{
	size_t objects = rsvp_passed_bytes(m), adspec = m->count[RSVP_O_ADSPEC] ? m->adspec.bytes : 0;
	uint8_t *room;

	if (objects + adspec > RSVP_PASSED_BYTES_MAX) {
		n->stats.not_passed++;
		objects = adspec = 0;
	}
	room = objects + adspec ? malloc(objects + adspec) : NULL;
	free(s->passed);
	s->passed = room;
	s->object_bytes = room ? (uint16_t)objects : 0;
	s->adspec_bytes = room ? (uint16_t)adspec : 0;
	if (!room)
		return objects + adspec == 0;
	rsvp_passed_copy(room, m);
	if (adspec)
		memcpy(room + objects, m->adspec.at, adspec);
	return true;
}

static void begin_timers(struct letter_timers *t, bool of_branch)
{
	t->of_branch = of_branch;
	for (unsigned int i = 0; i < LETTER_TIMERS; i++)
		t->due[i] = TIME_NEVER;
}

void letter_timer_set(struct letter_node *n, struct letter_timers *t, enum letter_timer_kind kind, uint64_t at)
{
	uint64_t first = TIME_NEVER;

	t->due[kind] = at;
	for (unsigned int i = 0; i < LETTER_TIMERS; i++)
		first = MIN_OF(first, t->due[i]);
	if (first == TIME_NEVER)
		timers_cancel(&n->wheel, &t->timer);
	else
		timers_set(&n->wheel, &t->timer, first);
}

struct letter_grant *letter_grant_new(struct letter_session *s, const struct ip_addr *phop)
{
	struct letter_grant *g = calloc(1, sizeof(*g)), **last = &s->grants;

	if (!g)
		return NULL;
	begin_timers(&g->timers, false);
	g->session = s;
	g->phop = *phop;
	g->selected = !s->grants;
	while (*last)
		last = &(*last)->next;
	*last = g;
	return g;
}

struct letter_branch *letter_branch_of(const struct letter_node *n, uint32_t lih)
{
	struct letter_branch *b = n->by_lih[(lih >> 8) % LETTER_BUCKETS];

	while (b && b->lih != lih)
		b = b->next_lih;
	return b;
}

struct letter_branch *letter_branch_new(struct letter_node *n, struct letter_session *s, const struct rsvp_way *way)
{
	struct letter_branch *b = aligned_alloc(CACHE_LINE_BYTES, sizeof(*b)), **last = &s->branches, **at;

	if (!b)
		return NULL;
	memset(b, 0, sizeof(*b));
	begin_timers(&b->timers, true);
	b->session = s;
	b->way = *way;
	do {
		b->lih = n->handle << 8 | (way->port + 1u);
		n->handle = (n->handle + 1) & 0xffffff;
	} while (letter_branch_of(n, b->lih));
	at = &n->by_lih[(b->lih >> 8) % LETTER_BUCKETS];
	b->next_lih = *at;
	*at = b;
	while (*last)
		last = &(*last)->next;
	*last = b;
	return b;
}

void letter_grant_free(struct letter_node *n, struct letter_grant *g)
{
	struct letter_grant **at = &g->session->grants;

	timers_cancel(&n->wheel, &g->timers.timer);
	while (*at != g)
		at = &(*at)->next;
	*at = g->next;
	free(g);
}

void letter_branch_free(struct letter_node *n, struct letter_branch *b)
{
	struct letter_branch **at = &b->session->branches;

	if (n->ops->gone)
		n->ops->gone(n->arg, b->session, &b->way);
	timers_cancel(&n->wheel, &b->timers.timer);
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	for (at = &n->by_lih[(b->lih >> 8) % LETTER_BUCKETS]; *at != b;)
		at = &(*at)->next_lih;
	*at = b->next_lih;
	free(b);
}

static void session_free(struct letter_node *n, struct letter_session *s)
{
	struct letter_session **at = &n->by_key[hash(n, &s->session, &s->sender)];

	if (n->ops->gone)
		n->ops->gone(n->arg, s, NULL);
	while (*at != s)
		at = &(*at)->next_key;
	*at = s->next_key;
	n->by_slot[s->slot] = NULL;
	n->free_slot[n->config.sessions_max - n->stats.sessions] = s->slot;
	n->stats.sessions--;
	free(s->passed);
	free(s);
}

void letter_sweep(struct letter_node *n, struct letter_session *s)
{
	if (!s->grants && !s->branches && !s->wanted)
		session_free(n, s);
	else if (n->ops->shown)
		n->ops->shown(n->arg, s);
}

void letter_free(struct letter_node *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; n->by_slot && n->free_slot && i < n->config.sessions_max; i++) {
		struct letter_session *s = n->by_slot[i];

		if (!s)
			continue;
		while (s->grants)
			letter_grant_free(n, s->grants);
		while (s->branches)
			letter_branch_free(n, s->branches);
		session_free(n, s);
	}
	while (n->heard) {
		struct letter_heard *h = n->heard;

		n->heard = h->next;
		free(h);
	}
	free(n->by_slot);
	free(n->free_slot);
	free(n);
}

void letter_set(struct letter_node *n, const struct letter_config *c)
{
	uint32_t sessions_max = n->config.sessions_max;

	n->config = *c;
	n->config.sessions_max = sessions_max;
}

/* Only permitted neighbours are heard, so there are few. */
struct credit_letter_ids *letter_ids_of(struct letter_node *n, uint16_t zone, const struct ip_addr *addr)
{
	struct letter_heard *h = n->heard;

	while (h && (h->zone != zone || !ip_addr_equal(&h->addr, addr)))
		h = h->next;
	if (h)
		return &h->ids;
	h = calloc(1, sizeof(*h));
	if (!h)
		return NULL;
	h->addr = *addr;
	h->zone = zone;
	h->next = n->heard;
	n->heard = h;
	return &h->ids;
}

struct letter_session *letter_at(const struct letter_node *n, uint32_t slot)
{
	return slot < n->config.sessions_max ? n->by_slot[slot] : NULL;
}

uint32_t letter_slot(const struct letter_session *s)
{
	return s->slot;
}

const struct letter_stats *letter_stats_of(const struct letter_node *n)
{
	return &n->stats;
}

static const struct letter_branch *shown_of(const struct letter_session *s)
{
	return s->current ? s->current : s->branches;
}

const struct rsvp_way *letter_way_of(const struct letter_session *s)
{
	const struct letter_branch *b = shown_of(s);

	return b ? &b->way : NULL;
}

void letter_show(const struct letter_session *s, struct rsvp_path_view *out)
{
	const struct letter_branch *b = shown_of(s);
	const struct letter_grant *g = s->grants;

	*out = (struct rsvp_path_view){.session = s->session,
		.sender = s->sender,
		.role = s->role,
		.current = b && b == s->current,
		.traffic_class = RSVP_CLASS_ALL,
		.unit = 20,
		.error = s->error};
	if (g) {
		out->grantor = g->state;
		out->phop = g->phop;
		out->phop_lih = g->lih;
		out->grant_units = g->mb;
	}
	if (b) {
		out->user = b->state;
		out->port = b->way.port;
		out->nhop = b->nhop;
		out->lih = b->lih;
		out->credit_units = b->gate.open ? b->mb : 0;
		out->fccl = b->gate.limit;
	}
}

size_t letter_bytes_of_session(void)
{
	return sizeof(struct letter_session) + sizeof(struct letter_grant) + sizeof(struct letter_branch);
}
