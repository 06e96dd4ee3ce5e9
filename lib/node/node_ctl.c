/* SPDX-License-Identifier: BSD-3-Clause */
/* Make, join and free the parts of a node. Management thread. */
#include "node/node_ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "base/aligned.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/capture.h"
#include "config/budget.h"
#include "config/config.h"
#include "config/headroom.h"
#include "node/peer.h"
#include "node/service.h"
#include "node/trace_priv.h"

/* DPDK requires names that are unique in the process and have less than 28 characters. */
static const char *unique_name(const struct node *n, const char *what, unsigned int a, unsigned int b, char *buf)
{
	snprintf(buf, 28, "%x.%s.%u.%u", (unsigned int)((uintptr_t)n >> 6), what, a, b);
	return buf;
}

static struct node_lcore *lcore_of(struct node *n, uint64_t id)
{
	struct node_lcore *l;

	for (uint16_t i = 0; i < n->n_lcores; i++)
		if (n->lcore[i]->id == id)
			return n->lcore[i];
	l = new_aligned(sizeof(*l));
	if (!l)
		return NULL;
	l->node = n;
	l->id = (unsigned int)id;
	l->cpu = cfg_cpu_of(n->config, id);
	l->socket = n->places.lcore[id];
	l->qsbr = n->n_lcores;
	batch_init(&l->batch, cfg_has_lossless(n->config));
	l->stats.tap = &l->tap;
	l->tap.filter = &n->trace;
	l->tap.clock = n->clock;
	for (uint32_t i = 0; i < n->config->ports.n; i++)
		l->tap.stamp_ports |= n->config->ports.items[i].hardware_timestamps ? 1u << i : 0;
	l->tap.samples = calloc(1, sizeof(*l->tap.samples));
	l->stats.path = calloc(SNAP_PATH_MAX, sizeof(*l->stats.path));
	if (!l->tap.samples || !l->stats.path) {
		free(l->tap.samples);
		free(l->stats.path);
		free(l);
		return NULL;
	}
	n->lcore[n->n_lcores++] = l;
	return l;
}

static int make_roles(struct node *n)
{
	const struct cfg_lcores *c = &n->config->lcores;

	n->n_rx = (uint16_t)c->rx.n;
	n->n_workers = (uint16_t)c->worker.n;
	n->rx = new_aligned(n->n_rx * sizeof(*n->rx));
	n->worker = new_aligned(n->n_workers * sizeof(*n->worker));
	n->control = new_aligned(sizeof(*n->control));
	if (!n->rx || !n->worker || !n->control)
		return -ENOMEM;
	n->peers = (struct egress_peers){.egress = n->egress,
		.owner = n->owner,
		.n_workers = n->n_workers,
		.left = new_aligned(n->n_workers * MAX_PORTS * sizeof(*n->peers.left))};
	if (!n->peers.left)
		return -ENOMEM;
	n->control->node = n;
	n->control->lcore = lcore_of(n, c->control);
	if (!n->control->lcore)
		return -ENOMEM;
	n->control->lcore->control = n->control;
	for (uint16_t i = 0; i < n->n_rx; i++) {
		struct rx_role *rx = &n->rx[i];

		rx->node = n;
		rx->index = i;
		rx->lcore = lcore_of(n, c->rx.items[i]);
		rx->classifier.sids = calloc(SNAP_SID_MAX, sizeof(struct sid_counter));
		if (!rx->lcore || !rx->classifier.sids)
			return -ENOMEM;
		rx->classifier.stats = &rx->lcore->stats;
		rx->lcore->rx = rx;
		rx->place = snapshot_place_of(&n->registry.places, n->places.lcore[c->rx.items[i]]);
	}
	for (uint16_t i = 0; i < n->n_workers; i++) {
		struct worker_role *w = &n->worker[i];

		w->node = n;
		w->index = i;
		w->lcore = lcore_of(n, c->worker.items[i]);
		w->accounts = calloc(1, sizeof(*w->accounts));
		if (!w->lcore || !w->accounts)
			return -ENOMEM;
		w->ctx.accounts = w->accounts;
		w->ctx.lossless = n->lossless;
		w->ctx.exhausted = n->exhausted;
		w->ctx.storming = n->storming;
		w->ctx.stats = &w->lcore->stats;
		w->ctx.neighs = &w->neighs;
		w->ctx.peers = &n->peers;
		w->ctx.self = i;
		w->to_peer = new_aligned(PEER_LANES * n->n_workers * sizeof(*w->to_peer));
		if (!w->to_peer)
			return -ENOMEM;
		w->lcore->worker = w;
	}
	return 0;
}

