/* SPDX-License-Identifier: BSD-3-Clause */
/* A BFD session: the state table, strangers, demand mode, authentication, S-BFD; a thousand sessions. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/bfd_net.h"

/* RFC 5880 section 6.8.6, and the diagram of 6.2: the state after each state that the neighbour may send. */
static const uint8_t table_of_states[4][4] = {
	/* received: AdminDown, Down, Init, Up */
	[BFD_ADMIN_DOWN] = {BFD_ADMIN_DOWN, BFD_ADMIN_DOWN, BFD_ADMIN_DOWN, BFD_ADMIN_DOWN},
	[BFD_DOWN] = {BFD_DOWN, BFD_INIT, BFD_UP, BFD_DOWN},
	[BFD_INIT] = {BFD_DOWN, BFD_INIT, BFD_UP, BFD_UP},
	[BFD_UP] = {BFD_DOWN, BFD_DOWN, BFD_UP, BFD_UP},
};

/* Lead the session from Down to a state. */
static void lead_to(enum bfd_state to)
{
	struct bfd_config config = bfd_net_usual;
	struct bfd_packet down = bfd_net_from_peer(BFD_DOWN), init = bfd_net_from_peer(BFD_INIT);

	if (to == BFD_ADMIN_DOWN) {
		config.shutdown = true;
		bfd_set(net.end[0].table, net.now, net.end[0].session, &config);
	} else if (to == BFD_INIT) {
		bfd_net_give(&down);
	} else if (to == BFD_UP) {
		bfd_net_give(&init);
	}
	assert_int_equal(to, bfd_net_state_of(0));
}

static void test_state_table(void **state)
{
	for (unsigned int from = 0; from < 4; from++) {
		for (unsigned int received = 0; received < 4; received++) {
			struct bfd_packet p;
			enum bfd_diag diag;

			bfd_net_start(0, &bfd_net_usual);
			lead_to((enum bfd_state)from);
			diag = (enum bfd_diag)net.end[0].session->diag;
			p = bfd_net_from_peer((uint8_t)received);
			assert_int_equal(BFD_ACCEPTED, bfd_net_give(&p));
			check(bfd_net_state_of(0) == table_of_states[from][received], "%s receives %s: %s",
				bfd_state_name(from), bfd_state_name(received), bfd_state_name(bfd_net_state_of(0)));
			if (from >= BFD_INIT && bfd_net_state_of(0) == BFD_DOWN)
				diag = BFD_DIAG_NEIGHBOR;
			check(net.end[0].session->diag == diag, "%s receives %s: %s", bfd_state_name(from),
				bfd_state_name(received), bfd_diag_text(net.end[0].session->diag));
			bfd_net_tear_down(state);
			bfd_net_set_up(state);
		}
	}
}

/* Silence ends Init and Up, and leaves Down and AdminDown as they are. The neighbour's discriminator is forgotten. */
static void test_silence(void **state)
{
	for (unsigned int from = 0; from < 4; from++) {
		struct bfd_packet p;

		bfd_net_start(0, &bfd_net_usual);
		lead_to((enum bfd_state)from);
		p = bfd_net_from_peer(from == BFD_UP ? BFD_UP : from == BFD_ADMIN_DOWN ? BFD_DOWN : BFD_ADMIN_DOWN);
		if (from != BFD_INIT)
			bfd_net_give(&p);
		assert_int_equal(0x77, net.end[0].session->remote_discr);
		bfd_net_run_for(29 * MS);
		check(bfd_net_state_of(0) == from, "%s: %s", bfd_state_name(from), bfd_state_name(bfd_net_state_of(0)));
		bfd_net_run_for(2 * MS);
		assert_int_equal(0, net.end[0].session->remote_discr);
		check(bfd_net_state_of(0) == (from == BFD_ADMIN_DOWN ? BFD_ADMIN_DOWN : BFD_DOWN), "%s: %s",
			bfd_state_name(from), bfd_state_name(bfd_net_state_of(0)));
		if (from >= BFD_INIT) {
			assert_int_equal(BFD_DIAG_EXPIRED, net.end[0].last.diag);
			assert_int_equal(30 * MS, net.end[0].last.at - net.end[0].last.heard_ns);
		}
		bfd_net_tear_down(state);
		bfd_net_set_up(state);
	}
}

