// SPDX-License-Identifier: GPL-2.0
/*
 * Who answers for a set: as with the kernel's own limits of namespaces, the
 * owner of the outermost one answers for whoever is in it.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/sched/user.h>
#include <linux/user_namespace.h>

#include "core/person.h"

/**
 * dep_person_of() - who answers for a set that was opened with these?
 * @cred: the credentials; the person is good for as long as they live
 *
 * Subordinate users need a namespace to be of any use, and that belongs to who
 * made it.  Root makes namespaces for others, so each of his stands for itself.
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
 * dep_person_is_exempt() - may the caller take what is left for root?
 *
 * Return: true if he has CAP_SYS_RESOURCE, outside of any namespace.
 */
bool dep_person_is_exempt(void)
{
	return capable(CAP_SYS_RESOURCE);
}
