/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does the server of a memif client answer? DPDK 22.11's driver connects once, when the device is started; it logs an
 * error if nobody listens, and waits for ever if a server listens that accepts nothing. So it is started only for a server
 * that has just said hello (the first message of a server). Management thread.
 */
#ifndef DRIVERS_MEMIF_SERVER_H
#define DRIVERS_MEMIF_SERVER_H

#include <stdbool.h>

#include <sys/socket.h>
#include <sys/un.h>

struct memif_server {
	struct sockaddr_un addr;
	socklen_t size; /* of addr */
	int fd;		/* a connection on which the server has said nothing yet; -1: none */
};

/* Read the address from the device's arguments ("net_memif0,role=client,socket=..."). */
void memif_server_init(struct memif_server *s, const char *device);

/* Never waits. True once for each connection on which the server said hello; that connection is closed. */
bool memif_server_answers(struct memif_server *s);

void memif_server_close(struct memif_server *s);

/*
 * Before a server of this device starts: remove the socket that a killed process has left, which the driver could not
 * bind to. Main thread.
 */
void memif_server_remove_stale(const char *device);

#endif
