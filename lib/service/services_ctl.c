/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of control services, from the list in services.h. Constant; any thread. */
#include "service/services.h"

#include "node/service.h"

#define X(id, name) extern const struct control_service name##_service;
SERVICES(X)
#undef X

#define X(id, name) [SERVICE_##id] = &name##_service,
const struct control_service *const node_services[SERVICE_COUNT + 1] = {SERVICES(X)};
#undef X

_Static_assert((int)SERVICE_COUNT <= (int)NODE_SERVICES_MAX, "node.state[] has a place for each");
