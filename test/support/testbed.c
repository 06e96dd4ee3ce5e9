/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/testbed.h"

#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>

#include "config/config.h"
#include "service/services.h"
#include "pfc/pfc_frame.h"
#include "test/support/conf.h"
#include "test/support/packet.h"
#include "test/support/unit.h"
#include "wire/udp.h"

/* The EAL leaves an empty directory. */
static void remove_runtime(void)
{
	rmdir(rte_eal_get_runtime_dir());
}

void testbed_eal(void)
{
	static bool started;
	char prefix[64];
	/* threads of tests share CPUs; lcores are made when a test starts some */
	const char *args[] = {"unit", "--no-huge", "-m", "768", "--no-pci", "--no-shconf", "--no-telemetry", "--lcores",
		"0@0", "--log-level=*:warning", prefix};

	if (started)
		return;
	snprintf(prefix, sizeof(prefix), "--file-prefix=unit%d", (int)getpid());
	if (rte_eal_init(ARRAY_LEN(args), (char **)(uintptr_t)args) < 0)
		abort();
	atexit(remove_runtime);
	started = true;
}

static struct testbed *testbed_make(const char *yaml, bool steady)
{
	struct node_options options = {.services = node_services,
		.steady = steady,
		.seed = 4711,
		.shared_cpu = true,
		.socket = -1};
	struct testbed *t = calloc(1, sizeof(*t));
	struct config *c = conf_load(CONF_CHECK, yaml);
	struct cfg_diags diags = {0};
	char err[256] = "";

	testbed_eal();
	assert_non_null(t);
	t->now = NSEC_PER_SEC;
	c = cfg_load_beside(c, "t", &diags);
	check(c, "%s", diags.n ? diags.items[0].text : "");
	t->node = node_new(c, &options, err, sizeof(err));
	check(t->node, "%s", err);
	for (uint16_t i = 0; i < t->node->n_ports; i++) {
		const struct cfg_port *cp = &t->node->config->ports.items[i];
		struct eth_addr mac = {{0x02, 0, 0, 0, 0xd0, (uint8_t)i}};

		t->port[i] = fake_port_new(t->node->pool, cp->name, eth_is_zero(&cp->mac) ? &mac : &cp->mac,
			(uint16_t)cp->rx_queues);
		node_attach_port(t->node, i, &t->port[i]->port);
	}
	check(node_commit(t->node, err, sizeof(err)) == 0, "%s", err);
	for (uint16_t i = 0; i < t->node->n_lcores; i++) {
		node_lcore_enter(t->node->lcore[i]);
		batch_init(&t->node->lcore[i]->batch, false); /* as after some time of load */
	}
	return t;
}

struct testbed *testbed_new(const char *yaml)
{
	return testbed_make(yaml, true);
}

struct testbed *testbed_started(const char *yaml)
{
	return testbed_make(yaml, false);
}

void testbed_check_balance(struct testbed *t)
{
	struct node_balance b;

	node_balance(t->node, &b);
	check(b.missing == 0, "rx %llu originated %llu sent %llu dropped %llu consumed %llu held %llu",
		(unsigned long long)b.rx, (unsigned long long)b.originated, (unsigned long long)b.sent,
		(unsigned long long)b.dropped, (unsigned long long)b.consumed, (unsigned long long)b.held);
}

/* Lossless means lossless: at the end of every test. */
static void check_lossless(struct testbed *t)
{
	uint64_t lost = 0;

	for (unsigned int i = 0; i < PORT_SLOTS; i++)
		lost += testbed_reason(t, i, DROP_headroom_exceeded);
	check(t->overruns || !lost, "headroom exceeded: %llu packets of lossless classes were dropped",
		(unsigned long long)lost);
}

static uint64_t charged(const struct account *a)
{
	struct account_level level = {0};

	account_add(a, &level);
	return level.bytes | level.buffers;
}

