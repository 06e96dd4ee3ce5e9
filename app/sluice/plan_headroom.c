/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `sluice plan headroom`: how much buffer a lossless class needs over a way, by two rules side by side (D37). Main
 * thread, before lcores start.
 */
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "base/text.h"
#include "config/headroom.h"

struct wish {
	uint64_t rate, drain, meters, delay_ns, data_ns, jitter_ns, losses, refresh_ns, response_ns, mtu, min_frame,
		own_frames, peer_frames;
	uint64_t decide_ns;
};

/* A number with an optional unit of the list, whose factors are in `factor`; the last unit has the empty name. */
static bool read_unit(const char *text, const char *const *unit, const uint64_t *factor, uint64_t *out)
{
	size_t digits = strspn(text, "0123456789");
	char number[32];

	if (!digits || digits >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	for (unsigned int i = 0;; i++) {
		if (strcmp(text + digits, unit[i]) == 0) {
			uint64_t v;

			if (text_parse_number(number, 1000, &v) < 0 || v > UINT64_MAX / 1000 / factor[i])
				return false;
			*out = v * factor[i];
			return true;
		}
		if (!*unit[i])
			return false;
	}
}

static bool read_length(const char *text, uint64_t *meters)
{
	static const char *const units[] = {"km", "m", ""};
	static const uint64_t factors[] = {1000, 1, 1};

	return read_unit(text, units, factors, meters);
}

static bool read_time(const char *text, uint64_t *ns)
{
	static const char *const units[] = {"ms", "us", "ns", "s", ""};
	static const uint64_t factors[] = {NSEC_PER_MSEC, NSEC_PER_USEC, 1, NSEC_PER_SEC, NSEC_PER_USEC};

	return read_unit(text, units, factors, ns);
}

static bool read_rate(const char *text, uint64_t *bps)
{
	return text_parse_number(text, 1000, bps) == 0;
}

static bool read_bytes(const char *text, uint64_t *bytes)
{
	return text_parse_number(text, 1024, bytes) == 0;
}

enum { OPT_KEY = 256 }; /* and the place in keys[] */

const struct cli_option plan_options[] = {
	{OPT_KEY, "rate", "100G", "most that may arrive, bit/s"},
	{OPT_KEY + 1, "drain", "40G", "what surely leaves meanwhile, bit/s; default 0: the next hop may pause too"},
	{OPT_KEY + 2, "distance", "1000km", "way of the link or WAN"},
	{OPT_KEY + 3, "delay", "5ms", "one way, instead of distance at 5 ns a metre"},
	{OPT_KEY + 4, "jitter", "20us", "delay variation of the way; default 0"},
	{OPT_KEY + 5, "losses", "3", "PFC frames in a row whose loss must cost nothing; default 1, on a link 0 may do"},
	{OPT_KEY + 6, "refresh", "168us", "time between them; default: half of the longest pause at that rate"},
	{OPT_KEY + 7, "response", "2us", "of the sender; default: what IEEE 802.3 allows at that rate"},
	{OPT_KEY + 8, "mtu", "9100", "longest IP packet; default 9100"},
	{OPT_KEY + 9, "own-frames", "64", "in front of the PFC frame in the port's own ring; default 1"},
	{OPT_KEY + 10, "min-frame", "60", "shortest frames of the class, bytes; default 60"},
	{OPT_KEY + 11, "peer-frames", "64", "that the sender's device has been given and sends; default 1"},
	{OPT_KEY + 12, "decide", "20us",
		"until the PFC frame is made, and what tunnels take at both ends; default 20us"},
	{OPT_KEY + 13, "data-delay", "7ms",
		"one way of the data, if queues or another path make it longer; default: as that of PFC frames"},
	{'j', "json", NULL, "the answer as JSON"},
	{'h', "help", NULL, "print this"},
};
const size_t n_plan_options = ARRAY_LEN(plan_options);

static const struct {
	bool (*read)(const char *text, uint64_t *out);
	size_t member;
} keys[] = {
#define KEY(member) __builtin_offsetof(struct wish, member)
	{read_rate, KEY(rate)},
	{read_rate, KEY(drain)},
	{read_length, KEY(meters)},
	{read_time, KEY(delay_ns)},
	{read_time, KEY(jitter_ns)},
	{read_bytes, KEY(losses)},
	{read_time, KEY(refresh_ns)},
	{read_time, KEY(response_ns)},
	{read_bytes, KEY(mtu)},
	{read_bytes, KEY(own_frames)},
	{read_bytes, KEY(min_frame)},
	{read_bytes, KEY(peer_frames)},
	{read_time, KEY(decide_ns)},
	{read_time, KEY(data_ns)},
#undef KEY
};

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: sluice plan headroom --rate 100G --distance 1000km [options] [-j]\n\n");
	cli_print_options(plan_options, n_plan_options, out);
	return status;
}

