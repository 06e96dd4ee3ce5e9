/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single messages to session machines (docs/credit.md 2.3, 2.8, 2.11): forged, late, repeated, of other epochs; what each
 * refusal counts, and that nothing else changes.
 */
#include "test/support/unit.h"

#include "test/support/rsvp_net.h"

static struct net net;
static struct rsvp_message m;
static struct rsvp_instance *session;

/* A session over node 2 that is up. */
static void up(void)
{
	unsigned int through;

	net_init(&net, 99);
	through = net_add(&net);
	net_path(&net, 1, &through);
	session = net_open(&net, 1);
	net_run(&net, NET_S);
	assert_non_null(rsvp_current(session));
	assert_null(net_wrong(&net));
}

static struct rsvp_path_view view(unsigned int node)
{
	struct rsvp_path_view v;

	rsvp_path_show(rsvp_path_next(net.node[node].rsvp, NULL), &v);
	return v;
}

static struct rsvp_node_stats stats(unsigned int node)
{
	return *rsvp_node_stats_of(net.node[node].rsvp);
}

static void receive(unsigned int node, unsigned int from)
{
	rsvp_receive(net.node[node].rsvp, net.now, &m, &net.node[from].addr, 1);
}

/* A 29 of node 2 to the headend: `flags` 0 is an update. */
static void make_reserve(uint8_t flags)
{
	struct rsvp_path_view v = view(0);

	rsvp_clear(&m, flags & (RSVP_CREDIT_OFFER | RSVP_CREDIT_COMMIT) ? RSVP_RESERVE : RSVP_UPDATE);
	m.session = v.session;
	m.hop = (struct rsvp_hop){.addr = net.node[2].addr, .lih = v.lih};
	m.refresh_ms = 30000;
	m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
		.flags = flags ? flags : RSVP_CREDIT_UPDATE,
		.traffic_class = 3,
		.unit = 11,
		.epoch = v.credit_epoch,
		.fccl = 9000,
		.abr = 100,
		.buffer = 8192,
		.sequence = 1000};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
	if (m.kind == RSVP_UPDATE)
		return;
	m.count[RSVP_O_TIME] = m.count[RSVP_O_STYLE] = m.flows = 1;
	m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = v.sender};
}

/* A 28 of the headend to node 2. */
static void make_init(uint32_t epoch, uint8_t flags, uint32_t sequence)
{
	struct rsvp_path_view v = view(0);

	rsvp_clear(&m, RSVP_INIT);
	m.session = v.session;
	m.hop = (struct rsvp_hop){.addr = net.node[0].addr, .lih = v.lih};
	m.refresh_ms = 30000;
	m.sender = v.sender;
	m.path = (struct rsvp_cbfc_path){.nonce = v.nonce,
		.path = v.path,
		.hops = 1,
		.hops_max = 16,
		.addrs = &net.node[0].addr.v6};
	m.cbfc_hop[0] = (struct rsvp_cbfc_hop){.flags = flags,
		.traffic_class = 3,
		.unit = 11,
		.epoch = epoch,
		.sequence = sequence};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_TIME] = m.count[RSVP_O_TEMPLATE] = 1;
	m.count[RSVP_O_TSPEC] = m.count[RSVP_O_CBFC_PATH] = m.count[RSVP_O_CBFC_HOP] = 1;
}

/* A neighbour's R is 32 bits of ms; what it keeps alive here ends all the same. Found by fuzzing. */
static void test_long_refresh(void **state)
{
	(void)state;
	up();
	make_reserve(RSVP_CREDIT_COMMIT);
	m.refresh_ms = 0x80007530;
	receive(0, 2);
	make_init(view(0).credit_epoch, 0, 77);
	m.refresh_ms = UINT32_MAX;
	receive(2, 0);
	net_close(&net, session);
	net.cut[0][2] = net.cut[2][0] = net.cut[1][2] = net.cut[2][1] = true;
	net_run(&net, 2000 * NET_S);
	assert_true(net_is_empty(&net));
	net_free(&net);
}

