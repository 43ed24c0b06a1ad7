/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Items that must be asked, and the asking.
 */
#ifndef DEVEPOLL_READY_H
#define DEVEPOLL_READY_H

#include "instance.h"

/**
 * dep_ready_may_ask() - is there a file to ask, or is one being asked?
 * @inst: the instance; not locked
 *
 * What this overlooks because somebody has asked in the meantime is posted
 * already: look at dep_instance.pending after this, not before.
 *
 * Return: true if dep_ready_ask() should be called.
 */
static inline bool dep_ready_may_ask(const struct dep_instance *inst)
{
	if (READ_ONCE(inst->asks.next) != &inst->asks)
		return true;
	/* Pairs with smp_wmb() in dep_ready_ask(). */
	smp_rmb();
	/* Pairs with the release there. */
	return smp_load_acquire(&inst->asking);
}

void dep_ready_ask(struct dep_instance *inst, bool harvesting);

#endif /* DEVEPOLL_READY_H */
