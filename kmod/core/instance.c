// SPDX-License-Identifier: GPL-2.0
/*
 * Instances: how they are made and freed.  Read the banner of instance.h first.
 */
#include <linux/cred.h>
#include <linux/sched/user.h>
#include <linux/slab.h>

#include "core/instance.h"
#include "core/open.h"

unsigned int dep_max_fds = DEP_MAX_FDS_DEFAULT;
unsigned long dep_max_user_watches;
const struct file_operations *dep_instance_fops;

/**
 * dep_instance_new() - make an instance
 * @sink: where its events go
 * @cred: who pays; must live as long as the instance
 *
 * Context: process; sleeps.
 * Return: the instance, owned by the caller, or NULL without memory.
 */
struct dep_instance *dep_instance_new(const struct dep_sink *sink,
				      const struct cred *cred)
{
	struct dep_instance *inst;

	inst = kzalloc(sizeof(*inst), GFP_KERNEL_ACCOUNT);
	if (!inst)
		return NULL;
	inst->person = dep_person_get(cred);
	if (!inst->person) {
		kfree(inst);
		return NULL;
	}

	spin_lock_init(&inst->lock);
	inst->sink = sink;
	INIT_LIST_HEAD(&inst->ready);
	INIT_LIST_HEAD(&inst->prompt.waiters);
	INIT_LIST_HEAD(&inst->deferred.waiters);
	INIT_LIST_HEAD(&inst->woken);
	INIT_LIST_HEAD(&inst->nesting.inner);
	INIT_LIST_HEAD(&inst->nesting.outer);
	inst->snapshot = 2;
	/* Odd for ever, so no pass has the number of no pass. */
	inst->pass = 1;
	/* As a rule, whoever opens a set adds to it, and nobody else does. */
	INIT_LIST_HEAD(&inst->owners);
	INIT_LIST_HEAD(&inst->spare_owners);
	INIT_LIST_HEAD(&inst->own_owners[1].entry);
	dep_owner_begin(&inst->own_owners[0]);
	list_add(&inst->own_owners[0].entry, &inst->owners);
	inst->owner_files = inst->own_owners[0].files;
	mutex_init(&inst->mtx);
	mutex_init(&inst->map_lock);
	init_waitqueue_head(&inst->poll_queue);
	INIT_LIST_HEAD(&inst->in_relay);
	INIT_LIST_HEAD(&inst->in_late);
	inst->user = cred->user;
	return inst;
}

/**
 * dep_instance_free() - free an instance whose items and pages are gone
 * @inst: the instance; nobody else can reach it any more, and it is in no relay
 */
void dep_instance_free(struct dep_instance *inst)
{
	struct dep_owner *owner, *next;

	might_sleep();
	WARN_ON_ONCE(inst->nr_items || inst->interest.charged);
	WARN_ON_ONCE(inst->free_hosts || inst->returned.first);
	WARN_ON_ONCE(inst->nr_waiters || !list_empty(&inst->woken));
	WARN_ON_ONCE(inst->coming || inst->nr_cookies);
	WARN_ON_ONCE(!list_empty(&inst->ready));
	WARN_ON_ONCE(!list_empty(&inst->nesting.inner) ||
		     !list_empty(&inst->nesting.outer));

	dep_fdmap_destroy(&inst->interest);
	/* Without items, only the last one that added is there. */
	WARN_ON_ONCE(!list_is_singular(&inst->owners));
	list_splice_init(&inst->owners, &inst->spare_owners);
	list_for_each_entry_safe(owner, next, &inst->spare_owners, entry) {
		if (owner->allocated)
			kfree(owner);
	}
	dep_person_put(inst->person);
	kfree(inst);
}