/* A session gets what its SENDER_TSPEC asks for, in whole units, if that is less than the node offers. */
static void test_asked_buffer(void **state)
{
	static const struct {
		float depth;
		uint32_t units;
	} rows[] = {{2048, 1}, {2049, 2}, {1, 1}, {1e6f, 489}, {0, 8192}, {-5, 8192}, {1e30f, 8192},
		{(float)(0.0 / 0.0), 8192}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		up();
		make_init(0, 0, 1);
		m.path.nonce++;
		m.sender.port++;
		m.hop.lih = 0x70000;
		m.tspec.depth = rows[i].depth;
		receive(2, 0);
		check(stats(2).promised == 8192 + rows[i].units, "%g bytes: %llu units", (double)rows[i].depth,
			(unsigned long long)stats(2).promised - 8192);
		net_free(&net);
	}
}

/* What an update must be of, to be taken (2.3). */
static void test_update_checks(void **state)
{
	(void)state;
	up();
	make_reserve(0);
	m.hop.lih += 256;
	receive(0, 2);
	assert_int_equal(1, stats(0).bad_lih);
	make_reserve(0);
	m.hop.addr.b[15] = 77;
	receive(0, 2);
	assert_int_equal(1, stats(0).bad_hop);
	make_reserve(0);
	m.session.port++;
	receive(0, 2);
	assert_int_equal(1, stats(0).bad_session);
	make_reserve(0);
	m.credit[0].unit = 6;
	receive(0, 2);
	assert_int_equal(1, stats(0).bad_unit);
	make_reserve(RSVP_CREDIT_COMMIT);
	m.flow[0].filter.port++;
	receive(0, 2);
	assert_int_equal(2, stats(0).bad_session);
	assert_int_equal(8192, view(0).fccl);
	/* a good one, an older one, the same again: totals never fall */
	make_reserve(0);
	receive(0, 2);
	assert_int_equal(9000, view(0).fccl);
	m.credit[0].sequence = 999;
	m.credit[0].fccl = 9999;
	receive(0, 2);
	assert_int_equal(9000, view(0).fccl);
	m.credit[0].sequence = 1001;
	m.credit[0].fccl = 8999;
	receive(0, 2);
	assert_int_equal(9000, view(0).fccl);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	/* of a context, C-Type 4 (D50) */
	make_reserve(0);
	m.hop.lih = 0;
	m.credit[0].form = RSVP_CREDIT_OF_CONTEXT;
	m.credit[0].lih = view(0).lih;
	m.credit[0].sequence = 2000;
	m.credit[0].fccl = 10000;
	receive(0, 2);
	assert_int_equal(10000, view(0).fccl);
	net_free(&net);
}

/* An update that names its context by LIH alone stops the path, and the backup is asked for at once. */
static void test_context_stops(void **state)
{
	struct rsvp_path_view v;
	unsigned int inits;

	(void)state;
	net_init(&net, 31);
	for (unsigned int i = 0; i < 2; i++)
		net_path(&net, 1, (unsigned int[]){net_add(&net)});
	session = net_open(&net, 1);
	net_run(&net, NET_S);
	rsvp_path_show(rsvp_current(session), &v);
	make_reserve(0);
	m.hop = (struct rsvp_hop){.addr = v.nhop};
	m.credit[0].form = RSVP_CREDIT_OF_CONTEXT;
	m.credit[0].lih = v.lih;
	m.credit[0].epoch = v.credit_epoch + 77;
	inits = net.kinds[RSVP_INIT];
	receive(0, 2);
	assert_null(rsvp_current(session));
	assert_int_equal(inits + 1, net.kinds[RSVP_INIT]);
	net_run(&net, 500 * NET_MS);
	assert_non_null(rsvp_current(session));
	assert_null(net_wrong(&net));
	net_free(&net);
}

/* Two sessions differ in nothing but LIH and label, and an update has no label: the LIH decides (D43). */
static void test_handle(void **state)
{
	struct rsvp_path_view v, w;
	struct rsvp_path *p;

	(void)state;
	up();
	net_open(&net, 2);
	net_run(&net, NET_S);
	p = rsvp_path_next(net.node[0].rsvp, NULL);
	rsvp_path_show(p, &v);
	rsvp_path_show(rsvp_path_next(net.node[0].rsvp, p), &w);
	assert_int_not_equal(v.lih, w.lih);
	assert_int_not_equal(v.lih >> 8, w.lih >> 8);
	make_reserve(0);
	receive(0, 2);
	rsvp_path_show(p, &v);
	rsvp_path_show(rsvp_path_next(net.node[0].rsvp, p), &w);
	assert_int_equal(9000, v.fccl);
	assert_int_equal(8192, w.fccl);
	net_free(&net);
}

