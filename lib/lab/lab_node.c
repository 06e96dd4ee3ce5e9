/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes in the lab. A node is an object of the appliance: this file creates it, gives it virtual ports and calls
 * node_lcore_poll for each of its lcores, all in one thread.
 *
 * An lcore is called when a frame has arrived in a receive queue that it polls, when its roles ask for it (`next`),
 * when one of its rings has entries, and SWEEP_NS after any lcore of its node found work, because a real lcore never
 * stops polling. A pass takes the number of cycles that the topology gives. Until it ends the lcore does nothing else,
 * and frames accumulate as on a real machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "config/budget.h"
#include "config/headroom.h"
#include "manage/apply.h"
#include "lab/lab_priv.h"
#include "pkt/pkt.h"
#include "service/services.h"

#define SWEEP_NS 10000u

static void poll_lcore(void *arg);

static void wake(struct lab_lcore *lc, uint64_t at)
{
	struct lab *lab = lc->owner->lab;

	timeline_set_by(&lc->owner->timeline, &lc->wake, MAX_OF(MAX_OF(at, lc->busy_until), lab->now));
}

/* Duration of so many cycles in ns; the remainder is carried over to the next call. */
static uint64_t spend(struct lab_lcore *lc, uint64_t cycles)
{
	uint64_t hz = lc->owner->topo->cpu_hz, total = cycles * NSEC_PER_SEC + lc->cycles_left;

	lc->cycles_left = total % hz;
	return total / hz;
}

static bool frames_wait(const struct lab_lcore *lc)
{
	const struct rx_role *rx = lc->lcore->rx;

	for (unsigned int word = 0; rx && word < ARRAY_LEN(rx->told.arrived); word++) {
		for (uint64_t bits = rx->told.arrived[word]; bits; bits &= bits - 1) {
			const struct rx_queue *q = &rx->queue[word * 64 + (unsigned int)__builtin_ctzll(bits)];

			if (virtual_port_waiting(q->port, q->queue))
				return true;
		}
	}
	return false;
}

/*
 * Wake the other lcores of the node that have input, and after work all of them soon. A pass without work may still
 * have sent messages.
 */
static void wake_others(struct lab_lcore *me, uint64_t when, bool worked)
{
	struct lab_node *n = me->owner;

	for (uint16_t i = 0; i < n->n_lcores; i++) {
		struct lab_lcore *lc = &n->lcore[i];

		if (lc != me && node_lcore_has_input(lc->lcore))
			wake(lc, when);
		else if (lc != me && worked)
			wake(lc, when + SWEEP_NS);
	}
}

static void poll_lcore(void *arg)
{
	struct lab_lcore *lc = arg;
	struct lab_node *n = lc->owner;
	struct lab *lab = n->lab;
	uint64_t next = TIME_NEVER;
	unsigned int work = node_lcore_poll(lc->lcore, lab->now, &next);

	n->changed = true;
	lab_check_pass(n, lc->owns);
	lab_watch_pass(n, lc->owns);
	lc->busy_until = lab->now + MAX_OF(spend(lc, n->topo->pass_cycles + work * n->topo->cycles), 1);
	wake_others(lc, lc->busy_until, work);
	if (work)
		next = MIN_OF(next, lc->busy_until + SWEEP_NS);
	if (frames_wait(lc) || node_lcore_has_input(lc->lcore))
		next = lc->busy_until;
	if (next != TIME_NEVER)
		wake(lc, next);
}

/* Call all its lcores at once. */
static void wake_all(struct lab_node *n)
{
	for (uint16_t i = 0; n->node && i < n->n_lcores; i++)
		wake(&n->lcore[i], n->lab->now);
}

void lab_node_receive(struct lab_node *n, struct lab_end *end, const struct line_frame *f)
{
	int queue;

	if (!n->node) {
		end->into_void++;
		if (!f->corrupt)
			lab_lost(n->lab, n->place[end->port], "node was down", BLAME_RESTART, f->bytes, f->captured);
		return;
	}
	n->changed = true;
	queue = virtual_port_receive(n->node->port[end->port], f);
	if (queue >= 0) {
		const struct lab_queue *q = &n->queue[end->port][queue];

		node_tell_frame(n->lcore[q->lcore].lcore->rx, q->index);
		wake(&n->lcore[q->lcore], n->lab->now);
		return;
	}
	n->touched |= 1u << end->port;
	if (!f->corrupt)
		lab_lost(n->lab, n->place[end->port],
			queue == VIRTUAL_PORT_MISSED	  ? "imissed: no receive descriptor"
			: queue == VIRTUAL_PORT_NO_BUFFER ? "rx_nombuf: no packet buffer"
							  : "ierrors: frame exceeds the port's MTU",
			BLAME_NODE, f->bytes, f->captured);
}

