/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of packets (docs/credit.md 2.3, 2.5, 2.6): at a local SID by outer source and flow label, at the headend by path
 * and class, of servers by their addresses (credit_native.h). What arrives is counted here, once for each packet and node,
 * before anything can drop it; fences are taken out. rx lcores. Workers obey the orders of the control lcore.
 */
#include "classify/vlan.h"
#include "node/service.h"
#include "service/rsvp/credit_native.h"
#include "service/rsvp/service_credit.h"

#define FENCE_BYTES 64
#define FENCE_MAGIC 0x43424643u /* "CBFC" */
#define FENCE_VERSION 1

/* Behind the outer headers (docs/credit.md 2.6). */
struct fence {
	struct ipv6_hdr ip;
	be32_t magic;
	uint8_t version, class, unit, zero;
	be32_t epoch, lih;
	be32_t number_hi, number_lo;
};
_Static_assert(sizeof(struct fence) == FENCE_BYTES, "docs/credit.md 2.6");

static bool tell(struct mailbox *b, uint32_t what)
{
	return mailbox_push(b, &what, sizeof(what));
}

/*
 * The charged length of a packet (D56), of which `readable` bytes can be read: what the outer header bounds, without extension
 * headers. *at: where it begins.
 */
static uint32_t charged_bytes(const uint8_t *frame, uint32_t readable, uint32_t outer, uint32_t *at)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + outer);
	uint32_t left = be16_get(ip->payload_length), next = ip->next_header, bytes;

	*at = outer + (uint32_t)sizeof(*ip);
	while ((next == IP_PROTO_HOPOPTS || next == IP_PROTO_DSTOPTS || next == IP_PROTO_ROUTING) &&
		*at + 2 <= readable) {
		bytes = 8u * (frame[*at + 1] + 1u);
		if (bytes > left)
			break;
		next = frame[*at];
		left -= bytes;
		*at += bytes;
	}
	return left;
}

static bool is_fence(const struct credit_origin *o, const struct fence *f)
{
	return (f->ip.vtc_flow.b[0] & 0xf0) == 0x60 && f->ip.next_header == IP_PROTO_NONE &&
	       ipv6_equal(&f->ip.src, &o->user) && ipv6_equal(&f->ip.dst, &o->own) &&
	       be32_get(f->magic) == FENCE_MAGIC && f->version == FENCE_VERSION;
}

struct look {
	struct rx_role *rx;
	const struct snap_credit *s;
	struct credit_control *k;
	struct credit_data *d;
	uint8_t unit;
	uint32_t overhead;
};

static uint16_t units_of(const struct look *x, uint32_t bytes)
{
	return (uint16_t)MIN_OF(credit_units(bytes, x->overhead, x->unit), UINT16_MAX);
}

static void tell_grant(const struct look *x, uint32_t grant)
{
	struct credit_origin *o = &x->d->origin[grant];

	if (unlikely(!__atomic_load_n(&o->told, __ATOMIC_RELAXED)) &&
		tell(&x->k->rx_tells[x->rx->index], LINE_TELLS_GRANT | grant))
		__atomic_store_n(&o->told, true, __ATOMIC_RELAXED);
}

/* A packet that goes no further than this lcore has ended already. */
static void count_end(const struct look *x, uint32_t grant, uint32_t units)
{
	struct credit_release *r = &x->d->release[(size_t)(x->d->n_workers + x->rx->index) * x->d->numbers + grant];

	credit_release_count(r, units);
}

/* True: it is a fence, and was consumed. */
static bool take_fence(const struct look *x, struct rte_mbuf *m, uint32_t grant, uint32_t at)
{
	size_t row = (size_t)x->rx->index * x->d->numbers + grant;
	const struct fence *f = rte_pktmbuf_mtod_offset(m, const struct fence *, at);

	if (at + sizeof(*f) > m->data_len || !is_fence(&x->d->origin[grant], f))
		return false;
	if (credit_intake_fence(&x->d->intake[row], &x->d->sample[row * CREDIT_SAMPLES],
		    (uint64_t)be32_get(f->number_hi) << 32 | be32_get(f->number_lo), be32_get(f->epoch),
		    be32_get(f->lih))) {
		__atomic_store_n(&x->d->origin[grant].told, false, __ATOMIC_RELAXED);
		tell_grant(x, grant);
	}
	pkt_end(m, CONSUME_credit, &x->rx->lcore->stats);
	return true;
}

static void gate(const struct look *x, struct rte_mbuf *m, uint16_t line)
{
	struct pkt *p = pkt_of(m);
	struct pkt_credit *k = pkt_credit_of(m);

	p->verdict = PKT_GATED;
	k->line = line;
	k->passed = k->fence = 0;
	p->egress = __atomic_load_n(&x->d->line[line].to, __ATOMIC_ACQUIRE);
}

static bool is_data(const struct pkt *p)
{
	return p->verdict == PKT_FORWARD && p->tclass != PKT_CLASS_CONTROL;
}