/* No packet is held, so none may be charged: a remaining charge would pause a sender for ever. */
static void check_released(struct testbed *t)
{
	for (uint16_t w = 0; w < t->node->n_workers; w++) {
		const struct accounts *a = t->node->worker[w].accounts;

		for (unsigned int i = 0; i < PORT_SLOTS * 8; i++) {
			check(!charged(&a->total[i / 8][i % 8]),
				"worker %u: port %u, class %u: packets are gone and still charged", w, i / 8, i % 8);
			for (unsigned int k = 0; k < SNAP_SLICE_MAX; k++)
				check(!charged(&a->slice[i / 8][k][i % 8]),
					"worker %u: slice %u, port %u, class %u: still charged", w, k, i / 8, i % 8);
		}
	}
}

void testbed_free(struct testbed *t)
{
	unsigned int leaked;

	testbed_check_balance(t);
	check_lossless(t);
	node_drain(t->node);
	testbed_check_balance(t);
	check_released(t);
	for (uint32_t i = 0; i < t->node->n_ports; i++) {
		t->node->port[i]->ops->close(t->node->port[i]);
		t->node->port[i] = NULL;
	}
	leaked = rte_mempool_in_use_count(t->node->pool);
	check(leaked == 0, "%u buffers leaked", leaked);
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		node_lcore_leave(t->node->lcore[i]);
	node_free(t->node);
	free(t);
}

unsigned int testbed_round(struct testbed *t)
{
	unsigned int work = 0;
	uint64_t next;

	t->now += NSEC_PER_USEC;
	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		work += node_lcore_poll(t->node->lcore[i], t->now, &next);
	return work;
}

void testbed_settle(struct testbed *t, unsigned int rounds)
{
	while (rounds-- && testbed_round(t))
		;
}

void testbed_pass(struct testbed *t, uint64_t ns, uint64_t step_ns)
{
	uint64_t end = t->now + ns;

	while (t->now < end) {
		t->now += step_ns - NSEC_PER_USEC;
		testbed_settle(t, 100);
	}
}

uint64_t testbed_reason(struct testbed *t, unsigned int port, enum reason reason)
{
	uint64_t n = 0;

	for (uint16_t i = 0; i < t->node->n_lcores; i++)
		n += t->node->lcore[i]->stats.port[port].reason[reason];
	return n;
}

uint32_t testbed_frame(uint8_t *out, const struct eth_addr *to, const char *da, uint16_t flow, uint32_t sequence,
	uint32_t size)
{
	struct eth_hdr *eth = (struct eth_hdr *)out;
	struct ipv6_hdr *outer = (struct ipv6_hdr *)(eth + 1), *inner = outer + 1;
	struct udp_hdr *udp = (struct udp_hdr *)(inner + 1);
	be32_t mark = be32(sequence);
	struct ip_addr a;
	uint32_t fixed = sizeof(*eth) + 2 * sizeof(*outer) + sizeof(*udp) + sizeof(mark);
	uint32_t total = MAX_OF(size, fixed);

	memset(out, 0, total);
	eth->dst = *to;
	eth->src = (struct eth_addr){{0x02, 0, 0, 0, 0xa0, 0}};
	eth->type = be16(ETH_TYPE_IPV6);
	outer->vtc_flow = ipv6_vtc_flow(0, 0x10000u + flow);
	outer->payload_length = be16((uint16_t)(total - sizeof(*eth) - sizeof(*outer)));
	outer->next_header = IP_PROTO_IPV6;
	outer->hop_limit = 64;
	assert_int_equal(ip_addr_parse("fd00::1", &a), 0);
	outer->src = a.v6;
	assert_int_equal(ip_addr_parse(da, &a), 0);
	outer->dst = a.v6;
	inner->vtc_flow = ipv6_vtc_flow(0, 0);
	inner->payload_length = be16((uint16_t)(total - sizeof(*eth) - 2 * sizeof(*outer)));
	inner->next_header = IP_PROTO_UDP;
	inner->hop_limit = 64;
	assert_int_equal(ip_addr_parse("2001:db8:1::11", &a), 0);
	inner->src = a.v6;
	assert_int_equal(ip_addr_parse("2001:db8:3::33", &a), 0);
	inner->dst = a.v6;
	udp->src_port = be16(flow);
	udp->dst_port = be16(UDP_PORT_ROCEV2);
	udp->length = inner->payload_length;
	memcpy(udp + 1, &mark, sizeof(mark));
	return total;
}

