/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A connection of ephttpd: requests in, answers out.
 */
#ifndef EXPERIMENT_CONN_H
#define EXPERIMENT_CONN_H

#include <stdbool.h>

struct task;

/* Takes @fd over; false where there is no room, and @fd is closed then. */
bool conn_open(int fd);

/* Frees the connection of a task that is done, and closes its fd. */
void conn_close(struct task *task);

#endif /* EXPERIMENT_CONN_H */
