// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/poll with its two faces, the Linux device of 2000 and the Solaris
 * device: the node, what a write() and the requests do in both, and how a set
 * comes to belong to one of them.
 *
 * A write comes before the first request and has no number that would tell its
 * face.  Until a request tells it, an item keeps what either face would make of
 * the writes so far, and asks for the larger set of events, which is that of
 * Solaris.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include <linux/devpoll.h>

#include "core/compat.h"
#include "core/events.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/item.h"
#include "core/limits.h"
#include "core/stats.h"
#include "devpoll/devpoll.h"
#include "epoll/request.h"
#include "set/control.h"
#include "set/interest.h"
#include "set/ready.h"
#include "set/results.h"
#include "set/waiting.h"

#define DEVPOLL_REMOVE		(POLLREMOVE | DP_SOLARIS_POLLREMOVE)

/* dep_item.data: below, what is asked for; above, what was written last. */
#define DEVPOLL_DATA(asked, last)	((asked) | (u32)(last) << 16)
#define DEVPOLL_DATA_LAST(data)		((u16)((data) >> 16))

/* In the Linux face the last write counts, and a closed fd is not a member. */
static bool item_keep(struct dep_item *item)
{
	u16 last = DEVPOLL_DATA_LAST(item->data);

	if (item->mode & DEP_MODE_CLOSED)
		return false;
	WRITE_ONCE(item->mode, item->mode & ~DEP_MODE_STAY);
	WRITE_ONCE(item->events, last | DEP_EVENTS_ALWAYS);
	item->data = DEVPOLL_DATA(last, last);
	return true;
}

/* Does a set belong to the other face?  Not if a request may still choose. */
static bool devpoll_is_of_other(const struct dep_instance *inst,
				enum dep_devpoll face)
{
	u8 now = READ_ONCE(inst->devpoll);

	return now != DEP_DEVPOLL_OPEN && now != face;
}

/* Gives a set its face, if it has none yet. */
static void devpoll_settle(struct dep_instance *inst, enum dep_devpoll face)
{
	lockdep_assert_held(&inst->mtx);
	if (inst->devpoll != DEP_DEVPOLL_OPEN)
		return;
	WRITE_ONCE(inst->devpoll, face);
	if (face == DEP_DEVPOLL_LINUX)
		dep_interest_sift(inst, item_keep);
}

/*
 * The same for a request that nothing else can refuse any more: -EBUSY if the
 * set belongs to the other face, -EINTR if the caller is being killed.
 */
static int devpoll_choose(struct dep_instance *inst, enum dep_devpoll face)
{
	int err = 0;

	if (READ_ONCE(inst->devpoll) == face)
		return 0;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	if (devpoll_is_of_other(inst, face))
		err = -EBUSY;
	else
		devpoll_settle(inst, face);
	mutex_unlock(&inst->mtx);
	return err;
}

/* Computes the item's new state from its old one and what was written. */
static void change_make(struct dep_change *ch, const struct dep_instance *inst,
			u16 written, u64 before)
{
	bool replaces = inst->devpoll == DEP_DEVPOLL_LINUX;
	u16 asked = replaces ? written : written | (u16)before;

	ch->events = asked | DEP_EVENTS_ALWAYS;
	ch->mode = replaces ? 0 : DEP_MODE_STAY;
	ch->data = DEVPOLL_DATA(asked, written);
}

/* Applies an entry whose number is not open. */
static int devpoll_apply_closed(struct dep_instance *inst,
				const struct dep_change *ch)
{
	if (inst->devpoll == DEP_DEVPOLL_LINUX) {
		dep_interest_remove(inst, ch->fd);
		return 0;
	}
	/* A number that can't be open is ignored. */
	if (ch->fd >= rlimit(RLIMIT_NOFILE) || ch->fd > DEP_MAX_FD)
		return 0;
	return dep_interest_bury(inst, ch);
}

