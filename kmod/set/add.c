// SPDX-License-Identifier: GPL-2.0
/* Adding a file to the interest list. */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/sched.h>

#include "core/compat.h"
#include "core/host.h"
#include "core/item.h"
#include "core/nest.h"
#include "core/trace.h"
#include "files/filekind.h"
#include "files/table.h"
#include "set/add.h"
#include "set/check.h"
#include "set/interest.h"
#include "set/lookup.h"
#include "set/owner.h"

/* The bits that EPOLLEXCLUSIVE permits, as in epoll_ctl(2). */
#define DEP_EXCLUSIVE_EVENTS \
	((__force u16)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP))
#define DEP_EXCLUSIVE_MODES \
	(DEP_MODE_EXCLUSIVE | DEP_MODE_EDGE | DEP_MODE_TRUST | \
	 DEP_MODE_TELL_CLOSED)

/* Makes an item, up to the point where it is hooked; @alone: see there. */
static __always_inline struct dep_item *
interest_new_item(struct dep_instance *inst, struct file *file,
		  const struct dep_change *ch, bool alone)
{
	struct dep_instance *inner = dep_instance_of(file);
	bool plain = likely(dep_file_is_plain(file));
	struct dep_item *item;
	struct dep_nest *nest;
	int err;

	if ((!plain && dep_file_is_epoll(file)) || (inner && !inst->extended))
		return ERR_PTR(-ELOOP);
	/* It may shrink at this moment, but not grow: one plain instruction. */
	if (data_race(READ_ONCE(inst->nr_items)) >= inst->room)
		return ERR_PTR(-ENOSPC);
	item = dep_item_new(inst, file, ch->fd, ch->events,
			    alone && !inner && !inst->sink->join &&
			    !dep_fast_path_off && !dep_watch_exists(file));
	if (IS_ERR(item))
		return item;
	item->mode = ch->mode | dep_item_poll_mode(inst, ch->mode);
	if (!plain && dep_file_consumes(file))
		item->mode |= DEP_MODE_KEEP;
	item->data = ch->data;
	err = dep_owner_set(item);
	if (!err && unlikely(inst->sink->join))
		err = inst->sink->join(item);
	if (err) {
		dep_item_discard(item);
		return ERR_PTR(err);
	}
	if (inner) {
		nest = dep_nest_link(inst, inner);
		if (IS_ERR(nest)) {
			dep_item_discard(item);
			return ERR_CAST(nest);
		}
		dep_lone_of(item)->nest = nest;
		item->mode |= DEP_MODE_NEST;
	}
	return item;
}

/*
 * Puts an item into the list that dep_item_hook() did not take.  Most numbers
 * have no item, so it is not searched for before.  Beside items of other files,
 * another one is put there, which has no host.  Frees the item if it fails.
 */
static noinline struct dep_item *
interest_hook_other(struct dep_instance *inst, struct file *file,
		    const struct dep_change *ch, struct dep_item *item, int err)
{
	if (err == -EEXIST && !dep_interest_find(inst, file, ch->fd)) {
		/* One that has no host can stay: nothing is taken twice. */
		if (dep_item_hosted(item)) {
			dep_item_discard(item);
			item = interest_new_item(inst, file, ch, false);
			if (IS_ERR(item))
				return item;
		}
		err = dep_item_hook(item, false);
	}
	if (!err)
		return item;
	dep_item_discard(item);
	return ERR_PTR(err);
}

static __always_inline int interest_add(struct dep_instance *inst,
					struct file *file,
					const struct dep_change *ch)
{
	bool searched = false;
	struct dep_item *item;
	u16 ready;
	int err;

	/* What an item takes in a signal set goes back only after a while. */
	if (unlikely(inst->onesig) && dep_interest_find(inst, file, ch->fd))
		return -EEXIST;
	while (IS_ERR(item = interest_new_item(inst, file, ch, true))) {
		/* It may be there already, or a stale one may take the room. */
		if (dep_interest_find(inst, file, ch->fd))
			return -EEXIST;
		if (searched)
			return PTR_ERR(item);
		searched = true;
	}
	err = dep_item_hook(item, true);
	if (unlikely(err)) {
		item = interest_hook_other(inst, file, ch, item, err);
		if (IS_ERR(item))
			return PTR_ERR(item);
	}
	err = dep_watch_attach(item, &ready);

	/* The file is ours and M is held: the item is still hooked. */
	if (unlikely(err)) {
		spin_lock_irq(&inst->lock);
		dep_item_unhook(item);
		spin_unlock_irq(&inst->lock);
		dep_item_drop(item, false);
		return err;
	}
	inst->stats.adds++;
	trace_devepoll_add(item);
	/* Often there is nothing to post, and L is not needed again. */
	if (ready & ch->events) {
		spin_lock_irq(&inst->lock);
		dep_item_post(item, ready, false);
		spin_unlock_irq(&inst->lock);
	}
	return 0;
}

/**
 * dep_interest_add() - add a file
 * @inst: the instance
 * @file: the file, on which the caller has a reference
 * @ch: the number, and the events asked for
 *
 * What is ready already is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: as dep_interest_set() for an fd that is added, or
 * -EEXIST: it has an item of this number and file.
 */
int dep_interest_add(struct dep_instance *inst, struct file *file,
		     const struct dep_change *ch)
{
	return interest_add(inst, file, ch);
}

/* May EPOLLEXCLUSIVE be combined with the rest? */
static bool interest_may_exclude(const struct file *file,
				 const struct dep_change *ch)
{
	return !dep_instance_of(file) && !dep_file_is_epoll(file) &&
	       !ch->odd && !(ch->events & ~DEP_EXCLUSIVE_EVENTS) &&
	       !(ch->mode & ~DEP_EXCLUSIVE_MODES);
}

/**
 * dep_interest_add_fd() - add an fd, as EPOLL_CTL_ADD does
 * @inst: the instance
 * @ch: the number, and what is asked for
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: as dep_interest_change().
 */
int dep_interest_add_fd(struct dep_instance *inst, const struct dep_change *ch)
{
	struct fd f = fdget(ch->fd);
	int err;

	lockdep_assert_held(&inst->mtx);
	if (unlikely(!fd_file(f)))
		return -EBADF;
	err = dep_check_file(inst, fd_file(f));
	if (unlikely(ch->mode & DEP_MODE_EXCLUSIVE) && !err &&
	    !interest_may_exclude(fd_file(f), ch))
		err = -EINVAL;
	if (likely(!err))
		err = interest_add(inst, fd_file(f), ch);
	fdput(f);
	return err;
}
