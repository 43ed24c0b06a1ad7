// SPDX-License-Identifier: GPL-2.0
/*
 * The first use of a set by the extended interface.
 */
#include <linux/errno.h>
#include <linux/mutex.h>

#include "core/holds.h"
#include "core/instance.h"
#include "core/open.h"
#include "epoll/bind.h"
#include "set/results.h"

/**
 * dep_bind_first() - make a set one of the extended interface for now
 * @inst: the instance, which does not belong to it
 *
 * Context: process, dep_instance.mtx held.
 * Return: as dep_bind_begin().
 */
int dep_bind_first(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->mtx);
	if (inst->classic || inst->onesig)
		return -EBUSY;
	spin_lock_irq(&inst->lock);
	inst->room = dep_max_fds;
	WRITE_ONCE(inst->extended, true);
	spin_unlock_irq(&inst->lock);
	return 0;
}

/**
 * dep_bind_decide() - decide whether a set stays one of the extended interface
 * @inst: the instance
 * @used: false if the use came to nothing: either interface may have the set
 *
 * Context: process, dep_instance.mtx held since dep_bind_first().
 */
void dep_bind_decide(struct dep_instance *inst, bool used)
{
	lockdep_assert_held(&inst->mtx);
	if (used) {
		/* Pairs with dep_bind_is_settled(). */
		smp_store_release(&inst->settled, true);
		/* M is held, under which readers come. */
		if (!dep_instance_readers(inst))
			smp_store_release(&inst->plain, true);
		return;
	}
	spin_lock_irq(&inst->lock);
	WARN_ON_ONCE(inst->nr_items);
	inst->room = 0;
	WRITE_ONCE(inst->extended, false);
	spin_unlock_irq(&inst->lock);
}

/**
 * dep_bind_for_reader() - the rare half of dep_bind_for_wait()
 * @inst: the instance
 *
 * Context: process; sleeps.
 * Return: as dep_bind_for_wait().
 */
int dep_bind_for_reader(struct dep_instance *inst)
{
	if (!dep_bind_is_settled(inst))
		return dep_bind_settle(inst);
	dep_reader_back(inst);
	return 0;
}

/**
 * dep_bind_for_reading() - check a wait by an open without write access
 * @file: the open
 * @results: where the events go
 *
 * Mapped results are read by others, too, and the first use of a set decides
 * to which interface it belongs.
 *
 * Return: 0;
 * -EBADF: it may not use the mapping;
 * -EBUSY: it would be the first use of the set.
 */
int dep_bind_for_reading(const struct file *file, struct dep_results *results)
{
	results->only_waits = true;
	if (results->kernel && !(dep_instance_rights(file) & DEP_MAY_MAP))
		return -EBADF;
	/* A set whose first open is for reading only stays empty. */
	if (dep_instance_is_reader(file) &&
	    dep_bind_is_fresh(file->private_data))
		return -EBUSY;
	return 0;
}

/**
 * dep_bind_settle() - make a set one of the extended interface for ever
 * @inst: the instance
 *
 * Context: process; sleeps.
 * Return: as dep_bind_for_wait().
 */
int dep_bind_settle(struct dep_instance *inst)
{
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, false);
	if (!err)
		dep_bind_end(inst, true);
	mutex_unlock(&inst->mtx);
	return err;
}

/**
 * dep_bind_new() - make a new set one of the extended interface for ever
 * @inst: the instance; nobody else can reach it yet
 *
 * Context: process; sleeps.
 */
void dep_bind_new(struct dep_instance *inst)
{
	/* Not to wait for it: misc_open() holds a lock that drivers take. */
	if (WARN_ON_ONCE(!mutex_trylock(&inst->mtx)))
		return;
	WARN_ON_ONCE(dep_bind_first(inst));
	dep_bind_decide(inst, true);
	mutex_unlock(&inst->mtx);
}
