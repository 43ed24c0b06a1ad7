/* SPDX-License-Identifier: GPL-2.0 */
/* A signal mask that is in force while a call waits. */
#ifndef DEVEPOLL_SIGMASK_H
#define DEVEPOLL_SIGMASK_H

#include <linux/sched/signal.h>
#include <linux/signal.h>

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

#endif /* DEVEPOLL_SIGMASK_H */
