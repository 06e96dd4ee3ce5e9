/* SPDX-License-Identifier: BSD-3-Clause */
/* INTEGRITY of RSVP messages (RFC 2747): digests, keys and their times, windows, the handshake. */
#include "test/support/unit.h"

#include "rsvp/rsvp_integrity.h"

#define SECOND 1000000000ull

static const uint8_t seed[16] = {1, 2, 3};

/* A node that signs or verifies. */
struct node {
	struct rsvp_auth *auth;
	struct ip_addr addr;
	uint64_t unix_s;
};

static void add_key(struct rsvp_key *k, uint64_t id, enum hmac_digest digest, uint64_t from_s, uint64_t until_s)
{
	uint8_t secret[16] = {(uint8_t)id, 7};

	*k = (struct rsvp_key){.id = id, .from_s = from_s, .until_s = until_s};
	hmac_secret_prepare(&k->secret, digest, secret, sizeof(secret));
}

static struct node node(unsigned int last, unsigned int senders, unsigned int window, uint64_t unix_s)
{
	struct node n = {.auth = rsvp_auth_new(senders, window, seed, unix_s), .unix_s = unix_s};
	struct rsvp_key k;

	assert_non_null(n.auth);
	n.addr = ip_addr_from4(0x0a000000 + last);
	add_key(&k, 1, HMAC_SHA256, 0, UINT64_MAX);
	rsvp_auth_set_keys(n.auth, &k, 1, 0);
	return n;
}

/* A signed Ack, or a Challenge; its bytes. */
struct sent {
	uint8_t data[256];
	size_t bytes;
};

static struct rsvp_message message;

static struct sent written(struct node *from)
{
	struct sent s = {.bytes = 0};

	s.bytes = rsvp_write(&rsvp_ext, &message, s.data, sizeof(s.data));
	assert_int_not_equal(0, s.bytes);
	if (message.count[RSVP_O_INTEGRITY])
		rsvp_auth_sign(from->auth, s.data, s.bytes);
	return s;
}

static struct sent ack_by(struct node *from, bool handshake)
{
	rsvp_clear(&message, RSVP_ACK);
	message.count[RSVP_O_ACK] = 1;
	message.ack[0] = (struct rsvp_message_id){.id = 5};
	assert_true(rsvp_auth_prepare(from->auth, from->unix_s, &message));
	message.integrity.handshake = handshake;
	return written(from);
}

static struct rsvp_challenge challenged;

static enum rsvp_refusal receive(struct node *to, uint64_t now, const struct node *from, const struct sent *s)
{
	struct rsvp_received r = {.m = &message, .data = s->data, .source = from->addr};
	enum rsvp_refusal refusal = rsvp_read(&rsvp_ext, s->data, s->bytes, &message);

	assert_int_equal(RSVP_ACCEPTED, refusal);
	return rsvp_auth_check(to->auth, now, to->unix_s, &r, &challenged);
}

/* The handshake, as far as it goes. */
static enum rsvp_refusal respond(struct node *to, uint64_t now, struct node *from)
{
	struct rsvp_message challenge = {.challenge = challenged};
	struct sent s;

	if (rsvp_auth_answer(from->auth, from->unix_s, &challenge, &message))
		return RSVP_REFUSED_integrity_key;
	s = written(from);
	return receive(to, now, from, &s);
}

static void test_digests(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 1, 100);
	struct rsvp_key k;

	(void)state;
	for (unsigned int digest = HMAC_SHA256; digest <= HMAC_MD5; digest++) {
		struct sent s;

		add_key(&k, 40 + digest, digest, 0, UINT64_MAX);
		rsvp_auth_set_keys(a.auth, &k, 1, 0);
		rsvp_auth_set_keys(b.auth, &k, 1, 0);
		s = ack_by(&a, false);
		for (size_t i = 8; i < s.bytes; i++) {
			enum rsvp_refusal refusal;
			struct rsvp_received r = {.m = &message, .source = a.addr};
			struct sent t = s;

			t.data[i] ^= 0x10;
			t.data[2] = t.data[3] = 0; /* a forger makes the checksum right, too */
			r.data = t.data;
			if (rsvp_read(&rsvp_ext, t.data, t.bytes, &message) || message.kind != RSVP_ACK)
				continue;
			refusal = rsvp_auth_check(b.auth, 1, 100, &r, &challenged);
			check(refusal, "byte %zu is not protected", i);
		}
		assert_int_equal(RSVP_ACCEPTED, receive(&b, 1, &a, &s));
		assert_int_equal(RSVP_REFUSED_integrity_replayed, receive(&b, 1, &a, &s));
		assert_int_equal(1 + digest - HMAC_SHA256, rsvp_auth_senders(b.auth));
		/* the other digest under the same key id */
		s = ack_by(&a, false);
		add_key(&k, 40 + digest, digest == HMAC_MD5 ? HMAC_SHA256 : HMAC_MD5, 0, UINT64_MAX);
		rsvp_auth_set_keys(b.auth, &k, 1, 0);
		assert_int_equal(RSVP_REFUSED_integrity_digest, receive(&b, 1, &a, &s));
	}
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

