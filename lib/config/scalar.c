/* SPDX-License-Identifier: BSD-3-Clause */
/* Scalars of the schema: text to value, value to text, and descriptions of the expected values. Pure. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "base/text.h"
#include "config/model.h"
#include "config/schema.h"

#define NAME_MAX_LEN 31

/* Name of a unit in documentation: "bytes", "ms". */
static const char *unit_text(enum cfg_unit unit)
{
	static const char *const texts[] = {
		[UNIT_NONE] = "",
		[UNIT_COUNT] = "",
		[UNIT_BYTES] = "bytes",
		[UNIT_BPS] = "bit/s",
		[UNIT_PER_SECOND] = "/s",
		[UNIT_SECONDS] = "s",
		[UNIT_MS] = "ms",
		[UNIT_US] = "us",
	};

	return texts[unit];
}

static unsigned int unit_base(enum cfg_unit unit)
{
	return unit == UNIT_BPS || unit == UNIT_PER_SECOND ? 1000 : 1024;
}

static void expected_number(const struct cfg_key *key, char *buf, size_t size)
{
	unsigned int base = unit_base(key->unit);
	const char *unit = unit_text(key->unit);
	char lo[24], hi[24];

	snprintf(buf, size, "a whole number from %s to %s%s%s", text_format_number(key->min, base, lo, 24),
		text_format_number(key->max, base, hi, 24), *unit ? " " : "", unit);
}

void cfg_key_expected(const struct cfg_key *key, enum cfg_type type, char *buf, size_t size)
{
	static const char *const texts[] = {
		[CFG_MAP] = "a mapping",
		[CFG_LIST_OF] = "a list",
		[CFG_BOOL] = "true or false",
		[CFG_NAME] = "a name of letters, digits, '-', '_' and '.', at most 31 characters",
		[CFG_TEXT] = "text",
		[CFG_MAC] = "a MAC address like \"02:00:00:00:00:01\"",
		[CFG_IP] = "an IPv4 or IPv6 address",
		[CFG_IPV6] = "an IPv6 address",
		[CFG_PREFIX] = "a prefix like 10.1.0.0/16 or \"2001:db8::/32\"",
		[CFG_PREFIX6] = "an IPv6 prefix like \"2001:db8::/32\"",
		[CFG_IFADDR] = "an address with its prefix length, like 10.1.0.1/24",
		[CFG_TIME] = "a time like 100ns, 5us, 2.5ms or 1s",
		[CFG_FRACTION] = "a share from 0 to 1, like 0.001, 1e-6 or 0.1%",
		[CFG_CONFIG] = "a mapping: the configuration of a node",
	};
	size_t n;

	if (type == CFG_WORD) {
		n = (size_t)snprintf(buf, size, "one of");
		for (unsigned int i = 0; key->words[i] && n < size; i++)
			n += (size_t)snprintf(buf + n, size - n, "%s %s", i ? "," : "", key->words[i]);
	} else if (type == CFG_UINT) {
		/* limits of a list are limits of its length */
		if (key->type == CFG_LIST_OF)
			snprintf(buf, size, "a whole number");
		else
			expected_number(key, buf, size);
	} else if (type == CFG_SCALE) {
		expected_number(key, buf, size);
		n = strlen(buf);
		snprintf(buf + n, size - n, ", or %s", key->word);
	} else if (type == CFG_TIME) {
		n = (size_t)snprintf(buf, size, "%s", texts[type]);
		if (key->word)
			snprintf(buf + n, size - n, ", or %s", key->word);
		else if (key->max)
			snprintf(buf + n, size - n, ", at least %llu ns and at most %llu s",
				(unsigned long long)key->min, (unsigned long long)(key->max / NSEC_PER_SEC));
	} else {
		snprintf(buf, size, "%s", texts[type]);
	}
}

size_t cfg_value_size(const struct cfg_key *key, enum cfg_type type)
{
	switch (type) {
	case CFG_MAP:
		return key->map->size;
	case CFG_BOOL:
		return sizeof(bool);
	case CFG_UINT:
	case CFG_SCALE:
	case CFG_TIME:
		return sizeof(uint64_t);
	case CFG_FRACTION:
		return sizeof(double);
	case CFG_CONFIG:
		return sizeof(void *);
	case CFG_WORD:
		return sizeof(uint32_t);
	case CFG_NAME:
	case CFG_TEXT:
		return sizeof(char *);
	case CFG_MAC:
		return sizeof(struct eth_addr);
	case CFG_IP:
	case CFG_IPV6:
		return sizeof(struct ip_addr);
	case CFG_PREFIX:
	case CFG_PREFIX6:
	case CFG_IFADDR:
		return sizeof(struct ip_prefix);
	case CFG_LIST_OF:
		break;
	}
	return 0;
}

