/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table from the address of a model member to its line and column. Management thread. */
#include "config/marks.h"

#include <errno.h>
#include <stdlib.h>

struct entry {
	const void *member;
	struct cfg_mark at;
};

/* Open addressing, at most half full. */
struct cfg_marks {
	struct entry *table;
	size_t mask, used;
};

#define BLOCK_BITS 6 /* slots of a block */

/*
 * Members of an object are near each other, and so are the objects of a list. They share blocks of slots, so that a large
 * list costs few cache misses.
 */
static size_t slot_of(const void *member, size_t mask)
{
	uintptr_t at = (uintptr_t)member >> 2;
	size_t block = (size_t)((at >> BLOCK_BITS) * 0x9e3779b97f4a7c15ull >> 20);

	return (block << BLOCK_BITS | (at & ((1u << BLOCK_BITS) - 1))) & mask;
}

static struct entry *find_entry(struct entry *table, size_t mask, const void *member)
{
	size_t i = slot_of(member, mask);

	while (table[i].member && table[i].member != member)
		i = (i + 1) & mask;
	return &table[i];
}

#define PAGE 4096

/*
 * An empty table, every page of which has been written. A page that is read first is the kernel's page of zeros, and when
 * it is written later, an interrupt to the CPU of each lcore takes it out of their TLBs. NULL: no memory.
 */
static struct entry *table_new(size_t n)
{
	struct entry *table = calloc(n, sizeof(*table));

	for (size_t at = 0; table && at < n * sizeof(*table); at += PAGE)
		((volatile char *)table)[at] = 0;
	return table;
}

struct cfg_marks *cfg_marks_new(void)
{
	struct cfg_marks *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->mask = 1023;
	m->table = table_new(m->mask + 1);
	if (!m->table) {
		free(m);
		return NULL;
	}
	return m;
}

void cfg_marks_free(struct cfg_marks *m)
{
	if (!m)
		return;
	free(m->table);
	free(m);
}

static int grow_table(struct cfg_marks *m, size_t mask)
{
	struct entry *table = table_new(mask + 1);

	if (!table)
		return -ENOMEM;
	for (size_t i = 0; i <= m->mask; i++)
		if (m->table[i].member)
			*find_entry(table, mask, m->table[i].member) = m->table[i];
	free(m->table);
	m->table = table;
	m->mask = mask;
	return 0;
}

void cfg_marks_reserve(struct cfg_marks *m, size_t n)
{
	size_t mask = m->mask;

	while (mask < 2 * (m->used + n))
		mask = mask * 2 + 1;
	if (mask != m->mask)
		grow_table(m, mask);
}

int cfg_marks_put(struct cfg_marks *m, const void *member, struct cfg_mark at)
{
	struct entry *e;

	if (m->used * 2 > m->mask && grow_table(m, m->mask * 2 + 1) < 0)
		return -ENOMEM;
	e = find_entry(m->table, m->mask, member);
	if (!e->member)
		m->used++;
	*e = (struct entry){.member = member, .at = at};
	return 0;
}

struct cfg_mark cfg_marks_get(const struct cfg_marks *m, const void *member)
{
	return find_entry(m->table, m->mask, member)->at;
}
