/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LAB_TOPOLOGY_PRIV_H
#define LAB_TOPOLOGY_PRIV_H

#include "lab/topology.h"

/* What one key cannot tell; loads the configurations of nodes that are files. */
void topo_check(struct topology *t, struct cfg_diags *diags);

#endif
