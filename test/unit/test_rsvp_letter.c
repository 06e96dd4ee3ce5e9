/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions by the letter of draft-hu (docs/credit.md 2.4, D59), in a network in which each message travels as bytes:
 *
 *   headend 0 -- 1 -- far gateway 3, and 0 -- 2 -- 3
 */
#include "test/support/unit.h"

#include <stdlib.h>

#include "rsvp/rsvp_letter.h"
#include "test/support/rsvp_capture.h"

#define NODES 4
#define LINKS_NS NSEC_PER_MSEC
#define PACKETS 4096
#define PACKET_BYTES 600
#define MB CREDIT_LETTER_MB

struct packet {
	uint64_t at;
	unsigned int to, from;
	uint8_t hop_limit;
	uint16_t size;
	uint8_t bytes[PACKET_BYTES];
};

static struct {
	struct letter_node *node[NODES];
	struct letter_config config[NODES];
	uint8_t family;
	uint64_t now, random, pool[NODES], sent[NODES], errors;
	unsigned int loss, twice, late_ms; /* percent; at most */
	bool cut[NODES];		   /* what is sent to a node is lost */
	bool carried, joined;
	bool lost_ways; /* addresses of no node are there, too: what is sent to them is lost */
	unsigned int silent, changes;
	uint64_t kinds[RSVP_KIND_COUNT]; /* sent */
	struct packet packet[PACKETS];
	unsigned int packets;
} net;

static struct rsvp_message m;

static struct ip_addr addr(unsigned int i)
{
	struct ip_addr a = {.family = net.family};

	a.b[0] = net.family == 4 ? 10 : 0xfd;
	a.b[net.family == 4 ? 3 : 15] = (uint8_t)(i + 1);
	return a;
}

static const struct rsvp_sender *sender(void)
{
	static struct rsvp_sender s;

	s = (struct rsvp_sender){.src = addr(0), .port = 49169};
	return &s;
}

static const struct rsvp_session *session(void)
{
	static struct rsvp_session s;

	s = (struct rsvp_session){.dst = addr(3), .protocol = 17, .port = 4791};
	return &s;
}

static bool percent(unsigned int of_100)
{
	return unit_random(&net.random) % 100 < of_100;
}

static void put(unsigned int from, unsigned int to, const struct rsvp_message *x)
{
	struct packet *p = &net.packet[net.packets];
	struct ip_addr source, target;

	assert_true(net.packets < PACKETS);
	p->at = net.now + LINKS_NS + (net.late_ms ? unit_random(&net.random) % (net.late_ms * NSEC_PER_MSEC) : 0);
	p->to = to;
	p->from = from;
	p->hop_limit = x->send_ttl;
	p->size = (uint16_t)rsvp_write(&rsvp_letter, x, p->bytes, sizeof(p->bytes));
	assert_true(p->size);
	source = addr(from);
	target = addr(to);
	rsvp_capture_message(&source, &target, p->bytes, p->size);
	net.packets++;
}

static unsigned int node_of(const struct ip_addr *a)
{
	for (unsigned int i = 0; i < NODES; i++) {
		struct ip_addr own = addr(i);

		if (ip_addr_equal(&own, a))
			return i;
	}
	assert_true(net.lost_ways);
	return NODES;
}

static void send(void *arg, const struct rsvp_way *way, struct rsvp_message *x)
{
	unsigned int from = (unsigned int)(uintptr_t)arg;
	unsigned int to = way->along ? (unsigned int)way->carrier : node_of(&way->to);

	net.kinds[x->kind]++;
	for (unsigned int i = 0; i < 1u + percent(net.twice); i++)
		if (to < NODES && !net.cut[to] && !percent(net.loss))
			put(from, to, x);
}

static struct rsvp_way way_to(unsigned int from, unsigned int to)
{
	return (struct rsvp_way){.here = addr(from), .port = (uint8_t)to, .carrier = to};
}

