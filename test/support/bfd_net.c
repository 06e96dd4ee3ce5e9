/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tables of BFD sessions with a link between them, in virtual time. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "test/support/bfd_net.h"

struct bfd_net net;

const struct ip_addr bfd_net_address[2] = {{.family = 6, .b = {0xfd, [15] = 1}}, {.family = 6, .b = {0xfd, [15] = 2}}};

const struct bfd_config bfd_net_usual = {.tx_us = 10000, .rx_us = 10000, .multiplier = 3};

static void put_on_wire(unsigned int from, unsigned int to, uint16_t port, bool reply, uint8_t hop_limit,
	const void *message, size_t bytes)
{
	struct bfd_end *e = &net.end[from];
	struct bfd_flight *f = &net.wire[net.n];

	if (e->cut || unit_random(&net.random) % 1000 < e->drop) {
		e->lost++;
		return;
	}
	assert_true(net.n < BFD_NET_WIRE && bytes <= sizeof(f->bytes));
	*f = (struct bfd_flight){.at = net.now + e->delay + (e->spread ? unit_random(&net.random) % e->spread : 0),
		.to = (uint8_t)to,
		.r = {.size = bytes,
			.interface = 5,
			.port = port,
			.reply = reply,
			.hop_limit = hop_limit,
			.from = bfd_net_address[from]}};
	memcpy(f->bytes, message, bytes);
	net.n++;
	if (unit_random(&net.random) % 1000 < e->doubled) {
		net.wire[net.n] = *f;
		net.wire[net.n++].at += e->delay;
	}
}

static void send_from(unsigned int i, uint16_t port, const void *message, size_t bytes)
{
	struct bfd_end *e = &net.end[i];
	uint64_t gap = net.now - e->sent_ns;

	if (port == BFD_PORT_ECHO) {
		/* the neighbour's forwarding plane returns it */
		if (!e->cut_echo && !net.end[!i].cut)
			put_on_wire(i, i, port, false, BFD_HOP_LIMIT - 1, message, bytes);
		return;
	}
	assert_int_equal(BFD_ACCEPTED, bfd_packet_read(message, bytes, &e->sent));
	if (!e->sent.final) {
		if (e->sent_ns) {
			e->gap_min = MIN_OF(e->gap_min, gap);
			e->gap_max = MAX_OF(e->gap_max, gap);
		}
		e->sent_ns = net.now;
	}
	put_on_wire(i, !i, port, false, BFD_HOP_LIMIT, message, bytes);
}

static unsigned int index_of(const void *arg)
{
	return arg == &net.end[1];
}

static void send_message(void *arg, const struct bfd_session *s, uint16_t port, const void *message, size_t bytes)
{
	(void)s;
	send_from(index_of(arg), port, message, bytes);
}

static void changed(void *arg, const struct bfd_session *s, const struct bfd_change *change)
{
	struct bfd_end *e = arg;

	assert_int_equal(change->to, s->state);
	if (change->from == change->to) {
		assert_int_equal(BFD_ADMIN_DOWN, change->remote_state);
		e->admin_downs++;
		return;
	}
	e->last = *change;
	e->changes++;
}

static const struct bfd_ops ops = {.send = send_message, .changed = changed};

void bfd_net_reset_gaps(unsigned int i)
{
	net.end[i].gap_min = UINT64_MAX;
	net.end[i].gap_max = 0;
	net.end[i].sent_ns = 0;
}

int bfd_net_set_up(void **state)
{
	(void)state;
	memset(&net, 0, sizeof(net));
	net.now = 1000 * MS;
	net.random = 88172645463325252ull;
	for (unsigned int i = 0; i < 2; i++) {
		net.end[i].table = bfd_table_new(&ops, &net.end[i], 7919 * (i + 1));
		assert_non_null(net.end[i].table);
		net.end[i].delay = 50000;
		bfd_net_reset_gaps(i);
	}
	return 0;
}

int bfd_net_tear_down(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		bfd_table_free(net.end[i].table);
	return 0;
}

