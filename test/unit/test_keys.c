/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of secret keys: permissions, errors with their place, and no key in any message. */
#include "test/support/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config/keys.h"

#define HEX_16 "00112233445566778899aabbccddeeff"
#define HEX_64 HEX_16 HEX_16 HEX_16 HEX_16

#define NODE \
	"node: {name: t, loopback: \"fd00::d\", usid: {block: \"5f00:0::/32\", node: 0x100}, infrastructure: " \
	"[\"fd00::/16\"]}\n" \
	"lcores: {control: 0, rx: [1], worker: [1]}\n" \
	"ports: [{name: in, device: net_null0, side: wan}]\n" \
	"hmac: {keys: hmac.keys}\n"

/* NODE with a file of keys, and all messages. A file with errors loads nothing, and a valid one has no message. */
static struct config *load(char **said)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text("./t.yaml", NODE, strlen(NODE), &diags);
	size_t size;
	FILE *out = open_memstream(said, &size);

	assert_non_null(out);
	assert_non_null(c);
	c = cfg_load_beside(c, "./t.yaml", &diags);
	assert_int_equal(c != NULL, diags.n + diags.suppressed == 0);
	cfg_diags_print(&diags, out);
	fclose(out);
	cfg_diags_free(&diags);
	return c;
}

static void write_keys(const void *text, size_t size)
{
	int fd = open("hmac.keys", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, size), (ssize_t)size);
	assert_int_equal(fchmod(fd, 0600), 0);
	close(fd);
}

static void refused(const char *row, const char *want)
{
	char *said;
	struct config *c = load(&said);

	check_text(row, said, want);
	free(said);
	cfg_free(c);
}

#define AT_KEY "./t.yaml:4:14: error: keys: "

static void modes(void **state)
{
	static const struct {
		mode_t mode;
		bool good;
	} rows[] = {{0600, true}, {0400, true}, {0700, true}, {0640, false}, {0620, false}, {0610, false},
		{0604, false}, {0602, false}, {0601, false}, {0644, false}, {0666, false}};

	(void)state;
	write_keys("1 " HEX_16 "\n", 35);
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char row[16];

		snprintf(row, sizeof(row), "%o", (unsigned int)rows[i].mode);
		assert_int_equal(chmod("hmac.keys", rows[i].mode), 0);
		refused(row,
			rows[i].good ? ""
				     : AT_KEY
				"users other than its owner have access to ./hmac.keys; type: chmod 600 ./hmac.keys\n");
	}
}

/* Its owner can read it whatever the mode, and put other keys there. */
static void owner(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	write_keys("1 " HEX_16 "\n", 35);
	assert_int_equal(chown("hmac.keys", 12345, 0), 0);
	refused("another's", AT_KEY
		"./hmac.keys belongs to another user (12345), who can read and change it; type: chown 0 ./hmac.keys\n");
	assert_int_equal(chown("hmac.keys", 0, 12345), 0);
	refused("another group, which may nothing", "");
}

/* Neither read nor waited for: a FIFO without a writer would be opened for ever. */
static void no_files(void **state)
{
	(void)state;
	unlink("hmac.keys");
	refused("missing", AT_KEY "cannot open ./hmac.keys: No such file or directory\n");
	assert_int_equal(mkdir("hmac.keys", 0700), 0);
	refused("folder", AT_KEY "./hmac.keys is not a regular file\n");
	assert_int_equal(rmdir("hmac.keys"), 0);
	assert_int_equal(mkfifo("hmac.keys", 0600), 0);
	refused("FIFO", AT_KEY "./hmac.keys is not a regular file\n");
	unlink("hmac.keys");
	assert_int_equal(symlink("/dev/zero", "hmac.keys"), 0);
	refused("device", AT_KEY "./hmac.keys is not a regular file\n");
	unlink("hmac.keys");
	assert_int_equal(symlink("hmac.keys", "hmac.keys"), 0);
	refused("link to itself", AT_KEY "cannot open ./hmac.keys: Too many levels of symbolic links\n");
	unlink("hmac.keys");
}

/* A link is followed, as secrets are often mounted; what counts is the file it leads to. */
static void links(void **state)
{
	(void)state;
	write_keys("1 " HEX_16 "\n", 35);
	assert_int_equal(rename("hmac.keys", "real.keys"), 0);
	assert_int_equal(symlink("real.keys", "hmac.keys"), 0);
	refused("link", "");
	assert_int_equal(chmod("real.keys", 0644), 0);
	refused("link to what others may read",
		AT_KEY "users other than its owner have access to ./hmac.keys; type: chmod 600 ./hmac.keys\n");
	unlink("real.keys");
	refused("link to nothing", AT_KEY "cannot open ./hmac.keys: No such file or directory\n");
	unlink("hmac.keys");
}

#define AT(place) "./hmac.keys:" place ": error: "
#define ID "expected a key id from 1 to 4294967295\n"
#define SIZE "expected a key of 16 to 64 bytes, two hexadecimal digits each\n"
#define DIGIT "expected a hexadecimal digit\n"
#define TEXT(text) text, sizeof(text) - 1

