/* SPDX-License-Identifier: BSD-3-Clause */
/* The checks of credit: keys, numbers, timers, the pool, neighbours and sessions. */
#include "test/support/unit.h"

#include "test/support/conf.h"

static void keys(void **state)
{
	static const struct conf_row rows[] = {
		{"no key",
			"  mode: ext\n  data: free\n  heartbeat: 20\n  wait: 500\n  overhead: 256\n  integrity: off\n"
			"  keys:\n    - id: 11\n      digest: md5\n      from: 1700000000\n"
			"      until: 1800000000\n",
			"  mode: ^ext\n",
			"mode: ext needs a key, because integrity is required; add keys with an id of hmac.keys"},
		{"signed", "  integrity: off\n", "", NULL},
		{"never valid", "until: 1800000000", "until: ^1700000000",
			"until: 1700000000 is not after from, 1700000000, so the key is never valid"},
		{"twice", "      digest: md5\n      from: 1700000000\n",
			"    - id: ^11\n      digest: md5\n      from: 1700000000\n",
			"id 11 is used twice in keys, first in line 426"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void numbers(void **state)
{
	static const struct conf_row rows[] = {
		{"type of another message", "[244, 245, 246, 247]", "[244, 245, ^20, 247]",
			"message-types: 20 is the type of another message, or not from 11 to 255"},
		{"types of the draft", "[244, 245, 246, 247]", "[28, 29, 30, 31]", NULL},
		{"one type twice", "[244, 245, 246, 247]", "[244, 245, 246, ^244]", "message-types: 244 is used twice"},
		{"a class that others must not refuse", "[125, 189, 253, 254]", "[125, ^125, 253, 254]",
			"classes: 125 for CBFC_HOP: expected 188 to 191, the vendor-private classes that other nodes "
			"ignore (RFC 3936)"},
		{"one class twice", "[125, 189, 253, 254]", "[125, 189, 253, ^253]", "classes: 253 is used twice"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void timers_and_pool(void **state)
{
	static const struct conf_row rows[] = {
		{"offer ends before the selection", "offer: 2000", "offer: ^100",
			"offer: 100 ms: an offer must live longer than the selection, select: 100 ms"},
		{"copies after the refresh", "refresh: 20000", "refresh: ^5999",
			"warning: refresh: 5999 ms is over before the 4 rapid copies are, after 6000 ms"},
		{"packets wait for less than a new epoch takes", "  wait: 500\n", "  wait: ^50\n",
			"warning: wait: 50 ms: a session whose next hop was away for a moment has credit again after 2 "
			"* idle, "
			"100 ms, at the earliest; its packets are sent without credit, or dropped, before that",
			"  data: free\n", "  data: gated\n"},
		{"no room for a session", "pool: 64", "pool: ^16",
			"pool: 16 units have no room for one session of buffer: 16 and margin: 1; lower them, or raise "
			"pool"},
		{"room for one", "pool: 64", "pool: 17", NULL},
		{"a lease that is over before the credit", "  lease: 500\n", "  lease: ^100\n",
			"lease: 100 ms: a neighbour may use its credit for 3 * heartbeat, and data may be on its way "
			"for idle; "
			"use 110 or more",
			"  data: free\n", "  data: gated\n"},
		{"no credit that could end", "  lease: 500\n", "  lease: 100\n", NULL},
		{"no pool", "pool: 64", "pool: ^0",
			"pool: 0, so no session of accept in line 481 could be granted credit; set pool, at least 17 "
			"units "
			"for one session"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void neighbors(void **state)
{
	static const struct conf_row rows[] = {
		{"IPv4 in ext mode", "- address: \"fd00:0:2::1\"", "- address: ^\"10.0.0.9\"",
			"address: 10.0.0.9: messages of ext mode are IPv6; use mode: letter, or an IPv6 address"},
		{"letter mode, not on a link", "- address: \"fd00:0:2::1\"",
			"- mode: letter\n      address: ^\"fd00:0:2::1\"",
			"address: fd00:0:2::1 is not on a subnet of a port of side: wan, and a neighbour of mode "
			"letter is the next "
			"hop; add the subnet to the port's addresses, or port, if it is a server"},
		{"this node", "- address: \"fd00:0:2::1\"", "- address: ^\"fd00:0:1::1\"",
			"address: fd00:0:1::1 is node.loopback of this node"},
		{"a tenant", "- address: \"fd00:0:2::1\"", "- address: ^\"2001:db8:77::1\"",
			"address: 2001:db8:77::1 is not in node.infrastructure, line 9, so a tenant could send from "
			"it; add "
			"its prefix there"},
		{"sources of tenants", "sources: \"fd00:0:2::/64\"", "sources: ^\"2001:db8:77::/64\"",
			"sources: 2001:db8:77::/64 is not in node.infrastructure, line 9, so its packets are dropped "
			"here; "
			"add it there"},
		{"more than anybody gets", "      buffer: 8\n", "      buffer: ^17\n",
			"buffer: 17 is more than credit.buffer, 16"},
		{"more than anybody gets at the far end", "      buffer: 4\n", "      buffer: ^17\n",
			"buffer: 17 is more than credit.buffer, 16"},
		{"more for all than there is", "      total: 12\n", "      total: ^65\n",
			"total: 65 is more than credit.pool, 64"},
		{"less for all than for one", "      total: 12\n", "      total: ^4\n",
			"total: 4 is less than one session may have, 5 with credit.margin: no session that asks for "
			"that "
			"would be granted; use 5 or more, or a smaller buffer"},
		{"joined to nothing", "      total: 12\n      join: to-server\n",
			"      total: 12\n      join: ^roce\n",
			"join: there is no session 'roce' to a server in credit.sessions; name one that has "
			"port"},
		{"joined to nothing that is there", "      total: 12\n      join: to-server\n", "      total: 12\n",
			NULL},
		{"for one", "      total: 12\n", "      total: 5\n", NULL},
		{"joined to a session to a server by the letter", "      to: \"2001:db8:1::9\"\n",
			"      to: \"2001:db8:1::7\"\n", NULL},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

#define SERVER_KEYS \
	"      port: dc0\n      keys:\n        - id: 12\n          digest: md5\n          from: 1700000000\n         " \
	" until: " \
	"1900000000\n"

static void servers(void **state)
{
	static const struct conf_row rows[] = {
		{"not on its link", "- address: \"2001:db8:1::9\"", "- address: ^\"2001:db8:77::9\"",
			"address: 2001:db8:77::9 is not on a subnet of dc0", "to: \"2001:db8:1::9\"",
			"to: \"2001:db8:77::9\""},
		{"twice", "      rate: 5K\n",
			"      rate: 5K\n    - address: \"2001:db8:1::9\"\n      port: dc0\n"
			"      keys: [{id: 14}]\n",
			"address 2001:db8:1::9 is used twice in neighbors, first in line 470",
			"    - address: \"2001:db8:1::9\"\n      port: dc0\n      keys:\n        - id",
			"    - address: ^\"2001:db8:1::9\"\n      port: dc0\n      keys:\n        - id"},
		{"hops away", "      port: dc0\n      keys:\n", "      port: dc0\n      hops: ^2\n      keys:\n",
			"hops: 2: a server on dc0 is one hop away; leave out hops"},
		{"without keys", SERVER_KEYS, "      port: ^dc0\n",
			"port: a server needs keys of its own, because integrity is required; add keys with an id of "
			"hmac.keys to this neighbour",
			"  integrity: off\n", ""},
		{"keys of a node of the domain", "      hops: 2\n", "      hops: 2\n      keys: ^[{id: 13}]\n",
			"keys: nodes of the domain share credit.keys; add port if fd00:0:2::1 is a server, or leave "
			"out "
			"keys"},
		{"along a policy and to a server", "    - name: to-server\n",
			"    - name: to-server\n      policy: ^to-dc2\n",
			"to-server: a session goes either along a policy or to a server; give policy or port"},
		{"on demand to a server", "    - name: to-server\n", "    - name: to-server\n      on-demand: ^60\n",
			"on-demand: the data of a session to a server comes out of tunnels and shows nothing; leave "
			"out on-demand"},
		{"packets for a session that waits for none", "    - name: to-server\n",
			"    - name: to-server\n      match: {sources: ^\"2001:db8::/32\"}\n",
			"match: to-server does not wait for packets; add on-demand, or leave out match"},
		{"to nowhere", "    - name: to-server\n      port: dc0\n", "    - name: ^to-server\n",
			"to-server: a session goes either along a policy or to a server; give policy or port",
			"      join: to-server\n", ""},
		{"to no server", "to: \"2001:db8:1::9\"", "to: ^\"2001:db8:1::8\"",
			"to: there is no server 2001:db8:1::8 on dc0 in credit.neighbors; add {address: "
			"\"2001:db8:1::8\", port: dc0} there"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

static void sessions(void **state)
{
	static const struct conf_row rows[] = {
		{"to itself", "      to: \"fd00:0:2::1\"", "      to: ^\"fd00:0:1::1\"",
			"to: fd00:0:1::1 is node.loopback of this node"},
		{"unknown policy", "roce\n      policy: to-dc2", "roce\n      policy: ^to-dc3",
			"policy: there is no 'to-dc3' in policies; did you mean 'to-dc2'?"},
		{"a source of tenants", "  - name: to-dc2\n    flows",
			"  - name: to-dc2\n    source: \"2001:db8:77::1\"\n    flows",
			"policy: outer source 2001:db8:77::1/128 of 'to-dc2' is not in node.infrastructure, line 9; "
			"use a "
			"source or source-prefix of the domain",
			"roce\n      policy: to-dc2", "roce\n      policy: ^to-dc2"},
		{"PFC and credit on one path", "segments: [\"5f00:0:500::\", ", "segments: [\"5f00:1:1:e1::\", ",
			"policy: path 'via-spine5' of 'to-dc2' begins with a SID in line 280 whose queues PFC frames "
			"pause; a "
			"class has one lossless scheme on a path: use another SID, or no session",
			"roce\n      policy: to-dc2", "roce\n      policy: ^to-dc2"},
		{"too few paths", "  paths: 64", "  paths: ^1",
			"paths: 1 is too few: the sessions in line 486 have 3 paths; set paths to 3 or more"},
		{"another label", "  - name: to-dc2\n    flows", "  - name: to-dc2\n    flow-label: ^9\n    flows",
			"flow-label: 9: data of session 'roce' in line 487 has the label of its path; leave out "
			"flow-label, or give the session another policy",
			"  data: free\n", "  data: gated\n"},
		{"a label that no data waits for", "  - name: to-dc2\n    flows",
			"  - name: to-dc2\n    flow-label: 9\n    flows", NULL},
		{"data from outside", "    - sources: \"fd00:0:3::/64\"", "    - sources: ^\"2001:db8:3::/64\"",
			"sources: 2001:db8:3::/64 is not in node.infrastructure, line 9, so its packets are dropped "
			"here; add it there"},
		{"off", "  mode: ext\n", "  mode: ^off\n",
			"warning: mode: off: the sessions are not signalled; set mode: ext"},
	};

	(void)state;
	conf_expect_rows(rows, ARRAY_LEN(rows));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {cmocka_unit_test(keys), cmocka_unit_test(numbers),
		cmocka_unit_test(timers_and_pool), cmocka_unit_test(neighbors), cmocka_unit_test(servers),
		cmocka_unit_test(sessions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
