/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the file of HMAC keys (RFC 8754 section 2.1.2.1). Its owner and mode must deny access to others. Keys are wiped
 * from memory after use. Management thread.
 */
#include "config/keys.h"

#include <bsd/string.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "config/config.h"
#include "config/schema.h"

#define BLANKS " \t\r"

struct keys_file {
	struct config *config;
	const char *path;
	struct cfg_diags *diags;
	uint32_t line;	  /* from 1 */
	const char *text; /* start of that line */
};

/* The message must not contain the text found: it may be a key. */
static void report_line(struct keys_file *f, const char *where, const char *expected)
{
	struct cfg_mark at = {f->line, (uint32_t)(where - f->text) + 1};

	cfg_diag_add_in(f->diags, f->path, at, "%s", expected);
}

/* The next word from *at, terminated by NUL; "" at the end of the line. Advances *at past the word. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, BLANKS), *end = word + strcspn(word, BLANKS);

	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static unsigned int digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned int)(c - '0')
					 : (unsigned int)(tolower((unsigned char)c) - 'a') + 10;
}

static bool parse_key(struct keys_file *f, const char *hex, struct cfg_key_secret *k)
{
	size_t n = strlen(hex), digits = strspn(hex, "0123456789abcdefABCDEF");

	if (digits < n) {
		report_line(f, hex + digits, "expected a hexadecimal digit");
		return false;
	}
	if (n % 2 || n < 2 * CFG_KEY_BYTES_MIN || n > 2 * CFG_KEY_BYTES_MAX) {
		report_line(f, hex, "expected a key of 16 to 64 bytes, two hexadecimal digits each");
		return false;
	}
	k->bytes = (uint32_t)n / 2;
	for (uint32_t i = 0; i < k->bytes; i++)
		k->key[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
	return true;
}

/* Parse a line without its comment: empty, or a key id and a key. */
static void parse_line(struct keys_file *f, char *line)
{
	struct cfg_secrets *s = f->config->secrets;
	struct cfg_key_secret *k = &s->key[s->n];
	char *id = next_word(&line), *hex = next_word(&line), *more = next_word(&line);
	uint64_t value;

	if (!*id)
		return;
	if (text_parse_number(id, 1000, &value) < 0 || !value || value > UINT32_MAX) {
		report_line(f, id, "expected a key id from 1 to 4294967295");
		return;
	}
	if (cfg_secret(f->config, (uint32_t)value)) {
		report_line(f, id, "this key id is already used in the file");
		return;
	}
	if (s->n == CFG_KEYS_MAX) {
		report_line(f, id, "expected at most 256 keys");
		return;
	}
	k->id = (uint32_t)value;
	if (!parse_key(f, hex, k))
		return;
	if (*more)
		report_line(f, more, "expected the end of the line, or a comment: # ...");
	s->n++;
}

static void parse_keys(struct keys_file *f, char *text, size_t size)
{
	char *end = text + size, *next;

	for (f->line = 1; text < end; f->line++, text = next) {
		char *newline = memchr(text, '\n', (size_t)(end - text)), *nul;

		next = newline ? newline + 1 : end;
		f->text = text;
		nul = memchr(text, '\0', (size_t)(next - text));
		if (nul) {
			report_line(f, nul, "expected text, found a NUL byte");
			continue;
		}
		*(newline ? newline : end) = '\0'; /* the buffer has one byte after the text */
		text[strcspn(text, "#")] = '\0';
		parse_line(f, text);
	}
}

/*
 * Open without blocking (a FIFO would wait for a writer), and check the file that was opened: the file of a name may
 * change between two system calls. Returns a descriptor, or -1 with a message.
 */
static int open_keys(const char *path, struct cfg_mark at, struct cfg_diags *d)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		cfg_diag_add(d, at, "keys: cannot open %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		cfg_diag_add(d, at, "keys: %s is not a regular file", path);
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		cfg_diag_add(d, at,
			"keys: %s belongs to another user (%u), who can read and change it; type: chown %u %s", path,
			st.st_uid, geteuid(), path);
	else if (st.st_mode & (S_IRWXG | S_IRWXO))
		cfg_diag_add(d, at, "keys: users other than its owner have access to %s; type: chmod 600 %s", path,
			path);
	else if (st.st_size > CFG_KEYS_FILE_MAX)
		cfg_diag_add(d, at, "keys: %s is larger than %u KB", path, CFG_KEYS_FILE_MAX >> 10);
	else
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Does not use a FILE, whose buffer would keep copies of keys. */
static void read_keys(struct keys_file *f, int fd, struct cfg_mark at)
{
	char *text = malloc(CFG_KEYS_FILE_MAX + 1);
	size_t size = 0;
	ssize_t n = 1;

	while (text && n > 0 && size < CFG_KEYS_FILE_MAX) {
		n = read(fd, text + size, CFG_KEYS_FILE_MAX - size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (!text || n < 0)
		cfg_diag_add(f->diags, at, "keys: cannot read %s: %s", f->path, strerror(errno));
	else
		parse_keys(f, text, size);
	if (text)
		explicit_bzero(text, size);
	free(text);
}

int cfg_load_secrets(struct config *c, const char *beside, struct cfg_diags *d)
{
	struct cfg_mark at = cfg_where(c, &c->hmac.keys);
	unsigned int before = cfg_diags_errors(d);
	struct keys_file f = {.config = c, .diags = d};
	int fd;

	if (!c->hmac.keys)
		return 0;
	f.path = cfg_path_beside(c->arena, beside, c->hmac.keys);
	c->secrets = calloc(1, sizeof(*c->secrets));
	if (!f.path || !c->secrets) {
		cfg_diag_add(d, at, "keys: out of memory");
		return -EINVAL;
	}
	fd = open_keys(f.path, at, d);
	if (fd >= 0) {
		read_keys(&f, fd, at);
		close(fd);
	}
	return cfg_diags_errors(d) > before ? -EINVAL : 0;
}

const struct cfg_key_secret *cfg_secret(const struct config *c, uint32_t id)
{
	for (uint32_t i = 0; c->secrets && i < c->secrets->n; i++)
		if (c->secrets->key[i].id == id)
			return &c->secrets->key[i];
	return NULL;
}

void cfg_free_secrets(struct config *c)
{
	if (c->secrets)
		explicit_bzero(c->secrets, sizeof(*c->secrets));
	free(c->secrets);
	c->secrets = NULL;
}
