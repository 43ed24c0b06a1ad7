// SPDX-License-Identifier: GPL-2.0
/*
 * Who is accountable for a set: one object for each person, as long as they
 * have a set, or something of theirs is not freed yet.  As with the kernel's own
 * limits on namespaces, the owner of the outermost namespace is accountable for
 * everyone in it.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>

#include "core/person.h"

/* Taken from RCU callbacks, too; nothing is taken under it. */
static DEFINE_SPINLOCK(person_lock);
static DEFINE_HASHTABLE(persons, 6);

/*
 * The key of a person.  Subordinate uids are of use only in a namespace, and a
 * namespace belongs to the user who made it.  Root makes namespaces for others,
 * so each of root's counts as a person of its own.
 */
static kuid_t person_key(const struct cred *cred,
			 const struct user_namespace **of_root)
{
	const struct user_namespace *ns = cred->user_ns;

	*of_root = NULL;
	if (ns == &init_user_ns)
		return cred->user->uid;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	if (uid_eq(ns->owner, GLOBAL_ROOT_UID))
		*of_root = ns;
	return ns->owner;
}

static u32 person_hash(kuid_t uid, const struct user_namespace *ns)
{
	return __kuid_val(uid) ^ (u32)((uintptr_t)ns >> 6);
}

/*
 * Takes a reference on the person of this key.  If there is none, @fresh becomes
 * this person, unless that is NULL.
 */
static struct dep_person *person_find(kuid_t uid,
				      const struct user_namespace *ns,
				      struct dep_person *fresh)
{
	const u32 hash = person_hash(uid, ns);
	struct dep_person *person;

	spin_lock_irq(&person_lock);
	hash_for_each_possible(persons, person, link, hash) {
		if (uid_eq(person->uid, uid) && person->ns == ns) {
			dep_person_hold(person);
			goto unlock;
		}
	}
	person = fresh;
	if (fresh)
		hash_add(persons, &fresh->link, hash);
unlock:
	spin_unlock_irq(&person_lock);
	return person;
}

static struct dep_person *person_new(kuid_t uid,
				     const struct user_namespace *ns)
{
	struct dep_person *person;
	unsigned int cpu;

	person = kvzalloc(struct_size(person, lanes, nr_cpu_ids),
			  GFP_KERNEL_ACCOUNT);
	if (!person)
		return NULL;
	refcount_set(&person->refs, 1);
	person->uid = uid;
	person->ns = ns;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		dep_lane_init(&person->lanes[cpu], dep_person_is_root(person));
	return person;
}

/**
 * dep_person_get() - find or make the person who is accountable
 * @cred: for what is opened with these credentials
 *
 * Context: process; sleeps.
 * Return: the person, for dep_person_put(), or NULL without memory.
 */
struct dep_person *dep_person_get(const struct cred *cred)
{
	const struct user_namespace *ns;
	kuid_t uid = person_key(cred, &ns);
	struct dep_person *person, *own;

	person = person_find(uid, ns, NULL);
	if (likely(person))
		return person;
	own = person_new(uid, ns);
	if (!own)
		return NULL;
	person = person_find(uid, ns, own);
	if (person != own)
		kvfree(own);
	return person;
}

/**
 * dep_person_put() - drop a reference on a person
 * @person: the person; the last reference is dropped when nothing of theirs is
 *	in a relay
 *
 * Context: any.
 */
void dep_person_put(struct dep_person *person)
{
	unsigned long flags;

	if (refcount_dec_not_one(&person->refs))
		return;
	spin_lock_irqsave(&person_lock, flags);
	if (refcount_dec_and_test(&person->refs))
		hash_del(&person->link);
	else
		person = NULL;
	spin_unlock_irqrestore(&person_lock, flags);
	/* Nobody looks at it any more; kvfree() may sleep. */
	if (person)
		kvfree_rcu(person, rcu);
}

/**
 * dep_person_is_exempt() - may the caller take the part that is left for root?
 *
 * Return: true if it has CAP_SYS_RESOURCE in the initial namespace.
 */
bool dep_person_is_exempt(void)
{
	return capable(CAP_SYS_RESOURCE);
}
