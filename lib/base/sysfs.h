/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel says about the machine in /sys and /proc. Paths are given from the root; another root makes the
 * machine one of files, for tests and to look at what was copied from elsewhere.
 *
 * Management thread and before the start only.
 */
#ifndef BASE_SYSFS_H
#define BASE_SYSFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"

/* Folder that stands for /; kept by reference. Default: / itself. */
void sysfs_set_root(const char *root);

bool sysfs_exists(const char *format, ...) PRINTF_LIKE(1, 2);

/* For reading; NULL with errno set. */
FILE *sysfs_open(const char *format, ...) PRINTF_LIKE(1, 2);

/* NULL with errno set. */
DIR *sysfs_opendir(const char *format, ...) PRINTF_LIKE(1, 2);

/* The first line without its end, cut to size; empty when it cannot be read. Returns buf. */
const char *sysfs_line(char *buf, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* A whole number; `otherwise` when there is none. */
int64_t sysfs_number(int64_t otherwise, const char *format, ...) PRINTF_LIKE(2, 3);

/* The last part of what a symbolic link points to; empty when it is none. Returns buf. */
const char *sysfs_link(char *buf, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* Is n in a list like "2-5,8"? What is no list holds nothing. */
bool sysfs_in_list(const char *list, unsigned int n);

/* NUMA node of a CPU; 0 when the machine does not say. */
unsigned int sysfs_node_of_cpu(unsigned int cpu);

#endif
