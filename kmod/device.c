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

#include "classic/classic.h"
#include "core/compat.h"
#include "core/face.h"
#include "core/has.h"
#include "core/instance.h"
#include "core/minor.h"
#include "core/nest.h"
#include "core/readers.h"
#include "core/relay.h"
#include "core/stats.h"
#include "device.h"
#include "epoll/access.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/epoll.h"
#include "epoll/extended.h"
#include "epoll/handlers.h"
#include "epoll/reader.h"
#include "files/waitqueue.h"
#include "ring/ring.h"
#include "set/area.h"
#include "set/interest.h"
#include "set/owner.h"
#include "set/ready.h"
#include "set/spin.h"

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

	inst = dep_instance_new(&dep_ready_sink, file->f_cred);
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

static int device_release(struct inode *inode, struct file *file)
{
	struct dep_instance *inst = file->private_data;
	struct dep_face *face;

	mutex_lock(&inst->mtx);
	dep_interest_clear(inst);
	mutex_unlock(&inst->mtx);
	dep_face_for_each(face) {
		if (face->stop)
			face->stop(inst);
	}
	dep_spin_free(inst);
	dep_stats_leave(inst);
	dep_relay_leave(inst);
	dep_readers_free(inst);
	dep_face_for_each(face) {
		if (face->free)
			face->free(inst);
	}
	dep_area_free(inst);
	dep_instance_free(inst);
	return 0;
}

/* A descriptor was closed, maybe by the end of its process. */
static int device_flush(struct file *file, fl_owner_t files)
{
	dep_owner_flush(file->private_data);
	return 0;
}

/* The requests of the other interfaces. */
static long device_ioctl_face(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	struct dep_face *face;
	long ret = -ENOTTY;

	dep_face_for_each(face) {
		if (face->ioctl)
			ret = face->ioctl(file, cmd, arg);
		if (ret != -ENOTTY)
			break;
	}
	return ret;
}

static noinline long device_ioctl_other(struct file *file, unsigned int cmd,
					unsigned long arg)
{
	long ret;

	if (!dep_access_allows(file, cmd))
		return -EBADF;
	ret = dep_extended_ioctl(file, cmd, arg);
	if (ret == -ENOTTY)
		ret = device_ioctl_face(file, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_features_ioctl(cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_busy_params_ioctl(file->private_data, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_spin_ioctl(file, cmd, arg);
	if (ret == -ENOTTY && cmd == DEVEPOLL_REOPEN)
		return dep_reopen(file, arg);
	if (ret == -ENOTTY && cmd == DEVEPOLL_NEW)
		return dep_new(file, arg);
	if (ret == -ENOTTY && dep_instance_kind(file) == DEP_FILE_AS_EPOLL)
		return -DEP_EPOLL_NO_IOCTL;
	return ret;
}

static long device_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	if (DEP_HAS_CLASSIC &&
	    likely(cmd == EP_POLL && file->f_mode & FMODE_READ))
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
		if (DEP_HAS_CLASSIC && likely(advice == (int)EP_POLL) && !len &&
		    file->f_mode & FMODE_READ)
			return dep_classic_poll(file->private_data, offset);
		if (likely(dep_epoll_is_ctl(advice)))
			return dep_epoll_ctl(file, advice, offset, len);
		if (DEP_HAS_RING && advice == DEVEPOLL_RING_WAIT && !len &&
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

/* What poll(2) and select(2) queue by. */
static poll_queue_proc device_poll_proc __ro_after_init;

/*
 * Is this a wait of the calling thread: poll(2), select(2), or a wait on a set
 * of epoll around this one?  These queue by that function, or not at all if they
 * need not sleep.  A command of an io_uring does not queue, either, and may poll
 * at any moment in the thread that made it.
 */
static bool device_poll_is_wait(const poll_table *table)
{
	return (!table || !table->_qproc ||
		table->_qproc == device_poll_proc) && !dep_task_has_uring();
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
	return dep_ready_poll(file, dep_watch_is_arming(table), true,
			      device_poll_is_wait(table));
}

#define DEVICE_OPERATIONS			\
	.owner = THIS_MODULE,			\
	.flush = device_flush,			\
	.poll = device_poll,			\
	.show_fdinfo = dep_fdinfo_show,		\
	.unlocked_ioctl = device_ioctl,		\
	.compat_ioctl = device_ioctl

/* In one array, for dep_instance_of().  Interfaces add to it at load. */
static struct file_operations device_fops[DEP_FILE_KINDS] __ro_after_init = {
	[DEP_FILE_EPOLL] = {
		DEVICE_OPERATIONS,
		.open = device_open,
		.release = device_release,
		.mmap = dep_mapping_map,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_AS_EPOLL] = {
		DEVICE_OPERATIONS,
		.llseek = noop_llseek,
		.release = device_release,
		.mmap = dep_mapping_map,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_REOPENED] = {
		DEVICE_OPERATIONS,
		.release = dep_reopen_release,
		.mmap = dep_mapping_map,
		.fadvise = device_fadvise,
	},
	[DEP_FILE_READER ... DEP_FILE_KINDS - 1] = {
		DEVICE_OPERATIONS,
		.release = dep_reopen_release,
		.mmap = reader_mmap,
		.fadvise = reader_fadvise,
	},
};

/*
 * In the order in which they get their minors: where dynamic ones count down,
 * another one must not take that of /dev/epoll.
 */
static struct miscdevice device_nodes[2] = {
	{
		.minor = EVENTPOLL_MINOR,
		.name = "eventpoll",
		.nodename = "epoll",
		.fops = &device_fops[DEP_FILE_EPOLL],
	},
};

/* How many there are, and how many of them are registered. */
static size_t device_nodes_wanted = 1;
static size_t device_nr_nodes;

/*
 * No alias of a node: at boot depmod's list would become nodes of a fixed minor
 * and mode 0600, which the kernel does not change when the module is loaded.
 * On old kernels, with dynamic minors, such a node may be another driver's.
 */

/* Lets an interface have a node; there is room for one. */
static void __init device_add_node(const struct miscdevice *node)
{
	struct file_operations *fops = &device_fops[DEP_FILE_POLL];

	if (WARN_ON_ONCE(device_nodes_wanted == ARRAY_SIZE(device_nodes)))
		return;
	*fops = *node->fops;
	fops->flush = device_flush;
	fops->release = device_release;
	fops->poll = device_poll;
	fops->show_fdinfo = dep_fdinfo_show;
	device_nodes[device_nodes_wanted] = *node;
	device_nodes[device_nodes_wanted++].fops = fops;
}

/* Adds what the interfaces do to the opens of /dev/epoll. */
static void __init device_add_faces(void)
{
	struct dep_face *face;
	int kind;

	dep_face_for_each(face) {
		for (kind = 0; kind < DEP_FILE_KINDS; kind++) {
			struct file_operations *fops = &device_fops[kind];

			if (kind == DEP_FILE_POLL)
				continue;
			if (face->uring_cmd)
				fops->uring_cmd = face->uring_cmd;
			/* epoll's fds can't be written. */
			if (face->write && kind != DEP_FILE_AS_EPOLL)
				fops->write = face->write;
		}
		if (face->node)
			device_add_node(face->node);
	}
}

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
	struct poll_wqueues waiter;
	int err;

	poll_initwait(&waiter);
	device_poll_proc = waiter.pt._qproc;
	poll_freewait(&waiter);
	device_add_faces();
	dep_instance_fops = device_fops;
	for (; device_nr_nodes < device_nodes_wanted; device_nr_nodes++) {
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
