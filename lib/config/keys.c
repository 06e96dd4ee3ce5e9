/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/keys.h"

#include <bsd/string.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/config.h"

#define LINE_MAX_BYTES 512

static void path_of(const struct config *c, const char *beside, char *path, size_t size)
{
	const char *slash = strrchr(beside, '/');

	if (c->hmac.keys[0] == '/' || !slash)
		snprintf(path, size, "%s", c->hmac.keys);
	else
		snprintf(path, size, "%.*s/%s", (int)(slash - beside), beside, c->hmac.keys);
}

/* Two digits a byte; the number of bytes, or -1. */
static int hex_bytes(const char *text, uint8_t *out)
{
	int n = 0;

	for (; isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]); text += 2) {
		char pair[3] = {text[0], text[1], '\0'};

		if (n == CFG_KEY_BYTES_MAX)
			return -1;
		out[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return *text ? -1 : n;
}

/* What is wrong with a line, or NULL. */
static const char *parse_line(struct cfg_secrets *s, char *line)
{
	struct cfg_key_secret *k = &s->key[s->n];
	char *save = NULL, *id, *hex, *end;
	int bytes;

	line[strcspn(line, "#\n")] = '\0';
	id = strtok_r(line, " \t\r", &save);
	hex = strtok_r(NULL, " \t\r", &save);
	if (!id)
		return NULL;
	if (s->n == CFG_KEYS_MAX)
		return "more than 256 keys";
	errno = 0;
	k->id = (uint32_t)strtoul(id, &end, 0);
	if (*end || errno || !k->id || strtoul(id, NULL, 0) > UINT32_MAX || !isdigit((unsigned char)*id))
		return "expected a key id from 1 to 4294967295 in front";
	if (!hex || strtok_r(NULL, " \t\r", &save))
		return "expected a key id and a key in hexadecimal";
	bytes = hex_bytes(hex, k->key);
	if (bytes < CFG_KEY_BYTES_MIN)
		return "expected 16 to 64 bytes in hexadecimal behind the key id";
	k->bytes = (uint32_t)bytes;
	for (uint32_t i = 0; i < s->n; i++)
		if (s->key[i].id == k->id)
			return "this key id stands in the file already";
	s->n++;
	return NULL;
}

static void read_lines(struct config *c, struct cfg_diags *d, FILE *f, struct cfg_mark at)
{
	char line[LINE_MAX_BYTES];
	const char *why;

	for (unsigned int n = 1; fgets(line, sizeof(line), f); n++) {
		why = parse_line(c->secrets, line);
		if (why)
			cfg_diag_add(d, at, "keys: %s: line %u: %s", c->hmac.keys, n, why);
	}
	explicit_bzero(line, sizeof(line));
}

int cfg_load_secrets(struct config *c, const char *beside, struct cfg_diags *d)
{
	struct cfg_mark at = cfg_where(c, &c->hmac.keys);
	unsigned int before = d->n + d->suppressed;
	char path[1024];
	struct stat st;
	FILE *f;

	if (!c->hmac.keys)
		return 0;
	path_of(c, beside, path, sizeof(path));
	c->secrets = calloc(1, sizeof(*c->secrets));
	f = c->secrets ? fopen(path, "re") : NULL;
	if (!f || fstat(fileno(f), &st) < 0)
		cfg_diag_add(d, at, "keys: cannot open %s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode) || st.st_mode & (S_IRWXG | S_IRWXO))
		cfg_diag_add(d, at, "keys: %s may be read by others than its owner; chmod 600 %s", path, path);
	else
		read_lines(c, d, f, at);
	if (f)
		fclose(f);
	return d->n + d->suppressed > before ? -EINVAL : 0;
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
