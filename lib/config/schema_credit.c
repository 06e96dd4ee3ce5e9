/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of credit flow control signalled by RSVP (docs/credit.md). Pure. */
#include "base/limits.h"
#include "config/schema_priv.h"

static const char *const words_mode[] = CFG_WORDS(CFG_CREDIT_MODES);
static const char *const words_data[] = CFG_WORDS(CFG_CREDIT_DATA);
static const char *const words_overrun[] = CFG_WORDS(CFG_OVERRUNS);
static const char *const words_integrity[] = CFG_WORDS(CFG_INTEGRITIES);
static const char *const words_speech[] = CFG_WORDS(CFG_SPEECHES);
static const char *const words_unit[] = CFG_WORDS(CFG_RETURN_UNITS);
static const char *const words_comparison[] = CFG_WORDS(CFG_COMPARISONS);
static const char *const words_digest[] = CFG_WORDS(CFG_DIGESTS);

/* clang-format off */

static const struct cfg_key key_keys[] = {
	{"id", CFG_UINT, .offset = AT(struct cfg_credit_key, id), .min = 1, .max = UINT32_MAX,
		.flags = CFG_REQUIRED | CFG_IDENTITY, .example = "7",
		.help = "Id of the key in the file hmac.keys, which is also the key identifier in messages (RFC 2747)."},
	{"digest", CFG_WORD, .offset = AT(struct cfg_credit_key, digest), .words = words_digest, .fallback = "sha256",
		.help = "sha256: HMAC-SHA-256. md5: HMAC-MD5, which RFC 2747 requires of every implementation."},
	{"from", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_credit_key, from_s), .max = 1ull << 40, .fallback = "0",
		.help = "Time of day, in seconds since 1970, from which messages are signed with this key. Of several keys the "
			"one that has started last signs."},
	{"until", CFG_SCALE, .unit = UNIT_SECONDS, .offset = AT(struct cfg_credit_key, until_s), .max = 1ull << 40,
		.word = "always", .word_value = CFG_NONE, .fallback = "always",
		.help = "Time of day, in seconds since 1970, until which the key is valid."},
};
static const struct cfg_map key_map = MAP_OF(key_keys, "a key of credit", struct cfg_credit_key);

static const struct cfg_key neighbor_keys[] = {
	{"address", CFG_IP, .offset = AT(struct cfg_credit_neighbor, address), .flags = CFG_REQUIRED,
		.example = "\"fd00:0:2::1\"", .help = "RSVP_HOP address of the neighbour: its node.loopback; or its address on a common link, by which native "
			"sessions know it. This node uses its own address on that link then."},
	{"port", CFG_NAME, .offset = AT(struct cfg_credit_neighbor, port), .refs = "ports or interfaces", .example = "dc0",
		.help = "The neighbour is a server on this port or interface, and is heard there only, without a tunnel. "
			"Default: a node of the domain."},
	{"mode", CFG_WORD, .offset = AT(struct cfg_credit_neighbor, mode), .words = words_speech, .fallback = "ext",
		.help = "ext: the neighbour speaks as this node does. letter: by the letter of draft-hu-rtgwg-cbfc-rsvp, natively; only "
			"such a neighbour may have an IPv4 address. Its buffer must hold 2 MiB at least, or its sessions are refused. See "
			"credit.letter."},
	{"keys", CFG_LIST_OF, .item = CFG_MAP, .map = &key_map, .offset = AT(struct cfg_credit_neighbor, keys), .max = 16,
		.help = "Keys of a server, or of a neighbour of mode letter, whose messages are not signed without. It shares none with "
			"the other nodes of the domain, which use credit.keys."},
	{"hops", CFG_UINT, .offset = AT(struct cfg_credit_neighbor, hops), .min = 1, .max = 255, .fallback = "1",
		.help = "Most links between this node and the neighbour. A message from it must arrive with a hop limit of "
			"256 - hops at least (as in RFC 5082)."},
	{"buffer", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit_neighbor, buffer), .min = 1, .max = UINT32_MAX,
		.word = "default", .word_value = CFG_NONE, .fallback = "default",
		.help = "Most units that a session of this neighbour is offered. default: credit.buffer."},
	{"rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_credit_neighbor, rate), .min = 1, .max = 1000000,
		.fallback = "20K", .help = "Limit of RSVP messages from this neighbour."},
};
static const struct cfg_map neighbor_map = MAP_OF(neighbor_keys, "a neighbour of credit", struct cfg_credit_neighbor);