/* A neighbour that becomes AdminDown while the session is Down is reported once: the next hop has not failed. */
static void test_told_admin_down(void **state)
{
	struct bfd_packet p;

	(void)state;
	bfd_net_start(0, &bfd_net_usual);
	lead_to(BFD_UP);
	p = bfd_net_from_peer(BFD_DOWN);
	bfd_net_give(&p);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	p.state = BFD_ADMIN_DOWN;
	bfd_net_give(&p);
	bfd_net_give(&p);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(1, net.end[0].admin_downs);
}

/* A stranger's packets change nothing but a counter. */
static void test_strangers(void **state)
{
	struct bfd_packet up, p;
	struct bfd_received how;
	struct bfd_session before;
	const struct {
		const char *what;
		enum bfd_refusal refusal;
		uint32_t your_discr;
		uint8_t hop_limit, from;
		uint16_t interface;
	} rows[] = {
		{"hop limit", BFD_REFUSED_hop_limit, 0, 254, 1, 5},
		{"another discriminator", BFD_REFUSED_unknown_discriminator, 4096, 255, 1, 5},
		{"another interface", BFD_REFUSED_sender, 0, 255, 1, 6},
		{"another address", BFD_REFUSED_sender, 0, 255, 0, 5},
	};

	(void)state;
	bfd_net_start(0, &bfd_net_usual);
	lead_to(BFD_UP);
	before = *net.end[0].session;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		p = bfd_net_from_peer(BFD_DOWN);
		p.your_discr += rows[i].your_discr;
		how = bfd_net_as_usual();
		how.hop_limit = rows[i].hop_limit;
		how.interface = rows[i].interface;
		how.from = bfd_net_address[rows[i].from];
		check(bfd_net_give_signed(&p, &how, NULL) == rows[i].refusal, "%s", rows[i].what);
		check(memcmp(&before, net.end[0].session, sizeof(before)) == 0, "%s", rows[i].what);
	}
	p = bfd_net_from_peer(BFD_DOWN);
	p.your_discr = 0;
	how = bfd_net_as_usual();
	how.from.b[15] = 9;
	assert_int_equal(BFD_REFUSED_no_session, bfd_net_give_signed(&p, &how, NULL));
	p.has_auth = true;
	p.auth_type = BFD_AUTH_SHA1;
	assert_int_equal(BFD_REFUSED_auth_unexpected, bfd_net_give(&p));
	before.stats.refused = 1;
	assert_memory_equal(&before, net.end[0].session, sizeof(before));
	assert_int_equal(1, net.end[0].table->stats.hop_limit);
	assert_int_equal(2, net.end[0].table->stats.sender);
	/* and the session's own neighbour is still heard */
	up = bfd_net_from_peer(BFD_UP);
	assert_int_equal(BFD_ACCEPTED, bfd_net_give(&up));
}

/* The neighbour asks for demand mode: no periodic packets, except for a Poll Sequence. */
static void test_demand(void **state)
{
	struct bfd_config slower = bfd_net_usual;
	struct bfd_packet up;
	uint64_t sent;

	(void)state;
	bfd_net_start(0, &bfd_net_usual);
	lead_to(BFD_UP);
	up = bfd_net_from_peer(BFD_UP);
	up.final = true; /* ends the Poll Sequence of coming up */
	up.demand = true;
	up.desired_tx_us = 1000000;
	bfd_net_give(&up);
	sent = net.end[0].session->stats.sent;
	bfd_net_run_for(500 * MS);
	assert_int_equal(sent, net.end[0].session->stats.sent);
	/* a Poll is answered */
	up.final = false;
	up.poll = true;
	bfd_net_give(&up);
	assert_int_equal(sent + 1, net.end[0].session->stats.sent);
	assert_true(net.end[0].sent.final && !net.end[0].sent.poll);
	/* and one is sent */
	slower.rx_us = 20000;
	bfd_set(net.end[0].table, net.now, net.end[0].session, &slower);
	bfd_net_run_for(35 * MS);
	assert_in_range(net.end[0].session->stats.sent, sent + 3, sent + 6);
	assert_true(net.end[0].sent.poll);
	up.poll = false;
	up.final = true;
	bfd_net_give(&up);
	sent = net.end[0].session->stats.sent;
	bfd_net_run_for(500 * MS);
	assert_int_equal(sent, net.end[0].session->stats.sent);
	/* the end of demand mode */
	up.demand = up.final = false;
	bfd_net_give(&up);
	bfd_net_run_for(100 * MS);
	assert_in_range(net.end[0].session->stats.sent, sent + 9, sent + 15);
}

