// SPDX-License-Identifier: GPL-2.0
/*
 * The last reference on a file that was closed while it was polled: it stays in
 * the instance until its mutex is released, since a release may take long.
 */
#include <linux/mutex.h>

#include "core/fput.h"
#include "set/last.h"

/**
 * dep_last_leave() - leave the last reference on a file to whoever drops M
 * @inst: the instance; dep_instance.mtx is held
 * @file: the file, which the program has closed; or NULL
 *
 * A worker releases what was left before.
 *
 * Context: process; may sleep for memory.
 */
void dep_last_leave(struct dep_instance *inst, struct file *file)
{
	lockdep_assert_held(&inst->mtx);
	if (inst->last)
		dep_fput_by_worker(inst->last);
	inst->last = file;
}

/**
 * dep_last_unlock() - drop dep_instance.mtx, and release what was left
 * @inst: the instance
 * @free: the caller holds nothing else; otherwise a worker releases it
 * @ends: the caller is about to return to user space
 */
void dep_last_unlock(struct dep_instance *inst, bool free, bool ends)
	__releases(&inst->mtx)
{
	struct file *last = dep_last_take(inst);

	mutex_unlock(&inst->mtx);
	if (likely(!last))
		return;
	if (free)
		dep_fput_by_caller(last, ends);
	else
		dep_fput_by_worker(last);
}
