/* SPDX-License-Identifier: BSD-3-Clause */
/* RSVP messages: read, written, refused. The vectors of docs/credit.md are in test_rsvp_vectors.c. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "rsvp/rsvp_message.h"
#include "test/support/rsvp_capture.h"

struct golden {
	const char *name;
	enum rsvp_kind kind;
	const char *bytes;
};

/* Each object and C-Type, every field with a value of its own. Made by another program (Python's struct). */
static const struct golden goldens[] = {
	{"PATH", RSVP_PATH,
		"11015d393f000080000c180100c0de0100001001000c0101c0000203110012b7000c0301c0000209fffffffe00080501"
		"0000753000080e01010203040008c909aabbccdd000c0b01c00002010000138900240c0200000007010000067f000005"
		"4e6e6b2849f424004f32d05e0000004000001068000c0d020000000101000000"},
	{"RESV", RSVP_RESV,
		"1102718fff0000b80018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"0000000901020304000805010000753000140f0220010db800000000000000000000000200080e010102030400080801"
		"0000000a0024090200000007050000067f0000054e6e6b2849f424004f32d05e000000400000106800180a0220010db8"
		"0000000000000000000000010000138900180a0320010db8000000000000000000000001000abcde"},
	{"RESV wf", RSVP_RESV,
		"1102d162ff000068000c0101c0000203110012b7000c0301c0000209fffffffe000805010000753000080f01c0000202"
		"0008080100000011003009020000000a020000097f0000054e6e6b2849f424004f32d05e000000400000106882000002"
		"4f6e6b280000004d"},
	{"PATH_ERR", RSVP_PATH_ERR,
		"1103cf39ff000080000c1701010d0700000020010018010220010db8000000000000000000000003110112b700180602"
		"20010db80000000000000000000000080101800100180b0320010db8000000000000000000000001000abcde00240c02"
		"00000007010000067f0000054e6e6b2849f424004f32d05e0000004000001068"},
	{"RESV_ERR", RSVP_RESV_ERR,
		"1104acf8ff000064000c0101c0000203110012b7000c0301c0000209fffffffe000c0601c00002080203000000080801"
		"0000000a0024090200000007050000067f0000054e6e6b2849f424004f32d05e0000004000001068000c0a01c0000201"
		"00001389"},
	{"PATH_TEAR", RSVP_PATH_TEAR,
		"11051bdcff0000500018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"000000090102030400180b0220010db800000000000000000000000100001389"},
	{"RESV_TEAR", RSVP_RESV_TEAR,
		"110614c0ff0000580018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"0000000901020304000808010000000a00180a0220010db800000000000000000000000100001389"},
	{"RESV_CONF", RSVP_RESV_CONF,
		"1107f3b7ff0000900018010220010db8000000000000000000000003110112b70018060220010db80000000000000000"
		"000000080000000000140f0220010db80000000000000000000000020008080100000012002409020000000705000006"
		"7f0000054e6e6b2849f424004f32d05e000000400000106800180a0220010db800000000000000000000000100001389"},
	{"ACK", RSVP_ACK, "110de22fff000020000c180100c0de0100001001000c180200c0de0100001002"},
	{"SREFRESH", RSVP_SREFRESH, "110f8f7fff000028000c1701010d07000000200100141901010d07000000000500000006ffffffff"},
	{"CHALLENGE", RSVP_CHALLENGE, "111996a5ff00001c0014400100000102030405f6c0c1c2c3c4c5c6c7"},
	{"RESPONSE", RSVP_RESPONSE,
		"111af6e9ff0000500034040180000102030405f611223344556677880000000000000000000000000000000000000000"
		"0000000000000000000000000014400100000102030405f6c0c1c2c3c4c5c6c7"},
	{"INIT", RSVP_INIT,
		"111c4dd6ff0001540034040180000102030405f611223344556677880000000000000000000000000000000000000000"
		"000000000000000000000000000c180100c0de0100001001000c1701010d0700000020010018010220010db800000000"
		"0000000000000003110112b70018030220010db80000000000000000000000090102030400080501000075300020bc01"
		"00007ed9c0030b0000000000000001000000000500000006000000070030fc0100007ed9deadbeef0007021020010db8"
		"00000000000000000000000920010db800000000000000000000000a0020fd0100007ed9000000123456789b0000005d"
		"21dba000000013890001030000080e01010203040008c909aabbccdd00180b0320010db8000000000000000000000001"
		"000abcde00240c0200000007010000067f0000054e6e6b2849f424004f32d05e0000004000001068000c0d0200000001"
		"01000000"},
	{"MARKER", RSVP_MARKER,
		"111c032eff0000980018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"00000009010203040030bc0200007ed940050b0000000009000001000000000500000006000000070000050100000063"
		"10000000000000010030bc0200007ed980ff060000000008000000000000000100000002000000030000060100000000"
		"0000000000000000"},
	{"RESERVE", RSVP_RESERVE,
		"111d6aacff000108000c180100c0de0100001001000c1701010d0700000020010018010220010db80000000000000000"
		"00000003110112b70018030220010db8000000000000000000000009010203040008050100007530002c7c0300007ed9"
		"40030b000000000700000200000000000000010000000000000001f400000bb8000000040020fd0100007ed900000012"
		"3456789b0000005d21dba00000001389000103800020fd0100007ed9000000123456789c0000005d21dba0000000138a"
		"00020300000808010000000a0024090200000007050000067f0000054e6e6b2849f424004f32d05e0000004000001068"
		"00180a0320010db8000000000000000000000001000abcde"},
	{"RESERVE tagged", RSVP_RESERVE,
		"111d00d0ff00006c000c0101c0000203110012b7000c0301c0000209fffffffe0008050100007530000c7c0100007ed9"
		"00000100000808010000000a0024090200000007050000067f0000054e6e6b2849f424004f32d05e0000004000001068"
		"000c0a01c000020100001389"},
	{"UPDATE", RSVP_UPDATE,
		"111dffcaff0000a00018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"000000090102030400347c0400007ed920030b000000000700000200000000000000010000000000000001f400000bb8"
		"00000004000005010000000c00347c0400007ed920030b00000000080000000000000001000000000000000200000003"
		"00000004000000050000060100000000"},
	{"UPDATE bytes", RSVP_UPDATE,
		"111d5d45ff0000440018010220010db8000000000000000000000003110112b70018030220010db80000000000000000"
		"0000000901020304000c7c0200007ed900001000"},
	{"END", RSVP_END,
		"111e5453ff000084000c1701010d0700000020010018010220010db8000000000000000000000003110112b700180302"
		"20010db8000000000000000000000009010203040020bc0100007ed901030b0000000007000000000000006300000006"
		"000000070008c909aabbccdd00180b0220010db800000000000000000000000100001389"},
	{"END_ACK", RSVP_END_ACK,
		"111f01dfff000088000c180100c0de01000010010018010220010db8000000000000000000000003110112b700180302"
		"20010db800000000000000000000000901020304002c7c0300007ed901030b0000000007000000000000000400000000"
		"000000030000000000000bb80000000900180b0220010db800000000000000000000000100001389"},
};

static struct rsvp_message message; /* too large for the stack of a test that recurses */

/* The reader gets a copy of exactly this size, so that a read past its end is found. */
static uint8_t *exact;

static enum rsvp_refusal read_exact(const struct rsvp_numbers *n, const void *data, size_t size)
{
	free(exact);
	exact = malloc(size ? size : 1);
	assert_non_null(exact);
	memcpy(exact, data, size);
	return rsvp_read(n, exact, size, &message);
}

static void sum(uint8_t *data, size_t size)
{
	data[6] = (uint8_t)(size >> 8);
	data[7] = (uint8_t)size;
	rsvp_checksum(data, size);
}

static void test_read_and_written(void **state)
{
	uint8_t in[512], out[512];

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(goldens); i++) {
		const struct golden *g = &goldens[i];
		size_t n = unit_bytes(g->bytes, in, sizeof(in));
		enum rsvp_refusal refusal = read_exact(&rsvp_ext, in, n);

		check(!refusal, "%s: %s", g->name, rsvp_refusal_name(refusal));
		check(message.kind == g->kind, "%s: %s", g->name, rsvp_kind_name(message.kind));
		check(rsvp_write(&rsvp_ext, &message, out, n) == n, "%s: length", g->name);
		check_bytes(g->name, out, n, g->bytes);
		check(!rsvp_write(&rsvp_ext, &message, out, n - 1), "%s: no room", g->name);
	}
}

static const struct golden *golden_of(enum rsvp_kind kind)
{
	for (unsigned int i = 0; i < ARRAY_LEN(goldens); i++)
		if (goldens[i].kind == kind)
			return &goldens[i];
	return NULL;
}

static size_t read_golden(enum rsvp_kind kind)
{
	uint8_t in[512];
	size_t n = unit_bytes(golden_of(kind)->bytes, in, sizeof(in));

	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
	return n;
}

static void test_init(void **state)
{
	struct ip_addr a;

	(void)state;
	read_golden(RSVP_INIT);
	assert_int_equal(RSVP_FLAG_REFRESH_REDUCTION, message.flags);
	assert_int_equal(255, message.send_ttl);
	assert_true(message.integrity.handshake && message.integrity.digest_bytes == 32);
	assert_int_equal(0x0102030405f6, message.integrity.key_id);
	assert_int_equal(0x1122334455667788, message.integrity.sequence);
	assert_int_equal(1, message.count[RSVP_O_ACK]);
	assert_true(message.ack[0].epoch == 0xc0de01 && message.ack[0].id == 0x1001 && !message.ack[0].nack);
	assert_true(message.id.ack_desired && message.id.epoch == 0x0d0700 && message.id.id == 0x2001);
	ip_addr_parse("2001:db8::3", &a);
	assert_true(ip_addr_equal(&a, &message.session.dst));
	assert_true(message.session.protocol == 17 && message.session.flags == 1 && message.session.port == 4791);
	ip_addr_parse("2001:db8::9", &a);
	assert_true(ip_addr_equal(&a, &message.hop.addr) && message.hop.lih == 0x01020304);
	assert_int_equal(30000, message.refresh_ms);
	assert_true(message.sender.labelled && message.sender.port == 0xabcde);
	assert_true(message.tspec.rate == 1e9f && message.tspec.depth == 2e6f && message.tspec.peak == 3e9f);
	assert_true(message.tspec.least == 64 && message.tspec.most == 4200);
	assert_int_equal(2, message.count[RSVP_O_POLICY]);
	assert_int_equal(8, message.passed[0].bytes);
	assert_int_equal(12, message.adspec.bytes);
}

static void test_init_credit(void **state)
{
	const struct rsvp_cbfc_hop *h = &message.cbfc_hop[0];

	(void)state;
	read_golden(RSVP_INIT);
	assert_true(
		h->flags == (RSVP_HOP_IDLE | RSVP_HOP_ASK) && h->traffic_class == 3 && h->unit == 11 && !h->of_context);
	assert_true(h->epoch == 0 && h->fctbs == (1ull << 40) + 5 && h->sequence == 6 && h->heartbeat_us == 7);
	assert_true(message.path.nonce == 0xdeadbeef && message.path.path == 7 && message.path.hops_max == 16);
	assert_int_equal(2, message.path.hops);
	assert_int_equal(10, message.path.addrs[1].b[15]);
	assert_int_equal(0x123456789b, message.offer[0].buffer);
	assert_int_equal(400000000000, message.offer[0].rate);
	assert_true(message.offer[0].delay_us == 5001 && message.offer[0].path == 1 && message.offer[0].hops == 3);
}

static void test_marker(void **state)
{
	const struct rsvp_cbfc_hop *h = &message.cbfc_hop[0];

	(void)state;
	read_golden(RSVP_MARKER);
	assert_int_equal(2, message.count[RSVP_O_CBFC_HOP]);
	assert_true(h->of_context && h->lih == 0x501 && h->want == 99 && h->fence == (1ull << 60) + 1 && h->epoch == 9);
	assert_true(h[1].traffic_class == RSVP_CLASS_ALL && h[1].lih == 0x601 && h[1].flags == RSVP_HOP_IDLE);
}

static void test_reserve(void **state)
{
	const struct rsvp_credit *c = &message.credit[0];

	(void)state;
	read_golden(RSVP_RESERVE);
	assert_true(c->form == RSVP_CREDIT_TOTALS && c->flags == RSVP_CREDIT_COMMIT && c->unit == 11 && c->epoch == 7);
	assert_true(c->fccl == 1ull << 41 && c->abr == 1ull << 40 && c->buffer == 500 && c->heartbeat_us == 3000);
	assert_int_equal(4, c->sequence);
	assert_int_equal(2, message.count[RSVP_O_CBFC_OFFER]);
	assert_true(message.offer[0].flags == RSVP_OFFER_SELECTED && !message.offer[1].flags);
	assert_int_equal(RSVP_STYLE_FF, message.style);
	assert_true(message.flows == 1 && message.flow[0].has_spec && message.flow[0].filter.port == 0xabcde);
	read_golden(RSVP_UPDATE);
	assert_true(c->form == RSVP_CREDIT_OF_CONTEXT && c->lih == 0x501 && c->echo == 12 &&
		    message.credit[1].lih == 0x601);
}

static void test_lists(void **state)
{
	uint8_t out[512];

	(void)state;
	read_golden(RSVP_SREFRESH);
	assert_int_equal(1, message.count[RSVP_O_ID_LIST]);
	assert_true(message.id_list[0].ack_desired && message.id_list[0].epoch == 0x0d0700 &&
		    message.id_list[0].count == 3);
	assert_int_equal(0xffffffff, be32_get(message.id_list[0].ids[2]));
	read_golden(RSVP_ACK);
	assert_true(!message.ack[0].nack && message.ack[1].nack && message.ack[1].id == 0x1002);
	read_golden(RSVP_CHALLENGE);
	assert_int_equal(0x0102030405f6, message.challenge.key_id);
	assert_int_equal(0xc0c1c2c3c4c5c6c7, message.challenge.cookie);
	read_golden(RSVP_PATH_ERR);
	assert_true(message.error.code == 1 && message.error.value == 0x8001 && message.error.flags == 1);
	read_golden(RSVP_RESV);
	assert_int_equal(2, message.flows);
	/* the second filter has no FLOWSPEC of its own */
	assert_true(!message.flow[1].has_spec && message.flow[1].spec.rate == 1e9f && message.flow[1].filter.labelled);
	/* two FLOWSPECs in a row */
	message.flow[1].has_spec = true;
	message.flow[0].has_filter = false;
	assert_int_equal(RSVP_REFUSED_object_content,
		read_exact(&rsvp_ext, out, rsvp_write(&rsvp_ext, &message, out, sizeof(out))));
}

/* A changed message. At `at`, bytes are replaced; negative: counted from the end. Checksum and length are made right. */
struct bad {
	const char *what;
	enum rsvp_kind kind;
	int at;
	const char *bytes;
	enum rsvp_refusal refusal;
};

/* Offsets of the update: SESSION 8, RSVP_HOP 32, CREDIT 56 and 108. Of the End: MESSAGE_ID 8, SESSION 20, RSVP_HOP 44,
 * CBFC_HOP 68, unknown 100, SENDER_TEMPLATE 108. Of the PathErr: MESSAGE_ID 8, SESSION 20, ERROR_SPEC 44. */
static const struct bad bad[] = {
	{"as it is", RSVP_UPDATE, 5, "aa", RSVP_ACCEPTED},
	{"version 0", RSVP_UPDATE, 0, "01", RSVP_REFUSED_version},
	{"version 2", RSVP_UPDATE, 0, "21", RSVP_REFUSED_version},
	{"type 0", RSVP_UPDATE, 1, "00", RSVP_REFUSED_unknown_type},
	{"type 20, Hello", RSVP_UPDATE, 1, "14", RSVP_REFUSED_unknown_type},
	{"type 32", RSVP_UPDATE, 1, "20", RSVP_REFUSED_unknown_type},
	{"type 255", RSVP_UPDATE, 1, "ff", RSVP_REFUSED_unknown_type},
	{"object of 0 bytes", RSVP_UPDATE, 8, "0000", RSVP_REFUSED_object_length},
	{"object of 3 bytes", RSVP_UPDATE, 8, "0003", RSVP_REFUSED_object_length},
	{"object of 25 bytes", RSVP_UPDATE, 8, "0019", RSVP_REFUSED_object_length},
	{"object of 65,535 bytes", RSVP_UPDATE, 8, "ffff", RSVP_REFUSED_object_length},
	{"object of 65,532 bytes", RSVP_UPDATE, 8, "fffc", RSVP_REFUSED_object_length},
	{"last object runs past the end", RSVP_UPDATE, 108, "0038", RSVP_REFUSED_object_length},
	{"last object ends early, rest is no object", RSVP_UPDATE, 108, "0030", RSVP_REFUSED_object_length},
	{"SESSION IPv4 of 24 bytes", RSVP_UPDATE, 11, "01", RSVP_REFUSED_object_length},
	{"CREDIT C-Type 3 of 52 bytes", RSVP_UPDATE, 59, "03", RSVP_REFUSED_object_length},
	{"epoch 0 in CREDIT", RSVP_UPDATE, 68, "00000000", RSVP_REFUSED_object_content},
	{"class 8 in CREDIT", RSVP_UPDATE, 65, "08", RSVP_REFUSED_object_content},
	{"unit 64 in CREDIT", RSVP_UPDATE, 66, "40", RSVP_REFUSED_object_content},
	{"another enterprise", RSVP_UPDATE, 60, "00007eda", RSVP_REFUSED_unknown_class},
	{"CREDIT of C-Type 9", RSVP_UPDATE, 59, "09", RSVP_REFUSED_unknown_c_type},
	{"class 119", RSVP_UPDATE, 58, "77", RSVP_REFUSED_unknown_class},
	{"class 2", RSVP_UPDATE, 10, "02", RSVP_REFUSED_unknown_class},
	{"SESSION of C-Type 7", RSVP_UPDATE, 11, "07", RSVP_REFUSED_unknown_c_type},
	{"RSVP_HOP twice", RSVP_UPDATE, 10, "03", RSVP_REFUSED_object_repeated},
	{"ERROR_SPEC in an update", RSVP_UPDATE, 34, "06", RSVP_REFUSED_object_misplaced},
	{"no RSVP_HOP", RSVP_UPDATE, 34, "80", RSVP_REFUSED_object_missing},
	{"no SESSION", RSVP_UPDATE, 10, "80", RSVP_REFUSED_object_missing},
	{"one CREDIT is enough", RSVP_UPDATE, 110, "80", RSVP_ACCEPTED},
	{"IPv4 in a session of IPv6", RSVP_PATH_ERR, 44, "000c06010a00000102010000000c80010a0000", RSVP_REFUSED_family},
	{"INTEGRITY second", RSVP_RESPONSE, 8, "001440010000010203040506c0c1c2c3c4c5c6c700340401",
		RSVP_REFUSED_object_order},
	{"FILTER_SPEC without FLOWSPEC", RSVP_RESERVE, 206, "80", RSVP_REFUSED_object_content},
	{"FLOWSPEC of C-Type 1", RSVP_RESERVE, 207, "01", RSVP_REFUSED_unknown_c_type},
	{"FILTER_SPEC of C-Type 9", RSVP_RESERVE, 243, "09", RSVP_REFUSED_unknown_c_type},
	{"no FILTER_SPEC", RSVP_RESERVE, 242, "80", RSVP_REFUSED_object_missing},
	{"style 0", RSVP_RESERVE, -64, "00000000", RSVP_REFUSED_unknown_style},
	{"service 7 in FLOWSPEC", RSVP_RESERVE, -52, "01", RSVP_REFUSED_object_content},
	{"FLOWSPEC of 6 words", RSVP_RESERVE, -54, "0006", RSVP_REFUSED_object_content},
	{"TIME_VALUES after STYLE", RSVP_RESERVE, -24, "000805010000753000108001", RSVP_REFUSED_object_order},
	{"30 without an IP session", RSVP_END, 23, "07", RSVP_REFUSED_recovery_path},
	{"30 without SESSION", RSVP_END, 22, "80", RSVP_REFUSED_recovery_path},
	{"unknown class 11 in End", RSVP_END, 102, "c8", RSVP_ACCEPTED},
	{"unknown class 10 in End", RSVP_END, 102, "bf", RSVP_ACCEPTED},
	{"unknown class 01 in End", RSVP_END, 102, "7f", RSVP_REFUSED_unknown_class},
	{"no sender in End", RSVP_END, 110, "80", RSVP_REFUSED_object_missing},
	{"no port in SESSION", RSVP_END, 42, "0000", RSVP_REFUSED_ports},
	{"MESSAGE_ID in a marker", RSVP_MARKER, 56, "000c1701000000010000000100248001", RSVP_REFUSED_object_misplaced},
	{"CBFC_HOP C-Type 1 in a marker", RSVP_MARKER, 56,
		"0020bc0100007ed940030b0000000009000000000000000000000000000000000010800100000000",
		RSVP_REFUSED_object_content},
	{"CBFC_HOP of class 9", RSVP_MARKER, 65, "09", RSVP_REFUSED_object_content},
	{"no hop in CBFC_PATH", RSVP_INIT, 186, "00", RSVP_REFUSED_object_content},
	{"3 hops in CBFC_PATH of 2", RSVP_INIT, 186, "03", RSVP_REFUSED_object_content},
	{"255 hops in CBFC_PATH of 2", RSVP_INIT, 186, "ff", RSVP_REFUSED_object_content},
};

static void test_refused(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++) {
		const struct bad *b = &bad[i];
		uint8_t in[512], change[64];
		size_t n = unit_bytes(golden_of(b->kind)->bytes, in, sizeof(in));
		size_t size = unit_bytes(b->bytes, change, sizeof(change));
		enum rsvp_refusal refusal;

		memcpy(in + (b->at < 0 ? (int)n + b->at : b->at), change, size);
		sum(in, n);
		refusal = read_exact(&rsvp_ext, in, n);
		check(refusal == b->refusal, "%s: %s", b->what, rsvp_refusal_name(refusal));
	}
}