static int wrong(const char *problem)
{
	fprintf(stderr, "sluice: plan headroom: %s\n", problem);
	return usage(stderr, 2);
}

/* 0 to go on; else the exit status + 1. */
static int read_options(struct wish *w, bool *json, int argc, char **argv)
{
	struct cli_getopt table;
	int opt;

	cli_getopt_init(&table, plan_options, n_plan_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (opt == 'j') {
			*json = true;
		} else if (opt < OPT_KEY) {
			return 1 + (opt == 'h' ? usage(stdout, 0) : usage(stderr, 2));
		} else if (!keys[opt - OPT_KEY].read(optarg,
				   (uint64_t *)(void *)((char *)w + keys[opt - OPT_KEY].member))) {
			fprintf(stderr, "sluice: --%s: expected something like %s, found '%s'\n",
				plan_options[opt - OPT_KEY].name, plan_options[opt - OPT_KEY].arg, optarg);
			return 1 + 2;
		}
	}
	if (optind < argc)
		return 1 + wrong("expected options only");
	if (!w->rate)
		return 1 + wrong("--rate is needed");
	if (!w->meters && !w->delay_ns)
		return 1 + wrong("--distance or --delay is needed");
	if (!w->min_frame)
		return 1 + wrong("--min-frame: 0 is no size of a frame");
	return 0;
}

static json_t *answer_json(const struct wish *w, const struct headroom_question *q, const struct headroom_answer *a)
{
	uint64_t missing = a->full - MIN_OF(a->full, a->draft_he);
	char verdict[160];

	snprintf(verdict, sizeof(verdict), "draft-he's rule is short by %llu bytes, %.1f %% of what is needed",
		(unsigned long long)missing, a->full ? 100.0 * (double)missing / (double)a->full : 0.0);
	return json_pack("{s{sI sI sI sI sI sI} sI s{sI sI sI sI sI} ss s{sI sI} s{sI sI sI}}", "way", "rate_bps",
		(json_int_t)q->in_bps, "drain_bps", (json_int_t)q->out_bps, "one_way_ns", (json_int_t)q->pfc_ns,
		"data_one_way_ns", (json_int_t)q->data_ns, "jitter_and_losses_ns", (json_int_t)q->jitter_ns,
		"decide_and_response_ns", (json_int_t)(q->pe_ns + q->response_ns), "headroom_draft_he_bytes",
		(json_int_t)a->draft_he, "headroom_full", "round_trip_bytes", (json_int_t)a->round_trip,
		"reaction_bytes", (json_int_t)a->reaction, "jitter_and_losses_bytes", (json_int_t)a->jitter,
		"frames_bytes", (json_int_t)a->frames, "total_bytes", (json_int_t)a->full, "verdict", verdict,
		"xon_side", "draft_he_bytes", (json_int_t)0, "full_bytes", (json_int_t)a->xon, "together",
		"draft_he_bytes", (json_int_t)a->draft_he, "full_bytes", (json_int_t)(a->full + a->xon), "full_buffers",
		(json_int_t)((a->full + a->xon + w->min_frame - 1) / w->min_frame));
}

