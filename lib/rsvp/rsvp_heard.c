/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MESSAGE_IDs: those that neighbours have sent for paths, by which they refresh them (RFC 2961 sections 4.5, 5), and sums of what
 * a refresh must not change. Control lcore.
 */
#include "rsvp/rsvp_node_priv.h"

static uint32_t *bucket_of(const struct rsvp_node *n, uint32_t epoch, uint32_t id)
{
	uint64_t h = ((uint64_t)epoch << 32 | id) * 0x9e3779b97f4a7c15ull;

	return &n->by_heard[rsvp_bucket((uint32_t)(h >> 32), n->buckets)];
}

static uint32_t link_of(struct rsvp_heard *heard)
{
	return rsvp_link_of(rsvp_heard_path(heard)) << 1 | heard->down;
}

static struct rsvp_heard *linked(const struct rsvp_node *n, uint32_t link)
{
	struct rsvp_path *p = rsvp_linked(n, link >> 1);

	if (!p)
		return NULL;
	return link & 1 ? &p->heard_down : &p->heard_up;
}

void rsvp_heard_forget(struct rsvp_node *n, struct rsvp_heard *heard)
{
	uint32_t *at, link = link_of(heard);

	if (!heard->listed)
		return;
	for (at = bucket_of(n, heard->epoch, heard->id); *at != link;)
		at = &linked(n, *at)->next;
	*at = heard->next;
	heard->listed = false;
}

void rsvp_heard_set(struct rsvp_node *n, struct rsvp_heard *heard, const struct rsvp_message *m)
{
	uint32_t *at;

	if (!m->count[RSVP_O_ID])
		return;
	rsvp_heard_forget(n, heard);
	heard->epoch = m->id.epoch;
	heard->id = m->id.id;
	at = bucket_of(n, heard->epoch, heard->id);
	heard->next = *at;
	heard->listed = true;
	*at = link_of(heard);
}

/* A smaller id of the same epoch is out of order (RFC 2961 section 4.5); another one is taken note of. */
bool rsvp_heard_late(struct rsvp_node *n, struct rsvp_heard *heard, const struct rsvp_message *m)
{
	if (!m->count[RSVP_O_ID])
		return false;
	if (heard->listed && heard->epoch == m->id.epoch && (int32_t)(heard->id - m->id.id) > 0)
		return true;
	rsvp_heard_set(n, heard, m);
	return false;
}

struct rsvp_path *rsvp_heard_path(struct rsvp_heard *h)
{
	return h->down ? TIMER_OWNER(h, struct rsvp_path, heard_down) : TIMER_OWNER(h, struct rsvp_path, heard_up);
}

/* Is it an id of that neighbour? The message of it came from where the neighbour is. */
static bool is_from(const struct rsvp_heard *h, const struct rsvp_path *p, uint16_t zone, const struct ip_addr *from)
{
	return (h->down ? rsvp_way_of(p)->zone : p->instance->zone) == zone &&
	       ip_addr_equal(h->down ? p->nhop : p->phop, from);
}

struct rsvp_heard *rsvp_heard_find(const struct rsvp_node *n, uint16_t zone, const struct ip_addr *from, uint32_t epoch,
	uint32_t id)
{
	uint32_t link = *bucket_of(n, epoch, id);
	struct rsvp_heard *h;

	for (; link; link = h->next) {
		h = linked(n, link);
		if (h->epoch == epoch && h->id == id && is_from(h, rsvp_linked(n, link >> 1), zone, from))
			return h;
	}
	return NULL;
}

/* FNV-1a, over what a refresh repeats */
static uint32_t sum(uint32_t h, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < bytes; i++)
		h = (h ^ at[i]) * 16777619u;
	return h;
}

static uint32_t sum_offer(uint32_t h, const struct rsvp_cbfc_offer *o)
{
	h = sum(h, &o->buffer, sizeof(o->buffer));
	h = sum(h, &o->rate, sizeof(o->rate));
	h = sum(h, &o->delay_us, sizeof(o->delay_us));
	return sum(h, &o->hops, sizeof(o->hops));
}

uint32_t rsvp_sum_of(const struct rsvp_message *m)
{
	uint32_t h = sum(2166136261u, &m->refresh_ms, sizeof(m->refresh_ms));

	for (unsigned int i = 0; i < m->count[RSVP_O_CBFC_OFFER]; i++)
		h = sum_offer(h, &m->offer[i]);
	for (unsigned int i = 0; i < m->count[RSVP_O_POLICY]; i++)
		h = sum(h, m->passed[i].at, m->passed[i].bytes);
	for (unsigned int i = 0; i < m->count[RSVP_O_CREDIT]; i++)
		h = sum(h, &m->credit[i].buffer, sizeof(m->credit[i].buffer));
	if (m->count[RSVP_O_ADSPEC])
		h = sum(h, m->adspec.at, m->adspec.bytes);
	if (m->count[RSVP_O_CBFC_PATH])
		h = sum(h, m->path.addrs, m->path.hops * sizeof(*m->path.addrs));
	return sum(h, &m->tspec.depth, sizeof(m->tspec.depth));
}
