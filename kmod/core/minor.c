// SPDX-License-Identifier: GPL-2.0
/*
 * How a node gets its minor, even on kernels that give dynamic minors from the
 * same range.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "core/minor.h"

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

/**
 * dep_minor_register() - register a node, if possible with the minor it wants
 * @node: the node; its minor is set to the one that it gets
 *
 * Up to Linux 6.1 dynamic misc minors count down from 127.  A driver that
 * registers one of them statically makes every later dynamic request fail once
 * it is that minor's turn.  So this asks for a dynamic one there, and for the
 * number itself only if dynamic minors lie elsewhere.
 *
 * Return: 0, or an error of misc_register().
 */
int __init dep_minor_register(struct miscdevice *node)
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
