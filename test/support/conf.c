/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/conf.h"

#include <stdlib.h>

#include "test/support/unit.h"

#define MARKS_MAX 256

const char conf_full[] = "node:\n"
			 "  name: pe1\n"
			 "  loopback: \"fd00:0:1::1\"\n"
			 "  usid:\n"
			 "    block: \"5f00::/32\"\n"
			 "    more-blocks: [\"5f00:1::/32\"]\n"
			 "    node: 256\n"
			 "  sid-blocks: [\"2001:db8:f0::/48\"]\n"
			 "  infrastructure: [\"fd00::/16\", \"2001:db8:2::/48\"]\n"
			 "  slice-option: 30\n"
			 "lcores:\n"
			 "  control: 0\n"
			 "  rx: [1, 2]\n"
			 "  worker: [2, 3]\n"
			 "  cpus: \"0@0,1@4,2@5,3@6\"\n"
			 "memory:\n"
			 "  hugepages: off\n"
			 "  buffers: 128K\n"
			 "  buffer-size: 10K\n"
			 "  lossless: 2K\n"
			 "  ring: 512\n"
			 "  fib: compact\n"
			 "idle:\n"
			 "  policy: sleep\n"
			 "  max-sleep: 50\n"
			 "icmp:\n"
			 "  errors-per-port: 10\n"
			 "  errors: 2K\n"
			 "  echo: 0\n"
			 "  path-mtu: fixed\n"
			 "neighbor-discovery:\n"
			 "  retransmit: 500\n"
			 "  probes: 5\n"
			 "  reachable: 20000\n"
			 "  stale: 60000\n"
			 "  hold: 8\n"
			 "  hold-total: 256\n"
			 "  max: 2K\n"
			 "failover:\n"
			 "  hold: 20\n"
			 "  hold-max: 4000\n"
			 "  window: 5000\n"
			 "metrics:\n"
			 "  listen: \"127.0.0.1:9111\"\n"
			 "log:\n"
			 "  to: syslog\n"
			 "  level: debug\n"
			 "  rate: 100\n"
			 "ports:\n"
			 "  - name: dc0\n"
			 "    device: \"net_pcap0,rx_pcap=in.pcap\"\n"
			 "    side: dc\n"
			 "    vrf: red\n"
			 "    mtu: 9100\n"
			 "    mac: \"02:00:00:00:d0:00\"\n"
			 "    speed: 100G\n"
			 "    rx-queues: 2\n"
			 "    rx-spread: software\n"
			 "    rss-symmetric: true\n"
			 "    hardware-timestamps: true\n"
			 "    descriptors:\n"
			 "      rx: 1K\n"
			 "      tx: 256\n"
			 "    worker: 2\n"
			 "    queue-limit: 128\n"
			 "    buffer-limit: 1K\n"
			 "    control-limit: 128\n"
			 "    control-rate: 50K\n"
			 "    link-delay: 250\n"
			 "    slice: gold\n"
			 "    class-map: roce\n"
			 "    dscp-out: to-lan\n"
			 "    bounce-class: 1\n"
			 "    ecn:\n"
			 "      classes: [3, 4]\n"
			 "      min: 100K\n"
			 "      max: 1M\n"
			 "    pfc:\n"
			 "      priorities: [3, 4]\n"
			 "      peers: [\"02:00:00:00:0a:01\"]\n"
			 "      learn: true\n"
			 "      lenient-cev: true\n"
			 "      lenient-pad: true\n"
			 "      hardware: off\n"
			 "      buffer: far\n"
			 "      blind: accept\n"
			 "      length: 40000\n"
			 "      peer-descriptors: 512\n"
			 "      outage: 60\n"
			 "      watchdog:\n"
			 "        action: drop\n"
			 "        alarm: 20\n"
			 "        detect: 100\n"
			 "        release: 500\n"
			 "        restore: 50\n"
			 "    addresses: [10.1.0.1/24, \"2001:db8:1::1/64\"]\n"
			 "  - name: dc1\n"
			 "    device: net_null1\n"
			 "    side: dc\n"
			 "    vrf: blue\n"
			 "    addresses: [10.1.0.1/24]\n"
			 "  - name: wan0\n"
			 "    device: \"0000:17:00.1\"\n"
			 "    side: wan\n"
			 "    speed: 25G\n"
			 "    pfc:\n"
			 "      priorities: [3]\n"
			 "      peers: [\"02:00:00:00:05:00\"]\n"
			 "      learn-tunnels: true\n"
			 "      buffer: near\n"
			 "      round-trip: 8\n"
			 "    boundary-off: [sources]\n"
			 "    addresses: [\"fe80::1/64\", \"2001:db8:2::1/64\"]\n"
			 "  - name: host0\n"
			 "    device: net_null2\n"
			 "    side: host\n"
			 "    dscp-in: from-lan\n"
			 "    allow-sids: [\"5f00:0:300::/48\"]\n"
			 "    hmac: required\n"
			 "    bfd: plain\n"
			 "interfaces:\n"
			 "  - name: host0.7\n"
			 "    port: host0\n"
			 "    vlan: 7\n"
			 "    inner-vlan: 70\n"
			 "    tag: 802.1ad\n"
			 "    vrf: red\n"
			 "    slice: gold\n"
			 "    mtu: 1400\n"
			 "    bfd: plain\n"
			 "    addresses: [198.51.100.1/24]\n"
			 "slices:\n"
			 "  - name: gold\n"
			 "    id: 5\n"
			 "    weight: 4\n"
			 "    min-rate: 20G\n"
			 "    max-rate: 40G\n"
			 "  - name: silver\n"
			 "class-maps:\n"
			 "  - name: roce\n"
			 "    dscp:\n"
			 "      - from: 24\n"
			 "        to: 31\n"
			 "        class: 3\n"
			 "      - from: 46\n"
			 "        class: 5\n"
			 "    pcp:\n"
			 "      - from: 1\n"
			 "        to: 2\n"
			 "        class: 0\n"
			 "  - name: tunnel\n"
			 "    classes:\n"
			 "      - from: 3\n"
			 "        class: 4\n"
			 "      - from: 5\n"
			 "        to: 6\n"
			 "        class: 7\n"
			 "dscp-maps:\n"
			 "  - name: from-lan\n"
			 "    map:\n"
			 "      - from: 25\n"
			 "        to: 27\n"
			 "        dscp: 26\n"
			 "      - from: 34\n"
			 "        dscp: 26\n"
			 "  - name: to-lan\n"
			 "    map:\n"
			 "      - from: 18\n"
			 "        dscp: 26\n"
			 "      - from: 40\n"
			 "        dscp: 48\n"
			 "  - name: to-wan\n"
			 "    map:\n"
			 "      - from: 26\n"
			 "        dscp: 18\n"
			 "      - from: 48\n"
			 "        to: 50\n"
			 "        dscp: 22\n"
			 "buffer-profiles:\n"
			 "  - name: far\n"
			 "    alpha: 1/8\n"
			 "    xoff: 512K\n"
			 "    xon: 300K\n"
			 "    headroom: 6M\n"
			 "    forced: true\n"
			 "    min-frame: 1000\n"
			 "    response: 30\n"
			 "    jitter: 40\n"
			 "    losses: 2\n"
			 "    selective: 2M\n"
			 "  - name: near\n"
			 "    headroom: 1M\n"
			 "    forced: true\n"
			 "    min-frame: 1000\n"
			 "bfd-profiles:\n"
			 "  - name: plain\n"
			 "  - name: full\n"
			 "    transmit: 3300\n"
			 "    receive: 5000\n"
			 "    multiplier: 5\n"
			 "    echo: 4000\n"
			 "    echo-receive: 2000\n"
			 "    passive: true\n"
			 "    shutdown: true\n"
			 "    auth: meticulous-sha1\n"
			 "    auth-key: 7\n"
			 "sbfd-reflector:\n"
			 "  discriminator: 167772161\n"
			 "  rate: 20K\n"
			 "neighbors:\n"
			 "  - port: wan0\n"
			 "    address: \"fe80::5\"\n"
			 "    mac: \"02:00:00:00:05:00\"\n"
			 "  - port: dc0\n"
			 "    address: 10.1.0.254\n"
			 "    mac: \"02:00:00:00:0a:fe\"\n"
			 "    bfd: plain\n"
			 "routes:\n"
			 "  - prefix: \"::/0\"\n"
			 "    port: wan0\n"
			 "    nexthop: \"fe80::5\"\n"
			 "  - prefix: \"::/0\"\n"
			 "    port: wan0\n"
			 "    nexthop: \"2001:db8:2::5\"\n"
			 "  - prefix: 192.0.2.0/24\n"
			 "    port: wan0\n"
			 "    nexthop: \"fe80::6\"\n"
			 "    bfd: plain\n"
			 "vrfs:\n"
			 "  - name: red\n"
			 "    slice: silver\n"
			 "    routes:\n"
			 "      - prefix: 10.2.0.0/16\n"
			 "        policy: to-dc2\n"
			 "      - prefix: 10.3.0.0/16\n"
			 "        port: dc0\n"
			 "        nexthop: 10.1.0.253\n"
			 "        bfd: full\n"
			 "  - name: blue\n"
			 "  - name: ochre\n"
			 "    routes:\n"
			 "      - prefix: 0.0.0.0/0\n"
			 "        policy: marked\n"
			 "sids:\n"
			 "  - sid: \"5f00:0:100::/48\"\n"
			 "    behavior: uN\n"
			 "  - sid: \"5f00:0:e005::/48\"\n"
			 "    behavior: uA\n"
			 "    port: wan0\n"
			 "    nexthop: \"fe80::5\"\n"
			 "  - sid: \"5f00:0:100:e006::/64\"\n"
			 "    behavior: uA\n"
			 "    port: wan0\n"
			 "    nexthop: \"2001:db8:2::5\"\n"
			 "    bfd: full\n"
			 "  - sid: \"5f00:0:e101::/48\"\n"
			 "    behavior: uDT46\n"
			 "    vrf: red\n"
			 "    slice: gold\n"
			 "    class-map: tunnel\n"
			 "    dscp: map\n"
			 "    dscp-map: to-lan\n"
			 "  - sid: \"5f00:0:e102::/48\"\n"
			 "    behavior: uDT4\n"
			 "    vrf: blue\n"
			 "  - sid: \"5f00:0:100:e103::/64\"\n"
			 "    behavior: uDT6\n"
			 "    allow: [ping, traceroute]\n"
			 "  - sid: \"5f00:9:1::/48\"\n"
			 "    behavior: End\n"
			 "    flavors: [psp, usp, usd]\n"
			 "    hmac: required\n"
			 "  - sid: \"5f00:1:1:d2::/64\"\n"
			 "    behavior: End.DX2\n"
			 "    port: dc0\n"
			 "  - sid: \"2001:db8:f0:1::/64\"\n"
			 "    behavior: End.DX4\n"
			 "    port: dc0\n"
			 "    nexthop: 10.1.0.254\n"
			 "  - sid: \"5f00:1:1:e1::/64\"\n"
			 "    behavior: End.X.PFC\n"
			 "    flavors: [psp, usp]\n"
			 "    port: wan0\n"
			 "    nexthop: \"fe80::5\"\n"
			 "    slice: gold\n"
			 "    adjacencies:\n"
			 "      - port: wan0\n"
			 "        nexthop: \"2001:db8:2::5\"\n"
			 "        bfd: full\n"
			 "    allowed-sources: [\"2001:db8:2::3/128\"]\n"
			 "    slice-by: option\n"
			 "    pfc-hmac: required\n"
			 "    message-keys: [11]\n"
			 "    lenient-cev: true\n"
			 "    jitter: 500\n"
			 "    outage: 20\n"
			 "policies:\n"
			 "  - name: to-dc2\n"
			 "    flows: 64K\n"
			 "    flow-key: queue-pair\n"
			 "    roce: true\n"
			 "    feedback: true\n"
			 "    disjoint: links\n"
			 "    paths:\n"
			 "      - name: via-spine5\n"
			 "        segments: [\"5f00:0:500::\", \"5f00:0:300::\", \"5f00:0:e102::\"]\n"
			 "        weight: 3\n"
			 "        bfd: plain\n"
			 "        reflector: \"fd00:0:2::1\"\n"
			 "        reflector-discriminator: 167772162\n"
			 "      - name: via-spine6\n"
			 "        segments: [\"5f00:0:600:300:e102::\"]\n"
			 "        backup: true\n"
			 "  - name: marked\n"
			 "    source: \"fd00:0:1::2\"\n"
			 "    hmac-key: 7\n"
			 "    hop-limit: 32\n"
			 "    dscp: set\n"
			 "    dscp-value: 46\n"
			 "    flow-label: 65537\n"
			 "    class-map: tunnel\n"
			 "    slice-by: option\n"
			 "    paths:\n"
			 "      - name: only\n"
			 "        segments: [\"2001:db8:9::1\"]\n"
			 "  - name: frames\n"
			 "    encap: H.Encaps.L2\n"
			 "    source-prefix: \"fd00:0:1:ff::/64\"\n"
			 "    dscp: map\n"
			 "    dscp-map: to-wan\n"
			 "    paths:\n"
			 "      - name: raw\n"
			 "        segments: [\"2001:db8:9::2\"]\n"
			 "steering:\n"
			 "  idle: 60\n"
			 "  interval: 500us\n"
			 "  margin: 30\n"
			 "  share: 25\n"
			 "  gap: 100us\n"
			 "  queue-limit: 30us\n"
			 "  pause-limit: 10\n"
			 "  credit-limit: off\n"
			 "placements:\n"
			 "  - flow: \"src=10.0.0.1,dst=10.0.1.1,qp=0x11\"\n"
			 "    policy: to-dc2\n"
			 "    path: via-spine5\n"
			 "    pinned: true\n"
			 "hmac:\n"
			 "  keys: hmac.keys\n"
			 "  profile: linux\n"
			 "circuits:\n"
			 "  - name: pw1\n"
			 "    port: dc0\n"
			 "    vlan: 100\n"
			 "    policy: frames\n"
			 "pfc-relays:\n"
			 "  - name: frames\n"
			 "    port: dc0\n"
			 "    sid: \"5f00:1:1:d2::/64\"\n"
			 "    mode: scaled\n"
			 "    from-speed: 400G\n"
			 "    jitter: 40\n"
			 "    hold-min: 2000\n"
			 "    outage: 60\n"
			 "    segments: [\"2001:db8:9::1\", \"2001:db8:9::d2\"]\n"
			 "    flow-label: 17\n"
			 "    hmac-key: 8\n"
			 "    honour-local: true\n"
			 "    watchdog:\n"
			 "      action: alert\n"
			 "      alarm: 0\n"
			 "      detect: 300\n"
			 "      release: 2000\n"
			 "      restore: 400\n"
			 "  - name: states\n"
			 "    port: dc0\n"
			 "    carrier: state\n"
			 "    udp-port: 4794\n"
			 "    lease: 60000\n"
			 "    message-keys: [9]\n"
			 "    allowed-sources: [\"fd00:0:3::1/128\"]\n"
			 "pfc-tunnels:\n"
			 "  - name: to-r1\n"
			 "    slice: gold\n"
			 "    port: wan0\n"
			 "    priorities: [3]\n"
			 "    segments: [\"2001:db8:9::1\", \"5f00:1:7:e1::\"]\n"
			 "    far-speed: 400G\n"
			 "    flow-label: 18\n"
			 "    hmac-key: 9\n"
			 "    message-key: 12\n"
			 "    slice-by: option\n"
			 "    source: \"fd00:0:9::1\"\n"
			 "    outage: 30\n"
			 "    repeat: true\n"
			 "pfc-learning:\n"
			 "  tunnels: 16\n"
			 "  idle: 60\n"
			 "  max-rtt: 100\n"
			 "  far-speed: 200G\n"
			 "  flow-label: 19\n"
			 "  hmac-key: 10\n"
			 "  message-key: 13\n"
			 "  slice-by: argument\n"
			 "  outage: 40\n"
			 "  repeat: true\n"
			 "remote-sids:\n"
			 "  - sid: \"5f00:1:7:e1::/64\"\n"
			 "    behavior: End.X.PFC\n"
			 "    flavors: [psp]\n"
			 "    code: 33025\n"
			 "    owner: r1\n"
			 "    block-bits: 40\n"
			 "    node-bits: 8\n"
			 "    function-bits: 16\n"
			 "    argument-bits: 64\n"
			 "remote-sids-files: [r1.json]\n"
			 "credit:\n"
			 "  mode: ext\n"
			 "  data: free\n"
			 "  heartbeat: 20\n"
			 "  wait: 500\n"
			 "  overhead: 256\n"
			 "  integrity: off\n"
			 "  keys:\n"
			 "    - id: 11\n"
			 "      digest: md5\n"
			 "      from: 1700000000\n"
			 "      until: 1800000000\n"
			 "  clock-error: 30\n"
			 "  window: 4K\n"
			 "  paths: 64\n"
			 "  unit: 10\n"
			 "  pool: 64\n"
			 "  oversubscription: 2\n"
			 "  buffer: 16\n"
			 "  margin: 1\n"
			 "  share: true\n"
			 "  return-after: 40\n"
			 "  alpha: 2\n"
			 "  overrun: drop\n"
			 "  refresh: 20000\n"
			 "  losses: 4\n"
			 "  rapid: 400\n"
			 "  rapid-copies: 4\n"
			 "  repeat-max: 20000\n"
			 "  select: 100\n"
			 "  offer: 2000\n"
			 "  idle: 50\n"
			 "  lease: 500\n"
			 "  repair: 1000\n"
			 "  blockade: 3\n"
			 "  max-hops: 8\n"
			 "  message-types: [244, 245, 246, 247]\n"
			 "  classes: [125, 189, 253, 254]\n"
			 "  enterprise: 32474\n"
			 "  letter:\n"
			 "    grant: 4\n"
			 "    return-unit: bytes\n"
			 "    comparison: smaller\n"
			 "    rate: 5K\n"
			 "    heartbeat: 500\n"
			 "    refresh: true\n"
			 "    class: 122\n"
			 "  neighbors:\n"
			 "    - address: \"fd00:0:2::1\"\n"
			 "      hops: 2\n"
			 "      buffer: 8\n"
			 "      rate: 5K\n"
			 "    - address: \"2001:db8:1::9\"\n"
			 "      port: dc0\n"
			 "      keys:\n"
			 "        - id: 12\n"
			 "          digest: md5\n"
			 "          from: 1700000000\n"
			 "          until: 1900000000\n"
			 "    - address: \"2001:db8:1::7\"\n"
			 "      port: dc0\n"
			 "      mode: letter\n"
			 "  accept:\n"
			 "    - sources: \"fd00:0:2::/64\"\n"
			 "      buffer: 4\n"
			 "      total: 12\n"
			 "      join: to-server\n"
			 "  sessions:\n"
			 "    - name: roce\n"
			 "      policy: to-dc2\n"
			 "      to: \"fd00:0:2::1\"\n"
			 "      class: 4\n"
			 "      rate: 10G\n"
			 "      buffer: 1M\n"
			 "      on-demand: 60\n"
			 "      match:\n"
			 "        sources: \"2001:db8:1::/64\"\n"
			 "        destinations: \"2001:db8:2::/64\"\n"
			 "    - name: to-server\n"
			 "      port: dc0\n"
			 "      to: \"2001:db8:1::9\"\n"
			 "  data-of:\n"
			 "    - sources: \"fd00:0:3::/64\"\n"
			 "      class: 4\n";

