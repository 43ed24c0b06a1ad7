// SPDX-License-Identifier: GPL-2.0
/*
 * Who has how many of the signals that all users share: one object for each
 * person, as long as they have signal sets or siginfos that are not freed yet.
 */
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "sinks/share.h"

/* Taken from RCU callbacks, too; nothing is taken under it. */
static DEFINE_SPINLOCK(share_lock);
static LIST_HEAD(shares);

static struct dep_share *share_find(struct dep_person person)
{
	struct dep_share *share;

	lockdep_assert_held(&share_lock);
	list_for_each_entry(share, &shares, link) {
		if (dep_person_is(share->person, person))
			return share;
	}
	return NULL;
}

/**
 * dep_share_get() - find or make the share of a person
 * @person: the person
 *
 * Context: process; sleeps.
 * Return: the share, for dep_share_put(), or NULL without memory.
 */
struct dep_share *dep_share_get(struct dep_person person)
{
	struct dep_share *share, *own;

	own = kzalloc(sizeof(*own), GFP_KERNEL_ACCOUNT);
	if (!own)
		return NULL;
	refcount_set(&own->refs, 1);
	own->person = person;

	spin_lock_irq(&share_lock);
	share = share_find(person);
	if (share) {
		refcount_inc(&share->refs);
	} else {
		list_add(&own->link, &shares);
		swap(share, own);
	}
	spin_unlock_irq(&share_lock);
	kfree(own);
	return share;
}

/**
 * dep_share_put() - drop a reference on a person's share
 * @share: the share
 *
 * Context: any.
 */
void dep_share_put(struct dep_share *share)
{
	unsigned long flags;

	if (refcount_dec_not_one(&share->refs))
		return;
	spin_lock_irqsave(&share_lock, flags);
	if (refcount_dec_and_test(&share->refs))
		list_del(&share->link);
	else
		share = NULL;
	spin_unlock_irqrestore(&share_lock, flags);
	kfree(share);
}
