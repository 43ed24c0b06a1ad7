// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for events that the program takes out of its ring.  A call polls the
 * files on the ready list, posts their events, and sleeps until there is
 * something in the ring.
 *
 * Posts take the lock of the instance, under which the call looks and queues
 * itself.  So no event is missed, whatever the program writes to the word.
 */
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "core/waiter.h"
#include "ring/ring.h"
#include "set/ready.h"

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

/**
 * dep_wait_for_ring() - wait until there are events in the ring
 * @waiting: the call
 * @inst: the instance, which has a ring
 *
 * Polls the files on the ready list, and posts their events.
 *
 * Context: process; sleeps.
 * Return: how many events are in the ring, which another thread may take first;
 * 0 if the timeout has passed;
 * -EINTR: a signal is pending, and no event is.
 */
int dep_wait_for_ring(struct dep_waiting *waiting, struct dep_instance *inst)
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
	dep_waiting_pass(inst);
	return verdict == RING_SIGNAL ? -EINTR : 0;
}
