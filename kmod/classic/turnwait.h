/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting on a set of 2001, and whose turn it is to take its events. */
#ifndef DEVEPOLL_TURNWAIT_H
#define DEVEPOLL_TURNWAIT_H

#include "core/instance.h"
#include "set/ready.h"
#include "set/waiting.h"

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

int dep_turn_wait(struct dep_waiting *waiting, struct dep_instance *inst);

#endif /* DEVEPOLL_TURNWAIT_H */
