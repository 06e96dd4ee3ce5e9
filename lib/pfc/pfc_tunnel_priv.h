/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PFC_PFC_TUNNEL_PRIV_H
#define PFC_PFC_TUNNEL_PRIV_H

#include "pfc/pfc_tunnel.h"

/* A free id, or PFC_TUNNEL_NONE. */
uint32_t pfc_tunnel_place(struct pfc_tunnels *t);

/* The tunnel goes by this list from now on; a new one is told what the old one was told. */
void pfc_tunnel_lead(struct pfc_tunnels *t, uint32_t i, const struct pfc_list *list, uint64_t now);

#endif
