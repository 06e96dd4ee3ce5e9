/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verdict on a packet does not depend on former contents of its buffer: every frame is classified twice, once with
 * all bits of its struct pkt clear and once with all set.
 */
#include "test/support/unit.h"

#include "classify/classify.h"
#include "test/support/packet.h"
#include "test/support/testbed.h"

#define CONFIG \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [0], worker: [0]}\n" \
	"memory: {buffers: 32K}\n" \
	"ports:\n" \
	"  - {name: lossless, device: net_null0, side: wan, speed: 10G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:03\"]}}\n" \
	"  - {name: plain, device: net_null1, side: wan, addresses: [\"2001:db8:b::2/64\"]}\n" \
	"sids: [{sid: \"5f00:0:100::/48\", behavior: uN},\n" \
	"  {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: lossless, nexthop: \"2001:db8:a::3\"}]\n"

enum { LOSSLESS, PLAIN };

#define TO_US "02000000d000 02000000a003"
#define PFC "8808 0101 0008 0000 0000 0000 ffff 0000 0000 0000 0000" /* priority 3 */
#define PAD "0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000 0000"
#define NEAR "20010db8000a00000000000000000003"
#define OWN "20010db8000a00000000000000000002"
#define FAR "fd000000000000000000000000000001"
#define PFC_SID "5f0000010001 00e1 0000000000000000"
#define IP6(bytes, next, hops, src, dst) "60000000 " bytes " " next " " hops " " src " " dst " "
#define ECHO "8000 0000 0001 0001"
#define SOLICIT "8700 0000 00000000 " OWN

struct row {
	const char *what;
	uint16_t port;
	const char *frame;
	uint8_t verdict, of; /* punt, or reason */
	uint16_t strip;
	uint16_t seal; /* offset of an IPv6 header whose ICMPv6 wants a checksum; 0: none */
};

static void classified(struct testbed *t, const struct row *r, uint8_t before)
{
	static struct lcore_stats stats;
	static struct sid_counter sids[SNAP_SID_MAX];
	struct classifier c = {.s = t->node->snapshot, .stats = &stats, .sids = sids, .now = t->now};
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->node->pool);
	uint8_t *frame;
	struct pkt *x;
	size_t n;

	assert_non_null(m);
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	n = unit_bytes(r->frame, frame, 256);
	if (r->seal)
		packet_seal6(frame + r->seal, 40, n - r->seal);
	m->data_len = (uint16_t)n;
	m->pkt_len = (uint32_t)n;
	x = pkt_of(m);
	memset(x, before, sizeof(*x));
	classify_burst(&c, r->port, &m, 1);
	check(x->verdict == r->verdict, "%s over %02x: verdict %u", r->what, before, x->verdict);
	if (r->verdict == PKT_DROP)
		check(x->reason == r->of, "%s over %02x: dropped for %s", r->what, before,
			reason_name((enum reason)x->reason));
	else
		check(x->punt == r->of && x->strip == r->strip, "%s over %02x: punt %u, begins at %u", r->what, before,
			x->punt, x->strip);
	pkt_free(m);
}

/* A punted packet has the offset of its start: after the Ethernet header and its tag, or after a tunnel's headers. */
static void punted(void **state)
{
	static const struct row rows[] = {
		{"PFC", LOSSLESS, "0180c2000001 02000000a003" PFC PAD, PKT_PUNT, PUNT_PFC, 14, 0},
		{"PFC, nothing behind the type", LOSSLESS, "0180c2000001 02000000a003 8808", PKT_PUNT, PUNT_PFC, 14, 0},
		{"PFC where none is spoken", PLAIN, "0180c2000001 02000000a003" PFC PAD, PKT_DROP, DROP_mac_control, 0,
			0},
		{"shorter than a header", LOSSLESS, "0180c2000001 02000000a003 88", PKT_DROP, DROP_truncated, 0, 0},
		{"ARP", LOSSLESS,
			"ffffffffffff 02000000a003 0806 0001 0800 0604 0001 02000000a003 0a000003 000000000000 "
			"0a000002",
			PKT_PUNT, PUNT_ARP, 14, 0},
		{"ARP with a priority tag", LOSSLESS,
			"ffffffffffff 02000000a003 8100 6000 0806 0001 0800 0604 0001 02000000a003 0a000003"
			"000000000000 0a000002",
			PKT_PUNT, PUNT_ARP, 18, 0},
		{"solicitation", LOSSLESS, TO_US "86dd" IP6("0018", "3a", "ff", NEAR, OWN) SOLICIT, PKT_PUNT, PUNT_ND,
			14, 14},
		{"ping", LOSSLESS, TO_US "86dd" IP6("0008", "3a", "40", NEAR, OWN) ECHO, PKT_PUNT, PUNT_LOCAL, 14, 14},
		{"ping with a priority tag", LOSSLESS, TO_US "8100 6000 86dd" IP6("0008", "3a", "40", NEAR, OWN) ECHO,
			PKT_PUNT, PUNT_LOCAL, 18, 18},
		{"no hops left", LOSSLESS,
			TO_US "86dd" IP6("0008", "3a", "01", FAR, "5f000000010005000300000000000000") ECHO, PKT_PUNT,
			PUNT_ERROR, 14, 14},
		{"PFC out of a tunnel", LOSSLESS,
			TO_US "86dd" IP6("003c", "8f", "40", FAR, PFC_SID) "0180c2000001 02000000a003" PFC PAD,
			PKT_PUNT, PUNT_PFC_TUNNEL, 54, 0},
	};
	struct testbed *t = testbed_new(CONFIG);

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		classified(t, &rows[i], 0);
		classified(t, &rows[i], 0xff);
	}
	testbed_free(t);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(punted)};

	return cmocka_run_group_tests_name("classify", tests, NULL, NULL);
}
