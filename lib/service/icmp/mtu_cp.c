/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Path MTU of tunnels (RFC 8201, RFC 2473 section 7; docs/protocol.md 3.4): a Packet Too Big about a packet that this
 * node has encapsulated lowers the MTU of its path. Ten minutes later the full MTU is tried again. The sender is not
 * authenticated, so the quoted packet must match the outer headers of the path, which only nodes on the path know.
 * Control lcore.
 */
#include "config/program.h"
#include "service/icmp/icmp_cp.h"
#include "snapshot/path_mtu.h"
#include "snapshot/pfc_outer.h"
#include "wire/checksum.h"
#include "wire/icmp.h"
#include "wire/srh.h"

#define MTU_AGE_NS (600 * NSEC_PER_SEC) /* RFC 8201 section 4 recommends ten minutes */
#define MTU_PER_SECOND 100		/* limit of messages: each is compared with all paths */

/* Written by this lcore only. */
static struct path_mtus *mtus_of(struct control_role *c)
{
	return c->node->registry.path_mtus;
}

/* Return whether `da` is the address `sid` after zero to five of its uSIDs were consumed. */
static bool is_shifted(const struct ipv6_addr *da, const struct ipv6_addr *sid)
{
	static const uint8_t zero[10];

	for (unsigned int n = 0; n <= 10; n += 2)
		if (memcmp(da->b, sid->b, 4) == 0 && memcmp(da->b + 4, sid->b + 4 + n, 12 - n) == 0 &&
			memcmp(da->b + 16 - n, zero, n) == 0)
			return true;
	return false;
}

/* Return whether the quoted packet (`size` bytes) can have been sent on the path. */
static bool is_of(const uint8_t *quote, size_t size, const struct snap_path *path)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)quote, *ours = (const struct ipv6_hdr *)path->header;
	uint32_t fixed = sizeof(*ip) + (path->slice_at ? CFG_SLICE_OPTION_BYTES : 0);
	const struct srh *srh = (const struct srh *)(quote + fixed),
			 *our_srh = (const struct srh *)(path->header + fixed);
	uint8_t next_header;
	const struct ipv6_addr *sid = &ours->dst;

	if (!path->bytes || memcmp(&ip->src, &ours->src, sizeof(ip->src)) != 0 || size < path->bytes)
		return false;
	if (path->flow_label && ipv6_flow_label(ip) != path->flow_label)
		return false;
	/* The option must be as it was sent, except the slice: the slice of the packet is not known here. */
	next_header = path->slice_at ? quote[sizeof(*ip)] : ip->next_header;
	if (path->slice_at &&
		(ip->next_header != IP_PROTO_HOPOPTS ||
			memcmp(quote + sizeof(*ip) + 1, path->header + sizeof(*ip) + 1, SNAP_SLICE_ID_AT - 1) != 0))
		return false;
	if (path->bytes == fixed)
		return (next_header == IP_PROTO_IPV6 || next_header == IP_PROTO_IPV4 ||
			       next_header == IP_PROTO_ETHERNET) &&
		       is_shifted(&ip->dst, sid);
	/*
	 * Only Segments Left of the SRH changes on the path. The next header is not compared: it depends on the inner
	 * packet.
	 */
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

static bool heard(struct control_role *c, const uint8_t *packet, size_t at, size_t size)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)packet, *quoted;
	const struct icmp_hdr *icmp = (const struct icmp_hdr *)(packet + at);
	const uint8_t *quote = packet + at + sizeof(*icmp);
	uint32_t sum = checksum_pseudo6(&ip->src, &ip->dst, (uint32_t)(size - at), IP_PROTO_ICMP6),
		 mtu = be32_get(icmp->rest);
	bool learnt = false;

	if (icmp->code != 0 || mtu < IPV6_MIN_MTU || size < at + sizeof(*icmp) + sizeof(*quoted) ||
		quote[0] >> 4 != 6 || be16_get(checksum_finish(checksum_add(sum, icmp, size - at))) != 0)
		return false;
	quoted = (const struct ipv6_hdr *)quote;
	/* a packet that would have fitted was not too big */
	if (sizeof(*quoted) + be16_get(quoted->payload_length) <= mtu ||
		!bucket_take(&control_icmp(c)->mtus, c->now, MTU_PER_SECOND, MTU_PER_SECOND))
		return false;
	for (uint32_t i = 0; i < c->s->n_paths; i++)
		if (is_of(quote, size - at - sizeof(*icmp), &c->s->path[i]) && learn(c, i, mtu))
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

void control_mtu_heard(struct control_role *c, const uint8_t *packet, size_t at, size_t size)
{
	follow_snapshot(c);
	stat_add(heard(c, packet, at, size) ? &c->lcore->stats.ptb_taken : &c->lcore->stats.ptb_ignored, 1);
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
