/* SPDX-License-Identifier: BSD-3-Clause */
/* ping, traceroute: they order a probe and print its results when it has ended. Management thread. */
#include <errno.h>
#include <string.h>

#include "command/command_priv.h"
#include "command/describe.h"
#include "config/program.h"
#include "node/node_ctl.h"
#include "service/icmp/probe.h"

#define COUNT 5
#define HOPS 30
#define INTERVAL_MS 200
#define TIMEOUT_MS 1000
#define DATA_BYTES 56

static int place_of(const struct command_call *c, const char *name)
{
	for (int i = 0; i < COMMAND_ARGS_MAX && c->command->args[i].name; i++)
		if (strcmp(c->command->args[i].name, name) == 0)
			return c->arg[i] ? i : -1;
	return -1;
}

static const char *text_of(const struct command_call *c, const char *name)
{
	int i = place_of(c, name);

	return i < 0 ? NULL : c->arg[i];
}

static uint64_t number_of(const struct command_call *c, const char *name, uint64_t otherwise)
{
	int i = place_of(c, name);

	return i < 0 ? otherwise : c->number[i];
}

static int read_address(struct command_call *c, const char *text, struct ip_addr *out)
{
	if (ip_addr_parse(text, out) < 0)
		return command_fail(c, -EINVAL, "expected an IPv4 or IPv6 address, found '%.60s'", text);
	if (out->family == 6 && (ipv6_is_multicast(&out->v6) || ipv6_is_link_local(&out->v6)))
		return command_fail(c, -EINVAL, "%.60s: expected an address that is routed", text);
	return 0;
}

static int read_vrf(struct command_call *c, uint16_t *out)
{
	const char *name = text_of(c, "vrf");
	uint32_t vrf = describe_find_vrf(c->node->snapshot, name);

	*out = (uint16_t)vrf;
	return vrf < c->node->snapshot->n_vrfs
		       ? 0
		       : command_fail(c, -ENOENT, "there is no VRF '%.40s'; see: show routes", name);
}

/* --- the source, to which answers come --- */

struct source {
	const struct probe_order *order;
	struct ip_addr best;
	bool near; /* it is on the link of the target */
};

static void look_at(struct source *x, const struct snap_interface *in)
{
	const struct ip_addr *to = &x->order->echo.to;

	for (unsigned int i = 0; in && in->vrf == x->order->vrf && i < in->n_own; i++) {
		const struct ip_prefix *own = &in->own[i];

		if (own->addr.family != to->family || (to->family == 6 && ipv6_is_link_local(&own->addr.v6)))
			continue;
		if (!x->best.family || (!x->near && ip_prefix_contains(own, to))) {
			x->best = own->addr;
			x->near = ip_prefix_contains(own, to);
		}
	}
}

/* An address of the table: that on the link of the target, in the underlay else the loopback, else any. */
static int choose_source(struct command_call *c, struct probe_order *o)
{
	const struct snapshot *s = c->node->snapshot;
	struct source x = {.order = o};

	for (uint32_t i = 0; i < s->n_ports; i++)
		look_at(&x, &s->port[i]);
	for (uint32_t i = 0; i < s->n_interfaces; i++)
		look_at(&x, s->interface[i]);
	if (!x.near && o->vrf == VRF_UNDERLAY && o->echo.to.family == 6)
		x.best = ip_addr_from6(&s->loopback);
	o->echo.from = x.best;
	return x.best.family ? 0
			     : command_fail(c, -EADDRNOTAVAIL,
				       "the node has no IPv%u address in %s, to which answers could come",
				       o->echo.to.family, describe_vrf(s, o->vrf));
}

/* --- what is asked --- */

static int to_address(struct command_call *c, struct probe_order *o)
{
	const struct ip_addr *to = &o->echo.to;
	const struct snap_vrf *vrf;
	target_t t;
	int rc = read_address(c, c->arg[0], &o->echo.to);

	rc = rc < 0 ? rc : read_vrf(c, &o->vrf);
	if (rc < 0)
		return rc;
	vrf = &c->node->snapshot->vrf[o->vrf];
	t = to->family == 4 ? fib_lookup4(vrf->v4, ip_addr_v4(to)) : fib_lookup6(vrf->v6, &to->v6);
	if (target_kind(t) == TARGET_LOCAL)
		return command_fail(c, -EINVAL, "%s is an address of this node", c->arg[0]);
	o->way = PROBE_ROUTED;
	return choose_source(c, o);
}

