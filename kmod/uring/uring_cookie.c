// SPDX-License-Identifier: GPL-2.0
/*
 * Cookies, by which a process cancels single waits of its io_urings.
 *
 * A pending wait with a cookie is in dep_instance.cookies, sorted by the cookie
 * and the process; equal ones are in the order in which they began.  The tree
 * owns nothing: whoever completes a wait takes it out first.  Cancelling a wait
 * takes it out as well and marks it; so none is found twice, and what a call
 * has to do does not depend on other waits than those that it finds.
 */
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/waiter.h"
#include "epoll/bind.h"
#include "epoll/request.h"
#include "uring/uring.h"

static_assert(sizeof(struct devepoll_cancel) == 16);
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

static int cookie_compare(const struct dep_cookie *a,
			  const struct dep_cookie *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->born != b->born)
		return a->born < b->born ? -1 : 1;
	return 0;
}

static struct dep_uring_wait *cookie_wait(const struct rb_node *node)
{
	return rb_entry(node, struct dep_uring_wait, node);
}

static bool cookie_is_less(struct rb_node *node, const struct rb_node *than)
{
	return cookie_compare(&cookie_wait(node)->cookie,
			      &cookie_wait(than)->cookie) < 0;
}

static int cookie_compare_node(const void *cookie, const struct rb_node *node)
{
	return cookie_compare(cookie, &cookie_wait(node)->cookie);
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
	node = rb_find_first(cookie, &inst->cookies, cookie_compare_node);
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

/**
 * dep_uring_cancel_ioctl() - DEVEPOLL_CANCEL
 * @inst: the instance
 * @cmd: the request; its size is the argument's size as the program knows it
 * @arg: the argument's address
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h;
 * -ENOTTY: no such request.
 */
long dep_uring_cancel_ioctl(struct dep_instance *inst, unsigned int cmd,
			    unsigned long arg)
{
	const void __user *from = (const void __user *)arg;
	struct devepoll_cancel cancel;
	int err;

	if (!dep_request_is(cmd, DEVEPOLL_CANCEL) ||
	    _IOC_SIZE(cmd) < sizeof(cancel))
		return -ENOTTY;
	err = dep_words_from_user((u64 *)&cancel, sizeof(cancel), from,
				  _IOC_SIZE(cmd));
	if (err)
		return err;
	if (!cancel.cookie || cancel.flags || cancel.reserved)
		return -EINVAL;
	if (dep_bind_is_classic(inst) || READ_ONCE(inst->onesig))
		return -EBUSY;
	return cookie_cancel(inst, cancel.cookie) ?: -ENOENT;
}
