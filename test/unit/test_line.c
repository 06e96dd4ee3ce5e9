/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of virtual time: rate, delay, order, faults and cuts; and queues of events. */
#include "test/support/unit.h"

#include "drivers/virtual/line.h"
#include "lab/timeline.h"

#define GIGA 1000000000ull

static struct line *a_line(const struct line_config *c)
{
	struct line_config config = *c;
	struct line *l;

	config.rate_bps = config.rate_bps ? config.rate_bps : 100 * GIGA;
	config.frame_max = config.frame_max ? config.frame_max : 9018;
	config.memory_max = config.memory_max ? config.memory_max : 64 << 20;
	l = line_new(&config);
	assert_non_null(l);
	return l;
}

static void send_number(struct line *l, uint64_t now, uint32_t number, uint32_t captured, uint32_t length)
{
	uint8_t bytes[LINE_SNAP_MAX];

	memset(bytes, (int)number, captured);
	memcpy(bytes, &number, sizeof(number));
	line_send(l, now, bytes, captured, length, NULL);
}

static uint32_t number_of(const struct line_frame *f)
{
	uint32_t number;

	memcpy(&number, f->bytes, sizeof(number));
	for (uint32_t i = 4; i < f->captured; i++)
		check(f->bytes[i] == (uint8_t)number, "byte %u of frame %u", i, number);
	return number;
}

/* A million full frames take as long as their bits do, to the nanosecond. */
static void rate(void **state)
{
	struct line *l = a_line(&(struct line_config){.rate_bps = 400 * GIGA, .delay_ns = 5000});
	const struct line_frame *f;
	uint64_t left = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		send_number(l, 0, i, 16, 4178);
		left = line_free_at(l) + 1;
		while ((f = line_receive(l, left + 5000)))
			check(number_of(f) == i && f->arrival_ns <= left + 5000, "frame %u at %llu, left at %llu", i,
				(unsigned long long)f->arrival_ns, (unsigned long long)left);
	}
	/* (4178 + 24) * 8 / 400e9 s each */
	assert_int_equal(line_free_at(l), 84040000);
	assert_int_equal(line_stats(l)->delivered, 1000000);
	assert_true(line_conserves(l));
	line_free(l);
}

/* A full bandwidth-delay product of 400 Gb/s over 50 ms, headers only: more than a ring begins with, wrapped often. */
static void product(void **state)
{
	struct line *l = a_line(
		&(struct line_config){.rate_bps = 400 * GIGA, .delay_ns = 50000000, .memory_max = 1u << 30});
	const struct line_frame *f;
	uint32_t sent = 0, received = 0;

	(void)state;
	while (received < 1000000) {
		while (sent < 1000000 && (line_free_at(l) < line_next(l) || !line_frames(l))) {
			send_number(l, line_free_at(l), sent, 100 + sent % 93, 4178);
			sent++;
		}
		f = line_receive(l, line_next(l));
		assert_non_null(f);
		check(number_of(f) == received && f->captured == 100 + received % 93, "frame %u", received);
		received++;
	}
	/* 400e9 * 0.05 / 8 bytes in frames of 4202 */
	assert_in_range(line_stats(l)->most_frames, 594955, 594958);
	assert_int_equal(line_next(l), UINT64_MAX);
	assert_true(line_conserves(l));
	line_free(l);
}

static void memory(void **state)
{
	struct line *l = a_line(&(struct line_config){.delay_ns = GIGA, .memory_max = 256 << 10});
	int rc = 0;
	uint8_t bytes[128] = {0};

	(void)state;
	for (int i = 0; i < 10000 && rc == 0; i++)
		line_send(l, 0, bytes, sizeof(bytes), 128, &rc);
	assert_true(rc < 0);
	assert_true(line_conserves(l));
	while (line_receive(l, 3 * GIGA))
		;
	assert_int_equal(line_frames(l), 0);
	assert_true(line_conserves(l));
	line_free(l);
}

static void faults(void **state)
{
	struct line *l = a_line(&(struct line_config){.delay_ns = 1000,
		.jitter_ns = 500,
		.loss = 0.01,
		.corruption = 0.02,
		.duplication = 0.03,
		.reordering = 0.04,
		.reorder_ns = 3000,
		.seed = 7});
	const struct line_stats *s = line_stats(l);
	uint32_t last = 0, overtaken = 0;
	const struct line_frame *f;

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		send_number(l, i * 100ull, i, 60, 1000);
		while ((f = line_receive(l, i * 100ull))) {
			overtaken += number_of(f) < last;
			last = MAX_OF(last, number_of(f));
		}
		check(line_conserves(l), "after frame %u", i);
	}
	assert_in_range(s->lost, 1800, 2200);
	assert_in_range(s->corrupt, 3700, 4300);
	assert_in_range(s->duplicated, 5600, 6400);
	assert_in_range(s->reordered, 7600, 8400);
	assert_in_range(overtaken, 7000, 9000);
	line_free(l);
}

