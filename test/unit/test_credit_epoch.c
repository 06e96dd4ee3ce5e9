/* SPDX-License-Identifier: BSD-3-Clause */
/* Credit of one hop: new epochs, restarts and return of credit (docs/credit.md 2.11, 2.12). */
#include "test/support/credit_hop.h"

/* RESYNC with a backlog (D63): what is buffered stays charged, and a copy of the 28 opens nothing. */
static void resync_with_backlog(void **state)
{
	struct hop h;
	struct credit_hop hello, copy;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 4);
	hop_arrive(&h, 3); /* one is lost, three are queued */
	credit_user_stop(&h.user, &h.gate);
	assert_false(hop_may(&h, 1));
	credit_user_hello(&h.user, 0, &hello);
	credit_user_hello(&h.user, 0, &copy);
	assert_int_equal(copy.sequence, hello.sequence);
	assert_int_equal(hop_heard(&h, &hello), CREDIT_ANSWER | CREDIT_OPENED | CREDIT_COMMIT);
	assert_int_equal(h.grantor.epoch, 8);
	hop_update(&h)->commit = true;
	assert_int_equal(h.last.fccl, 1);
	assert_int_equal(h.last.abr, 0);
	assert_int_equal(hop_heard(&h, &copy), CREDIT_ANSWER | CREDIT_COMMIT);
	assert_int_equal(h.grantor.epoch, 8);
	hop_forward(&h, 2); /* old packets leave: the S of now promises more */
	hop_update(&h)->commit = true;
	assert_int_equal(h.last.fccl, 3);
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_ADOPTED);
	hop_send(&h, 3);
	assert_false(hop_may(&h, 1));
	hop_arrive(&h, 3);
	assert_int_equal(credit_backlog(hop_totals(&h)), 4);
	hop_forward(&h, 4);
	hop_hear(&h, hop_update(&h));
	assert_true(hop_may(&h, 4));
	assert_false(hop_may(&h, 5));
	hello.idle = false;
	assert_int_equal(hop_heard(&h, &hello), CREDIT_ANSWER | CREDIT_COMMIT);
	assert_int_equal(h.grantor.epoch, 8);
}

/* A 29 of an epoch that was left does nothing; one of an unknown epoch stops the user. */
static void epochs_left(void **state)
{
	struct hop h;
	struct credit_update old, strange;

	(void)state;
	hop_start(&h, 4);
	old = *hop_update(&h);
	credit_user_stop(&h.user, &h.gate);
	hop_open_epoch(&h);
	assert_int_equal(h.user.epoch, 8);
	old.sequence += 100;
	old.fccl = 50;
	assert_int_equal(hop_hear(&h, &old), CREDIT_LEFT);
	assert_false(hop_may(&h, 5));
	strange = *hop_update(&h);
	strange.epoch = 3;
	assert_int_equal(hop_hear(&h, &strange), CREDIT_RESTART);
	assert_false(hop_may(&h, 1));
	assert_int_equal(h.user.state, CREDIT_RESYNC);
	strange.commit = true; /* an S of that epoch answers nothing: it was received before the 28 was sent */
	strange.abr = 0;
	strange.fccl = strange.buf;
	assert_int_equal(hop_hear(&h, &strange), CREDIT_IGNORED);
	hop_open_epoch(&h);
	assert_int_equal(h.user.epoch, 9);
	for (int i = 0; i < 6; i++) { /* the last four are remembered */
		credit_user_stop(&h.user, &h.gate);
		hop_open_epoch(&h);
	}
	strange.epoch = 14;
	assert_int_equal(hop_hear(&h, &strange), CREDIT_LEFT);
	strange.epoch = 11;
	assert_int_equal(hop_hear(&h, &strange), CREDIT_LEFT);
	strange.epoch = 10;
	assert_int_equal(hop_hear(&h, &strange), CREDIT_RESTART);
}

/* An S that names another 28 is no answer to this one: it was made before the quarantine was over. */
static void answers_name_their_question(void **state)
{
	struct hop h;
	struct credit_hop hello;
	struct credit_update old;

	(void)state;
	hop_start(&h, 4);
	h.grantor = (struct credit_grantor){0};
	credit_grantor_open(&h.grantor, NULL, 77, 4, hop_totals(&h)); /* restarted, and commits by itself */
	hop_update(&h)->commit = true;
	old = h.last; /* nothing received yet */
	credit_user_stop(&h.user, &h.gate);
	credit_user_hello(&h.user, 0, &hello);
	assert_int_equal(hop_hear(&h, &old), CREDIT_UNUSABLE);
	assert_false(hop_may(&h, 1));
	hop_heard(&h, &hello);
	hop_update(&h)->commit = true;
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_ADOPTED);
	assert_int_equal(h.user.epoch, 78);
}

