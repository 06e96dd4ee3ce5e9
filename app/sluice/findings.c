/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of what preflight found, and its text form. Main thread; there are no others yet. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preflight.h"

static const char *const severities[] = {"ok", "advice", "must"};

void find(struct findings *f, enum severity severity, const char *about, const char *mend, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(f->list, json_pack("{ss ss ss ss}", "verdict", severities[severity], "about", about,
					       "found", text, "mend", mend ? mend : ""));
	f->worst = MAX_OF(f->worst, severity);
}

void find_error(struct findings *f, const char *about, char *error)
{
	static const char separator[] = "; run: ";
	char *mend = strstr(error, separator);

	if (mend)
		*mend = '\0';
	find(f, MUST, about, mend ? mend + sizeof(separator) - 1 : NULL, "%s", error);
}

void findings_print(const json_t *list)
{
	unsigned int count[ARRAY_LEN(severities)] = {0};
	json_t *finding;
	size_t i;

	json_array_foreach(list, i, finding) {
		const char *verdict = json_string_value(json_object_get(finding, "verdict"));
		const char *mend = json_string_value(json_object_get(finding, "mend"));

		for (size_t s = 0; s < ARRAY_LEN(severities); s++)
			count[s] += strcmp(verdict, severities[s]) == 0;
		printf("%-6s  %s: %s\n", verdict, json_string_value(json_object_get(finding, "about")),
			json_string_value(json_object_get(finding, "found")));
		if (*mend)
			printf("        mend: %s\n", mend);
	}
	printf("%u must be mended, %u should be\n", count[MUST], count[ADVICE]);
}
