/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of all counters, made from the lists beside the structs. Constants. */
#include "metrics/tables.h"

#include "bfd/bfd.h"
#include "service/pfc/pfc_cp.h"
#include "node/node_ctl.h"
#include "service/nexthop/nexthop.h"
#include "service/pfc/pfc_ctl.h"
#include "service/pfc/service_learn.h"
#include "service/rsvp/credit_shown.h"
#include "service/steer/service_steer.h"

#define QUEUE_COUNTERS(X) QUEUE_LEVELS(X) QUEUE_EVENTS(X)

/* clang-format off */

#define ROW_port(name, unit, help) \
	STAT_ROW(struct port_stats, counter, name, #name, unit, "sluice_port_" #name, help),
/* the longest gap is a gauge that only grows, not a count */
#define KIND_lcore(name) \
	(offsetof(struct lcore_stats, name) == offsetof(struct lcore_stats, max_gap_ns) ? STAT_GAUGE : STAT_COUNTER)
#define ROW_lcore(member, unit_, help_) \
	{.name = #member, .unit = (unit_), .metric = "sluice_lcore_" #member, .help = (help_), \
		.offset = (uint32_t)offsetof(struct lcore_stats, member), .kind = KIND_lcore(member), .size = 8, .n = 1},
#define ROW_punt(...) STAT_ROW(struct punt_stats, __VA_ARGS__),
#define ROW_device(...) STAT_ROW(struct port_device_stats, __VA_ARGS__),
#define ROW_interface(...) STAT_ROW(struct interface_stats, __VA_ARGS__),
#define ROW_egress(...) STAT_ROW(struct egress, __VA_ARGS__),
#define ROW_queue(...) STAT_ROW(struct egress_queue, __VA_ARGS__),
#define ROW_buffer(...) STAT_ROW(struct pfc_buffer, __VA_ARGS__),
#define ROW_pfc_rx(...) STAT_ROW(struct service_pfc_port, __VA_ARGS__),
#define ROW_pfc_tx(...) STAT_ROW(struct pfc_speaker, __VA_ARGS__),
#define ROW_pfc(...) STAT_ROW(struct service_pfc_port, __VA_ARGS__),
#define ROW_pauses(...) STAT_ROW(struct node_pauses, __VA_ARGS__),
#define ROW_watchdog(...) STAT_ROW(struct pfc_watchdog, __VA_ARGS__),
#define ROW_storm(...) STAT_ROW(struct service_watchdog, __VA_ARGS__),
#define ROW_tunnel(...) STAT_ROW(struct pfc_tunnel, __VA_ARGS__),
#define ROW_learning(...) STAT_ROW(struct pfc_tunnels, __VA_ARGS__),
#define ROW_learner(...) STAT_ROW(struct service_learner, __VA_ARGS__),
#define ROW_relay(...) STAT_ROW(struct pfc_relay_port, __VA_ARGS__),
#define ROW_thinner(...) STAT_ROW(struct pfc_thinner, __VA_ARGS__),
#define ROW_carrier(...) STAT_ROW(struct carrier, __VA_ARGS__),
#define ROW_nexthop(...) STAT_ROW(struct nexthop_shown, __VA_ARGS__),
#define ROW_path(...) STAT_ROW(struct path_shown, __VA_ARGS__),
#define ROW_feedback(...) STAT_ROW(struct feedback_shown, __VA_ARGS__),
#define ROW_bfd(...) STAT_ROW(struct bfd_stats, __VA_ARGS__),
#define ROW_bfd_session(...) STAT_ROW(struct bfd_session_stats, __VA_ARGS__),
#define ROW_rsvp(...) STAT_ROW(struct rsvp_service_stats, __VA_ARGS__),
#define ROW_rsvp_refused(...) STAT_ROW(struct rsvp_service_stats, __VA_ARGS__),
#define ROW_rsvp_session(...) STAT_ROW(struct rsvp_node_stats, __VA_ARGS__),
#define ROW_rsvp_letter(...) STAT_ROW(struct letter_stats, __VA_ARGS__),
#define ROW_rsvp_neighbor(...) STAT_ROW(struct rsvp_neighbor, __VA_ARGS__),
#define ROW_rsvp_own(...) STAT_ROW(struct rsvp_session_shown, __VA_ARGS__),
#define ROW_credit_sent(...) STAT_ROW(struct credit_sent, __VA_ARGS__),
#define ROW_credit_given(...) STAT_ROW(struct credit_given, __VA_ARGS__),
#define ROW_credit_of(...) STAT_ROW(struct credit_sent, __VA_ARGS__),
#define ROW_flow(...) STAT_ROW(struct flow_counters, __VA_ARGS__),
#define ROW_roce(...) STAT_ROW(struct roce_counters, __VA_ARGS__),
#define ROW_pair(...) STAT_ROW(struct pair_shown, __VA_ARGS__),
#define ROW_sid(...) STAT_ROW(struct sid_counter, __VA_ARGS__),

#define X(id, title, about, list) \
	static const struct stat_row id##_rows[] = {list(ROW_##id)}; \
	const struct stat_table stat_##id = {title, about, id##_rows, ARRAY_LEN(id##_rows)};
STAT_TABLES(X)
#undef X

const struct stat_table *const stat_tables[] = {
#define X(id, title, about, list) &stat_##id,
	STAT_TABLES(X)
#undef X
	NULL,
};