/* Every way in which a message can be cut, and every bit that the checksum protects. */
static void test_cut_and_flipped(void **state)
{
	uint8_t in[512];
	size_t n = unit_bytes(golden_of(RSVP_INIT)->bytes, in, sizeof(in));

	(void)state;
	for (size_t size = 0; size < n; size++)
		check(read_exact(&rsvp_ext, in, size) == RSVP_REFUSED_length, "%zu bytes", size);
	for (size_t bit = 0; bit < 8 * n; bit++) {
		in[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check(read_exact(&rsvp_ext, in, n) != RSVP_ACCEPTED || (bit / 8 == 2 && !in[2] && !in[3]), "bit %zu",
			bit);
		in[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	in[2] = in[3] = 0; /* none was computed */
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
	in[6] = in[7] = 0;
	assert_int_equal(RSVP_REFUSED_length, read_exact(&rsvp_ext, in, n));
	in[6] = in[7] = 0xff;
	assert_int_equal(RSVP_REFUSED_length, read_exact(&rsvp_ext, in, n));
}

/* The value of an error names the class and C-Type, and the other objects are there to send it (RFC 2205 section 3.10). */
static void test_error_values(void **state)
{
	uint8_t in[512];
	size_t n = unit_bytes(golden_of(RSVP_INIT)->bytes, in, sizeof(in));

	(void)state;
	in[262] = 119; /* the object of class 201 */
	sum(in, n);
	assert_int_equal(RSVP_REFUSED_unknown_class, read_exact(&rsvp_ext, in, n));
	assert_int_equal(RSVP_ERROR_CLASS, message.error.code);
	assert_int_equal(119 << 8 | 9, message.error.value);
	assert_true(message.count[RSVP_O_SESSION] && message.count[RSVP_O_HOP] && message.count[RSVP_O_TEMPLATE]);
	in[262] = 6;
	in[263] = 99;
	sum(in, n);
	assert_int_equal(RSVP_REFUSED_unknown_c_type, read_exact(&rsvp_ext, in, n));
	assert_int_equal(RSVP_ERROR_C_TYPE, message.error.code);
	assert_int_equal(6 << 8 | 99, message.error.value);
	in[262] = 128 | 6; /* ignored, and does not go on */
	sum(in, n);
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
	assert_int_equal(1, message.count[RSVP_O_POLICY]);
	in[262] = 253; /* known, but its C-Type is not: as unknown, it goes on */
	sum(in, n);
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
	assert_int_equal(2, message.count[RSVP_O_POLICY]);
}

/* Types and classes are configuration (D5, D6). */
static void test_numbers(void **state)
{
	struct rsvp_numbers n = rsvp_ext;
	uint8_t out[512];
	size_t bytes;

	(void)state;
	n.type_init = 244;
	n.type_end = 246;
	n.class_credit = 125;
	n.class_hop = 189;
	n.enterprise = 4711;
	read_golden(RSVP_INIT);
	bytes = rsvp_write(&n, &message, out, sizeof(out));
	assert_int_equal(244, out[1]);
	assert_int_equal(RSVP_REFUSED_unknown_type, read_exact(&rsvp_ext, out, bytes));
	assert_int_equal(RSVP_ACCEPTED, read_exact(&n, out, bytes));
	assert_int_equal(1, message.count[RSVP_O_CBFC_HOP]);
	out[1] = 28;
	sum(out, bytes);
	/* objects under another enterprise number are unknown: ignored, or passed on */
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, out, bytes));
	assert_int_equal(0, message.count[RSVP_O_CBFC_HOP] + message.count[RSVP_O_CBFC_PATH]);
	assert_int_equal(4, message.count[RSVP_O_POLICY]);
	/* End by another number is no RecoveryPath, whatever its session */
	read_golden(RSVP_END);
	bytes = rsvp_write(&n, &message, out, sizeof(out));
	out[23] = 7;
	sum(out, bytes);
	assert_int_equal(RSVP_REFUSED_unknown_c_type, read_exact(&n, out, bytes));
	out[1] = 30;
	sum(out, bytes);
	assert_int_equal(RSVP_REFUSED_unknown_type, read_exact(&n, out, bytes));
}

/* Letter mode ignores what ext mode adds, and has one word of credit. */
static void test_letter(void **state)
{
	struct rsvp_numbers with = rsvp_letter;
	uint8_t in[512], out[512];
	size_t n = unit_bytes(golden_of(RSVP_INIT)->bytes, in, sizeof(in));

	(void)state;
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_letter, in, n));
	assert_int_equal(0, message.count[RSVP_O_CBFC_HOP] + message.count[RSVP_O_CBFC_OFFER]);
	assert_int_equal(4, message.count[RSVP_O_POLICY]); /* with CBFC_PATH and CBFC_OFFER, which go on */
	n = unit_bytes(golden_of(RSVP_RESERVE)->bytes, in, sizeof(in));
	assert_int_equal(RSVP_REFUSED_unknown_class, read_exact(&rsvp_letter, in, n));
	read_golden(RSVP_RESERVE);
	message.count[RSVP_O_CBFC_OFFER] = 0;
	message.credit[0] = (struct rsvp_credit){.form = RSVP_CREDIT_LETTER, .amount = 0x12345678};
	with.letter_enterprise = true;
	with.letter_c_type = 5;
	for (unsigned int i = 0; i < 2; i++) {
		n = rsvp_write(i ? &with : &rsvp_letter, &message, out, sizeof(out));
		assert_int_not_equal(0, n);
		assert_int_equal(RSVP_ACCEPTED, read_exact(i ? &with : &rsvp_letter, out, n));
		assert_int_equal(0x12345678, message.credit[0].amount);
		assert_int_equal(RSVP_CREDIT_LETTER, message.credit[0].form);
	}
	assert_int_equal(0, rsvp_write(&rsvp_ext, &message, out, sizeof(out))); /* no object of ext mode */
}

