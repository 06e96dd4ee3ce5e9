/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC on Ethernet ports: frames of neighbours are received, and neighbours are paused and resumed. Rx and worker
 * lcores.
 */
#include "service/pfc/service_pfc.h"

#include "node/service.h"

#define MESSAGES_A_PASS 64
#define START_BPS 10000000000ull /* of a port whose speed is not known yet */
#define LOOK_AGAIN_NS 1000	 /* other workers may release the buffers that keep a sender paused */

/* --- frames received --- */

static uint64_t pfc_mac_word(const struct eth_addr *mac)
{
	uint64_t word = 0;

	memcpy(&word, mac, sizeof(*mac));
	return word;
}

static bool pfc_may_pause(const struct node *n, const struct snap_interface *p, uint16_t port,
	const struct eth_addr *from)
{
	uint64_t word = pfc_mac_word(from);

	for (unsigned int i = 0; i < p->n_pfc_peers; i++)
		if (eth_equal(&p->pfc_peer[i], from))
			return true;
	for (unsigned int i = 0; p->pfc_learn && i < NODE_PFC_PEERS; i++)
		if (__atomic_load_n(&service_pfc(n)->peers[port].mac[i], __ATOMIC_RELAXED) == word)
			return true;
	return false;
}

void service_pfc_learn(struct node *n, uint16_t port, const struct eth_addr *mac)
{
	struct service_pfc_peers *t = &service_pfc(n)->peers[port];
	uint64_t word = pfc_mac_word(mac);

	for (unsigned int i = 0; i < NODE_PFC_PEERS; i++)
		if (t->mac[i] == word)
			return;
	__atomic_store_n(&t->mac[t->next++ % NODE_PFC_PEERS], word, __ATOMIC_RELAXED);
}

static void pfc_take(struct worker_role *w, const struct service_pfc_message *message)
{
	struct egress *e = &w->node->egress[message->port];
	struct service_pfc_port *port = &service_pfc(w->node)->port[message->port];
	const struct snap_interface *p = &w->ctx.s->port[message->port];
	struct pfc_request request = message->request;
	struct pfc_pause pause;

	if (request.enable & ~p->lossless)
		stat_add(&port->ignored, 1);
	request.enable &= p->lossless;
	stat_add(&port->frames, 1);
	if (!request.enable || !p->speed_bps)
		return;
	pause = pfc_pause_of(&request, p->speed_bps, 0);
	if (!egress_pause(e, &w->ctx, &message->party, message->slice, &pause)) {
		stat_add(&port->refused, 1);
		return;
	}
	FOR_EACH_BIT(i, request.enable) {
		stat_add(request.time[i] ? &port->xoff[i] : &port->xon[i], 1);
		pfc_history_set(&port->heard[i], request.time[i] ? w->ctx.now + pause.ns[i] : 0, w->ctx.now);
	}
}

/* Send a message to the owner of message->port. Returns false when the mailbox is full. Caller: an rx role. */
static bool pfc_send_to_owner(struct rx_role *rx, const struct service_pfc_message *message)
{
	uint16_t owner = rx->node->owner[message->port];
	struct worker_role *w = &rx->node->worker[owner];

	if (w->lcore != rx->lcore)
		return mailbox_push(&service_pfc_rx(rx)->to_worker[owner], message, sizeof(*message));
	w->ctx.now = rx->classifier.now;
	worker_refresh(w);
	pfc_take(w, message);
	return true;
}

/*
 * May a port send another message to the owner of the port? Each may send what a neighbour has to say. More passes while
 * less than half of the mailbox is used, so that a neighbour that says too much delays no other one.
 */
