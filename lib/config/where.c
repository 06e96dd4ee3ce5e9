/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the place of a configuration member in its file. Pure. */
#include "config/config.h"
#include "config/marks.h"

struct cfg_mark cfg_where(const struct config *c, const void *member)
{
	return cfg_marks_get(c->marks, member);
}