static int by_sids(struct command_call *c, struct probe_order *o)
{
	char text[COMMAND_LINE_MAX], *rest = text, *one;
	struct ip_addr a;

	snprintf(text, sizeof(text), "%s", c->arg[0]);
	while ((one = strsep(&rest, ","))) {
		if (o->n_segments == ECHO_SEGMENTS_MAX)
			return command_fail(c, -E2BIG, "a list has at most %u SIDs", ECHO_SEGMENTS_MAX);
		if (ip_addr_parse(one, &a) < 0 || a.family != 6 || ipv6_is_multicast(&a.v6))
			return command_fail(c, -EINVAL, "expected SIDs with commas between them, found '%.60s'", one);
		o->segment[o->n_segments++] = a.v6;
	}
	o->way = PROBE_SEGMENTS;
	o->vrf = VRF_UNDERLAY;
	o->echo.to = cfg_last_id(c->node->snapshot->config, &o->segment[o->n_segments - 1]);
	return choose_source(c, o);
}

static int no_path(struct command_call *c, const struct snap_policy *policy)
{
	return command_fail(c, -ENOENT, "policy %s has no path '%.40s'; see: show paths", policy->name,
		text_of(c, "path"));
}

/* The path that is named, or the first that carries traffic. */
static int choose_path(struct command_call *c, const struct snap_policy *policy, struct probe_order *o,
	unsigned int *place)
{
	const struct snapshot *s = c->node->snapshot;
	const char *name = text_of(c, "path");

	for (unsigned int i = 0; i < policy->n_paths; i++) {
		uint32_t id = policy->path[i];
		bool takes = name && strcmp(s->path[id].name, name) == 0;

		for (unsigned int k = 0; !name && !takes && k < SNAP_POLICY_BUCKETS; k++)
			takes = policy->bucket[k] == id;
		if (!takes)
			continue;
		o->path = id;
		o->fingerprint = s->path[id].fingerprint;
		*place = i;
		return 0;
	}
	return no_path(c, policy);
}

static int by_policy(struct command_call *c, struct probe_order *o)
{
	const struct snapshot *s = c->node->snapshot;
	int index = cfg_find_policy(s->config, c->arg[0]), rc;
	const char *to = text_of(c, "to");
	const struct cfg_policy *config;
	unsigned int place = 0;

	if (index < 0)
		return command_fail(c, -ENOENT, "there is no policy '%.40s'; see: show policies", c->arg[0]);
	config = &s->config->policies.items[index];
	rc = choose_path(c, &s->policy[index], o, &place);
	rc = rc < 0 ? rc : read_vrf(c, &o->vrf);
	if (rc < 0)
		return rc;
	o->path_source = config->hmac_key != 0; /* the HMAC covers it */
	o->way = to ? PROBE_THROUGH : PROBE_TO_END;
	if (to) {
		rc = read_address(c, to, &o->echo.to);
		return rc < 0 ? rc : choose_source(c, o);
	}
	if (text_of(c, "vrf"))
		return command_fail(c, -EINVAL, "vrf needs an address: to ADDRESS");
	o->echo.to = cfg_last_sid(s->config, &config->paths.items[place]);
	o->echo.from = o->path_source ? cfg_outer_source(s->config, config, place) : ip_addr_from6(&s->loopback);
	return 0;
}

/* --- the answer --- */

static json_t *address(const struct ip_addr *a)
{
	char text[IP_ADDR_TEXT];

	return a->family ? json_string(ip_addr_format(a, text)) : json_null();
}

static json_t *name_or_null(const char *name)
{
	return name ? json_string(name) : json_null();
}

static json_t *head_of(const struct command_call *c, const struct probe_order *o)
{
	const struct snapshot *s = c->node->snapshot;
	bool on_path = o->way == PROBE_TO_END || o->way == PROBE_THROUGH;
	json_t *head = json_pack("{so so ss so so}", "to", address(&o->echo.to), "from", address(&o->echo.from), "vrf",
		describe_vrf(s, o->vrf), "policy", name_or_null(on_path ? s->path[o->path].policy : NULL), "path",
		name_or_null(on_path ? s->path[o->path].name : NULL));
	json_t *sids = json_array();

	for (unsigned int i = 0; i < o->n_segments; i++) {
		struct ip_addr a = ip_addr_from6(&o->segment[i]);

		json_array_append_new(sids, address(&a));
	}
	json_object_set_new(head, "sids", sids);
	return head;
}

static const char *answer_of(const struct probe_request *r)
{
	return r->sent ? echo_answer_name(r->answer) : "not-sent";
}

static json_t *us(uint64_t ns)
{
	return json_integer((json_int_t)((ns + NSEC_PER_USEC / 2) / NSEC_PER_USEC));
}

static json_t *rtt_of(const struct probe_request *r)
{
	return r->answer == ECHO_NONE ? json_null() : us(r->rtt_ns);
}

static int not_sent(struct command_call *c)
{
	return command_fail(c, -EHOSTUNREACH,
		"nothing was sent: there is no way out, or the packet is too long for it");
}