static bool pfc_has_share(struct rx_role *rx, const struct service_pfc_message *message)
{
	const struct mailbox *b = &service_pfc_rx(rx)->to_worker[rx->node->owner[message->port]];
	bool within = bucket_take(&service_pfc_rx(rx)->link[message->port], rx->classifier.now, NODE_PFC_RATE,
		MAX_OF(NODE_PFC_MESSAGES / 2 / rx->node->n_ports, 8));

	return within || !b->ring || mailbox_room(b) > NODE_PFC_MESSAGES / 2;
}

/* Handle a frame of PUNT_PFC. True: consumed. False: it has become PUNT_PFC_RELAY, for the control role. */
static bool pfc_receive_link(struct rx_role *rx, struct rte_mbuf *m)
{
	static const enum reason reasons[] = {[PFC_LEGAL] = CONSUME_pfc,
		[PFC_SHORT] = DROP_pfc_short,
		[PFC_BAD_DA] = DROP_pfc_bad_da,
		[PFC_BAD_TYPE] = DROP_mac_control,
		[PFC_IS_PAUSE] = DROP_pause_frame,
		[PFC_BAD_OPCODE] = DROP_pfc_bad_opcode,
		[PFC_BAD_ENABLE] = DROP_pfc_bad_cev};
	const struct snap_interface *p = &rx->classifier.s->port[m->port];
	const struct eth_hdr *eth = rte_pktmbuf_mtod(m, const struct eth_hdr *);
	struct service_pfc_message message = {.party = {.sid = PFC_SID_LINK},
		.port = (uint8_t)m->port,
		.slice = PFC_ALL_SLICES};
	enum pfc_fault fault = pfc_read(eth, m->data_len, p->pfc_pass, &message.request);
	enum reason reason = reasons[fault];

	if (fault == PFC_LEGAL && !pfc_may_pause(rx->node, p, m->port, &eth->src))
		reason = DROP_pfc_bad_peer;
	else if (fault == PFC_LEGAL && eth_equal(&eth->src, &p->mac))
		reason = DROP_mac_source; /* our own frame: never into a tunnel (docs/protocol.md 5.5) */
	else if (fault == PFC_LEGAL && message.request.enable && (!p->pfc_relayed || p->pfc_obeyed) &&
		 !(pfc_has_share(rx, &message) && pfc_send_to_owner(rx, &message)))
		reason = DROP_pfc_busy;
	if (reason == CONSUME_pfc && p->pfc_relayed && message.request.enable) {
		pkt_of(m)->punt = PUNT_PFC_RELAY;
		return false;
	}
	pkt_end(m, reason, &rx->lcore->stats);
	return true;
}

/*
 * Handle PFC out of a tunnel. A source that may not pause these queues ends here, so that it does not use up the limit of
 * those that may. True: consumed.
 */
static bool pfc_receive_tunnelled(struct rx_role *rx, struct rte_mbuf *m)
{
	const struct snap_pfc_sid *sid = rx->classifier.s->sid[pkt_of(m)->sid].pfc;
	const struct ipv6_hdr *ip = (const struct ipv6_hdr *)(rte_pktmbuf_mtod(m, const uint8_t *) + pkt_of(m)->srh);

	if (!sid || snap_is_allowed(sid->allowed, sid->n_allowed, &ip->src))
		return false;
	pkt_end(m, DROP_pfc_bad_peer, &rx->lcore->stats);
	return true;
}

static bool pfc_receive(struct rx_role *rx, struct rte_mbuf *m)
{
	return pkt_of(m)->punt == PUNT_PFC ? pfc_receive_link(rx, m) : pfc_receive_tunnelled(rx, m);
}

static unsigned int pfc_read_heard(struct worker_role *w)
{
	struct service_pfc_message m[MESSAGES_A_PASS];
	unsigned int work = 0;

	for (uint16_t i = 0; i < w->node->n_rx; i++) {
		unsigned int n = mailbox_pop(&service_pfc(w->node)->rx[i].to_worker[w->index], m, sizeof(m[0]),
			MESSAGES_A_PASS);

		for (unsigned int k = 0; k < n; k++)
			pfc_take(w, &m[k]);
		work += n;
	}
	return work;
}

