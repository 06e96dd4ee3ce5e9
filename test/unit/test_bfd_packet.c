/* SPDX-License-Identifier: BSD-3-Clause */
/* BFD messages: written, read, refused, signed. */
#include "test/support/unit.h"

#include <stdlib.h>

#include "bfd/bfd_packet.h"

/* both made by another implementation (scapy, and SHA-1 of Python) */
#define UP_POLL "23e0031801020304a1a2a3a40000271000000ce40000c350"
#define DOWN_SIGNED \
	"2154053401020304 00000000 000f4240 00002710 00000000 051c0700 fffffffe " \
	"8be12646e4c157a601e200b4c969b32fc2fcdfd1"

static const struct bfd_key key = {.id = 7,
	.key = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20,
		0x21, 0x22, 0x23}};

/* The parser gets a copy of exactly this size, so that a read past its end is found. */
static enum bfd_refusal read_exact(const void *data, size_t size, struct bfd_packet *out)
{
	uint8_t *copy = malloc(size ? size : 1);
	enum bfd_refusal refusal;

	assert_non_null(copy);
	memcpy(copy, data, size);
	refusal = bfd_packet_read(copy, size, out);
	free(copy);
	return refusal;
}

static void test_written(void **state)
{
	const struct bfd_packet up = {.diag = BFD_DIAG_NEIGHBOR,
		.state = BFD_UP,
		.poll = true,
		.multiplier = 3,
		.my_discr = 0x01020304,
		.your_discr = 0xa1a2a3a4,
		.desired_tx_us = 10000,
		.required_rx_us = 3300,
		.required_echo_us = 50000};
	const struct bfd_packet down = {.diag = BFD_DIAG_EXPIRED,
		.state = BFD_DOWN,
		.final = true,
		.multiplier = 5,
		.my_discr = 0x01020304,
		.desired_tx_us = 1000000,
		.required_rx_us = 10000,
		.has_auth = true,
		.auth_type = BFD_AUTH_METICULOUS_SHA1,
		.key_id = 7,
		.sequence = 0xfffffffe};
	uint8_t message[BFD_MESSAGE_MAX];
	size_t n;

	(void)state;
	check_bytes("up", message, bfd_packet_write(message, &up), UP_POLL);
	n = bfd_packet_write(message, &down);
	bfd_packet_sign(message, n, &key);
	check_bytes("down", message, n, DOWN_SIGNED);
	/* the type that is no SHA1 type is not written */
	assert_int_equal(24, bfd_packet_write(message, &(struct bfd_packet){.has_auth = true, .auth_type = 1}));
}

static void test_read(void **state)
{
	uint8_t message[BFD_MESSAGE_MAX + 8];
	struct bfd_packet p;
	size_t n = unit_bytes(UP_POLL, message, sizeof(message));

	(void)state;
	assert_int_equal(BFD_ACCEPTED, read_exact(message, n, &p));
	assert_int_equal(BFD_DIAG_NEIGHBOR, p.diag);
	assert_int_equal(BFD_UP, p.state);
	assert_true(p.poll && !p.final && !p.demand && !p.independent && !p.has_auth);
	assert_int_equal(3, p.multiplier);
	assert_int_equal(0x01020304, p.my_discr);
	assert_int_equal(0xa1a2a3a4, p.your_discr);
	assert_int_equal(10000, p.desired_tx_us);
	assert_int_equal(3300, p.required_rx_us);
	assert_int_equal(50000, p.required_echo_us);
	assert_int_equal(24, p.bytes);

	n = unit_bytes(DOWN_SIGNED, message, sizeof(message));
	assert_int_equal(BFD_ACCEPTED, read_exact(message, n, &p));
	assert_true(p.has_auth && p.final && !p.poll);
	assert_int_equal(BFD_AUTH_METICULOUS_SHA1, p.auth_type);
	assert_int_equal(7, p.key_id);
	assert_int_equal(0xfffffffe, p.sequence);
	/* what follows in the datagram is not part of the packet */
	message[n] = 0x55;
	assert_int_equal(BFD_ACCEPTED, read_exact(message, n + 1, &p));
	assert_int_equal(52, p.bytes);
	assert_true(bfd_packet_is_signed(message, p.bytes, &key));
}

