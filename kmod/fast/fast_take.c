// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of DEVEPOLL_TAKE: it writes trusted edges from the ready list
 * into the mapped memory.  No file is polled, and nothing can fail.  It stops
 * at the first item that is not one of these; a pass (pass.c) continues where
 * it stopped, and does the same without this path: see fast.c.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/waiter.h"
#include "fast/fast.h"
#include "fast/fast_path.h"
#include "set/owner.h"
#include "set/ready.h"
#include "set/results.h"

/* Of these modes an item that can be taken here has DEP_MODE_TRUST alone. */
#define TAKE_MODES (DEP_MODE_TRUST | DEP_MODE_CLOSED | DEP_MODE_STAY | \
		    DEP_MODE_HELD | \
		    DEP_MODE_NEST | DEP_MODE_ONESHOT | DEP_MODE_EXCLUSIVE)

enum take_stop {
	/* the list has no item left that this call has not met */
	TAKE_OVER,
	/* no room, or enough for one hold */
	TAKE_FULL,
	/* the next item is for a pass */
	TAKE_REST,
};

/**
 * struct take - one call; its address is not taken: it is in registers
 * @inst: the instance
 * @to: where the next event goes
 * @end: the end of the array
 * @number: number of the pass
 * @stop: why the last hold of L ended
 */
struct take {
	struct dep_instance *inst;
	struct devepoll_event *to;
	struct devepoll_event *end;
	u32 number;
	enum take_stop stop;
};

static __always_inline bool take_may(const struct dep_item *item,
				     struct dep_owner_table table)
{
	return likely((item->mode & TAKE_MODES) == DEP_MODE_TRUST) &&
	       likely(!item->must_poll) && dep_owner_knows(item, table);
}

/* Takes the next items, in one hold of L. */
static __always_inline void take_batch(struct take *take,
				       const struct files_struct *files)
{
	struct dep_owner_table table = dep_owner_table_of(take->inst, files);
	struct dep_instance *inst = take->inst;
	struct list_head *ready = &inst->ready, *next;
	struct devepoll_event *to = take->to;
	/* No item gives more than one event. */
	const u32 most = min_t(u32, take->end - to, DEP_LOOK_BATCH);
	u32 looked = 0;

	lockdep_assert_held(&inst->lock);
	take->stop = TAKE_OVER;
	dep_instance_claim_first(inst);
	for (next = ready->next; next != ready; looked++) {
		struct dep_item *item;
		u16 told;

		item = list_entry(next, struct dep_item, ready);
		if (item->pass == take->number)
			break;
		if (unlikely(looked == most)) {
			take->stop = TAKE_FULL;
			break;
		}
		if (unlikely(!take_may(item, table))) {
			take->stop = TAKE_REST;
			break;
		}
		next = next->next;
		/* Off the list: a wake-up from now on puts it back. */
		item->ready.next = &item->ready;
		told = item->revents & item->events;
		dep_item_forget(item);
		item->pass = take->number;
		if (unlikely(!told))
			continue;
		to->data = item->data;
		to->events = told;
		to->fd = item->fd;
		to++;
	}
	/* Removes them all at once. */
	WRITE_ONCE(ready->next, next);
	next->prev = ready;
	inst->nr_ready -= looked;
	take->to = to;
}

/* May the next hold of L take more? */
static __always_inline bool take_goes_on(const struct take *take)
{
	return unlikely(take->stop == TAKE_FULL) && take->to != take->end &&
	       !fatal_signal_pending(current);
}

/* Takes events; as fast_collect_many(). */
static __always_inline u64 take_collect(struct dep_instance *inst,
					struct devepoll_event *to, u32 max,
					struct dep_waiter *waiter)
{
	const struct files_struct *files = current->files;
	struct take take = { .inst = inst, .to = to, .end = to + max };
	u32 nr;

	if (!files || mutex_lock_killable(&inst->mtx))
		return FAST_REST;
	take.number = dep_instance_next_pass(inst);
	spin_lock_irq(&inst->lock);
	if (waiter)
		dep_waiter_back(inst, waiter);
	/* A pass begins with what waits there. */
	if (unlikely(dep_instance_has_ring(inst)))
		take.stop = TAKE_REST;
	else
		take_batch(&take, files);
	while (take_goes_on(&take)) {
		spin_unlock_irq(&inst->lock);
		cond_resched();
		spin_lock_irq(&inst->lock);
		take_batch(&take, files);
	}
	nr = take.to - to;
	inst->stats.waits += nr != 0;
	inst->stats.handed += nr;
	/* If nothing was taken, the pass wakes for what it leaves. */
	if (nr || take.stop != TAKE_REST)
		fast_wake(inst);
	spin_unlock_irq(&inst->lock);
	/* Before the program looks: pairs with smp_mb() in dep_watch_wake(). */
	smp_mb();
	mutex_unlock(&inst->mtx);
	if (unlikely(take.stop == TAKE_REST))
		return (u64)take.number << FAST_PASS | FAST_REST | nr;
	return nr;
}

/* The dep_results.collect of a call that has slept. */
static int take_collect_again(struct dep_instance *inst,
			      struct dep_results *results)
{
	u64 collected;

	collected = take_collect(inst, results->kernel, results->max,
				 results->waiter);
	return fast_go_on(inst, results, collected);
}

static noinline int take_wait_on(struct dep_instance *inst,
				 struct devepoll_event *to, u32 max,
				 int timeout_ms, u64 collected)
{
	struct dep_results results = {
		.kernel = to,
		.layout = DEP_LAYOUT_EVENT,
		.max = max,
		.collect = take_collect_again,
	};

	return fast_continue(inst, &results, timeout_ms, collected);
}

static noinline int take_wait(struct dep_instance *inst,
			      struct devepoll_event *to, u32 max,
			      int timeout_ms)
{
	u64 collected = take_collect(inst, to, max, NULL);

	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return take_wait_on(inst, to, max, timeout_ms, collected);
}

/**
 * dep_fast_take() - wait for events in mapped memory
 * @inst: the instance, of the extended interface
 * @to: where the events go, in the kernel's mapping
 * @max: how many at most, at least 1
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_fast_take(struct dep_instance *inst, struct devepoll_event *to,
		  u32 max, int timeout_ms)
{
	if (dep_ready_may_ask(inst))
		return take_wait(inst, to, max, timeout_ms);
	if (!timeout_ms)
		return 0;
	return take_wait_on(inst, to, max, timeout_ms, 0);
}