static int devpoll_apply(struct dep_instance *inst, const struct pollfd *entry)
{
	struct dep_change ch = { .fd = entry->fd };
	u16 written = (u16)entry->events & DEP_EVENTS_ALL;
	int err = -ENOENT;
	u16 events;
	u64 before;

	if (entry->fd < 0)
		return 0;
	if (entry->events & DEVPOLL_REMOVE) {
		dep_interest_remove(inst, entry->fd);
		return 0;
	}
	if (dep_interest_query(inst, entry->fd, &events, &before)) {
		ch.op = DEVEPOLL_MOD;
		change_make(&ch, inst, written, before);
		err = dep_interest_change(inst, ch.op, ch.fd, ch.events,
					  ch.mode, ch.data);
	}
	/* Not in the set, or the number names another file now. */
	if (err == -ENOENT) {
		ch.op = DEVEPOLL_ADD;
		change_make(&ch, inst, written, 0);
		err = dep_interest_change(inst, ch.op, ch.fd, ch.events,
					  ch.mode, ch.data);
	}
	return err == -EBADF ? devpoll_apply_closed(inst, &ch) : err;
}

/* Applies @nr entries; sets @done to how many succeeded before one failed. */
static int devpoll_apply_batch(struct dep_instance *inst,
			       const struct pollfd *batch, size_t nr,
			       size_t *done)
{
	int err = 0;

	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	for (*done = 0; *done < nr; ++*done) {
		err = devpoll_apply(inst, &batch[*done]);
		if (err)
			break;
	}
	mutex_unlock(&inst->mtx);
	return err;
}

static ssize_t devpoll_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	struct pollfd batch[DEP_WRITE_BATCH] __uninitialized;
	ssize_t done = 0;
	int err = 0;

	if (count % sizeof(struct pollfd))
		return -EINVAL;
	while (count && !err) {
		size_t size = min(count, sizeof(batch)), nr = 0;
		size_t whole;

		/* Before mtx: under it nothing may wait for mmap_lock. */
		whole = (size - copy_from_user(batch, buf, size)) /
			sizeof(batch[0]);
		if (whole)
			err = devpoll_apply_batch(file->private_data, batch,
						  whole, &nr);
		if (!err && whole < size / sizeof(batch[0]))
			err = -EFAULT;
		buf += size;
		count -= size;
		done += nr * sizeof(batch[0]);
		if (fatal_signal_pending(current))
			break;
		cond_resched();
	}
	return done ? done : err;
}

static_assert(offsetof(struct dvpoll, dp_nfds) == 8);
static_assert(offsetof(struct dvpoll, dp_timeout) == 12);
static_assert(sizeof(struct dvpoll_solaris) == 32);
static_assert(offsetof(struct dvpoll_solaris, dp_timeout) == 16);
static_assert(offsetof(struct dvpoll_solaris, dp_setp) == 24);
static_assert(sizeof(struct dvpoll_solaris32) == 16);
static_assert(offsetof(struct dvpoll_solaris32, dp_setp) ==
	      sizeof(struct dvpoll32));
static_assert(DP_ALLOC == 0x80045001);
static_assert(DP_POLL == 0xC0105002);
static_assert(DP_POLL32 == 0xC00C5002);
static_assert(DP_FREE == 0x5003);
static_assert(DP_ISPOLLED == 0xC0085004);

/**
 * struct devpoll_wait - a DP_POLL of either face and layout
 * @fds: address of the results
 * @nfds: how many results there is room for
 * @timeout_ms: how long to wait
 * @setp: address of a signal mask, or 0
 */
struct devpoll_wait {
	u64 fds;
	s64 nfds;
	int timeout_ms;
	u64 setp;
};

static long devpoll_alloc(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;
	int err, nr = (unsigned long)arg;

	if (nr < 1 || nr > dep_max_fds)
		return -EINVAL;
	if (mutex_lock_killable(&inst->mtx))
		return -EINTR;
	err = devpoll_is_of_other(inst, DEP_DEVPOLL_LINUX) ? -EBUSY :
	      dep_slots_alloc(inst, nr);
	if (!err)
		devpoll_settle(inst, DEP_DEVPOLL_LINUX);
	mutex_unlock(&inst->mtx);
	return err;
}

static long devpoll_free(struct file *file, unsigned int cmd, void __user *arg)
{
	struct dep_instance *inst = file->private_data;

	if (devpoll_is_of_other(inst, DEP_DEVPOLL_LINUX))
		return -EBUSY;
	/* A set without a face has no buffer, and the error chooses no face. */
	return dep_slots_retire(inst);
}

