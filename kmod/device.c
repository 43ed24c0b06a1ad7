// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes and their file operations.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>

#include <linux/devepoll.h>
#include <linux/devpoll.h>

#include "core/compat.h"
#include "core/instance.h"
#include "core/minor.h"
#include "core/nest.h"
#include "core/readers.h"
#include "core/relay.h"
#include "core/stats.h"
#include "device.h"
#include "faces/access.h"
#include "faces/bind.h"
#include "faces/busy_params.h"
#include "faces/changes.h"
#include "faces/classic.h"
#include "faces/devpoll.h"
#include "faces/epoll.h"
#include "faces/extended.h"
#include "faces/fdinfo.h"
#include "faces/features.h"
#include "faces/mapping.h"
#include "faces/onesig.h"
#include "faces/reader.h"
#include "faces/reopen.h"
#include "faces/ring_ioctl.h"
#include "faces/spin.h"
#include "faces/uring.h"
#include "files/waitqueue.h"
#include "set/interest.h"
#include "set/owner.h"
#include "set/ready.h"
#include "set/spin.h"
#include "sinks/area.h"
#include "sinks/pages.h"
#include "sinks/ring_memory.h"

/*
 * A set for epoll's calls: it belongs to the extended interface at once, and
 * calls that epoll does not have fail as they do for epoll.
 */
static void device_become_epoll(struct dep_instance *inst, struct file *file)
{
	dep_bind_new(inst);
	/* The owner is the same, and open(2) looks here for what there is. */
	file->f_op = &dep_instance_fops[DEP_FILE_AS_EPOLL];
	file->f_mode |= FMODE_LSEEK;
}

static int device_open(struct inode *inode, struct file *file)
{
	struct dep_instance *inst;

	inst = dep_instance_new(&dep_pages_sink, file->f_cred);
	if (!inst)
		return -ENOMEM;
	inst->file = file;
	dep_stats_join(inst);
	file->private_data = inst;
	/* As for fds of epoll_create(2): there are no offsets to be large. */
	file->f_flags &= ~O_LARGEFILE;
	stream_open(inode, file);
	if (file->f_flags & O_EXCL)
		device_become_epoll(inst, file);
	return 0;
}

static int devpoll_open(struct inode *inode, struct file *file)
{
	struct dep_instance *inst;

	inst = dep_instance_new(&dep_ready_sink, file->f_cred);
	if (!inst)
		return -ENOMEM;
	dep_devpoll_begin(inst);
	inst->file = file;
	dep_stats_join(inst);
	file->private_data = inst;
	stream_open(inode, file);
	/* Programs for Solaris use pwrite(2); the offset does not matter. */
	file->f_mode |= FMODE_PWRITE;
	return 0;
}

static int device_release(struct inode *inode, struct file *file)
{
	struct dep_instance *inst = file->private_data;

	mutex_lock(&inst->mtx);
	dep_interest_clear(inst);
	dep_pages_free(inst);
	mutex_unlock(&inst->mtx);
	dep_onesig_free(inst);
	dep_spin_free(inst);
	dep_area_free(inst);
	dep_stats_leave(inst);
	dep_relay_leave(inst);
	dep_readers_free(inst);
	dep_ring_free(inst);
	dep_instance_free(inst);
	return 0;
}

/* A descriptor was closed, maybe by the end of its process. */
static int device_flush(struct file *file, fl_owner_t files)
{
	dep_owner_flush(file->private_data);
	return 0;
}

static ssize_t device_write(struct file *file, const char __user *buf,
			    size_t count, loff_t *pos)
{
	return dep_classic_write(file->private_data, buf, count);
}

static ssize_t devpoll_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return dep_devpoll_write(file->private_data, buf, count);
}

static long devpoll_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	if (!dep_access_allows(file, cmd))
		return -EBADF;
	return dep_devpoll_ioctl(file->private_data, cmd, arg, false);
}

