// SPDX-License-Identifier: GPL-2.0
/*
 * The interface of 2001: write(), EP_ALLOC, EP_POLL, EP_FREE and EP_ISPOLLED.
 * Documentation/differences.rst lists the differences and their reasons.
 *
 * Turns
 * =====
 *
 * A page set that another thread still reads is never handed out.
 *
 * The events of a turn are handed out together, and the memory in which they
 * stand may be filled again only at the next turn.  A call that begins after
 * events were handed out shows that the program is done with them.  A call that
 * was already waiting shows nothing: it has to wait until another call begins,
 * or until the thread that got the events is gone.  If an io_uring worker got
 * them, it has to wait until the worker's process is gone.
 */
#include <linux/file.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "classic/classic.h"
#include "classic/pages.h"
#include "classic/turn.h"
#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/limits.h"
#include "core/open.h"
#include "core/waiter.h"
#include "epoll/request.h"
#include "epoll/write.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/ready.h"
#include "set/waiting.h"

/*
 * Does the reader still run the program that it ran?  A thread that ends loses
 * its address space first; a process keeps it as long as one of its threads.
 */
static bool reader_goes_on(const struct dep_turns *turns,
			   const struct task_struct *task)
{
	const void *mm = READ_ONCE(task->mm);

	if (mm || !turns->reader_is_process)
		return mm == turns->reader_mm;
	/* No thread has called execve(2): it would be the first thread now. */
	return atomic_read(&task->signal->live);
}

/*
 * Did the thread that got the last events exit, or execute another program?  If
 * an io_uring worker got them: did its process?
 */
static bool reader_is_gone(const struct dep_turns *turns)
{
	struct task_struct *task;
	bool gone;

	rcu_read_lock();
	task = pid_task(find_pid_ns(turns->reader, &init_pid_ns), PIDTYPE_PID);
	gone = !task || task->start_boottime != turns->reader_start ||
	       !reader_goes_on(turns, task);
	rcu_read_unlock();
	return gone;
}

enum turn_verdict {
	TURN_TAKE,
	TURN_ASK,
	TURN_SLEEP,
	TURN_SLEEP_BLOCKED,
	TURN_TIMEOUT,
	TURN_SIGNAL,
	TURN_NO_ROOM,
};

static enum turn_verdict turn_look(struct dep_waiting *waiting,
				   struct dep_instance *inst)
{
	bool blocked = false;

	lockdep_assert_held(&inst->lock);
	if (!inst->room || inst->extended)
		return TURN_NO_ROOM;
	/* This call began after that turn: its memory is free again. */
	if (inst->turns.open < waiting->turn)
		WRITE_ONCE(inst->turns.open, waiting->turn);

	if (inst->pending && !fatal_signal_pending(current)) {
		if (!dep_turn_may_take(inst, waiting->turn) &&
		    reader_is_gone(&inst->turns))
			WRITE_ONCE(inst->turns.open, inst->turns.now);
		if (dep_turn_may_take(inst, waiting->turn))
			return TURN_TAKE;
		blocked = true;
	}
	if (signal_pending(current))
		return TURN_SIGNAL;
	/* The files were polled: one that wakes us all the time can wait. */
	if (dep_waiting_expired(waiting))
		return TURN_TIMEOUT;
	if (!list_empty(&inst->ready) && !blocked)
		return TURN_ASK;
	return blocked ? TURN_SLEEP_BLOCKED : TURN_SLEEP;
}

/*
 * Waits until there are events that the call may take, which another thread may
 * take first; a caller that takes nothing afterwards calls dep_waiting_pass().
 * Returns 1; 0 if the timeout has passed; -EINTR if a signal is pending and no
 * event is; -EINVAL if the set has no room, so that there can be no event.
 */
