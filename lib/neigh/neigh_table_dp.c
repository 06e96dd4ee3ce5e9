/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's side of neighbours; only *_init and *_fini may allocate. Worker lcores. */
#include "neigh/neigh_table.h"

#include <rte_hash.h>

struct key {
	uint8_t addr[16];
	uint16_t interface;
	uint16_t family;
};

static struct key neigh_table_key_of(uint16_t interface, const struct ip_addr *addr)
{
	struct key k = {.interface = interface, .family = addr->family};

	memcpy(k.addr, addr->b, ip_addr_bits(addr) / 8);
	return k;
}

uint32_t neigh_table_find(const struct neigh_table *t, uint16_t interface, const struct ip_addr *addr)
{
	struct key k = neigh_table_key_of(interface, addr);
	void *id;

	return rte_hash_lookup_data(t->by_addr, &k, &id) < 0 ? UINT32_MAX : (uint32_t)(uintptr_t)id;
}

static int neigh_table_hash_put(struct neigh_table *t, uint32_t id)
{
	struct key k = neigh_table_key_of(t->neigh[id].interface, &t->neigh[id].addr);

	return rte_hash_add_key_data(t->by_addr, &k, (void *)(uintptr_t)id);
}

static void neigh_table_hash_del(struct neigh_table *t, uint32_t id)
{
	struct key k = neigh_table_key_of(t->neigh[id].interface, &t->neigh[id].addr);

	if (neigh_table_find(t, t->neigh[id].interface, &t->neigh[id].addr) == id)
		rte_hash_del_key(t->by_addr, &k);
}

static bool neigh_table_is_apart(const struct snapshot *s, uint16_t interface)
{
	return snap_is_vlan(interface) || s->port[interface].dscp_out;
}

static void neigh_table_set_up(struct neigh_entry *n, const struct snapshot *s, uint16_t interface,
	const struct ip_addr *addr)
{
	__atomic_store_n(&n->used_id, true, __ATOMIC_RELAXED);
	n->interface = interface;
	n->addr = *addr;
	n->apart = neigh_table_is_apart(s, interface);
	neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
	n->is_static = n->confirm = false;
	n->mac.src = s->port[snap_interface_of(interface)].mac;
}

void neigh_table_release(struct neigh_table *t, uint32_t id)
{
	struct neigh_entry *n = &t->neigh[id];

	neigh_table_hash_del(t, id);
	__atomic_store_n(&n->used_id, false, __ATOMIC_RELAXED);
	neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
	if (id >= SNAP_NEIGH_MAX) {
		n->waiting.n = t->first_free;
		t->first_free = id;
	}
}

static struct neigh_share *neigh_table_share(const struct neigh_table *t, uint32_t interface)
{
	return &t->share[snap_is_vlan(interface) ? MAX_PORTS + interface / SNAP_INTERFACE_ROW : interface];
}

bool neigh_table_may_hold(const struct neigh_table *t, uint32_t id)
{
	return neigh_table_share(t, t->neigh[id].interface)->held + t->lossy < t->hold_total;
}

uint32_t neigh_table_oldest(const struct neigh_table *t, uint32_t id)
{
	return neigh_table_share(t, t->neigh[id].interface)->oldest;
}

static void neigh_table_list(struct neigh_table *t, uint32_t id)
{
	struct neigh_share *share = neigh_table_share(t, t->neigh[id].interface);
	struct neigh_entry *n = &t->neigh[id];

	n->older = share->newest;
	n->newer = NEIGH_NONE;
	*(share->newest == NEIGH_NONE ? &share->oldest : &t->neigh[share->newest].newer) = id;
	share->newest = id;
}

static void neigh_table_unlist(struct neigh_table *t, uint32_t id)
{
	struct neigh_share *share = neigh_table_share(t, t->neigh[id].interface);
	struct neigh_entry *n = &t->neigh[id];

	*(n->older == NEIGH_NONE ? &share->oldest : &t->neigh[n->older].newer) = n->newer;
	*(n->newer == NEIGH_NONE ? &share->newest : &t->neigh[n->newer].older) = n->older;
}

void neigh_table_hold(struct neigh_table *t, uint32_t id, struct rte_mbuf *m)
{
	struct neigh_entry *n = &t->neigh[id];

	if (!pkt_of(m)->lossless) {
		neigh_table_share(t, n->interface)->held++;
		t->lossy++;
	}
	fifo_push(&n->waiting, m);
	if (n->waiting.n == 1 && id >= SNAP_NEIGH_MAX)
		neigh_table_list(t, id);
	stat_level(t->held, t->held + 1);
}

struct rte_mbuf *neigh_table_unhold(struct neigh_table *t, uint32_t id)
{
	struct neigh_entry *n = &t->neigh[id];
	struct rte_mbuf *m = fifo_pop(&n->waiting);

