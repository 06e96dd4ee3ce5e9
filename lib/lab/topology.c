/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queries of a topology: the position of a member in its file, the ends of links, the memory of a run. Pure. Loading is
 * in topology_load.c, checks are in topology_check.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/text.h"
#include "config/budget.h"
#include "config/marks.h"
#include "drivers/virtual/line.h"
#include "lab/lab_priv.h"
#include "lab/topology_priv.h"
#include "pkt/pkt.h"

#define FIBRE_NS_PER_KM 5000u
#define NODE_FIXED (12ull << 20) /* counters, neighbours, message rings */
#define HOST_FIXED (64ull << 10)
#define EAL_FIXED (64ull << 20)

struct cfg_mark topo_where(const struct topology *t, const void *member)
{
	return cfg_marks_get(t->marks, member);
}

uint64_t topo_delay(const struct topo_link *l)
{
	return l->km ? l->km * FIBRE_NS_PER_KM : l->delay_ns;
}

static uint8_t bits(uint8_t mask, const uint64_t *priorities, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		mask = (uint8_t)(mask | 1u << priorities[i]);
	return mask;
}

uint8_t topo_lossless(const struct topology *t, bool *required)
{
	uint8_t of_nodes = 0, of_hosts = 0;

	for (uint32_t i = 0; i < t->nodes.n; i++) {
		const struct config *c = t->nodes.items[i].config;

		for (uint32_t p = 0; p < c->ports.n; p++)
			of_nodes = bits(of_nodes, c->ports.items[p].pfc.priorities.items,
				c->ports.items[p].pfc.priorities.n);
	}
	for (uint32_t i = 0; i < t->hosts.n; i++)
		of_hosts = bits(of_hosts, t->hosts.items[i].pfc.items, t->hosts.items[i].pfc.n);
	*required = t->lab.lossless == LOSSLESS_REQUIRED || (t->lab.lossless == LOSSLESS_AUTO && of_nodes);
	return of_nodes ? of_nodes : of_hosts;
}

static int find_host_port(const struct topology *t, int host, const char *port, struct topo_end *end, char *err,
	size_t size)
{
	for (uint16_t p = 0; p < TOPO_HOST_PORTS; p++) {
		if (port[0] == 'e' && port[1] == 't' && port[2] == 'h' && port[3] == '0' + p && !port[4]) {
			*end = (struct topo_end){.node = -1, .host = host, .port = p};
			return 0;
		}
	}
	snprintf(err, size, "host '%s' has no port '%s'; its ports are eth0 and eth1", t->hosts.items[host].name, port);
	return -ENOENT;
}

static int find_node_port(const struct topology *t, int node, const char *port, struct topo_end *end, char *err,
	size_t size)
{
	const struct config *c = t->nodes.items[node].config;
	const char *near = NULL;
	int index;

	if (!c) {
		snprintf(err, size, "node '%s' has no valid configuration", t->nodes.items[node].name);
		return -ENOENT;
	}
	index = cfg_find_named(c, "ports", port, &near);
	if (index >= 0) {
		*end = (struct topo_end){.node = node, .host = -1, .port = (uint16_t)index};
		return 0;
	}
	snprintf(err, size, "node '%s' has no port '%s'%s%s%s", t->nodes.items[node].name, port,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

static int unknown_owner(const struct topology *t, const char *owner, char *err, size_t size)
{
	const char *words[1280], *near;
	size_t n = 0;

	for (uint32_t i = 0; i < t->nodes.n && n < ARRAY_LEN(words); i++)
		words[n++] = t->nodes.items[i].name;
	for (uint32_t i = 0; i < t->hosts.n && n < ARRAY_LEN(words); i++)
		words[n++] = t->hosts.items[i].name;
	near = text_nearest(owner, words, n);
	snprintf(err, size, "there is no node or host '%s'%s%s%s", owner, near ? "; did you mean '" : "",
		near ? near : "", near ? "'?" : "");
	return -ENOENT;
}

int topo_find_end(const struct topology *t, const char *text, struct topo_end *end, char *err, size_t size)
{
	const char *dot = strchr(text, '.');
	char owner[64];

	if (!dot || dot == text || !dot[1]) {
		snprintf(err, size, "expected NODE.PORT or HOST.eth0, found '%s'", text);
		return -ENOENT;
	}
	snprintf(owner, sizeof(owner), "%.*s", (int)(dot - text), text);
	for (uint32_t i = 0; i < t->nodes.n; i++)
		if (strcmp(t->nodes.items[i].name, owner) == 0)
			return find_node_port(t, (int)i, dot + 1, end, err, size);
	for (uint32_t i = 0; i < t->hosts.n; i++)
		if (strcmp(t->hosts.items[i].name, owner) == 0)
			return find_host_port(t, (int)i, dot + 1, end, err, size);
	return unknown_owner(t, owner, err, size);
}

static uint64_t node_bytes(const struct topology *t, const struct config *c)
{
	uint64_t room = t->lab.frames == FRAMES_HEADERS ? LAB_BUFFER_BYTES : c->memory.buffer_size;
	uint64_t bytes = NODE_FIXED + cfg_pool(c) * pkt_buffer_memory(room);

	/* like app/sluice: rings are rounded up to a power of two */
	return bytes + (uint64_t)cfg_packet_rings(c) * 2 * c->memory.ring * sizeof(void *);
}

/* The largest frames of all flows; a full line is filled with them. */
static uint64_t frame_bytes(const struct topology *t)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < t->flows.n; i++)
		bytes = MAX_OF(bytes, t->flows.items[i].mtu + LAB_FRAME_OVERHEAD);
	return bytes ? bytes : 1500;
}

void topo_memory(const struct topology *t, struct topo_memory *out)
{
	uint64_t frame = frame_bytes(t), widest = 0;
	uint64_t each = line_frame_memory(
		(uint32_t)(t->lab.frames == FRAMES_HEADERS ? MIN_OF(frame, LAB_HEADER_BYTES) : frame));

	*out = (struct topo_memory){.eal = EAL_FIXED, .hosts = t->hosts.n * HOST_FIXED};
	for (uint32_t i = 0; i < t->nodes.n; i++)
		out->nodes += node_bytes(t, t->nodes.items[i].config);
	for (uint32_t i = 0; i < t->links.n; i++) {
		const struct topo_link *l = &t->links.items[i];
		uint64_t ns = topo_delay(l) + l->jitter_ns + l->reorder_ns;
		uint64_t product = (uint64_t)((double)l->rate_bps / 8e9 * (double)ns);
		uint64_t frames = product / frame + 2, bytes = 2 * (frames * each + 65536);

		out->lines += bytes;
		if (bytes <= widest)
			continue;
		widest = bytes;
		snprintf(out->widest, sizeof(out->widest),
			"link %s: %.4g Gb/s x %.4g ms / 8 = %.4g MB on the fibre, %llu frames of %llu bytes, %llu "
			"bytes of "
			"memory each, both ways: %llu MB",
			l->name, (double)l->rate_bps / 1e9, (double)ns / 1e6, (double)product / 1e6,
			(unsigned long long)frames, (unsigned long long)frame, (unsigned long long)each,
			(unsigned long long)(bytes >> 20));
	}
}

int topo_frame(const char *text, uint8_t *out, size_t room)
{
	size_t n = 0;

	while (*text) {
		char pair[3] = {text[0], text[1], 0};

		if (isspace((unsigned char)*text)) {
			text++;
			continue;
		}
		if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]) || n == room)
			return -1;
		out[n++] = (uint8_t)strtoul(pair, NULL, 16);
		text += 2;
	}
	return (int)n;
}
