/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the paths of a policy (overlap.h). Pure. */
#include "config/overlap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/ways.h"

/* A node that a path passes. */
struct step {
	struct ip_addr node;  /* its SID: of a uSID container, the block and one id */
	struct ip_addr whole; /* with the local ids that follow, which choose a link or a table there */
};

struct way {
	const char *port; /* the only port that the path leaves by; NULL: several, or none */
	struct step *step;
	uint32_t n;
};

struct comparison {
	const struct cfg_policy *policy;
	struct way *way; /* by path */
	bool *same;
	uint32_t end; /* steps at the end that do not count */
	void (*found)(void *arg, const struct cfg_overlap *o);
	void *arg;
};

static const char *only_port(const struct config *c, const struct cfg_program *program)
{
	struct cfg_way way;

	if (!cfg_way_out(c, program, &way) || way.more)
		return NULL;
	for (uint32_t i = 0; i < c->interfaces.n; i++)
		if (strcmp(c->interfaces.items[i].name, way.port) == 0)
			return c->interfaces.items[i].port;
	return way.port;
}

/* The ids of a container, one by one; a local id belongs to the node before it. */
static void add_ids(struct way *w, const struct ip_addr *sid, unsigned int block)
{
	for (unsigned int i = 0; i < usid_count(&sid->v6, block); i++) {
		uint16_t id = usid_at(&sid->v6, block, i);
		struct step *last = w->n ? &w->step[w->n - 1] : NULL;
		unsigned int at = usid_offset(block);

		if (!usid_is_local(id) || !last) {
			last = &w->step[w->n++];
			last->node = (struct ip_addr){.family = 6};
			memcpy(last->node.v6.b, sid->v6.b, at);
			last->node.v6.b[at] = (uint8_t)(id >> 8);
			last->node.v6.b[at + 1] = (uint8_t)id;
			last->whole = last->node;
			continue;
		}
		at += 2 * usid_count(&last->whole.v6, block);
		if (at + 2 > sizeof(last->whole.v6.b))
			continue;
		last->whole.v6.b[at] = (uint8_t)(id >> 8);
		last->whole.v6.b[at + 1] = (uint8_t)id;
	}
}

/* What is on the wire. A list with an error is none: others say so. */
static int find_way(struct way *w, const struct config *c, const struct cfg_own_sids *own, const struct cfg_path *p)
{
	struct ip_prefix blocks[CFG_BLOCKS_MAX];
	unsigned int n_blocks = cfg_blocks(c, blocks);
	struct cfg_program program;
	const char *why;

	w->step = calloc(USID_MAX_CONTAINERS * usid_per_container(USID_BLOCK_MIN), sizeof(*w->step));
	if (!w->step)
		return -ENOMEM;
	if (cfg_program(c, own, p, &program, &why) < 0)
		return 0;
	w->port = only_port(c, &program);
	for (unsigned int i = 0; i < program.n; i++) {
		struct ip_addr sid = {.family = 6, .v6 = program.container[i]};
		const struct ip_prefix *block = usid_block_of(blocks, n_blocks, &sid);

		if (block)
			add_ids(w, &sid, block->len);
		else
			w->step[w->n++] = (struct step){sid, sid};
	}
	return 0;
}

/* The last step, if it is that of all paths. */
static uint32_t common_end(const struct comparison *c)
{
	const struct way *first = &c->way[0];

	for (uint32_t k = 0; k < c->policy->paths.n; k++) {
		const struct way *w = &c->way[k];

		if (!w->n || !first->n || !ip_addr_equal(&w->step[w->n - 1].whole, &first->step[first->n - 1].whole))
			return 0;
	}
	return 1;
}

/* `same` has been filled for what path i has, unless an earlier path has it as well. */
static void tell(const struct comparison *c, uint32_t i, enum cfg_shared kind, const char *text)
{
	struct cfg_overlap o = {.kind = kind, .text = text, .same = c->same};

	for (uint32_t k = 0; k < i; k++)
		if (c->same[k])
			return;
	for (uint32_t k = i; k < c->policy->paths.n; k++)
		o.n += c->same[k];
	if (o.n > 1)
		c->found(c->arg, &o);
}

static void compare_ports(const struct comparison *c, uint32_t i)
{
	const char *port = c->way[i].port;
	char text[128];

	if (!port)
		return;
	for (uint32_t k = 0; k < c->policy->paths.n; k++)
		c->same[k] = c->way[k].port && strcmp(port, c->way[k].port) == 0;
	snprintf(text, sizeof(text), "leave by %s", port);
	tell(c, i, CFG_SHARED_PORT, text);
}

/* Is the node among the first `n` steps, or with `next` the link from it to the next node? */
static bool has(const struct way *w, uint32_t n, const struct step *node, const struct step *next)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!next && ip_addr_equal(&w->step[i].node, &node->node))
			return true;
		if (next && i + 1 < w->n && ip_addr_equal(&w->step[i].whole, &node->whole) &&
			ip_addr_equal(&w->step[i + 1].node, &next->node))
			return true;
	}
	return false;
}

static void compare_step(const struct comparison *c, uint32_t i, uint32_t at, const struct step *next)
{
	const struct way *w = &c->way[i];
	const struct step *node = &w->step[at];
	char one[IP_ADDR_TEXT], two[IP_ADDR_TEXT], text[2 * IP_ADDR_TEXT + 16];

	if (has(w, at, node, next))
		return; /* told when the path came there first */
	for (uint32_t k = 0; k < c->policy->paths.n; k++)
		c->same[k] = has(&c->way[k], c->way[k].n - c->end, node, next);
	if (next)
		snprintf(text, sizeof(text), "go from %s to %s", ip_addr_format(&node->whole, one),
			ip_addr_format(&next->node, two));
	else
		snprintf(text, sizeof(text), "pass %s", ip_addr_format(&node->node, one));
	tell(c, i, next ? CFG_SHARED_LINK : CFG_SHARED_NODE, text);
}

static void compare(struct comparison *c)
{
	c->end = common_end(c);
	for (uint32_t i = 0; i < c->policy->paths.n; i++)
		compare_ports(c, i);
	for (uint32_t i = 0; i < c->policy->paths.n; i++) {
		const struct way *w = &c->way[i];

		for (uint32_t at = 0; at + c->end < w->n; at++) {
			compare_step(c, i, at, NULL);
			if (at + 1 < w->n)
				compare_step(c, i, at, &w->step[at + 1]);
		}
	}
}

int cfg_overlap_each(const struct config *config, const struct cfg_own_sids *own, const struct cfg_policy *policy,
	void (*found)(void *arg, const struct cfg_overlap *o), void *arg)
{
	struct comparison c = {.policy = policy, .found = found, .arg = arg};
	uint32_t n = policy->paths.n;
	int rc = 0;

	if (n < 2)
		return 0;
	c.way = calloc(n, sizeof(*c.way));
	c.same = calloc(n, sizeof(*c.same));
	if (!c.way || !c.same)
		rc = -ENOMEM;
	for (uint32_t i = 0; i < n && rc == 0; i++)
		rc = find_way(&c.way[i], config, own, &policy->paths.items[i]);
	if (rc == 0)
		compare(&c);
	for (uint32_t i = 0; c.way && i < n; i++)
		free(c.way[i].step);
	free(c.way);
	free(c.same);
	return rc;
}
