/* SPDX-License-Identifier: BSD-3-Clause */
/* The declared keys of other nodes' SIDs: in a configuration, and in JSON files with the same keys. Pure. */
#include "config/schema_priv.h"

static const char *const words_remote[] = {BEHAVIORS(CFG_BEHAVIOR_TEXT) "other", NULL};

/* clang-format off */

#define BITS(name_, member, what)                                                                  \
	{name_, CFG_SCALE, .offset = AT(struct cfg_remote_sid, member), .max = 128, .word = "auto", .word_value = CFG_NONE, \
		.fallback = "auto", .help = what}

static const struct cfg_key remote_sid_keys[] = {
	{"sid", CFG_PREFIX6, .offset = AT(struct cfg_remote_sid, sid), .flags = CFG_REQUIRED, .example = "\"5f00:1:1:e1::/64\"",
		.help = "Block, node and function; or block and function of a SID with local meaning."},
	{"behavior", CFG_WORD, .offset = AT(struct cfg_remote_sid, behavior), .words = words_remote, .flags = CFG_REQUIRED,
		.example = "End.X.PFC",
		.help = "Behaviour that the owner executes at the SID. other: the behaviour of code."},
	{"flavors", CFG_LIST_OF, .item = CFG_WORD, .words = cfg_words_flavor, .offset = AT(struct cfg_remote_sid, flavors), .max = 3,
		.example = "[psp]", .help = "Flavors, as in sids."},
	{"code", CFG_UINT, .offset = AT(struct cfg_remote_sid, code), .max = 65535, .fallback = "0",
		.help = "IANA code point (SRv6 Endpoint Behaviors), with behavior: other. 0: the code point of the "
			"behaviour."},
	{"owner", CFG_NAME, .offset = AT(struct cfg_remote_sid, owner), .flags = CFG_REQUIRED, .example = "r1",
		.help = "Name of the node. On the way back, SIDs of one owner are interchangeable."},
	BITS("block-bits", block_bits, "Bits of the locator block, in the structure of the SID (RFC 9800 section 4). auto: those of the block of node.usid that contains the SID, else 32."),
	BITS("node-bits", node_bits, "Bits of the node. auto: 16, or 0 for a SID with local meaning (first id 0xe000 or above)."),
	BITS("function-bits", function_bits, "Bits of the function. auto: the rest of the prefix."),
	BITS("argument-bits", argument_bits, "Bits of the argument. auto: the rest of the address for a NEXT-CSID behaviour, else 0."),
};
const struct cfg_map cfg_remote_sid_map = MAP_OF(remote_sid_keys, "a remote SID", struct cfg_remote_sid);

static const struct cfg_key remote_file_keys[] = {
	{"remote-sids", CFG_LIST_OF, .item = CFG_MAP, .map = &cfg_remote_sid_map, .offset = AT(struct cfg_remote_file, sids),
		.max = CFG_REMOTE_SIDS_MAX, .flags = CFG_REQUIRED,
		.help = "SIDs, with the same keys as in the configuration."},
};
const struct cfg_map cfg_remote_file_map = MAP_OF(remote_file_keys, "the file", struct cfg_remote_file);
