/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDs of other nodes: prefix, behaviour, structure, owner (docs/protocol.md 4.6). They are given in the configuration,
 * or in JSON files with the same keys. The files replace the advertisement by IGP or BGP-LS that draft-ruan section 2
 * leaves to another document: a node reads the file that another node wrote with `show remote-sids -j`. Control code;
 * no DPDK.
 */
#ifndef CONFIG_REMOTE_SIDS_H
#define CONFIG_REMOTE_SIDS_H

#include <jansson.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_REMOTE_ALL_MAX 65536 /* entries in total, own SIDs included */

/* An entry with all defaults resolved. */
struct cfg_remote {
	struct ip_prefix sid;
	const char *owner;
	uint32_t behavior;    /* enum cfg_behavior, or CFG_REMOTE_OTHER */
	unsigned int flavors; /* bits of enum cfg_flavor */
	uint16_t code;
	uint8_t block_bits, node_bits, function_bits, argument_bits;
};

/* Number of own SIDs and of all entries of the configuration and of the files. Duplicates count. */
uint32_t cfg_remote_count(const struct config *c);

/*
 * Calls fn for every known SID: own ones, those of the configuration, those of the files. A SID that appears several
 * times is reported once.
 */
int cfg_remote_each(const struct config *c, void (*fn)(void *arg, const struct cfg_remote *r), void *arg);

/* All known SIDs as {"remote-sids": [...]}, a file that remote-sids-files accepts. NULL: out of memory. */
json_t *cfg_remote_json(const struct config *c);

/*
 * Read the files that remote-sids-files of `c` names, relative to the directory of the file `beside`. 0, or -EINVAL
 * with messages that give file, line and column.
 */
int cfg_remote_load(struct config *c, const char *beside, struct cfg_diags *d);

/* Load the text of one file as the next element of c->imported, which must have room. Messages call the file `path`. */
int cfg_remote_load_text(struct config *c, const char *path, const char *text, size_t size, struct cfg_diags *d);

#endif
