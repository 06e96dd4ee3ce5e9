/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One value of a configuration. First byte: its type; second: its unit; the rest is the text. An accepted value is
 * printed, and that is accepted as the same value.
 */
#include "base/arena.h"
#include "config/schema.h"
#include "test/fuzz/fuzz.h"
#include "wire/addr.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

#define TYPES (CFG_CONFIG + 1)
#define UNITS (UNIT_US + 1)

static const char *const words[] = {"wan", "dc", "poll", "sleep", NULL};
static const struct cfg_map map = {.name = "a map", .size = 8};

static bool is_text(enum cfg_type type)
{
	return type == CFG_NAME || type == CFG_TEXT;
}

/* A printed value as YAML reads it: without quotes and backslashes. */
static void unquote(char *text)
{
	char *out = text;

	if (text[0] != '"')
		return;
	for (const char *p = text + 1; *p && *p != '"'; p++) {
		if (*p == '\\')
			p++;
		*out++ = *p;
	}
	*out = '\0';
}

static void same_again(const struct cfg_key *key, enum cfg_type type, const void *value, struct arena *arena)
{
	char text[CFG_SCALAR_TEXT], err[512] = "";
	uint64_t second[4] = {0};

	cfg_format_scalar(key, type, value, text, sizeof(text));
	unquote(text);
	must(cfg_parse_scalar(key, type, text, arena, second, err, sizeof(err)) == 0, "'%s' printed, then: %s", text,
		err);
	if (is_text(type))
		must(strcmp(*(char *const *)value, *(char **)second) == 0, "'%s' became '%s'", *(char *const *)value,
			*(char **)second);
	else
		must(memcmp(value, second, cfg_value_size(key, type)) == 0, "'%s' is another value", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	enum cfg_type type = (enum cfg_type)(fuzz_byte(&in) % TYPES);
	struct cfg_key key = {.name = "key",
		.type = type,
		.words = words,
		.map = &map,
		.word = "any",
		.word_value = UINT64_MAX,
		.unit = (enum cfg_unit)(fuzz_byte(&in) % UNITS),
		.min = 1,
		.max = UINT64_MAX - 1};
	struct arena *arena = arena_new();
	char *text = malloc(in.left + 1), err[512] = "", expected[256] = "";
	uint64_t value[4] = {0};

	if (!arena || !text)
		abort();
	if (in.left)
		memcpy(text, in.at, in.left);
	text[in.left] = '\0';
	must(cfg_value_size(&key, type) <= sizeof(value), "a value of %zu bytes", cfg_value_size(&key, type));
	cfg_key_expected(&key, type, expected, sizeof(expected));
	must(expected[0], "nothing is expected of type %d", type);
	if (cfg_parse_scalar(&key, type, text, arena, value, err, sizeof(err)) == 0)
		same_again(&key, type, value, arena);
	else
		must(err[0], "refused without a word");
	free(text);
	arena_free(arena);
	return 0;
}
