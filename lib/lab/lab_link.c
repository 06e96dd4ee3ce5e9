/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: two lines between two ends, arrivals at those ends, failures and their detection. The lab is
 * single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_priv.h"
#include "wire/eth.h"
#include "wire/ipv6.h"

/* Every random stream of a run depends on the seed and on its purpose. */
static uint64_t seed_of(const struct lab *lab, const char *name, uint64_t which)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ lab->seed * 0x9e3779b97f4a7c15ull ^ which;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3ull;
	return line_random(&hash);
}

static void arrive(void *arg)
{
	struct lab_way *w = arg;
	struct lab *lab = w->link->lab;
	struct lab_end *to = &w->link->end[!w->from];
	const struct line_frame *f;

	while (!lab->violation && (f = line_receive(w->line, lab->now))) {
		lab->hops++;
		if (f->corrupt)
			lab_lost(lab, w->name, "FCS error", BLAME_LINK, f->bytes, f->captured);
		if (to->node)
			lab_node_receive(to->node, to, f);
		else
			lab_host_receive(to->host, to, f);
	}
	lab_check_way(w);
	lab_way_kick(w);
}

static void tell_end(struct lab_end *e, bool up)
{
	if (e->node)
		lab_node_link(e->node, e->port, up);
	else
		lab_host_link(e->host, e->port, up);
}

static void notice(void *arg)
{
	struct lab_notice *n = arg;

	for (int i = 0; i < 2; i++) {
		n->link->way[i].reported = n->up[i];
		if (!n->up[i]) /* a MAC without a link sends nothing but the fault (IEEE 802.3 clause 46.3.4) */
			line_stop(n->link->way[i].line, n->link->lab->now);
	}
	lab_record(n->link->lab, n->up[0] && n->up[1] ? "link reported up" : "link reported down", n->link->topo->name,
		0);
	tell_end(&n->link->end[0], n->up[0]);
	tell_end(&n->link->end[1], n->up[1]);
}

/*
 * Tell the ports later. A port is up while it receives, and with remote fault only while the other one does, too: that
 * one signals that it receives nothing.
 */
static void notify_later(struct lab_link *l, uint64_t delay_ns, bool remote_fault)
{
	struct lab_notice *n = calloc(1, sizeof(*n));

	if (!n) {
		lab_violate(l->lab, "memory", "out of memory");
		return;
	}
	n->link = l;
	for (int i = 0; i < 2; i++)
		n->up[i] = !l->way[!i].cuts[TRAFFIC_ALL] && !(remote_fault && l->way[i].cuts[TRAFFIC_ALL]);
	n->next = l->lab->notice;
	l->lab->notice = n;
	event_init(&n->event, notice, n, "notice", l->topo->name);
	event_set(&l->lab->queue, &n->event, l->lab->now + delay_ns);
}

static void set_cut(struct lab_way *w, enum topo_traffic traffic, bool cut)
{
	uint64_t now = w->link->lab->now;
	bool any;

	w->cuts[traffic] = (uint16_t)(cut ? w->cuts[traffic] + 1 : w->cuts[traffic] - 1);
	line_set_up(w->line, now, !w->cuts[TRAFFIC_ALL]);
	line_set_outage(w->line, w->cuts[TRAFFIC_CONTROL], w->cuts[TRAFFIC_DATA]);
	any = w->cuts[TRAFFIC_ALL] || w->cuts[TRAFFIC_CONTROL] || w->cuts[TRAFFIC_DATA];
	track_set(&w->tracks, &(struct track_id){TRACK_LINK, TRACK_NO_INDEX, TRACK_NO_INDEX, TRACK_NO_INDEX}, now,
		any ? TIME_NEVER : now);
}

/* The failures of a direction do not overlap: the last one that begins or ends counts. */
static void change_rate(struct lab_failure *f)
{
	uint64_t rate = f->down ? f->topo->rate_bps : f->link->topo->rate_bps;

	for (int i = 0; i < 2; i++)
		if (f->topo->direction != (i ? DIRECTION_A_TO_B : DIRECTION_B_TO_A))
			line_set_rate(f->link->way[i].line, rate);
}