static bool punt_to_control(void *arg, struct rte_mbuf *m)
{
	struct worker_role *w = arg;

	return mailbox_push_packets(&w->to_control, &m, 1) == 1;
}

static int open_packets(struct node *n, struct mailbox *b, const char *carries, struct mailbox_end from,
	struct mailbox_end to, uint32_t slots, int socket)
{
	return mailbox_open(&n->mailboxes, b, &(struct mailbox_options){carries, from, to, 0, slots, socket});
}

/* Twice as many slots as are used: the limit counts what has not been seen to be popped, too. */
static int open_peers(struct node *n, struct worker_role *w, int socket)
{
	int rc = 0;

	for (uint16_t i = 0; i < PEER_LANES * n->n_workers && rc == 0; i++) {
		struct peer_mail *p = &w->to_peer[i];

		if (i % n->n_workers == w->index)
			continue;
		p->charge = calloc(LIMIT_PEER_MAIL, sizeof(*p->charge));
		rc = p->charge ? open_packets(n, &p->box, i < n->n_workers ? "packets" : "packets home", worker_end(w),
					 worker_end(&n->worker[i % n->n_workers]), 2 * LIMIT_PEER_MAIL, socket)
			       : -ENOMEM;
	}
	w->ctx.give_room = peer_has_room;
	w->ctx.give = peer_give;
	w->ctx.take = egress_take;
	return rc;
}

/* Between the rx lcores that poll queues of the same port, if that may be spread in software. */
static int open_spread(struct node *n, int socket)
{
	int rc = 0;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct spread_lanes *l = &n->spread[i];
		uint32_t seen = 0;

		if (!cfg_may_spread(n->config, &n->config->ports.items[i]))
			continue;
		l->symmetric = cfg_spread_is_symmetric(n->config, &n->config->ports.items[i]);
		for (uint64_t q = 0; q < n->config->ports.items[i].rx_queues; q++) {
			uint8_t role = n->deal.rx[i][q];

			if (!(seen >> role & 1))
				l->role[l->n++] = role;
			seen |= 1u << role;
		}
	}
	for (uint16_t i = 0; cfg_spread_rings(n->config) && i < n->n_rx; i++) {
		n->rx[i].to_rx = new_aligned(n->n_rx * sizeof(*n->rx[i].to_rx));
		n->rx[i].from_rx = calloc(n->n_rx, sizeof(*n->rx[i].from_rx));
		if (!n->rx[i].to_rx || !n->rx[i].from_rx)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < n->n_ports; i++) {
		const struct spread_lanes *l = &n->spread[i];

		for (unsigned int k = 0; k < (unsigned int)l->n * l->n && rc == 0; k++) {
			struct rx_role *from = &n->rx[l->role[k / l->n]], *to = &n->rx[l->role[k % l->n]];
			struct mailbox *box = &from->to_rx[to->index].box;

			if (from != to && !box->ring)
				rc = open_packets(n, box, "frames", rx_end(from), rx_end(to), LIMIT_SPREAD_RING,
					socket);
		}
	}
	return rc;
}

