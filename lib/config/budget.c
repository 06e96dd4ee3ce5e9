/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/budget.h"

#include "config/check_priv.h"
#include "config/headroom.h"

unsigned int cfg_lcore_count(const struct config *c)
{
	unsigned int n = 1;

	for (uint32_t i = 0; i < c->lcores.rx.n; i++)
		n += c->lcores.rx.items[i] != c->lcores.control;
	for (uint32_t i = 0; i < c->lcores.worker.n; i++)
		n += c->lcores.worker.items[i] != c->lcores.control && !cfg_is_rx(c, c->lcores.worker.items[i]);
	return n;
}

unsigned int cfg_packet_rings(const struct config *c)
{
	unsigned int n = c->lcores.rx.n + c->lcores.worker.n;

	for (uint32_t i = 0; i < c->lcores.rx.n; i++)
		for (uint32_t k = 0; k < c->lcores.worker.n; k++)
			n += c->lcores.rx.items[i] != c->lcores.worker.items[k];
	return n;
}

/* Slots a ring gets: a power of two. */
static uint64_t ring_slots(const struct config *c)
{
	uint64_t slots = 1;

	while (slots < c->memory.ring)
		slots *= 2;
	return slots;
}

static void add(struct cfg_budget *b, const char *what, uint64_t buffers)
{
	b->line[b->n].what = what;
	b->line[b->n++].buffers = buffers;
	b->total += buffers;
}

void cfg_budget(const struct config *c, struct cfg_budget *out)
{
	uint64_t rx = 0, tx = 0, lossy = 0, control = 0, xoff = 0, headroom = 0, lcores = cfg_lcore_count(c);

	*out = (struct cfg_budget){0};
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];
		struct cfg_lossless l;

		rx += p->rx_queues * p->descriptors.rx;
		tx += p->descriptors.tx;
		lossy += p->buffer_limit;
		control += p->control_limit;
		cfg_port_lossless(c, p, p->speed_bps, &l);
		xoff += cfg_port_profile(c, p).alpha == ALPHA_STATIC ? p->pfc.priorities.n * l.xoff_buffers : 0;
		headroom += p->pfc.priorities.n * (l.choice_buffers + l.headroom_buffers);
	}
	add(out, "receive descriptors", rx);
	add(out, "transmit descriptors", tx);
	add(out, "rewritten, not yet taken by the device", 2ull * BUDGET_TX_ROOM * c->ports.n);
	add(out, "egress queues of lossy classes", lossy);
	if (xoff + c->memory.lossless)
		add(out, "lossless classes below XOFF", xoff + c->memory.lossless);
	if (headroom)
		add(out, "headroom of lossless classes", headroom);
	add(out, "egress queues of control traffic", control);
	add(out, "rings between lcores", cfg_packet_rings(c) * ring_slots(c));
	add(out, "packets parked while a ring is full", (uint64_t)c->lcores.rx.n * c->lcores.worker.n * BUDGET_PARK);
	add(out, "packets waiting for a neighbour", c->lcores.worker.n * c->discovery.hold_total);
	add(out, "packets whose neighbour did not answer", c->lcores.worker.n * BUDGET_WORKER_PUNTS);
	add(out, "pool caches and bursts of lcores", lcores * (BUDGET_CACHE + BUDGET_BURST));
	add(out, "control packets", BUDGET_CONTROL);
}

void check_buffers(const struct config *c, struct cfg_diags *d)
{
	struct cfg_mark at = check_at(c, &c->memory.buffers, c->memory.at);
	char sum[1024] = "";
	struct cfg_budget b;
	size_t n = 0;

	cfg_budget(c, &b);
	if (b.total <= c->memory.buffers)
		return;
	for (unsigned int i = 0; i < b.n; i++)
		n += (size_t)snprintf(sum + n, sizeof(sum) - n, "%s%llu %s", i ? " + " : "",
			(unsigned long long)b.line[i].buffers, b.line[i].what);
	cfg_diag_add(d, at, "buffers: %llu are too few, %llu are promised: %s",
		(unsigned long long)c->memory.buffers, (unsigned long long)b.total, sum);
}
