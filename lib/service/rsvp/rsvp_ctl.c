/* SPDX-License-Identifier: BSD-3-Clause */
/* What users see of credit sessions: log lines, alarms, copies of rows, and their orders. Management thread. */
#include <errno.h>

#include "base/log.h"
#include "service/rsvp/service_rsvp.h"

#define ALARM_NS NSEC_PER_SEC	      /* growth of a counter is told at most that often */
#define STOP_NS (300 * NSEC_PER_MSEC) /* for End and its acknowledgement */
static const char *reason_of(const struct rsvp_error *e)
{
	if (e->code == RSVP_ERROR_POLICY)
		return "not permitted";
	if (e->code == RSVP_ERROR_CLASS || e->code == RSVP_ERROR_C_TYPE)
		return "an object is not understood";
	if (e->code != RSVP_ERROR_ADMISSION)
		return "refused";
	switch (e->value) {
	case RSVP_REFUSE_POOL:
		return "its pool is exhausted";
	case RSVP_REFUSE_ROUTE:
		return "it has no route";
	case RSVP_REFUSE_HOPS:
		return "too many hops";
	case RSVP_REFUSE_CLASS:
		return "PFC tunnels pause the class already";
	case RSVP_REFUSE_UNIT:
		return "its credit.unit is another one";
	case RSVP_REFUSE_OPERATOR:
		return "an operator has stopped the session that carries its data on";
	default:
		return "refused";
	}
}

static const char *session_of(const struct rsvp_event *e, char *buf, size_t size)
{
	char source[IP_ADDR_TEXT];

	if (e->session[0])
		return e->session;
	snprintf(buf, size, "of %s, label 0x%05x", ip_addr_format(&e->view.sender.src, source), e->view.sender.port);
	return buf;
}

static void say(const struct rsvp_event *e)
{
	char node[IP_ADDR_TEXT], name[RSVP_NAME + IP_ADDR_TEXT];

	switch ((enum rsvp_event_kind)e->kind) {
	case RSVP_EVENT_UP:
		log_notice(rsvp, "session %s: up on path %s, %u units of %u bytes from %s", e->session, e->path,
			e->view.credit_units, 1u << e->view.unit, ip_addr_format(&e->view.nhop, node));
		break;
	case RSVP_EVENT_DOWN:
		log_warning(rsvp, "session %s: no credit on path %s any more, it is %s", e->session, e->path,
			rsvp_user_state_name(e->view.user));
		break;
	case RSVP_EVENT_REFUSED:
		if (!e->view.error.node.family) {
			log_warning(rsvp, "session %s: nobody answers on path %s", e->session, e->path);
			break;
		}
		log_warning(rsvp, "session %s: path %s refused by %s: %s (error %u, value 0x%04x)", e->session, e->path,
			ip_addr_format(&e->view.error.node, node), reason_of(&e->view.error), e->view.error.code,
			e->view.error.value);
		break;
	case RSVP_EVENT_SILENT:
		log_warning(rsvp, "neighbor %s: no way to it is alive; its credit is not used",
			ip_addr_format(&e->neighbor, node));
		break;
	case RSVP_EVENT_BACK:
		log_notice(rsvp, "neighbor %s: a way to it is alive again", ip_addr_format(&e->neighbor, node));
		break;
	case RSVP_EVENT_UNANSWERED:
		log_warning(rsvp, "neighbor %s: it has stopped answering; its sessions end or take other paths",
			ip_addr_format(&e->neighbor, node));
		break;
	case RSVP_EVENT_ANSWERS:
		log_notice(rsvp, "neighbor %s: it answers again", ip_addr_format(&e->neighbor, node));
		break;
	case RSVP_EVENT_REPLAYED:
		log_warning(rsvp, "neighbor %s: %llu messages replayed, or older than credit.window",
			ip_addr_format(&e->neighbor, node), (unsigned long long)e->count);
		break;
	case RSVP_EVENT_STALLED:
		log_warning(rsvp, "session %s: packets wait, and %s gives no credit; see: show credit",
			session_of(e, name, sizeof(name)), ip_addr_format(&e->view.nhop, node));
		break;
	case RSVP_EVENT_FLOWS:
		log_notice(rsvp, "session %s: %s gives credit again", session_of(e, name, sizeof(name)),
			ip_addr_format(&e->view.nhop, node));
		break;
	case RSVP_EVENT_LEAKS:
		log_warning(rsvp, "session %s: %llu units lost on the way to %s are not given back; see: show credit",
			session_of(e, name, sizeof(name)), (unsigned long long)e->count,
			ip_addr_format(&e->view.nhop, node));
		break;
	case RSVP_EVENT_HEALED:
		log_notice(rsvp, "session %s: the units lost on the way to %s are given back",
			session_of(e, name, sizeof(name)), ip_addr_format(&e->view.nhop, node));
		break;
	case RSVP_EVENT_BEYOND:
		log_warning(rsvp, "neighbor %s: it grants more than it has announced; obeyed up to twice that",
			ip_addr_format(&e->view.nhop, node));
		break;
	}
}

