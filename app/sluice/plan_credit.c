/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `sluice plan credit`: the window, buffers and updates of credit sessions over a distance (docs/credit.md 2.9). Main thread,
 * before lcores start.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "base/text.h"
#include "command/command.h"
#include "credit/credit_plan.h"
#include "service/rsvp/service_rsvp.h"

#define NS_PER_METER 5
#define SESSIONS_MAX 32768
#define PACKET_MAX 9216 /* bytes */
#define RATE_MAX 10000000000000ull
#define ONE_WAY_MAX (10 * NSEC_PER_SEC)

struct wish {
	uint64_t rate, meters, delay_ns, poll_ns, packet, sessions, overhead, updates;
	double loss;
};

enum { OPT_KEY = 256 }; /* plus the index in keys[] */

const struct cli_option plan_credit_options[] = {
	{OPT_KEY, "rate", "100G", "rate of the hop, bit/s"},
	{OPT_KEY + 1, "distance", "1000km", "length of the hop, at 5 ns a metre"},
	{OPT_KEY + 2, "delay", "5ms", "one-way delay, instead of --distance"},
	{OPT_KEY + 3, "poll", "40us", "time until both ends look, together; default 20us for each"},
	{OPT_KEY + 4, "packet", "4176", "bytes of the inner IP packets; default: RoCEv2 of 4096 bytes over IPv6"},
	{OPT_KEY + 5, "sessions", "16", "sessions that are busy together; default 1"},
	{OPT_KEY + 6, "overhead", "128", "credit.overhead, bytes"},
	{OPT_KEY + 7, "updates", "100000", "updates a second that the control lcore may spend"},
	{OPT_KEY + 8, "loss", "1e-5", "share of packets that are lost on the hop; default 0"},
	{'j', "json", NULL, "print the answer as JSON"},
	{'h', "help", NULL, "print this help"},
};
const size_t n_plan_credit_options = ARRAY_LEN(plan_credit_options);

static const struct {
	bool (*read)(const char *text, uint64_t *out);
	size_t member;
} keys[] = {
#define KEY(member) __builtin_offsetof(struct wish, member)
	{plan_read_rate, KEY(rate)},
	{plan_read_length, KEY(meters)},
	{plan_read_time, KEY(delay_ns)},
	{plan_read_time, KEY(poll_ns)},
	{plan_read_bytes, KEY(packet)},
	{plan_read_bytes, KEY(sessions)},
	{plan_read_bytes, KEY(overhead)},
	{plan_read_bytes, KEY(updates)},
#undef KEY
};

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: sluice plan credit --rate 100G --distance 1000km [options] [-j]\n\n");
	cli_print_options(plan_credit_options, n_plan_credit_options, out);
	return status;
}

static int wrong(const char *problem)
{
	fprintf(stderr, "sluice: plan credit: %s\n", problem);
	return usage(stderr, 2);
}

static bool read_share(const char *text, double *share)
{
	char *end;

	*share = strtod(text, &end);
	return end != text && !*end && *share >= 0 && *share < 0.5;
}

static bool read_key(struct wish *w, unsigned int key, const char *text)
{
	if (key < ARRAY_LEN(keys))
		return keys[key].read(text, (uint64_t *)(void *)((char *)w + keys[key].member));
	return read_share(text, &w->loss);
}