static void test_missing_and_unknown(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 1, 100);
	struct rsvp_key k;
	struct sent s = ack_by(&a, false), bare;

	(void)state;
	add_key(&k, 2, HMAC_SHA256, 0, UINT64_MAX);
	rsvp_auth_set_keys(b.auth, &k, 1, 0);
	assert_int_equal(RSVP_REFUSED_integrity_key, receive(&b, 1, &a, &s));
	rsvp_auth_set_keys(a.auth, NULL, 0, 0);
	bare = ack_by(&a, false);
	assert_int_equal(RSVP_REFUSED_integrity_missing, receive(&b, 1, &a, &bare));
	/* a node without keys looks at no INTEGRITY */
	assert_int_equal(RSVP_ACCEPTED, receive(&a, 1, &b, &s));
	assert_int_equal(0, rsvp_auth_senders(b.auth));
	/* a Challenge comes without */
	rsvp_clear(&message, RSVP_CHALLENGE);
	message.count[RSVP_O_CHALLENGE] = 1;
	bare = written(&a);
	assert_int_equal(RSVP_ACCEPTED, receive(&b, 1, &a, &bare));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

/* Messages of 80 s through two roll-overs, by clocks `apart` seconds apart. Returns how many are refused. */
static unsigned int refused_of_roll_over(int apart, uint64_t clock_s)
{
	struct node a = node(1, 8, 32, 980), b = node(2, 8, 32, 980);
	unsigned int by_key[4] = {0}, refused = 0;
	struct rsvp_key k[3];

	add_key(&k[0], 1, HMAC_MD5, 0, 1000);
	add_key(&k[1], 2, HMAC_SHA256, 990, 1020);
	add_key(&k[2], 3, HMAC_SHA256, 1010, 2000);
	rsvp_auth_set_keys(a.auth, k, 3, clock_s);
	rsvp_auth_set_keys(b.auth, k, 3, clock_s);
	for (a.unix_s = 970; a.unix_s < 1050; a.unix_s++) {
		struct sent s = ack_by(&a, false);

		b.unix_s = a.unix_s + (uint64_t)(int64_t)apart;
		refused += receive(&b, 1, &a, &s) != RSVP_ACCEPTED;
		by_key[message.integrity.key_id]++;
	}
	assert_true(by_key[1] == 20 && by_key[2] == 20 && by_key[3] == 40);
	a.unix_s = 2000;
	assert_false(rsvp_auth_prepare(a.auth, a.unix_s, &message));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
	return refused;
}

/* RFC 2747 section 5: no message is lost at the roll-over, as long as the clocks are as close as was said. */
static void test_roll_over(void **state)
{
	(void)state;
	for (int apart = -5; apart <= 5; apart++)
		check(!refused_of_roll_over(apart, 5), "clocks %d s apart", apart);
	assert_int_equal(0, refused_of_roll_over(0, 0));
	assert_int_not_equal(0, refused_of_roll_over(-6, 5));
}

static void test_key_ended(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 1, 100);
	struct rsvp_key k;
	struct sent s;

	(void)state;
	add_key(&k, 1, HMAC_SHA256, 50, 150);
	rsvp_auth_set_keys(a.auth, &k, 1, 0);
	rsvp_auth_set_keys(b.auth, &k, 1, 0);
	s = ack_by(&a, false);
	b.unix_s = 150;
	assert_int_equal(RSVP_REFUSED_integrity_key, receive(&b, 1, &a, &s));
	b.unix_s = 49;
	assert_int_equal(RSVP_REFUSED_integrity_key, receive(&b, 1, &a, &s));
	b.unix_s = 149;
	assert_int_equal(RSVP_ACCEPTED, receive(&b, 1, &a, &s));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

