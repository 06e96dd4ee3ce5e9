/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <stdlib.h>

#include "pfc/pfc_remote.h"

static struct pfc_remote row(const char *prefix, uint16_t behavior, uint8_t node_bits, uint8_t function_bits,
	const char *owner)
{
	struct pfc_remote r = {.behavior = behavior,
		.block_bits = 32,
		.node_bits = node_bits,
		.function_bits = function_bits};

	r.argument_bits = (uint8_t)(96 - node_bits - function_bits);
	check(ip_prefix_parse(prefix, &r.prefix) == 0, "%s", prefix);
	snprintf(r.owner, sizeof(r.owner), "%s", owner);
	return r;
}

/* The worked example of docs/protocol.md 4.6, and the same as uSIDs. */
static struct pfc_remotes table(void)
{
	static struct pfc_remote rows[16];
	struct pfc_remotes t = {.sid = rows};

	rows[t.n++] = row("5f00:1:1:1::/64", 1, 16, 16, "r1");
	rows[t.n++] = row("5f00:1:1:e1::/64", SRV6_END_X_PFC, 16, 16, "r1");
	rows[t.n++] = row("5f00:1:2:1::/64", 1, 16, 16, "r2");
	rows[t.n++] = row("5f00:1:2:a3::/64", 5, 16, 16, "r2");
	rows[t.n++] = row("5f00:1:3:e1::/64", SRV6_END_X_PFC_PSP, 16, 16, "r3");
	rows[t.n++] = row("5f00:1:3:1::/64", 1, 16, 16, "r3");
	rows[t.n++] = row("5f00:1:3:d46::/64", 20, 16, 16, "r3");
	rows[t.n++] = row("5f00:1:4:7::/64", 5, 16, 16, "r4"); /* no End SID */
	rows[t.n++] = row("5f00:1:5:e1::/64", SRV6_END_X_PFC, 16, 16, "r5");
	rows[t.n++] = row("5f00:0:b01::/48", 48, 16, 0, "r1");
	rows[t.n++] = row("5f00:0:b02::/48", 48, 16, 0, "r2");
	rows[t.n++] = row("5f00:0:b03::/48", 48, 16, 0, "r3");
	rows[t.n++] = row("5f00:0:e0e1::/48", SRV6_END_X_PFC_NEXT_CSID, 0, 16, "r1");
	rows[t.n++] = row("5f00:0:e0e1::/48", SRV6_END_X_PFC_NEXT_CSID, 0, 16, "r2");
	rows[t.n++] = row("5f00:0:e0a2::/48", 57, 0, 16, "r2");
	assert_int_equal(pfc_remotes_seal(&t, rows, t.n), 0);
	return t;
}

static struct pfc_list list_of(const char *text)
{
	char copy[512], *save = NULL;
	struct pfc_list list = {0};

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		struct ip_addr a;

		check(ip_addr_parse(word, &a) == 0, "%s", word);
		list.sid[list.n++] = a.v6;
	}
	return list;
}

static void check_list(const char *row_name, const struct pfc_list *got, const char *want)
{
	char text[IP_ADDR_TEXT], all[PFC_LIST_MAX * IP_ADDR_TEXT] = "";

	for (unsigned int i = 0; i < got->n; i++) {
		if (i)
			strcat(all, " ");
		strcat(all, ipv6_addr_format(&got->sid[i], text));
	}
	check_text(row_name, all, want);
}