/* NULL objects may be anywhere, of any C-Type and length; they mean nothing, in letter mode neither. */
static void test_null(void **state)
{
	static const struct {
		const struct rsvp_numbers *numbers;
		enum rsvp_kind kind;
	} modes[] = {{&rsvp_ext, RSVP_UPDATE}, {&rsvp_ext, RSVP_INIT}, {&rsvp_letter, RSVP_INIT}};
	static struct rsvp_message without;
	uint8_t in[1024] = {0};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(modes); i++) {
		size_t n = unit_bytes(golden_of(modes[i].kind)->bytes, in, sizeof(in));

		assert_int_equal(RSVP_ACCEPTED, read_exact(modes[i].numbers, in, n));
		without = message;
		for (unsigned int c_type = 0; c_type < 8; c_type++)
			for (unsigned int length = 4; length <= 52; length += 4) {
				memset(in + n, 0, length);
				in[n + 1] = (uint8_t)length;
				in[n + 3] = (uint8_t)c_type;
				sum(in, n + length);
				assert_int_equal(RSVP_ACCEPTED, read_exact(modes[i].numbers, in, n + length));
				assert_memory_equal(without.count, message.count, sizeof(message.count));
			}
	}
}

/* 10,000 objects, and 255 hops. */
static void test_many(void **state)
{
	static struct ipv6_addr addrs[255];
	static uint8_t in[RSVP_BYTES_MAX], out[RSVP_BYTES_MAX];
	size_t n;

	(void)state;
	read_golden(RSVP_INIT);
	message.path.hops = 255;
	message.path.addrs = addrs;
	n = rsvp_write(&rsvp_ext, &message, in, sizeof(in));
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
	assert_int_equal(255, message.path.hops);
	assert_int_equal(n, rsvp_write(&rsvp_ext, &message, out, sizeof(out)));
	assert_memory_equal(in, out, n);
	/* as many objects of 4 bytes as fit, of each sort of class */
	for (unsigned int class_num = 1; class_num < 256; class_num += 50) {
		n = unit_bytes(golden_of(RSVP_UPDATE)->bytes, in, sizeof(in));
		for (; n + 4 < sizeof(in) && n < 40000; n += 4)
			memcpy(in + n, (uint8_t[]){0, 4, (uint8_t)class_num, 77}, 4);
		sum(in, n);
		assert_int_equal(class_num < 128 ? RSVP_REFUSED_unknown_class + (class_num == 1) : RSVP_ACCEPTED,
			read_exact(&rsvp_ext, in, n));
	}
	n = unit_bytes(golden_of(RSVP_END)->bytes, in, sizeof(in));
	for (; n < 40000; n += 4)
		memcpy(in + n, (uint8_t[]){0, 4, 200, 77}, 4);
	sum(in, n);
	assert_int_equal(RSVP_REFUSED_object_repeated, read_exact(&rsvp_ext, in, n));
}

