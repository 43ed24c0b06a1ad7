// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of the extended interface as io_uring commands.  cmd_op is the
 * request, and the first 8 bytes of the command are the argument's address,
 * those behind it the cookie of a wait; in the requests that make one change,
 * the command's bytes are its fd, events and data.  All other fields must be 0,
 * so that they may get a meaning later.
 *
 * By its cookie, a process cancels a single wait of its io_urings.  A pending
 * wait with a cookie is in dep_instance.cookies, sorted by the cookie and the
 * process; equal ones are in the order in which they began.  The tree owns
 * nothing: whoever completes a wait takes it out first.  Cancelling a wait
 * takes it out as well and marks it; so none is found twice, and what a call
 * has to do does not depend on other waits than those that it finds.
 */
#include <linux/compiler.h>
#include <linux/fs.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/interface.h"
#include "core/waiter.h"
#include "epoll/bind.h"
#include "epoll/epoll.h"
#include "epoll/extended.h"
#include "epoll/request.h"
#include "uring/compat.h"
#include "uring/uring.h"

static_assert(offsetof(struct devepoll_cancel, flags) == 8);
static_assert(DEVEPOLL_CANCEL == 0x4010501D);

/*
 * A cookie of the calling process.  Workers of its io_urings, and the threads
 * that poll them, belong to it.
 */
static struct dep_cookie cookie_of_caller(u64 value)
{
	return (struct dep_cookie) {
		.value = value,
		.born = current->group_leader->start_boottime,
		.pid = task_tgid_nr(current),
	};
}

static struct dep_uring_wait *cookie_wait(const struct rb_node *node)
{
	return rb_entry(node, struct dep_uring_wait, node);
}

static int cookie_compare(const void *cookie, const struct rb_node *node)
{
	return memcmp(cookie, &cookie_wait(node)->cookie,
		      sizeof(struct dep_cookie));
}

static bool cookie_is_less(struct rb_node *node, const struct rb_node *than)
{
	return cookie_compare(&cookie_wait(node)->cookie, than) < 0;
}

/**
 * dep_uring_enter() - let DEVEPOLL_CANCEL find a wait
 * @wait: the wait, of the calling process; it may complete from now on
 *
 * A wait without a cookie takes no lock and is not found.
 */