/*
 * A neighbour that pauses without end is broken. If the action of the watchdog is drop, the packets of the neighbour
 * are dropped too, because they would fill the buffers of their class. Returns the number of packets left.
 */
static unsigned int pfc_drop_storming(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	uint8_t storming = __atomic_load_n(&rx->node->storming[port], __ATOMIC_RELAXED);
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct pkt *x = pkt_of(pkts[i]);

		if (x->verdict == PKT_FORWARD && x->tclass != PKT_CLASS_CONTROL && storming >> x->priority & 1) {
			stat_add(&service_pfc_rx(rx)->storm_dropped[port][x->priority], 1);
			pkt_end(pkts[i], DROP_pfc_storm, &rx->lcore->stats);
		} else {
			pkts[kept++] = pkts[i];
		}
	}
	return kept;
}

static unsigned int pfc_examine(struct rx_role *rx, struct rte_mbuf **pkts, unsigned int n, uint16_t port)
{
	if (rx->classifier.s->port[port].pfc_shares)
		service_learn(rx, pkts, n, port);
	if (__atomic_load_n(&rx->node->storming[port], __ATOMIC_RELAXED))
		n = pfc_drop_storming(rx, pkts, n, port);
	return n;
}

const struct rx_hooks pfc_rx_hooks = {.takes = SERVICE_TAKES(PUNT_PFC) | SERVICE_TAKES(PUNT_PFC_TUNNEL),
	.take = pfc_receive,
	.examine = pfc_examine};

/* --- frames sent --- */

struct pfc_threshold service_pfc_level(const struct node *n, uint16_t port, unsigned int class)
{
	struct account_level level = {0};

	for (uint16_t i = 0; i < n->n_rx; i++)
		if (n->rx_of_port[port] >> i & 1)
			account_add(&n->rx[i].waiting[port][class], &level);
	for (uint16_t w = 0; w < n->n_workers; w++)
		account_add(&n->worker[w].accounts->total[port][class], &level);
	return (struct pfc_threshold){level.bytes, level.buffers};
}

/* What the workers hold of each slice; returns the rest of `total`, which belongs to no slice yet. */
static struct pfc_threshold pfc_levels_of_slices(const struct node *n, uint16_t port, unsigned int class,
	unsigned int slices, const struct pfc_threshold *total, struct pfc_threshold *out)
{
	struct pfc_threshold sum = {0, 0};

	for (unsigned int i = 0; i < slices; i++) {
		struct account_level level = {0};

		for (uint16_t w = 0; w < n->n_workers; w++)
			account_add(&n->worker[w].accounts->slice[port][i][class], &level);
		out[i] = (struct pfc_threshold){level.bytes, level.buffers};
		sum.bytes += level.bytes;
		sum.buffers += level.buffers;
	}
	return (struct pfc_threshold){total->bytes - MIN_OF(total->bytes, sum.bytes),
		total->buffers - MIN_OF(total->buffers, sum.buffers)};
}

/* Which slices of a class must stop. Below XOFF none does, so that an idle class costs nothing. */
static __attribute__((noinline)) bool pfc_look_at_slices(struct worker_role *w, uint16_t port, unsigned int class,
	const struct pfc_threshold *total)
{
	struct pfc_slices *s = &service_pfc(w->node)->slices[port][class];
	const struct snap_interface *p = &w->ctx.s->port[port];
	struct pfc_threshold level[PFC_SLICES_MAX], rest;

	rest = pfc_levels_of_slices(w->node, port, class, w->ctx.s->n_slices, total, level);
	return pfc_slices_look(s, &p->buffer, level, w->ctx.s->n_slices, &rest);
}

