/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing of SIDs into containers (RFC 9800 section 6.2), and a policy's list without its own node (D33). */
#include "test/support/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "config/behavior.h"
#include "config/program.h"
#include "test/support/conf.h"

#define SIDS_MAX 100

/* "a b c": addresses between blanks. */
static unsigned int parse_list(const char *text, struct ip_addr *out)
{
	char copy[4096], *save = NULL;
	unsigned int n = 0;

	assert_true(strlen(text) < sizeof(copy));
	memcpy(copy, text, strlen(text) + 1);
	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		assert_true(n < SIDS_MAX);
		check(ip_addr_parse(word, &out[n++]) == 0, "%s", word);
	}
	return n;
}

/* The inverse, so that a failure can be read. */
static char *format_list(const struct ipv6_addr *list, unsigned int n, char *out, size_t size)
{
	char text[IP_ADDR_TEXT];
	size_t at = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < n; i++)
		at += (size_t)snprintf(out + at, size - at, "%s%s", i ? " " : "", ipv6_addr_format(&list[i], text));
	return out;
}

static struct ip_prefix block_of(const char *text)
{
	struct ip_prefix p;

	check(ip_prefix_parse(text, &p) == 0, "%s", text);
	return p;
}

static void ids_of_an_address(void **state)
{
	static const struct {
		const char *addr;
		unsigned int count;
		uint16_t first, last;
	} rows[] = {
		{"5f00::", 0, 0, 0},
		{"5f00:0:100::", 1, 0x100, 0},
		{"5f00:0:100:200::", 2, 0x100, 0},
		{"5f00:0:1:2:3:4:5:6", 6, 1, 6},
		{"5f00:0:1:2:3:4:5:0", 5, 1, 0},
		{"5f00::6", 6, 0, 6}, /* up to the last one that is not 0 */
		{"5f00:0:0:200::", 2, 0, 0},
	};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr a;

		assert_int_equal(ip_addr_parse(rows[i].addr, &a), 0);
		check(usid_count(&a.v6, 32) == rows[i].count, "%s", rows[i].addr);
		check(usid_at(&a.v6, 32, 0) == rows[i].first, "%s", rows[i].addr);
		check(usid_at(&a.v6, 32, 5) == rows[i].last, "%s", rows[i].addr);
	}
	/* D28 */
	assert_false(usid_is_local(0x0001));
	assert_false(usid_is_local(0xdfff));
	assert_true(usid_is_local(0xe000));
	assert_true(usid_is_local(0xffff));
}

#define S(x) "5f00:0:" #x "::"
#define S1_6 S(1) " " S(2) " " S(3) " " S(4) " " S(5) " " S(6)
#define S7_C S(7) " " S(8) " " S(9) " " S(a) " " S(b) " " S(c)

static void packs(void **state)
{
	static const struct {
		const char *what, *sids, *containers;
	} rows[] = {
		{"none", "", ""},
		{"1", S(1), "5f00:0:1::"},
		{"2", S(1) " " S(2), "5f00:0:1:2::"},
		{"3", S(1) " " S(2) " " S(3), "5f00:0:1:2:3::"},
		{"6: full", S1_6, "5f00:0:1:2:3:4:5:6"},
		{"7: one more container", S1_6 " " S(7), "5f00:0:1:2:3:4:5:6 5f00:0:7::"},
		{"12: two full ones", S1_6 " " S7_C, "5f00:0:1:2:3:4:5:6 5f00:0:7:8:9:a:b:c"},
		{"13", S1_6 " " S7_C " " S(d), "5f00:0:1:2:3:4:5:6 5f00:0:7:8:9:a:b:c 5f00:0:d::"},
		{"the same one twice", S(1) " " S(1), "5f00:0:1:1::"},

		{"entries of several ids", "5f00:0:1:2:: " S(3), "5f00:0:1:2:3::"},
		{"a packed entry behind", S(1) " 5f00:0:2:3:4::", "5f00:0:1:2:3:4::"},
		{"two halves", "5f00:0:1:2:3:: 5f00:0:4:5:6::", "5f00:0:1:2:3:4:5:6"},
		{"an entry is not torn apart", "5f00:0:1:2:3:4:: 5f00:0:5:6:7:: " S(8),
			"5f00:0:1:2:3:4:: 5f00:0:5:6:7:8::"},
		{"a full entry", S(1) " 5f00:0:2:3:4:5:6:7 " S(8), "5f00:0:1:: 5f00:0:2:3:4:5:6:7 5f00:0:8::"},

		{"another block stands alone", "5f00:1:1:: 5f00:1:2::", "5f00:1:1:: 5f00:1:2::"},
		{"a plain SID in front", "2001:db8::1 " S(1) " " S(2), "2001:db8::1 5f00:0:1:2::"},
		{"a plain SID behind", S(1) " " S(2) " 2001:db8::1", "5f00:0:1:2:: 2001:db8::1"},
		{"a plain SID between", S(1) " 2001:db8::1 " S(2) " " S(3), "5f00:0:1:: 2001:db8::1 5f00:0:2:3::"},
		{"two plain SIDs between", S(1) " 2001:db8::1 2001:db8::2 " S(2),
			"5f00:0:1:: 2001:db8::1 2001:db8::2 5f00:0:2::"},
	};
	struct ip_prefix block = block_of("5f00::/32");

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr sids[SIDS_MAX];
		struct ipv6_addr out[20];
		char text[1024];
		unsigned int n = parse_list(rows[i].sids, sids);
		unsigned int containers = usid_pack(&block, 1, sids, n, out, ARRAY_LEN(out));

		check_text(rows[i].what, format_list(out, containers, text, sizeof(text)), rows[i].containers);
		/* asked only for how many, it writes none */
		check(usid_pack(&block, 1, sids, n, NULL, 0) == containers, "%s", rows[i].what);
	}
}

