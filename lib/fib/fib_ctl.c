/* SPDX-License-Identifier: BSD-3-Clause */
/* Building, sharing and freeing tables: the management thread. fib_priv.h describes what is built. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/compiler.h"
#include "base/numa.h"
#include "fib/fib_priv.h"

#define HUGE_PAGE (2u << 20)

/* A table being built. Nodes and leaves are named by number, for the arrays move as they grow. */
struct maker {
	const struct fib_route *route;
	struct fib_node *node;
	target_t *leaf;
	uint32_t n_nodes, node_room, n_leaves, leaf_room;
	bool failed; /* out of memory, or of numbers */
};

/* One value of the bits that a node or the direct table looks at. */
struct slot {
	target_t leaf;	   /* longest match among the routes that end within these bits */
	uint32_t first, n; /* the longer routes below it */
};

struct key {
	uint64_t hi, lo; /* left-aligned */
};

static struct key key_of(const struct ip_prefix *p)
{
	be64_t half[2];

	if (p->addr.family == 4)
		return (struct key){.hi = (uint64_t)ip_addr_v4(&p->addr) << 32};
	memcpy(half, p->addr.b, sizeof(half));
	return (struct key){.hi = be64_get(half[0]), .lo = be64_get(half[1])};
}

/* 64 bits of the key from bit `at` on; zeros follow its end. */
static uint64_t bits_from(struct key k, unsigned int at)
{
	if (at >= 64)
		return at >= 128 ? 0 : k.lo << (at - 64);
	return at ? k.hi << at | k.lo >> (64 - at) : k.hi;
}

static unsigned int common_bits(const struct ip_prefix *a, const struct ip_prefix *b)
{
	struct key x = key_of(a), y = key_of(b);

	if (x.hi != y.hi)
		return (unsigned int)__builtin_clzll(x.hi ^ y.hi);
	return x.lo != y.lo ? 64 + (unsigned int)__builtin_clzll(x.lo ^ y.lo) : 128;
}

/* Numbers for `n` more items of `size` bytes; the first of them. */
static uint32_t reserve(struct maker *m, void *array, size_t size, uint32_t *used, uint32_t *room, uint32_t n)
{
	uint32_t first = *used;
	void **items = array;

	if (n >= FIB_IS_NODE - *used) {
		m->failed = true;
		return 0;
	}
	if (*used + n > *room) {
		uint32_t more = MAX_OF(*used + n, *room * 2);
		void *grown = realloc(*items, (size_t)more * size);

		if (!grown) {
			m->failed = true;
			return 0;
		}
		*items = grown;
		*room = more;
	}
	*used += n;
	return first;
}

static uint32_t reserve_nodes(struct maker *m, uint32_t n)
{
	return reserve(m, &m->node, sizeof(*m->node), &m->n_nodes, &m->node_room, n);
}

static void add_leaf(struct maker *m, target_t t)
{
	uint32_t at = reserve(m, &m->leaf, sizeof(*m->leaf), &m->n_leaves, &m->leaf_room, 1);

	if (!m->failed)
		m->leaf[at] = t;
}

/*
 * Spread `n` routes, all longer than `depth` bits, over the slots of the next `bits` bits. A route comes before those
 * inside it, so a later one may overwrite what an earlier one filled in.
 */
static void spread(const struct maker *m, uint32_t first, uint32_t n, unsigned int depth, unsigned int bits,
	target_t inherited, struct slot *slot)
{
	for (uint32_t i = 0; i < 1u << bits; i++)
		slot[i] = (struct slot){.leaf = inherited};
	for (uint32_t i = first; i < first + n; i++) {
		const struct ip_prefix *p = &m->route[i].prefix;
		uint64_t at = bits_from(key_of(p), depth) >> 1 >> (63 - bits);

		if (p->len > depth + bits) {
			if (slot[at].n++ == 0)
				slot[at].first = i;
			continue;
		}
		for (uint64_t k = 0; k < UINT64_C(1) << (depth + bits - p->len); k++)
			slot[at + k].leaf = m->route[i].target;
	}
}

