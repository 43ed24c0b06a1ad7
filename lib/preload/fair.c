// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * DEVEPOLL_FAIR: the instances that watch a listening socket take turns.
 *
 * Such an fd is added with EPOLLEXCLUSIVE, so the instances that watch the
 * socket are told of connections in turn.  With this mode the kernel refuses
 * changes, which the program does not expect: the library then removes the fd
 * and adds it once more.
 */
#include <errno.h>
#include <sys/socket.h>

#include "entry.h"
#include "preload/fair.h"

/* What EPOLLEXCLUSIVE permits, of level-triggered fds. */
#define FAIR_BITS	((uint32_t)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | \
				    EPOLLWAKEUP))

static bool is_listening(int fd)
{
	socklen_t size = sizeof(int);
	int listens = 0;

	return !raw_call(SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN,
			 (long)&listens, (long)&size, 0) && listens;
}

/**
 * devepoll_preload_fair_add() - does a change add a socket for fair accepts?
 * @op: EPOLL_CTL_*
 * @fd: the number
 * @event: as for epoll_ctl(2)
 * @exclusive: out, if so: what to add
 *
 * An fd without any events is one, too: the program may ask for some later.
 *
 * Return: true if so.
 */
bool devepoll_preload_fair_add(int op, int fd, const struct epoll_event *event,
			       struct epoll_event *exclusive)
{
	if (op != EPOLL_CTL_ADD ||
	    !devepoll_entry_readable(event, sizeof(*event)) ||
	    event->events & ~FAIR_BITS || !is_listening(fd))
		return false;
	*exclusive = *event;
	exclusive->events |= EPOLLEXCLUSIVE;
	return true;
}

/**
 * devepoll_preload_fair_failed() - has a change failed because of our add?
 * @ret: the result of the change
 * @op: EPOLL_CTL_*
 * @fd: the number
 * @event: as for epoll_ctl(2)
 *
 * Return: true if so: then the fd has to be removed and added.
 */
bool devepoll_preload_fair_failed(long ret, int op, int fd,
				  const struct epoll_event *event)
{
	return ret == -EINVAL && op == EPOLL_CTL_MOD &&
	       !(event->events & EPOLLEXCLUSIVE) && is_listening(fd);
}
