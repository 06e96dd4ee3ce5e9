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
	assert_true(hmac_equal(out, tlv->hmac, sizeof(out)));
	src.b[15] = 2;
	hmac_of_srh(&k, &src, srh, tlv, out);
	assert_false(hmac_equal(out, tlv->hmac, sizeof(out)));
}

/* RFC 2202 section 2, RFC 4231 section 4; in pieces of any size. */
static void general(void **state)
{
	static const struct {
		enum hmac_digest digest;
		const char *key, *text, *hmac;
	} rows[] = {{HMAC_MD5, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "Hi There", "9294727a3638bb1c13f48ef8158bfc9d"},
		{HMAC_MD5, "4a656665", "what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"},
		{HMAC_SHA256, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "Hi There",
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
		{HMAC_SHA256, "4a656665", "what do ya want for nothing?",
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		uint8_t key[64], out[HMAC_BYTES];
		size_t length = strlen(rows[i].text);
		struct hmac_secret s;

		hmac_secret_prepare(&s, rows[i].digest, key, unit_bytes(rows[i].key, key, sizeof(key)));
		for (size_t cut = 0; cut <= length; cut++) {
			struct hmac_chunk chunk[] = {{rows[i].text, cut}, {rows[i].text + cut, length - cut}};
			size_t n = hmac_of_chunks(&s, chunk, 2, out);

			assert_int_equal(hmac_digest_bytes(&s), n);
			check_bytes(rows[i].text, out, n, rows[i].hmac);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(golden_packet), cmocka_unit_test(general)};

	if (!CRYPTO_set_mem_functions(count_malloc, count_realloc, count_free))
		return 1;
	return cmocka_run_group_tests_name("hmac", tests, NULL, NULL);
}
