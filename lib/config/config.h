/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a YAML file to a checked configuration (docs/design.md section 7).
 *
 *   cfg_load   file -> model, by the schema; reports every syntax, type and range error it finds
 *   cfg_check  what one key cannot tell: names that refer to nothing, overlaps, promises that do not fit
 *
 * Control code only; may allocate and read files. Knows no DPDK.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stddef.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_FILE_MAX (64u * 1024 * 1024) /* bytes; larger files are refused */

/*
 * Load a file, or text already in memory (`name` is used in messages). NULL when anything was reported to
 * `diags`; otherwise a configuration that the caller frees. Loading does not check what cfg_check checks.
 */
struct config *cfg_load_file(const char *path, struct cfg_diags *diags);
struct config *cfg_load_text(const char *name, const char *text, size_t size, struct cfg_diags *diags);

/*
 * Read the other files that the configuration of text names, relative to the directory of the file `file`: keys, SIDs of
 * other nodes. cfg_load_file has done so. Returns c, or NULL with messages, c being freed then.
 */
struct config *cfg_load_beside(struct config *c, const char *file, struct cfg_diags *diags);

/* The file `name` as seen from the directory of the file `beside`, in `arena`; NULL: out of memory. */
char *cfg_path_beside(struct arena *arena, const char *beside, const char *name);

/* Semantic checks; 0, or -EINVAL with at least one message in `diags`. */
int cfg_check(const struct config *c, struct cfg_diags *diags);

/* Both, with everything there is to complain about printed to `errors`; NULL: the file is not valid. The caller frees. */
struct config *cfg_load_checked(const char *path, FILE *errors);

void cfg_free(struct config *c); /* NULL is fine */

/* Where the value of a member stood; 0:0 when it was not given (its default holds). */
struct cfg_mark cfg_where(const struct config *c, const void *member);

/* Was the member given in the file? */
static inline int cfg_given(const struct config *c, const void *member)
{
	return cfg_where(c, member).line != 0;
}

/* Index of the named object in its list; -1 when there is none, or for NULL. */
int cfg_find_port(const struct config *c, const char *name);
int cfg_find_vrf(const struct config *c, const char *name);
int cfg_find_policy(const struct config *c, const char *name);

/* What has addresses and neighbours: a port, or an interface on one. */
struct cfg_link {
	const char *name, *vrf; /* vrf NULL: the underlay's table */
	const struct ip_prefix *addresses;
	uint32_t n_addresses;
	uint32_t port;			       /* index */
	const struct cfg_interface *interface; /* NULL: the port itself */
};

/* By name; ports are found before interfaces. False when there is none, or when the interface's port is unknown. */
bool cfg_find_link(const struct config *c, const char *name, struct cfg_link *out);

/* By number: ports first, then interfaces; false behind the last, or when the interface's port is unknown. */
bool cfg_link_at(const struct config *c, uint32_t i, struct cfg_link *out);

/* The same for the list called `list` in the file ("ports"), with the nearest name there is in *near or NULL. */
int cfg_find_named(const struct config *c, const char *list, const char *name, const char **near);

/* CPU of an lcore by lcores.cpus; the lcore's own number where that names none. */
unsigned int cfg_cpu_of(const struct config *c, uint64_t lcore);

/* Is the lcore listed under rx, under worker? */
int cfg_is_rx(const struct config *c, uint64_t lcore);
int cfg_is_worker(const struct config *c, uint64_t lcore);

/* "0000:17:00.1"? Else the device is a virtual one, named driver first: "net_pcap0,rx_pcap=...". */
int cfg_device_is_pci(const char *device);

/* "127.0.0.1:9111" or "[::1]:9111". 0, or -EINVAL. */
int cfg_parse_listen(const char *text, struct ip_addr *addr, uint16_t *port);

/* The configuration as YAML that loads to the same; keys with default values are left out unless `all`. */
void cfg_emit(const struct config *c, FILE *out, int all);

/* config/reference.yaml: every key with type, unit, range, default and help, itself loadable. */
void cfg_emit_reference(FILE *out);

#endif