void lab_node_link(struct lab_node *n, uint16_t port, bool up)
{
	if (!n->node)
		return;
	virtual_port_set_link(n->node->port[port], up);
	node_tell_link(n->node, port);
	wake_all(n);
}

/* MAC address of a port: configured, or derived from its number. */
struct eth_addr lab_node_mac(const struct lab *lab, uint32_t node, uint16_t port)
{
	const struct eth_addr *own = &lab->topo->nodes.items[node].config->ports.items[port].mac;

	if (!eth_is_zero(own))
		return *own;
	return (struct eth_addr){{0x02, 0x4c, 0, (uint8_t)(node >> 8), (uint8_t)node, (uint8_t)port}};
}

static void frames_sent(void *arg, int rc)
{
	struct lab_way *w = arg;
	struct lab_end *from = &w->link->end[w->from];

	from->node->touched |= 1u << from->port;
	if (rc < 0)
		lab_violate(w->link->lab, "memory",
			"the line %s has no memory left for frames in flight: increase lab.memory", w->name);
	lab_way_kick(w);
}

static void frame_seen(void *arg, bool outbound, const void *bytes, uint32_t captured, uint32_t length)
{
	struct lab_way *w = arg;

	lab_captured(w->link->lab, &w->link->end[w->from].place, outbound, bytes, captured, length);
}

static struct port *open_port(struct lab_node *n, uint16_t port)
{
	const struct cfg_port *cp = &n->node->config->ports.items[port];
	struct lab_way *w = n->way[port];
	struct virtual_port_config config = {.name = cp->name,
		.mac = lab_node_mac(n->lab, n->index, port),
		.rx_queues = (uint16_t)cp->rx_queues,
		.rx_descriptors = (uint16_t)cfg_rx_descriptors(n->node->config, cp),
		.tx_descriptors = (uint16_t)cp->descriptors.tx,
		.speed_bps = w ? w->link->topo->rate_bps : cp->speed_bps,
		.mtu = (uint32_t)cp->mtu,
		.pool = n->node->pool,
		.line = w ? w->line : n->void_line,
		.now = &n->lab->now,
		.sent = w ? frames_sent : NULL,
		.seen = w && lab_captures_at(n->lab, &w->link->end[w->from].place) ? frame_seen : NULL,
		.arg = w};
	struct port *p = virtual_port_new(&config);

	if (p)
		virtual_port_set_link(p, w && lab_way_up(w));
	return p;
}

/* Record the lcore that polls each queue and the lcore that owns each egress. */
static void map_queues(struct lab_node *n)
{
	for (uint16_t i = 0; i < n->n_ports; i++)
		for (uint16_t k = 0; k < n->n_lcores; k++)
			if (n->lcore[k].lcore->worker == &n->node->worker[n->node->owner[i]])
				n->lcore[k].owns |= 1u << i;

	for (uint16_t i = 0; i < n->n_lcores; i++) {
		const struct rx_role *rx = n->lcore[i].lcore->rx;

		for (uint16_t q = 0; rx && q < rx->n_queues; q++)
			n->queue[rx->queue[q].port->index][rx->queue[q].queue] = (struct lab_queue){.lcore = i,
				.index = q};
	}
}

/* Whose fault a drop is. A node that gets frames with flipped bits may drop them for many reasons. */
static enum lab_blame blame_of(const struct lab *lab, enum reason reason)
{
	switch (reason) {
	case DROP_stopped:
		return BLAME_RESTART;
	case DROP_pfc_storm:
		return BLAME_WATCHDOG;
	case DROP_queue_full:
	case DROP_headroom_exceeded:
	case DROP_port_down:
	case DROP_no_buffer:
		return BLAME_NODE;
	default:
		return lab->flips ? BLAME_LINK : BLAME_NODE;
	}
}

/* A node drops a packet. Its place is the port of the queue that it did not get into, else the port it came from. */
static void dropped(void *arg, struct rte_mbuf *m, enum reason reason)
{
	struct lab_node *n = arg;
	bool at_egress = reason == DROP_queue_full || reason == DROP_port_down || reason == DROP_pfc_storm;
	uint16_t port = at_egress ? pkt_of(m)->egress : m->port;

	n->drops++;
	pkt_unpoison(m);
	lab_lost(n->lab, port < n->n_ports ? n->place[port] : n->topo->name, reason_name(reason),
		blame_of(n->lab, reason), rte_pktmbuf_mtod(m, const void *), m->data_len);
}