/* A user restarts under a grantor that knows higher sequence numbers (2.11). */
static void user_restarts(void **state)
{
	struct hop h;
	struct credit_hop hello, marker;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 2);
	hop_arrive(&h, 2);
	hop_forward(&h, 2);
	hop_update(&h);
	for (int i = 0; i < 7; i++) {
		struct credit_hop many;

		credit_user_marker(&h.user, &h.gate, &many);
		hop_heard(&h, &many);
	}
	credit_user_stop(&h.user, &h.gate); /* an epoch whose 28 has a high sequence */
	hop_open_epoch(&h);
	hop_send(&h, 1);
	hop_arrive(&h, 1);
	hop_update(&h);
	credit_user_init(&h.user, &h.gate, h.now);
	assert_false(credit_user_idle(&h.gate, IDLE_NS, h.now + IDLE_NS - 1));
	h.now += IDLE_NS;
	credit_user_hello(&h.user, 0, &hello);
	assert_int_equal(hello.sequence, 1);
	assert_int_equal(hop_heard(&h, &hello), CREDIT_ANSWER | CREDIT_COMMIT); /* older than what opened the epoch */
	hop_update(&h)->commit = true;
	assert_int_equal(h.last.abr, 1);
	h.last.has_echo = false;
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_UNUSABLE);
	credit_user_marker(&h.user, &h.gate, &marker);
	assert_int_equal(marker.epoch, 0);
	marker.ask = true;
	assert_int_equal(hop_heard(&h, &marker), CREDIT_ANSWER | CREDIT_STALE);
	hop_update(&h);
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_HELLO_NEW);
	hop_open_epoch(&h);
	assert_true(hop_may(&h, 3)); /* one is still queued there */
	assert_false(hop_may(&h, 4));
}

/* A grantor restarts: its 29s have another epoch. It may even have counted late data. */
static void grantor_restarts(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	hop_send(&h, 4);
	h.grantor = (struct credit_grantor){0};
	h.intake = (struct credit_intake){.lih = LIH};
	h.release = (struct credit_release){0};
	credit_grantor_open(&h.grantor, NULL, 77, 4, hop_totals(&h));
	hop_arrive(&h, 2);
	hop_update(&h)->commit = true;
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_RESTART);
	hop_forward(&h, 2);
	hop_open_epoch(&h);
	assert_int_equal(h.user.epoch, 78);
	assert_true(hop_may(&h, 4));
	assert_false(hop_may(&h, 5));
}

/* Credit goes back by a new epoch (D52), and never below the floor or the backlog. */
static void credit_is_returned(void **state)
{
	struct hop h;
	struct credit_hop hello;

	(void)state;
	hop_start(&h, 8);
	h.grantor.floor = 2;
	hop_send(&h, 3);
	hop_arrive(&h, 3);
	assert_false(credit_user_returns(&h.user, &h.gate, false, 2, IDLE_NS, h.now));
	h.now += IDLE_NS;
	assert_false(credit_user_returns(&h.user, &h.gate, true, 2, IDLE_NS, h.now));
	assert_true(credit_user_returns(&h.user, &h.gate, false, 2, IDLE_NS, h.now));
	credit_user_stop(&h.user, &h.gate);
	credit_user_hello(&h.user, 2, &hello);
	assert_true(hop_heard(&h, &hello) & CREDIT_OPENED);
	assert_int_equal(h.grantor.buf, 2);
	hop_update(&h)->commit = true;
	assert_int_equal(h.last.fccl, 0); /* the backlog of 3 is more than the floor */
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), true), 3);
	hop_forward(&h, 3);
	assert_int_equal(hop_update(&h)->fccl, 2);
	assert_int_equal(credit_grantor_held(&h.grantor, hop_totals(&h), true), 2);
	h.last.commit = true;
	assert_int_equal(hop_hear(&h, &h.last), CREDIT_ADOPTED);
	assert_false(credit_user_returns(&h.user, &h.gate, false, 2, IDLE_NS, h.now));
	credit_user_stop(&h.user, &h.gate);
	credit_user_hello(&h.user, 100, &hello); /* more is no return: the reservation stays */
	hop_heard(&h, &hello);
	assert_int_equal(h.grantor.buf, 2);
}

/* A neighbour falls silent: the context freezes, and the next 29 begins RESYNC. */
static void neighbour_down(void **state)
{
	struct hop h;

	(void)state;
	hop_start(&h, 4);
	credit_user_down(&h.user, &h.gate);
	assert_int_equal(h.user.state, CREDIT_DOWN);
	assert_false(hop_may(&h, 1));
	assert_int_equal(hop_hear(&h, hop_update(&h)), CREDIT_RESTART);
	assert_int_equal(h.user.state, CREDIT_RESYNC);
	credit_user_down(&h.user, &h.gate);
	assert_int_equal(h.user.state, CREDIT_RESYNC);
	hop_open_epoch(&h);
	assert_true(hop_may(&h, 4));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(resync_with_backlog),
		cmocka_unit_test(epochs_left),
		cmocka_unit_test(answers_name_their_question),
		cmocka_unit_test(user_restarts),
		cmocka_unit_test(grantor_restarts),
		cmocka_unit_test(credit_is_returned),
		cmocka_unit_test(neighbour_down),
	};

	return cmocka_run_group_tests_name("credit_epoch", tests, NULL, NULL);
}
