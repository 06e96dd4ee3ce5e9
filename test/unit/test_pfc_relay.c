/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/support/unit.h"

#include <errno.h>

#include "pfc/pfc_relay.h"
#include "pfc/pfc_state.h"

#define G100 100000000000ull
#define G400 400000000000ull
#define HALF 167770ull /* ns of half the longest pause at 100 Gb/s */
#define MS NSEC_PER_MSEC

static const struct pfc_relay_config regenerate = {PFC_RELAY_REGENERATE, G100, 100000, MS};
static const struct pfc_party one = {.sid = 5, .source = {.b = {1}}}, two = {.sid = 5, .source = {.b = {2}}};

static struct pfc_request ask(unsigned int priority, uint16_t quanta)
{
	struct pfc_request r = {.enable = (uint8_t)(1u << priority)};

	r.time[priority] = quanta;
	return r;
}

static void check_request(const char *row, const struct pfc_request *r, uint8_t enable, uint8_t stops)
{
	check(r->enable == enable && pfc_stops(r) == stops, "%s: enables %02x, stops %02x", row, r->enable,
		pfc_stops(r));
}

/* The letter of draft-he: frames are forwarded as received. */
static void transparent(void **state)
{
	const struct pfc_relay_config c = {.mode = PFC_RELAY_TRANSPARENT, .from_bps = G100};
	struct pfc_request in = {.enable = 0x18, .time = {[3] = 777, [4] = 0}}, out;
	struct pfc_relay_port p = {.bps = G400};
	uint64_t next;

	assert_true(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	assert_memory_equal(&in, &out, sizeof(in));
	assert_false(pfc_relay_poll(&p, &c, NSEC_PER_SEC, &out, &next));
	assert_int_equal(next, TIME_NEVER);
	in = (struct pfc_request){0};
	assert_false(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	assert_int_equal(p.sent, 1);
}

/*
 * 65,535 quanta of 100 Gb/s, 335,540 ns, are four times that at 400 Gb/s: the longest pause is renewed each half of it,
 * without a gap, and the last frame ends with the requested time.
 */
static void check_longer(struct pfc_relay_port *p, const struct pfc_relay_config *c)
{
	const uint64_t asked = pfc_quanta_ns(65535, G100), longest = pfc_quanta_ns(65535, G400);
	uint64_t next, end = longest, frames = 0;
	struct pfc_request in = ask(3, 65535), out;

	assert_false(pfc_relay_poll(p, c, 0, &out, &next));
	for (uint64_t now = next; now != TIME_NEVER; now = next, frames++) {
		assert_true(now < end);
		assert_true(pfc_relay_poll(p, c, now, &out, &next));
		assert_int_equal(out.enable, 0x08);
		end = now + pfc_quanta_ns(out.time[3], G400);
	}
	assert_in_range(end, asked, asked + 2); /* a quantum is 1.28 ns */
	assert_int_equal(frames, 7);
	/* XON ends it at once, and a shorter pause replaces it */
	for (unsigned int quanta = 0; quanta <= 16383; quanta += 16383) {
		assert_true(pfc_relay_frame(p, c, &one, &in, 0, &out));
		in = ask(3, (uint16_t)quanta);
		assert_true(pfc_relay_frame(p, c, &one, &in, 10, &out));
		assert_int_equal(out.time[3], 4 * quanta);
		assert_false(pfc_relay_poll(p, c, 10 + longest, &out, &next));
		assert_int_equal(next, TIME_NEVER);
		in = ask(3, 65535);
	}
}

/* D38, 100G to 400G and back, right to one quantum. */
static void scaled(void **state)
{
	struct pfc_relay_config c = {.mode = PFC_RELAY_SCALED, .from_bps = G100};
	struct pfc_relay_port p = {.bps = G400};
	struct pfc_request in = ask(3, 1001), out;

	assert_true(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	assert_int_equal(out.time[3], 4004);
	in = ask(3, 65535);
	assert_true(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	assert_int_equal(out.time[3], 65535);
	check_longer(&p, &c);
	c.from_bps = G400;
	p.bps = G100;
	assert_true(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	assert_int_equal(out.time[3], 16384); /* 16383.75 */
	in = ask(3, 0);
	assert_true(pfc_relay_frame(&p, &c, &one, &in, 0, &out));
	check_request("XON", &out, 0x08, 0);
}

/* One XOFF: new frames keep the gateway paused until the hold ends, then it is resumed. */
static void regenerated(void **state)
{
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request in = ask(3, 65535), out;
	uint64_t next, sent = 0;

	assert_true(pfc_relay_frame(&p, &regenerate, &one, &in, 1000, &out));
	check_request("XOFF", &out, 0x08, 0x08);
	assert_int_equal(out.time[3], 65535);
	assert_false(pfc_relay_poll(&p, &regenerate, 1000, &out, &next));
	assert_int_equal(next, 1000 + HALF);
	/* the hold: 335540 + 100000, but at least 1 ms */
	for (uint64_t now = next; now < 1000 + MS; now = next) {
		assert_true(pfc_relay_poll(&p, &regenerate, now, &out, &next));
		check_request("refresh", &out, 0x08, 0x08);
		assert_int_equal(next, MIN_OF(now + HALF, 1000 + MS));
		sent++;
	}
	assert_int_equal(sent, 5);
	assert_int_equal(p.refreshes, 5);
	assert_true(pfc_relay_poll(&p, &regenerate, next, &out, &next));
	check_request("end of the hold", &out, 0x08, 0);
	assert_int_equal(p.expired, 1);
	assert_int_equal(next, TIME_NEVER);
	assert_int_equal(p.history[3].total_ns, MS);
}

/* Jitter and lost refreshes do not show behind the PE; an XON does at once. */
static void survives_gaps(void **state)
{
	const struct pfc_relay_config c = {PFC_RELAY_REGENERATE, G100, 3 * MS, MS};
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request in = ask(3, 65535), out;
	uint64_t next, now = 0, told = 0;

	assert_true(pfc_relay_frame(&p, &c, &one, &in, now, &out));
	for (unsigned int i = 0; i < 100; i++) {
		/* a frame comes late and the gateway is never out of its pause meanwhile */
		for (uint64_t until = now + 3 * MS; now < until; now += 10000) {
			if (pfc_relay_poll(&p, &c, now, &out, &next)) {
				check_request("refresh", &out, 0x08, 0x08);
				told = now;
			}
			check(now < told + 2 * HALF, "at %llu", (unsigned long long)now);
		}
		assert_false(pfc_relay_frame(&p, &c, &one, &in, now, &out));
	}
	in = ask(3, 0);
	assert_true(pfc_relay_frame(&p, &c, &one, &in, now, &out));
	check_request("XON", &out, 0x08, 0);
	assert_false(pfc_relay_frame(&p, &c, &one, &in, now, &out));
	assert_int_equal(p.expired, 0);
	assert_int_equal(p.history[3].transitions, 1);
}

/* D42 holds behind a relay as well: two far PEs, one gateway. */
static void two_far_ends(void **state)
{
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request stop = ask(3, 65535), go = ask(3, 0), other = ask(4, 9), out;

	assert_true(pfc_relay_frame(&p, &regenerate, &one, &stop, 0, &out));
	assert_false(pfc_relay_frame(&p, &regenerate, &two, &stop, 10, &out));
	assert_false(pfc_relay_frame(&p, &regenerate, &one, &go, 20, &out));
	assert_true(pfc_relay_frame(&p, &regenerate, &one, &other, 30, &out));
	check_request("another priority", &out, 0x10, 0x10);
	assert_true(pfc_relay_frame(&p, &regenerate, &two, &go, 40, &out));
	check_request("the last one", &out, 0x08, 0);
}

/* A hold outlasts its request by the outage, of frames and of states; XON ends it at once. */
static void outlasts_an_outage(void **state)
{
	struct pfc_relay_config c = regenerate;
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request stop = ask(3, 65535), go = ask(3, 0), out;
	uint64_t next;

	c.outage_ns = 50 * MS;
	assert_true(pfc_relay_frame(&p, &c, &one, &stop, 0, &out));
	pfc_relay_poll(&p, &c, 50 * MS, &out, &next);
	assert_int_equal(p.stopped, 0x08);
	pfc_relay_poll(&p, &c, 50 * MS + c.hold_min_ns + c.jitter_ns + 2 * HALF, &out, &next);
	assert_int_equal(p.stopped, 0);
	assert_true(pfc_relay_state(&p, &c, &one, 0x08, 0x08, 20 * MS, 100 * MS, &out));
	pfc_relay_poll(&p, &c, 170 * MS - 1, &out, &next);
	assert_int_equal(p.stopped, 0x08);
	assert_true(pfc_relay_frame(&p, &c, &one, &go, 170 * MS - 1, &out));
	assert_int_equal(p.stopped, 0);
}

/* After a start everything is stopped until a far PE has spoken about it, or for one hold. */
static void starts_stopped(void **state)
{
	struct pfc_relay_config c = regenerate;
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request go = ask(3, 0), stop = ask(4, 65535), out;
	uint64_t next;

	c.outage_ns = 50 * MS;
	assert_true(pfc_relay_start(&p, &c, 0x38, 0, 0, &out));
	check_request("all", &out, 0x38, 0x38);
	assert_true(pfc_relay_frame(&p, &c, &one, &go, MS, &out));
	check_request("one may go on", &out, 0x08, 0);
	assert_false(pfc_relay_frame(&p, &c, &one, &stop, MS, &out));
	pfc_relay_poll(&p, &c, 50 * MS, &out, &next);
	assert_int_equal(p.stopped, 0x30);
	pfc_relay_poll(&p, &c, 51 * MS + c.hold_min_ns + c.jitter_ns + 2 * HALF, &out, &next);
	assert_int_equal(p.stopped, 0);
	/* by state messages: for a lease and the outage */
	assert_true(pfc_relay_start(&p, &c, 0x08, 20 * MS, 200 * MS, &out));
	pfc_relay_poll(&p, &c, 270 * MS - 1, &out, &next);
	assert_int_equal(p.stopped, 0x08);
	pfc_relay_poll(&p, &c, 270 * MS, &out, &next);
	assert_int_equal(p.stopped, 0);
}

/* XON is repeated for the time of an outage, and said for a gateway that falls silent. */
static void repeats_xon(void **state)
{
	struct pfc_relay_config c = regenerate;
	struct pfc_thinner t = {.bps = G100};
	struct pfc_request stop = ask(3, 65535), go = ask(3, 0), out;
	uint64_t next = 0, last = 0;
	unsigned int n = 0;

	c.outage_ns = 50 * MS;
	assert_true(pfc_thinner_frame(&t, &c, &stop, 0));
	assert_true(pfc_thinner_frame(&t, &c, &go, 10));
	for (uint64_t now = 10; pfc_thinner_poll(&t, &c, now, &out, &next) || next != TIME_NEVER; now = next) {
		if (!out.enable)
			continue;
		check_request("XON", &out, 0x08, 0);
		last = now;
		n++;
	}
	assert_int_equal(n, 2 + 10);
	assert_true(last >= 50 * MS && last < 56 * MS);
	/* a change of mind ends that */
	assert_true(pfc_thinner_frame(&t, &c, &go, 100 * MS) || true);
	assert_true(pfc_thinner_frame(&t, &c, &stop, 100 * MS));
	assert_false(pfc_thinner_poll(&t, &c, 102 * MS, &out, &next));
	/* 336 us of pause, and 5 ms of silence */
	assert_true(next > 105 * MS && next < 106 * MS);
	assert_false(pfc_thinner_poll(&t, &c, next - 1, &out, &next));
	assert_true(pfc_thinner_poll(&t, &c, next, &out, &next));
	check_request("XON after silence", &out, 0x08, 0);
}

/* At most one refresh in a third of the hold; changes at once; the receiver's hold never ends in between. */
static void thinned(void **state)
{
	struct pfc_request stop = ask(3, 65535), go = ask(3, 0), nothing = {0};
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_thinner t = {0};
	struct pfc_request out;
	uint64_t now = 0, next;

	assert_false(pfc_thinner_frame(&t, &regenerate, &nothing, 0));
	assert_true(pfc_thinner_frame(&t, &regenerate, &go, 0)); /* the first word: the far PE may know another one */
	assert_false(pfc_thinner_frame(&t, &regenerate, &go, 0));
	for (; now < 20 * MS; now += HALF) {
		if (pfc_thinner_frame(&t, &regenerate, &stop, now))
			pfc_relay_frame(&p, &regenerate, &one, &stop, now, &out);
		pfc_relay_poll(&p, &regenerate, now, &out, &next);
		check(p.stopped == 0x08, "at %llu", (unsigned long long)now);
	}
	assert_int_equal(t.passed, 1 + 60); /* 20 ms / (2 * HALF = 335 us, the first one that is 333 us apart) */
	assert_true(pfc_thinner_frame(&t, &regenerate, &go, now));
	assert_false(pfc_thinner_frame(&t, &regenerate, &go, now));
	assert_true(pfc_thinner_frame(&t, &regenerate, &stop, now + 1));
	/* one priority's changes do not use up the other one's refreshes */
	for (uint64_t at = now; at < now + 10 * MS; at += HALF) {
		struct pfc_request flap = ask(5, (at - now) / HALF % 2 ? 0 : 100);

		assert_true(pfc_thinner_frame(&t, &regenerate, &flap, at));
		pfc_thinner_frame(&t, &regenerate, &stop, at);
		assert_true(at < t.sent_at[3] + MS / 2);
	}
	/* the receiver has forgotten: said again at once, not as a refresh */
	assert_true(pfc_thinner_frame(&t, &regenerate, &stop, now + 100 * MS));
	/* the letter: every frame that says anything goes */
	for (unsigned int mode = PFC_RELAY_TRANSPARENT; mode < PFC_RELAY_REGENERATE; mode++) {
		const struct pfc_relay_config c = {.mode = (uint8_t)mode, .from_bps = G100};

		t = (struct pfc_thinner){0};
		for (unsigned int i = 0; i < 10; i++)
			assert_true(pfc_thinner_frame(&t, &c, i % 3 ? &go : &stop, i));
		assert_false(pfc_thinner_frame(&t, &c, &nothing, 11));
	}
}

static void state_codec(void **state)
{
	static const struct {
		const char *row, *bytes;
		size_t size;
		int rc;
	} rows[] = {
		{"good", "01 00 18 08 00000007 00000009 0000c350 00000002", 20, 0},
		{"longer", "01 00 18 08 00000007 00000009 0000c350 00000002 ff", 21, 0},
		{"longest lease", "01 00 18 08 00000007 00000009 000186a0 00000000", 20, 0},
		{"short", "01 00 18 08 00000007 00000009 0000c350 000000", 19, -EINVAL},
		{"version", "02 00 18 08 00000007 00000009 0000c350 00000000", 20, -EINVAL},
		{"flags", "01 01 18 08 00000007 00000009 0000c350 00000000", 20, -EINVAL},
		{"lease too long", "01 00 18 08 00000007 00000009 000186a1 00000000", 20, -EINVAL},
		{"XOFF without lease", "01 00 18 08 00000007 00000009 00000000 00000000", 20, -EINVAL},
		{"XON without lease", "01 00 18 00 00000007 00000009 00000000 00000000", 20, 0},
		{"XOFF of what it does not speak for", "01 00 18 f0 00000007 00000009 0000c350 00000000", 20, 0},
	};
	struct pfc_state_msg m;
	struct pfc_state s;
	uint8_t data[32];

	for (unsigned int i = 0; i < ARRAY_LEN(rows); i++) {
		unit_bytes(rows[i].bytes, data, sizeof(data));
		check(pfc_state_read(data, rows[i].size, &s) == rows[i].rc, "%s", rows[i].row);
		check(rows[i].rc || (s.stopped & ~s.speaks_for) == 0, "%s", rows[i].row);
	}
	unit_bytes(rows[0].bytes, data, sizeof(data));
	assert_int_equal(pfc_state_read(data, 20, &s), 0);
	assert_int_equal(s.lease_ns, 50 * MS);
	assert_int_equal(s.slice, 2);
	pfc_state_write(&m, &s);
	check_bytes("written", &m, sizeof(m), rows[0].bytes);
}

static void state_sender(void **state)
{
	struct pfc_state_sender s;
	struct pfc_state out;

	pfc_state_sender_init(&s, 0x18, 77, 30 * MS, 0);
	assert_false(pfc_state_sender_poll(&s, NSEC_PER_SEC, &out));
	assert_false(pfc_state_sender_set(&s, 0x01, 0, &out)); /* not its priority */
	assert_true(pfc_state_sender_set(&s, 0x08, 0, &out));
	assert_int_equal(out.sequence, 1);
	assert_int_equal(out.stopped, 0x08);
	assert_false(pfc_state_sender_set(&s, 0x08, 1, &out));
	for (unsigned int i = 1; i <= 2; i++) {
		assert_false(pfc_state_sender_poll(&s, i * MS - 1, &out));
		assert_true(pfc_state_sender_poll(&s, i * MS, &out));
		assert_int_equal(out.sequence, 1 + i);
	}
	assert_int_equal(s.send_at, 12 * MS);
	assert_true(pfc_state_sender_poll(&s, 12 * MS, &out));
	assert_int_equal(s.send_at, 22 * MS);
	/* back to XON: said three times, then there is silence */
	assert_true(pfc_state_sender_set(&s, 0, 13 * MS, &out));
	assert_int_equal(out.stopped, 0);
	assert_true(pfc_state_sender_poll(&s, 14 * MS, &out));
	assert_true(pfc_state_sender_poll(&s, 15 * MS, &out));
	assert_int_equal(out.sequence, 7);
	assert_int_equal(s.send_at, TIME_NEVER);
}

static bool hear(struct pfc_state_receiver *r, uint32_t epoch, uint32_t sequence)
{
	struct pfc_state s = {.epoch = epoch, .sequence = sequence};

	return pfc_state_receiver_take(r, &s);
}

static void state_receiver(void **state)
{
	struct pfc_state_receiver r = {0};

	assert_true(hear(&r, 0, 5)); /* an epoch may be 0 */
	assert_false(hear(&r, 0, 5));
	assert_false(hear(&r, 0, 4));
	assert_true(hear(&r, 0, 9));
	assert_false(hear(&r, 0, 6)); /* overtaken */
	assert_true(hear(&r, 0, 0x7fffffff));
	assert_true(hear(&r, 0, 0xfffffffe));
	assert_true(hear(&r, 0, 1)); /* wraps */
	assert_true(hear(&r, 10, 1000));
	assert_false(hear(&r, 0, 2)); /* the sender before its restart */
	assert_true(hear(&r, 11, 1));
	assert_true(hear(&r, 12, 1));
	assert_false(hear(&r, 0, 3));
	assert_true(hear(&r, 13, 1));
	assert_true(hear(&r, 0, 3)); /* long gone: the number was drawn again */
	assert_int_equal(r.stale, 5);
}

/* A lease ends by itself and is counted. */
static void leased(void **state)
{
	struct pfc_relay_port p = {.bps = G100};
	struct pfc_request out;
	uint64_t next;

	assert_true(pfc_relay_state(&p, &regenerate, &one, 0x18, 0x08, 50 * MS, 0, &out));
	check_request("XOFF", &out, 0x08, 0x08);
	assert_false(pfc_relay_state(&p, &regenerate, &one, 0x18, 0x08, 50 * MS, 16 * MS, &out));
	for (uint64_t now = 16 * MS; now < 66 * MS; now += HALF)
		pfc_relay_poll(&p, &regenerate, now, &out, &next);
	assert_int_equal(p.stopped, 0x08);
	assert_true(pfc_relay_poll(&p, &regenerate, 66 * MS, &out, &next));
	check_request("end of the lease", &out, 0x08, 0);
	assert_int_equal(p.expired, 1);
	assert_true(pfc_relay_state(&p, &regenerate, &one, 0x18, 0x18, 50 * MS, 70 * MS, &out));
	assert_true(pfc_relay_state(&p, &regenerate, &one, 0x18, 0x10, 50 * MS, 71 * MS, &out));
	check_request("one of two", &out, 0x08, 0);
	assert_int_equal(p.expired, 1);
}

/* Tunnels that pause without end: the gateway is resumed, and they are ignored until they stop. */
static void storm(void **state)
{
	static const enum pfc_relay_mode modes[] = {PFC_RELAY_REGENERATE, PFC_RELAY_TRANSPARENT};

	for (unsigned int m = 0; m < ARRAY_LEN(modes); m++) {
		const struct pfc_relay_config c = {.mode = modes[m],
			.from_bps = G100,
			.jitter_ns = MS,
			.hold_min_ns = MS,
			.watchdog = {PFC_WATCHDOG_RELEASE, 100 * MS, 200 * MS, 50 * MS}};
		struct pfc_request in = ask(3, 65535), out;
		struct pfc_relay_port p = {.bps = G100};
		uint64_t next, now, told = 0;
		uint8_t stops = 0;

		for (now = 0; now < 300 * MS; now += HALF) {
			for (unsigned int i = 0; i < 2; i++) {
				bool say = i ? p.busy && pfc_relay_poll(&p, &c, now, &out, &next)
					     : pfc_relay_frame(&p, &c, &one, &in, now, &out);

				if (say && out.enable && stops != pfc_stops(&out)) {
					stops = pfc_stops(&out);
					told = now;
				}
			}
		}
		check(told >= 200 * MS && told <= 200 * MS + HALF && !stops, "mode %u: released after %llu ns", m,
			(unsigned long long)told);
		assert_int_equal(p.watchdog[3].alarms, 1);
		assert_int_equal(p.watchdog[3].detections, 1);
		assert_int_equal(p.expired, 0);
		assert_true(p.watchdog[3].ignored > 500);
		assert_true(p.history[3].total_ns <= 200 * MS + HALF);
		/* another priority is in no storm */
		in = ask(4, 65535);
		assert_true(pfc_relay_frame(&p, &c, &one, &in, now, &out));
		check_request("another priority", &out, 0x10, 0x10);
		/* quiet for 50 ms: obeyed again */
		for (uint64_t end = now + 51 * MS; now < end; now += HALF)
			if (p.busy)
				pfc_relay_poll(&p, &c, now, &out, &next);
		assert_int_equal(p.watchdog[3].restorations, 1);
		in = ask(3, 65535);
		assert_true(pfc_relay_frame(&p, &c, &one, &in, now, &out));
		check_request("obeyed again", &out, 0x08, 0x08);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(transparent),
		cmocka_unit_test(scaled),
		cmocka_unit_test(regenerated),
		cmocka_unit_test(survives_gaps),
		cmocka_unit_test(two_far_ends),
		cmocka_unit_test(outlasts_an_outage),
		cmocka_unit_test(starts_stopped),
		cmocka_unit_test(repeats_xon),
		cmocka_unit_test(thinned),
		cmocka_unit_test(state_codec),
		cmocka_unit_test(state_sender),
		cmocka_unit_test(state_receiver),
		cmocka_unit_test(leased),
		cmocka_unit_test(storm),
	};

	return cmocka_run_group_tests_name("pfc_relay", tests, NULL, NULL);
}
