/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The YAML loader and the checks after it. A refusal has a message; what is accepted can be printed, is accepted
 * again and prints the same. The input is the text, but for beginnings that no YAML has:
 *
 *   01 and two bytes  the allocation of that number (low byte first) fails
 *   02                the text comes out of a file; without text, the file is not there
 *   03 and two bytes  both
 *   04                it is a directory
 *   05                it is the text of another file, which holds a configuration under the key "inside"
 *   06 and two bytes  the same, and the allocation of that number fails
 *   07                it is a JSON file of other nodes' SIDs
 *   08 and two bytes  the same, and the allocation of that number fails
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "config/config.h"
#include "config/marks.h"
#include "config/remote_sids.h"
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
	return cfg_diags_errors(diags) != 0;
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
	must((size != 0) == (diags->n || diags->suppressed), "%u messages, %zu bytes", diags->n, size);
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
static const struct cfg_map outer_map = {.name = "the file",
	.keys = outer_keys,
	.n_keys = 1,
	.size = sizeof(struct outer)};

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

static struct config *with_remote_sids(const char *text, size_t size, struct cfg_diags *diags)
{
	static const char node[] =
		"node: {name: r3, loopback: \"fd00::3\", infrastructure: [\"fd00::/16\"], usid: {block: "
		"\"5f00:0::/32\"}}\n"
		"lcores: {control: 0, rx: [1], worker: [1]}\nports: [{name: wan0, device: net_null0, side: wan}]\n"
		"sids: [{sid: \"5f00:0:1::/48\", behavior: uN}]\nremote-sids-files: [a.json]\n";
	static struct cfg_remote_file room;
	struct config *c = cfg_load_text("node", node, sizeof(node) - 1, diags);

	if (!c)
		return NULL;
	room = (struct cfg_remote_file){0};
	c->imported.items = &room;
	if (cfg_remote_load_text(c, "a.json", text, size, diags) == 0 && cfg_check(c, diags) == 0)
		return c;
	cfg_free(c);
	diags->file = "node"; /* the check had them name the configuration's own */
	return NULL;
}

/* A file of SIDs that is taken comes out as one that is taken, and that comes out the same. */
static void load_remote(const char *text, size_t size, bool scarce, unsigned int fails)
{
	struct cfg_diags diags = {0};
	char *written[2] = {NULL, NULL};
	struct config *c;
	json_t *json;

	if (scarce)
		scarce_begin(fails);
	c = with_remote_sids(text, size, &diags);
	scarce_end();
	must((c != NULL) == !complains(&diags), "%u messages", diags.n);
	for (unsigned int i = 0; c && i < 2; i++) {
		json = cfg_remote_json(c);
		written[i] = json ? json_dumps(json, 0) : NULL;
		must(written[i], "nothing written");
		json_decref(json);
		cfg_free(c);
		c = with_remote_sids(written[i], strlen(written[i]), &diags);
		must(c, "what was written does not load: %s\n%s", diags.n ? diags.items[0].text : "", written[i]);
	}
	must(!written[0] || strcmp(written[0], written[1]) == 0, "written twice, it differs:\n%s\n%s", written[0],
		written[1]);
	free(written[0]);
	free(written[1]);
	cfg_free(c);
	messages(&diags);
}

static int take_mode(struct fuzz_input *in, unsigned int *fails)
{
	int mode = in->left && in->at[0] >= 1 && in->at[0] <= 8 ? fuzz_byte(in) : 0;

	if (mode == 1 || mode == 3 || mode == 6 || mode == 8) {
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
	if (mode >= 7) {
		load_remote(text, in.left, mode == 8, fails);
		free(text);
		return 0;
	}
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