/* A neighbour that requires an interval of 0 wants no periodic packets. */
static void test_no_periodic(void **state)
{
	struct bfd_packet p;
	uint64_t sent;

	(void)state;
	bfd_net_start(0, &bfd_net_usual);
	lead_to(BFD_UP);
	p = bfd_net_from_peer(BFD_UP);
	p.required_rx_us = 0;
	p.desired_tx_us = 1000000;
	bfd_net_give(&p);
	sent = net.end[0].session->stats.sent;
	bfd_net_run_for(900 * MS);
	assert_int_equal(sent, net.end[0].session->stats.sent);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
}

/* A passive end is silent until it hears the neighbour. */
static void test_passive(void **state)
{
	struct bfd_config passive = bfd_net_usual;

	(void)state;
	passive.passive = true;
	bfd_net_start(0, &passive);
	bfd_net_run_for(5000 * MS);
	assert_int_equal(0, net.end[0].session->stats.sent);
	bfd_net_start(1, &bfd_net_usual);
	bfd_net_run_for(4000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
}

static struct bfd_config with_auth(uint8_t type)
{
	struct bfd_config c = bfd_net_usual;

	c.auth_type = type;
	c.key = (struct bfd_key){.id = 3, .key = "0123456789abcdefghi"};
	return c;
}

static void test_auth(void **state)
{
	const uint8_t types[] = {BFD_AUTH_SHA1, BFD_AUTH_METICULOUS_SHA1};

	for (unsigned int i = 0; i < ARRAY_LEN(types); i++) {
		struct bfd_config c = with_auth(types[i]);

		/* numbers pass the end of 32 bits */
		bfd_net_start(0, &c);
		bfd_net_start(1, &c);
		net.end[0].session->xmit_auth_seq = UINT32_MAX - 100;
		bfd_net_run_for(5000 * MS);
		assert_int_equal(BFD_UP, bfd_net_state_of(0));
		assert_int_equal(BFD_UP, bfd_net_state_of(1));
		assert_int_equal(1, net.end[0].session->stats.ups);
		/* doubled packets are replays to the meticulous, and do no harm */
		net.end[0].doubled = 1000;
		bfd_net_run_for(1000 * MS);
		assert_int_equal(1, net.end[1].session->stats.ups);
		check((net.end[1].session->stats.refused > 50) == (types[i] == BFD_AUTH_METICULOUS_SHA1), "type %u: %u",
			types[i], (unsigned int)net.end[1].session->stats.refused);
		bfd_net_tear_down(state);
		bfd_net_set_up(state);
	}
}

static void test_auth_refused(void **state)
{
	struct bfd_config c = with_auth(BFD_AUTH_METICULOUS_SHA1);
	struct bfd_received how = bfd_net_as_usual();
	struct bfd_packet p;

	(void)state;
	bfd_net_start(0, &c);
	p = bfd_net_from_peer(BFD_DOWN);
	assert_int_equal(BFD_REFUSED_auth_missing, bfd_net_give(&p));
	p.has_auth = true;
	p.auth_type = BFD_AUTH_SHA1;
	p.key_id = 3;
	p.sequence = 1000;
	assert_int_equal(BFD_REFUSED_auth_type, bfd_net_give_signed(&p, &how, &c.key));
	p.auth_type = BFD_AUTH_METICULOUS_SHA1;
	p.key_id = 4;
	assert_int_equal(BFD_REFUSED_auth_key, bfd_net_give_signed(&p, &how, &c.key));
	p.key_id = 3;
	assert_int_equal(BFD_REFUSED_auth_digest, bfd_net_give(&p));
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, &c.key));
	assert_int_equal(BFD_INIT, bfd_net_state_of(0));
	/* the window is 3 * Detect Mult wide */
	assert_int_equal(BFD_REFUSED_auth_sequence, bfd_net_give_signed(&p, &how, &c.key));
	p.sequence = 999;
	assert_int_equal(BFD_REFUSED_auth_sequence, bfd_net_give_signed(&p, &how, &c.key));
	p.sequence = 1010;
	assert_int_equal(BFD_REFUSED_auth_sequence, bfd_net_give_signed(&p, &how, &c.key));
	p.sequence = 1009;
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, &c.key));
	/* a wrong digest does not move the window */
	p.sequence = 1018;
	assert_int_equal(BFD_REFUSED_auth_digest, bfd_net_give(&p));
	p.sequence = 1010;
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, &c.key));
	/* after twice the detection time any number is accepted */
	p.sequence = 5;
	bfd_net_run_for(31 * MS);
	assert_int_equal(BFD_REFUSED_auth_sequence, bfd_net_give_signed(&p, &how, &c.key));
	bfd_net_run_for(30 * MS);
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, &c.key));
}

