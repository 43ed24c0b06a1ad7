// SPDX-License-Identifier: GPL-2.0
/*
 * The requests of the ring: DEVEPOLL_RING, DEVEPOLL_RING_WAIT, and those of
 * whoever maps it later, DEVEPOLL_RING_INFO and DEVEPOLL_RING_RECLAIM.
 *
 * A call that waits polls the files on the ready list, posts their events, and
 * sleeps until there is something in the ring.  Posts take the lock of the
 * instance, under which the call looks and queues itself.  So no event is
 * missed, whatever the program writes to the word.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/holds.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/readers.h"
#include "core/waiter.h"
#include "epoll/bind.h"
#include "epoll/request.h"
#include "ring/ring.h"
#include "set/ready.h"
#include "set/waiting.h"

/**
 * struct ring_call - one call
 * @waiter: the caller
 * @slept: it has slept
 * @asked: it has polled the listed files since it was woken last
 * @listed: dep_instance.nr_ready when it was about to poll them again
 * @count: how many events are in the ring
 */
struct ring_call {
	struct dep_waiter waiter;
	bool slept;
	bool asked;
	u32 listed;
	u32 count;
};

enum ring_verdict {
	RING_TAKE,
	RING_ASK,
	RING_SLEEP,
	RING_OVER,
	RING_SIGNAL,
};

/*
 * Must the files on the list be polled first?  Yes in a call that begins: it
 * may be made for them, and events in the ring must not keep the list waiting.
 * Yes if there are too few events: also for files that are off the list only
 * because another task is polling them, for which this call has to wait.
 */
static bool ring_must_ask(const struct dep_instance *inst,
			  const struct ring_call *call)
{
	bool enough = call->count >= call->waiter.min;

	if (call->asked || dep_ring_is_full(inst) || (call->slept && enough))
		return false;
	return !list_empty(&inst->ready) || (inst->ask_seq & 1 && !enough);
}

static enum ring_verdict ring_look(const struct dep_waiting *waiting,
				   struct dep_instance *inst,
				   struct ring_call *call)
{
	lockdep_assert_held(&inst->lock);
	call->count = dep_ring_look(inst);
	if (ring_must_ask(inst, call))
		return RING_ASK;
	/* Some of a full set may be withdrawn: so it may be fewer. */
	if (call->count >= call->waiter.min || dep_ring_is_full(inst))
		return RING_TAKE;
	if (signal_pending(current))
		return RING_SIGNAL;
	if (dep_waiting_expired(waiting))
		return RING_OVER;
	if (list_empty(&inst->ready) && !(inst->ask_seq & 1))
		return RING_SLEEP;
	/* Level-triggered items are on the list and in the ring. */
	if (call->waiter.min > 1 && inst->nr_ready == call->listed)
		return RING_SLEEP;
	call->listed = inst->nr_ready;
	return RING_ASK;
}

/* Polls the listed files, and posts what is ready. */
static void ring_ask(const struct dep_waiting *waiting,
		     struct dep_instance *inst, struct ring_call *call)
{
	struct dep_results results = {
		.layout = DEP_LAYOUT_RING,
		.max = inst->ring->room,
		.only_waits = waiting->only_waits,
	};

	call->asked = true;
	/* It fails if the caller is being killed, which ring_look() sees. */
	dep_ready_collect(inst, &results);
}

static enum ring_verdict ring_look_locked(const struct dep_waiting *waiting,
					  struct dep_instance *inst,
					  struct ring_call *call)
{
	enum ring_verdict verdict;

	spin_lock_irq(&inst->lock);
	/* Also if it was woken: the waker reads our stack. */
	dep_waiter_unqueue(inst, &call->waiter);
	verdict = ring_look(waiting, inst, call);
	if (verdict == RING_SLEEP) {
		dep_waiter_queue(inst, &call->waiter);
	} else if (verdict != RING_TAKE || !inst->nr_waiters) {
		/*
		 * While others sleep, it has come only when the program has
		 * taken events, which nobody sees: the relay gives it up after
		 * a while.
		 */
		dep_waiter_came(inst, &call->waiter);
	}
	/* The program may have made this call for what is left on the list. */
	dep_ring_end_call(inst);
	spin_unlock_irq(&inst->lock);
	return verdict;
}