	if (!pkt_of(m)->lossless) {
		neigh_table_share(t, n->interface)->held--;
		t->lossy--;
	}
	if (!n->waiting.n && id >= SNAP_NEIGH_MAX)
		neigh_table_unlist(t, id);
	stat_level(t->held, t->held - 1);
	return m;
}

/* A configured next hop inherits the state learnt for the same address. */
static void neigh_table_adopt(struct neigh_table *t, uint32_t id, uint32_t learnt)
{
	struct neigh_entry *n = &t->neigh[id], *from = &t->neigh[learnt];

	n->mac = from->mac;
	neigh_entry_set_state(n, (enum neigh_entry_state)from->state);
	if (from->waiting.n)
		neigh_table_unlist(t, learnt);
	n->waiting = from->waiting;
	from->waiting = (struct fifo){0};
	neigh_table_release(t, learnt);
}

static void neigh_table_become_static(struct neigh_table *t, uint32_t id, const struct eth_addr *mac,
	const struct neigh_sync *sync)
{
	struct neigh_entry *n = &t->neigh[id];

	n->is_static = true;
	n->confirm = false;
	n->mac.dst = *mac;
	neigh_entry_set_state(n, NEIGH_ENTRY_RESOLVED);
	if (n->waiting.n)
		sync->resolved(sync->arg, id);
}

/* A neighbour that was static stays usable until ND or ARP has confirmed or replaced its MAC. No packet has to wait. */
static void neigh_table_become_dynamic(struct neigh_entry *n)
{
	n->is_static = false;
	n->confirm = true;
	if (n->state == NEIGH_ENTRY_RESOLVED)
		neigh_entry_set_state(n, NEIGH_ENTRY_STALE);
}

/* A static neighbour that was removed from the configuration may still be an on-link destination. */
static void neigh_table_removed(struct neigh_entry *n, const struct snapshot *s)
{
	neigh_table_become_dynamic(n);
	if (!snap_interface(s, n->interface))
		neigh_entry_set_state(n, NEIGH_ENTRY_UNKNOWN);
}

static void neigh_table_sync_one(struct neigh_table *t, const struct snapshot *s, uint32_t id,
	const struct neigh_sync *sync)
{
	const struct snap_neigh *want = &s->neigh[id];
	struct neigh_entry *n = &t->neigh[id];
	uint32_t learnt;

	if (!n->used_id || n->interface != want->interface || !ip_addr_equal(&n->addr, &want->addr)) {
		if (n->used_id)
			neigh_table_release(t, id);
		neigh_table_set_up(n, s, want->interface, &want->addr);
		learnt = neigh_table_find(t, want->interface, &want->addr);
		if (learnt != UINT32_MAX && learnt != id)
			neigh_table_adopt(t, id, learnt);
		neigh_table_hash_put(t, id);
	}
	if (want->is_static)
		neigh_table_become_static(t, id, &want->mac, sync);
	else if (n->is_static)
		neigh_table_become_dynamic(n);
}

/* Ports have begun or ceased to map the DSCPs of what they send. */
static void neigh_table_sync_apart(struct neigh_table *t, const struct snapshot *s)
{
	uint32_t mapped = 0;

	for (uint32_t i = 0; i < MAX_PORTS; i++)
		mapped |= (uint32_t)(s->port[i].dscp_out != NULL) << i;
	if (mapped == t->mapped)
		return;
	t->mapped = mapped;
	for (uint32_t id = 0; id < t->n; id++) {
		struct neigh_entry *n = &t->neigh[id];

		if (!n->used_id)
			continue;
		n->apart = neigh_table_is_apart(s, n->interface);
		neigh_entry_set_state(n, (enum neigh_entry_state)n->state);
	}
}

void neigh_table_sync(struct neigh_table *t, const struct snapshot *s, const struct neigh_sync *sync)
{
	t->hold = s->discovery.hold;
	neigh_table_sync_apart(t, s);
	for (uint32_t i = 0; i < s->n_neighs; i++) {
		if (s->neigh[i].used && sync->owns[s->neigh[i].port])
			neigh_table_sync_one(t, s, i, sync);
		else if (!s->neigh[i].used && t->neigh[i].used_id && t->neigh[i].is_static)
			neigh_table_removed(&t->neigh[i], s);
	}
}

uint32_t neigh_table_lookup(struct neigh_table *t, const struct snapshot *s, uint16_t interface,
	const struct ip_addr *addr)
{
	uint32_t id = neigh_table_find(t, interface, addr);

	if (likely(id != UINT32_MAX))
		return id;
	id = t->first_free;
	if (id == UINT32_MAX || !snap_interface(s, interface))
		return UINT32_MAX;
	t->first_free = t->neigh[id].waiting.n;
	t->neigh[id].waiting = (struct fifo){0};
	neigh_table_set_up(&t->neigh[id], s, interface, addr);
	if (neigh_table_hash_put(t, id) < 0) {
		neigh_table_release(t, id);
		return UINT32_MAX;
	}
	return id;
}