/* Open the mailboxes that carry packets. Services open the mailboxes for their messages. */
static int open_mailboxes(struct node *n, int socket)
{
	uint32_t slots = rte_align32pow2((uint32_t)n->config->memory.ring);
	struct mailbox_end control = control_end(n->control);
	int rc = 0;

	for (uint16_t i = 0; i < n->n_rx && rc == 0; i++) {
		struct rx_role *rx = &n->rx[i];

		/* lib/config/budget.c counts all of them together */
		for (unsigned int k = 0; k < PUNT_RINGS && rc == 0; k++)
			rc = open_packets(n, &rx->to_control[k], punt_ring_carries((enum punt_ring)k), rx_end(rx),
				control, punt_ring_slots((enum punt_ring)k, slots), socket);
		rx->park_limit = NODE_PARK;
		rx->lossless_mail = MIN_OF(NODE_LOSSLESS_MAIL, cfg_worker_ring(n->config) / 4 * 3);
		for (uint16_t w = 0; w < n->n_workers && rc == 0; w++)
			if (rx->lcore != n->worker[w].lcore)
				rc = open_packets(n, &rx->to_worker[w], "packets", rx_end(rx),
					worker_end(&n->worker[w]), cfg_worker_ring(n->config), socket);
	}
	for (uint16_t i = 0; i < n->n_workers && rc == 0; i++) {
		struct worker_role *w = &n->worker[i];

		rc = open_packets(n, &n->control->to_worker[i], "packets", control, worker_end(w), slots, socket);
		if (rc == 0)
			rc = open_packets(n, &w->to_control, "packets", worker_end(w), control, NODE_WORKER_PUNTS,
				socket);
		if (rc == 0)
			rc = open_peers(n, w, socket);
		w->ctx.punt = punt_to_control;
		w->ctx.ask_arg = w;
	}
	return rc == 0 ? open_spread(n, socket) : rc;
}

static int start_services(struct node *n, int socket)
{
	int rc = 0;

	for (const struct control_service *const *s = n->services; *s && rc == 0; s++) {
		if ((*s)->rx) {
			n->rx_hooks[n->n_rx_hooks++] = (*s)->rx;
			n->rx_takes |= (*s)->rx->takes;
		}
		if ((*s)->worker)
			n->worker_hooks[n->n_worker_hooks++] = (*s)->worker;
		if ((*s)->init)
			rc = (*s)->init(n->control, socket);
	}
	return rc;
}

static int make_control(struct node *n, int socket)
{
	const struct cfg_discovery *d = &n->config->discovery;
	char name[28];
	int rc = start_services(n, socket);

	n->control->classifier.stats = &n->control->lcore->stats;
	n->control->classifier.sids = n->rx[0].classifier.sids; /* the node never sends to its own SIDs */
	for (uint16_t w = 0; w < n->n_workers && rc == 0; w++)
		rc = neigh_table_init(&n->worker[w].neighs, unique_name(n, "nt", w, 0, name),
			(uint32_t)d->max + 2 * LIMIT_NEIGH_MESSAGES, (uint32_t)d->hold_total,
			n->worker[w].lcore->socket);
	return rc;
}

/* Mailboxes ring when something is put in (node_options.told). */
static void hang_bells(struct node *n)
{
	for (struct mailbox *b = n->mailboxes.first; b; b = b->next)
		b->bell = &b->to.lcore->mail;
	for (uint16_t i = 0; i < n->n_lcores; i++)
		n->lcore[i]->told = true;
	for (uint16_t i = 0; i < n->n_rx; i++)
		n->rx[i].told.on = true;
	for (uint16_t i = 0; i < n->n_workers; i++)
		n->worker[i].told = true;
}

static int make_qsbr(struct node *n, int socket)
{
	size_t size = rte_rcu_qsbr_get_memsize(n->n_lcores);

	n->qsbr = rte_zmalloc_socket(NULL, size, RTE_CACHE_LINE_SIZE, socket);
	if (!n->qsbr)
		return -ENOMEM;
	rte_rcu_qsbr_init(n->qsbr, n->n_lcores);
	for (uint16_t i = 0; i < n->n_lcores; i++)
		rte_rcu_qsbr_thread_register(n->qsbr, i);
	return 0;
}

static const char *name_of_reason(unsigned int reason)
{
	return reason_name((enum reason)reason);
}

static int make_captures(struct node *n, const struct node_options *options)
{
	struct capture_source source = {.n_taps = n->n_lcores,
		.n_ports = n->n_ports,
		.reason_name = name_of_reason,
		.wall_offset_ns = options->wall_offset_ns,
		.socket = options->socket};

	for (uint16_t i = 0; i < n->n_lcores; i++)
		source.taps[i] = &n->lcore[i]->tap;
	for (uint32_t i = 0; i < n->n_ports; i++)
		snprintf(source.port_name[i], sizeof(source.port_name[i]), "%s", n->config->ports.items[i].name);
	n->captures = capture_new(&source);
	return n->captures ? 0 : -ENOMEM;
}

struct node *node_new(struct config *config, const struct node_options *options, char *err, size_t size)
{
	struct node *n = new_aligned(sizeof(*n));
	int rc;

