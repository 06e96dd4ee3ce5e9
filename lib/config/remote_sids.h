/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDs of other nodes: prefix, behaviour, structure, owner (docs/protocol.md 4.6). They stand in the configuration, or in JSON
 * files with the same keys, which take the place of the advertisement by IGP or BGP-LS that draft-ruan section 2 leaves to
 * another document: what one node writes with `show remote-sids -j`, another one reads. Control code; no DPDK.
 */
#ifndef CONFIG_REMOTE_SIDS_H
#define CONFIG_REMOTE_SIDS_H

#include <jansson.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_REMOTE_ALL_MAX 65536 /* together, own SIDs included */

/* An entry with nothing left open. */
struct cfg_remote {
	struct ip_prefix sid;
	const char *owner;
	uint32_t behavior;    /* enum cfg_behavior, or CFG_REMOTE_OTHER */
	unsigned int flavors; /* bits of enum cfg_flavor */
	uint16_t code;
	uint8_t block_bits, node_bits, function_bits, argument_bits;
};

/* What an entry says, defaults filled in. The structure may not add up: cfg_check finds that. */
struct cfg_remote cfg_remote_of(const struct config *c, const struct cfg_remote_sid *r);

/* The same of an own SID: what this node would advertise. */
struct cfg_remote cfg_remote_of_own(const struct config *c, const struct cfg_sid *sid);

/* Own SIDs and all entries of the configuration and of the files, those that stand there twice too. */
uint32_t cfg_remote_count(const struct config *c);

/*
 * Calls fn for every SID known: own ones, those of the configuration, those of the files; one that several of them have
 * is told once.
 */
int cfg_remote_each(const struct config *c, void (*fn)(void *arg, const struct cfg_remote *r), void *arg);

/* {"remote-sids": [...]}: all of the above as a file that remote-sids-files takes. NULL: out of memory. */
json_t *cfg_remote_json(const struct config *c);

/*
 * Read the files that remote-sids-files of `c` names, relative to the directory of the file `beside`. 0, or -EINVAL
 * with messages that name file, line and column there.
 */
int cfg_remote_load(struct config *c, const char *beside, struct cfg_diags *d);

/* One file's text, as the next of c->imported, which has room; `path` is what messages name. */
int cfg_remote_load_text(struct config *c, const char *path, const char *text, size_t size, struct cfg_diags *d);

#endif
