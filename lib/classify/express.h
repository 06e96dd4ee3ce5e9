/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the express lane of classification: packets of the most common forms, of which everything is
 * read and compared before anything is written, in words as wide as the headers allow. A packet that is different in
 * any way is left as it is, and classified from its start by classify_dp.c, which is the specification: both must come
 * to the same verdict (test_express.c, the fuzzer of classification). Rx lcores.
 */
#ifndef CLASSIFY_EXPRESS_H
#define CLASSIFY_EXPRESS_H

#include <string.h>

#include "classify/classify_priv.h"

_Static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "words of struct pkt are composed from their members");

/* A member of one byte, as part of the 64-bit word of struct pkt that begins with `first`. */
#define PART(first, member, value) \
	((uint64_t)(value) << 8 * (offsetof(struct pkt, member) - offsetof(struct pkt, first)))

/* Write the 64-bit word of struct pkt that begins with `first`. */
#define EXPRESS_PUT(x, first, word) \
	do { \
		const uint64_t put_ = (word); \
		memcpy((uint8_t *)(x) + offsetof(struct pkt, first), &put_, sizeof(put_)); \
	} while (0)

/* An IP packet of a VRF, as received or after decapsulation, and what its outer headers have given it. */
struct express_inner {
	uint64_t kind; /* pkt.kind without class and egress */
	uint32_t at;   /* offset of its header in the frame */
	uint32_t end;  /* offset of the first byte that cannot belong to it */
	uint32_t sid;  /* pkt.sid */
	uint16_t vrf;
	uint8_t tclass;
};

/* Eight bytes as they lie in memory. */
static inline uint64_t express_word(const void *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/*
 * express_vrf_dp.c: Classify the inner packet by its VRF: to a policy or to a next hop. `received`: no tunnel has ended
 * here. False: it is of another form, and nothing was written.
 */
bool express_forward4(const struct snapshot *s, const struct snap_interface *in, struct rte_mbuf *m,
	const struct express_inner *i);
bool express_forward6(const struct snapshot *s, const struct snap_interface *in, struct rte_mbuf *m,
	const struct express_inner *i, bool received);

#endif