/* Epochs: another one stops the user, and RESYNC brings it back with a new one (2.11). */
static void test_resync(void **state)
{
	uint32_t epoch, inits;

	(void)state;
	up();
	epoch = view(0).credit_epoch;
	assert_int_equal(epoch, view(2).grant_epoch);
	make_reserve(0);
	m.credit[0].epoch = epoch + 77;
	receive(0, 2);
	assert_int_equal(RSVP_U_RESYNC, view(0).user);
	assert_null(rsvp_current(session));
	inits = net.kinds[RSVP_INIT];
	net_run(&net, 99 * NET_MS);
	assert_int_equal(inits, net.kinds[RSVP_INIT]); /* D_idle */
	net_run(&net, 30 * NET_MS);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_int_equal(epoch + 1, view(0).credit_epoch);
	assert_int_equal(8192, view(0).fccl);
	/* the epoch that was left gives nothing and stops nothing */
	make_reserve(0);
	m.credit[0].epoch = epoch;
	receive(0, 2);
	assert_int_equal(1, stats(0).bad_epoch);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_int_equal(8192, view(0).fccl);
	/* one hop only: nothing was passed on, nothing changed below */
	assert_int_equal(RSVP_G_COMMITTED, view(1).grantor);
	net_free(&net);
}

/* The grantor's side of RESYNC: idempotent, and a backlog is a debt of the new epoch (D63). */
static void test_resync_grantor(void **state)
{
	uint32_t epoch, reserves;

	(void)state;
	up();
	epoch = view(2).grant_epoch;
	rsvp_grantor_count(net.node[2].rsvp, net.now, rsvp_path_next(net.node[2].rsvp, NULL), 50, 0, 30);
	make_init(0, RSVP_HOP_IDLE | RSVP_HOP_ASK, 100);
	receive(2, 0);
	assert_int_equal(epoch + 1, view(2).grant_epoch);
	receive(2, 0); /* a repeat, and an older one: the same epoch again */
	make_init(0, RSVP_HOP_IDLE, 99);
	receive(2, 0);
	assert_int_equal(epoch + 1, view(2).grant_epoch);
	make_init(0, 0, 101); /* without IDLE: S of the epoch that there is */
	reserves = net.kinds[RSVP_RESERVE];
	receive(2, 0);
	assert_int_equal(epoch + 1, view(2).grant_epoch);
	assert_int_equal(reserves + 1, net.kinds[RSVP_RESERVE]);
	make_init(epoch + 1, 0, 102); /* a refresh */
	receive(2, 0);
	assert_int_equal(reserves + 1, net.kinds[RSVP_RESERVE]);
	net_free(&net);
}

static void test_backlog(void **state)
{
	(void)state;
	up();
	rsvp_grantor_count(net.node[2].rsvp, net.now, rsvp_path_next(net.node[2].rsvp, NULL), 50, 0, 30);
	make_reserve(0);
	m.credit[0].epoch = 5;
	receive(0, 2);
	net_run(&net, 200 * NET_MS);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_int_equal(8192 - 20, view(0).fccl);
	net_free(&net);
}

