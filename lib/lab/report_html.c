/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The report as one HTML page that needs no network: the JSON is embedded in report.html, whose script draws it.
 * Pure apart from the output.
 */
#include <stdlib.h>
#include <string.h>

#include "lab/lab.h"

#define PLACE "@REPORT@"

extern const char lab_report_page[]; /* report.html, made by scripts/embed.py */

void lab_report_html(json_t *report, FILE *out)
{
	const char *place = strstr(lab_report_page, PLACE);
	char *text = json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(6));

	fwrite(lab_report_page, 1, (size_t)(place - lab_report_page), out);
	/* "</" would end the script element; in JSON a slash may be escaped */
	for (const char *p = text; p && *p; p++) {
		if (p[0] == '<' && p[1] == '/')
			fputs("<\\", out);
		else
			fputc(*p, out);
	}
	fputs(place + strlen(PLACE), out);
	free(text);
}