static int route(void *arg, const struct rsvp_message *x, uint64_t arrival, struct letter_route *out)
{
	unsigned int i = (unsigned int)(uintptr_t)arg;

	(void)x;
	(void)arrival;
	out->role = i == 3 ? RSVP_FAR : RSVP_TRANSIT;
	out->joined = net.joined && i == 3;
	if (i == 3)
		return 0;
	out->branches = 1;
	out->way[0] = way_to(i, 3);
	return 0;
}

static struct ip_addr own(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	(void)zone;
	(void)neighbor;
	return addr((unsigned int)(uintptr_t)arg);
}

static bool carried(void *arg, uint16_t zone, const struct rsvp_session *s, const struct rsvp_sender *from)
{
	(void)arg;
	(void)zone;
	(void)s;
	(void)from;
	return net.carried;
}

static bool take(void *arg, uint64_t bytes)
{
	uint64_t *pool = &net.pool[(uintptr_t)arg];

	if (*pool < bytes)
		return false;
	*pool -= bytes;
	return true;
}

static void give(void *arg, uint64_t bytes)
{
	net.pool[(uintptr_t)arg] += bytes;
}

static void changed(void *arg, const struct letter_session *s, bool on)
{
	(void)s;
	(void)on;
	net.changes += arg == 0;
}

static void silent(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	(void)arg;
	(void)zone;
	(void)neighbor;
	net.silent++;
}

static const struct letter_ops ops = {.send = send,
	.route = route,
	.own = own,
	.carried = carried,
	.take = take,
	.give = give,
	.changed = changed,
	.silent = silent};

#define POOL (64ull << 20)

static void begin(uint8_t family, uint64_t random)
{
	memset(&net, 0, sizeof(net));
	net.family = family;
	net.random = random + 1;
	net.now = NSEC_PER_SEC;
	for (unsigned int i = 0; i < NODES; i++) {
		net.config[i] = letter_config_default;
		net.pool[i] = POOL;
		net.node[i] = letter_new(&net.config[i], &ops, (void *)(uintptr_t)i, random * 7919 + i);
	}
}

static void finish(void)
{
	for (unsigned int i = 0; i < NODES; i++)
		letter_free(net.node[i]);
}

static void deliver(unsigned int i)
{
	struct packet p = net.packet[i];
	struct ip_addr from = addr(p.from);

	net.packet[i] = net.packet[--net.packets];
	assert_int_equal(RSVP_ACCEPTED, rsvp_read(&rsvp_letter, p.bytes, p.size, &m));
	m.send_ttl = p.hop_limit;
	letter_receive(net.node[p.to], net.now, &m, &from, 0);
}

/* What is due until `until` happens, in the order of its times. */
static void run(uint64_t until)
{
	for (;;) {
		uint64_t at = UINT64_MAX, next;
		unsigned int which = 0;

		for (unsigned int i = 0; i < NODES; i++) {
			letter_poll(net.node[i], net.now, 1000, &next);
			at = MIN_OF(at, next);
		}
		for (unsigned int i = 0; i < net.packets; i++)
			if (net.packet[i].at < net.packet[which].at)
				which = i;
		if (net.packets && net.packet[which].at <= at)
			at = net.packet[which].at;
		if (at > until)
			break;
		net.now = MAX_OF(net.now, at);
		if (net.packets && net.packet[which].at <= net.now)
			deliver(which);
	}
	net.now = until;
}

static void run_for(uint64_t ns)
{
	run(net.now + ns);
}

static struct letter_session *open_session(void)
{
	const struct rsvp_way way[2] = {way_to(0, 1), way_to(0, 2)};
	const struct rsvp_tspec tspec = {.depth = 1, .least = 64, .most = 4096};

	return letter_open(net.node[0], net.now, session(), sender(), &tspec, way, 2);
}

static const struct letter_stats *stats(unsigned int i)
{
	return letter_stats_of(net.node[i]);
}

static struct rsvp_path_view view(unsigned int i)
{
	struct rsvp_path_view v;

	assert_non_null(letter_at(net.node[i], 0));
	letter_show(letter_at(net.node[i], 0), &v);
	return v;
}