static struct config *parse_text(struct lab_node *n)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_text(n->topo->name, n->text, strlen(n->text), &diags);

	if (c)
		c = cfg_load_beside(c, n->topo->file ? n->topo->file : n->lab->topo->file, &diags);
	if (c && cfg_check(c, &diags) < 0) {
		cfg_free(c);
		c = NULL;
	}
	cfg_diags_free(&diags);
	return c;
}

int lab_node_start(struct lab_node *n, char *err, size_t size)
{
	struct node_options options = {.services = node_services,
		.told = true,
		.steady = !n->lab->now, /* a run begins in a network that is up; a restart is one */
		.seed = (n->lab->seed + n->index + 1) * 0x9e3779b97f4a7c15ull + 2 * n->restarts + 1,
		.counters = n->lab->topo->lab.counters,
		.socket = -1,
		.new_pool = virtual_pool_new,
		.buffer_bytes = n->lab->topo->lab.frames == FRAMES_HEADERS ? LAB_BUFFER_BYTES : 0};
	struct config *c = parse_text(n);
	struct cfg_budget budget;
	int rc;

	if (!c) {
		snprintf(err, size, "node %s: its configuration cannot be read back after printing", n->topo->name);
		return -EINVAL;
	}
	cfg_budget(c, &budget);
	n->promised = budget.total;
	for (uint32_t i = 0; i < c->ports.n; i++)
		n->queue_limit[i] = c->ports.items[i].buffer_limit + c->ports.items[i].control_limit +
				    2 * LIMIT_TX_ROOM + c->credit.pool;
	n->changed = true;
	n->pauses |= strcasestr(n->text, "pfc") != NULL; /* in a key, a behavior, or just a name */
	n->least_limit = UINT64_MAX;
	for (uint32_t i = 0; i < c->ports.n; i++)
		n->least_limit = MIN_OF(n->least_limit, n->queue_limit[i]);
	n->node = node_new(c, &options, err, size);
	if (!n->node)
		return -ENOMEM;
	for (uint16_t i = 0; i < n->node->n_ports; i++) {
		struct port *p = open_port(n, i);

		if (!p) {
			snprintf(err, size, "out of memory");
			return -ENOMEM;
		}
		node_attach_port(n->node, i, p);
	}
	rc = node_commit(n->node, err, size);
	if (rc < 0)
		return rc;
	n->n_lcores = n->node->n_lcores;
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		struct lab_lcore *lc = &n->lcore[i];

		*lc = (struct lab_lcore){.owner = n, .lcore = n->node->lcore[i]};
		snprintf(lc->name, sizeof(lc->name), "%s lcore %u", n->topo->name, lc->lcore->id);
		event_init(&lc->wake, poll_lcore, lc, "poll", lc->name);
		lc->lcore->tap.dropped = dropped;
		lc->lcore->tap.dropped_arg = n;
		node_lcore_enter(lc->lcore);
	}
	if (lab_credit_init(n) < 0) {
		snprintf(err, size, "out of memory");
		return -ENOMEM;
	}
	map_queues(n);
	lab_warm_forget(&n->timeline.warm);
	wake_all(n);
	return 0;
}

static void restart(void *arg)
{
	struct lab_node *n = arg;
	char err[256];

	lab_record(n->lab, "node starts", n->topo->name, 0);
	if (lab_node_start(n, err, sizeof(err)) < 0)
		lab_violate(n->lab, "restart", "%s", err);
}

int lab_node_init(struct lab *lab, uint32_t index, char *err, size_t size)
{
	struct lab_node *n = &lab->node[index];
	struct line_config nowhere = {.rate_bps = 1000000000,
		.loss = 1,
		.frame_max = UINT32_MAX,
		.memory_max = 1 << 20};
	size_t text_size;
	FILE *f;

	n->lab = lab;
	n->index = index;
	n->topo = &lab->topo->nodes.items[index];
	n->n_ports = n->topo->config->ports.n;
	timeline_init(&n->timeline, &lab->turns, n->topo->name);
	n->timeline.node = n;
	n->void_line = line_new(&nowhere);
	event_init(&n->restart, restart, n, "restart", n->topo->name);
	f = open_memstream(&n->text, &text_size);
	if (f) {
		cfg_emit(n->topo->config, f, 0);
		fclose(f);
	}
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (asprintf(&n->place[i], "%s.%s", n->topo->name, n->topo->config->ports.items[i].name) < 0)
			n->place[i] = NULL;
	if (lab_watch_init(n) == 0 && n->text && n->void_line && (!n->n_ports || n->place[n->n_ports - 1]))
		return 0;
	snprintf(err, size, "out of memory");
	return -ENOMEM;
}

