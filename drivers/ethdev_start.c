/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts and stops a DPDK Ethernet device, and takes its events: changes of the link, resets, errors. Management
 * thread; events arrive in threads of the EAL.
 */
#include "drivers/ethdev_priv.h"

#include "base/compiler.h"
#include "base/log.h"

/* Take the state of the link from the device. */
static void read_link(struct port *p)
{
	/* it may have failed and returned since: then the state is what it was, and yet two changes are to be recorded */
	if (!port_set_link(p, ethdev_link_up(p)))
		__atomic_add_fetch(&p->link, 2, __ATOMIC_RELAXED);
}

static void fault(struct port *p, enum ethdev_fault f)
{
	__atomic_or_fetch(&dev_of(p)->faults, f, __ATOMIC_RELAXED);
	port_set_link(p, false);
}

static void recovering(struct port *p, bool on)
{
	__atomic_store_n(&dev_of(p)->recovering, on, __ATOMIC_RELAXED);
	if (on)
		port_set_link(p, false);
}

/* Only what takes no time: what is to be done, ethdev_restart does. */
static int happened(uint16_t id, enum rte_eth_event_type event, void *arg, void *out)
{
	struct port *p = arg;

	(void)id;
	(void)out;
	switch (event) {
	case RTE_ETH_EVENT_INTR_LSC:
		read_link(p);
		break;
	case RTE_ETH_EVENT_INTR_RESET:
		fault(p, ETHDEV_FAULT_RESET);
		break;
	case RTE_ETH_EVENT_INTR_RMV:
		fault(p, ETHDEV_FAULT_REMOVED);
		break;
	case RTE_ETH_EVENT_ERR_RECOVERING:
		recovering(p, true);
		break;
	case RTE_ETH_EVENT_RECOVERY_SUCCESS:
		recovering(p, false);
		__atomic_add_fetch(&dev_of(p)->recoveries, 1, __ATOMIC_RELAXED);
		read_link(p);
		break;
	case RTE_ETH_EVENT_RECOVERY_FAILED:
		recovering(p, false);
		fault(p, ETHDEV_FAULT_ERROR);
		break;
	default:
		break;
	}
	return 0;
}

static const enum rte_eth_event_type events[] = {RTE_ETH_EVENT_INTR_LSC, RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_INTR_RMV, RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_SUCCESS,
	RTE_ETH_EVENT_RECOVERY_FAILED};

static void take_events(struct port *p, bool on)
{
	uint16_t id = dev_of(p)->id;

	for (unsigned int i = 0; i < ARRAY_LEN(events); i++) {
		if (events[i] == RTE_ETH_EVENT_INTR_LSC && !dev_of(p)->reports_link)
			continue;
		if (on)
			rte_eth_dev_callback_register(id, events[i], happened, p);
		else
			rte_eth_dev_callback_unregister(id, events[i], happened, p);
	}
}

int ethdev_start(struct port *p)
{
	struct ethdev *dev = dev_of(p);
	int rc;

	/* a memif client may start before its server: ethdev_restart connects it, and until then no lcore uses it */
	if (dev->connects && !dev->restarts) {
		__atomic_store_n(&dev->detached, true, __ATOMIC_RELAXED);
		__atomic_store_n(&p->ops, dev->absent, __ATOMIC_RELEASE);
		return 0;
	}
	rc = rte_eth_dev_start(dev->id);
	if (rc != 0)
		return dev->connects ? 0 : rc;
	dev->started = true;
	take_events(p, true);
	spread_start(&dev->spread, dev->id, p->n_rx_queues, &p->abilities);
	if (p->n_rx_queues > 1)
		log_notice(port, "%s: %u receive queues, %s%s%s", p->name, p->n_rx_queues,
			spread_words((enum port_spread)p->abilities.spread),
			dev->spread.why[0] ? "; no rte_flow rule: " : "", dev->spread.why);
	pfc_setup(&pfc_ethdev, dev->id, p->abilities.driver, dev->pfc_priorities, dev->pfc_hardware, dev->n_tx,
		&p->abilities, &dev->pfc_changes);
	return 0;
}

void ethdev_stop(struct port *p)
{
	struct ethdev *dev = dev_of(p);

	if (dev->started) {
		take_events(p, false);
		spread_stop(&dev->spread, dev->id);
		pfc_restore(&pfc_ethdev, dev->id, &dev->pfc_changes);
		rte_eth_dev_stop(dev->id);
	}
	dev->started = false;
}

void ethdev_receive_all(struct port *p, bool all)
{
	struct ethdev *dev = dev_of(p);

	pthread_mutex_lock(&dev->lock);
	if (dev->receives_all != all) {
		dev->receives_all = all;
		if (ethdev_answers(dev))
			ethdev_set_up_filters(p);
	}
	pthread_mutex_unlock(&dev->lock);
}

static bool device_link_up(const struct ethdev *dev)
{
	struct rte_eth_link link;

	if (!dev->open || !dev->started)
		return false;
	/* the driver always reports "up" */
	if (dev->kernel_if.index)
		return !kernel_if_is_gone(&dev->kernel_if) && kernel_if_running(&dev->kernel_if);
	return rte_eth_link_get_nowait(dev->id, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

bool ethdev_link_up(struct port *p)
{
	struct ethdev *dev = dev_of(p);
	bool up = false;

	/* before the lock: a restart may hold it for long, and others must not wait to see their links */
	if (__atomic_load_n(&dev->detached, __ATOMIC_RELAXED))
		return false;
	pthread_mutex_lock(&dev->lock);
	if (!__atomic_load_n(&dev->detached, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&dev->recovering, __ATOMIC_RELAXED) &&
		!__atomic_load_n(&dev->faults, __ATOMIC_RELAXED))
		up = device_link_up(dev);
	pthread_mutex_unlock(&dev->lock);
	return up;
}
