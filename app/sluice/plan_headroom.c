/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `sluice plan headroom`: computes how much buffer a lossless class needs over a distance, by two rules side by side
 * (D37). Main thread, before lcores start.
 */
#include <stdlib.h>
#include <string.h>

#include "plan.h"
#include "base/text.h"
#include "command/command.h"
#include "config/budget.h"
#include "config/headroom.h"

struct wish { /* the options, in base units; CFG_NONE: not given */
	uint64_t rate, drain, meters, delay_ns, data_ns, jitter_ns, losses, refresh_ns, response_ns, mtu, min_frame,
		own_frames, peer_frames, decide_ns;
	const char *file, *port;
};

enum { OPT_KEY = 256 }; /* plus the index in keys[] */

enum { OPT_PORT = 'p' };

const struct cli_option plan_options[] = {
	{OPT_KEY, "rate", "100G", "highest arrival rate, bit/s"},
	{OPT_KEY + 1, "drain", "40G",
		"rate that is certain to leave meanwhile, bit/s; default 0: the next hop may pause too"},
	{OPT_KEY + 2, "distance", "1000km", "length of the link or WAN, at 5 ns a metre"},
	{OPT_KEY + 3, "delay", "5ms", "one-way delay, instead of --distance"},
	{OPT_KEY + 4, "jitter", "20us", "delay variation, one way"},
	{OPT_KEY + 5, "losses", "3", "consecutive PFC frames that may be lost without data loss"},
	{OPT_KEY + 6, "refresh", "168us", "interval between PFC frames; default: half of the longest pause"},
	{OPT_KEY + 7, "response", "2us",
		"time for the sender to obey; default: the maximum of IEEE 802.3 at that rate"},
	{OPT_KEY + 8, "mtu", "9100", "longest IP packet, bytes"},
	{OPT_KEY + 9, "own-frames", "64",
		"frames ahead of the PFC frame in the port's transmit ring; default: its descriptors"},
	{OPT_KEY + 10, "min-frame", "60", "shortest frame of the class, bytes"},
	{OPT_KEY + 11, "peer-frames", "64", "frames that the sender's device already holds and still sends"},
	{OPT_KEY + 12, "decide", "20us", "time until the PFC frame is made, plus tunnel processing at both ends"},
	{OPT_KEY + 13, "data-delay", "7ms",
		"one-way delay of the data, if queues or another path make it longer; default: that of PFC frames"},
	{'c', "config", "FILE",
		"take what no option gives from a port of this configuration; default: a port with default keys"},
	{OPT_PORT, "port", "wan0", "with --config: the port"},
	{'j', "json", NULL, "print the answer as JSON"},
	{'h', "help", NULL, "print this help"},
};
const size_t n_plan_options = ARRAY_LEN(plan_options);

static const struct {
	bool (*read)(const char *text, uint64_t *out);
	size_t member;
} keys[] = {
#define KEY(member) __builtin_offsetof(struct wish, member)
	{plan_read_rate, KEY(rate)},
	{plan_read_rate, KEY(drain)},
	{plan_read_length, KEY(meters)},
	{plan_read_time, KEY(delay_ns)},
	{plan_read_time, KEY(jitter_ns)},
	{plan_read_bytes, KEY(losses)},
	{plan_read_time, KEY(refresh_ns)},
	{plan_read_time, KEY(response_ns)},
	{plan_read_bytes, KEY(mtu)},
	{plan_read_bytes, KEY(own_frames)},
	{plan_read_bytes, KEY(min_frame)},
	{plan_read_bytes, KEY(peer_frames)},
	{plan_read_time, KEY(decide_ns)},
	{plan_read_time, KEY(data_ns)},
#undef KEY
};

static int usage(FILE *out, int status)
{
	fprintf(out, "usage: sluice plan headroom --rate 100G --distance 1000km [options] [-j]\n"
		     "       sluice plan headroom -c FILE --port NAME [options] [-j]\n\n");
	cli_print_options(plan_options, n_plan_options, out);
	return status;
}

static int wrong(const char *problem, const char *found)
{
	fprintf(stderr, "sluice: plan headroom: %s%s\n", problem, found);
	return usage(stderr, 2);
}

