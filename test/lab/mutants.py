#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does the lab run the appliance's own code, and do its scenarios notice when that is wrong? Gates of workers are broken,
one after the other, in a copy of the sources; the lab is built from it, and a named scenario must fail; or a unit test, test_...,
where a network hardly shows the difference. Prints TAP.
All take ten minutes and more."""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
TARGET = "app/sluice-lab/sluice-lab"

sys.path.insert(0, HERE)
import run  # noqa: E402
from catalogue import SCENARIOS  # noqa: E402

Mutant = collections.namedtuple("Mutant", "what path old new scenario")
VIOLATES = "what the device did not take is forgotten"  # violates an invariant, so that the run stops and reports it
TOLD = ["invariant 'node conservation' is violated at", "The last 1000 events:", "gw1> show conservation", "gw1> show queues"]
MUTANTS = [
    Mutant("a buffer is held against the thresholds of before the reload", "lib/service/pfc/pfc_dp.c",
           "		service_pfc(w->node)->port[port].looked = 0;", "		;", "test_pfc_port"),
    Mutant("watermarks that were cleared stay at zero", "lib/service/pfc/pfc_dp.c",
           "		service_pfc(w->node)->port[w->egress[i]->index].looked = 0;", "		;", "test_buffers_shown"),
    Mutant("pauses by End.X.PFC end as their frames say", "lib/service/pfc/pfc_cp.c",
           "sid->jitter_ns + sid->outage_ns);", "sid->jitter_ns);", "tunnel_way_back_cut"),
    Mutant("a node that starts lets go what End.X.PFC may pause", "lib/service/pfc/pfc_dp.c",
           "uint64_t ns = w->node->steady ? 0 : pfc_start_ns(s, port);", "uint64_t ns = 0 * pfc_start_ns(s, port);",
           "restart_in_a_tunnel_pause"),
    Mutant("a reload takes flow control away while it is in force", "lib/node/node_ctl.c",
           "held = is_held(n, s, how);", "held = false && is_held(n, s, how);", "reload_in_a_pause"),
    Mutant("ids are released under the packets of their epoch", "lib/node/publish_ctl.c",
           "(!r->begins || is_through(n, r))", "(true || is_through(n, r))", "test_reload"),
    Mutant("an item that is in both lists hides one like it", "lib/config/diff.c",
           "*at = next[*at - 1];", "", "test_diff"),
    Mutant("a flow that is placed keeps the path of its hash", "lib/service/steer/flow_dp.c",
           "if (f->bucket != FLOW_BY_HASH) {", "if (false) {", "steer_placed"),
    Mutant("a flow does not see that its placement has changed", "lib/service/steer/flow_dp.c",
           "if (unlikely(f->stamp != stamp))", "if (false)", "steer_moves"),
    Mutant("a tenant's flood takes the places of others", "lib/steer/flow_table_dp.c",
           "bool used_up = t->in_share[share] >= most;", "bool used_up = t->in_share[share] >= most && false;", "test_steer_node"),
    Mutant("a placement that is wrong does not stop the others", "lib/service/steer/steer_ctl.c",
           "if (rc < 0)\n\t\t\treturn rc;\n\t}\n\trc = place_store_reserve(", "(void)rc;\n\t}\n\trc = place_store_reserve(", "test_steer_node"),
    Mutant("a CNP of strangers counts for their receiver", "lib/service/steer/pair_dp.c",
           "if (place == PAIR_NONE) {\n\t\tstat_add(&mine->sum.unknown, 1);\n\t\treturn;\n\t}", "if (place == PAIR_NONE)\n\t\tplace = 0;", "test_steer_pairs"),
    Mutant("an answer counts for the pair of the other direction", "lib/service/steer/pair_dp.c",
           "pair_key(key, true)", "pair_key(key, false)", "test_steer_pairs"),
    Mutant("a pair has the counters of the one before", "lib/service/steer/pair_cp.c",
           "set_base(c, p, place);", "(void)set_base;", "test_steer_pairs"),
    Mutant("a CNP that is cut is one", "lib/wire/roce.h",
           "if (at + sizeof(*bth) + ROCE_CNP_RESERVED <= end)", "if (at < end)", "test_steer"),
    Mutant("several PSNs that were left out count as one", "lib/steer/flow_table_dp.c",
           "r->gaps + ahead", "r->gaps + 1", "test_steer"),
    Mutant("a flow that is placed loses its place to another one", "lib/steer/flow_table_dp.c",
           "f->share != *share || f->bucket != FLOW_BY_HASH", "f->share != *share", "test_steer_node"),
    Mutant("a path that is drained is alive", "lib/service/steer/steer_cp.c",
           "LIVENESS_DRAINED, !o->drained", "LIVENESS_DRAINED, true", "test_steer_node"),
    Mutant("a flow is told from another one by its tag alone", "lib/service/steer/flow_dp.c",
           "!f || !steer_same(&f->key, &g->key) ||", "!f ||", "test_steer_node"),
    Mutant("controls that share links act in step and without a hold", "lib/steer/path_control.c",
           "return p->hold && now < p->changed + p->hold;", "return false && p->hold && now < p->changed + p->hold;",
           "test_path_control"),
    Mutant("a queue that drains is left as one that grows", "lib/steer/path_control.c",
           "return p->last.cost < p->score - p->score / 16;", "return false && p->last.cost;", "test_path_control"),
    Mutant("a flow moves while its packets wait in a queue", "lib/service/steer/move_dp.c",
           "return seen + FEEDBACK_SLACK_NS <=", "return true || seen + FEEDBACK_SLACK_NS <=", "test_feedback"),
    Mutant("flows of a failed path wait for a gap", "lib/service/steer/move_dp.c",
           "if (o->reason == PATH_REASON_DEAD)", "if (false)", "test_feedback"),
    Mutant("a reload undoes what feedback has moved", "lib/service/steer/flow_dp.c",
           "m->at == STEER_NO_PATH || m->placed != placed", "true || m->placed != placed", "test_feedback"),
    Mutant("flows that an operator has pinned move", "lib/service/steer/move_dp.c",
           "|| t->move[f - t->flow].pinned)", ")", "test_feedback"),
    Mutant("a fragment is taken for RoCEv2", "lib/wire/roce.h",
           "|| be16_get(four->fragment) & (IPV4_MF | IPV4_OFFSET_MASK))", ")", "test_steer"),
    Mutant("a next hop that does not answer loses its MAC at once", "lib/neigh/neigh_cache.c",
           "e->i.state == NEIGH_PROBE && e->asked != ASKED_IN_VAIN", "false", "test_neigh_kept"),
    Mutant("a scan takes the slots of all ports", "lib/neigh/neigh_table_dp.c",
           "->held + t->lossy < t->hold_total", "->held < t->hold_total", "test_egress"),
    Mutant("uSIDs behind other blocks are packed as behind a /32", "lib/config/usid.c",
           "used + ids > usid_per_container(block->len)", "used + ids > 6", "test_usid"),
    Mutant("pauses executed at End.X.PFC have no history", "lib/service/pfc/pfc_dp.c",
           "pfc_record_sid(w, m);", "(void)pfc_record_sid;", "test_reload_held"),
    Mutant("every snapshot begins an epoch", "lib/node/publish_ctl.c",
           "!snapshot_drops_ids(&n->registry, s) ||", "", "test_reload"),
    Mutant("a group gets another number in each snapshot", "lib/snapshot/build_groups.c",
           "if (!*place) {", "if (true) {", "test_snapshot"),
    Mutant("the replay window of RSVP is that of RFC 2747's example", "lib/rsvp/rsvp_integrity.c",
           "a->window = MIN_OF(MAX_OF(window, 1u), RSVP_WINDOW_MAX);", "a->window = MIN_OF(MAX_OF(window, 1u), 32u);",
           "test_rsvp_integrity"),
    Mutant("keys of RSVP are accepted by the own clock alone", "lib/rsvp/rsvp_integrity.c",
           "a->clock_s = clock_s;", "a->clock_s = 0 * clock_s;", "test_rsvp_integrity"),
    Mutant("any number of unknown RSVP objects is ignored", "lib/rsvp/rsvp_read.c",
           "if (!(h->class_num & 0x80)) {", "if (false) {", "test_rsvp_message"),
    Mutant("a type 30 of GMPLS is taken for End", "lib/rsvp/rsvp_read.c",
           "type == TYPE_RECOVERY_PATH && !frames.ip_session", "false", "test_rsvp_message"),
    Mutant("RSVP objects of other enterprises are taken for own ones", "lib/rsvp/rsvp_object.c",
           "return be32_get(number) == n->enterprise;", "return true;", "test_rsvp_message"),
    Mutant("the LIH is the port alone", "lib/rsvp/rsvp_record.c",
           "} while (rsvp_path_by_lih(n, p->lih));", "} while ((p->lih &= 0xff, false));", "test_rsvp_edges"),
    Mutant("RSVP offers are counted for each path", "lib/rsvp/rsvp_credit.c",
           "n->stats.promised += units;", "n->stats.promised += units, r->units += (uint32_t)units;", "test_rsvp_node"),
    Mutant("the far gateway's own buffer does not count", "lib/rsvp/rsvp_grantor.c",
           "o.buffer = MIN_OF(o.buffer, (uint64_t)rsvp_buffer_of(n, p->instance) << p->instance->unit);", "", "test_rsvp_node"),
    Mutant("a session that found no room is not tried again", "lib/service/rsvp/sessions_cp.c", "rsvp_of(c)->unopened = true;", "",
           "test_rsvp_service"),
    Mutant("RSVP messages that are not authentic are heard", "lib/service/rsvp/packets_cp.c",
           "if (refusal == RSVP_ACCEPTED) refusal = read;", "refusal = read;", "test_rsvp_service"),
    Mutant("senders of RSVP are not challenged", "lib/service/rsvp/packets_cp.c", "if (challenge.cookie)", "if (false)",
           "test_rsvp_service"),
    Mutant("stations beside a server are heard as it is", "lib/classify/rsvp_dp.c", "|| !is_server(w, &ip->src)", "",
           "test_rsvp_servers"),
    Mutant("a server reserves for other stations", "lib/service/rsvp/packets_cp.c", "(!a->zone || is_sender(m, &source))", "true",
           "test_rsvp_servers"),
    Mutant("sessions of two tenants are one", "lib/rsvp/rsvp_record.c", "&& zone_for(p, m) == m->zone &&", "&& zone_for(p, m) != 999 &&",
           "test_rsvp_servers"),
    Mutant("servers share the keys of the domain", "lib/service/rsvp/neighbors_cp.c",
           "return n->zone || n->letter ? n->auth : r->auth;", "return r->auth;", "test_rsvp_servers"),
    Mutant("a server is granted what the domain has not", "lib/rsvp/rsvp_grantor.c", "return !s->joined ||", "return true ||",
           "test_rsvp_servers"),
    Mutant("servers are not told that the domain has no way", "lib/rsvp/rsvp_node.c",
           "rsvp_grantor_carried(n, now, a, on);", "", "test_rsvp_servers"),
    Mutant("what an operator has stopped is a path without a route", "lib/rsvp/rsvp_grantor.c", "why.value = s->under->why;", "why.value = RSVP_REFUSE_ROUTE;", "test_rsvp_servers"),
    Mutant("what an operator has stopped is not asked for again", "lib/rsvp/rsvp_user.c",
           "|| m->error.value == RSVP_REFUSE_OPERATOR)", ")", "test_rsvp_states"),
    Mutant("a class that a PFC tunnel pauses is granted credit", "lib/service/rsvp/route_cp.c",
           "if (is_paused_otherwise(c->s, a->port, m))", "if (false && is_paused_otherwise(c->s, a->port, m))", "test_rsvp_flood"),
    Mutant("a Reserve of another tenant counts", "lib/rsvp/rsvp_user.c", "rsvp_way_of(p)->zone != m->zone ||", "", "test_rsvp_servers"),
    Mutant("refreshes of the next hop put off those of a session by the letter", "lib/rsvp/rsvp_letter.c",
           "else if (first || b->timers.due[LETTER_T_SEND] == TIME_NEVER)", "else", "test_rsvp_letter"),
    Mutant("credit by the letter is granted on top of increments", "lib/rsvp/rsvp_letter.c", "if (letter_owes(g)) {", "if (false) {",
           "test_rsvp_letter"),
    Mutant("a session across the domain does not follow that of a server by the letter", "lib/service/rsvp/letter_cp.c",
           "rsvp_carry_set(rsvp_of(c)->machines, c->now, &o->carry, on);", "", "test_rsvp_servers"),
    Mutant("a server by the letter is not told that the domain has no way", "lib/rsvp/rsvp_letter_carried.c",
           "letter_send_path_err(n, NULL, g, &s->error); continue;", "continue;", "test_rsvp_letter"),
    Mutant("sessions by the letter do not follow those that carry on their data", "lib/service/rsvp/rsvp_cp.c",
           "letter_carried(r->letter, c->now);", "", "rsvp_joined"),
    Mutant("an End by the letter is sent twice at most", "lib/rsvp/rsvp_letter.c",
           "timer_after(n, &b->timers, LETTER_T_SEND, now, letter_backed_off(n, b->tries)); return;", "return;", "rsvp_letter_under_loss"),
    Mutant("an increment counts as often as it comes", "lib/credit/credit_letter.c",
           "if (ids->seen[bit / 64] >> bit % 64 & 1)", "if (false)", "rsvp_letter_under_loss"),
    Mutant("neighbours on a link are told the loopback", "lib/service/rsvp/neighbors_cp.c",
           "return n ? n->own :", "return false ? n->own :", "test_rsvp_service"),
    Mutant("the hop limit of a Path init does not go down", "lib/rsvp/rsvp_grantor.c",
           "p->ttl = (uint8_t)(m->send_ttl - 1);", "p->ttl = m->send_ttl;", "test_rsvp_service"),
    Mutant("sessions of RSVP begin all at once", "lib/service/rsvp/sessions_cp.c", "&& c->now >= r->begin_ns", "", "rsvp_comes_up"),
    Mutant("foreign objects of a Reserve are lost", "lib/rsvp/rsvp_send.c", "rsvp_put_objects(m, p->passed_up->data, p->passed_up->bytes);", "(void)m;",
           "test_rsvp_edges"),
    Mutant("RSVP messages are recorded though nobody wants it", "lib/service/rsvp/shown_ctl.c",
           "&s->recording, on ? s->journal : NULL,", "&s->recording, s->journal,", "test_rsvp_shown"),
    Mutant("recorded RSVP messages are shown after they were cleared", "lib/service/rsvp/shown_ctl.c",
           "s->forgotten = __atomic_load_n(&s->journal->last, __ATOMIC_ACQUIRE);", ";", "test_rsvp_shown"),
    Mutant("RSVP messages without effect are shown as accepted", "lib/service/rsvp/events_cp.c",
           "return **why ? RSVP_VERDICT_NO_EFFECT : RSVP_VERDICT_ACCEPTED;", "return RSVP_VERDICT_ACCEPTED;", "test_rsvp_shown"),
    Mutant("a neighbour that stops answering is not told of", "lib/rsvp/rsvp_grantor.c",
           "rsvp_silent(n, p->instance->zone, p->phop);", "", "test_rsvp_shown"),
    Mutant("packets that a traced RSVP message causes are not in its trace", "lib/node/control_send_cp.c",
           "pkt_of(m)->trace = c->trace;", ";", "test_rsvp_shown"),
    Mutant("samples of every session are on each page", "lib/metrics/openmetrics.c",
           "if (how->session)", "if (true)", "test_rsvp_shown"),
    Mutant("replays are told without limit", "lib/service/rsvp/events_cp.c",
           "n->told_ns = c->now + REPLAYS_TOLD_NS;", ";", "test_rsvp_service"),
    Mutant("a Path init whose contents changed is refreshed by its id", "lib/rsvp/rsvp_refresh.c",
           "|| rsvp_init_sum(n, p) != p->down_sum)", ")", "test_rsvp_refresh"),
    Mutant("the whole message is not sent after a NACK", "lib/rsvp/rsvp_node.c",
           "p->down_acked = up ? p->down_acked : !m->ack[i].nack;", "p->down_acked |= !up;", "test_rsvp_refresh"),
    Mutant("ids of any neighbour refresh a path", "lib/rsvp/rsvp_heard.c",
           "== zone && ip_addr_equal(h->down ? p->nhop : p->phop, from);", "== zone;", "test_rsvp_refresh"),
    Mutant("a refresh by id does not renew the commit", "lib/rsvp/rsvp_user.c",
           "live(n, now, p); return true; } /* Has everything", "return true; } /* Has everything", "test_rsvp_refresh"),
    Mutant("each refresh by id has a message of its own", "lib/rsvp/rsvp_refresh.c",
           "return at - at % step;", "return at + 0 * step;", "test_rsvp_refresh"),
    Mutant("Bundles go to neighbours that do not take them", "lib/service/rsvp/packets_cp.c",
           "n && n->reduces && !c->trace &&", "n && !c->trace &&", "test_rsvp_service"),
    Mutant("sessions of a permission get what the pool has", "lib/rsvp/rsvp_credit.c",
           "|| limit->committed + r->units > limit->most)", ")", "test_rsvp_service"),
    Mutant("a permission that was away for a while forgets what it has granted", "lib/service/rsvp/rsvp_cp.c",
           "else if (!memcmp(&r->permission[i].sources,", "else if (r->permission[i].used && !memcmp(&r->permission[i].sources,",
           "test_rsvp_service"),
    Mutant("the delay of the link is not told", "lib/rsvp/rsvp_send.c", "p->offer.delay_us + link;", "p->offer.delay_us;", "test_rsvp_service"),
    Mutant("End does not wait for the data", "lib/rsvp/rsvp_user.c",
           "return rsvp_grantor_is_complete(p) &&", "return true ||", "test_rsvp_node"),
    Mutant("a backup that has failed as well is waited for", "lib/rsvp/rsvp_user.c",
           "p->instance->backup |= p->ask && p->candidate;", "", "test_rsvp_node"),
    Mutant("the new next hop of a path is not asked", "lib/rsvp/rsvp_user.c", "p->steps |= carried ? RSVP_DOWN_ASK : RSVP_DOWN_INIT;",
           "p->steps |= RSVP_DOWN_INIT;", "test_rsvp_repair"),
    Mutant("the old next hop of a path is not told", "lib/rsvp/rsvp_user.c",
           "tell_old(n, p);", "; (void)tell_old;", "test_rsvp_repair"),
    Mutant("a path goes back to the previous hop that it has left", "lib/rsvp/rsvp_grantor.c",
           "(!gone && !(flags_of(m) & RSVP_HOP_ASK) && p->former", "(false && p->former", "test_rsvp_repair"),
    Mutant("a path along segments changes its previous hop", "lib/rsvp/rsvp_grantor.c", "return !m->routed ||", "return", "test_rsvp_repair"),
    Mutant("sessions do not follow routes", "lib/service/rsvp/rsvp_cp.c", "if (c->now >= r->repair_ns)", "if (false)", "test_rsvp_service"),
    Mutant("a path that was left stays committed", "lib/rsvp/rsvp_user.c", "if (is_elsewhere(p)) rsvp_due_set(", "if (false) rsvp_due_set(",
           "test_rsvp_node"),
    Mutant("a backup that was asked once is not asked in the next failure", "lib/rsvp/rsvp_user.c",
           "q->asked = false; /* the next", "; /* the next", "test_rsvp_node"),
    Mutant("a path that is committed already is no backup", "lib/rsvp/rsvp_user.c",
           "s->current = best_in(s, RSVP_U_COMMITTED, &any);", "", "test_rsvp_node"),
    Mutant("RESYNC forgets the backlog", "lib/rsvp/rsvp_credit.c", "r->freed = -backlog;", "r->freed = 0 * backlog;",
           "test_rsvp_edges"),
    Mutant("RESYNC does not wait until the path is empty", "lib/rsvp/rsvp_user.c",
           "enter(n, p, RSVP_U_RESYNC); rsvp_timer_set(n, p, RSVP_T_USER_SEND, now + rsvp_ms(n->config.idle_ms));",
           "enter(n, p, RSVP_U_RESYNC); rsvp_timer_set(n, p, RSVP_T_USER_SEND, now);", "test_rsvp_edges"),
    Mutant("what an update of a context stops is not carried out", "lib/rsvp/rsvp_node.c",
           "settle_path(n, now, rsvp_path_by_lih(n, m->credit[i].lih));", "settle_path(n, now, NULL);", "test_rsvp_edges"),
    Mutant("a lease leaves the buffer of the next hop committed", "lib/rsvp/rsvp_grantor.c",
           "p->steps |= RSVP_DOWN_REFUSE; /* what", "p->steps |= 0; /* what", "test_rsvp_states"),
    Mutant("any S answers RESYNC", "lib/rsvp/rsvp_user.c", "&& c->echo == p->hop_sequence", "", "test_rsvp_edges"),
    Mutant("the list of devices of a known path is not bounded", "lib/rsvp/rsvp_grantor.c",
           "m->path.hops >= rsvp_hops_most(n, m)", "false", "test_rsvp_edges"),
    Mutant("every repeat of RESYNC opens an epoch", "lib/rsvp/rsvp_grantor.c",
           "(int32_t)(h->sequence - p->reservation->opened_by) > 0", "true", "test_rsvp_edges"),
    Mutant("an epoch that was left counts again", "lib/rsvp/rsvp_credit.c",
           "return RSVP_CREDIT_LEFT;", "return RSVP_CREDIT_OTHER;", "test_rsvp_edges"),
    Mutant("the gate asks whether there is credit, not whether there is enough", "lib/credit/credit_hot.h",
           "g->sent + g->pending + units) >= 0;", "g->sent + g->pending + 0 * units) > 0;", "test_credit"),
    Mutant("the gate forgets what is on its way to the device", "lib/credit/credit_hot.h",
           "g->sent + g->pending + units) >= 0;", "g->sent + units) >= 0;", "test_credit"),
    Mutant("credit outlives a silent neighbour", "lib/credit/credit_hot.h",
           "now < alive_until &&", "(now < alive_until || true) &&", "test_credit"),
    Mutant("no fences: lost units come back when the session is idle only", "lib/credit/credit_user.c",
           "return ahead > 0 || (ahead < 0 && fctbs != u->fence_fctbs) || stalled;", "return ahead < -(1 << 30) && fctbs && stalled;",
           "credit_data_loss"),
    Mutant("statements about fences declare nothing lost", "lib/credit/credit_grantor.c",
           "g->lost = lost;", "g->lost = 0 * lost;", "credit_data_loss"),
    Mutant("units that arrived twice stay declared lost", "lib/credit/credit_grantor.c",
           "g->lost = lost;", "g->lost = lost > before ? lost : before;", "test_credit"),
    Mutant("fences are forwarded and counted as data", "lib/service/rsvp/data_dp.c",
           "if (unlikely(bytes == FENCE_BYTES) && take_fence(x, m, grant, at))", "if (bytes == 0 && take_fence(x, m, grant, at))",
           "credit_data_loss"),
    Mutant("a neighbour that is heard again names its sessions one by one", "lib/service/rsvp/credit_cp.c",
           "	if (n->silent)\n\t\tn->again_ns = c->now;", "	if (false)\n\t\tn->again_ns = c->now;", "credit_many_silent"),
    Mutant("a neighbour that has restarted is not asked before the next refresh", "lib/service/rsvp/credit_neighbor_cp.c",
           "	n->again_ns = c->now + c->s->credit.config.idle_ms * NSEC_PER_MSEC;", "	;", "credit_chaos"),
    Mutant("a fence for each loop waits behind a paused port", "lib/service/rsvp/credit_cp.c",
           "if (!__atomic_load_n(&l->fences, __ATOMIC_RELAXED) &&", "if (", "test_credit_node"),
    Mutant("what a server sends occupies none of its credit", "lib/service/rsvp/data_dp.c",
           "if (unlikely(served))", "if (unlikely(served) && false)", "credit_server_slow"),
    Mutant("a server that overruns its credit takes of the pool", "lib/service/rsvp/data_dp.c",
           "received(x->d, grant) + units) < 0) {", "received(x->d, grant) + units) < INT64_MIN / 2) {", "test_credit_server"),
    Mutant("what goes to a server does not wait for its credit", "lib/service/rsvp/credit_line_cp.c",
           "if (u->zone)\n\t\tcredit_native_to(k, line);", ";", "credit_server_stalls"),
    Mutant("what one server sends to another one does not wait", "lib/service/rsvp/data_dp.c",
           "gate(x, m, line);\n}\n\n/* Data for a server", "}\n\n/* Data for a server", "test_credit_server"),
    Mutant("credit comes back when data arrives, not when it leaves", "lib/credit/credit_grantor.c",
           "uint64_t fccl = (uint64_t)credit_freed(g, t) + (uint64_t)g->lost + g->buf;",
           "uint64_t fccl = credit_rcvd(g, t) + (uint64_t)g->lost + g->buf;", "credit_slow_receiver"),
    Mutant("a fence is dropped from a queue that its session has filled", "lib/queue/sched_dp.c",
           "return !pkt_is_fence(m);", "return true;", "credit_fences_have_room"),
    Mutant("limits of credit fall within an epoch", "lib/credit/credit_grantor.c",
           "return credit_ahead(fccl, g->fccl) > 0 ? fccl : g->fccl;", "return fccl;", "test_credit"),
    Mutant("an epoch grants the room of what is still buffered", "lib/credit/credit_grantor.c",
           "g->fccl = buf > backlog ? buf - backlog : 0;", "g->fccl = buf + 0 * backlog;", "test_credit_epoch"),
    Mutant("an update that was overtaken counts", "lib/credit/credit_user.c",
           "if (!credit_newer(m->sequence, u->sequence)) return CREDIT_REPEATED;", "", "test_credit"),
    Mutant("updates wait for the tick", "lib/credit/credit_grantor.c",
           "if (freed - g->returned >= pace.batch || (!credit_backlog(t) && blocked && grown))",
           "if (freed - g->returned >= pace.batch && !pace.batch && blocked && grown)", "test_credit"),
    Mutant("a tick says nothing to a user that is blocked", "lib/credit/credit_grantor.c",
           "return dirty || blocked || outstanding;", "return dirty && outstanding && !blocked;", "test_credit"),
    Mutant("a session that stands still fills the buffer of its port", "lib/queue/line_dp.c",
           "if (s->overrun_drops && holds > 2 * share) {", "if (s->overrun_drops && holds > 200 * share) {", "credit_stalled_session"),
    Mutant("what a session may hold does not depend on what others hold", "lib/queue/line_dp.c",
           "held.bytes = p->buffer.xoff.bytes - MIN_OF(held.bytes, p->buffer.xoff.bytes);", "held.bytes = p->buffer.xoff.bytes;", "test_credit_share"),
    Mutant("idle sessions keep their credit", "lib/credit/credit_user.c",
           "!waiting && u->buf_now > floor && credit_user_idle(g, after_ns, now);", "waiting && u->buf_now > floor && credit_user_idle(g, after_ns, now);",
           "credit_busy_in_turn"),
    Mutant("credit that is given back stays committed", "lib/rsvp/rsvp_credit.c",
           "if (!n->config.floor || !keep || !r->committed) return;", "if (n->config.floor || !keep || !r->committed) return;", "credit_busy_in_turn"),
    Mutant("who asks for more is heard, and served by nobody", "lib/service/rsvp/credit_share_cp.c",
           "if (!free || (!k->asked && free == k->pool_free)) return;", "if (free || !k->asked) return;", "credit_busy_in_turn"),
    Mutant("the first question of a session that was quiet for long counts as unanswered", "lib/credit/credit_user.c",
           "now - u->since_ns >= 3 * hb_ns;", "now - u->heard_ns >= 3 * hb_ns;", "test_credit"),
    Mutant("promises have no bound", "lib/credit/credit_user.c",
           "uint64_t bound = credit_fctbs(u, g) + most;", "uint64_t bound = credit_fctbs(u, g) + most + (1u << 30);", "test_credit"),
    Mutant("what the device took is not given back to the previous hop", "lib/queue/line_count_dp.c",
           "if (k->grant) released(c, k->grant, units);", "", "credit_utilisation"),
    Mutant("packets that end inside the node keep their units", "lib/queue/line_count_dp.c",
           "if (x->priority & PKT_GRANTED) released(c, k->grant, k->units);", "", "test_credit_node"),
    Mutant("data of sessions that a node does not know goes on", "lib/service/rsvp/data_dp.c",
           "if (label && x->s->n_data_of && belongs_to_session(x, ip, p))", "if (label && belongs_to_session(x, ip, p) && false)", "credit_restart"),
    Mutant("data with credit stays in the device of a core that is too slow", "lib/node/rx_dp.c",
           "return in->lossless || in->credited;", "return in->lossless;", "credit_slow_core"),
    Mutant("the headend's data has no label of its session", "lib/queue/line_dp.c",
           "x->hash = (x->hash & ~(uint32_t)IPV6_FLOW_MASK) | l->label;", ";", "test_credit_node"),
    Mutant("a stall is a new one at each tick", "lib/service/rsvp/credit_shown_cp.c",
           "if (!there) {", "if (!there || u->trouble_ns[trouble]) {", "test_credit_node"),
    Mutant("commits take more than the pool has", "lib/rsvp/rsvp_credit.c",
           "n->stats.committed + r->units > n->config.pool ||", "false ||", "test_rsvp_node"),
    Mutant("an offer keeps its buffer", "lib/rsvp/rsvp_grantor.c",
           "now + rsvp_ms(n->config.offer_ms));", "now + 1000 * rsvp_ms(n->config.offer_ms));", "test_rsvp_node"),
    Mutant("a buffer is free while data is under way", "lib/rsvp/rsvp_credit.c",
           "if (delay_ms && r->committed)", "if (false)", "test_rsvp_edges"),
    Mutant("BFD waits for a packet too many", "lib/bfd/bfd_timing.c",
           "(uint64_t)s->remote_multiplier *", "(uint64_t)(s->remote_multiplier + 1) *", "bfd_one_direction"),
    Mutant("a BFD session that goes down leaves its next hop in use", "lib/service/bfd/bfd_cp.c",
           "report(c, peer, LIVENESS_BFD, false);", "(void)peer;", "bfd_one_direction"),
    Mutant("a device is restarted under lcores that use it", "lib/node/restart_ctl.c",
           "rte_rcu_qsbr_check(n->qsbr, r->token, false) == 1", "true", "test_port_restart"),
    Mutant("a memif client is started though nobody answers", "drivers/ethdev_restart.c",
           "if (!memif_server_answers(&dev_of(p)->server))", "if (false)", "test_ethdev"),
    Mutant("the link of a device that recovers is up", "drivers/ethdev_start.c",
           "	if (on)\n\t\tport_set_link(p, false);", "", "test_ethdev"),
    Mutant("a link that fails and returns before it is asked has not failed", "drivers/ethdev_start.c",
           "if (!port_set_link(p, ethdev_link_up(p)))", "if (!port_set_link(p, ethdev_link_up(p)) && false)", "test_ethdev"),
    Mutant("what is asked while a link is down waits for its next time", "lib/neigh/neigh_cache.c",
           "if (e->i.state == NEIGH_INCOMPLETE && e->asked != ASKED_IN_VAIN) {", "if (false) {", "test_neigh_kept"),
    Mutant("a neighbour heard before its link is up is believed for long", "lib/neigh/neigh_cache.c",
           "(e->i.state == NEIGH_FAILED || e->i.state == NEIGH_STALE) && e->i.keep", "e->i.state == NEIGH_FAILED && e->i.keep", "test_neigh_kept"),
    Mutant("nobody hears that feedback needs to know how the delays of paths differ", "lib/config/check_steer.c",
           "if (!p->feedback || n < 2 ||", "if (true ||", "test_config_steer"),
    Mutant("a reload may promise buffers that the running node has not", "lib/config/budget.c",
           "c->memory.pool = cfg_pool(running);", "c->memory.pool = 0;", "test_config_budget"),
    Mutant("flows return to neighbours that have not answered", "lib/service/neighbor/neighbor_cp.c",
           "nexthop_report(c, i, LIVENESS_UNRESOLVED, false);", "continue;", "test_nexthop"),
    Mutant("flows use neighbours that have never answered while others have", "lib/service/neighbor/neighbor_cp.c",
           "nexthop_report(c, id, LIVENESS_UNRESOLVED, false);", "(void)id;", "test_nexthop"),
    Mutant("the express lane: a packet without hops left", "lib/classify/express_dp.c", "ip->hop_limit <= 1", "ip->hop_limit < 1",
           "test_express"),
    Mutant("the express lane: the own MAC as source", "lib/classify/express_dp.c", " && from << 16 != mac", "", "test_express"),
    Mutant("the express lane: the loopback as source", "lib/classify/express_dp.c",
           "likely(hi != e->loopback[0] || lo != e->loopback[1])", "true", "test_express"),
    Mutant("the express lane: longer than the MTU", "lib/classify/express_dp.c", "|| bytes > neigh->mtu", "", "test_express"),
    Mutant("the express lane: longer than the frame", "lib/classify/express_dp.c",
           "|| sizeof(struct eth_hdr) + bytes > m->pkt_len", "", "test_express"),
    Mutant("the express lane: the slice of the SID", "lib/classify/express_dp.c", "likely(sid->slice == SNAP_SLICE_KEEP)", "true",
           "test_express"),
    Mutant("the express lane: any source", "lib/classify/express_dp.c", "in->any_source ||", "true ||", "test_express"),
    Mutant("the express lane: network control as data", "lib/classify/express_dp.c", "dscp >= DSCP_NETWORK_CONTROL ||",
           "dscp > 63 ||", "test_express"),
    Mutant("the express lane: a mark of congestion that the inner header lacks", "lib/classify/express_dp.c",
           "!((ipv6_tc(ip) ^ ipv6_tc((const struct ipv6_hdr *)inner)) & 3) &&", "", "test_express"),
    Mutant("the express lane: the class in the tunnel", "lib/classify/express_dp.c", "sid->tclass_of[class]", "class", "test_express"),
    Mutant("the express lane: a uDX as a uDT", "lib/classify/express_dp.c", "sid->adjacency || sid->vrf == VRF_UNDERLAY ||",
           "", "test_express"),
    Mutant("the express lane: the slice of a tenant's port", "lib/classify/express_dp.c", " | PART(kind, slice, in->slice)", "",
           "test_express"),
    Mutant("the express lane: longer than the policy takes", "lib/classify/express_vrf_dp.c",
           "bytes > policy->inner_mtu ||", "", "test_express"),
    Mutant("the express lane: the class into the tunnel", "lib/classify/express_vrf_dp.c",
           "tclass = s->path[path].tclass_of[tclass];", "", "test_express"),
    Mutant("the express lane: a tenant into the SID space", "lib/classify/express_vrf_dp.c", "in->sids_closed &&", "false &&", "test_express"),
    Mutant("the express lane: a tenant with its port's address", "lib/classify/express_vrf_dp.c",
           "in->own6_hints >> (a->b[15] & 63) & 1 ||", "", "test_express"),
    Mutant("the express lane: an IPv4 header with a wrong sum", "lib/classify/express_vrf_dp.c", "!express_has_good_checksum(ip)", "false",
           "test_express"),
    Mutant("the express lane: IPv4 of the link", "lib/classify/express_vrf_dp.c", "!ipv4_stays_on_link(dst) &&", "", "test_express"),
    Mutant("the express lane: IPv4 with its port's address", "lib/classify/express_vrf_dp.c", "&& !(in->own4_hints >> (src & 63) & 1)", "",
           "test_express"),
    Mutant("the express lane: an inner packet longer than the outer one", "lib/classify/express_vrf_dp.c",
           "i->at + bytes > i->end || express_is_odd6", "express_is_odd6", "test_express"),
    Mutant("a node stops without a word", "lib/service/bfd/bfd_ctl.c", "->stopping, true,", "->stopping, false,", "test_bfd_node"),
    Mutant("pfc.outage counts from the first failure", "lib/queue/rebind_dp.c",
           "if (deaths <= before)", "if (deaths <= before || deaths)", "test_rebind"),
    Mutant("what waits for its turn is dropped after pfc.outage", "lib/queue/rebind.h",
           "return e->link.given_up && !e->rebind.scan && !e->rebind.waits;", "return e->link.given_up && !e->rebind.scan;", "test_rebind"),
    Mutant("what has no way after a search stays for ever", "lib/queue/rebind_dp.c",
           "e->wake_ns = c->now; /* what has no way is dropped now */", ";", "test_rebind"),
    Mutant("queue-limit counts while a port waits for what is elsewhere", "lib/queue/rebind_dp.c",
           "e->queue_limit = on ? UINT32_MAX : ", "e->queue_limit = ", "test_rebind"),
    Mutant("the way of a packet is chosen when the snapshot is built", "lib/queue/rebind_dp.c",
           "if (!c->peers || way_is_bound(x))", "if (!c->peers || way_is_bound(x) || true)", "failover_gap"),
    Mutant("a hold-down does not double", "lib/service/nexthop/nexthop_cp.c",
           "MAX_OF(2 * l->hold_ns, f->hold_ns)", "f->hold_ns", "failover_hold"),
    Mutant("encapsulation and egress are bound when a packet is queued", "lib/queue/rebind_dp.c",
           "if (way_is_bound(x) || way_grade(c, x) != LIVENESS_IS_DEAD) {", "if (true) {", "failover_queues"),
    Mutant("what returns does not wait for what is queued elsewhere", "lib/queue/rebind_dp.c",
           "if (!r->waits && r->away &&", "if (false && !r->waits && r->away &&", "failover_turns"),
    Mutant("guests wait with the home that they are at", "lib/queue/park.h",
           "return park_homes(e) >> park_home_of(e, m) & 1;", "return park_homes(e) && park_home_of(e, m) < MAX_PORTS;", "test_rebind"),
    Mutant("flows leave a way that works before its device has sent all", "lib/queue/rebind_dp.c",
           "return r->drains;\n}\n\nstatic void go_on", "return false;\n}\n\nstatic void go_on", "failover_turns"),
    Mutant("packets that came home go behind those that wait", "lib/queue/sched_dp.c",
           "fifo_push(&e->parked[x->slice][x->tclass].home, m);", "fifo_push(&e->parked[x->slice][x->tclass].later, m);", "test_rebind"),
    Mutant("what returns does not wait for what other devices hold", "lib/queue/rebind_dp.c",
           "else if (c->now >= gone_ns && c->now != r->quiet_ns)", "else if (c->now != r->quiet_ns)", "failover_turns"),
    Mutant("what returns waits for a whole ring of the other device", "lib/queue/rebind_dp.c",
           "MIN_OF(e->drained_ns, ring_ns));", "ring_ns);", "failover_gap"),
    Mutant("backups carry nothing", "lib/queue/way_dp.c",
           "w = by_paths(f, policy, true);", "w = (struct way){0};", "failover_policies"),
    Mutant("what is lossless is dropped at once where no way lives", "lib/queue/egress_dp.c",
           "if (!e->link.given_up && lossless) sched_enqueue", "if (false) sched_enqueue", "failover_lossless"),
    Mutant("what is lossless waits for ever where no way lives", "lib/queue/link_dp.c",
           "e->link.give_up_ns = c->now + c->s->port[e->index].outage_ns;", "e->link.give_up_ns = TIME_NEVER;", "failover_lossless"),
    Mutant("a pause does not close the gate of a queue", "lib/queue/turn.h",
           "(uint8_t)(s->busy & ~s->barred)", "(uint8_t)(s->busy)", "pfc_chain"),
    Mutant("what the device did not take is forgotten", "lib/queue/egress_dp.c",
           "stat_level(b->n, n - taken);", "b->n = 0;", "incast_best_effort"),
    Mutant("a queue has no limit", "lib/queue/sched_dp.c",
           "if (likely(sched_has_room(e, s, &s->queue[x->tclass], t->packets, t->buffers)))", "if (true)", "incast_best_effort"),
    Mutant("packets overtake those that wait in the queue", "lib/queue/egress_dp.c",
           "if (likely(e->backlog == 0 && gates == 0)) {", "if (true) {", "incast_best_effort"),
    Mutant("what finds the ring to its worker full is lost", "lib/node/rx_dp.c",
           "if (unlikely(done < n)) rx_park(rx, worker, pkts + done, n - done);",
           "(void)rx_park; (void)done;", "too_few_cycles"),
    Mutant("a receive ring fills while the CPU is too slow, and no one looks", "lib/node/backlog_dp.c",
           "return waits < 0 || (uint32_t)waits > p->short_frames;", "return false;", "pfc_busy_cpu"),
    Mutant("what waits for the CPU is not charged to its class", "lib/node/backlog_dp.c",
           "account_charge(&rx->waiting[port][class], m->pkt_len, m->nb_segs);", "", "pfc_busy_cpu"),
    Mutant("tunnels do not remap classes", "lib/classify/express_vrf_dp.c",
           "tclass = s->path[path].tclass_of[tclass];", "", "deadlock_remapped"),
    Mutant("headroom forgets what the neighbour's device has been given", "lib/config/headroom.c",
           "port->pfc.peer_descriptors * frame", "2 * frame", "deadlock_remapped"),
    Mutant("XON is sent as if the way back were short", "lib/config/headroom.c",
           "MAX_OF(GAP_BYTES, out->rule.xon)", "GAP_BYTES", "pfc_slow_receiver"),
    Mutant("what a pause of a slower port asks for is cut off", "lib/pfc/pfc_relay.c",
           "p->longer_until[i] = longer ? until : 0;", "p->longer_until[i] = 0 * longer;", "pfc_scaled_to_faster"),
    Mutant("the wait-for graph does not see what a neighbour holds", "lib/service/pfc/wait_ctl.c",
           "if (h->party.sid == PFC_SID_LINK)", "if (false)", "deadlock_one_class"),
    Mutant("the wait-for graph does not see what tunnels hold", "lib/service/pfc/wait_ctl.c",
           "v->held_by_tunnel(v->arg, &n->snapshot->sid[h->party.sid].prefix, &h->party.source);", "(void)v;", "deadlock_one_class"),
    Mutant("the wait-for graph does not see what shares of common buffers hold", "lib/service/pfc/wait_ctl.c",
           "s->shared_buffers > shared ? s->shared_buffers - shared : 0;", "UINT32_MAX;", "deadlock_one_class"),
    Mutant("the wait-for graph does not see what relays hold", "lib/lab/lab_waitfor.c",
           "node_relay_holds(end->node->node, end->port, q->id.class, g->lab->now, held_by_relay, g);", "(void)held_by_relay;",
           "deadlock_relayed"),
    Mutant("the wait-for graph takes a buffer that will empty for a stuck one", "lib/service/pfc/wait_ctl.c",
           "!(level && pfc_buffer_may_resume(", "!(!level && pfc_buffer_may_resume(", "deadlock_relayed_open"),
    Mutant("lossless packets bounce into their own class", "lib/queue/sched_dp.c",
           "return c->s->port[e->index].bounce_class;", "return class;", "deadlock_hairpin"),
    Mutant("shares are of bytes, whatever they take of the line", "lib/queue/turn.h",
           "bytes ? (int32_t)(bytes + EGRESS_LINE_BYTES) : 0", "(int32_t)bytes", "isolation_flood"),
    Mutant("a pause at a SID holds all slices", "lib/service/pfc/pfc_cp.c",
           "pause_port(c, port, party, slice, &pause);", "pause_port(c, port, party, PFC_ALL_SLICES, &pause);",
           "isolation_storm"),
    Mutant("a full buffer stops all slices", "lib/service/pfc/tunnels_cp.c",
           "level_of(s, slice, urgent);", "level_of(s, slice, urgent || s->stopped[0]);", "isolation_stall"),
    Mutant("there is room for one slice that stands still", "lib/config/headroom.c",
           "if (n > 1 && p->selective == CFG_NONE)", "if (n > 1 && !p->selective)", "isolation_stalls"),
    Mutant("who holds most is spared as little as by default", "lib/config/headroom.c",
           "p->selective == CFG_NONE ? out->headroom_bytes / CHOICE_PART : p->selective", "out->headroom_bytes / CHOICE_PART",
           "test_config_lossless"),
    Mutant("whether more must stop is decided after 10 ms, however far they are", "lib/service/pfc/tunnels_cp.c",
           "f->loop_ns = MAX_OF(c->s->port[port].loop_ns, LOOP_MIN_NS);", "f->loop_ns = 10 * NSEC_PER_MSEC;", "isolation_far_sources"),
    # PFC over distance: each proof fails without the mechanism it proves
    Mutant("headroom is for one way only", "lib/config/headroom.c",
           "out->round_trip = capped(bytes_in(q->in_bps - out_bps, q->pfc_ns + q->data_ns));",
           "out->round_trip = capped(bytes_in(q->in_bps - out_bps, q->pfc_ns));", "pfc_any_distance"),
    Mutant("XOFF on a link is not refreshed", "lib/pfc/pfc_buffer.c",
           "return s->stopped ? s->said_ns + longest_ns(bps) / 2 : TIME_NEVER;", "return TIME_NEVER;", "pfc_any_distance"),
    Mutant("a relay refreshes its gateway too late", "lib/pfc/pfc_relay.c",
           "return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, p->bps) / 2, 1);",
           "return pfc_quanta_ns(PFC_QUANTA_MAX, p->bps) * 2;", "pfc_any_distance"),
    Mutant("a tunnel refreshes too late", "lib/pfc/pfc_tunnel.c",
           "return MAX_OF(pfc_quanta_ns(PFC_QUANTA_MAX, x->far_bps) / 2, 1);",
           "return pfc_quanta_ns(PFC_QUANTA_MAX, x->far_bps) * 2;", "test_pfc_tunnel"),
    Mutant("XON does not end a hold", "lib/pfc/pfc_hold.c",
           "hold->until[i] = pause->ns[i] ? hold_time(h, now) + pause->ns[i] : 0;",
           "hold->until[i] = pause->ns[i] ? hold_time(h, now) + pause->ns[i] : hold->until[i];", "pfc_any_distance"),
    Mutant("a relay's hold ends as early as the frame says", "lib/pfc/pfc_relay.c",
           "return MAX_OF(pfc_quanta_ns(quanta, c->from_bps) + c->jitter_ns, c->hold_min_ns) + c->outage_ns;",
           "return pfc_quanta_ns(quanta, c->from_bps);", "pfc_lossy_tunnel"),
    Mutant("a SID's hold ends as early as the frame says", "lib/pfc/pfc_hold.c",
           "pfc_quanta_ns(request->time[i], bps) + jitter_ns;", "pfc_quanta_ns(request->time[i], bps);", "pfc_lossy_sid"),
    Mutant("headroom forgets what lost and late frames cost", "lib/config/headroom.c",
           "profile->jitter_us * NSEC_PER_USEC", "profile->jitter_us * 0", "pfc_lossy_sid"),
    Mutant("XON is said when the buffer is empty", "lib/pfc/pfc_buffer.c",
           "level->bytes <= c->xon.bytes && level->buffers <= c->xon.buffers", "level->bytes == 0", "pfc_xon_side"),
    Mutant("frames of the tunnel are best effort", "lib/snapshot/pfc_outer.c",
           "#define TUNNEL_TC\t 0xe0", "#define TUNNEL_TC\t 0", "pfc_congested_wan"),
    Mutant("a relay's XON ends a pause of the own buffers", "lib/service/pfc/pfc_dp.c",
           "out.enable &= (uint8_t)~own->speaker.stopped;", "", "pfc_two_voices"),
    Mutant("the own buffers' XON ends a relay's pause", "lib/service/pfc/pfc_dp.c",
           "own->relayed_until[i] > now)", "own->relayed_until[i] > now && false)", "pfc_two_voices"),
    Mutant("anyone on the link may pause", "lib/service/pfc/pfc_dp.c",
           "if (fault == PFC_LEGAL && !pfc_may_pause(rx->node, p, m->port, &eth->src))", "if (false)", "pfc_strangers"),
    Mutant("802.3x PAUSE passes for PFC", "lib/pfc/pfc_frame.c",
           "if (opcode != MAC_CONTROL_PFC)", "if (opcode != MAC_CONTROL_PFC && opcode != MAC_CONTROL_PAUSE)", "pfc_strangers"),
    Mutant("a PFC SID listens to all sources", "lib/service/pfc/pfc_dp.c",
           "if (!sid || snap_is_allowed(sid->allowed, sid->n_allowed, &ip->src))", "if (true)", "pfc_strangers"),
    Mutant("quanta are rounded down", "lib/pfc/pfc_frame.h",
           "((unsigned __int128)quanta * to_bps + from_bps - 1) / from_bps", "((unsigned __int128)quanta * to_bps) / from_bps",
           "pfc_speeds"),
    Mutant("sessions begin all at once", "lib/service/rsvp/sessions_cp.c", "r->at < s->n_sessions && c->now >= r->begin_ns;",
           "r->at < s->n_sessions;", "test_rsvp_service"),
    Mutant("the watchdog starves while libyaml reads", "lib/config/yaml_tree.c", "c->left -= *n; progress();", "c->left -= *n;", "test_config"),
    Mutant("the watchdog starves while a long list is loaded", "lib/config/load.c",
           "if (i % PROGRESS_ITEMS == PROGRESS_ITEMS - 1) progress();", "", "test_config"),
    # floods to the control lcore
    Mutant("what a port may say to the control lcore is not limited", "lib/node/rx_dp.c",
           "if (!l->strict && mailbox_room(ring)", "if (!l->strict || mailbox_room(ring)", "test_punts"),
    Mutant("a station that floods silences its VLAN", "lib/node/punt_share_dp.c", "if (!crowded && (take(", "if (false && (take(", "test_punts"),
    Mutant("a VLAN that floods silences the others", "lib/node/punt_share_dp.c",
           "return take(&shares->link[link][kind]", "return false && take(&shares->link[0 * link][kind]", "test_punts"),
    Mutant("forged sources fill the ring of all ports", "lib/node/rx_dp.c",
           "bool crowded = mailbox_room(ring) <=", "bool crowded = false && mailbox_room(ring) <=", "test_punts"),
    Mutant("small rings hold no burst", "lib/pkt/punt.h",
           "return MAX_OF(slots / part[ring], LIMIT_PUNT_RING);", "return slots / part[ring];", "test_punts"),
    Mutant("the budget forgets the least rings", "lib/config/budget.c",
           "c->lcores.rx.n * MAX_OF(slots, LIMIT_PUNT_RINGS)", "c->lcores.rx.n * slots", "test_config_budget"),
    Mutant("PFC shares a ring with all that strangers send", "lib/pkt/punt.h",
           'X(PFC, "pfc", PUNT_RING_PFC)', 'X(PFC, "pfc", PUNT_RING_REST)', "test_punts"),
    Mutant("ND shares a ring with all that strangers send", "lib/pkt/punt.h",
           'X(ND, "nd", PUNT_RING_LINK)', 'X(ND, "nd", PUNT_RING_REST)', "test_punts"),
    Mutant("a port that fills the table of neighbours shuts out the others", "lib/neigh/neigh_cache.c",
           "e = greediest_entry(t, port);", "e = t ? NULL : greediest_entry(t, port);", "test_neigh"),
    Mutant("a slice that fills the table of learnt tunnels shuts out the others", "lib/pfc/pfc_learn.c",
           "!make_room(t, d->slice, now)", "(t || !make_room(t, d->slice, now))", "test_pfc_tunnel"),
    Mutant("messages of an earlier start of the far PE count", "lib/pfc/pfc_state.c",
           "return state->keyed && r->n_epochs && state->epoch < r->epoch[0];", "return false;", "test_pfc_carrier"),
    Mutant("the digest of a state message is not compared", "lib/service/pfc/carrier_cp.c",
           "return hmac_equal(digest, msg->digest, sizeof(digest));", "return true;", "test_pfc_carrier"),
    Mutant("the digest of a PFC frame is not compared", "lib/service/pfc/seal_cp.c",
           "return hmac_equal(digest, sealed.trailer.digest, sizeof(digest));", "return true;", "test_pfc_seal"),
    Mutant("the digest of a PFC frame says nothing about its destination", "lib/service/pfc/seal_cp.c",
           "{src, sizeof(*src)}, {dst, sizeof(*dst)},", "{src, sizeof(*src)}, {dst, 0},", "test_pfc_seal"),
    Mutant("a repeated PFC frame counts", "lib/pfc/pfc_trailer.c", "if (sent_ns <= s->sent_ns[i])", "if (sent_ns < s->sent_ns[i])",
           "test_pfc_seal"),
    Mutant("a PFC frame about one priority outdates those about the others", "lib/pfc/pfc_trailer.c",
           "if (sent_ns <= s->sent_ns[i])", "if (sent_ns <= s->newest_ns)", "test_pfc_seal"),
    Mutant("a sender that had to make room for another one counts twice", "lib/pfc/pfc_trailer.c",
           "floor = MAX_OF(t->floor_ns, oldest->newest_ns);", "floor = t->floor_ns;", "test_pfc_seal"),
    Mutant("a node that starts takes what was sent before", "lib/service/pfc/seal_cp.c",
           "now - MIN_OF(now, CLOCKS_DIFFER_NS)", "0 * now", "test_pfc_seal"),
    Mutant("the slice of a PFC frame can be changed on the way", "lib/service/pfc/seal_cp.c",
           "return slice < c->s->n_slices && c->s->slice[slice].wire_id == id;", "return true;", "test_pfc_seal"),
    Mutant("a session that says nothing never ends", "app/sluice/server.c", "idle = idlest(v, IDLE_S * 1000);",
           "idle = idlest(v, UINT64_MAX);", "test_server"),
    Mutant("without descriptors the listener is looked at all the time", "app/sluice/server.c",
           "v->listen_ms = v->now_ms + LISTEN_PAUSE_MS;", "v->listen_ms = 0;", "test_server"),
    Mutant("a busy session is ended for root", "app/sluice/server.c", "(!s || v->session[i].active_ms < s->active_ms)",
           "(!s || v->session[i].active_ms > s->active_ms)", "test_server"),
    # links that fail in a pause
    Mutant("what is lossless for a port without a link is dropped at once", "lib/queue/egress_dp.c",
           "if (!e->link.given_up && lossless)", "if (false)", "test_link"),
    Mutant("what is lossless for a port without a link is dropped at once, and nobody is paused", "lib/queue/egress_dp.c",
           "if (!e->link.given_up && lossless)", "if (false)", "flap_in_flow"),
    Mutant("a hold goes on when the link is back, not a round trip later", "lib/queue/link_dp.c",
           "l->go_on_ns = c->now + p->loop_ns;", "l->go_on_ns = c->now;", "test_link"),
    Mutant("nobody waits for the word of a neighbour that is back", "lib/queue/link_dp.c",
           "l->unheard = link_obeyed(e, p);", "l->unheard = 0;", "test_link"),
    Mutant("holds run out while their link is down", "lib/queue/link_dp.c",
           "pfc_holds_stand_still(&e->holds, c->now);\n\tlink_begin_outage(e, c);",
           "link_begin_outage(e, c);", "test_link"),
    Mutant("pause times of two classes in a frame are mixed up", "lib/pfc/pfc_frame.c",
           "out->time[i] = be16_get(f->time[i]);", "out->time[i] = be16_get(f->time[__builtin_ctz(out->enable)]);", "test_pfc_frame"),
    Mutant("a packet passes the queue although its slice has a max-rate", "lib/queue/egress_dp.c",
           "(s->busy | s->barred) >> x->tclass & 1) && !s->byte_time &&", "(s->busy | s->barred) >> x->tclass & 1) &&", "test_sched"),
    Mutant("lossless frames pile up in the mailbox of a slow worker", "lib/node/rx_dp.c",
           "mailbox_used(&rx->to_worker[worker]) <= rx->lossless_mail", "true", "test_backlog"),
    Mutant("a full ring to one worker holds every queue", "lib/node/rx_dp.c",
           "room = room && !rx_is_behind(rx, q);", "room = false && rx_is_behind(rx, q);", "test_backlog"),
    Mutant("what is parked of a lossless class counts as nothing", "lib/node/rx_dp.c",
           "account_charge(&rx->waiting[m->port][x->priority], m->pkt_len, m->nb_segs);", ";", "test_backlog"),
    Mutant("what has left a park stays charged", "lib/node/rx_dp.c",
           "account_release(&rx->waiting[m->port][pkt_of(m)->priority], m->pkt_len, m->nb_segs);", ";", "test_backlog"),
    Mutant("control traffic of a queue that is held fills all parks", "lib/node/rx_dp.c",
           "rx->park_limit = room ? NODE_PARK : NODE_PARK / 2;", "rx->park_limit = NODE_PARK; (void)room;", "test_backlog"),
    Mutant("a pass never gets shorter", "lib/node/batch.h", "b->step--;", ";", "test_backlog"),
    Mutant("a pause that nobody renews lasts for ever", "lib/pfc/pfc_hold.c",
           "hold->until[i] = pause->ns[i] ? hold_time(h, now) + pause->ns[i] : 0;",
           "hold->until[i] = pause->ns[i] ? UINT64_MAX / 2 : 0;", "test_pfc_hold"),
    Mutant("a relay does not scale pauses to the speed of its port", "lib/pfc/pfc_relay.c",
           "out->time[i] = pfc_scale(request->time[i], c->from_bps, p->bps);", "out->time[i] = request->time[i];", "test_pfc_relay"),
    # restarts, and a way back that is cut
    Mutant("a hold ends with its request", "lib/pfc/pfc_relay.c",
           "MAX_OF(pfc_quanta_ns(quanta, c->from_bps) + c->jitter_ns, c->hold_min_ns) + c->outage_ns;",
           "MAX_OF(pfc_quanta_ns(quanta, c->from_bps) + c->jitter_ns, c->hold_min_ns);", "way_back_cut"),
    Mutant("a release lasts as long as the storm", "lib/pfc/pfc_watchdog.c",
           "config->release_ns ? now + config->release_ns : TIME_NEVER", "TIME_NEVER", "long_stall"),
    Mutant("the owner of a port does not ask the other workers what they hold of it", "lib/service/pfc/pfc_dp.c",
           "for (uint16_t w = 0; w < n->n_workers; w++)\n\t\taccount_add(&n->worker[w].accounts->total",
           "for (uint16_t w = 0; w < 1; w++)\n\t\taccount_add(&n->worker[w].accounts->total",
           "pfc_several_owners"),
    Mutant("one party's XON opens what another holds closed", "lib/pfc/pfc_hold.c",
           "return a->sid == b->sid && memcmp(&a->source, &b->source, sizeof(a->source)) == 0;", "return a->sid == b->sid;",
           "pfc_ruan_two_behind_one"),
    Mutant("a node speaks before its own buffer has crossed the threshold", "lib/service/pfc/tunnels_cp.c",
           ">> slice % 64 & 1 ? PFC_LEVEL_HIGH\n\t\t\t\t\t\t\t\t\t\t\t    : PFC_LEVEL_LOW", ">> slice % 64 & 1 ? PFC_LEVEL_HIGH : PFC_LEVEL_HIGH", "pfc_ruan_chain"),
    # who holds what, and who is told
    Mutant("what is left of the shared buffers is asked of one worker only", "lib/service/pfc/pfc_dp.c",
           "for (uint16_t i = 0; all && i < w->node->n_workers; i++)", "for (uint16_t i = 0; all && i < 1; i++)", "test_pfc_port"),
    Mutant("a class that a reload takes away is not resumed if no other is left", "lib/service/pfc/pfc_dp.c",
           "service_pfc_worker(w)->n_lossless += lossless || service_pfc(w->node)->port[port].speaker.stopped;",
           "service_pfc_worker(w)->n_lossless += lossless != 0;", "test_pfc_port"),
    Mutant("a port that a reload takes PFC away from is not looked at again", "lib/service/pfc/pfc_dp.c",
           "if (w->ctx.s->port[port].lossless | service_pfc(w->node)->port[port].speaker.stopped)",
           "if (w->ctx.s->port[port].lossless)", "test_pfc_port"),
    Mutant("an owner looks again 1 ms late", "lib/service/pfc/pfc_dp.c",
           "#define LOOK_AGAIN_NS 1000", "#define LOOK_AGAIN_NS 1001000", "test_pfc_port"),
    Mutant("what is lossless is dropped as lossy when it comes back from a neighbour", "lib/queue/hold_dp.c",
           "if (x->lossless) return true;", "", "test_pfc_port"),
    Mutant("what bounces is lossy", "lib/queue/queue_priv.h",
           "__atomic_load_n(&c->lossless[m->port], __ATOMIC_RELAXED) >> x->priority & 1;",
           "__atomic_load_n(&c->lossless[m->port], __ATOMIC_RELAXED) >> x->tclass & 1;", "test_class_maps"),
    # DSCP maps
    Mutant("a frame that comes back from the device is mapped again", "lib/rewrite/rewrite_dp.c",
           "x->ops |= PKT_OP_TOS;", "x->ops |= 0;", "test_dscp"),
    Mutant("neighbours that are known before a reload do not follow the maps of their port", "lib/neigh/neigh_table_dp.c",
           "if (mapped == t->mapped)", "if (true)", "test_dscp"),
    Mutant("a mark of a queue takes a mapped DSCP back", "lib/queue/queue_priv.h",
           "x->tos = tos | 3;", "x->tos = 3;", "test_dscp"),
    Mutant("lossless classes of a VRF's interfaces reach no policy", "lib/config/check_dscp.c",
           "add(&of[policy], &in);", "add(&of[policy], &of[policy]);", "test_config_dscp"),
    Mutant("a port with dscp-in has the express lane", "lib/classify/express_dp.c",
           " && !in->dscp_in", "", "test_dscp"),
    Mutant("a SID with dscp: copy has the express lane", "lib/snapshot/build_sids.c",
           "s->slice_by || s->dscp_of ||", "s->slice_by ||", "test_dscp"),
    Mutant("all classes of a frame are paused for the time of the first", "lib/pfc/pfc_hold.c",
           "pfc_quanta_ns(request->time[i], bps) + jitter_ns;", "pfc_quanta_ns(request->time[__builtin_ctz(request->enable)], bps) + jitter_ns;",
           "test_pfc_port"),
    Mutant("a node that starts leaves the far ends of its tunnels paused", "lib/service/pfc/tunnels_cp.c",
           "if (first && !c->node->steady)", "if (false && first)", "test_pfc_node"),
    Mutant("a node that starts again leaves its far end paused until the hold ends", "lib/service/pfc/tunnels_cp.c",
           "if (first && !c->node->steady)", "if (false && first)", "restart_in_a_tunnel_pause"),
    # queues, holds and backlogs
    Mutant("what goes back to its queue is counted as lossy", "lib/queue/sched_dp.c",
           "sched_gather(c, &m, 1, queue_is_lossless(c, x, m), &t); if (unlikely(park_is_due(e, m))) {",
           "sched_gather(c, &m, 1, false, &t); if (unlikely(park_is_due(e, m))) {", "test_pfc_port"),
    Mutant("a burst that a pause comes for is sent all the same", "lib/queue/egress_dp.c",
           "if (e->gates & EGRESS_GATE_PAUSE && e->tx.n)", "if (false)", "test_sched"),
    Mutant("a gate that a hold closes opens with the next frame", "lib/queue/gate_dp.c",
           "e->wake_ns = MIN_OF(e->wake_ns, s->queue[k].pause_until);", "e->wake_ns = c->now;", "test_gate"),
    Mutant("what waits for a neighbour is not charged to its class", "lib/queue/hold_dp.c",
           "queue_charge(c, x, m);", "(void)queue_charge;", "test_pfc_port"),
    Mutant("a hold is over when that of one priority is", "lib/pfc/pfc_hold.c",
           "for (unsigned int i = 0; i < PFC_PRIORITIES; i++) if (h->until[i] > now) return false;",
           "for (unsigned int i = 0; i < 1; i++) if (h->until[i] > now) return false;", "test_pfc_hold"),
    Mutant("a class with alpha resumes as soon as it is below its limit", "lib/pfc/pfc_buffer.c",
           "level->buffers <= dynamic_limit(c, shared_left) / 2);", "level->buffers <= dynamic_limit(c, shared_left));", "test_pfc_buffer"),
    Mutant("a slice that stands still takes all that it holds from the others", "lib/pfc/pfc_slices.c",
           "if (!has(s->stopped, i))", "if (true)", "test_pfc_slices"),
    Mutant("a tunnel resumes what another one to the same SID holds", "lib/pfc/pfc_tunnel.c",
           "r.enable = (uint8_t)(about & ~(held_by_others(t, x) & ~x->stopped));", "r.enable = about;", "test_pfc_tunnel"),
    Mutant("a queue is released before it has been stopped for long", "lib/pfc/pfc_watchdog.c",
           "if (!w->release_until && lasted(w, config->detect_ns, now)) {", "if (!w->release_until && lasted(w, config->alarm_ns, now)) {",
           "test_pfc_watchdog"),
    Mutant("PFC waits behind the data while the CPU is too slow", "lib/node/backlog_dp.c",
           "else if (n_first < LIMIT_BURST)", "else if (false)", "test_backlog"),
    Mutant("a flood of lossy frames fills the backlog", "lib/node/backlog_dp.c",
           "if (q->backlog.lossy.n >= LIMIT_BACKLOG_LOSSY)", "if (false)", "test_backlog"),
    Mutant("a SID begins with what another one carried", "lib/node/counters_ctl.c",
           "n->before.sid[i] = sum_of_sid(n, i);", ";", "test_traffic"),
    Mutant("a path begins with what another one carried", "lib/node/counters_ctl.c",
           "n->before.path[i] = sum_of_path(n, i);", ";", "test_traffic"),
    Mutant("outer headers are not counted", "lib/rewrite/rewrite_dp.c",
           "bytes, inner_bytes + path->bytes);", "bytes, inner_bytes);", "test_traffic"),
    Mutant("lossy frames starve behind lossless ones", "lib/node/backlog_dp.c",
           "n - (n > 1 && b->lossy.n), credited;", "n, credited;", "test_backlog"),
    Mutant("what is taken from the backlog stays charged", "lib/node/backlog_dp.c",
           "account_release(&rx->waiting[q->port->index][pkt_of(pkts[i])->priority], pkts[i]->pkt_len, pkts[i]->nb_segs);",
           "(void)i;", "test_backlog"),
    Mutant("a trace says what the newest configuration does", "lib/node/trace_ctl.c",
           "const struct snapshot *s = snapshot_of(n, e->value);", "const struct snapshot *s = snapshot_of(n, e->value) ? n->snapshot : NULL;", "test_command"),
    Mutant("a trace forgets what a freed snapshot said", "lib/node/publish_ctl.c",
           "node_trace_collect(n);", ";", "test_command"),
    Mutant("a park that is full takes no notice", "lib/node/rx_dp.c",
           "return likely(rx->parked <= NODE_PARK - NODE_BURST);", "return rx->parked < NODE_PARK;", "test_node"),
]


def copy_sources(folder):
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=TOP, capture_output=True, text=True,
                           check=True).stdout.splitlines()
    for path in files:
        if path.startswith("test/pcap/") or not os.path.isfile(os.path.join(TOP, path)):
            continue
        target = os.path.join(folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(TOP, path), target)


def is_unit_test(scenario):
    return scenario.startswith("test_")


def target_of(scenario):
    return f"test/unit/{scenario}" if is_unit_test(scenario) else TARGET


def build(folder, targets):
    """None, or the output of the build."""
    if not os.path.exists(os.path.join(folder, "build")):
        done = subprocess.run(["meson", "setup", "build"], cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode:
            return done.stdout[-400:]
    done = subprocess.run(["ninja", "-j2", "-C", "build", *targets], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout[-400:] if done.returncode else None


def passes(folder, scenario):
    if is_unit_test(scenario):
        return subprocess.run([os.path.join(folder, "build", target_of(scenario))], cwd=folder, capture_output=True,
                              check=False).returncode == 0
    return subprocess.run([sys.executable, os.path.join(HERE, "run.py"), "--lab", os.path.join(folder, "build", TARGET),
                           scenario], capture_output=True, text=True, check=False).returncode == 0


def told(folder, mutant):
    """A violation must be explained, and its first seed named with the command that replays it. Returns None, or the missing part."""
    scenario = next(s for s in SCENARIOS if s.name == mutant.scenario)
    lab = os.path.join(folder, "build", TARGET)
    status, errors, _ = run.run(lab, scenario.build(**scenario.short[0]), folder, 5)
    missing = [t for t in TOLD if t not in errors]
    if status != 3 or missing:
        return f"status {status}, missing: {missing}"
    done = subprocess.run([lab, "--seeds", "5..7", "--quiet", os.path.join(folder, "topology.yaml")], capture_output=True,
                          text=True, check=False)
    wanted = ["3 seeds, 3 failed", "first failure: seed 5: invariant", "replay: sluice-lab --seed 5 "]
    missing = [t for t in wanted if t not in done.stdout]
    return f"--seeds does not say: {missing}" if missing or done.returncode != 3 else None


def pattern(mutant):
    """The place to be broken, however its lines are wrapped."""
    return r"\s+".join(re.escape(word) for word in mutant.old.split())


def applies(folder, mutant):
    """None, or why it does not."""
    with open(os.path.join(folder, mutant.path)) as f:
        found = len(re.findall(pattern(mutant), f.read()))
    return None if found == 1 else f"{mutant.path} does not have this exactly once: {mutant.old!r}"


def attempt(folder, mutant):
    """None, or the problem."""
    path = os.path.join(folder, mutant.path)
    wrong = applies(folder, mutant)
    if wrong:
        return wrong
    with open(path) as f:
        text = f.read()
    try:
        with open(path, "w") as f:
            f.write(re.sub(pattern(mutant), lambda _: mutant.new, text))
        wrong = build(folder, [target_of(mutant.scenario)])
        if wrong:
            return f"does not build: {wrong}"
        if passes(folder, mutant.scenario):
            return f"{mutant.scenario} passes all the same"
        return told(folder, mutant) if mutant.what == VIOLATES else None
    finally:
        with open(path, "w") as f:
            f.write(text)


def check():
    """A quick check that the code to replace still exists."""
    problems = [p for p in (applies(TOP, m) for m in MUTANTS) if p]
    problems += [f"there is no scenario {m.scenario}" for m in MUTANTS
                 if not is_unit_test(m.scenario) and m.scenario not in {s.name for s in SCENARIOS}]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


def some():
    """A tenth of the mutants, others with another commit."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, capture_output=True, text=True, check=False).stdout.strip()
    return MUTANTS[int(commit or "0", 16) % 10::10]


