/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of the lab's nodes: as many buffers as it says, memory for those that were used, last freed first used. */
#include "test/support/unit.h"

#include <sys/resource.h>

#include <rte_mempool.h>

#include "drivers/virtual/pool.h"
#include "pkt/pkt.h"
#include "test/support/testbed.h"

#define BUFFERS 5000u
#define BYTES 384u

static struct rte_mbuf *take(struct rte_mempool *p)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p);

	assert_non_null(m);
	return m;
}

static void it_has_as_many_buffers_as_it_says(void **state)
{
	struct rte_mempool *p = virtual_pool_new("whole", BUFFERS, BYTES);
	static struct rte_mbuf *m[BUFFERS];

	(void)state;
	assert_non_null(p);
	assert_int_equal(rte_pktmbuf_data_room_size(p) - RTE_PKTMBUF_HEADROOM, BYTES);
	for (unsigned int i = 0; i < BUFFERS; i++) {
		check(rte_mempool_avail_count(p) == BUFFERS - i && rte_mempool_in_use_count(p) == i,
			"%u in use: the pool says %u, and %u free", i, rte_mempool_in_use_count(p),
			rte_mempool_avail_count(p));
		m[i] = take(p);
		check(m[i]->pool == p && m[i]->buf_len == BYTES + RTE_PKTMBUF_HEADROOM && m[i]->nb_segs == 1 &&
				m[i]->next == NULL && (uintptr_t)m[i] % RTE_CACHE_LINE_SIZE == 0,
			"buffer %u is not a new one", i);
		memset(rte_pktmbuf_mtod(m[i], void *), (int)i, BYTES);
		*pkt_of(m[i]) = (struct pkt){.next = m[i]};
	}
	assert_null(rte_pktmbuf_alloc(p));
	for (unsigned int i = 0; i < BUFFERS; i++) {
		const uint8_t *data = rte_pktmbuf_mtod(m[i], const uint8_t *);

		check(pkt_of(m[i])->next == m[i] && data[0] == (uint8_t)i && data[BYTES - 1] == (uint8_t)i,
			"buffer %u shares memory with another one", i);
		pkt_free(m[i]);
	}
	assert_int_equal(rte_mempool_in_use_count(p), 0);
	rte_mempool_free(p);
}

static void it_takes_memory_for_what_is_used(void **state)
{
	struct rte_mempool *p = virtual_pool_new("lazy", BUFFERS, BYTES);
	struct rte_mbuf *first = take(p), *second = take(p);

	(void)state;
	check(p->populated_size <= 64, "%u buffers were made for two", p->populated_size);
	pkt_free(first);
	pkt_free(second);
	for (unsigned int i = 0; i < 10 * BUFFERS; i++) {
		struct rte_mbuf *m = take(p);

		check(m == second, "round %u: not the buffer that was freed last", i);
		pkt_free(m);
	}
	check(p->populated_size <= 64, "%u buffers were made for two", p->populated_size);
	rte_mempool_free(p);
}

/* What a device has copied is the next buffer to be used, and counts as in use until the device is through with it. */
static void lent_buffers_are_in_use(void **state)
{
	struct rte_mempool *p = virtual_pool_new("lent", 4, BYTES);
	struct rte_mbuf *m[4];

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		m[i] = take(p);
	m[0]->next = m[1];
	m[0]->nb_segs = 2;
	m[0]->pkt_len = 2;
	m[0]->data_len = m[1]->data_len = 1;
	assert_int_equal(virtual_pool_lend(p, m[0]), 2);
	assert_int_equal(virtual_pool_in_use(p), 3);
	assert_int_equal(rte_mempool_in_use_count(p), 3);
	m[3] = take(p);
	check(m[3] == m[0] || m[3] == m[1], "another buffer than those that were lent");
	assert_int_equal(virtual_pool_in_use(p), 4);
	assert_null(rte_pktmbuf_alloc(p));
	virtual_pool_end_loan(p, 2);
	assert_int_equal(virtual_pool_in_use(p), 2);
	m[0] = take(p);
	m[1] = take(p);
	assert_null(rte_pktmbuf_alloc(p));
	for (unsigned int i = 0; i < 4; i++)
		pkt_free(m[i]);
	assert_int_equal(virtual_pool_in_use(p), 0);
	rte_mempool_free(p);
}

/* A node that leaked buffers is freed anyway, and its pool does not grow meanwhile. */
static void it_is_freed_with_buffers_in_use(void **state)
{
	struct rte_mempool *p = virtual_pool_new("leaky", BUFFERS, BYTES);
	struct rlimit limit, unbounded;
	struct rusage before, after;

	(void)state;
	assert_non_null(p);
	for (unsigned int i = 0; i < BUFFERS / 2; i++)
		take(p);
	getrusage(RUSAGE_SELF, &before);
	getrlimit(RLIMIT_DATA, &unbounded);
	limit = unbounded;
	limit.rlim_cur = 2ul << 30;
	setrlimit(RLIMIT_DATA, &limit); /* growth ends at some point, before the machine does */
	rte_mempool_free(p);
	setrlimit(RLIMIT_DATA, &unbounded);
	getrusage(RUSAGE_SELF, &after);
	check(after.ru_maxrss - before.ru_maxrss < 16384, "%ld KB more while a pool was freed",
		after.ru_maxrss - before.ru_maxrss);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_as_many_buffers_as_it_says),
		cmocka_unit_test(it_takes_memory_for_what_is_used),
		cmocka_unit_test(lent_buffers_are_in_use),
		cmocka_unit_test(it_is_freed_with_buffers_in_use),
	};

	testbed_eal();
	return cmocka_run_group_tests_name("virtual_pool", tests, NULL, NULL);
}