static void test_full_update(void **state)
{
	static uint8_t out[RSVP_BYTES_MAX];
	size_t n;

	(void)state;
	read_golden(RSVP_UPDATE);
	for (unsigned int i = 0; i < RSVP_CREDITS_MAX; i++)
		message.credit[i] = (struct rsvp_credit){.form = RSVP_CREDIT_OF_CONTEXT,
			.epoch = 1 + i,
			.lih = i << 8,
			.traffic_class = 3};
	/* 26 sessions and HMAC-SHA-256 in 1,500 bytes of IPv6 (D50) */
	message.count[RSVP_O_CREDIT] = 26;
	message.count[RSVP_O_INTEGRITY] = 1;
	message.integrity.digest_bytes = 32;
	assert_in_range(rsvp_write(&rsvp_ext, &message, out, sizeof(out)), 1400, 1460);
	message.count[RSVP_O_CREDIT] = RSVP_CREDITS_MAX;
	n = rsvp_write(&rsvp_ext, &message, out, sizeof(out));
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, out, n));
	assert_int_equal(RSVP_CREDITS_MAX, message.count[RSVP_O_CREDIT]);
	assert_int_equal((RSVP_CREDITS_MAX - 1) << 8, message.credit[RSVP_CREDITS_MAX - 1].lih);
	memcpy(out + n, out + n - 52, 52);
	sum(out, n + 52);
	assert_int_equal(RSVP_REFUSED_object_repeated, read_exact(&rsvp_ext, out, n + 52));
}

