// SPDX-License-Identifier: GPL-2.0
/*
 * Items that wait for their last event.  Read the banner of instance.h first.
 */
#include <linux/percpu_counter.h>
#include <linux/sched/user.h>

#include "core/closing.h"
#include "core/holds.h"
#include "core/relay.h"
#include "core/ring_word.h"
#include "core/waiter.h"

/**
 * dep_item_close() - keep an item until its last event has been taken
 * @item: unhooked and on no watch; its instance is locked
 *
 * The item belongs to the instance from now on.  It is charged again: a program
 * that takes no events must not make the list grow for ever.
 *
 * Return: memory that the item does not need while it waits, perhaps for long:
 * the caller passes it to dep_fdmap_free_leaf() without L; or NULL.
 */
struct dep_leaf *dep_item_close(struct dep_item *item)
{
	struct dep_instance *inst = item->inst;
	struct dep_leaf *leaf = item->cut ? item->leaf : NULL;
	bool held = dep_instance_readers(inst);

	lockdep_assert_held(&inst->lock);
	/* The item's charge does not cover this memory. */
	item->cut = false;
	percpu_counter_add(&inst->user->epoll_watches, dep_item_charge(item));
	WRITE_ONCE(item->mode, item->mode | DEP_MODE_CLOSED);
	item->watched = DEP_WATCHED_NOT;
	if (held && dep_instance_has_ring(inst)) {
		/* The caller has cleared the item's slot: see holds.c. */
		smp_mb();
		dep_ring_sync(inst);
	}
	/* If a reader may still have an event of it, it is listed later. */
	if (!held || !dep_reader_holds(item))
		dep_item_list_closed(item);
	return leaf;
}