/*
 * Waits until there are events in the ring, and returns how many, which another
 * thread may take first; 0 if the timeout has passed; -EINTR if a signal is
 * pending, and no event is.
 */
static int wait_for_ring(struct dep_waiting *waiting, struct dep_instance *inst)
{
	struct ring_call call dep_waiter_align = {
		.waiter = { .task = current, .min = max(waiting->min, 1U) },
	};
	enum ring_verdict verdict;

	INIT_LIST_HEAD(&call.waiter.link);
	dep_waiting_set_deadline(waiting);
	for (;;) {
		verdict = ring_look_locked(waiting, inst, &call);
		if (verdict == RING_ASK) {
			ring_ask(waiting, inst, &call);
			cond_resched();
		} else if (verdict == RING_SLEEP) {
			dep_waiting_sleep(waiting, inst, &call.waiter, false);
			call.slept = true;
			call.asked = false;
		} else {
			break;
		}
	}
	if (call.count)
		return call.count;
	/* A waiter that was woken and finds nothing passes it on. */
	dep_ready_pass_on(inst);
	return verdict == RING_SIGNAL ? -EINTR : 0;
}

static_assert(offsetof(struct devepoll_ring, flags) == 8);
static_assert(offsetof(struct devepoll_ring_wait_args, min_events) == 24);
static_assert(offsetof(struct devepoll_ring_info, page_size) == 16);
static_assert(offsetof(struct devepoll_ring_reclaim, set) == 16);
static_assert(sizeof(struct devepoll_ring_page) == 256);
static_assert(offsetof(struct devepoll_ring_page, ask) == 64);
static_assert(DEVEPOLL_RING == 0x40105016);
static_assert(DEVEPOLL_RING_WAIT == 0x40205017);
static_assert(DEVEPOLL_RING_INFO == 0x80205018);
static_assert(DEVEPOLL_RING_RECLAIM == 0xC0185019);

static long ring_make(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_ring ring;
	long err;

	err = dep_words_from_user((u64 *)&ring, sizeof(ring), arg,
				  _IOC_SIZE(cmd));
	if (err)
		return err;
	if (!ring.consumers || ring.consumers == U32_MAX || !ring.slots ||
	    ring.flags || ring.reserved)
		return -EINVAL;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, false);
	if (!err) {
		/* M is held: it may lose its last item now, but get none. */
		err = inst->ring || dep_instance_nr_items(inst) ?
		      -EBUSY :
		      dep_ring_make(inst, ring.consumers + 1, ring.slots);
		dep_bind_end(inst, !err);
	}
	mutex_unlock(&inst->mtx);
	return err;
}

/*
 * Which slot set the caller owns.  Where fds report their close it must say
 * so, or its events would count as being in use as long as it sleeps; but who
 * may only wait owns none, and says of none that it is not in use.
 */
static bool ring_wait_names_set(const struct dep_ring *ring,
				const struct devepoll_ring_wait_args *args,
				bool only_waits)
{
	if (args->flags & DEVEPOLL_WAIT_SPARE)
		return args->spare < ring->nr_sets;
	return !args->spare && (only_waits || READ_ONCE(ring->plain_sets));
}

static int ring_wait_check(const struct dep_ring *ring,
			   const struct devepoll_ring_wait_args *args,
			   bool only_waits)
{
	const u32 known = DEVEPOLL_WAIT_ABSTIME | DEVEPOLL_WAIT_SPARE;

	if (!ring || args->flags & ~known || args->min_events > ring->room ||
	    !ring_wait_names_set(ring, args, only_waits))
		return -EINVAL;
	if (only_waits && args->flags & DEVEPOLL_WAIT_SPARE)
		return -EBADF;
	if (!args->sigmask)
		return args->sigsetsize ? -EINVAL : 0;
	/* An io_uring worker would take signals that it can't handle. */
	return args->sigsetsize != sizeof(sigset_t) ||
	       current->flags & (PF_IO_WORKER | PF_KTHREAD) ? -EINVAL : 0;
}

