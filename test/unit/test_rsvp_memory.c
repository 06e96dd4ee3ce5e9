/* SPDX-License-Identifier: BSD-3-Clause */
/* What RSVP sessions take, held against what is really used, and what an update of their credit writes. */
#include "test/support/unit.h"

#include <malloc.h>
#include <stdlib.h>

#include "rsvp/rsvp_node_priv.h"

#define SESSIONS 4096
#define SOFT_STATE_MAX 640 /* bytes of a session, with its share of the tables */
#define UPDATES_MAX 64	   /* of what updates touch, besides */

static const struct ip_addr gateway = {.family = 6, .b = {0xfd, [15] = 9}}, own = {.family = 6, .b = {0xfd, [15] = 2}},
			    previous = {.family = 6, .b = {0xfd, [15] = 1}},
			    next = {.family = 6, .b = {0xfd, [15] = 3}};
static struct rsvp_message m;
static uint32_t lih[SESSIONS]; /* by which the node is answered */
static unsigned int inits;

static void sent(void *arg, const struct rsvp_way *way, struct rsvp_message *out)
{
	(void)arg;
	(void)way;
	if (out->kind == RSVP_INIT)
		lih[out->sender.port - 1] = out->hop.lih;
	inits += out->kind == RSVP_INIT;
}

static int on(void *arg, const struct rsvp_message *init, uint64_t arrival, struct rsvp_way *way)
{
	(void)arg;
	(void)arrival;
	way->to = init->session.dst;
	way->port = 1;
	return RSVP_TRANSIT;
}

static void changed(void *arg, const struct rsvp_path *p, bool carries)
{
	(void)arg;
	(void)p;
	(void)carries;
}

static const struct rsvp_node_ops ops = {.send = sent, .route = on, .changed = changed};

static struct rsvp_node *start(void)
{
	struct rsvp_config c = rsvp_config_default;

	c.addr = own;
	c.paths_max = SESSIONS;
	c.pool = 1ull << 32;
	c.buffer = 1000;
	return rsvp_node_new(&c, &ops, NULL, 1);
}

static void begin(enum rsvp_kind kind, const struct ip_addr *from, uint32_t handle)
{
	rsvp_clear(&m, kind);
	m.session.dst = gateway;
	m.hop = (struct rsvp_hop){*from, handle};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = 1;
}

static struct rsvp_sender sender_of(unsigned int i)
{
	return (struct rsvp_sender){.src = {.family = 6, .b = {0xfd, 1, [14] = (uint8_t)(i >> 8), [15] = (uint8_t)i}},
		.labelled = true,
		.port = i + 1};
}

/* As the previous hop of a gateway sends it: two devices before this one. */
static void init(struct rsvp_node *n, unsigned int i)
{
	const struct ipv6_addr devices[] = {sender_of(0).src.v6, previous.v6};

	begin(RSVP_INIT, &previous, i << 8 | 1);
	m.refresh_ms = 30000;
	m.sender = sender_of(i);
	m.tspec = (struct rsvp_tspec){.rate = 1e9f, .depth = 2048000.0f, .peak = 1e9f, .least = 64, .most = 4200};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.traffic_class = 3, .unit = 11, .sequence = 1};
	m.path = (struct rsvp_cbfc_path){.nonce = i + 1, .path = 1, .hops = 2, .hops_max = 16, .addrs = devices};
	m.offer[0] = (struct rsvp_cbfc_offer){.buffer = 1 << 24, .rate = 100000000000, .path = 1, .hops = 2};
	m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = 1;
	m.count[RSVP_O_CBFC_HOP] = m.count[RSVP_O_CBFC_OFFER] = 1;
	rsvp_receive(n, 1, &m, &previous, 0);
}

static const struct ip_addr *grantor = &next; /* the next hop that gives credit */
static uint32_t epoch = 5;

static void credit(struct rsvp_node *n, unsigned int i, enum rsvp_kind kind, uint8_t flags, uint32_t sequence,
	uint64_t fccl)
{
	begin(kind, grantor, lih[i]);
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags,
		.traffic_class = 3,
		.unit = 11,
		.epoch = epoch,
		.fccl = fccl,
		.buffer = 1000,
		.heartbeat_us = 3000,
		.sequence = sequence};
	m.count[RSVP_O_CREDIT] = 1;
	if (kind == RSVP_RESERVE) {
		m.refresh_ms = 30000;
		m.flow[0] = (struct rsvp_flow){.has_filter = true, .filter = sender_of(i)};
		m.flows = 1;
		m.count[RSVP_O_TIME] = 1;
	}
	rsvp_receive(n, 2, &m, grantor, 0);
}

static size_t allocated(void)
{
	struct mallinfo2 i = mallinfo2();

	return i.uordblks + i.hblkhd;
}

