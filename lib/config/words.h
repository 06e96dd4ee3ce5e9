/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words that configuration keys accept as values. One list per key defines both the enum and the words of the schema;
 * commands print the same words. Pure.
 */
#ifndef CONFIG_WORDS_H
#define CONFIG_WORDS_H

/* X(constant, word) */
#define CFG_CONSTANT(id, word) id,
#define CFG_TEXT(id, word) word,

/* Words of a list, in the form that the schema requires. */
#define CFG_WORDS(list) \
	{ \
		list(CFG_TEXT) NULL \
	}

#define CFG_SIDES(X) \
	X(SIDE_DC, "dc") \
	X(SIDE_WAN, "wan") \
	X(SIDE_HOST, "host")

enum cfg_side { CFG_SIDES(CFG_CONSTANT) };

/* Whether Packet Too Big messages lower the MTU of paths (RFC 8201). */
#define CFG_PATH_MTUS(X) \
	X(PATH_MTU_LEARN, "learn") \
	X(PATH_MTU_FIXED, "fixed")

enum cfg_path_mtu { CFG_PATH_MTUS(CFG_CONSTANT) };

/* How a packet on the wire identifies its slice (docs/protocol.md 4.5). */
#define CFG_SLICE_BY(X) \
	X(SLICE_BY_SID, "sid") \
	X(SLICE_BY_ARGUMENT, "argument") \
	X(SLICE_BY_OPTION, "option")

enum cfg_slice_by { CFG_SLICE_BY(CFG_CONSTANT) };

/* What the flows of a policy are told apart by. */
#define CFG_FLOW_KEYS(X) \
	X(FLOW_KEY_TUPLE, "tuple") \
	X(FLOW_KEY_QUEUE_PAIR, "queue-pair")

enum cfg_flow_key { CFG_FLOW_KEYS(CFG_CONSTANT) };

/* What the paths of a policy must not share. */
#define CFG_DISJOINTS(X) \
	X(DISJOINT_NO, "no") \
	X(DISJOINT_LINKS, "links") \
	X(DISJOINT_NODES, "nodes")

enum cfg_disjoint { CFG_DISJOINTS(CFG_CONSTANT) };

#define CFG_HMAC_CHECKS(X) \
	X(HMAC_OFF, "off") \
	X(HMAC_REQUIRED, "required")

enum cfg_hmac_check { CFG_HMAC_CHECKS(CFG_CONSTANT) };

#define CFG_HMAC_PROFILES(X) \
	X(HMAC_RFC8754, "rfc8754") \
	X(HMAC_LINUX, "linux")

enum cfg_hmac_profile { CFG_HMAC_PROFILES(CFG_CONSTANT) };

/* Filters of RFC 8754 section 5.1 that can be switched off for a port. */
#define CFG_BOUNDARIES(X) \
	X(BOUNDARY_SIDS, "sids") \
	X(BOUNDARY_SOURCES, "sources")

enum cfg_boundary { CFG_BOUNDARIES(CFG_CONSTANT) };

#define CFG_HUGEPAGES(X) \
	X(HUGEPAGES_AUTO, "auto") \
	X(HUGEPAGES_ON, "on") \
	X(HUGEPAGES_OFF, "off")

enum cfg_hugepages { CFG_HUGEPAGES(CFG_CONSTANT) };

#define CFG_FIB_KINDS(X) \
	X(FIB_FAST, "fast") \
	X(FIB_COMPACT, "compact")

enum cfg_fib_kind { CFG_FIB_KINDS(CFG_CONSTANT) };

#define CFG_IDLE_POLICIES(X) \
	X(IDLE_POLL, "poll") \
	X(IDLE_SLEEP, "sleep")

enum cfg_idle_policy { CFG_IDLE_POLICIES(CFG_CONSTANT) };

#define CFG_DSCP_MODES(X) \
	X(DSCP_COPY, "copy") \
	X(DSCP_SET, "set") \
	X(DSCP_MAP, "map")

enum cfg_dscp_mode { CFG_DSCP_MODES(CFG_CONSTANT) };

/* What becomes of the inner DSCP at the end of a tunnel (RFC 2983: pipe and uniform model). */
#define CFG_INNER_DSCPS(X) \
	X(INNER_DSCP_KEEP, "keep") \
	X(INNER_DSCP_COPY, "copy") \
	X(INNER_DSCP_MAP, "map")

enum cfg_inner_dscp { CFG_INNER_DSCPS(CFG_CONSTANT) };

/* RFC 8986 section 4.16. FLAVOR_NONE: no flavours, where the default would be some. */
#define CFG_FLAVORS(X) \
	X(FLAVOR_PSP, "psp") \
	X(FLAVOR_USP, "usp") \
	X(FLAVOR_USD, "usd") \
	X(FLAVOR_NONE, "none")

enum cfg_flavor { CFG_FLAVORS(CFG_CONSTANT) };

