/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys of BFD: profiles, and the S-BFD reflector. Pure. */
#include "config/schema_priv.h"

static const char *const words_auth[] = CFG_WORDS(CFG_BFD_AUTHS);

/* clang-format off */

static const struct cfg_key profile_keys[] = {
	{"name", CFG_NAME, .offset = AT(struct cfg_bfd_profile, name), .flags = CFG_REQUIRED | CFG_IDENTITY, .example = "fast",
		.help = "Name of the profile, used by the key bfd of ports, interfaces, neighbors, routes, SIDs and paths."},
	{"transmit", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_bfd_profile, transmit_us), .min = 1000, .max = 60000000,
		.fallback = "10000",
		.help = "Desired Min TX Interval while the session is Up (RFC 5880 section 6.8.1). While it is not, at "
			"least a second."},
	{"receive", CFG_UINT, .unit = UNIT_US, .offset = AT(struct cfg_bfd_profile, receive_us), .min = 1000, .max = 60000000,
		.fallback = "10000",
		.help = "Required Min RX Interval: the neighbour sends no faster. The detection time is the neighbour's "
			"multiplier times the slower of this and the neighbour's transmit interval. Not used by paths."},
	{"multiplier", CFG_UINT, .offset = AT(struct cfg_bfd_profile, multiplier), .min = 1, .max = 255, .fallback = "3",
		.help = "Detect Mult: packets in a row that may be lost, plus one."},
	{"echo", CFG_SCALE, .unit = UNIT_US, .offset = AT(struct cfg_bfd_profile, echo_us), .min = 1000, .max = 60000000,
		.word = "off", .word_value = CFG_NONE, .fallback = "off",
		.help = "Interval of echo packets, which the neighbour's forwarding plane returns (RFC 5881 section 4). "
			"They are sent if the neighbour allows it. Control packets then arrive once a second. Not with "
			"link-local next hops, which no router forwards to."},
	{"echo-receive", CFG_SCALE, .unit = UNIT_US, .offset = AT(struct cfg_bfd_profile, echo_receive_us), .min = 1000,
		.max = 60000000, .word = "off", .word_value = CFG_NONE, .fallback = "off",
		.help = "Required Min Echo RX Interval: the neighbour may send echo packets this often. off: none."},
	{"passive", CFG_BOOL, .offset = AT(struct cfg_bfd_profile, passive), .fallback = "no",
		.help = "yes: send nothing until the neighbour is heard (RFC 5880 section 6.1)."},
	{"shutdown", CFG_BOOL, .offset = AT(struct cfg_bfd_profile, shutdown), .fallback = "no",
		.help = "yes: sessions are AdminDown, and the neighbours are told."},
	{"auth", CFG_WORD, .offset = AT(struct cfg_bfd_profile, auth), .words = words_auth, .fallback = "none",
		.help = "Authentication (RFC 5880 section 6.7). meticulous-sha1 refuses a replayed packet at once; sha1 "
			"accepts it while the sequence number is in use. Both ends need the same. Simple passwords and "
			"MD5 are not supported."},
	{"auth-key", CFG_UINT, .offset = AT(struct cfg_bfd_profile, auth_key), .max = 255, .fallback = "0",
		.help = "Id of the key in the file hmac.keys, which is also the key id in packets. The key has 16 to 20 "
			"bytes. 0: none."},
};
const struct cfg_map cfg_bfd_profile_map = MAP_OF(profile_keys, "a BFD profile", struct cfg_bfd_profile);

static const struct cfg_key reflector_keys[] = {
	{"discriminator", CFG_UINT, .offset = AT(struct cfg_sbfd_reflector, discriminator), .max = UINT32_MAX, .fallback = "0",
		.example = "0x0a000001",
		.help = "Discriminator of the S-BFD reflector, unique in the network (RFC 7880 section 3). It answers "
			"infrastructure sources at any own address. 0: no reflector."},
	{"rate", CFG_UINT, .unit = UNIT_PER_SECOND, .offset = AT(struct cfg_sbfd_reflector, rate), .max = 1000000,
		.fallback = "100K", .help = "Limit of answers of the reflector."},
};
const struct cfg_map cfg_sbfd_reflector_map = MAP_OF(reflector_keys, "sbfd-reflector", struct cfg_sbfd_reflector);