/* --- S-BFD --- */

static void start_initiator(const struct bfd_config *config)
{
	struct bfd_peer peer = {.kind = BFD_SBFD, .user = 9, .local = bfd_net_address[0], .remote = bfd_net_address[1]};

	net.end[0].session = bfd_add(net.end[0].table, net.now, &peer, config);
	assert_non_null(net.end[0].session);
}

static void test_sbfd(void **state)
{
	struct bfd_config c = bfd_net_usual;
	uint64_t cut;

	(void)state;
	c.reflector = 0x0a000001;
	net.end[0].delay = net.end[1].delay = 40 * MS; /* a round trip longer than the detection time */
	bfd_set_reflector(net.end[1].table, 0x0a000001);
	start_initiator(&c);
	bfd_net_run_for(3000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(1, net.end[0].session->stats.ups);
	assert_int_equal(30000, bfd_detect_us(net.end[0].session));
	assert_true(net.end[0].sent.demand && !net.end[0].sent.poll);
	assert_int_equal(0x0a000001, net.end[0].sent.your_discr);
	assert_int_equal(0, net.end[0].sent.required_rx_us);
	assert_true(net.end[1].table->stats.reflected > 100);
	assert_int_equal(0, net.end[1].table->stats.sessions);
	cut = net.now;
	net.end[0].cut = true;
	bfd_net_run_for(200 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DIAG_EXPIRED, net.end[0].last.diag);
	/* the last reply is on the way for a round trip */
	assert_in_range(net.end[0].last.at - cut, 100 * MS, 110 * MS);
	net.end[0].cut = false;
	bfd_net_run_for(3000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	bfd_set_reflector(net.end[1].table, 0);
	bfd_net_run_for(200 * MS);
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_true(net.end[1].table->stats.unknown_discriminator > 0);
	bfd_remove(net.end[0].table, net.now, net.end[0].session);
	assert_int_equal(0, net.end[0].table->stats.sessions);
}

static void test_sbfd_refused(void **state)
{
	struct bfd_config c = bfd_net_usual;
	struct bfd_received how = bfd_net_as_usual();
	struct bfd_packet p;

	(void)state;
	c.reflector = 77;
	start_initiator(&c);
	bfd_set_reflector(net.end[0].table, 99);
	how.port = BFD_PORT_SBFD;
	how.hop_limit = 60;
	how.reply = true;
	p = bfd_net_from_peer(BFD_UP);
	p.my_discr = 77;
	p.demand = true;
	assert_int_equal(BFD_REFUSED_demand, bfd_net_give_signed(&p, &how, NULL));
	p.demand = false;
	p.my_discr = 78;
	assert_int_equal(BFD_REFUSED_sender, bfd_net_give_signed(&p, &how, NULL));
	p.my_discr = 77;
	p.your_discr++;
	assert_int_equal(BFD_REFUSED_unknown_discriminator, bfd_net_give_signed(&p, &how, NULL));
	p.your_discr--;
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, NULL));
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	p.state = BFD_ADMIN_DOWN; /* the reflector is out of service */
	assert_int_equal(BFD_ACCEPTED, bfd_net_give_signed(&p, &how, NULL));
	assert_int_equal(BFD_DOWN, bfd_net_state_of(0));
	assert_int_equal(BFD_DIAG_NEIGHBOR, net.end[0].last.diag);
	/* to the reflector */
	how.reply = false;
	p.state = BFD_DOWN;
	p.your_discr = 99;
	assert_int_equal(BFD_REFUSED_demand, bfd_net_give_signed(&p, &how, NULL));
	p.demand = true;
	p.your_discr = 98;
	assert_int_equal(BFD_REFUSED_unknown_discriminator, bfd_net_give_signed(&p, &how, NULL));
	p.your_discr = 99;
	p.has_auth = true;
	p.auth_type = BFD_AUTH_SHA1;
	assert_int_equal(BFD_REFUSED_auth_unexpected, bfd_net_give_signed(&p, &how, NULL));
	/* a control packet of a single hop does not reach an initiator's session */
	p = bfd_net_from_peer(BFD_DOWN);
	assert_int_equal(BFD_REFUSED_sender, bfd_net_give(&p));
}

/* --- many --- */

static unsigned int many_sent;

static void count_sent(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes)
{
	(void)arg, (void)s, (void)port, (void)message, (void)bytes;
	many_sent++;
}

