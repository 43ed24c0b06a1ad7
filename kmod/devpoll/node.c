// SPDX-License-Identifier: GPL-2.0
/*
 * The node /dev/poll.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>

#include <linux/devpoll.h>

#include "core/compat.h"
#include "core/face.h"
#include "core/instance.h"
#include "core/stats.h"
#include "devpoll/devpoll.h"
#include "devpoll/slots.h"
#include "epoll/access.h"
#include "set/ready.h"

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

static ssize_t devpoll_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return dep_devpoll_write(file->private_data, buf, count);
}

/* The requests of the Solaris face all wait or query. */
static fmode_t devpoll_mode(unsigned int cmd)
{
	switch (cmd) {
	case DP_ALLOC:
	case DP_FREE:
		return FMODE_WRITE;
	case DP_ISPOLLED:
	case DP_SOLARIS_POLL:
	case DP_SOLARIS_PPOLL:
	case DP_SOLARIS_ISPOLLED:
		return FMODE_READ;
	}
	/* In one of its layouts. */
	return (cmd ^ DP_POLL) & ~IOCSIZE_MASK ? 0 : FMODE_READ;
}

static long devpoll_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	if (!dep_access_has(file, devpoll_mode(cmd)))
		return -EBADF;
	return dep_devpoll_ioctl(file->private_data, cmd, arg, false);
}

static long devpoll_compat_ioctl(struct file *file, unsigned int cmd,
				 unsigned long arg)
{
	if (!dep_access_has(file, devpoll_mode(cmd)))
		return -EBADF;
	return dep_devpoll_ioctl(file->private_data, cmd, arg, true);
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
	.compat_ioctl = devpoll_compat_ioctl,
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

DEP_FACE_TABLE(devpoll) = {
	.name = "devpoll",
	.node = &devpoll_node,
	.describe = devpoll_describe,
};