static int reject(char *err, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
static int reject(char *err, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, size, format, args);
	va_end(args);
	return -EINVAL;
}

static int reject_type(const struct cfg_key *key, enum cfg_type type, const char *text, char *err, size_t size)
{
	char expected[256];

	cfg_key_expected(key, type, expected, sizeof(expected));
	return reject(err, size, "expected %s, found '%.60s'", expected, text);
}

static int parse_word(const struct cfg_key *key, const char *text, uint32_t *out, char *err, size_t size)
{
	const char *near;
	size_t n = 0;
	int rc;

	for (; key->words[n]; n++) {
		if (strcmp(key->words[n], text) == 0) {
			*out = (uint32_t)n;
			return 0;
		}
	}
	rc = reject_type(key, CFG_WORD, text, err, size);
	near = text_nearest(text, key->words, n);
	if (near) {
		n = strlen(err);
		snprintf(err + n, size - n, "; did you mean '%s'?", near);
	}
	return rc;
}

static int parse_uint(const struct cfg_key *key, enum cfg_type type, const char *text, uint64_t *out, char *err,
	size_t size)
{
	uint64_t value;

	if (type == CFG_SCALE && strcmp(text, key->word) == 0) {
		*out = key->word_value;
		return 0;
	}
	if (text_parse_number(text, unit_base(key->unit), &value) < 0)
		return reject_type(key, type, text, err, size);
	if (key->type != CFG_LIST_OF && (value < key->min || value > key->max))
		return reject_type(key, type, text, err, size);
	*out = value;
	return 0;
}

/* Suffixes of a time, from the smallest unit. */
static const struct {
	const char *name;
	uint64_t ns;
} time_units[] = {{"ns", 1}, {"us", NSEC_PER_USEC}, {"ms", NSEC_PER_MSEC}, {"s", NSEC_PER_SEC}};

static int parse_time(const struct cfg_key *key, const char *text, uint64_t *out)
{
	double value;
	char *end;

	if (key->word && strcmp(text, key->word) == 0) {
		*out = key->word_value;
		return 0;
	}
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	value = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
		if (strcmp(end, time_units[i].name) != 0 || value * (double)time_units[i].ns > 1e18)
			continue;
		*out = (uint64_t)(value * (double)time_units[i].ns + 0.5);
		return *out < key->min || (key->max && *out > key->max) ? -EINVAL : 0;
	}
	/* zero needs no unit */
	*out = 0;
	return *end || value != 0 || key->min ? -EINVAL : 0;
}

static int parse_fraction(const char *text, double *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	*out = strtod(text, &end);
	if (*end == '%') {
		*out /= 100;
		end++;
	}
	return *end || !(*out >= 0 && *out <= 1) ? -EINVAL : 0;
}

static int parse_bool(const char *text, bool *out)
{
	static const char *const yes[] = {"true", "yes", "on"}, *const no[] = {"false", "no", "off"};

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*out = strcmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return -EINVAL;
}

static bool is_name(const char *text)
{
	size_t n = strlen(text);

	if (n < 1 || n > NAME_MAX_LEN || text[0] == '-' || text[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return true;
}

/* C0, DEL and C1: YAML accepts them only as escapes, and no name of a device or file contains them. */
static bool has_control(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f))
			return true;
	return false;
}

static int parse_prefix(const struct cfg_key *key, enum cfg_type type, const char *text, struct ip_prefix *out,
	char *err, size_t size)
{
	struct ip_prefix network;
	char buf[IP_PREFIX_TEXT];

	if (ip_prefix_parse(text, out) < 0 || (type == CFG_PREFIX6 && out->addr.family != 6))
		return reject_type(key, type, text, err, size);
	if (type == CFG_IFADDR) {
		if (!strchr(text, '/'))
			return reject_type(key, type, text, err, size);
		return 0;
	}
	network = ip_prefix_network(out);
	if (!ip_prefix_equal(&network, out))
		return reject(err, size, "'%s' has bits set after its prefix length; did you mean '%s'?", text,
			ip_prefix_format(&network, buf));
	return 0;
}