static void add_leaves(struct maker *m, const struct slot *slot, struct fib_node *out)
{
	const struct slot *last = NULL;

	for (unsigned int i = 0; i < FIB_SLOTS; i++) {
		if (slot[i].n) {
			out->children |= UINT64_C(1) << i;
		} else if (!last || last->leaf != slot[i].leaf) {
			last = &slot[i];
			out->runs |= UINT64_C(1) << i;
			add_leaf(m, last->leaf);
		}
	}
}

/* Node number `at` for `n` routes, at least one, all longer than `depth` bits and equal in these. */
static void make_node(struct maker *m, uint32_t at, uint32_t first, uint32_t n, unsigned int depth, target_t inherited)
{
	const struct ip_prefix *a = &m->route[first].prefix, *z = &m->route[first + n - 1].prefix;
	/* the first route is the shortest of those that end within the bits that all have */
	unsigned int common = MIN_OF(common_bits(a, z), a->len), skip = MIN_OF(common - depth, FIB_SKIP_MAX);
	uint64_t skipped = skip ? bits_from(key_of(a), depth) >> (64 - skip) << (64 - skip) : 0;
	struct fib_node out = {.skip = skipped | skip, .first_leaf = m->n_leaves};
	struct slot slot[FIB_SLOTS];
	uint32_t child;

	add_leaf(m, inherited);
	depth += skip;
	if (a->len == depth) {
		inherited = m->route[first++].target;
		n--;
	}
	spread(m, first, n, depth, FIB_STRIDE, inherited, slot);
	add_leaves(m, slot, &out);
	child = out.first_node = reserve_nodes(m, (uint32_t)__builtin_popcountll(out.children));
	if (m->failed)
		return;
	m->node[at] = out;
	for (unsigned int i = 0; i < FIB_SLOTS && !m->failed; i++)
		if (slot[i].n)
			make_node(m, child++, slot[i].first, slot[i].n, depth + FIB_STRIDE, slot[i].leaf);
}

static void make_direct(struct maker *m, struct fib *f)
{
	struct slot *slot = calloc((size_t)1 << f->direct_bits, sizeof(*slot));
	uint32_t first = f->n_routes && m->route[0].prefix.len == 0;

	f->direct = calloc((size_t)1 << f->direct_bits, sizeof(*f->direct));
	m->failed = !slot || !f->direct;
	if (!m->failed)
		spread(m, first, (uint32_t)f->n_routes - first, 0, f->direct_bits, first ? m->route[0].target : 0,
			slot);
	for (uint32_t i = 0; i < 1u << f->direct_bits && !m->failed; i++) {
		f->direct[i] = slot[i].leaf;
		if (slot[i].n) {
			uint32_t at = reserve_nodes(m, 1);

			f->direct[i] = FIB_IS_NODE | at;
			if (!m->failed)
				make_node(m, at, slot[i].first, slot[i].n, f->direct_bits, slot[i].leaf);
		}
	}
	free(slot);
}

/* An array in its final size; a large one where the kernel can give huge pages. Takes `p`; NULL: out of memory. */
static void *settle(void *p, size_t bytes)
{
	void *at = NULL;

	if (bytes < HUGE_PAGE)
		at = p && bytes ? realloc(p, bytes) : p;
	else if (posix_memalign(&at, HUGE_PAGE, (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE) == 0) {
		madvise(at, bytes, MADV_HUGEPAGE); /* without them the table is slower, no more */
		memcpy(at, p, bytes);
		free(p);
	}
	if (!at)
		free(p);
	return at;
}

static int by_prefix(const void *a, const void *b)
{
	return ip_prefix_compare(&((const struct fib_route *)a)->prefix, &((const struct fib_route *)b)->prefix);
}

/* Tables are often built and compared from the same list: look before sorting. */
static void sort(struct fib_route *routes, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (by_prefix(&routes[i - 1], &routes[i]) > 0) {
			qsort(routes, n, sizeof(*routes), by_prefix);
			return;
		}
	}
}

