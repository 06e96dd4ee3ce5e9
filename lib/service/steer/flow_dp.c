/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows of policies with a flow table: counted, and sent on the path that they are placed on. After classification, when
 * the packet has the path of its hash. The packets of a burst are looked up together, so that the lines of their flows are
 * fetched while others are worked on. Rx lcores.
 */
#include "node/service.h"
#include "pkt/flow_hash.h"
#include "service/steer/service_steer.h"
#include "wire/roce.h"

#define BUCKET_SHIFT (32 - SNAP_POLICY_BUCKETS_LOG2)
#define HASH_REST ((1u << BUCKET_SHIFT) - 1) /* bits of pkt.hash that do not choose the bucket */
#define GENERATION_STEP 0x9e37u		     /* so that a new snapshot and new placements do not look alike */

/* A packet of a flow, and what it is found by. */
struct sighting {
	struct rte_mbuf *m;
	const struct snap_policy *policy;
	struct steer_key key;
	uint64_t hash;
	struct flow *likely; /* has the tag of the hash; NULL: none has */
	struct roce roce;
};

/* The pass of a burst. */
struct burst {
	const struct snapshot *s;
	struct flow_table *t;
	const struct placements *placements;
	struct node_pairs *pairs; /* NULL: no policy asks for them */
	struct pkt_tap *tap;
	struct rx_role *rx;
	uint32_t now; /* ticks */
};

static void read_addresses4(struct steer_key *k, const struct ipv4_hdr *ip)
{
	memcpy(k->src.b, &ip->src, sizeof(ip->src));
	memcpy(k->dst.b, &ip->dst, sizeof(ip->dst));
}

/* The same words that the hash of a flow is made of (pkt/flow_hash.h). */
static uint32_t ports4(const struct ipv4_hdr *ip, const uint8_t *frame, uint32_t readable, uint32_t at)
{
	if (!hash_has_ports(ip->protocol) || be16_get(ip->fragment) & (IPV4_MF | IPV4_OFFSET_MASK))
		return 0;
	return hash_ports(frame, readable, at + ipv4_header_bytes(ip));
}

static uint32_t ports6(const struct ipv6_hdr *ip, const uint8_t *frame, uint32_t readable, uint32_t at)
{
	uint8_t next = ip->next_header;

	if (hash_has_ports(next))
		return hash_ports(frame, readable, at + (uint32_t)sizeof(*ip));
	if (next == IP_PROTO_IPV6 || next == IP_PROTO_IPV4 || next == IP_PROTO_ROUTING || next == IP_PROTO_ETHERNET)
		return ipv6_flow_label(ip);
	return 0;
}

/*
 * What no policy takes goes to a host of this side: with `roce`, answers of receivers to data that this node sends. Packets with
 * tags, out of a tunnel, and with IPv4 options are looked at where their IP header is; fragments are none.
 */
static __attribute__((noinline)) void look_back(const struct burst *b, const struct rte_mbuf *m, const struct pkt *x)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t end = MIN_OF((uint32_t)m->data_len, x->strip + (uint32_t)x->l3_bytes), bth;
	struct steer_key key = {.vrf = x->vrf, .kind = x->family};
	struct roce r;

	bth = b->pairs ? roce_find(frame, x->strip, x->family, end) : 0;
	if (!bth)
		return;
	r = roce_read(frame, bth, end);
	if (!roce_is_answer(r.kind))
		return;
	if (x->family == 4) {
		read_addresses4(&key, (const struct ipv4_hdr *)(frame + x->strip));
	} else {
		key.src = ((const struct ipv6_hdr *)(frame + x->strip))->src;
		key.dst = ((const struct ipv6_hdr *)(frame + x->strip))->dst;
	}
	pair_answer(b->rx, b->pairs, &key, &r);
}

static void read_key(struct sighting *g, const struct rte_mbuf *m, const struct pkt *x)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct ipv4_hdr *four = (const struct ipv4_hdr *)(frame + x->strip);
	const struct ipv6_hdr *six = (const struct ipv6_hdr *)(frame + x->strip);
	uint32_t end = MIN_OF((uint32_t)m->data_len, x->strip + (uint32_t)x->l3_bytes), bth;

	g->key = (struct steer_key){.vrf = x->vrf, .kind = x->family};
	if (x->family == 4) {
		read_addresses4(&g->key, four);
		g->key.proto = four->protocol;
		g->key.ports = ports4(four, frame, end, x->strip);
	} else {
		g->key.src = six->src;
		g->key.dst = six->dst;
		g->key.proto = six->next_header;
		g->key.ports = ports6(six, frame, end, x->strip);
	}
	g->roce.kind = ROCE_NONE;
	if (!g->policy->roce && g->policy->flow_key == FLOW_KEY_TUPLE)
		return;
	bth = roce_find(frame, x->strip, x->family, end);
	if (!bth)
		return;
	g->roce = roce_read(frame, bth, end);
	if (g->policy->flow_key == FLOW_KEY_QUEUE_PAIR && g->roce.kind != ROCE_NONE) {
		g->key.ports = g->roce.qp;
		g->key.kind |= STEER_PAIR;
	}
}

