/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for a terminal: packets delivered and lost, and where. Pure apart from the output. */
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
	fprintf(out, "\nOf these, packets of lossless classes (priorities");
	json_array_foreach(json_object_get(l, "priorities"), i, o)
		fprintf(out, "%s %lld", i ? "," : "", (long long)json_integer_value(o));
	fprintf(out, "; %s):\n", json_is_true(json_object_get(l, "required")) ? "required" : "not required");
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
