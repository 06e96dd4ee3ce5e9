/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The services of a node (node/service.h), in the order in which they are called. A service is a row here and a folder
 * in lib/service. X(id, name): the state is node.state[SERVICE_id], the row is name_service.
 */
#ifndef SERVICE_SERVICES_H
#define SERVICE_SERVICES_H

#define SERVICES(X) \
	X(NEXTHOP, nexthop) \
	X(NEIGHBOR, neighbor) \
	X(BFD, bfd) \
	X(PFC, pfc) \
	X(RSVP, rsvp) \
	X(STEER, steer) \
	X(ICMP, icmp)

enum service_id {
#define X(id, name) SERVICE_##id,
	SERVICES(X)
#undef X
		SERVICE_COUNT
};

struct control_service;

/* All services, for struct node_options; NULL after the last. */
extern const struct control_service *const node_services[];

#endif
