/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's side of neighbours; only *_init and *_fini may allocate. Worker lcores. */
#include "neigh/nbr.h"

#include <rte_hash.h>

struct key {
	uint8_t addr[16];
	uint16_t interface;
	uint16_t family;
};

static struct key key_of(uint16_t interface, const struct ip_addr *addr)
{
	struct key k = {.interface = interface, .family = addr->family};

	memcpy(k.addr, addr->b, ip_addr_bits(addr) / 8);
	return k;
}

uint32_t nbr_find(const struct nbr_table *t, uint16_t interface, const struct ip_addr *addr)
{
	struct key k = key_of(interface, addr);
	void *id;

	return rte_hash_lookup_data(t->by_addr, &k, &id) < 0 ? UINT32_MAX : (uint32_t)(uintptr_t)id;
}

static int hash_put(struct nbr_table *t, uint32_t id)
{
	struct key k = key_of(t->nbr[id].interface, &t->nbr[id].addr);

	return rte_hash_add_key_data(t->by_addr, &k, (void *)(uintptr_t)id);
}

static void hash_del(struct nbr_table *t, uint32_t id)
{
	struct key k = key_of(t->nbr[id].interface, &t->nbr[id].addr);

	if (nbr_find(t, t->nbr[id].interface, &t->nbr[id].addr) == id)
		rte_hash_del_key(t->by_addr, &k);
}

static void set_up(struct nbr *n, const struct snapshot *s, uint16_t interface, const struct ip_addr *addr)
{
	n->used_id = true;
	n->interface = interface;
	n->addr = *addr;
	nbr_set_state(n, NBR_UNKNOWN);
	n->is_static = n->confirm = false;
	n->mac.src = s->port[snap_port_of(interface)].mac;
}

void nbr_release(struct nbr_table *t, uint32_t id)
{
	struct nbr *n = &t->nbr[id];

	hash_del(t, id);
	n->used_id = false;
	nbr_set_state(n, NBR_UNKNOWN);
	if (id >= SNAP_NBR_MAX) {
		n->waiting.n = t->first_free;
		t->first_free = id;
	}
}

/* A configured next hop inherits the state learnt for the same address. */
static void adopt(struct nbr_table *t, uint32_t id, uint32_t learnt)
{
	struct nbr *n = &t->nbr[id], *from = &t->nbr[learnt];

	n->mac = from->mac;
	nbr_set_state(n, (enum nbr_state)from->state);
	n->waiting = from->waiting;
	from->waiting = (struct fifo){0};
	nbr_release(t, learnt);
}

static void become_static(struct nbr_table *t, uint32_t id, const struct eth_addr *mac, const struct nbr_sync *sync)
{
	struct nbr *n = &t->nbr[id];

	n->is_static = true;
	n->confirm = false;
	n->mac.dst = *mac;
	nbr_set_state(n, NBR_RESOLVED);
	if (n->waiting.n)
		sync->resolved(sync->arg, id);
}

/* A neighbour that was static stays usable until ND or ARP has confirmed or replaced its MAC. No packet has to wait. */
static void become_dynamic(struct nbr *n)
{
	n->is_static = false;
	n->confirm = true;
	if (n->state == NBR_RESOLVED)
		nbr_set_state(n, NBR_STALE);
}

/* A static neighbour that was removed from the configuration may still be an on-link destination. */
static void removed(struct nbr *n, const struct snapshot *s)
{
	become_dynamic(n);
	if (!snap_interface(s, n->interface))
		nbr_set_state(n, NBR_UNKNOWN);
}

static void sync_one(struct nbr_table *t, const struct snapshot *s, uint32_t id, const struct nbr_sync *sync)
{
	const struct snap_nbr *want = &s->nbr[id];
	struct nbr *n = &t->nbr[id];
	uint32_t learnt;

	if (!n->used_id || n->interface != want->interface || !ip_addr_equal(&n->addr, &want->addr)) {
		if (n->used_id)
			nbr_release(t, id);
		set_up(n, s, want->interface, &want->addr);
		learnt = nbr_find(t, want->interface, &want->addr);
		if (learnt != UINT32_MAX && learnt != id)
			adopt(t, id, learnt);
		hash_put(t, id);
	}
	if (want->is_static)
		become_static(t, id, &want->mac, sync);
	else if (n->is_static)
		become_dynamic(n);
}

void nbr_table_sync(struct nbr_table *t, const struct snapshot *s, const struct nbr_sync *sync)
{
	t->hold = (uint32_t)s->discovery.hold;
	for (uint32_t i = 0; i < s->n_nbrs; i++) {
		if (s->nbr[i].used && sync->owns[s->nbr[i].port])
			sync_one(t, s, i, sync);
		else if (!s->nbr[i].used && t->nbr[i].used_id && t->nbr[i].is_static)
			removed(&t->nbr[i], s);
	}
}

uint32_t nbr_lookup(struct nbr_table *t, const struct snapshot *s, uint16_t interface, const struct ip_addr *addr)
{
	uint32_t id = nbr_find(t, interface, addr);

	if (likely(id != UINT32_MAX))
		return id;
	id = t->first_free;
	if (id == UINT32_MAX || !snap_interface(s, interface))
		return UINT32_MAX;
	t->first_free = t->nbr[id].waiting.n;
	t->nbr[id].waiting = (struct fifo){0};
	set_up(&t->nbr[id], s, interface, addr);
	if (hash_put(t, id) < 0) {
		nbr_release(t, id);
		return UINT32_MAX;
	}
	return id;
}
