/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PFC tunnels of this node's own buffers (draft-ruan section 3): configured tunnels, tunnels learnt from the sightings
 * of rx roles, and the choice of the contributors to pause (docs/protocol.md 4.6, 5.7). Control lcore.
 */
#include "config/usid.h"
#include "service/pfc/pfc_cp.h"
#include "snapshot/pfc_outer.h"

#define SIGHTINGS_PASS 8		  /* of each rx role */
#define LOOP_MIN_NS (100 * NSEC_PER_USEC) /* a shorter loop only costs decisions */

/* Send a request into tunnel `id`, as a frame of the ingress port of its data. */
static void send_tunnel(void *arg, uint32_t id, const struct pfc_request *request)
{
	struct control_role *c = arg;
	const struct control_tunnel *t = &control_pfc(c)->tunnel[id];
	struct pfc_frame frame;

	pfc_write(&frame, &c->s->port[t->port].mac, request);
	control_pfc_send(c, &t->outer, &frame);
}

/* --- contributors --- */

static bool is_party(const struct control_party *p, uint8_t slice, const struct ipv6_addr *source)
{
	return p->used && p->slice == slice && p->has_source == (source != NULL) &&
	       (!source || memcmp(&p->source, source, sizeof(*source)) == 0);
}

/* Contributors beyond the table share its last entry and are paused together. */
static uint8_t party_of(struct control_role *c, uint16_t port, uint8_t slice, const struct ipv6_addr *source)
{
	struct control_party *p = control_pfc(c)->party[port];
	uint8_t i;

	for (i = 0; i < PFC_CONTRIBUTORS_MAX; i++)
		if (is_party(&p[i], slice, source))
			return i;
	for (i = 0; i < PFC_CONTRIBUTORS_MAX - 1 && p[i].used;)
		i++;
	if (!p[i].used)
		p[i] = (struct control_party){.used = true, .has_source = source, .slice = slice};
	if (!p[i].priorities && source)
		p[i].source = *source;
	return i;
}

/* After tunnels were added or removed: remove contributors without tunnels, and decide again whom to pause. */
static void count_parties(struct control_role *c)
{
	const struct pfc_tunnels *t = &control_pfc(c)->tunnels;

	for (uint16_t port = 0; port < MAX_PORTS; port++)
		for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++)
			control_pfc(c)->party[port][i].priorities = 0;
	for (uint32_t id = 0; id < t->bound; id++) {
		const struct control_tunnel *x = &control_pfc(c)->tunnel[id];

		if (t->tunnel[id].origin != PFC_TUNNEL_FREE)
			control_pfc(c)->party[x->port][x->party].priorities |= t->tunnel[id].priorities;
	}
	for (uint16_t port = 0; port < MAX_PORTS; port++) {
		for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++) {
			struct control_party *p = &control_pfc(c)->party[port][i];

			if (!p->used || p->priorities)
				continue;
			for (unsigned int k = 0; k < PFC_PRIORITIES; k++)
				control_pfc(c)->fanout[port][k][p->slice].paused &= ~(1ull << i);
			*p = (struct control_party){0};
		}
		control_pfc(c)->look_at[port] = 0;
	}
}

/* --- configured --- */

static uint32_t find_tunnel(const struct control_role *c, const char *name)
{
	for (uint32_t i = 0; i < c->s->n_pfc_tunnels; i++)
		if (strcmp(c->s->pfc_tunnel[i].name, name) == 0)
			return i;
	return PFC_TUNNEL_NONE;
}

/* The addresses of outer headers. They identify a tunnel. */
static struct pfc_list list_of(const struct snap_pfc_outer *outer)
{
	struct pfc_list list = {.n = 0};

	list.n = (uint8_t)pfc_outer_addresses(outer, list.sid);
	return list;
}

