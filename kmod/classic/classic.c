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
#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/limits.h"
#include "core/open.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "epoll/request.h"
#include "epoll/write.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/ready.h"
#include "set/waiting.h"

/* May a call that began in @turn take events: is the memory of before free? */
static bool turn_may_take(const struct dep_instance *inst, u64 turn)
{
	return turn == inst->turns.now || inst->turns.open == inst->turns.now;
}

/* Ends a turn: the caller got all pending events. */
static void turn_end(struct dep_instance *inst)
{
	struct task_struct *reader = current;

	lockdep_assert_held(&inst->lock);
	WRITE_ONCE(inst->turns.now, inst->turns.now + 1);
	/* An io_uring worker may end any time; any thread may read for it. */
	inst->turns.reader_is_process = reader->flags & PF_IO_WORKER;
	inst->turns.reader_mm = reader->mm;
	if (unlikely(inst->turns.reader_is_process))
		reader = reader->group_leader;
	inst->turns.reader = task_pid_nr(reader);
	inst->turns.reader_start = reader->start_boottime;
}

/* May there be events that can be taken at once, with no file polled first? */
static bool turn_at_once(const struct dep_instance *inst)
{
	return READ_ONCE(inst->pending) &&
	       READ_ONCE(inst->ready.next) == &inst->ready;
}

/*
 * Would a call that does not wait find nothing: is nothing pending, is no file
 * to be polled or being polled, and is the turn known to be open?  L is not
 * held: an event of this moment is the next call's.
 */
static bool turn_in_vain(const struct dep_instance *inst, u64 turn)
{
	return !dep_ready_may_ask(inst) && !READ_ONCE(inst->pending) &&
	       READ_ONCE(inst->turns.open) == turn;
}

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

/* What a call does next; or it ends, and returns 1, 0 or an error. */
enum turn_verdict {
	TURN_TAKE = 1,
	TURN_ASK,
	TURN_SLEEP,
	TURN_SLEEP_BLOCKED,
};

static int turn_look(struct dep_waiting *waiting, struct dep_instance *inst)
{
	bool blocked = false;

	lockdep_assert_held(&inst->lock);
	if (!inst->room || inst->extended)
		return -EINVAL;
	/* This call began after that turn: its memory is free again. */
	if (inst->turns.open < waiting->turn)
		WRITE_ONCE(inst->turns.open, waiting->turn);

	if (inst->pending && !fatal_signal_pending(current)) {
		if (!turn_may_take(inst, waiting->turn) &&
		    reader_is_gone(&inst->turns))
			WRITE_ONCE(inst->turns.open, inst->turns.now);
		if (turn_may_take(inst, waiting->turn))
			return TURN_TAKE;
		blocked = true;
	}
	if (signal_pending(current))
		return -EINTR;
	/* The files were polled: one that wakes us all the time can wait. */
	if (dep_waiting_expired(waiting))
		return 0;
	if (!list_empty(&inst->ready) && !blocked)
		return TURN_ASK;
	return blocked ? TURN_SLEEP_BLOCKED : TURN_SLEEP;
}

/*
 * Waits until there are events that the call may take, which another thread may
 * take first; a caller that takes nothing afterwards calls dep_ready_pass_on().
 * Returns 1; 0 if the timeout has passed; -EINTR if a signal is pending and no
 * event is; -EINVAL if the set has no room, so that there can be no event.
 */
static int turn_wait(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct dep_waiter waiter dep_waiter_align = {
		.task = current,
		.min = 1,
	};
	int verdict;

	INIT_LIST_HEAD(&waiter.link);
	dep_waiting_set_deadline(waiting);
	for (;;) {
		if (dep_ready_may_ask(inst))
			dep_ready_ask(inst, true);

		spin_lock_irq(&inst->lock);
		dep_waiter_unqueue(inst, &waiter);
		dep_waiter_came(inst, &waiter);
		verdict = turn_look(waiting, inst);
		if (verdict >= TURN_SLEEP)
			dep_waiter_queue(inst, &waiter);
		spin_unlock_irq(&inst->lock);

		if (verdict <= TURN_TAKE)
			return verdict;
		if (verdict == TURN_ASK)
			cond_resched();
		else
			dep_waiting_sleep(waiting, inst, &waiter,
					  verdict == TURN_SLEEP_BLOCKED);
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

/*
 * Where the page set being filled begins, in bytes; what was found without L is
 * for pages_take().
 */
static unsigned long pages_offset(const struct dep_instance *inst)
{
	const struct dep_pages *pages = &inst->pages;

	return READ_ONCE(inst->snapshot) & 1 ?
	       READ_ONCE(pages->per_set) * EP_PAGE_SIZE : 0;
}

/*
 * Hands the page set being filled to the program, for a call that began in
 * @turn, and after the program was told of @offset.  Returns the number of
 * slots; 0 if there are none that this call may take, or if they are at another
 * offset by now.
 */
static __always_inline u32 pages_take(struct dep_instance *inst, u64 turn,
				      unsigned long offset)
{
	u32 nr = 0;

	spin_lock_irq(&inst->lock);
	if (turn_may_take(inst, turn) &&
	    pages_offset(inst) == offset) {
		nr = inst->pending;
		if (nr) {
			WRITE_ONCE(inst->pending, 0);
			WRITE_ONCE(inst->snapshot, inst->snapshot + 1);
			inst->stats.takes++;
			inst->stats.taken += nr;
			trace_devepoll_harvest(inst, nr);
			turn_end(inst);
			/* A waiter woken for both took just these. */
			if (!list_empty(&inst->ready))
				dep_instance_wake(inst);
		}
	}
	spin_unlock_irq(&inst->lock);
	/* From here on the program reads newer data: see dep_watch_wake(). */
	smp_mb();
	return nr;
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
	unsigned long offset = pages_offset(inst);

	if (classic_tell(resoff, size, offset))
		return -EFAULT;
	return pages_take(inst, turn, offset);
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
		dep_ready_pass_on(inst);
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
	if (turn_at_once(inst))
		return classic_take_or_wait(inst, turn, timeout_ms, resoff,
					    size);
	if (!timeout_ms && turn_in_vain(inst, turn))
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
