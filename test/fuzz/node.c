/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <unistd.h>

#include "test/fuzz/fuzz.h"
#include "test/fuzz/node.h"
#include "test/support/packet.h"
#include "wire/ipv6.h"

static const char yaml[] =
	"node: {name: fuzz, loopback: \"2001:db8:f::d\", usid: {block: \"5f00:0::/32\", node: 0x100},\n"
	"  infrastructure: [\"2001:db8:a::/64\", \"2001:db8:b::/64\", \"2001:db8:f::/64\"], slice-option: 30}\n"
	"lcores: {control: 0, rx: [1], worker: [2]}\n"
	"memory: {buffers: 48K, ring: 256}\n"
	"slices: [{name: gold, id: 5}, {name: silver, id: 70000}]\n"
	"dscp-maps: [{name: some, map: [{from: 0, to: 20, dscp: 33}, {from: 30, to: 50, dscp: 12}]},\n"
	"  {name: others, map: [{from: 5, to: 63, dscp: 56}]}]\n"
	"icmp: {errors-per-port: 100000, errors: 100000, echo: 100000}\n"
	"neighbor-discovery: {retransmit: 100, probes: 2, reachable: 1000, stale: 10000, hold: 4, hold-total: 64, max: "
	"16}\n"
	"ports:\n"
	"  - {name: p0, device: net_null0, side: wan, addresses: [\"2001:db8:a::2/64\", 10.0.0.2/24], speed: 10G,\n"
	"     pfc: {priorities: [3, 4], learn: true, learn-tunnels: true, buffer: small}}\n"
	"  - {name: p1, device: net_null1, side: wan, speed: 10G, addresses: [\"2001:db8:b::2/64\", 10.1.0.2/24],\n"
	"     pfc: {priorities: [3, 4], learn: true, buffer: small}}\n"
	"  - {name: p2, device: net_null2, side: host, vrf: tenant, addresses: [192.0.2.1/24, \"2001:db8:1::1/64\"],\n"
	"     allow-sids: [\"5f00:0:500::/48\", \"5f00:0:e000::/36\"], hmac: required, speed: 10G,\n"
	"     pfc: {priorities: [3, 4], peers: [\"02:00:00:00:c0:02\"], buffer: small}}\n"
	"  - {name: p3, device: net_null3, side: dc, vrf: other, mtu: 1280, addresses: [198.51.100.1/24,\n"
	"     \"2001:db8:3::1/64\"], dscp-in: some, dscp-out: others}\n"
	"  - {name: p4, device: net_null4, side: dc, speed: 10G}\n"
	"interfaces:\n"
	"  - {name: p1.7, port: p1, vlan: 7, addresses: [\"2001:db8:7::2/64\"]}\n"
	"  - {name: p3.7, port: p3, vlan: 7, inner-vlan: 8, vrf: tenant, slice: gold, addresses: [203.0.113.1/24, "
	"\"2001:db8:8::1/64\"]}\n"
	"buffer-profiles: [{name: small, xoff: 8192, headroom: 8192, forced: true}]\n"
	"neighbors:\n"
	"  - {port: p0, address: \"2001:db8:a::1\", mac: \"02:00:00:00:a0:00\"}\n"
	"  - {port: p1, address: \"2001:db8:b::1\", mac: \"02:00:00:00:b0:01\"}\n"
	"  - {port: p1, address: \"2001:db8:b::5\", mac: \"02:00:00:00:b0:05\"}\n"
	"  - {port: p1, address: 10.1.0.6, mac: \"02:00:00:00:b0:06\"}\n"
	"  - {port: p1, address: 10.1.0.1, mac: \"02:00:00:00:b0:01\"}\n"
	"routes:\n"
	"  - {prefix: \"5f00:0:500::/48\", port: p1, nexthop: \"2001:db8:b::1\"}\n"
	"  - {prefix: \"5f00:0:500::/48\", port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {prefix: \"5f00:0:700::/48\", port: p0, nexthop: \"2001:db8:a::1\"}\n"
	"  - {prefix: \"2001:db8:3::/64\", port: p1, nexthop: \"2001:db8:b::1\"}\n"
	"  - {prefix: \"2001:db8:1::/64\", port: p0, nexthop: \"2001:db8:a::99\"}\n"
	"  - {prefix: 198.51.100.0/24, port: p1, nexthop: 10.1.0.1}\n"
	"vrfs:\n"
	"  - name: tenant\n"
	"    routes:\n"
	"      - {prefix: \"2001:db8:3::/64\", policy: short}\n"
	"      - {prefix: 198.51.100.0/24, policy: long}\n"
	"  - name: other\n"
	"    routes:\n"
	"      - {prefix: \"2001:db8:1::/64\", policy: long}\n"
	"      - {prefix: 192.0.2.0/24, policy: short}\n"
	"      - {prefix: \"2001:db8:9::/64\", policy: sliced}\n"
	"circuits:\n"
	"  - {name: pw, port: p3, vlan: 9, policy: frames}\n"
	"pfc-tunnels:\n"
	"  - {name: told, port: p0, slice: gold, priorities: [3], segments: [\"5f00:0:500::\", \"5f00:1:9:e1::\"], "
	"slice-by: option,\n"
	"     hmac-key: 7, repeat: true}\n"
	"pfc-learning: {tunnels: 4, idle: 10, slice-by: argument}\n"
	"remote-sids:\n"
	"  - {sid: \"5f00:1:9:e1::/64\", behavior: End.X.PFC, owner: far, argument-bits: 64}\n"
	"  - {sid: \"5f00:1:9:1::/64\", behavior: End, owner: far}\n"
	"  - {sid: \"5f00:0:500::/48\", behavior: uN, owner: next}\n"
	"  - {sid: \"5f00:1:8:e1::/64\", behavior: End.X.PFC, owner: other, flavors: [psp]}\n"
	"pfc-relays:\n"
	"  - {name: states, port: p2, carrier: state, honour-local: true, udp-port: 4794, segments: [\"5f00:0:500::\", "
	"\"2001:db8:f::3\"]}\n"
	"  - {name: frames, port: p4, sid: \"5f00:1:1:d2::/64\"}\n"
	"sids:\n"
	"  - {sid: \"5f00:1:1:d2::/64\", behavior: End.DX2, port: p4}\n"
	"  - {sid: \"5f00:1:1:e1::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:1:e2::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::5\", slice-by: "
	"argument}\n"
	"  - {sid: \"5f00:1:1:e3::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::5\", slice-by: option, "
	"jitter: 50,\n"
	"     adjacencies: [{port: p0, nexthop: \"2001:db8:a::1\"}]}\n"
	"  - {sid: \"5f00:1:1:e4::/64\", behavior: End.X.PFC, port: p1, nexthop: \"2001:db8:b::5\", pfc-hmac: "
	"required, slice: silver}\n"
	"  - {sid: \"5f00:0:100::/48\", behavior: uN}\n"
	"  - {sid: \"5f00:0:200::/48\", behavior: uN, dscp: map, dscp-map: others}\n"
	"  - {sid: \"5f00:0:100:e006::/64\", behavior: uA, port: p1, nexthop: \"2001:db8:b::1\"}\n"
	"  - {sid: \"5f00:0:e101::/48\", behavior: uDT46, vrf: other}\n"
	"  - {sid: \"5f00:0:e104::/48\", behavior: uDT4, vrf: tenant, dscp: copy}\n"
	"  - {sid: \"5f00:0:e106::/48\", behavior: uDT6}\n"
	"  - {sid: \"5f00:0:1::/48\", behavior: uN, flavors: [none]}\n"
	"  - {sid: \"5f00:0:e001::/48\", behavior: uA, flavors: [none], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:1::/64\", behavior: End, flavors: [none], hmac: required}\n"
	"  - {sid: \"5f00:1:3:1::/64\", behavior: End.X, flavors: [none], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:1::/64\", behavior: End.T, flavors: [none], vrf: tenant}\n"
	"  - {sid: \"5f00:0:2::/48\", behavior: uN, flavors: [psp]}\n"
	"  - {sid: \"5f00:0:e002::/48\", behavior: uA, flavors: [psp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:2::/64\", behavior: End, flavors: [psp]}\n"
	"  - {sid: \"5f00:1:3:2::/64\", behavior: End.X, flavors: [psp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:2::/64\", behavior: End.T, flavors: [psp], vrf: tenant}\n"
	"  - {sid: \"5f00:0:3::/48\", behavior: uN, flavors: [usp]}\n"
	"  - {sid: \"5f00:0:e003::/48\", behavior: uA, flavors: [usp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:3::/64\", behavior: End, flavors: [usp]}\n"
	"  - {sid: \"5f00:1:3:3::/64\", behavior: End.X, flavors: [usp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:3::/64\", behavior: End.T, flavors: [usp], vrf: tenant}\n"
	"  - {sid: \"5f00:0:4::/48\", behavior: uN, flavors: [psp, usp]}\n"
	"  - {sid: \"5f00:0:e004::/48\", behavior: uA, flavors: [psp, usp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:4::/64\", behavior: End, flavors: [psp, usp]}\n"
	"  - {sid: \"5f00:1:3:4::/64\", behavior: End.X, flavors: [psp, usp], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:4::/64\", behavior: End.T, flavors: [psp, usp], vrf: tenant}\n"
	"  - {sid: \"5f00:0:5::/48\", behavior: uN, flavors: [usd]}\n"
	"  - {sid: \"5f00:0:e005::/48\", behavior: uA, flavors: [usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:5::/64\", behavior: End, flavors: [usd]}\n"
	"  - {sid: \"5f00:1:3:5::/64\", behavior: End.X, flavors: [usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:5::/64\", behavior: End.T, flavors: [usd], vrf: tenant}\n"
	"  - {sid: \"5f00:0:6::/48\", behavior: uN, flavors: [psp, usd]}\n"
	"  - {sid: \"5f00:0:e006::/48\", behavior: uA, flavors: [psp, usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:6::/64\", behavior: End, flavors: [psp, usd]}\n"
	"  - {sid: \"5f00:1:3:6::/64\", behavior: End.X, flavors: [psp, usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:6::/64\", behavior: End.T, flavors: [psp, usd], vrf: tenant}\n"
	"  - {sid: \"5f00:0:7::/48\", behavior: uN, flavors: [usp, usd]}\n"
	"  - {sid: \"5f00:0:e007::/48\", behavior: uA, flavors: [usp, usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:7::/64\", behavior: End, flavors: [usp, usd]}\n"
	"  - {sid: \"5f00:1:3:7::/64\", behavior: End.X, flavors: [usp, usd], port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:7::/64\", behavior: End.T, flavors: [usp, usd], vrf: tenant}\n"
	"  - {sid: \"5f00:0:8::/48\", behavior: uN, flavors: [psp, usp, usd]}\n"
	"  - {sid: \"5f00:0:e008::/48\", behavior: uA, flavors: [psp, usp, usd], port: p1, nexthop: "
	"\"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:2:8::/64\", behavior: End, flavors: [psp, usp, usd]}\n"
	"  - {sid: \"5f00:1:3:8::/64\", behavior: End.X, flavors: [psp, usp, usd], port: p1, nexthop: "
	"\"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:4:8::/64\", behavior: End.T, flavors: [psp, usp, usd], vrf: tenant}\n"
	"  - {sid: \"5f00:1:5:1::/64\", behavior: End.DT46, vrf: other}\n"
	"  - {sid: \"5f00:1:5:2::/64\", behavior: End.DX2, port: p4}\n"
	"  - {sid: \"5f00:1:5:3::/64\", behavior: End.DX6, port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:1:5:4::/64\", behavior: End.DX4, port: p1, nexthop: 10.1.0.6}\n"
	"  - {sid: \"5f00:1:5:5::/64\", behavior: End.DT4, vrf: other}\n"
	"  - {sid: \"5f00:1:5:6::/64\", behavior: End.DT6, vrf: other, allow: [traceroute]}\n"
	"  - {sid: \"5f00:0:e102::/48\", behavior: uDX2, port: p4}\n"
	"  - {sid: \"5f00:0:e107::/48\", behavior: uDX6, port: p1, nexthop: \"2001:db8:b::5\"}\n"
	"  - {sid: \"5f00:0:e108::/48\", behavior: uDX4, port: p1, nexthop: 10.1.0.6, allow: [none]}\n"
	"policies:\n"
	"  - {name: short, paths: [{name: a, segments: [\"5f00:0:500::\"]}, {name: b, segments: [\"5f00:0:700::\"]}]}\n"
	"  - {name: long, dscp: map, dscp-map: some, paths: [{name: a, segments: [\"5f00:0:500:501:502:503:504:505\",\n"
	"     \"5f00:0:506:507:508:509:50a:50b\", \"5f00:0:50c::\"]}]}\n"
	"  - {name: sliced, encap: H.Encaps, slice-by: option, hmac-key: 7, paths: [{name: a, segments: "
	"[\"5f00:1:1:e1::\", \"5f00:0:500::\"]}]}\n"
	"  - {name: frames, encap: H.Encaps.L2.Red, paths: [{name: a, segments: [\"5f00:0:500::\"]}]}\n"
	"hmac: {keys: %s}\n";

