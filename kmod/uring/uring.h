/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The requests of the extended interface as io_uring commands.  Kbuild takes
 * uring_wait.c if the kernel can cancel commands, or else uring_inline.c; and
 * uring_shot.c if it has multishot commands.
 */
#ifndef DEVEPOLL_URING_H
#define DEVEPOLL_URING_H

#include <linux/hrtimer.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>

#include "core/instance.h"
#include "core/waiter.h"
#include "epoll/extended.h"

struct io_uring_cmd;

/**
 * struct dep_cookie - by what a wait can be cancelled; compared by its bytes
 * @value: the program's number, or 0 for none
 * @born: when its process began, since process numbers are reused
 * @pid: the number of that process in the initial namespace
 */
struct dep_cookie {
	u64 value;
	u64 born;
	u64 pid;
};

/**
 * struct dep_uring_wait - a wait that is an io_uring command
 * @waiter: its place in the instance's list
 * @timer: the timeout; runs if @timed
 * @cmd: const: the command
 * @inst: const: the set
 * @wait: the call, continued each time
 * @timed: const: there is a timeout
 * @multishot: const: continues after events, which go to buffers of the ring
 * @expired: L: the timeout has passed
 * @cancelled: L: the ring is being closed, or DEVEPOLL_CANCEL has found it
 * @group: const: the group of buffers
 * @max: const: the most events of one buffer
 * @bytes: bytes that the last completion reports, if it has a buffer
 * @cflags: its flags, with the buffer's number
 * @left: L: has @waiter alone if its ring is being closed, and has to cancel it
 * @cookie: const once it can be cancelled
 * @node: L: in dep_instance.cookies, or empty after DEVEPOLL_CANCEL; unused
 *	without a cookie
 */
struct dep_uring_wait {
	struct dep_waiter waiter;
	struct hrtimer timer;
	struct io_uring_cmd *cmd;
	struct dep_instance *inst;
	struct dep_wait_call wait;
	bool timed;
	bool multishot;
	bool expired;
	bool cancelled;
	u16 group;
	u32 max;
	u32 bytes;
	u32 cflags;
	struct list_head left;
	struct dep_cookie cookie;
	struct rb_node node;
};

/**
 * dep_uring_mark() - tell a wait to end
 * @wait: the wait; its instance is locked
 *
 * Return: true if the caller owns it now and sees to its completion; otherwise
 * whoever owns it does, and will find the mark.
 */
static inline bool dep_uring_mark(struct dep_uring_wait *wait)
{
	lockdep_assert_held(&wait->inst->lock);
	WRITE_ONCE(wait->cancelled, true);
	return dep_waiter_unqueue(wait->inst, &wait->waiter);
}

int dep_uring_wait(struct dep_instance *inst, struct io_uring_cmd *cmd,
		   unsigned int flags);
int dep_uring_cancel(struct io_uring_cmd *cmd, unsigned int flags);
void dep_uring_enter(struct dep_uring_wait *wait);
void dep_uring_leave(struct dep_uring_wait *wait);
int dep_uring_take(struct dep_uring_wait *wait);

#ifdef DEP_HAVE_URING_MULTISHOT
int dep_uring_shoot(struct dep_uring_wait *wait, unsigned int flags);
#else
static inline int dep_uring_shoot(struct dep_uring_wait *wait,
				  unsigned int flags)
{
	return -EOPNOTSUPP;
}
#endif

#endif /* DEVEPOLL_URING_H */