/* 0: continue; otherwise the exit status + 1. */
static int read_options(struct wish *w, bool *json, int argc, char **argv)
{
	struct cli_getopt table;
	int opt;

	cli_getopt_init(&table, plan_options, n_plan_options);
	while ((opt = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (opt == 'j') {
			*json = true;
		} else if (opt == 'c') {
			w->file = optarg;
		} else if (opt == OPT_PORT) {
			w->port = optarg;
		} else if (opt < OPT_KEY) {
			return 1 + (opt == 'h' ? usage(stdout, 0) : usage(stderr, 2));
		} else if (!keys[opt - OPT_KEY].read(optarg,
				   (uint64_t *)(void *)((char *)w + keys[opt - OPT_KEY].member))) {
			fprintf(stderr, "sluice: --%s: expected a value such as %s, found '%s'\n",
				plan_options[opt - OPT_KEY].name, plan_options[opt - OPT_KEY].arg, optarg);
			return 1 + 2;
		}
	}
	if (optind < argc)
		return 1 + wrong("unexpected argument: ", argv[optind]);
	if (!w->file != !w->port)
		return 1 + wrong("--config and --port belong together", "");
	if (w->rate == CFG_NONE && !w->file)
		return 1 + wrong("--rate is required, for example --rate 100G", "");
	if (w->meters == CFG_NONE && w->delay_ns == CFG_NONE && !w->file)
		return 1 + wrong("--distance or --delay is required, for example --distance 1000km", "");
	if (!w->rate || !w->min_frame)
		return 1 + wrong(w->rate ? "--min-frame: expected at least 1 byte, found 0"
					 : "--rate: expected more than 0",
				   "");
	return 0;
}

static json_t *answer_json(const struct wish *w, const struct headroom_question *q, const struct headroom_answer *a)
{
	uint64_t missing = a->full - MIN_OF(a->full, a->draft_he);
	char verdict[160];

	snprintf(verdict, sizeof(verdict), "draft-he's formula is short by %llu bytes, %.1f %% of the headroom needed",
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

static uint64_t or_else(uint64_t given, uint64_t otherwise)
{
	return given == CFG_NONE ? otherwise : given;
}

/* What headroom: auto would count for the port, with the options in place of its keys. */
static void ask(const struct config *c, const struct cfg_port *port, const struct cfg_buffer_profile *profile,
	struct wish *w, struct headroom_question *q)
{
	struct cfg_buffer_profile p = *profile;
	struct cfg_port as = *port;

	as.mtu = or_else(w->mtu, port->mtu);
	as.descriptors.tx = or_else(w->own_frames, port->descriptors.tx);
	as.pfc.peer_descriptors = or_else(w->peer_frames, port->pfc.peer_descriptors);
	if (w->meters != CFG_NONE) {
		as.pfc.round_trip_us = CFG_NONE;
		as.pfc.length_m = w->meters;
	}
	p.losses = or_else(w->losses, profile->losses);
	if (w->refresh_ns != CFG_NONE) /* added below */
		p.losses = 0;
	headroom_of_port(c, &as, &p, w->rate, q);
	q->out_bps = or_else(w->drain, 0);
	q->pfc_ns = or_else(w->delay_ns, q->pfc_ns);
	q->data_ns = or_else(w->data_ns, w->delay_ns == CFG_NONE ? q->data_ns : q->pfc_ns);
	if (w->jitter_ns != CFG_NONE)
		q->jitter_ns = q->jitter_ns - p.jitter_us * NSEC_PER_USEC + w->jitter_ns;
	if (w->refresh_ns != CFG_NONE)
		q->jitter_ns += or_else(w->losses, profile->losses) * w->refresh_ns;
	q->response_ns = or_else(w->response_ns, q->response_ns);
	q->pe_ns = or_else(w->decide_ns, q->pe_ns);
	w->min_frame = or_else(w->min_frame, profile->min_frame);
}

static void print_answer(const struct wish *w, const struct headroom_question *q, bool json)
{
	struct headroom_answer a;
	json_t *o;

	headroom_compute(q, &a);
	o = answer_json(w, q, &a);
	if (json) {
		json_dumpf(o, stdout, JSON_INDENT(2));
		printf("\n");
	} else {
		command_print_text(o, stdout);
	}
	json_decref(o);
}

/* A configuration with one port, all of whose keys have their defaults. */
static struct config *default_port(void)
{
	static const char text[] =
		"node: {name: plan, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [1], worker: [1]}\n"
		"memory: {}\nports: [{name: port, device: net_null0, side: dc}]\n";
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text("plan", text, sizeof(text) - 1, &diags);

	cfg_diags_print(&diags, stderr);
	cfg_diags_free(&diags);
	return c;
}

static struct config *load(const struct wish *w)
{
	struct cfg_diags diags = {0};
	struct config *c = w->file ? cfg_load_file(w->file, &diags) : default_port();

	/* without its checks: the headroom that they ask for may be the question */
	cfg_diags_print(&diags, stderr);
	cfg_diags_free(&diags);
	return c;
}

static int headroom(int argc, char **argv)
{
	struct wish w;
	struct cfg_buffer_profile profile;
	struct headroom_question q;
	struct config *c;
	bool json = false;
	int rc, i;

	memset(&w, 0xff, sizeof(w)); /* CFG_NONE everywhere */
	w.file = w.port = NULL;
	rc = read_options(&w, &json, argc, argv);
	if (rc)
		return rc - 1;
	c = load(&w);
	if (!c)
		return 1;
	i = cfg_find_port(c, w.file ? w.port : "port");
	if (i >= 0) {
		profile = cfg_port_profile(c, &c->ports.items[i]);
		w.rate = or_else(w.rate, c->ports.items[i].speed_bps);
	}
	if (i < 0)
		rc = wrong("--port: there is no such port: ", w.port);
	else if (!w.rate)
		rc = wrong("--rate is required, because the port has no speed", "");
	else
		ask(c, &c->ports.items[i], &profile, &w, &q);
	if (!rc)
		print_answer(&w, &q, json);
	cfg_free(c);
	return rc;
}

int plan(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "placement") == 0)
		return plan_placement(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "credit") == 0)
		return plan_credit(argc - 1, argv + 1);
	if (argc < 2 || strcmp(argv[1], "headroom") != 0) {
		fprintf(stderr, "sluice: plan: expected 'headroom', 'credit' or 'placement'%s%s%s\n",
			argc < 2 ? "" : ", found '", argc < 2 ? "" : argv[1], argc < 2 ? "" : "'");
		return usage(stderr, 2);
	}
	return headroom(argc - 1, argv + 1);
}