static void packs_nothing_without_a_block(void **state)
{
	struct ip_addr sids[SIDS_MAX];
	struct ipv6_addr out[4];
	char text[256];
	unsigned int n = parse_list(S(1) " " S(2), sids);

	assert_int_equal(usid_pack(NULL, 0, sids, n, out, 4), 2);
	assert_string_equal(format_list(out, 2, text, sizeof(text)), "5f00:0:1:: 5f00:0:2::");
}

/* Each block has its own containers, though both have the same structure. */
static void packs_several_blocks(void **state)
{
	static const struct {
		const char *what, *sids, *containers;
	} rows[] = {
		{"one after the other", S(1) " " S(2) " 5f00:1:3:: 5f00:1:4::", "5f00:0:1:2:: 5f00:1:3:4::"},
		{"in turns", S(1) " 5f00:1:3:: " S(2), "5f00:0:1:: 5f00:1:3:: 5f00:0:2::"},
		{"a third one is none", "5f00:2:1:: 5f00:2:2:: 5f00:1:3::", "5f00:2:1:: 5f00:2:2:: 5f00:1:3::"},
	};
	struct ip_prefix blocks[2] = {block_of("5f00::/32"), block_of("5f00:1::/32")};

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr sids[SIDS_MAX];
		struct ipv6_addr out[20];
		char text[1024];
		unsigned int n = parse_list(rows[i].sids, sids);
		unsigned int containers = usid_pack(blocks, 2, sids, n, out, ARRAY_LEN(out));

		check_text(rows[i].what, format_list(out, containers, text, sizeof(text)), rows[i].containers);
	}
}

/* Five ids behind a /48, seven behind a /16, four behind a /64, and each block keeps its own length. */
static void packs_blocks_of_other_lengths(void **state)
{
	static const struct {
		const char *what, *sids, *containers;
	} rows[] = {
		{"/48", "2001:db8:f:1:: 2001:db8:f:2:: 2001:db8:f:3:: 2001:db8:f:4:: 2001:db8:f:5:: 2001:db8:f:6::",
			"2001:db8:f:1:2:3:4:5 2001:db8:f:6::"},
		{"/16", "4000:1:: 4000:2:: 4000:3:: 4000:4:: 4000:5:: 4000:6:: 4000:7:: 4000:8::",
			"4000:1:2:3:4:5:6:7 4000:8::"},
		{"/64", "fd00::1:0:0:0 fd00::2:0:0:0 fd00::3:0:0:0 fd00::4:0:0:0 fd00::5:0:0:0",
			"fd00::1:2:3:4 fd00::5:0:0:0"},
		{"/40",
			"2001:dbb:1:100:: 2001:dbb:2:200:: 2001:dbb:3:300:: 2001:dbb:4:400:: 2001:dbb:5:500:: "
			"2001:dbb:6:600::",
			"2001:dbb:1:102:203:304:405:500 2001:dbb:6:600::"},
		{"three of them", "2001:db8:f:1:: 4000:1:: 4000:2:: 2001:db8:f:2:: 2001:db8:f:3::",
			"2001:db8:f:1:: 4000:1:2:: 2001:db8:f:2:3::"},
		{"the longest block counts",
			"2001:db8:f:1:: 2001:db8:f:2:: 2001:db8:1:: 2001:db8:2::", "2001:db8:f:1:2:: 2001:db8:1:2::"},
	};
	struct ip_prefix blocks[] = {block_of("2001:db8::/32"), block_of("2001:db8:f::/48"), block_of("4000::/16"),
		block_of("fd00::/64"), block_of("2001:dbb::/40")};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr sids[SIDS_MAX];
		struct ipv6_addr out[20];
		char text[1024];
		unsigned int n = parse_list(rows[i].sids, sids);
		unsigned int containers = usid_pack(blocks, ARRAY_LEN(blocks), sids, n, out, ARRAY_LEN(out));

		check_text(rows[i].what, format_list(out, containers, text, sizeof(text)), rows[i].containers);
	}
}

