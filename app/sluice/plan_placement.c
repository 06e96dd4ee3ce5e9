/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `sluice plan placement TOPOLOGY DEMANDS`: places the flows of a job on the paths of a network, and says how far from the
 * optimum that is (steer/spread.h). Prints what `path load` reads, with policies and their lists as comments; or JSON. Main
 * thread, before lcores start.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "plan.h"
#include "base/arena.h"
#include "base/text.h"
#include "config/config.h"
#include "config/marks.h"
#include "config/schema.h"
#include "steer/spread.h"
#include "steer/steer_key.h"

struct job_node {
	struct cfg_mark at;
	char *name;
	struct ip_addr sid;
};

struct job_link {
	struct cfg_mark at;
	char *a, *b;
	uint64_t rate_bps;
};

struct job_network {
	struct cfg_mark at;
	CFG_LIST(struct job_node) nodes;
	CFG_LIST(struct job_link) links;
};

struct job_demand {
	struct cfg_mark at;
	char *from, *to, *flow, *policy;
	uint64_t rate_bps;
};

struct job_demands {
	struct cfg_mark at;
	CFG_LIST(struct job_demand) demands;
};

#define AT(type, member) (uint32_t) __builtin_offsetof(type, member)
#define MAP_OF(keys_, what, type) \
	{ \
		.name = what, .keys = keys_, .n_keys = ARRAY_LEN(keys_), .size = sizeof(type) \
	}

/* clang-format off */
static const struct cfg_key node_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct job_node, name), .flags = CFG_REQUIRED, .help = "Name."},
	{"sid", CFG_IPV6, .offset = AT(struct job_node, sid), .flags = CFG_REQUIRED, .help = "Its uN."},
};
static const struct cfg_map node_map = MAP_OF(node_keys, "a node", struct job_node);
static const struct cfg_key link_keys[] = {
	{"a", CFG_NAME, .offset = AT(struct job_link, a), .flags = CFG_REQUIRED, .help = "A node."},
	{"b", CFG_NAME, .offset = AT(struct job_link, b), .flags = CFG_REQUIRED, .help = "Another one."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct job_link, rate_bps), .min = 1, .max = 1000000000000000ull,
		.flags = CFG_REQUIRED, .help = "Each way."},
};
static const struct cfg_map link_map = MAP_OF(link_keys, "a link", struct job_link);
static const struct cfg_key network_keys[] = {
	{"nodes", CFG_LIST_OF, .item = CFG_MAP, .map = &node_map, .offset = AT(struct job_network, nodes), .min = 1,
		.max = SPREAD_NODES, .flags = CFG_REQUIRED, .help = "Nodes."},
	{"links", CFG_LIST_OF, .item = CFG_MAP, .map = &link_map, .offset = AT(struct job_network, links), .min = 1,
		.max = 65536, .flags = CFG_REQUIRED, .help = "Links between nodes."},
};
static const struct cfg_map network_map = MAP_OF(network_keys, "the topology", struct job_network);
static const struct cfg_key demand_keys[] = {
	{"from", CFG_NAME, .offset = AT(struct job_demand, from), .flags = CFG_REQUIRED, .help = "Node where it enters."},
	{"to", CFG_NAME, .offset = AT(struct job_demand, to), .flags = CFG_REQUIRED, .help = "Node where it leaves."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct job_demand, rate_bps), .min = 1, .max = 1000000000000000ull,
		.flags = CFG_REQUIRED, .help = "Rate."},
	{"flow", CFG_TEXT, .offset = AT(struct job_demand, flow), .flags = CFG_REQUIRED, .help = "Flow, as for path place."},
	{"policy", CFG_NAME, .offset = AT(struct job_demand, policy), .help = "Policy at its gateway; default: to-NODE."},
};
static const struct cfg_map demand_map = MAP_OF(demand_keys, "a demand", struct job_demand);
static const struct cfg_key demands_keys[] = {
	{"demands", CFG_LIST_OF, .item = CFG_MAP, .map = &demand_map, .offset = AT(struct job_demands, demands), .min = 1,
		.max = 1000000, .flags = CFG_REQUIRED, .help = "Demands."},
};
static const struct cfg_map demands_map = MAP_OF(demands_keys, "the demands", struct job_demands);
/* clang-format on */

/* A job that was read. */
struct job {
	struct arena *arena;
	struct cfg_marks *marks;
	struct job_network network;
	struct job_demands demands;
	struct spread spread;
};

static int load(struct job *j, const char *file, const struct cfg_map *map, void *out)
{
	struct cfg_diags diags = {.file = (char *)(uintptr_t)file};
	size_t size;
	char *text = cfg_read_file(file, &size, &diags);
	int rc = text ? cfg_load_map(file, text, size, map, out, j->arena, j->marks, &diags) : -EINVAL;

	if (diags.n)
		cfg_diags_print(&diags, stderr);
	cfg_diags_free(&diags);
	free(text);
	return rc;
}

