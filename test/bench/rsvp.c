/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What RSVP messages cost the control lcore (docs/performance.md): decoded, authenticated if signed, handled by the session
 * machines of a device on a path, and answered, down to the bytes of the answer. The neighbours are here.
 *
 *   init, offer, commit, update, updates, endack, refresh   N sessions get that message; updates: 26 in one; refresh: by id, 32 in
 *              one
 *
 * Prints lines `name number...`; times are real ones. Everything in measured() is counted by callgrind, if the program
 * runs under it. With load, 10,000 sessions get N of the messages, in passes of 32: all of them, and the longest pass.
 * Usage: bench_rsvp STEP N signed|plain [load]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "rsvp/rsvp_integrity.h"
#include "rsvp/rsvp_node.h"

#define MOST 20000
#define BYTES 1500
#define TOGETHER 26 /* updates in a message (D50) */
#define IDS 32	    /* in a Srefresh */
#define PASS 32	    /* messages */
#define LOADED 10000

static struct {
	uint16_t bytes;
	uint8_t data[BYTES];
} message[MOST];
static unsigned int messages;

/* What the node has sent along the path of each session: the LIH and the id of its 28 or 30; and the id of its S. */
static struct {
	uint32_t lih;
	struct rsvp_message_id id, s;
} sent[MOST];

static struct rsvp_node *node;
static struct rsvp_auth *own, *peer; /* NULL: messages are not signed */
static struct rsvp_message m, in;
static uint64_t now = 1000 * NSEC_PER_SEC;
static uint32_t next_id;
static const struct ip_addr previous = {.family = 6, .b = {0xfd, [15] = 1}},
			    next = {.family = 6, .b = {0xfd, [15] = 3}}, here = {.family = 6, .b = {0xfd, [15] = 2}};
static const struct rsvp_session session = {.dst = {.family = 6, .b = {0xfd, [15] = 9}}, .protocol = 17, .port = 4791};

#define UNIX_S 1000

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

/* --- the node --- */

static void send_it(void *arg, const struct rsvp_way *way, struct rsvp_message *out)
{
	static uint8_t bytes[9216];
	size_t n;

	(void)arg;
	(void)way;
	if (own && !rsvp_auth_prepare(own, UNIX_S, out))
		abort();
	n = rsvp_write(&rsvp_ext, out, bytes, sizeof(bytes));
	if (!n)
		abort();
	if (own)
		rsvp_auth_sign(own, bytes, n);
	if (out->kind == RSVP_INIT || out->kind == RSVP_END) {
		sent[out->sender.port - 1].lih = out->hop.lih;
		sent[out->sender.port - 1].id = out->id;
	} else if (out->kind == RSVP_RESERVE && out->count[RSVP_O_ID]) {
		sent[out->flow[0].filter.port - 1].s = out->id;
	}
}

static int route(void *arg, const struct rsvp_message *init, uint64_t arrival, struct rsvp_way *way)
{
	(void)arg;
	(void)init;
	(void)arrival;
	way->port = 1;
	return RSVP_TRANSIT;
}

static void changed(void *arg, const struct rsvp_path *p, bool on)
{
	(void)arg;
	(void)p;
	(void)on;
}

static bool reduces(void *arg, uint16_t zone, const struct ip_addr *neighbor)
{
	(void)arg;
	(void)zone;
	(void)neighbor;
	return true;
}

static void begin(bool is_signed)
{
	static const struct rsvp_node_ops ops = {.send = send_it,
		.route = route,
		.changed = changed,
		.reduces = reduces};
	static const uint8_t seed[16] = {1}, secret[16] = {2};
	struct rsvp_config c = rsvp_config_default;
	struct rsvp_key k = {.id = 5, .until_s = UINT64_MAX};

	c.addr = here;
	c.pool = 1ull << 40;
	node = rsvp_node_new(&c, &ops, NULL, 4711);
	if (!node)
		abort();
	if (!is_signed)
		return;
	hmac_secret_prepare(&k.secret, HMAC_SHA256, secret, sizeof(secret));
	own = rsvp_auth_new(16, RSVP_WINDOW_MAX, seed, UNIX_S);
	peer = rsvp_auth_new(16, RSVP_WINDOW_MAX, seed, UNIX_S);
	if (!own || !peer)
		abort();
	rsvp_auth_set_keys(own, &k, 1, 0);
	rsvp_auth_set_keys(peer, &k, 1, 0);
}

/* --- the neighbours --- */

