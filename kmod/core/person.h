/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is accountable for a set where a resource is shared by the whole system:
 * a user, together with all users in the namespaces that this user made.
 */
#ifndef DEVEPOLL_PERSON_H
#define DEVEPOLL_PERSON_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include "core/limits.h"

struct cred;
struct user_namespace;

/**
 * struct dep_person - who is accountable for a set
 * @uid: the user, as seen from the initial namespace
 * @ns: the namespace, if root made it for others; to compare, never to
 *	dereference
 */
struct dep_person {
	kuid_t uid;
	const struct user_namespace *ns;
};

/**
 * dep_person_is() - are these two the same person?
 * @a: one
 * @b: the other
 *
 * Return: true if they are.
 */
static inline bool dep_person_is(struct dep_person a, struct dep_person b)
{
	return uid_eq(a.uid, b.uid) && a.ns == b.ns;
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

struct dep_person dep_person_of(const struct cred *cred);
bool dep_person_is_exempt(void);

#endif /* DEVEPOLL_PERSON_H */