/* The keys of the pcap cases, whose frames are the seeds. */
static const char keys[] = "# key id, key\n"
			   "1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"
			   "7 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
			   "4294967295 "
			   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789a"
			   "bcdef0123456789abcdef0123456789abcdef\n";

#define HOME "5f00:0:" /* block of the node as written above, and of the seeds */
#define HOME_BYTES 4

static struct testbed *bed;
static struct ip_prefix block;

static void choose_block(void)
{
	static const char *const blocks[] = {"4f00::/16", "5f00:7fff:3::/48", "2001:db8:beef:cafe::/64"};
	const char *bits = getenv("FUZZ_BLOCK");

	must(ip_prefix_parse("5f00::/32", &block) == 0, "no block");
	for (unsigned int i = 0; bits && i < ARRAY_LEN(blocks); i++)
		if (strcmp(bits, strchr(blocks[i], '/') + 1) == 0)
			must(ip_prefix_parse(blocks[i], &block) == 0, "no block");
	must(!bits || (unsigned int)atoi(bits) == block.len, "FUZZ_BLOCK: expected 16, 32, 48 or 64");
}

static void move(uint8_t *address)
{
	size_t n = block.len / 8;
	uint8_t to[16] = {0};

	memcpy(to, block.addr.b, n);
	memcpy(to + n, address + HOME_BYTES, MIN_OF(sizeof(to) - n, sizeof(to) - HOME_BYTES));
	memcpy(address, to, sizeof(to));
}

