/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's description of the machine in /sys and /proc. Paths start at the root. With another root, the files
 * below it describe the machine: for tests, and to examine a copy from another machine.
 *
 * Management thread, and the main thread before lcores start.
 */
#ifndef BASE_SYSFS_H
#define BASE_SYSFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/compiler.h"

/* Set the directory that stands for /. The string is kept by reference. Default: / itself. */
void sysfs_set_root(const char *root);

bool sysfs_exists(const char *format, ...) PRINTF_LIKE(1, 2);

/* Open a file for reading. Returns NULL with errno set on failure. */
FILE *sysfs_open(const char *format, ...) PRINTF_LIKE(1, 2);

/* Open a directory. Returns NULL with errno set on failure. */
DIR *sysfs_opendir(const char *format, ...) PRINTF_LIKE(1, 2);

/* Read the first line without its newline, cut to size. buf is empty when the file cannot be read. Returns buf. */
const char *sysfs_line(char *buf, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* Read a whole number; returns `otherwise` when there is none. */
int64_t sysfs_number(int64_t otherwise, const char *format, ...) PRINTF_LIKE(2, 3);

/* Read the last component of a symbolic link's target. buf is empty when the path is no symbolic link. Returns buf. */
const char *sysfs_link(char *buf, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);

/* Is n in a list such as "2-5,8"? Text that is not a list contains no number. */
bool sysfs_in_list(const char *list, unsigned int n);

/* NUMA node of a CPU; 0 when it is unknown. */
unsigned int sysfs_node_of_cpu(unsigned int cpu);

#endif
