/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * How the preload library handles the rings of a program that changes its
 * interest lists with io_uring entries.
 */
#ifndef DEVEPOLL_URING_H
#define DEVEPOLL_URING_H

#include "internal.h"

DEVEPOLL_HIDDEN long devepoll_uring_setup(unsigned int entries, void *params);
DEVEPOLL_HIDDEN long devepoll_uring_enter(int fd, unsigned int to_submit,
					  unsigned int min_complete,
					  unsigned int flags, const void *arg,
					  size_t size);
DEVEPOLL_HIDDEN long devepoll_uring_register(int fd, unsigned int opcode,
					     void *arg, unsigned int nr);

#endif /* DEVEPOLL_URING_H */