static int headroom(int argc, char **argv)
{
	struct wish w = {.mtu = 9100,
		.losses = 1,
		.min_frame = 60,
		.own_frames = 1,
		.peer_frames = 1,
		.decide_ns = 20 * NSEC_PER_USEC};
	struct headroom_question q;
	struct headroom_answer a;
	bool json = false;
	json_t *o;
	int rc = read_options(&w, &json, argc, argv);

	if (rc)
		return rc - 1;
	if (!w.refresh_ns)
		w.refresh_ns = 65535ull * 512 * NSEC_PER_SEC / w.rate / 2;
	q = (struct headroom_question){.in_bps = w.rate,
		.out_bps = w.drain,
		.drain_bps = w.rate,
		.pfc_ns = w.delay_ns ? w.delay_ns : w.meters * HEADROOM_NS_PER_M,
		.jitter_ns = w.jitter_ns + w.losses * w.refresh_ns,
		.response_ns = w.response_ns ? w.response_ns : headroom_response_ns(w.rate),
		.pe_ns = w.decide_ns,
		.own_bytes = w.own_frames * (w.mtu + 18),
		.source_bytes = w.peer_frames * (w.mtu + 18)};
	q.data_ns = w.data_ns ? w.data_ns : q.pfc_ns;
	headroom_compute(&q, &a);
	o = answer_json(&w, &q, &a);
	if (json) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		command_print_text(o, stdout);
	}
	json_decref(o);
	return 0;
}

int plan(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "headroom") != 0) {
		fprintf(stderr, "sluice: plan: expected 'headroom'%s%s%s\n", argc < 2 ? "" : ", found '",
			argc < 2 ? "" : argv[1], argc < 2 ? "" : "'");
		return usage(stderr, 2);
	}
	return headroom(argc - 1, argv + 1);
}

void plan_headroom_print(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out)
{
	struct cfg_buffer_profile profile = cfg_port_profile(c, p);
	struct headroom_question q;
	struct headroom_answer a;
	struct cfg_lossless l;

	if (!p->pfc.priorities.n)
		return;
	cfg_port_lossless(c, p, p->speed_bps, &l);
	fprintf(out, "%spfc: %u lossless class%s, each: XOFF at %llu bytes, XON at %llu, headroom %llu; %llu buffers\n",
		indent, p->pfc.priorities.n, p->pfc.priorities.n == 1 ? "" : "es", (unsigned long long)l.xoff_bytes,
		(unsigned long long)l.xon_bytes, (unsigned long long)l.headroom_bytes,
		(unsigned long long)(l.xoff_buffers + l.choice_buffers + l.headroom_buffers));
	if (l.choice_bytes)
		fprintf(out,
			"%spfc: in tunnels those that hold most are stopped first, all of them %llu bytes above XOFF; "
			"that is set aside, "
			"too\n",
			indent, (unsigned long long)l.choice_bytes);
	if (!p->speed_bps)
		return;
	headroom_of_port(p, &profile, p->speed_bps, &q);
	headroom_compute(&q, &a);
	fprintf(out,
		"%spfc: over %llu m draft-he's rule wants %llu bytes of headroom, the full one %llu: %llu more; to "
		"keep the "
		"line busy after XON, %llu below it\n",
		indent, (unsigned long long)p->pfc.length_m, (unsigned long long)a.draft_he, (unsigned long long)a.full,
		(unsigned long long)(a.full - a.draft_he), (unsigned long long)a.xon);
	if (l.headroom_bytes < a.full)
		fprintf(out,
			"%spfc: the headroom is %llu bytes short of that: packets will be dropped as "
			"headroom_exceeded\n",
			indent, (unsigned long long)(a.full - l.headroom_bytes));
	if (l.xon_bytes < a.xon)
		fprintf(out, "%spfc: XON is %llu bytes below that: the line may run dry for a round trip\n", indent,
			(unsigned long long)(a.xon - l.xon_bytes));
}