	if (!n) {
		cfg_free(config);
		text_fail(err, size, 0, "out of memory");
		return NULL;
	}
	n->config = config;
	snprintf(n->name, sizeof(n->name), "%s", config->node.name);
	n->born_ns = options->wall_offset_ns;
	n->steady = options->steady;
	n->seed = options->seed;
	n->counters = options->counters;
	if (!n->seed && getrandom(&n->seed, sizeof(n->seed), 0) != sizeof(n->seed))
		n->seed = rte_rdtsc();
	n->n_ports = config->ports.n;
	n->clock = options->clock;
	if (options->places)
		n->places = *options->places;
	else
		cfg_places_init(&n->places);
	cfg_deal(config, &n->places, &n->deal);
	n->services = options->services;
	n->egress = new_sparse((n->n_ports + 1) * sizeof(*n->egress), &n->egress_memory);
	n->before.sid = calloc(SNAP_SID_MAX, sizeof(*n->before.sid));
	n->before.path = calloc(SNAP_PATH_MAX, sizeof(*n->before.path));
	rc = n->egress && n->before.sid && n->before.path ? snapshot_registry_init(&n->registry) : -ENOMEM;
	snapshot_find_places(config, &n->places, &n->registry.places);
	if (rc == 0)
		rc = make_roles(n);
	if (rc == 0)
		rc = make_qsbr(n, options->socket);
	if (rc == 0)
		rc = open_mailboxes(n, options->socket);
	if (rc == 0)
		rc = make_control(n, options->socket);
	if (rc == 0 && options->told)
		hang_bells(n);
	if (rc == 0)
		rc = make_captures(n, options);
	if (rc < 0) {
		text_fail(err, size, rc,
			"not enough memory for rings and tables: give the EAL more with -- -m MEGABYTES");
		node_free(n);
		return NULL;
	}
	if (node_make_pools(n, options, err, size) < 0) {
		node_free(n);
		return NULL;
	}
	return n;
}

void node_attach_port(struct node *n, uint16_t index, struct port *port)
{
	port->index = index;
	n->port[index] = port;
}

static void deal_out_egresses(struct node *n)
{
	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct worker_role *w = &n->worker[n->deal.owner[i]];

		egress_init(&n->egress[i], n->port[i]);
		if (n->steady)
			egress_know_link(&n->egress[i]);
		n->owner[i] = w->index;
		w->egress[w->n_egress++] = &n->egress[i];
		w->owns |= 1u << i;
	}
}

static int deal_out_queues(struct node *n)
{
	for (uint32_t i = 0; i < n->n_ports; i++) {
		for (uint16_t q = 0; q < n->port[i]->n_rx_queues; q++) {
			struct rx_role *rx = &n->rx[n->deal.rx[i][q]];

			if (rx->n_queues == RTE_DIM(rx->queue))
				return -ENOSPC;
			n->rx_of_port[i] |= 1u << rx->index;
			rx->queue[rx->n_queues++] = (struct rx_queue){.port = n->port[i],
				.queue = q,
				.lanes = n->spread[i].n > 1 ? &n->spread[i] : NULL};
		}
	}
	return 0;
}

/*
 * Return the speed of a port in bit/s. Of a NIC, the speed of its link counts, because pause times are in its bit times;
 * virtual devices report some constant, so the configuration counts. While the link is down: what is known.
 */
static uint64_t port_speed(const struct node *n, uint32_t i)
{
	const struct cfg_port *config = &n->config->ports.items[i];
	struct port *p = n->port[i];
	struct port_details d = {0};

	if (p->ops->details)
		p->ops->details(p, &d);
	if (d.link_mbps && (cfg_device_is_pci(config->device) || !config->speed_bps))
		return d.link_mbps * 1000000ull;
	if (config->speed_bps)
		return config->speed_bps;
	if (n->snapshot && n->snapshot->port[i].speed_bps)
		return n->snapshot->port[i].speed_bps;
	return p->abilities.speed_mbps * 1000000ull;
}

static void port_infos(const struct node *n, struct snapshot_port_info *info)
{
	for (uint32_t i = 0; i < n->n_ports; i++)
		info[i] = (struct snapshot_port_info){.mac = n->port[i]->mac, .speed_bps = port_speed(n, i)};
}