static void lines(void **state)
{
	static const struct {
		const char *row, *text;
		size_t size;
		uint32_t keys;
		const char *said;
	} rows[] = {
		{"empty", TEXT(""), 0, ""},
		{"comments and blanks", TEXT("# none\n\n \t\r\n#"), 0, ""},
		{"shortest and longest", TEXT("1 " HEX_16 "\n2 " HEX_64 "\n"), 2, ""},
		{"upper case, tabs, CR LF, a comment", TEXT("\t0xFF\t00112233445566778899AABBCCDDEEFF\t# yes\r\n"), 1,
			""},
		{"no newline at the end", TEXT("4294967295 " HEX_16), 1, ""},
		{"decimal, not octal", TEXT("010 " HEX_16 "\n8 " HEX_16 "\n"), 2, ""},
		{"key id 0", TEXT("0 " HEX_16 "\n"), 0, AT("1:1") ID},
		{"large key id", TEXT("4294967296 " HEX_16 "\n"), 0, AT("1:1") ID},
		{"negative key id", TEXT("  -1 " HEX_16 "\n"), 0, AT("1:3") ID},
		{"key without its id", TEXT("\n" HEX_16 "\n"), 0, AT("2:1") ID},
		{"key id in front of nothing", TEXT("7\n"), 0, AT("1:2") SIZE},
		{"key id in front of a comment", TEXT("7 # " HEX_16 "\n"), 0, AT("1:3") SIZE},
		{"half a byte", TEXT("7 " HEX_16 "0\n"), 0, AT("1:3") SIZE},
		{"15 bytes", TEXT("7 112233445566778899aabbccddeeff\n"), 0, AT("1:3") SIZE},
		{"65 bytes", TEXT("7 " HEX_64 "00\n"), 0, AT("1:3") SIZE},
		{"prefix", TEXT("7 0x" HEX_16 "\n"), 0, AT("1:4") DIGIT},
		{"base64", TEXT("7 ABEiM0RVZneImaq7zN3u/w==\n"), 0, AT("1:6") DIGIT},
		{"three words", TEXT("7 " HEX_16 " key\n"), 0,
			AT("1:36") "expected the end of the line, or a comment: # ...\n"},
		{"NUL byte", TEXT("7 " HEX_16 "\n8\0 " HEX_16 "\n"), 0, AT("2:2") "expected text, found a NUL byte\n"},
		{"twice", TEXT("5 " HEX_16 "\n0x5 " HEX_64 "\n"), 0,
			AT("2:1") "this key id is already used in the file\n"},
		{"all at once", TEXT("0 " HEX_16 "\n1 zz\n2 " HEX_16 "\n2 " HEX_16 "\n3\n"), 0,
			AT("1:1") ID AT("2:3") DIGIT AT("4:1") "this key id is already used in the file\n" AT("5:2")
				SIZE},
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		char *said;
		struct config *c;

		write_keys(rows[i].text, rows[i].size);
		c = load(&said);
		check_text(rows[i].row, said, rows[i].said);
		check(!c || c->secrets->n == rows[i].keys, "%s: %u keys", rows[i].row, c->secrets->n);
		free(said);
		cfg_free(c);
	}
}

static void values(void **state)
{
	static const uint8_t want[] = {0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3,
		0xd2, 0xe1, 0xf0};
	static const char text[] = "70000 0f1E2d3C4b5A69788796a5B4c3D2e1F0\n1 " HEX_16 "\n";
	const struct cfg_key_secret *k;
	struct config *c;
	char *said;

	(void)state;
	write_keys(text, sizeof(text) - 1);
	c = load(&said);
	check_text("loads", said, "");
	k = cfg_secret(c, 70000);
	assert_non_null(k);
	assert_int_equal(k->bytes, sizeof(want));
	assert_memory_equal(k->key, want, sizeof(want));
	assert_non_null(cfg_secret(c, 1));
	assert_null(cfg_secret(c, 2));
	free(said);
	cfg_free(c);
}

/* As many keys and as many bytes as there may be, and one more; a comment of any length is one line. */
static void limits(void **state)
{
	static char text[CFG_KEYS_FILE_MAX + 1];
	size_t n = 0;

	(void)state;
	for (unsigned int i = 1; i <= CFG_KEYS_MAX; i++)
		n += (size_t)sprintf(text + n, "%u " HEX_64 "\n", i);
	write_keys(text, n);
	refused("256 keys", "");
	n += (size_t)sprintf(text + n, "257 " HEX_64 "\n");
	write_keys(text, n);
	refused("257 keys", AT("257:1") "expected at most 256 keys\n");
	memset(text, '1', sizeof(text));
	text[0] = '#';
	write_keys(text, sizeof(text) - 1);
	refused("one long comment", "");
	write_keys(text, sizeof(text));
	refused("too long", AT_KEY "./hmac.keys is larger than 256 KB\n");
	text[0] = '1';
	text[1] = ' ';
	write_keys(text, sizeof(text) - 1);
	refused("one long key", AT("1:3") SIZE);
}

static int enter(void **state)
{
	static char folder[] = "/tmp/keys-XXXXXX";

	*state = mkdtemp(folder);
	return !*state || chdir(*state) < 0;
}

static int leave(void **state)
{
	unlink("hmac.keys");
	return chdir("/") < 0 || rmdir(*state) < 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes),
		cmocka_unit_test(owner),
		cmocka_unit_test(no_files),
		cmocka_unit_test(links),
		cmocka_unit_test(lines),
		cmocka_unit_test(values),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests_name("keys", tests, enter, leave);
}
