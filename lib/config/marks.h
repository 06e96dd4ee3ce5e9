/* SPDX-License-Identifier: BSD-3-Clause */
/* Map from the address of a model member to its place in the file. Management thread; not for concurrent use. */
#ifndef CONFIG_MARKS_H
#define CONFIG_MARKS_H

#include "config/model.h"

struct cfg_marks *cfg_marks_new(void);
void cfg_marks_free(struct cfg_marks *m);
/* Make room for `n` more; without it the table grows when it must. */
void cfg_marks_reserve(struct cfg_marks *m, size_t n);
int cfg_marks_put(struct cfg_marks *m, const void *member, struct cfg_mark at); /* 0 or -ENOMEM */
struct cfg_mark cfg_marks_get(const struct cfg_marks *m, const void *member);

#endif
