/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lcore polls which queue, and owns which port: evenly, and near the port where there are lcores near it. */
#include "test/support/unit.h"

#include <stdio.h>

#include "config/deal.h"
#include "config/model.h"
#include "test/support/conf.h"

static struct config *load(const char *rx, const char *worker, const char *const *ports, unsigned int n)
{
	char yaml[1024];
	size_t at = (size_t)snprintf(yaml, sizeof(yaml),
		"node: {name: a, loopback: \"fd00::1\"}\nlcores: {control: 0, rx: [%s], worker: [%s]}\nports:\n", rx,
		worker);

	for (unsigned int i = 0; i < n; i++)
		at += (size_t)snprintf(yaml + at, sizeof(yaml) - at,
			"  - {name: p%u, device: net_null%u, side: dc%s}\n", i, i, ports[i]);
	return conf_load(CONF_LOAD, yaml);
}

/* Queues in turn, so that those of a port are on different lcores; ports in turn, but for those that name their worker. */
static void in_turn(void **state)
{
	static const char *const ports[] = {", rx-queues: 3", "", ", worker: 11", ""};
	struct config *c = load("1, 2", "10, 11", ports, 4);
	struct cfg_places p;
	struct cfg_deal d;

	cfg_places_init(&p);
	cfg_deal(c, &p, &d);
	assert_true(d.rx[0][0] == 0 && d.rx[0][1] == 1 && d.rx[0][2] == 0);
	assert_true(d.rx[1][0] == 1 && d.rx[2][0] == 0 && d.rx[3][0] == 1);
	assert_true(d.owner[0] == 0 && d.owner[1] == 1 && d.owner[2] == 1 && d.owner[3] == 0);
	assert_true(d.queues[0] == 3 && d.queues[1] == 3 && d.ports[0] == 2 && d.ports[1] == 2);
	assert_int_equal(cfg_node_of_port(c, &p, &d, 0), DEAL_ANYWHERE);
	cfg_free(c);
}

/* Two nodes: a port goes to lcores of its node, a virtual device to whoever has least. */
static void near(void **state)
{
	static const char *const ports[] = {", rx-queues: 2", ", rx-queues: 2", "", ", worker: 10"};
	struct config *c = load("1, 2, 3", "10, 11", ports, 4);
	struct cfg_places p;
	struct cfg_deal d;

	cfg_places_init(&p);
	p.port[0] = 1;
	p.port[1] = 0;
	p.port[3] = 1;
	p.lcore[1] = p.lcore[2] = p.lcore[10] = 0;
	p.lcore[3] = p.lcore[11] = 1;
	cfg_deal(c, &p, &d);
	assert_true(d.rx[0][0] == 2 && d.rx[0][1] == 2 && d.owner[0] == 1);
	assert_true(d.rx[1][0] == 0 && d.rx[1][1] == 1 && d.owner[1] == 0);
	assert_true(d.rx[2][0] == 0 && d.owner[2] == 0);
	assert_int_equal(d.owner[3], 0); /* as configured, though it is far */
	assert_true(cfg_is_far(&p, 3, 10) && !cfg_is_far(&p, 3, 11) && !cfg_is_far(&p, 2, 10));
	assert_int_equal(cfg_node_of_port(c, &p, &d, 0), 1);
	assert_int_equal(cfg_node_of_port(c, &p, &d, 2), 0); /* a virtual device: where its first queue is polled */
	cfg_free(c);
}

/* No lcore on the node of the port: the others serve it. */
static void none_near(void **state)
{
	static const char *const ports[] = {""};
	struct config *c = load("1", "1", ports, 1);
	struct cfg_places p;
	struct cfg_deal d;

	cfg_places_init(&p);
	p.port[0] = 3;
	p.lcore[1] = 0;
	cfg_deal(c, &p, &d);
	assert_true(d.rx[0][0] == 0 && d.owner[0] == 0 && cfg_is_far(&p, 0, 1));
	assert_int_equal(cfg_node_of_port(c, &p, &d, 0), 3);
	cfg_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_turn),
		cmocka_unit_test(near),
		cmocka_unit_test(none_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
