/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting for events. */
#ifndef DEVEPOLL_WAITING_H
#define DEVEPOLL_WAITING_H

#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/timekeeping.h>

#include "core/instance.h"
#include "core/waiter.h"
#include "set/ready.h"
#include "set/results.h"

/**
 * struct dep_waiting - one call that waits for events
 * @turn: the turn in which it began; in a set of 2001
 * @min: the minimum number of events; 0 means 1
 * @timeout: how long it may wait, in nanoseconds; 0: not at all, negative: for
 *	ever
 * @only_waits: the open by which it waits may not change the set; in a wait for
 *	a ring
 * @absolute: @timeout is the deadline, by the clock of the machine
 * @deadline: when to give up; KTIME_MAX: never, 0: at once or not known yet
 */
struct dep_waiting {
	u64 turn;
	u32 min;
	s64 timeout;
	bool absolute;
	bool only_waits;
	ktime_t deadline;
};

/**
 * dep_waiting_of_ms() - a call whose time-out is that of epoll_wait(2)
 * @timeout_ms: how long to wait, in milliseconds; negative for ever
 *
 * Return: the call.
 */
static __always_inline struct dep_waiting dep_waiting_of_ms(int timeout_ms)
{
	return (struct dep_waiting) {
		.timeout = timeout_ms < 0 ? -1 : timeout_ms * NSEC_PER_MSEC,
	};
}

void dep_waiting_set_absolute(struct dep_waiting *waiting);
void dep_waiting_set_deadline(struct dep_waiting *waiting);

/**
 * dep_waiting_expired() - has the deadline of a call passed?
 * @waiting: the call, after dep_waiting_set_deadline()
 *
 * Return: true if it has.
 */
static inline bool dep_waiting_expired(const struct dep_waiting *waiting)
{
	if (waiting->deadline == KTIME_MAX)
		return false;
	return !waiting->deadline ||
	       ktime_compare(ktime_get(), waiting->deadline) >= 0;
}

bool dep_waiting_sleep(const struct dep_waiting *waiting,
		       struct dep_instance *inst,
		       const struct dep_waiter *waiter, bool blocked);
void dep_waiting_wake_all(struct dep_instance *inst);

/* Waiting for events and taking them, in one call. */

int dep_collect_try(struct dep_results *results, struct dep_instance *inst,
		    u32 min, u32 *seen, bool woken);
int dep_collect_rest(struct dep_results *results, struct dep_instance *inst);
int dep_collect_wait(struct dep_waiting *waiting, struct dep_instance *inst,
		     struct dep_results *results);
int dep_collect_ms(struct dep_results *results, struct dep_instance *inst,
		   int timeout_ms);
int dep_collect_next(struct dep_waiting *waiting, struct dep_instance *inst,
		     struct dep_results *results, u32 seen);

/* A signal mask that is in force while a call waits. */

/**
 * dep_sigmask_begin() - set a signal mask for the call
 * @set: the mask; signals that can't be blocked are taken out of it
 */
static inline void dep_sigmask_begin(sigset_t *set)
{
	sigdelsetmask(set, sigmask(SIGKILL) | sigmask(SIGSTOP));
	sigprocmask(SIG_SETMASK, set, &current->saved_sigmask);
	set_restore_sigmask();
}

/**
 * dep_sigmask_end() - restore the old mask
 * @ret: what the call returns
 *
 * After EINTR the kernel restores it once the signal's handler was called.
 */
static inline void dep_sigmask_end(int ret)
{
	if (ret != -EINTR && test_and_clear_restore_sigmask())
		sigprocmask(SIG_SETMASK, &current->saved_sigmask, NULL);
}

#endif /* DEVEPOLL_WAITING_H */