/* Data of a session that has no credit of this node is not forwarded without it (D51). */
static void end_without_session(struct pkt *p)
{
	if (!is_data(p))
		return;
	p->verdict = PKT_DROP;
	p->reason = DROP_credit_no_session;
}

/* Does labelled data from there belong to sessions, though this node does not know the label? */
static bool belongs_to_session(const struct look *x, const struct ipv6_hdr *ip, const struct pkt *p)
{
	uint64_t hi = ipv6_hi(&ip->src), lo = ipv6_lo(&ip->src);

	for (uint32_t i = 0; i < x->s->n_data_of; i++)
		if (x->s->data_of[i].traffic_class == p->tclass && snap_match_has(&x->s->data_of[i].sources, hi, lo))
			return true;
	return false;
}

/* Data of the domain, by its label. False: it is a fence. */
static bool from_domain(const struct look *x, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t outer = eth_header_bytes(frame, m->data_len), bytes, at, label;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + outer);
	const struct credit_entry *e;
	struct pkt *p = pkt_of(m);
	uint16_t grant, line, units;

	if (m->data_len < outer + sizeof(*ip) || frame[outer - 2] != ETH_TYPE_IPV6 >> 8 ||
		frame[outer - 1] != (ETH_TYPE_IPV6 & 0xff) || p->tclass == PKT_CLASS_CONTROL)
		return true;
	label = ipv6_flow_label(ip);
	e = label ? credit_table_find(&x->d->table, ipv6_hi(&ip->src), ipv6_lo(&ip->src), label) : NULL;
	if (!e) {
		if (label && x->s->n_data_of && belongs_to_session(x, ip, p))
			end_without_session(p);
		return true;
	}
	grant = __atomic_load_n(&e->grant, __ATOMIC_RELAXED);
	line = __atomic_load_n(&e->line, __ATOMIC_RELAXED);
	if (!grant) {
		end_without_session(p);
		return true;
	}
	bytes = charged_bytes(frame, m->data_len, outer, &at);
	if (unlikely(bytes == FENCE_BYTES) && take_fence(x, m, grant, at))
		return false;
	units = units_of(x, bytes);
	credit_intake_count(&x->d->intake[(size_t)x->rx->index * x->d->numbers + grant], units);
	tell_grant(x, grant);
	if (!is_data(p)) {
		count_end(x, grant, units);
		return true;
	}
	*pkt_credit_of(m) = (struct pkt_credit){.grant = grant, .units = units};
	p->priority |= PKT_GRANTED;
	if (line)
		gate(x, m, line);
	return true;
}

/* Number of the zone by which a frame of a server has come; 0: none. *at: its IP header. */
static uint32_t zone_of(const struct snapshot *s, const struct rte_mbuf *m, uint32_t *at)
{
	struct vlan_place place;

	if (m->data_len < sizeof(struct eth_hdr))
		return 0;
	place = vlan_find(s, &s->port[m->port], rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
	*at = place.at;
	return place.in ? place.in->interface + 1u : 0;
}

/* All that has come for a reservation, by whichever rx lcore: a server's packets need not keep to one. */
static uint64_t received(const struct credit_data *d, uint32_t grant)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < d->n_rx; i++)
		sum += __atomic_load_n(&d->intake[(size_t)i * d->numbers + grant].rcvd, __ATOMIC_RELAXED);
	return sum;
}

/*
 * Data of a server that has credit of this node. What goes beyond its credit takes nothing of the pool: it is data as any other of
 * its port, which PFC may pause.
 */
static void from_server(const struct look *x, struct rte_mbuf *m)
{
	const struct credit_entry *e;
	struct pkt *p = pkt_of(m);
	struct native_flow f;
	struct credit_intake *in;
	uint32_t at, zone = zone_of(x->rx->classifier.s, m, &at);
	uint16_t grant, line, units;

	if (!zone || p->tclass == PKT_CLASS_CONTROL ||
		!native_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, at, &f))
		return;
	e = native_find_from(x->d, zone, &f);
	if (!e)
		return;
	grant = __atomic_load_n(&e->grant, __ATOMIC_RELAXED);
	line = __atomic_load_n(&e->line, __ATOMIC_RELAXED);
	units = units_of(x, f.bytes);
	in = &x->d->intake[(size_t)x->rx->index * x->d->numbers + grant];
	tell_grant(x, grant);
	if (credit_ahead(__atomic_load_n(&x->d->origin[grant].limit, __ATOMIC_RELAXED), received(x->d, grant) + units) <
		0) {
		__atomic_store_n(&in->beyond, in->beyond + units, __ATOMIC_RELAXED);
	} else {
		credit_intake_count(in, units);
		if (!is_data(p)) {
			count_end(x, grant, units);
			return;
		}
		*pkt_credit_of(m) = (struct pkt_credit){.grant = grant, .units = units};
		p->priority |= PKT_GRANTED;
	}
	if (!line || !is_data(p))
		return;
	if (!(p->priority & PKT_GRANTED))
		*pkt_credit_of(m) = (struct pkt_credit){.units = units};
	gate(x, m, line);
}