static void take_configured(struct control_role *c)
{
	struct pfc_tunnels *t = &control_pfc(c)->tunnels;

	for (uint32_t i = t->bound; i > 0; i--)
		if (t->tunnel[i - 1].origin == PFC_TUNNEL_CONFIGURED &&
			find_tunnel(c, t->tunnel[i - 1].name) == PFC_TUNNEL_NONE)
			pfc_tunnel_remove(t, i - 1, c->now);
	for (uint32_t i = 0; i < c->s->n_pfc_tunnels; i++) {
		const struct snap_pfc_tunnel *from = &c->s->pfc_tunnel[i];
		struct pfc_list list = list_of(&from->outer);
		struct control_tunnel x = {.port = from->port,
			.party = party_of(c, from->port, from->slice, from->has_source ? &from->source : NULL),
			.outer = from->outer};
		uint32_t id = pfc_tunnel_find(t, from->name);

		/* A changed tunnel receives its state again on the new path. On the old path the pause expires. */
		if (id != PFC_TUNNEL_NONE)
			control_pfc(c)->tunnel[id] = x;
		id = pfc_tunnel_configure(t, from->name, from->slice, from->priorities, &list, from->far_bps, c->now);
		/* Learnt tunnels leave room for all tunnels that can be configured. */
		control_pfc(c)->tunnel[id] = x;
		t->tunnel[id].twice = from->repeat;
		t->tunnel[id].outage_ns = from->outage_ns;
		t->tunnel[id].carries = from->carries;
	}
}

/* --- learnt --- */

static uint64_t far_speed(const struct control_role *c, uint16_t port)
{
	return c->s->pfc_learning.far_bps ? c->s->pfc_learning.far_bps : c->s->port[port].speed_bps;
}

/* Build the outer headers of a learnt tunnel from its list. uSIDs are packed into containers. */
static enum pfc_refusal make_tunnel(void *arg, uint32_t id)
{
	struct control_role *c = arg;
	const struct snap_pfc_learning *l = &c->s->pfc_learning;
	struct pfc_tunnel *t = &control_pfc(c)->tunnels.tunnel[id];
	struct control_tunnel *x = &control_pfc(c)->tunnel[id];
	uint32_t slice = c->s->slice[t->slice].wire_id;
	struct ipv6_addr address[PFC_OUTER_ADDRESSES];
	struct ip_addr sids[PFC_LIST_MAX];
	unsigned int n;

	for (unsigned int i = 0; i < t->list.n; i++)
		sids[i] = ip_addr_from6(&t->list.sid[i]);
	n = usid_pack(l->block, l->n_blocks, sids, t->list.n, address, PFC_OUTER_ADDRESSES);
	if (n > PFC_OUTER_ADDRESSES)
		return PFC_REFUSED_too_long;
	if (l->slice_by && !slice)
		return PFC_REFUSED_no_slice_id;
	if (l->slice_by == SLICE_BY_ARGUMENT && !pfc_slice_argument(&c->s->remotes, &address[n - 1], slice))
		return PFC_REFUSED_no_argument;
	x->port = t->port;
	x->party = party_of(c, t->port, t->slice, &t->contributor);
	t->carries = l->slice_by != SLICE_BY_SID;
	pfc_outer_write(&x->outer, &c->s->loopback, address, n, l->flow_label,
		l->hmac_key ? snap_hmac_key(c->s, l->hmac_key) : NULL,
		l->slice_by == SLICE_BY_OPTION ? c->s->slice_option : 0, slice);
	if (l->message_key)
		pfc_outer_seal(&x->outer, &c->s->remotes, l->block, l->n_blocks, l->message_key,
			t->carries ? slice : 0);
	return PFC_REFUSED_none;
}