static void ignore_change(void *arg, const struct bfd_session *s, const struct bfd_change *change)
{
	(void)arg, (void)s, (void)change;
}

/* A thousand sessions at 3 x 10 ms: a pass in which no timer is due examines none. */
static void test_thousand(void **state)
{
	static const struct bfd_ops counting = {.send = count_sent, .changed = ignore_change};
	struct bfd_table *t = bfd_table_new(&counting, NULL, 3);
	static struct bfd_session *s[1000];
	uint64_t now = 1000 * MS, next, visited;
	struct bfd_received r = bfd_net_as_usual();
	uint8_t message[BFD_MESSAGE_MAX], answer[BFD_MESSAGE_MAX];
	unsigned int idle = 0;
	size_t bytes;

	(void)state;
	assert_non_null(t);
	for (unsigned int i = 0; i < 1000; i++) {
		struct bfd_peer peer = bfd_net_peer_of(0);

		peer.remote.b[8] = (uint8_t)(i >> 8);
		peer.remote.b[9] = (uint8_t)i;
		s[i] = bfd_add(t, now, &peer, &bfd_net_usual);
		assert_non_null(s[i]);
		assert_ptr_equal(s[i], bfd_by_discr(t, s[i]->local_discr));
		assert_int_equal(49152 + i, bfd_source_port(s[i]));
	}
	many_sent = 0;
	for (uint64_t end = now + 1000 * MS; now < end; now += 100000) {
		/* each neighbour sends every 9 ms, in turn */
		for (unsigned int i = 0; i < 1000; i++) {
			struct bfd_packet p = {.state = s[i]->state == BFD_UP ? BFD_UP : BFD_INIT,
				.multiplier = 3,
				.my_discr = i + 1,
				.your_discr = s[i]->local_discr,
				.final = s[i]->polling,
				.desired_tx_us = 10000,
				.required_rx_us = 10000};

			if (now / 100000 % 90 != i % 90)
				continue;
			r.from = s[i]->peer.remote;
			r.size = bfd_packet_write(message, &p);
			r.data = message;
			assert_int_equal(BFD_ACCEPTED, bfd_receive(t, now, &r, answer, &bytes));
		}
		while (bfd_poll(t, now, 32, &next))
			continue;
		/* the passes until the next timer is due cost nothing */
		visited = t->wheel.visited;
		idle += bfd_poll(t, now, 32, &next);
		assert_int_equal(visited, t->wheel.visited);
	}
	assert_int_equal(0, idle);
	assert_int_equal(1000, t->stats.up);
	assert_int_equal(0, t->stats.gaps);
	assert_in_range(many_sent, 99000, 135000);
	/* silence: all go down in one detection time, within the budget of passes */
	for (uint64_t end = now + 31 * MS; now < end; now += 100000)
		while (bfd_poll(t, now, 32, &next))
			continue;
	assert_int_equal(0, t->stats.up);
	bfd_table_free(t);
}

static void test_limit(void **state)
{
	struct bfd_peer peer = bfd_net_peer_of(0);

	(void)state;
	for (unsigned int i = 0; i < BFD_SESSIONS_MAX; i++) {
		peer.remote.b[8] = (uint8_t)(i >> 8);
		peer.remote.b[9] = (uint8_t)i;
		assert_non_null(bfd_add(net.end[0].table, net.now, &peer, &bfd_net_usual));
	}
	peer.remote.b[10] = 1;
	assert_null(bfd_add(net.end[0].table, net.now, &peer, &bfd_net_usual));
	/* a place that becomes free is used again, with another discriminator */
	net.end[0].session = net.end[0].table->slot[77];
	bfd_remove(net.end[0].table, net.now, net.end[0].session);
	assert_non_null(bfd_add(net.end[0].table, net.now, &peer, &bfd_net_usual));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BFD_NET_TEST(test_state_table),
		BFD_NET_TEST(test_silence),
		BFD_NET_TEST(test_told_admin_down),
		BFD_NET_TEST(test_strangers),
		BFD_NET_TEST(test_demand),
		BFD_NET_TEST(test_no_periodic),
		BFD_NET_TEST(test_passive),
		BFD_NET_TEST(test_auth),
		BFD_NET_TEST(test_auth_refused),
		BFD_NET_TEST(test_sbfd),
		BFD_NET_TEST(test_sbfd_refused),
		BFD_NET_TEST(test_thousand),
		BFD_NET_TEST(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
