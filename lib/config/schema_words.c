/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that several parts of the schema offer as values, in the order of their enums in config/model.h. Pure. */
#include "config/schema_priv.h"

const char *const cfg_words_flavor[] = {"psp", "usp", "usd", "none", NULL};
const char *const cfg_words_slice_by[] = {"sid", "argument", "option", NULL};