void dep_uring_enter(struct dep_uring_wait *wait)
{
	struct dep_instance *inst = wait->inst;

	if (!wait->cookie.value)
		return;
	wait->cookie = cookie_of_caller(wait->cookie.value);
	spin_lock_irq(&inst->lock);
	rb_add(&wait->node, &inst->cookies, cookie_is_less);
	WRITE_ONCE(inst->nr_cookies, inst->nr_cookies + 1);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_uring_leave() - let DEVEPOLL_CANCEL find a wait no more
 * @wait: the wait; its instance is locked
 */
void dep_uring_leave(struct dep_uring_wait *wait)
{
	struct dep_instance *inst = wait->inst;

	lockdep_assert_held(&inst->lock);
	if (!wait->cookie.value || RB_EMPTY_NODE(&wait->node))
		return;
	rb_erase(&wait->node, &inst->cookies);
	RB_CLEAR_NODE(&wait->node);
	WRITE_ONCE(inst->nr_cookies, inst->nr_cookies - 1);
}

/* Cancels the oldest wait with a cookie; false if there is none. */
static bool cookie_cancel_one(struct dep_instance *inst,
			      const struct dep_cookie *cookie)
{
	struct dep_uring_wait *wait;
	struct rb_node *node;
	bool mine = false;

	spin_lock_irq(&inst->lock);
	node = rb_find_first(cookie, &inst->cookies, cookie_compare);
	if (node) {
		wait = cookie_wait(node);
		dep_uring_leave(wait);
		mine = dep_uring_mark(wait);
	}
	spin_unlock_irq(&inst->lock);
	/*
	 * With nothing held: a ring may signal an eventfd, and that may be
	 * watched.  If the wait is not ours, it may be gone by now.
	 */
	if (mine)
		wait->waiter.wake(&wait->waiter);
	return node;
}

/*
 * Waits that begin meanwhile need not be found, so the call ends: those that
 * were there before are found first.
 */
static long cookie_cancel(struct dep_instance *inst, u64 value)
{
	const struct dep_cookie cookie = cookie_of_caller(value);
	u32 left = READ_ONCE(inst->nr_cookies);
	long found = 0;

	while (left-- && cookie_cancel_one(inst, &cookie)) {
		found++;
		cond_resched();
	}
	return found;
}

/*
 * DEVEPOLL_CANCEL, by ioctl(2) or as a command.  The size of @cmd is that of
 * the argument as the program knows it.
 */
static long uring_cancel(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_cancel cancel;
	int err;

	err = dep_words_from_user((u64 *)&cancel, sizeof(cancel), arg,
				  _IOC_SIZE(cmd));
	if (err)
		return err;
	if (!cancel.cookie || cancel.flags || cancel.reserved)
		return -EINVAL;
	if (dep_bind_is_classic(inst) || READ_ONCE(inst->onesig))
		return -EBUSY;
	return cookie_cancel(inst, cancel.cookie) ?: -ENOENT;
}

/* The bytes of a command, in words of 64 bits. */
#define URING_WORDS		2
#define URING_WORDS_SQE128	10

static_assert(sizeof(struct devepoll_command) == URING_WORDS * sizeof(__u64));
static_assert(offsetof(struct devepoll_command, cookie) == sizeof(__u64));

static bool uring_is_change(unsigned int request)
{
	return dep_request_is_op(request, DEVEPOLL_EPOLL_CTL(0));
}

static bool uring_is_request(unsigned int request)
{
	return uring_is_change(request) ||
	       dep_request_is(request, DEVEPOLL_CTL) ||
	       dep_request_is(request, DEVEPOLL_WAIT) ||
	       dep_request_is(request, DEVEPOLL_CANCEL);
}

/* How many words of the command have a meaning. */
static unsigned int uring_words_used(unsigned int request)
{
	return uring_is_change(request) ||
	       dep_request_is(request, DEVEPOLL_WAIT) ? URING_WORDS : 1;
}

static int uring_check(const struct io_uring_cmd *cmd, unsigned int flags)
{
	const __u64 *words = dep_uring_words(cmd);
	unsigned int i, nr = flags & IO_URING_F_SQE128 ? URING_WORDS_SQE128 :
							 URING_WORDS;
	bool shot = dep_uring_is_multishot(cmd);

	for (i = uring_words_used(cmd->cmd_op); i < nr; i++) {
		if (READ_ONCE(words[i]))
			return -EINVAL;
	}
	/* One flag is known, and only waits may have it. */
	if (hweight32(cmd->flags & IORING_URING_CMD_MASK) != shot ||
	    (shot && !dep_request_is(cmd->cmd_op, DEVEPOLL_WAIT)))
		return -EINVAL;
	return dep_uring_says_more(cmd) ? -EINVAL : 0;
}

/* epoll_ctl(2); the command's own bytes hold the whole change. */
static int uring_epoll_ctl(struct dep_instance *inst, struct io_uring_cmd *cmd)
{
	const struct devepoll_event *from = dep_uring_event(cmd);
	struct devepoll_event event;

	/* Read once: the program can still write them. */
	event = (struct devepoll_event) {
		.data = READ_ONCE(from->data),
		.events = READ_ONCE(from->events),
		.fd = READ_ONCE(from->fd),
	};
	return dep_epoll_ctl_event(inst, cmd->cmd_op, &event);
}

/*
 * A kernel that can't cancel commands loses the completion of one that a worker
 * ran and whose result is above 0, unless it is completed as if it had been
 * queued.
 */
static int uring_result(struct io_uring_cmd *cmd, int ret, unsigned int flags)
{
	if (ret <= 0 || DEP_URING_CAN_CANCEL)
		return ret;
	dep_uring_done(cmd, ret, flags);
	return -EIOCBQUEUED;
}

/*
 * An io_uring command on the node, by the task of the ring or a worker of it.
 * Returns what the request returns;
 * -EIOCBQUEUED: a wait that will complete later;
 * -EOPNOTSUPP: not a request of the extended interface, or a wait that would
 * have to sleep, on a kernel that can't cancel commands;
 * -EBADF: not open in the mode that the request needs;
 * -EINVAL: also: the entry sets fields that our commands don't have;
 * -EAGAIN: a worker should do it.
 */
static int uring_cmd(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct dep_instance *inst = cmd->file->private_data;
	bool is_change, is_ctl;
	int ret;

	if (flags & IO_URING_F_CANCEL)
		return dep_uring_cancel(cmd, flags);
	if (!uring_is_request(cmd->cmd_op))
		return -EOPNOTSUPP;
	if (!dep_access_allows(cmd->file, cmd->cmd_op))
		return -EBADF;
	ret = uring_check(cmd, flags);
	if (ret)
		return ret;
	is_change = uring_is_change(cmd->cmd_op);
	is_ctl = dep_request_is(cmd->cmd_op, DEVEPOLL_CTL);
	/* Another thread may hold it for long: let a worker wait for it. */
	if ((is_change || is_ctl) && flags & IO_URING_F_NONBLOCK &&
	    mutex_is_locked(&inst->mtx))
		return -EAGAIN;
	if (is_change)
		ret = uring_epoll_ctl(inst, cmd);
	else if (is_ctl)
		ret = dep_extended_ioctl(cmd->file, cmd->cmd_op,
					 dep_uring_arg(cmd));
	else if (dep_request_is(cmd->cmd_op, DEVEPOLL_CANCEL))
		ret = uring_cancel(cmd->file, cmd->cmd_op,
				   (void __user *)dep_uring_arg(cmd));
	else
		ret = dep_uring_wait(inst, cmd, flags);
	return uring_result(cmd, ret, flags);
}

static const struct dep_request uring_requests[] = {
	{ DEVEPOLL_CANCEL, true, FMODE_READ, uring_cancel },
	{ },
};

DEP_INTERFACE_TABLE(uring) = {
	.name = "uring",
	.features = DEVEPOLL_FEATURE_URING | DEVEPOLL_FEATURE_CANCEL |
		    (DEP_URING_CAN_CANCEL ? DEVEPOLL_FEATURE_URING_WAIT : 0) |
		    (DEP_URING_CAN_SHOOT ? DEVEPOLL_FEATURE_URING_MULTISHOT :
					   0),
	.requests = uring_requests,
	.uring_cmd = uring_cmd,
};
