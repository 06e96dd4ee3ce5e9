/* SPDX-License-Identifier: BSD-3-Clause */
/* The RSVP messages of test/vectors (docs/credit.md): read, and written again byte for byte, the signed ones with the key. */
#include "test/support/unit.h"

#include "rsvp/rsvp_integrity.h"

#define KEY "cbfc-test-key-01" /* docs/credit.md 1.9 */
#define FRAME_MAX 2000

static struct rsvp_message message;

struct vector {
	const char *name;
	bool letter;
	enum rsvp_refusal refusal;
	enum rsvp_kind kinds[2];
	unsigned int n;
};

static const struct vector vectors[] = {
	{"v33_rsvp28_path.in", false, RSVP_ACCEPTED, {RSVP_INIT}, 1},
	{"v33_rsvp28_path.out", false, RSVP_ACCEPTED, {RSVP_RESERVE, RSVP_INIT}, 2},
	{"v34_rsvp29_commit.in", false, RSVP_ACCEPTED, {RSVP_RESERVE}, 1},
	{"v34_rsvp29_commit.out", false, RSVP_ACCEPTED, {RSVP_RESERVE}, 1},
	{"v35_rsvp29_update.in", false, RSVP_ACCEPTED, {RSVP_UPDATE}, 1},
	{"v36_rsvp30_end.in", false, RSVP_ACCEPTED, {RSVP_END}, 1},
	{"v36_rsvp30_end.out", false, RSVP_ACCEPTED, {RSVP_END_ACK, RSVP_END}, 2},
	{"v38_rsvp31_endack.in", false, RSVP_ACCEPTED, {RSVP_END_ACK}, 1},
	{"v39_letter_28_29.in", true, RSVP_ACCEPTED, {RSVP_INIT}, 1},
	{"v39_letter_28_29.out", true, RSVP_ACCEPTED, {RSVP_RESERVE, RSVP_INIT}, 2},
	{"v41_rsvp28_bad_checksum.in", false, RSVP_REFUSED_bad_checksum, {RSVP_INIT}, 1},
	{"v43_rsvp28_integrity.in", false, RSVP_ACCEPTED, {RSVP_INIT}, 1},
	{"v43_rsvp28_integrity.out", false, RSVP_ACCEPTED, {RSVP_RESERVE}, 1},
	{"v48_rsvp28_outer_transit.in", false, RSVP_ACCEPTED, {RSVP_INIT}, 1},
	{"v48_rsvp28_outer_transit.out", false, RSVP_ACCEPTED, {RSVP_RESERVE, RSVP_INIT}, 2},
	{"v50_statement.in", false, RSVP_ACCEPTED, {RSVP_MARKER}, 1},
	{"v50_statement.out", false, RSVP_ACCEPTED, {RSVP_UPDATE}, 1},
};

/* The RSVP message in an Ethernet frame: below a router alert, and an outer header. */
static const uint8_t *rsvp_of(const uint8_t *frame, size_t size, size_t *bytes)
{
	size_t at = 14 + 40;
	uint8_t next = frame[14 + 6];

	if (next == 41) {
		next = frame[at + 6];
		at += 40;
	}
	if (next == 0) {
		next = frame[at];
		at += 8u * (frame[at + 1] + 1u);
	}
	assert_int_equal(RSVP_PROTOCOL, next);
	*bytes = size - at;
	return frame + at;
}

/* Written again, the message is the same; its digest is made with the key. */
static void check_again(const char *row, const struct rsvp_numbers *n, const uint8_t *data, size_t bytes)
{
	uint8_t again[FRAME_MAX];
	struct rsvp_key key = {.id = message.integrity.key_id, .until_s = UINT64_MAX};
	struct rsvp_auth *a = rsvp_auth_new(4, 1, (const uint8_t[16]){1}, 1);

	assert_non_null(a);
	hmac_secret_prepare(&key.secret, HMAC_MD5, (const uint8_t *)KEY, strlen(KEY));
	rsvp_auth_set_keys(a, &key, 1, 0);
	message.integrity.handshake = message.count[RSVP_O_INTEGRITY] && data[8 + 4];
	check(rsvp_write(n, &message, again, sizeof(again)) == bytes, "%s: length", row);
	if (message.count[RSVP_O_INTEGRITY]) {
		struct rsvp_received r = {.m = &message, .data = data};
		struct rsvp_challenge challenge;

		rsvp_auth_sign(a, again, bytes);
		check(!rsvp_auth_check(a, 1, 1, &r, &challenge), "%s: digest", row);
	}
	check(!memcmp(again, data, bytes), "%s: written otherwise", row);
	rsvp_auth_free(a);
}

static void check_frame(const struct vector *v, const uint8_t *frame, size_t size, unsigned int i)
{
	const struct rsvp_numbers *n = v->letter ? &rsvp_letter : &rsvp_ext;
	enum rsvp_refusal refusal;
	const uint8_t *data;
	size_t bytes;

	data = rsvp_of(frame, size, &bytes);
	refusal = rsvp_read(n, data, bytes, &message);
	check(refusal == v->refusal, "%s: %s", v->name, rsvp_refusal_name(refusal));
	if (refusal)
		return;
	check(message.kind == v->kinds[i], "%s: %s", v->name, rsvp_kind_name(message.kind));
	check_again(v->name, n, data, bytes);
}

static void test_vectors(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(vectors); i++) {
		uint8_t head[24], frame[FRAME_MAX];
		unsigned int frames = 0;
		uint32_t record[4];
		char path[256];
		FILE *f;

		snprintf(path, sizeof(path), VECTORS "/%s.pcap", vectors[i].name);
		f = fopen(path, "rb");
		check(f && fread(head, sizeof(head), 1, f) == 1, "%s: no file", path);
		for (; fread(record, sizeof(record), 1, f) == 1; frames++) {
			check(record[2] <= sizeof(frame) && frames < vectors[i].n, "%s: too much", path);
			assert_int_equal(1, fread(frame, record[2], 1, f));
			check_frame(&vectors[i], frame, record[2], frames);
		}
		check(frames == vectors[i].n, "%s: %u frames", path, frames);
		fclose(f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
