/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings devices back that do not work any more, as their drivers in DPDK 22.11 need it:
 *
 *   memif client    connects only when it is started, so it is stopped and started when its server answers
 *   af_packet       its sockets are useless once the interface was deleted: it is opened again on the one of that name
 *   VF reset by PF  reset, configured and started again (RTE_ETH_EVENT_INTR_RESET)
 *   failed          an error that the device did not recover from, or a removed device: it is opened again
 *
 * Management thread, while no lcore uses the device.
 */
#include "drivers/ethdev_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_dev.h>

#include "base/compiler.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "config/keys.h"

#define CONNECT_FIRST_NS (200 * NSEC_PER_MSEC) /* for the handshake of a memif client; doubled until it connects */
#define CONNECT_MAX_NS (2 * NSEC_PER_SEC)
#define ALARM_US 100
#define ALARM_WAIT_US 2000000 /* for the EAL's interrupt thread */

static void say_recoveries(const struct port *p)
{
	struct ethdev *dev = dev_of(p);
	uint32_t n = __atomic_load_n(&dev->recoveries, __ATOMIC_RELAXED);

	if (n != dev->recoveries_said)
		log_warning(port, "%s: the device has recovered from an error by itself; %u times since start", p->name,
			n);
	dev->recoveries_said = n;
}

/* Is it a memif client without a connection, and has the last attempt had its time? */
static bool is_unconnected(struct port *p, uint64_t now)
{
	struct ethdev *dev = dev_of(p);

	if (!dev->connects)
		return false;
	if (!ethdev_link_up(p))
		return now >= dev->connect_again;
	dev->connect_again = dev->connect_ns = 0;
	return false;
}

/* Words for the most serious of some faults. */
static const char *words(uint32_t faults)
{
	static const char *const all[] = {
#define X(name, text) text,
		ETHDEV_FAULTS(X)
#undef X
	};

	return all[31 - __builtin_clz(faults)];
}

const char *ethdev_failed(struct port *p, uint64_t now)
{
	struct ethdev *dev = dev_of(p);
	uint32_t faults = __atomic_load_n(&dev->faults, __ATOMIC_RELAXED);

	say_recoveries(p);
	if (__atomic_load_n(&dev->recovering, __ATOMIC_RELAXED))
		return NULL;
	if (kernel_if_is_gone(&dev->kernel_if))
		faults |= ETHDEV_FAULT_INTERFACE;
	if (!faults && is_unconnected(p, now))
		faults = ETHDEV_FAULT_SERVER;
	if (!faults)
		return NULL;
	dev->connect_ns = dev->connect_ns ? MIN_OF(2 * dev->connect_ns, CONNECT_MAX_NS) : CONNECT_FIRST_NS;
	dev->connect_again = now + dev->connect_ns;
	dev->due |= faults;
	__atomic_store_n(&dev->detached, true, __ATOMIC_RELAXED);
	__atomic_store_n(&p->ops, dev->absent, __ATOMIC_RELEASE);
	return words(faults);
}

/* The counters of the device begin at 0 again. */
static void keep_stats(struct port *p)
{
	struct port_device_stats all;

	ethdev_stats(p, &all);
	dev_of(p)->before = all;
	dev_of(p)->before.ierrors -= __atomic_load_n(&dev_of(p)->too_long, __ATOMIC_RELAXED);
	dev_of(p)->last = (struct port_device_stats){0};
}

/* --- memif --- */

struct errand {
	struct port *p;
	int rc;
	bool done; /* release by the interrupt thread */
};

static void connect_again(void *arg)
{
	struct errand *e = arg;

	ethdev_stop(e->p);
	e->rc = ethdev_start(e->p);
	__atomic_store_n(&e->done, true, __ATOMIC_RELEASE);
}

/*
 * In the EAL's interrupt thread, where the driver handles its connections, too: with another thread it would share them
 * without a lock.
 */