/* Every bit of a signed packet counts. */
static void test_signature(void **state)
{
	uint8_t message[BFD_MESSAGE_MAX];
	size_t n = unit_bytes(DOWN_SIGNED, message, sizeof(message));
	struct bfd_key other = key;

	(void)state;
	assert_true(bfd_packet_is_signed(message, n, &key));
	for (size_t bit = 0; bit < 8 * n; bit++) {
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
		check(!bfd_packet_is_signed(message, n, &key), "bit %zu", bit);
		message[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	other.key[19] ^= 1;
	assert_false(bfd_packet_is_signed(message, n, &other));
}

struct bad {
	const char *what, *packet;
	enum bfd_refusal refusal;
};

static const struct bad bad[] = {
	{"nothing", "", BFD_REFUSED_length},
	{"23 bytes", "23c0031801020304a1a2a3a40000271000000ce4000000", BFD_REFUSED_length},
	{"version 0", "03c0031801020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_version},
	{"version 2", "43c0031801020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_version},
	{"length 23", "23c0031701020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_length},
	{"length above the datagram", "23c0031901020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_length},
	{"length 25 with authentication", "23c4031901020304a1a2a3a40000271000000ce40000000001", BFD_REFUSED_length},
	{"multiplier 0", "23c0001801020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_multiplier},
	{"multipoint", "23c1031801020304a1a2a3a40000271000000ce400000000", BFD_REFUSED_multipoint},
	{"my discriminator 0", "23c0031800000000a1a2a3a40000271000000ce400000000", BFD_REFUSED_my_discriminator},
	{"Up to nobody", "23c0031801020304000000000000271000000ce400000000", BFD_REFUSED_state},
	{"Init to nobody", "2380031801020304000000000000271000000ce400000000", BFD_REFUSED_state},
	{"Down to nobody", "2340031801020304000000000000271000000ce400000000", BFD_ACCEPTED},
	{"AdminDown to nobody", "2300031801020304000000000000271000000ce400000000", BFD_ACCEPTED},
	{"section of 1 byte", "23c4031a01020304a1a2a3a40000271000000ce4000000000401", BFD_REFUSED_auth_length},
	{"section longer than the packet", "23c4031a01020304a1a2a3a40000271000000ce400000000041c",
		BFD_REFUSED_auth_length},
	{"SHA1 of 27 bytes",
		"23c4033301020304a1a2a3a40000271000000ce400000000 041b0700fffffffe"
		"00000000000000000000000000000000000000",
		BFD_REFUSED_auth_length},
	{"SHA1 with a byte after it",
		"23c4033501020304a1a2a3a40000271000000ce400000000 041c0700fffffffe"
		"0000000000000000000000000000000000000000 00",
		BFD_REFUSED_auth_length},
	{"simple password", "23c4031d01020304a1a2a3a40000271000000ce400000000 0105016162", BFD_ACCEPTED},
};

static void test_refused(void **state)
{
	uint8_t message[BFD_MESSAGE_MAX + 8];
	struct bfd_packet p;
	size_t n;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(bad); i++) {
		n = unit_bytes(bad[i].packet, message, sizeof(message));
		check(read_exact(message, n, &p) == bad[i].refusal, "%s: %s", bad[i].what,
			bfd_refusal_name(read_exact(message, n, &p)));
	}
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal("Up", bfd_state_name(BFD_UP));
	assert_string_equal("?", bfd_state_name(4));
	assert_string_equal("echo function failed", bfd_diag_text(BFD_DIAG_ECHO_FAILED));
	assert_string_equal("reserved", bfd_diag_text(31));
	assert_string_equal("auth_digest", bfd_refusal_name(BFD_REFUSED_auth_digest));
	assert_string_equal("accepted", bfd_refusal_name(BFD_ACCEPTED));
	assert_string_equal("?", bfd_refusal_name(BFD_REFUSAL_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_signature),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