static void expect_nothing_left(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		check(!stats(i)->sessions, "node %u", i);
		check(!stats(i)->reserved && net.pool[i] == POOL, "node %u", i);
	}
}

/* One life: 28 along both ways, offers, the first one is confirmed hop by hop, End along both, nothing is left. */
static void life(uint8_t family)
{
	struct letter_session *s;

	begin(family, 1);
	s = open_session();
	run_for(NSEC_PER_SEC);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_int_equal(RSVP_G_COMMITTED, view(1).grantor);
	assert_int_equal(RSVP_G_COMMITTED, view(3).grantor);
	assert_int_equal(16, view(0).credit_units);
	assert_int_equal(2ull * (16 << 20), POOL - net.pool[3]); /* one grant for each previous hop */
	assert_true(net.changes == 1 && letter_gate(s));
	assert_true(letter_gate(s)->limit == 16 * MB);
	letter_close(net.node[0], net.now, s);
	run_for(3 * NSEC_PER_SEC);
	expect_nothing_left();
	assert_int_equal(2, net.changes);
	finish();
}

static void test_life(void **state)
{
	(void)state;
	life(6);
	life(4);
}

/* Without a refresh (the draft has none) nothing is sent while nothing happens; with it both ends keep the state. */
static void test_refresh(void **state)
{
	struct letter_session *s;
	uint64_t before;

	(void)state;
	begin(6, 2);
	open_session();
	run_for(10 * NSEC_PER_SEC);
	before = net.kinds[RSVP_INIT] + net.kinds[RSVP_RESERVE];
	run_for(3600 * NSEC_PER_SEC);
	assert_int_equal(before, net.kinds[RSVP_INIT] + net.kinds[RSVP_RESERVE]);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	finish();

	begin(6, 2);
	for (unsigned int i = 0; i < NODES; i++) {
		net.config[i].refresh = true;
		letter_set(net.node[i], &net.config[i]);
	}
	s = open_session();
	run_for(3600 * NSEC_PER_SEC);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_true(net.kinds[RSVP_INIT] > 100);
	assert_int_equal(0, net.kinds[RSVP_END]); /* nobody has ended for want of refreshes */
	net.cut[1] = net.cut[2] = true;		  /* nothing refreshes node 3 any more */
	run_for(400 * NSEC_PER_SEC);
	assert_int_equal(0, stats(3)->sessions);
	assert_null(letter_gate(s));
	finish();
}

/* Absolute grants are MB of 10^6 that reserve 2^20 each; increments come once, in any order, and are repeated until known. */
static void test_increments(void **state)
{
	struct letter_session *s;
	struct letter_grant *g;
	struct ip_addr zero, one;
	struct credit_letter_gate *gate;

	(void)state;
	begin(6, 3);
	s = open_session();
	run_for(NSEC_PER_SEC);
	zero = addr(0);
	gate = letter_gate(s);
	credit_letter_taken(gate, 5 * MB / 2, net.now);
	letter_sent(net.node[0], net.now, s, false);
	one = view(0).nhop;
	g = letter_grant_of(letter_at(net.node[node_of(&one)], 0), &zero);
	assert_non_null(g);
	net.loss = 100; /* the increment is lost, and its copies */
	letter_freed(net.node[node_of(&one)], net.now, g, 5 * MB / 2, 5 * MB / 2);
	run_for(100 * NSEC_PER_MSEC);
	net.loss = 0;
	net.twice = 100;
	run_for(900 * NSEC_PER_MSEC);
	assert_true(gate->limit == 18 * MB); /* 2 MB, once; half a MB is kept */
	assert_true(stats(0)->late > 0);
	net.twice = 0;
	credit_letter_taken(gate, MB / 2, net.now);
	letter_freed(net.node[node_of(&one)], net.now, g, 3 * MB, 3 * MB);
	run_for(NSEC_PER_SEC);
	assert_true(gate->limit == 19 * MB); /* the halves make one */
	assert_int_equal(0, net.silent);
	finish();
}

