/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path MTU of tunnels (RFC 8201, RFC 2473 section 7; docs/protocol.md 3.4): a Packet Too Big about a packet that this
 * node has encapsulated lowers the MTU of its path. Ten minutes later the full MTU is tried again.
 *
 * A forged message would cost every tenant of the path its large packets. So it must arrive on a wan port of the
 * underlay, from an infrastructure source, and quote a packet that this node can have sent: the outer headers of a
 * path, with at least one segment left, and the flow label of the inner packet. A source that sends many messages
 * exhausts its own bucket only. Control lcore.
 */
#include "config/program.h"
#include "pkt/flow_hash.h"
#include "service/icmp/icmp_cp.h"
#include "snapshot/path_mtu.h"
#include "snapshot/pfc_outer.h"
#include "wire/checksum.h"
#include "wire/icmp.h"
#include "wire/srh.h"

#define MTU_AGE_NS (600 * NSEC_PER_SEC) /* RFC 8201 section 4 recommends ten minutes */
#define MTU_PER_SECOND 100		/* limit of messages: each is compared with all paths */
#define MTU_PER_SOURCE 50		/* the same for one source, per second */

/* Written by this lcore only. */
static struct path_mtus *mtus_of(struct control_role *c)
{
	return c->node->registry.path_mtus;
}

/*
 * Return whether `da` is the address `sid` after zero to five of its uSIDs were consumed. At least one must be left: a
 * packet to the bare block has arrived nowhere, and its address says nothing about the list.
 */
static bool is_shifted(const struct ipv6_addr *da, const struct ipv6_addr *sid)
{
	static const uint8_t zero[12];

	if (memcmp(da->b + 4, zero, sizeof(zero)) == 0)
		return false;

	for (unsigned int n = 0; n <= 10; n += 2)
		if (memcmp(da->b, sid->b, 4) == 0 && memcmp(da->b + 4, sid->b + 4 + n, 12 - n) == 0 &&
			memcmp(da->b + 16 - n, zero, n) == 0)
			return true;
	return false;
}

/*
 * Return whether the flow label of the quoted packet is the one that this node gives to its inner packet, at offset
 * `inner` of `size` bytes. Frames and fragments have the hash of something that the quote does not show.
 */
static bool has_label(const uint8_t *quote, size_t size, size_t inner, uint8_t next_header)
{
	const struct ipv4_hdr *ip4 = (const struct ipv4_hdr *)(quote + inner);
	uint32_t label = ipv6_flow_label((const struct ipv6_hdr *)quote);

	if (next_header == IP_PROTO_ETHERNET)
		return true;
	if (next_header == IP_PROTO_IPV6)
		return size >= inner + sizeof(struct ipv6_hdr) + sizeof(uint32_t) &&
		       label == hash_flow_label(hash_flow6(quote, (uint32_t)size, (uint32_t)inner));
	if (size < inner + sizeof(*ip4) || size < inner + ipv4_header_bytes(ip4) + sizeof(uint32_t))
		return false;
	return be16_get(ip4->fragment) & (IPV4_MF | IPV4_OFFSET_MASK) ||
	       label == hash_flow_label(hash_flow4(quote, (uint32_t)size, (uint32_t)inner));
}