/* 0: continue; otherwise the exit status + 1. */
static int read_options(struct wish *w, bool *json, int argc, char **argv)
{
	struct cli_getopt table;
	int opt;

	cli_getopt_init(&table, plan_credit_options, n_plan_credit_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (opt == 'j') {
			*json = true;
		} else if (opt < OPT_KEY) {
			return 1 + (opt == 'h' ? usage(stdout, 0) : usage(stderr, 2));
		} else if (!read_key(w, (unsigned int)(opt - OPT_KEY), optarg)) {
			fprintf(stderr, "sluice: --%s: expected a value such as %s, found '%s'\n",
				plan_credit_options[opt - OPT_KEY].name, plan_credit_options[opt - OPT_KEY].arg,
				optarg);
			return 1 + 2;
		}
	}
	if (optind < argc)
		return 1 + wrong("unexpected argument");
	if (!w->rate || w->rate > RATE_MAX)
		return 1 + wrong("--rate is required, up to 10T, for example --rate 100G");
	if (w->meters == CFG_NONE && w->delay_ns == CFG_NONE)
		return 1 + wrong("--distance or --delay is required, for example --distance 1000km");
	if (w->delay_ns == CFG_NONE)
		w->delay_ns = w->meters * NS_PER_METER;
	if (w->delay_ns > ONE_WAY_MAX || w->poll_ns > ONE_WAY_MAX)
		return 1 + wrong("times of at most 10 s are possible");
	if (!w->packet || w->packet > PACKET_MAX || w->overhead > PACKET_MAX)
		return 1 +
		       wrong("--packet and --overhead: at most 9216 bytes are possible, and a packet has at least 1");
	if (!w->sessions || w->sessions > SESSIONS_MAX)
		return 1 + wrong("--sessions: 1 to 32768 are possible");
	if (!w->updates || w->updates > UINT32_MAX)
		return 1 + wrong("--updates: 1 or more are needed");
	return 0;
}

static json_t *percent(double share)
{
	return json_real((double)(int64_t)(share * 1e5 + 0.5) / 1e3);
}

static json_t *answer_json(const struct credit_question *q, const struct credit_answer *a)
{
	uint64_t state = credit_memory(q->sessions, 1, 1) + (uint64_t)q->sessions * rsvp_session_memory();

	return json_pack("{s{sI sI sI sI} s{sI sI sI sI} s{sI sI sI sI} s{sI sI sI} s{so so so}}", "hop", "rate_bps",
		(json_int_t)q->rate_bps, "charged_bytes_s", (json_int_t)a->rate, "loop_us",
		(json_int_t)(a->loop_ns / NSEC_PER_USEC), "units_of_a_packet",
		(json_int_t)credit_units(q->packet, q->overhead, q->unit), "session", "sessions",
		(json_int_t)q->sessions, "window_alone_units", (json_int_t)a->window, "window_of_each_units",
		(json_int_t)a->share, "batch_units", (json_int_t)a->batch_share, "updates", "updates_s",
		(json_int_t)a->update_rate, "sync_us", (json_int_t)(a->sync_ns / NSEC_PER_USEC), "heartbeat_us",
		(json_int_t)(credit_heartbeat_time(a->sync_ns) / NSEC_PER_USEC), "fence_us",
		(json_int_t)(a->fence_ns / NSEC_PER_USEC), "memory", "pool_units", (json_int_t)a->pool, "buffer_bytes",
		(json_int_t)a->memory, "state_bytes", (json_int_t)state, "utilisation_percent", "window",
		percent(a->utilisation), "rate_times_loop_only", percent(a->bdp), "without_fences",
		percent(a->idle_only));
}

int plan_credit(int argc, char **argv)
{
	struct wish w = {.meters = CFG_NONE,
		.delay_ns = CFG_NONE,
		.poll_ns = 40 * NSEC_PER_USEC,
		.packet = 4176,
		.sessions = 1,
		.overhead = CREDIT_OVERHEAD,
		.updates = CREDIT_UPDATES_PER_S};
	struct credit_question q;
	struct credit_answer a;
	bool json = false;
	json_t *answer;
	int rc = read_options(&w, &json, argc, argv);

	if (rc)
		return rc - 1;
	q = (struct credit_question){.rate_bps = w.rate,
		.one_way_ns = w.delay_ns,
		.poll_ns = w.poll_ns,
		.packet = (uint32_t)w.packet,
		.updates = (uint32_t)w.updates,
		.sessions = (uint32_t)w.sessions,
		.overhead = (uint32_t)w.overhead,
		.unit = CREDIT_UNIT_EXPONENT,
		.loss = w.loss};
	credit_plan(&q, &a);
	answer = answer_json(&q, &a);
	if (json) {
		json_dumpf(answer, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		command_print_text(answer, stdout);
		printf("\nmemory.buffers: %llu more, and at the node that grants:\n"
		       "credit: {mode: ext, data: gated, pool: %llu, buffer: %llu}\n",
			(unsigned long long)a.pool, (unsigned long long)a.pool,
			(unsigned long long)(w.sessions > 1 ? a.share : a.window));
	}
	json_decref(answer);
	return 0;
}