/* It says how many it takes, and writes no more than there is room for. */
static void packs_into_little_room(void **state)
{
	static const char *const written[] = {"", "5f00:0:1:2:3:4:5:6",
		"5f00:0:1:2:3:4:5:6 5f00:0:7::", "5f00:0:1:2:3:4:5:6 5f00:0:7:: 2001:db8::1"};
	struct ip_prefix block = block_of("5f00::/32");
	struct ip_addr sids[SIDS_MAX];
	struct ipv6_addr out[3];
	char text[256];
	unsigned int n = parse_list(S1_6 " " S(7) " 2001:db8::1 2001:db8::2", sids);

	for (unsigned int room = 0; room <= 3; room++) {
		memset(out, 0xee, sizeof(out));
		assert_int_equal(usid_pack(&block, 1, sids, n, out, room), 4);
		check_text("written", format_list(out, room, text, sizeof(text)), written[room]);
		for (unsigned int i = room; i < 3; i++)
			check(out[i].b[0] == 0xee && out[i].b[15] == 0xee, "room %u, address %u", room, i);
	}
}

/* --- cfg_program --- */

/* The node 0x100 with a uA, local and combined, and a VRF. */
#define PROGRAM \
	"node: {name: pe1, loopback: \"fd00::1\", infrastructure: [\"fd00::/16\"],\n" \
	"  usid: {block: \"5f00::/32\", node: 0x100}}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"ports: [{name: wan0, device: net_null0, side: wan}]\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:101::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:0:e005::/48\", behavior: uA, port: wan0, nexthop: \"fe80::5\"}\n" \
	"  - {sid: \"5f00:0:100:e006::/64\", behavior: uA, port: wan0, nexthop: \"fe80::6\"}\n" \
	"  - {sid: \"5f00:0:e101::/48\", behavior: uDT46}\n" \
	"  - {sid: \"5f00:0:100:e102::/64\", behavior: uDT4}\n"

#define ENDS_HERE "the path ends at this node"
#define NOWHERE "the list contains only SIDs of this node"
#define TOO_LONG "the list takes more than 16 addresses; an SRH has room for 16"

