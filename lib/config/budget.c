/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds up how many packet buffers each part of the node may hold at once, and checks that the sum fits the pool.
 * Pure.
 */
#include "config/budget.h"

#include <string.h>

#include "base/compiler.h"
#include "base/limits.h"
#include "config/check_priv.h"
#include "config/headroom.h"
#include "config/program.h"

#define LINK_BYTES 22 /* an Ethernet header and two tags */
#define POOL_SPARE 8  /* memory.buffers: auto takes one part in so many more than it needs now */
#define POOL_STEP 1024
#define POOL_MOST (64ull << 20) /* the limit of memory.buffers */
#define NET_RING_SLOTS 1024	/* slots of DPDK's net_ring, independent of the configured descriptors */

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

unsigned int cfg_packets_in_rings(const struct config *c)
{
	return (cfg_packet_rings(c) - c->lcores.rx.n - c->lcores.worker.n) * (LIMIT_LOSSLESS_MAIL + LIMIT_BURST);
}

bool cfg_may_spread(const struct config *c, const struct cfg_port *p)
{
	return p->rx_queues > 1 && c->lcores.rx.n > 1 &&
	       (p->rx_spread == RX_SPREAD_SOFTWARE || (p->rx_spread == RX_SPREAD_AUTO && cfg_device_is_pci(p->device)));
}

bool cfg_spread_is_symmetric(const struct config *c, const struct cfg_port *p)
{
	return p->rss_symmetric && c->credit.mode == CREDIT_OFF;
}

unsigned int cfg_spread_rings(const struct config *c)
{
	unsigned int n = 0, all = c->lcores.rx.n * (c->lcores.rx.n - 1);

	for (uint32_t i = 0; i < c->ports.n; i++) {
		unsigned int lanes = (unsigned int)MIN_OF(c->ports.items[i].rx_queues, c->lcores.rx.n);

		n += cfg_may_spread(c, &c->ports.items[i]) ? lanes * (lanes - 1) : 0;
	}
	return MIN_OF(n, all);
}

/* Slots that a ring is given: a power of two. */
static uint64_t ring_slots(const struct config *c)
{
	uint64_t slots = 1;

	while (slots < c->memory.ring)
		slots *= 2;
	return slots;
}

/*
 * The rings of all rx lcores to a worker have about as many slots together as two rings of memory.ring: what they promise grows
 * with the number of workers, not with rx lcores times workers. More rx lcores fill a ring no faster than the worker empties all.
 */
uint32_t cfg_worker_ring(const struct config *c)
{
	uint64_t slots = ring_slots(c);

	while (slots > LIMIT_WORKER_RING && slots * c->lcores.rx.n > 2 * ring_slots(c))
		slots /= 2;
	return (uint32_t)slots;
}

/* Slots of all rings. Those of an rx lcore to the control lcore are several, of LIMIT_PUNT_RING slots at least. */
static uint64_t all_ring_slots(const struct config *c)
{
	uint64_t slots = ring_slots(c);

	return (cfg_packet_rings(c) - c->lcores.rx.n - c->lcores.worker.n) * cfg_worker_ring(c) +
	       c->lcores.worker.n * slots + c->lcores.rx.n * MAX_OF(slots, LIMIT_PUNT_RINGS);
}

static uint64_t buffers_of(const struct config *c, uint64_t bytes)
{
	return (bytes + c->memory.buffer_size - 1) / c->memory.buffer_size;
}

uint64_t cfg_longest_frame(const struct config *c)
{
	uint64_t mtu = 0;

	for (uint32_t i = 0; i < c->ports.n; i++)
		mtu = MAX_OF(mtu, c->ports.items[i].mtu);
	return mtu + LINK_BYTES;
}

unsigned int cfg_frame_buffers(const struct config *c)
{
	return (unsigned int)buffers_of(c, cfg_longest_frame(c));
}

/* Whether the outer headers of some path, with tags in front, need more room than there is before a whole frame. */
static bool pushes_much(const struct config *c)
{
	struct cfg_own_sids *own = NULL;
	struct cfg_program program;
	bool much = false;
	const char *why;

	for (uint32_t i = 0; i < c->policies.n && !much; i++) {
		const struct cfg_policy *p = &c->policies.items[i];

		for (uint32_t k = 0; k < p->paths.n && !much; k++) {
			/* not needed if even the longest packing of the segments fits */
			program.n = program.n_all = p->paths.items[k].segments.n;
			if (cfg_outer_bytes(p, &program) + LINK_BYTES <= LIMIT_FRONT)
				continue;
			own = own ? own : cfg_own_sids_new(c);
			much = !own || (cfg_program(c, own, &p->paths.items[k], &program, &why) == 0 &&
					       cfg_outer_bytes(p, &program) + LINK_BYTES > LIMIT_FRONT);
		}
	}
	cfg_own_sids_free(own);
	return much;
}

unsigned int cfg_sent_buffers(const struct config *c)
{
	return cfg_frame_buffers(c) + pushes_much(c);
}

