/* SPDX-License-Identifier: BSD-3-Clause */
/* PFC storms through whole nodes: what the watchdog of a queue finds, does, counts, logs and shows. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "base/log.h"
#include "config/config.h"
#include "test/support/conf.h"
#include "service/pfc/service_pfc.h"
#include "test/support/shown.h"
#include "test/support/testbed.h"

/* Data comes in by p0 and leaves by p1, whose neighbour storms; SID e1 pauses p1 in no slice. */
#define NODE \
	TESTBED_NODE \
	"lcores: {control: 0, rx: [1], worker: [2]}\n" \
	"memory: {buffers: 32K}\n" \
	"slices: [{name: gold}]\n" \
	"buffer-profiles: [{name: small, xoff: 4096, xon: 2048, headroom: 256K, forced: true, min-frame: 100}]\n" \
	"neighbors:\n" \
	"  - {port: p0, address: \"2001:db8:a::3\", mac: \"02:00:00:00:a0:00\"}\n" \
	"  - {port: p1, address: \"2001:db8:b::3\", mac: \"02:00:00:00:b0:03\"}\n" \
	"routes:\n" \
	"  - {prefix: \"5f00:0:400::/48\", port: p1, nexthop: \"2001:db8:b::3\"}\n" \
	"  - {prefix: \"5f00:0:300::/48\", port: p0, nexthop: \"2001:db8:a::3\"}\n" \
	"sids:\n" \
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n" \
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::3\"}\n"
#define PORTS(watchdog) \
	"ports:\n" \
	"  - {name: p0, device: net_null0, side: wan, speed: 100G, addresses: [\"2001:db8:a::2/64\"],\n" \
	"     pfc: {priorities: [3], peers: [\"02:00:00:00:a0:00\"], buffer: small}}\n" \
	"  - {name: p1, device: net_null1, side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"],\n" \
	"     pfc: {priorities: [3, 4], peers: [\"02:00:00:00:b0:03\"], buffer: small, watchdog: {" watchdog "}}}\n"

#define TIMES "alarm: 10, detect: 20, restore: 10, release: 60000"
#define MS NSEC_PER_MSEC
#define LONG 335540ull /* ns of 65535 quanta at 100 Gb/s */

enum { IN, OUT };

static char lines[4096];

static void sink(enum log_level level, enum log_module module, const char *line)
{
	size_t n = strlen(lines);

	snprintf(lines + n, sizeof(lines) - n, "%s %s: %s\n", log_level_name(level), log_module_name(module), line);
}

static struct testbed *bed(const char *ports)
{
	struct testbed *t;
	char *text;

	assert_true(asprintf(&text, "%s%s", NODE, ports) > 0);
	t = testbed_new(text);
	free(text);
	lines[0] = '\0';
	log_set_sink(sink);
	testbed_pass(t, MS, 1000);
	return t;
}

static void end(struct testbed *t)
{
	log_set_sink(NULL);
	testbed_free(t);
}

/* A frame of the neighbour on the link of p1. */
static void link_says(struct testbed *t, uint8_t enable, uint16_t time)
{
	const struct eth_addr peer = {{0x02, 0, 0, 0, 0xb0, 3}};
	struct pfc_request r = {.enable = enable};
	struct pfc_frame frame;

	for (unsigned int i = 0; i < 8; i++)
		r.time[i] = time;
	pfc_write(&frame, &peer, &r);
	fake_port_receive(t->port[OUT], 0, &frame, sizeof(frame), 0);
	testbed_round(t);
	testbed_round(t);
}

/* A frame of fd00::9 to the SID. */
static void tunnel_says(struct testbed *t, uint16_t time)
{
	struct pfc_request r = {.enable = 8, .time = {[3] = time}};
	uint8_t frame[TESTBED_PFC_FRAME];

	testbed_pfc_frame(frame, &t->port[IN]->port.mac, "fd00::9", "5f00:1:1:e1::", &r);
	fake_port_receive(t->port[IN], 0, frame, sizeof(frame), 0);
	for (unsigned int i = 0; i < 3; i++)
		testbed_round(t);
}

/* Until `until`, a pause is requested every 250 us. */
static void storm(struct testbed *t, uint64_t until, bool tunnel)
{
	while (t->now < until) {
		if (tunnel)
			tunnel_says(t, 65535);
		else
			link_says(t, 0x08, 65535);
		testbed_pass(t, 250000 - 2000, 5000);
	}
}

static void data(struct testbed *t, unsigned int from, unsigned int class, unsigned int n)
{
	uint8_t frame[256];

	while (n--) {
		uint32_t size = testbed_frame(frame, &t->port[from]->port.mac,
			from == IN ? "5f00:0:100:400::" : "5f00:0:100:300::", 7, 0, 120);

		((struct ipv6_hdr *)(frame + sizeof(struct eth_hdr)))->vtc_flow = ipv6_vtc_flow((uint8_t)(class << 5),
			0);
		fake_port_receive(t->port[from], 0, frame, size, 0);
		for (unsigned int i = 0; i < 3; i++)
			testbed_round(t);
	}
}

/* Data frames a port has sent since, and how many frames of PFC that stop and go on. */
struct sent {
	unsigned int data, xoff, xon;
};

static struct sent sent_by(struct testbed *t, unsigned int port)
{
	struct sent_frame *f;
	struct sent s = {0};
	struct pfc_request r;

	while ((f = fake_port_take(t->port[port]))) {
		if (pfc_read(f->bytes, f->size, 0, &r) != PFC_LEGAL)
			s.data++;
		else if (pfc_stops(&r))
			s.xoff++;
		else
			s.xon++;
		free(f);
	}
	return s;
}

static void check_line(const char *part)
{
	check(strstr(lines, part), "no '%s' in:\n%s", part, lines);
}

/* Found at the very moment, not earlier; other priorities and slices are untouched; an alarm came before. */
static void detected(void **state)
{
	struct testbed *t = bed(PORTS("action: forward, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];
	uint64_t began;

	(void)state;
	link_says(t, 0x08, 65535);
	began = w->since;
	assert_true(w->paused);
	storm(t, began + 10 * MS - 300000, false);
	assert_int_equal(w->alarms, 0);
	storm(t, began + 20 * MS - 300000, false);
	assert_int_equal(w->alarms, 1);
	assert_int_equal(w->detections, 0);
	storm(t, began + 21 * MS, false);
	assert_int_equal(w->detections, 1);
	check(w->detected_at >= began + 20 * MS && w->detected_at < began + 20 * MS + 5000, "detected after %llu ns",
		(unsigned long long)(w->detected_at - began));
	/* gold has been paused as long and is empty: a storm too */
	assert_int_equal(t->node->egress[OUT].watchdog[1][3].detections, 1);
	assert_int_equal(t->node->egress[OUT].watchdog[0][4].detections, 0);
	assert_int_equal(t->node->egress[IN].watchdog[0][3].detections, 0);
	node_tick(t->node, t->now);
	check_line("warning pfc: p1, priority 3: paused for 10 ms without a break\n");
	check_line("error pfc: p1, priority 3: PFC storm, paused for 20 ms without a break: PFC is ignored\n");
	check_line("p1, slice gold, priority 3: PFC storm");
	lines[0] = '\0';
	node_tick(t->node, t->now);
	check_text("nothing is said twice", lines, "");
	end(t);
}

/* With gaps, however short, there is no storm, however often the watchdog runs. */
static void breaks(void **state)
{
	struct testbed *t = bed(PORTS("action: drop, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];
	uint64_t until = t->now + 100 * MS;

	(void)state;
	while (t->now < until) {
		link_says(t, 0x08, 65535);
		testbed_pass(t, LONG + 1000, 3000);
	}
	until = t->now + 100 * MS;
	while (t->now < until) {
		link_says(t, 0x08, 65535);
		testbed_pass(t, 100000, 5000);
		link_says(t, 0x08, 0);
	}
	assert_int_equal(w->detections + w->alarms, 0);
	assert_false(w->paused);
	end(t);
}

/* Everything is dropped that waits for or comes to the queue, and what the stormer itself sends; it all adds up. */
static void drops(void **state)
{
	struct testbed *t = bed(PORTS("action: drop, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];
	struct sent s;

	(void)state;
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 100);
	storm(t, w->since + 19 * MS, false);
	s = sent_by(t, IN);
	assert_true(s.xoff > 1 && !s.xon); /* the queue is full: its sender was paused */
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 100);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_storm), 0);
	storm(t, w->since + 21 * MS, false);
	/* flushed, and PFC goes no further upstream */
	assert_int_equal(t->node->egress[OUT].slice[0].queue[3].packets.n, 0);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_storm), 100);
	s = sent_by(t, IN);
	assert_int_equal(s.xon, 1);
	data(t, IN, 3, 50);
	data(t, IN, 2, 5);
	data(t, OUT, 3, 20);
	data(t, OUT, 2, 5);
	storm(t, t->now + 5 * MS, false);
	assert_int_equal(sent_by(t, OUT).data, 5);
	s = sent_by(t, IN);
	assert_int_equal(s.data, 5);
	assert_int_equal(s.xoff, 0);
	assert_int_equal(testbed_reason(t, IN, DROP_pfc_storm), 150);
	assert_int_equal(testbed_reason(t, OUT, DROP_pfc_storm), 20);
	assert_int_equal(w->dropped, 150);
	assert_int_equal(service_pfc(t->node)->rx[0].storm_dropped[OUT][3], 20);
	assert_int_equal(w->sent, 0);
	assert_int_equal(testbed_reason(t, IN, DROP_headroom_exceeded) + testbed_reason(t, IN, DROP_queue_full), 0);
	check_shown(t, "show pfc watchdog", "storm");
	check_metrics(t, "sluice_pfc_storm{node=\"t\",port=\"p1\",relay=\"\",slice=\"\",priority=\"3\"} 1\n");
	check_metrics(t, "sluice_pfc_storm_dropped_packets_total{node=\"t\",port=\"p1\",relay=\"\",slice=\"\",priority="
			 "\"3\"} 150\n");
	/* ten milliseconds after the last frame the storm is over, and pauses requested meanwhile do not take effect */
	link_says(t, 0x08, 65535);
	testbed_pass(t, 9 * MS, 5000);
	assert_true(w->stormed);
	testbed_pass(t, 2 * MS, 5000);
	assert_false(w->stormed);
	assert_int_equal(w->restorations, 1);
	data(t, IN, 3, 10);
	data(t, OUT, 3, 10);
	assert_int_equal(sent_by(t, OUT).data, 10);
	assert_int_equal(sent_by(t, IN).data, 10);
	assert_int_equal(w->last_dropped, 150);
	node_tick(t->node, t->now);
	check_line("its packets and the neighbour's packets of that priority are dropped\n");
	check_line("notice pfc: p1, priority 3: PFC storm over after");
	end(t);
}

/* A storm that drops empties a long queue bit by bit, and takes what is given back to it. */
static void drops_a_long_queue(void **state)
{
	struct testbed *t = bed(PORTS("action: drop, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];

	(void)state;
	t->port[OUT]->tx_allowed = 0;
	data(t, IN, 3, 40); /* in the device's burst when the pause comes */
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 1000);
	link_says(t, 0x08, 65535);
	storm(t, w->since + 21 * MS, false);
	assert_int_equal(w->dropped, 1040);
	assert_int_equal(node_port_queued(t->node, OUT), 0);
	end(t);
}

/* Served as if there were no PFC, counted. */
static void forwards(void **state)
{
	struct testbed *t = bed(PORTS("action: forward, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];

	(void)state;
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 30);
	storm(t, w->since + 19 * MS, false);
	assert_int_equal(sent_by(t, OUT).data, 0);
	storm(t, w->since + 21 * MS, false);
	assert_int_equal(sent_by(t, OUT).data, 30);
	data(t, IN, 3, 12);
	storm(t, t->now + MS, false);
	assert_int_equal(sent_by(t, OUT).data, 12);
	assert_int_equal(w->sent, 42);
	assert_int_equal(w->dropped, 0);
	assert_true(w->ignored >= 4);
	end(t);
}

/* Only reported: the pause goes on. */
static void alerts(void **state)
{
	struct testbed *t = bed(PORTS("action: alert, " TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];

	(void)state;
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 30);
	storm(t, w->since + 60 * MS, false);
	assert_int_equal(sent_by(t, OUT).data, 0);
	assert_int_equal(w->detections, 1);
	assert_int_equal(w->ignored, 0);
	node_tick(t->node, t->now);
	check_line("PFC is still obeyed\n");
	link_says(t, 0x08, 0);
	assert_int_equal(sent_by(t, OUT).data, 30);
	testbed_pass(t, 11 * MS, 5000);
	assert_int_equal(w->restorations, 1);
	end(t);
}

/* The default: a pause across the WAN ends, docs/protocol.md 5.5; the neighbour on the link is obeyed before and after. */
static void releases(void **state)
{
	struct testbed *t = bed(PORTS(TIMES));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];
	uint64_t ignored;

	(void)state;
	tunnel_says(t, 65535);
	data(t, IN, 3, 30);
	storm(t, w->since + 21 * MS, true);
	assert_int_equal(w->detections, 1);
	assert_int_equal(sent_by(t, OUT).data, 30);
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 5);
	assert_int_equal(sent_by(t, OUT).data, 0);
	link_says(t, 0x08, 0);
	assert_int_equal(sent_by(t, OUT).data, 5);
	ignored = w->ignored;
	assert_true(ignored >= 3);
	testbed_pass(t, 11 * MS, 5000);
	assert_int_equal(w->restorations, 1);
	tunnel_says(t, 65535); /* obeyed again */
	data(t, IN, 3, 5);
	assert_int_equal(sent_by(t, OUT).data, 0);
	assert_int_equal(w->ignored, ignored);
	tunnel_says(t, 0);
	assert_int_equal(sent_by(t, OUT).data, 5);
	/* of the neighbour alone: only reported */
	link_says(t, 0x08, 65535);
	data(t, IN, 3, 5);
	storm(t, w->since + 30 * MS, false);
	assert_int_equal(w->detections, 2);
	assert_int_equal(sent_by(t, OUT).data, 0);
	node_tick(t->node, t->now);
	check_line("by its neighbour, which is obeyed; pauses from tunnels are ignored\n");
	link_says(t, 0x08, 0);
	end(t);
}

static void reload(struct testbed *t, const char *ports)
{
	char err[256] = "", *text;

	assert_true(asprintf(&text, "%s%s", NODE, ports) > 0);
	check(node_apply(t->node, conf_load(CONF_CHECK, text), err, sizeof(err)) == 0, "%s", err);
	free(text);
	testbed_settle(t, 100);
}

/* The storm outlives a reload with the measure it began with; switched off, the watchdog lets go. */
static void reloads(void **state)
{
	struct testbed *t = bed(PORTS("action: off"));
	const struct pfc_watchdog *w = &t->node->egress[OUT].watchdog[0][3];

	(void)state;
	link_says(t, 0x08, 65535);
	storm(t, t->now + 60 * MS, false);
	assert_int_equal(w->detections, 0);
	link_says(t, 0x08, 65535);
	reload(t, PORTS("action: drop, " TIMES));
	assert_true(w->paused); /* from now on */
	storm(t, t->now + 21 * MS, false);
	assert_true(w->stormed);
	reload(t, PORTS("action: alert, " TIMES));
	data(t, IN, 3, 7);
	assert_int_equal(w->dropped, 7);
	storm(t, t->now + 5 * MS, false);
	assert_true(w->stormed);
	link_says(t, 0x08, 65535);
	reload(t, PORTS("action: off"));
	assert_false(w->stormed);
	data(t, IN, 3, 7);
	assert_int_equal(sent_by(t, OUT).data, 7);
	end(t);
}

/* Times that the configuration leaves open: on a slow port one frame is not a storm, however long its pause. */
static void times(void **state)
{
	static const char slow[] =
		"ports:\n"
		"  - {name: p0, device: net_null0, side: wan, speed: 10M, addresses: [\"2001:db8:a::2/64\"]}\n"
		"  - {name: p1, device: net_null1, side: wan, speed: 100G, addresses: [\"2001:db8:b::2/64\"]}\n";
	struct testbed *t = bed(slow);
	const struct pfc_watchdog_config *at10m = &t->node->snapshot->port[0].watchdog,
					 *at100g = &t->node->snapshot->port[1].watchdog;

	(void)state;
	assert_int_equal(at100g->action, PFC_WATCHDOG_RELEASE);
	assert_int_equal(at100g->alarm_ns, 100 * MS);
	assert_int_equal(at100g->detect_ns, 200 * MS);
	assert_int_equal(at100g->restore_ns, 200 * MS);
	assert_int_equal(at10m->detect_ns, 2 * 3355392000ull); /* 65535 quanta */
	assert_int_equal(at10m->restore_ns, 2 * 3355392000ull);
	end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(detected),
		cmocka_unit_test(breaks),
		cmocka_unit_test(drops),
		cmocka_unit_test(drops_a_long_queue),
		cmocka_unit_test(forwards),
		cmocka_unit_test(alerts),
		cmocka_unit_test(releases),
		cmocka_unit_test(reloads),
		cmocka_unit_test(times),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("pfc_storm", tests, NULL, NULL);
}