static void programs(void **state)
{
	static const struct {
		const char *what, *segments, *containers; /* containers NULL: refused */
		const char *via;			  /* SID of the adjacency that is the way out,
		or why refused */
	} rows[] = {
		{"no own SID", S(500) " " S(300) " " S(e102), "5f00:0:500:300:e102::", NULL},
		{"own uN in front", S(100) " " S(500) " " S(300), "5f00:0:500:300::", NULL},
		{"two own uNs", S(100) " " S(101) " " S(500), "5f00:0:500::", NULL},
		{"own uN twice", S(100) " " S(100) " " S(500), "5f00:0:500::", NULL},
		{"own uA in front", S(e005) " " S(500) " " S(300), "5f00:0:500:300::", "5f00:0:e005::/48"},
		{"own uN and uA", S(100) " " S(e005) " " S(500), "5f00:0:500::", "5f00:0:e005::/48"},
		{"both in one entry", "5f00:0:100:e005:: " S(500), "5f00:0:500::", "5f00:0:e005::/48"},
		{"combined uA", "5f00:0:100:e006:: " S(500), "5f00:0:500::", "5f00:0:100:e006::/64"},
		{"combined uA, in two entries", S(100) " " S(e006) " " S(500), "5f00:0:500::", "5f00:0:100:e006::/64"},
		{"combined uA behind another uN of ours", S(101) " 5f00:0:100:e006:: " S(500),
			"5f00:0:500::", "5f00:0:100:e006::/64"},
		{"uN in front of a function of another node", S(100) " " S(e009) " " S(500), "5f00:0:e009:500::", NULL},

		/* behind the way out, own SIDs are what any router would see */
		{"own uN behind the uA", S(e005) " " S(100) " " S(500), "5f00:0:100:500::", "5f00:0:e005::/48"},
		{"two uAs", S(e005) " " S(e005) " " S(500), "5f00:0:e005:500::", "5f00:0:e005::/48"},
		{"own uN further on", S(500) " " S(100) " " S(300), "5f00:0:500:100:300::", NULL},

		/* a whole container executed: the next one moves up */
		{"seven, the first own", S(100) " " S(2) " " S(3) " " S(4) " " S(5) " " S(6) " " S(7),
			"5f00:0:2:3:4:5:6:0 5f00:0:7::", NULL},
		{"an own container in front", S(100) " 2001:db8::1", "2001:db8::1", NULL},
		{"own uN and uA fill a container", S(100) " " S(e005) " 2001:db8::1 " S(500),
			"2001:db8::1 5f00:0:500::", "5f00:0:e005::/48"},
		{"own ones reach into the second container",
			"5f00:0:100:100:100:100:100:100 " S(101) " " S(e005) " " S(500),
			"5f00:0:500::", "5f00:0:e005::/48"},

		/* other blocks have other owners */
		{"an own id in another block", "5f00:1:100:: " S(500), "5f00:1:100:: 5f00:0:500::", NULL},
		{"plain", "2001:db8::1", "2001:db8::1", NULL},

		{"own uN alone", S(100), NULL, NOWHERE},
		{"own uA alone", S(e005), NULL, NOWHERE},
		{"own uN and uA alone", S(100) " " S(e005), NULL, NOWHERE},
		{"own combined uA alone", "5f00:0:100:e006::", NULL, NOWHERE},
		{"own uDT", S(e101), NULL, ENDS_HERE},
		{"own uDT behind own uN", S(100) " " S(e101), NULL, ENDS_HERE},
		{"own uDT behind own uN, more behind", S(100) " " S(e101) " " S(500), NULL, ENDS_HERE},
		{"own uDT of 64 bits", "5f00:0:100:e102::", NULL, ENDS_HERE},
	};
	struct config *c = conf_load(CONF_CHECK, PROGRAM);
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	assert_non_null(own);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		struct ip_addr sids[SIDS_MAX];
		struct cfg_path path = {.segments.items = sids};
		struct cfg_program p;
		const char *why = NULL;
		char text[1024], via[IP_PREFIX_TEXT];
		int rc;

		path.segments.n = parse_list(rows[i].segments, sids);
		rc = cfg_program(c, own, &path, &p, &why);
		check(rc == (rows[i].containers ? 0 : -EINVAL), "%s: %d", rows[i].what, rc);
		if (rc < 0) {
			check_text(rows[i].what, why, rows[i].via);
			continue;
		}
		check_text(rows[i].what, format_list(p.container, p.n, text, sizeof(text)), rows[i].containers);
		check_text(rows[i].what, p.via ? ip_prefix_format(&p.via->sid, via) : "(none)",
			rows[i].via ? rows[i].via : "(none)");
	}
	cfg_own_sids_free(own);
	cfg_own_sids_free(NULL);
	cfg_free(c);
}

/* Sixteen addresses are what a header holds: 15 in the SRH, one in the destination, or 96 packed ids. */
static void longest_program(void **state)
{
	struct config *c = conf_load(CONF_CHECK, PROGRAM);
	struct cfg_own_sids *own = cfg_own_sids_new(c);
	struct ip_addr sids[SIDS_MAX] = {{0}};
	struct cfg_path path = {.segments.items = sids};
	struct cfg_program p;
	const char *why = NULL;

	assert_non_null(own);
	for (unsigned int i = 0; i < 97; i++)
		sids[i] = ip_addr_from6(&(struct ipv6_addr){{0x5f, 0, 0, 0, 0x05, (uint8_t)i}});
	path.segments.n = 96;
	assert_int_equal(cfg_program(c, own, &path, &p, &why), 0);
	assert_int_equal(p.n, 16);
	assert_int_equal(usid_at(&p.container[15], 32, 5), 0x0500 | 95);
	path.segments.n = 97;
	assert_int_equal(cfg_program(c, own, &path, &p, &why), -EINVAL);
	assert_string_equal(why, TOO_LONG);

	for (unsigned int i = 0; i < 17; i++)
		sids[i] = ip_addr_from6(&(struct ipv6_addr){{0x20, 0x01, [15] = (uint8_t)(i + 1)}});
	path.segments.n = 16;
	assert_int_equal(cfg_program(c, own, &path, &p, &why), 0);
	assert_int_equal(p.n, 16);
	path.segments.n = 17;
	assert_int_equal(cfg_program(c, own, &path, &p, &why), -EINVAL);
	assert_string_equal(why, TOO_LONG);
	cfg_own_sids_free(own);
	cfg_free(c);
}

