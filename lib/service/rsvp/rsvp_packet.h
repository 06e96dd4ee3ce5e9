/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 around RSVP messages (docs/credit.md 1.1, 2.3): router alert, and outer headers of paths. Control lcore. */
#ifndef SERVICE_RSVP_RSVP_PACKET_H
#define SERVICE_RSVP_RSVP_PACKET_H

#include "node/control_send.h"
#include "service/rsvp/service_rsvp.h"
#include "wire/checksum.h"
#include "wire/ipv4.h"

#define TRAFFIC_CLASS (DSCP_NETWORK_CONTROL << 2)
#define ALERT_BYTES 8
#define INNER_BYTES (sizeof(struct ipv6_hdr) + ALERT_BYTES)

/* The same with IPv4, natively: router alert is an option of its header (RFC 2113). */
static inline uint32_t put_packet4(uint8_t *out, const struct ip_addr *from, const struct ip_addr *to,
	uint8_t hop_limit, bool alerts, const void *message, size_t bytes)
{
	struct ipv4_hdr *ip = (struct ipv4_hdr *)out;
	static const uint8_t alert[] = {IPV4_OPTION_RALERT, 4, 0, 0};
	uint32_t header = sizeof(*ip) + (alerts ? sizeof(alert) : 0);

	*ip = (struct ipv4_hdr){.version_ihl = (uint8_t)(0x40 | header / 4),
		.tos = TRAFFIC_CLASS,
		.total_length = be16((uint16_t)(header + bytes)),
		.fragment = be16(IPV4_DF),
		.ttl = hop_limit,
		.protocol = IP_PROTO_RSVP,
		.src = be32(ip_addr_v4(from)),
		.dst = be32(ip_addr_v4(to))};
	if (alerts)
		memcpy(ip + 1, alert, sizeof(alert));
	ip->checksum = checksum_ipv4(ip);
	memcpy(out + header, message, bytes);
	return (uint32_t)(header + bytes);
}

/* A native packet, or the inner one of a tunnel. Returns its bytes. */
static inline uint32_t put_packet(uint8_t *out, const struct ip_addr *from, const struct ip_addr *to, uint8_t hop_limit,
	bool alerts, const void *message, size_t bytes)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;
	uint8_t *at = out + sizeof(*ip);
	/* hop-by-hop options: RSVP follows; router alert for RSVP; PadN (RFC 2711) */
	static const uint8_t alert[ALERT_BYTES] = {IP_PROTO_RSVP, 0, 5, 2, 0, 1, 1, 0};

	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, 0),
		.payload_length = be16((uint16_t)((alerts ? ALERT_BYTES : 0) + bytes)),
		.next_header = alerts ? IP_PROTO_HOPOPTS : IP_PROTO_RSVP,
		.hop_limit = hop_limit,
		.src = from->v6,
		.dst = to->v6};
	if (alerts) {
		memcpy(at, alert, sizeof(alert));
		at += sizeof(alert);
	}
	memcpy(at, message, bytes);
	return (uint32_t)(at + bytes - out);
}

/* The outer headers of a path in front of `inner` bytes. */
static inline void put_outer(uint8_t *out, const struct rsvp_carrier *x, uint32_t label, uint32_t inner)
{
	struct ipv6_hdr *ip = (struct ipv6_hdr *)out;

	memcpy(out, x->header, x->bytes);
	out[x->next_header_at] = IP_PROTO_IPV6;
	ip->vtc_flow = ipv6_vtc_flow(TRAFFIC_CLASS, label);
	ip->payload_length = be16((uint16_t)(x->bytes - sizeof(*ip) + inner));
}

static inline uint32_t rsvp_put_packet(uint8_t *out, const struct ip_addr *from, const struct ip_addr *to,
	uint8_t hop_limit, bool alerts, const void *message, size_t bytes)
{
	return to->family == 4 ? put_packet4(out, from, to, hop_limit, alerts, message, bytes)
			       : put_packet(out, from, to, hop_limit, alerts, message, bytes);
}

/* In the domain by its routes; to a server over the link that it is on. */
static inline void send_in(struct control_role *c, uint16_t zone, uint8_t family, struct rte_mbuf *m)
{
	if (zone)
		control_send_on_link(c, m, family, (uint16_t)(zone - 1));
	else
		control_send_routed(c, m, VRF_UNDERLAY);
}

#endif
