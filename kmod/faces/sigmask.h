/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A signal set that is in force while a call waits.
 */
#ifndef DEVEPOLL_SIGMASK_H
#define DEVEPOLL_SIGMASK_H

#include <linux/sched/signal.h>
#include <linux/signal.h>

/**
 * dep_sigmask_begin() - put a signal set in force for the call
 * @set: the set; what can't be blocked is taken out of it
 */
static inline void dep_sigmask_begin(sigset_t *set)
{
	sigdelsetmask(set, sigmask(SIGKILL) | sigmask(SIGSTOP));
	sigprocmask(SIG_SETMASK, set, &current->saved_sigmask);
	set_restore_sigmask();
}

/**
 * dep_sigmask_end() - put the old set in force again
 * @ret: what the call returns
 *
 * After EINTR it comes back once the signal's handler was called.
 */
static inline void dep_sigmask_end(int ret)
{
	if (ret != -EINTR && test_and_clear_restore_sigmask())
		sigprocmask(SIG_SETMASK, &current->saved_sigmask, NULL);
}

#endif /* DEVEPOLL_SIGMASK_H */
