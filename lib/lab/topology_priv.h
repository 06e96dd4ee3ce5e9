/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LAB_TOPOLOGY_PRIV_H
#define LAB_TOPOLOGY_PRIV_H

#include "lab/topology.h"

/* Check the relations between keys. Loads the configuration files of nodes. */
void topo_check(struct topology *t, struct cfg_diags *diags);

#endif
