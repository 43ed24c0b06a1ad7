/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Releases of files whose last reference was ours: those of files that were
 * closed while they were polled wait until dep_instance.mtx is dropped.
 */
#ifndef DEVEPOLL_FPUT_H
#define DEVEPOLL_FPUT_H

#include <linux/bug.h>
#include <linux/init.h>
#include <linux/lockdep.h>

#include "core/instance.h"

void dep_fput_by_worker(struct file *file);
void dep_fput_by_caller(struct file *file, bool ends);

int __init dep_fput_init(void);
void dep_fput_exit(void);

void dep_last_leave(struct dep_instance *inst, struct file *file);
void dep_last_unlock(struct dep_instance *inst, bool free, bool ends);

/**
 * dep_last_hurry() - let a worker release what was left by dep_last_leave()
 * @inst: the instance; dep_instance.mtx is held, and may be for long
 *
 * Context: process; may sleep for memory.
 */
static inline void dep_last_hurry(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->mtx);
	if (unlikely(inst->last))
		dep_last_leave(inst, NULL);
}

/**
 * dep_last_keep() - dep_last_leave() where nothing was left before
 * @inst: the instance; dep_instance.mtx is held
 * @file: the file, which the program has closed
 *
 * Context: any.
 */
static inline void dep_last_keep(struct dep_instance *inst, struct file *file)
{
	lockdep_assert_held(&inst->mtx);
	WARN_ON_ONCE(inst->last);
	inst->last = file;
}

/**
 * dep_last_take() - take what was left by dep_last_leave()
 * @inst: the instance; dep_instance.mtx is held
 *
 * Return: the file, which the caller releases with nothing held; or NULL.
 */
static inline struct file *dep_last_take(struct dep_instance *inst)
{
	struct file *file = inst->last;

	lockdep_assert_held(&inst->mtx);
	if (unlikely(file))
		inst->last = NULL;
	return file;
}

#endif /* DEVEPOLL_FPUT_H */
