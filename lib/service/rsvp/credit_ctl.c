/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of credit: made with the node if its data is gated, and never moved. Management thread. */
#include <errno.h>
#include <stdlib.h>

#include "base/aligned.h"
#include "config/config.h"
#include "node/service.h"
#include "service/rsvp/service_credit.h"

#define SPARE 64	  /* numbers of sessions that end while others begin */
#define NUMBERS_MAX 65535 /* of struct pkt_credit */

static uint32_t numbers_for(uint64_t paths)
{
	return (uint32_t)MIN_OF(2 * paths + SPARE, NUMBERS_MAX);
}

static void free_all(struct credit_control *k)
{
	if (!k)
		return;
	if (k->data)
		credit_table_free(&k->data->table);
	if (k->data)
		credit_table_free(&k->data->native);
	if (k->data)
		free(k->data->accounts);
	for (unsigned int i = 0; i < ARRAY_LEN(k->memory); i++)
		free(k->memory[i]);
	free(k->free_grant);
	free(k->free_line);
	free(k->active_grant);
	free(k->active_line);
	free(k->wanting);
	free(k->demand);
	free(k->demands);
	free(k->data);
	free(k);
}

static bool make_tables(struct credit_control *k, const struct config *c, uint16_t n_rx, uint16_t n_workers)
{
	uint32_t n = k->numbers;
	struct credit_data *d = k->data;

	d->numbers = n;
	d->n_rx = n_rx;
	d->n_workers = n_workers;
	d->accounts = calloc(n_workers, sizeof(const struct accounts *));
	d->line = new_sparse(n * sizeof(*d->line), &k->memory[0]);
	d->origin = new_sparse(n * sizeof(*d->origin), &k->memory[1]);
	d->intake = new_sparse((size_t)n * n_rx * sizeof(*d->intake), &k->memory[2]);
	d->sample = new_sparse((size_t)n * n_rx * CREDIT_SAMPLES * sizeof(*d->sample), &k->memory[3]);
	d->release = new_sparse((size_t)n * (n_rx + n_workers) * sizeof(*d->release), &k->memory[4]);
	d->line_of_path = new_sparse(SNAP_PATH_MAX * PKT_CLASSES * sizeof(*d->line_of_path), &k->memory[5]);
	k->grant = new_sparse(n * sizeof(*k->grant), &k->memory[6]);
	k->use = new_sparse(n * sizeof(*k->use), &k->memory[7]);
	k->use_row = new_sparse(n * sizeof(*k->use_row), &k->memory[8]);
	k->grant_row = new_sparse(n * sizeof(*k->grant_row), &k->memory[9]);
	k->free_grant = calloc(n, sizeof(uint32_t));
	k->free_line = calloc(n, sizeof(uint32_t));
	k->active_grant = calloc(n, sizeof(uint32_t));
	k->active_line = calloc(n, sizeof(uint32_t));
	k->wanting = calloc(n, sizeof(uint32_t));
	k->demand = calloc(n, sizeof(*k->demand));
	k->demands = calloc(n, sizeof(struct credit_demand *));
	return d->accounts && d->line && d->origin && d->intake && d->sample && d->release && d->line_of_path &&
	       k->grant && k->use && k->use_row && k->grant_row && k->free_grant && k->free_line && k->active_grant &&
	       k->active_line && k->wanting && k->demand && k->demands &&
	       credit_table_make(&d->table, (uint32_t)c->credit.paths) && credit_table_make(&d->native, k->paths + n);
}

