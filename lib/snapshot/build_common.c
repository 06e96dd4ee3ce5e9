/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that several steps of a build use. Management thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "snapshot/build_priv.h"

int build_fail(struct builder *b, int rc, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(b->err, b->err_size, format, args);
	va_end(args);
	return rc;
}

void build_match(struct snap_match *m, const struct ip_prefix *p)
{
	unsigned int hi = MIN_OF(p->len, 64), lo = p->len - hi;

	m->mask_hi = hi ? ~0ull << (64 - hi) : 0;
	m->mask_lo = lo ? ~0ull << (64 - lo) : 0;
	m->hi = ipv6_hi(&p->addr.v6) & m->mask_hi;
	m->lo = ipv6_lo(&p->addr.v6) & m->mask_lo;
}

uint16_t build_vrf_of(const struct builder *b, const char *name)
{
	uint32_t id = VRF_UNDERLAY;

	if (name)
		ids_find(b->ids->vrfs, name, &id);
	return (uint16_t)id;
}

/* Put the link-local address first: the configured one, otherwise the one derived from the MAC. */
int build_own_addresses(struct builder *b, struct snap_interface *p, const struct ip_prefix *addresses, uint32_t n)
{
	struct ip_prefix link_local = {.addr = {.family = 6}, .len = 64};
	struct ip_prefix *own = arena_alloc(b->s->arena, (n + 1) * sizeof(*own));

	if (!own)
		return build_fail(b, -ENOMEM, "out of memory");
	link_local.addr.v6 = ipv6_link_local_of(&p->mac);
	p->own = own;
	p->n_own = 0;
	own[p->n_own++] = link_local;
	for (uint32_t i = 0; i < n; i++) {
		const struct ip_prefix *a = &addresses[i];

		if (a->addr.family == 6 && ipv6_is_link_local(&a->addr.v6) && ip_prefix_equal(&own[0], &link_local))
			own[0] = *a;
		else
			own[p->n_own++] = *a;
	}
	for (unsigned int i = 0; i < p->n_own; i++)
		if (own[i].addr.family == 6)
			p->own6_hints |= 1ull << (own[i].addr.v6.b[15] & 63);
		else
			p->own4_hints |= 1ull << (ip_addr_v4(&own[i].addr) & 63);
	return 0;
}

uint8_t build_slice_of(const struct builder *b, const char *name)
{
	uint32_t id = SNAP_SLICE_NONE;

	if (name)
		ids_find(b->ids->slices, name, &id);
	return (uint8_t)id;
}
