/* SPDX-License-Identifier: GPL-2.0 */
/* Items that need poll, and how they are polled. */
#ifndef DEVEPOLL_READY_H
#define DEVEPOLL_READY_H

#include "core/instance.h"
#include "core/item.h"

struct dep_results;

extern const struct dep_sink dep_ready_sink;

/**
 * dep_ready_may_ask() - is there a file to poll, or is one being polled?
 * @inst: the instance; not locked
 *
 * Also true if a pass came between: then items may have been off the list just
 * when this looked.  For sets of 2001, look at dep_instance.pending after this,
 * not before.
 *
 * Return: true if the files should be polled.
 */
static inline bool dep_ready_may_ask(const struct dep_instance *inst)
{
	/* Pairs with the release in ready_end(). */
	u32 seq = smp_load_acquire(&inst->ask_seq);

	/* The list, and the items in the ring. */
	if (seq & 1 || dep_instance_nr_ready(inst))
		return true;
	/* Pairs with smp_wmb() in ready_begin(). */
	smp_rmb();
	return READ_ONCE(inst->ask_seq) != seq;
}

/**
 * dep_instance_next_pass() - number a pass over the ready list
 * @inst: the instance; dep_instance.mtx held
 *
 * Return: the number, which is odd, and so not 0.
 */
static inline u32 dep_instance_next_pass(struct dep_instance *inst)
{
	lockdep_assert_held(&inst->mtx);
	inst->pass += 2;
	return inst->pass;
}

void dep_ready_ask(struct dep_instance *inst, bool taking);
int dep_ready_collect(struct dep_instance *inst, struct dep_results *results);
u32 dep_ready_count(struct dep_instance *inst, struct dep_results *results,
		    u32 enough);
void dep_ready_pass_on(struct dep_instance *inst);
__poll_t dep_ready_poll(const struct file *file, unsigned int depth,
			bool removes, bool waits);

#endif /* DEVEPOLL_READY_H */
