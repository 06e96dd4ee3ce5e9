/* SPDX-License-Identifier: BSD-3-Clause */
/* Letter mode: sessions that end here and whose data another session carries on follow that one (docs/credit.md 2.3). Control lcore. */
#include "rsvp/rsvp_letter_priv.h"

bool letter_is_carried(const struct letter_node *n, const struct letter_session *s)
{
	return !s->joined || n->ops->carried(n->arg, s->zone, &s->session, &s->sender);
}

/* What is offered waits until its data is carried on; of what is granted the previous hop is told not to use it. */
static void follow(struct letter_node *n, uint64_t now, struct letter_session *s)
{
	bool on = letter_is_carried(n, s);

	if (!s->joined || s->carried == on)
		return;
	s->carried = on;
	s->error = on ? (struct rsvp_error){.code = 0}
		      : (struct rsvp_error){.code = RSVP_ERROR_ADMISSION, .value = RSVP_REFUSE_ROUTE};
	for (struct letter_grant *g = s->grants; g; g = g->next) {
		if (g->state != RSVP_G_OFFERED && g->state != RSVP_G_COMMITTED)
			continue;
		if (!on) {
			letter_send_path_err(n, NULL, g, &s->error);
			continue;
		}
		g->state = RSVP_G_OFFERED; /* the previous hop has given up what it had */
		letter_timer_set(n, &g->timers, LETTER_T_SEND, now);
	}
	letter_sweep(n, s);
}

void letter_carried(struct letter_node *n, uint64_t now)
{
	for (uint32_t i = 0; n->stats.sessions && i < n->config.sessions_max; i++)
		if (n->by_slot[i])
			follow(n, now, n->by_slot[i]);
}
