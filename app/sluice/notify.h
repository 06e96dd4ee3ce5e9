/* SPDX-License-Identifier: BSD-3-Clause */
/* Notification of the service manager. Management thread. */
#ifndef SLUICE_NOTIFY_H
#define SLUICE_NOTIFY_H

/* Send a state such as "READY=1" to the service manager (sd_notify(3)). No effect without NOTIFY_SOCKET. */
void notify(const char *state);

#endif