static const struct cfg_key accept_keys[] = {
	{"sources", CFG_PREFIX6, .offset = AT(struct cfg_credit_accept, sources), .flags = CFG_REQUIRED | CFG_UNIQUE,
		.example = "\"fd00:0:1:ff::/64\"",
		.help = "Outer sources of the sessions: source or source-prefix of the sender's policy."},
	{"buffer", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit_accept, buffer), .min = 1, .max = UINT32_MAX,
		.word = "default", .word_value = CFG_NONE, .fallback = "default",
		.help = "Most units that each of these sessions is offered. default: credit.buffer."},
	{"total", CFG_SCALE, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit_accept, total), .min = 1, .max = 64u << 20,
		.word = "pool", .word_value = CFG_NONE, .fallback = "pool",
		.help = "Most units that all of these sessions together are granted, with credit.margin for each. pool: as many as "
			"credit.pool has left. What was granted before a reload stays granted."},
	{"join", CFG_NAME, .offset = AT(struct cfg_credit_accept, join), .example = "to-server",
		.help = "Name of a session to a server, in credit.sessions, that carries the data of these sessions on: they are granted "
			"credit while it has some. Default: their data leaves this node without credit."},
};
static const struct cfg_map accept_map = MAP_OF(accept_keys, "a permission of credit", struct cfg_credit_accept);

static const struct cfg_key data_of_keys[] = {
	{"sources", CFG_PREFIX6, .offset = AT(struct cfg_credit_data_of, sources), .flags = CFG_REQUIRED,
		.example = "\"fd00:0:1:ff::/64\"",
		.help = "Outer sources: source or source-prefix of the policies of sessions, at the nodes where they begin."},
	{"class", CFG_UINT, .offset = AT(struct cfg_credit_data_of, class), .max = 7, .fallback = "3",
		.help = "Traffic class of the sessions."},
};
static const struct cfg_map data_of_map = MAP_OF(data_of_keys, "data of sessions of credit", struct cfg_credit_data_of);

static const struct cfg_key match_keys[] = {
	{"sources", CFG_PREFIX, .offset = AT(struct cfg_credit_match, sources), .example = "\"2001:db8:1::/48\"",
		.help = "Source addresses of the packets. Default: any."},
	{"destinations", CFG_PREFIX, .offset = AT(struct cfg_credit_match, destinations), .example = "\"2001:db8:3::/48\"",
		.help = "Destination addresses. Default: any."},
};
static const struct cfg_map match_map = MAP_OF(match_keys, "packets of a session of credit", struct cfg_credit_match);

static const struct cfg_key session_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_credit_session, name), .flags = CFG_REQUIRED | CFG_IDENTITY,
		.example = "to-dc2-roce", .help = "Name in commands, log lines and metrics."},
	{"policy", CFG_NAME, .offset = AT(struct cfg_credit_session, policy), .refs = "policies",
		.example = "to-dc2", .help = "Policy whose paths, up to 16, are the candidates. Sessions of servers whose data "
			"takes this policy, in this class, are joined to the session."},
	{"port", CFG_NAME, .offset = AT(struct cfg_credit_session, port), .refs = "ports or interfaces",
		.help = "In place of policy: port or interface of the server at which the session ends."},
	{"to", CFG_IP, .offset = AT(struct cfg_credit_session, to), .flags = CFG_REQUIRED, .example = "\"fd00:0:2::1\"",
		.help = "node.loopback of the far gateway, or the address of a server: a neighbour with that port."},
	{"class", CFG_UINT, .offset = AT(struct cfg_credit_session, class), .max = 7, .fallback = "3",
		.help = "Traffic class that the session is for."},
	{"rate", CFG_UINT, .unit = UNIT_BPS, .offset = AT(struct cfg_credit_session, rate_bps), .max = 3200000000000ull,
		.fallback = "0", .help = "Rate in SENDER_TSPEC. 0: unknown."},
	{"buffer", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_credit_session, buffer), .max = 1ull << 40,
		.fallback = "0",
		.help = "Buffer that the session asks of every device: the depth of SENDER_TSPEC. 0: as much as each device "
			"gives."},
	{"on-demand", CFG_SCALE, .unit = UNIT_SECONDS, .offset = AT(struct cfg_credit_session, on_demand_s), .min = 3, .max = 86400,
		.word = "no", .word_value = 0, .fallback = "no",
		.help = "no: the session begins at once. A time: it begins with the first RoCEv2 packet of its class that takes the "
			"policy, and ends when there was none for that time."},
	{"match", CFG_MAP, .map = &match_map, .offset = AT(struct cfg_credit_session, match),
		.help = "Of a session on demand: inner addresses of the packets with which it begins."},
};
static const struct cfg_map session_map = MAP_OF(session_keys, "a session of credit", struct cfg_credit_session);