/* Keep a learnt tunnel if its port still learns and its SIDs are unchanged; otherwise the list is learnt again. */
static void take_learnt(struct control_role *c)
{
	struct pfc_tunnels *t = &control_pfc(c)->tunnels;
	const struct snap_pfc_learning *l = &c->s->pfc_learning;

	t->config = (struct pfc_tunnels_config){.idle_ns = l->idle_ns,
		.max_rtt_ns = l->max_rtt_ns,
		.repeat = l->repeat,
		.outage_ns = l->outage_ns,
		.learnt_max = l->max};
	for (uint32_t i = t->bound; i > 0; i--) {
		struct pfc_tunnel *x = &t->tunnel[i - 1];
		const struct snap_interface *port = &c->s->port[x->port];

		if (x->origin != PFC_TUNNEL_LEARNT)
			continue;
		if (!port->pfc_learning || !port->lossless || x->slice >= c->s->n_slices ||
			!c->s->slice[x->slice].name) {
			pfc_tunnel_remove(t, i - 1, c->now);
			continue;
		}
		pfc_tunnel_want(t, i - 1, x->stopped & port->lossless, c->now);
		x->priorities = port->lossless;
		x->far_bps = far_speed(c, x->port);
		x->twice = l->repeat;
		x->outage_ns = l->outage_ns;
		pfc_tunnel_relearn(t, &c->s->remotes, i - 1, c->now);
	}
	t->changes++;
}

static void learn(struct control_role *c, const struct node_sighting *s)
{
	struct pfc_sighting d = {.port = s->port, .slice = s->slice, .source = s->source, .list = s->list, .n = s->n};
	uint64_t before = control_pfc(c)->tunnels.learnt;
	uint32_t id;

	/* Ports and SIDs may have changed since the sighting was written. */
	if (s->port >= c->s->n_ports || !c->s->port[s->port].pfc_learning || s->sid >= c->s->n_sids ||
		!c->s->sid[s->sid].used)
		return;
	d.own = c->s->sid[s->sid].prefix;
	d.priorities = c->s->port[s->port].lossless;
	d.far_bps = far_speed(c, s->port);
	pfc_tunnel_learn(&control_pfc(c)->tunnels, &c->s->remotes, &d, c->now, &id);
	if (control_pfc(c)->tunnels.learnt != before)
		count_parties(c);
}

static unsigned int take_sightings(struct control_role *c)
{
	struct node_sighting s[SIGHTINGS_PASS];
	unsigned int work = 0;

	for (uint16_t i = 0; i < c->node->n_rx; i++) {
		unsigned int n = mailbox_pop(&service_pfc_rx(&c->node->rx[i])->sightings, s, sizeof(s[0]),
			SIGHTINGS_PASS);

		for (unsigned int k = 0; k < n; k++)
			learn(c, &s[k]);
		work += n;
	}
	return work;
}

/* --- whom to stop --- */

/* Bytes in egress queues that were received on a port in a class, of one slice. */
static uint64_t held_of(const struct control_role *c, uint8_t slice, uint16_t port, unsigned int class)
{
	struct account_level level = {0};

	for (uint16_t w = 0; w < c->node->n_workers; w++)
		account_add(&c->node->worker[w].accounts->slice[port][slice][class], &level);
	return level.bytes;
}

static uint64_t sent_by(const struct control_role *c, uint16_t port, const struct control_party *p, unsigned int class)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; p->has_source && i < c->node->n_rx; i++)
		bytes += node_share_of(service_pfc_rx(&c->node->rx[i])->learner, port, p->slice, &p->source, class,
			c->now);
	return bytes;
}

/*
 * Estimate the bytes of each contributor in the buffer: the bytes of its slice, divided by recent shares. The owner of
 * each byte is not recorded.
 */
static void weigh(const struct control_role *c, uint16_t port, unsigned int class, uint64_t *weight)
{
	const struct control_party *party = control_pfc(c)->party[port];
	uint64_t sent[PFC_CONTRIBUTORS_MAX];

	for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++) {
		sent[i] = party[i].priorities >> class & 1 ? sent_by(c, port, &party[i], class) : 0;
		weight[i] = 0;
	}
	for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++) {
		uint64_t of_slice = 0, members = 0, held;

		if (!(party[i].priorities >> class & 1))
			continue;
		held = held_of(c, party[i].slice, port, class);
		for (unsigned int k = 0; k < PFC_CONTRIBUTORS_MAX; k++) {
			if (!(party[k].priorities >> class & 1) || party[k].slice != party[i].slice ||
				!party[k].has_source)
				continue;
			of_slice += sent[k];
			members++;
		}
		if (!party[i].has_source)
			weight[i] = held;
		else
			weight[i] = of_slice ? (uint64_t)((unsigned __int128)held * sent[i] / of_slice)
					     : held / members;
	}
}

