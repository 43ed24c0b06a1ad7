/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who answers for a set where something is short that is there once for all:
 * a user, with all the users that are his in namespaces of his own.
 */
#ifndef DEVEPOLL_PERSON_H
#define DEVEPOLL_PERSON_H

#include <linux/types.h>
#include <linux/uidgid.h>

#include "core/limits.h"

struct cred;
struct user_namespace;

/**
 * struct dep_person - who answers for a set
 * @uid: the user, as the first namespace has him
 * @ns: the namespace, if it is one that root made for others; to compare, never
 *	to look into
 */
struct dep_person {
	kuid_t uid;
	const struct user_namespace *ns;
};

/**
 * dep_person_is() - are two the same?
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
 * dep_person_may_take() - may somebody take one more of what all share?
 * @own: how many he has
 * @used: how many all have
 * @most: how many there are
 *
 * He leaves as many to others as he has, and a part to root: who comes later
 * finds something, however greedy those before him are.
 *
 * Return: true if he may.
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
