/* SPDX-License-Identifier: GPL-2.0 */
/* How many of the signals that all users share belong to one person. */
#ifndef DEVEPOLL_SHARE_H
#define DEVEPOLL_SHARE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>

#include "core/person.h"

/**
 * struct dep_share - the share of one person
 * @link: lock of share.c: in its list
 * @refs: the person's signal sets and siginfos
 * @person: const: the person; the address of a namespace that has gone may be
 *	reused by another one, which then shares what is left of this share
 * @signals: the person's siginfos that are not freed yet
 */
struct dep_share {
	struct list_head link;
	refcount_t refs;
	struct dep_person person;
	atomic_long_t signals;
};

struct dep_share *dep_share_get(struct dep_person person);
void dep_share_put(struct dep_share *share);

#endif /* DEVEPOLL_SHARE_H */
