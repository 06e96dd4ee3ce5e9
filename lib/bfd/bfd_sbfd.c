/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * S-BFD (RFC 7880): the reflector, which keeps no state of its sessions, and replies to the initiators of this node.
 * Control lcore.
 */
#include "bfd/bfd_priv.h"

/* RFC 7880 section 7.2.2: a reflector asks for no rate of its own, since the caller limits it. */
static size_t reflect(struct bfd_table *t, const struct bfd_packet *p, void *answer)
{
	const struct bfd_packet reply = {.state = t->withdrawn ? BFD_ADMIN_DOWN : BFD_UP,
		.diag = t->withdrawn ? BFD_DIAG_ADMIN : BFD_DIAG_NONE,
		.final = p->poll,
		.multiplier = p->multiplier,
		.my_discr = p->your_discr,
		.your_discr = p->my_discr,
		.desired_tx_us = p->desired_tx_us};

	stat_add(&t->stats.reflected, 1);
	stat_add(&t->stats.sent, 1);
	return bfd_packet_write(answer, &reply);
}

enum bfd_refusal bfd_sbfd_receive(struct bfd_table *t, uint64_t now, const struct bfd_received *r,
	const struct bfd_packet *p, void *answer, size_t *answer_bytes)
{
	struct bfd_session *s;

	if (p->demand == r->reply)
		return BFD_REFUSED_demand;
	if (!r->reply) {
		if (!t->reflector || p->your_discr != t->reflector)
			return BFD_REFUSED_unknown_discriminator;
		if (p->has_auth)
			return BFD_REFUSED_auth_unexpected;
		*answer_bytes = reflect(t, p, answer);
		return BFD_ACCEPTED;
	}
	s = bfd_by_discr(t, p->your_discr);
	if (!s)
		return BFD_REFUSED_unknown_discriminator;
	if (s->peer.kind != BFD_SBFD || p->my_discr != s->config.reflector || !ip_addr_equal(&s->peer.remote, &r->from))
		return BFD_REFUSED_sender;
	if (p->has_auth)
		return BFD_REFUSED_auth_unexpected;
	bfd_apply(t, s, now, p);
	return BFD_ACCEPTED;
}