static int turn_wait(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct dep_waiter waiter dep_waiter_align = {
		.task = current,
		.min = 1,
	};
	enum turn_verdict verdict;

	INIT_LIST_HEAD(&waiter.link);
	dep_waiting_set_deadline(waiting);
	for (;;) {
		if (dep_ready_may_ask(inst))
			dep_ready_ask(inst, true);

		spin_lock_irq(&inst->lock);
		dep_waiter_unqueue(inst, &waiter);
		dep_waiter_came(inst, &waiter);
		verdict = turn_look(waiting, inst);
		if (verdict == TURN_SLEEP ||
		    verdict == TURN_SLEEP_BLOCKED)
			dep_waiter_queue(inst, &waiter);
		spin_unlock_irq(&inst->lock);

		switch (verdict) {
		case TURN_TAKE:
			return 1;
		case TURN_TIMEOUT:
			return 0;
		case TURN_SIGNAL:
			return -EINTR;
		case TURN_NO_ROOM:
			return -EINVAL;
		case TURN_ASK:
			cond_resched();
			break;
		default:
			dep_waiting_sleep(waiting, inst, &waiter,
					  verdict == TURN_SLEEP_BLOCKED);
		}
	}
}

static_assert(offsetof(struct evpoll, ep_resoff) == 8);
static_assert(offsetof(struct evpoll32, ep_resoff) == 4);
static_assert(offsetof(struct evpoll_packed, ep_resoff) == 4);
static_assert(EP_ALLOC == 0x80045001);
static_assert(EP_POLL == 0xC0105002);
static_assert(EP_POLL32 == 0xC0085002);
static_assert(EP_POLL_PACKED == 0xC00C5002);
static_assert(EP_FREE == 0x5003);
static_assert(EP_ISPOLLED == 0xC0085004);

static long classic_alloc(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	int nr = (unsigned long)arg;
	long err;

	if (nr < 1 || nr > dep_max_fds)
		return -EINVAL;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = inst->extended || inst->onesig ? -EBUSY :
	      dep_pages_alloc(inst, nr);
	if (!err)
		WRITE_ONCE(inst->classic, true);
	mutex_unlock(&inst->mtx);
	return err;
}

static long classic_free(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	long err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = inst->extended || inst->onesig ? -EBUSY : dep_pages_retire(inst);
	if (!err) {
		dep_interest_clear(inst);
		dep_pages_free(inst);
	}
	mutex_unlock(&inst->mtx);
	if (!err)
		dep_waiting_wake_all(inst);
	return err;
}

/* Called before the events are taken, so that a fault loses none. */
static int classic_tell(void __user *resoff, size_t size, unsigned long offset)
{
	if (size == sizeof(u32))
		return put_user(offset, (u32 __user *)resoff);
	return put_user(offset, (u64 __user *)resoff);
}

/* Writes where the events will be, and takes them; 0 if they are gone. */
static __always_inline long classic_take(struct dep_instance *inst, u64 turn,
					 void __user *resoff, size_t size)
{
	unsigned long offset = dep_pages_offset(inst);

	if (classic_tell(resoff, size, offset))
		return -EFAULT;
	return dep_pages_take(inst, turn, offset);
}

static noinline long classic_wait(struct dep_instance *inst, u64 turn,
				  int timeout_ms, void __user *resoff,
				  size_t size)
{
	struct dep_waiting waiting = dep_waiting_of_ms(timeout_ms);
	long ret;

	waiting.turn = turn;
	do {
		ret = turn_wait(&waiting, inst);
		if (ret <= 0)
			break;
		/* Events in pages that nobody can read would be lost. */
		ret = -EINVAL;
		if (!atomic_read(&inst->mappings))
			break;
		ret = classic_take(inst, turn, resoff, size);
	} while (!ret);

	if (ret <= 0)
		dep_waiting_pass(inst);
	return ret;
}

/* Takes events that are there; or they are gone, and it waits. */
static noinline long classic_take_or_wait(struct dep_instance *inst, u64 turn,
					  int timeout_ms, void __user *resoff,
					  size_t size)
{
	long ret = classic_take(inst, turn, resoff, size);

	if (likely(ret > 0))
		return ret;
	return classic_wait(inst, turn, timeout_ms, resoff, size);
}

/* The error of a wait, which is that of an unknown request if it is refused. */
static noinline long classic_error(const struct dep_instance *inst, long err)
{
	return dep_classic_interface.refused ?
	       dep_access_no_request(inst) : err;
}

/* Why can this set not be waited on? */
static noinline long classic_refuse(const struct dep_instance *inst)
{
	return classic_error(inst, READ_ONCE(inst->settled) ||
				   READ_ONCE(inst->onesig) ? -EBUSY : -EINVAL);
}