static bool make(struct fib *f)
{
	struct maker m = {.route = f->routes};

	f->direct_bits = f->n_routes < FIB_DIRECT_ROUTES ? 0 : FIB_DIRECT_BITS;
	make_direct(&m, f);
	f->n_nodes = m.n_nodes;
	f->n_leaves = m.n_leaves;
	f->node = settle(m.node, m.n_nodes * sizeof(*m.node));
	f->leaf = settle(m.leaf, m.n_leaves * sizeof(*m.leaf));
	return !m.failed && (f->node || !m.n_nodes) && (f->leaf || !m.n_leaves);
}

struct fib *fib_build(int family, struct fib_route *routes, size_t n)
{
	struct fib *f = calloc(1, sizeof(*f));

	if (!f || n >= FIB_IS_NODE) {
		free(f);
		return NULL;
	}
	sort(routes, n);
	f->family = family;
	f->on = -1;
	f->owners = 1;
	f->n_routes = n;
	f->routes = calloc(n + 1, sizeof(*f->routes));
	if (f->routes && n)
		memcpy(f->routes, routes, n * sizeof(*routes));
	if (!f->routes || !make(f)) {
		fib_free(f);
		return NULL;
	}
	return f;
}

struct fib *fib_ref(struct fib *f)
{
	if (f)
		f->owners++;
	return f;
}

void fib_free(struct fib *f)
{
	if (!f || (f->owners && --f->owners))
		return;
	fib_free(f->copy);
	free(f->direct);
	free(f->node);
	free(f->leaf);
	free(f->routes);
	free(f);
}

void fib_place(struct fib *f, int node)
{
	if (!f || f->on == node)
		return;
	f->on = node;
	numa_bind(f->direct, sizeof(*f->direct) << f->direct_bits, node);
	numa_bind(f->node, f->n_nodes * sizeof(*f->node), node);
	numa_bind(f->leaf, f->n_leaves * sizeof(*f->leaf), node);
}

int fib_node(const struct fib *f)
{
	return f->on;
}

static void *copied(const void *from, size_t bytes)
{
	void *to = malloc(MAX_OF(bytes, 1));

	return to ? settle(memcpy(to, from ? from : "", from ? bytes : 0), bytes) : NULL;
}

struct fib *fib_near(struct fib *f, int node)
{
	struct fib *c;

	for (c = f ? f->copy : NULL; c; c = c->copy)
		if (c->on == node)
			return c;
	c = f ? calloc(1, sizeof(*c)) : NULL;
	if (!c)
		return NULL;
	*c = *f;
	c->routes = NULL;
	c->n_routes = 0;
	c->owners = 1;
	c->on = -1;
	c->copy = NULL;
	c->direct = copied(f->direct, sizeof(*f->direct) << f->direct_bits);
	c->node = copied(f->node, f->n_nodes * sizeof(*f->node));
	c->leaf = copied(f->leaf, f->n_leaves * sizeof(*f->leaf));
	if (!c->direct || !c->node || !c->leaf) {
		fib_free(c);
		return NULL;
	}
	fib_place(c, node);
	c->copy = f->copy;
	f->copy = c;
	return c;
}

size_t fib_bytes(const struct fib *f)
{
	if (!f)
		return 0;
	return sizeof(*f) + (sizeof(*f->direct) << f->direct_bits) + f->n_nodes * sizeof(*f->node) +
	       f->n_leaves * sizeof(*f->leaf) + f->n_routes * sizeof(*f->routes);
}

const struct fib_route *fib_routes(const struct fib *f, size_t *n)
{
	*n = f ? f->n_routes : 0;
	return f ? f->routes : NULL;
}

bool fib_holds(const struct fib *f, int family, struct fib_route *routes, size_t n)
{
	if (!f || f->family != family || f->n_routes != n)
		return false;
	sort(routes, n);
	for (size_t i = 0; i < n; i++)
		if (routes[i].target != f->routes[i].target ||
			!ip_prefix_equal(&routes[i].prefix, &f->routes[i].prefix))
			return false;
	return true;
}