/* Return the number of shared buffers that classes with alpha do not hold. */
static uint64_t pfc_shared_left(const struct worker_role *w)
{
	uint64_t held = 0, all = w->ctx.s->shared_buffers;

	for (uint16_t i = 0; all && i < w->node->n_workers; i++)
		held += stat_read(&service_pfc(w->node)->worker[i].shared_held);
	return all > held ? all - held : 0;
}

static struct rte_mbuf *pfc_new_frame(struct worker_role *w, uint16_t port, const struct pfc_request *request)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->node->pool);
	struct pkt *x;

	if (!m)
		return NULL;
	x = pkt_of(m);
	memset(x, 0, sizeof(*x));
	x->verdict = PKT_FORWARD;
	x->family = PKT_FRAME;
	x->neigh = PKT_NEIGH_LINK + port;
	x->egress = (uint8_t)port;
	x->tclass = PKT_CLASS_CONTROL;
	x->epoch = (uint16_t)w->ctx.s->epoch;
	x->sid = PKT_SID_NONE;
	x->l3_bytes = sizeof(struct pfc_frame);
	m->port = PORT_LOCAL;
	m->data_len = sizeof(struct pfc_frame);
	m->pkt_len = sizeof(struct pfc_frame);
	pfc_write(rte_pktmbuf_mtod(m, struct pfc_frame *), &w->ctx.s->port[port].mac, request);
	stat_add(&w->lcore->stats.port[PORT_LOCAL].originated, 1);
	return m;
}

static bool pfc_send_frame(struct worker_role *w, uint16_t port, const struct pfc_request *request)
{
	struct rte_mbuf *m = pfc_new_frame(w, port, request);

	if (!m) {
		stat_add(&service_pfc(w->node)->port[port].no_buffer, 1);
		return false;
	}
	egress_submit(&w->node->egress[port], &w->ctx, &m, 1);
	return true;
}

/* Replace XON for a class that a relay still pauses by the rest of the relay's pause. */
static struct pfc_request pfc_with_relayed(const struct service_pfc_port *own, const struct pfc_request *request,
	uint64_t bps, uint64_t now)
{
	struct pfc_request out = *request;

	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->enable >> i & 1 && !request->time[i] && own->relayed_until[i] > now)
			out.time[i] = pfc_ns_quanta(own->relayed_until[i] - now, bps);
	return out;
}

/*
 * Frames that were sent shortly before the link failed, or while it was down, have not arrived. When it is up again, the
 * neighbour is told the state of every class first.
 */
static void pfc_look_at_link(struct worker_role *w, uint16_t port)
{
	struct service_pfc_port *own = &service_pfc(w->node)->port[port];
	const struct snap_interface *p = &w->ctx.s->port[port];
	uint32_t link = port_link(w->node->port[port]);

	if (likely(own->link == link))
		return;
	own->link = link;
	own->speaker.fresh = p->pfc_tunnelled ? 0 : p->lossless;
}

static void pfc_speak(struct worker_role *w, uint16_t port, uint8_t stopped)
{
	struct service_pfc_port *own = &service_pfc(w->node)->port[port];
	uint64_t bps = w->ctx.s->port[port].speed_bps;
	struct pfc_request request, merged;

	if (!port_is_up(w->node->port[port]) || !pfc_speaker_want(&own->speaker, stopped, bps, w->ctx.now, &request))
		return;
	merged = pfc_with_relayed(own, &request, bps, w->ctx.now);
	if (pfc_send_frame(w, port, &merged))
		pfc_speaker_said(&own->speaker, &request, bps, w->ctx.now);
}

/*
 * Send a request of a relay to the gateway of a port. The gateway cannot distinguish frames of the relay from frames
 * about the port's own buffers, so neither may end a pause of the other. The relay's request for a class is omitted
 * while the own buffers pause it, and XON of the own buffers carries the rest of a relay's pause.
 */