/*
 * A request that would choose the face checks first that it can write its
 * results.  In a set that has its face, the write itself finds out.
 */
static bool devpoll_can_write(const struct dep_instance *inst,
			      enum dep_devpoll face, void __user *results,
			      size_t size)
{
	return READ_ONCE(inst->devpoll) == face ||
	       !fault_in_safe_writeable(results, size);
}

static long devpoll_ispolled(struct file *file, unsigned int cmd,
			     void __user *arg)
{
	enum dep_devpoll face = cmd == DP_ISPOLLED ? DEP_DEVPOLL_LINUX :
						     DEP_DEVPOLL_SOLARIS;
	struct dep_instance *inst = file->private_data;
	struct pollfd entry;
	u16 events;
	u64 data;
	int err;

	if (devpoll_is_of_other(inst, face))
		return -EBUSY;
	if (copy_from_user(&entry, arg, sizeof(entry)) ||
	    !devpoll_can_write(inst, face, arg, sizeof(entry)))
		return -EFAULT;
	err = devpoll_choose(inst, face);
	if (err)
		return err;
	if (!dep_interest_query(inst, entry.fd, &events, &data))
		return 0;
	entry.events = face == DEP_DEVPOLL_LINUX ? (u16)data : 0;
	entry.revents = face == DEP_DEVPOLL_LINUX ? 0 : (u16)data;
	return copy_to_user(arg, &entry, sizeof(entry)) ? -EFAULT : 1;
}

static int devpoll_collect(struct dep_instance *inst,
			   const struct devpoll_wait *wait,
			   struct dep_results *results, enum dep_devpoll face)
{
	struct dep_waiting waiting = dep_waiting_of_ms(wait->timeout_ms);
	sigset_t set;
	int ret;

	if (wait->setp &&
	    copy_from_user(&set, u64_to_user_ptr(wait->setp), sizeof(set)))
		return -EFAULT;
	ret = devpoll_choose(inst, face);
	if (ret)
		return ret;
	if (!wait->setp)
		return dep_collect_wait(&waiting, inst, results);
	dep_sigmask_begin(&set);
	ret = dep_collect_wait(&waiting, inst, results);
	dep_sigmask_end(ret);
	return ret;
}

static long devpoll_poll(struct dep_instance *inst,
			 const struct devpoll_wait *wait, enum dep_devpoll face)
{
	struct dep_results results = {
		.user = u64_to_user_ptr(wait->fds),
		.layout = DEP_LAYOUT_POLLFD,
		.max = clamp_t(s64, wait->nfds, 0, dep_max_fds),
	};
	long ret;

	if (devpoll_is_of_other(inst, face))
		return -EBUSY;
	if (wait->nfds <= 0)
		return -EINVAL;
	if (wait->fds) {
		if (!access_ok(results.user,
			       results.max * sizeof(struct pollfd)) ||
		    !devpoll_can_write(inst, face, results.user,
				       sizeof(struct pollfd)))
			return -EFAULT;
		return devpoll_collect(inst, wait, &results, face);
	}
	if (face == DEP_DEVPOLL_SOLARIS)
		return -EFAULT;
	if (!dep_slots_pin(inst, &results))
		return -EINVAL;
	ret = devpoll_collect(inst, wait, &results, face);
	dep_slots_unpin(inst);
	return ret;
}

/* The layout of 32-bit programs is that of both faces, up to the mask. */
static int devpoll_read32(struct devpoll_wait *wait, const void __user *arg,
			  size_t size)
{
	struct dvpoll_solaris32 dvp = {};

	if (copy_from_user(&dvp, arg, size))
		return -EFAULT;
	*wait = (struct devpoll_wait) {
		.fds = dvp.dp_fds,
		.nfds = (s32)dvp.dp_nfds,
		.timeout_ms = dvp.dp_timeout,
		.setp = dvp.dp_setp,
	};
	return 0;
}

