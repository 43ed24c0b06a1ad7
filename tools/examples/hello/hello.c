// SPDX-License-Identifier: GPL-2.0
/*
 * An interface with one request: how many fds has a set?  It shows how to add an
 * interface to the module.
 */
#include <linux/fs.h>
#include <linux/ioctl.h>

#include <linux/devepoll.h>

#include "core/instance.h"
#include "core/interface.h"

#define HELLO_COUNT	_IO(EP_IOC_MAGIC, 0x7f)

static long hello_count(struct file *file, unsigned int cmd, void __user *arg)
{
	const struct dep_instance *inst = file->private_data;

	return arg ? -EINVAL : dep_instance_nr_items(inst);
}

/* Whoever may wait may ask. */
static const struct dep_request hello_requests[] = {
	{ HELLO_COUNT, false, FMODE_READ, hello_count },
	{ },
};

DEP_INTERFACE_TABLE(hello) = {
	.name = "hello",
	.requests = hello_requests,
};