/* 28s of a path that is there (D12, D43). */
static void test_init_again(void **state)
{
	static const struct ipv6_addr many[255];
	uint32_t lih, refused;

	(void)state;
	up();
	/* from another previous hop */
	make_init(0, 0, 50);
	m.hop.addr.b[15] = 66;
	receive(2, 0);
	assert_int_equal(1, stats(2).duplicate);
	/* older than the newest: out of order (RFC 2961 section 4.5) */
	make_init(view(0).credit_epoch, 0, 51);
	m.count[RSVP_O_ID] = 1;
	m.id = (struct rsvp_message_id){.epoch = 7, .id = 1000};
	receive(2, 0);
	m.id.id = 999;
	receive(2, 0);
	assert_int_equal(1, stats(2).late);
	/* another LIH of the same path */
	lih = view(2).phop_lih;
	make_init(view(0).credit_epoch, 0, 52);
	m.hop.lih += 256;
	receive(2, 0);
	assert_int_equal(lih + 256, view(2).phop_lih);
	assert_int_equal(1, stats(2).paths);
	/* this device is in the list */
	make_init(0, 0, 53);
	m.path.addrs = &net.node[2].addr.v6;
	receive(2, 0);
	assert_int_equal(1, stats(2).loop);
	/* more devices than may be, on the path that is there */
	refused = (uint32_t)stats(2).refused;
	make_init(view(0).credit_epoch, 0, 54);
	m.path.hops = 255;
	m.path.addrs = many;
	receive(2, 0);
	assert_int_equal(refused + 1, stats(2).refused);
	net_run(&net, 40 * NET_S);
	assert_in_range(net.message.path.hops, 0, 2);
	/* a unit that is not this node's, for a new path */
	refused = (uint32_t)stats(2).refused;
	make_init(0, 0, 1);
	m.path.nonce++;
	m.sender.port++;
	m.hop.lih = 0x70000;
	m.cbfc_hop[0].unit = 6;
	receive(2, 0);
	assert_int_equal(refused + 1, stats(2).refused);
	assert_int_equal(RSVP_G_COMMITTED, view(2).grantor);
	net_free(&net);
}

/* Objects of unknown classes 11xxxxxx, POLICY_DATA and ADSPEC go on, in every refresh; not more than there is room for. */
static void test_passed_on(void **state)
{
	static const uint8_t policy[] = {0, 8, 14, 1, 1, 2, 3, 4}, unknown[] = {0, 8, 201, 5, 9, 9, 9, 9};
	static const uint8_t adspec[12] = {0, 12, 13, 2}, long_adspec[1020] = {3, 0xfc, 13, 2};

	(void)state;
	up();
	make_init(view(0).credit_epoch, 0, 60);
	m.count[RSVP_O_POLICY] = 2;
	m.passed[0] = (struct rsvp_raw){policy, sizeof(policy)};
	m.passed[1] = (struct rsvp_raw){unknown, sizeof(unknown)};
	m.count[RSVP_O_ADSPEC] = 1;
	m.adspec = (struct rsvp_raw){adspec, sizeof(adspec)};
	receive(2, 0);
	net.cut[0][2] = true; /* its own refresh has none of them */
	net.message.kind = RSVP_KIND_COUNT;
	for (unsigned int i = 0; i < 2000 && net.message.kind != RSVP_INIT; i++)
		net_step(&net, net.now + 100 * NET_S);
	assert_int_equal(RSVP_INIT, net.message.kind);
	assert_int_equal(2, net.message.count[RSVP_O_POLICY]);
	assert_memory_equal(unknown, net.message.passed[1].at, sizeof(unknown));
	assert_int_equal(12, net.message.adspec.bytes);
	assert_int_equal(2, net.message.path.hops);
	make_init(view(0).credit_epoch, 0, 61);
	m.count[RSVP_O_POLICY] = m.count[RSVP_O_ADSPEC] = 1;
	m.passed[0] = (struct rsvp_raw){policy, sizeof(policy)};
	m.adspec = (struct rsvp_raw){long_adspec, sizeof(long_adspec)};
	receive(2, 0);
	assert_int_equal(1, stats(2).not_passed);
	net_free(&net);
}

