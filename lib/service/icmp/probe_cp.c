/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends the requests of probes, and matches what comes back (probe.h). Control lcore. */
#include "service/icmp/icmp_cp.h"

#define HOP_LIMIT 64 /* of a ping */

static bool runs(const struct probe *p)
{
	return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE) == PROBE_RUNS;
}

static unsigned int requests_of(const struct probe_order *o)
{
	return MIN_OF(o->trace ? o->count * PROBE_PER_HOP : o->count, PROBE_REQUESTS_MAX);
}

/* The payload goes behind the outer headers of the path, whose hop limit is that of a traceroute. */
static bool send_on_path(struct control_role *c, const struct probe *p, struct echo *e)
{
	const struct probe_order *o = &p->order;
	struct control_tunnelled t = {.path = o->path,
		.flow = p->id,
		.source = o->path_source ? NULL : &c->s->loopback};
	uint8_t *payload = control_icmp(c)->request + SNAP_ENCAP_BYTES_MAX;
	const struct snap_path *path;
	size_t bytes;

	if (o->path >= c->s->n_paths || c->s->path[o->path].fingerprint != o->fingerprint)
		return false;
	if (o->trace)
		t.hop_limit = e->hop_limit;
	if (o->way == PROBE_THROUGH) {
		e->hop_limit = HOP_LIMIT;
		bytes = echo_bytes(e);
		echo_write(payload, e);
		t.type = e->to.family == 6 ? IP_PROTO_IPV6 : IP_PROTO_IPV4;
	} else {
		if (o->path_source)
			memcpy(&e->from.v6, &((const struct ipv6_hdr *)c->s->path[o->path].header)->src,
				sizeof(e->from.v6));
		bytes = echo_write_icmp(payload, e);
		t.type = IP_PROTO_ICMP6;
	}
	path = &c->s->path[o->path];
	return (!path->via || bytes <= path->inner_mtu) && control_send_on_path(c, &t, payload, bytes);
}

static bool send_routed(struct control_role *c, const struct probe *p, const struct echo *e)
{
	uint8_t *packet = control_icmp(c)->request;
	size_t bytes = echo_bytes(e);
	struct rte_mbuf *m;

	if (p->order.way == PROBE_SEGMENTS)
		bytes = echo_write_by(packet, e, p->order.segment, p->order.n_segments);
	else
		echo_write(packet, e);
	m = control_packet(c, packet, (uint32_t)bytes);
	return m && control_send_routed(c, m, p->order.vrf);
}

static void send_next(struct control_role *c, struct probe *p)
{
	const struct probe_order *o = &p->order;
	struct probe_request *r = &p->request[p->n++];
	struct echo e = o->echo;

	e.id = p->id;
	e.sequence = (uint16_t)p->n;
	e.nonce = p->nonce;
	e.hop_limit = o->trace ? (uint8_t)((p->n - 1) / PROBE_PER_HOP + 1) : HOP_LIMIT;
	*r = (struct probe_request){.hop_limit = e.hop_limit, .sent_ns = c->now};
	r->sent = o->way == PROBE_ROUTED || o->way == PROBE_SEGMENTS ? send_routed(c, p, &e) : send_on_path(c, p, &e);
	p->due_ns = c->now + o->interval_ns;
}

/* A request of which nothing more is expected: it was answered, not sent, or is too old. */
static bool is_over(const struct probe *p, const struct probe_request *r, uint64_t now)
{
	return !r->sent || r->answer != ECHO_NONE || now >= r->sent_ns + p->order.timeout_ns;
}

/* Are the requests from number `first` on over? If not, *next is lowered to the time when they will be. */
static bool all_over(const struct probe *p, unsigned int first, uint64_t now, uint64_t *next)
{
	bool over = true;

	for (unsigned int i = first; i < p->n; i++) {
		if (is_over(p, &p->request[i], now))
			continue;
		*next = MIN_OF(*next, p->request[i].sent_ns + p->order.timeout_ns);
		over = false;
	}
	return over;
}

/* A traceroute is at its end when a request got further than to a router on the way, or none can be sent. */
static bool has_arrived(const struct probe *p, unsigned int first)
{
	bool sent = false;

	for (unsigned int i = first; i < p->n; i++) {
		if (p->request[i].answer != ECHO_NONE && p->request[i].answer != ECHO_TIME_EXCEEDED)
			return true;
		sent |= p->request[i].sent;
	}
	return !sent;
}

/* Returns whether the probe has ended. */
static bool go_on(struct control_role *c, struct probe *p, uint64_t *next)
{
	unsigned int all = requests_of(&p->order), round = p->order.trace ? PROBE_PER_HOP : 1;
	unsigned int first = p->n >= PROBE_PER_HOP ? p->n - PROBE_PER_HOP : 0;

	if (__atomic_load_n(&p->stop, __ATOMIC_RELAXED))
		return true;
	if (p->order.trace && p->n) {
		if (!all_over(p, first, c->now, next))
			return false;
		if (p->n == all || has_arrived(p, first))
			return true;
	}
	if (p->n == all)
		return all_over(p, 0, c->now, next);
	if (c->now >= p->due_ns)
		for (unsigned int i = 0; i < round && p->n < all; i++)
			send_next(c, p);
	if (p->order.trace || p->n == all)
		return all_over(p, p->order.trace ? p->n - round : 0, c->now, next) && !p->order.trace;
	*next = MIN_OF(*next, p->due_ns);
	return false;
}

unsigned int control_probe_poll(struct control_role *c, uint64_t *next)
{
	unsigned int work = 0;

	for (unsigned int i = 0; i < PROBES_MAX; i++) {
		struct probe *p = &control_icmp(c)->probe[i];
		unsigned int n;

		if (likely(!runs(p)))
			continue;
		n = p->n;
		if (go_on(c, p, next)) {
			__atomic_store_n(&p->state, PROBE_ENDED, __ATOMIC_RELEASE);
			work++;
		} else {
			work += p->n - n;
		}
	}
	return work;
}

bool control_probe_waits(const struct control_role *c)
{
	for (unsigned int i = 0; i < PROBES_MAX; i++)
		if (runs(&control_icmp(c)->probe[i]) && !control_icmp(c)->probe[i].n)
			return true;
	return false;
}

static bool is_of(const struct probe *p, const struct echo_heard *h)
{
	if (!runs(p) || p->id != h->id || !h->sequence || h->sequence > p->n)
		return false;
	return h->has_nonce ? h->nonce == p->nonce : h->answer != ECHO_REPLY;
}

bool control_probe_heard(struct control_role *c, const struct pkt *x, const struct ip_addr *from, uint8_t hop_limit,
	const void *icmp, size_t size)
{
	struct echo_heard h = echo_read(icmp, size, x->family);

	for (unsigned int i = 0; i < PROBES_MAX && h.answer != ECHO_NONE; i++) {
		struct probe *p = &control_icmp(c)->probe[i];
		struct probe_request *r;

		if (!is_of(p, &h) || (x->vrf != p->order.vrf && x->vrf != VRF_UNDERLAY))
			continue;
		r = &p->request[h.sequence - 1];
		/* the first answer counts, in time */
		if (is_over(p, r, c->now))
			return false;
		r->answer = h.answer;
		r->code = h.code;
		r->from = *from;
		r->heard_hop_limit = hop_limit;
		r->rtt_ns = c->now - r->sent_ns;
		return true;
	}
	return false;
}