/* The headend's 28, as it would send it again, reaches node 1. */
static void ask_again(void)
{
	struct ip_addr from = addr(0);

	rsvp_clear(&m, RSVP_INIT);
	m.session = *session();
	m.sender = *sender();
	m.hop = (struct rsvp_hop){.addr = from, .lih = view(0).lih};
	m.refresh_ms = 30000;
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = 1;
	m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_TSPEC] = 1;
	letter_receive(net.node[1], net.now, &m, &from, 0);
}

/* A 28 again, while data waits here: no grant is sent, because it would come on top of the increments to come. */
static void test_no_grant_over_data(void **state)
{
	struct ip_addr from;
	struct letter_grant *g;

	(void)state;
	begin(6, 10);
	open_session();
	run_for(2 * NSEC_PER_SEC);
	from = addr(0);
	g = letter_grant_of(letter_at(net.node[1], 0), &from);
	letter_freed(net.node[1], net.now, g, 4 * MB, 3 * MB);
	for (unsigned int i = 0; i < 2; i++) {
		run_for(2 * NSEC_PER_SEC);
		net.kinds[RSVP_RESERVE] = 0;
		ask_again();
		assert_int_equal(i, net.kinds[RSVP_RESERVE]);
		letter_freed(net.node[1], net.now, g, 4 * MB, 4 * MB); /* it has gone on */
	}
	finish();
}

/* Nor while an increment is not acknowledged: it is lost, and its copy would come on top of the grant. */
static void test_no_grant_over_increments(void **state)
{
	struct letter_session *s;
	struct credit_letter_gate *gate;
	struct letter_grant *g;
	struct ip_addr from;

	(void)state;
	begin(6, 11);
	net.cut[2] = true;
	s = open_session();
	run_for(2 * NSEC_PER_SEC);
	from = addr(0);
	gate = letter_gate(s);
	g = letter_grant_of(letter_at(net.node[1], 0), &from);
	credit_letter_taken(gate, 4 * MB, net.now);
	net.loss = 100;
	letter_freed(net.node[1], net.now, g, 4 * MB, 4 * MB);
	run_for(300 * NSEC_PER_MSEC);
	net.loss = 0;
	net.kinds[RSVP_RESERVE] = 0;
	ask_again();
	assert_int_equal(0, net.kinds[RSVP_RESERVE]);
	run_for(2 * NSEC_PER_SEC);
	assert_true(net.kinds[RSVP_RESERVE] > 0);
	check(gate->limit - gate->sent == 16 * MB, "%llu in a window of 16 MB",
		(unsigned long long)(gate->limit - gate->sent));
	finish();
}

/* The draft's own comparison and one 29 for each packet, in bytes. */
static void test_knobs(void **state)
{
	struct letter_session *s;
	struct letter_grant *g;
	struct ip_addr zero;
	uint64_t before;

	(void)state;
	begin(6, 4);
	for (unsigned int i = 0; i < NODES; i++) {
		net.config[i].unit = CREDIT_LETTER_UNIT_BYTES;
		net.config[i].strict = true;
		net.config[i].rate = 0;
		letter_set(net.node[i], &net.config[i]);
	}
	s = open_session();
	run_for(NSEC_PER_SEC);
	assert_false(credit_letter_passes(letter_gate(s), 16 * MB));
	assert_true(credit_letter_passes(letter_gate(s), 16 * MB - 1));
	zero = addr(0);
	g = letter_grant_of(letter_at(net.node[1], 0), &zero);
	before = net.kinds[RSVP_UPDATE];
	for (unsigned int i = 1; i <= 10; i++) {
		letter_freed(net.node[1], net.now, g, i * 4200, i * 4200);
		run_for(5 * NSEC_PER_MSEC);
	}
	assert_int_equal(before + 10, net.kinds[RSVP_UPDATE]);
	finish();

	begin(6, 4); /* through the bucket: what a 29 does not carry is added to the next */
	net.config[1].unit = CREDIT_LETTER_UNIT_BYTES;
	net.config[1].rate = 100;
	letter_set(net.node[1], &net.config[1]);
	s = open_session();
	run_for(NSEC_PER_SEC);
	g = letter_grant_of(letter_at(net.node[1], 0), &zero);
	before = net.kinds[RSVP_UPDATE];
	for (unsigned int i = 1; i <= 1000; i++) {
		letter_freed(net.node[1], net.now, g, i * 100, i * 100);
		run_for(NSEC_PER_MSEC);
	}
	run_for(NSEC_PER_SEC);
	assert_in_range(net.kinds[RSVP_UPDATE] - before, 100, 140);
	assert_int_equal(100000, stats(1)->returned);
	finish();
}

