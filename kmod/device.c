// SPDX-License-Identifier: GPL-2.0
/*
 * The nodes, their minors, and their file operations.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/seq_file.h>

#include <linux/devepoll.h>

#include "classic/classic.h"
#include "core/compat.h"
#include "core/instance.h"
#include "core/interface.h"
#include "core/open.h"
#include "core/readers.h"
#include "core/relay.h"
#include "core/stats.h"
#include "device.h"
#include "epoll/bind.h"
#include "epoll/changes.h"
#include "epoll/epoll.h"
#include "epoll/extended.h"
#include "epoll/opens.h"
#include "epoll/request.h"
#include "epoll/take.h"
#include "files/waitqueue.h"
#include "ring/ring.h"
#include "set/area.h"
#include "set/interest.h"
#include "set/owner.h"
#include "set/ready.h"

static int holder_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_operations holder_fops = {
	.owner = THIS_MODULE,
	.open = holder_open,
};

#define HOLDER(nr) {				\
	.minor = MISC_DYNAMIC_MINOR,		\
	.name = "eventpoll-hold" #nr,		\
	.fops = &holder_fops,			\
	.mode = 0600,				\
}

/*
 * They request minors.  On old kernels, they hold for a moment the dynamic ones
 * that have to be given out before it is the turn of ours.
 */
static struct miscdevice minor_holders[] __initdata = {
	HOLDER(0), HOLDER(1), HOLDER(2), HOLDER(3),
};

#define MINOR_OLD_DYNAMIC	128

/*
 * Finds out how to get minor @wanted, with @held holders in place: by
 * MISC_DYNAMIC_MINOR, if that gives it now or nothing better is possible;
 * otherwise by the number itself.
 */
static int __init minor_pick(int wanted, size_t *held)
{
	for (*held = 0; *held < ARRAY_SIZE(minor_holders); ++*held) {
		struct miscdevice *holder = &minor_holders[*held];
		int minor;

		/* It may have held one before. */
		holder->minor = MISC_DYNAMIC_MINOR;
		if (misc_register(holder))
			break;
		minor = holder->minor;
		if (minor >= MINOR_OLD_DYNAMIC) {
			misc_deregister(holder);
			return wanted;
		}
		if (minor <= wanted) {
			misc_deregister(holder);
			break;
		}
	}
	return MISC_DYNAMIC_MINOR;
}

/*
 * Registers a node, if possible with the minor it wants, and stores the one
 * that it gets.  Up to Linux 6.1 dynamic misc minors count down from 127.  A
 * driver that registers one of them statically makes every later dynamic
 * request fail once it is that minor's turn.  So this asks for a dynamic one
 * there, and for the number itself only if dynamic minors lie elsewhere.
 * Returns 0, or an error of misc_register().
 */
static int __init minor_register(struct miscdevice *node)
{
	int err, wanted = node->minor;
	size_t held;

	node->minor = minor_pick(wanted, &held);
	err = misc_register(node);
	if (err == -EBUSY && node->minor == wanted) {
		node->minor = MISC_DYNAMIC_MINOR;
		err = misc_register(node);
	}
	while (held)
		misc_deregister(&minor_holders[--held]);
	if (!err && node->minor != wanted)
		pr_warn("minor %d is taken, /dev/%s has minor %d\n", wanted,
			node->nodename, node->minor);
	return err;
}

static void fdinfo_show(struct seq_file *seq, struct file *file)
{
	struct dep_instance *inst = file->private_data;
	struct dep_interface *iface;
	const char *name = NULL;

	dep_interface_for_each(iface) {
		if (iface->describe && !name)
			name = iface->describe(inst);
	}
	seq_printf(seq, "interface:\t%s\n", name ?: "extended");
	if (DEP_HAS_STATS)
		dep_stats_show(inst, seq);
}

/* Maps what is at the offset; if nothing is there, it fails as epoll does. */
static int mapping_map(struct file *file, struct vm_area_struct *vma)
{
	struct dep_interface *iface;
	int err = -ENODEV;

	if (DEP_HAS_MAPPED &&
	    vma->vm_pgoff == DEVEPOLL_MAP_EVENTS >> PAGE_SHIFT)
		return dep_area_map(file->private_data, vma);
	dep_interface_for_each(iface) {
		if (iface->mmap)
			err = iface->mmap(file, vma);
		if (err != -ENODEV)
			break;
	}
	return err;
}

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
	if (DEP_HAS_STATS)
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
	struct dep_interface *iface;

	mutex_lock(&inst->mtx);
	dep_interest_clear(inst);
	mutex_unlock(&inst->mtx);
	dep_interface_for_each(iface) {
		if (iface->stop)
			iface->stop(inst);
	}
	if (DEP_HAS_STATS)
		dep_stats_leave(inst);
	dep_relay_leave(inst);
	if (DEP_HAS_CLOSED)
		dep_readers_free(inst);
	dep_interface_for_each(iface) {
		if (iface->free)
			iface->free(inst);
	}
	if (DEP_HAS_MAPPED || DEP_HAS_DEVPOLL)
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