static int wrong_at(const char *file, struct cfg_mark at, const char *what, const char *name)
{
	fprintf(stderr, "%s:%u:%u: %s '%s'\n", file, at.line, at.column, what, name);
	return -EINVAL;
}

static int64_t node_of(const struct job *j, const char *name)
{
	for (uint32_t i = 0; i < j->network.nodes.n; i++)
		if (strcmp(j->network.nodes.items[i].name, name) == 0)
			return i;
	return -1;
}

static int make_edges(struct job *j, const char *file)
{
	struct spread *s = &j->spread;

	s->n_nodes = j->network.nodes.n;
	s->edge = arena_alloc(j->arena, 2 * (size_t)j->network.links.n * sizeof(*s->edge));
	if (!s->edge)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->network.links.n; i++) {
		const struct job_link *l = &j->network.links.items[i];
		int64_t a = node_of(j, l->a), b = node_of(j, l->b);

		if (a < 0 || b < 0)
			return wrong_at(file, l->at, "there is no node", a < 0 ? l->a : l->b);
		for (unsigned int way = 0; way < 2; way++)
			s->edge[s->n_edges++] = (struct spread_edge){.from = (uint32_t)(way ? b : a),
				.to = (uint32_t)(way ? a : b),
				.rate = (double)l->rate_bps};
	}
	return 0;
}

/* The pair of a demand, with its paths. */
static int pair_of(struct job *j, const struct job_demand *d, uint32_t from, uint32_t to, const char *file,
	uint32_t *out)
{
	struct spread *s = &j->spread;
	struct spread_pair *p = &s->pair[s->n_pairs];
	int rc;

	for (*out = 0; *out < s->n_pairs; (*out)++)
		if (s->pair[*out].from == from && s->pair[*out].to == to)
			return 0;
	p->from = from;
	p->to = to;
	rc = spread_find_paths(s, p);
	if (rc == 0 && !p->n)
		return wrong_at(file, d->at, "no path leads to", d->to);
	s->n_pairs++;
	return rc;
}

/* An upper bound of the pairs, which are large: those that differ among the demands. */
static uint32_t count_pairs(const struct job *j)
{
	uint32_t n = j->demands.demands.n, nodes = j->network.nodes.n;

	return n < nodes * nodes ? n : nodes * nodes;
}

static int make_demands(struct job *j, const char *file)
{
	struct spread *s = &j->spread;
	uint32_t n = j->demands.demands.n;

	s->demand = arena_alloc(j->arena, n * sizeof(*s->demand));
	s->pair = calloc(count_pairs(j) + 1, sizeof(*s->pair));
	if (!s->demand || !s->pair)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct job_demand *d = &j->demands.demands.items[i];
		int64_t from = node_of(j, d->from), to = node_of(j, d->to);
		char vrf[STEER_NAME], err[256];
		struct steer_key key;
		int rc;

		if (from < 0 || to < 0)
			return wrong_at(file, d->at, "there is no node", from < 0 ? d->from : d->to);
		if (from == to)
			return wrong_at(file, d->at, "the demand goes nowhere: it stays at", d->to);
		if (steer_key_parse(d->flow, &key, vrf, err, sizeof(err)) < 0)
			return wrong_at(file, d->at, err, d->flow);
		s->demand[i].rate = (double)d->rate_bps;
		rc = pair_of(j, d, (uint32_t)from, (uint32_t)to, file, &s->demand[i].pair);
		if (rc < 0)
			return rc;
		s->n_demands++;
	}
	return 0;
}

/* --- output --- */

/* "via-spine5": the nodes between the ends, or "direct". */
static const char *path_name(const struct job *j, const struct spread_path *p, char *buf, size_t size)
{
	size_t n = 0;

	if (p->n == 1)
		return "direct";
	for (uint32_t i = 0; i + 1 < p->n && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s-%s", i ? "" : "via",
			j->network.nodes.items[j->spread.edge[p->edge[i]].to].name);
	return buf;
}

static const char *policy_name(const struct job *j, uint32_t demand, char *buf, size_t size)
{
	const struct job_demand *d = &j->demands.demands.items[demand];

	if (d->policy)
		return d->policy;
	snprintf(buf, size, "to-%s", d->to);
	return buf;
}

static json_t *segments(const struct job *j, const struct spread_path *p)
{
	json_t *list = json_array();
	char text[IP_ADDR_TEXT];

	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(list,
			json_string(ip_addr_format(&j->network.nodes.items[j->spread.edge[p->edge[i]].to].sid, text)));
	return list;
}