/* Which parties of a port and class belong to each slice, a bit each. */
struct members {
	uint64_t all, of[SNAP_SLICE_MAX];
};

static void find_members(const struct control_role *c, uint16_t port, unsigned int class, struct members *out)
{
	const struct control_party *party = control_pfc(c)->party[port];

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++) {
		if (!(party[i].priorities >> class & 1))
			continue;
		out->of[party[i].slice] |= 1ull << i;
		out->all |= 1ull << i;
	}
}

/* Are only slices stopped that some tunnel can stop? */
static bool tunnels_suffice(const struct pfc_slices *s, const struct members *m)
{
	for (unsigned int word = 0; word < PFC_SLICES_WORDS; word++)
		FOR_EACH_BIT64(i, __atomic_load_n(&s->stopped[word], __ATOMIC_RELAXED))
	if (!m->of[word * 64 + i])
		return false;
	return true;
}

static enum pfc_level level_of(const struct pfc_slices *s, unsigned int slice, bool urgent)
{
	if (urgent || __atomic_load_n(&s->full[slice / 64], __ATOMIC_RELAXED) >> slice % 64 & 1)
		return PFC_LEVEL_FULL;
	return __atomic_load_n(&s->stopped[slice / 64], __ATOMIC_RELAXED) >> slice % 64 & 1 ? PFC_LEVEL_HIGH
											    : PFC_LEVEL_LOW;
}

static void want(struct control_role *c, uint16_t port, unsigned int class, uint64_t paused)
{
	for (unsigned int i = 0; i < PFC_CONTRIBUTORS_MAX; i++) {
		uint8_t *of_party = &control_pfc(c)->party[port][i].want;

		*of_party = (uint8_t)((*of_party & ~(1u << class)) | (paused >> i & 1) << class);
	}
}

/*
 * Choose the contributors of a port and class to pause: those that fill the share of their slice (docs/protocol.md 5.7).
 * All of them if the class has no room left, or if no tunnel stops what fills it.
 */
static void decide(struct control_role *c, uint16_t port, unsigned int class, bool urgent)
{
	const struct pfc_slices *s = &service_pfc(c->node)->slices[port][class];
	uint64_t weight[PFC_CONTRIBUTORS_MAX], paused = 0, seen = 0;
	struct members m;

	find_members(c, port, class, &m);
	urgent |= !tunnels_suffice(s, &m);
	weigh(c, port, class, weight);
	FOR_EACH_BIT64(i, m.all)
	{
		uint8_t slice = control_pfc(c)->party[port][i].slice;
		struct pfc_fanout *f = &control_pfc(c)->fanout[port][class][slice];
		enum pfc_level level = level_of(s, slice, urgent);
		uint64_t sum = 0;

		if (seen >> i & 1)
			continue;
		seen |= m.of[slice];
		FOR_EACH_BIT64(k, m.of[slice])
		sum += weight[k];
		f->loop_ns = MAX_OF(c->s->port[port].loop_ns, LOOP_MIN_NS);
		paused |= pfc_fanout_decide(f, level, weight, m.of[slice], c->s->port[port].buffer.xon.bytes, sum,
			c->now);
		/* One loop later the level shows whether the chosen ones are enough. */
		if (level == PFC_LEVEL_HIGH && m.of[slice] & ~f->paused)
			control_pfc(c)->look_at[port] = MIN_OF(control_pfc(c)->look_at[port],
				pfc_fanout_next(f, c->now));
	}
	want(c, port, class, paused);
}