/* The size of the request tells the layout of its argument. */
static long linux_poll(struct file *file, unsigned int cmd, void __user *arg)
{
	struct devpoll_wait wait;
	struct dvpoll dvp;

	switch (cmd) {
	case DP_POLL:
		if (copy_from_user(&dvp, arg, sizeof(dvp)))
			return -EFAULT;
		wait = (struct devpoll_wait) {
			.fds = (uintptr_t)dvp.dp_fds,
			.nfds = dvp.dp_nfds,
			.timeout_ms = dvp.dp_timeout,
		};
		break;
	case DP_POLL32:
		if (devpoll_read32(&wait, arg, sizeof(struct dvpoll32)))
			return -EFAULT;
		break;
	default:
		return -ENOTTY;
	}
	return devpoll_poll(file->private_data, &wait, DEP_DEVPOLL_LINUX);
}

/* Programs that don't use a signal mask may not have set dp_setp. */
static long solaris_poll(struct file *file, unsigned int cmd, void __user *arg)
{
	bool masked = cmd == DP_SOLARIS_PPOLL;
	struct dvpoll_solaris dvp = {};
	struct devpoll_wait wait;

	if (in_compat_syscall()) {
		if (devpoll_read32(&wait, arg,
				   masked ? sizeof(struct dvpoll_solaris32) :
					    sizeof(struct dvpoll32)))
			return -EFAULT;
	} else {
		if (copy_from_user(&dvp, arg, masked ? sizeof(dvp) :
				   offsetof(struct dvpoll_solaris, dp_setp)))
			return -EFAULT;
		wait = (struct devpoll_wait) {
			.fds = dvp.dp_fds,
			.nfds = dvp.dp_nfds,
			.timeout_ms = dvp.dp_timeout,
			.setp = dvp.dp_setp,
		};
	}
	return devpoll_poll(file->private_data, &wait, DEP_DEVPOLL_SOLARIS);
}

/* The requests of the Solaris face all wait or query. */
static const struct dep_request devpoll_requests[] = {
	{ DP_POLL, true, FMODE_READ, linux_poll },
	{ DP_ALLOC, false, FMODE_WRITE, devpoll_alloc },
	{ DP_FREE, false, FMODE_WRITE, devpoll_free },
	{ DP_ISPOLLED, false, FMODE_READ, devpoll_ispolled },
	{ DP_SOLARIS_POLL, false, FMODE_READ, solaris_poll },
	{ DP_SOLARIS_PPOLL, false, FMODE_READ, solaris_poll },
	{ DP_SOLARIS_ISPOLLED, false, FMODE_READ, devpoll_ispolled },
	{ },
};

static long devpoll_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	const struct dep_request *request = dep_request_find(devpoll_requests,
							     cmd);

	if (!request)
		return -ENOTTY;
	if (!dep_access_has(file, request->mode))
		return -EBADF;
	return request->make(file, cmd, (void __user *)arg);
}

static int devpoll_open(struct inode *inode, struct file *file)
{
	struct dep_instance *inst;

	inst = dep_instance_new(&dep_ready_sink, file->f_cred);
	if (!inst)
		return -ENOMEM;
	inst->extended = true;
	inst->devpoll = DEP_DEVPOLL_OPEN;
	inst->room = dep_max_fds;
	inst->file = file;
	if (DEP_HAS_STATS)
		dep_stats_join(inst);
	file->private_data = inst;
	stream_open(inode, file);
	/* Programs for Solaris use pwrite(2); the offset does not matter. */
	file->f_mode |= FMODE_PWRITE;
	return 0;
}

static int devpoll_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dep_slots_map(file->private_data, vma);
}

static const struct file_operations devpoll_fops = {
	.owner = THIS_MODULE,
	.open = devpoll_open,
	.write = devpoll_write,
	.mmap = devpoll_mmap,
	.unlocked_ioctl = devpoll_ioctl,
	.compat_ioctl = devpoll_ioctl,
};

static const struct miscdevice devpoll_node = {
	.minor = DEVPOLL_MINOR,
	.name = "devpoll",
	.nodename = "poll",
	.fops = &devpoll_fops,
};

static const char *devpoll_describe(const struct dep_instance *inst)
{
	switch (READ_ONCE(inst->devpoll)) {
	case DEP_DEVPOLL_OPEN:
		return "poll";
	case DEP_DEVPOLL_LINUX:
		return "poll, Linux";
	case DEP_DEVPOLL_SOLARIS:
		return "poll, Solaris";
	}
	return NULL;
}

DEP_INTERFACE_TABLE(devpoll) = {
	.name = "devpoll",
	.node = &devpoll_node,
	.describe = devpoll_describe,
};