static const struct cfg_key letter_keys[] = {
	{"grant", CFG_UINT, .offset = AT(struct cfg_credit_letter, grant_mb), .min = 2, .max = 65536, .fallback = "16",
		.help = "Most MB that a session is granted: 10^6 bytes in messages, for each of which 2^20 are taken from credit.pool."},
	{"return-unit", CFG_WORD, .offset = AT(struct cfg_credit_letter, unit), .words = words_unit, .fallback = "mb",
		.help = "What an increment counts, in both directions. mb: whole MB; a remainder waits. bytes: bytes."},
	{"comparison", CFG_WORD, .offset = AT(struct cfg_credit_letter, comparison), .words = words_comparison,
		.fallback = "at-most",
		.help = "Packets that may be sent. at-most: not larger than the credit. smaller: smaller than it, as the draft says, so that "
			"the last packet never goes."},
	{"rate", CFG_SCALE, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_credit_letter, rate), .min = 1, .max = 1000000,
		.word = "per-packet", .word_value = 0, .fallback = "10K",
		.help = "Limit of increments to a neighbour; those above it are added to later ones. per-packet: one for each packet, as the "
			"draft says."},
	{"heartbeat", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit_letter, heartbeat_ms), .min = 1, .max = 600000,
		.fallback = "1000", .help = "A next hop that has not answered sent data for that long has failed."},
	{"refresh", CFG_BOOL, .offset = AT(struct cfg_credit_letter, refresh), .fallback = "no",
		.help = "yes: sessions are refreshed every credit.refresh, and end without. no: as in the draft, only End, or a failed "
			"neighbour, ends them."},
	{"class", CFG_UINT, .offset = AT(struct cfg_credit_letter, class), .min = 1, .max = 255, .fallback = "123",
		.help = "Class number of the object Credit."},
};
static const struct cfg_map letter_map = MAP_OF(letter_keys, "credit.letter", struct cfg_credit_letter);

