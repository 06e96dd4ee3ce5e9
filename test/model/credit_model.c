/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models of credit, with the protocol as it is and with one part of it taken out at a time (docs/credit.md 2.13). The
 * former must have no counterexample, each of the latter must have one. Prints TAP.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "test/model/hop.h"
#include "test/model/lease.h"

#define SMALL_MOST 7000000
#define LARGE_MOST 117000000 /* 1.6 GB of memory */

struct row {
	const char *name;
	const char *sought; /* the promise that must break; NULL: none */
	struct hop_config hop;
};

/* clang-format off */
#define HOP .window = 2, .size = 1, .line = 2, .sent = 3, .updates = 2, .markers = 2, .messages = 2
#define WIDE .window = 2, .size = 1, .line = 3, .sent = 5, .updates = 3, .markers = 2, .messages = 2
#define ALL .window = 2, .size = 1, .line = 3, .sent = 4, .updates = 3, .markers = 3, .messages = 2, .lost = 1, .doubled = 1, \
	.fences = 2, .stops = 1, .user_restarts = 1, .grantor_restarts = 1, .pends = true, .holds = true

static const struct row small_rows[] = {
	{"fences find what is lost", NULL, {HOP, .markers = 1, .lost = 1, .fences = 1}},
	{"fences find what is lost or doubled", NULL,
		{HOP, .line = 3, .markers = 1, .messages = 1, .lost = 1, .doubled = 1, .fences = 1}},
	{"IDLE, with data in any order, in the device or refused by it", NULL,
		{HOP, .lost = 1, .idles = true, .reorders = true, .holds = true, .pends = true}},
	{"both ends restart", NULL,
		{HOP, .updates = 3, .markers = 3, .messages = 1, .stops = 1, .user_restarts = 1, .grantor_restarts = 1}},
	{"both ends restart, and messages are older than D_idle", NULL,
		{HOP, .updates = 3, .markers = 3, .messages = 1, .stops = 1, .user_restarts = 1, .grantor_restarts = 1, .late = true}},
	{"increments leak", "I7:", {WIDE, .control = CONTROL_DELTA}},
	{"doubled increments overrun", "I3:", {WIDE, .control = CONTROL_DELTA}},
	{"credit != 0", "I3:", {WIDE, .control = CONTROL_NOT_ZERO, .window = 3, .size = 2, .sent = 6}},
	{"ABR := FCTBS", "I3:", {WIDE, .control = CONTROL_IDLE_ANY_TIME, .idles = true}},
	{"no fences (D45)", "I7:", {WIDE, .control = CONTROL_NO_FENCES, .lost = 1}},
	{"data is counted behind a ring that fences do not pass", "I3:", {WIDE, .control = CONTROL_RING_BEHIND, .fences = 2}},
	{"RCVD is sampled after the fence", "I7:", {WIDE, .control = CONTROL_LATE_SAMPLE, .lost = 1, .fences = 2}},
	{"LOST is unsigned (D46)", "I7:", {WIDE, .control = CONTROL_UNSIGNED, .doubled = 1, .fences = 2}},
	{"drops are not freed (D47)", "I7:", {WIDE, .control = CONTROL_KEPT_DROPS}},
	{"sent is counted at the gate, the neighbour is resolved behind it (D47)", "I3:",
		{WIDE, .control = CONTROL_SENT_AT_GATE, .idles = true}},
	{"D_idle leaves out what the device holds (D48)", "I3:",
		{WIDE, .control = CONTROL_NO_HOLD, .idles = true, .holds = true}},
	{"data without a session goes on (D51)", "I3:", {WIDE, .control = CONTROL_FORWARD_ALL, .grantor_restarts = 1}},
	{"RESYNC without quarantine", "I10", {WIDE, .control = CONTROL_NO_QUARANTINE, .stops = 1}},
	{"a new epoch adds the floor to the backlog", "I3:", {WIDE, .control = CONTROL_FLOOR_ON_TOP, .stops = 1}},
	{"an S does not name its 28, and messages are older than D_idle", "I10",
		{WIDE, .control = CONTROL_NO_ECHO, .user_restarts = 1, .grantor_restarts = 1, .late = true}},
	{"RESYNC with FREED = 0 (D63)", "I3:", {WIDE, .control = CONTROL_NO_BACKLOG, .stops = 1}},
};

static const struct row large_rows[] = {
	{"all faults, data in order", NULL, {ALL}},
	{"all faults, data in any order", NULL, {ALL, .fences = 0, .doubled = 0, .idles = true, .reorders = true}},
};
/* clang-format on */

static const struct {
	const char *name, *sought;
	struct lease_config lease;
} lease_rows[] = {
	{"leases and a shared pool", NULL, {.sent = 3, .updates = 3}},
	{"the lease is as long as the user's (D49)", "I9:", {LEASE_OF_THE_USER, 3, 3}},
	{"the lease leaves out the way of the 29 (D49)", "I9:", {LEASE_ONE_WAY, 3, 3}},
	{"no lease (D49)", "I9:", {LEASE_FROM_DATA, 3, 3}},
	{"idle credit is not returned (D52)", "I7:", {LEASE_NO_RETURN, 3, 3}},
};

static int tests, failed;

static void tell(const char *name, const char *sought, const struct explored *r, int err, bool whole)
{
	bool ok = !err && (sought ? r->broken && !strncmp(r->broken, sought, strlen(sought))
				  : !r->broken && (!whole || r->whole));

	printf("# %llu states%s, %llu steps, depth %u, %.1f s of CPU\n", (unsigned long long)r->states,
		r->whole    ? ""
		: r->broken ? " until then"
			    : " of more",
		(unsigned long long)r->steps, r->depth, r->seconds);
	if (err)
		printf("# %s\n", strerror(-err));
	printf("%sok %d - %s%s\n", ok ? "" : "not ", ++tests, sought ? "must break: " : "", name);
	fflush(stdout);
	failed += !ok;
}

static void run_rows(const struct row *rows, size_t n, uint64_t most, const char *only, bool whole)
{
	for (size_t i = 0; i < n; i++) {
		struct hop_config c = rows[i].hop;
		struct explored r;
		int err;

		if (!strstr(rows[i].name, only))
			continue;
		c.sought = rows[i].sought;
		err = explore(&hop_model, &c, most, stdout, &r);
		tell(rows[i].name, rows[i].sought, &r, err, whole);
	}
}

int main(int argc, char **argv)
{
	bool large = argc > 1 && !strcmp(argv[1], "--large");
	const char *only = argc > 1 + large ? argv[1 + large] : "";

	if (large)
		run_rows(large_rows, ARRAY_LEN(large_rows), LARGE_MOST, only, false);
	else
		run_rows(small_rows, ARRAY_LEN(small_rows), SMALL_MOST, only, true);
	for (size_t i = 0; i < ARRAY_LEN(lease_rows) && !large; i++) {
		struct explored r;
		int err;

		if (!strstr(lease_rows[i].name, only))
			continue;
		err = explore(&lease_model, &lease_rows[i].lease, SMALL_MOST, stdout, &r);
		tell(lease_rows[i].name, lease_rows[i].sought, &r, err, true);
	}
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