/* The same in S: they go on in the S that results from it, and in its refreshes; no longer than it has them. */
static void test_passed_up(void **state)
{
	static const uint8_t unknown[] = {0, 8, 201, 5, 9, 9, 9, 9}, longest[1028] = {4, 4, 201, 5};

	(void)state;
	for (unsigned int with = 0; with < 3; with++) {
		const struct rsvp_path_view v = (up(), view(2));
		uint64_t until = net.now + 60 * NET_S;

		rsvp_clear(&m, RSVP_RESERVE);
		m.session = v.session;
		m.hop = (struct rsvp_hop){.addr = net.node[1].addr, .lih = v.lih};
		m.refresh_ms = 30000;
		m.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_TOTALS,
			.flags = RSVP_CREDIT_COMMIT,
			.traffic_class = 3,
			.unit = 11,
			.epoch = v.credit_epoch,
			.fccl = 8192,
			.buffer = 8192,
			.sequence = 1000};
		m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_CREDIT] = 1;
		m.count[RSVP_O_TIME] = m.count[RSVP_O_STYLE] = m.flows = 1;
		m.flow[0] = (struct rsvp_flow){.has_spec = true, .has_filter = true, .filter = v.sender};
		m.count[RSVP_O_POLICY] = with > 0;
		m.passed[0] = with == 1 ? (struct rsvp_raw){unknown, sizeof(unknown)}
					: (struct rsvp_raw){longest, sizeof(longest)};
		receive(2, 1);
		net.cut[1][2] = true; /* its own refresh has none */
		net.whole = true;
		net.message.kind = RSVP_KIND_COUNT;
		while ((net.message.kind != RSVP_RESERVE || !(net.message.credit[0].flags & RSVP_CREDIT_COMMIT)) &&
			net_step(&net, until))
			;
		assert_int_equal(RSVP_RESERVE, net.message.kind);
		check(net.message.count[RSVP_O_POLICY] == (with == 1), "with %u", with);
		if (with == 1)
			assert_memory_equal(unknown, net.message.passed[0].at, sizeof(unknown));
		assert_int_equal(with == 2, stats(2).not_passed);
		net_free(&net);
	}
}

/* The LIH of a path comes with another nonce: its user has restarted, and the old path ends without 31. */
static void test_replaced(void **state)
{
	(void)state;
	up();
	make_init(0, 0, 1);
	m.path.nonce++;
	m.sender.port += 1000;
	receive(2, 0);
	net_run(&net, 500 * NET_MS);
	assert_int_equal(0, net.kinds[RSVP_END_ACK] - net.kinds[RSVP_END]);
	assert_int_equal(1, net_grantors(&net, 2, RSVP_G_TOMB));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_TOMB));
	assert_int_equal(1, net_grantors(&net, 1, RSVP_G_COMMITTED));
	assert_int_equal(8192, stats(2).committed);
	net_free(&net);
}

/* A 28 with an epoch, and no credit here: the user must not go on (2.8). */
static void test_believed(void **state)
{
	(void)state;
	up();
	net_run(&net, 10 * NET_S);
	/* the previous hop refuses the S of its grantor: it is stored */
	rsvp_clear(&m, RSVP_RESV_ERR);
	m.session = view(0).session;
	m.hop = (struct rsvp_hop){.addr = net.node[0].addr, .lih = view(0).lih};
	m.error = (struct rsvp_error){.node = net.node[0].addr,
		.code = RSVP_ERROR_ADMISSION,
		.value = RSVP_REFUSE_POOL};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_ERROR] = 1;
	receive(2, 0);
	assert_int_equal(RSVP_G_STORED, view(2).grantor);
	assert_int_equal(8192, stats(2).committed); /* until D_idle is over */
	net_run(&net, 101 * NET_MS);
	assert_int_equal(0, stats(2).committed);
	make_init(view(0).credit_epoch, 0, 500);
	receive(2, 0);
	net_run(&net, 10 * NET_MS);
	assert_int_equal(RSVP_U_DOWN, view(0).user);
	net_free(&net);
}

/* Messages about paths that are not known. */
static void test_unknown(void **state)
{
	struct net_node *far;
	unsigned int sent;

	(void)state;
	up();
	far = &net.node[1];
	make_init(0, 0, 1);
	m.kind = RSVP_END;
	m.hop.lih = 0x99900;
	sent = net.kinds[RSVP_END_ACK];
	for (unsigned int i = 0; i < 1000; i++)
		receive(2, 0);
	assert_in_range(net.kinds[RSVP_END_ACK] - sent, 99, 101); /* the address comes from the message */
	net_lose_all(&net);
	/* 31 for a path that does not end, and with another id */
	make_init(0, 0, 1);
	m.kind = RSVP_END_ACK;
	m.hop = (struct rsvp_hop){.addr = net.node[2].addr, .lih = view(0).lih};
	receive(0, 2);
	assert_int_equal(1, stats(0).no_event);
	/* errors */
	m.kind = RSVP_PATH_ERR;
	m.sender.port += 9;
	m.error = (struct rsvp_error){.node = far->addr, .code = 1, .value = RSVP_REFUSE_ROUTE};
	receive(0, 2);
	assert_int_equal(1, stats(0).no_state);
	m.kind = RSVP_RESV_ERR;
	receive(0, 2);
	assert_int_equal(2, stats(0).no_state);
	m.kind = RSVP_CHALLENGE;
	receive(0, 2);
	assert_int_equal(2, stats(0).no_event);
	assert_null(net_wrong(&net));
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	net_free(&net);
}

