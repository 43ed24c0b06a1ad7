/* SPDX-License-Identifier: GPL-2.0 */
/* The events of poll(2), which are those of epoll_ctl(2) without the modes. */
#ifndef DEVEPOLL_EVENTS_H
#define DEVEPOLL_EVENTS_H

#include <linux/eventpoll.h>
#include <linux/types.h>

/* The events that there are, and those that need not be asked for. */
#define DEP_EVENTS_ALL \
	((__force u16)(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | \
		       EPOLLNVAL | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | \
		       EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP))
#define DEP_EVENTS_ALWAYS	((__force u16)(EPOLLERR | EPOLLHUP))

#endif /* DEVEPOLL_EVENTS_H */
