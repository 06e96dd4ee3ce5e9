/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that several parts of the schema accept as values. Pure. */
#include "config/schema_priv.h"

const char *const cfg_words_flavor[] = CFG_WORDS(CFG_FLAVORS);
const char *const cfg_words_slice_by[] = CFG_WORDS(CFG_SLICE_BY);