static json_t *pair_json(const struct job *j, const struct spread_pair *p)
{
	json_t *paths = json_array();
	char name[512];

	for (uint32_t i = 0; i < p->n; i++)
		json_array_append_new(paths, json_pack("{ss so}", "name", path_name(j, &p->path[i], name, sizeof(name)),
						     "segments", segments(j, &p->path[i])));
	return json_pack("{ss ss so}", "from", j->network.nodes.items[p->from].name, "to",
		j->network.nodes.items[p->to].name, "paths", paths);
}

static json_t *placement_json(const struct job *j, uint32_t i)
{
	const struct spread_demand *d = &j->spread.demand[i];
	char name[512], policy[STEER_NAME + 4];

	return json_pack("{ss ss ss ss}", "gateway", j->demands.demands.items[i].from, "flow",
		j->demands.demands.items[i].flow, "policy", policy_name(j, i, policy, sizeof(policy)), "path",
		path_name(j, &j->spread.pair[d->pair].path[d->path], name, sizeof(name)));
}

static void print_json(const struct job *j, double most, double bound)
{
	json_t *lists = json_array(), *placements = json_array(), *all;

	for (uint32_t i = 0; i < j->spread.n_pairs; i++)
		json_array_append_new(lists, pair_json(j, &j->spread.pair[i]));
	for (uint32_t i = 0; i < j->spread.n_demands; i++)
		json_array_append_new(placements, placement_json(j, i));
	all = json_pack("{sf sf so so}", "most_loaded", most, "bound", bound, "lists", lists, "placements", placements);
	json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	printf("\n");
	json_decref(all);
}

static void print_lists(const struct job *j)
{
	char *text;

	for (uint32_t i = 0; i < j->spread.n_pairs; i++) {
		const struct spread_pair *p = &j->spread.pair[i];
		char name[512];

		printf("# %s to %s:\n", j->network.nodes.items[p->from].name, j->network.nodes.items[p->to].name);
		for (uint32_t k = 0; k < p->n; k++) {
			json_t *list = segments(j, &p->path[k]);

			text = json_dumps(list, 0);
			printf("#   - {name: %s, segments: %s}\n", path_name(j, &p->path[k], name, sizeof(name)),
				text ? text : "");
			free(text);
			json_decref(list);
		}
	}
}

static void print_text(const struct job *j, double most, double bound)
{
	char name[512], policy[STEER_NAME + 4];

	printf("# %u demands: the most loaded link carries %.1f %% of its rate. No placement can stay below %.1f %% "
	       "(max-flow).\n",
		j->spread.n_demands, 100 * most, 100 * bound);
	print_lists(j);
	for (uint32_t i = 0; i < j->spread.n_demands; i++) {
		const struct spread_demand *d = &j->spread.demand[i];

		if (i == 0 || strcmp(j->demands.demands.items[i].from, j->demands.demands.items[i - 1].from) != 0)
			printf("# at %s:\n", j->demands.demands.items[i].from);
		printf("%s %s %s\n", j->demands.demands.items[i].flow, policy_name(j, i, policy, sizeof(policy)),
			path_name(j, &j->spread.pair[d->pair].path[d->path], name, sizeof(name)));
	}
}

static int answer(const char *topology, const char *demands, bool json)
{
	struct job j = {.arena = arena_new(), .marks = cfg_marks_new()};
	double bound = 0;
	int rc = j.arena && j.marks ? 0 : -ENOMEM;

	if (rc == 0)
		rc = load(&j, topology, &network_map, &j.network);
	if (rc == 0)
		rc = load(&j, demands, &demands_map, &j.demands);
	if (rc == 0)
		rc = make_edges(&j, topology);
	if (rc == 0)
		rc = make_demands(&j, demands);
	if (rc == 0)
		rc = spread_place(&j.spread);
	if (rc == 0)
		rc = spread_bound(&j.spread, &bound);
	if (rc == -ENOMEM)
		fprintf(stderr, "sluice: plan placement: out of memory\n");
	else if (rc == 0 && json)
		print_json(&j, spread_most(&j.spread), bound);
	else if (rc == 0)
		print_text(&j, spread_most(&j.spread), bound);
	free(j.spread.pair);
	cfg_marks_free(j.marks);
	arena_free(j.arena);
	return rc < 0;
}

static int usage(const char *unexpected)
{
	if (unexpected)
		fprintf(stderr, "sluice: plan placement: unexpected argument '%s'\n", unexpected);
	fprintf(stderr, "usage: sluice plan placement TOPOLOGY DEMANDS [-j]\n");
	return 2;
}

int plan_placement(int argc, char **argv)
{
	const char *file[2] = {NULL, NULL};
	unsigned int n = 0;
	bool json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "-j") == 0 || strcmp(argv[i], "--json") == 0)
			json = true;
		else if (argv[i][0] == '-' || n == 2)
			return usage(argv[i]);
		else
			file[n++] = argv[i];
	}
	return n == 2 ? answer(file[0], file[1], json) : usage(NULL);
}
