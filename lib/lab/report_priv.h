/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the report. They read the lab without changing it, after lab_run. */
#ifndef LAB_REPORT_PRIV_H
#define LAB_REPORT_PRIV_H

#include "lab/lab_priv.h"

#define REPORT_TRACKS 2048     /* in a report; the rest is counted */
#define REPORT_INTERVALS 65536 /* of all tracks of a report; but each track has at least 32 */

/*
 * {"kinds": {kind: meaning}, "left_out": n, "tracks": [{"kind", "place", "port", "class", "slice", "intervals"}]}
 *
 * An interval is [from, to] in ns, or [from, to, ns, n] if n intervals that cover that many ns were joined. A key that
 * does not apply to the kind is absent.
 */
json_t *report_tracks(const struct lab *lab);

#endif