/* Without reordering, jitter never makes one frame overtake another. */
static void jitter_keeps_order(void **state)
{
	struct line *l = a_line(&(struct line_config){.delay_ns = 1000, .jitter_ns = 100000, .seed = 3});
	const struct line_frame *f;
	uint32_t next = 0;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++)
		send_number(l, i * 200ull, i, 60, 1000);
	while ((f = line_receive(l, GIGA)))
		assert_int_equal(number_of(f), next++);
	assert_int_equal(next, 10000);
	line_free(l);
}

static void undetected(void **state)
{
	struct line *l = a_line(&(struct line_config){.corruption = 1, .deliver_corrupt = true});
	uint8_t bytes[60] = {0};
	const struct line_frame *f;
	unsigned int bits = 0;

	(void)state;
	line_send(l, 0, bytes, sizeof(bytes), 1000, NULL);
	f = line_receive(l, GIGA);
	assert_non_null(f);
	assert_false(f->corrupt);
	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bits += (unsigned int)__builtin_popcount(f->bytes[i]);
	assert_int_equal(bits, 1);
	assert_int_equal(line_stats(l)->flipped, 1);
	assert_true(line_conserves(l));
	line_free(l);
}

/* Frames on the line when it failed are lost, also when the failure was shorter than the line. */
static void cuts(void **state)
{
	struct line *l = a_line(&(struct line_config){.delay_ns = 10000});
	const struct line_frame *f;

	(void)state;
	send_number(l, 0, 1, 60, 1000); /* leaves at 82 ns */
	line_set_up(l, 5000, false);
	send_number(l, 5500, 2, 60, 1000);
	line_set_up(l, 6000, true);
	send_number(l, 6000, 3, 60, 1000);
	f = line_receive(l, GIGA);
	assert_non_null(f);
	assert_int_equal(number_of(f), 3);
	assert_null(line_receive(l, GIGA));
	assert_int_equal(line_stats(l)->cut, 2);
	send_number(l, 20000, 4, 60, 1000);
	line_set_up(l, 21000, false);
	assert_null(line_receive(l, GIGA));
	send_number(l, 40000, 5, 60, 9100);
	assert_int_equal(line_stats(l)->oversize, 1);
	assert_int_equal(line_stats(l)->cut, 3);
	assert_true(line_conserves(l));
	line_free(l);
}

/* What a port has not sent yet when it goes down is cut; what is on the way arrives, and what is sent later. */
static void stops(void **state)
{
	struct line *l = a_line(&(struct line_config){.delay_ns = 10000});
	const struct line_frame *f;

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		send_number(l, 0, i, 60, 1000); /* one every 82 ns */
	line_stop(l, 170);
	send_number(l, 400, 4, 60, 1000);
	line_stop(l, 5000); /* again, while those that were cut would still be on the way */
	for (uint32_t i = 0; i < 5; i++) {
		if (i == 2 || i == 3)
			continue;
		f = line_receive(l, GIGA);
		assert_non_null(f);
		assert_int_equal(number_of(f), i);
	}
	assert_null(line_receive(l, GIGA));
	assert_int_equal(line_stats(l)->cut, 2);
	assert_true(line_conserves(l));
	line_free(l);
}

static void same_seed_same_luck(void **state)
{
	struct line_config config = {.loss = 0.5, .jitter_ns = 1000, .seed = 42};
	uint64_t sum[3] = {0};

	(void)state;
	for (int run = 0; run < 3; run++) {
		struct line *l;
		const struct line_frame *f;

		config.seed = run == 2 ? 43 : 42;
		l = a_line(&config);
		for (uint32_t i = 0; i < 1000; i++)
			send_number(l, 0, i, 60, 100);
		while ((f = line_receive(l, GIGA)))
			sum[run] = sum[run] * 31 + number_of(f) + f->arrival_ns;
		line_free(l);
	}
	assert_int_equal(sum[0], sum[1]);
	assert_int_not_equal(sum[0], sum[2]);
}

static bool is_even(const void *bytes, uint32_t captured)
{
	return captured && !(*(const uint8_t *)bytes & 1);
}

/* Frames watched: their losses are counted apart, and how many came in a row, those between them left aside. */
static void watched(void **state)
{
	struct line *l = a_line(&(struct line_config){.loss = 0.5, .seed = 7, .watched = is_even});
	const struct line_frame *f;
	uint64_t lost = 0, run = 0, most = 0, next = 0;

	(void)state;
	for (uint32_t i = 0; i < 200; i++)
		send_number(l, 0, i, 60, 100);
	while ((f = line_receive(l, GIGA))) {
		uint32_t number = number_of(f);

		if (number & 1)
			continue;
		run = (number - next) / 2;
		lost += run;
		most = MAX_OF(most, run);
		next = number + 2;
	}
	run = (200 - next) / 2;
	assert_int_equal(line_stats(l)->watched, 100);
	assert_int_equal(line_stats(l)->watched_lost, lost + run);
	assert_int_equal(line_stats(l)->watched_run, MAX_OF(most, run));
	assert_true(line_conserves(l));
	line_free(l);
}