/* The configuration with its uSIDs behind the block. */
static char *moved(const char *text)
{
	char *out = NULL, word[64], name[IP_ADDR_TEXT];
	size_t size;
	FILE *f = open_memstream(&out, &size);

	must(f, "no memory");
	for (size_t n; *text; text += n) {
		struct ip_prefix p;

		n = strcspn(text, "\"") + 1;
		if (strncmp(text, HOME, strlen(HOME)) != 0) {
			n = text[n - 1] ? n : n - 1;
			fwrite(text, 1, n, f);
			continue;
		}
		n--;
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		must(ip_prefix_parse(word, &p) == 0, "%s", word);
		move(p.addr.b);
		fputs(ip_addr_format(&p.addr, name), f);
		if (strchr(word, '/'))
			fprintf(f, "/%u", MIN_OF(p.len + block.len - 8u * HOME_BYTES, 128u));
	}
	fclose(f);
	return out;
}

static void end(void)
{
	testbed_free(bed);
}

struct testbed *fuzz_node(void)
{
	char file[] = "/tmp/sluice-fuzz-keys.XXXXXX", *text, *here;
	int fd;

	if (!bed) {
		fd = mkstemp(file); /* of mode 0600, as keys must be */
		must(fd >= 0 && write(fd, keys, sizeof(keys) - 1) == sizeof(keys) - 1 && close(fd) == 0,
			"cannot write %s", file);
		choose_block();
		must(asprintf(&text, yaml, file) > 0, "no memory");
		here = moved(text);
		bed = testbed_new(here);
		unlink(file);
		free(here);
		free(text);
		atexit(end);
	}
	return bed;
}