/* Packets that a policy with a flow table sends; frames of circuits have no flows. Returns their number. */
static unsigned int sight(const struct burst *b, struct rte_mbuf **pkts, unsigned int n, struct sighting *out)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct sighting *g = &out[found];
		const struct pkt *x = pkt_of(pkts[i]);

		if (x->verdict != PKT_FORWARD || x->family == PKT_FRAME)
			continue;
		if (!(x->ops & PKT_OP_ENCAP)) {
			if (unlikely(b->s->roce))
				look_back(b, pkts[i], x);
			continue;
		}
		g->policy = &b->s->policy[b->s->path[x->path].policy_index];
		if (!g->policy->flows)
			continue;
		g->m = pkts[i];
		read_key(g, pkts[i], x);
		g->hash = steer_hash(&g->key, &b->t->secret);
		rte_prefetch0(b->t->tag[flow_bucket(b->t, g->hash)]);
		rte_prefetch0(b->t->tag[flow_other(b->t, g->hash)]);
		found++;
	}
	return found;
}

/* Fetch the flow that is likely to be that of each packet. */
static void fetch(const struct flow_table *t, struct sighting *seen, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint32_t bucket = flow_bucket(t, seen[i].hash),
			 bits = flow_match(t->tag[bucket], flow_tag(seen[i].hash));

		if (unlikely(!bits)) {
			bucket = flow_other(t, seen[i].hash);
			bits = flow_match(t->tag[bucket], flow_tag(seen[i].hash));
		}
		seen[i].likely = bits ? &t->flow[bucket * FLOW_WAYS + (uint32_t)__builtin_ctz(bits)] : NULL;
		rte_prefetch0(seen[i].likely);
	}
}

static uint16_t stamp_of(const struct burst *b, uint64_t hash)
{
	uint32_t version = b->placements ? b->placements->version[steer_region(hash)] : 0;

	return (uint16_t)(version + (uint32_t)b->s->generation * GENERATION_STEP);
}

/* A bucket of the policy that belongs to the path; FLOW_BY_HASH: none does. */
static uint8_t bucket_of(const struct snap_policy *policy, uint32_t path)
{
	for (unsigned int i = 0; i < SNAP_POLICY_BUCKETS; i++)
		if (policy->bucket[i] == path)
			return (uint8_t)i;
	return FLOW_BY_HASH;
}

/* A move counts until the flow is placed elsewhere, or the path is gone. */
static void keep_move(const struct burst *b, const struct sighting *g, struct flow *f, const struct placement *p)
{
	struct flow_move *m = &b->t->move[f - b->t->flow];
	uint32_t placed = p ? p->serial : 0;
	uint8_t bucket = m->at == STEER_NO_PATH || m->placed != placed || !g->policy->feedback
				 ? FLOW_BY_HASH
				 : bucket_of(g->policy, m->at);

	m->placed = placed;
	m->pinned = p && p->pinned;
	if (bucket == FLOW_BY_HASH)
		m->at = STEER_NO_PATH;
	else
		f->bucket = bucket;
}

/* The placements or the snapshot have changed since the flow was seen. */
static __attribute__((noinline)) void place_again(const struct burst *b, const struct sighting *g, struct flow *f,
	uint16_t stamp)
{
	const struct placement *p = b->placements ? placements_find(b->placements, &g->key, g->hash) : NULL;

	f->bucket = p ? bucket_of(g->policy, p->path) : FLOW_BY_HASH;
	f->stamp = stamp;
	if (b->t->move)
		keep_move(b, g, f, p);
	if (unlikely(f->share != (uint16_t)g->policy->path[0]))
		flow_change_share(b->t, f, (uint16_t)g->policy->path[0]);
}

static struct flow *new_flow(const struct burst *b, const struct sighting *g)
{
	struct flow *f = flow_insert(b->t, &g->key, g->hash, (uint16_t)g->policy->path[0], g->policy->flows, b->now);

	if (f) {
		place_again(b, g, f, stamp_of(b, g->hash));
		flow_change_path(b->t, f, (uint16_t)pkt_of(g->m)->path);
	}
	return f;
}

/* Send the packet by the bucket that its flow is placed in. All paths of a policy have its class map, and fit its MTU. */
static void send_by(const struct burst *b, const struct snap_policy *policy, struct pkt *x, uint8_t bucket)
{
	const struct snap_path *path;
	target_t t;

	x->hash = (x->hash & HASH_REST) | (uint32_t)bucket << BUCKET_SHIFT;
	x->hash += !x->hash; /* 0: not computed */
	x->path = policy->bucket[bucket];
	path = &b->s->path[x->path];
	t = path->via;
	if (target_kind(t) == TARGET_GROUP) {
		const struct snap_group *g = &b->s->group[target_index(t)];

		t = g->member[snap_member_index(b->s, g, x->hash)];
	}
	if (target_kind(t) == TARGET_NEIGH) {
		x->neigh = target_index(t);
		x->egress = (uint8_t)b->s->neigh[target_index(t)].port;
	} else {
		x->neigh = PKT_NEIGH_LINK + target_index(t);
		x->egress = snap_interface_of(target_index(t));
	}
}