/* The caller has nothing in use, neither of its slot set nor of a wait. */
static noinline void ring_come_back(struct dep_instance *inst,
				    const struct devepoll_ring_wait_args *args)
{
	dep_reader_back(inst);
	/* The set has a ring: it had one before this call. */
	spin_lock_irq(&inst->lock);
	dep_ring_look(inst);
	if (args->flags & DEVEPOLL_WAIT_SPARE)
		dep_reader_gives_back(inst, args->spare);
	dep_readers_list_freed(inst);
	spin_unlock_irq(&inst->lock);
}

static __always_inline int ring_wait_now(struct dep_waiting *waiting,
					 struct dep_instance *inst,
					 const struct devepoll_ring_wait_args *args)
{
	if (unlikely(dep_instance_readers(inst)))
		ring_come_back(inst, args);
	return wait_for_ring(waiting, inst);
}

static noinline long ring_wait_masked(struct dep_waiting *waiting,
				      struct dep_instance *inst,
				      const struct devepoll_ring_wait_args *args)
{
	sigset_t sigset;
	int ret;

	/* First: who comes back goes on to take, or to wake, for what that frees. */
	if (copy_from_user(&sigset, u64_to_user_ptr(args->sigmask),
			   sizeof(sigset)))
		return -EFAULT;
	dep_sigmask_begin(&sigset);
	ret = ring_wait_now(waiting, inst, args);
	dep_sigmask_end(ret);
	return ret;
}

/* That of an unknown request if rings are refused. */
static noinline long ring_wait_error(const struct dep_instance *inst, long err)
{
	return dep_ring_interface.refused ? dep_access_no_request(inst) : err;
}

static __always_inline long ring_wait(struct dep_instance *inst,
				      void __user *arg, size_t size,
				      bool only_waits)
{
	struct devepoll_ring_wait_args args;
	struct dep_waiting waiting;
	int ret;

	ret = dep_words_from_user((u64 *)&args, sizeof(args), arg, size);
	if (!ret)
		ret = ring_wait_check(dep_instance_ring(inst), &args,
				      only_waits);
	if (unlikely(ret))
		return ring_wait_error(inst, ret);
	waiting = (struct dep_waiting) {
		.min = args.min_events,
		.timeout = args.timeout,
		.only_waits = only_waits,
	};
	if (args.flags & DEVEPOLL_WAIT_ABSTIME)
		dep_waiting_set_absolute(&waiting);
	if (likely(!args.sigmask))
		return ring_wait_now(&waiting, inst, &args);
	return ring_wait_masked(&waiting, inst, &args);
}

/**
 * dep_ring_wait() - DEVEPOLL_RING_WAIT, with its argument as we know it
 * @inst: the instance, by an open that may change it
 * @arg: the argument's address
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h.
 */
long dep_ring_wait(struct dep_instance *inst, unsigned long arg)
{
	return ring_wait(inst, (void __user *)arg,
			 sizeof(struct devepoll_ring_wait_args), false);
}

static long ring_wait_sized(struct file *file, unsigned int cmd,
			    void __user *arg)
{
	return ring_wait(file->private_data, arg, _IOC_SIZE(cmd),
			 !(file->f_mode & FMODE_WRITE));
}

static long ring_info(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	const struct dep_ring *ring = dep_instance_ring(inst);
	struct devepoll_ring_info info;

	if (!_IOC_SIZE(cmd))
		return -ENOTTY;
	if (!ring)
		return -EINVAL;
	info = (struct devepoll_ring_info) {
		.consumers = ring->nr_sets - 1,
		.slots = ring->room,
		.stride = ring->stride,
		.filling = dep_ring_filling(inst),
		.page_size = PAGE_SIZE,
		.slots_size = ring->slot_pages * PAGE_SIZE,
	};
	return copy_struct_to_user(arg, _IOC_SIZE(cmd), &info, sizeof(info),
				   NULL);
}