/* As get_user(), without a call. */
static __always_inline bool classic_read(int *to, const int __user *from)
{
	if (!user_read_access_begin(from, sizeof(*from)))
		return false;
	unsafe_get_user(*to, from, efault);
	user_read_access_end();
	return true;

efault:
	user_read_access_end();
	return false;
}

/* The caller's layout places @resoff, of @size bytes, and @timeout. */
static __always_inline long classic_poll(struct dep_instance *inst,
					 int __user *timeout,
					 void __user *resoff, size_t size)
{
	u64 turn = READ_ONCE(inst->turns.now);
	int timeout_ms;

	if (!classic_read(&timeout_ms, timeout))
		return classic_error(inst, -EFAULT);
	if (unlikely(!atomic_read(&inst->mappings)))
		return classic_refuse(inst);
	if (dep_turn_at_once(inst))
		return classic_take_or_wait(inst, turn, timeout_ms, resoff,
					    size);
	if (!timeout_ms && dep_turn_in_vain(inst, turn))
		return 0;
	return classic_wait(inst, turn, timeout_ms, resoff, size);
}

static long classic_ispolled(struct file *file, unsigned int cmd,
			     void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	struct pollfd entry;
	u16 events;
	u64 data;

	if (READ_ONCE(inst->settled))
		return -EBUSY;
	if (copy_from_user(&entry, arg, sizeof(entry)))
		return -EFAULT;
	if (!dep_interest_query(inst, entry.fd, &events, &data))
		return 0;
	entry.events = events;
	entry.revents = 0;
	return copy_to_user(arg, &entry, sizeof(entry)) ? -EFAULT : 1;
}

/* One request, three layouts. */
#define CLASSIC_POLL(inst, layout, arg)					\
	classic_poll(inst, &((struct layout __user *)(arg))->ep_timeout,\
		     &((struct layout __user *)(arg))->ep_resoff,	\
		     sizeof(((struct layout *)NULL)->ep_resoff))

/**
 * dep_classic_poll() - EP_POLL in the layout of a 64-bit program
 * @inst: the instance
 * @arg: address of a struct evpoll
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h.
 */
long dep_classic_poll(struct dep_instance *inst, unsigned long arg)
{
	return CLASSIC_POLL(inst, evpoll, arg);
}

/* The size of the request tells the layout; dep_classic_poll() has EP_POLL. */
static long classic_poll_sized(struct file *file, unsigned int cmd,
			       void __user *arg)
{
	struct dep_instance *inst = file->private_data;

	switch (cmd) {
	case EP_POLL32:
		return CLASSIC_POLL(inst, evpoll32, arg);
	case EP_POLL_PACKED:
		return CLASSIC_POLL(inst, evpoll_packed, arg);
	}
	return -ENOTTY;
}

static const struct dep_request classic_requests[] = {
	{ EP_POLL, true, FMODE_READ, classic_poll_sized },
	{ EP_ALLOC, false, FMODE_WRITE, classic_alloc },
	{ EP_FREE, false, FMODE_WRITE, classic_free },
	{ EP_ISPOLLED, false, FMODE_READ, classic_ispolled },
	{ },
};

static ssize_t classic_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return dep_write_pollfds(file->private_data, buf, count);
}

/* At any offset that no other interface has. */
static int classic_mmap(struct file *file, struct vm_area_struct *vma)
{
	switch (vma->vm_pgoff) {
	/* Where a build has none of them, they are nobody's. */
	case DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT:
	case DEVEPOLL_MAP_RING >> PAGE_SHIFT:
	case DEVEPOLL_MAP_RING_SLOTS >> PAGE_SHIFT:
		return -ENODEV;
	}
	if (dep_instance_kind(file) == DEP_FILE_AS_EPOLL)
		return -ENODEV;
	return dep_pages_map(file->private_data, vma);
}

static void classic_free_pages(struct dep_instance *inst)
{
	mutex_lock(&inst->mtx);
	dep_pages_free(inst);
	mutex_unlock(&inst->mtx);
}

static const char *classic_describe(const struct dep_instance *inst)
{
	/* Or a set that no interface has yet. */
	return READ_ONCE(inst->extended) ? NULL : "2001";
}

DEP_INTERFACE_TABLE(classic) = {
	.name = "classic",
	.requests = classic_requests,
	.write = classic_write,
	.mmap = classic_mmap,
	.free = classic_free_pages,
	.describe = classic_describe,
};
