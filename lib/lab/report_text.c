/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for a terminal: packets delivered and lost, and where. Pure apart from the output. */
#include <string.h>

#include "lab/lab.h"

static json_int_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static double real(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static void flows(const json_t *report, FILE *out)
{
	const json_t *f;
	size_t i;

	fprintf(out, "\n%-24s %10s %12s %13s %8s %8s %12s %12s\n", "flow", "Gb/s", "packets", "retransmitted", "NAKs",
		"timeouts", "mean us", "max us");
	json_array_foreach(json_object_get(report, "flows"), i, f)
		fprintf(out, "%-24s %10.3f %12lld %13lld %8lld %8lld %12.2f %12.2f%s\n", text(f, "name"),
			real(f, "goodput_gbps"), (long long)number(f, "received"),
			(long long)number(f, "retransmitted"), (long long)number(f, "naks"),
			(long long)number(f, "timeouts"), real(f, "delay_mean_us"), real(f, "delay_max_us"),
			number(f, "failed") ? "  gave up" : "");
}

/* The value of a quantile, in us; the lists of all flows are parallel to report.quantiles. */
static double quantile(const json_t *report, const json_t *values, double share)
{
	const json_t *shares = json_object_get(report, "quantiles"), *q;
	size_t i;

	json_array_foreach(shares, i, q)
		if (json_number_value(q) >= share)
			return json_number_value(json_array_get(values, i));
	return 0;
}

/* How long messages took, and how long packets waited in queues. */
static void times(const json_t *report, FILE *out)
{
	static const double shares[] = {0.5, 0.99, 1};
	const json_t *f;
	size_t i;

	fprintf(out, "\n%-24s %36s   %36s\n%-24s %12s %11s %11s   %12s %11s %11s\n", "flow", "time of a message, us",
		"time of a packet in queues, us", "", "median", "99 %", "most", "median", "99 %", "most");
	json_array_foreach(json_object_get(report, "flows"), i, f) {
		const json_t *lists[] = {json_object_get(f, "message_time_us"),
			json_object_get(f, "queueing_delay_us")};

		fprintf(out, "%-24s", text(f, "name"));
		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++)
			for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++)
				fprintf(out, "%s%*.1f", k && !s ? "   " : " ", s ? 11 : 12,
					quantile(report, lists[k], shares[s]));
		fputc('\n', out);
	}
}

/* The mean of a series while hosts send. */
static double mean(const json_t *report, const json_t *series)
{
	const json_t *at = json_object_get(report, "time_ms"), *values = json_object_get(series, "values");
	double end = (double)number(report, "run_ns") / 1e6, before = 0, sum = 0, now;

	for (size_t i = 0; i < json_array_size(values) && before < end; i++) {
		now = json_number_value(json_array_get(at, i));
		sum += json_number_value(json_array_get(values, i)) * (now - before);
		before = now;
	}
	return before > 0 ? sum / before : 0;
}

static const json_t *series_of(const json_t *report, const char *group, const char *name, size_t length)
{
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(report, "series"), i, s)
		if (strcmp(text(s, "group"), group) == 0 && strlen(text(s, "name")) == length &&
			strncmp(text(s, "name"), name, length) == 0)
			return s;
	return NULL;
}

/* The goodput of each host, against what links and other hosts would have allowed (lab_bound.c). */
static void goodput(const json_t *report, FILE *out)
{
	static const char mark[] = ": possible";
	unsigned int n = 0;
	const json_t *s;
	size_t i;

	json_array_foreach(json_object_get(report, "series"), i, s) {
		const char *name = text(s, "name"), *end = strstr(name, mark);
		double most = mean(report, s), got;

		if (!end || end[sizeof(mark) - 1] || most <= 0)
			continue;
		if (!n++)
			fprintf(out, "\n%-24s %12s %14s %8s\n", "goodput of a host", "Gb/s", "possible Gb/s", "share");
		got = mean(report, series_of(report, text(s, "group"), name, (size_t)(end - name)));
		fprintf(out, "%-24.*s %12.3f %14.3f %7.1f%%\n", (int)(end - name), name, got, most, 100 * got / most);
	}
}

static unsigned int lost_line(FILE *out, const char *where, const char *why, json_int_t n)
{
	if (!n)
		return 0;
	fprintf(out, "  %-40s %-28s %12lld\n", where, why, (long long)n);
	return 1;
}

