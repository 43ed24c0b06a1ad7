// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a set of the extended interface: arrays of them in user memory,
 * and one at a time.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devepoll.h>

#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/item.h"
#include "core/limits.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/request.h"
#include "set/add.h"
#include "set/control.h"
#include "set/interest.h"

/* Can this be an ADD or a MOD? */
static __always_inline bool change_is_known(const struct devepoll_change *from)
{
	u32 known = DEP_EVENTS_ALL | DEP_CHANGE_MODES |
		    (__force u32)EPOLLWAKEUP;

	if (from->events & ~known ||
	    from->flags & ~(DEP_MODE_TELL_CLOSED | DEP_MODE_TRUST))
		return false;
	return !(from->flags & DEVEPOLL_TRUST) ||
	       from->events & (__force u32)EPOLLET;
}

static u16 change_events(const struct devepoll_change *from)
{
	return (from->events & DEP_EVENTS_ALL) | DEP_EVENTS_ALWAYS;
}

static u32 change_mode(const struct devepoll_change *from)
{
	return (from->events & DEP_CHANGE_MODES) | from->flags;
}

/* Makes a change as it was read: its members are what the program wrote. */
static __always_inline int change_apply(struct dep_instance *inst,
					const struct devepoll_change *from)
{
	u32 mode;
	u16 events;

	if (from->op == DEVEPOLL_DEL)
		return from->flags ? -EINVAL :
		       dep_interest_change(inst, DEVEPOLL_DEL, from->fd, 0, 0,
					   from->data);
	if (!change_is_known(from))
		return -EINVAL;
	events = change_events(from);
	mode = change_mode(from);
	if (dep_change_check_mode(inst, mode))
		return -EINVAL;
	if (likely(from->op == DEVEPOLL_ADD))
		return dep_interest_add_fd(inst, from->fd, events, mode,
					   from->data);
	return dep_interest_change(inst, from->op, from->fd, events, mode,
				   from->data);
}

/* Reads changes in the size that the program knows. */
static int changes_read(struct devepoll_change *batch, u64 address, u32 nr,
			u32 size)
{
	const char __user *from = u64_to_user_ptr(address);
	u32 i;
	int err;

	if (size == sizeof(*batch))
		return dep_words_from_user((u64 *)batch, nr * sizeof(*batch),
					   from, nr * sizeof(*batch));
	for (i = 0; i < nr; i++) {
		err = copy_struct_from_user(&batch[i], sizeof(*batch),
					    from + i * size, size);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Writes the results of @nr changes; or, without @batch, that they were not
 * made, which shows that their results can be written.
 */
static __always_inline int changes_tell(u64 address, u32 nr, u32 size,
					const struct devepoll_change *batch)
{
	char __user *to = u64_to_user_ptr(address);
	u32 i;

	might_fault();
	if (!user_write_access_begin(to, nr * size))
		return -EFAULT;
	to += offsetof(struct devepoll_change, result);
	for (i = 0; i < nr; i++)
		unsafe_put_user(batch ? batch[i].result : -ECANCELED,
				(s32 __user *)(to + i * size), efault);
	user_write_access_end();
	return 0;

efault:
	user_write_access_end();
	return -EFAULT;
}

/* What dep_changes_apply() does for a single change. */
static __always_inline int changes_apply_one(struct dep_instance *inst,
					     struct dep_changes *changes)
{
	struct devepoll_change __user *user;
	struct devepoll_change ch __uninitialized;
	int err, result;

	user = u64_to_user_ptr(changes->address);
	might_fault();
	if (!user_access_begin(user, sizeof(*user)))
		return -EFAULT;
	unsafe_get_user(ch.op, &user->op, efault);
	unsafe_get_user(ch.flags, &user->flags, efault);
	unsafe_get_user(ch.fd, &user->fd, efault);
	unsafe_get_user(ch.events, &user->events, efault);
	unsafe_get_user(ch.data, &user->data, efault);
	unsafe_put_user(-ECANCELED, &user->result, efault);
	user_access_end();
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, changes->signals);
	if (likely(!err)) {
		result = change_apply(inst, &ch);
		dep_bind_end(inst, !result);
	}
	mutex_unlock(&inst->mtx);
	if (unlikely(err))
		return err;
	changes->failed = !!result;
	changes->tried = 1;
	/* It was made, whatever has become of the memory. */
	(void)put_user(result, &user->result);
	return 0;

efault:
	user_access_end();
	return -EFAULT;
}

/* A change that may be the first use of the set, or no ADD. */
static noinline int change_apply_locking(struct dep_instance *inst,
					 const struct devepoll_change *ch)
{
	int err;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, true);
	if (likely(!err)) {
		err = change_apply(inst, ch);
		dep_bind_end(inst, !err);
	}
	mutex_unlock(&inst->mtx);
	return err;
}

/**
 * dep_changes_make_one() - DEVEPOLL_CHANGE()
 * @file: the set
 * @request: DEVEPOLL_CHANGE() of an operation
 * @address: address of the events and the data; 0 for a DEL
 * @length: a value of DEVEPOLL_CHANGE_LEN()
 *
 * Context: process; sleeps.
 * Return: see linux/devepoll.h.
 */