/* RFC 2961 section 3. */
static void test_bundle(void **state)
{
	uint8_t in[512], out[1500], inner[1500];
	struct rsvp_bundle b;
	struct rsvp_raw rest, one;
	size_t n, bytes;

	(void)state;
	rsvp_bundle_begin(&b, out, sizeof(out));
	assert_int_equal(0, rsvp_bundle_end(&b, 255));
	for (unsigned int i = 0; i < 3; i++) {
		n = unit_bytes(goldens[i].bytes, in, sizeof(in));
		assert_true(rsvp_bundle_add(&b, in, n));
	}
	assert_false(rsvp_bundle_add(&b, inner, sizeof(inner)));
	bytes = rsvp_bundle_end(&b, 255);
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, out, bytes));
	assert_int_equal(RSVP_BUNDLE, message.kind);
	rest = message.body;
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(rsvp_bundle_next(&rest, &one));
		check_bytes(goldens[i].name, one.at, one.bytes, goldens[i].bytes);
	}
	assert_false(rsvp_bundle_next(&rest, &one));
	/* nested, empty, with a rest */
	memcpy(inner, out, bytes);
	rsvp_bundle_begin(&b, inner, sizeof(inner));
	assert_true(rsvp_bundle_add(&b, out, bytes));
	assert_int_equal(RSVP_REFUSED_bundle, read_exact(&rsvp_ext, inner, rsvp_bundle_end(&b, 255)));
	memset(out + bytes, 0, 8);
	sum(out, bytes + 4);
	assert_int_equal(RSVP_REFUSED_bundle, read_exact(&rsvp_ext, out, bytes + 4));
	sum(out, bytes + 8);
	assert_int_equal(RSVP_REFUSED_bundle, read_exact(&rsvp_ext, out, bytes + 8));
	sum(out, 8);
	assert_int_equal(RSVP_REFUSED_bundle, read_exact(&rsvp_ext, out, 8));
}

