/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NIC of a host: it receives, answers ARP and ND, obeys PFC, and decides what each of its one or two ports sends
 * next: first control frames (PFC, ARP), then replies (ACK, NAK, CNP) and queue pairs in turn, except those whose
 * priority is paused. The lab is single-threaded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/headroom.h"
#include "lab/host_priv.h"
#include "neigh/nd.h"
#include "wire/arp.h"
#include "wire/icmp.h"
#include "wire/ipv4.h"

/*
 * May the port send in this priority? What is committed to its pipeline leaves although it is paused. If it is paused,
 * *when is lowered to the end of the pause.
 */
static bool may_send(const struct host_port *p, unsigned int priority, uint64_t *when)
{
	uint64_t now = p->host->lab->now;

	if (p->paused_from[priority] > now || p->paused_until[priority] <= now || p->committed[priority])
		return true;
	*when = MIN_OF(*when, p->paused_until[priority]);
	return false;
}

/* Account for a frame that leaves during a pause. */
static void commit(struct host_port *p, unsigned int priority, uint32_t bytes)
{
	if (p->paused_from[priority] <= p->host->lab->now)
		p->committed[priority] -= MIN_OF(p->committed[priority], bytes);
}

/* The next ACK, NAK or CNP whose priority is not paused. */
static bool next_reply(struct host_port *p, struct host_control *c, uint64_t *when)
{
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++) {
		if (p->reply[i].n && may_send(p, i, when) && host_fifo_pop(&p->reply[i], c)) {
			commit(p, i, c->size);
			return true;
		}
	}
	return false;
}

/* The next queue pair whose priority is not paused. */
static struct lab_qp *next_ready(struct host_port *p, uint64_t *when)
{
	for (unsigned int i = 1; i <= PFC_PRIORITIES; i++) {
		unsigned int priority = (p->turn + i) % PFC_PRIORITIES;
		struct lab_qp *q = p->ready[priority].head;

		if (!q || !may_send(p, priority, when))
			continue;
		p->ready[priority].head = q->next_ready;
		q->ready = false;
		p->turn = priority;
		return q;
	}
	return NULL;
}

/* Send one frame. Returns the time when the next one may be sent; TIME_NEVER: there is none. */
static uint64_t send_next(struct host_port *p)
{
	struct lab *lab = p->host->lab;
	uint64_t when = TIME_NEVER;
	struct host_control c;
	struct lab_qp *q;

	if (signal_send(p))
		return lab->now;
	if (host_fifo_pop(&p->control, &c) || next_reply(p, &c, &when)) {
		host_send(p, c.bytes, c.size, c.size);
		return lab->now;
	}
	q = next_ready(p, &when);
	if (!q)
		return when;
	if (qp_may_send(q) && signal_may_send(q, qp_longest(q))) {
		commit(p, (unsigned int)q->flow->priority, (uint32_t)q->flow->mtu);
		qp_send(q, p);
	}
	return lab->now;
}

static void transmit(void *arg)
{
	struct host_port *p = arg;
	struct lab *lab = p->host->lab;
	uint64_t when;

	if (!p->up)
		return; /* lab_host_link retries it */
	if (line_free_at(p->way->line) > lab->now) {
		host_run_at(p, lab->now);
		return;
	}
	when = send_next(p);
	if (when != TIME_NEVER)
		host_run_at(p, when);
}

/* Move waiting queue pairs to their current port. */
void lab_host_link(struct lab_host *h, uint16_t port, bool up)
{
	h->port[port].up = up;
	for (uint16_t i = 0; i < h->n_ports; i++) {
		struct host_port *p = &h->port[i];

		for (unsigned int priority = 0; priority < PFC_PRIORITIES; priority++) {
			struct lab_qp *q = p->ready[priority].head;

			p->ready[priority].head = NULL;
			while (q) {
				struct lab_qp *next = q->next_ready;

				q->ready = false;
				host_ready(q);
				q = next;
			}
		}
		host_run_at(p, h->lab->now);
	}
}

/* Time of the current pause of a priority until now. */
static uint64_t paused_so_far(const struct host_port *p, unsigned int priority)
{
	uint64_t to = MIN_OF(p->paused_until[priority], p->host->lab->now);

	return to - MIN_OF(p->paused_from[priority], to);
}

static uint64_t response_ns(const struct host_port *p)
{
	uint64_t own = p->host->topo->response_ns;

	return own == TIME_NEVER ? headroom_response_ns(p->way->link->topo->rate_bps) : own;
}

