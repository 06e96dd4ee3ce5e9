/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of preflight and their text form. Main thread, before lcores start. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "preflight.h"

/* By enum severity: the verdict in JSON, and the word in text. */
static const char *const verdicts[] = {"ok", "advice", "must"};
static const char *const labels[] = {"ok", "warning", "error"};

void find(struct findings *f, enum severity severity, const char *about, const char *fix, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(f->list, json_pack("{ss ss ss ss}", "verdict", verdicts[severity], "about", about,
					       "found", text, "mend", fix ? fix : ""));
	f->worst = MAX_OF(f->worst, severity);
}

void find_error(struct findings *f, const char *about, char *error)
{
	static const char separator[] = "; run: ";
	char *fix = strstr(error, separator);

	if (fix)
		*fix = '\0';
	find(f, FINDING_ERROR, about, fix ? fix + sizeof(separator) - 1 : NULL, "%s", error);
}

void findings_print(const json_t *list)
{
	unsigned int count[ARRAY_LEN(verdicts)] = {0};
	json_t *finding;
	size_t i;

	json_array_foreach(list, i, finding) {
		const char *verdict = json_string_value(json_object_get(finding, "verdict"));
		const char *fix = json_string_value(json_object_get(finding, "mend"));
		size_t s = 0;

		while (s < ARRAY_LEN(verdicts) - 1 && strcmp(verdict, verdicts[s]) != 0)
			s++;
		count[s]++;
		printf("%-7s %s: %s\n", labels[s], json_string_value(json_object_get(finding, "about")),
			json_string_value(json_object_get(finding, "found")));
		if (*fix)
			printf("        fix: %s\n", fix);
	}
	printf("%u error%s, %u warning%s\n", count[FINDING_ERROR], count[FINDING_ERROR] == 1 ? "" : "s",
		count[FINDING_WARNING], count[FINDING_WARNING] == 1 ? "" : "s");
}
