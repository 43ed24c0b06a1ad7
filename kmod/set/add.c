// SPDX-License-Identifier: GPL-2.0
/* Adding a file to the interest list. */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "core/compat.h"
#include "core/host.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/nest.h"
#include "core/open.h"
#include "core/readers.h"
#include "core/trace.h"
#include "files/filekind.h"
#include "files/table.h"
#include "set/add.h"
#include "set/interest.h"
#include "set/owner.h"

/* The bits that EPOLLEXCLUSIVE permits, as in epoll_ctl(2). */
#define DEP_EXCLUSIVE_EVENTS \
	((__force u16)(EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP))
#define DEP_EXCLUSIVE_MODES \
	(DEP_MODE_EXCLUSIVE | DEP_MODE_EDGE | DEP_MODE_TRUST | \
	 DEP_MODE_TELL_CLOSED)

/* What an add of a set does besides. */
static noinline int interest_add_nest(struct dep_item *item,
				      struct dep_instance *inner)
{
	struct dep_nest *nest;

	if (!DEP_HAS_NEST)
		return -ELOOP;
	nest = dep_nest_link(item->inst, inner);
	if (IS_ERR(nest))
		return PTR_ERR(nest);
	dep_lone_of(item)->nest = nest;
	item->mode |= DEP_MODE_NEST;
	return 0;
}

/*
 * Makes an item, up to the point where it is hooked.  @alone: neither its
 * number nor its file seems to have another.  @told: it has DEP_MODE_HELD, and
 * is not @alone.
 */
static __always_inline struct dep_item *
interest_new_item(struct dep_instance *inst, struct file *file, int fd,
		  u16 events, u32 mode, u64 data, bool alone, bool told)
{
	struct dep_instance *inner = dep_instance_of(file);
	int (*join)(struct dep_item *item) = inst->sink->join;
	bool plain = likely(dep_file_is_plain(file));
	struct dep_item *item;
	int err;

	if (!plain && dep_file_is_epoll(file))
		return ERR_PTR(-ELOOP);
	if (unlikely(inner) && !inst->extended)
		return ERR_PTR(-ELOOP);
	/* It may shrink at this moment, but not grow. */
	if (unlikely(dep_instance_nr_items(inst) >= inst->room))
		return ERR_PTR(-ENOSPC);
	item = dep_item_new(inst, file, fd, events,
			    alone && DEP_HAS_FAST &&
			    likely(!inner && !(mode & DEP_MODE_EXCLUSIVE)) &&
			    (!join || dep_instance_has_ring(inst)), told);
	if (IS_ERR(item))
		return item;
	mode = dep_check_trust(file, mode);
	item->mode = mode | dep_item_poll_mode(inst, mode);
	if (!plain && dep_file_consumes(file))
		item->mode |= DEP_MODE_KEEP;
	item->data = data;
	err = dep_owner_set(item);
	if (unlikely(join) && !err)
		err = join(item);
	if (unlikely(inner) && !err)
		err = interest_add_nest(item, inner);
	if (unlikely(err)) {
		dep_item_discard(item);
		return ERR_PTR(err);
	}
	return item;
}

/* The same, but it never gets a host; and it may report its close. */
static noinline struct dep_item *
interest_new_lone(struct dep_instance *inst, struct file *file, int fd,
		  u16 events, u32 mode, u64 data)
{
	bool told = mode & DEP_MODE_TELL_CLOSED;
	int err = told ? dep_readers_make(inst) : 0;

	if (err)
		return ERR_PTR(err);
	return interest_new_item(inst, file, fd, events,
				 told ? mode | DEP_MODE_HELD : mode, data,
				 false, told);
}

/*
 * Puts an item into the list that dep_item_hook_alone() did not take.  Most
 * numbers have no item, so it is not searched for before.  Beside items of
 * other files, another one is put there, which has no host.  Frees the item if
 * it fails.
 */