/* Marks the sets that are owned, as the program says. */
static int reclaim_read(const struct dep_ring *ring, unsigned long *owned,
			const struct devepoll_ring_reclaim *args)
{
	const u32 __user *user = u64_to_user_ptr(args->owned);
	u32 i, set;

	for (i = 0; i < args->nr; i++) {
		if (get_user(set, &user[i]))
			return -EFAULT;
		if (set >= ring->nr_sets)
			return -EINVAL;
		set = array_index_nospec(set, ring->nr_sets);
		if (__test_and_set_bit(set, owned))
			return -EBUSY;
		cond_resched();
	}
	return 0;
}

/*
 * The consumer of this set has ended, so its events count as dealt with.  It
 * may have ended after it took DEVEPOLL_RING_ASK out of the word, and before it
 * noted that for others: so the word gets the flag again if it is needed.
 */
static void reclaim_come_back(struct dep_instance *inst, u32 set)
{
	spin_lock_irq(&inst->lock);
	if (dep_instance_readers(inst))
		dep_reader_gives_back(inst, set);
	dep_ring_end_call(inst);
	spin_unlock_irq(&inst->lock);
}

/* The first set that is not owned, or -errno. */
static int reclaim_find(struct dep_instance *inst,
			const struct devepoll_ring_reclaim *args)
{
	const struct dep_ring *ring = inst->ring;
	unsigned long *owned = bitmap_zalloc(ring->nr_sets,
					     GFP_KERNEL_ACCOUNT);
	int ret;

	if (!owned)
		return -ENOMEM;
	ret = reclaim_read(ring, owned, args);
	if (!ret && __test_and_set_bit(dep_ring_filling(inst), owned))
		ret = -EBUSY;
	/* There is one: the program may name fewer than there are consumers. */
	if (!ret) {
		ret = find_first_zero_bit(owned, ring->nr_sets);
		reclaim_come_back(inst, ret);
	}
	bitmap_free(owned);
	return ret;
}

static long ring_reclaim(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	const struct dep_ring *ring = dep_instance_ring(inst);
	struct devepoll_ring_reclaim __user *user = arg;
	struct devepoll_ring_reclaim args;
	long ret;

	ret = dep_words_from_user((u64 *)&args, sizeof(args), arg,
				  _IOC_SIZE(cmd));
	if (ret)
		return ret;
	if (!ring || args.flags || args.set || args.reserved ||
	    args.nr >= ring->nr_sets - 1)
		return -EINVAL;
	ret = reclaim_find(inst, &args);
	return ret < 0 ? ret : put_user((u32)ret, &user->set);
}

static const struct dep_request ring_requests[] = {
	{ DEVEPOLL_RING_WAIT, true, FMODE_READ, ring_wait_sized },
	{ DEVEPOLL_RING, true, FMODE_WRITE, ring_make },
	{ DEVEPOLL_RING_INFO, true, 0, ring_info },
	{ DEVEPOLL_RING_RECLAIM, true, FMODE_WRITE, ring_reclaim },
	{ },
};

static int ring_mmap(struct file *file, struct vm_area_struct *vma)
{
	switch (vma->vm_pgoff) {
	case DEVEPOLL_MAP_RING >> PAGE_SHIFT:
		return dep_ring_map_word(file->private_data, vma);
	case DEVEPOLL_MAP_RING_SLOTS >> PAGE_SHIFT:
		return dep_ring_map_slots(file->private_data, vma);
	}
	return -ENODEV;
}

static const char *ring_describe(const struct dep_instance *inst)
{
	return READ_ONCE(inst->ring) ? "extended, ring" : NULL;
}

DEP_INTERFACE_TABLE(ring) = {
	.name = "ring",
	.features = DEVEPOLL_FEATURE_RING,
	.requests = ring_requests,
	.mmap = ring_mmap,
	.free = dep_ring_free,
	.describe = ring_describe,
};
