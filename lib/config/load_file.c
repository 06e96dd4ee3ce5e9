/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads a configuration from a file, then the files that it names: keys and SIDs of other nodes. Management thread, and
 * the start of the program before there are other threads.
 */
#include <stdlib.h>

#include "config/config.h"
#include "config/keys.h"
#include "config/remote_sids.h"
#include "config/schema.h"

struct config *cfg_load_file(const char *path, struct cfg_diags *diags)
{
	size_t size = 0;
	char *text = cfg_read_file(path, &size, diags);
	struct config *c = text ? cfg_load_text(path, text, size, diags) : NULL;

	free(text);
	return c ? cfg_load_beside(c, path, diags) : NULL;
}

struct config *cfg_load_beside(struct config *c, const char *file, struct cfg_diags *diags)
{
	int secrets = cfg_load_secrets(c, file, diags), remote = cfg_remote_load(c, file, diags);

	if (secrets == 0 && remote == 0)
		return c;
	cfg_free(c);
	return NULL;
}
