/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench_node.h"

#include <stdio.h>

#include <rte_eal.h>

#include "service/services.h"

void bench_port_nothing(struct port *p)
{
	(void)p;
}

void bench_port_init(struct port *p, const struct port_ops *ops, const struct cfg_port *c)
{
	p->ops = ops;
	p->mac = c->mac;
	p->n_rx_queues = 1;
	p->link = 1;
	snprintf(p->name, sizeof(p->name), "%s", c->name);
}

static int start_eal(unsigned int megabytes)
{
	char memory[16];
	const char *eal[] = {"bench", "--no-huge", "-m", memory, "--no-pci", "--no-shconf", "--no-telemetry",
		"--lcores", "0@0", "--log-level=*:error", "--file-prefix=sluice-bench"};

	snprintf(memory, sizeof(memory), "%u", megabytes);
	return rte_eal_init((int)ARRAY_LEN(eal), (char **)(uintptr_t)eal);
}

static struct config *load(const char *file)
{
	struct cfg_diags diags = {0};
	struct config *c = cfg_load_file(file, &diags);

	if (c && cfg_check(c, &diags) == 0)
		return c;
	cfg_diags_print(&diags, stderr);
	return NULL;
}

struct node *bench_node(const char *file, unsigned int megabytes,
	struct port *(*make)(const struct node *n, const struct cfg_port *c))
{
	struct node_options options = {.services = node_services, .steady = true, .socket = -1};
	char err[256] = "";
	struct config *c;
	struct node *n;

	if (start_eal(megabytes) < 0)
		return NULL;
	c = load(file);
	if (!c)
		return NULL;
	n = node_new(c, &options, err, sizeof(err));
	for (uint16_t i = 0; n && i < n->n_ports; i++)
		node_attach_port(n, i, make(n, &c->ports.items[i]));
	if (!n || node_commit(n, err, sizeof(err)) < 0) {
		fprintf(stderr, "%s\n", err);
		return NULL;
	}
	for (uint16_t l = 0; l < n->n_lcores; l++)
		node_lcore_enter(n->lcore[l]);
	return n;
}