static void keep(void)
{
	if (messages == MOST)
		abort();
	m.flags = RSVP_FLAG_REFRESH_REDUCTION;
	if (peer) {
		if (!rsvp_auth_prepare(peer, UNIX_S, &m))
			abort();
		m.integrity.handshake = false;
	}
	message[messages].bytes = (uint16_t)rsvp_write(&rsvp_ext, &m, message[messages].data, BYTES);
	if (!message[messages].bytes)
		abort();
	if (peer)
		rsvp_auth_sign(peer, message[messages].data, message[messages].bytes);
	messages++;
}

static void hop(const struct ip_addr *addr, uint32_t lih)
{
	m.session = session;
	m.hop = (struct rsvp_hop){.addr = *addr, .lih = lih};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = 1;
}

static struct rsvp_sender sender_of(unsigned int i)
{
	return (struct rsvp_sender){.src = previous, .labelled = true, .port = i + 1};
}

static void number(void)
{
	m.id = (struct rsvp_message_id){.ack_desired = true, .epoch = 77, .id = ++next_id};
	m.count[RSVP_O_ID] = 1;
}

static void acknowledge(const struct rsvp_message_id *id)
{
	m.ack[0] = (struct rsvp_message_id){.epoch = id->epoch, .id = id->id};
	m.count[RSVP_O_ACK] = 1;
}

static void make_init(unsigned int i)
{
	static const struct ipv6_addr devices[2] = {{{0xfd, [15] = 7}}, {{0xfd, [15] = 1}}};

	rsvp_clear(&m, RSVP_INIT);
	hop(&previous, i << 8 | 1);
	number();
	m.refresh_ms = 30000;
	m.sender = sender_of(i);
	m.tspec = (struct rsvp_tspec){.rate = 1e9f, .depth = 2e6f, .peak = 1e9f, .least = 64, .most = 4200};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.traffic_class = 3, .unit = 11, .sequence = 1};
	m.path = (struct rsvp_cbfc_path){.nonce = i + 1, .path = 1, .hops = 2, .hops_max = 16, .addrs = devices};
	m.offer[0] =
		(struct rsvp_cbfc_offer){.buffer = 1 << 24, .rate = 100000000000, .delay_us = 10, .path = 1, .hops = 2};
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 1;
	m.count[RSVP_O_CBFC_HOP] = m.count[RSVP_O_CBFC_OFFER] = 1;
	keep();
}

static struct rsvp_credit credit_of(uint8_t flags, uint32_t sequence)
{
	return (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags,
		.traffic_class = 3,
		.unit = 11,
		.epoch = 5,
		.fccl = 1000,
		.buffer = 1000,
		.heartbeat_us = 3000,
		.sequence = sequence};
}

static void make_reserve(unsigned int i, uint8_t flags)
{
	rsvp_clear(&m, RSVP_RESERVE);
	hop(&next, sent[i].lih);
	if (flags == RSVP_CREDIT_COMMIT) {
		number();
		m.offer[0] = (struct rsvp_cbfc_offer){.buffer = 1 << 24, .path = 1, .flags = RSVP_OFFER_SELECTED};
		m.count[RSVP_O_CBFC_OFFER] = 1;
	}
	acknowledge(&sent[i].id);
	m.refresh_ms = 30000;
	m.credit[0] = credit_of(flags, flags == RSVP_CREDIT_COMMIT ? 2 : 1);
	m.style = RSVP_STYLE_FF;
	m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = sender_of(i)};
	m.flows = 1;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_CREDIT] = m.count[RSVP_O_STYLE] = 1;
	keep();
}

static void make_offer(unsigned int i)
{
	make_reserve(i, RSVP_CREDIT_OFFER);
}

static void make_commit(unsigned int i)
{
	make_reserve(i, RSVP_CREDIT_COMMIT);
}

static void make_ack(unsigned int i)
{
	rsvp_clear(&m, RSVP_ACK);
	acknowledge(&sent[i].s);
	keep();
}

static void make_update(unsigned int i)
{
	rsvp_clear(&m, RSVP_UPDATE);
	hop(&next, sent[i].lih);
	m.credit[0] = credit_of(RSVP_CREDIT_UPDATE, 3);
	m.count[RSVP_O_CREDIT] = 1;
	keep();
}

static void make_updates(unsigned int i)
{
	if (i % TOGETHER != TOGETHER - 1)
		return;
	rsvp_clear(&m, RSVP_UPDATE);
	hop(&next, sent[i].lih);
	for (unsigned int k = 0; k < TOGETHER; k++) {
		m.credit[k] = credit_of(RSVP_CREDIT_UPDATE, 3);
		m.credit[k].form = RSVP_CREDIT_OF_CONTEXT;
		m.credit[k].lih = sent[i - k].lih;
	}
	m.count[RSVP_O_CREDIT] = TOGETHER;
	keep();
}

