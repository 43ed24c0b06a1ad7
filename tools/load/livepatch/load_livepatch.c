// SPDX-License-Identifier: GPL-2.0
/*
 * A livepatch of the function that the module hooks, for load_hook_test.  It
 * counts the calls, and does what the function does for a file without locks.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/livepatch.h>
#include <linux/module.h>

static unsigned long calls;
module_param(calls, ulong, 0444);

/* Must stay 0: locks of such files would not be removed. */
static unsigned long with_locks;
module_param(with_locks, ulong, 0444);

static void remove_no_lock(struct file *file)
{
	WRITE_ONCE(calls, READ_ONCE(calls) + 1);
	if (READ_ONCE(file_inode(file)->i_flctx))
		WRITE_ONCE(with_locks, READ_ONCE(with_locks) + 1);
}

static struct klp_func functions[] = {
	{ .old_name = "locks_remove_file", .new_func = remove_no_lock },
	{ }
};

/* Without a name it is the kernel itself. */
static struct klp_object objects[] = {
	{ .funcs = functions },
	{ }
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init load_livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

/* The kernel calls it only when the patch has been disabled. */
static void __exit load_livepatch_exit(void)
{
}

module_init(load_livepatch_init);
module_exit(load_livepatch_exit);
MODULE_DESCRIPTION("A livepatch of locks_remove_file");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