/* A 29 for a handle that is not live makes the grantor end that path (ResvErr 3). */
static void test_no_path(void **state)
{
	struct rsvp_path_view v;

	(void)state;
	up();
	v = view(0);
	rsvp_clear(&m, RSVP_RESV_ERR);
	m.session = v.session;
	m.hop = (struct rsvp_hop){.addr = net.node[0].addr, .lih = v.lih};
	m.error = (struct rsvp_error){.node = net.node[0].addr, .code = RSVP_ERROR_NO_PATH};
	m.count[RSVP_O_SESSION] = m.count[RSVP_O_HOP] = m.count[RSVP_O_ERROR] = 1;
	receive(2, 0);
	net_run(&net, 50 * NET_MS);
	assert_int_equal(RSVP_G_TOMB, view(2).grantor);
	assert_int_equal(RSVP_G_TOMB, view(1).grantor);
	net_run(&net, 100 * NET_MS);
	assert_int_equal(0, stats(2).committed);
	net_free(&net);
}

/* Refreshes by id are asked for in full. */
static void test_srefresh(void **state)
{
	static const be32_t ids[] = {{{0, 0, 0, 5}}, {{0, 0, 0, 6}}};

	(void)state;
	up();
	rsvp_clear(&m, RSVP_SREFRESH);
	m.count[RSVP_O_ID_LIST] = 1;
	m.id_list[0] = (struct rsvp_id_list){.epoch = 9, .ids = ids, .count = 2};
	receive(2, 0);
	assert_int_equal(1, net.flying_n);
	assert_int_equal(RSVP_ACCEPTED, rsvp_read(&rsvp_ext, net.flying[0]->data, net.flying[0]->bytes, &net.message));
	assert_int_equal(2, net.message.count[RSVP_O_ACK]);
	assert_true(net.message.ack[1].nack && net.message.ack[1].id == 6 && net.message.ack[1].epoch == 9);
	net_free(&net);
}

/* The first offer is of a reservation from before a restart: no data before RESYNC (2.3). */
static void test_stale_offer(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	net_lose_all(&net);
	make_reserve(RSVP_CREDIT_OFFER);
	m.hop.addr = net.node[1].addr;
	m.credit[0].epoch = 40;
	receive(0, 1);
	assert_int_equal(RSVP_U_OFFER, view(0).user);
	make_reserve(RSVP_CREDIT_COMMIT);
	m.hop.addr = net.node[1].addr;
	m.credit[0].epoch = 40;
	m.credit[0].sequence++;
	receive(0, 1);
	assert_int_equal(RSVP_U_RESYNC, view(0).user);
	net_run(&net, 110 * NET_MS);
	/*
	 * an S that is not the answer: of the epoch that is left, with data counted, with too much credit, that names no
	 * 28, an older one
	 */
	for (unsigned int i = 0; i < 5; i++) {
		make_reserve(RSVP_CREDIT_COMMIT);
		m.credit[0].form = i == 3 ? RSVP_CREDIT_TOTALS : RSVP_CREDIT_OF_CONTEXT;
		m.credit[0].lih = m.hop.lih;
		m.credit[0].echo = i == 4 ? 1 : 2;
		m.hop.addr = net.node[1].addr;
		m.credit[0].epoch = i ? 41 : 40;
		m.credit[0].abr = i == 1 ? 1 : 0;
		m.credit[0].fccl = i == 2 ? 8193 : 8192;
		receive(0, 1);
		check(view(0).user == RSVP_U_RESYNC, "row %u", i);
	}
	/* the grantor has heard a newer one, from before a restart of this node: it goes on after that */
	m.credit[0].echo = 70;
	receive(0, 1);
	net_lose_all(&net);
	net.cut[1][0] = true;
	net_run(&net, 110 * NET_MS);
	assert_int_equal(RSVP_INIT, net.message.kind);
	assert_int_equal(71, net.message.cbfc_hop[0].sequence);
	m.credit[0].echo = 71;
	receive(0, 1);
	assert_int_equal(RSVP_U_COMMITTED, view(0).user);
	assert_int_equal(1, net.node[0].changes);
	net_free(&net);
}

