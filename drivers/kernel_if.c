/* SPDX-License-Identifier: BSD-3-Clause */
/* Carrier and MTU of the kernel interface below an af_packet device, by ioctl(2). Management thread. */
#include "drivers/kernel_if.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int request(unsigned int index, unsigned long what, struct ifreq *r)
{
	int fd, rc;

	if (!if_indextoname(index, r->ifr_name))
		return -errno;
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = ioctl(fd, what, r) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

bool kernel_if_running(unsigned int index)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	struct ifreq r = {.ifr_data = (char *)&link};

	/* the carrier itself; IFF_RUNNING follows up to one second later */
	if (request(index, SIOCETHTOOL, &r) == 0)
		return link.data;
	return request(index, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
}

int kernel_if_set_mtu(unsigned int index, unsigned int mtu)
{
	struct ifreq r = {.ifr_mtu = (int)mtu};

	return request(index, SIOCSIFMTU, &r);
}