int dep_changes_make_one(struct file *file, unsigned int request, u64 address,
			 u64 length)
{
	struct dep_instance *inst = file->private_data;
	struct devepoll_change ch __uninitialized;
	u32 flags = length >> 32;

	if (unlikely(!(file->f_mode & FMODE_WRITE)))
		return -EBADF;
	ch.op = request - DEVEPOLL_CHANGE(0);
	ch.fd = (int)length;
	ch.flags = flags;
	/* What is cut off would be an unknown flag. */
	if (unlikely(ch.flags != flags))
		return -EINVAL;
	if (ch.op == DEVEPOLL_DEL) {
		ch.events = 0;
		ch.data = 0;
		return address ? -EINVAL : change_apply_locking(inst, &ch);
	}
	if (dep_event_from_user(address, &ch.events, &ch.data))
		return -EFAULT;
	if (ch.op != DEVEPOLL_ADD || unlikely(!dep_bind_is_settled(inst)))
		return change_apply_locking(inst, &ch);
	if (unlikely(!change_is_known(&ch)))
		return -EINVAL;
	return dep_interest_add_locking(inst, ch.fd, change_events(&ch),
					change_mode(&ch), ch.data);
}

/*
 * Makes @nr changes, which the program's memory must allow to read and to
 * write.  To find out, it writes their results before it makes them.
 */
static noinline int changes_apply_batch(struct dep_instance *inst,
					struct dep_changes *changes, u32 nr)
{
	u64 first = changes->address + (u64)changes->tried * changes->size;
	struct devepoll_change batch[DEP_WRITE_BATCH] __uninitialized;
	u32 i, failed = 0;
	int err;

	/* Before mtx: nothing may wait for mmap_lock under it. */
	err = changes_read(batch, first, nr, changes->size);
	if (err)
		return err;
	if (changes_tell(first, nr, changes->size, NULL))
		return -EFAULT;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, changes->signals);
	if (!err) {
		for (i = 0; i < nr; i++) {
			batch[i].result = change_apply(inst, &batch[i]);
			failed += !!batch[i].result;
		}
		dep_bind_end(inst, failed < nr);
	}
	mutex_unlock(&inst->mtx);
	if (err)
		return err;
	changes->failed += failed;
	changes->tried += nr;
	return changes_tell(first, nr, changes->size, batch);
}

/* Makes @nr changes until one fails, and writes nothing. */
static noinline int changes_make_batch(struct dep_instance *inst,
				       struct dep_changes *changes, u32 nr)
{
	u64 first = changes->address + (u64)changes->tried * changes->size;
	struct devepoll_change batch[DEP_WRITE_BATCH] __uninitialized;
	u32 made = 0;
	int err;

	err = changes_read(batch, first, nr, changes->size);
	if (err)
		return err;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = dep_bind_begin(inst, changes->signals);
	if (!err) {
		while (made < nr && !err) {
			err = change_apply(inst, &batch[made]);
			made += !err;
		}
		changes->failed = !!err;
		dep_bind_end(inst, made);
	}
	mutex_unlock(&inst->mtx);
	changes->tried += made;
	return err;
}

static int changes_try_batch(struct dep_instance *inst,
			     struct dep_changes *changes, u32 nr)
{
	return unlikely(changes->read_only) ?
		       changes_make_batch(inst, changes, nr) :
		       changes_apply_batch(inst, changes, nr);
}

/**
 * dep_changes_apply() - make changes, and write the result of each
 * @inst: the instance
 * @changes: the array; learns how many were tried and how many failed
 *
 * If a batch can't be read and written as a whole, its changes are made one by
 * one, as far as possible.
 *
 * Context: process; sleeps.
 * Return: 0: at least one was tried, or, with dep_changes.read_only, made;
 * otherwise
 * -EFAULT: the first can't be read or written;
 * -E2BIG: a bit is set that this kernel does not know;
 * -EBUSY: the set belongs to another interface;
 * -EINTR: the caller is being killed;
 * with dep_changes.read_only also the result of the first.
 */
int dep_changes_apply(struct dep_instance *inst, struct dep_changes *changes)
{
	u32 left, batch = DEP_WRITE_BATCH;
	int err = 0;

	if (changes->nr == 1 && !changes->read_only &&
	    likely(changes->size == sizeof(struct devepoll_change)))
		return changes_apply_one(inst, changes);
	while ((left = changes->nr - changes->tried)) {
		u32 before = changes->tried;

		err = changes_try_batch(inst, changes, min(left, batch));
		if (err && changes->tried == before && batch > 1 &&
		    err != -EINTR &&
		    !(changes->read_only && changes->failed)) {
			batch = 1;
			continue;
		}
		if (err || fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return changes->tried ? 0 : err;
}

/**
 * dep_changes_check_array() - can this be an array of changes?
 * @changes: the array
 *
 * Return: 0;
 * -EINVAL: it has no elements or too many, or of a size that no kernel knows.
 */
int dep_changes_check_array(const struct dep_changes *changes)
{
	if (!changes->nr || changes->nr > DEVEPOLL_MAX_CHANGES ||
	    changes->size < sizeof(struct devepoll_change) ||
	    changes->size > PAGE_SIZE || changes->size % sizeof(u64))
		return -EINVAL;
	return 0;
}