/* A pause begins after the NIC's response, unless it continues another one; it ends at once. */
static void set_pause(struct host_port *p, unsigned int priority, uint16_t quanta)
{
	uint64_t now = p->host->lab->now, rate = p->way->link->topo->rate_bps;
	uint64_t until = now + (uint64_t)((double)quanta * PFC_QUANTUM_BITS * 1e9 / (double)rate);

	if ((p->paused_until[priority] > now) != (quanta > 0))
		lab_trigger(p->host->lab, quanta ? AFTER_PAUSED : AFTER_RESUMED, &p->way->link->end[p->way->from].place,
			priority);
	p->paused_ns[priority] += paused_so_far(p, priority);
	if (p->paused_until[priority] <= now) {
		p->paused_from[priority] = now + response_ns(p);
		p->committed[priority] = p->host->topo->pipeline;
	}
	p->paused_from[priority] = MAX_OF(p->paused_from[priority], now);
	p->paused_until[priority] = until;
	track_set(&p->host->tracks,
		&(struct track_id){TRACK_GATE, (uint8_t)p->index, TRACK_NO_INDEX, (uint8_t)priority}, now, until);
	host_run_at(p, until);
}

uint64_t host_paused_ns(const struct lab_host *h, unsigned int priority)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < h->n_ports; i++)
		sum += h->port[i].paused_ns[priority] + paused_so_far(&h->port[i], priority);
	return sum;
}

static void receive_pfc(struct host_port *p, const struct line_frame *f)
{
	const struct pfc_frame *pfc = (const struct pfc_frame *)f->bytes;

	if (f->captured < PFC_PARSED_BYTES || be16_get(pfc->opcode) != MAC_CONTROL_PFC) {
		p->host->stats.stray++;
		return;
	}
	p->host->stats.pauses_received++;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (pfc->enable >> i & 1 && p->host->pfc_mask >> i & 1)
			set_pause(p, i, be16_get(pfc->time[i]));
}

static bool is_own(const struct lab_host *h, const struct ip_addr *a)
{
	for (uint32_t i = 0; i < h->topo->addresses.n; i++)
		if (ip_addr_equal(&h->topo->addresses.items[i].addr, a))
			return true;
	return false;
}

static bool answer_arp(struct host_port *p, const struct line_frame *f)
{
	struct nd_message m;
	uint8_t out[ETH_MIN_LEN] = {0};
	struct eth_hdr *eth = (struct eth_hdr *)out;

	if (arp_parse(f->bytes + sizeof(*eth), f->captured - sizeof(*eth), &m) < 0 || m.kind != ND_SOLICIT ||
		!is_own(p->host, &m.target) || !m.sender.family)
		return false;
	eth->dst = m.mac;
	eth->src = p->mac;
	eth->type = be16(ETH_TYPE_ARP);
	arp_write(eth + 1, ARP_OP_REPLY, &p->mac, ip_addr_v4(&m.target), &m.mac, ip_addr_v4(&m.sender));
	host_queue_control(p, out, sizeof(out));
	return true;
}

static bool answer_nd(struct host_port *p, const struct line_frame *f)
{
	struct nd_message m;
	uint8_t out[sizeof(struct eth_hdr) + ND_MESSAGE_MAX];
	struct eth_hdr *eth = (struct eth_hdr *)out;
	size_t size;

	if (nd_parse(f->bytes + sizeof(*eth), f->captured - sizeof(*eth), &m) < 0 || m.kind != ND_SOLICIT ||
		!is_own(p->host, &m.target) || !m.sender.family)
		return false;
	eth->dst = m.has_mac ? m.mac : p->peer;
	eth->src = p->mac;
	eth->type = be16(ETH_TYPE_IPV6);
	size = nd_write_advert(eth + 1, &m.target.v6, &m.sender.v6, &m.target.v6, &p->mac, true);
	host_queue_control(p, out, (uint16_t)(sizeof(*eth) + size));
	return true;
}

