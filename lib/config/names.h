/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted names of the top-level lists, for fast reference and for "did you mean". */
#ifndef CONFIG_NAMES_H
#define CONFIG_NAMES_H

#include "config/model.h"

struct cfg_names *cfg_names_new(const struct config *c); /* NULL when out of memory */
void cfg_names_free(struct cfg_names *n);		 /* NULL is fine */

#endif
