/* SPDX-License-Identifier: BSD-3-Clause */
/* --check: prints what a start would do. Main thread, before lcores start. */
#include <string.h>

#include "machine.h"
#include "plan.h"
#include "preflight.h"
#include "snapshot/build.h"
#include "base/text.h"
#include "config/budget.h"
#include "config/headroom.h"
#include "config/ways.h"
#include "drivers/abilities.h"
#include "service/rsvp/service_rsvp.h"
#include "service/steer/service_steer.h"

static void print_roles(const struct config *c, uint64_t lcore, FILE *out)
{
	const char *sep = "";

	if (lcore == c->lcores.control) {
		fprintf(out, "control");
		sep = " + ";
	}
	if (cfg_is_rx(c, lcore)) {
		fprintf(out, "%srx", sep);
		sep = " + ";
	}
	if (cfg_is_worker(c, lcore))
		fprintf(out, "%sworker", sep);
}

/* "wan0:0-3" for each port whose queues the lcore polls, ten at most. */
static void print_queues(const struct config *c, const struct cfg_deal *deal, uint64_t lcore, FILE *out)
{
	const char *sep = ": polls ";

	for (uint32_t i = 0; i < c->ports.n; i++) {
		unsigned int shown = 0;

		for (uint64_t q = 0; q < c->ports.items[i].rx_queues; q++) {
			if (c->lcores.rx.items[deal->rx[i][q]] != lcore)
				continue;
			if (shown++)
				fprintf(out, "+%llu", (unsigned long long)q);
			else
				fprintf(out, "%s%s:%llu", sep, c->ports.items[i].name, (unsigned long long)q);
			sep = " ";
		}
	}
}

static void print_owned(const struct config *c, const struct cfg_deal *deal, uint64_t lcore, FILE *out)
{
	const char *sep = cfg_is_rx(c, lcore) ? "; owns " : ": owns ";

	for (uint32_t i = 0; i < c->ports.n; i++) {
		if (c->lcores.worker.items[deal->owner[i]] != lcore)
			continue;
		fprintf(out, "%s%s", sep, c->ports.items[i].name);
		sep = " ";
	}
}

/* What costs a CPU and does nothing, with what to change. */
static void print_idle(const struct config *c, const struct cfg_deal *deal, FILE *out)
{
	for (uint32_t i = 0; i < c->lcores.rx.n; i++)
		if (!deal->queues[i])
			fprintf(out,
				"  lcore %llu receives nothing: raise rx-queues of a busy port, or take it out of "
				"lcores.rx\n",
				(unsigned long long)c->lcores.rx.items[i]);
	for (uint32_t i = 0; i < c->lcores.worker.n; i++)
		if (!deal->ports[i])
			fprintf(out,
				"  lcore %llu owns no port, so it sends nothing: take it out of lcores.worker, or make "
				"it an rx "
				"lcore\n",
				(unsigned long long)c->lcores.worker.items[i]);
}

static void print_lcores(const struct config *c, const struct cfg_places *places, const struct cfg_deal *deal,
	FILE *out)
{
	fprintf(out, "lcores\n");
	for (uint64_t l = 0; l < DEAL_LCORES; l++) {
		if (l != c->lcores.control && !cfg_is_rx(c, l) && !cfg_is_worker(c, l))
			continue;
		fprintf(out, "  %3llu on CPU %-3u NUMA node %d  ", (unsigned long long)l, cfg_cpu_of(c, l),
			places->lcore[l]);
		print_roles(c, l, out);
		fprintf(out, "%s", cfg_is_rx(c, l) && cfg_is_worker(c, l) ? " (run to completion)" : "");
		print_queues(c, deal, l, out);
		print_owned(c, deal, l, out);
		fprintf(out, "\n");
	}
	print_idle(c, deal, out);
	if (lcores_share_cpus(c))
		fprintf(out, "  lcores share CPUs: idle lcores yield, and the buffer pool tolerates preemption\n");
}

/* How long a lossless port can be left alone. */
static void print_receive_ring(const struct config *c, const struct cfg_port *p, const char *indent, FILE *out)
{
	uint64_t n = cfg_rx_descriptors(c, p), frame = cfg_port_profile(c, p).min_frame;

	if (!p->pfc.priorities.n || !p->speed_bps)
		return;
	fprintf(out,
		"%spfc: receive ring of %llu descriptors, full after %llu us of %llu-byte frames; lcores look every "
		"%llu us\n",
		indent, (unsigned long long)n, (unsigned long long)(cfg_rx_ring_ns(n, frame, p->speed_bps) / 1000),
		(unsigned long long)frame, (unsigned long long)cfg_port_profile(c, p).response_us);
}