static void fail_or_return(struct lab_failure *f)
{
	const struct topo_failure *t = f->topo;

	if (t->direction != DIRECTION_B_TO_A)
		set_cut(&f->link->way[0], t->traffic, f->down);
	if (t->direction != DIRECTION_A_TO_B)
		set_cut(&f->link->way[1], t->traffic, f->down);
	if (t->detect_ns != TIME_NEVER && t->traffic == TRAFFIC_ALL)
		notify_later(f->link, t->detect_ns, t->remote_fault);
}

/* A failure begins or ends. */
static void change(void *arg)
{
	struct lab_failure *f = arg;
	const struct topo_failure *t = f->topo;
	struct lab *lab = f->link->lab;

	f->down = !f->down;
	lab_record(lab,
		t->rate_bps ? f->down ? "link slows down" : "link is as fast as before"
		: f->down   ? "link fails"
			    : "link returns",
		f->link->topo->name, t->direction);
	if (t->rate_bps)
		change_rate(f);
	else
		fail_or_return(f);
	if (f->down && t->for_ns != TIME_NEVER)
		event_set(&lab->queue, &f->change, lab->now + t->for_ns);
	else if (!f->down && --f->left)
		event_set(&lab->queue, &f->change, lab->now - t->for_ns + t->every_ns);
}