static int ping_result(struct command_call *c, const struct probe *p)
{
	uint64_t least = UINT64_MAX, most = 0, sum = 0;
	unsigned int sent = 0, replies = 0;
	json_t *rows = json_array();

	for (unsigned int i = 0; i < p->n; i++) {
		const struct probe_request *r = &p->request[i];
		bool heard = r->answer != ECHO_NONE;

		json_array_append_new(rows,
			json_pack("{si so ss so so so}", "sequence", (int)i + 1, "from", address(&r->from), "answer",
				answer_of(r), "code", heard ? json_integer(r->code) : json_null(), "hop_limit",
				heard ? json_integer(r->heard_hop_limit) : json_null(), "rtt_us", rtt_of(r)));
		sent += r->sent;
		if (r->answer != ECHO_REPLY)
			continue;
		replies++;
		least = MIN_OF(least, r->rtt_ns);
		most = MAX_OF(most, r->rtt_ns);
		sum += r->rtt_ns;
	}
	json_object_update_new(c->result,
		json_pack("{si si so so so so}", "sent", (int)sent, "replies", (int)replies, "rtt_least_us",
			replies ? us(least) : json_null(), "rtt_mean_us", replies ? us(sum / replies) : json_null(),
			"rtt_most_us", replies ? us(most) : json_null(), "answers", rows));
	if (!sent)
		return not_sent(c);
	return replies ? 0 : command_fail(c, -ETIMEDOUT, "no reply to any of %u requests", sent);
}

static json_t *hop_json(const struct probe *p, unsigned int first, bool *reached)
{
	const struct probe_request *r = &p->request[first], *best = r;
	json_t *from = json_array(), *rtt = json_array();

	for (unsigned int i = 0; i < PROBE_PER_HOP; i++) {
		bool known = !r[i].from.family;

		for (unsigned int k = 0; k < i; k++)
			known = known || ip_addr_equal(&r[k].from, &r[i].from);
		if (!known)
			json_array_append_new(from, address(&r[i].from));
		json_array_append_new(rtt, rtt_of(&r[i]));
		*reached |= r[i].answer == ECHO_REPLY;
		if (best->answer == ECHO_NONE || r[i].answer == ECHO_REPLY)
			best = &r[i];
	}
	return json_pack("{si so ss so so}", "hop", (int)r->hop_limit, "from", from, "answer", answer_of(best), "code",
		best->answer == ECHO_NONE ? json_null() : json_integer(best->code), "rtt_us", rtt);
}

static int trace_result(struct command_call *c, const struct probe *p)
{
	json_t *rows = json_array();
	bool reached = false, sent = false;

	for (unsigned int i = 0; i + PROBE_PER_HOP <= p->n; i += PROBE_PER_HOP) {
		json_array_append_new(rows, hop_json(p, i, &reached));
		sent |= p->request[i].sent;
	}
	json_object_update_new(c->result, json_pack("{sb so}", "reached", reached, "hops", rows));
	if (!sent)
		return not_sent(c);
	return reached ? 0 : command_fail(c, -ETIMEDOUT, "the target was not reached");
}

static int go_on(struct command_call *c)
{
	const struct probe *p = probe_ended(c->node, c->later.id);

	if (!p)
		return -EINPROGRESS;
	c->result = json_incref(c->later.head);
	return p->order.trace ? trace_result(c, p) : ping_result(c, p);
}

static int begin(struct command_call *c, struct probe_order *o)
{
	int rc;

	if (!c->host->later)
		return command_fail(c, -EOPNOTSUPP, "not available here, because it waits for answers");
	o->echo.data = (uint16_t)number_of(c, "size", DATA_BYTES);
	o->timeout_ns = number_of(c, "timeout", TIMEOUT_MS) * NSEC_PER_MSEC;
	o->interval_ns = o->trace ? 0 : number_of(c, "interval", INTERVAL_MS) * NSEC_PER_MSEC;
	o->count = (unsigned int)(o->trace ? number_of(c, "hops", HOPS) : number_of(c, "count", COUNT));
	rc = probe_begin(c->node, o);
	if (rc < 0)
		return command_fail(c, rc, "%u of them are running; try again", PROBES_MAX);
	c->later = (struct command_later){.id = (unsigned int)rc,
		.head = head_of(c, o),
		.go_on = go_on,
		.stop = probe_end};
	return -EINPROGRESS;
}

static int run(struct command_call *c, bool trace, int (*ask)(struct command_call *c, struct probe_order *o))
{
	struct probe_order o = {.trace = trace};
	int rc = ask(c, &o);

	return rc < 0 ? rc : begin(c, &o);
}

int cmd_ping(struct command_call *c)
{
	return run(c, false, to_address);
}

int cmd_ping_sid(struct command_call *c)
{
	return run(c, false, by_sids);
}

int cmd_ping_policy(struct command_call *c)
{
	return run(c, false, by_policy);
}

int cmd_traceroute(struct command_call *c)
{
	return run(c, true, to_address);
}

int cmd_traceroute_sid(struct command_call *c)
{
	return run(c, true, by_sids);
}

int cmd_traceroute_policy(struct command_call *c)
{
	return run(c, true, by_policy);
}