static int open_mailboxes(struct credit_control *k, struct control_role *c, int socket)
{
	struct node *n = c->node;
	int rc = 0;

	for (uint16_t i = 0; i < n->n_rx && rc == 0; i++)
		rc = mailbox_open(&n->mailboxes, &k->rx_tells[i],
			&(struct mailbox_options){.carries = "credit",
				.from = rx_end(&n->rx[i]),
				.to = control_end(c),
				.bytes = sizeof(uint32_t),
				.slots = CREDIT_TELL_SLOTS,
				.socket = socket});
	for (uint16_t i = 0; i < n->n_workers && rc == 0; i++) {
		struct worker_role *w = &n->worker[i];

		rc = mailbox_open(&n->mailboxes, &k->worker_tells[i],
			&(struct mailbox_options){.carries = "credit",
				.from = worker_end(w),
				.to = control_end(c),
				.bytes = sizeof(uint32_t),
				.slots = CREDIT_TELL_SLOTS,
				.socket = socket});
		if (rc == 0)
			rc = mailbox_open(&n->mailboxes, &k->worker_orders[i],
				&(struct mailbox_options){.carries = "credit orders",
					.from = control_end(c),
					.to = worker_end(w),
					.bytes = sizeof(struct line_order),
					.slots = CREDIT_ORDER_SLOTS,
					.socket = socket});
	}
	return rc;
}

/* Both ends of a hop count from there, and what has arrived has left. */
static void begin_counters(struct credit_data *d, uint64_t from)
{
	for (uint32_t i = 1; i < d->numbers; i++) {
		d->line[i].gate.sent = d->line[i].gate.limit = from;
		d->intake[i].rcvd = from;
		d->release[i].freed = d->release[i].told = from;
	}
}

int credit_make(struct control_role *c, int socket)
{
	struct node *n = c->node;
	struct credit_control *k;
	int rc;

	if (n->config->credit.mode == CREDIT_OFF || n->config->credit.data != CREDIT_DATA_GATED)
		return 0;
	k = new_aligned(sizeof(*k));
	if (!k)
		return -ENOMEM;
	k->numbers = numbers_for(n->config->credit.paths);
	k->paths = (uint32_t)n->config->credit.paths;
	k->data = new_aligned(sizeof(*k->data));
	if (!k->data || !make_tables(k, n->config, n->n_rx, n->n_workers)) {
		free_all(k);
		return -ENOMEM;
	}
	begin_counters(k->data, n->counters);
	k->data->salt = (n->seed ^ 0x6e61746976650000ull) * 0x9e3779b97f4a7c15ull;
	for (uint32_t i = k->numbers - 1; i > 0; i--)
		k->free_grant[k->free_grants++] = k->free_line[k->free_lines++] = i;
	rc = open_mailboxes(k, c, socket);
	node_rsvp(n)->credit = k;
	for (uint16_t i = 0; i < n->n_workers && rc == 0; i++) {
		struct egress_context *ctx = &n->worker[i].ctx;

		k->data->accounts[i] = n->worker[i].accounts;
		ctx->credit = k->data;
		ctx->credit_told = credit_tell_control;
		ctx->credit_orders = credit_obey_orders;
	}
	return rc;
}

void credit_free(struct control_role *c)
{
	free_all(credit_of(c->node));
}

uint64_t credit_memory(uint32_t paths, unsigned int rx, unsigned int workers)
{
	uint64_t each = sizeof(struct credit_line) + sizeof(struct credit_origin) + sizeof(struct credit_grant) +
			sizeof(struct credit_use) + sizeof(struct credit_use_row) + sizeof(struct credit_grant_row) +
			5 * sizeof(uint32_t) + sizeof(struct credit_demand) + sizeof(struct credit_demand *);

	each += rx * (sizeof(struct credit_intake) + CREDIT_SAMPLES * sizeof(struct credit_sample));
	each += (rx + workers) * sizeof(struct credit_release);
	return numbers_for(paths) * each + sizeof(struct credit_control) + sizeof(struct credit_data) +
	       (2ull * paths + numbers_for(paths)) * (sizeof(struct credit_entry) + 4 * sizeof(uint32_t)) +
	       SNAP_PATH_MAX * PKT_CLASSES * sizeof(uint16_t);
}
