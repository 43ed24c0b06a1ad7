/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a person has of the signals of all.
 */
#ifndef DEVEPOLL_SHARE_H
#define DEVEPOLL_SHARE_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>

#include "core/person.h"

/**
 * struct dep_share - the part of one person
 * @link: lock of share.c: in its list
 * @refs: his signal sets, and his siginfos
 * @person: const: the person; a namespace that has gone may come again as
 *	another one, which then shares what is left of this
 * @signals: his siginfos that are not freed yet
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
