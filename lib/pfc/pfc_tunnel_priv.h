/* SPDX-License-Identifier: BSD-3-Clause */
/* Internal interfaces between the files of the PFC tunnels. Control lcore. */
#ifndef PFC_PFC_TUNNEL_PRIV_H
#define PFC_PFC_TUNNEL_PRIV_H

#include "pfc/pfc_tunnel.h"

/* --- pfc_tunnel_index.c --- */

#define PFC_TUNNEL_HASH 0xcbf29ce484222325ull /* hash of 0 bytes */

/* The hash `h`, continued over n bytes (FNV-1a, 64 bits). */
uint64_t pfc_tunnel_hash(uint64_t h, const void *data, size_t n);

/* Allocate the lowest free id, or return PFC_TUNNEL_NONE. The tunnel is all zero except pfc_tunnel.origin. */
uint32_t pfc_tunnel_place(struct pfc_tunnels *t);

/* Free an id and remove its tunnel from all chains. */
void pfc_tunnel_free(struct pfc_tunnels *t, uint32_t i);

/* Insert the tunnel under `hash` in a chain; a previous entry in that chain is removed. */
void pfc_tunnel_link(struct pfc_tunnels *t, uint32_t i, enum pfc_tunnel_chain chain, uint64_t hash);

/*
 * Iterate over the tunnels of a chain that may have `hash`; PFC_TUNNEL_NONE at the end. Other hashes may share the
 * bucket, so the caller must compare the key.
 */
uint32_t pfc_tunnel_first(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint64_t hash);
uint32_t pfc_tunnel_next(const struct pfc_tunnels *t, enum pfc_tunnel_chain chain, uint32_t i);

/* --- pfc_tunnel.c --- */

/* Set the list of a tunnel. Its stops are sent by the new list too. */
void pfc_tunnel_lead(struct pfc_tunnels *t, uint32_t i, const struct pfc_list *list, uint64_t now);

/* Move the tunnel's timer forward if work may be due earlier than before. */
void pfc_tunnel_arm(struct pfc_tunnels *t, struct pfc_tunnel *x);

#endif
