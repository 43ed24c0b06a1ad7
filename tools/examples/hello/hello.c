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

/* Whoever may wait may ask. */
static fmode_t hello_mode(unsigned int cmd)
{
	return cmd == HELLO_COUNT ? FMODE_READ : 0;
}

static long hello_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct dep_instance *inst = file->private_data;

	if (cmd != HELLO_COUNT)
		return -ENOTTY;
	return arg ? -EINVAL : dep_instance_nr_items(inst);
}

DEP_INTERFACE_TABLE(hello) = {
	.name = "hello",
	.mode = hello_mode,
	.ioctl = hello_ioctl,
};