/* ARP, ND and ICMP: frames for the kernel of a host. */
static bool take_other(struct host_port *p, const struct line_frame *f)
{
	const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
	bool answered = false;

	if (be16_get(eth->type) == ETH_TYPE_ARP) {
		answered = answer_arp(p, f);
	} else if (signal_receive(p->host, f)) {
		return true;
	} else if (be16_get(eth->type) == ETH_TYPE_IPV6 && f->captured >= sizeof(*eth) + 48 &&
		   f->bytes[sizeof(*eth) + 6] == IP_PROTO_ICMP6) {
		answered = answer_nd(p, f);
		p->host->stats.icmp += !answered;
		return true;
	} else if (be16_get(eth->type) == ETH_TYPE_IPV4 && f->captured >= sizeof(*eth) + 28 &&
		   f->bytes[sizeof(*eth) + 9] == IP_PROTO_ICMP) {
		p->host->stats.icmp++;
		return true;
	}
	p->host->stats.answered += answered;
	return answered;
}

/* bytes: of the IP packet */
static void take_roce(struct host_port *p, const struct frame_roce *r, uint32_t bytes)
{
	struct lab *lab = p->host->lab;
	uint32_t number = be32_get(r->bth->qp) & ROCE_PSN_MASK;
	uint32_t index = number & ~HOST_QP_SENDER;
	struct lab_qp *q = index < lab->n_qps ? lab->qp[index] : NULL;
	bool to_sender = number & HOST_QP_SENDER;

	if (!q || p->host != (to_sender ? q->from : q->to)) {
		p->host->stats.stray++;
		if (q && !to_sender && r->mark)
			lab_lost_data(lab, p->host->topo->name, "delivered to another host", BLAME_NODE, q);
	} else if (!to_sender && r->mark) {
		signal_arrived(p->host, q->flow->priority, q->flow->family, bytes,
			p->host->topo->sink.drain_bps ? r->payload : 0);
		qp_data(q, p, r->bth, r->mark, r->payload, r->congestion);
	} else if (to_sender && r->bth->opcode == ROCE_RC_ACK) {
		signal_arrived(p->host, q->flow->priority, q->flow->family, bytes, 0);
		qp_ack(q, r->bth, r->aeth);
	} else if (to_sender && r->bth->opcode == ROCE_CNP) {
		signal_arrived(p->host, q->flow->cnp_priority, q->flow->family, bytes, 0);
		qp_cnp(q);
	} else {
		p->host->stats.stray++;
	}
}

void lab_host_receive(struct lab_host *h, struct lab_end *end, const struct line_frame *f)
{
	struct host_port *p = &h->port[end->port];
	const struct eth_hdr *eth = (const struct eth_hdr *)f->bytes;
	static const struct eth_addr flow_control = MAC_CONTROL_DA;
	struct frame_roce roce;

	if (h->lab->capture && !f->corrupt)
		lab_captured(h->lab, &end->place, false, f->bytes, f->captured, f->length);
	h->stats.received++;
	h->stats.received_bytes += f->length;
	if (f->corrupt || f->captured < sizeof(*eth)) {
		h->stats.fcs++;
	} else if (be16_get(eth->type) == ETH_TYPE_MAC_CONTROL && eth_equal(&eth->dst, &flow_control)) {
		receive_pfc(p, f);
	} else if (!eth_is_multicast(&eth->dst) && !eth_equal(&eth->dst, &p->mac)) {
		h->stats.stray++;
		lab_lost(h->lab, h->topo->name, "for the MAC address of another station",
			h->lab->flips ? BLAME_LINK : BLAME_NODE, f->bytes, f->captured);
	} else if (frame_parse(h, f, &roce)) {
		take_roce(p, &roce, f->length - (uint32_t)sizeof(*eth));
	} else if (!take_other(p, f)) {
		h->stats.check++;
		lab_lost(h->lab, h->topo->name, "ICRC or header error", BLAME_LINK, f->bytes, f->captured);
	}
}

static struct eth_addr host_mac(const struct lab *lab, uint32_t host, uint16_t port)
{
	struct eth_addr mac = lab->topo->hosts.items[host].mac;

	if (eth_is_zero(&mac))
		mac = (struct eth_addr){{0x02, 0x48, 0, (uint8_t)(host >> 8), (uint8_t)host, 0}};
	mac.b[5] = (uint8_t)(mac.b[5] + port);
	return mac;
}

static void init_port(struct lab_host *h, uint16_t index, struct lab_way *w, const struct lab_end *peer)
{
	struct host_port *p = &h->port[index];

	p->host = h;
	p->index = index;
	p->way = w;
	p->up = true;
	p->mac = host_mac(h->lab, h->index, index);
	p->peer = peer->place.node >= 0 ? lab_node_mac(h->lab, (uint32_t)peer->place.node, peer->port)
					: host_mac(h->lab, (uint32_t)peer->place.host, peer->port);
	event_init(&p->tx, transmit, p, "transmit", h->topo->name);
	h->n_ports = (uint16_t)MAX_OF(h->n_ports, index + 1);
}

