/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole node from a configuration file, on ports that a benchmark makes, with all its lcores polled by one thread: what a
 * step costs is then the same in every run, and callgrind can count it.
 */
#ifndef BENCH_BENCH_NODE_H
#define BENCH_BENCH_NODE_H

#include "config/config.h"
#include "node/node_ctl.h"

/*
 * The node, ready to be polled; NULL after a message on stderr. megabytes: memory of the EAL, which is started here. make: a
 * port for each one of the configuration; `port` is what every benchmark sets in it.
 */
struct node *bench_node(const char *file, unsigned int megabytes,
	struct port *(*make)(const struct node *n, const struct cfg_port *c));

/* Fill in what all such ports have in common: name, address, one queue, a link that is up. */
void bench_port_init(struct port *p, const struct port_ops *ops, const struct cfg_port *c);

/* The functions of a port that does nothing at its end. */
void bench_port_nothing(struct port *p);

#endif
