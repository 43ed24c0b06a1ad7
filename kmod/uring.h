/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests of the extended interface as io_uring commands.
 */
#ifndef DEVEPOLL_URING_H
#define DEVEPOLL_URING_H

struct io_uring_cmd;

int dep_uring_cmd(struct io_uring_cmd *cmd, unsigned int flags);

#endif /* DEVEPOLL_URING_H */