struct bfd_peer bfd_net_peer_of(unsigned int i)
{
	return (struct bfd_peer){.interface = 5, .local = bfd_net_address[i], .remote = bfd_net_address[!i]};
}

void bfd_net_start(unsigned int i, const struct bfd_config *config)
{
	struct bfd_peer peer = bfd_net_peer_of(i);

	net.end[i].session = bfd_add(net.end[i].table, net.now, &peer, config);
	assert_non_null(net.end[i].session);
}

static void poll_end(unsigned int i)
{
	if (!net.end[i].stopped)
		bfd_poll(net.end[i].table, net.now, 32, &net.end[i].next);
	else
		net.end[i].next = TIME_NEVER;
}

static void deliver(unsigned int k)
{
	struct bfd_flight f = net.wire[k];
	uint8_t answer[BFD_MESSAGE_MAX];
	size_t bytes;

	net.wire[k] = net.wire[--net.n];
	if (net.end[f.to].stopped)
		return;
	f.r.data = f.bytes;
	bfd_receive(net.end[f.to].table, net.now, &f.r, answer, &bytes);
	if (bytes)
		put_on_wire(f.to, !f.to, BFD_PORT_SBFD, true, BFD_HOP_LIMIT, answer, bytes);
}

static unsigned int first_on_wire(void)
{
	unsigned int best = 0;

	for (unsigned int k = 1; k < net.n; k++)
		if (net.wire[k].at < net.wire[best].at)
			best = k;
	return best;
}

/* Run both nodes until `until`. */
void bfd_net_run_until(uint64_t until)
{
	for (;;) {
		uint64_t at = until;
		unsigned int k = net.n ? first_on_wire() : 0;

		poll_end(0);
		poll_end(1);
		at = MIN_OF(at, MIN_OF(net.end[0].next, net.end[1].next));
		if (net.n && net.wire[k].at <= at) {
			net.now = MAX_OF(net.now, net.wire[k].at);
			deliver(k);
		} else if (at >= until) {
			net.now = until;
			return;
		} else {
			net.now = MAX_OF(net.now, at);
		}
	}
}

void bfd_net_run_for(uint64_t ns)
{
	bfd_net_run_until(net.now + ns);
}

unsigned int bfd_net_state_of(unsigned int i)
{
	return net.end[i].session->state;
}

void bfd_net_bring_up(const struct bfd_config *a, const struct bfd_config *b)
{
	bfd_net_start(0, a);
	bfd_net_start(1, b);
	bfd_net_run_for(4000 * MS);
	assert_int_equal(BFD_UP, bfd_net_state_of(0));
	assert_int_equal(BFD_UP, bfd_net_state_of(1));
}

struct bfd_packet bfd_net_from_peer(uint8_t state)
{
	return (struct bfd_packet){.state = state,
		.multiplier = 3,
		.my_discr = 0x77,
		.your_discr = net.end[0].session->local_discr,
		.desired_tx_us = 10000,
		.required_rx_us = 10000};
}

enum bfd_refusal bfd_net_give_signed(const struct bfd_packet *p, const struct bfd_received *how,
	const struct bfd_key *key)
{
	uint8_t message[BFD_MESSAGE_MAX], answer[BFD_MESSAGE_MAX];
	struct bfd_received r = *how;
	size_t bytes;

	r.size = bfd_packet_write(message, p);
	r.data = message;
	if (key && p->has_auth)
		bfd_packet_sign(message, r.size, key);
	return bfd_receive(net.end[0].table, net.now, &r, answer, &bytes);
}

struct bfd_received bfd_net_as_usual(void)
{
	return (struct bfd_received){.interface = 5,
		.port = BFD_PORT_CONTROL,
		.hop_limit = 255,
		.from = bfd_net_address[1]};
}

enum bfd_refusal bfd_net_give(const struct bfd_packet *p)
{
	struct bfd_received how = bfd_net_as_usual();

	return bfd_net_give_signed(p, &how, NULL);
}