static void print_ports(const struct config *c, const struct cfg_places *places, const struct cfg_deal *deal, FILE *out)
{
	char text[64];

	fprintf(out, "ports\n");
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];

		fprintf(out, "  %s: %s, side %s, mtu %llu, %llu rx queue%s, egress owned by lcore %llu", p->name,
			p->device,
			p->side == SIDE_DC    ? "dc"
			: p->side == SIDE_WAN ? "wan"
					      : "host",
			(unsigned long long)p->mtu, (unsigned long long)p->rx_queues, p->rx_queues == 1 ? "" : "s",
			(unsigned long long)c->lcores.worker.items[deal->owner[i]]);
		if (places->port[i] >= 0)
			fprintf(out, ", NUMA node %d", places->port[i]);
		if (p->speed_bps)
			fprintf(out, ", %sbit/s", text_format_number(p->speed_bps, 1000, text, sizeof(text)));
		fprintf(out, "\n");
		abilities_print(p, "      ", out);
		if (p->rx_queues > 1 && *preflight_spread(p))
			fprintf(out, "      receive queues: %s\n", preflight_spread(p));
		print_receive_ring(c, p, "      ", out);
		plan_headroom_print(c, p, "      ", out);
	}
}

/* Each NUMA node with rx lcores has the tables. */
static void print_tables(const struct config *c, FILE *out)
{
	unsigned long long kb = (snapshot_table_bytes(c) + 1023) / 1024;
	struct snapshot_places tables;
	struct cfg_places places;

	machine_places(c, &places);
	snapshot_find_places(c, &places, &tables);
	fprintf(out, "  %llu KB for route tables", kb);
	if (tables.n > 1)
		fprintf(out, " on each of %u NUMA nodes", tables.n);
	fprintf(out, ", twice as much during a reload\n");
}

static void print_buffers(const struct config *c, const struct memory_plan *m, FILE *out)
{
	struct cfg_budget b;

	cfg_budget(c, &b);
	fprintf(out, "rings\n  %u between lcores, of %llu packets each\n", cfg_packet_rings(c),
		(unsigned long long)c->memory.ring);
	fprintf(out, "buffers\n  %llu bytes each; the longest frame, %llu bytes, takes %u\n",
		(unsigned long long)c->memory.buffer_size, (unsigned long long)cfg_longest_frame(c), b.frame);
	for (unsigned int i = 0; i < b.n; i++)
		fprintf(out, "  %8llu  %s\n", (unsigned long long)b.line[i].buffers, b.line[i].what);
	fprintf(out, "  %8llu  total, of %llu in the pool\n", (unsigned long long)b.total, (unsigned long long)b.pool);
	fprintf(out, "memory\n");
	for (unsigned int i = 0; i < m->n_nodes; i++)
		fprintf(out, "  %llu MB of %s on NUMA node %u (hugepages free: %llu MB)\n",
			(unsigned long long)m->need_mb, m->hugepages ? "hugepages" : "ordinary memory", m->node[i],
			(unsigned long long)m->free_huge_mb[i]);
	print_tables(c, out);
	if (c->credit.mode != CREDIT_OFF && c->credit.integrity == INTEGRITY_OFF)
		fprintf(out, "  credit.integrity is off: whoever can send from the address of a neighbour can end "
			     "sessions\n");
	if (c->credit.mode != CREDIT_OFF)
		fprintf(out,
			"  %llu KB at most for %llu paths of credit sessions: %zu bytes for a session of one path, %zu "
			"of them soft state, %zu what updates touch, and %zu that sessions along the same devices "
			"share\n",
			(unsigned long long)(rsvp_memory((uint32_t)c->credit.paths) + 1023) / 1024,
			(unsigned long long)c->credit.paths, rsvp_session_memory(), rsvp_soft_state(),
			rsvp_updated_state(), rsvp_shared_memory());
	if (steer_memory(c))
		fprintf(out, "  %llu KB for the flow tables of %u rx lcore%s\n",
			(unsigned long long)(steer_memory(c) + 1023) / 1024, c->lcores.rx.n,
			c->lcores.rx.n == 1 ? "" : "s");
	if (c->credit.mode != CREDIT_OFF && c->credit.data == CREDIT_DATA_GATED)
		fprintf(out, "  %llu KB at most for the credit of their data; pages that no session uses take none\n",
			(unsigned long long)(credit_memory((uint32_t)c->credit.paths, c->lcores.rx.n,
						     c->lcores.worker.n) +
					     1023) /
				1024);
	if (!m->hugepages)
		fprintf(out, "  dpdk-dumpcap cannot attach to ordinary memory; use capture start instead\n");
}