static int init_failures(struct lab *lab)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < lab->n_links; i++)
		n += lab->topo->links.items[i].failures.n;
	lab->failure = calloc(n + 1, sizeof(*lab->failure));
	if (!lab->failure)
		return -ENOMEM;
	for (uint32_t i = 0; i < lab->n_links; i++) {
		const struct topo_link *t = &lab->topo->links.items[i];

		for (uint32_t k = 0; k < t->failures.n; k++) {
			struct lab_failure *f = &lab->failure[lab->n_failures++];

			f->link = &lab->link[i];
			f->topo = &t->failures.items[k];
			f->left = f->topo->repeat;
			event_init(&f->change, change, f, "failure", t->name);
			if (lab_trigger_or_set(lab, &f->topo->when, f->topo->start_ns, &f->change) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* PFC, on an Ethernet link or in a tunnel: Ethernet after IPv6 or SRH, with DSCP CS7 (docs/pfc.md). */
static bool is_pfc(const void *bytes, uint32_t captured)
{
	const struct eth_hdr *eth = bytes;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(eth + 1);

	if (captured < sizeof(*eth) + sizeof(*ip))
		return false;
	if (be16_get(eth->type) == ETH_TYPE_MAC_CONTROL)
		return true;
	return be16_get(eth->type) == ETH_TYPE_IPV6 && (be32_get(ip->vtc_flow) >> 22 & 0x3f) == 56 &&
	       (ip->next_header == IP_PROTO_ETHERNET || ip->next_header == IP_PROTO_ROUTING);
}

/* An RSVP message, also in a tunnel. */
static bool is_rsvp(const void *bytes, uint32_t captured)
{
	const struct eth_hdr *eth = bytes;
	const uint8_t *at = (const uint8_t *)(eth + 1), *end = (const uint8_t *)bytes + captured;
	uint8_t next = IP_PROTO_IPV6;

	if (captured < sizeof(*eth) || be16_get(eth->type) != ETH_TYPE_IPV6)
		return false;
	while (at + sizeof(struct ipv6_hdr) <= end && next != IP_PROTO_RSVP) {
		if (next == IP_PROTO_IPV6) {
			next = ((const struct ipv6_hdr *)at)->next_header;
			at += sizeof(struct ipv6_hdr);
		} else if (next == IP_PROTO_HOPOPTS || next == IP_PROTO_ROUTING || next == IP_PROTO_DSTOPTS) {
			next = at[0];
			at += 8u * (at[1] + 1u);
		} else {
			return false;
		}
	}
	return next == IP_PROTO_RSVP;
}

static bool is_control(const void *bytes, uint32_t captured)
{
	return is_pfc(bytes, captured) || is_rsvp(bytes, captured);
}

static void gone(void *arg, const char *why, const void *bytes, uint32_t captured)
{
	const struct lab_way *w = arg;

	lab_lost(w->link->lab, w->name, why, BLAME_LINK, bytes, captured);
}

static int init_way(struct lab_link *l, uint16_t from)
{
	const struct topo_link *t = l->topo;
	struct lab_way *w = &l->way[from];
	bool faulty = t->faulty == DIRECTION_BOTH || t->faulty == (from ? DIRECTION_B_TO_A : DIRECTION_A_TO_B);
	struct line_config config = {.rate_bps = t->rate_bps,
		.delay_ns = topo_delay(t),
		.jitter_ns = faulty ? t->jitter_ns : 0,
		.reorder_ns = t->reorder_ns,
		.loss = faulty ? t->loss : 0,
		.corruption = faulty ? t->corruption : 0,
		.duplication = faulty ? t->duplication : 0,
		.reordering = faulty ? t->reordering : 0,
		.watched = is_pfc,
		.control = is_control,
		.faults = (enum line_faults)t->faults,
		.gone = gone,
		.arg = w,
		.deliver_corrupt = !t->fcs,
		.frame_max = (uint32_t)t->mtu + 18, /* Ethernet header and a tag */
		.seed = seed_of(l->lab, t->name, from),
		.memory_max = l->lab->topo->lab.memory};

	snprintf(w->name, sizeof(w->name), "%s > %s", from ? t->b : t->a, from ? t->a : t->b);
	w->link = l;
	w->from = from;
	w->reported = true;
	w->line = line_new(&config);
	event_init(&w->arrival, arrive, w, "arrival", w->name);
	return w->line ? 0 : -ENOMEM;
}

static void init_end(struct lab *lab, struct lab_link *l, int side)
{
	struct lab_end *e = &l->end[side];
	char err[256];

	topo_find_end(lab->topo, side ? l->topo->b : l->topo->a, &e->place, err, sizeof(err));
	e->port = e->place.port;
	if (e->place.node >= 0) {
		e->node = &lab->node[e->place.node];
		e->timeline = &e->node->timeline;
		e->node->way[e->port] = &l->way[side];
	} else {
		e->host = (void *)(intptr_t)(e->place.host + 1); /* resolved by lab_hosts_init */
	}
}

/* The least time from a frame's departure, which begins no sooner than now, until it arrives. */
static uint64_t least_delay(const struct topo_link *t)
{
	return topo_delay(t) + (LINE_FRAME_MIN + LINE_OVERHEAD) * 8 * NSEC_PER_SEC / t->rate_bps;
}

_Static_assert((int)LINE_FAULTS_ALL == (int)TRAFFIC_ALL && (int)LINE_FAULTS_CONTROL == (int)TRAFFIC_CONTROL &&
		       (int)LINE_FAULTS_DATA == (int)TRAFFIC_DATA,
	"the words of a topology are those of a line");

int lab_links_init(struct lab *lab, char *err, size_t size)
{
	lab->apart_ns = UINT32_MAX;
	lab->n_links = lab->topo->links.n;
	lab->link = calloc(lab->n_links, sizeof(*lab->link));
	for (uint32_t i = 0; lab->link && i < lab->n_links; i++) {
		struct lab_link *l = &lab->link[i];

		l->lab = lab;
		l->topo = &lab->topo->links.items[i];
		lab->apart_ns = MIN_OF(lab->apart_ns, MAX_OF(least_delay(l->topo), 1));
		if (init_way(l, 0) < 0 || init_way(l, 1) < 0)
			goto fail;
		init_end(lab, l, 0);
		init_end(lab, l, 1);
		lab->relaxed_order |= l->topo->reordering > 0;
		lab->flips |= l->topo->corruption > 0 && !l->topo->fcs;
		lab->duplicates |= l->topo->duplication > 0;
	}
	if (lab->link && init_failures(lab) == 0)
		return 0;
fail:
	snprintf(err, size, "out of memory");
	return -ENOMEM;
}

void lab_links_fini(struct lab *lab)
{
	struct lab_notice *n;

	while ((n = lab->notice)) {
		lab->notice = n->next;
		free(n);
	}
	for (uint32_t i = 0; lab->link && i < lab->n_links; i++)
		for (int w = 0; w < 2; w++) {
			line_free(lab->link[i].way[w].line);
			tracks_fini(&lab->link[i].way[w].tracks);
		}
	free(lab->link);
	free(lab->failure);
}
