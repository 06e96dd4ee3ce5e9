/* SPDX-License-Identifier: BSD-3-Clause */
/* HMAC TLVs (RFC 8754 section 2.1.2): the golden packet's, and that making one allocates nothing. */
#include "test/support/unit.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "hmac/hmac.h"

static unsigned int allocations;

static void *count_malloc(size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	allocations++;
	return malloc(n);
}

static void *count_realloc(void *p, size_t n, const char *file, int line)
{
	(void)file;
	(void)line;
	allocations++;
	return realloc(p, n);
}

static void count_free(void *p, const char *file, int line)
{
	(void)file;
	(void)line;
	free(p);
}

/* SRH and TLV of docs/protocol.md's vector v19. */
static const uint8_t golden[] = {0x29, 0x09, 0x04, 0x01, 0x01, 0, 0, 0, 0x5f, 0, 0, 1, 0, 3, 0x0d, 0x46, 0, 0, 0, 0, 0,
	0, 0, 0, 0x5f, 0, 0, 1, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 38, 0, 0, 0, 0, 0, 1, 0xde, 0x0c, 0xb0, 0x5e,
	0x83, 0x18, 0x47, 0x73, 0x22, 0xb1, 0x3d, 0xf5, 0x0b, 0x87, 0x2b, 0x4e, 0xff, 0x7b, 0x76, 0x14, 0x36, 0xe6,
	0x8a, 0xa5, 0x7a, 0x2b, 0x3f, 0xf0, 0x22, 0x8e, 0xd9, 0x57};

/* The counting works. */
static void free_what_is_counted(void)
{
	unsigned int before = allocations;

	OPENSSL_free(OPENSSL_malloc(8));
	assert_int_equal(allocations, before + 1);
}

static void golden_packet(void **state)
{
	const struct srh *srh = (const struct srh *)golden;
	const struct srh_hmac *tlv = (const struct srh_hmac *)(golden + 40);
	struct ipv6_addr src = {{0x20, 0x01, 0x0d, 0xb8, 0, 0x0a, [15] = 1}};
	uint8_t key[32], out[HMAC_BYTES];
	struct hmac_key k;
	unsigned int before;

	for (unsigned int i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)i;
	hmac_prepare(&k, 1, key, sizeof(key), false);
	before = allocations;
	for (unsigned int i = 0; i < 100; i++) {
		memset(out, 0, sizeof(out));
		hmac_of_srh(&k, &src, srh, tlv, out);
		assert_memory_equal(out, tlv->hmac, sizeof(out));
	}
	/* the data path may not allocate; and the counting works */
	assert_int_equal(allocations, before);
	free_what_is_counted();
	assert_true(hmac_equal(out, tlv->hmac));
	src.b[15] = 2;
	hmac_of_srh(&k, &src, srh, tlv, out);
	assert_false(hmac_equal(out, tlv->hmac));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(golden_packet)};

	if (!CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free))
		return 1;
	return cmocka_run_group_tests_name("hmac", tests, NULL, NULL);
}
