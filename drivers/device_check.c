/* SPDX-License-Identifier: BSD-3-Clause */
#include "drivers/device_check.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/compiler.h"
#include "config/config.h"

static int fail(char *err, size_t size, int rc, const char *format, ...) PRINTF_LIKE(4, 5);
static int fail(char *err, size_t size, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err, size, format, args);
	va_end(args);
	return rc;
}

static int check_readable(const struct cfg_port *p, const char *file, char *err, size_t size)
{
	if (access(file, R_OK) == 0)
		return 0;
	return fail(err, size, -errno, "port %s: rx_pcap: cannot read %s: %s", p->name, file, strerror(errno));
}

static int check_writable(const struct cfg_port *p, const char *file, char *err, size_t size)
{
	char copy[PATH_MAX];

	if (access(file, W_OK) == 0)
		return 0;
	snprintf(copy, sizeof(copy), "%s", file);
	if (errno == ENOENT && access(dirname(copy), W_OK) == 0)
		return 0;
	return fail(err, size, -errno, "port %s: tx_pcap: cannot write %s: %s", p->name, file, strerror(errno));
}

static int check_interface(const struct cfg_port *p, const char *name, char *err, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/class/net/%s", name);
	if (access(path, F_OK) == 0)
		return 0;
	return fail(err, size, -ENODEV, "port %s: iface: there is no network interface %s; see: ip link", p->name, name);
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

/* A PCI device must be there and belong to a driver that hands it to user space. */
static int check_pci(const struct cfg_port *p, char *err, size_t size)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *driver;
	int n = (int)strcspn(p->device, ",");
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.*s", n, p->device);
	if (access(path, F_OK) != 0)
		return fail(err, size, -ENODEV, "port %s: there is no PCI device %.*s; see: dpdk-devbind.py --status-dev net",
			p->name, n, p->device);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.*s/driver", n, p->device);
	len = readlink(path, link, sizeof(link) - 1);
	link[len < 0 ? 0 : len] = '\0';
	driver = strrchr(link, '/') ? strrchr(link, '/') + 1 : "none";
	/* Mellanox devices stay with their kernel driver */
	if (strncmp(driver, "vfio", 4) == 0 || strncmp(driver, "uio", 3) == 0 || strcmp(driver, "igb_uio") == 0 ||
		strncmp(driver, "mlx", 3) == 0)
		return 0;
	return fail(err, size, -ENODEV, "port %s (%.*s): bound to kernel driver %s; run: dpdk-devbind.py -b vfio-pci %.*s",
		p->name, n, p->device, driver, n, p->device);
}

int device_check(const struct cfg_port *port, char *err, size_t size)
{
	char *copy, *save = NULL, *arg;
	int rc = 0;

	if (cfg_device_is_pci(port->device))
		return check_pci(port, err, size);
	copy = strdup(port->device);
	if (!copy)
		return fail(err, size, -ENOMEM, "out of memory");
	for (arg = strtok_r(copy, ",", &save); arg && rc == 0; arg = strtok_r(NULL, ",", &save)) {
		char *value = strchr(arg, '=');

		if (value) {
			*value++ = '\0';
			rc = check_argument(port, arg, value, err, size);
		}
	}
	free(copy);
	return rc;
}