int cfg_parse_scalar(const struct cfg_key *key, enum cfg_type type, const char *text, struct arena *arena, void *out,
	char *err, size_t size)
{
	int rc = 0;

	switch (type) {
	case CFG_BOOL:
		rc = parse_bool(text, out);
		break;
	case CFG_UINT:
	case CFG_SCALE:
		return parse_uint(key, type, text, out, err, size);
	case CFG_WORD:
		return parse_word(key, text, out, err, size);
	case CFG_NAME:
		if (!is_name(text))
			return reject_type(key, type, text, err, size);
		/* fall through */
	case CFG_TEXT: {
		char *copy;

		if (!*text || strlen(text) > CFG_TEXT_MAX)
			return reject(err, size, "expected text of 1 to %d characters", CFG_TEXT_MAX);
		if (has_control(text))
			return reject(err, size, "expected text without control characters");
		copy = arena_strdup(arena, text);
		if (!copy)
			return reject(err, size, "out of memory");
		memcpy(out, &copy, sizeof(copy));
		return 0;
	}
	case CFG_MAC:
		rc = eth_addr_parse(text, out);
		break;
	case CFG_IP:
		rc = ip_addr_parse(text, out);
		break;
	case CFG_IPV6:
		rc = ip_addr_parse(text, out);
		if (rc == 0 && ((struct ip_addr *)out)->family != 6)
			rc = -EINVAL;
		break;
	case CFG_PREFIX:
	case CFG_PREFIX6:
	case CFG_IFADDR:
		return parse_prefix(key, type, text, out, err, size);
	case CFG_TIME:
		rc = parse_time(key, text, out);
		break;
	case CFG_FRACTION:
		rc = parse_fraction(text, out);
		break;
	case CFG_MAP:
	case CFG_LIST_OF:
	case CFG_CONFIG:
		rc = -EINVAL;
		break;
	}
	return rc < 0 ? reject_type(key, type, text, err, size) : 0;
}

/* YAML needs quotes around text that could be read as another type, or that contains YAML punctuation. */
static void format_text(const char *text, char *buf, size_t size)
{
	static const char *const not_text[] = {"true", "false", "yes", "no", "on", "off", "null", "~"};
	bool quote = strpbrk(text, ":#[]{},&*!|>'\"%@`\\") || text[0] == '-' || text[0] == '?' || text[0] == ' ' ||
		     (text[0] && text[strlen(text) - 1] == ' ');
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(not_text); i++)
		quote = quote || strcasecmp(text, not_text[i]) == 0;
	for (const char *p = text; *p; p++)
		quote = quote || (unsigned char)*p >= 0x7f;
	if (!quote) {
		snprintf(buf, size, "%s", text);
		return;
	}
	buf[n++] = '"';
	for (const char *p = text; *p && n + 4 <= size; p++) {
		if (*p == '"' || *p == '\\')
			buf[n++] = '\\';
		buf[n++] = *p;
	}
	buf[n++] = '"';
	buf[n] = '\0';
}

/* Uses the largest unit that gives a whole number. */
static void format_time(uint64_t ns, char *buf, size_t size)
{
	size_t i = ARRAY_LEN(time_units) - 1;

	while (i && (ns % time_units[i].ns || !ns))
		i--;
	snprintf(buf, size, "%llu%s", (unsigned long long)(ns / time_units[i].ns), time_units[i].name);
}

void cfg_format_scalar(const struct cfg_key *key, enum cfg_type type, const void *value, char *buf, size_t size)
{
	char tmp[IP_PREFIX_TEXT];
	const char *text;
	uint64_t number;

	switch (type) {
	case CFG_BOOL:
		snprintf(buf, size, "%s", *(const bool *)value ? "true" : "false");
		return;
	case CFG_SCALE:
	case CFG_UINT:
		memcpy(&number, value, sizeof(number));
		if (type == CFG_SCALE && number == key->word_value)
			snprintf(buf, size, "%s", key->word);
		else if (key->unit == UNIT_NONE || key->unit == UNIT_MS || key->unit == UNIT_US)
			snprintf(buf, size, "%llu", (unsigned long long)number);
		else
			text_format_number(number, unit_base(key->unit), buf, size);
		return;
	case CFG_WORD: {
		uint32_t word;

		memcpy(&word, value, sizeof(word));
		snprintf(buf, size, "%s", key->words[word]);
		return;
	}
	case CFG_NAME:
	case CFG_TEXT:
		memcpy(&text, value, sizeof(text));
		format_text(text ? text : "", buf, size);
		return;
	case CFG_MAC:
		format_text(eth_addr_format(value, tmp), buf, size);
		return;
	case CFG_IP:
	case CFG_IPV6:
		format_text(ip_addr_format(value, tmp), buf, size);
		return;
	case CFG_PREFIX:
	case CFG_PREFIX6:
	case CFG_IFADDR:
		format_text(ip_prefix_format(value, tmp), buf, size);
		return;
	case CFG_TIME:
		memcpy(&number, value, sizeof(number));
		if (key->word && number == key->word_value)
			snprintf(buf, size, "%s", key->word);
		else
			format_time(number, buf, size);
		return;
	case CFG_FRACTION: {
		double share;

		memcpy(&share, value, sizeof(share));
		/* uses the fewest digits that distinguish it from every other number */
		for (int digits = 6; digits <= 17; digits++) {
			snprintf(buf, size, "%.*g", digits, share);
			if (strtod(buf, NULL) == share)
				break;
		}
		return;
	}
	case CFG_MAP:
	case CFG_LIST_OF:
	case CFG_CONFIG:
		break;
	}
	buf[0] = '\0';
}
