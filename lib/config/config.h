/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a YAML file to a checked configuration (docs/design.md section 7).
 *
 *   cfg_load_file  reads a file into the model, by the schema; reports every syntax, type and range error
 *   cfg_check      checks across keys: names that refer to nothing, overlaps, buffers that do not fit the pool
 *
 * Management thread, and the start of the program before there are other threads. The functions allocate and read
 * files. No DPDK.
 */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include <stddef.h>

#include "config/diag.h"
#include "config/model.h"

#define CFG_FILE_MAX (64u * 1024 * 1024) /* bytes; larger files are rejected */

/*
 * Load a file, or text that is already in memory (messages refer to it as `name`). Returns NULL if anything was
 * reported to `diags`, else a configuration that the caller frees with cfg_free. cfg_check is a separate step.
 */
struct config *cfg_load_file(const char *path, struct cfg_diags *diags);
struct config *cfg_load_text(const char *name, const char *text, size_t size, struct cfg_diags *diags);

/*
 * Read the files that a configuration loaded from text names: keys and SIDs of other nodes. Their names are relative to
 * the directory of `file`. cfg_load_file does this itself. Returns c; or NULL with messages, and c is freed.
 */
struct config *cfg_load_beside(struct config *c, const char *file, struct cfg_diags *diags);

/* Path of the file `name`, relative to the directory of the file `beside`. Allocated in `arena`; NULL: out of memory. */
char *cfg_path_beside(struct arena *arena, const char *beside, const char *name);

/* Semantic checks; 0, or -EINVAL with at least one message in `diags`. */
int cfg_check(const struct config *c, struct cfg_diags *diags);

/* Load and check a file, and print all messages to `errors`. NULL: the file is not valid. The caller frees the result. */
struct config *cfg_load_checked(const char *path, FILE *errors);

void cfg_free(struct config *c); /* c may be NULL */

/* Place of a member's value in the file; 0:0 if it was not given and has its default. */
struct cfg_mark cfg_where(const struct config *c, const void *member);

/* Whether the member was given in the file. */
static inline bool cfg_given(const struct config *c, const void *member)
{
	return cfg_where(c, member).line != 0;
}

/* Index of the named object in its list; -1 if there is none or `name` is NULL. */
int cfg_find_port(const struct config *c, const char *name);
int cfg_find_vrf(const struct config *c, const char *name);
int cfg_find_policy(const struct config *c, const char *name);

/* A link with addresses and neighbours: a port, or a VLAN interface of a port. */
struct cfg_link {
	const char *name, *vrf; /* vrf NULL: the underlay's table */
	const struct ip_prefix *addresses;
	uint32_t n_addresses;
	uint32_t port;			       /* index */
	const struct cfg_interface *interface; /* NULL: the port itself */
};

/* Find a link by name, ports before interfaces. False if there is none, or if the interface's port is unknown. */
bool cfg_find_link(const struct config *c, const char *name, struct cfg_link *out);

/* Link number i: ports first, then interfaces. False after the last one, or if the interface's port is unknown. */
bool cfg_link_at(const struct config *c, uint32_t i, struct cfg_link *out);

/*
 * Index of the object `name` in the list that the file calls `list` ("ports"); -1 if there is none or `name` is NULL. Then
 * *near is the most similar name in the list, or NULL. `near` may be NULL.
 */
int cfg_find_named(const struct config *c, const char *list, const char *name, const char **near);

/* CPU of an lcore by lcores.cpus; the number of the lcore if it is not listed there. */
unsigned int cfg_cpu_of(const struct config *c, uint64_t lcore);

/* Whether the lcore is listed under lcores.rx or lcores.worker. */
bool cfg_is_rx(const struct config *c, uint64_t lcore);
bool cfg_is_worker(const struct config *c, uint64_t lcore);

/* What the PFC relays of a port need of its device. */
struct cfg_relayed {
	bool reads;  /* PFC frames of the gateway must reach software */
	bool writes; /* PFC frames that software sends must reach the gateway */
};

struct cfg_relayed cfg_relayed(const struct config *c, const char *port);

/* True for a PCI address ("0000:17:00.1"), false for a virtual device ("net_pcap0,rx_pcap=..."). */
bool cfg_device_is_pci(const char *device);

/* Parse metrics.listen: "127.0.0.1:9111" or "[::1]:9111". *port is in host order. 0, or -EINVAL. */
int cfg_parse_listen(const char *text, struct ip_addr *addr, uint16_t *port);

/* Write the configuration as YAML that loads to the same model. Keys with default values are left out unless `all`. */
void cfg_emit(const struct config *c, FILE *out, bool all);

/* Write config/reference.yaml: every key with type, unit, range, default and help, as a valid configuration. */
void cfg_emit_reference(FILE *out);

#endif