static void alarm_growth(uint64_t *said, uint64_t now, const char *what)
{
	if (now > *said)
		log_warning(rsvp, "%llu %s; see: show rsvp counters, show rsvp paths",
			(unsigned long long)(now - *said), what);
	*said = now;
}

void rsvp_tick(struct node *n)
{
	struct node_rsvp *s = node_rsvp(n);
	uint32_t head = __atomic_load_n(&s->events.head, __ATOMIC_ACQUIRE), tail = s->events.tail;
	const struct rsvp_control *r = rsvp_shown(n);
	uint64_t now = stat_read(&n->control->now);

	if (!r)
		return;
	while (tail != head)
		say(&s->events.event[tail++ % RSVP_EVENTS]);
	__atomic_store_n(&s->events.tail, tail, __ATOMIC_RELEASE);
	if (now < s->said_ns)
		return;
	s->said_ns = now + ALARM_NS;
	alarm_growth(&s->missed_said, stat_read(&s->events.missed), "changes of sessions were too many to be listed");
	alarm_growth(&s->refused_said, stat_read(&rsvp_node_stats_of(r->machines)->refused),
		"paths of sessions were refused here");
}

/* A node that stops has ended its sessions, if it has any. */
uint64_t rsvp_stopping(struct node *n)
{
	const struct rsvp_control *r = rsvp_shown(n);

	__atomic_store_n(&node_rsvp(n)->stopping, true, __ATOMIC_RELAXED);
	return r && (stat_read(&rsvp_node_stats_of(r->machines)->paths) ||
			    stat_read(&letter_stats_of(r->letter)->sessions))
		       ? STOP_NS
		       : 0;
}

bool rsvp_row_copy(const struct rsvp_control *r, uint32_t i, struct rsvp_row *out)
{
	const struct rsvp_row *row = &r->row[i];
	uint32_t before;

	do {
		before = __atomic_load_n(&row->version, __ATOMIC_ACQUIRE);
		*out = *row;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (before & 1 || before != __atomic_load_n(&row->version, __ATOMIC_RELAXED));
	return out->used;
}

int rsvp_order(struct node *n, const char *name, bool stop)
{
	struct rsvp_orders *o = &node_rsvp(n)->orders;

	if (o->head - __atomic_load_n(&o->tail, __ATOMIC_ACQUIRE) == RSVP_ORDERS)
		return -EBUSY;
	snprintf(o->order[o->head % RSVP_ORDERS].name, RSVP_NAME, "%s", name);
	o->order[o->head % RSVP_ORDERS].stop = stop;
	__atomic_store_n(&o->head, o->head + 1, __ATOMIC_RELEASE);
	return 0;
}

size_t rsvp_soft_state(void)
{
	return rsvp_bytes_of_session() + rsvp_bytes_of_path();
}

size_t rsvp_shared_memory(void)
{
	return rsvp_bytes_of_shared(RSVP_HOPS_MAX);
}

size_t rsvp_updated_state(void)
{
	return rsvp_bytes_of_updates();
}

size_t rsvp_session_memory(void)
{
	return rsvp_soft_state() + rsvp_updated_state() + rsvp_shared_memory() + rsvp_bytes_on_demand() +
	       sizeof(struct rsvp_row) + sizeof(struct rsvp_own) + sizeof(struct rsvp_carrier) + SNAP_ENCAP_BYTES_MAX;
}

uint64_t rsvp_memory(uint32_t paths)
{
	uint32_t letter = MIN_OF(paths, (uint32_t)LIMIT_LETTER_SESSIONS);

	return sizeof(struct rsvp_control) + rsvp_bytes_of_node() + paths * rsvp_session_memory() +
	       letter * (sizeof(struct rsvp_row) + letter_bytes_of_session());
}