/* Data for a server that grants credit to this node. */
static void to_server(const struct look *x, struct rte_mbuf *m)
{
	const struct credit_entry *e;
	struct credit_entry key;
	struct pkt *p = pkt_of(m);
	struct native_flow f;
	uint16_t line;

	if (!is_data(p) || p->ops & PKT_OP_ENCAP || p->family == PKT_FRAME || p->neigh < PKT_NEIGH_LINK ||
		!__atomic_load_n(&x->d->to_servers[p->egress], __ATOMIC_RELAXED) ||
		!native_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, p->strip, &f))
		return;
	key = native_to(x->d, p->neigh - PKT_NEIGH_LINK + 1u, &f.dst, p->tclass);
	e = credit_table_find(&x->d->native, key.hi, key.lo, key.label);
	line = e ? __atomic_load_n(&e->line, __ATOMIC_RELAXED) : LINE_NONE;
	if (!line)
		return;
	if (!(p->priority & PKT_GRANTED))
		*pkt_credit_of(m) = (struct pkt_credit){.units = units_of(x, p->l3_bytes)};
	gate(x, m, line);
}

/* Data that this node puts into the path of a session. */
static void into_path(const struct look *x, struct rte_mbuf *m)
{
	struct pkt *p = pkt_of(m);
	uint16_t line;

	if (!is_data(p) || !(p->ops & PKT_OP_ENCAP))
		return;
	line = __atomic_load_n(&x->d->line_of_path[(size_t)p->path * PKT_CLASSES + p->tclass], __ATOMIC_ACQUIRE);
	if (!line)
		return;
	if (!(p->priority & PKT_GRANTED))
		*pkt_credit_of(m) = (struct pkt_credit){.units = units_of(x, p->l3_bytes)};
	gate(x, m, line);
}

unsigned int credit_examine(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	const struct snapshot *s = rx->classifier.s;
	struct look x = {.rx = rx,
		.s = &s->credit,
		.k = credit_of(rx->node),
		.unit = s->credit.config.unit,
		.overhead = s->credit.overhead};
	bool wan = s->port[port].side == SIDE_WAN, served;
	unsigned int kept = 0;

	if (!x.k || !s->credit.on)
		return n;
	x.d = x.k->data;
	served = !wan && __atomic_load_n(&x.d->from_servers[port], __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < n; i++) {
		if (wan && !from_domain(&x, pkts[i]))
			continue;
		if (unlikely(served))
			from_server(&x, pkts[i]);
		into_path(&x, pkts[i]);
		to_server(&x, pkts[i]);
		pkts[kept++] = pkts[i];
	}
	return kept;
}

static bool is_granted_to_server(const struct rx_role *rx, const struct credit_data *d, const struct rte_mbuf *m)
{
	struct native_flow f;
	uint32_t at, zone = zone_of(rx->classifier.s, m, &at);

	return zone && native_read(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, at, &f) &&
	       native_find_from(d, zone, &f);
}

/* Fences come with the data that they follow. */
bool credit_granted(const struct rx_role *rx, const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t outer = eth_header_bytes(frame, m->data_len), label;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(frame + outer);
	const struct credit_control *k = credit_of(rx->node);
	const struct credit_entry *e;

	if (k && __atomic_load_n(&k->data->from_servers[m->port], __ATOMIC_RELAXED))
		return is_granted_to_server(rx, k->data, m);
	if (!k || m->data_len < outer + sizeof(*ip) || frame[outer - 2] != ETH_TYPE_IPV6 >> 8 ||
		frame[outer - 1] != (ETH_TYPE_IPV6 & 0xff))
		return false;
	label = ipv6_flow_label(ip);
	e = label ? credit_table_find(&k->data->table, ipv6_hi(&ip->src), ipv6_lo(&ip->src), label) : NULL;
	return e && __atomic_load_n(&e->grant, __ATOMIC_RELAXED);
}

/* --- workers --- */

static unsigned int obey(struct worker_role *w)
{
	struct line_order orders[NODE_BURST];
	unsigned int n, done = 0;

	if (!w->ctx.credit)
		return 0;
	do {
		n = mailbox_pop(&credit_of(w->node)->worker_orders[w->index], orders, sizeof(orders[0]), NODE_BURST);
		for (unsigned int i = 0; i < n; i++)
			line_obey(&w->ctx, &orders[i]);
		done += n;
	} while (n == NODE_BURST && done < CREDIT_ORDER_SLOTS);
	return done;
}

void credit_obey_orders(void *arg)
{
	obey(arg);
}

bool credit_tell_control(void *arg, uint32_t what)
{
	struct worker_role *w = arg;

	return tell(&credit_of(w->node)->worker_tells[w->index], what);
}

const struct worker_hooks credit_worker_hooks = {.read = obey};
