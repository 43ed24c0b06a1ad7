/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Changes of a set of the extended interface.
 */
#ifndef DEVEPOLL_CHANGES_H
#define DEVEPOLL_CHANGES_H

#include <linux/eventpoll.h>
#include <linux/types.h>

#include <linux/devepoll.h>

#include "core/events.h"
#include "core/item.h"
#include "set/interest.h"

struct file;

/* The modes among the bits of epoll_event.events. */
#define DEP_CHANGE_MODES \
	((__force u32)(EPOLLEXCLUSIVE | EPOLLONESHOT | EPOLLET))

/**
 * struct dep_changes - an array of changes in user memory
 * @address: its address
 * @nr: how many there are
 * @size: size of one of them
 * @tried: how many were tried
 * @failed: how many of these failed
 * @signals: the set may also be a signal set, which belongs to no interface
 * @read_only: no results are written; the first failure ends it
 */
struct dep_changes {
	u64 address;
	u32 nr;
	u32 size;
	u32 tried;
	u32 failed;
	bool signals;
	bool read_only;
};

/**
 * dep_change_from_epoll() - convert a change in the form of epoll_ctl(2)
 * @ch: the operation and the fd; out: the rest
 * @events: the events and modes; only EPOLLEXCLUSIVE refuses unknown bits
 * @data: the user data
 */
static __always_inline void dep_change_from_epoll(struct dep_change *ch,
						  u32 events, u64 data)
{
	ch->data = data;
	ch->mode = events & DEP_CHANGE_MODES;
	ch->events = (events & DEP_EVENTS_ALL) | DEP_EVENTS_ALWAYS;
	/* A MOD refuses it with all bits. */
	if (ch->op == DEVEPOLL_ADD &&
	    unlikely(events & (__force u32)EPOLLEXCLUSIVE) &&
	    events & ~(DEP_EVENTS_ALL | DEP_CHANGE_MODES |
		       (__force u32)EPOLLWAKEUP))
		ch->mode |= DEP_MODE_ODD;
}

/**
 * dep_change_check_mode() - may the set have such a change?
 * @inst: the instance; dep_instance.mtx is held
 * @mode: DEP_MODE_*: what it asks for
 *
 * A signal carries no more than the fd and the events.
 *
 * Return: 0;
 * -EINVAL: a mode that a signal set does not have.
 */
static inline int dep_change_check_mode(const struct dep_instance *inst,
					u32 mode)
{
	return unlikely(inst->onesig) && mode & ~DEP_MODE_EDGE ?
	       -EINVAL : 0;
}

int dep_changes_make_one(struct file *file, unsigned int request, u64 address,
			 u64 length);
int dep_changes_check_array(const struct dep_changes *changes);
int dep_changes_apply(struct dep_instance *inst, struct dep_changes *changes);

#endif /* DEVEPOLL_CHANGES_H */