/* Without a block there are no uSIDs, packed or own. */
static void no_block(void **state)
{
	struct config *c = conf_load(CONF_CHECK,
		"node: {name: pe1, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
		"ports: [{name: wan0, device: net_null0, side: wan}]\n");
	struct cfg_own_sids *own = cfg_own_sids_new(c);
	struct ip_addr sids[SIDS_MAX];
	struct cfg_path path = {.segments.items = sids};
	struct cfg_program p;
	const char *why = NULL;
	char text[256];

	assert_non_null(own);
	path.segments.n = parse_list(S(1) " " S(2), sids);
	assert_int_equal(cfg_program(c, own, &path, &p, &why), 0);
	assert_string_equal(format_list(p.container, p.n, text, sizeof(text)), "5f00:0:1:: 5f00:0:2::");
	assert_null(p.via);
	cfg_own_sids_free(own);
	cfg_free(c);
}

/* IANA "SRv6 Endpoint Behaviors" (RFC 8986 table 6, RFC 9800 table 1); by the bits PSP, USP, USD. */
static void code_points(void **state)
{
	static const struct {
		enum cfg_behavior behavior;
		uint16_t code[8];
	} rows[] = {
		{BEHAVIOR_END, {1, 2, 3, 4, 28, 29, 30, 31}},
		{BEHAVIOR_END_X, {5, 6, 7, 8, 32, 33, 34, 35}},
		{BEHAVIOR_END_T, {9, 10, 11, 12, 36, 37, 38, 39}},
		{BEHAVIOR_UN, {43, 44, 45, 46, 47, 48, 49, 50}},
		{BEHAVIOR_UA, {52, 53, 54, 55, 56, 57, 58, 59}},
		{BEHAVIOR_END_DX6, {16}},
		{BEHAVIOR_UDX6, {16}},
		{BEHAVIOR_END_DX4, {17}},
		{BEHAVIOR_UDX4, {17}},
		{BEHAVIOR_END_DT6, {18}},
		{BEHAVIOR_UDT6, {18}},
		{BEHAVIOR_END_DT4, {19}},
		{BEHAVIOR_UDT4, {19}},
		{BEHAVIOR_END_DT46, {20}},
		{BEHAVIOR_UDT46, {20}},
		{BEHAVIOR_END_DX2, {21}},
		{BEHAVIOR_UDX2, {21}},
		{BEHAVIOR_END_X_PFC, {0x8100, 0x8101, 0x8102, 0x8103}}, /* D30; usd is refused */
		{BEHAVIOR_UA_PFC, {0x8104}},
	};

	assert_int_equal(ARRAY_LEN(rows), BEHAVIOR_COUNT);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++)
		for (unsigned int f = 0; f < (rows[i].code[7] ? 8u : rows[i].code[3] ? 4u : 1u); f++)
			check(behavior_code(rows[i].behavior, f) == rows[i].code[f], "%s with flavours %u",
				behavior_info(rows[i].behavior)->name, f);
}

/* None given: uN and uA have two, the others have none. */
static void default_flavors(void **state)
{
	uint32_t none = FLAVOR_NONE, usp = FLAVOR_USP;

	for (uint32_t b = 0; b < BEHAVIOR_COUNT; b++) {
		struct cfg_sid sid = {.behavior = b};
		bool usid = b == BEHAVIOR_UN || b == BEHAVIOR_UA;

		check(behavior_flavors(&sid) == (usid ? FLAVOR_BIT(FLAVOR_PSP) | FLAVOR_BIT(FLAVOR_USD) : 0), "%s",
			behavior_info((enum cfg_behavior)b)->name);
		sid.flavors.items = &none;
		sid.flavors.n = 1;
		assert_int_equal(behavior_flavors(&sid), 0);
		sid.flavors.items = &usp;
		assert_int_equal(behavior_flavors(&sid), FLAVOR_BIT(FLAVOR_USP));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_an_address),
		cmocka_unit_test(packs),
		cmocka_unit_test(packs_nothing_without_a_block),
		cmocka_unit_test(packs_several_blocks),
		cmocka_unit_test(packs_blocks_of_other_lengths),
		cmocka_unit_test(packs_into_little_room),
		cmocka_unit_test(programs),
		cmocka_unit_test(longest_program),
		cmocka_unit_test(no_block),
		cmocka_unit_test(code_points),
		cmocka_unit_test(default_flavors),
	};

	return cmocka_run_group_tests_name("usid", tests, NULL, NULL);
}
