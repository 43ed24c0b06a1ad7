/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * What the preload does about the rings of io_uring of a program that changes
 * its sets by entries of them.
 */
#ifndef DEVEPOLL_RING_H
#define DEVEPOLL_RING_H

#include "internal.h"

DEVEPOLL_HIDDEN void devepoll_ring_expect_sets(void);
DEVEPOLL_HIDDEN long devepoll_ring_setup(unsigned int entries, void *params);
DEVEPOLL_HIDDEN long devepoll_ring_enter(int fd, unsigned int to_submit,
					 unsigned int min_complete,
					 unsigned int flags, const void *arg,
					 size_t size);
DEVEPOLL_HIDDEN long devepoll_ring_register(int fd, unsigned int opcode,
					    void *arg, unsigned int nr);

#endif /* DEVEPOLL_RING_H */