static void print_way(const struct config *c, const struct cfg_program *program, FILE *out)
{
	char text[IP_ADDR_TEXT];
	struct cfg_way way;

	if (!cfg_way_out(c, program, &way)) {
		fprintf(out, " has no way out\n");
		return;
	}
	fprintf(out, " over %s", way.port);
	if (way.nexthop.family)
		fprintf(out, " to %s", ip_addr_format(&way.nexthop, text));
	if (way.more)
		fprintf(out, " and %u more", way.more);
	fprintf(out, "\n");
}

static void print_list(const struct cfg_program *program, FILE *out)
{
	char text[IP_ADDR_TEXT];

	for (unsigned int n = 0; n < program->n; n++)
		fprintf(out, "%s%s", n ? ", " : "<", ipv6_addr_format(&program->container[n], text));
	fprintf(out, ">");
}

static void print_policies(const struct config *c, const struct cfg_own_sids *own, FILE *out)
{
	struct cfg_program program;
	const char *why;

	if (c->policies.n)
		fprintf(out, "policies\n");
	for (uint32_t i = 0; i < c->policies.n; i++) {
		for (uint32_t k = 0; k < c->policies.items[i].paths.n; k++) {
			const struct cfg_path *p = &c->policies.items[i].paths.items[k];

			if (cfg_program(c, own, p, &program, &why) < 0)
				continue;
			fprintf(out, "  %s/%s: weight %llu%s, +%u bytes, ", c->policies.items[i].name, p->name,
				(unsigned long long)p->weight, p->backup ? ", backup" : "",
				cfg_outer_bytes(&c->policies.items[i], &program));
			print_list(&program, out);
			print_way(c, &program, out);
		}
		plan_overlap_print(c, own, &c->policies.items[i], out);
	}
}

static void print_pauses(const struct config *c, const struct cfg_own_sids *own, const char *kind, const char *name,
	const struct ip_addr *segments, uint32_t n, FILE *out)
{
	struct cfg_path path = {.segments = {(struct ip_addr *)(uintptr_t)segments, n}};
	struct cfg_program program;
	const char *why;

	if (!n || cfg_program(c, own, &path, &program, &why) < 0)
		return;
	fprintf(out, "  %s %s: ", kind, name);
	print_list(&program, out);
	print_way(c, &program, out);
}

/* Each with its way out, which the checks of the configuration have proven to exist. */
static void print_paths(const struct config *c, FILE *out)
{
	struct cfg_own_sids *own = cfg_own_sids_new(c);

	if (!own)
		return;
	print_policies(c, own, out);
	if (c->relays.n + c->pfc_tunnels.n)
		fprintf(out, "pauses across the WAN\n");
	for (uint32_t i = 0; i < c->relays.n; i++)
		print_pauses(c, own, "relay", c->relays.items[i].name, c->relays.items[i].segments.items,
			c->relays.items[i].segments.n, out);
	for (uint32_t i = 0; i < c->pfc_tunnels.n; i++)
		print_pauses(c, own, "tunnel", c->pfc_tunnels.items[i].name, c->pfc_tunnels.items[i].segments.items,
			c->pfc_tunnels.items[i].segments.n, out);
	cfg_own_sids_free(own);
}

void plan_print(const struct config *c, const struct memory_plan *m, FILE *out)
{
	struct cfg_places places;
	struct cfg_deal deal;

	machine_places(c, &places);
	cfg_deal(c, &places, &deal);
	fprintf(out, "node %s: %u ports, %u SIDs, %u policies, %u VRFs, %u underlay routes\n", c->node.name, c->ports.n,
		c->sids.n, c->policies.n, c->vrfs.n, c->routes.n);
	print_lcores(c, &places, &deal, out);
	print_ports(c, &places, &deal, out);
	print_paths(c, out);
	print_buffers(c, m, out);
}