def chosen():
    """The mutants that the arguments ask for; None: only check that they apply."""
    parser = argparse.ArgumentParser(description="Break gates of the code in a copy of the sources; each mutant's test must notice it. "
                                     "Prints TAP, as the mutants are tried.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="only check that each mutant still applies to the sources")
    what.add_argument("--some", action="store_true", help="try a tenth of the mutants, others with another commit")
    what.add_argument("tests", nargs="*", default=[], help="scenarios or unit tests whose mutants are tried; default: all")
    given = parser.parse_args()
    if given.check:
        return None
    unknown = sorted(set(given.tests) - {m.scenario for m in MUTANTS})
    if unknown:
        parser.error(f"no mutant of {', '.join(unknown)}")
    return some() if given.some else [m for m in MUTANTS if not given.tests or m.scenario in given.tests]


def report(number, name, problem):
    """One line of TAP, and the problem. Returns whether there is one."""
    print(f"{'not ok' if problem else 'ok'} {number} - {name}", flush=True)
    if problem:
        print("# " + problem.replace("\n", "\n# "), flush=True)
    return bool(problem)


def main():
    mutants = chosen()
    if mutants is None:
        return check()
    print(f"1..{1 + len(mutants)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        copy_sources(folder)
        wrong = build(folder, sorted({target_of(m.scenario) for m in mutants}))
        broken = [] if wrong else [s for s in sorted({m.scenario for m in mutants}) if not passes(folder, s)]
        failed = report(1, "unchanged sources pass", wrong or (f"fails: {', '.join(broken)}" if broken else None))
        for number, mutant in enumerate(mutants, 2):
            failed += report(number, f"{mutant.what}: {mutant.scenario} fails", wrong or attempt(folder, mutant))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