#define RUN 20000

/* Messages in an order in which each is displaced by less than `spread`, some twice; a list of all seen is the model. */
static void check_window(unsigned int window, unsigned int spread, uint64_t random)
{
	static struct sent sent[RUN];
	static bool seen[RUN];
	static unsigned int order[RUN];
	struct node a = node(1, 4, 1, 100), b = node(2, 4, window, 100);
	unsigned int greatest = 0;

	memset(seen, 0, sizeof(seen));
	for (unsigned int i = 0; i < RUN; i++) {
		sent[i] = ack_by(&a, false);
		order[i] = i;
	}
	for (unsigned int i = 1; i < RUN; i++) {
		unsigned int j = i + unit_random(&random) % MIN_OF(spread, RUN - i), x = order[i];

		order[i] = order[j];
		order[j] = unit_random(&random) % 16 ? x : order[i];
	}
	order[0] = 0;
	for (unsigned int i = 0; i < RUN; i++) {
		unsigned int at = order[i];
		enum rsvp_refusal want = RSVP_ACCEPTED, got = receive(&b, 1, &a, &sent[at]);

		if (i && at <= greatest)
			want = greatest - at >= window ? RSVP_REFUSED_integrity_window
			       : seen[at]	       ? RSVP_REFUSED_integrity_replayed
						       : RSVP_ACCEPTED;
		check(got == want, "window %u, spread %u, message %u: %s", window, spread, at, rsvp_refusal_name(got));
		seen[at] = true;
		greatest = MAX_OF(greatest, at);
	}
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

static void test_windows(void **state)
{
	static const unsigned int windows[] = {1, 2, 32, 63, 64, 65, 1000, RSVP_WINDOW_MAX};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_LEN(windows); i++) {
		check_window(windows[i], 1, 1 + i);
		check_window(windows[i], 2 * windows[i], 77 + i);
		check_window(windows[i], 9000, 777 + i);
	}
}

/* 8 paths whose delays differ by 20 ms at 10,000 messages a second. Returns how many are refused (D58). */
static unsigned int refused_of_paths(unsigned int window)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, window, 100);
	static struct sent in_flight[256 * 8];
	unsigned int refused = 0, step_us = 100, spread_us = 20000;

	for (unsigned int i = 0; i < 10000 + 200; i++) {
		if (i < 10000)
			in_flight[i % ARRAY_LEN(in_flight)] = ack_by(&a, false);
		/* path p has p/7 of the spread */
		for (unsigned int p = 0; p < 8; p++) {
			unsigned int late = spread_us * p / 7 / step_us;

			if (i >= late && i - late < 10000 && (i - late) % 8 == p)
				refused += receive(&b, 1, &a, &in_flight[(i - late) % ARRAY_LEN(in_flight)]) != 0;
		}
	}
	assert_in_range(rsvp_auth_window_used(b.auth), 0, 200);
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
	return refused;
}

static void test_paths(void **state)
{
	(void)state;
	assert_int_equal(0, refused_of_paths(8192));
	assert_int_equal(0, refused_of_paths(201));
	assert_in_range(refused_of_paths(32), 5000, 10000); /* the control: RFC 2747's example does not do */
}

static void test_handshake(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 8192, 100);
	struct sent s = ack_by(&a, true), old = s, response;
	struct rsvp_challenge first;

	(void)state;
	assert_int_equal(RSVP_REFUSED_integrity_handshake, receive(&b, SECOND, &a, &s));
	first = challenged;
	assert_true(first.cookie && first.key_id == 1);
	/* challenged again after a while only, with the same cookie */
	assert_int_equal(RSVP_REFUSED_integrity_handshake, receive(&b, SECOND + 1, &a, &s));
	assert_int_equal(0, challenged.cookie);
	assert_int_equal(RSVP_REFUSED_integrity_handshake, receive(&b, SECOND + RSVP_CHALLENGE_NS, &a, &s));
	assert_true(challenged.cookie == first.cookie);
	/* answers with another cookie, by another node, under another key */
	challenged.cookie++;
	assert_int_equal(RSVP_REFUSED_integrity_cookie, respond(&b, SECOND, &a));
	challenged = first;
	challenged.key_id = 2;
	assert_int_equal(RSVP_REFUSED_integrity_key, respond(&b, SECOND, &a));
	challenged = first;
	a.addr.b[3] = 9;
	assert_int_equal(RSVP_REFUSED_integrity_cookie, respond(&b, SECOND, &a));
	a.addr.b[3] = 1;
	challenged = first;
	assert_int_equal(RSVP_ACCEPTED, respond(&b, SECOND, &a));
	response = written(&a);
	s = ack_by(&a, true);
	assert_int_equal(RSVP_ACCEPTED, receive(&b, SECOND, &a, &s));
	assert_int_equal(RSVP_REFUSED_integrity_replayed, receive(&b, SECOND, &a, &s));
	/* what was sent before the handshake is not accepted, nor the response again */
	assert_int_equal(RSVP_REFUSED_integrity_replayed, receive(&b, SECOND, &a, &old));
	assert_int_equal(RSVP_REFUSED_integrity_cookie, receive(&b, SECOND, &a, &response));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