/* With all its paths in use, a node takes what is said: tables, and for each session what is of one. */
static void test_memory(void **state)
{
	size_t before = allocated(), soft = rsvp_bytes_of_session() + rsvp_bytes_of_path(), said, used;
	struct rsvp_node *n = start();

	(void)state;
	assert_non_null(n);
	for (unsigned int i = 0; i < SESSIONS; i++) {
		init(n, i);
		credit(n, i, RSVP_RESERVE, RSVP_CREDIT_OFFER, 1, 1000);
		credit(n, i, RSVP_RESERVE, RSVP_CREDIT_COMMIT, 2, 1000);
	}
	assert_int_equal(SESSIONS, inits);
	assert_int_equal(SESSIONS, rsvp_node_stats_of(n)->paths);
	assert_int_equal(SESSIONS * 1000, rsvp_node_stats_of(n)->committed);
	used = allocated() - before;
	said = SESSIONS * (soft + rsvp_bytes_of_updates()) + rsvp_bytes_of_node() + rsvp_bytes_of_shared(2);
	if (before) /* not with a sanitizer's allocator */
		check(used <= said && used > said - 65536, "%zu bytes are used, and %zu are said", used, said);
	check(soft <= SOFT_STATE_MAX, "%zu bytes of soft state", soft);
	assert_true(rsvp_bytes_of_updates() <= UPDATES_MAX);
	rsvp_node_free(n);
}

/* An update changes one cache line of a session, and nothing else of it. */
static void test_update(void **state)
{
	struct rsvp_node *n = start();
	struct rsvp_path path, *p;
	struct rsvp_instance instance;
	struct rsvp_reservation reservation;
	struct rsvp_context x[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		init(n, i);
		credit(n, i, RSVP_RESERVE, RSVP_CREDIT_OFFER, 1, 1000);
		credit(n, i, RSVP_RESERVE, RSVP_CREDIT_COMMIT, 2, 1000);
	}
	p = rsvp_path_by_lih(n, lih[0]);
	assert_int_equal(RSVP_U_COMMITTED, p->user);
	assert_true((uintptr_t)p->context % CACHE_LINE_BYTES == 0);
	memcpy(&path, p, sizeof(path));
	memcpy(&instance, p->instance, sizeof(instance));
	memcpy(&reservation, p->reservation, sizeof(reservation));
	memcpy(x, n->context, sizeof(x));
	credit(n, 0, RSVP_UPDATE, RSVP_CREDIT_UPDATE, 3, 1400);
	assert_int_equal(1400, p->context->fccl);
	assert_int_equal(3, p->context->sequence);
	assert_memory_equal(&path, p, sizeof(path));
	assert_memory_equal(&instance, p->instance, sizeof(instance));
	assert_memory_equal(&reservation, p->reservation, sizeof(reservation));
	assert_memory_equal(&x[1], &n->context[1], sizeof(x[1])); /* of the other session */
	assert_memory_not_equal(&x[0], &n->context[0], sizeof(x[0]));
	rsvp_node_free(n);
}

/* What nobody uses any more is used again: there is one for each path, and no more. */
static void test_contexts(void **state)
{
	struct rsvp_node *n = start();

	(void)state;
	for (unsigned int i = 0; i < 3 * SESSIONS; i++) {
		unsigned int k = i % 100;

		init(n, k);
		credit(n, k, RSVP_RESERVE, RSVP_CREDIT_OFFER, 1, 1000);
		assert_non_null(rsvp_path_by_lih(n, lih[k])->context);
		begin(RSVP_PATH_ERR, &next, 0);
		m.sender = sender_of(k);
		m.error = (struct rsvp_error){.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_POOL};
		m.count[RSVP_O_TEMPLATE] = m.count[RSVP_O_ERROR] = 1;
		m.count[RSVP_O_HOP] = 0;
		rsvp_receive(n, 3, &m, &next, 0);
		assert_null(rsvp_path_by_lih(n, lih[k])->context);
		rsvp_poll(n, n->now + 1000 * NSEC_PER_SEC, 1000, &(uint64_t){0});
	}
	assert_in_range(n->contexts, 1, 100);
	rsvp_node_free(n);
}

static bool elsewhere(void *arg, const struct rsvp_path *p, struct rsvp_way *way)
{
	(void)arg;
	(void)p;
	way->port = way->port == 1 ? 2 : 1;
	return true;
}

static void offer(struct rsvp_node *n, const struct ip_addr *from, uint32_t of)
{
	grantor = from;
	epoch = of;
	credit(n, 0, RSVP_RESERVE, RSVP_CREDIT_OFFER, 1, 1000);
}

/* A path that comes back to a next hop knows which epochs of it were left (docs/credit.md 2.11). */
static void test_comes_back(void **state)
{
	static const struct ip_addr other = {.family = 6, .b = {0xfd, [15] = 4}};
	struct rsvp_node *n = start();
	struct rsvp_path *p;

	(void)state;
	init(n, 0);
	p = rsvp_path_by_lih(n, lih[0]);
	offer(n, &next, 5);
	offer(n, &next, 6);
	rsvp_routes(n, 3, 0, 1, elsewhere);
	offer(n, &other, 5);
	assert_int_equal(5, p->context->epoch); /* of another one */
	rsvp_routes(n, 4, 0, 1, elsewhere);
	assert_int_equal(RSVP_U_WAIT, p->user);
	offer(n, &next, 5);
	assert_int_equal(1, rsvp_node_stats_of(n)->bad_epoch);
	assert_int_equal(RSVP_U_WAIT, p->user);
	offer(n, &next, 6);
	assert_int_equal(6, p->context->epoch);
	assert_int_equal(RSVP_U_OFFER, p->user);
	grantor = &next;
	epoch = 5;
	rsvp_node_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
