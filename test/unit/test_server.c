/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of the socket: idle ones end, the last one is for root, and without descriptors the listener pauses. Time is
 * given, so that 15 minutes pass at once.
 */
#include "test/support/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sluice/app.h"
#include "sluice/lcores.h"
#include "sluice/machine.h"
#include "sluice/options.h"

#define SECOND NSEC_PER_SEC
#define FDS 64

struct bench {
	struct app app;
	struct options options;
	struct node node;
	char name[32], path[256];
	uint64_t now;
	int client[32];
	unsigned int n;
};

/* The clock of scripts, of which there is none here. */
uint64_t clock_now(void)
{
	return 0;
}

static struct bench *begin(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	char dir[128], err[256] = "";

	assert_non_null(b);
	snprintf(b->name, sizeof(b->name), "unit%d", (int)getpid());
	snprintf(b->node.name, sizeof(b->node.name), "%s", b->name);
	b->app.node = &b->node;
	b->app.options = &b->options;
	b->now = 1000 * SECOND;
	check(server_start(&b->app, err, sizeof(err)) == 0, "%s", err);
	assert_int_equal(instance_directory(dir, sizeof(dir)), 0);
	snprintf(b->path, sizeof(b->path), "%s/%s.sock", dir, b->name);
	return b;
}

static void end(struct bench *b)
{
	for (unsigned int i = 0; i < b->n; i++)
		close(b->client[i]);
	server_stop(&b->app);
	free(b);
}

/* A pass, as of manage.c. Returns how many descriptors were ready. */
static int pass(struct bench *b)
{
	struct pollfd fds[FDS];
	unsigned int n = server_poll_set(&b->app, fds, FDS, b->now);
	int ready = poll(fds, n, 0);

	server_serve(&b->app, fds, n, b->now);
	return ready;
}

static unsigned int connect_one(struct bench *b)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	strcpy(addr.sun_path, b->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	b->client[b->n] = fd;
	return b->n++;
}

/* Has the server ended the session? Takes what it said. */
static bool ended(const struct bench *b, unsigned int i)
{
	char text[256];
	ssize_t n;

	while ((n = recv(b->client[i], text, sizeof(text), MSG_DONTWAIT)) > 0)
		;
	return n == 0;
}

static void speaks(struct bench *b, unsigned int i)
{
	assert_int_equal(send(b->client[i], "x", 1, 0), 1);
	pass(b);
}

/* A session without a word for 15 minutes ends, and no other. */
static void idle(void **state)
{
	struct bench *b = begin();
	unsigned int silent = connect_one(b), talks;

	(void)state;
	pass(b);
	b->now += 10 * SECOND;
	talks = connect_one(b);
	pass(b);
	for (unsigned int minute = 0; minute < 14; minute++) {
		b->now += 60 * SECOND;
		speaks(b, talks);
		pass(b);
	}
	b->now += 49 * SECOND;
	pass(b);
	assert_false(ended(b, silent));
	b->now += SECOND;
	pass(b);
	assert_true(ended(b, silent));
	assert_false(ended(b, talks));
	/* and the other one, when it has been silent for as long */
	b->now += 849 * SECOND;
	pass(b);
	assert_false(ended(b, talks));
	b->now += SECOND;
	pass(b);
	assert_true(ended(b, talks));
	end(b);
}

/* All sessions are in use: for root the one that is idle for longest ends, if it is idle for 5 s. */
static void reserved(void **state)
{
	struct bench *b = begin();
	unsigned int last;

	(void)state;
	if (geteuid() != 0)
		skip();
	for (unsigned int i = 0; i < 17; i++) {
		connect_one(b);
		b->now += SECOND / 100;
		pass(b);
	}
	last = connect_one(b);
	pass(b);
	assert_true(ended(b, last)); /* "too many sessions": all have just come */
	speaks(b, 0);
	b->now += 4 * SECOND;
	speaks(b, 0);
	b->now += 2 * SECOND;
	last = connect_one(b);
	pass(b);
	assert_false(ended(b, last));
	assert_false(ended(b, 0));
	assert_true(ended(b, 1));
	for (unsigned int i = 2; i < 17; i++)
		check(!ended(b, i), "session %u", i);
	end(b);
}

/* Without a descriptor for a connection the listener pauses, and does not make poll return at once. */
static void no_descriptors(void **state)
{
	struct bench *b = begin();
	unsigned int waits = connect_one(b);
	struct rlimit before, none;
	struct pollfd fds[FDS];
	int free_fd = dup(0);

	(void)state;
	assert_true(free_fd >= 0);
	close(free_fd);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){(rlim_t)free_fd, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_int_equal(pass(b), 1);
	for (unsigned int i = 0; i < 19; i++) {
		b->now += 10 * NSEC_PER_MSEC;
		check(pass(b) == 0, "the listener is looked at after %u ms", 10 * (i + 1));
	}
	b->now += 10 * NSEC_PER_MSEC;
	assert_int_equal(server_poll_set(&b->app, fds, FDS, b->now), 1);
	/* there is one again: the connection has waited */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	pass(b);
	assert_int_equal(server_poll_set(&b->app, fds, FDS, b->now), 2);
	assert_false(ended(b, waits));
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle),
		cmocka_unit_test(reserved),
		cmocka_unit_test(no_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