static void make_end(unsigned int i)
{
	rsvp_clear(&m, RSVP_END);
	hop(&previous, i << 8 | 1);
	number();
	m.sender = sender_of(i);
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = RSVP_HOP_FINAL, .traffic_class = 3, .unit = 11, .sequence = 2};
	m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_CBFC_HOP] = 1;
	keep();
}

static void make_end_ack(unsigned int i)
{
	rsvp_clear(&m, RSVP_END_ACK);
	hop(&next, sent[i].lih);
	acknowledge(&sent[i].id);
	m.sender = sender_of(i);
	m.count[RSVP_O_TEMPLATE] = 1;
	keep();
}

/* The ids of the 28s, which were given in the order of the sessions. */
static void make_refresh(unsigned int i)
{
	static be32_t ids[IDS];

	ids[i % IDS] = be32(i + 1);
	if (i % IDS != IDS - 1)
		return;
	rsvp_clear(&m, RSVP_SREFRESH);
	m.id_list[0] = (struct rsvp_id_list){.epoch = 77, .ids = ids, .count = IDS};
	m.count[RSVP_O_ID_LIST] = 1;
	keep();
}

/* --- steps --- */

/* The i-th message is taken as the service takes it. */
static void take(unsigned int i)
{
	struct rsvp_challenge challenge;
	const struct ip_addr *from;

	if (rsvp_read(&rsvp_ext, message[i].data, message[i].bytes, &in) != RSVP_ACCEPTED)
		abort();
	from = in.count[RSVP_O_HOP] ? &in.hop.addr : &previous;
	if (own && rsvp_auth_check(own, now, UNIX_S,
			   &(struct rsvp_received){.m = &in, .data = message[i].data, .source = *from},
			   &challenge) != RSVP_ACCEPTED)
		abort();
	in.send_ttl = 255;
	rsvp_receive(node, now, &in, from, 0);
}

static void make_all(void (*make)(unsigned int i), unsigned int n)
{
	messages = 0;
	for (unsigned int i = 0; i < n; i++)
		make(i);
}

static void take_all(void)
{
	for (unsigned int i = 0; i < messages; i++)
		take(i);
}

static __attribute__((noinline)) void measured(void)
{
	take_all();
}

static void run(void (*make)(unsigned int i), unsigned int n)
{
	make_all(make, n);
	take_all();
}

/* In order: each needs those before it. */
static const struct step {
	const char *name;
	void (*make)(unsigned int i);
	bool aside; /* it is measured on demand, and not part of the way to the others */
} steps[] = {{"init", make_init, false}, {"offer", make_offer, false}, {"commit", make_commit, false},
	{"ack", make_ack, false}, {"update", make_update, true}, {"updates", make_updates, true},
	{"refresh", make_refresh, true}, {"end", make_end, false}, {"endack", make_end_ack, false}};

/* All sessions are refreshed, as often as it takes: what all passes cost together, and the longest one. */
static void load(void (*make)(unsigned int i), unsigned int wanted)
{
	uint64_t all = 0, longest = 0, due;

	for (unsigned int n = 0; n < wanted; n += LOADED) {
		make_all(make, LOADED);
		for (unsigned int i = 0; i < messages;) {
			uint64_t before = clock_ns(), took;

			for (unsigned int k = 0; k < PASS && i < messages; k++)
				take(i++);
			rsvp_poll(node, now, PASS, &due);
			took = clock_ns() - before;
			all += took;
			longest = MAX_OF(longest, took);
		}
	}
	printf("ns %llu\nlongest %llu\n", (unsigned long long)all, (unsigned long long)longest);
}

/* The steps on the way to one, or to that of all sessions when they are loaded. */
static int measure(const char *name, unsigned int n, bool loaded)
{
	for (unsigned int i = 0; i < ARRAY_LEN(steps); i++) {
		uint64_t before;

		if (strcmp(steps[i].name, name) != 0) {
			if (!steps[i].aside)
				run(steps[i].make, loaded ? LOADED : n);
			continue;
		}
		if (loaded) {
			run(steps[i].make, steps[i].aside ? 0 : LOADED);
			load(steps[i].make, n);
			return 0;
		}
		make_all(steps[i].make, n);
		before = clock_ns();
		measured();
		printf("ns %llu\nmessages %u\n", (unsigned long long)(clock_ns() - before), messages);
		return 0;
	}
	return 2;
}

int main(int argc, char **argv)
{
	unsigned int n = argc >= 4 ? (unsigned int)atoi(argv[2]) : 0;
	bool loaded = argc == 5 && !strcmp(argv[4], "load");

	if (!n || (!loaded && n > MOST)) {
		fprintf(stderr, "usage: bench_rsvp STEP N signed|plain [load]\n");
		return 2;
	}
	begin(!strcmp(argv[3], "signed"));
	return measure(argv[1], n, loaded);
}
