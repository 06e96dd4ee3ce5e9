/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions by outer source and flow label (credit_table.h). Pure; control lcore. */
#include "credit/credit_table.h"

#include <stdlib.h>

bool credit_table_make(struct credit_table *t, uint32_t places)
{
	uint32_t buckets = 64;

	while (buckets < 2 * places)
		buckets *= 2;
	t->mask = buckets - 1;
	t->changes = 0;
	t->bucket = calloc(buckets, sizeof(*t->bucket));
	t->entry = calloc(places + 1ull, sizeof(*t->entry));
	return t->bucket && t->entry;
}

void credit_table_free(struct credit_table *t)
{
	free(t->bucket);
	free(t->entry);
	*t = (struct credit_table){0};
}

static uint32_t *bucket_of(const struct credit_table *t, const struct credit_entry *e)
{
	return &t->bucket[credit_table_hash(e->hi, e->lo, e->label) & t->mask];
}

void credit_table_remove(struct credit_table *t, uint32_t place)
{
	struct credit_entry *e = &t->entry[place];
	uint32_t *at = bucket_of(t, e);

	if (!e->place)
		return;
	while (*at != place)
		at = &t->entry[*at].next;
	__atomic_store_n(at, e->next, __ATOMIC_RELEASE);
	__atomic_store_n(&t->changes, t->changes + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&e->label, UINT32_MAX, __ATOMIC_RELAXED); /* of no packet */
	e->place = 0;
}

void credit_table_set(struct credit_table *t, uint32_t place, const struct credit_entry *new)
{
	struct credit_entry *e = &t->entry[place];
	uint32_t *bucket;

	if (e->place && (e->hi != new->hi || e->lo != new->lo || e->label != new->label))
		credit_table_remove(t, place);
	__atomic_store_n(&e->grant, new->grant, __ATOMIC_RELAXED);
	__atomic_store_n(&e->line, new->line, __ATOMIC_RELAXED);
	if (e->place)
		return;
	__atomic_store_n(&e->hi, new->hi, __ATOMIC_RELAXED);
	__atomic_store_n(&e->lo, new->lo, __ATOMIC_RELAXED);
	__atomic_store_n(&e->label, new->label, __ATOMIC_RELEASE);
	e->place = place;
	bucket = bucket_of(t, e);
	__atomic_store_n(&e->next, *bucket, __ATOMIC_RELEASE);
	__atomic_store_n(bucket, place, __ATOMIC_RELEASE);
}
