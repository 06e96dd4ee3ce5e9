/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <errno.h>

#include "snapshot/ids.h"

/* Entries that ids_find must not change. */
#define UNTOUCHED 4711

static void check_id(struct ids *ids, const char *name, uint32_t id)
{
	uint32_t found = UNTOUCHED;

	check(ids_find(ids, name, &found) == 0 && found == id, "%s is %u", name, found);
}

static void check_unknown(struct ids *ids, const char *name)
{
	uint32_t found = UNTOUCHED;

	check(ids_find(ids, name, &found) == -ENOENT && found == UNTOUCHED, "%s", name);
}

static uint32_t take(struct ids *ids, const char *name, uint64_t gen)
{
	uint32_t id = UNTOUCHED;

	check(ids_get(ids, name, gen, &id) == 0, "%s", name);
	return id;
}

static void names_keep_ids(void **state)
{
	struct ids *ids = ids_new(8);

	assert_non_null(ids);
	assert_int_equal(ids_bound(ids), 0);
	check_unknown(ids, "a");
	assert_int_equal(take(ids, "a", 1), 0);
	assert_int_equal(take(ids, "b", 1), 1);
	assert_int_equal(take(ids, "", 1), 2); /* the empty name is a name */
	assert_int_equal(ids_bound(ids), 3);
	for (uint64_t gen = 2; gen < 10; gen++) {
		assert_int_equal(take(ids, "b", gen), 1);
		assert_int_equal(take(ids, "a", gen), 0);
		assert_int_equal(take(ids, "", gen), 2);
		ids_reap(ids, gen);
		assert_int_equal(ids_bound(ids), 3);
	}
	check_id(ids, "a", 0);
	check_id(ids, "b", 1);
	check_unknown(ids, "A");
	check_unknown(ids, "ab");
	ids_free(ids);
	ids_free(NULL);
}

/* The caller's text may change afterwards. */
static void names_are_copied(void **state)
{
	struct ids *ids = ids_new(4);
	char name[] = "dc0";
	uint32_t id = take(ids, name, 1);

	name[2] = '1';
	check_id(ids, "dc0", id);
	check_unknown(ids, "dc1");
	ids_free(ids);
}

/* An id is given away again only after the reap, and only when no generation from there on used its name. */
static void reap_frees_the_unused(void **state)
{
	struct ids *ids = ids_new(3);
	uint32_t id;

	take(ids, "a", 1);
	take(ids, "b", 1);
	take(ids, "c", 1);
	take(ids, "a", 2);
	take(ids, "c", 3);
	/* b is not in use any more, but packets may still name it */
	assert_int_equal(ids_get(ids, "d", 3, &id), -ENOSPC);
	ids_reap(ids, 1);
	assert_int_equal(ids_get(ids, "d", 3, &id), -ENOSPC);
	check_id(ids, "b", 1);
	ids_reap(ids, 2);
	check_unknown(ids, "b");
	check_id(ids, "a", 0);
	check_id(ids, "c", 2);
	assert_int_equal(take(ids, "d", 3), 1);
	/* a name that comes back before it is reaped keeps its id */
	assert_int_equal(take(ids, "a", 4), 0);
	ids_reap(ids, 4);
	check_id(ids, "a", 0);
	check_unknown(ids, "c");
	check_unknown(ids, "d");
	ids_free(ids);
}

static void bound_follows_the_highest(void **state)
{
	struct ids *ids = ids_new(8);

	take(ids, "a", 2);
	take(ids, "b", 1);
	take(ids, "c", 2);
	take(ids, "d", 1);
	assert_int_equal(ids_bound(ids), 4);
	ids_reap(ids, 2);
	assert_int_equal(ids_bound(ids), 3);
	ids_reap(ids, 3);
	assert_int_equal(ids_bound(ids), 0);
	assert_int_equal(take(ids, "e", 3), 0);
	ids_free(ids);
}

static void full_leaves_no_trace(void **state)
{
	struct ids *ids = ids_new(2);
	uint32_t id = UNTOUCHED;

	take(ids, "a", 1);
	take(ids, "b", 1);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ids_get(ids, "c", 1, &id), -ENOSPC);
		assert_int_equal(id, UNTOUCHED);
	}
	check_unknown(ids, "c");
	assert_int_equal(ids_bound(ids), 2);
	assert_int_equal(take(ids, "a", 1), 0);
	ids_free(ids);
}

/* Against a plain model: names come and go, no two share an id, none changes its id while it lives. */
static void many_names(void **state)
{
	enum { NAMES = 60, ROOM = 40 };
	struct {
		bool known;
		uint64_t used;
		uint32_t id;
	} model[NAMES] = {0};
	struct ids *ids = ids_new(ROOM);
	uint64_t random = 11;
	char name[16];
	uint32_t id;

	for (uint64_t gen = 8; gen < 3000; gen++) {
		unsigned int known = 0, bound = 0;

		for (unsigned int k = 0; k < 5; k++) {
			unsigned int i = unit_random(&random) % NAMES;
			int rc;

			snprintf(name, sizeof(name), "name-%u", i);
			rc = ids_get(ids, name, gen, &id);
			if (rc == 0) {
				check(!model[i].known || model[i].id == id, "%s, generation %u", name,
					(unsigned int)gen);
				model[i].known = true;
				model[i].id = id;
				model[i].used = gen;
			} else {
				assert_int_equal(rc, -ENOSPC);
				assert_false(model[i].known);
			}
		}
		if (gen % 4 == 0) {
			ids_reap(ids, gen - 5);
			for (unsigned int i = 0; i < NAMES; i++)
				model[i].known = model[i].known && model[i].used + 5 >= gen;
		}
		for (unsigned int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "name-%u", i);
			if (!model[i].known) {
				check_unknown(ids, name);
				continue;
			}
			check_id(ids, name, model[i].id);
			known++;
			bound = MAX_OF(bound, model[i].id + 1);
			for (unsigned int k = 0; k < i; k++)
				check(!model[k].known || model[k].id != model[i].id, "%u and %u", i, k);
		}
		assert_true(known <= ROOM);
		check(ids_bound(ids) == bound || gen % 4, "generation %u", (unsigned int)gen);
		assert_true(ids_bound(ids) >= bound);
	}
	ids_free(ids);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_keep_ids),
		cmocka_unit_test(names_are_copied),
		cmocka_unit_test(reap_frees_the_unused),
		cmocka_unit_test(bound_follows_the_highest),
		cmocka_unit_test(full_leaves_no_trace),
		cmocka_unit_test(many_names),
	};

	return cmocka_run_group_tests_name("ids", tests, NULL, NULL);
}
