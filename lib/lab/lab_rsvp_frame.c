/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a host's RSVP messages (docs/credit.md 1.1): native, in IPv6 or IPv4, with router alert along a path. */
#include <stdlib.h>
#include <string.h>

#include "lab/lab_rsvp.h"
#include "wire/checksum.h"

#define TRAFFIC_CLASS (48 << 2) /* CS6 */
#define MESSAGE_MAX 1400

/* Hop-by-hop options: RSVP follows; router alert for RSVP; PadN (RFC 2711). */
static const uint8_t alert[8] = {RSVP_PROTOCOL, 0, 5, 2, 0, 1, 1, 0};
static const uint8_t alert4[4] = {IPV4_OPTION_RALERT, 4, 0, 0}; /* RFC 2113 */

struct signal_frame {
	struct signal_frame *next;
	uint16_t size;
	uint8_t bytes[];
};

/* IP header and router alert in front of a message of `bytes` bytes. Returns their length. */
static size_t put_ip(uint8_t *out, const struct ip_addr *src, const struct rsvp_way *way, uint8_t hop_limit,
	size_t bytes)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;
	struct ipv4_hdr *ip4 = (struct ipv4_hdr *)out;
	size_t options = !way->along ? 0 : way->to.family == 4 ? sizeof(alert4) : sizeof(alert);

	if (way->to.family == 4) {
		*ip4 = (struct ipv4_hdr){.version_ihl = (uint8_t)(0x40 | (sizeof(*ip4) + options) / 4),
			.tos = TRAFFIC_CLASS,
			.total_length = be16((uint16_t)(sizeof(*ip4) + options + bytes)),
			.ttl = hop_limit,
			.protocol = RSVP_PROTOCOL,
			.src = be32(ip_addr_v4(src)),
			.dst = be32(ip_addr_v4(&way->to))};
		memcpy(ip4 + 1, alert4, options);
		ip4->checksum = checksum_ipv4(ip4);
		return sizeof(*ip4) + options;
	}
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, 0),
		.payload_length = be16((uint16_t)(options + bytes)),
		.next_header = way->along ? IP_PROTO_HOPOPTS : RSVP_PROTOCOL,
		.hop_limit = hop_limit,
		.src = src->v6,
		.dst = way->to.v6};
	memcpy(ip + 1, alert, options);
	return sizeof(*ip) + options;
}

void signal_put(void *arg, const struct rsvp_way *way, struct rsvp_message *m)
{
	struct lab_signal *s = arg;
	struct host_port *p = &s->host->port[0];
	const struct ip_addr *src = way->along ? &m->sender.src : way->to.family == 4 ? &s->own4 : &s->own;
	uint8_t message[MESSAGE_MAX];
	size_t bytes = rsvp_write(s->speech->numbers, m, message, sizeof(message)), headers;
	struct signal_frame *f = calloc(1,
		sizeof(*f) + sizeof(struct eth_hdr) + sizeof(struct ipv6_hdr) + sizeof(alert) + MESSAGE_MAX);
	struct eth_hdr *eth = f ? (struct eth_hdr *)f->bytes : NULL;

	if (!f)
		return; /* as a lost frame */
	*eth = (struct eth_hdr){.dst = p->peer,
		.src = p->mac,
		.type = be16(way->to.family == 4 ? ETH_TYPE_IPV4 : ETH_TYPE_IPV6)};
	headers = sizeof(*eth) + put_ip((uint8_t *)(eth + 1), src, way, m->send_ttl, bytes);
	memcpy(f->bytes + headers, message, bytes);
	f->size = (uint16_t)(headers + bytes);
	*s->tail = f;
	s->tail = &f->next;
	host_run_at(p, s->host->lab->now);
}

bool signal_send(struct host_port *p)
{
	struct lab_signal *s = p->host->signal;
	struct signal_frame *f = s && p->index == 0 ? s->head : NULL;

	if (!f)
		return false;
	s->head = f->next;
	if (!s->head)
		s->tail = &s->head;
	host_send(p, f->bytes, f->size, f->size);
	free(f);
	return true;
}

void signal_drop_frames(struct lab_signal *s)
{
	while (s->head) {
		struct signal_frame *f = s->head;

		s->head = f->next;
		free(f);
	}
}

const uint8_t *signal_message_in(const struct line_frame *f, struct ip_addr *from, uint8_t *hop_limit, size_t *bytes)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(eth + 1);
	const struct ipv4_hdr *ip4 = (const struct ipv4_hdr *)(eth + 1);
	const uint8_t *at = (const uint8_t *)(ip + 1);

	if (f->captured < sizeof(*eth) + sizeof(*ip4) + sizeof(alert4))
		return NULL;
	if (be16_get(eth->type) == ETH_TYPE_IPV4 && ip4->protocol == RSVP_PROTOCOL) {
		*from = ip_addr_from4(be32_get(ip4->src));
		*hop_limit = ip4->ttl;
		*bytes = be16_get(ip4->total_length) - ipv4_header_bytes(ip4);
		at = (const uint8_t *)ip4 + ipv4_header_bytes(ip4);
	} else if (be16_get(eth->type) == ETH_TYPE_IPV6 && f->captured >= sizeof(*eth) + sizeof(*ip) + sizeof(alert)) {
		*from = ip_addr_from6(&ip->src);
		*hop_limit = ip->hop_limit;
		*bytes = be16_get(ip->payload_length);
		if (ip->next_header == IP_PROTO_HOPOPTS && *bytes > sizeof(alert) &&
			!memcmp(at, alert, sizeof(alert))) {
			at += sizeof(alert);
			*bytes -= sizeof(alert);
		} else if (ip->next_header != RSVP_PROTOCOL) {
			return NULL;
		}
	} else {
		return NULL;
	}
	return at + *bytes <= f->bytes + f->captured ? at : NULL;
}