static void tell_published(struct node *n)
{
	for (const struct control_service *const *s = n->services; *s; s++)
		if ((*s)->published)
			(*s)->published(n);
}

/* Circuits take frames to any MAC address. */
static void receive_all(const struct node *n)
{
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (n->port[i]->ops->receive_all)
			n->port[i]->ops->receive_all(n->port[i], n->snapshot->port[i].circuit != NULL);
}

int node_commit(struct node *n, char *err, size_t size)
{
	struct snapshot_port_info info[MAX_PORTS];
	struct snapshot *s;

	port_infos(n, info);
	deal_out_egresses(n);
	if (deal_out_queues(n) < 0)
		return text_fail(err, size, -ENOSPC, "more receive queues than %u an rx lcore: add rx lcores",
			(unsigned int)RTE_DIM(n->rx->queue));
	s = snapshot_build(&n->registry, n->config, info, NULL, err, size);
	if (!s)
		return -EINVAL;
	node_publish(n, s, n->config);
	tell_published(n);
	receive_all(n);
	return 0;
}

struct held {
	const struct node_reload *how;
	bool any;
};

static void say_held(void *arg, const char *text)
{
	struct held *held = arg;

	held->any = true;
	if (held->how->held)
		held->how->held(held->how->arg, text);
}

static bool is_held(const struct node *n, const struct snapshot *next, const struct node_reload *how)
{
	struct held held = {.how = how};

	for (const struct control_service *const *s = n->services; *s; s++)
		if ((*s)->held)
			(*s)->held(n, next, say_held, &held);
	return held.any;
}

int node_apply(struct node *n, struct config *config, char *err, size_t size)
{
	return node_reload(n, config, &(struct node_reload){.force = true}, err, size);
}

int node_reload(struct node *n, struct config *config, const struct node_reload *how, char *err, size_t size)
{
	struct snapshot_port_info info[MAX_PORTS];
	struct snapshot *s;
	bool held;

	node_reclaim(n);
	port_infos(n, info);
	s = snapshot_build(&n->registry, config, info, n->snapshot, err, size);
	if (!s)
		return -EINVAL;
	held = is_held(n, s, how);
	if (how->dry || (held && !how->force)) {
		snapshot_undo(&n->registry, s);
		return how->dry ? 0 : -EBUSY;
	}
	node_publish(n, s, config);
	tell_published(n);
	receive_all(n);
	return 0;
}

static void log_speed(const struct node *n, uint32_t i, uint64_t bps)
{
	uint64_t planned = n->config->ports.items[i].speed_bps;
	char is[24], was[24];

	text_format_number(bps, 1000, is, sizeof(is));
	text_format_number(planned, 1000, was, sizeof(was));
	if (planned && bps > planned)
		log_error(port,
			"%s: the link runs at %sbit/s, but buffers and headroom are planned for speed: %s; lossless "
			"packets can be lost; set speed to %s and restart",
			n->port[i]->name, is, was, is);
	else if (planned && bps < planned)
		log_warning(port, "%s: the link runs at %sbit/s, less than speed: %s", n->port[i]->name, is, was);
	else
		log_notice(port, "%s: the link runs at %sbit/s", n->port[i]->name, is);
}

int node_read_speeds(struct node *n, char *err, size_t size)
{
	bool changed = false;
	int rc = 0;

	for (uint32_t i = 0; i < n->n_ports; i++) {
		uint32_t link = port_link(n->port[i]);
		uint64_t bps;

		if (n->speed_read[i] == link || !(link & 1))
			continue;
		bps = port_speed(n, i);
		if (bps != n->snapshot->port[i].speed_bps) {
			changed = true;
			log_speed(n, i, bps);
		}
		n->speed_read[i] = link;
	}
	if (changed)
		rc = node_apply(n, n->config, err, size);
	if (rc < 0)
		memset(n->speed_read, 0, sizeof(n->speed_read)); /* try again */
	return rc < 0 ? rc : changed;
}

uint64_t node_announce_stop(struct node *n)
{
	uint64_t ns = 0, more;

	for (const struct control_service *const *s = n->services; *s; s++) {
		more = (*s)->stopping ? (*s)->stopping(n) : 0;
		ns = MAX_OF(ns, more);
	}
	return ns;
}

