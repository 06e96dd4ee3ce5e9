/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the options of `sluice plan`. Main thread, before lcores start. */
#include "plan.h"

#include <string.h>

#include "base/text.h"

/*
 * A number with a unit; 0 needs none. unit[i] multiplies by factor[i]; the list ends with NULL. Without its unit a number
 * of the wrong size would look right: --rate 100 is 100 bit/s, not 100 Gbit/s.
 */
static bool read_unit(const char *text, const char *const *unit, const uint64_t *factor, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	char number[32];

	if (!digits || digits >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	for (unsigned int i = 0; unit[i]; i++) {
		uint64_t v;

		if (strcmp(text + digits, unit[i]) != 0 && strcmp(text, "0") != 0)
			continue;
		if (text_parse_number(number, 1000, &v) < 0 || v > UINT64_MAX / 1000 / factor[i])
			return false;
		*out = v * factor[i];
		return true;
	}
	return false;
}

bool plan_read_length(const char *text, uint64_t *meters)
{
	static const char *const units[] = {"km", "m", NULL};
	static const uint64_t factors[] = {1000, 1};

	return read_unit(text, units, factors, meters);
}

bool plan_read_time(const char *text, uint64_t *ns)
{
	static const char *const units[] = {"ms", "us", "ns", "s", NULL};
	static const uint64_t factors[] = {NSEC_PER_MSEC, NSEC_PER_USEC, 1, NSEC_PER_SEC};

	return read_unit(text, units, factors, ns);
}

bool plan_read_rate(const char *text, uint64_t *bps)
{
	bool unit = text[strspn(text, "0123456789")] != '\0' || strcmp(text, "0") == 0;

	return unit && text_parse_number(text, 1000, bps) == 0;
}

bool plan_read_bytes(const char *text, uint64_t *bytes)
{
	return text_parse_number(text, 1024, bytes) == 0;
}