/* Each golden message as written here, for other software to read (test/support/rsvp_capture.h). */
static void test_captured(void **state)
{
	static const struct ip_addr from = {.family = 6, .b = {0xfd, [15] = 1}},
				    to = {.family = 6, .b = {0xfd, [15] = 2}};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(goldens); i++) {
		uint8_t in[512], out[512];
		size_t n = unit_bytes(goldens[i].bytes, in, sizeof(in));

		assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, in, n));
		n = rsvp_write(&rsvp_ext, &message, out, sizeof(out));
		assert_true(n);
		rsvp_capture_message(&from, &to, out, n);
	}
}

/* A checksum of 0 says that there is none, so one that is computed as 0 is sent as 0xffff (RFC 2205 section 3.1.1). */
static void test_checksum_of_zero(void **state)
{
	uint8_t out[64];
	size_t n;

	(void)state;
	rsvp_clear(&message, RSVP_ACK);
	message.ack[0] = (struct rsvp_message_id){.epoch = 0x123456, .id = 1};
	message.count[RSVP_O_ACK] = 1;
	assert_true(rsvp_write(&rsvp_ext, &message, out, sizeof(out)));
	message.ack[0].id += (uint32_t)(out[2] << 8 | out[3]); /* what the sum lacks */
	n = rsvp_write(&rsvp_ext, &message, out, sizeof(out));
	assert_int_equal(0xff, out[2] & out[3]);
	assert_int_equal(RSVP_ACCEPTED, read_exact(&rsvp_ext, out, n));
	out[n - 1] ^= 1; /* and it counts */
	assert_int_equal(RSVP_REFUSED_bad_checksum, read_exact(&rsvp_ext, out, n));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal("marker", rsvp_kind_name(RSVP_MARKER));
	assert_string_equal("?", rsvp_kind_name(RSVP_KIND_COUNT));
	assert_string_equal("bad_checksum", rsvp_refusal_name(RSVP_REFUSED_bad_checksum));
	assert_string_equal("accepted", rsvp_refusal_name(RSVP_ACCEPTED));
	assert_string_equal("?", rsvp_refusal_name(RSVP_REFUSAL_COUNT));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_and_written), cmocka_unit_test(test_init),
		cmocka_unit_test(test_init_credit), cmocka_unit_test(test_marker), cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_lists), cmocka_unit_test(test_refused), cmocka_unit_test(test_cut_and_flipped),
		cmocka_unit_test(test_error_values), cmocka_unit_test(test_numbers), cmocka_unit_test(test_letter),
		cmocka_unit_test(test_null), cmocka_unit_test(test_many), cmocka_unit_test(test_full_update),
		cmocka_unit_test(test_bundle), cmocka_unit_test(test_captured), cmocka_unit_test(test_checksum_of_zero),
		cmocka_unit_test(test_names)};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(exact);
	return failed;
}