/* The flow may be one of those that leave its path, which then do so with this packet. */
static void give_feedback(const struct burst *b, const struct sighting *g, struct flow *f, struct pkt *x)
{
	struct flow_class *on = flow_class(b->t, f->path, x->tclass);
	struct feedback_order *by;
	unsigned int which;
	uint8_t bucket;

	if (unlikely(b->t->move[f - b->t->flow].class != x->tclass))
		flow_change_class(b->t, f, x->tclass);
	if (unlikely(on->leaving)) {
		bucket = feedback_bucket(b->rx, b->t, f, on, g->hash, &by, &which);
		if (bucket != FLOW_BY_HASH) {
			feedback_moved(b->rx, b->t, f, by, which);
			send_by(b, g->policy, x, bucket);
			flow_change_path(b->t, f, (uint16_t)x->path);
			on = flow_class(b->t, f->path, x->tclass);
		}
	}
	stat_add(&on->bytes, x->l3_bytes);
}

/* PSNs of the flow. Its pair of hosts is shown now and then as long as it sends. */
static void follow_psn(const struct burst *b, const struct sighting *g, const struct flow *f)
{
	unsigned int news = flow_count_psn(&b->t->roce[f - b->t->flow], g->roce.qp, g->roce.psn);

	if (unlikely(news))
		stat_add(&b->t->psn[news & 1], news >> 1);
	if (unlikely(f->packets % PAIR_REFRESH == 1 && b->pairs))
		pair_data(b->rx, b->pairs, &g->key);
}

static void count(const struct burst *b, const struct sighting *g, struct flow *f, const struct pkt *x)
{
	uint32_t packets = f->packets + 1;

	stat_level(f->seen, b->now);
	stat_level(f->packets, packets);
	if (unlikely(!packets))
		stat_level(f->packets_high, f->packets_high + 1);
	stat_add(&f->bytes, x->l3_bytes);
	if (unlikely(g->roce.kind == ROCE_DATA && b->t->roce && g->policy->roce))
		follow_psn(b, g, f);
}

/* Does the flow have a place? That of one which has left keeps its key. */
static bool is_used(const struct flow_table *t, const struct flow *f)
{
	return ((const uint32_t *)t->tag)[f - t->flow] != 0;
}

static void follow(const struct burst *b, const struct sighting *g)
{
	struct flow *f = g->likely;
	struct pkt *x = pkt_of(g->m);
	uint16_t stamp;

	/* what was fetched may be another flow's, or may have been given away to a new flow of this burst */
	if (unlikely(!f || !steer_same(&f->key, &g->key) || !is_used(b->t, f))) {
		f = flow_find(b->t, &g->key, g->hash);
		if (!f)
			f = new_flow(b, g);
		if (!f)
			return;
	}
	stamp = stamp_of(b, g->hash);
	if (unlikely(f->stamp != stamp))
		place_again(b, g, f, stamp);
	if (f->bucket != FLOW_BY_HASH) {
		send_by(b, g->policy, x, f->bucket);
		stat_add(&b->t->count.placed, 1);
		if (unlikely(x->trace))
			pkt_tap_trace(b->tap, g->m, TRACE_PLACED, x->egress, (uint32_t)b->s->generation);
	}
	if (unlikely(f->path != (uint16_t)x->path))
		flow_change_path(b->t, f, (uint16_t)x->path);
	if (g->policy->feedback && b->t->move && x->tclass < FLOW_CLASSES)
		give_feedback(b, g, f, x);
	count(b, g, f, x);
}

static unsigned int steer_examine(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	struct node_steer *st = node_steer(rx->node);
	struct burst b = {.s = rx->classifier.s,
		.t = __atomic_load_n(&st->rx[rx->index].table, __ATOMIC_ACQUIRE),
		.placements = __atomic_load_n(&st->placements, __ATOMIC_ACQUIRE),
		.tap = &rx->lcore->tap,
		.rx = rx,
		.now = flow_ticks(rx->classifier.now)};
	struct sighting seen[NODE_BURST];
	unsigned int found;

	b.pairs = b.s->roce ? __atomic_load_n(&st->pairs, __ATOMIC_ACQUIRE) : NULL;
	(void)port;
	if (!b.t)
		return n;
	found = sight(&b, pkts, n, seen);
	if (!found)
		return n;
	fetch(b.t, seen, found);
	for (unsigned int i = 0; i < found; i++)
		follow(&b, &seen[i]);
	flow_pass(b.t, b.now);
	return n;
}

const struct rx_hooks steer_rx_hooks = {.examine = steer_examine};