static void pfc_relay(struct worker_role *w, uint16_t port, const struct pfc_request *request)
{
	struct service_pfc_port *own = &service_pfc(w->node)->port[port];
	uint64_t bps = w->ctx.s->port[port].speed_bps;
	struct pfc_request out = *request;

	if (!bps)
		return;
	for (unsigned int i = 0; i < PFC_PRIORITIES; i++)
		if (request->enable >> i & 1)
			own->relayed_until[i] = request->time[i] ? w->ctx.now + pfc_quanta_ns(request->time[i], bps)
								 : 0;
	out.enable &= (uint8_t)~own->speaker.stopped;
	if (out.enable && port_is_up(w->node->port[port]))
		pfc_send_frame(w, port, &out);
}

/* A frame was executed at an End.X.PFC SID: count it, and record until when SIDs pause the port. */
static void pfc_record_sid(struct worker_role *w, const struct pfc_message *m)
{
	struct service_pfc_port *port = &service_pfc(w->node)->port[m->port];

	FOR_EACH_BIT(i, m->pause.enable) {
		stat_add(m->pause.ns[i] ? &port->sid_xoff[i] : &port->sid_xon[i], 1);
		pfc_history_set(&port->sid[i], pfc_holds_of_sids(&w->node->egress[m->port].holds, i), w->ctx.now);
	}
}

/* A party may pause the queues of a port, or resume them. It has been heard, so after a start nobody waits for it. */
static void pfc_pause_queues(struct worker_role *w, const struct pfc_message *m)
{
	static const struct pfc_party start = {.sid = PFC_SID_START};
	const struct pfc_pause spoken = {.enable = m->pause.enable};
	struct egress *e = &w->node->egress[m->port];

	if (!egress_pause(e, &w->ctx, &m->party, m->slice, &m->pause))
		stat_add(&w->ctx.stats->pfc_refused, 1);
	else if (m->party.sid < PFC_SID_START)
		pfc_record_sid(w, m);
	if (likely(w->ctx.now >= service_pfc(w->node)->port[m->port].start_until))
		return;
	egress_pause(e, &w->ctx, &start, m->slice, &spoken);
	egress_pause(e, &w->ctx, &start, PFC_ALL_SLICES, &spoken);
}

/* Apply pauses and resumes that the control lcore has accepted. */
static unsigned int pfc_read_pauses(struct worker_role *w)
{
	struct pfc_message m[8];
	unsigned int n = mailbox_pop(&service_pfc_worker(w)->pauses, m, sizeof(m[0]), 8);

	for (unsigned int i = 0; i < n; i++) {
		switch ((enum pfc_message_kind)m[i].kind) {
		case PFC_PAUSE_QUEUES:
			pfc_pause_queues(w, &m[i]);
			break;
		case PFC_TELL_NEIGHBOUR:
			pfc_relay(w, m[i].port, &m[i].request);
			break;
		}
	}
	return n;
}

static unsigned int pfc_read_messages(struct worker_role *w)
{
	return pfc_read_heard(w) + pfc_read_pauses(w);
}