struct places {
	struct cfg_mark at[MARKS_MAX];
	unsigned int n;
};

/* The text without its '^', which libyaml's way of counting columns is applied to: characters, not bytes. */
static char *take_marks(const char *marked, struct places *places)
{
	char *text = malloc(strlen(marked) + 1), *out = text;
	struct cfg_mark at = {1, 1};

	assert_non_null(text);
	places->n = 0;
	for (const char *p = marked; *p; p++) {
		if (*p == '^') {
			assert_true(places->n < MARKS_MAX);
			places->at[places->n++] = at;
			continue;
		}
		*out++ = *p;
		if (*p == '\n')
			at = (struct cfg_mark){at.line + 1, 1};
		else
			at.column += (*p & 0xc0) != 0x80;
	}
	*out = '\0';
	return text;
}

static char *expected_output(const char *row, const struct places *places, const char *messages)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	unsigned int used = 0;

	assert_non_null(out);
	while (messages && *messages) {
		int n = (int)strcspn(messages, "\n");

		if (*messages == '-') {
			fprintf(out, "t: error: %.*s\n", n - 1, messages + 1);
		} else {
			check(used < places->n, "%s: fewer marks than messages", row);
			fprintf(out, "t:%u:%u: %s%.*s\n", places->at[used].line, places->at[used].column,
				strncmp(messages, "warning: ", 9) == 0 ? "" : "error: ", n, messages);
			used++;
		}
		messages += n + (messages[n] == '\n');
	}
	check(used == places->n, "%s: more marks than messages", row);
	fclose(out);
	return text;
}

