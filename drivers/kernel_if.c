/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's side of af_packet devices: existence, carrier and MTU by ioctl(2) and a socket; whole fragments. */
#include "drivers/kernel_if.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * DPDK 22.11's af_packet driver joins a fanout group with PACKET_FANOUT_FLAG_DEFRAG, and has no argument against it: the
 * kernel then reassembles IPv4 fragments, and what is longer than a slot is cut off. A router must see fragments as they
 * are. The driver calls setsockopt(2) by its name, so this function comes before that of libc, for the whole process. It
 * takes that flag out and is the system call otherwise.
 */
int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	unsigned int fanout;

	if (level == SOL_PACKET && name == PACKET_FANOUT && size == sizeof(fanout)) {
		memcpy(&fanout, value, sizeof(fanout));
		fanout &= ~((unsigned int)PACKET_FANOUT_FLAG_DEFRAG << 16);
		value = &fanout;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

static int request(const struct kernel_if *k, unsigned long what, struct ifreq *r)
{
	int fd, rc;

	if (!if_indextoname(k->index, r->ifr_name))
		return -errno;
	fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	rc = ioctl(fd, what, r) < 0 ? -errno : 0;
	close(fd);
	return rc;
}

void kernel_if_open(struct kernel_if *k, unsigned int index)
{
	/* no protocol: no frame is copied to it */
	const struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)index};

	kernel_if_close(k);
	*k = (struct kernel_if){.index = index, .guard = -1};
	if (!index || !if_indextoname(index, k->name))
		return;
	k->guard = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (k->guard >= 0 && bind(k->guard, (const struct sockaddr *)&to, sizeof(to)) < 0)
		kernel_if_close(k);
}

void kernel_if_close(struct kernel_if *k)
{
	if (k->index && k->guard >= 0)
		close(k->guard);
	k->guard = -1;
}

bool kernel_if_running(const struct kernel_if *k)
{
	struct ethtool_value link = {.cmd = ETHTOOL_GLINK};
	struct ifreq r = {.ifr_data = (char *)&link};

	/* the carrier itself; IFF_RUNNING follows up to one second later */
	if (request(k, SIOCETHTOOL, &r) == 0)
		return link.data;
	return request(k, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
}

bool kernel_if_is_gone(const struct kernel_if *k)
{
	struct sockaddr_ll now = {0};
	socklen_t size = sizeof(now);

	if (!k->index)
		return false;
	if (k->guard < 0 || getsockname(k->guard, (struct sockaddr *)&now, &size) < 0) {
		char name[IF_NAMESIZE];

		return !if_indextoname(k->index, name);
	}
	return now.sll_ifindex != (int)k->index;
}

bool kernel_if_exists(const struct kernel_if *k)
{
	return k->name[0] && if_nametoindex(k->name);
}

int kernel_if_set_mtu(const struct kernel_if *k, unsigned int mtu)
{
	struct ifreq r = {.ifr_mtu = (int)mtu};

	return request(k, SIOCSIFMTU, &r);
}