static void reverse_lists(void **state)
{
	static const struct {
		const char *row, *forward;
		unsigned int own;
		enum pfc_refusal refusal;
		const char *reverse;
	} rows[] = {
		/* draft-ruan's both examples come to the same (D33) */
		{"scenario 2", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:d46::", 2, 0, "5f00:1:2:1:: 5f00:1:1:e1::"},
		{"four SIDs", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:1:: 5f00:1:3:d46::", 2, 0,
			"5f00:1:2:1:: 5f00:1:1:e1::"},
		{"adjacent", "5f00:1:1:e1:: 5f00:1:3:d46::", 1, 0, "5f00:1:1:e1::"},
		/* an End.X on the way is one-way: its node's End is used */
		{"End.X between", "5f00:1:1:e1:: 5f00:1:2:a3:: 5f00:1:3:d46::", 2, 0, "5f00:1:2:1:: 5f00:1:1:e1::"},
		{"two SIDs of a node", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:2:a3:: 5f00:1:3:d46::", 3, 0,
			"5f00:1:2:1:: 5f00:1:1:e1::"},
		{"End.X.PFC is not the node's last", "5f00:1:1:e1:: 5f00:1:1:1:: 5f00:1:2:1:: 5f00:1:3:d46::", 3, 0,
			"5f00:1:2:1:: 5f00:1:1:e1::"},
		{"the nearest of two", "5f00:1:1:e1:: 5f00:1:5:e1:: 5f00:1:2:1:: 5f00:1:3:d46::", 3, 0,
			"5f00:1:2:1:: 5f00:1:5:e1::"},
		{"own SIDs in a row", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:1:: 5f00:1:3:d46::", 3, 0,
			"5f00:1:2:1:: 5f00:1:1:e1::"},
		{"the own one does not count", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:e1:: 5f00:1:3:d46::", 3, 0,
			"5f00:1:2:1:: 5f00:1:1:e1::"},
		{"own SID is one too", "5f00:1:1:e1:: 5f00:1:2:1:: 5f00:1:3:e1::", 2, 0, "5f00:1:2:1:: 5f00:1:1:e1::"},
		{"none before", "5f00:1:2:1:: 5f00:1:3:e1:: 5f00:1:1:e1::", 1, PFC_REFUSED_no_upstream, ""},
		{"reduced", "5f00:1:2:1:: 5f00:1:3:d46::", 1, PFC_REFUSED_no_upstream, ""},
		{"unknown between", "5f00:1:1:e1:: 5f00:1:9:1:: 5f00:1:3:d46::", 2, PFC_REFUSED_unknown_sid, ""},
		{"unknown in front of it", "5f00:1:9:1:: 5f00:1:1:e1:: 5f00:1:3:d46::", 2, 0, "5f00:1:1:e1::"},
		{"no End SID", "5f00:1:1:e1:: 5f00:1:4:7:: 5f00:1:3:d46::", 2, PFC_REFUSED_no_end_sid, ""},
		/* uSIDs; the function of local meaning needs its node in front */
		{"uSIDs", "5f00:0:b01:: 5f00:0:e0e1:: 5f00:0:b02:: 5f00:0:b03::", 3, 0,
			"5f00:0:b02:: 5f00:0:b01:: 5f00:0:e0e1::"},
		{"uSIDs with a uA", "5f00:0:b01:: 5f00:0:e0e1:: 5f00:0:b02:: 5f00:0:e0a2:: 5f00:0:b03::", 4, 0,
			"5f00:0:b02:: 5f00:0:b01:: 5f00:0:e0e1::"},
		{"whose function", "5f00:0:e0e1:: 5f00:0:b02:: 5f00:0:b03::", 2, PFC_REFUSED_no_upstream, ""},
		{"r2's", "5f00:0:b02:: 5f00:0:e0e1:: 5f00:0:b03::", 2, 0, "5f00:0:b02:: 5f00:0:e0e1::"},
	};
	struct pfc_remotes t = table();

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct pfc_list forward = list_of(rows[i].forward), reverse;
		enum pfc_refusal refusal = pfc_reverse(&t, &forward, rows[i].own, &reverse);

		check(refusal == rows[i].refusal, "%s: %s", rows[i].row, pfc_refusal_name(refusal));
		if (!refusal)
			check_list(rows[i].row, &reverse, rows[i].reverse);
	}
}