/* Sent data that nobody answers: the session goes over to the other offer at once, with the credit of that offer. */
static void test_backup(void **state)
{
	struct letter_session *s;
	struct credit_letter_gate *before;

	(void)state;
	begin(6, 5);
	s = open_session();
	run_for(NSEC_PER_SEC);
	before = letter_gate(s);
	run_for(3600 * NSEC_PER_SEC);
	assert_int_equal(0, net.silent); /* idle: silence is no failure */
	credit_letter_taken(before, 3 * MB, net.now);
	letter_sent(net.node[0], net.now, s, false);
	run_for(2 * NSEC_PER_SEC);
	assert_int_equal(1, net.silent);
	assert_int_equal(1, stats(0)->switched);
	assert_true(letter_gate(s) && letter_gate(s) != before);
	assert_true(letter_gate(s)->limit == 16 * MB && !letter_gate(s)->sent);
	finish();
}

/* An End that nobody answers is repeated for ever, at most every 30 s (D20). */
static void test_end_repeats(void **state)
{
	struct letter_session *s;

	(void)state;
	begin(6, 6);
	s = open_session();
	run_for(NSEC_PER_SEC);
	net.cut[1] = net.cut[2] = true;
	net.kinds[RSVP_END] = 0;
	letter_close(net.node[0], net.now, s);
	run_for(3600 * NSEC_PER_SEC);
	assert_in_range(net.kinds[RSVP_END], 2 * 110, 2 * 130);
	assert_int_equal(1, stats(0)->sessions);
	net.cut[1] = net.cut[2] = false;
	run_for(60 * NSEC_PER_SEC);
	expect_nothing_left();
	finish();
}

/* No room, no credit behind the far gateway, a Resv in place of the second 29 (E39), an End that nobody knows. */
static void test_refusals(void **state)
{
	struct ip_addr from;

	(void)state;
	begin(4, 7);
	net.pool[3] = 1 << 20;
	open_session();
	run_for(NSEC_PER_SEC);
	assert_int_equal(2, stats(3)->refused);
	assert_int_equal(0, stats(3)->sessions);
	assert_int_equal(RSVP_REFUSE_POOL, view(0).error.value);
	finish();

	begin(4, 8);
	net.joined = true;
	open_session();
	run_for(NSEC_PER_SEC);
	assert_int_equal(RSVP_U_OFFER, view(0).user); /* of nodes 1 and 2, which nobody has answered */
	assert_int_equal(RSVP_U_WAIT, view(1).user);
	net.carried = true;
	run_for(2 * NSEC_PER_SEC);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	/* it has no path any more: both previous hops are told, once, and what is under way has its buffer */
	for (unsigned int i = 0; i < 3; i++, net.carried = false)
		letter_carried(net.node[3], net.now);
	run_for(10 * NSEC_PER_SEC);
	assert_true(net.kinds[RSVP_PATH_ERR] == 4 && view(0).user == RSVP_U_DOWN &&
		    POOL - net.pool[3] == 2ull * (16 << 20));
	net.carried = true;
	letter_carried(net.node[3], net.now);
	run_for(100 * NSEC_PER_MSEC); /* they have credit at once */
	assert_true(view(1).user == RSVP_U_COMMITTED && view(3).grantor == RSVP_G_COMMITTED);

	from = addr(3);
	rsvp_clear(&m, RSVP_END);
	m.session = *session();
	m.session.port++;
	m.sender = (struct rsvp_sender){.src = from, .port = 1};
	m.hop = (struct rsvp_hop){.addr = from, .lih = 9};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TEMPLATE] = 1;
	net.kinds[RSVP_END_ACK] = 0;
	letter_receive(net.node[1], net.now, &m, &from, 0);
	assert_int_equal(1, net.kinds[RSVP_END_ACK]);
	finish();
}

