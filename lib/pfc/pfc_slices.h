/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of slices in the buffer of one lossless class of an ingress port whose pauses go into PFC tunnels, which stop
 * each slice by itself. A slice whose receiver stands still fills its share and stops; the others go on.
 *
 * All slices share the bytes up to XOFF of the class, and each may hold `floor` whatever the others hold. So a slice stops
 * at XOFF less what the others hold (dynamic threshold of Choudhury and Hahne, alpha 1), but not below its floor. What
 * arrives of a slice after it was stopped has room of its own, and takes nothing from the others. As long as the class has
 * room for all of this below pfc_buffer_config.urgent, a slice that drains is never stopped because of others. Nothing is
 * stopped below XOFF or the floor, whichever is less.
 *
 * Pure: no packets, no clock. Only the owner of the ingress port writes.
 */
#ifndef PFC_PFC_SLICES_H
#define PFC_PFC_SLICES_H

#include "pfc/pfc_buffer.h"

#define PFC_SLICES_MAX 128
#define PFC_SLICES_WORDS (PFC_SLICES_MAX / 64)

/* Bit per slice id. Relaxed readers. */
struct pfc_slices {
	uint64_t stopped[PFC_SLICES_WORDS]; /* the slice holds its share: its largest contributors must stop */
	uint64_t full[PFC_SLICES_WORDS];    /* and `choice` more: all of its contributors must stop */
	bool all;			    /* what waits for the CPU, of any slice, has reached XOFF: all must stop */
	struct pfc_threshold then[PFC_SLICES_MAX]; /* what each stopped slice held when it stopped; the owner's */
};

/* Is any slice stopped? */
static inline bool pfc_slices_any(const struct pfc_slices *s)
{
	return s->stopped[0] | s->stopped[1] | s->all;
}

/*
 * Update the slices: slice i of n holds level[i]; `rest` belongs to the class and to no slice yet. Call when the class
 * has reached XOFF or any slice is stopped. Returns true when anything has changed.
 */
bool pfc_slices_look(struct pfc_slices *s, const struct pfc_buffer_config *c, const struct pfc_threshold *level,
	unsigned int n, const struct pfc_threshold *rest);

/* The class has no tunnels any more: no slice is stopped. */
void pfc_slices_forget(struct pfc_slices *s);

#endif
