/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A long step of the management thread, such as reading 100,000 routes, calls progress() now and then, and the program
 * feeds its watchdog. Nothing else may happen there: tables are half built. Management thread.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#define PROGRESS_ITEMS 1024 /* of a list, between two calls */

/* Have each call of progress() call `step`; NULL: nothing. The hook stays until it is set again. */
void progress_hook(void (*step)(void *arg), void *arg);

void progress(void);

#endif
