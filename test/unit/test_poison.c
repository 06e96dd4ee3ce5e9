/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sanitizer builds see a read past the end of a frame, though the bytes there belong to the same buffer. The
 * reads that must be caught are made on purpose, in a child that is expected to die of them.
 */
#include "test/support/unit.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pkt/pkt.h"
#include "test/support/testbed.h"

static struct rte_mempool *pool;

static struct rte_mbuf *frame_of(uint16_t bytes)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	memset(rte_pktmbuf_mtod(m, void *), 0x5a, bytes);
	m->data_len = bytes;
	m->pkt_len = bytes;
	pkt_poison(m);
	return m;
}

#ifdef PKT_POISONS
/* Does reading the byte at `offset` of a frame of 100 bytes end the process? */
static bool dies(int offset)
{
	/* allocated here: the child would take it from a pool that both share */
	struct rte_mbuf *m = frame_of(100);
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		volatile const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);

		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		_exit(p[offset] == 0x5a ? 0 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	pkt_free(m);
	return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void over_reads_are_seen(void **state)
{
	(void)state;
	assert_false(dies(0));
	assert_false(dies(99));
	assert_true(dies(100)); /* one byte into the tailroom */
	assert_true(dies(-1));	/* one byte into the headroom */
	assert_true(dies(1000));
}
#endif

/* Cutting and freeing keep the poison right: the pool's buffers come back usable. */
static void poison_follows_the_data(void **state)
{
	struct rte_mbuf *m;

	(void)state;
	for (unsigned int i = 0; i < 200; i++) {
		m = frame_of((uint16_t)(60 + i));
		pkt_cut(m, 60);
		assert_int_equal(m->pkt_len, 60);
		assert_int_equal(*rte_pktmbuf_mtod_offset(m, const uint8_t *, 59), 0x5a);
		pkt_free(m);
	}
	assert_int_equal(rte_mempool_in_use_count(pool), 0);
}

/* Cutting a chain frees the buffers behind the cut, wherever it falls. */
static void chains_are_cut(void **state)
{
	(void)state;
	for (uint32_t bytes = 1; bytes <= 300; bytes++) {
		struct rte_mbuf *a = frame_of(100), *b = frame_of(100), *c = frame_of(100);
		uint8_t copy[300];

		a->next = b;
		b->next = c;
		a->nb_segs = 3;
		a->pkt_len = 300;
		pkt_cut(a, bytes);
		assert_int_equal(a->pkt_len, bytes);
		assert_int_equal(a->nb_segs, (bytes + 99) / 100);
		assert_int_equal(pkt_copy_out(a, 0, copy, sizeof(copy)), bytes);
		pkt_free(a);
		assert_int_equal(rte_mempool_in_use_count(pool), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef PKT_POISONS
		cmocka_unit_test(over_reads_are_seen),
#endif
		cmocka_unit_test(poison_follows_the_data),
		cmocka_unit_test(chains_are_cut),
	};

	testbed_eal();
	pool = pkt_pool_create("poison", 1024, 0, 2048, -1, false);
	if (!pool)
		return 1;
	return cmocka_run_group_tests_name("poison", tests, NULL, NULL);
}