/* Upper layers that a SID of this node accepts (RFC 8986 section 4.1.1). */
#define CFG_ALLOWED(X) \
	X(ALLOW_PING, "ping") \
	X(ALLOW_TRACEROUTE, "traceroute") \
	X(ALLOW_NONE, "none")

enum cfg_allow { CFG_ALLOWED(CFG_CONSTANT) };

/* Headend behaviours (RFC 8986 section 5). */
#define CFG_ENCAPS(X) \
	X(ENCAP_H_ENCAPS_RED, "H.Encaps.Red") \
	X(ENCAP_H_ENCAPS, "H.Encaps") \
	X(ENCAP_H_ENCAPS_L2, "H.Encaps.L2") \
	X(ENCAP_H_ENCAPS_L2_RED, "H.Encaps.L2.Red")

enum cfg_encap { CFG_ENCAPS(CFG_CONSTANT) };

/* enum bfd_auth_type has the values on the wire (snapshot/build_bfd.c). */
#define CFG_BFD_AUTHS(X) \
	X(BFD_NO_AUTH, "none") \
	X(BFD_SHA1, "sha1") \
	X(BFD_METICULOUS_SHA1, "meticulous-sha1")

enum cfg_bfd_auth { CFG_BFD_AUTHS(CFG_CONSTANT) };

#define CFG_CREDIT_MODES(X) \
	X(CREDIT_OFF, "off") \
	X(CREDIT_EXT, "ext")

enum cfg_credit_mode { CFG_CREDIT_MODES(CFG_CONSTANT) };

/* What a neighbour of credit speaks. */
#define CFG_SPEECHES(X) \
	X(SPEECH_EXT, "ext") \
	X(SPEECH_LETTER, "letter")

enum cfg_speech { CFG_SPEECHES(CFG_CONSTANT) };

/* What an increment of letter mode counts, how a packet is compared with the credit, and when there is one. */
#define CFG_RETURN_UNITS(X) \
	X(RETURN_MB, "mb") \
	X(RETURN_BYTES, "bytes")
#define CFG_COMPARISONS(X) \
	X(COMPARE_AT_MOST, "at-most") \
	X(COMPARE_SMALLER, "smaller")

enum cfg_return_unit { CFG_RETURN_UNITS(CFG_CONSTANT) };
enum cfg_comparison { CFG_COMPARISONS(CFG_CONSTANT) };

/* Whether data waits for the credit of its session. */
#define CFG_CREDIT_DATA(X) \
	X(CREDIT_DATA_FREE, "free") \
	X(CREDIT_DATA_GATED, "gated")

enum cfg_credit_data { CFG_CREDIT_DATA(CFG_CONSTANT) };

/* What becomes of packets of a session that holds more than its share of a port's buffer. */
#define CFG_OVERRUNS(X) \
	X(OVERRUN_PAUSE, "pause") \
	X(OVERRUN_DROP, "drop")

enum cfg_overrun { CFG_OVERRUNS(CFG_CONSTANT) };

/* Whether RSVP messages are authenticated (RFC 2747). */
#define CFG_INTEGRITIES(X) \
	X(INTEGRITY_REQUIRED, "required") \
	X(INTEGRITY_OFF, "off")

enum cfg_integrity { CFG_INTEGRITIES(CFG_CONSTANT) };

/* enum hmac_digest has the same values (snapshot/build_credit.c). */
#define CFG_DIGESTS(X) \
	X(DIGEST_SHA256, "sha256") \
	X(DIGEST_MD5, "md5")

enum cfg_digest { CFG_DIGESTS(CFG_CONSTANT) };

#define CFG_LOG_TO(X) \
	X(LOG_TO_STDERR, "stderr") \
	X(LOG_TO_SYSLOG, "syslog")

enum cfg_log_to { CFG_LOG_TO(CFG_CONSTANT) };

/* Reaction of a PFC watchdog to a storm; enum pfc_watchdog_action has the same values (snapshot/build_pfc.c). */
#define CFG_WATCHDOG_ACTIONS(X) \
	X(WATCHDOG_RELEASE, "release") \
	X(WATCHDOG_DROP, "drop") \
	X(WATCHDOG_FORWARD, "forward") \
	X(WATCHDOG_ALERT, "alert") \
	X(WATCHDOG_OFF, "off")

enum cfg_watchdog_action { CFG_WATCHDOG_ACTIONS(CFG_CONSTANT) };

#define CFG_PFC_HARDWARE(X) \
	X(PFC_HARDWARE_AUTO, "auto") \
	X(PFC_HARDWARE_OFF, "off")

enum cfg_pfc_hardware { CFG_PFC_HARDWARE(CFG_CONSTANT) };

/* Who spreads the flows of a tunnel over the rx lcores of a port. */
#define CFG_RX_SPREADS(X) \
	X(RX_SPREAD_AUTO, "auto") \
	X(RX_SPREAD_DEVICE, "device") \
	X(RX_SPREAD_SOFTWARE, "software")

