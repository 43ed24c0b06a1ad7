// SPDX-License-Identifier: GPL-2.0
/*
 * The release hook of a kernel that has one: __fput calls it for each file with
 * a mark, which a file gets with its first watch (compat.h).  There, this takes
 * the place of release.c.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/printk.h>

#include "core/compat.h"
#include "files/release.h"
#include "files/table.h"

/* Must not sleep, but on its locks with PREEMPT_RT. */
static void release_hook(struct file *file)
{
	if (dep_watch_maybe(file) && !DEP_NO_RELEASE_HOOK)
		dep_watch_file_gone(file);
}

int __init dep_release_register(void)
{
	int err = devepoll_release_register(release_hook);

	if (err)
		pr_err("the kernel's hook for released files is taken (%d)\n",
		       err);
	return err;
}

void dep_release_unregister(void)
{
	devepoll_release_unregister();
}