/*
 * Each transmit descriptor holds a buffer, as in NICs; a frame occupies as many descriptors as it has buffers. net_ring
 * has slots for whole frames instead. Other software devices have copied or freed a frame when they accept it.
 */
static uint64_t tx_buffers(const struct cfg_port *p, unsigned int frame)
{
	if (strncmp(p->device, "net_ring", strlen("net_ring")) == 0)
		return MAX_OF(p->descriptors.tx, NET_RING_SLOTS) * frame;
	return p->descriptors.tx;
}

/* Each receive descriptor holds a buffer, too. So do the first parts of a frame that has not arrived completely. */
static uint64_t rx_buffers(const struct config *c, const struct cfg_port *p, unsigned int frame)
{
	return p->rx_queues * (cfg_rx_descriptors(c, p) + frame - 1);
}

/* A packet is charged for its largest headers as well, so that units never stand for fewer buffers (docs/credit.md 2.12). */
uint64_t cfg_credit_buffers(const struct config *c)
{
	return c->credit.mode == CREDIT_OFF ? 0 : c->credit.pool * buffers_of(c, 1ull << c->credit.unit);
}

static bool gates(const struct config *c)
{
	return c->credit.mode != CREDIT_OFF && c->credit.data == CREDIT_DATA_GATED;
}

static void add_line(struct cfg_budget *b, const char *what, uint64_t buffers)
{
	b->line[b->n].what = what;
	b->line[b->n++].buffers = buffers;
	b->total += buffers;
}

/* Buffers for limits in packets, computed for the longest frames. */
static void add_packet_line(struct cfg_budget *b, const char *what, uint64_t packets)
{
	add_line(b, what, packets * b->frame);
}

/* What keeps slices apart is a wish: it does not decide how much memory the node takes. */
static uint64_t pool_of(const struct config *c, uint64_t total, uint64_t apart)
{
	uint64_t n = total + MIN_OF(apart, total);

	if (c->memory.buffers != CFG_NONE)
		return c->memory.buffers;
	if (c->memory.pool)
		return c->memory.pool;
	n += n / POOL_SPARE;
	return MIN_OF((n + POOL_STEP - 1) / POOL_STEP * POOL_STEP, POOL_MOST);
}

void cfg_budget(const struct config *c, struct cfg_budget *out)
{
	uint64_t rx = 0, backlog = 0, tx = 0, lossy = 0, control = 0, xoff = 0, headroom = 0, apart = 0,
		 lcores = cfg_lcore_count(c);

	*out = (struct cfg_budget){.frame = cfg_frame_buffers(c), .sent = cfg_sent_buffers(c)};
	for (uint32_t i = 0; i < c->ports.n; i++) {
		const struct cfg_port *p = &c->ports.items[i];
		struct cfg_lossless l;

		rx += rx_buffers(c, p, out->frame);
		backlog += p->pfc.priorities.n || (p->side == SIDE_WAN && gates(c)) ? p->rx_queues * LIMIT_BACKLOG_LOSSY
										    : 0;
		tx += tx_buffers(p, out->sent);
		lossy += p->buffer_limit;
		control += p->control_limit;
		cfg_port_lossless(c, p, p->speed_bps, &l);
		xoff += cfg_port_profile(c, p).alpha == ALPHA_STATIC ? p->pfc.priorities.n * l.xoff_buffers : 0;
		headroom += p->pfc.priorities.n * (l.least_buffers + l.headroom_buffers);
		apart += p->pfc.priorities.n * (l.choice_buffers - l.least_buffers);
	}
	add_line(out, "receive descriptors", rx);
	if (backlog)
		add_packet_line(out, "frames of lossy classes that wait for the CPU", backlog);
	add_line(out, "transmit descriptors", tx);
	add_line(out, "rewritten frames that the device has not accepted yet",
		2ull * LIMIT_TX_ROOM * c->ports.n * out->sent);
	add_line(out, "egress queues of lossy classes", lossy);
	if (xoff + c->memory.lossless)
		add_line(out, "lossless classes below XOFF", xoff + c->memory.lossless);
	if (headroom)
		add_line(out, "headroom of lossless classes", headroom);
	if (headroom && cfg_packets_in_rings(c))
		add_packet_line(out, "lossless frames on the way between lcores at XOFF", cfg_packets_in_rings(c));
	add_line(out, "egress queues of control traffic", control);
	add_packet_line(out, "rings between lcores", all_ring_slots(c));
	if (cfg_spread_rings(c))
		add_packet_line(out, "frames spread over rx lcores by software",
			(uint64_t)cfg_spread_rings(c) * (LIMIT_SPREAD_RING - 1));
	if (cfg_credit_buffers(c))
		add_line(out, "credit pool", cfg_credit_buffers(c));
	if (gates(c))
		add_line(out, "fences of credit sessions", c->credit.paths);
	if (c->lcores.worker.n > 1)
		add_packet_line(out, "packets handed from worker to worker",
			(uint64_t)c->lcores.worker.n * (c->lcores.worker.n - 1) * 2 * (LIMIT_PEER_MAIL + 1));
	add_packet_line(out, "packets parked while a ring is full", (uint64_t)c->lcores.rx.n * LIMIT_PARK);
	add_packet_line(out, "packets waiting for a neighbour", c->lcores.worker.n * c->discovery.hold_total);
	add_packet_line(out, "packets whose neighbour did not answer", c->lcores.worker.n * LIMIT_WORKER_PUNTS);
	add_line(out, "pool caches and bursts of lcores",
		lcores * (LIMIT_POOL_CACHE + (uint64_t)LIMIT_BURST * out->frame));
	add_packet_line(out, "control packets", LIMIT_CONTROL);
	out->apart_wanted = apart;
	out->pool = pool_of(c, out->total, apart);
	out->apart = MIN_OF(apart, out->pool - MIN_OF(out->pool, out->total));
	if (out->apart)
		add_line(out, "slices that stand still behind PFC tunnels", out->apart);
}

