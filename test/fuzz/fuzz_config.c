/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The YAML loader and the checks behind it. A refusal says something; what is accepted can be printed, is accepted
 * again and prints the same. The input is the text, but for beginnings that no YAML has:
 *
 *   01 and two bytes  the allocation of that number (low byte first) fails
 *   02                the text comes out of a file; without text, the file is not there
 *   03 and two bytes  both
 *   04                it is a directory
 *   05                it is the text of another file, which holds a configuration under the key "inside"
 *   06 and two bytes  the same, and the allocation of that number fails
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/marks.h"
#include "config/schema.h"
#include "test/fuzz/fuzz.h"
#include "test/fuzz/scarce.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static char *printed(const struct config *c, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	if (!out)
		abort();
	cfg_emit(c, out, 0);
	fclose(out);
	return text;
}

static bool complains(const struct cfg_diags *diags)
{
	return diags->n || diags->suppressed;
}

static void messages(struct cfg_diags *diags)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	cfg_diags_print(diags, out);
	fclose(out);
	must((size != 0) == complains(diags), "%u messages, %zu bytes", diags->n, size);
	free(text);
	cfg_diags_free(diags);
}

static void again(const char *first, size_t size)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text("again", first, size, &diags);
	char *second;

	must(c && diags.n == 0, "what was printed does not load: %s\n%s", diags.n ? diags.items[0].text : "", first);
	second = printed(c, &size);
	must(strcmp(first, second) == 0, "printed twice, it differs:\n%s\n%s", first, second);
	free(second);
	messages(&diags);
	cfg_free(c);
}

static struct config *load_file(const char *text, size_t size, struct cfg_diags *diags)
{
	static char path[64]; /* diags keep the pointer */
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct config *c;

	must(fd >= 0 && write(fd, text, size) == (ssize_t)size, "no memory file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d%s", fd, size ? "" : "/none");
	c = cfg_load_file(path, diags);
	close(fd);
	return c;
}

/* A file of another schema, as the lab's topologies are. */
struct outer {
	struct cfg_mark at;
	struct config *inside;
};

static const struct cfg_key outer_keys[] = {
	{.name = "inside", .type = CFG_CONFIG, .offset = offsetof(struct outer, inside), .flags = CFG_REQUIRED}};
static const struct cfg_map outer_map = {.name = "the file", .keys = outer_keys, .n_keys = 1, .size = sizeof(struct outer)};

static void load_outer(const char *text, size_t size, bool scarce, unsigned int fails)
{
	struct cfg_marks *marks = cfg_marks_new();
	struct arena *arena = arena_new();
	struct cfg_diags diags = {0};
	struct outer outer = {0};
	int rc;

	if (!marks || !arena)
		abort();
	if (scarce)
		scarce_begin(fails);
	rc = cfg_load_map("outer", text, size, &outer_map, &outer, arena, marks, &diags);
	scarce_end();
	must((rc == 0) == !complains(&diags), "%d with %u messages inside", rc, diags.n);
	must(rc < 0 || outer.inside, "nothing inside");
	if (rc == 0)
		cfg_check(outer.inside, &diags);
	messages(&diags);
	cfg_free(outer.inside);
	cfg_marks_free(marks);
	arena_free(arena);
}

static int take_mode(struct fuzz_input *in, unsigned int *fails)
{
	int mode = in->left && in->at[0] >= 1 && in->at[0] <= 6 ? fuzz_byte(in) : 0;

	if (mode == 1 || mode == 3 || mode == 6) {
		*fails = fuzz_byte(in);
		*fails |= (unsigned int)fuzz_byte(in) << 8;
	}
	return mode;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct cfg_diags diags = {0};
	unsigned int fails = 0;
	int mode = take_mode(&in, &fails), rc = 0;
	char *text = (char *)fuzz_exact(in.at, in.left), *first;
	struct config *c;

	if (mode == 1 || mode == 3)
		scarce_begin(fails);
	if (mode >= 5) {
		load_outer(text, in.left, mode == 6, fails);
		free(text);
		return 0;
	}
	if (mode == 4)
		c = cfg_load_file("/", &diags);
	else
		c = mode & 2 ? load_file(text, in.left, &diags) : cfg_load_text("fuzz", text, in.left, &diags);
	must((c != NULL) == !complains(&diags), "%u messages", diags.n);
	if (c) {
		rc = cfg_check(c, &diags);
		must((rc == 0) == !complains(&diags), "%d with %u messages", rc, diags.n);
	}
	scarce_end();
	if (c) {
		first = printed(c, &size);
		again(first, size);
		free(first);
	}
	messages(&diags);
	cfg_free(c);
	free(text);
	return 0;
}