static noinline long device_ioctl_other(struct file *file, unsigned int cmd,
					unsigned long arg)
{
	const struct dep_request *request;
	long ret;

	if (!dep_access_allows(file, cmd))
		return -EBADF;
	ret = dep_extended_ioctl(file, cmd, arg);
	if (ret == -ENOTTY) {
		request = dep_interface_request(cmd);
		if (request)
			ret = request->make(file, cmd, (void __user *)arg);
	}
	if (DEP_HAS_OPENS && ret == -ENOTTY)
		ret = dep_opens_ioctl(file, cmd, arg);
	if (ret == -ENOTTY)
		ret = dep_features_ioctl(cmd, arg);
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
		if (DEP_HAS_MAPPED && likely(advice == DEVEPOLL_TAKE))
			return dep_take_events(file, offset, len);
		if (DEP_HAS_CLASSIC && likely(advice == (int)EP_POLL) && !len &&
		    file->f_mode & FMODE_READ)
			return dep_classic_poll(file->private_data, offset);
		if (likely(dep_request_is_op(advice, DEVEPOLL_EPOLL_CTL(0))))
			return dep_epoll_ctl(file, advice, offset, len);
		if (DEP_HAS_RING && advice == DEVEPOLL_RING_WAIT && !len &&
		    file->f_mode & FMODE_READ)
			return dep_ring_wait(file->private_data, offset);
		if (dep_request_is_op(advice, DEVEPOLL_CHANGE(0)))
			return dep_changes_make_one(file, advice, offset, len);
	}
	return device_fadvise_other(file, offset, len, advice);
}

/* What poll(2) and select(2) queue by. */
static poll_queue_proc device_poll_proc __ro_after_init;

/*
 * Is this a wait of the calling thread: poll(2), select(2), or a wait on a set
 * of epoll around this one?  These queue by that function, or not at all if
 * they need not sleep.  A command of an io_uring does not queue, either, and
 * may poll at any moment in the thread that made it.
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

/* In one array, for dep_instance_of(); the others are made of the first. */
static struct file_operations device_fops[DEP_FILE_KINDS] __ro_after_init = {
	[DEP_FILE_EPOLL] = {
		.owner = THIS_MODULE,
		.open = device_open,
		.flush = device_flush,
		.release = device_release,
		.poll = device_poll,
		.show_fdinfo = fdinfo_show,
		.unlocked_ioctl = device_ioctl,
		.compat_ioctl = device_ioctl,
		.mmap = mapping_map,
		.fadvise = device_fadvise,
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
	fops->show_fdinfo = fdinfo_show;
	device_nodes[device_nodes_wanted] = *node;
	device_nodes[device_nodes_wanted++].fops = fops;
}

/* Adds what interfaces do to opens of the node, and makes the others. */
static void __init device_make_fops(void)
{
	struct file_operations *fops = &device_fops[DEP_FILE_EPOLL];
	struct file_operations *as_epoll = &device_fops[DEP_FILE_AS_EPOLL];
	struct dep_interface *iface;

	dep_interface_for_each(iface) {
		if (iface->uring_cmd)
			fops->uring_cmd = iface->uring_cmd;
		if (iface->write)
			fops->write = iface->write;
		if (iface->node)
			device_add_node(iface->node);
	}
	*as_epoll = *fops;
	as_epoll->open = NULL;
	as_epoll->llseek = noop_llseek;
	/* epoll's fds can't be written. */
	as_epoll->write = NULL;
	if (DEP_HAS_OPENS)
		dep_opens_init(device_fops, device_fadvise_other);
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
	device_make_fops();
	dep_instance_fops = device_fops;
	for (; device_nr_nodes < device_nodes_wanted; device_nr_nodes++) {
		struct miscdevice *node = &device_nodes[device_nr_nodes];

		node->mode = mode;
		err = minor_register(node);
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
