// SPDX-License-Identifier: GPL-2.0
/*
 * Who is accountable for a set.  As with the kernel's own limits on namespaces,
 * the owner of the outermost namespace is accountable for everyone in it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/user.h>
#include <linux/user_namespace.h>

#include "core/person.h"

/**
 * dep_person_of() - who is accountable for a set opened with these credentials?
 * @cred: the credentials; the person is valid for as long as they live
 *
 * Subordinate uids are of use only in a namespace, and a namespace belongs to
 * the user who made it.  Root makes namespaces for others, so each of root's
 * counts as a person of its own.
 *
 * Return: the person.
 */
struct dep_person dep_person_of(const struct cred *cred)
{
	const struct user_namespace *ns = cred->user_ns;

	if (ns == &init_user_ns)
		return (struct dep_person) { .uid = cred->user->uid };
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return (struct dep_person) {
		.uid = ns->owner,
		.ns = uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns : NULL,
	};
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