/* An update before the first offer is dropped. */
static void test_early_update(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	session = net_open(&net, 1);
	make_reserve(0);
	m.credit[0].epoch = 4;
	receive(0, 1);
	assert_int_equal(1, stats(0).no_event);
	assert_int_equal(RSVP_U_WAIT, view(0).user);
	net_free(&net);
}

/* No answer at all: a few copies, then one every R, and in the end the path is given up. */
static void test_no_answer(void **state)
{
	(void)state;
	net_init(&net, 5);
	net_path(&net, 0, NULL);
	net.cut[0][1] = true;
	session = net_open(&net, 1);
	net_run(&net, 10 * NET_S);
	assert_int_equal(3, net.kinds[RSVP_INIT]);
	net_run(&net, 140 * NET_S);
	assert_in_range(net.kinds[RSVP_INIT], 5, 12);
	net_run(&net, 20 * NET_S);
	assert_int_equal(RSVP_U_OUT, view(0).user);
	assert_int_equal(1, net.kinds[RSVP_END]);
	net_free(&net);
}

/* R follows the configuration upwards by at most 30 % a step (RFC 2205 section 3.7). */
static void test_slew(void **state)
{
	unsigned int before;

	(void)state;
	up();
	net.whole = true;
	for (unsigned int i = 0; i < 3; i++) {
		net.node[i].config.refresh_ms = 1000;
		net_config(&net, i);
	}
	net_run(&net, 100 * NET_S);
	before = net.kinds[RSVP_INIT];
	net_run(&net, 60 * NET_S);
	assert_in_range(net.kinds[RSVP_INIT] - before, 100, 140);
	for (unsigned int i = 0; i < 3; i++) {
		net.node[i].config.refresh_ms = 1000000;
		net_config(&net, i);
	}
	before = net.kinds[RSVP_INIT];
	net_run(&net, 60 * NET_S);
	assert_in_range(net.kinds[RSVP_INIT] - before, 12, 40); /* 1, 1.3, 1.7, ... s, and not 1,000 s at once */
	assert_null(net_wrong(&net));
	net_free(&net);
}

/* 64 K sessions that are idle cost a pass nothing. */
static void test_idle(void **state)
{
	struct rsvp_config c = rsvp_config_default;
	uint64_t next;

	(void)state;
	up();
	assert_int_equal(0, rsvp_poll(net.node[0].rsvp, net.now, 1000, &next));
	assert_in_range(next, net.now + 1, net.now + 45 * NET_S);
	assert_true(c.paths_max == 65536);
	net_free(&net);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal("committed", rsvp_grantor_state_name(RSVP_G_COMMITTED));
	assert_string_equal("resync", rsvp_user_state_name(RSVP_U_RESYNC));
	assert_string_equal("?", rsvp_user_state_name(77));
	assert_string_equal("?", rsvp_grantor_state_name(77));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_update_checks), cmocka_unit_test(test_handle),
		cmocka_unit_test(test_passed_up), cmocka_unit_test(test_context_stops), cmocka_unit_test(test_resync),
		cmocka_unit_test(test_resync_grantor), cmocka_unit_test(test_backlog),
		cmocka_unit_test(test_init_again), cmocka_unit_test(test_passed_on), cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_believed), cmocka_unit_test(test_unknown), cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_srefresh), cmocka_unit_test(test_stale_offer),
		cmocka_unit_test(test_early_update), cmocka_unit_test(test_no_answer), cmocka_unit_test(test_slew),
		cmocka_unit_test(test_long_refresh), cmocka_unit_test(test_asked_buffer), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
