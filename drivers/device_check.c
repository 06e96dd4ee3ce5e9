/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks before the EAL starts that each device exists, is bound to a usable driver, and fits the configured frames and
 * buffers. Main thread.
 */
#include "drivers/device_check.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "config/config.h"

static int check_readable(const struct cfg_port *p, const char *file, char *err, size_t size)
{
	if (access(file, R_OK) == 0)
		return 0;
	return text_fail(err, size, -errno, "port %s: rx_pcap: cannot read %s: %s", p->name, file, strerror(errno));
}

static int check_writable(const struct cfg_port *p, const char *file, char *err, size_t size)
{
	char copy[PATH_MAX];

	if (access(file, W_OK) == 0)
		return 0;
	snprintf(copy, sizeof(copy), "%s", file);
	if (errno == ENOENT && access(dirname(copy), W_OK) == 0)
		return 0;
	return text_fail(err, size, -errno, "port %s: tx_pcap: cannot write %s: %s", p->name, file, strerror(errno));
}

static int check_interface(const struct cfg_port *p, const char *name, char *err, size_t size)
{
	/* not through /sys, which may show another network namespace */
	if (if_nametoindex(name))
		return 0;
	return text_fail(err, size, -ENODEV, "port %s: iface: there is no network interface %s; see ip link", p->name,
		name);
}

static int check_argument(const struct cfg_port *p, const char *key, const char *value, char *err, size_t size)
{
	if (strcmp(key, "rx_pcap") == 0)
		return check_readable(p, value, err, size);
	if (strcmp(key, "tx_pcap") == 0)
		return check_writable(p, value, err, size);
	if (strcmp(key, "iface") == 0 && strncmp(p->device, "net_tap", 7) != 0)
		return check_interface(p, value, err, size);
	return 0;
}

static unsigned long argument(const struct cfg_port *p, const char *key, unsigned long missing)
{
	const char *at = strstr(p->device, key);

	return at ? strtoul(at + strlen(key), NULL, 10) : missing;
}

static unsigned long round_up(unsigned long n, unsigned long step)
{
	return (n + step - 1) / step * step;
}

/*
 * DPDK 22.11's af_packet driver reads frame n at n * framesz. The kernel writes it there only if framesz divides
 * blocksz. The kernel silently truncates frames longer than a slot, and the driver copies a slot to one buffer.
 */
static int check_af_packet(const struct cfg_port *p, unsigned long buffer, char *err, size_t size)
{
	/* the kernel's header before a frame, and the part of it that the driver does not count */
	const unsigned long slot_header = 66, driver_header = 32, frame = p->mtu + 14;
	unsigned long framesz = argument(p, ",framesz=", 2048), page = (unsigned long)sysconf(_SC_PAGESIZE);
	unsigned long blocksz = argument(p, ",blocksz=", page), framecnt = argument(p, ",framecnt=", 512);
	unsigned long most = buffer + driver_header, need = round_up(frame + slot_header, 16),
		      kb = round_up(need, 1024);

	if (!framesz || framesz % 16 || framesz > blocksz || blocksz % framesz || blocksz % page || !framecnt ||
		framecnt % (blocksz / framesz))
		return text_fail(err, size, -EINVAL,
			"port %s: framesz (%lu) must be a multiple of 16, blocksz (%lu) a multiple of framesz and of "
			"%lu, framecnt (%lu) a multiple of blocksz/framesz",
			p->name, framesz, blocksz, page, framecnt);
	if (framesz > most)
		return text_fail(err, size, -EINVAL,
			"port %s: framesz=%lu does not fit a buffer; use at most %lu, or set memory.buffer-size to "
			"%luK",
			p->name, framesz, most, round_up(framesz - driver_header, 1024) / 1024);
	if (frame + slot_header <= framesz)
		return 0;
	if (kb <= most)
		return text_fail(err, size, -EINVAL,
			"port %s: the kernel would truncate frames of mtu %lu; add framesz=%lu,blocksz=%lu", p->name,
			(unsigned long)p->mtu, kb, 4 * kb);
	if (need <= most)
		return text_fail(err, size, -EINVAL,
			"port %s: the kernel would truncate frames of mtu %lu; add framesz=%lu,blocksz=%lu", p->name,
			(unsigned long)p->mtu, most, most * page / 32);
	return text_fail(err, size, -EINVAL,
		"port %s: the kernel would truncate frames of mtu %lu, and no larger framesz fits a buffer; set "
		"memory.buffer-size to %luK, or lower mtu to %lu",
		p->name, (unsigned long)p->mtu, kb / 1024, most - slot_header - 14);
}

/* DPDK 22.11's net_null writes size= bytes into one buffer without a check. */
static int check_null(const struct cfg_port *p, unsigned long buffer, char *err, size_t size)
{
	unsigned long frame = argument(p, ",size=", 64);

	if (frame <= buffer)
		return 0;
	return text_fail(err, size, -EINVAL,
		"port %s: frames of size=%lu do not fit a buffer of %lu bytes; set memory.buffer-size "
		"to %luK",
		p->name, frame, buffer, round_up(frame, 1024) / 1024);
}