/* The owner of the port has reported a change of a class. */
static void look_at_port(struct control_role *c, uint16_t port)
{
	const struct service_pfc_port *p = &service_pfc(c->node)->port[port];
	struct pfc_tunnels *t = &control_pfc(c)->tunnels;
	uint8_t urgent;

	control_pfc(c)->turns[port] = __atomic_load_n(&p->turns, __ATOMIC_ACQUIRE);
	urgent = __atomic_load_n(&p->urgent, __ATOMIC_RELAXED);
	control_pfc(c)->look_at[port] = TIME_NEVER;
	FOR_EACH_BIT(class, c->s->port[port].lossless)
		decide(c, port, class, urgent >> class & 1);
	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin != PFC_TUNNEL_FREE && control_pfc(c)->tunnel[i].port == port)
			pfc_tunnel_want(t, i, control_pfc(c)->party[port][control_pfc(c)->tunnel[i].party].want,
				c->now);
}

static bool has_turned(const struct control_role *c, uint16_t port)
{
	return __atomic_load_n(&service_pfc(c->node)->port[port].turns, __ATOMIC_RELAXED) !=
	       control_pfc(c)->turns[port];
}

bool control_tunnels_have_input(const struct control_role *c)
{
	for (uint32_t ports = c->s ? c->s->tunnelled : 0; ports; ports &= ports - 1)
		if (has_turned(c, (uint16_t)__builtin_ctz(ports)))
			return true;
	return false;
}

static void look_at_buffers(struct control_role *c, uint64_t *next)
{
	for (uint32_t ports = c->s->tunnelled; ports; ports &= ports - 1) {
		uint16_t port = (uint16_t)__builtin_ctz(ports);

		if (has_turned(c, port) || c->now >= control_pfc(c)->look_at[port])
			look_at_port(c, port);
		*next = MIN_OF(*next, control_pfc(c)->look_at[port]);
	}
}

/* --- snapshots and passes --- */

void control_tunnels_init(struct control_role *c)
{
	control_pfc(c)->tunnels.send = send_tunnel;
	control_pfc(c)->tunnels.made = make_tunnel;
	control_pfc(c)->tunnels.arg = c;
}

/*
 * After the start of the node: what it held when it stopped is gone, so the far ends need not wait until their holds end.
 */
static void begin_configured(struct control_role *c)
{
	struct pfc_tunnels *t = &control_pfc(c)->tunnels;

	for (uint32_t i = 0; i < t->bound; i++)
		if (t->tunnel[i].origin == PFC_TUNNEL_CONFIGURED)
			pfc_tunnel_begin(t, i, c->now);
}

/* A new snapshot: removed tunnels send XON first, on their old path. The other tunnels adopt the changes. */
static void take_snapshot(struct control_role *c)
{
	bool first = !control_pfc(c)->generation;

	take_learnt(c);
	take_configured(c);
	count_parties(c);
	if (first && !c->node->steady)
		begin_configured(c);
	control_pfc(c)->generation = c->s->generation;
}

unsigned int control_tunnels_poll(struct control_role *c, uint64_t *next)
{
	struct pfc_tunnels *t = &control_pfc(c)->tunnels;
	unsigned int work = 0;
	uint32_t learnt;
	uint64_t due;

	if (unlikely(control_pfc(c)->generation != c->s->generation))
		take_snapshot(c);
	if (c->s->pfc_learning.any)
		work = take_sightings(c);
	look_at_buffers(c, next);
	learnt = t->n_learnt;
	work += pfc_tunnels_poll(t, c->now, &due);
	if (unlikely(t->n_learnt != learnt))
		count_parties(c);
	*next = MIN_OF(*next, due);
	if (unlikely(control_pfc(c)->changes != t->changes)) {
		control_pfc(c)->changes = t->changes;
		__atomic_store_n(&service_pfc(c->node)->sight_epoch, t->changes, __ATOMIC_RELAXED);
	}
	return work;
}
