/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMAND_COMMAND_PRIV_H
#define COMMAND_COMMAND_PRIV_H

#include "base/compiler.h"
#include "command/command.h"
#include "fib/target.h"

/* Set the reason of a failure and return rc. */
int command_fail(struct command_call *c, int rc, const char *format, ...) PRINTF_LIKE(3, 4);

struct snap_policy;

/* The result is an array with a row for each path of each policy. Returns 0. */
int command_paths(struct command_call *c,
	json_t *(*row)(const struct command_call *c, const struct snap_policy *policy, uint32_t id));

/* commands.c */

/* cmd_port.c */
int cmd_show_ports(struct command_call *c);
int cmd_show_interfaces(struct command_call *c);
int cmd_show_port(struct command_call *c);
int cmd_show_port_stats(struct command_call *c);
int cmd_show_port_xstats(struct command_call *c);

/* cmd_stats.c */
int cmd_show_lcores(struct command_call *c);
int cmd_show_stats(struct command_call *c);
int cmd_show_drops(struct command_call *c);
int cmd_show_conservation(struct command_call *c);
int cmd_clear_stats(struct command_call *c);

/* cmd_queue.c */
int cmd_show_queues(struct command_call *c);
int cmd_show_rings(struct command_call *c);
int cmd_show_punts(struct command_call *c);

/* cmd_credit.c */
int cmd_show_credit(struct command_call *c);
int cmd_show_credit_pools(struct command_call *c);

/* cmd_pfc.c */
int cmd_show_pfc_counters(struct command_call *c);

/* cmd_pfc_wan.c */
int cmd_show_pfc_history(struct command_call *c);
int cmd_show_pfc_tunnels(struct command_call *c);

/* cmd_bfd.c */
int cmd_show_bfd_sessions(struct command_call *c);
int cmd_show_bfd_counters(struct command_call *c);

/* cmd_rsvp.c */
int cmd_show_rsvp_sessions(struct command_call *c);
int cmd_show_rsvp_paths(struct command_call *c);
int cmd_show_rsvp_neighbors(struct command_call *c);
int cmd_show_rsvp_counters(struct command_call *c);
int cmd_clear_rsvp(struct command_call *c);
int cmd_session_start(struct command_call *c);
int cmd_session_stop(struct command_call *c);

/* cmd_rsvp_messages.c */
int cmd_show_rsvp_messages(struct command_call *c);
int cmd_debug_rsvp(struct command_call *c);

/* cmd_watchdog.c */
int cmd_show_pfc_watchdog(struct command_call *c);
int cmd_show_buffers(struct command_call *c);
int cmd_clear_watermarks(struct command_call *c);

/* cmd_srv6.c */
int cmd_show_sids(struct command_call *c);
int cmd_show_remote_sids(struct command_call *c);
int cmd_show_policies(struct command_call *c);

/* cmd_failover.c */
/* Array of the next hops that a route leads to: path (of a policy), way, state, why. Empty for own addresses and SIDs. */
json_t *failover_ways(const struct node *n, target_t t);
int cmd_show_nexthops(struct command_call *c);
int cmd_show_paths(struct command_call *c);
int cmd_port_stop(struct command_call *c);
int cmd_port_start(struct command_call *c);

/* cmd_flow.c */
int cmd_show_flows(struct command_call *c);
int cmd_show_flow_counters(struct command_call *c);
int cmd_show_placements(struct command_call *c);
int cmd_show_roce_counters(struct command_call *c);
int cmd_show_roce_pairs(struct command_call *c);
int cmd_show_roce_watched(struct command_call *c);
int cmd_roce_watch(struct command_call *c);
int cmd_roce_unwatch(struct command_call *c);

/* cmd_path.c */
int cmd_path_place(struct command_call *c);
int cmd_path_pin(struct command_call *c);
int cmd_path_unpin(struct command_call *c);
int cmd_path_load(struct command_call *c);
int cmd_path_batch(struct command_call *c);
int cmd_path_drain(struct command_call *c);
int cmd_path_enable(struct command_call *c);
/* The placements of a node as YAML of the key placements, if there are any. */
void path_write_placements(const struct node *n, FILE *out);

/* cmd_route.c */
int cmd_show_routes(struct command_call *c);
int cmd_show_route_lookup(struct command_call *c);
int cmd_show_neighbors(struct command_call *c);

/* cmd_ping.c */
int cmd_ping(struct command_call *c);
int cmd_ping_sid(struct command_call *c);
int cmd_ping_policy(struct command_call *c);
int cmd_traceroute(struct command_call *c);
int cmd_traceroute_sid(struct command_call *c);
int cmd_traceroute_policy(struct command_call *c);

/* cmd_trace.c */
int cmd_show_trace(struct command_call *c);
int cmd_trace_add(struct command_call *c);
int cmd_clear_trace(struct command_call *c);

/* cmd_capture.c */
int cmd_show_captures(struct command_call *c);
int cmd_capture_start(struct command_call *c);
int cmd_capture_drops(struct command_call *c);
int cmd_capture_stop(struct command_call *c);

/* cmd_config.c */
int cmd_show_config(struct command_call *c);
int cmd_reload(struct command_call *c);
int cmd_commit(struct command_call *c);
int cmd_commit_confirmed(struct command_call *c);
int cmd_rollback(struct command_call *c);

/* cmd_general.c */
int cmd_show_log(struct command_call *c);
int cmd_set_log(struct command_call *c);
int cmd_show_version(struct command_call *c);
int cmd_quit(struct command_call *c);

#endif