/* A PCI device must exist and be bound to a driver that gives user space access. */
static int check_pci(const struct cfg_port *p, char *err, size_t size)
{
	int n = (int)strcspn(p->device, ",");
	char driver[64];

	if (!sysfs_exists("/sys/bus/pci/devices/%.*s", n, p->device))
		return text_fail(err, size, -ENODEV,
			"port %s: there is no PCI device %.*s; see dpdk-devbind.py --status-dev net", p->name, n,
			p->device);
	sysfs_link(driver, sizeof(driver), "/sys/bus/pci/devices/%.*s/driver", n, p->device);
	/* Mellanox devices stay with their kernel driver */
	if (strncmp(driver, "vfio", 4) == 0 || strncmp(driver, "uio", 3) == 0 || strcmp(driver, "igb_uio") == 0 ||
		strncmp(driver, "mlx", 3) == 0)
		return 0;
	return text_fail(err, size, -ENODEV,
		"port %s (%.*s): bound to kernel driver %s; run: dpdk-devbind.py -b vfio-pci %.*s", p->name, n,
		p->device, driver[0] ? driver : "none", n, p->device);
}

static bool is_bond(const char *device)
{
	return strncmp(device, "net_bonding", strlen("net_bonding")) == 0;
}

/* Value of `key` in one argument; NULL: it is another one. */
static const char *value_of(const char *arg, const char *key)
{
	size_t n = strlen(key);

	return strncmp(arg, key, n) == 0 ? arg + n : NULL;
}

void device_each_member(const char *device, void (*fn)(void *arg, const char *name), void *arg)
{
	/* DPDK 22.11 says slave, 23.11 and later member */
	static const char *const keys[] = {"slave=", "member="};
	char *copy = is_bond(device) ? strdup(device) : NULL, *save = NULL;

	for (char *word = copy ? strtok_r(copy, ",", &save) : NULL; word; word = strtok_r(NULL, ",", &save))
		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (value_of(word, keys[i]))
				fn(arg, value_of(word, keys[i]));
	free(copy);
}

struct members {
	const struct config *c;
	const struct cfg_port *port;
	unsigned int n;
	int rc;
	char *err;
	size_t size;
};

/* A member is a NIC bound for user space, and no other port's device. */
static void check_member(void *arg, const char *name)
{
	struct members *m = arg;
	struct cfg_port member = *m->port;

	m->n++;
	member.device = (char *)(uintptr_t)name;
	for (uint32_t i = 0; i < m->c->ports.n && m->rc == 0; i++)
		if (strncmp(m->c->ports.items[i].device, name, strcspn(m->c->ports.items[i].device, ",")) == 0)
			m->rc = text_fail(m->err, m->size, -EINVAL, "port %s: member %s is the device of port %s, too",
				m->port->name, name, m->c->ports.items[i].name);
	if (m->rc == 0 && cfg_device_is_pci(name))
		m->rc = check_pci(&member, m->err, m->size);
}

static int check_bond(const struct config *c, const struct cfg_port *port, char *err, size_t size)
{
	struct members m = {.c = c, .port = port, .err = err, .size = size};
	const char *mode = strstr(port->device, ",mode=");

	if (!mode || mode[6] < '0' || mode[6] > '6')
		return text_fail(err, size, -EINVAL,
			"port %s: a bond needs mode=0 to 6 in device; 4 is 802.3ad (LACP), 1 active and backup",
			port->name);
	if (port->pfc.priorities.n)
		return text_fail(err, size, -ENOTSUP,
			"port %s: a bond has no lossless classes: a pause of one member would have to stop only that "
			"one; make "
			"each link a port with a route of its own (docs/nics.md)",
			port->name);
	device_each_member(port->device, check_member, &m);
	if (m.rc == 0 && !m.n)
		return text_fail(err, size, -EINVAL,
			"port %s: a bond needs members: add slave=ADDRESS for each to device", port->name);
	return m.rc;
}

int device_check(const struct config *c, const struct cfg_port *port, char *err, size_t size)
{
	char *copy, *save = NULL, *arg;
	int rc = 0;

	if (cfg_device_is_pci(port->device))
		return check_pci(port, err, size);
	if (is_bond(port->device))
		return check_bond(c, port, err, size);
	copy = strdup(port->device);
	if (!copy)
		return text_fail(err, size, -ENOMEM, "out of memory");
	for (arg = strtok_r(copy, ",", &save); arg && rc == 0; arg = strtok_r(NULL, ",", &save)) {
		char *value = strchr(arg, '=');

		if (value) {
			*value++ = '\0';
			rc = check_argument(port, arg, value, err, size);
		}
	}
	free(copy);
	if (rc == 0 && strncmp(port->device, "net_af_packet", 13) == 0)
		rc = check_af_packet(port, (unsigned long)c->memory.buffer_size, err, size);
	else if (rc == 0 && strncmp(port->device, "net_null", 8) == 0)
		rc = check_null(port, (unsigned long)c->memory.buffer_size, err, size);
	return rc;
}
