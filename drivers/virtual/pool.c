/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool of packet buffers that grows on demand up to its size; last freed, first used. Single-threaded. */
#include "drivers/virtual/pool.h"

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_mempool.h>

#include "pkt/pkt.h"

#define OPS_NAME "virtual_pool"
#define FIRST_CHUNK 64 /* buffers; each chunk doubles the pool, up to CHUNK_MAX buffers a chunk */
#define CHUNK_MAX 1024

/* Room for all buffers from the start, so that a free never fails; the kernel backs only pages that are used. */
struct stack {
	unsigned int n;	   /* free buffers */
	unsigned int made; /* buffers that exist */
	unsigned int lent; /* free buffers that count as in use */
	void *object[];
};

static int stack_alloc(struct rte_mempool *mp)
{
	struct stack *s = malloc(sizeof(*s) + mp->size * sizeof(s->object[0]));

	if (s)
		s->n = s->made = s->lent = 0;
	mp->pool_data = s;
	return s ? 0 : -ENOMEM;
}

static void stack_free(struct rte_mempool *mp)
{
	free(mp->pool_data);
}

static int enqueue(struct rte_mempool *mp, void *const *objects, unsigned int n)
{
	struct stack *s = mp->pool_data;

	for (unsigned int i = 0; i < n; i++)
		s->object[s->n++] = objects[i];
	return 0;
}

static void free_chunk(struct rte_mempool_memhdr *chunk, void *arg)
{
	(void)arg;
	free(chunk->addr);
}

/*
 * Add a chunk of buffers to the stack and initialise them. rte_mempool_free takes each buffer out of the pool, and lowers
 * populated_size as it does: with buffers leaked it would find the pool empty and have it grow for ever.
 */
static int grow(struct rte_mempool *mp)
{
	unsigned int n = MIN_OF(MAX_OF(mp->populated_size, (unsigned int)FIRST_CHUNK), (unsigned int)CHUNK_MAX);
	size_t each = mp->header_size + mp->elt_size + mp->trailer_size, bytes;
	struct stack *s = mp->pool_data;
	void *memory;
	int made;

	/* the first call makes the stack */
	if (s && mp->populated_size != s->made)
		return -ENOMEM;
	n = MIN_OF(n, mp->size - mp->populated_size);
	bytes = (n * each + RTE_MEMPOOL_ALIGN - 1) & ~(size_t)(RTE_MEMPOOL_ALIGN - 1);
	memory = n ? aligned_alloc(RTE_MEMPOOL_ALIGN, bytes) : NULL;
	if (!memory)
		return -ENOMEM;
	made = rte_mempool_populate_iova(mp, memory, RTE_BAD_IOVA, bytes, free_chunk, NULL);
	if (made <= 0) {
		free(memory);
		return -ENOMEM;
	}
	s = mp->pool_data;
	s->made += (unsigned int)made;
	for (unsigned int i = 1; i <= (unsigned int)made; i++)
		rte_pktmbuf_init(mp, NULL, s->object[s->n - i], 0);
	return 0;
}

static int dequeue(struct rte_mempool *mp, void **objects, unsigned int n)
{
	struct stack *s = mp->pool_data;

	if (unlikely(s->n - s->lent + mp->size - mp->populated_size < n))
		return -ENOBUFS;
	while (unlikely(s->n < n))
		if (grow(mp) < 0)
			return -ENOBUFS;
	for (unsigned int i = 0; i < n; i++)
		objects[i] = s->object[--s->n];
	return 0;
}

/* Buffers that do not exist yet count as free. */
static unsigned int count(const struct rte_mempool *mp)
{
	const struct stack *s = mp->pool_data;

	return s->n - s->lent + mp->size - mp->populated_size;
}

static const struct rte_mempool_ops ops = {
	.name = OPS_NAME,
	.alloc = stack_alloc,
	.free = stack_free,
	.enqueue = enqueue,
	.dequeue = dequeue,
	.get_count = count,
};
RTE_MEMPOOL_REGISTER_OPS(ops)

struct rte_mempool *virtual_pool_new(const char *name, unsigned int buffers, uint32_t bytes)
{
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = (uint16_t)(bytes + RTE_PKTMBUF_HEADROOM),
		.mbuf_priv_size = sizeof(struct pkt)};
	struct rte_mempool *mp = rte_mempool_create_empty(name, buffers,
		sizeof(struct rte_mbuf) + sizeof(struct pkt) + priv.mbuf_data_room_size, 0, sizeof(priv), SOCKET_ID_ANY,
		RTE_MEMPOOL_F_NO_IOVA_CONTIG | RTE_MEMPOOL_F_NO_SPREAD);

	if (!mp)
		return NULL;
	if (rte_mempool_set_ops_byname(mp, OPS_NAME, NULL) == 0) {
		rte_pktmbuf_pool_init(mp, &priv);
		if (grow(mp) == 0)
			return mp;
	}
	rte_mempool_free(mp);
	rte_errno = ENOMEM;
	return NULL;
}

unsigned int virtual_pool_lend(struct rte_mempool *mp, struct rte_mbuf *m)
{
	struct stack *s = mp->pool_data;
	unsigned int before = s->n;

	pkt_free(m);
	s->lent += s->n - before;
	return s->n - before;
}

void virtual_pool_end_loan(struct rte_mempool *mp, unsigned int n)
{
	struct stack *s = mp->pool_data;

	s->lent -= n;
}

unsigned int virtual_pool_in_use(const struct rte_mempool *mp)
{
	return mp->size - count(mp);
}