/* Found by fuzzing: a 28 with more objects of others than are passed on left a session that never ended. */
static void test_too_many_objects(void **state)
{
	static uint8_t object[RSVP_PASSED_BYTES_MAX + 4] = {sizeof(object) >> 8, sizeof(object) & 0xff, 240, 1};
	struct ip_addr from;

	(void)state;
	begin(6, 12);
	from = addr(0);
	for (unsigned int i = 0; i < 2; i++) {
		rsvp_clear(&m, i ? RSVP_END : RSVP_INIT);
		m.session = *session();
		m.sender = *sender();
		m.hop = (struct rsvp_hop){.addr = from, .lih = 9};
		m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TEMPLATE] = 1;
		m.passed[0] = (struct rsvp_raw){object, sizeof(object)};
		m.count[RSVP_O_TIME] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_POLICY] = !i;
		letter_receive(net.node[3], net.now, &m, &from, 0);
		assert_int_equal(1, stats(3)->sessions);
		run_for(2 * NSEC_PER_SEC);
	}
	assert_int_equal(1, stats(3)->not_passed);
	expect_nothing_left();
	finish();
}

static void test_resv_confirms(void **state)
{
	struct rsvp_path_view v;
	struct ip_addr from;

	(void)state;
	begin(6, 9);
	net.cut[3] = true;
	open_session();
	run_for(NSEC_PER_SEC);
	v = view(1);
	assert_int_equal(RSVP_U_WAIT, v.user);
	from = addr(3);
	for (unsigned int i = 0; i < 2; i++) {
		rsvp_clear(&m, i ? RSVP_RESV : RSVP_RESERVE);
		m.session = *session();
		m.hop = (struct rsvp_hop){.addr = from, .lih = v.lih};
		m.refresh_ms = 30000;
		m.style = RSVP_STYLE_FF;
		m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = *sender()};
		m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_LETTER, .amount = 2};
		m.flows = m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = 1;
		m.count[RSVP_O_CREDIT] = !i;
		m.count[RSVP_O_STYLE] = 1;
		letter_receive(net.node[1], net.now, &m, &from, 0);
		assert_int_equal(i ? RSVP_U_COMMITTED : RSVP_U_OFFER, view(1).user);
	}
	finish();
}

/* --- random schedules, with data on the way 0 -- 1 or 2 -- 3 --- */

struct hop {
	uint64_t flying, waiting, received, freed; /* bytes */
};

/* Data of node `i` towards its current next hop, up to `want`; it arrives when the caller says so. */
static uint64_t let_go(unsigned int i, uint64_t want)
{
	struct letter_session *s = letter_at(net.node[i], 0);
	struct credit_letter_gate *g = s ? letter_gate(s) : NULL;
	uint64_t gone = 0;

	while (g && gone < want && credit_letter_passes(g, 250000)) {
		credit_letter_taken(g, 250000, net.now);
		gone += 250000;
	}
	if (g)
		letter_sent(net.node[i], net.now, s, gone < want);
	return gone;
}

