/* SPDX-License-Identifier: BSD-3-Clause */
/* A device on a path between two neighbours that a test plays: their messages, and what the device logs. */
#ifndef SUPPORT_RSVP_PEER_H
#define SUPPORT_RSVP_PEER_H

#include "test/support/unit.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/log.h"
#include "test/support/rsvp_packets.h"
#include "test/support/shown.h"

/* fd00::1 is the previous hop, behind p0; fd00::2 the next one, behind p1. */
/* p1 leads to the next hop; `p1` adds to its keys. */
#define NODE_WITH(p1) \
	TESTBED_NODE TESTBED_ONE_LCORE \
		"ports:\n" \
		"  - {name: p0, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"]}\n" \
		"  - {name: p1, device: net_null1, side: wan, speed: 40G, addresses: [\"2001:db8:b::2/64\"]" p1 "}\n" \
		"  - {name: d0, device: net_null2, side: dc, addresses: [\"2001:db8:c::2/64\"]}\n" \
		"neighbors:\n" \
		"  - {port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:03\"}\n" \
		"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
		"routes:\n" \
		"  - {prefix: \"fd00::1/128\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
		"  - {prefix: \"fd00::2/128\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"  - {prefix: \"5f00:0:200::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
		"sids: [{sid: \"5f00:0:100::/48\", behavior: uN}]\n" \
		"policies: [{name: far, source: \"fd00:1::9\", paths: [{name: only, segments: " \
		"[\"5f00:0:200::\"]}]}]\n"
#define NODE NODE_WITH("")
#define CREDIT(more) \
	"credit:\n  mode: ext\n  integrity: off\n  pool: 64\n  buffer: 16\n" \
	"  neighbors: [{address: \"fd00::1\"}, {address: \"fd00::2\", rate: 5}]\n" more
#define ACCEPT "  accept: [{sources: \"fd00:1::/64\", buffer: 4}]\n"
#define SESSION(name) "  sessions: [{name: " name ", policy: far, to: \"fd00::2\", class: 3, buffer: 32K}]\n"

/* A 28 of fd00::1 for a session that ends at `to`. */
static inline void make_init(const char *to)
{
	static struct ipv6_addr passed;

	passed = address("fd00::1").v6;
	rsvp_clear(&m, RSVP_INIT);
	m.send_ttl = 255;
	m.session = (struct rsvp_session){.dst = address(to), .protocol = 17, .port = 4791};
	m.hop = (struct rsvp_hop){.addr = address("fd00::1"), .lih = 0x101};
	m.refresh_ms = 30000;
	m.sender = (struct rsvp_sender){.src = address("fd00:1::5"), .labelled = true, .port = LABEL};
	m.path = (struct rsvp_cbfc_path){.nonce = 77, .path = 1, .hops = 1, .hops_max = 16, .addrs = &passed};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.traffic_class = 3, .unit = 11, .sequence = 1};
	m.offer[0] = (struct rsvp_cbfc_offer){.buffer = UINT64_MAX, .rate = 100000000000, .path = 1, .hops = 1};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = 1;
	m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = m.count[RSVP_O_CBFC_HOP] = m.count[RSVP_O_CBFC_OFFER] = 1;
}

/* An offer of fd00::2 for the path that this node opened with that LIH. */
static inline void make_offer(const struct rsvp_message *init, uint8_t flags)
{
	rsvp_clear(&m, RSVP_RESERVE);
	m.session = init->session;
	m.hop = (struct rsvp_hop){.addr = address("fd00::2"), .lih = init->hop.lih};
	m.refresh_ms = 30000;
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags,
		.traffic_class = 3,
		.unit = 11,
		.epoch = 5,
		.fccl = 16,
		.buffer = 16,
		.sequence = flags};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_STYLE] = m.flows = 1;
	m.style = RSVP_STYLE_FF;
	m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = init->sender};
}

static const struct sending in_tunnel = {0, "fd00:1::5", "5f00:0:100:200::", 0xc0, 60, TUNNELLED};

/* The log lines of RSVP in the last tick. */
static char told[16384];

static inline void hear(enum log_level level, enum log_module module, const char *line)
{
	size_t n = strlen(told);

	(void)level;
	if (module == LOG_rsvp)
		snprintf(told + n, sizeof(told) - n, "%s\n", line);
}

static inline void listen_to(struct testbed *t)
{
	told[0] = '\0';
	log_set_sink(hear);
	log_set_level(LOG_rsvp, LOG_LEVEL_DEBUG);
	node_tick(t->node, t->now);
	log_set_sink(NULL);
}

static inline void check_told(struct testbed *t, const char *part)
{
	listen_to(t);
	check(strstr(told, part), "no '%s' in: %s", part, told);
}

#endif