/* Check the levels of the lossless classes of a port. Buffers of classes with alpha are added to *held. */
static void pfc_look_at(struct worker_role *w, uint16_t port, uint64_t left, uint64_t *held)
{
	const struct snap_interface *p = &w->ctx.s->port[port];
	struct service_pfc_port *own = &service_pfc(w->node)->port[port];
	const struct pfc_slices *slices = service_pfc(w->node)->slices[port];
	uint8_t stopped = 0, urgent = 0, exhausted = 0;
	bool turned = false;

	FOR_EACH_BIT(i, p->lossless) {
		struct pfc_buffer *b = &own->buffer[i];
		struct pfc_threshold level = service_pfc_level(w->node, port, i);

		if (!(own->looked >> i & 1) || p->buffer.alpha || level.bytes != b->level.bytes ||
			level.buffers != b->level.buffers) {
			pfc_buffer_look(b, &p->buffer, &level, left);
			own->looked = (uint8_t)(own->looked | 1u << i);
		}
		if (unlikely(p->pfc_tunnelled && (b->stopped || pfc_slices_any(&slices[i]))))
			turned |= pfc_look_at_slices(w, port, i, &level);
		stopped = (uint8_t)(stopped | (b->stopped || pfc_slices_any(&slices[i])) << i);
		urgent = (uint8_t)(urgent | (b->urgent || slices[i].all) << i);
		exhausted = (uint8_t)(exhausted | b->exhausted << i);
		*held += p->buffer.alpha ? level.buffers : 0;
	}
	__atomic_store_n(&w->node->exhausted[port], exhausted, __ATOMIC_RELAXED);
	if (unlikely(turned || own->stopped != stopped || own->urgent != urgent)) {
		__atomic_store_n(&own->stopped, stopped, __ATOMIC_RELAXED);
		__atomic_store_n(&own->urgent, urgent, __ATOMIC_RELAXED);
		__atomic_store_n(&own->turns, own->turns + 1, __ATOMIC_RELEASE);
	}
	pfc_look_at_link(w, port);
	pfc_speak(w, port, p->pfc_tunnelled ? 0 : stopped);
}

static void pfc_clear_watermarks(struct worker_role *w)
{
	uint32_t epoch = __atomic_load_n(&w->node->watermark_epoch, __ATOMIC_ACQUIRE);
	uint32_t ever = __atomic_load_n(&w->node->persistent_epoch, __ATOMIC_RELAXED);
	bool persistent = ever != w->persistent_epoch;

	w->watermark_epoch = epoch;
	w->persistent_epoch = ever;
	for (uint16_t i = 0; i < w->n_egress; i++) {
		egress_clear_watermarks(w->egress[i], persistent);
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			pfc_buffer_clear(&service_pfc(w->node)->port[w->egress[i]->index].buffer[k], persistent);
		service_pfc(w->node)->port[w->egress[i]->index].looked = 0;
	}
}

static void pfc_look(struct worker_role *w)
{
	uint64_t left, held = 0;

	if (unlikely(__atomic_load_n(&w->node->watermark_epoch, __ATOMIC_RELAXED) != w->watermark_epoch))
		pfc_clear_watermarks(w);
	if (likely(!service_pfc_worker(w)->n_lossless))
		return;
	left = pfc_shared_left(w);
	for (uint16_t i = 0; i < w->n_egress; i++) {
		uint16_t port = w->egress[i]->index;

		if (w->ctx.s->port[port].lossless | service_pfc(w->node)->port[port].speaker.stopped)
			pfc_look_at(w, port, left, &held);
	}
	__atomic_store_n(&service_pfc_worker(w)->shared_held, held, __ATOMIC_RELAXED);
}

static uint64_t pfc_next_look(const struct worker_role *w, bool worked)
{
	uint64_t next = TIME_NEVER;

	for (uint16_t i = 0; service_pfc_worker(w)->n_lossless && i < w->n_egress; i++) {
		uint16_t port = w->egress[i]->index;
		const struct service_pfc_port *own = &service_pfc(w->node)->port[port];
		const struct pfc_speaker *s = &own->speaker;

		if (!(s->stopped | own->stopped))
			continue;
		if (s->stopped && port_is_up(w->node->port[port]))
			next = MIN_OF(next, pfc_speaker_next(s, w->ctx.s->port[port].speed_bps));
		if (worked || w->node->n_workers > 1)
			next = MIN_OF(next, w->ctx.now + (worked ? 0 : LOOK_AGAIN_NS));
	}
	return next;
}

/*
 * At the start there is nothing to say, for what a node before this one has said ends by itself; except to a gateway that
 * far PEs may pause: it is stopped until the control lcore knows.
 */
