/* SPDX-License-Identifier: GPL-2.0 */
/* Pages that the kernel holds for a user count against RLIMIT_MEMLOCK. */
#ifndef DEVEPOLL_CHARGE_H
#define DEVEPOLL_CHARGE_H

#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

/**
 * dep_charge_pages() - charge pages to a user
 * @user: who pays
 * @nr: how many pages
 *
 * The limit is the caller's.  As with mlock(2), CAP_IPC_LOCK lifts it.
 *
 * Return: 0, or -ENOMEM above the limit.
 */
static inline int dep_charge_pages(struct user_struct *user, unsigned long nr)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long before = atomic_long_read(&user->locked_vm);

	do {
		if (before + nr > limit && !capable(CAP_IPC_LOCK))
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &before,
					  before + nr));
	return 0;
}

/**
 * dep_uncharge_pages() - take back a charge
 * @user: who was charged
 * @nr: how many pages
 */
static inline void dep_uncharge_pages(struct user_struct *user,
				      unsigned long nr)
{
	atomic_long_sub(nr, &user->locked_vm);
}

#endif /* DEVEPOLL_CHARGE_H */
