/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts ports whose devices do not work any more, while the node runs:
 *
 *   1  the driver says so (port_ops.failed). From then on its functions do nothing, and its link counts as down: packets
 *      take other ways, or wait as at any port that is down
 *   2  a grace period: every lcore has ended the pass in which it may have used the device
 *   3  the driver restarts the device (port_ops.restart), again and again if it must
 *   4  its functions work again; the link comes up when the driver says so
 *
 * Management thread.
 */
#include <errno.h>

#include "base/log.h"
#include "node/node_ctl.h"

#define RETRY_FIRST_NS (100 * NSEC_PER_MSEC) /* after an error; doubled each time */
#define RETRY_MAX_NS (10 * NSEC_PER_SEC)

static void begin(struct node *n, uint32_t i, const char *cause, uint64_t now)
{
	struct port *p = n->port[i];

	port_set_link(p, false);
	n->restart[i] = (struct node_restart){.cause = cause,
		.token = rte_rcu_qsbr_start(n->qsbr),
		.since = now,
		.retry_at = now};
	log_warning(port, "%s: out of use: %s; it is restarted as soon as that is possible", p->name, cause);
}

/* A new MAC address is part of the snapshot: source of frames, answers to neighbours, link-local address. */
static void adopt_mac(struct node *n, const struct port *p, const struct eth_addr *was)
{
	char err[256] = "";

	if (memcmp(was, &p->mac, sizeof(*was)) == 0)
		return;
	log_notice(port, "%s: has another MAC address", p->name);
	if (node_apply(n, n->config, err, sizeof(err)) < 0)
		log_error(port, "%s: its new MAC address cannot be applied: %s; reload the configuration", p->name,
			err);
}

static void try_again(struct node *n, uint32_t i, uint64_t now)
{
	struct node_restart *r = &n->restart[i];
	struct port *p = n->port[i];
	struct eth_addr was = p->mac;
	char err[256] = "";
	int rc = p->ops->restart(p, n->config, n->pool_of_port[i], err, sizeof(err));

	if (rc == -EAGAIN && !err[0])
		return;
	if (rc < 0) {
		r->wait_ns = r->wait_ns ? MIN_OF(2 * r->wait_ns, RETRY_MAX_NS) : RETRY_FIRST_NS;
		r->retry_at = now + r->wait_ns;
		log_error(port, "%s: cannot be restarted: %s; next attempt in %llu ms", p->name, err,
			(unsigned long long)(r->wait_ns / NSEC_PER_MSEC));
		return;
	}
	log_notice(port, "%s: restarted after %llu ms (%s)", p->name,
		(unsigned long long)((now - r->since) / NSEC_PER_MSEC), r->cause);
	r->cause = NULL;
	adopt_mac(n, p, &was);
}

void node_restart_ports(struct node *n, uint64_t now)
{
	for (uint32_t i = 0; i < n->n_ports; i++) {
		struct node_restart *r = &n->restart[i];
		const struct port_ops *ops = n->port[i]->ops;
		const char *cause;

		if (!ops->failed)
			continue;
		if (!r->cause) {
			cause = ops->failed(n->port[i], now);
			if (cause)
				begin(n, i, cause, now);
		}
		if (r->cause && now >= r->retry_at && rte_rcu_qsbr_check(n->qsbr, r->token, false) == 1)
			try_again(n, i, now);
	}
}