static void pfc_start(struct worker_role *w, uint16_t port)
{
	struct service_pfc_port *own = &service_pfc(w->node)->port[port];
	const struct snap_interface *p = &w->ctx.s->port[port];

	own->link = port_link(w->node->port[port]);
	if (w->node->steady || !p->pfc_regenerated || !p->speed_bps)
		return;
	own->speaker.fresh = p->lossless;
	FOR_EACH_BIT(i, p->lossless)
		own->relayed_until[i] = w->ctx.now + pfc_quanta_ns(PFC_QUANTA_MAX, p->speed_bps);
}

static bool pfc_sid_pauses(const struct snap_sid *sid, uint16_t port)
{
	return sid->used && sid->pfc && sid->pfc->ports >> port & 1;
}

/* How long a pause can be in force behind the SIDs of a port without a word; 0: not at all. */
static uint64_t pfc_start_ns(const struct snapshot *s, uint16_t port)
{
	uint64_t bps = s->port[port].speed_bps ? s->port[port].speed_bps : START_BPS, ns = 0;

	for (uint32_t id = 0; id < s->n_sids; id++)
		if (pfc_sid_pauses(&s->sid[id], port) && s->sid[id].pfc->outage_ns)
			ns = MAX_OF(ns, pfc_quanta_ns(PFC_QUANTA_MAX, bps) + s->sid[id].pfc->jitter_ns +
						s->sid[id].pfc->outage_ns);
	return ns;
}

/*
 * Nor does a node that starts know which of its queues far nodes pause through End.X.PFC: lossless classes wait there
 * until it has heard of them, or for as long as a pause can be in force without a word.
 */
static void pfc_start_queues(struct worker_role *w, uint16_t port)
{
	static const struct pfc_party start = {.sid = PFC_SID_START};
	const struct snapshot *s = w->ctx.s;
	uint64_t ns = w->node->steady ? 0 : pfc_start_ns(s, port);
	struct pfc_pause pause = {.enable = 0};

	for (uint16_t i = 0; i < s->n_ports; i++)
		pause.enable |= s->port[i].lossless;
	FOR_EACH_BIT(i, pause.enable)
		pause.ns[i] = ns;
	for (uint32_t id = 0; id < s->n_sids && ns; id++)
		if (pfc_sid_pauses(&s->sid[id], port) && s->sid[id].pfc->outage_ns)
			egress_pause(&w->node->egress[port], &w->ctx, &start,
				s->sid[id].slice_by ? PFC_ALL_SLICES : s->sid[id].pfc->slice, &pause);
	service_pfc(w->node)->port[port].start_until = w->ctx.now + ns;
}

static void pfc_configure(struct worker_role *w)
{
	service_pfc_worker(w)->n_lossless = 0;
	for (uint16_t i = 0; i < w->n_egress; i++) {
		uint16_t port = w->egress[i]->index;
		uint8_t lossless = w->ctx.s->port[port].lossless;

		if (!service_pfc_worker(w)->configured) {
			pfc_start(w, port);
			pfc_start_queues(w, port);
		}
		service_pfc(w->node)->port[port].looked = 0;
		__atomic_store_n(&w->node->lossless[port], (uint16_t)(lossless | UINT8_MAX << PKT_GRANTED),
			__ATOMIC_RELAXED);
		/* A class that was lossless until this snapshot must still send XON to the neighbour. */
		service_pfc_worker(w)->n_lossless += lossless || service_pfc(w->node)->port[port].speaker.stopped;
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (!(lossless >> k & 1))
				service_pfc(w->node)->port[port].buffer[k].stopped =
					service_pfc(w->node)->port[port].buffer[k].exhausted = false;
		for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
			if (!w->ctx.s->port[port].pfc_tunnelled || !(lossless >> k & 1))
				pfc_slices_forget(&service_pfc(w->node)->slices[port][k]);
	}
	service_pfc_worker(w)->configured = true;
}

const struct worker_hooks pfc_worker_hooks = {.snapshot = pfc_configure,
	.read = pfc_read_messages,
	.look = pfc_look,
	.next = pfc_next_look};
