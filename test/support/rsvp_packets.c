/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/conf.h"
#include "test/support/rsvp_packets.h"

struct rsvp_message m, got;
uint8_t out_bytes[2048];
const struct rsvp_numbers *speech = &rsvp_ext;
struct rsvp_auth *neighbor;

struct ip_addr address(const char *text)
{
	struct ip_addr a;

	assert_int_equal(0, ip_addr_parse(text, &a));
	return a;
}

bool is(const struct ipv6_addr *a, const char *text)
{
	struct ip_addr b = address(text);

	return ipv6_equal(a, &b.v6);
}

static struct ipv6_hdr header(const char *from, const char *to, uint8_t tc, uint32_t label, uint8_t next, uint8_t hops,
	size_t bytes)
{
	return (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(tc, label),
		.payload_length = be16((uint16_t)bytes),
		.next_header = next,
		.hop_limit = hops,
		.src = address(from).v6,
		.dst = address(to).v6};
}

void arrive(struct testbed *t, const struct sending *s)
{
	static const uint8_t alert[8] = {IP_PROTO_RSVP, 0, 5, 2, 0, 1, 1, 0};
	uint8_t frame[2048] = {0x02, 0, 0, 0, 0xd0, (uint8_t)s->port, 0x02, 0, 0, 0, 0xa0, 3, 0x86, 0xdd};
	uint8_t *at = frame + sizeof(struct eth_hdr), bytes[1500];
	size_t n = rsvp_write(speech, &m, bytes, sizeof(bytes));
	bool alerts = s->form != FOR_ONE_HOP;
	char session[IP_ADDR_TEXT];
	struct ipv6_hdr ip;

	assert_true(n);
	if (m.count[RSVP_O_INTEGRITY])
		rsvp_auth_sign(neighbor, bytes, n);
	ip_addr_format(&m.session.dst, session);
	if (s->form == TUNNELLED) {
		ip = header(s->from, s->to, s->tc, LABEL, IP_PROTO_IPV6, s->hop_limit, sizeof(ip) + sizeof(alert) + n);
		memcpy(at, &ip, sizeof(ip));
		at += sizeof(ip);
		ip = header("fd00:1::5", session, 0xc0, 0, IP_PROTO_HOPOPTS, 255, sizeof(alert) + n);
	} else {
		ip = header(s->from, alerts ? session : s->to, s->tc, 0, alerts ? IP_PROTO_HOPOPTS : IP_PROTO_RSVP,
			s->hop_limit, (alerts ? sizeof(alert) : 0) + n);
	}
	memcpy(at, &ip, sizeof(ip));
	at += sizeof(ip);
	if (alerts) {
		memcpy(at, alert, sizeof(alert));
		at += sizeof(alert);
	}
	memcpy(at, bytes, n);
	fake_port_receive(t->port[s->port], 0, frame, (uint32_t)(at + n - frame), 0);
}

void give(struct testbed *t, const struct sending *s)
{
	arrive(t, s);
	testbed_settle(t, 50);
}

bool next_sent(struct testbed *t, unsigned int port, size_t front)
{
	struct sent_frame *f = fake_port_take(t->port[port]);
	size_t n;

	if (!f)
		return false;
	n = f->size - sizeof(struct eth_hdr);
	memcpy(out_bytes, f->bytes + sizeof(struct eth_hdr), n);
	free(f);
	assert_int_equal(RSVP_ACCEPTED, rsvp_read(speech, out_bytes + front, n - front, &got));
	return true;
}

const struct ipv6_hdr *outer(void)
{
	return (const struct ipv6_hdr *)out_bytes;
}

struct testbed *start(const char *yaml)
{
	struct testbed *t = testbed_new(yaml);

	testbed_pass(t, 110 * NSEC_PER_MSEC, NSEC_PER_MSEC); /* D_idle */
	return t;
}

const struct rsvp_service_stats *stats(const struct testbed *t)
{
	return &rsvp_shown(t->node)->stats;
}

void apply(struct testbed *t, const char *yaml)
{
	char err[256] = "";

	check(node_apply(t->node, conf_load(CONF_CHECK, yaml), err, sizeof(err)) == 0, "%s", err);
	testbed_settle(t, 300);
}