static noinline struct dep_item *
interest_hook_other(struct file *file, struct dep_item *item, int err)
{
	struct dep_instance *inst = item->inst;
	u16 events = item->events;
	u32 mode = item->mode;
	u64 data = item->data;
	int fd = item->fd;

	if (err == -EEXIST && !dep_interest_resolve(inst, file, fd)) {
		/* Without a host, it is reused: nothing is charged twice. */
		if (dep_item_hosted(item)) {
			dep_item_discard(item);
			item = interest_new_lone(inst, file, fd, events, mode,
						 data);
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

/* Takes out an item whose file could not be watched. */
static noinline int interest_undo(struct dep_item *item, int err)
{
	struct dep_instance *inst = item->inst;

	/* The caller has the file and M is held: the item is still hooked. */
	spin_lock_irq(&inst->lock);
	dep_item_unhook(item);
	spin_unlock_irq(&inst->lock);
	dep_item_drop(item, false);
	return err;
}

static noinline void interest_post_added(struct dep_item *item, u16 ready)
{
	struct dep_instance *inst = item->inst;

	spin_lock_irq(&inst->lock);
	dep_item_post(item, ready, false);
	spin_unlock_irq(&inst->lock);
}

/*
 * Has the set this file already?  @watched: dep_watch_maybe(); if it is false,
 * no set has (locking.rst), and L is not taken.  To be asked before anything is
 * allocated: in a signal set, what an item takes goes back only after a while.
 */
static __always_inline bool interest_has(struct dep_instance *inst,
					 struct file *file, int fd,
					 bool watched)
{
	/* With M held, there is none if there was none. */
	return unlikely(watched) && dep_instance_nr_items(inst) &&
	       dep_interest_resolve(inst, file, fd);
}

static __always_inline int interest_add(struct dep_instance *inst,
					struct file *file, int fd, u16 events,
					u32 mode, u64 data, bool watched)
{
	bool alone = !watched || !dep_watch_exists(file);
	struct dep_item *item;
	int answer, err;

	item = unlikely(mode & DEP_MODE_TELL_CLOSED) ?
		       interest_new_lone(inst, file, fd, events, mode, data) :
		       interest_new_item(inst, file, fd, events, mode, data,
					 alone, false);
	if (IS_ERR(item)) {
		/* It is not there, but this drops what is stale. */
		if (dep_interest_resolve(inst, file, fd))
			return -EEXIST;
		item = interest_new_lone(inst, file, fd, events, mode, data);
		if (IS_ERR(item))
			return PTR_ERR(item);
	}
	err = dep_item_hook_alone(item);
	if (unlikely(err)) {
		item = interest_hook_other(file, item, err);
		if (IS_ERR(item))
			return PTR_ERR(item);
	}
	answer = dep_watch_attach(item);
	if (unlikely(answer < 0))
		return interest_undo(item, answer);
	inst->stats.adds++;
	trace_devepoll_add(item);
	/* Often there is nothing to post, and L is not needed again. */
	if (answer & events)
		interest_post_added(item, answer);
	return 0;
}

/**
 * dep_interest_add() - add a file
 * @inst: the instance
 * @file: the file, on which the caller has a reference
 * @fd: the number, of which the set has no item of this file
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 *
 * What is ready already is posted.
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: 0, or
 * -EPERM: in a signal set, a file of FUSE or a device of CUSE;
 * -ELOOP: a set, ours or in-tree epoll's;
 * -ENOSPC: no room in the set, or a limit of the user or of the file;
 * -ENOMEM: no memory.
 */
int dep_interest_add(struct dep_instance *inst, struct file *file, int fd,
		     u16 events, u32 mode, u64 data)
{
	return interest_add(inst, file, fd, events, mode, data,
			    dep_watch_maybe(file));
}

/* May EPOLLEXCLUSIVE be combined with the rest? */
static noinline int interest_check_exclusive(const struct file *file,
					     u16 events, u32 mode)
{
	return dep_instance_of(file) || dep_file_is_epoll(file) ||
	       events & ~DEP_EXCLUSIVE_EVENTS || mode & ~DEP_EXCLUSIVE_MODES ?
		       -EINVAL : 0;
}

static __always_inline int interest_add_fd(struct dep_instance *inst, int fd,
					   u16 events, u32 mode, u64 data)
{
	struct fd f = fdget(fd);
	bool watched;
	int err;

	lockdep_assert_held(&inst->mtx);
	if (unlikely(!fd_file(f)))
		return -EBADF;
	/* What is checked before the set is touched, as epoll does. */
	err = dep_check_file(inst, fd_file(f));
	if (unlikely(mode & DEP_MODE_EXCLUSIVE) && !err)
		err = interest_check_exclusive(fd_file(f), events, mode);
	if (likely(!err)) {
		watched = dep_watch_maybe(fd_file(f));
		/*
		 * This comes before the look for the file's watch: if there is
		 * one, it is most likely because of this set.
		 */
		if (interest_has(inst, fd_file(f), fd, watched))
			err = -EEXIST;
		else
			err = interest_add(inst, fd_file(f), fd, events, mode,
					   data, watched);
	}
	fdput(f);
	return err;
}

/**
 * dep_interest_add_fd() - add an fd, as EPOLL_CTL_ADD does
 * @inst: the instance
 * @fd: the number
 * @events: the poll events asked for
 * @mode: DEP_MODE_*
 * @data: the user data
 *
 * Context: process, dep_instance.mtx held; ->poll() may sleep.
 * Return: as dep_interest_change().
 */
int dep_interest_add_fd(struct dep_instance *inst, int fd, u16 events, u32 mode,
			u64 data)
{
	return interest_add_fd(inst, fd, events, mode, data);
}

/**
 * dep_interest_add_locking() - the same, for a caller that does not hold M
 * @inst: the instance, of the extended interface
 * @fd: as for dep_interest_add_fd()
 * @events: as for dep_interest_add_fd()
 * @mode: as for dep_interest_add_fd()
 * @data: as for dep_interest_add_fd()
 *
 * Context: process; sleeps.
 * Return: as dep_interest_change(), or
 * -EINTR: the caller is being killed.
 */
int dep_interest_add_locking(struct dep_instance *inst, int fd, u16 events,
			     u32 mode, u64 data)
{
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = interest_add_fd(inst, fd, events, mode, data);
	mutex_unlock(&inst->mtx);
	return err;
}
