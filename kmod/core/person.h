/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is accountable for a set where a resource is shared by the whole system:
 * a user, together with all users in the namespaces that this user made.
 */
#ifndef DEVEPOLL_PERSON_H
#define DEVEPOLL_PERSON_H

#include <linux/atomic.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>

#include "core/lane.h"

struct cred;

/**
 * struct dep_person - who is accountable for a set
 * @link: lock of person.c: in its table
 * @refs: sets, siginfos, entries in wait queues and files to be released
 * @uid: const: the user, as seen from the initial namespace
 * @ns: const: the namespace, if root made it for others; to compare, never to
 *	dereference: if it has gone, another one may have its address, and is
 *	the same person then
 * @signals: the siginfos that are not freed yet
 * @releases: the files that workers are releasing
 * @nr_signal_sets: lock of onesig.c: how many use @works
 * @works: the same; const while there are such sets: where they poll files
 * @rcu: only to be freed in any context
 * @lanes: in the relay of each processor
 */
struct dep_person {
	struct hlist_node link;
	refcount_t refs;
	kuid_t uid;
	const struct user_namespace *ns;
	atomic_long_t signals;
	atomic_t releases;
	unsigned int nr_signal_sets;
	struct workqueue_struct *works;
	struct rcu_head rcu;
	struct dep_lane lanes[];
};

/**
 * dep_person_is_root() - is this root, outside of any namespace?
 * @person: the person
 *
 * Return: true if so.
 */
static inline bool dep_person_is_root(const struct dep_person *person)
{
	return uid_eq(person->uid, GLOBAL_ROOT_UID) && !person->ns;
}

/**
 * dep_person_hold() - take a further reference
 * @person: the person
 *
 * Return: the person.
 */
static inline struct dep_person *dep_person_hold(struct dep_person *person)
{
	refcount_inc(&person->refs);
	return person;
}

/**
 * dep_person_may_take() - may a person take one more of a shared resource?
 * @own: how many this person has
 * @used: how many are taken by everybody
 * @most: how many there are
 *
 * A person must leave as many to others as they have themselves, and a part to
 * root.  So someone who comes later finds something left, however greedy those
 * before them are.
 *
 * Return: true if they may.
 */
static inline bool dep_person_may_take(unsigned long own, unsigned long used,
				       unsigned long most)
{
	unsigned long others = most - most / DEP_ROOT_PART;

	return used < others && own < others - used;
}

struct dep_person *dep_person_get(const struct cred *cred);
void dep_person_put(struct dep_person *person);
bool dep_person_is_exempt(void);

#endif /* DEVEPOLL_PERSON_H */
