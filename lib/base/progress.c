/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program does while a step of the management thread takes long. Management thread. */
#include "base/progress.h"

#include <stddef.h>

static struct {
	void (*step)(void *arg);
	void *arg;
} hook;

void progress_hook(void (*step)(void *arg), void *arg)
{
	hook.step = step;
	hook.arg = arg;
}

void progress(void)
{
	if (hook.step)
		hook.step(hook.arg);
}
