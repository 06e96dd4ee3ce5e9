/* SPDX-License-Identifier: BSD-3-Clause */
/* One value of every type of the schema: accepted values, their printed form, refused values and their errors. */
#include "test/support/unit.h"

#include <errno.h>

#include "base/arena.h"
#include "config/model.h"
#include "config/schema.h"

static const char *const some_words[] = {"poll", "sleep", NULL};

static const struct cfg_key key_bool = {"flag", CFG_BOOL};
static const struct cfg_key key_count = {"count", CFG_UINT, .unit = UNIT_COUNT, .min = 2, .max = 65536};
static const struct cfg_key key_plain = {"plain", CFG_UINT, .min = 0, .max = UINT64_MAX};
static const struct cfg_key key_ms = {"time", CFG_UINT, .unit = UNIT_MS, .min = 10, .max = 60000};
static const struct cfg_key key_bps = {"speed", CFG_UINT, .unit = UNIT_BPS, .min = 1000000, .max = 3200000000000};
static const struct cfg_key key_items = {"items", CFG_LIST_OF, .item = CFG_UINT, .min = 1, .max = 2};
static const struct cfg_key key_word = {"word", CFG_WORD, .words = some_words};
static const struct cfg_key key_name = {"name", CFG_NAME};
static const struct cfg_key key_text = {"text", CFG_TEXT};
static const struct cfg_key key_mac = {"mac", CFG_MAC};
static const struct cfg_key key_ip = {"ip", CFG_IP};
static const struct cfg_key key_ipv6 = {"ipv6", CFG_IPV6};
static const struct cfg_key key_prefix = {"prefix", CFG_PREFIX};
static const struct cfg_key key_prefix6 = {"prefix6", CFG_PREFIX6};
static const struct cfg_key key_ifaddr = {"ifaddr", CFG_IFADDR};
static const struct cfg_key key_scale = {"scale", CFG_SCALE, .max = 126, .word = "any", .word_value = CFG_NONE};

static const struct cfg_key key_delay = {"delay", CFG_TIME, .max = 10 * NSEC_PER_SEC};
static const struct cfg_key key_detect = {"detect", CFG_TIME, .min = 1, .word = "never", .word_value = TIME_NEVER};
static const struct cfg_key key_loss = {"loss", CFG_FRACTION};

#define TIME_WANTED "expected a time like 100ns, 5us, 2.5ms or 1s"
#define LOSS_WANTED "expected a share from 0 to 1, like 0.001, 1e-6 or 0.1%, found "
#define MAC_WANTED "expected a MAC address like \"02:00:00:00:00:01\", found "
#define NAME_WANTED "expected a name of letters, digits, '-', '_' and '.', at most 31 characters, found "
#define PREFIX_WANTED "expected a prefix like 10.1.0.0/16 or \"2001:db8::/32\", found "
#define PREFIX6_WANTED "expected an IPv6 prefix like \"2001:db8::/32\", found "
#define IFADDR_WANTED "expected an address with its prefix length, like 10.1.0.1/24, found "

