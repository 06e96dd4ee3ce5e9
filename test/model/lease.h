/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pool that two sessions share, with the leases of lib/credit and a clock: a message or a packet takes 0 to 2 ms, time
 * advances by 1 ms at any moment at which nothing on the way is older. The second session gets whatever the pool has.
 */
#ifndef MODEL_LEASE_H
#define MODEL_LEASE_H

#include "test/model/explore.h"

enum lease_control {
	LEASE_AS_IT_IS,
	LEASE_OF_THE_USER, /* D49 off: the grantor waits as long as the user, T_user */
	LEASE_ONE_WAY,	   /* D49 off: the lease leaves out the time that the 29 takes */
	LEASE_FROM_DATA,   /* D49 off: there is no lease; the buffer goes when the neighbour is taken for down */
	LEASE_NO_RETURN,   /* D52 off: idle credit stays where it is */
};

struct lease_config {
	enum lease_control control;
	unsigned int sent, updates; /* packets and 29s at most */
};

extern const struct model lease_model;

#endif
