/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One RSVP message: a byte of options, then the message. What is accepted survives being written, and what is written is
 * accepted; a signed message is found to be signed. A Bundle is read with everything inside. The hop is found in anything, and is
 * that of the message if that one is accepted.
 */
#include "rsvp/rsvp_integrity.h"
#include "test/fuzz/fuzz.h"

#define FRAMED 1 /* length, version and checksum are made right, so that the input gets past them */
#define LETTER 2
#define OTHERS 4 /* types and classes of a configuration */
#define WORD 8	 /* letter mode: with the enterprise word */

static struct rsvp_message message, other;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

static struct rsvp_numbers numbers_of(uint8_t options)
{
	struct rsvp_numbers n = options & LETTER ? rsvp_letter : rsvp_ext;

	n.letter_enterprise = options & WORD;
	if (options & OTHERS) {
		n.type_init = 244;
		n.type_reserve = 245;
		n.type_end = 246;
		n.type_end_ack = 247;
		n.class_credit = 126;
		n.enterprise = 1;
	}
	return n;
}

/* A message with a true digest is accepted once, a changed one never. */
static void check_signature(const struct rsvp_numbers *n)
{
	static uint8_t out[RSVP_BYTES_MAX];
	struct rsvp_received r = {.m = &other, .data = out};
	struct rsvp_auth *a = rsvp_auth_new(2, 8, (const uint8_t *)"0123456789abcdef", 1);
	struct rsvp_challenge challenge;
	struct rsvp_key k = {.id = 7, .until_s = 10};
	size_t bytes;

	hmac_secret_prepare(&k.secret, HMAC_MD5, (const uint8_t *)"key", 3);
	rsvp_auth_set_keys(a, &k, 1, 0);
	must(rsvp_auth_prepare(a, 2, &message), "a key is valid");
	message.integrity.handshake = false;
	bytes = rsvp_write(n, &message, out, sizeof(out));
	if (bytes && message.kind != RSVP_RESPONSE) {
		rsvp_auth_sign(a, out, bytes);
		must(!rsvp_read(n, out, bytes, &other), "with INTEGRITY it is not accepted");
		must(!rsvp_auth_check(a, 1, 2, &r, &challenge), "its own signature");
		must(rsvp_auth_check(a, 1, 2, &r, &challenge) == RSVP_REFUSED_integrity_replayed, "twice");
		out[bytes - 1] ^= 1;
		rsvp_checksum(out, bytes);
		rsvp_auth_free(a);
		a = rsvp_auth_new(2, 8, (const uint8_t *)"0123456789abcdef", 1);
		rsvp_auth_set_keys(a, &k, 1, 0);
		if (!rsvp_read(n, out, bytes, &other))
			must(rsvp_auth_check(a, 1, 2, &r, &challenge), "a changed byte is not found out");
	}
	rsvp_auth_free(a);
}

static void check_accepted(const struct rsvp_numbers *n, size_t size)
{
	static uint8_t first[RSVP_BYTES_MAX], second[RSVP_BYTES_MAX];
	size_t bytes = rsvp_write(n, &message, first, sizeof(first));

	must(bytes && bytes <= size, "%zu bytes of %zu", bytes, size);
	must(*rsvp_kind_name(message.kind) != '?', "a kind without a name");
	must(!rsvp_read(n, first, bytes, &other), "it does not survive being written");
	must(other.kind == message.kind &&
			!memcmp(other.count, message.count,
				sizeof(other.count) - (message.count[RSVP_O_SCOPE] ? sizeof(other.count) : 0)),
		"it was changed");
	must(rsvp_write(n, &other, second, sizeof(second)) == bytes && !memcmp(first, second, bytes), "it was changed");
	if (message.kind != RSVP_CHALLENGE)
		check_signature(n);
}

static void check_message(const struct rsvp_numbers *n, const uint8_t *data, size_t size, bool inside)
{
	enum rsvp_refusal refusal = rsvp_read(n, data, size, &message);
	struct rsvp_raw rest, one;
	struct ip_addr hop;
	bool found = rsvp_peek_hop(data, size, &hop);

	must(*rsvp_refusal_name(refusal) != '?', "a refusal without a name");
	if (refusal)
		return;
	if (message.count[RSVP_O_HOP])
		must(found && hop.family == message.hop.addr.family &&
				!memcmp(hop.b, message.hop.addr.b, hop.family == 4 ? 4 : 16),
			"another hop");
	if (message.kind != RSVP_BUNDLE) {
		check_accepted(n, size);
		return;
	}
	must(!inside, "a Bundle in a Bundle");
	rest = message.body;
	while (rsvp_bundle_next(&rest, &one))
		check_message(n, one.at, one.bytes, true);
	must(!rest.bytes, "a Bundle with a rest");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rsvp_numbers n;
	uint8_t *copy;

	if (!size || size > RSVP_BYTES_MAX)
		return 0;
	n = numbers_of(data[0]);
	copy = fuzz_exact(data + 1, size - 1);
	if (data[0] & FRAMED && size > sizeof(struct rsvp_hdr)) {
		copy[0] = (uint8_t)(RSVP_VERSION << 4 | (copy[0] & 0xf));
		copy[6] = (uint8_t)((size - 1) >> 8);
		copy[7] = (uint8_t)(size - 1);
		rsvp_checksum(copy, size - 1);
	}
	check_message(&n, copy, size - 1, false);
	free(copy);
	return 0;
}