static const struct cfg_key credit_keys[] = {
	{"mode", CFG_WORD, .offset = AT(struct cfg_credit, mode), .words = words_mode, .fallback = "off",
		.help = "off: this node takes no part in credit sessions; their messages pass through it as other packets do. "
			"ext: it takes part, with the objects of docs/credit.md 2.2."},
	{"data", CFG_WORD, .offset = AT(struct cfg_credit, data), .words = words_data, .fallback = "gated",
		.flags = CFG_START_ONLY,
		.help = "gated: data of a session waits for credit, hop by hop, and this node says what it has received and "
			"forwarded. free: sessions are signalled, and data goes as if there were none; a neighbour that gates its "
			"data sees this and does not wait."},
	{"heartbeat", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, heartbeat_ms), .min = 1, .max = 1000,
		.fallback = "10",
		.help = "T_hb: a neighbour that has been granted credit gets a message within this time. Its credit ends when three "
			"times that have passed without one."},
	{"wait", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, wait_ms), .min = 10, .max = 60000, .fallback = "1000",
		.help = "Longest time for which packets wait for a session that has lost its credit. Then those of sessions that begin "
			"here are sent without credit, and those of other sessions are dropped."},
	{"overhead", CFG_UINT, .unit = UNIT_BYTES, .offset = AT(struct cfg_credit, overhead), .max = 1024, .fallback = "128",
		.flags = CFG_START_ONLY,
		.help = "Bytes charged for the headers in front of a packet; the same on all nodes."},
	{"integrity", CFG_WORD, .offset = AT(struct cfg_credit, integrity), .words = words_integrity, .fallback = "required",
		.help = "required: every message is signed, and one without a digest by a key of `keys` is dropped (RFC 2747). "
			"off: messages are not signed, and whoever can send from the address of a neighbour can end sessions; for "
			"laboratories."},
	{"keys", CFG_LIST_OF, .item = CFG_MAP, .map = &key_map, .offset = AT(struct cfg_credit, keys), .max = 16,
		.help = "Keys with their times of validity. To change a key, let the new one begin before the old one ends."},
	{"clock-error", CFG_UINT, .unit = UNIT_SECONDS, .offset = AT(struct cfg_credit, clock_s), .max = 86400, .fallback = "60",
		.help = "By how much the clocks of two nodes may differ: a key is accepted for so long before it begins and "
			"after it has ended."},
	{"window", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit, window), .min = 1, .max = 8192,
		.fallback = "8K", .flags = CFG_START_ONLY,
		.help = "Sequence numbers behind the newest one of a sender that are still accepted, once each. Messages of one "
			"sender arrive over several paths: use at least its rate times the largest difference of their delays."},
	{"paths", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit, paths), .min = 1, .max = LIMIT_CREDIT_PATHS,
		.fallback = "1K", .flags = CFG_START_ONLY,
		.help = "Most paths of sessions that this node knows: as headend, on the way and as far gateway. --check prints "
			"their memory."},
	{"unit", CFG_UINT, .offset = AT(struct cfg_credit, unit), .min = 6, .max = 16, .fallback = "11",
		.flags = CFG_START_ONLY,
		.help = "A unit of credit is 2 to the power of this, in bytes; the same on all nodes. 11 is one packet buffer "
			"of 2K."},
	{"pool", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit, pool), .max = 64u << 20, .fallback = "0",
		.help = "Units that may be committed to previous hops in all. memory.buffers must have room for them. 0: this "
			"node grants nothing."},
	{"oversubscription", CFG_UINT, .offset = AT(struct cfg_credit, oversubscription), .min = 1, .max = 64,
		.fallback = "4",
		.help = "Offers may promise as many pools: most candidate paths are never selected. Commits may not."},
	{"buffer", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit, buffer), .min = 1, .max = UINT32_MAX,
		.fallback = "8K", .help = "Most units that a session is offered."},
	{"margin", CFG_UINT, .unit = UNIT_COUNT, .offset = AT(struct cfg_credit, margin), .max = UINT32_MAX, .fallback = "0",
		.help = "Units reserved for each session above what is offered to it, for packets in the device's rings."},
	{"share", CFG_BOOL, .offset = AT(struct cfg_credit, share), .fallback = "no",
		.help = "no: every session is granted its whole buffer for as long as it lasts, and the pool has to have room for all "
			"of them. yes: sessions begin with two packets, get more when their packets wait for credit, and give it back when "
			"they send nothing, so that many sessions share the pool. The same on all nodes."},
	{"return-after", CFG_SCALE, .unit = UNIT_MS, .offset = AT(struct cfg_credit, return_ms), .max = 3600000,
		.word = "never", .word_value = CFG_NONE, .fallback = "0",
		.help = "With share: a session that has sent nothing for this time gives its credit back, and begins again with two packets; not "
			"before `idle` has passed. 0: after `idle`, or two round trips if they take longer. never: it keeps what it has."},
	{"alpha", CFG_UINT, .offset = AT(struct cfg_credit, alpha), .max = 64, .fallback = "1",
		.help = "Share of a session in the buffer of a lossless class of the port by which its data comes from a data centre: it may "
			"hold this many times what is free below XOFF, and two packets in any case. ECN-capable packets of a session that holds "
			"more are marked CE. 0: no shares."},
	{"overrun", CFG_WORD, .offset = AT(struct cfg_credit, overrun), .words = words_overrun, .fallback = "pause",
		.help = "pause: a session that waits may fill the buffer until XOFF stops the whole priority of the port, with all sessions. "
			"drop: packets of a session that holds more than twice its share are dropped (session_overrun), so that it stops "
			"nobody else."},
	{"refresh", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, refresh_ms), .min = 100, .max = 300000,
		.fallback = "30000", .help = "Refresh period R (RFC 2205 section 3.7). Each refresh is sent after 0.5 to 1.5 R."},
	{"losses", CFG_UINT, .offset = AT(struct cfg_credit, losses), .min = 1, .max = 20, .fallback = "3",
		.help = "K: refreshes in a row that may be lost, plus one. State ends after (K + 0.5) * 1.5 * R of the sender."},
	{"rapid", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, rapid_ms), .min = 10, .max = 60000,
		.fallback = "500", .help = "Rf: time until the first copy of a message that is not acknowledged (RFC 2961 "
			"section 6.2). It doubles with each copy."},
	{"rapid-copies", CFG_UINT, .offset = AT(struct cfg_credit, rapid_copies), .min = 1, .max = 10, .fallback = "3",
		.help = "Rl: transmissions of such a message in all. Then refreshes repeat it."},
	{"repeat-max", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, repeat_max_ms), .min = 10, .max = 300000,
		.fallback = "30000", .help = "Longest time between copies of an End that nobody acknowledges."},
	{"select", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, select_ms), .min = 1, .max = 60000,
		.fallback = "200",
		.help = "T_sel: time for which the far gateway collects candidates after the first one. At least two round "
			"trips."},
	{"offer", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, offer_ms), .min = 2, .max = 600000,
		.fallback = "3000", .help = "Time after which an offer that was not selected gives its buffer back."},
	{"idle", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, idle_ms), .min = 1, .max = 60000, .fallback = "100",
		.help = "D_idle: after that time everything sent has arrived or is lost. At least twice the largest one-way "
			"delay, plus what devices hold back. A node that starts sends nothing before it has passed."},
	{"lease", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, lease_ms), .min = 10, .max = 600000,
		.fallback = "1000", .help = "T_lease: time after which the buffer of a neighbour that went down may be promised to others."},
	{"repair", CFG_UINT, .unit = UNIT_MS, .offset = AT(struct cfg_credit, repair_ms), .min = 1, .max = 60000,
		.fallback = "2000", .help = "Time after a change of routes until native sessions follow them (W of RFC 2205)."},
	{"blockade", CFG_UINT, .offset = AT(struct cfg_credit, blockade), .min = 1, .max = 100, .fallback = "4",
		.help = "Kb: a path that was refused rests for Kb * R (RFC 2205 section 2.5)."},
	{"max-hops", CFG_UINT, .offset = AT(struct cfg_credit, max_hops), .min = 1, .max = 16, .fallback = "16",
		.help = "Most devices of a path that take part."},
	{"message-types", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_credit, message_types), .min = 4, .max = 4,
		.example = "[244, 245, 246, 247]",
		.help = "RSVP message types of Path init, Reserve, End and End ACK. Default: 28, 29, 30 and 31, as in "
			"draft-hu-rtgwg-cbfc-rsvp. 30 is RecoveryPath elsewhere (RFC 5063)."},
	{"classes", CFG_LIST_OF, .item = CFG_UINT, .offset = AT(struct cfg_credit, classes), .min = 4, .max = 4,
		.example = "[124, 188, 252, 253]",
		.help = "Class numbers of CREDIT, CBFC_HOP, CBFC_PATH and CBFC_OFFER. Default: 124, 188, 252 and 253, which are "
			"vendor-private (RFC 3936)."},
	{"enterprise", CFG_UINT, .offset = AT(struct cfg_credit, enterprise), .min = 1, .max = UINT32_MAX, .fallback = "32473",
		.help = "SMI enterprise number in front of these objects. The default is for documentation (RFC 5612)."},
	{"letter", CFG_MAP, .map = &letter_map, .offset = AT(struct cfg_credit, letter),
		.help = "Sessions with neighbours of mode letter."},
	{"neighbors", CFG_LIST_OF, .item = CFG_MAP, .map = &neighbor_map, .offset = AT(struct cfg_credit, neighbors),
		.max = LIMIT_CREDIT_NEIGHBORS, .help = "Nodes with which this node exchanges messages. Others are not heard."},
	{"accept", CFG_LIST_OF, .item = CFG_MAP, .map = &accept_map, .offset = AT(struct cfg_credit, accept), .max = LIMIT_CREDIT_ACCEPTS,
		.help = "Sessions that may end at this node."},
	{"sessions", CFG_LIST_OF, .item = CFG_MAP, .map = &session_map, .offset = AT(struct cfg_credit, sessions),
		.max = LIMIT_CREDIT_SESSIONS, .help = "Sessions that begin at this node."},
	{"data-of", CFG_LIST_OF, .item = CFG_MAP, .map = &data_of_map, .offset = AT(struct cfg_credit, data_of),
		.max = LIMIT_CREDIT_DATA_OF,
		.help = "Data of sessions that begin elsewhere. A labelled packet from these sources, of that class, is dropped "
			"(credit_no_session) if its session has no credit of this node: after a restart a window of such data "
			"arrives, and would overrun the next node. Default: only labels that this node knows."},
};
const struct cfg_map cfg_credit_map = MAP_OF(credit_keys, "credit", struct cfg_credit);
