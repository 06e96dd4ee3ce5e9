/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of packets by outer source and flow label (docs/credit.md 2.3, D41). The control lcore writes, rx lcores read
 * without locks: a reader that meets a change looks again. Pure.
 */
#ifndef CREDIT_CREDIT_TABLE_H
#define CREDIT_CREDIT_TABLE_H

#include "credit/credit.h"

struct credit_entry {
	uint64_t hi, lo; /* outer source */
	uint32_t label;
	uint32_t next; /* in its bucket; 0: none */
	uint32_t place;
	uint16_t grant; /* reservation that its data occupies; 0: none, and data is dropped (D51) */
	uint16_t line;	/* line that its data waits in; 0: none */
};

struct credit_table {
	uint32_t mask;
	uint32_t changes; /* relaxed: entries that were removed or moved since the start */
	uint32_t *bucket;
	struct credit_entry *entry; /* by place; [0] is unused */
};

/* Room for the places 1 to `places`. Management thread; false: no memory. */
bool credit_table_make(struct credit_table *t, uint32_t places);
void credit_table_free(struct credit_table *t);

static inline uint32_t credit_table_hash(uint64_t hi, uint64_t lo, uint32_t label)
{
	uint64_t h = (hi ^ lo * 0x9e3779b97f4a7c15ull ^ label) * 0xbf58476d1ce4e5b9ull;

	return (uint32_t)(h >> 32);
}

/* Put a session into its place, or change what it leads to. Another label in that place is forgotten. Control lcore. */
void credit_table_set(struct credit_table *t, uint32_t place, const struct credit_entry *e);
void credit_table_remove(struct credit_table *t, uint32_t place);

/* The session of a packet; NULL: none. The entry may change at any time: read its members once, relaxed. Rx lcores. */
static inline const struct credit_entry *credit_table_find(const struct credit_table *t, uint64_t hi, uint64_t lo,
	uint32_t label)
{
	uint32_t slot = credit_table_hash(hi, lo, label) & t->mask, changes, tries = 0;

	do {
		changes = __atomic_load_n(&t->changes, __ATOMIC_ACQUIRE);
		for (uint32_t i = __atomic_load_n(&t->bucket[slot], __ATOMIC_ACQUIRE); i;) {
			const struct credit_entry *e = &t->entry[i];

			if (__atomic_load_n(&e->label, __ATOMIC_RELAXED) == label &&
				__atomic_load_n(&e->lo, __ATOMIC_RELAXED) == lo &&
				__atomic_load_n(&e->hi, __ATOMIC_RELAXED) == hi)
				return e;
			i = __atomic_load_n(&e->next, __ATOMIC_ACQUIRE);
		}
	} while (unlikely(changes != __atomic_load_n(&t->changes, __ATOMIC_ACQUIRE)) && ++tries < 4);
	return NULL;
}

#endif