static unsigned int lost_on_way(const json_t *way, FILE *out)
{
	static const char *const keys[][2] = {{"lost", "lost on the link"}, {"cut", "link was down"},
		{"corrupt", "FCS error"}, {"oversize", "exceeds the link's MTU"}, {"into_void", "node was down"}};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		n += lost_line(out, text(way, "name"), keys[i][1], number(way, keys[i][0]));
	return n;
}

static unsigned int lost_in_node(const json_t *node, FILE *out)
{
	json_t *reasons = json_object_get(node, "reasons"), *count;
	const char *reason;
	char where[96];
	unsigned int n = 0;
	const json_t *port;
	size_t i;

	json_object_foreach(reasons, reason, count)
		n += lost_line(out, text(node, "name"), reason, json_integer_value(count));
	json_array_foreach(json_object_get(node, "ports"), i, port) {
		snprintf(where, sizeof(where), "%.40s.%.40s", text(node, "name"), text(port, "name"));
		n += lost_line(out, where, "no receive descriptor", number(port, "imissed"));
		n += lost_line(out, where, "no buffer", number(port, "rx_nombuf"));
		n += lost_line(out, where, "longer than the port's MTU", number(port, "ierrors"));
	}
	return n;
}

/* What became of the lossless classes: the losses, whose fault they are, and promises that were broken. */
static void lossless(const json_t *report, FILE *out)
{
	const json_t *l = json_object_get(report, "lossless"), *o;
	unsigned int n = 0;
	size_t i;

	if (!json_array_size(json_object_get(l, "priorities")))
		return;
	fprintf(out, "\nOf these, packets of priority");
	json_array_foreach(json_object_get(l, "priorities"), i, o)
		fprintf(out, "%s %lld", i ? "," : "", (long long)json_integer_value(o));
	fprintf(out, json_is_true(json_object_get(l, "required"))
			     ? ", which must not be lost:\n"
			     : ", which hosts or nodes treat as lossless; the topology\ndoes not require that they "
			       "arrive (lab.lossless), so that this breaks no promise:\n");
	json_array_foreach(json_object_get(l, "losses"), i, o) {
		if (!json_is_true(json_object_get(o, "lossless")))
			continue;
		n += lost_line(out, text(o, "place"), text(o, "reason"), number(o, "packets"));
		fprintf(out, "  %40s fault of: %s; from %.3f to %.3f ms\n", "", text(o, "cause"),
			(double)number(o, "first_ns") / 1e6, (double)number(o, "last_ns") / 1e6);
	}
	if (!n)
		fprintf(out, "  none\n");
	json_array_foreach(json_object_get(l, "broken"), i, o)
		fprintf(out, "%sBroken promise: %s\n", i ? "" : "\n", json_string_value(o));
}

void lab_report_text(json_t *report, FILE *out)
{
	const json_t *o;
	unsigned int n = 0;
	size_t i;

	fprintf(out, "%s: seed %lld, %.3f ms of virtual time, %lld events, %lld frames crossed a link\n",
		text(report, "name"), (long long)number(report, "seed"), (double)number(report, "ended_ns") / 1e6,
		(long long)number(report, "events"), (long long)number(report, "packet_hops"));
	flows(report, out);
	times(report, out);
	goodput(report, out);
	fprintf(out, "\nPackets lost, dropped, or consumed by a node:\n");
	json_array_foreach(json_object_get(report, "links"), i, o) {
		n += lost_on_way(json_object_get(o, "a_to_b"), out);
		n += lost_on_way(json_object_get(o, "b_to_a"), out);
	}
	json_array_foreach(json_object_get(report, "nodes"), i, o)
		n += lost_in_node(o, out);
	json_array_foreach(json_object_get(report, "hosts"), i, o) {
		n += lost_line(out, text(o, "name"), "receive buffer full", number(o, "buffer_overflow"));
		n += lost_line(out, text(o, "name"), "FCS error", number(o, "fcs_errors"));
		n += lost_line(out, text(o, "name"), "ICRC or header error", number(o, "check_errors"));
	}
	if (!n)
		fprintf(out, "  none\n");
	lossless(report, out);
	json_array_foreach(json_object_get(report, "untriggered"), i, o)
		fprintf(out, "\nNever happened: '%s', because %s at %s did not come (%lld times missing)\n",
			text(o, "event"), text(o, "after"), text(o, "port"), (long long)number(o, "left"));
	if (json_object_get(report, "violation"))
		fprintf(out, "\n%s\n", text(report, "violation"));
}