/* A window never holds more than was reserved for it, whatever happens to the messages; afterwards nothing is left. */
static void schedule(uint64_t random)
{
	struct letter_session *s;
	struct letter_grant *g = NULL;
	struct ip_addr zero;
	struct hop hop = {0};
	unsigned int next = 0;
	struct ip_addr now;

	begin(random & 1 ? 4 : 6, random);
	zero = addr(0);
	net.loss = unit_random(&net.random) % 40;
	net.twice = unit_random(&net.random) % 40;
	net.late_ms = unit_random(&net.random) % 80;
	s = open_session();
	for (unsigned int i = 0; i < 60; i++) {
		run_for((1 + unit_random(&net.random) % 60) * NSEC_PER_MSEC);
		if (!letter_gate(s))
			continue;
		if (!next) { /* the first way that has credit; it does not fail here */
			struct ip_addr nhop = view(0).nhop;

			next = node_of(&nhop);
			g = letter_grant_of(letter_at(net.node[next], 0), &zero);
			assert_non_null(g);
		}
		now = view(0).nhop;
		if (node_of(&now) != next)
			break; /* it went over to the other one: windows are not shared */
		hop.flying += let_go(0, (unit_random(&net.random) % 12) * 500000);
		check(hop.flying + hop.waiting <= 16ull << 20, "schedule %llu step %u: %llu in a window of 16 MB",
			(unsigned long long)random, i, (unsigned long long)(hop.flying + hop.waiting));
		hop.received += hop.flying;
		hop.waiting += hop.flying;
		hop.flying = 0;
		hop.freed += hop.waiting - hop.waiting / 4;
		hop.waiting /= 4;
		letter_freed(net.node[next], net.now, g, hop.received, hop.freed);
	}
	if (g)
		letter_freed(net.node[next], net.now, g, hop.received, hop.received);
	letter_close(net.node[0], net.now, s);
	run_for(20 * NSEC_PER_SEC);
	net.loss = net.twice = net.late_ms = 0;
	run_for(200 * NSEC_PER_SEC);
	expect_nothing_left();
	finish();
}

static void test_schedules(void **state)
{
	const char *many = getenv("LETTER_SCHEDULES");
	unsigned int n = many ? (unsigned int)atoi(many) : 2000;

	(void)state;
	for (unsigned int i = 1; i <= n; i++)
		schedule(i);
}

/* Messages of the session with bytes changed, to any node and from any: what is readable is taken, and does no harm. */
static void disturb(void)
{
	struct packet p = net.packet[unit_random(&net.random) % MAX_OF(net.packets, 1u)];
	struct ip_addr from = addr(unit_random(&net.random) % NODES);

	if (!net.packets)
		return;
	p.bytes[2] = p.bytes[3] = 0; /* no checksum */
	for (unsigned int i = unit_random(&net.random) % 4; i; i--)
		p.bytes[8 + unit_random(&net.random) % (p.size - 8u)] = (uint8_t)unit_random(&net.random);
	if (rsvp_read(&rsvp_letter, p.bytes, p.size, &m) != RSVP_ACCEPTED)
		return;
	m.send_ttl = p.hop_limit;
	letter_receive(net.node[unit_random(&net.random) % NODES], net.now, &m, &from, 0);
}

/* What a grantor reserves is taken from its pool, and comes back. */
static void check_pools(void)
{
	for (unsigned int i = 0; i < NODES; i++) {
		check(stats(i)->reserved + net.pool[i] == POOL, "node %u", i);
		check(stats(i)->sessions <= net.config[i].sessions_max, "node %u", i);
	}
}

static void test_disturbed(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 300; k++) {
		struct letter_session *s;

		begin(k & 1 ? 4 : 6, k);
		net.lost_ways = true;
		s = open_session();
		for (unsigned int i = 0; i < 200; i++) {
			disturb();
			run_for(unit_random(&net.random) % (20 * NSEC_PER_MSEC));
			check_pools();
		}
		letter_close(net.node[0], net.now, s);
		run_for(60 * NSEC_PER_SEC);
		check_pools();
		finish();
		check(net.pool[3] <= POOL, "schedule %u", k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_refresh),
		cmocka_unit_test(test_increments),
		cmocka_unit_test(test_no_grant_over_data),
		cmocka_unit_test(test_no_grant_over_increments),
		cmocka_unit_test(test_knobs),
		cmocka_unit_test(test_backup),
		cmocka_unit_test(test_end_repeats),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_too_many_objects),
		cmocka_unit_test(test_resv_confirms),
		cmocka_unit_test(test_schedules),
		cmocka_unit_test(test_disturbed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