enum cfg_rx_spread { CFG_RX_SPREADS(CFG_CONSTANT) };

/* What a start does with lossless classes on a port whose device cannot do PFC. */
#define CFG_PFC_BLINDS(X) \
	X(PFC_BLIND_REFUSE, "refuse") \
	X(PFC_BLIND_ACCEPT, "accept")

enum cfg_pfc_blind { CFG_PFC_BLINDS(CFG_CONSTANT) };

/* Type of an outer VLAN tag. TAG_AUTO: 802.1ad outside where there are two tags. */
#define CFG_TAGS(X) \
	X(TAG_AUTO, "auto") \
	X(TAG_8021Q, "802.1q") \
	X(TAG_8021AD, "802.1ad")

enum cfg_tag { CFG_TAGS(CFG_CONSTANT) };

/* Modes of a PFC relay; enum pfc_relay_mode has the same values (snapshot/build_pfc.c). */
#define CFG_RELAY_MODES(X) \
	X(RELAY_TRANSPARENT, "transparent") \
	X(RELAY_SCALED, "scaled") \
	X(RELAY_REGENERATE, "regenerate")

enum cfg_relay_mode { CFG_RELAY_MODES(CFG_CONSTANT) };

/* Messages that PFC relays send across the WAN. */
#define CFG_CARRIERS(X) \
	X(CARRIER_FRAMES, "frames") \
	X(CARRIER_STATE, "state")

enum cfg_carrier { CFG_CARRIERS(CFG_CONSTANT) };

/*
 * SRv6 endpoint behaviours: X(constant, name, kind, properties, code). kind: of enum behavior_kind; properties:
 * BEHAVIOR_...; code: IANA SRv6 Endpoint Behaviors, without flavours. RFC 9800 gives behaviours at the end of a container no
 * code points of their own. Those of draft-ruan-spring-priority-flow-control-sid-02 have private use numbers (D30).
 */
#define BEHAVIORS(X) \
	X(UN, "uN", END, BEHAVIOR_COMPRESSED, 43) \
	X(UA, "uA", END_X, BEHAVIOR_COMPRESSED, 52) \
	X(UDT4, "uDT4", DT, BEHAVIOR_COMPRESSED | BEHAVIOR_INNER4, 19) \
	X(UDT6, "uDT6", DT, BEHAVIOR_COMPRESSED | BEHAVIOR_INNER6, 18) \
	X(UDT46, "uDT46", DT, BEHAVIOR_COMPRESSED | BEHAVIOR_INNER4 | BEHAVIOR_INNER6, 20) \
	X(UDX4, "uDX4", DX, BEHAVIOR_COMPRESSED | BEHAVIOR_INNER4, 17) \
	X(UDX6, "uDX6", DX, BEHAVIOR_COMPRESSED | BEHAVIOR_INNER6, 16) \
	X(UDX2, "uDX2", DX2, BEHAVIOR_COMPRESSED, 21) \
	X(END, "End", END, 0, 1) \
	X(END_X, "End.X", END_X, 0, 5) \
	X(END_T, "End.T", END_T, 0, 9) \
	X(END_DT4, "End.DT4", DT, BEHAVIOR_INNER4, 19) \
	X(END_DT6, "End.DT6", DT, BEHAVIOR_INNER6, 18) \
	X(END_DT46, "End.DT46", DT, BEHAVIOR_INNER4 | BEHAVIOR_INNER6, 20) \
	X(END_DX4, "End.DX4", DX, BEHAVIOR_INNER4, 17) \
	X(END_DX6, "End.DX6", DX, BEHAVIOR_INNER6, 16) \
	X(END_DX2, "End.DX2", DX2, 0, 21) \
	X(END_X_PFC, "End.X.PFC", END_X, BEHAVIOR_PAUSES, 0x8100) \
	X(UA_PFC, "uA.PFC", END_X, BEHAVIOR_COMPRESSED | BEHAVIOR_PAUSES, 0x8104)

#define BEHAVIOR_COMPRESSED 0x1 /* SID of the uSID block: block and 16-bit ids */
#define BEHAVIOR_INNER4 0x2	/* IPv4 may be inside; KIND_DT, KIND_DX */
#define BEHAVIOR_INNER6 0x4	/* IPv6 may be inside; KIND_DT, KIND_DX */
#define BEHAVIOR_PAUSES 0x8	/* ends PFC frames (draft-ruan section 2) */

#define CFG_BEHAVIOR_CONSTANT(id, name, kind, properties, code) BEHAVIOR_##id,
#define CFG_BEHAVIOR_TEXT(id, name, kind, properties, code) name,

enum cfg_behavior { BEHAVIORS(CFG_BEHAVIOR_CONSTANT) BEHAVIOR_COUNT };

#endif