void node_set_receiving(struct node *n, bool on)
{
	for (uint16_t i = 0; i < n->n_rx; i++)
		__atomic_store_n(&n->rx[i].stopped, !on, __ATOMIC_RELAXED);
}

static void drain_mailboxes(struct node *n)
{
	struct rte_mbuf *m;

	for (struct mailbox *b = n->mailboxes.first; b; b = b->next)
		while (mailbox_has_packets(b) && mailbox_pop_packets(b, &m, 1) == 1)
			pkt_end(m, DROP_stopped, &b->to.lcore->stats);
}

static void drain_waiting(struct worker_role *w)
{
	for (uint32_t i = 0; i < w->neighs.n; i++) {
		struct neigh_entry *nb = &w->neighs.neigh[i];

		while (nb->used_id && nb->waiting.n)
			pkt_end(egress_neigh_pop(&w->ctx, nb), DROP_stopped, w->ctx.stats);
	}
}

/* The mailboxes are empty. */
static void drain_peers(struct worker_role *w)
{
	for (uint16_t i = 0; i < PEER_LANES * w->node->n_workers; i++) {
		struct peer_mail *p = &w->to_peer[i];

		if (i % w->node->n_workers == w->index)
			continue;
		if (p->stalled)
			pkt_end(p->stalled, DROP_stopped, w->ctx.stats);
		p->stalled = NULL;
		peer_release(w, p);
	}
}

void node_drain(struct node *n)
{
	struct rte_mbuf *m;

	drain_mailboxes(n);
	for (uint16_t i = 0; i < n->n_workers; i++)
		drain_peers(&n->worker[i]);
	for (uint16_t i = 0; i < n->n_rx; i++) {
		struct rx_role *rx = &n->rx[i];

		for (uint16_t w = 0; w < n->n_workers; w++)
			while (rx->park[w].n)
				pkt_end(rx->park[w].pkts[--rx->park[w].n], DROP_stopped, &rx->lcore->stats);
		rx->parked = 0;
		if (rx->to_rx)
			spread_release(rx);
		for (uint16_t q = 0; q < rx->n_queues; q++)
			while (backlog_take(rx, &rx->queue[q], &m, 1))
				pkt_end(m, DROP_stopped, &rx->lcore->stats);
	}
	for (uint16_t w = 0; w < n->n_workers; w++) {
		drain_waiting(&n->worker[w]);
		for (uint16_t i = 0; i < n->worker[w].n_egress; i++)
			egress_drain(n->worker[w].egress[i], &n->worker[w].ctx, DROP_stopped);
	}
}

static void free_roles(struct node *n)
{
	mailbox_close_all(&n->mailboxes);
	for (uint16_t i = 0; n->rx && i < n->n_rx; i++) {
		free(n->rx[i].classifier.sids);
		free(n->rx[i].to_rx);
		free(n->rx[i].from_rx);
	}
	for (uint16_t w = 0; n->worker && w < n->n_workers; w++) {
		neigh_table_fini(&n->worker[w].neighs);
		for (uint16_t i = 0; n->worker[w].to_peer && i < PEER_LANES * n->n_workers; i++)
			free(n->worker[w].to_peer[i].charge);
		free(n->worker[w].to_peer);
		free(n->worker[w].accounts);
	}
	for (const struct control_service *const *s = n->services; n->control && *s; s++)
		if ((*s)->fini)
			(*s)->fini(n->control);
	free(n->peers.left);
	free(n->rx);
	free(n->worker);
	free(n->control);
}

void node_free(struct node *n)
{
	if (!n)
		return;
	for (uint32_t i = 0; i < n->n_ports; i++)
		if (n->port[i])
			n->port[i]->ops->close(n->port[i]);
	capture_free(n->captures);
	node_trace_fini(n);
	free_roles(n);
	node_publish(n, NULL, NULL);
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		free(n->lcore[i]->tap.samples);
		free(n->lcore[i]->stats.path);
		free(n->lcore[i]);
	}
	free(n->cleared);
	free(n->before.sid);
	free(n->before.path);
	free(n->cleared_sids);
	free(n->cleared_paths);
	free(n->cleared_punts);
	snapshot_registry_fini(&n->registry);
	rte_free(n->qsbr);
	for (uint16_t i = 0; i < n->n_pools; i++)
		rte_mempool_free(n->pools[i]);
	free(n->egress_memory);
	free(n);
}