/* With separators between groups of three digits. buf: at least 27 bytes; returns buf. */
static const char *grouped(uint64_t n, char *buf)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *at = buf;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return buf;
}

/* What happens above XOFF where tunnels can stop one slice or contributor and not another. */
static void print_slices(const struct cfg_lossless *l, const char *indent, FILE *out)
{
	char n[4][32];

	if (l->n_slices == 1)
		fprintf(out,
			"%spfc: tunnels: the largest contributors are paused at XOFF, all of them at XOFF + %s bytes "
			"(%s "
			"buffers reserved)\n",
			indent, grouped(l->choice_bytes, n[0]), grouped(l->choice_buffers, n[1]));
	if (l->n_slices > 1)
		fprintf(out,
			"%spfc: tunnels: %u slices, each pauses alone at XOFF or its share, %s bytes or more; all of "
			"them "
			"at XOFF + %s bytes or %s buffers (reserved): %u of them may stand still, with headroom of %s "
			"bytes each\n",
			indent, l->n_slices, grouped(l->floor_bytes, n[0]), grouped(l->choice_bytes, n[1]),
			grouped(l->choice_buffers, n[2]), l->n_apart, grouped(l->room_bytes, n[3]));
}

void plan_headroom_print(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out)
{
	struct cfg_lossless l;
	char n[4][32];

	if (!p->pfc.priorities.n)
		return;
	cfg_fit_lossless(c, p, p->speed_bps, &l);
	fprintf(out, "%spfc: %u lossless class%s, each: XOFF at %s bytes, XON at %s, headroom %s; %s buffers\n", indent,
		p->pfc.priorities.n, p->pfc.priorities.n == 1 ? "" : "es", grouped(l.xoff_bytes, n[0]),
		grouped(l.xon_bytes, n[1]), grouped(l.headroom_bytes, n[2]),
		grouped(l.xoff_buffers + l.choice_buffers + l.headroom_buffers, n[3]));
	print_slices(&l, indent, out);
	if (!p->speed_bps)
		return;
	if (p->pfc.round_trip_us == CFG_NONE)
		fprintf(out, "%spfc: headroom needed for %s m: ", indent,
			grouped(p->pfc.length_m == CFG_NONE ? HEADROOM_LENGTH_M : p->pfc.length_m, n[0]));
	else
		fprintf(out, "%spfc: headroom needed for a round trip of %s us: ", indent,
			grouped(p->pfc.round_trip_us, n[0]));
	fprintf(out, "%s bytes (draft-he's formula: %s, too small by %s)\n", grouped(l.rule.full, n[1]),
		grouped(l.rule.draft_he, n[2]), grouped(l.rule.full - l.rule.draft_he, n[3]));
	fprintf(out, "%spfc: XON at %s bytes or more keeps the link busy after a pause\n", indent,
		grouped(l.rule.xon, n[0]));
	if (l.headroom_bytes < l.rule.full)
		fprintf(out,
			"%spfc: the headroom is %s bytes too small: packets will be dropped as headroom_exceeded\n",
			indent, grouped(l.rule.full - l.headroom_bytes, n[0]));
	if (l.xon_bytes < l.rule.xon)
		fprintf(out, "%spfc: XON is %s bytes too low: the link may be idle for a round trip after a pause\n",
			indent, grouped(l.rule.xon - l.xon_bytes, n[0]));
}
