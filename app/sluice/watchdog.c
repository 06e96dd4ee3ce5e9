/* SPDX-License-Identifier: BSD-3-Clause */
/* systemd's watchdog, fed only while every lcore makes passes. Management thread. */
#include <stdlib.h>

#include "app.h"
#include "machine.h"
#include "notify.h"
#include "base/log.h"

void watchdog_start(struct app *app, uint64_t now)
{
	const char *usec = getenv("WATCHDOG_USEC");

	app->watchdog = (struct watchdog){.period_ns = usec ? strtoull(usec, NULL, 10) * NSEC_PER_USEC / 3 : 0,
		.fed_ns = now};
}

void watchdog_feed(struct app *app, uint64_t now)
{
	struct watchdog *w = &app->watchdog;
	const struct node *n = app->node;
	bool alive = true;

	if (!w->period_ns || now - w->fed_ns < w->period_ns)
		return;
	for (uint16_t i = 0; i < n->n_lcores; i++) {
		uint64_t passes = stat_read(&n->lcore[i]->stats.passes);

		if (passes == w->passes[i]) {
			log_error(main, "lcore %u has made no pass since the last watchdog check", n->lcore[i]->id);
			alive = false;
		}
		w->passes[i] = passes;
	}
	w->fed_ns = now;
	if (alive)
		notify("WATCHDOG=1");
}
