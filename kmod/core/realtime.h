/* SPDX-License-Identifier: GPL-2.0 */
/* What is different with PREEMPT_RT. */
#ifndef DEVEPOLL_REALTIME_H
#define DEVEPOLL_REALTIME_H

#include <linux/preempt.h>

/*
 * A spinlock_t sleeps there: nobody takes one with preemption off, and wake
 * functions run with interrupts on.
 */
#ifdef CONFIG_PREEMPT_RT
#if !defined(CONFIG_X86_64) && !defined(CONFIG_ARM64)
#error "devepoll works with PREEMPT_RT on x86-64 and arm64 only"
#endif
#define DEP_LOCKS_SLEEP		true
#else
#define DEP_LOCKS_SLEEP		false
#endif

/*
 * Keeps the task on its processor; where locks don't sleep, also keeps other
 * tasks off it.
 */
static inline void dep_pin(void)
{
	if (DEP_LOCKS_SLEEP)
		migrate_disable();
	else
		preempt_disable();
}

static inline void dep_unpin(void)
{
	if (DEP_LOCKS_SLEEP)
		migrate_enable();
	else
		preempt_enable();
}

#endif /* DEVEPOLL_REALTIME_H */
