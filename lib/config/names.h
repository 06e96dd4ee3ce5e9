/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorted names of the objects in the top-level lists, for lookup and for "did you mean". Read-only once built. */
#ifndef CONFIG_NAMES_H
#define CONFIG_NAMES_H

#include "config/model.h"

struct cfg_names *cfg_names_new(const struct config *c); /* NULL: out of memory */
void cfg_names_free(struct cfg_names *n);		 /* n may be NULL */

#endif
