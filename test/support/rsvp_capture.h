/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RSVP_CAPTURE names a folder: the RSVP messages that are sent in a test, one of each outline (wire/outline.h), go to
 * a capture there, for other software to read (test/vectors/sent.py). Without it nothing is written.
 */
#ifndef SUPPORT_RSVP_CAPTURE_H
#define SUPPORT_RSVP_CAPTURE_H

#include <stddef.h>

#include "wire/addr.h"

void rsvp_capture_frame(const void *frame, size_t bytes);
/* A message without its packet: one is made, with headers of the family of `from`. */
void rsvp_capture_message(const struct ip_addr *from, const struct ip_addr *to, const void *message, size_t bytes);

#endif