/* Return whether the quoted packet (`size` bytes) can have been sent on the path. */
static bool is_of(const uint8_t *quote, size_t size, const struct snap_path *path)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)quote, *ours = (const struct ipv6_hdr *)path->header;
	uint32_t fixed = sizeof(*ip) + (path->slice_at ? CFG_SLICE_OPTION_BYTES : 0);
	const struct srh *srh = (const struct srh *)(quote + fixed),
			 *our_srh = (const struct srh *)(path->header + fixed);
	uint8_t next_header, inner_header;
	const struct ipv6_addr *sid = &ours->dst;

	if (!path->bytes || memcmp(&ip->src, &ours->src, sizeof(ip->src)) != 0 || size < path->bytes)
		return false;
	/* The option must be as it was sent, except the slice: the slice of the packet is not known here. */
	next_header = path->slice_at ? quote[sizeof(*ip)] : ip->next_header;
	if (path->slice_at &&
		(ip->next_header != IP_PROTO_HOPOPTS ||
			memcmp(quote + sizeof(*ip) + 1, path->header + sizeof(*ip) + 1, SNAP_SLICE_ID_AT - 1) != 0))
		return false;
	inner_header = path->bytes == fixed ? next_header : srh->next_header;
	if (inner_header != IP_PROTO_IPV6 && inner_header != IP_PROTO_IPV4 && inner_header != IP_PROTO_ETHERNET)
		return false;
	if (path->flow_label ? ipv6_flow_label(ip) != path->flow_label
			     : !has_label(quote, size, path->bytes, inner_header))
		return false;
	if (path->bytes == fixed)
		return is_shifted(&ip->dst, sid);
	/* Only Segments Left of the SRH changes on the path. */
	if (next_header != IP_PROTO_ROUTING || srh->segments_left > our_srh->segments_left ||
		srh->length != our_srh->length || srh->last_entry != our_srh->last_entry ||
		srh->routing_type != our_srh->routing_type ||
		memcmp(srh->segment, our_srh->segment, path->bytes - fixed - sizeof(*srh)) != 0)
		return false;
	if (srh->segments_left < our_srh->segments_left)
		sid = &our_srh->segment[srh->segments_left];
	return is_shifted(&ip->dst, sid);
}

/* The MTU of a policy is the lowest MTU of its paths (docs/design.md section 4). */
static void set_policy(struct control_role *c, const struct snap_policy *policy)
{
	uint16_t least = policy->inner_mtu;

	for (uint32_t i = 0; i < policy->n_paths; i++) {
		const struct snap_path *path = &c->s->path[policy->path[i]];

		if (path->via)
			least = MIN_OF(least, path_mtu_of(path));
	}
	path_mtu_set(&mtus_of(c)->policy[policy->path[0]], policy->fingerprint, least < policy->inner_mtu ? least : 0);
}

/* Set the MTU of the path; 0: the MTU of its egress. */
static void set_path(struct control_role *c, struct control_mtu *m, uint16_t mtu)
{
	const struct snap_path *path = &c->s->path[m->path];
	const struct snap_policy *policy = &c->s->policy[path->policy_index];

	path_mtu_set(&mtus_of(c)->path[m->path], path->fingerprint, mtu);
	m->first_path = policy->path[0];
	set_policy(c, policy);
}

/* Returns false when the MTU is not lower than the current one of the path, or the table is full. */
static bool learn(struct control_role *c, uint32_t id, uint32_t outer_mtu)
{
	const struct snap_path *path = &c->s->path[id];
	/*
	 * The minimum is IPV6_MIN_MTU, which every IPv6 link carries: no packet is fragmented after encapsulation
	 * (D29).
	 */
	uint32_t mtu = MAX_OF(outer_mtu - MIN_OF(outer_mtu, path->bytes), IPV6_MIN_MTU), i;

	if (!path->via || mtu >= path_mtu_of(path))
		return false;
	for (i = 0; i < control_icmp(c)->n_mtus && control_icmp(c)->mtu[i].path != id;)
		i++;
	if (i == CONTROL_MTUS)
		return false;
	control_icmp(c)->n_mtus = MAX_OF(control_icmp(c)->n_mtus, i + 1);
	control_icmp(c)->mtu[i] = (struct control_mtu){.path = id,
		.fingerprint = path->fingerprint,
		.mtu = (uint16_t)mtu,
		.until = c->now + MTU_AGE_NS};
	set_path(c, &control_icmp(c)->mtu[i], (uint16_t)mtu);
	return true;
}

/* Return whether a message from there may lower an MTU at all. Tenants and strangers may not. */
static bool is_trusted(const struct control_role *c, const struct snap_interface *in, const struct ipv6_addr *src)
{
	const struct snapshot *s = c->s;

	return s->path_mtu == PATH_MTU_LEARN && in && in->side == SIDE_WAN && !in->vrf &&
	       snap_is_infrastructure(s, ipv6_hi(src), ipv6_lo(src));
}