static int reconnect(struct port *p, char *err, size_t size)
{
	struct errand e = {.p = p};
	int rc;

	if (!memif_server_answers(&dev_of(p)->server))
		return -EAGAIN;
	rc = rte_eal_alarm_set(ALARM_US, connect_again, &e);
	for (unsigned int us = 0; rc == 0 && us < ALARM_WAIT_US && !__atomic_load_n(&e.done, __ATOMIC_ACQUIRE);
		us += ALARM_US)
		usleep(ALARM_US);
	rte_eal_alarm_cancel(connect_again, &e); /* waits for one that runs */
	if (rc < 0)
		return text_fail(err, size, rc, "alarm: %s", strerror(-rc));
	if (!__atomic_load_n(&e.done, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	return e.rc < 0 || dev_of(p)->started ? e.rc : -EAGAIN;
}

/* --- others --- */

/* A VF whose PF was reset. Drivers without such a function begin anew when they are configured. */
static int reset(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size)
{
	int rc;

	keep_stats(p);
	ethdev_stop(p);
	rc = rte_eth_dev_reset(dev_of(p)->id);
	if (rc < 0 && rc != -ENOTSUP)
		return text_fail(err, size, rc, "reset: %s", strerror(-rc));
	rc = ethdev_set_up(p, config, pool, err, size);
	if (rc < 0)
		return rc;
	rc = ethdev_start(p);
	return rc < 0 ? text_fail(err, size, rc, "start: %s", strerror(-rc)) : 0;
}

static const char *bus_of(const struct cfg_port *config)
{
	return cfg_device_is_pci(config->device) ? "pci" : "vdev";
}

static void remove_device(struct port *p, const struct cfg_port *config, const char *name)
{
	struct ethdev *dev = dev_of(p);

	if (dev->open) {
		keep_stats(p);
		ethdev_stop(p);
		rte_eth_dev_close(dev->id);
		dev->open = false;
	}
	rte_eal_hotplug_remove(bus_of(config), name);
}

static int open_again(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size)
{
	struct ethdev *dev = dev_of(p);
	const char *args = strchr(config->device, ',');
	char name[64];
	int rc;

	ethdev_name(config->device, name, sizeof(name));
	if (dev->open)
		remove_device(p, config, name);
	if (dev->kernel_if.index && !kernel_if_exists(&dev->kernel_if))
		return -EAGAIN;
	rc = rte_eal_hotplug_add(bus_of(config), name, args ? args + 1 : "");
	if (rc == -EEXIST)
		rte_eal_hotplug_remove(bus_of(config), name);
	if (rc < 0)
		return text_fail(err, size, rc, "%s: %s", name, strerror(-rc));
	if (rte_eth_dev_get_port_by_name(name, &dev->id) != 0)
		return text_fail(err, size, -ENODEV, "there is no device %s", name);
	dev->open = true;
	rc = ethdev_set_up(p, config, pool, err, size);
	if (rc < 0)
		return rc;
	rc = ethdev_start(p);
	return rc < 0 ? text_fail(err, size, rc, "start: %s", strerror(-rc)) : 0;
}

static int restart(struct port *p, const struct cfg_port *config, struct rte_mempool *pool, char *err, size_t size)
{
	struct ethdev *dev = dev_of(p);

	if (dev->due & (ETHDEV_FAULT_INTERFACE | ETHDEV_FAULT_REMOVED | ETHDEV_FAULT_ERROR))
		return open_again(p, config, pool, err, size);
	if (dev->due & ETHDEV_FAULT_RESET)
		return reset(p, config, pool, err, size);
	return reconnect(p, err, size);
}

int ethdev_restart(struct port *p, const struct config *c, struct rte_mempool *pool, char *err, size_t size)
{
	struct ethdev *dev = dev_of(p);
	int rc;

	if (__atomic_load_n(&dev->recovering, __ATOMIC_RELAXED))
		return -EAGAIN;
	/* one that happens from here on is another one */
	dev->due |= __atomic_exchange_n(&dev->faults, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&dev->lock);
	dev->restarts = true;
	rc = restart(p, &c->ports.items[p->index], pool, err, size);
	pthread_mutex_unlock(&dev->lock);
	if (rc < 0)
		return rc;
	dev->due = 0;
	dev->n_restarts++;
	__atomic_store_n(&dev->detached, false, __ATOMIC_RELAXED);
	__atomic_store_n(&p->ops, dev->in_use, __ATOMIC_RELEASE);
	return 0;
}

void ethdev_stats(struct port *p, struct port_device_stats *out)
{
	struct ethdev *dev = dev_of(p);
	struct rte_eth_stats s;

	if (ethdev_answers(dev) && rte_eth_stats_get(dev->id, &s) == 0)
		dev->last = (struct port_device_stats){.imissed = s.imissed,
			.rx_nombuf = s.rx_nombuf,
			.oerrors = s.oerrors,
			.ierrors = s.ierrors};
	*out = (struct port_device_stats){.imissed = dev->before.imissed + dev->last.imissed,
		.rx_nombuf = dev->before.rx_nombuf + dev->last.rx_nombuf,
		.oerrors = dev->before.oerrors + dev->last.oerrors,
		.ierrors = dev->before.ierrors + dev->last.ierrors + __atomic_load_n(&dev->too_long, __ATOMIC_RELAXED),
		.restarts = dev->n_restarts};
}
