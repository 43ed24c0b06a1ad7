// SPDX-License-Identifier: GPL-2.0
/*
 * The fast path of epoll_wait(2): it takes ordinary items off the ready list,
 * polls their files and writes the events, in one function for an item or two,
 * or one event (fast_one.h), in another one for several (fast_many.c), and in a
 * third one where threads share the table of files (fast_shared.c).  It stops at
 * the first item that is not ordinary, and at memory that is not there; a pass
 * (pass.c) continues where it stopped.
 *
 * It does what a pass does, and nothing else: a module that is built with
 * DEVEPOLL_NO_FAST_PATH=1 leaves everything to the passes, and must pass the
 * same tests.
 */
#include "set/fast.h"
#include "set/fast_call.h"
#include "set/fast_one.h"
#include "set/ready.h"

static noinline int fast_wait_one(struct dep_instance *inst,
				  struct epoll_event __user *to, u32 max,
				  int timeout_ms)
{
	u64 collected = FAST_REST;

	if (likely(fast_begin(inst, current->files, NULL)))
		collected = fast_collect_one(inst, to, max);
	if (fast_ends(inst, collected, timeout_ms))
		return collected;
	return dep_fast_wait_on(inst, to, max, timeout_ms, collected);
}

/**
 * dep_fast_wait() - epoll_wait(2)
 * @inst: the instance, of the extended interface
 * @to: where the events go; access_ok() for @max
 * @max: how many at most, at least 1
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Context: process; sleeps.
 * Return: as dep_collect_wait().
 */
int dep_fast_wait(struct dep_instance *inst, struct epoll_event __user *to,
		  u32 max, int timeout_ms)
{
	if (!dep_ready_may_ask(inst)) {
		if (!timeout_ms)
			return 0;
		/* While the caller sleeps, nobody can come to share a table. */
		return fast_is_alone() ?
			dep_fast_wait_on(inst, to, max, timeout_ms, 0) :
			dep_fast_sleep_shared(inst, to, max, timeout_ms, 0);
	}
	if (!fast_is_alone())
		return dep_fast_wait_shared(inst, to, max, timeout_ms);
	if (fast_expects_one(inst, max))
		return fast_wait_one(inst, to, max, timeout_ms);
	return dep_fast_wait_many(inst, to, max, timeout_ms);
}
