/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface that a set belongs to: none until its first use, then the one
 * that used it first, for ever.
 */
#ifndef DEVEPOLL_BIND_H
#define DEVEPOLL_BIND_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "core/instance.h"

struct dep_results;
struct file;

int dep_bind_first(struct dep_instance *inst);
void dep_bind_decide(struct dep_instance *inst, bool used);
int dep_bind_settle(struct dep_instance *inst);
void dep_bind_new(struct dep_instance *inst);
int dep_bind_for_reader(struct dep_instance *inst);
int dep_bind_for_reading(const struct file *file, struct dep_results *results);

/**
 * dep_bind_begin() - begin a use of a set by the extended interface
 * @inst: the instance
 * @signals: a signal set, which belongs to no interface, is fine, too
 *
 * A set that belongs to no interface becomes one of the extended interface;
 * dep_bind_end() decides whether it stays one.
 *
 * Context: process, dep_instance.mtx held.
 * Return: 0;
 * -EBUSY: it belongs to another interface.
 */
static inline int dep_bind_begin(struct dep_instance *inst, bool signals)
{
	lockdep_assert_held(&inst->mtx);
	if (likely(inst->extended) || (signals && inst->onesig))
		return 0;
	return dep_bind_first(inst);
}

/**
 * dep_bind_end() - end a use that dep_bind_begin() began
 * @inst: the instance
 * @used: false if the use came to nothing and the set has no item
 *
 * Context: process, dep_instance.mtx held since dep_bind_begin().
 */
static inline void dep_bind_end(struct dep_instance *inst, bool used)
{
	lockdep_assert_held(&inst->mtx);
	if (likely(inst->settled) || inst->onesig)
		return;
	dep_bind_decide(inst, used);
}

/**
 * dep_bind_is_settled() - does a set belong to the extended interface for ever?
 * @inst: the instance
 *
 * Return: true if it does; then the caller also sees what its first use made.
 */
static inline bool dep_bind_is_settled(const struct dep_instance *inst)
{
	/* Pairs with the release in dep_bind_decide(). */
	return smp_load_acquire(&inst->settled);
}

/**
 * dep_bind_is_plain() - is there nothing to be done before a wait?
 * @inst: the instance
 *
 * Return: true if dep_bind_is_settled(), and no fd reports its close; a caller
 * that has an event of such an fd in use sees that there is one.
 */
static inline bool dep_bind_is_plain(const struct dep_instance *inst)
{
	/* Pairs with the release in dep_bind_decide(). */
	return smp_load_acquire(&inst->plain);
}

/**
 * dep_bind_for_wait() - make a set one of the extended interface, to wait on it
 * @inst: the instance
 *
 * To be called after all other checks that may refuse the wait.  The caller has
 * come back for more: see dep_reader_back().
 *
 * Context: process; sleeps.
 * Return: 0;
 * -EBUSY: it belongs to another interface;
 * -EINTR: the caller is being killed.
 */
static inline int dep_bind_for_wait(struct dep_instance *inst)
{
	return likely(dep_bind_is_plain(inst)) ? 0 : dep_bind_for_reader(inst);
}

/**
 * dep_bind_is_classic() - does a set belong to the interface of 2001?
 * @inst: the instance; dep_bind_begin() tests again with dep_instance.mtx held
 *
 * Return: true if it does: then the caller refuses before it writes anything.
 */
static inline bool dep_bind_is_classic(const struct dep_instance *inst)
{
	return READ_ONCE(inst->classic);
}

/**
 * dep_bind_is_fresh() - does a set belong to no interface yet?
 * @inst: the instance
 *
 * Return: true if it did not at this moment, and so has no events.
 */
static inline bool dep_bind_is_fresh(const struct dep_instance *inst)
{
	return !READ_ONCE(inst->settled) && !READ_ONCE(inst->classic) &&
	       !READ_ONCE(inst->onesig);
}

#endif /* DEVEPOLL_BIND_H */