void fuzz_address(uint8_t *frame, size_t size, const struct port *p)
{
	if (size >= sizeof(p->mac))
		memcpy(frame, &p->mac, sizeof(p->mac));
}

static void seal6(uint8_t *ip, size_t size)
{
	size_t payload;
	uint16_t sum;

	if (size < 44 || ip[6] != IP_PROTO_ICMP6)
		return;
	payload = (size_t)ip[4] << 8 | ip[5];
	if (payload < 4 || 40 + payload > size)
		return;
	ip[42] = ip[43] = 0;
	sum = packet_sum6(ip, IP_PROTO_ICMP6, ip + 40, payload);
	ip[42] = (uint8_t)(sum >> 8);
	ip[43] = (uint8_t)sum;
}

static void seal4(uint8_t *ip, size_t size)
{
	size_t header = (ip[0] & 15u) * 4, total = (size_t)ip[2] << 8 | ip[3];
	uint16_t sum;

	if (header < 20 || size < header)
		return;
	packet_seal4_header(ip);
	if (ip[9] != IP_PROTO_ICMP || total < header + 4 || total > size)
		return;
	ip[header + 2] = ip[header + 3] = 0;
	sum = packet_sum(ip + header, total - header);
	ip[header + 2] = (uint8_t)(sum >> 8);
	ip[header + 3] = (uint8_t)sum;
}

void fuzz_seal(uint8_t *frame, size_t size)
{
	if (size < 14 + 20)
		return;
	if (frame[12] == 0x86 && frame[13] == 0xdd)
		seal6(frame + 14, size - 14);
	else if (frame[12] == 0x08 && frame[13] == 0x00)
		seal4(frame + 14, size - 14);
}

void fuzz_block(uint8_t *bytes, size_t size)
{
	static const uint8_t home[HOME_BYTES] = {0x5f, 0};
	size_t i = 0;

	while (block.len != 8 * HOME_BYTES && i + 16 <= size) {
		bool here = memcmp(bytes + i, home, sizeof(home)) == 0;

		if (here)
			move(bytes + i);
		i += here ? 16 : 2;
	}
}
