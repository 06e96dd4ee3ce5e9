/* SPDX-License-Identifier: BSD-3-Clause */
/* Tracks (lab_track.h) in the report: of hosts, nodes and links, in the order of the topology. */
#include <string.h>

#include "lab/host_priv.h"
#include "lab/report_priv.h"

#define INT(x) ((json_int_t)(x))

struct writer {
	const struct lab *lab;
	json_t *out;
	uint32_t most; /* intervals of a track */
	uint64_t left_out;
};

static json_t *intervals_of(const struct track *t, uint64_t end)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < t->n; i++) {
		const struct track_interval *v = &t->interval[i];
		uint64_t to = MIN_OF(v->to, end), cut = v->to - to;
		json_t *one;

		if (v->from >= end)
			break;
		one = json_pack("[I, I]", INT(v->from), INT(to));
		if (v->n > 1) {
			json_array_append_new(one, json_integer(INT(v->on_ns - MIN_OF(cut, v->on_ns))));
			json_array_append_new(one, json_integer(INT(v->n)));
		}
		json_array_append_new(out, one);
	}
	return out;
}

/* `port`: name of the port, or NULL. */
static void write_track(struct writer *w, const char *place, const char *port, const struct track *t)
{
	struct track_interval copy[TRACK_INTERVALS];
	struct track less = *t;
	json_t *out;

	if (json_array_size(w->out) == REPORT_TRACKS) {
		w->left_out++;
		return;
	}
	if (t->n)
		memcpy(copy, t->interval, t->n * sizeof(copy[0]));
	less.interval = copy;
	track_join(&less, w->most);
	out = json_pack("{ss ss ss* so}", "kind", track_name(t->kind), "place", place, "port", port, "intervals",
		intervals_of(&less, w->lab->now));
	if (t->class != TRACK_NO_INDEX)
		json_object_set_new(out, "class", json_integer(t->class));
	if (t->slice != TRACK_NO_INDEX)
		json_object_set_new(out, "slice", json_integer(t->slice));
	json_array_append_new(w->out, out);
}

static void write_node(struct writer *w, const struct lab_node *n)
{
	for (uint32_t i = 0; i < n->tracks.n; i++) {
		const struct track *t = &n->tracks.item[i];

		write_track(w, n->topo->name,
			t->port == TRACK_NO_INDEX ? NULL : n->topo->config->ports.items[t->port].name, t);
	}
	w->left_out += n->tracks.left_out;
}

static void write_host(struct writer *w, const struct lab_host *h)
{
	static const char *const ports[TOPO_HOST_PORTS] = {"eth0", "eth1"};

	for (uint32_t i = 0; i < h->tracks.n; i++) {
		const struct track *t = &h->tracks.item[i];

		write_track(w, h->topo->name, t->port == TRACK_NO_INDEX ? NULL : ports[t->port], t);
	}
	w->left_out += h->tracks.left_out;
}

static uint32_t count(const struct lab *lab)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < lab->n_hosts; i++)
		n += lab->host[i].tracks.n;
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		n += lab->node[i].tracks.n;
	for (uint32_t i = 0; i < lab->n_links * 2; i++)
		n += lab->link[i / 2].way[i % 2].tracks.n;
	return n;
}

json_t *report_tracks(const struct lab *lab)
{
	struct writer w = {.lab = lab, .out = json_array(), .most = REPORT_INTERVALS / MAX_OF(count(lab), 1)};
	json_t *kinds = json_object();

	w.most = MIN_OF(MAX_OF(w.most, 32), TRACK_INTERVALS);
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		write_host(&w, &lab->host[i]);
	for (uint32_t i = 0; i < lab->n_nodes; i++)
		write_node(&w, &lab->node[i]);
	for (uint32_t i = 0; i < lab->n_links * 2; i++) {
		const struct lab_way *way = &lab->link[i / 2].way[i % 2];

		for (uint32_t k = 0; k < way->tracks.n; k++)
			write_track(&w, way->name, NULL, &way->tracks.item[k]);
	}
#define X(name, text, help) json_object_set_new(kinds, text, json_string(help));
	TRACK_KINDS(X)
#undef X
	return json_pack("{so sI so}", "kinds", kinds, "left_out", INT(w.left_out), "tracks", w.out);
}