static long devpoll_compat_ioctl(struct file *file, unsigned int cmd,
				 unsigned long arg)
{
	if (!dep_access_allows(file, cmd))
		return -EBADF;
	return dep_devpoll_ioctl(file->private_data, cmd, arg, true);
}

static int devpoll_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dep_area_map_slots(file->private_data, vma);
}

static noinline long device_ioctl_other(struct file *file, unsigned int cmd,
					unsigned long arg)
{
	long ret;

	if (!dep_access_allows(file, cmd))
		return -EBADF;
	ret = dep_extended_ioctl(file, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_classic_ioctl(file->private_data, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_ring_ioctl(file, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_onesig_ioctl(file->private_data, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_features_ioctl(cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_busy_params_ioctl(file->private_data, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_uring_cancel_ioctl(file->private_data, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_spin_ioctl(file, cmd, arg);
	if (ret == -ENOTTY && cmd == DEVEPOLL_REOPEN)
		return dep_reopen(file, arg);
	if (ret == -ENOTTY && dep_instance_kind(file) == DEP_FILE_AS_EPOLL)
		return -DEP_EPOLL_NO_IOCTL;
	return ret;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (likely(cmd == EP_POLL && file->f_mode & FMODE_READ))
		return dep_classic_poll(file->private_data, arg);
	return device_ioctl_other(file, cmd, arg);
}

/* The less common requests of the fadvise entry. */
static noinline int device_fadvise_other(struct file *file, loff_t offset,
					 loff_t len, int advice)
{
	if (_IOC_TYPE(advice) != EP_IOC_MAGIC || !dep_access_by_fadvise())
		return generic_fadvise(file, offset, len, advice);
	if (_IOC_DIR(advice) == _IOC_NONE && advice != EP_FREE &&
	    advice != DEVEPOLL_STEP_BACK)
		return -EINVAL;
	if (!dep_access_takes(advice, offset, len))
		return -EINVAL;
	return device_ioctl(file, advice, offset);
}

/*
 * The fadvise entry.  Unlike ioctl(2) and write(2), fadvise64(2) does not call
 * the security modules each time; the check at open(2) stands for this file, as
 * it does for epoll_wait(2).
 */
static int device_fadvise(struct file *file, loff_t offset, loff_t len,
			  int advice)
{
	if (likely(dep_access_by_fadvise())) {
		if (likely(advice == DEVEPOLL_EPOLL_WAIT))
			return dep_epoll_wait(file, offset, len);
		if (likely(advice == DEVEPOLL_TAKE))
			return dep_extended_take(file, offset, len);
		if (likely(advice == (int)EP_POLL) && !len &&
		    file->f_mode & FMODE_READ)
			return dep_classic_poll(file->private_data, offset);
		if (likely(dep_epoll_is_ctl(advice)))
			return dep_epoll_ctl(file, advice, offset, len);
		if (advice == DEVEPOLL_RING_WAIT && !len &&
		    file->f_mode & FMODE_READ)
			return dep_ring_wait(file->private_data, offset);
		if (dep_changes_is_one(advice))
			return dep_changes_make_one(file, advice, offset, len);
	}
	return device_fadvise_other(file, offset, len, advice);
}

/* The same by a further open for reading. */
static int reader_fadvise(struct file *file, loff_t offset, loff_t len,
			  int advice)
{
	if (dep_access_by_fadvise() && dep_reader_has(advice))
		return dep_reader_request(file, offset, len, advice);
	return device_fadvise_other(file, offset, len, advice);
}

static int reader_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dep_instance_rights(file) & DEP_MAY_MAP ?
		       dep_mapping_map(file, vma) : -EACCES;
}

static __poll_t device_poll(struct file *file, poll_table *table)
{
	struct dep_instance *inst = file->private_data;

	/* poll(2) is a wait, and needs an open for reading. */
	if (!(file->f_mode & FMODE_READ))
		return EPOLLERR;
	poll_wait(file, &inst->poll_queue, table);
	/*
	 * After queueing: pairs with the test of the queue in relay_serve().
	 * Before the files are polled: what comes meanwhile must wake us.
	 */
	spin_lock_irq(&inst->lock);
	WRITE_ONCE(inst->polled, true);
	if (unlikely(!(poll_requested_events(table) & EPOLLIN)))
		WRITE_ONCE(inst->polled_oddly, true);
	spin_unlock_irq(&inst->lock);

	/* Only ->poll() of the members tells whether there is an event. */
	return dep_ready_poll(file, dep_watch_is_arming(table), true);
}

#define DEVICE_OPERATIONS			\
	.owner = THIS_MODULE,			\
	.flush = device_flush,			\
	.poll = device_poll,			\
	.show_fdinfo = dep_fdinfo_show,		\
	.uring_cmd = dep_uring_cmd,		\
	.unlocked_ioctl = device_ioctl,		\
	.compat_ioctl = device_ioctl

/* In one array, for dep_instance_of(). */
static const struct file_operations device_fops[DEP_FILE_KINDS] = {
	[DEP_FILE_EPOLL] = {
		DEVICE_OPERATIONS,
		.write = device_write,
		.open = device_open,
		.release = device_release,
		.mmap = dep_mapping_map,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_POLL] = {
		.owner = THIS_MODULE,
		.open = devpoll_open,
		.flush = device_flush,
		.release = device_release,
		.write = devpoll_write,
		.poll = device_poll,
		.mmap = devpoll_mmap,
		.show_fdinfo = dep_fdinfo_show,
		.unlocked_ioctl = devpoll_ioctl,
		.compat_ioctl = devpoll_compat_ioctl,
	},
	[DEP_FILE_AS_EPOLL] = {
		DEVICE_OPERATIONS,
		.llseek = noop_llseek,
		.release = device_release,
		.mmap = dep_mapping_map_extended,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_REOPENED] = {
		DEVICE_OPERATIONS,
		.write = device_write,
		.release = dep_reopen_release,
		.mmap = dep_mapping_map,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_READER ... DEP_FILE_KINDS - 1] = {
		DEVICE_OPERATIONS,
		.write = device_write,
		.release = dep_reopen_release,
		.mmap = reader_mmap,
		.fadvise = reader_fadvise,
	},
};

/*
 * In the order in which they get their minors: where dynamic ones count down,
 * /dev/poll must not take that of /dev/epoll.
 */
static struct miscdevice device_nodes[] = {
	{
		.minor = EVENTPOLL_MINOR,
		.name = "eventpoll",
		.nodename = "epoll",
		.fops = &device_fops[DEP_FILE_EPOLL],
	}, {
		.minor = DEVPOLL_MINOR,
		.name = "devpoll",
		.nodename = "poll",
		.fops = &device_fops[DEP_FILE_POLL],
	},
};

/*
 * No alias of a node: at boot depmod's list would become nodes of a fixed minor
 * and mode 0600, which the kernel does not change when the module is loaded.
 * On old kernels, with dynamic minors, such a node may be another driver's.
 */

/* How many are registered. */
static size_t device_nr_nodes;

/**
 * dep_device_register() - make the nodes
 * @mode: their permissions
 *
 * Once the first is registered, anybody may open it, so no later step may make
 * the loading fail: the module does without the second node.
 *
 * Return: 0, or an error of misc_register() for the first node.
 */
int __init dep_device_register(umode_t mode)
{
	int err;

	dep_instance_fops = device_fops;
	for (; device_nr_nodes < ARRAY_SIZE(device_nodes); device_nr_nodes++) {
		struct miscdevice *node = &device_nodes[device_nr_nodes];

		node->mode = mode;
		err = dep_minor_register(node);
		if (!err)
			continue;
		if (!device_nr_nodes)
			return err;
		pr_warn("no /dev/%s: error %d\n", node->nodename, err);
		break;
	}
	return 0;
}

/**
 * dep_device_unregister() - remove the nodes; no open of them is left
 */
void dep_device_unregister(void)
{
	while (device_nr_nodes)
		misc_deregister(&device_nodes[--device_nr_nodes]);
}
