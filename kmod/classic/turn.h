/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns of a set of 2001: the time from one hand-out of events to the next.
 * See classic.c.
 */
#ifndef DEVEPOLL_TURN_H
#define DEVEPOLL_TURN_H

#include <linux/sched.h>

#include "core/instance.h"
#include "set/ready.h"

/**
 * dep_turn_may_take() - is the memory of the turn before free?
 * @inst: the instance, locked
 * @turn: the turn in which the call began that wants to take events
 *
 * Return: true if that call may take them.
 */
static inline bool dep_turn_may_take(const struct dep_instance *inst, u64 turn)
{
	return turn == inst->turns.now || inst->turns.open == inst->turns.now;
}

/**
 * dep_turn_end() - end a turn: the caller got all pending events
 * @inst: the instance, locked
 */
static inline void dep_turn_end(struct dep_instance *inst)
{
	struct task_struct *reader = current;

	lockdep_assert_held(&inst->lock);
	WRITE_ONCE(inst->turns.now, inst->turns.now + 1);
	/* An io_uring worker may end any time; any thread may read for it. */
	inst->turns.reader_is_process = reader->flags & PF_IO_WORKER;
	inst->turns.reader_mm = reader->mm;
	if (unlikely(inst->turns.reader_is_process))
		reader = reader->group_leader;
	inst->turns.reader = task_pid_nr(reader);
	inst->turns.reader_start = reader->start_boottime;
}

/**
 * dep_turn_at_once() - may there be events that can be taken at once?
 * @inst: the instance; not locked, so the answer is a hint
 *
 * Return: true if events are pending and no file has to be polled first.
 */
static inline bool dep_turn_at_once(const struct dep_instance *inst)
{
	return READ_ONCE(inst->pending) &&
	       READ_ONCE(inst->ready.next) == &inst->ready;
}

/**
 * dep_turn_in_vain() - would a call that does not wait find nothing?
 * @inst: the instance; not locked: an event of this moment is the next call's
 * @turn: the turn in which the call began
 *
 * Return: true if nothing is pending, no file has to be polled or is being
 * polled, and the turn is known to be open.
 */
static inline bool dep_turn_in_vain(const struct dep_instance *inst,
				    u64 turn)
{
	return !dep_ready_may_ask(inst) && !READ_ONCE(inst->pending) &&
	       READ_ONCE(inst->turns.open) == turn;
}

#endif /* DEVEPOLL_TURN_H */