static void containers(void **state)
{
	static const struct {
		const char *row, *packed, *expanded;
	} rows[] = {
		{"classic SIDs stay", "5f00:1:1:e1:: 5f00:1:2:1::", "5f00:1:1:e1:: 5f00:1:2:1::"},
		{"one container", "5f00:0:b01:e0e1:b02:b03::", "5f00:0:b01:: 5f00:0:e0e1:: 5f00:0:b02:: 5f00:0:b03::"},
		{"full container and another", "5f00:0:b01:e0e1:b02:e0a2:b02:b02 5f00:0:b03::",
			"5f00:0:b01:: 5f00:0:e0e1:: 5f00:0:b02:: 5f00:0:e0a2:: 5f00:0:b02:: 5f00:0:b02:: 5f00:0:b03::"},
		{"what is not known is left as it stands", "5f00:0:b01:b77:b02::", "5f00:0:b01:: 5f00:0:b77:b02::"},
		{"both kinds", "5f00:0:b01:b02:: 5f00:1:3:d46::", "5f00:0:b01:: 5f00:0:b02:: 5f00:1:3:d46::"},
	};
	struct pfc_remotes t = table();
	struct pfc_list packed, expanded;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		packed = list_of(rows[i].packed);
		check(pfc_expand(&t, packed.sid, packed.n, &expanded) == 0, "%s", rows[i].row);
		check_list(rows[i].row, &expanded, rows[i].expanded);
	}
	packed = list_of("5f00:0:b01:b01:b01:b01:b01:b01 5f00:0:b01:b01:b01:b01:b01:b01 5f00:0:b01:b01:b01:b01:b01:b01 "
			 "5f00:0:b01:b01:b01:b01:b01:b01 5f00:0:b01:b01:b01:b01:b01:b01 5f00:0:b01:b01:b01::");
	assert_int_equal(pfc_expand(&t, packed.sid, packed.n, &expanded), PFC_REFUSED_too_long);
}

/* Longest match against the plainest way there is. */
static void longest_match(void **state)
{
	static struct pfc_remote rows[400];
	struct pfc_remotes t = {.sid = rows};
	uint64_t random = 3;

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		static const uint8_t lens[] = {32, 48, 64, 80, 128};
		struct pfc_remote *r = &rows[t.n];

		*r = (struct pfc_remote){.prefix = {.addr = {.family = 6}, .len = lens[unit_random(&random) % 5]},
			.node_bits = 16,
			.behavior = 1};
		for (unsigned int k = 0; k < 16; k++)
			r->prefix.addr.b[k] = (uint8_t)(unit_random(&random) % 2);
		r->prefix = ip_prefix_network(&r->prefix);
		snprintf(r->owner, sizeof(r->owner), "n%u", i);
		t.n++;
		for (unsigned int k = 0; k + 1 < t.n; k++) {
			if (ip_prefix_equal(&rows[k].prefix, &r->prefix)) {
				t.n--;
				break;
			}
		}
	}
	assert_int_equal(pfc_remotes_seal(&t, rows, t.n), 0);
	for (unsigned int i = 0; i < t.n; i++)
		assert_int_equal(t.sid[i].end, i);
	for (unsigned int step = 0; step < 20000; step++) {
		const struct pfc_remote *want = NULL;
		struct ip_addr a = {.family = 6};

		for (unsigned int k = 0; k < 16; k++)
			a.b[k] = (uint8_t)(unit_random(&random) % 2);
		for (unsigned int i = 0; i < t.n; i++)
			if (ip_prefix_contains(&t.sid[i].prefix, &a) &&
				(!want || t.sid[i].prefix.len > want->prefix.len))
				want = &t.sid[i];
		check(pfc_remote_find(&t, &a.v6, NULL) == want, "step %u", step);
	}
	assert_int_equal(pfc_remotes_seal(&t, rows, 0), 0);
	assert_null(pfc_remote_find(&t, &rows[0].prefix.addr.v6, NULL));
}

static void code_points(void **state)
{
	unsigned int end = 0, csid = 0, pauses = 0;

	for (unsigned int code = 0; code < 65536; code++) {
		end += pfc_behavior_is_end((uint16_t)code);
		csid += pfc_behavior_is_next_csid((uint16_t)code);
		pauses += pfc_behavior_pauses((uint16_t)code);
	}
	assert_int_equal(pauses, 5);
	assert_int_equal(end, 4 + 4 + 8);
	assert_int_equal(csid, 18 + 13 + 1);
	assert_true(pfc_behavior_is_end(48));
	assert_false(pfc_behavior_is_end(5));
	assert_false(pfc_behavior_is_end(57));
	assert_true(pfc_behavior_is_next_csid(57));
	assert_false(pfc_behavior_is_next_csid(0x8103));
	assert_true(pfc_behavior_pauses(0x8103));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reverse_lists),
		cmocka_unit_test(containers),
		cmocka_unit_test(longest_match),
		cmocka_unit_test(code_points),
	};

	return cmocka_run_group_tests_name("pfc_remote", tests, NULL, NULL);
}