/* Keep the counters of this run of the node for the sums of the network. */
static void remember(struct lab_node *n)
{
	struct node_balance b;

	node_balance(n->node, &b);
	n->past.rx += b.rx;
	n->past.originated += b.originated;
	n->past.sent += b.sent;
	n->past.dropped += b.dropped;
	n->past.consumed += b.consumed;
	for (uint16_t i = 0; i < n->n_ports; i++) {
		const struct virtual_port_stats *s = virtual_port_stats(n->node->port[i]);

		n->past.port_sent[i] += s->sent;
		n->past.port_received[i] += s->received;
		n->past.missed[i] += s->imissed + s->nombuf + s->ierrors;
		n->past.unpolled += s->received - s->polled;
	}
}

/* Free the frames that were received and not polled. */
static void lose_unpolled(struct lab_node *n, uint16_t port)
{
	struct port *p = n->node->port[port];
	struct rte_mbuf *m;

	for (uint16_t q = 0; q < p->n_rx_queues; q++) {
		while (p->ops->rx(p, q, &m, 1)) {
			lab_lost(n->lab, n->place[port], reason_name(DROP_stopped), BLAME_RESTART,
				rte_pktmbuf_mtod(m, const void *), m->data_len);
			pkt_free(m);
		}
	}
}

/* Drain the node, free it and check for leaks. */
static void stop_node(struct lab_node *n)
{
	if (!n->node)
		return;
	node_drain(n->node);
	lab_credit_fini(n);
	remember(n);
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		timeline_clear(&n->timeline, &n->lcore[i].wake);
		node_lcore_leave(n->lcore[i].lcore);
	}
	for (uint16_t i = 0; i < n->n_ports; i++) {
		if (n->node->port[i]) {
			lose_unpolled(n, i);
			n->node->port[i]->ops->close(n->node->port[i]);
		}
		n->node->port[i] = NULL;
	}
	if (!n->lab->violation)
		lab_check_leak(n->lab, n);
	node_free(n->node);
	n->node = NULL;
	lab_warm_forget(&n->timeline.warm);
}

void lab_node_restart(struct lab_node *n, uint64_t for_ns)
{
	lab_record(n->lab, "node stops", n->topo->name, for_ns);
	if (n->node)
		stop_node(n);
	lab_watch_stopped(n, for_ns);
	n->restarts++;
	event_set(&n->lab->queue, &n->restart, n->lab->now + for_ns);
}

void lab_node_fini(struct lab_node *n)
{
	if (n->node)
		stop_node(n);
	lab_watch_fini(n);
	timeline_fini(&n->timeline);
	line_free(n->void_line);
	free(n->text);
	for (uint32_t i = 0; i < n->n_ports; i++)
		free(n->place[i]);
}

static int reload(void *arg, const char *file, enum apply_how how, json_t **plan, char *err, size_t size)
{
	struct lab_node *n = arg;
	struct cfg_diags diags = {0};
	struct topology *topo = n->lab->topo;
	const char *path = file ? cfg_path_beside(topo->arena, topo->file, file) : n->topo->file;

	if (!path && !file) {
		snprintf(err, size, "the configuration of %s is part of the topology; give the name of a file",
			n->topo->name);
		return -EINVAL;
	}
	if (!path)
		return -ENOMEM;
	return apply_config(n->node, cfg_load_file(path, &diags), &diags, file ? file : path, how, plan, err, size);
}

int lab_node_command(struct lab_node *n, const char *line, FILE *out)
{
	struct command_host host = {.node = n->node, .arg = n, .reload = reload, .version = "lab"};
	int rc;

	if (!n->node) {
		fprintf(out, "%s is down\n", n->topo->name);
		return -ENOTCONN;
	}
	n->changed = n->pauses = true;
	/* a command may wait for grace periods; no lcore is in a pass, so it need not wait for any */
	for (uint16_t i = 0; i < n->n_lcores; i++)
		node_lcore_leave(n->lcore[i].lcore);
	node_tick(n->node, n->lab->now);
	rc = command_run(&host, line, out);
	for (uint16_t i = 0; i < n->n_lcores; i++)
		node_lcore_enter(n->lcore[i].lcore);
	wake_all(n);
	return rc;
}

void lab_node_housekeeping(struct lab_node *n)
{
	if (!n->node)
		return;
	node_tick(n->node, n->lab->now);
	if (n->node->retired) {
		node_reclaim(n->node);
		wake_all(n);
	}
	if (capture_active(n->node->captures))
		capture_poll(n->node->captures);
}