/* Sources share buckets by their hash. The bucket of the node bounds the work. */
static bool is_within_limits(struct control_role *c, const struct ipv6_addr *src)
{
	struct control_icmp *icmp = control_icmp(c);
	uint32_t hash = hash_finish(rte_hash_crc_8byte(ipv6_lo(src), rte_hash_crc_8byte(ipv6_hi(src), 0)));

	return bucket_take(&icmp->mtus_of[hash % CONTROL_MTU_SOURCES], c->now, MTU_PER_SOURCE, MTU_PER_SOURCE) &&
	       bucket_take(&icmp->mtus, c->now, MTU_PER_SECOND, MTU_PER_SECOND);
}

/* Return whether the message, whose ICMPv6 starts at `at`, is valid and quotes a packet that was indeed too big. */
static bool is_valid(const uint8_t *packet, size_t at, size_t size)
{
	const struct ipv6_hdr *quoted;
	const struct icmp_hdr *icmp = (const struct icmp_hdr *)(packet + at);
	const uint8_t *quote = packet + at + sizeof(*icmp);
	uint32_t mtu = be32_get(icmp->rest);

	if (icmp->code != 0 || mtu < IPV6_MIN_MTU || size < at + sizeof(*icmp) + sizeof(*quoted) || quote[0] >> 4 != 6)
		return false;
	quoted = (const struct ipv6_hdr *)quote;
	return sizeof(*quoted) + be16_get(quoted->payload_length) > mtu;
}

/* Lower the MTU of all paths that the quote can be of. Returns whether there was one. */
static bool learn_quoted(struct control_role *c, const uint8_t *quote, size_t size, uint32_t mtu)
{
	bool learnt = false;

	for (uint32_t i = 0; i < c->s->n_paths; i++)
		if (is_of(quote, size, &c->s->path[i]) && learn(c, i, mtu))
			learnt = true;
	return learnt;
}

static void forget(struct control_role *c, uint32_t i)
{
	control_icmp(c)->mtu[i] = control_icmp(c)->mtu[--control_icmp(c)->n_mtus];
}

/*
 * A new snapshot can have other paths under the same ids, and policies with another first path. Paths that are
 * unchanged keep their learnt MTU.
 */
static void follow_snapshot(struct control_role *c)
{
	if (control_icmp(c)->mtu_generation == c->s->generation)
		return;
	control_icmp(c)->mtu_generation = c->s->generation;
	for (uint32_t i = 0; i < control_icmp(c)->n_mtus;) {
		struct control_mtu *m = &control_icmp(c)->mtu[i];
		const struct snap_path *path = m->path < c->s->n_paths ? &c->s->path[m->path] : NULL;

		path_mtu_set(&mtus_of(c)->policy[m->first_path], 0, 0);
		if (path && path->via && path->fingerprint == m->fingerprint) {
			i++;
			continue;
		}
		path_mtu_set(&mtus_of(c)->path[m->path], 0, 0);
		forget(c, i);
	}
	for (uint32_t i = 0; i < control_icmp(c)->n_mtus; i++)
		set_path(c, &control_icmp(c)->mtu[i], control_icmp(c)->mtu[i].mtu);
}

void control_mtu_heard(struct control_role *c, const struct snap_interface *in, const uint8_t *packet, size_t at,
	size_t size)
{
	const struct icmp_hdr *icmp = (const struct icmp_hdr *)(packet + at);
	const struct ipv6_addr *src = &((const struct ipv6_hdr *)packet)->src;
	struct lcore_stats *stats = &c->lcore->stats;
	size_t quote = at + sizeof(*icmp);

	follow_snapshot(c);
	if (!is_trusted(c, in, src))
		stat_add(&stats->ptb_refused, 1);
	else if (!is_within_limits(c, src))
		stat_add(&stats->ptb_limited, 1);
	else if (is_valid(packet, at, size) && learn_quoted(c, packet + quote, size - quote, be32_get(icmp->rest)))
		stat_add(&stats->ptb_taken, 1);
	else
		stat_add(&stats->ptb_ignored, 1);
}

unsigned int control_mtu_poll(struct control_role *c, uint64_t *next)
{
	follow_snapshot(c);
	for (uint32_t i = 0; i < control_icmp(c)->n_mtus;) {
		if (control_icmp(c)->mtu[i].until > c->now) {
			*next = MIN_OF(*next, control_icmp(c)->mtu[i].until);
			i++;
			continue;
		}
		set_path(c, &control_icmp(c)->mtu[i], 0);
		forget(c, i);
	}
	return 0;
}
