/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the files of the PFC tunnels. The control lcore. */
#ifndef PFC_PFC_TUNNEL_PRIV_H
#define PFC_PFC_TUNNEL_PRIV_H

#include "pfc/pfc_tunnel.h"

/* --- pfc_tunnel_index.c --- */

#define PFC_TUNNEL_HASH 0xcbf29ce484222325ull /* of nothing */

/* The hash `h`, continued over n bytes (FNV-1a, 64 bits). */
uint64_t pfc_tunnel_hash(uint64_t h, const void *data, size_t n);

/* The lowest free id, which is in use from now on; or PFC_TUNNEL_NONE. The tunnel is all zero but for pfc_tunnel.origin. */
uint32_t pfc_tunnel_place(struct pfc_tunnels *t);

/* The id is free, and the tunnel in no chain. */
void pfc_tunnel_free(struct pfc_tunnels *t, uint32_t i);

/* The tunnel is found under `hash` in that chain from now on, and nowhere else in it. */
void pfc_tunnel_link(struct pfc_tunnels *t, uint32_t i, enum pfc_tunnel_chain chain, uint64_t hash);

/*
 * Tunnels of a chain that may have `hash`, one after the other, or PFC_TUNNEL_NONE: others may have the same bucket, so
 * compare what is looked for.
 */
uint32_t pfc_tunnel_first(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint64_t hash);
uint32_t pfc_tunnel_next(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint32_t i);

/* --- pfc_tunnel.c --- */

/* The tunnel goes by this list from now on; a new one is told what the old one was told. */
void pfc_tunnel_lead(struct pfc_tunnels *t, uint32_t i, const struct pfc_list *list, uint64_t now);

/* What is to be done for the tunnel may be due earlier than before. */
void pfc_tunnel_arm(struct pfc_tunnels *t, struct pfc_tunnel *x);

#endif
