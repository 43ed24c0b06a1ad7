/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fast paths of waits have in common: how they begin and end, how they
 * tell how far they came, and how a pass continues there.
 */
#ifndef DEVEPOLL_FAST_CALL_H
#define DEVEPOLL_FAST_CALL_H

#include <linux/bits.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "core/compat.h"
#include "core/fput.h"
#include "core/instance.h"
#include "core/pending.h"
#include "core/trace.h"
#include "core/waiter.h"
#include "set/collect.h"
#include "set/last.h"
#include "set/owner.h"
#include "set/ready.h"
#include "set/results.h"
#include "set/waiting.h"

/*
 * What taking events returns: how many; that there may be more for a pass; that
 * memory was not there; and, above, the number of the pass.
 */
#define FAST_NR		((1U << 30) - 1)
#define FAST_FAULT	BIT(30)
#define FAST_REST	BIT(31)
#define FAST_PASS	32

/* Do one item or two wait, or is there room for one event only?  A guess. */
static __always_inline bool fast_expects_one(const struct dep_instance *inst,
					     u32 max)
{
	return max == 1 || dep_instance_nr_ready(inst) - 1 <= 1;
}

/* Does the caller's table keep the files that it names? */
static __always_inline bool fast_is_alone(void)
{
	const struct files_struct *files = current->files;

	return likely(files) && dep_owner_table_keeps(files);
}

/*
 * Takes M and L, as ready_begin() in ready.c, which has the other halves of the
 * barriers.  @waiter is the caller, if it has slept.  Returns false, and takes
 * nothing, if a pass has to do everything.
 */
static __always_inline bool fast_begin(struct dep_instance *inst,
				       const struct files_struct *files,
				       struct dep_waiter *waiter)
{
	if (DEP_NO_FAST_PATH || !files || mutex_lock_killable(&inst->mtx))
		return false;
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->ask_seq, inst->ask_seq + 1);
	/* Pairs with smp_rmb() in dep_ready_may_ask(). */
	smp_wmb();
	if (waiter)
		dep_waiter_back(inst, waiter);
	return true;
}

/*
 * Counts the events of @collected, and drops M; L was dropped.  What was left by
 * dep_last_leave() is released with nothing held: by a worker if a pass goes on,
 * which must not wait for that, since it wakes others for what is left.
 */
static __always_inline void fast_end(struct dep_instance *inst, u64 collected)
{
	struct file *last = dep_last_take(inst);
	u32 handed = collected & FAST_NR;

	inst->stats.waits += handed != 0;
	inst->stats.handed += handed;
	/* Pairs with the acquire in dep_ready_may_ask(). */
	smp_store_release(&inst->ask_seq, inst->ask_seq + 1);
	mutex_unlock(&inst->mtx);
	if (likely(!last))
		return;
	if (collected & FAST_REST)
		dep_fput_by_worker(last);
	else
		dep_fput_by_caller(last, handed);
}

/* Wakes another waiter for what is left. */
static __always_inline void fast_wake(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->lock);
	if (inst->nr_waiters && dep_instance_lacks_room(inst))
		dep_instance_wake(inst);
}

/* What taking events returns of a call that does not end with them. */
static __always_inline u64 fast_leave(u32 number, u32 flags, u32 nr)
{
	return (u64)number << FAST_PASS | FAST_REST | flags | nr;
}

/* Prepares a pass that continues where the fast path has stopped. */
static inline void fast_resume(struct dep_results *results, u64 collected)
{
	if (!(collected & FAST_REST))
		return;
	results->nr = collected & FAST_NR;
	results->pass = collected >> FAST_PASS;
	results->again = collected & FAST_FAULT;
}

/* Does a call end with what it took? */
static __always_inline bool fast_ends(struct dep_instance *inst,
				      u64 collected, int timeout_ms)
{
	/* Negative if FAST_REST is set. */
	int nr = collected;

	if (likely(nr > 0)) {
		trace_devepoll_harvest(inst, nr);
		return true;
	}
	return !nr && !timeout_ms;
}

/* The rest of a dep_results.collect, of a call that has slept. */
static __always_inline int fast_go_on(struct dep_instance *inst,
				      struct dep_results *results,
				      u64 collected)
{
	if (likely((int)collected > 0)) {
		trace_devepoll_harvest(inst, (int)collected);
		return collected;
	}
	if (!(collected & FAST_REST))
		return 0;
	fast_resume(results, collected);
	return dep_ready_collect(inst, results);
}

/* The rest of a call: items that are not ordinary, or a sleep. */
static __always_inline int fast_continue(struct dep_instance *inst,
					 struct dep_results *results,
					 int timeout_ms, u64 collected)
{
	struct dep_waiting waiting = {
		.timeout = timeout_ms < 0 ? -1 : timeout_ms * NSEC_PER_MSEC,
	};

	/* Nothing is ready, and the call may wait. */
	if (likely(!collected))
		return dep_collect_next(&waiting, inst, results, 0);
	fast_resume(results, collected);
	if (results->nr)
		return dep_ready_collect(inst, results);
	return dep_collect_wait(&waiting, inst, results);
}

#endif /* DEVEPOLL_FAST_CALL_H */
