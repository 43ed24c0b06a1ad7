/* SPDX-License-Identifier: GPL-2.0 */
/* The events and the modes of epoll_ctl(2), and modes of our own. */
#ifndef DEVEPOLL_EVENTS_H
#define DEVEPOLL_EVENTS_H

#include <linux/poll.h>

#include "core/interface.h"

/* The events that there are, and those that need not be asked for. */
#define DEP_EVENTS_ALL \
	((__force u16)(EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLERR | EPOLLHUP | \
		       EPOLLNVAL | EPOLLRDNORM | EPOLLRDBAND | EPOLLWRNORM | \
		       EPOLLWRBAND | EPOLLMSG | EPOLLRDHUP))
#define DEP_EVENTS_ALWAYS	((__force u16)(EPOLLERR | EPOLLHUP))

/*
 * A key with one of these bits says too much or too little: poll the file.
 * Sockets claim the first four with all data; and an error is named by
 * EPOLLERR alone, also where the file has others besides, or no error.
 */
#define DEP_NEEDS_POLL \
	((__force u16)(EPOLLPRI | EPOLLRDBAND | EPOLLWRBAND | EPOLLMSG | \
		       EPOLLERR))

/**
 * dep_events_settled() - which pending events need no further wake-up?
 * @events: the events that are pending
 *
 * A key says EPOLLERR for whatever happens beside an error, so it is always
 * news.
 *
 * Return: what a sink writes to dep_item.pending.
 */
static inline u16 dep_events_settled(u16 events)
{
	return events & ~(__force u16)EPOLLERR;
}

/*
 * Bits of dep_item.mode; the upper ones are those of epoll_ctl(2).  One that no
 * item of this build can have is 0, and the compiler drops what tests it.
 */
#define DEP_MODE_TELL_CLOSED	(DEP_HAS_CLOSED ? 0x1U : 0)
#define DEP_MODE_TRUST		0x2U
#define DEP_MODE_CLOSED		(DEP_HAS_CLOSED || DEP_HAS_DEVPOLL ? 0x4U : 0)
#define DEP_MODE_STAY		(DEP_HAS_DEVPOLL ? 0x8U : 0)
/* dep_item.revents keeps what ->poll() answered: dep_file_consumes(). */
#define DEP_MODE_KEEP		0x10U
/* The file is a set of ours: dep_lone.nest. */
#define DEP_MODE_NEST		(DEP_HAS_NEST ? 0x20U : 0)
/* Its set has a ring. */
#define DEP_MODE_RING		(DEP_HAS_RING ? 0x40U : 0)
/* Its file must be polled for all events: see dep_item_needs_poll(). */
#define DEP_MODE_POLL		0x80U
/* Of a change with DEP_MODE_EXCLUSIVE: it has unknown bits, and is refused. */
#define DEP_MODE_ODD		0x100U
/* Who may have an event of it is known: struct dep_told. */
#define DEP_MODE_HELD		(DEP_HAS_CLOSED ? 0x200U : 0)
#define DEP_MODE_OWN		(DEP_MODE_TELL_CLOSED | DEP_MODE_TRUST | \
				 DEP_MODE_CLOSED | DEP_MODE_STAY | \
				 DEP_MODE_KEEP | DEP_MODE_NEST | \
				 DEP_MODE_RING | DEP_MODE_POLL | DEP_MODE_HELD)
/* What is so because of the file or the set, whatever a change asks for. */
#define DEP_MODE_OF_FILE	(DEP_MODE_KEEP | DEP_MODE_NEST | \
				 DEP_MODE_RING | DEP_MODE_HELD)
#define DEP_MODE_EDGE		((__force u32)EPOLLET)
#define DEP_MODE_ONESHOT	((__force u32)EPOLLONESHOT)
#define DEP_MODE_EXCLUSIVE	((__force u32)EPOLLEXCLUSIVE)

/* Bits of dep_item.chosen. */
#define DEP_CHOSEN_WOKEN	1	/* it alone has got the event */
#define DEP_CHOSEN_TAKEN	2	/* a waiter has it; level-triggered */

#endif /* DEVEPOLL_EVENTS_H */