static void plug_in(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_links; i++) {
		struct lab_link *l = &lab->link[i];

		for (int s = 0; s < 2; s++) {
			if (l->end[s].place.host < 0)
				continue;
			l->end[s].host = &lab->host[l->end[s].place.host];
			l->end[s].timeline = &l->end[s].host->timeline;
			init_port(l->end[s].host, l->end[s].port, &l->way[s], &l->end[!s]);
			lab->relaxed_order |= l->end[s].host->n_ports > 1 && lab->n_failures;
		}
	}
}

static int init_qps(struct lab *lab)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < lab->topo->flows.n; i++)
		n += (uint32_t)lab->topo->flows.items[i].queue_pairs;
	lab->qp = calloc(n + 1, sizeof(struct lab_qp *));
	for (uint32_t i = 0; lab->qp && i < lab->topo->flows.n; i++) {
		const struct topo_flow *f = &lab->topo->flows.items[i];

		for (uint32_t k = 0; k < f->queue_pairs; k++) {
			struct lab_qp *q = calloc(1, sizeof(*q));

			if (!q)
				return -ENOMEM;
			lab->qp[lab->n_qps] = q;
			for (uint32_t h = 0; h < lab->n_hosts; h++) {
				q->from = strcmp(lab->host[h].topo->name, f->from) == 0 ? &lab->host[h] : q->from;
				q->to = strcmp(lab->host[h].topo->name, f->to) == 0 ? &lab->host[h] : q->to;
			}
			if (qp_init(lab, q, lab->n_qps++, f, k) < 0)
				return -ENOMEM;
		}
	}
	return lab->qp ? 0 : -ENOMEM;
}

int lab_hosts_init(struct lab *lab, char *err, size_t size)
{
	lab->n_hosts = lab->topo->hosts.n;
	lab->host = calloc(lab->n_hosts + 1, sizeof(*lab->host));
	if (!lab->host)
		goto fail;
	for (uint32_t i = 0; i < lab->n_hosts; i++) {
		struct lab_host *h = &lab->host[i];

		h->lab = lab;
		h->index = i;
		h->topo = &lab->topo->hosts.items[i];
		timeline_init(&h->timeline, &lab->turns, h->topo->name);
		h->timeline.host = h;
		for (uint32_t k = 0; k < h->topo->pfc.n; k++)
			h->pfc_mask = (uint8_t)(h->pfc_mask | 1u << h->topo->pfc.items[k]);
		sink_init(h);
	}
	plug_in(lab);
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		if (inject_init(&lab->host[i]) < 0 || signal_init(&lab->host[i]) < 0)
			goto fail;
	if (init_qps(lab) == 0)
		return 0;
fail:
	snprintf(err, size, "out of memory");
	return -ENOMEM;
}

void lab_hosts_stop(struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_qps; i++)
		qp_stop(lab->qp[i]);
	for (uint32_t i = 0; i < lab->n_hosts; i++)
		signal_stop(&lab->host[i]);
}

bool lab_hosts_idle(const struct lab *lab)
{
	for (uint32_t i = 0; i < lab->n_qps; i++)
		if (!qp_idle(lab->qp[i]))
			return false;
	return true;
}

uint64_t lab_hosts_lost(const struct lab *lab)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < lab->n_hosts; i++)
		n += lab->host[i].stats.overflow + lab->host[i].stats.fcs + lab->host[i].stats.check;
	return n;
}

void lab_hosts_fini(struct lab *lab)
{
	for (uint32_t i = 0; lab->qp && i < lab->n_qps; i++) {
		repeat_fini(lab->qp[i]);
		free(lab->qp[i]);
	}
	free(lab->qp);
	for (uint32_t i = 0; lab->host && i < lab->n_hosts; i++) {
		for (uint16_t p = 0; p < TOPO_HOST_PORTS; p++) {
			free(lab->host[i].port[p].control.item);
			for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
				free(lab->host[i].port[p].reply[k].item);
		}
		free(lab->host[i].injection);
		signal_fini(&lab->host[i]);
		tracks_fini(&lab->host[i].tracks);
		timeline_fini(&lab->host[i].timeline);
	}
	free(lab->host);
}
