/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/* DEVEPOLL_FAIR: the instances that watch a listening socket take turns. */
#ifndef DEVEPOLL_PRELOAD_FAIR_H
#define DEVEPOLL_PRELOAD_FAIR_H

#include <stdbool.h>
#include <sys/epoll.h>

#include "internal.h"

DEVEPOLL_HIDDEN bool
devepoll_preload_fair_add(int op, int fd, const struct epoll_event *event,
			  struct epoll_event *exclusive);
DEVEPOLL_HIDDEN bool
devepoll_preload_fair_failed(long ret, int op, int fd,
			     const struct epoll_event *event);

#endif /* DEVEPOLL_PRELOAD_FAIR_H */
