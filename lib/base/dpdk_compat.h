/* SPDX-License-Identifier: BSD-3-Clause */
/* The differences between DPDK 22.11 and later LTS releases, in one place. */
#ifndef BASE_DPDK_COMPAT_H
#define BASE_DPDK_COMPAT_H

#include <rte_version.h>

/* In DPDK 24.11 IPv6 addresses became a struct. */
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
#include <rte_ip6.h>
#define COMPAT_IPV6(p) ((const struct rte_ipv6_addr *)(const void *)(p))
#define COMPAT_IPV6_BULK(p) ((struct rte_ipv6_addr *)(uintptr_t)(p))
#else
#define COMPAT_IPV6(p) ((const uint8_t *)(p))
#define COMPAT_IPV6_BULK(p) ((uint8_t(*)[16])(uintptr_t)(p))
#endif

#endif