char *conf_output(enum conf_depth depth, const char *text, size_t size)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text("t", text, size, &diags);
	bool loaded = c != NULL;
	char *output = NULL;
	size_t n;
	FILE *out = open_memstream(&output, &n);
	int rc = 0;

	assert_non_null(out);
	if (c && depth == CONF_CHECK)
		rc = cfg_check(c, &diags);
	cfg_diags_print(&diags, out);
	fclose(out);
	/* nothing is returned together with a complaint, and nothing fails without one */
	assert_int_equal(loaded && rc == 0, cfg_diags_errors(&diags) == 0);
	cfg_diags_free(&diags);
	cfg_free(c);
	return output;
}

void conf_expect(const char *row, enum conf_depth depth, const char *marked, const char *messages)
{
	struct places places;
	char *text = take_marks(marked, &places);
	char *want = expected_output(row, &places, messages);
	char *got = conf_output(depth, text, strlen(text));

	check_text(row, got, want);
	free(got);
	free(want);
	free(text);
}

void conf_expect_rows(const struct conf_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct conf_row *r = &rows[i];
		char *text = conf_replace(conf_full, r->find, r->by), *both;

		if (r->also_find) {
			both = conf_replace(text, r->also_find, r->also_by);
			free(text);
			text = both;
		}
		conf_expect(r->what, CONF_CHECK, text, r->messages);
		free(text);
	}
}

char *conf_replace(const char *text, const char *find, const char *by)
{
	const char *at = strstr(text, find);
	char *out;

	check(at, "'%s' stands nowhere in the text", find);
	check(!strstr(at + 1, find), "'%s' stands more than once in the text", find);
	assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, by, at + strlen(find)) >= 0);
	return out;
}

struct config *conf_load(enum conf_depth depth, const char *text)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text("t", text, strlen(text), &diags);

	if (c && depth == CONF_CHECK)
		cfg_check(c, &diags);
	for (unsigned int i = 0; i < diags.n; i++)
		print_error("line %u: %s\n", diags.items[i].at.line, diags.items[i].text);
	assert_int_equal(cfg_diags_errors(&diags), 0);
	assert_non_null(c);
	cfg_diags_free(&diags);
	return c;
}

char *conf_emit(const struct config *c, int all)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	cfg_emit(c, out, all);
	fclose(out);
	return text;
}

char *conf_reference(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	cfg_emit_reference(out);
	fclose(out);
	return text;
}