uint64_t cfg_pool(const struct config *c)
{
	struct cfg_budget b;

	cfg_budget(c, &b);
	return b.pool;
}

void cfg_keep_pool(struct config *c, const struct config *running)
{
	if (c->memory.buffers == running->memory.buffers)
		c->memory.pool = cfg_pool(running);
}

/* How many slices may stand still with their headroom and floors, if their frames are as long as RoCE's. */
static void set_apart(const struct config *c, const struct cfg_port *port, struct cfg_lossless *l)
{
	uint64_t frame = MAX_OF(cfg_port_profile(c, port).min_frame, HEADROOM_ROCE_BYTES), room, floors;
	uint64_t bytes = l->choice_buffers > UINT64_MAX / frame ? l->choice_bytes
								: MIN_OF(l->choice_bytes, l->choice_buffers * frame);

	if (l->n_slices < 2)
		return;
	floors = l->n_slices * l->floor_bytes;
	room = MAX_OF(l->room_bytes, 1);
	l->n_apart = bytes <= floors ? 0 : (uint32_t)MIN_OF((bytes - floors) / room, l->n_slices - 1);
}

void cfg_fit_lossless(const struct config *c, const struct cfg_port *port, uint64_t bps, struct cfg_lossless *out)
{
	struct cfg_budget b;

	cfg_port_lossless(c, port, bps, out);
	cfg_budget(c, &b);
	if (b.apart_wanted && out->choice_buffers > out->least_buffers)
		out->choice_buffers = out->least_buffers +
				      (uint64_t)((unsigned __int128)b.apart *
						 (out->choice_buffers - out->least_buffers) / b.apart_wanted);
	set_apart(c, port, out);
}

/* Advice to print: more buffers, or larger buffers if one that takes a whole frame is enough. */
static void write_remedy(const struct config *c, uint64_t total, char *out, size_t size)
{
	uint64_t whole = (cfg_longest_frame(c) + 1023) / 1024;
	struct config larger = *c;
	struct cfg_budget b;
	size_t n;

	n = (size_t)snprintf(out, size, "set memory.buffers to %llu", (unsigned long long)total);
	if (cfg_frame_buffers(c) == 1)
		return;
	larger.memory.buffer_size = whole * 1024;
	cfg_budget(&larger, &b);
	snprintf(out + n, size - n, ", or memory.buffer-size to %lluK", (unsigned long long)whole);
	if (b.total > b.pool)
		snprintf(out + n, size - n, ", or memory.buffers to %llu and memory.buffer-size to %lluK",
			(unsigned long long)b.total, (unsigned long long)whole);
}

void check_buffers(const struct config *c, struct cfg_diags *d)
{
	struct cfg_mark at = check_at(c, &c->memory.buffers, c->memory.at);
	char sum[1536] = "", mend[160];
	struct cfg_budget b;
	size_t n = 0;

	if (c->memory.buffer_size % 1024) {
		cfg_diag_add(d, cfg_where(c, &c->memory.buffer_size),
			"buffer-size: expected a multiple of 1K, found %llu: NICs count buffers in units of 1 KB",
			(unsigned long long)c->memory.buffer_size);
		return;
	}
	cfg_budget(c, &b);
	if (b.total <= b.pool)
		return;
	for (unsigned int i = 0; i < b.n; i++)
		n += (size_t)snprintf(sum + n, sizeof(sum) - n, "%s%llu %s", i ? " + " : "",
			(unsigned long long)b.line[i].buffers, b.line[i].what);
	if (c->memory.buffers == CFG_NONE)
		snprintf(mend, sizeof(mend), "%s",
			b.pool == POOL_MOST ? "no pool is that large" : "the node must be restarted");
	else
		write_remedy(c, b.total, mend, sizeof(mend));
	if (b.frame > 1)
		cfg_diag_add(d, at,
			"buffers: %llu is too few: up to %llu can be in use at once, %u for each frame of %llu bytes; "
			"%s. In use: %s",
			(unsigned long long)b.pool, (unsigned long long)b.total, b.frame,
			(unsigned long long)cfg_longest_frame(c), mend, sum);
	else
		cfg_diag_add(d, at, "buffers: %llu is too few: up to %llu can be in use at once; %s. In use: %s",
			(unsigned long long)b.pool, (unsigned long long)b.total, mend, sum);
}
