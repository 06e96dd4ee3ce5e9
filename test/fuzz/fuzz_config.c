/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The YAML loader and the checks behind it. A refusal says something; what is accepted can be printed, is accepted
 * again and prints the same. The input is the text, but for beginnings that no YAML has:
 *
 *   01 and two bytes  the allocation of that number (low byte first) fails
 *   02                the text comes out of a file; without text, the file is not there
 *   03 and two bytes  both
 *   04                it is a directory
 */
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
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

static int take_mode(struct fuzz_input *in, unsigned int *fails)
{
	int mode = in->left && in->at[0] >= 1 && in->at[0] <= 4 ? fuzz_byte(in) : 0;

	if (mode & 1) {
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

	if (mode & 1)
		scarce_begin(fails);
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