/* A forger provokes neither memory nor challenges. */
static void test_forger(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 8192, 100);
	struct rsvp_key k;
	struct sent s;

	(void)state;
	add_key(&k, 1, HMAC_SHA256, 0, UINT64_MAX);
	hmac_secret_prepare(&k.secret, HMAC_SHA256, (const uint8_t *)"guess", 5);
	rsvp_auth_set_keys(a.auth, &k, 1, 0);
	s = ack_by(&a, true);
	assert_int_equal(RSVP_REFUSED_integrity_digest, receive(&b, SECOND, &a, &s));
	assert_int_equal(0, challenged.cookie);
	assert_int_equal(0, rsvp_auth_senders(b.auth));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

/* A sender restarts, and its clock is behind: the handshake lets it in again. */
static void test_restart(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 4, 8192, 100), again = node(1, 4, 1, 50);
	struct sent s = ack_by(&a, true), old;

	(void)state;
	receive(&b, SECOND, &a, &s);
	assert_int_equal(RSVP_ACCEPTED, respond(&b, SECOND, &a));
	old = ack_by(&a, true);
	assert_int_equal(RSVP_ACCEPTED, receive(&b, 2 * SECOND, &a, &old));
	s = ack_by(&again, true);
	assert_int_equal(RSVP_REFUSED_integrity_window, receive(&b, 3 * SECOND, &again, &s));
	assert_int_not_equal(0, challenged.cookie);
	assert_int_equal(RSVP_ACCEPTED, respond(&b, 3 * SECOND, &again));
	s = ack_by(&again, true);
	assert_int_equal(RSVP_ACCEPTED, receive(&b, 3 * SECOND, &again, &s));
	/* a clock that is ahead needs nothing */
	rsvp_auth_free(again.auth);
	again = node(1, 4, 1, 1000);
	s = ack_by(&again, true);
	assert_int_equal(RSVP_ACCEPTED, receive(&b, 4 * SECOND, &again, &s));
	assert_int_equal(RSVP_REFUSED_integrity_window, receive(&b, 4 * SECOND, &a, &old));
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
	rsvp_auth_free(again.auth);
}

/* Room for a number of senders. A sender whose key is gone makes room. */
static void test_senders(void **state)
{
	struct node a = node(1, 4, 1, 100), b = node(2, 3, 1, 100);
	struct rsvp_key k;

	(void)state;
	for (unsigned int round = 1; round <= 3; round++) {
		add_key(&k, round, HMAC_SHA256, 0, UINT64_MAX);
		rsvp_auth_set_keys(a.auth, &k, 1, 0);
		rsvp_auth_set_keys(b.auth, &k, 1, 0);
		for (unsigned int i = 0; i < 5; i++) {
			struct sent s = ack_by(&a, false);

			a.addr = ip_addr_from4(0x0a000001 + i);
			check(receive(&b, 1, &a, &s) == (i < 3 ? RSVP_ACCEPTED : RSVP_REFUSED_integrity_senders),
				"round %u, sender %u", round, i);
		}
		assert_int_equal(3, rsvp_auth_senders(b.auth));
	}
	rsvp_auth_free(a.auth);
	rsvp_auth_free(b.auth);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(test_digests),
		cmocka_unit_test(test_missing_and_unknown), cmocka_unit_test(test_roll_over),
		cmocka_unit_test(test_key_ended), cmocka_unit_test(test_windows), cmocka_unit_test(test_paths),
		cmocka_unit_test(test_handshake), cmocka_unit_test(test_forger), cmocka_unit_test(test_restart),
		cmocka_unit_test(test_senders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