void testbed_pfc_frame(uint8_t *out, const struct eth_addr *to, const char *source, const char *sid,
	const struct pfc_request *request)
{
	const struct eth_addr far = {{2, 0, 0, 0, 0x33, 1}};
	struct eth_hdr *eth = (struct eth_hdr *)out;
	struct ipv6_hdr *ip = (struct ipv6_hdr *)(eth + 1);
	struct pfc_frame *pfc = (struct pfc_frame *)(ip + 1);
	struct ip_addr a;

	_Static_assert(sizeof(*eth) + sizeof(*ip) + sizeof(*pfc) == TESTBED_PFC_FRAME, "a PFC frame in IPv6");
	*eth = (struct eth_hdr){.dst = *to, .src = {{0x02, 0, 0, 0, 0xa0, 0}}, .type = be16(ETH_TYPE_IPV6)};
	*ip = (struct ipv6_hdr){.vtc_flow = ipv6_vtc_flow(0xe0, 0x12345),
		.payload_length = be16(sizeof(*pfc)),
		.next_header = IP_PROTO_ETHERNET,
		.hop_limit = 62};
	assert_int_equal(ip_addr_parse(source, &a), 0);
	ip->src = a.v6;
	assert_int_equal(ip_addr_parse(sid, &a), 0);
	ip->dst = a.v6;
	pfc_write(pfc, &far, request);
}

void testbed_receive(struct testbed *t, unsigned int port, const char *da, uint16_t flow, uint32_t sequence,
	unsigned int class)
{
	uint8_t frame[256];
	uint32_t n = testbed_frame(frame, &t->port[port]->port.mac, da, flow, sequence, 120);

	((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5),
		flow + 1u);
	fake_port_receive(t->port[port], 0, frame, n, 0);
}

static void three_rounds(struct testbed *t)
{
	for (unsigned int i = 0; i < 3; i++)
		testbed_round(t);
}

bool testbed_passes(struct testbed *t, const char *da, unsigned int class, unsigned int out)
{
	struct sent_frame *f;
	bool passed = false;

	testbed_receive(t, 0, da, 7, 0, class);
	three_rounds(t);
	while ((f = fake_port_take(t->port[out]))) {
		passed = true;
		free(f);
	}
	return passed;
}

void testbed_pfc_arrives(struct testbed *t, const char *sid, const char *source, const struct pfc_request *request)
{
	uint8_t frame[TESTBED_PFC_FRAME];

	testbed_pfc_frame(frame, &t->port[0]->port.mac, source, sid, request);
	fake_port_receive(t->port[0], 0, frame, sizeof(frame), 0);
}

void testbed_pfc_pause(struct testbed *t, const char *sid, const char *source, const struct pfc_request *request)
{
	testbed_pfc_arrives(t, sid, source, request);
	three_rounds(t);
}

void testbed_pfc_stop(struct testbed *t, const char *sid, const char *source, unsigned int priority, uint16_t quanta)
{
	struct pfc_request r = {.enable = (uint8_t)(1u << priority)};

	r.time[priority] = quanta;
	testbed_pfc_pause(t, sid, source, &r);
}

void testbed_frame_read(const struct sent_frame *f, uint16_t *flow, uint32_t *sequence)
{
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(f->bytes + sizeof(struct eth_hdr));
	const struct udp_hdr *udp;
	be32_t mark;

	if (ip->next_header == IP_PROTO_IPV6)
		ip++;
	udp = (const struct udp_hdr *)(ip + 1);
	assert_int_equal(ip->next_header, IP_PROTO_UDP);
	memcpy(&mark, udp + 1, sizeof(mark));
	*flow = be16_get(udp->src_port);
	*sequence = be32_get(mark);
}