static void fire(void *arg)
{
	(void)arg;
}

/* Against a plain array: the same order, whatever is set, moved and cleared. */
static void events(void **state)
{
	struct event_queue q = {0};
	struct event e[200];
	uint64_t order[200] = {0}, turn = 0, random = 1, now = 0;

	(void)state;
	for (int i = 0; i < 200; i++)
		event_init(&e[i], fire, NULL, "test", "event");
	for (int step = 0; step < 200000; step++) {
		int i = (int)(unit_random(&random) % 200), best = -1;
		struct event *got;
		uint64_t at;

		switch (unit_random(&random) % 4) {
		case 0:
		case 1:
			at = now + unit_random(&random) % (1ull << unit_random(&random) % 40);
			if (unit_random(&random) % 16 == 0)
				at = now - MIN_OF(now, unit_random(&random) % 4);
			assert_int_equal(event_set(&q, &e[i], at), 0);
			order[i] = ++turn;
			break;
		case 2:
			event_clear(&q, &e[i]);
			order[i] = 0;
			break;
		default:
			for (int k = 0; k < 200; k++)
				if (order[k] && (best < 0 || e[k].at < e[best].at ||
							(e[k].at == e[best].at && order[k] < order[best])))
					best = k;
			assert_true(event_first_at(&q) == (best < 0 ? TIME_NEVER : e[best].at));
			if (best >= 0)
				assert_null(event_next_before(&q, e[best].at));
			got = unit_random(&random) % 2 || best < 0 ? event_next(&q)
								   : event_next_before(&q, e[best].at + 1);
			check(got == (best < 0 ? NULL : &e[best]), "step %d", step);
			if (got) {
				now = MAX_OF(now, got->at);
				order[best] = 0;
				assert_false(event_is_set(got));
			}
		}
	}
	event_queue_fini(&q);
}

static void sooner_only(void **state)
{
	struct event_queue q = {0};
	struct event e;

	(void)state;
	event_init(&e, fire, NULL, "test", "event");
	event_set_by(&q, &e, 10);
	event_set_by(&q, &e, 20);
	assert_int_equal(e.at, 10);
	event_set_by(&q, &e, 5);
	assert_int_equal(e.at, 5);
	event_set(&q, &e, 20);
	assert_ptr_equal(event_next(&q), &e);
	assert_int_equal(e.at, 20);
	assert_null(event_next(&q));
	event_queue_fini(&q);
}

/* Timelines that give each other events no sooner than `APART` later: each runs its own in order, none is late. */
#define TIMELINES 20
#define APART 100

static void timelines(void **state)
{
	struct event_queue turns = {0};
	struct timeline line[TIMELINES];
	struct event e[TIMELINES][10], *got;
	uint64_t random = 1, before[TIMELINES] = {0}, fired = 0, end = 0;

	(void)state;
	for (int i = 0; i < TIMELINES; i++) {
		timeline_init(&line[i], &turns, "test");
		for (int k = 0; k < 10; k++) {
			event_init(&e[i][k], fire, &line[i], "test", "event");
			assert_int_equal(timeline_set(&line[i], &e[i][k], unit_random(&random) % 1000), 0);
		}
	}
	while (fired < 100000) {
		uint64_t begin = event_first_at(&turns);

		assert_true(begin >= end);
		end = begin + APART;
		while (event_first_at(&turns) < end) {
			struct timeline *t = event_next(&turns)->arg;
			int me = (int)(t - line);

			timeline_begin(t);
			while ((got = timeline_next(t, end))) {
				int other = (int)(unit_random(&random) % TIMELINES),
				    k = (int)(unit_random(&random) % 10);

				assert_true(got->at >= begin && got->at >= before[me] && got->at < end);
				before[me] = got->at;
				timeline_set(t, got, got->at + unit_random(&random) % 300);
				if (other != me)
					timeline_set_by(&line[other], &e[other][k],
						got->at + APART + unit_random(&random) % 50);
				fired++;
			}
			timeline_end(t);
		}
	}
	for (int i = 0; i < TIMELINES; i++)
		timeline_fini(&line[i]);
	event_queue_fini(&turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate),
		cmocka_unit_test(product),
		cmocka_unit_test(memory),
		cmocka_unit_test(faults),
		cmocka_unit_test(jitter_keeps_order),
		cmocka_unit_test(undetected),
		cmocka_unit_test(cuts),
		cmocka_unit_test(stops),
		cmocka_unit_test(same_seed_same_luck),
		cmocka_unit_test(watched),
		cmocka_unit_test(events),
		cmocka_unit_test(sooner_only),
		cmocka_unit_test(timelines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
