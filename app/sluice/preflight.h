/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of preflight: each has a subject and, unless all is well, the command that fixes it. Main thread. */
#ifndef SLUICE_PREFLIGHT_H
#define SLUICE_PREFLIGHT_H

#include <jansson.h>

#include "base/compiler.h"
#include "cli/cli.h"
#include "config/config.h"

struct memory_plan;

extern const struct cli_option preflight_options[];
extern const size_t n_preflight_options;

/* `sluice preflight [-c FILE]`: print what this machine has and lacks. Exit status. */
int preflight(int argc, char **argv);

enum severity { FINDING_OK, FINDING_WARNING, FINDING_ERROR };

struct findings {
	json_t *list;
	enum severity worst;
};

/* Add a finding. fix: a command, or a sentence that says what to change; empty or NULL: none. */
void find(struct findings *f, enum severity severity, const char *about, const char *fix, const char *format, ...)
	PRINTF_LIKE(5, 6);

/* Add an error from a start check: "problem; run: COMMAND". Modifies `error`. */
void find_error(struct findings *f, const char *about, char *error);

/* Print the list as text on standard output, then the number of errors and warnings. */
void findings_print(const json_t *list);

/* preflight_machine.c: hugepages, IOMMU, VFIO, network controllers. need: of the configuration; NULL: none given. */
void preflight_machine(struct findings *f, const struct memory_plan *need);

/* preflight_machine.c: name of the kernel driver for a PCI device, whichever it is bound to; empty: none. Returns buf. */
const char *nic_driver(const char *pci, char *buf, size_t size);

/* preflight_config.c: memory, CPUs and devices of a checked configuration. */
void preflight_config(struct findings *f, const struct config *c);

/*
 * Would a start on this machine refuse a port for its PFC? 0, or -ENOTSUP with a message that has the remedy. Ports on
 * NICs of drivers that nothing is known of pass.
 */
int preflight_pfc(const struct config *c, char *err, size_t size);

/* How the receive queues of a port will be filled, as far as it is known before a start; empty text: unknown. */
const char *preflight_spread(const struct cfg_port *p);

#endif
