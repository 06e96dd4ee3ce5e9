/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in its file a member of the configuration was given. Pure. */
#include "config/config.h"
#include "config/marks.h"

struct cfg_mark cfg_where(const struct config *c, const void *member)
{
	return cfg_marks_get(c->marks, member);
}
