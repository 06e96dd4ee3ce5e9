/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Authentication of a session by Keyed SHA1 and Meticulous Keyed SHA1 (RFC 5880 sections 6.7.1 and 6.7.4). Control
 * lcore.
 */
#include <string.h>

#include "bfd/bfd_priv.h"

/* Do the packets say the same, apart from their sequence numbers? */
static bool same_contents(const struct bfd_packet *a, const struct bfd_packet *b)
{
	return a->diag == b->diag && a->state == b->state && a->multiplier == b->multiplier && a->poll == b->poll &&
	       a->final == b->final && a->your_discr == b->your_discr && a->desired_tx_us == b->desired_tx_us &&
	       a->required_rx_us == b->required_rx_us && a->required_echo_us == b->required_echo_us;
}

void bfd_auth_prepare(struct bfd_session *s, struct bfd_packet *p)
{
	if (s->config.auth_type == BFD_AUTH_NONE)
		return;
	if (s->config.auth_type == BFD_AUTH_METICULOUS_SHA1 || !same_contents(p, &s->last_sent))
		s->xmit_auth_seq++;
	s->last_sent = *p;
	p->has_auth = true;
	p->auth_type = s->config.auth_type;
	p->key_id = s->config.key.id;
	p->sequence = s->xmit_auth_seq;
}

/* The window is 3 * Detect Mult wide. Meticulous: each packet has a new number. Circular arithmetic. */
static bool in_window(const struct bfd_session *s, const struct bfd_packet *p)
{
	uint32_t ahead = p->sequence - s->auth_seq;

	if (!s->auth_seq_known)
		return true;
	return ahead <= 3u * p->multiplier && (ahead || p->auth_type != BFD_AUTH_METICULOUS_SHA1);
}

enum bfd_refusal bfd_auth_check(struct bfd_session *s, const struct bfd_packet *p, const void *message)
{
	if (!p->has_auth)
		return s->config.auth_type == BFD_AUTH_NONE ? BFD_ACCEPTED : BFD_REFUSED_auth_missing;
	if (s->config.auth_type == BFD_AUTH_NONE)
		return BFD_REFUSED_auth_unexpected;
	if (p->auth_type != s->config.auth_type)
		return BFD_REFUSED_auth_type;
	if (p->key_id != s->config.key.id)
		return BFD_REFUSED_auth_key;
	if (!in_window(s, p))
		return BFD_REFUSED_auth_sequence;
	if (!bfd_packet_is_signed(message, p->bytes, &s->config.key))
		return BFD_REFUSED_auth_digest;
	s->auth_seq_known = true;
	s->auth_seq = p->sequence;
	return BFD_ACCEPTED;
}