static void scalars(void **state)
{
	static const struct {
		const struct cfg_key *key;
		const char *text;
		const char *formatted; /* what `show config` writes; NULL: refused */
		const char *err;
	} rows[] = {
		{&key_bool, "true", "true", NULL},
		{&key_bool, "yes", "true", NULL},
		{&key_bool, "on", "true", NULL},
		{&key_bool, "false", "false", NULL},
		{&key_bool, "no", "false", NULL},
		{&key_bool, "off", "false", NULL},
		{&key_bool, "1", NULL, "expected true or false, found '1'"},
		{&key_bool, "True", NULL, "expected true or false, found 'True'"},
		{&key_bool, "", NULL, "expected true or false, found ''"},

		{&key_delay, "0", "0ns", NULL},
		{&key_delay, "17ns", "17ns", NULL},
		{&key_delay, "2500ns", "2500ns", NULL},
		{&key_delay, "2.5us", "2500ns", NULL},
		{&key_delay, "5000us", "5ms", NULL},
		{&key_delay, "1.5s", "1500ms", NULL},
		{&key_delay, "10s", "10s", NULL},
		{&key_delay, "11s", NULL, TIME_WANTED ", at least 0 ns and at most 10 s, found '11s'"},
		{&key_delay, "1e300s", NULL, TIME_WANTED ", at least 0 ns and at most 10 s, found '1e300s'"},
		{&key_delay, "5", NULL, TIME_WANTED ", at least 0 ns and at most 10 s, found '5'"},
		{&key_delay, "-5ms", NULL, TIME_WANTED ", at least 0 ns and at most 10 s, found '-5ms'"},
		{&key_delay, "5m", NULL, TIME_WANTED ", at least 0 ns and at most 10 s, found '5m'"},
		{&key_detect, "never", "never", NULL},
		{&key_detect, "1us", "1us", NULL},
		{&key_detect, "0", NULL, TIME_WANTED ", or never, found '0'"},
		{&key_detect, "ever", NULL, TIME_WANTED ", or never, found 'ever'"},

		{&key_loss, "0", "0", NULL},
		{&key_loss, "0.1%", "0.001", NULL},
		/* found by fuzzing: printed with fewer digits it was another number */
		{&key_loss, "0.1234567890123456", "0.1234567890123456", NULL},
		{&key_loss, "1e-6", "1e-06", NULL},
		{&key_loss, "1", "1", NULL},
		{&key_loss, "100%", "1", NULL},
		{&key_loss, "1.01", NULL, LOSS_WANTED "'1.01'"},
		{&key_loss, "101%", NULL, LOSS_WANTED "'101%'"},
		{&key_loss, "nan", NULL, LOSS_WANTED "'nan'"},
		{&key_loss, "0.1 %", NULL, LOSS_WANTED "'0.1 %'"},

		{&key_count, "2", "2", NULL},
		{&key_count, "0x10", "16", NULL},
		{&key_count, "64K", "64K", NULL},
		{&key_count, "2048", "2K", NULL},
		{&key_count, "1", NULL, "expected a whole number from 2 to 64K, found '1'"},
		{&key_count, "65537", NULL, "expected a whole number from 2 to 64K, found '65537'"},
		{&key_count, "99999999999999999999", NULL,
			"expected a whole number from 2 to 64K, found '99999999999999999999'"},
		{&key_count, "-3", NULL, "expected a whole number from 2 to 64K, found '-3'"},
		{&key_count, "3.5", NULL, "expected a whole number from 2 to 64K, found '3.5'"},
		{&key_count, "many", NULL, "expected a whole number from 2 to 64K, found 'many'"},
		{&key_count, "", NULL, "expected a whole number from 2 to 64K, found ''"},
		{&key_plain, "18446744073709551615", "18446744073709551615", NULL},
		{&key_plain, "0", "0", NULL},
		{&key_ms, "1000", "1000", NULL}, /* times are never abbreviated */
		{&key_ms, "2K", "2048", NULL},
		{&key_ms, "9", NULL, "expected a whole number from 10 to 60000 ms, found '9'"},
		{&key_bps, "100G", "100G", NULL},
		{&key_bps, "100000000000", "100G", NULL},
		{&key_bps, "1K", NULL, "expected a whole number from 1M to 3200G bit/s, found '1K'"},
		{&key_items, "77", "77", NULL}, /* its limits are about the number of items */
		{&key_items, "x", NULL, "expected a whole number, found 'x'"},

		{&key_word, "poll", "poll", NULL},
		{&key_word, "sleep", "sleep", NULL},
		{&key_word, "slepp", NULL, "expected one of poll, sleep, found 'slepp'; did you mean 'sleep'?"},
		{&key_word, "Poll", NULL, "expected one of poll, sleep, found 'Poll'; did you mean 'poll'?"},
		{&key_word, "halt", NULL, "expected one of poll, sleep, found 'halt'"},

		{&key_name, "dc0", "dc0", NULL},
		{&key_name, "Tenant_A.1-x", "Tenant_A.1-x", NULL},
		{&key_name, "7", "7", NULL},
		{&key_name, "_", "_", NULL},
		{&key_name, "true", "\"true\"", NULL},
		{&key_name, "abcdefghijklmnopqrstuvwxyz01234", "abcdefghijklmnopqrstuvwxyz01234", NULL},
		{&key_name, "abcdefghijklmnopqrstuvwxyz012345", NULL, NAME_WANTED "'abcdefghijklmnopqrstuvwxyz012345'"},
		{&key_name, "", NULL, NAME_WANTED "''"},
		{&key_name, "-dc0", NULL, NAME_WANTED "'-dc0'"},
		{&key_name, ".dc0", NULL, NAME_WANTED "'.dc0'"},
		{&key_name, "dc 0", NULL, NAME_WANTED "'dc 0'"},
		{&key_name, "dc/0", NULL, NAME_WANTED "'dc/0'"},
		{&key_name, "dc\xc3\xa9", NULL, NAME_WANTED "'dc\xc3\xa9'"},

		{&key_text, "net_pcap0,rx_pcap=in.pcap", "\"net_pcap0,rx_pcap=in.pcap\"", NULL},
		{&key_text, "a \"b\" \\c", "\"a \\\"b\\\" \\\\c\"", NULL},
		{&key_text, "plain", "plain", NULL},
		{&key_text, "NULL", "\"NULL\"", NULL},
		{&key_text, "~", "\"~\"", NULL},
		{&key_text, " padded ", "\" padded \"", NULL},
		{&key_text, "- x", "\"- x\"", NULL},
		{&key_text, "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"", NULL},
		{&key_text, "", NULL, "expected text of 1 to 255 characters"},
		{&key_text, "a\tb", NULL, "expected text without control characters"},
		{&key_text, "a\nb", NULL, "expected text without control characters"},
		{&key_text, "a\x7f", NULL, "expected text without control characters"},
		{&key_text, "a\xc2\x85", NULL, "expected text without control characters"},

		{&key_mac, "02:00:00:00:D0:0f", "\"02:00:00:00:d0:0f\"", NULL},
		{&key_mac, "02-00-00-00-d0-0f", NULL, MAC_WANTED "'02-00-00-00-d0-0f'"},
		{&key_mac, "02:00:00:00:d0", NULL, MAC_WANTED "'02:00:00:00:d0'"},

		{&key_ip, "10.1.0.1", "10.1.0.1", NULL},
		{&key_ip, "FE80::5", "\"fe80::5\"", NULL},
		{&key_ip, "10.1.0.1/24", NULL, "expected an IPv4 or IPv6 address, found '10.1.0.1/24'"},
		{&key_ip, "", NULL, "expected an IPv4 or IPv6 address, found ''"},
		{&key_ipv6, "fd00:0:1::1", "\"fd00:0:1::1\"", NULL},
		{&key_ipv6, "10.1.0.1", NULL, "expected an IPv6 address, found '10.1.0.1'"},

		{&key_prefix, "10.1.0.0/16", "10.1.0.0/16", NULL},
		{&key_prefix, "10.1.0.1", "10.1.0.1/32", NULL},
		{&key_prefix, "::/0", "\"::/0\"", NULL},
		{&key_prefix, "10.1.0.1/16", NULL,
			"'10.1.0.1/16' has bits set after its prefix length; did you mean '10.1.0.0/16'?"},
		{&key_prefix, "5f00:0:500::/33", NULL,
			"'5f00:0:500::/33' has bits set after its prefix length; did you mean '5f00::/33'?"},
		{&key_prefix, "10.1.0.0/33", NULL, PREFIX_WANTED "'10.1.0.0/33'"},
		{&key_prefix, "default", NULL, PREFIX_WANTED "'default'"},
		{&key_prefix6, "2001:db8::/32", "\"2001:db8::/32\"", NULL},
		{&key_prefix6, "10.0.0.0/8", NULL, PREFIX6_WANTED "'10.0.0.0/8'"},
		{&key_ifaddr, "10.1.0.1/24", "10.1.0.1/24", NULL},
		{&key_ifaddr, "2001:db8::1/64", "\"2001:db8::1/64\"", NULL},
		{&key_ifaddr, "10.1.0.1", NULL, IFADDR_WANTED "'10.1.0.1'"},
		{&key_ifaddr, "10.1.0.1/", NULL, IFADDR_WANTED "'10.1.0.1/'"},

		{&key_scale, "any", "any", NULL},
		{&key_scale, "0", "0", NULL},
		{&key_scale, "126", "126", NULL},
		{&key_scale, "127", NULL, "expected a whole number from 0 to 126, or any, found '127'"},
		{&key_scale, "all", NULL, "expected a whole number from 0 to 126, or any, found 'all'"},
	};
	struct arena *arena = arena_new();

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		const struct cfg_key *key = rows[i].key;
		enum cfg_type type = key->type == CFG_LIST_OF ? key->item : key->type;
		_Alignas(8) char value[32] = {0};
		char text[CFG_SCALAR_TEXT], err[512] = "";
		int rc = cfg_parse_scalar(key, type, rows[i].text, arena, value, err, sizeof(err));

		check(rc == (rows[i].formatted ? 0 : -EINVAL), "%s: '%s': %s", key->name, rows[i].text, err);
		assert_true(cfg_value_size(key, type) <= sizeof(value));
		if (rc < 0) {
			check_text(rows[i].text, err, rows[i].err);
			continue;
		}
		cfg_format_scalar(key, type, value, text, sizeof(text));
		check_text(rows[i].text, text, rows[i].formatted);
	}
	arena_free(arena);
}

/* A text as long as may be, of characters that all need escaping, fits where it is formatted. */
static void longest_text(void **state)
{
	struct arena *arena = arena_new();
	char text[257], out[CFG_SCALAR_TEXT], err[128], *value = NULL;

	memset(text, '"', sizeof(text));
	text[256] = '\0';
	assert_int_equal(cfg_parse_scalar(&key_text, CFG_TEXT, text, arena, &value, err, sizeof(err)), -EINVAL);
	text[255] = '\0';
	assert_int_equal(cfg_parse_scalar(&key_text, CFG_TEXT, text, arena, &value, err, sizeof(err)), 0);
	cfg_format_scalar(&key_text, CFG_TEXT, &value, out, sizeof(out));
	assert_int_equal(strlen(out), 1 + 2 * 255 + 1);
	arena_free(arena);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars),
		cmocka_unit_test(longest_text),
	};

	return cmocka_run_group_tests_name("config_scalar", tests, NULL, NULL);
}
