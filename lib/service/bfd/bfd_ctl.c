/* SPDX-License-Identifier: BSD-3-Clause */
/* What users see of BFD: log lines of changes, and counters. Management thread. */
#include <time.h>

#include "base/log.h"
#include "service/bfd/service_bfd.h"

#define WHO 192
/* A node that stops goes on forwarding for a detection time, within these limits. */
#define STOP_LEAST_NS (50 * NSEC_PER_MSEC)
#define STOP_MOST_NS NSEC_PER_SEC

/* "fd00::2 on wan0", "path to-dc2 via-spine5" */
static void describe(const struct node *n, const struct bfd_event *e, char *buf, size_t size)
{
	const struct snapshot *s = n->snapshot;
	const struct snap_interface *in;
	char text[IP_ADDR_TEXT];

	if (e->peer.kind == BFD_SBFD) {
		const struct snap_path *path = e->id < s->n_paths ? &s->path[e->id] : NULL;

		snprintf(buf, size, "path %s %s", path && path->policy ? path->policy : "(removed)",
			path && path->name ? path->name : "");
		return;
	}
	in = snap_interface(s, e->peer.interface);
	snprintf(buf, size, "%s on %s", ip_addr_format(&e->peer.remote, text), in ? in->name : "(removed)");
}

/* Time of day of a change, UTC: "22:31:07.123456". */
static void time_of_day(const struct node *n, uint64_t at, char *buf, size_t size)
{
	uint64_t ns = n->born_ns + at, s = ns / NSEC_PER_SEC;

	snprintf(buf, size, "%02u:%02u:%02u.%06u", (unsigned int)(s / 3600 % 24), (unsigned int)(s / 60 % 60),
		(unsigned int)(s % 60), (unsigned int)(ns % NSEC_PER_SEC / NSEC_PER_USEC));
}

static void say(const struct node *n, const struct bfd_event *e)
{
	const struct bfd_change *x = &e->change;
	char who[WHO], at[32], cause[160] = "";

	describe(n, e, who, sizeof(who));
	time_of_day(n, x->at, at, sizeof(at));
	if (x->to == BFD_UP) {
		log_notice(bfd, "%s: Up at %s UTC", who, at);
		return;
	}
	if (x->diag == BFD_DIAG_EXPIRED && x->heard_ns)
		snprintf(cause, sizeof(cause), ", last heard %llu.%03llu ms before, detection time %u.%03u ms",
			(unsigned long long)((x->at - x->heard_ns) / NSEC_PER_MSEC),
			(unsigned long long)((x->at - x->heard_ns) / NSEC_PER_USEC % 1000), x->detect_us / 1000,
			x->detect_us % 1000);
	if (x->remote_state == BFD_ADMIN_DOWN)
		snprintf(cause, sizeof(cause), "; it is administratively down there: other ways are preferred");
	else if (x->diag == BFD_DIAG_NEIGHBOR)
		snprintf(cause, sizeof(cause), "; its reason is %u, %s", x->remote_diag, bfd_diag_text(x->remote_diag));
	if (x->from == BFD_UP)
		log_warning(bfd, "%s: %s at %s UTC, diagnostic %u: %s%s", who, bfd_state_name(x->to), at, x->diag,
			bfd_diag_text(x->diag), cause);
	else
		log_debug(bfd, "%s: %s after %s at %s UTC", who, bfd_state_name(x->to), bfd_state_name(x->from), at);
}

void bfd_tick(struct node *n)
{
	struct bfd_events *e = &node_bfd(n)->events;
	uint32_t head = __atomic_load_n(&e->head, __ATOMIC_ACQUIRE), tail = e->tail;
	uint64_t missed = stat_read(&e->missed);

	while (tail != head)
		say(n, &e->event[tail++ % BFD_EVENTS]);
	__atomic_store_n(&e->tail, tail, __ATOMIC_RELEASE);
	if (missed != node_bfd(n)->missed_said)
		log_warning(bfd, "%llu changes of sessions were too many to be listed; see: show bfd sessions",
			(unsigned long long)(missed - node_bfd(n)->missed_said));
	node_bfd(n)->missed_said = missed;
}

uint64_t bfd_stopping(struct node *n)
{
	uint64_t ns = n->snapshot->sbfd_reflector ? STOP_LEAST_NS : 0;

	for (uint32_t i = 0; i < n->snapshot->n_bfd; i++) {
		const struct bfd_session_stats *s = bfd_session_shown(n, &n->snapshot->bfd[i]);

		if (s && stat_read(&s->up) && n->snapshot->bfd[i].peer.kind == BFD_SINGLE_HOP)
			ns = MAX_OF(ns, MAX_OF(stat_read(&s->detect_us) * NSEC_PER_USEC, STOP_LEAST_NS));
	}
	__atomic_store_n(&node_bfd(n)->stopping, true, __ATOMIC_RELAXED);
	return MIN_OF(ns, STOP_MOST_NS);
}

const struct bfd_stats *bfd_shown(const struct node *n)
{
	const struct bfd_table *table = __atomic_load_n(&node_bfd(n)->table, __ATOMIC_ACQUIRE);

	return table ? bfd_table_stats(table) : NULL;
}

const struct bfd_session_stats *bfd_session_shown(const struct node *n, const struct snap_bfd *s)
{
	const struct node_bfd *b = node_bfd(n);
	struct bfd_session *const *place;
	const struct bfd_session *session;

	if (!__atomic_load_n(&b->table, __ATOMIC_ACQUIRE))
		return NULL;
	place = s->peer.kind == BFD_SBFD ? &b->sessions->of_path[s->id] : &b->sessions->of_neigh[s->id];
	session = __atomic_load_n(place, __ATOMIC_ACQUIRE);
	return session ? bfd_stats_of(session) : NULL;
}
